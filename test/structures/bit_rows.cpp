// SPDX-License-Identifier: BSL-1.0
#include <sublet/structures/internal/bit_rows.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("rows of bits are whole words, and the last bit of one is not the first of the next")
{
    bit_rows rows(3, 65);
    rows.set(1, 63);
    rows.set(1, 64);
    rows.set(2, 0);
    CHECK(rows[1][0] == bit_rows::word{1} << 63);
    CHECK(rows[1][1] == 1);
    CHECK(rows.test(1, 63));
    CHECK(rows.test(1, 64));
    CHECK_FALSE(rows.test(1, 62));
    CHECK_FALSE(rows.test(0, 64));
    CHECK_FALSE(rows.test(2, 64));
}

TEST_CASE("there may be no bits and no rows")
{
    CHECK(bit_rows().words() == 0);
    CHECK(bit_rows(0, 65).words() == 2);
    CHECK(bit_rows(3, 0).words() == 0);
    CHECK(bit_rows(3, 0).count(2) == 0);
    CHECK(bit_rows(3, 64).words() == 1);
}

TEST_CASE("there are as many words as the columns need, and no sum overflows")
{
    CHECK(bit_rows::words_for(1) == 1);
    CHECK(bit_rows::words_for(128) == 2);
    CHECK(bit_rows::words_for(129) == 3);
    CHECK(bit_rows::words_for(~std::size_t{0}) == (~std::size_t{0} >> 6) + 1);
}

TEST_CASE("random bits are those of a table of bools")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const height = pick.below(6);
        std::uint32_t const width = pick.below(201);
        bit_rows rows(height, width);
        std::vector<std::vector<bool>> table(height, std::vector<bool>(width));
        for (std::uint32_t i = height * width == 0 ? 0 : pick.below(300); i != 0; --i) {
            std::size_t const r = pick.below(height);
            std::size_t const c = pick.below(width);
            rows.set(r, c);
            table[r][c] = true;
        }
        for (std::size_t r = 0; r != height; ++r) {
            std::size_t sum = 0;
            for (std::size_t c = 0; c != width; ++c) {
                CHECK(rows.test(r, c) == table[r][c]);
                sum += table[r][c];
            }
            CHECK(rows.count(r) == sum);
        }
    }
}

// --- sparse set --------------------------------------------------------------------------------------------

using detail::sparse_set;

TEST_CASE("an inserted value is listed once, an erased one not")
{
    sparse_set alive(3);
    CHECK(alive.list().empty());
    alive.insert(2);
    alive.insert(0);
    alive.insert(2);
    CHECK(alive.list().size() == 2);
    CHECK(alive.contains(0));
    CHECK_FALSE(alive.contains(1));
    CHECK(alive.erase(2));
    CHECK_FALSE(alive.erase(2));
    CHECK_FALSE(alive.erase(1));
    REQUIRE(alive.list().size() == 1);
    CHECK(alive.list().front() == 0);
}

TEST_CASE("there may be no values")
{
    sparse_set empty_set(0);
    empty_set.clear();
    CHECK(empty_set.list().empty());
}

TEST_CASE("random inserts, erases and clears behave like std::set")
{
    random_source pick{std::mt19937{1}};
    sparse_set alive(40);
    std::set<value_id> expected;
    for (unsigned round = 0; round != rounds(5000); ++round) {
        CAPTURE(round);
        value_id const v = pick.below(40);
        std::uint32_t const what = pick.below(50);
        if (what == 0) {
            alive.clear();
            expected.clear();
        } else if (what < 26) {
            alive.insert(v);
            expected.insert(v);
        } else {
            REQUIRE(alive.erase(v) == (expected.erase(v) != 0));
        }
        REQUIRE(alive.list().size() == expected.size());
        for (value_id w : alive.list()) REQUIRE(expected.count(w) == 1);
        for (value_id w = 0; w != 40; ++w) REQUIRE(alive.contains(w) == (expected.count(w) != 0));
    }
}

} // namespace this_test
