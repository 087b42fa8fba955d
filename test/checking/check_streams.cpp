// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>

#include "../drawn_commands.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using act = stream_commands::act_kind;
using kind = stream_fault::kind;

std::string sentence(std::optional<stream_fault> const& fault)
{
    std::ostringstream out;
    if (fault) out << *fault;
    return out.str();
}

/// Block 0 is allocated, written on stream 0 (as value 5, by step 1), read on stream 1 (by step 2), and given
/// back on stream 0.
stream_commands sound()
{
    stream_commands list{.streams = 2};
    list.blocks = {{64, false}};
    list.acts = {{act::allocate, 0, 0}, {act::work, 0, 1},   {act::record, 0, 0}, {act::wait, 1, 0},
                 {act::work, 1, 2},     {act::record, 1, 1}, {act::wait, 0, 1},   {act::release, 0, 0}};
    list.touches = {{1, 0, 0, 64, 5, true}, {4, 0, 16, 32, 5, false}};
    return list;
}
stream_commands changed(std::size_t at, stream_commands::act to)
{
    stream_commands list = sound();
    list.acts[at] = to;
    return list;
}
constexpr stream_commands::act nothing{act::work, 0, no_step};

/// By all pairs: is there any fault?
bool is_faulty(stream_commands const& list, bool is_whole)
{
    auto const before = order_by_pairs(list);
    std::map<std::uint32_t, std::size_t> made, freed;
    for (std::size_t i = 0; i != list.acts.size(); ++i) {
        auto const& [what, stream, which] = list.acts[i];
        bool is_recorded = false;
        for (std::size_t a = 0; a != i; ++a)
            is_recorded = is_recorded || (list.acts[a].what == act::record && list.acts[a].which == which);
        if (what == act::wait && !is_recorded) return true;
        if (what == act::allocate) {
            if (list.blocks[which].is_given || made.count(which) != 0) return true;
            made[which] = i;
        }
        if (what == act::release) {
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

TEST_CASE("each command of a sound list is needed, and the sentence says what was forgotten")
{
    CHECK(!check_streams(sound(), true));
    CHECK(sentence(check_streams(changed(3, nothing))) ==
          "command 4 on stream 1, step 2, as value 5 asks for block 0 and does not wait for command 0 on "
          "stream 0, "
          "which allocates it");
    CHECK(sentence(check_streams(changed(6, nothing))) ==
          "command 7 on stream 0 releases block 0 and does not wait for command 4 on stream 1, step 2, as "
          "value 5, "
          "which touches bytes [16, 32) of it");
    CHECK(sentence(check_streams(changed(0, nothing))) ==
          "command 7 on stream 0 asks for block 0, which nobody allocated before");
    CHECK(sentence(check_streams(changed(2, nothing))) ==
          "command 3 on stream 1 waits for event 0, which nobody recorded before");
    CHECK(sentence(check_streams(changed(7, nothing), true)) ==
          "command 0 on stream 0 allocates block 0, which is never released");
    CHECK(!check_streams(changed(7, nothing)));
    CHECK(sentence(check_streams(changed(6, {act::release, 0, 0}))) ==
          "command 7 on stream 0 releases block 0 after command 6 on stream 0 has released it");
    CHECK(sentence(check_streams(changed(2, {act::allocate, 0, 0}))) ==
          "command 2 on stream 0 allocates block 0, which is there already");

    // The allocation is waited for, and what was written since is not.
    stream_commands early = changed(1, {act::record, 0, 0});
    early.acts[2] = {act::work, 0, 1};
    early.touches[0].at = 2;
    CHECK(sentence(check_streams(early)) ==
          "command 4 on stream 1, step 2, as value 5 touches bytes [16, 32) of block 0 and does not wait for "
          "command 2 on stream 0, step 1, as value 5, which touches them too");
    early.touches[0].writes = false; // two reads need no order
    CHECK(!check_streams(early));
    early.touches[0] = {2, 0, 32, 64, 5, true}; // other bytes
    CHECK(!check_streams(early));

    stream_commands late = changed(5, {act::release, 1, 0});
    late.acts[6] = {act::work, 1, 3};
    late.acts[7] = nothing;
    late.touches.push_back({6, 0, 0, 1, 6, false});
    CHECK(sentence(check_streams(late)) == "command 6 on stream 1, step 3, as value 6 touches block 0 after "
                                           "command 5 on stream 1 has released it");
    stream_commands far = sound();
    far.touches[0].end = 65;
    CHECK(sentence(check_streams(far)) ==
          "command 1 on stream 0, step 1, as value 5 touches bytes [0, 65) of block 0, which ends before");
    far.touches[0].space = 1;
    CHECK_THROWS_AS((void)check_streams(far), precondition_error);
    CHECK_THROWS_AS((void)check_streams(changed(0, {act::allocate, 0, 1})), precondition_error);
    CHECK(!check_streams(stream_commands{}, true));
}

TEST_CASE("a caller that waits orders what it asked for before and after, of one stream or of all")
{
    for (act join : {act::join, act::join_all}) {
        stream_commands list = changed(3, {join, 0, no_step}); // instead of the wait of stream 1
        list.acts[2] = nothing;
        CHECK(!check_streams(list, true));
        list.acts[3].stream = 1; // the wrong one
        CHECK(check_streams(list, true).has_value() == (join == act::join));
    }
}

TEST_CASE("a random list of commands has a fault if and only if a walk over all pairs finds one")
{
    std::size_t faulty = 0, clean = 0;
    std::map<kind, std::size_t> seen;
    for (unsigned seed = 0; seed != 6000; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        stream_commands const list = draw_commands(pick, 1 + pick.below(16));
        bool const is_whole = pick.below(2) == 0;
        auto const fault = check_streams(list, is_whole);
        REQUIRE(fault.has_value() == is_faulty(list, is_whole));
        ++(fault ? faulty : clean);
        if (!fault) continue;
        ++seen[fault->what];
        auto const before = order_by_pairs(list);
        if (fault->what == kind::race || fault->what == kind::unborn || fault->what == kind::freed_in_use)
            CHECK(!before[fault->first][fault->second]);
    }
    CHECK(faulty > 1000);
    CHECK(clean > 300);
    CHECK(seen.size() == 10); // all but `order`
}

} // namespace this_test
