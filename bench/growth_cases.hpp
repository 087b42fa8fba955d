// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_GROWTH_CASES_HPP
#define SUBLET_BENCH_GROWTH_CASES_HPP

/// Programs in shapes that could take time or memory out of proportion, and the calls of the library on them:
/// bench_growth measures each, and a test counts what each does at n and at 4 n.

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/live_query.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/checking/check_slots.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/graph/snapshot.hpp>
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
#include <sublet/reporting/json.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/trace.hpp>
#include <sublet/reporting/why_peak.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/rewriting/rename.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/color_intervals.hpp>
#include <sublet/sharing/share_slots.hpp>

#if defined(SUBLET_GROWTH_READS_JSON)
#include <sublet/adapt/json.hpp>

#include <sstream>
#endif

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

using namespace sublet;

// --- programs --------------------------------------------------------------------------------------------

/// A program with its options; `n` counts its steps or, if these are few, its values.
struct growth_input {
    snapshot program;
    plan_options options = {.bytes = [](value_id v) { return byte_count{16} + 16 * (v % 7); }};
    flow_options flow = {};
};

/// A shape of programs, by its number of steps.
struct growth_shape {
    char const* name;
    bool is_flow; ///< its edges are control flow
    growth_input (*made)(std::size_t n);
};

namespace shapes {

inline value_id id(std::size_t i) { return static_cast<value_id>(i); }

/// Each step uses the value before.
inline growth_input chain(std::size_t n)
{
    return {sequence(n, n, [](std::uint32_t s, effect_sink& k) {
        if (s != 0) k.use(s - 1);
        k.def(s);
    })};
}

/// Every other step makes a value for the next tooth only.
inline growth_input comb(std::size_t n)
{
    return {sequence(n, n, [](std::uint32_t s, effect_sink& k) {
        if (s >= 2) k.use(s / 2 * 2 - 2);
        if (s % 2 == 1) k.use(s - 1);
        k.def(s);
    })};
}

/// Each task needs those to the left and above.
inline growth_input grid(std::size_t n)
{
    std::size_t side = 1;
    while (side * side < n) ++side;
    return {sequence(side * side, side * side, [side](std::uint32_t s, effect_sink& k) {
        if (s % side != 0) k.use(s - 1);
        if (s >= side) k.use(s - side);
        k.def(s);
    })};
}

/// Sixteen tasks a layer; each needs three of the layer before.
inline growth_input layers(std::size_t n)
{
    return {sequence(n, n, [](std::uint32_t s, effect_sink& k) {
        if (s >= 16)
            for (std::uint32_t i : {0U, 5U, 11U}) k.use(s / 16 * 16 - 16 + (s + i) % 16);
        k.def(s);
    })};
}

/// Each value is a view of the one before, and the next step reads it.
inline growth_input views(std::size_t n)
{
    return {sequence(n, n,
                     [](std::uint32_t s, effect_sink& k) {
                         if (s != 0) k.use(s - 1), k.view(s);
                         else k.def(s);
                     }),
            {.bytes = 64, .alias_of = [](value_id v) { return v == 0 ? no_value : value_id{v - 1}; }}};
}

/// Rows of a value: row v has the bytes from 8 v on.
inline plan_options rows_of_one(std::size_t n, byte_count row)
{
    return {.bytes = [=](value_id v) { return v == 0 ? 8 * n + row : row; },
            .alias_of = [](value_id v) { return v == 0 ? no_value : value_id{0}; },
            .view_offset = [](value_id v) { return byte_count{8} * v; }};
}

/// Views of one value that overlap; each is written.
inline growth_input written_views(std::size_t n)
{
    return {sequence(n, n,
                     [](std::uint32_t s, effect_sink& k) {
                         if (s != 0) k.view(s), k.write(s);
                         else k.def(s);
                     }),
            rows_of_one(n, 64)};
}

/// Views that overlap and are read; then all is written.
inline growth_input read_views(std::size_t n)
{
    return {sequence(n, n - 1,
                     [n](std::uint32_t s, effect_sink& k) {
                         if (s == 0) k.def(0);
                         else if (s + 1 == n) k.write(0);
                         else k.use(s - 1), k.view(s);
                     }),
            rows_of_one(n, 64)};
}

/// A cache: each step writes a row, and reads all of it.
inline growth_input cache_rows(std::size_t n)
{
    return {sequence(n, n,
                     [](std::uint32_t s, effect_sink& k) {
                         if (s != 0) k.view(s), k.write(s), k.use(0);
                         else k.def(s);
                     }),
            rows_of_one(n, 8)};
}

/// Each result may overwrite its operand.
inline growth_input in_place(std::size_t n)
{
    return {sequence(n, n,
                     [](std::uint32_t s, effect_sink& k) {
                         if (s != 0) k.use_early(s - 1), k.may_overwrite(s - 1, s);
                         k.def(s);
                     }),
            {.bytes = 64}};
}

/// One step makes n / 2 operands, and each may be overwritten by a step of its own.
inline growth_input fan_in_place(std::size_t n)
{
    std::size_t const half = n / 2;
    return {sequence(half + 2, 2 * half,
                     [half](std::uint32_t s, effect_sink& k) {
                         bool const is_first = s == 0, is_last = s == half + 1;
                         if (is_first || is_last) {
                             for (std::size_t i = 0; i != half; ++i) is_first ? k.def(i) : k.use(half + i);
                             return;
                         }
                         k.use(s - 1);
                         k.may_overwrite(s - 1, half + s - 1);
                         k.def(half + s - 1);
                     }),
            {.bytes = 64}};
}

/// One step with n / 2 operands and results, which may overwrite them.
inline growth_input pairs_in_one_step(std::size_t n)
{
    std::size_t const half = n / 2;
    return {sequence(3, 2 * half, [half](std::uint32_t s, effect_sink& k) {
        for (std::size_t i = 0; i != half; ++i) {
            if (s == 1) k.use_early(i), k.may_overwrite(i, half + i);
            if (s == 2) k.use(half + i);
            if (s != 2) k.def(s == 0 ? i : half + i);
        }
    })};
}

/// One step makes all values, and the next reads them.
inline growth_input values_in_one_step(std::size_t n)
{
    return {sequence(2, n, [n](std::uint32_t s, effect_sink& k) {
        for (std::size_t i = 0; i != n; ++i) s == 0 ? k.def(i) : k.use(i);
    })};
}

/// Half of the steps make a value each, the others read them in the same order.
inline growth_input values_over_all(std::size_t n)
{
    std::size_t const half = n / 2;
    return {sequence(2 * half, half,
                     [half](std::uint32_t s, effect_sink& k) { s < half ? k.def(s) : k.use(s - half); })};
}

/// The same, and they are read in the opposite order.
inline growth_input nested_values(std::size_t n)
{
    std::size_t const half = n / 2;
    return {sequence(2 * half, half, [half](std::uint32_t s, effect_sink& k) {
        s < half ? k.def(s) : k.use(2 * half - 1 - s);
    })};
}

/// Steps that read an input and make an output each.
inline growth_input inputs_and_outputs(std::size_t n)
{
    growth_input in{sequence(n, 2 * n, [n](std::uint32_t s, effect_sink& k) {
        k.use(s);
        k.def(n + s);
    })};
    in.options.role = [n](value_id v) { return v < n ? value_role::input : value_role::output; };
    return in;
}

/// Steps without data between them.
inline growth_input apart(std::size_t n)
{
    return {sequence(n, n, [](std::uint32_t s, effect_sink& k) { k.def(s); })};
}

using nodes = std::vector<node_id>;

/// The next node, if there is one.
inline nodes next(node_id b, std::size_t all) { return b + 1 < all ? nodes{b + 1} : nodes{}; }

/// Blocks in a row: each uses the value of the last but one.
inline growth_input blocks(std::size_t n)
{
    return {flow(
        n, n, [n](node_id b) { return next(b, n); },
        [](node_id b, effect_sink& k) {
            if (b >= 2) k.use(b - 2);
            k.def(+b);
        })};
}

/// The successors of branches with two arms, four blocks each; the last block is a join.
inline nodes arms(node_id b, std::size_t all)
{
    if (b % 4 == 0) return {b + 1, b + 2};
    return b % 4 == 1 ? nodes{b + 2} : next(b, all);
}

/// Branches that join, one after the other; each arm defines a value for its join.
inline growth_input diamonds(std::size_t n)
{
    std::size_t const all = n / 4 * 4;
    return {flow(
        all, all, [all](node_id b) { return arms(b, all); },
        [](node_id b, effect_sink& k) {
            if (b % 4 == 1 || b % 4 == 2) k.use(b / 4 * 4);
            if (b % 4 == 3) k.use(b - 3);
            if (b % 4 == 0 && b != 0) k.use(b - 1);
            k.def(+b);
        })};
}

/// The same branches, below n values that are live throughout.
inline growth_input values_over_diamonds(std::size_t n)
{
    std::size_t const all = n / 4 * 4;
    return {flow(
        all, all, [all](node_id b) { return arms(b, all); },
        [all](node_id b, effect_sink& k) {
            for (std::size_t v = 0; v != all && b == 0; ++v) k.def(v);
            for (std::size_t v = 0; v != all && b + 1 == all; ++v) k.use(v);
        })};
}

/// Values that one arm of a branch writes, and the last block reads.
inline growth_input written_on_an_arm(std::size_t n)
{
    std::size_t const all = n / 4 * 4;
    growth_input in{flow(
        all, all / 4, [all](node_id b) { return arms(b, all); },
        [all](node_id b, effect_sink& k) {
            if (b % 4 == 1) k.def(b / 4);
            for (std::size_t v = 0; v != all / 4 && b + 1 == all; ++v) k.use(v);
        })};
    in.flow.allows_undefined = true;
    return in;
}

/// Each block may leave for the last one, which reads what all have made.
inline growth_input exits(std::size_t n)
{
    return {flow(
        n, n - 2,
        [n](node_id b) {
            nodes to = next(b, n - 1);
            if (b + 2 < n) to.push_back(static_cast<node_id>(n - 1));
            return to;
        },
        [n](node_id b, effect_sink& k) {
            if (b + 2 < n) k.def(+b);
            for (std::size_t v = 0; v != n - 2 && b + 2 == n; ++v) k.use(v);
        })};
}

/// Loops in a row, each with a value of the block before it that is live throughout.
inline growth_input loops_in_a_row(std::size_t n)
{
    std::size_t const all = n / 3 * 3;
    return {flow(
        all, all,
        [all](node_id b) {
            nodes to = next(b, all);
            if (b % 3 == 2) to.push_back(b - 1);
            return to;
        },
        [](node_id b, effect_sink& k) {
            if (b % 3 != 0) k.use(b - 1);
            k.def(+b);
        })};
}

/// Loops within loops: each header makes a value that its last block reads.
inline growth_input nested_loops(std::size_t n)
{
    std::size_t const half = n / 2;
    return {flow(
        2 * half, half,
        [half](node_id b) {
            nodes to = next(b, 2 * half);
            if (b >= half) to.push_back(static_cast<node_id>(2 * half - 1 - b));
            return to;
        },
        [half](node_id b, effect_sink& k) { b < half ? k.def(+b) : k.use(2 * half - 1 - b); })};
}

} // namespace shapes

/// All shapes.
inline std::vector<growth_shape> const& growth_shapes()
{
    static std::vector<growth_shape> const all = {
        {"chain", false, shapes::chain},
        {"comb", false, shapes::comb},
        {"grid", false, shapes::grid},
        {"layers", false, shapes::layers},
        {"chain of views", false, shapes::views},
        {"written views", false, shapes::written_views},
        {"read views", false, shapes::read_views},
        {"cache rows", false, shapes::cache_rows},
        {"chain in place", false, shapes::in_place},
        {"fan in place", false, shapes::fan_in_place},
        {"pairs in one step", false, shapes::pairs_in_one_step},
        {"values in one step", false, shapes::values_in_one_step},
        {"values over all", false, shapes::values_over_all},
        {"nested values", false, shapes::nested_values},
        {"inputs and outputs", false, shapes::inputs_and_outputs},
        {"independent steps", false, shapes::apart},
        {"blocks in a row", true, shapes::blocks},
        {"diamonds", true, shapes::diamonds},
        {"values over diamonds", true, shapes::values_over_diamonds},
        {"written on an arm", true, shapes::written_on_an_arm},
        {"exits", true, shapes::exits},
        {"loops in a row", true, shapes::loops_in_a_row},
        {"nested loops", true, shapes::nested_loops},
    };
    return all;
}

// --- calls -----------------------------------------------------------------------------------------------

using growth_work = std::function<void()>;

/// A call, which `prepared` makes ready: only what it returns is measured.
struct growth_call {
    char const* name;
    bool reads_flow; ///< it also reads control flow
    growth_work (*prepared)(growth_input const& in);
};

/// Counts what is written, and keeps nothing.
struct counted_output {
    std::size_t bytes = 0;

    template <class T>
    counted_output& operator<<(T const& x)
    {
        if constexpr (std::is_arithmetic_v<T>) bytes += sizeof(T);
        else bytes += std::string_view(x).size();
        return *this;
    }
};

/// Throws: std::runtime_error if the call has failed.
template <class Result>
void expect(Result const& result, char const* name)
{
    if (!result) throw std::runtime_error(std::string(name) + " has failed");
}

inline symbolic_options symbolic(plan_options const& o)
{
    return {.bytes =
                [b = o.bytes](value_id v) {
                    return b[v] == no_size ? formula::unknown() : formula(b[v]) * symbol(0);
                },
            .dims = {{"batch", 1, 64}},
            .role = o.role,
            .alias_of = o.alias_of,
            .view_offset = [at = o.view_offset](value_id v) { return formula(at[v]) * symbol(0); },
            .effort = o.effort};
}

/// The problem of a plan.
inline placement_problem problem_of(memory_plan const& plan)
{
    placement_problem problem;
    for (auto const& b : plan.buffers)
        problem.buffers.push_back({.life = b.life, .size = b.size, .alignment = b.alignment});
    return problem;
}

template <node_order::method Method>
growth_work ordered(growth_input const& in)
{
    return [&in] { static_cast<void>(order(in.program, in.options, Method)); };
}

/// The plan of plan_memory(), to be kept by what works on it.
inline std::shared_ptr<memory_plan> plan_of(growth_input const& in)
{
    return std::make_shared<memory_plan>(plan_memory(in.program, in.options).plan);
}

/// A report of that plan.
template <class Write>
growth_work written(growth_input const& in, Write write)
{
    return [write, planned = plan_of(in)] {
        counted_output out;
        write(out, *planned);
    };
}

/// All calls that take a program, a plan or a problem.
inline std::vector<growth_call> const& growth_calls()
{
    static std::vector<growth_call> const all = {
        {"plan_memory", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(plan_memory(in.program, in.options), "plan_memory"); };
         }},
        {"plan_concurrent", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(plan_concurrent(in.program, in.options), "plan_concurrent"); };
         }},
        {"plan_concurrent in slots", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 expect(plan_concurrent(in.program, in.options,
                                        {.strategy = concurrent_options::strategy_kind::slots}),
                        "plan_concurrent");
             };
         }},
        {"plan_with_handoffs", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(plan_with_handoffs(in.program, in.options), "plan_with_handoffs"); };
         }},
        {"schedules", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(schedules(in.program, in.options, {.workers = 4}), "schedules"); };
         }},
        {"plan_flow", true,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(plan_flow(in.program, in.options, in.flow), "plan_flow"); };
         }},
        {"plan_nested", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 expect(plan_nested(program_tree(in.program), std::vector{in.options}), "plan_nested");
             };
         }},
        {"plan_symbolic", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(plan_symbolic(in.program, symbolic(in.options)), "plan_symbolic"); };
         }},
        {"advise_memory", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { expect(advise_memory(in.program, in.options), "advise_memory"); };
         }},
        {"order", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(order(in.program, in.options)); };
         }},
        {"order, longest_path", false, ordered<node_order::method::longest_path>},
        {"order, breadth_first", false, ordered<node_order::method::breadth_first>},
        {"order, depth_first", false, ordered<node_order::method::depth_first>},
        {"order, on_demand", false, ordered<node_order::method::on_demand>},
        {"order, series_parallel", false, ordered<node_order::method::series_parallel>},
        {"order, least_peak", false, ordered<node_order::method::least_peak>},
        {"lifetimes", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 static_cast<void>(
                     lifetimes(in.program, {.role = in.options.role, .alias_of = in.options.alias_of}));
             };
         }},
        {"dependences", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 static_cast<void>(dependences(in.program, detail::dependences_of(in.options, {})));
             };
         }},
        {"versions", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(versions(in.program, in.options)); };
         }},
        {"liveness", true,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(liveness(in.program)); };
         }},
        {"live_intervals", true,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(live_intervals(in.program)); };
         }},
        {"def_use", true,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(def_use_chains(in.program)); };
         }},
        {"flatten", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(flatten(program_tree(in.program))); };
         }},
        {"share_slots, tokens", false,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(share_slots(in.program, in.options)); };
         }},
        {"share_slots, chains", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 static_cast<void>(
                     share_slots(in.program, in.options, {.strategy = slot_options::strategy_kind::chains}));
             };
         }},
        {"share_slots, fewest", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 static_cast<void>(
                     share_slots(in.program, in.options, {.strategy = slot_options::strategy_kind::fewest}));
             };
         }},
        {"color, intervals", false,
         [](growth_input const& in) -> growth_work {
             auto const planned = plan_of(in);
             return [planned] {
                 static_cast<void>(
                     color(planned->buffers.size(), [&](buffer_id b) { return planned->buffers[b].life; }));
             };
         }},
        {"color, chordal", true,
         [](growth_input const& in) -> growth_work {
             return [&in] { static_cast<void>(color(in.program)); };
         }},
        {"place", false,
         [](growth_input const& in) -> growth_work {
             auto const problem =
                 std::make_shared<placement_problem>(problem_of(plan_memory(in.program, in.options).plan));
             return [problem] { static_cast<void>(place(*problem)); };
         }},
        {"check_placement", false,
         [](growth_input const& in) -> growth_work {
             auto const problem =
                 std::make_shared<placement_problem>(problem_of(plan_memory(in.program, in.options).plan));
             auto const placed = std::make_shared<placement>(place(*problem));
             return [=] { expect(check_placement(*problem, *placed), "check_placement"); };
         }},
        {"check_plan", false,
         [](growth_input const& in) -> growth_work {
             auto const planned = plan_of(in);
             return [&in, planned] { expect(check_plan(in.program, *planned, in.options), "check_plan"); };
         }},
        {"check_concurrent_plan", false,
         [](growth_input const& in) -> growth_work {
             auto const planned = std::make_shared<memory_plan>(plan_concurrent(in.program, in.options).plan);
             return [&in, planned] {
                 expect(check_concurrent_plan(in.program, *planned, in.options), "check_concurrent_plan");
             };
         }},
        {"check_schedule", false,
         [](growth_input const& in) -> growth_work {
             auto const curve = std::make_shared<schedule_curve>(schedules(in.program, in.options));
             return [&in, curve] {
                 expect(check_schedule(in.program, curve->points.front(), in.options, {}), "check_schedule");
             };
         }},
        {"check_flow_plan", true,
         [](growth_input const& in) -> growth_work {
             auto const planned =
                 std::make_shared<memory_plan>(plan_flow(in.program, in.options, in.flow).plan);
             return [&in, planned] {
                 expect(check_flow_plan(in.program, *planned, in.options, in.flow), "check_flow_plan");
             };
         }},
        {"check_plan, symbolic", false,
         [](growth_input const& in) -> growth_work {
             auto const options = std::make_shared<symbolic_options>(symbolic(in.options));
             auto const planned = std::make_shared<symbolic_plan>(plan_symbolic(in.program, *options).plan);
             return [&in, options, planned] {
                 expect(check_plan(in.program, *planned, *options), "check_plan, symbolic");
             };
         }},
        {"check_rewrite", false,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 expect(check_rewrite(in.program, in.program, {.role = in.options.role}), "check_rewrite");
             };
         }},
        {"check_slots", true,
         [](growth_input const& in) -> growth_work {
             auto const slots = std::make_shared<slot_plan>(color(in.program).plan);
             return [&in, slots] { static_cast<void>(check_slots(in.program, *slots)); };
         }},
        {"fits", false,
         [](growth_input const& in) -> growth_work {
             auto const planned = plan_of(in);
             return [&in, planned] { expect(fits(*planned, in.program, in.options), "fits"); };
         }},
        {"releases", false,
         [](growth_input const& in) -> growth_work {
             auto const planned = plan_of(in);
             return [&in, planned] {
                 static_cast<void>(releases(in.program, planned->buffers.size(), planned->buffer_of));
             };
         }},
        {"write_csv", false,
         [](growth_input const& in) {
             return written(in, [](auto& out, memory_plan const& plan) { write_csv(out, plan); });
         }},
        {"write_json", false,
         [](growth_input const& in) {
             return written(in, [](auto& out, memory_plan const& plan) { write_json(out, plan); });
         }},
        {"write_svg", false,
         [](growth_input const& in) {
             return written(in, [](auto& out, memory_plan const& plan) { write_svg(out, plan); });
         }},
        {"write_html", false,
         [](growth_input const& in) {
             return written(in, [&in](auto& out, memory_plan const& plan) {
                 write_html(out, plan, {.program = &in.program});
             });
         }},
        {"write_trace", false,
         [](growth_input const& in) {
             return written(in, [](auto& out, memory_plan const& plan) { write_trace(out, plan); });
         }},
        {"write_dot", true,
         [](growth_input const& in) -> growth_work {
             return [&in] {
                 counted_output out;
                 write_dot(out, in.program, {.slots = [](value_id v) { return v % 8; }});
             };
         }},
#if defined(SUBLET_GROWTH_READS_JSON)
        {"read_json", false,
         [](growth_input const& in) -> growth_work {
             std::ostringstream out;
             write_json(out, *plan_of(in));
             return [text = out.str()] { static_cast<void>(read_json(text)); };
         }},
#endif
        {"why_peak", false,
         [](growth_input const& in) {
             return written(in, [&in](auto& out, memory_plan const& plan) {
                 write_why_peak(out, why_peak(in.program, plan));
             });
         }},
    };
    return all;
}

// --- reasons ---------------------------------------------------------------------------------------------

/// Why a call takes more for each step of a larger program.
struct growth_reason {
    char const* call;
    char const* shape; ///< empty: any
    unsigned most;     ///< the factor for four times the steps
    char const* why;
};

inline constexpr growth_reason growth_reasons[] = {
    {"liveness", "", 17, "the sets of a node have up to n values, or n bits in small programs"},
    {"color, chordal", "", 17, "as liveness"},
    {"check_slots", "", 17, "for each slot that values share, the nodes between their writes and reads"},
    {"plan_concurrent", "grid", 10, "each buffer conflicts in n^0.5 ranges"},
    {"plan_concurrent in slots", "grid", 10, "each buffer conflicts in n^0.5 ranges"},
    {"plan_with_handoffs", "grid", 10, "each buffer conflicts in n^0.5 ranges"},
    {"plan_memory", "inputs and outputs", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"plan_flow", "inputs and outputs", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"plan_nested", "inputs and outputs", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"plan_symbolic", "inputs and outputs", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"plan_with_handoffs", "comb", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"share_slots, tokens", "grid", 10, "n^0.5 slots are in use at once"},
    {"share_slots, chains", "grid", 10, "each buffer conflicts in n^0.5 ranges"},
    {"share_slots, fewest", "grid", 10, "each buffer conflicts in n^0.5 ranges"},
    {"plan_concurrent", "inputs and outputs", 10, "64 slots a word, up to a budget of words"},
    {"plan_concurrent in slots", "inputs and outputs", 10, "64 slots a word, up to a budget of words"},
    {"share_slots, chains", "inputs and outputs", 10, "64 slots a word, up to a budget of words"},
    {"share_slots, chains", "independent steps", 10, "64 slots a word, up to a budget of words"},
    {"share_slots, chains", "comb", 10, "64 slots a word, up to a budget of words"},
    {"advise_memory", "inputs and outputs", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"place", "inputs and outputs", 6, "a search, bounded by the effort, for offsets at the bound"},
    {"place", "grid", 13, "above 2048 buffers a search, bounded by the effort, with a table for each sort"},
    {"check_plan", "values over all", 11, "no tables up to 256 classes"},
    {"check_plan", "nested values", 11, "no tables up to 256 classes"},
    {"order", "", 6, "a bound from all pairs of nodes and buffers, up to 2^31 pairs"},
    {"order, longest_path", "", 6, "a bound from all pairs of nodes and buffers, up to 2^31 pairs"},
    {"order, breadth_first", "", 6, "a bound from all pairs of nodes and buffers, up to 2^31 pairs"},
    {"order, depth_first", "", 6, "a bound from all pairs of nodes and buffers, up to 2^31 pairs"},
    {"order, on_demand", "", 6, "a bound from all pairs of nodes and buffers, up to 2^31 pairs"},
    {"order, series_parallel", "", 6, "a bound from all pairs of nodes and buffers, up to 2^31 pairs"},
    {"order, least_peak", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"plan_memory", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"lifetimes", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"versions", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"def_use", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"flatten", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"share_slots, chains", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"check_placement", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"check_plan", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"check_plan, symbolic", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"check_concurrent_plan", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"check_flow_plan", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"check_rewrite", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"fits", "", 6, "the same instructions for each step, on tables that leave the caches"},
    {"releases", "", 6, "the same instructions for each step, on tables that leave the caches"},
};

/// By itself for a call and a shape, or for a call; null: none.
inline growth_reason const* reason_of(growth_call const& call, growth_shape const& shape)
{
    for (growth_reason const& r : growth_reasons)
        if (std::string_view(r.call) == call.name &&
            (*r.shape == 0 || std::string_view(r.shape) == shape.name))
            return &r;
    return nullptr;
}

} // namespace bench

#endif
