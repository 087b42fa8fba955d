// SPDX-License-Identifier: BSL-1.0
// Scratch: a value that a step allocates and no other touches is planned as a result that no step reads.
#include <sublet/advise_memory.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>

#include "../random_program.hpp"
#include "../rounds.hpp"
#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// The program with every touch of one kind turned into another.
snapshot with_kind(snapshot const& p, touch::access from, touch::access to)
{
    return detail::with_effects(p, p.values(), [&](node_id n, effect_sink& sink) {
        step_range const steps = p.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            if (s != steps.first) sink.next_step();
            for (touch t : p.touches(s)) sink.add(t.kind == from ? to : t.kind, t.value);
            for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
            sink.may_recompute(p.may_recompute(s));
            sink.only_views();
        }
        for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    });
}

/// Scratch is live at its step, and lies apart from all that its step touches but early operands.
void check_scratch(random_program const& p, memory_plan const& plan)
{
    position_id at = 0;
    for (auto const& turn : p.turns()) {
        for (value_id room : turn.what->scratch) {
            if (plan.buffer_of[room] == no_buffer) continue;
            auto const& its = plan.buffers[plan.buffer_of[room]];
            CHECK(its.life == live_range{at, at + 1});
            for (auto const* row : {&turn.what->uses, &turn.what->defs})
                for (value_id v : *row) {
                    if (plan.buffer_of[v] == no_buffer) continue;
                    auto const& other = plan.buffers[plan.buffer_of[v]];
                    bool const is_apart = other.pool != its.pool || other.offset + other.size <= its.offset ||
                                          its.offset + its.size <= other.offset;
                    CHECK(is_apart);
                }
        }
        ++at;
    }
}

} // namespace

TEST_CASE("every planner gives scratch what it gives to a result that no step reads")
{
    std::size_t rooms = 0, planned = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick, 10);
        for (bool is_ordered : {true, false}) {
            snapshot const p = is_ordered ? drawn.program() : drawn.unordered_program();
            snapshot const made = with_kind(p, touch::access::allocate, touch::access::def);
            CHECK_FALSE(made.has_allocations());
            for (auto const& turn : drawn.turns()) rooms += turn.what->scratch.size();
            plan_options const all = drawn.options(pick.below(4) != 0);
            auto check = [&](auto plan_it) {
                auto const a = plan_it(p), b = plan_it(made);
                CHECK(bool(a) == bool(b));
                CHECK(a.plan == b.plan);
                planned += bool(a);
                return a;
            };
            auto const in_order = check([&](auto const& of) { return plan_memory(of, all); });
            if (in_order && is_ordered) check_scratch(drawn, in_order.plan);
            check([&](auto const& of) { return plan_concurrent(of, all); });
            check([&](auto const& of) { return plan_with_handoffs(of, all); });
            if (drawn.order.empty()) check([&](auto const& of) { return plan_flow(of, all); });
            check([&](auto const& of) {
                plan_options capped = all;
                if (in_order)
                    for (byte_count bytes : in_order.plan.arena_bytes)
                        capped.pools.push_back({.capacity = bytes - bytes / 4});
                if (!capped.pools.empty()) // of values of unknown size, too
                    capped.pools.resize(std::max<std::size_t>(capped.pools.size(), 3));
                return advise_memory(of, capped);
            });
            CHECK(order(p, all).order == order(made, all).order);
        }
    }
    CHECK(rooms != 0);
    CHECK(planned != 0);
}

TEST_CASE("scratch in every batch, in a loop, and in a body")
{
    auto program = [](touch::access kind) {
        return sequence(3, 6, [=](auto step, effect_sink& s) {
            if (step != 0) s.use(step - 1);
            s.def(+step), s.add(kind, step + 3);
            if (step == 1) s.may_overwrite(0, 1);
        });
    };
    snapshot const p = program(touch::access::allocate), made = program(touch::access::def);
    symbolic_options const sizes{.bytes = affine_bytes{8, 8}, .dims = batches(7)};
    CHECK(plan_symbolic(p, sizes).plan.at(5) == plan_symbolic(made, sizes).plan.at(5));
    auto nested = [](snapshot const& inner) {
        program_tree tree(inner);
        tree.add_body(0, 1, program_body::run_kind::loop, inner);
        return plan_nested(tree, [](auto) { return plan_options{.bytes = 8}; });
    };
    auto const a = nested(p), b = nested(made);
    REQUIRE(a);
    CHECK(a.plan == b.plan);
    auto cycle = [](touch::access kind) {
        return flow(
            3, 4,
            [](node_id n) { return n == 1 ? std::vector<node_id>{1, 2} : std::vector<node_id>(n == 0, 1); },
            [=](node_id n, effect_sink& s) {
                if (n == 0) s.def(0);
                if (n == 1) s.use(0), s.def(1), s.add(kind, 2);
                if (n == 2) s.use(1), s.def(3);
            });
    };
    auto const in_loop = plan_flow(cycle(touch::access::allocate), {.bytes = 8});
    REQUIRE(in_loop);
    CHECK(in_loop.plan == plan_flow(cycle(touch::access::def), {.bytes = 8}).plan);
}

} // namespace this_test
