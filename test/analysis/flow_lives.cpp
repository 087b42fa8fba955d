// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/liveness.hpp>

#include "dice.hpp"
#include "flow_oracle.hpp"
#include "random_flow.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<std::uint32_t>;

std::vector<live_range> ranges_of(live_range_lists const& lives, value_id v)
{
    auto const mine = lives[v];
    return {mine.begin(), mine.end()};
}

std::vector<node_id> ascending(snapshot const& p)
{
    std::vector<node_id> order;
    for (node_id n = 0; n != p.nodes(); ++n) order.push_back(n);
    return order;
}

live_range_lists lives_of(snapshot const& p, std::vector<value_role> const& role)
{
    auto const order = ascending(p);
    return without_frame(p, framed_lives(p, role, order, operand_end::held), order);
}

random_flow chain(std::size_t nodes, std::size_t values)
{
    random_flow f;
    f.nodes.resize(nodes);
    f.values = values;
    for (node_id n = 0; n + 1 < nodes; ++n) f.nodes[n].successors = {n + 1};
    return f;
}

} // namespace

TEST_CASE("an input is there at the first step, and an output to the end of each path")
{
    random_flow f = chain(4, 2);
    f.nodes[0].successors = {1, 2};
    f.nodes[1].successors = {};
    f.nodes[1].steps.resize(2);
    f.nodes[0].steps[0].defs = {1};
    f.nodes[2].steps[0].defs = {1};
    live_range_lists const lives = lives_of(f.program(), {value_role::input, value_role::output});
    CHECK(ranges_of(lives, 0) == std::vector<live_range>{{0, 1}});
    CHECK(ranges_of(lives, 1) == std::vector<live_range>{{0, 5}}); // over 2 it is written anew
    CHECK(lives.positions() == 5);
}

TEST_CASE("an input is there where the program begins, wherever that stands in the order")
{
    random_flow f = chain(3, 1);
    snapshot const p = f.program();
    std::vector<value_role> const role{value_role::input};
    std::vector<node_id> const order{2, 0, 1};
    live_range_lists const framed = framed_lives(p, role, order, operand_end::held);
    CHECK(ranges_of(framed, 0) == std::vector<live_range>{{0, 1}});
    CHECK(ranges_of(without_frame(p, framed, order), 0) == std::vector<live_range>{{1, 2}});
}

TEST_CASE("an output is there wherever a loop that cannot be left may be stopped")
{
    random_flow f = chain(3, 1); // 0: def -> 1 <-> 2
    f.nodes[0].steps[0].defs = {0};
    f.nodes[2].successors = {1};
    CHECK(ranges_of(lives_of(f.program(), {value_role::output}), 0) == std::vector<live_range>{{0, 3}});
    CHECK(ranges_of(lives_of(f.program(), {value_role::intermediate}), 0) == std::vector<live_range>{{0, 1}});
    f.nodes[1].successors = {2, 0}; // and all of it may go round: still nobody leaves
    CHECK(ranges_of(lives_of(f.program(), {value_role::output}), 0) == std::vector<live_range>{{0, 3}});
}

TEST_CASE("an operand that is handed over is not there at the step that may overwrite it")
{
    snapshot const p = flow(
        1, 3, [](node_id) { return ids{}; },
        [](node_id, effect_sink& s) {
            s.def(0);
            s.next_step();
            s.use(0);
            s.def(1);
            s.may_overwrite(0, 1);
            s.may_overwrite(0, 2); // is not written here: says nothing
            s.next_step();
            s.use(1);
            s.def(2);
        });
    std::vector<value_role> const role(3);
    live_range_lists const held = framed_lives(p, role, {0}, operand_end::held);
    live_range_lists const handed = framed_lives(p, role, {0}, operand_end::handed_over);
    CHECK(ranges_of(held, 0) == std::vector<live_range>{{1, 3}});
    CHECK(ranges_of(handed, 0) == std::vector<live_range>{{1, 2}});
    CHECK(ranges_of(handed, 1) == std::vector<live_range>{{2, 4}});
}

TEST_CASE("what is read before it is written is told by value, with the step")
{
    random_flow f = chain(3, 2);
    f.nodes[0].successors = {1, 2};
    f.nodes[1].steps[0].defs = {0, 1};
    f.nodes[2].steps[0].uses = {1};
    f.nodes[2].operands = {{0, 0}};
    snapshot const p = f.program();
    std::vector<value_role> role(2);
    live_range_lists const framed = framed_lives(p, role, ascending(p), operand_end::held);
    CHECK(undefined_read(p, framed, role, false) ==
          live_ranges::order_violation{0, 0, live_ranges::order_violation::kind::defined_later});
    CHECK(undefined_read(p, framed, {value_role::input, {}}, false) ==
          live_ranges::order_violation{1, 2, live_ranges::order_violation::kind::defined_later});
    CHECK_FALSE(undefined_read(p, framed, {value_role::input, value_role::external}, false));
    CHECK_FALSE(undefined_read(p, framed, role, true));
}

TEST_CASE("a program of nothing has no ranges, and a dead node's values have")
{
    CHECK(lives_of(snapshot(), {}).values() == 0);
    random_flow f = chain(2, 1);
    f.nodes[0].successors = {};
    f.nodes[1].steps[0].defs = {0};
    f.nodes[1].steps.resize(2);
    f.nodes[1].steps[1].uses = {0};
    CHECK(ranges_of(lives_of(f.program(), {{}}), 0) == std::vector<live_range>{{1, 3}});
}

TEST_CASE("the ranges are what a search along the steps finds, in any flow and order, with any roles")
{
    std::size_t ranges = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_flow f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        std::vector<value_role> role(f.values);
        for (auto& r : role)
            if (pick.below(3) == 0) r = pick.below(2) == 0 ? value_role::input : value_role::output;
        snapshot const p = f.program();
        auto order = ascending(p);
        for (std::uint32_t n = 1; n < order.size(); ++n) std::swap(order[n], order[pick.below(n + 1)]);
        live_range_lists const lives =
            without_frame(p, framed_lives(p, role, order, operand_end::held), order);
        ranges += lives.ranges();

        // Roles said by steps: who can be left, or never is, reads the outputs in a last step.
        std::vector<bool> leads_out(f.nodes.size());
        for (std::size_t again = 0; again != f.nodes.size(); ++again)
            for (std::size_t n = 0; n != f.nodes.size(); ++n) {
                if (f.nodes[n].successors.empty()) leads_out[n] = true;
                for (auto s : f.nodes[n].successors)
                    if (leads_out[s]) leads_out[n] = true;
            }
        random_flow said = f;
        for (std::size_t n = 0; n != f.nodes.size(); ++n) {
            if (!f.nodes[n].successors.empty() && leads_out[n]) continue;
            said.nodes[n].steps.emplace_back();
            for (value_id v = 0; v != f.values; ++v)
                if (has_role(role[v], value_role::output)) said.nodes[n].steps.back().early.push_back(v);
        }
        flow_oracle const oracle(said.program());
        snapshot const q = said.program();
        step_id at = 0;
        for (node_id n : order)
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s, ++at)
                for (value_id v = 0; v != f.values; ++v) {
                    step_id const there = q.steps_of(n).first + (s - p.steps_of(n).first);
                    bool is_in = false;
                    for (live_range r : lives[v]) is_in = is_in || contains(r, at);
                    bool const is_given_here = s == 0 && has_role(role[v], value_role::input);
                    REQUIRE(is_in == (is_given_here || oracle.occupies(v, there)));
                }
    }
    MESSAGE(ranges, " ranges");
}

} // namespace this_test
