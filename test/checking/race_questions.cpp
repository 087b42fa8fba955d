// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>

#include "../dice.hpp"

#include <sublet/units.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

pairs asked_of(std::vector<byte_access> const& accesses)
{
    pairs asked;
    race_questions(accesses, [&](std::uint32_t earlier, std::uint32_t later, race const& r) {
        CHECK(r.first == earlier);
        CHECK(r.second == later);
        asked.emplace_back(earlier, later);
    });
    return asked;
}

byte_access reads(std::uint32_t at, byte_count begin, byte_count end)
{
    return {at, 0, begin, end, at, false};
}
byte_access writes(std::uint32_t at, byte_count begin, byte_count end)
{
    return {at, 0, begin, end, at, true};
}

std::string sentence(race const& r)
{
    std::ostringstream out;
    out << r;
    return out.str();
}

} // namespace

TEST_CASE("a read is asked about the last write, a write about the reads since, or else the last write")
{
    CHECK(asked_of({writes(0, 0, 8), reads(1, 0, 8), reads(2, 0, 8), writes(3, 0, 8), reads(4, 0, 8)}) ==
          pairs{{0, 1}, {0, 2}, {2, 3}, {1, 3}, {3, 4}});
    CHECK(asked_of({writes(0, 0, 8), writes(1, 0, 8)}) == pairs{{0, 1}});
    CHECK(asked_of({reads(0, 0, 8), reads(1, 0, 8)}).empty());
}

TEST_CASE("only bytes that both touch count, in the same space")
{
    CHECK(asked_of({writes(0, 0, 8), writes(1, 8, 16), writes(2, 7, 9)}) == pairs{{0, 2}, {1, 2}});
    CHECK(asked_of({{0, 1, 0, 8, 0, true}, {1, 2, 0, 8, 0, true}}).empty());
    CHECK(asked_of({writes(0, 4, 4), writes(1, 4, 4)}).empty());
    CHECK(asked_of({}).empty());
}

TEST_CASE("who reads and writes at once reads first, and is not asked about itself")
{
    CHECK(asked_of({writes(0, 0, 8), writes(1, 0, 8), reads(1, 0, 8), writes(1, 4, 8), reads(2, 0, 8)}) ==
          pairs{{0, 1}, {1, 2}});
}

TEST_CASE("the race names both values and the bytes that they have in common")
{
    race_questions(
        {{3, 1, 0, 8, 5, true}, {7, 1, 4, 16, 6, false}}, [](std::uint32_t, std::uint32_t, race const& r) {
            CHECK(r == race{3, 7, 5, 6, true, false, 1, 4, 8});
            CHECK(sentence(r) == "position 3 writes value 5 and position 7 reads value 6, both in bytes "
                                 "[4, 8) of space 1, and the later does not wait for the earlier");
            CHECK(as_witness(r) == witness{.what = fault::unordered,
                                           .value = 5,
                                           .other = 6,
                                           .position = 7,
                                           .begin = 4,
                                           .end = 8,
                                           .needed = 3,
                                           .pool = 1});
        });
    CHECK(sentence({.first = 1, .second = 2}) ==
          "position 2 does not wait for position 1, as an edge of the program or a hand-off asks");
    CHECK(sentence({1, 2, 5, 5, true, true, no_space, 0, 0}) ==
          "position 1 writes value 5 and position 2 writes value 5, and the later does not wait for the "
          "earlier");
}

TEST_CASE("an access that has no place in the order is refused")
{
    CHECK_THROWS_AS(asked_of({writes(no_step, 0, 8)}), precondition_error);
}

TEST_CASE("what is asked implies every two accesses to a byte of which one writes, and nothing more")
{
    std::size_t clashes = 0, implied = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        std::uint32_t const n = 1 + roll.below(12), size = 1 + roll.below(12), spaces = 1 + roll.below(2);
        std::vector<byte_access> list;
        for (std::uint32_t i = roll.below(30); i != 0; --i) {
            byte_count const a = roll.below(size + 1), b = roll.below(size + 1);
            list.push_back(
                {roll.below(n), roll.below(spaces), std::min(a, b), std::max(a, b), i, roll.below(3) == 0});
        }
        std::set<std::pair<std::uint32_t, std::uint32_t>> clash;
        for (byte_access const& a : list)
            for (byte_access const& b : list)
                if (a.at < b.at && a.space == b.space && (a.writes || b.writes) &&
                    std::max(a.begin, b.begin) < std::min(a.end, b.end))
                    clash.insert({a.at, b.at});
        pairs const asked = asked_of(list);
        std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
        for (auto [a, b] : asked) {
            CHECK(clash.count({a, b}) == 1);
            before[a][b] = true;
        }
        CHECK(std::set(asked.begin(), asked.end()).size() == asked.size());
        auto const is_later = [](auto const& a, auto const& b) { return a.second < b.second; };
        CHECK(std::is_sorted(asked.begin(), asked.end(), is_later));
        for (std::uint32_t k = 0; k != n; ++k)
            for (std::uint32_t i = 0; i != n; ++i)
                for (std::uint32_t j = 0; j != n; ++j)
                    if (before[i][k] && before[k][j]) before[i][j] = true;
        for (auto [a, b] : clash) CHECK(before[a][b]);
        clashes += clash.size();
        implied += clash.size() - asked.size();
    }
    CHECK(implied > 1000);
    CHECK(implied < clashes);
}

TEST_CASE("readers of many pieces of what was one are kept once for all pieces")
{
    // 20 000 readers of all bytes, then 20 000 small writes, each after all of those that read it alone.
    std::vector<byte_access> list;
    std::uint32_t const n = 20'000;
    list.push_back(writes(0, 0, n));
    for (std::uint32_t i = 0; i != n; ++i) list.push_back(reads(1, i, i + 1));
    for (std::uint32_t i = 0; i != n; ++i) list.push_back(writes(2 + i, i, i + 1));
    for (std::uint32_t i = 0; i != n; ++i) list.push_back(writes(2 + n + i, 0, n));
    CHECK(asked_of(list).size() == 1 + n + n + (n - 1));
}

} // namespace this_test
