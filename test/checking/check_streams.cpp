// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>

#include "../printed.hpp"
#include "../random_commands.hpp"
#include "../random_source.hpp"
#include "../transitive.hpp"

#include <sublet/core/units.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using operation = stream_commands::operation_kind;

/// Block 0 is allocated, written on stream 0 (as value 5, by step 1), read on stream 1 (by step 2), and
/// released on stream 0.
stream_commands sound()
{
    stream_commands list{.streams = 2};
    list.blocks = {{64, false}};
    list.operations = {{operation::allocate, 0, 0}, {operation::work, 0, 1},   {operation::record, 0, 0},
                       {operation::wait, 1, 0},     {operation::work, 1, 2},   {operation::record, 1, 1},
                       {operation::wait, 0, 1},     {operation::release, 0, 0}};
    list.touches = {{1, 0, 0, 64, 5, true}, {4, 0, 16, 32, 5, false}};
    return list;
}

stream_commands changed(std::size_t at, stream_commands::operation to)
{
    stream_commands list = sound();
    list.operations[at] = to;
    return list;
}

constexpr stream_commands::operation nothing{operation::work, 0, no_step};

/// Whether any pair of commands has a fault.
bool is_faulty(stream_commands const& list, bool is_whole)
{
    auto const before = order_by_pairs(list);
    std::map<std::uint32_t, std::size_t> made, freed;
    for (std::size_t i = 0; i != list.operations.size(); ++i) {
        auto const& [what, stream, which] = list.operations[i];
        bool is_recorded = false;
        for (std::size_t a = 0; a != i; ++a)
            is_recorded = is_recorded ||
                          (list.operations[a].what == operation::record && list.operations[a].which == which);
        if (what == operation::wait && !is_recorded) return true;
        if (what == operation::allocate) {
            if (list.blocks[which].is_given || made.count(which) != 0) return true;
            made[which] = i;
        }
        if (what == operation::release) {
            bool const is_there =
                list.blocks[which].is_given || (made.count(which) != 0 && before[made[which]][i]);
            if (!is_there || freed.count(which) != 0) return true;
            freed[which] = i;
        }
    }
    for (byte_access const& t : list.touches) {
        if (t.begin >= t.end) continue;
        auto const& block = list.blocks[t.space];
        if (t.end > block.bytes) return true;
        if (!block.is_given &&
            (made.count(t.space) == 0 || made[t.space] > t.at || !before[made[t.space]][t.at]))
            return true;
        if (freed.count(t.space) != 0 && !(t.at < freed[t.space] && before[t.at][freed[t.space]]))
            return true;
        for (byte_access const& u : list.touches)
            if (u.begin < u.end && u.space == t.space && u.at < t.at && (u.writes || t.writes) &&
                u.begin < t.end && t.begin < u.end && !before[u.at][t.at])
                return true;
    }
    if (is_whole)
        for (auto const& [block, at] : made)
            if (freed.count(block) == 0) return true;
    return false;
}

} // namespace

TEST_CASE("each command of a valid list is needed, and the sentence names the missing one")
{
    CHECK(check_streams(sound(), true));
    CHECK(printed(check_streams(changed(3, nothing))) ==
          "command 4 on stream 1, step 2, as value 5 uses block 0 and does not wait for command 0 on "
          "stream 0, "
          "which allocates it");
    CHECK(printed(check_streams(changed(6, nothing))) ==
          "command 7 on stream 0 releases block 0 and does not wait for command 4 on stream 1, step 2, as "
          "value 5, "
          "which touches bytes [16, 32) of it");
    CHECK(printed(check_streams(changed(0, nothing))) ==
          "command 7 on stream 0 uses block 0, which was not allocated before");
    CHECK(printed(check_streams(changed(2, nothing))) ==
          "command 3 on stream 1 waits for event 0, which was not recorded before");
    CHECK(printed(check_streams(changed(7, nothing), true)) ==
          "command 0 on stream 0 allocates block 0, which is never released");
    CHECK(check_streams(changed(7, nothing)));
    CHECK(printed(check_streams(changed(6, {operation::release, 0, 0}))) ==
          "command 7 on stream 0 releases block 0 after command 6 on stream 0 has released it");
    CHECK(printed(check_streams(changed(2, {operation::allocate, 0, 0}))) ==
          "command 2 on stream 0 allocates block 0, which already exists");

    // Only the allocation is waited for, not the write after it.
    stream_commands early = changed(1, {operation::record, 0, 0});
    early.operations[2] = {operation::work, 0, 1};
    early.touches[0].at = 2;
    CHECK(printed(check_streams(early)) ==
          "command 4 on stream 1, step 2, as value 5 touches bytes [16, 32) of block 0 and does not wait for "
          "command 2 on stream 0, step 1, as value 5, which touches them too");
    early.touches[0].writes = false; // two reads need no order
    CHECK(check_streams(early));
    early.touches[0] = {2, 0, 32, 64, 5, true}; // other bytes
    CHECK(check_streams(early));

    stream_commands late = changed(5, {operation::release, 1, 0});
    late.operations[6] = {operation::work, 1, 3};
    late.operations[7] = nothing;
    late.touches.push_back({6, 0, 0, 1, 6, false});
    CHECK(printed(check_streams(late)) == "command 6 on stream 1, step 3, as value 6 touches block 0 after "
                                          "command 5 on stream 1 has released it");
    stream_commands far = sound();
    far.touches[0].end = 65;
    CHECK(printed(check_streams(far)) ==
          "command 1 on stream 0, step 1, as value 5 touches bytes [0, 65) of block 0, which ends before");
    far.touches[0].space = 1;
    CHECK_THROWS_AS((void)check_streams(far), precondition_error);
    CHECK_THROWS_AS((void)check_streams(changed(0, {operation::allocate, 0, 1})), precondition_error);
    CHECK(check_streams(stream_commands{}, true));
}

TEST_CASE("a join orders the commands before and after it, of one stream or of all")
{
    for (operation join : {operation::join, operation::join_all}) {
        stream_commands list = changed(3, {join, 0, no_step}); // instead of the wait of stream 1
        list.operations[2] = nothing;
        CHECK(check_streams(list, true));
        list.operations[3].stream = 1; // the wrong stream
        CHECK(bool{check_streams(list, true)} == (join != operation::join));
    }
}

TEST_CASE("a random list of commands has a fault if and only if a comparison of all pairs finds one")
{
    std::size_t faulty = 0, clean = 0;
    std::map<fault, std::size_t> seen;
    for (unsigned seed = 0; seed != 6000; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        stream_commands const list = draw_commands(pick, 1 + pick.below(16));
        bool const is_whole = pick.below(2) == 0;
        verdict const valid = check_streams(list, is_whole);
        REQUIRE(bool{valid} == !is_faulty(list, is_whole));
        ++(valid ? clean : faulty);
        if (valid) continue;
        fault const what = valid.error().what;
        ++seen[what];
        auto const before = order_by_pairs(list);
        auto const* pair = valid.error().as<counterexample::commands>();
        REQUIRE(pair != nullptr);
        if (what == fault::race || what == fault::use_before_allocation || what == fault::freed_in_use)
            CHECK(!before[pair->first][pair->second]);
    }
    CHECK(faulty > 1000);
    CHECK(clean > 300);
    CHECK(seen.size() == 10); // all but `missing_order`
}

// --- conflict scan -----------------------------------------------------------------------------------------

namespace {

using pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

pairs asked_of(std::vector<byte_access> const& accesses)
{
    pairs asked;
    for_conflicting_pairs(accesses, [&](std::uint32_t earlier, std::uint32_t later, race const& r) {
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

} // namespace

TEST_CASE("a read is compared with the last write, a write with the reads since or else the last write")
{
    CHECK(asked_of({writes(0, 0, 8), reads(1, 0, 8), reads(2, 0, 8), writes(3, 0, 8), reads(4, 0, 8)}) ==
          pairs{{0, 1}, {0, 2}, {2, 3}, {1, 3}, {3, 4}});
    CHECK(asked_of({writes(0, 0, 8), writes(1, 0, 8)}) == pairs{{0, 1}});
    CHECK(asked_of({reads(0, 0, 8), reads(1, 0, 8)}).empty());
}

TEST_CASE("two accesses conflict only in common bytes of the same space")
{
    CHECK(asked_of({writes(0, 0, 8), writes(1, 8, 16), writes(2, 7, 9)}) == pairs{{0, 2}, {1, 2}});
    CHECK(asked_of({{0, 1, 0, 8, 0, true}, {1, 2, 0, 8, 0, true}}).empty());
    CHECK(asked_of({writes(0, 4, 4), writes(1, 4, 4)}).empty());
    CHECK(asked_of({}).empty());
}

TEST_CASE("a step that reads and writes reads first, and is not compared with itself")
{
    CHECK(asked_of({writes(0, 0, 8), writes(1, 0, 8), reads(1, 0, 8), writes(1, 4, 8), reads(2, 0, 8)}) ==
          pairs{{0, 1}, {1, 2}});
}

TEST_CASE("the race names both values and the bytes that they have in common")
{
    for_conflicting_pairs(
        {{3, 1, 0, 8, 5, true}, {7, 1, 4, 16, 6, false}}, [](std::uint32_t, std::uint32_t, race const& r) {
            CHECK(r == race{3, 7, 5, 6, true, false, 1, 4, 8});
            CHECK(unordered(r) == counterexample{fault::unordered, counterexample::waiting{.position = 7,
                                                                                           .earlier = 3,
                                                                                           .value = 5,
                                                                                           .other = 6,
                                                                                           .pool = 1,
                                                                                           .begin = 4,
                                                                                           .end = 8}});
            CHECK(printed(unordered(r)) ==
                  "position 7 does not wait for position 3, and they touch values 6 and 5 in the same bytes: "
                  "[4, 8) of pool 1");
        });
    CHECK(printed(unordered({.first = 1, .second = 2})) ==
          "position 2 does not wait for position 1, as an edge of the program or a hand-off requires");
    CHECK(printed(unordered({1, 2, 5, 5, true, true, no_space, 0, 0})) ==
          "position 2 does not wait for position 1, and both touch value 5");
}

TEST_CASE("an access without a place in the order is refused")
{
    CHECK_THROWS_AS(asked_of({writes(no_step, 0, 8)}), precondition_error);
}

TEST_CASE("the visited pairs conflict, and imply the order of all conflicting accesses")
{
    std::size_t clashes = 0, implied = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const n = 1 + pick.below(12), size = 1 + pick.below(12), spaces = 1 + pick.below(2);
        std::vector<byte_access> list;
        for (std::uint32_t i = pick.below(30); i != 0; --i) {
            byte_count const a = pick.below(size + 1), b = pick.below(size + 1);
            list.push_back(
                {pick.below(n), pick.below(spaces), std::min(a, b), std::max(a, b), i, pick.below(3) == 0});
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
        make_transitive(before);
        for (auto [a, b] : clash) CHECK(before[a][b]);
        clashes += clash.size();
        implied += clash.size() - asked.size();
    }
    CHECK(implied > 1000);
    CHECK(implied < clashes);
}

TEST_CASE("readers of a segment that is split are stored once for all parts")
{
    // 20 000 readers of all bytes, then 20 000 small writes, each after the readers of its own bytes.
    std::vector<byte_access> list;
    std::uint32_t const n = 20'000;
    list.push_back(writes(0, 0, n));
    for (std::uint32_t i = 0; i != n; ++i) list.push_back(reads(1, i, i + 1));
    for (std::uint32_t i = 0; i != n; ++i) list.push_back(writes(2 + i, i, i + 1));
    for (std::uint32_t i = 0; i != n; ++i) list.push_back(writes(2 + n + i, 0, n));
    CHECK(asked_of(list).size() == 1 + n + n + (n - 1));
}

// --- stream clocks -----------------------------------------------------------------------------------------

TEST_CASE("an event orders two streams from its record to its wait")
{
    stream_commands list{.streams = 3};
    list.operations = {{operation::work, 0, 0},   {operation::record, 0, 7}, {operation::work, 0, 1},
                       {operation::work, 1, 2},   {operation::wait, 1, 7},   {operation::work, 1, 3},
                       {operation::record, 1, 7}, {operation::wait, 2, 7},   {operation::work, 2, 4},
                       {operation::wait, 0, 3}};
    stream_clocks const clocks(list);
    CHECK(clocks.is_before(0, 2));
    CHECK(!clocks.is_before(0, 3));
    CHECK(clocks.is_before(0, 5));
    CHECK(!clocks.is_before(2, 5));
    CHECK(clocks.is_before(0, 8)); // by way of stream 1
    CHECK(clocks.is_before(3, 8)); // the event again, of another stream
    CHECK(!clocks.is_before(2, 8));
    CHECK(clocks.is_recorded(4));
    CHECK(!clocks.is_recorded(9));
    list.operations.push_back({operation::work, 3, 0});
    CHECK_THROWS_AS((void)stream_clocks(list), precondition_error);
}

TEST_CASE("the vector clocks agree with a search over all pairs")
{
    std::size_t before = 0, free = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        stream_commands const list = draw_commands(pick, 4 + pick.below(40));
        auto const expected = order_by_pairs(list);
        stream_clocks const clocks(list);
        auto is_command = [&](std::uint32_t i) {
            return list.operations[i].what != stream_commands::operation_kind::join &&
                   list.operations[i].what != stream_commands::operation_kind::join_all;
        };
        for (std::uint32_t b = 0; b != list.operations.size(); ++b)
            for (std::uint32_t a = 0; a != b; ++a) {
                if (!is_command(a) || !is_command(b)) continue;
                CHECK(clocks.is_before(a, b) == expected[a][b]);
                ++(expected[a][b] ? before : free);
            }
    }
    CHECK(before > rounds(10000));
    CHECK(free > rounds(10000));
}

// --- stream commands ---------------------------------------------------------------------------------------

TEST_CASE("commands are data and compare by value")
{
    stream_commands::operation const a{stream_commands::operation_kind::wait, 1, 2};
    CHECK(a == stream_commands::operation{stream_commands::operation_kind::wait, 1, 2});
    CHECK(!(a == stream_commands::operation{stream_commands::operation_kind::wait, 2, 2}));
    CHECK(!(stream_commands::block{8} == stream_commands::block{8, true}));
    CHECK(stream_commands{}.operations.empty());
}

} // namespace this_test
