// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/sharing/in_place.hpp>

#include <sublet/analysis/liveness.hpp>

#include "../flow_nodes.hpp"
#include "flow_oracle.hpp"
#include "flow_walks.hpp"
#include "random_source.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using flow_nodes::ids, flow_nodes::node, flow_nodes::program_of;
using namespace sublet::detail;

namespace {

buffer_table joined(snapshot const& p, plan_options const& options)
{
    std::vector<node_id> order;
    table<step_id, position_id> position;
    for (node_id n = 0; n != p.nodes(); ++n) order.push_back(n);
    for (step_id s = 0; s != p.steps(); ++s) position.push_back(s + 1);
    auto const role = options.role.tabulate(p.values());
    live_ranges hulls;
    live_range_lists const lives =
        to_program_positions(p, cfg_live_ranges(p, role, order, operand_end::held), order);
    for (value_id v = 0; v != p.values(); ++v) hulls.of.push_back(lives.hull(v));
    return take_in_place(p, cfg_live_ranges(p, role, order, operand_end::read_early), position,
                         gather_buffers(hulls, options));
}
bool are_joined(snapshot const& p, value_id a, value_id b, plan_options const& options = {.bytes = 8})
{
    buffer_table const table = joined(p, options);
    return table.buffer_of[a] == table.buffer_of[b];
}

} // namespace

TEST_CASE("a result is written over an operand that no path reads later")
{
    // 0: def a -> 1: b over a -> 2: use b      or 0 -> 3: use a
    auto chain = [](ids last_reads) {
        return program_of(
            2, {{{1, 3}, {}, {0}}, {{2}, {0}, {1}, {{0, 0, 1}}}, {{}, last_reads, {}}, {{}, {0}, {}}});
    };
    CHECK(are_joined(chain({1}), 0, 1));
    CHECK_FALSE(are_joined(chain({0, 1}), 0, 1));
    // In a loop the operand is needed again.
    snapshot const again = program_of(2, {{{1}, {}, {0}}, {{1, 2}, {0}, {1}, {{0, 0, 1}}}, {{}, {1}, {}}});
    CHECK_FALSE(are_joined(again, 0, 1));
}

TEST_CASE("without a declared pair nothing is joined, and with one only at the step that declares it")
{
    snapshot const undeclared = program_of(2, {{{1}, {}, {0}}, {{}, {0}, {1}}});
    CHECK_FALSE(are_joined(undeclared, 0, 1));
    // A second step does the same without declaring it: there both values would be held in one buffer.
    snapshot const twice = program_of(2, {{{1, 2}, {}, {0}}, {{}, {0}, {1}, {{0, 0, 1}}}, {{}, {0}, {1}}});
    CHECK_FALSE(are_joined(twice, 0, 1));
    snapshot const both =
        program_of(2, {{{1, 2}, {}, {0}}, {{}, {0}, {1}, {{0, 0, 1}}}, {{}, {0}, {1}, {{0, 0, 1}}}});
    CHECK(are_joined(both, 0, 1));
    // A pair has no effect if the step does not write the result or does not read the operand.
    snapshot const elsewhere = program_of(2, {{{1}, {}, {0}}, {{2}, {0}, {}, {{0, 0, 1}}}, {{}, {}, {1}}});
    CHECK_FALSE(are_joined(elsewhere, 0, 1));
}

TEST_CASE("one of two results is written over the operand, and only if the step reads no view of it")
{
    snapshot const two = program_of(3, {{{1}, {}, {0}}, {{}, {0}, {1, 2}, {{0, 0, 1}, {0, 0, 2}}}});
    CHECK(are_joined(two, 0, 1));
    CHECK_FALSE(are_joined(two, 0, 2));
    // b is a view of a, and the step reads it as well.
    auto with_view = [](std::vector<overwrite> pairs) {
        return program_of(3, {{{1}, {}, {0}}, {{2}, {0}, {1}}, {{}, {0, 1}, {2}, pairs}});
    };
    plan_options const options{.bytes = 8, .alias_of = ids{no_value, 0, no_value}};
    CHECK_FALSE(are_joined(with_view({{0, 0, 2}}), 0, 2, options));
    CHECK(are_joined(with_view({{0, 0, 2}, {0, 1, 2}}), 0, 2, options));
}

TEST_CASE("buffers of other sizes or pools and pinned ones are not joined")
{
    snapshot const p = program_of(2, {{{1}, {}, {0}}, {{}, {0}, {1}, {{0, 0, 1}}}});
    CHECK(are_joined(p, 0, 1));
    CHECK_FALSE(are_joined(p, 0, 1, {.bytes = std::vector{8, 4}}));
    CHECK_FALSE(are_joined(p, 0, 1, {.bytes = 8, .pool = std::vector<pool_id>{0, 1}}));
    CHECK_FALSE(are_joined(p, 0, 1, {.bytes = 8, .pinned = std::vector<byte_count>{0, no_offset}}));
    CHECK_FALSE(are_joined(p, 0, 1, {.bytes = 8, .role = std::vector{value_role::external, value_role{}}}));
    CHECK_FALSE(are_joined(p, 0, 1, {.bytes = 8, .alignment = std::vector{2, 3}}));
    CHECK(joined(p, {.bytes = 8, .alignment = std::vector{2, 6}}).buffers[0].alignment == 6);
    CHECK(are_joined(p, 0, 1, {.bytes = 8, .role = std::vector{value_role{}, value_role::output}}));
    CHECK_FALSE(are_joined(p, 0, 1, {.bytes = 8, .role = std::vector{value_role::output, value_role{}}}));
    snapshot const first = program_of(2, {{{}, {0}, {1}, {{0, 0, 1}}}});
    CHECK(are_joined(first, 0, 1, {.bytes = 8, .role = std::vector{value_role::input, value_role{}}}));
}

TEST_CASE("an operand that the step also reads at another offset keeps its storage")
{
    for (byte_count const second : {0u, 1u}) { // the bytes of the operand from here on, as value 1
        snapshot const p = flow(
            2, 3, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
            [](node_id n, effect_sink& s) {
                if (n == 0) return s.def(0), s.view(1);
                s.use_early(0), s.use(1), s.def(2);
                s.may_overwrite(0, 2), s.may_overwrite(1, 2);
            });
        plan_options const options{.bytes = std::vector<byte_count>{8, 8 - second, 8},
                                   .alias_of = std::vector{-1, 0, -1},
                                   .view_offset = std::vector<byte_count>{0, second, 0}};
        CHECK(are_joined(p, 0, 2, options) == (second == 0));
    }
}

TEST_CASE("buffers that are overwritten in both directions need declarations at both steps")
{
    // 1: b over a, and then 2 reads b for the last time, for c, and writes a as well
    auto chain = [](std::vector<overwrite> pairs) {
        return program_of(
            3, {{{1}, {}, {0}}, {{2}, {0}, {1}, {{0, 0, 1}}}, {{3}, {1}, {0, 2}, pairs}, {{}, {0, 2}, {}}});
    };
    CHECK_FALSE(are_joined(chain({{0, 1, 2}}), 0, 1));
    CHECK(are_joined(chain({{0, 1, 2}}), 1, 2));
    CHECK(are_joined(chain({{0, 1, 0}}), 0, 1));
}

TEST_CASE("of two joins that exclude each other the one in the loop is taken")
{
    // b may overwrite a in 1, and c may in 2; but 3 writes both, so the three cannot share one buffer.
    std::vector<node> nodes{{{1, 2}, {}, {0}},
                            {{3}, {0}, {1}, {{0, 0, 1}}},
                            {{3}, {0}, {2}, {{0, 0, 2}}},
                            {{4}, {}, {1, 2}},
                            {{}, {1, 2}, {}}};
    snapshot const once = program_of(3, nodes);
    CHECK(are_joined(once, 0, 1)); // of equal weight the first declared
    CHECK_FALSE(are_joined(once, 0, 2));
    nodes[2].successors = {3, 5}; // a loop through 2: 5 redefines a
    nodes.push_back({{2}, {}, {0}});
    snapshot const often = program_of(3, nodes);
    CHECK(are_joined(often, 0, 2));
    CHECK_FALSE(are_joined(often, 0, 1));
}

TEST_CASE("joined buffers never hold two values that are still read")
{
    std::size_t joins = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        flow_limits limits;
        limits.values = 2 + pick.below(8);
        random_flow const f = pick.below(2) == 0 ? draw_flow(pick, limits) : draw_ssa(pick, limits);
        snapshot const p = with_pairs(f, pick, 1 + pick.below(2));
        buffer_table const table = joined(p, {.bytes = 8});
        flow_oracle const oracle(p);
        auto reads = [&](step_id s, value_id v) {
            for (touch t : p.touches(s))
                if (t.value == v && t.kind == touch::access::use) return true;
            return false;
        };
        auto writes = [&](step_id s, value_id v) {
            for (touch t : p.touches(s))
                if (t.value == v && t.kind == touch::access::def) return true;
            return false;
        };
        auto may = [&](step_id s, value_id in, value_id out) {
            for (overwrite o : p.overwrites(s))
                if (o.in == in && o.out == out) return true;
            return false;
        };
        for (value_id a = 0; a != f.values; ++a)
            for (value_id b = 0; b != f.values; ++b) {
                if (a == b || table.buffer_of[a] != table.buffer_of[b]) continue;
                ++joins;
                for (step_id s = 0; s != p.steps(); ++s) {
                    // b is written while a is held without a declaration, is written too, or is read later.
                    if (!writes(s, b)) continue;
                    REQUIRE_FALSE(writes(s, a));
                    REQUIRE_FALSE(oracle.is_live_after(a, s));
                    if (reads(s, a)) REQUIRE(may(s, a, b));
                }
            }
    }
    MESSAGE(joins, " values in joined buffers");
    CHECK(joins > 100);
}

} // namespace this_test
