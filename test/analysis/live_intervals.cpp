// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/interval_walk.hpp>
#include <sublet/analysis/liveness.hpp>

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/sharing/color_intervals.hpp>

#include "../random_source.hpp"
#include "archetype.hpp"
#include "flow_oracle.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<std::uint32_t>;
using ranges = std::vector<live_range>;

ranges listed(std::span<live_range const> list) { return ranges(list.begin(), list.end()); }

/// One step per node.
snapshot blocks(std::vector<ids> const& successors, std::size_t values, std::vector<ids> const& uses,
                std::vector<ids> const& defs)
{
    return flow(
        successors.size(), values, [&](auto n) { return successors[n]; }, [&](auto n) { return uses[n]; },
        [&](auto n) { return defs[n]; });
}

/// Value by value and step by step, from the definition.
live_range_lists by_definition(snapshot const& p, std::vector<node_id> const& order)
{
    truth_table const occupies = flow_oracle(p).occupancy();
    std::vector<std::uint32_t> first{0};
    ranges all;
    for (value_id v = 0; v != p.values(); ++v) {
        position_id position = 0;
        bool before = false;
        for (node_id n : order)
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s, ++position) {
                bool const now = occupies[s][v];
                if (now && !before) all.push_back({position, position});
                if (now) ++all.back().last;
                before = now;
            }
        first.push_back(static_cast<std::uint32_t>(all.size()));
    }
    return {live_range_lists::source::from_liveness, static_cast<std::uint32_t>(p.steps()), first, all};
}

void shuffle(random_source& pick, std::vector<node_id>& order)
{
    for (std::uint32_t i = 1; i < order.size(); ++i) std::swap(order[i], order[pick.below(i + 1)]);
}

} // namespace

TEST_CASE("a value has a hole where a branch in between does not need it")
{
    snapshot const p = blocks({{1, 3}, {2}, {}, {}}, 3, {{}, {}, {1}, {0}}, {{0}, {1}, {}, {2}});
    for (auto method : {live_range_lists::source::from_liveness, live_range_lists::source::one_pass}) {
        live_range_lists const lives = live_intervals(p, {.method = method});
        CHECK(lives.method() == method);
        CHECK(listed(lives[0]) == ranges{{0, 1}, {3, 4}});
        CHECK(listed(lives[1]) == ranges{{1, 3}});
        CHECK_FALSE(overlaps(lives[0], lives[1]));
        CHECK(overlaps(lives[0], lives[2]));
        CHECK(lives.hull(0) == live_range{0, 4});
        CHECK(lives.max_live() == 2);
    }
}

TEST_CASE("values of two branches share a slot, even by their hulls, if each branch is contiguous")
{
    std::vector<ids> const next = {{1, 3}, {2}, {5}, {4}, {5}, {}};
    snapshot const p = blocks(next, 2, {{}, {}, {0}, {}, {1}, {}}, {{}, {0}, {}, {1}, {}, {}});
    auto slots = [&p](std::vector<node_id> order) {
        live_range_lists const lives = live_intervals(p, {.order = std::move(order)});
        CHECK(lives.max_live() == 1);
        return color(2, [&](auto b) { return lives.hull(+b); }).slots;
    };
    CHECK(slots({0, 1, 2, 3, 4, 5}) == 1);
    CHECK(slots({0, 1, 3, 2, 4, 5}) == 2); // the hulls overlap; the ranges do not
}

TEST_CASE("a value live at the header of a loop is live to the end of the loop")
{
    snapshot const p = blocks({{1}, {2}, {1, 3}, {}}, 2, {{}, {0}, {1}, {}}, {{0}, {1}, {}, {}});
    for (auto method : {live_range_lists::source::from_liveness, live_range_lists::source::one_pass}) {
        live_range_lists const lives = live_intervals(p, {.method = method});
        CHECK(listed(lives[0]) == ranges{{0, 3}});
        CHECK(listed(lives[1]) == ranges{{1, 3}});
    }
}

TEST_CASE("one pass is not used where it would be wrong")
{
    auto method = [](snapshot const& p, std::vector<node_id> order = {}) {
        live_range_lists const lives = live_intervals(p, {.order = order});
        if (lives.method() == live_range_lists::source::from_liveness)
            CHECK_THROWS_AS(
                (void)live_intervals(p, {.order = order, .method = live_range_lists::source::one_pass}),
                precondition_error);
        return lives.method();
    };
    std::vector<ids> const loop = {{1}, {2}, {1, 3}, {}}, nothing(4);
    CHECK(method(blocks(loop, 0, nothing, nothing)) == live_range_lists::source::one_pass);
    // An edge leads backwards; a loop is not contiguous; a loop is entered in its middle.
    CHECK(method(blocks(loop, 0, nothing, nothing), {0, 1, 3, 2}) == live_range_lists::source::from_liveness);
    CHECK(method(blocks(loop, 0, nothing, nothing), {1, 2, 3, 0}) == live_range_lists::source::from_liveness);
    CHECK(method(blocks({{1}, {2, 3}, {1}, {}}, 0, nothing, nothing), {0, 1, 3, 2}) ==
          live_range_lists::source::from_liveness);
    CHECK(method(blocks({{1, 2}, {2}, {1, 3}, {}}, 0, nothing, nothing)) ==
          live_range_lists::source::from_liveness);
    // An unreachable node leads into the middle of a loop.
    CHECK(method(blocks({{1}, {2}, {1}, {2}}, 0, nothing, nothing), {3, 0, 1, 2}) ==
          live_range_lists::source::from_liveness);
    // A value is written twice; a value may be read before any def.
    CHECK(method(blocks(loop, 1, {{}, {}, {}, {0}}, {{0}, {}, {0}, {}})) ==
          live_range_lists::source::from_liveness);
    CHECK(method(blocks(loop, 1, {{}, {0}, {}, {}}, {{}, {}, {0}, {}})) ==
          live_range_lists::source::from_liveness);
    // A value without a def is live from the beginning on, which is allowed.
    CHECK(method(blocks(loop, 1, {{}, {0}, {}, {}}, {{}, {}, {}, {}})) == live_range_lists::source::one_pass);
}

TEST_CASE("without branches the live ranges are those of lifetimes")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const nodes = 1 + pick.below(10), values = 1 + pick.below(10);
        std::vector<ids> next(nodes), uses(nodes), defs(nodes);
        for (node_id n = 0; n + 1 < nodes; ++n) next[n] = {n + 1};
        for (value_id v = 0; v != values; ++v) {
            node_id const def = pick.below(nodes);
            defs[def].push_back(v);
            for (std::uint32_t k = pick.below(3); k != 0 && def + 1 != nodes; --k)
                uses[def + 1 + pick.below(nodes - def - 1)].push_back(v);
        }
        snapshot const p = blocks(next, values, uses, defs);
        live_range_lists const lives = live_intervals(p);
        live_ranges const straight = lifetimes(sequence(
            nodes, values, [&](step_id s) -> auto& { return uses[s]; },
            [&](step_id s) -> auto& { return defs[s]; }));
        CHECK(lives.positions() == straight.positions);
        for (value_id v = 0; v != values; ++v) CHECK(listed(lives[v]) == ranges{straight.of[v]});
        CHECK(lives.max_live() == color(values, [&](auto b) { return lives.hull(+b); }).slots);
    }
}

TEST_CASE("the empty program has no live ranges, and the minimal program has some")
{
    CHECK(live_intervals(snapshot()).values() == 0);
    CHECK(live_intervals(snapshot()).positions() == 0);
    live_range_lists const lives = live_intervals(archetype::program(3));
    CHECK(listed(lives[0]) == ranges{{0, 2}});
    CHECK(loop_contiguous_order(archetype::graph({{1}, {}})) == std::vector<node_id>{0, 1});
}

TEST_CASE("an order that does not name every node once, and the sets of another program, are rejected")
{
    snapshot const p = blocks({{1}, {}}, 1, {{}, {0}}, {{0}, {}});
    CHECK_THROWS_AS((void)live_intervals(p, {.order = {0}}), precondition_error);
    CHECK_THROWS_AS((void)live_intervals(p, {.order = {0, 0}}), precondition_error);
    CHECK_THROWS_AS((void)live_intervals(p, {.order = {0, 2}}), precondition_error);
    CHECK_THROWS_AS((void)live_intervals(p, {.order = {0, 1, 1}}), precondition_error);
    CHECK_THROWS_AS((void)live_intervals(p, liveness(snapshot())), precondition_error);
    CHECK(live_intervals(p, liveness(p), {1, 0}).hull(0) == live_range{0, 2});
}

TEST_CASE("random programs in random orders: the live ranges agree with the definition")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        std::vector<node_id> order = loop_contiguous_order(p.graph());
        if (pick.below(4) != 0) shuffle(pick, order);
        live_range_lists const right = by_definition(p, order);
        CHECK(live_intervals(p, {.order = order}) == right);
        CHECK(live_intervals(p, {.order = order, .method = live_range_lists::source::from_liveness}) ==
              right);
        CHECK(intervals_by_trees(p, lay_out(p, order)) == right);
        CHECK(right.max_live() == flow_oracle(p).maxlive());
    }
}

TEST_CASE("random programs in strict SSA form: one pass finds the same, and is used for reducible ones")
{
    std::size_t in_one_pass = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        flow_limits limits;
        limits.is_reducible = pick.below(2) == 0;
        snapshot const p = draw_ssa(pick, limits).program();
        std::vector<node_id> const order = loop_contiguous_order(p.graph());
        live_range_lists const lives = live_intervals(p, {.order = order});
        CHECK(lives == by_definition(p, order));
        if (limits.is_reducible) CHECK(lives.method() == live_range_lists::source::one_pass);
        in_one_pass += lives.method() == live_range_lists::source::one_pass;

        // Unreachable nodes first: then their edges to the rest lead forwards.
        std::vector<node_id> other = order;
        for (std::size_t i = 0; i != other.size(); ++i)
            other[i] = order[(i + depth_first(p.graph()).reachable) % order.size()];
        if (pick.below(4) == 0) shuffle(pick, other);
        CHECK(live_intervals(p, {.order = other}) == by_definition(p, other));
    }
    CHECK(in_one_pass > rounds(2000));
}

TEST_CASE("random programs with one def per value: one pass is rejected, or correct")
{
    std::size_t in_one_pass = 0, not_strict = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_flow f = draw_ssa(pick, {.is_reducible = pick.below(4) != 0});
        if (f.values != 0) // a use anywhere
            pick.one_of(f.nodes).steps[0].uses.push_back(pick.below(static_cast<std::uint32_t>(f.values)));
        snapshot const p = f.program();
        bool const is_strict = flow_oracle(p).is_strict_ssa();
        std::vector<node_id> const order = loop_contiguous_order(p.graph());
        live_range_lists const lives = live_intervals(p, {.order = order});
        CHECK(lives == by_definition(p, order));
        in_one_pass += lives.method() == live_range_lists::source::one_pass;
        not_strict += !is_strict;
    }
    CHECK(in_one_pass > rounds(500));
    CHECK(not_strict > rounds(500));
}

TEST_CASE("a chain of a hundred thousand nodes, each in a loop of its own, takes memory for its ranges only")
{
    std::uint32_t const nodes = 100'000;
    snapshot const p = flow(
        nodes, nodes,
        [](node_id n) {
            return n + 1 == nodes ? ids{n} : ids{n, n + 1};
        },
        [](node_id n) { return n == 0 ? ids{} : ids{n - 1}; }, [](node_id n) { return ids{n}; });
    live_range_lists const lives = live_intervals(p);
    CHECK(lives.method() == live_range_lists::source::one_pass);
    CHECK(lives.ranges() == nodes);
    CHECK(lives.max_live() == 2);
    CHECK(lives == live_intervals(p, {.method = live_range_lists::source::from_liveness}));
}

} // namespace this_test
