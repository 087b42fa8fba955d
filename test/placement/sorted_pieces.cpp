// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/improve.hpp>

#include "../dice.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

std::vector<std::uint32_t> shapes_during(sorted_pieces const& lying, live_range when)
{
    std::vector<lying_piece> found;
    lying.list(when, found);
    std::vector<std::uint32_t> shapes;
    for (lying_piece const& p : found) shapes.push_back(p.shape);
    return shapes;
}

} // namespace

TEST_CASE("what is alive during a life is listed from below")
{
    sorted_pieces lying;
    lying.insert(lying_piece{8, 12, {0, 2}, 0});
    lying.insert(lying_piece{0, 4, {1, 3}, 1});
    lying.insert(lying_piece{4, 8, {2, 4}, 2});
    CHECK(shapes_during(lying, {1, 2}) == std::vector<std::uint32_t>{1, 0});
    CHECK(shapes_during(lying, {2, 3}) == std::vector<std::uint32_t>{1, 2});
    CHECK(shapes_during(lying, {0, 4}) == std::vector<std::uint32_t>{1, 2, 0});
    CHECK(shapes_during(lying, {4, 5}).empty());
}

TEST_CASE("what lies equally low is listed by shape, and then by time")
{
    sorted_pieces lying;
    lying.insert(lying_piece{4, 8, {0, 9}, 7});
    lying.insert(lying_piece{4, 6, {5, 9}, 3});
    lying.insert(lying_piece{4, 6, {0, 4}, 3});
    std::vector<lying_piece> found;
    lying.list({0, 9}, found);
    REQUIRE(found.size() == 3);
    CHECK(found[0].when == live_range{0, 4});
    CHECK(found[1].when == live_range{5, 9});
    CHECK(found[2].shape == 7);
}

TEST_CASE("a list is appended to what was found before")
{
    sorted_pieces lying;
    lying.insert(lying_piece{4, 8, {0, 9}, 7});
    std::vector<lying_piece> found(2);
    CHECK(lying.list({0, 1}, found) >= 1);
    CHECK(found.size() == 3);
}

TEST_CASE("what is taken away is not listed any more")
{
    sorted_pieces lying;
    CHECK(shapes_during(lying, {0, 9}).empty());
    lying.insert(lying_piece{4, 8, {0, 9}, 7});
    lying.insert(lying_piece{4, 8, {2, 9}, 5});
    lying.erase(lying_piece{4, 8, {0, 9}, 7});
    CHECK(shapes_during(lying, {0, 9}) == std::vector<std::uint32_t>{5});
}

TEST_CASE("pieces come and go in any order")
{
    dice roll{std::mt19937{11}};
    for (int round = 0; round != 40; ++round) {
        CAPTURE(round);
        sorted_pieces lying;
        std::vector<lying_piece> model;
        std::uint32_t const heights = 1 + roll.below(round % 2 == 0 ? 4 : 100'000);
        std::uint32_t const count = roll.below(1500);
        for (std::uint32_t shape = 0; shape != count; ++shape) {
            lying_piece piece;
            piece.at = round % 4 == 1 ? shape : roll.below(heights);
            piece.other = piece.at + roll.below(9);
            piece.when.first = roll.below(50);
            piece.when.last = piece.when.first + 1 + roll.below(5);
            piece.shape = shape;
            lying.insert(piece);
            model.push_back(piece);
            if (roll.below(3) != 0) continue;
            std::size_t const gone = roll.below(static_cast<std::uint32_t>(model.size()));
            lying.erase(model[gone]);
            model.erase(model.begin() + static_cast<std::ptrdiff_t>(gone));
        }
        std::sort(model.begin(), model.end());
        for (step_id first = 0; first < 55; first += 1 + roll.below(9)) {
            live_range const when{first, first + 1 + roll.below(6)};
            std::vector<std::uint32_t> expected;
            for (lying_piece const& p : model)
                if (overlaps(p.when, when)) expected.push_back(p.shape);
            CHECK(shapes_during(lying, when) == expected);
        }
    }
}

} // namespace this_test
