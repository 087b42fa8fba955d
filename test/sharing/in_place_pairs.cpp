// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/in_place.hpp>

#include <doctest/doctest.h>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// 0: def 0    1: use 0, def 1 over 0 or def 2 over 0    2: use 1, def 3 over 1
snapshot const fork = sequence(3, 4, [](step_id s, effect_sink& sink) {
    if (s == 0) sink.def(0);
    if (s == 1) sink.use(0), sink.def(1), sink.def(2), sink.may_overwrite(0, 1), sink.may_overwrite(0, 2);
    if (s == 2) sink.use(1), sink.def(3), sink.may_overwrite(1, 3);
});
auto const always = [](buffer_id, step_id) { return true; };
auto const never = [](buffer_id, step_id) { return false; };

buffer_table gathered(plan_options const& options) { return gather_buffers(lifetimes(fork), options); }
using ids = std::vector<buffer_id>;

} // namespace

TEST_CASE("an operand is taken by one result, the first that asks, and a chain is one buffer")
{
    auto const t = join_in_place(fork, gathered({.bytes = 8}), always, always);
    CHECK(t.buffer_of == ids{0, 0, 1, 0});
    CHECK(t.buffers[0].life == live_range{0, 3});
}

TEST_CASE("nothing is joined that is not free, or does not begin where it is written")
{
    CHECK(join_in_place(fork, gathered({.bytes = 8}), never, always).buffers.size() == 4);
    CHECK(join_in_place(fork, gathered({.bytes = 8}), always, never).buffers.size() == 4);
    auto not_1 = [](buffer_id b, step_id) { return b != 1; };
    CHECK(join_in_place(fork, gathered({.bytes = 8}), always, not_1).buffer_of == ids{0, 1, 0, 1});
}

TEST_CASE("what is asked for is the buffer as it was given, and the step whose turn it is")
{
    std::vector<std::pair<buffer_id, step_id>> free, begins;
    auto note = [](auto& to) {
        return [&to](buffer_id b, step_id s) {
            to.push_back({b, s});
            return true;
        };
    };
    (void)join_in_place(fork, gathered({.bytes = 8}), note(free), note(begins));
    using asked = std::vector<std::pair<buffer_id, step_id>>;
    CHECK(free == asked{{0, 1}, {0, 1}, {1, 2}});
    CHECK(begins == asked{{1, 1}, {2, 1}, {3, 2}});
}

TEST_CASE("an operand is kept where the step touches its buffer in another way, too")
{
    auto touching = [](auto other) { // 0: def 0, def 3    1: use 0, def 1 over 0, and more
        return sequence(2, 4, [other](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(0), sink.def(3);
            else sink.use(0), sink.def(1), sink.may_overwrite(0, 1), other(sink);
        });
    };
    auto joins = [](snapshot const& p, plan_options const& options) {
        auto const t = join_in_place(p, gather_buffers(lifetimes(p), options), always, always);
        return t.buffer_of[0] == t.buffer_of[1];
    };
    plan_options const views{.bytes = 8, .alias_of = {-1, -1, 0, 0}};
    CHECK(joins(touching([](effect_sink&) {}), views));
    CHECK(joins(touching([](effect_sink& s) { s.use(0); }), views));
    CHECK(!joins(touching([](effect_sink& s) { s.use(3); }), views));       // a view is read
    CHECK(!joins(touching([](effect_sink& s) { s.use_early(3); }), views)); // even early
    CHECK(!joins(touching([](effect_sink& s) { s.def(2); }), views));       // or made
    CHECK(!joins(touching([](effect_sink& s) { s.def(0); }), views));
}

TEST_CASE("a pair says nothing where the step does not use the operand or does not define the result")
{
    auto const p = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(2);
        if (s == 1) sink.use(0), sink.may_overwrite(0, 1);
        if (s == 2) sink.def(1), sink.may_overwrite(2, 1);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = 8});
    CHECK(join_in_place(p, table, always, always).buffers.size() == 3);
}

TEST_CASE("a result is joined once, though two operands offer themselves")
{
    auto const p = sequence(2, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(1);
        else sink.use(0), sink.use(1), sink.def(2), sink.may_overwrite(0, 2), sink.may_overwrite(1, 2);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = 8});
    CHECK(join_in_place(p, table, always, always).buffer_of == ids{0, 1, 0});
}

TEST_CASE("only planned buffers of one size and pool are joined, and none that is pinned or kept")
{
    auto is_joined = [](plan_options const& options) {
        return join_in_place(fork, gathered(options), always, always).buffers.size() != 4;
    };
    using roles = std::vector<value_role>;
    auto const in = value_role::input, out = value_role::output, ext = value_role::external;
    CHECK(is_joined({.bytes = 8}));
    CHECK(!is_joined({.bytes = {8, 16, 24, 32}}));
    CHECK(!is_joined({.bytes = no_size}));
    CHECK(!is_joined({.bytes = 0}));
    CHECK(!is_joined({.bytes = 8, .pool = {0, 1, 1, 2}}));
    CHECK(!is_joined({.bytes = 8, .role = roles{out, out, {}, {}}}));
    CHECK(!is_joined({.bytes = 8, .role = roles{{}, in, in, in}}));
    CHECK(is_joined({.bytes = 8, .role = roles{in, out, out, out}}));
    CHECK(!is_joined({.bytes = 8, .role = roles{ext, {}, {}, ext}}));
    for (value_id loose : {0u, 3u})
        CHECK(!is_joined({.bytes = 8, .pinned = [loose](value_id v) {
                              return v == loose ? no_offset : byte_count{64} * v;
                          }}));
}

TEST_CASE("the largest results that find operands are taken, and who can choose moves over")
{
    auto const p = sequence(2, 5, [](step_id s, effect_sink& sink) {
        if (s == 0) return sink.def(0), sink.def(1);
        sink.use(0), sink.use(1), sink.def(2), sink.def(3), sink.def(4);
        sink.may_overwrite(0, 2), sink.may_overwrite(1, 2); // 2 may be over either
        sink.may_overwrite(0, 3), sink.may_overwrite(0, 4); // the others only over 0
    });
    auto matched = [&](plan_options const& options) {
        auto const table = gather_buffers(lifetimes(p), options);
        return match_in_place(p, table, always, always, in_place_fit::at_least);
    };
    using pairs = std::vector<memory_plan::in_place_pair>;
    CHECK(matched({.bytes = {8, 8, 8, 8, 8}}) == pairs{{1, 1, 2, 8}, {1, 0, 3, 8}});
    CHECK(matched({.bytes = {8, 8, 8, 4, 6}}) == pairs{{1, 1, 2, 8}, {1, 0, 4, 6}});
    CHECK(matched({.bytes = {8, 4, 8, 4, 6}}) == pairs{{1, 0, 2, 8}});
    CHECK(matched({.bytes = {9, 8, 8, 9, 9}}) == pairs{{1, 1, 2, 8}, {1, 0, 3, 9}});
}

TEST_CASE("a smaller result goes over the smallest operand that there is, and only if that may be larger")
{
    auto const p = sequence(2, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) return sink.def(0), sink.def(1);
        sink.use(0), sink.use(1), sink.def(2), sink.may_overwrite(0, 2), sink.may_overwrite(1, 2);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = {64, 16, 8}});
    using pairs = std::vector<memory_plan::in_place_pair>;
    CHECK(match_in_place(p, table, always, always, in_place_fit::at_least) == pairs{{1, 1, 2, 8}});
    CHECK(match_in_place(p, table, always, always).empty());
}

TEST_CASE("a smaller result keeps its buffer, which follows the operand and lies where that lies")
{
    auto const t = join_in_place(gathered({.bytes = {8, 4, 4, 4}}), {{1, 0, 1, 4}, {2, 1, 3, 4}});
    CHECK(t.buffer_of == ids{0, 1, 2, 1}); // 3 is as large as 1: one buffer
    CHECK(t.buffers[0].life == live_range{0, 2});
    CHECK(t.buffers[1].life == live_range{2, 3});
    CHECK(t.buffers[1].slot_life() == live_range{1, 3});
    CHECK(t.buffers[1].over == 0);
    CHECK(t.buffers[0].over == no_buffer);
    CHECK(t.in_place.size() == 2);
}

TEST_CASE("a smaller result that nobody needs later is part of the operand's buffer")
{
    auto const t = join_in_place(gathered({.bytes = {8, 8, 4, 4}}), {{1, 0, 2, 4}});
    CHECK(t.buffer_of == ids{0, 1, 0, 2});
    CHECK(t.buffers[0].size == 8);
    CHECK(t.buffers[0].life == live_range{0, 2});
}

TEST_CASE("joined buffers have the roles and the alignment of both")
{
    auto const t = join_in_place(
        fork,
        gathered({.bytes = 8,
                  .alignment = {4, 6, 1, 1},
                  .role = std::vector<value_role>{value_role::input, {}, {}, value_role::output}}),
        always, always);
    REQUIRE(t.buffers.size() == 2);
    CHECK(t.buffers[0].alignment == 12);
    CHECK(t.buffers[0].role == (value_role::input | value_role::output));
}

} // namespace this_test
