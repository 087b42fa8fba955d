// SPDX-License-Identifier: BSL-1.0
// As failures.cpp, for the calls besides planners: graphs, analyses, orders, sharing, checkers, rewriting,
// reports and executors.
#include "affine_bytes.hpp"
#include "failing_calls.hpp"
#include "operations.hpp"

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/live_query.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/checking/check_slots.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/listing.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/dot.hpp>
#include <sublet/reporting/html.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/why_peak.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/rewriting/rename.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/color_intervals.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(HEAP_IS_NOT_COUNTED)

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

/// A branch that joins, before a loop: node 0 to 1 and 2, these to 3, and 3 to itself and 4.
static std::vector<std::vector<node_id>> const edges = {{1, 2}, {3}, {3}, {3, 4}, {}};
static lists const flow_uses = {{}, {0}, {0, 1}, {1}, {4, 0}}, flow_defs = {{0, 1}, {2}, {3}, {4}, {5}};

static snapshot branches()
{
    return flow(
        edges.size(), 6, [](node_id n) -> auto& { return edges[n]; },
        [](node_id n) -> auto& { return flow_uses[n]; }, [](node_id n) -> auto& { return flow_defs[n]; });
}
static plan_options const flow_bytes = {.bytes = {64, 32, 32, 64, 128, 8}, .alignment = 8};

/// A straight line with a view, a pair in place, and an input.
static snapshot line()
{
    return sequence(6, 7, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        if (s == 3) sink.use_early(s - 2);
        if (s == 4) sink.view(4);
        else sink.def(+s);
        if (s == 2) sink.may_overwrite(1, 2);
        if (s == 5) sink.use(6);
    });
}
static plan_options line_options()
{
    return {.bytes = {64, 64, 64, 96, 16, 64, 40},
            .alignment = 16,
            .role = [](value_id v) { return v == 6 ? value_role::input : value_role::intermediate; },
            .alias_of = [](value_id v) { return v == 4 ? 3 : -1; },
            .pool = [](value_id v) { return v == 2 ? 1 : 0; }};
}

static symbolic_options affine_options()
{
    return {.bytes = affine_bytes{8, 16},
            .dims = batches(4),
            .role = line_options().role,
            .alias_of = line_options().alias_of};
}

/// What is written, one string.
struct text {
    std::string written;
    text& operator<<(char const* s) { return written += s, *this; }
    text& operator<<(char c) { return written += c, *this; }
};

TEST_CASE("graphs, control flow and liveness run out of memory at any allocation without a leak")
{
    CHECK(fail_each_allocation([] { return branches(); }) > 5);
    snapshot const p = branches();
    csr_graph const& g = p.graph();
    CHECK(fail_each_allocation([&] {
              return flow(
                  g, 6, [](node_id n) -> auto& { return flow_uses[n]; },
                  [](node_id n) -> auto& { return flow_defs[n]; });
          }) > 5);
    CHECK(fail_each_allocation([&] { return depth_first(g); },
                               [](auto const& found) { return reverse_postorder(found); }) > 0);
    CHECK(fail_each_allocation([&] { return dominators(g); },
                               [](auto const& found) { return found.dominates(0, 4); }) > 0);
    CHECK(fail_each_allocation([&] { return loops(g); },
                               [](auto const& found) { return found.is_header(3); }) > 0);
    using method = liveness_options::method;
    for (auto policy : {method::automatic, method::worklist, method::loop_forest, method::per_value})
        CHECK(fail_each_allocation([&] { return liveness(p, {.policy = policy}); }) > 0);
    def_use_chains const chains = def_use_chains(p);
    CHECK(fail_each_allocation([&] { return live_query(p); },
                               [&](live_query const& query) { return query.is_live_in(0, 4, chains); }) > 0);
    CHECK(fail_each_allocation([&] { return def_use_chains(p); },
                               [](auto const& found) { return found.uses.items(); }) > 0);
    CHECK(fail_each_allocation([&] { return interference(p); }) > 0);
    CHECK(fail_each_allocation([&] { return interference<interference_matrix>(p); },
                               [](auto const& found) { return found.are_adjacent(0, 4); }) > 0);
    CHECK(fail_each_allocation([&] { return check_ssa(p); },
                               [](auto const& found) { return printed_finding(found); }) > 0);
    CHECK(fail_each_allocation([&] { return flow_releases(p, 6, {0, 1, 2, 3, 4, 5}, {6, value_role{}}); },
                               [](auto const& found) { return found.on_edge; }) > 0);
}

TEST_CASE("live ranges, buffers and slots run out of memory at any allocation without a leak")
{
    snapshot const p = line();
    plan_options const options = line_options();
    lifetimes_options const how = lifetimes_of(options);
    CHECK(fail_each_allocation([&] { return group_views(3, [](value_id v) { return v == 2 ? 0 : -1; }); }) >
          0);
    CHECK(fail_each_allocation([&] { return lifetimes(p, how); },
                               [](auto const& found) { return found.of; }) > 0);
    live_ranges const lives = lifetimes(p, how);
    auto roots = [](buffer_table const& table) { return table.buffer_of; };
    CHECK(fail_each_allocation([&] { return gather_buffers(lives, options); }, roots) > 0);
    std::vector<step_id> const steps = steps_in_order(p, {});
    buffer_table const table = gather_buffers(lives, options);
    CHECK(fail_each_allocation([&] { return take_in_place(p, steps, table); }, roots) > 0);
    dependence_graph const g = dependences(p, dependences_of(options, {}));
    CHECK(fail_each_allocation([&] { return take_in_place(p, g, table); }, roots) > 0);
    std::size_t const buffers = table.buffers.size();
    auto life = [&](buffer_id b) { return table.buffers[b].life; };
    auto size = [&](std::uint32_t b) { return table.buffers[b].size; };
    CHECK(fail_each_allocation([&] { return color(buffers, life); }) > 0);
    CHECK(fail_each_allocation([&] { return share_linearly(buffers, life, size); }) > 0);
    interference_graph const conflicts = interference(buffers, life);
    using heuristic = coloring_options::heuristic;
    for (auto by : {heuristic::dsatur, heuristic::smallest_last, heuristic::by_size, heuristic::given,
                    heuristic::exact})
        CHECK(fail_each_allocation([&] { return color(conflicts, {.by = by, .bytes = size}); },
                                   [](graph_coloring const& found) { return found.plan; }) > 0);
    CHECK(fail_each_allocation([&] { return releases(p, buffers, table.buffer_of, how); },
                               [](auto const& found) { return found.after; }) > 0);
    CHECK(fail_each_allocation(
              [&] { return releases(p, g, buffers, table.buffer_of, options.role.tabulate(7)); },
              [](auto const& found) { return found.after; }) > 0);
}

TEST_CASE("every rule of an order, and every kind of placement, runs out of memory without a leak")
{
    snapshot const p = line();
    for (auto method :
         {node_order::method::listed, node_order::method::longest_path, node_order::method::breadth_first,
          node_order::method::depth_first, node_order::method::on_demand, node_order::method::series_parallel,
          node_order::method::least_peak})
        CHECK(fail_each_allocation([&] { return order(p, line_options(), method); },
                                   [](node_order const& found) { return found.order; }) > 0);

    auto offsets = [](placement const& placed) { return placed.offset; };
    placement_problem problem;
    for (position_id i = 0; i != 8; ++i)
        problem.buffers.push_back({{i, i + 3}, 16 + 8 * (i % 3), 8, i == 7 ? pool_id{1} : pool_id{0}});
    problem.pools = {{.capacity = 1000, .largest_block = 60}, {}};
    problem.choices = {{2, 0, 1}, {2, 1, 0}};
    CHECK(fail_each_allocation([&] { return place(problem); }, offsets) > 10);
    placement const placed = place(problem);
    CHECK(fail_each_allocation([&] { return place(problem, {.previous = placed.offset}); }, offsets) > 10);
    CHECK(fail_each_allocation([&] { return check_placement(problem, placed); },
                               [](auto const& found) { return printed_finding(found); }) > 0);
    placement_problem parts = problem;
    parts.pools = {};
    parts.choices = {};
    parts.gaps = {{1, {2, 3}, 4, 8}};
    parts.colocated = {{4, 3, 8}};
    CHECK(fail_each_allocation([&] { return place(parts); }, offsets) > 10);
    placement const of_parts = place(parts);
    CHECK(fail_each_allocation([&] { return check_proof(parts, of_parts, 0); }) > 0);
    placement_problem clocks;
    clocks.buffers.resize(3, {{}, 24});
    clocks.clocks = {2, {0, 0, 1, 1, 0, 2}, {2, 2, 3, 3, 1, 3}};
    CHECK(fail_each_allocation([&] { return place(clocks); }, offsets) > 10);
    memory_plan const pools = plan_memory(p, line_options()).plan;
    CHECK(fail_each_allocation([&] { return place(pools, {4096, 64}); }, offsets) > 10);
}

TEST_CASE("each checker runs out of memory at any allocation without a leak, and then finds the same")
{
    auto found_same = [](auto check) {
        CHECK(fail_each_allocation(check, [](auto const& found) { return printed_finding(found); }) > 0);
    };
    snapshot const p = line(), b = branches();
    plan_options const options = line_options();
    memory_plan const sequential = plan_memory(p, options).plan,
                      any_order = plan_with_handoffs(p, options).plan,
                      of_flow = plan_flow(b, flow_bytes).plan;
    for (bool is_wrong : {false, true}) {
        auto changed = [&](memory_plan plan) {
            for (auto& buffer : plan.buffers) buffer.offset = is_wrong ? 0 : buffer.offset;
            return plan;
        };
        memory_plan const one = changed(sequential), two = changed(any_order), three = changed(of_flow);
        found_same([&] { return check_plan(p, one, options); });
        found_same([&] { return check_concurrent_plan(p, two, options); });
        found_same([&] { return check_flow_plan(b, three, flow_bytes); });
        step_schedule timed = schedules(p, options).points.front();
        if (is_wrong) timed.steps.back().start = 0;
        found_same([&] { return check_schedule(p, timed, options, {}); });
        CHECK(fail_each_allocation([&] { return fits(one, p, options); },
                                   [](auto const& found) { return printed_finding(found); }) > 0);
    }
    symbolic_options const sizes = affine_options();
    symbolic_plan wrong = plan_symbolic(p, sizes).plan;
    found_same([&] { return check_plan(p, wrong, sizes); });
    for (auto& its : wrong.stack.order) its.first_below = 0;
    wrong.stack.below.clear();
    found_same([&] { return check_plan(p, wrong, sizes); });
    found_same([&] { return check_slots(p, {{0, 0, 0, 0, 0, 0, 0}, 1}); });
    found_same([&] { return check_rewrite(p, p, {.role = options.role}); });
    stream_commands list{.streams = 1};
    list.operations = {{stream_commands::operation_kind::allocate, 0, 0},
                       {stream_commands::operation_kind::work, 0, 0}};
    list.blocks = {{16}};
    list.touches = {{1, 0, 0, 8, 0, true}};
    found_same([&] { return check_streams(list, true); });
}

TEST_CASE("nested programs and listings are planned with memory for some allocations only, and nothing leaks")
{
    auto make_tree = [] {
        program_tree tree(program_of({{{}, {0}}, {{}, {}}, {{1}, {}}}, 2));
        tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0}, {1}, {{0, 1}}}}, 2), {},
                      {{0, 0, 1, 1}});
        return tree;
    };
    CHECK(fail_each_allocation(make_tree) > 5);
    program_tree const tree = make_tree();
    CHECK(fail_each_allocation([&] { return flatten(tree); }) > 5);
    CHECK(fail_each_allocation([&] { return each_with_captures(tree); }) > 5);
    CHECK(fail_each_allocation([&] { return plan_nested(tree, {{.bytes = 8}, {.bytes = 8}}); },
                               [](planned_nested const& planned) { return planned.plan; }) > 10);
    program_tree kept = tree; // a body that could not be added leaves it as it was
    std::size_t failures = 0;
    for (std::size_t room = 0, failed = 1; failed == 1; ++room, failures += failed) {
        snapshot const body = tree.program_of(1);
        failed = 0;
        allow_allocations(room);
        try {
            kept.add_body(0, 1, program_body::run_kind::loop, body, {}, {{0, 0, 1, no_value}});
        } catch (std::bad_alloc const&) {
            failed = 1;
        }
        allow_allocations(~std::size_t{0});
        if (failed == 1) CHECK(kept == tree);
    }
    CHECK(failures > 3);
    CHECK(kept.size() == tree.size() + 1);

    listing<std::string> list;
    list.facts("the input of the listing", {.bytes = 64, .role = value_role::input});
    list.step("the only step of the listing").read("the input of the listing").make("result", {.bytes = 8});
    CHECK(fail_each_allocation([&] { return list.program(); }) > 0);
    CHECK(fail_each_allocation([&] { return plan_memory(list); },
                               [](auto const& planned) { return planned.offset_of("result"); }) > 10);
    list.facts("result", {.pool = 1});
    list.pools = {{}, {.capacity = 4}};
    CHECK(fail_each_allocation([&] { return plan_memory(list); },
                               [](auto const& planned) { return printed_plan(planned); }) > 10);
}

TEST_CASE("renaming runs out of memory at any allocation without a leak")
{
    snapshot const p = line();
    plan_options options = line_options();
    options.in_place = false;
    versioned_program const made = versions(p, options);
    plan_options const of_versions = with_versions(options, made);
    sized_slot_plan plan;
    plan.slot_of = {0, 1, 2, 0, 0, 1, no_slot};
    plan.slots = 3;
    plan.slot_bytes = {96, 64, 64};
    plan.slot_pool = {0, 0, 1};
    plan.total_bytes = 224;
    CHECK(fail_each_allocation([&] { return name_slots(made, plan, of_versions); },
                               [](auto const& found) { return found.name_of; }) > 0);
    slot_renaming const names = name_slots(made, plan, of_versions);
    CHECK(fail_each_allocation([&] { return renamed_program(made, names); }) > 0);
    CHECK(fail_each_allocation([&] { return log_sharing(p, plan, options); },
                               [](auto const& found) { return found.entries; }) > 0);
    CHECK(fail_each_allocation([&] { return trace(log_sharing(p, plan, options), 3); }) > 0);
    auto name = [](value_id v) { return v; };
    CHECK(fail_each_allocation([&] { return unused_names("slot_", 3, 7, name); }) > 0);
    CHECK(throw_at_each_call([&](auto const& poll) {
              auto set = [&](auto, std::size_t, std::size_t) { poll(); };
              rename(made, names, set, set, set);
          }) >= 5);
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)unused_names("slot_", 3, 7, [&](value_id v) { return poll(), v; });
          }) >= 7);

    program_tree const tree(p);
    flat_tree const flat = flatten(tree);
    slot_renaming const of_tree = name_slots(values_as_versions(flat.program, options), plan, options);
    struct refusing {
        std::function<void()> poll;
        void set_input(program_id, step_id, std::size_t, std::size_t) { poll(); }
        void set_output(program_id, step_id, std::size_t, std::size_t) { poll(); }
        void set_at_end(program_id, node_id, std::size_t, std::size_t) { poll(); }
        void set_capture(program_id, std::size_t, std::size_t) { poll(); }
        void set_binding(program_id, std::size_t, program_body::binding_part, std::size_t) { poll(); }
    };
    CHECK(throw_at_each_call([&](auto const& poll) {
              refusing renamer{std::cref(poll)};
              rename(tree, flat, of_tree, renamer);
          }) >= 5);

    release_points const points = releases(p, 7, {0, 1, 2, 3, 3, 4, 5}, lifetimes_of(options));
    CHECK(throw_at_each_call([&](auto const& poll) {
              insert_releases(points, {}, [&](position_id, std::span<buffer_id const>) { poll(); });
          }) >= 3);
}

TEST_CASE("reports end with the failure of an allocation, a name or the stream, and leak nothing")
{
    snapshot const p = line();
    plan_options const options = line_options();
    memory_plan const plan = plan_memory(p, options).plan;
    peak_reason const why = why_peak(p, plan);
    auto each = [&](auto write) {
        auto named = [](std::uint32_t v) {
            return "a name that is allocated, of value " + std::to_string(v);
        };
        CHECK(fail_each_allocation([&] { return write(text{}, named); },
                                   [](text const& all) { return all.written; }) > 5);
        CHECK(throw_at_each_call([&](auto const& poll) {
                  (void)write(text{}, [&](std::uint32_t v) { return poll(), named(v); });
              }) >= 3);
        struct refusing {
            text all;
            void (*poll)(void const*);
            void const* context;
            refusing& operator<<(char const* s) { return poll(context), all << s, *this; }
            refusing& operator<<(char c) { return poll(context), all << c, *this; }
        };
        throw_at_each_call([&](auto const& poll) {
            using polled = std::remove_reference_t<decltype(poll)>;
            (void)write(refusing{{}, [](void const* f) { (*static_cast<polled*>(f))(); }, &poll}, named);
        });
    };
    each([&](auto out, auto named) { return write_csv(out, plan, {.names = named}), out; });
    each([&](auto out, auto named) { return write_svg(out, plan, {.names = named}), out; });
    each([&](auto out, auto named) { return write_svg(out, plan, {.names = named, .kinds = named}), out; });
    each([&](auto out, auto named) {
        return write_html(
                   out, plan, plan,
                   {.names = named, .kinds = named, .steps = named, .program = &p, .options = &options}),
               out;
    });
    each([&](auto out, auto named) {
        return write_why_peak(out, why, {.names = named, .steps = named}), out;
    });
    each([&](auto out, auto named) {
        return write_dot(out, p,
                         {.slots = [](value_id v) { return v % 3; },
                          .names = named,
                          .steps = named,
                          .value_names = true}),
               out;
    });
}

TEST_CASE("what a callable of an analysis throws arrives, and nothing leaks")
{
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)flow(
                  edges.size(), 6, [&](node_id n) -> auto& { return poll(), edges[n]; },
                  [&](node_id n) -> auto& { return poll(), flow_uses[n]; },
                  [&](node_id n) -> auto& { return poll(), flow_defs[n]; });
          }) >= 15);
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)group_views(3, [&](value_id) { return poll(), no_value; });
          }) == 3);
    auto life = [](std::uint32_t i) { return live_range{i, i + 2}; };
    CHECK(throw_at_each_call(
              [&](auto const& poll) { (void)color(4, [&](buffer_id b) { return poll(), life(b); }); }) >= 4);
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)share_linearly(
                  4, [&](buffer_id b) { return poll(), life(b); },
                  [&](buffer_id) { return poll(), byte_count{8}; });
          }) >= 8);
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)interference(4, [&](value_id v) { return poll(), life(v); });
          }) >= 4);
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)interference(4, [&](value_id u, value_id v) { return poll(), u + 1 == v; });
          }) >= 6);
    snapshot const p = line();
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)plan_symbolic(
                  p, {.bytes = [&](value_id) { return poll(), affine_bytes{8, 16}; }, .dims = batches(4)});
          }) >= 7);
    program_tree const tree(p);
    CHECK(throw_at_each_call([&](auto const& poll) {
              (void)plan_nested(tree, [&](program_id) { return poll(), line_options(); });
          }) == 1);
}

TEST_CASE("schedules and executors run out of memory at any allocation without a leak")
{
    snapshot const p = line();
    plan_options const options{
        .bytes = 64,
        .alignment = 16,
        .role =
            [](value_id v) {
                return v == 6 ? value_role::input : v == 5 ? value_role::output : value_role::intermediate;
            },
        .alias_of = line_options().alias_of};
    memory_plan const plan = plan_concurrent(p, options).plan;
    REQUIRE(!plan.buffers.empty());
    auto plan_of = [&](auto const& mode) {
        return std::is_same_v<decltype(mode), arena const&> ? &plan : nullptr;
    };
    auto each = [&](auto const& mode) {
        CHECK(fail_each_allocation([&] { return run_order_of(p, options, mode); },
                                   [](run_order const& found) { return found.waits.list; }) > 5);
        run_order const made = run_order_of(p, options, mode);
        CHECK(fail_each_allocation([&] { return schedule_streams(made, mode, {.streams = 2}); }) > 5);
        stream_schedule const schedule = schedule_streams(made, mode, {.streams = 2});
        CHECK(fail_each_allocation(
                  [&] { return check_schedule(p, options, plan_of(mode), made.lowered, schedule); },
                  [](auto const& found) { return printed_finding(found); }) > 0);
    };
    each(no_plan{});
    each(recycle{});
    each(arena{plan});

    // As the tests of the executors of one thread and of several, for allocations of the free store.
    std::size_t failures = 0;
    std::optional<std::uint64_t> expected;
    auto run_each = [&](auto const& mode, executor_options::checks level) {
        for (std::size_t room = 0, failed = 1; failed == 1; ++room) {
            CAPTURE(room);
            std::size_t const before = live_allocations;
            {
                simulated_device device;
                auto make = [&] {
                    return std::make_unique<stream_executor<simulated_device, synthetic_kernel>>(
                        device, p, options, mode, synthetic_kernel{}, stream_options{.streams = 2},
                        executor_options{.check = level});
                };
                auto give_and_run = [&](auto& run) {
                    std::vector<std::byte> const ones(64, std::byte{1});
                    run.give(6, std::span(ones));
                    run.run();
                    if (!expected) expected = digest(run.output(5));
                    return digest(run.output(5)) == *expected;
                };
                failed = 0;
                allow_allocations(room);
                std::unique_ptr<stream_executor<simulated_device, synthetic_kernel>> run;
                try {
                    run = make();
                    (void)give_and_run(*run);
                } catch (std::bad_alloc const&) {
                    failed = 1;
                } catch (run_error const&) { // with its step
                    failed = 1;
                }
                allow_allocations(~std::size_t{0});
                failures += failed;
                if (!run) {
                    CHECK(device.live_streams() == 0);
                    CHECK(device.live_events() == 0);
                    run = make();
                }
                CHECK(give_and_run(*run));
            }
            std::size_t const after = live_allocations;
            CHECK(after == before);
        }
    };
    run_each(no_plan{}, executor_options::checks::plan);
    run_each(recycle{}, executor_options::checks::digest);
    run_each(arena{plan}, executor_options::checks::paint);
    CHECK(failures > 100);
}

} // namespace this_test

#endif
