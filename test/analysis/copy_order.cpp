// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/copy_order.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct ordered {
    std::vector<std::pair<value_id, value_id>> moves;
    std::vector<value_id> spares; // by spare: of what
};

/// Values 0 .. root.size() - 1, then spares.
ordered order(copy_order& places, std::size_t values, std::vector<value_copy> const& copies)
{
    ordered all;
    places.order(
        copies, [&](value_id from, value_id to) { all.moves.emplace_back(from, to); },
        [&](value_id root) {
            all.spares.push_back(root);
            return static_cast<value_id>(values + all.spares.size() - 1);
        });
    return all;
}
ordered order(std::vector<value_id> root, std::vector<value_copy> const& copies)
{
    copy_order places(root);
    return order(places, root.size(), copies);
}
using moves = std::vector<std::pair<value_id, value_id>>;

} // namespace

TEST_CASE("what is read is copied before it is overwritten")
{
    auto const all = order({0, 1, 2}, {{0, 1}, {1, 2}});
    CHECK(all.moves == moves{{1, 2}, {0, 1}});
    CHECK(all.spares.empty());
}

TEST_CASE("two values change places by one spare, and so do three in a circle")
{
    CHECK(order({0, 1}, {{0, 1}, {1, 0}}).moves == moves{{1, 2}, {0, 1}, {2, 0}});
    auto const three = order({0, 1, 2}, {{0, 1}, {1, 2}, {2, 0}});
    CHECK(three.moves.size() == 4);
    CHECK(three.spares == std::vector<value_id>{1});
}

TEST_CASE("nothing, one copy, and a copy onto itself")
{
    CHECK(order({}, {}).moves.empty());
    CHECK(order({0, 1}, {{0, 1}}).moves == moves{{0, 1}});
    CHECK(order({0}, {{0, 0}}).moves == moves{{0, 0}});
    CHECK(order({0, 0}, {{1, 0}}).moves == moves{{1, 0}}); // from a view
}

TEST_CASE("a view is read before the value that it is a view of is overwritten")
{
    // 1 is a view of 0
    CHECK(order({0, 0, 2, 3}, {{3, 0}, {1, 2}}).moves == moves{{1, 2}, {3, 0}});
    auto const swapped = order({0, 0, 2}, {{2, 0}, {1, 2}});
    CHECK(swapped.moves == moves{{0, 3}, {2, 0}, {3, 2}});
    CHECK(swapped.spares == std::vector<value_id>{0});
}

TEST_CASE("a hundred thousand values that move on by one place take no spare, in a ring one")
{
    std::size_t const values = 100'000;
    std::vector<value_id> root;
    std::vector<value_copy> copies;
    for (value_id v = 0; v != values; ++v) {
        root.push_back(v);
        if (v != 0) copies.push_back({v - 1, v});
    }
    CHECK(order(root, copies).spares.empty());
    copies.push_back({static_cast<value_id>(values - 1), 0});
    auto const ring = order(root, copies);
    CHECK(ring.spares.size() == 1);
    CHECK(ring.moves.size() == values + 1);
}

TEST_CASE("in turn comes to the same as at once, for random copies and views, in one set of tables")
{
    std::size_t circles = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        std::uint32_t const values = 1 + pick.below(8);
        std::vector<value_id> root;
        for (value_id v = 0; v != values; ++v)
            root.push_back(v != 0 && pick.below(4) == 0 ? root[pick.below(v)] : v);
        copy_order places(root);
        for (int round = 0; round != 3; ++round) {
            std::vector<value_copy> copies; // one for each root at most
            std::vector<char> is_written(values);
            for (std::uint32_t k = pick.below(2 * values); k != 0; --k) {
                value_id const from = pick.below(values), to = pick.below(values);
                if (std::exchange(is_written[root[to]], char{1})) continue;
                copies.push_back({from, to});
            }
            std::vector<int> at_once;
            for (value_id v = 0; v != values; ++v) at_once.push_back(static_cast<int>(root[v]));
            auto in_turn = at_once; // by root
            auto const before = at_once;
            for (auto c : copies) at_once[root[c.to]] = before[root[c.from]];
            auto const all = order(places, values, copies);
            in_turn.resize(values + all.spares.size(), -1);
            auto place = [&](value_id v) { return v < values ? root[v] : v; };
            for (auto [from, to] : all.moves) in_turn[place(to)] = in_turn[place(from)];
            in_turn.resize(values);
            for (value_id v = 0; v != values; ++v) CHECK(in_turn[root[v]] == at_once[root[v]]);
            CHECK(all.moves.size() == copies.size() + all.spares.size());
            CHECK(all.spares.size() <= copies.size() / 2);
            circles += all.spares.size();
        }
    }
    CHECK(circles > 200);
}

} // namespace this_test
