// SPDX-License-Identifier: BSL-1.0
// Random programs with views of parts and writes in place, in all planners, against an oracle that paints
// bytes. SUBLET_ROUNDS in the environment multiplies the programs.
#include <sublet/plan_memory.hpp>

#include "../random_source.hpp"
#include "../random_views.hpp"
#include "../rounds.hpp"
#include "affine_bytes.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/sharing/color_graph.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

std::vector<node_id> listed(std::size_t steps)
{
    std::vector<node_id> order(steps);
    for (node_id n = 0; n != steps; ++n) order[n] = n;
    return order;
}

/// A random order of the steps that keeps about as many waits as it breaks.
std::vector<node_id> shuffled(std::size_t steps, random_source& pick)
{
    std::vector<node_id> order = listed(steps);
    for (unsigned i = 1 + pick.below(3); i != 0 && steps > 1; --i) {
        unsigned const at = pick.below(static_cast<unsigned>(steps - 1));
        std::swap(order[at], order[at + 1]);
    }
    return order;
}

bool keeps(std::vector<std::vector<bool>> const& before, std::vector<node_id> const& order)
{
    for (std::size_t i = 0; i != order.size(); ++i)
        for (std::size_t j = i + 1; j != order.size(); ++j)
            if (before[order[j]][order[i]]) return false;
    return true;
}

std::vector<std::vector<bool>> order_of(dependence_graph const& g, std::size_t steps)
{
    std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
    for (position_id at = 0; at != g.positions(); ++at)
        for (position_id next : g.after[at])
            if (g.step_at[at] != g.step_at[next]) before[g.step_at[at]][g.step_at[next]] = true;
    make_transitive(before);
    return before;
}

std::vector<std::vector<bool>> order_of(detail::step_order const& found, std::size_t steps)
{
    std::size_t const points = found.after.rows(); // and joins
    std::vector<std::vector<bool>> before(points, std::vector<bool>(points));
    for (std::uint32_t s = 0; s != points; ++s)
        for (std::uint32_t next : found.after[s]) before[s][next] = true;
    make_transitive(before);
    before.resize(steps);
    for (auto& row : before) row.resize(steps);
    return before;
}

std::vector<std::vector<bool>> order_of(detail::run_order const& run, std::size_t steps)
{
    std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
    for (step_waits::wait const& w : run.waits.list)
        before[run.lowered.step_at[w.from]][run.lowered.step_at[w.to]] = true;
    make_transitive(before);
    return before;
}

/// Calls `judge` with the generator, and a program in both forms.
template <class Judge>
void for_random_views(unsigned usual, Judge judge)
{
    for (std::uint32_t seed = 0; seed != rounds(usual); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_views const views = draw_views(pick, 9);
        judge(pick, views, views.program());
    }
}

} // namespace

TEST_CASE("an order is legal exactly if it keeps the order of accesses of each byte, and plans for it hold")
{
    std::size_t legal = 0, illegal = 0;
    for_random_views(6000, [&](random_source& pick, random_views const& views, snapshot const& p) {
        auto const expected = paint_apart(views);
        auto const before = views.order();
        plan_options options = views.options();
        auto const as_listed = plan_memory(p, options);
        REQUIRE(bool(as_listed));
        REQUIRE(paint_in(views, as_listed.plan, listed(p.steps())) == expected);

        options.order = shuffled(p.steps(), pick);
        auto const planned = plan_memory(p, options);
        REQUIRE(bool(planned) == keeps(before, options.order));
        if (bool(planned)) {
            REQUIRE(paint_in(views, planned.plan, options.order) == expected);
            ++legal;
        } else {
            memory_plan moved = as_listed.plan;
            moved.order = options.order;
            REQUIRE(!check_plan(p, moved, options));
            ++illegal;
        }
        options.order = draw_order(before, {}, pick);
        auto const other = plan_memory(p, options);
        REQUIRE(bool(other));
        REQUIRE(paint_in(views, other.plan, options.order) == expected);
    });
    if (fuzzed.is_on) return;
    CHECK(legal > rounds(1500));
    CHECK(illegal > rounds(1500));
}

TEST_CASE("planners and checkers order the accesses of each byte, and nothing else")
{
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_views views = draw_views(pick, 9);
        for (auto& step : views.steps) // an early read is a position of its own
            for (touch& t : step.touches)
                if (t.kind == touch::access::use_early) t.kind = touch::access::use;
        snapshot const p = views.program();
        plan_options const options = views.options();
        auto const expected = views.order();
        dependence_graph const g = dependences(p, detail::dependences_of(options, {}));
        REQUIRE(g);
        REQUIRE(order_of(g, p.steps()) == expected);
        auto const checked = detail::order_of_steps(p, detail::derive_requirements(p, options), {});
        REQUIRE(!checked.fault);
        REQUIRE(order_of(checked, p.steps()) == expected);
    }
}

TEST_CASE("the waits of a run without a plan order the accesses of each byte, and nothing else")
{
    for_random_views(4000, [&](random_source&, random_views const& views, snapshot const& p) {
        auto const run = detail::run_order_of(p, views.options(), no_plan{});
        REQUIRE(order_of(run, p.steps()) == views.order());
    });
}

TEST_CASE("plans for every schedule, with and without hand-offs, hold in every order")
{
    std::size_t waits = 0;
    for_random_views(3000, [&](random_source& pick, random_views const& views, snapshot const& p) {
        auto const expected = paint_apart(views);
        auto const before = views.order();
        auto const any = plan_concurrent(p, views.options());
        REQUIRE(bool(any));
        auto const waiting = plan_with_handoffs(p, views.options());
        REQUIRE(bool(waiting));
        waits += waiting.plan.handoffs.size();
        for (int i = 0; i != 4; ++i) {
            REQUIRE(paint_in(views, any.plan, draw_order(before, {}, pick)) == expected);
            auto const order = draw_order(before, waiting.plan.handoffs, pick);
            REQUIRE(order.size() == p.steps());
            REQUIRE(paint_in(views, waiting.plan, order) == expected);
        }
    });
    if (fuzzed.is_on) return;
    CHECK(waits > rounds(100));
}

TEST_CASE("plans for control flow and for every batch hold, too, and so does the best order")
{
    for_random_views(2000, [&](random_source&, random_views const& views, snapshot const& p) {
        auto const expected = paint_apart(views);
        auto const along = plan_flow(p, views.options());
        REQUIRE(bool(along));
        REQUIRE(paint_in(views, along.plan, listed(p.steps())) == expected);

        plan_options options = views.options();
        auto const found = sublet::order(p, options);
        REQUIRE(found);
        options.order = found.order;
        auto const planned = plan_memory(p, options);
        REQUIRE(bool(planned));
        REQUIRE(paint_in(views, planned.plan, found.order) == expected);

        std::vector<affine_bytes> bytes, offset;
        for (value_id v = 0; v != views.values(); ++v) {
            bytes.push_back({0, views.bytes[v]});
            offset.push_back({0, views.view_offset[v]});
        }
        auto const symbolic = plan_symbolic(p, {.bytes = bytes,
                                                .dims = batches(3),
                                                .role = views.role,
                                                .alias_of = views.alias_of,
                                                .view_offset = offset,
                                                .pool = of_roots(views.pool, views.alias_of)});
        REQUIRE(bool(symbolic));
        memory_plan const for_two = symbolic.plan.at(2);
        for (auto [v, pool, place] : symbolic) REQUIRE(place.at(2) == for_two.offset_of(v));
        for (byte_count batch : {byte_count{1}, byte_count{2}, byte_count{3}}) {
            random_views scaled = views;
            for (auto* table : {&scaled.bytes, &scaled.view_offset})
                for (byte_count& b : *table) b *= batch;
            REQUIRE(paint_in(scaled, symbolic.plan.at(batch), listed(p.steps())) == paint_apart(scaled));
        }
    });
}

TEST_CASE("a write in place holds its value, as a use does")
{
    enum { a, b };
    snapshot const p = sequence(3, 2, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(a);
        if (s == 1) sink.write(a), sink.use_early(a), sink.def(b);
        if (s == 2) sink.use(b);
    });
    snapshot const chain = tasks(
        3, 2,
        [](node_id n) { return n < 2 ? std::vector<int>{static_cast<int>(n) + 1} : std::vector<int>{}; },
        [&](node_id n, effect_sink& sink) {
            for (touch t : p.touches(+n)) sink.add(t.kind, t.value);
        });
    CHECK(interference(chain).degree(a) == 1);
    auto const colored = color(chain);
    CHECK(colored.plan.slot_of[a] != colored.plan.slot_of[b]);
    CHECK(plan_memory(p, {.bytes = 8}).bytes() == 16);
}

TEST_CASE("a result is written over an operand only where both begin, and if it is all that is written there")
{
    enum { x, r, v, w };
    auto program = [](bool writes_two) {
        return sequence(3, 4, [writes_two](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(x);
            if (s == 1) {
                sink.use(x), sink.view(v), sink.write(v), sink.may_overwrite(x, v);
                if (writes_two) sink.view(w), sink.write(w);
            }
            if (s == 2) sink.use(v);
        });
    };
    auto bytes_at = [&](byte_count offset, bool writes_two) {
        plan_options const options{.bytes = {16, 16, 8, 8},
                                   .alias_of = std::vector<int>{-1, -1, r, r},
                                   .view_offset = {byte_count{0}, byte_count{0}, offset, 8 - offset}};
        return plan_memory(program(writes_two), options).bytes();
    };
    CHECK(bytes_at(0, false) == 16);
    CHECK(bytes_at(8, false) == 32);
    CHECK(bytes_at(0, true) == 32);

    // Checkers refuse both, too: r lies on x.
    plan_options const options{
        .bytes = {16, 16, 8, 8}, .alias_of = std::vector<int>{-1, -1, r, r}, .view_offset = {0, 0, 8, 0}};
    memory_plan over{.buffers = {{x, {0, 2}, 16, 1, 0, 0}, {r, {1, 3}, 16, 1, 0, 0}},
                     .buffer_of = {0, 1, 1, 1},
                     .arena_bytes = {16},
                     .offset_in_root = {0, 0, 8, 0}};
    CHECK(check_plan(program(false), over, options).error().what == fault::clash);
    over.valid_for = program_reading::concurrent;
    CHECK(!check_concurrent_plan(program(false), over, options));
}

} // namespace this_test
