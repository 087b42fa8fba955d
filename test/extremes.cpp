// SPDX-License-Identifier: BSL-1.0
// Programs and options at the borders of what can be said, through all calls that take both: nothing or one
// of everything, sizes near 2^64, and options that contradict the program or themselves. Each call plans
// validly or says why not.
#include "affine_bytes.hpp"
#include "printed.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/listing.hpp>
#include <sublet/ordering/order.hpp>
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
#include <sublet/schedules.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Whether buffers lie in their arenas, and apart if they are live at once. No sum of it can wrap around.
bool is_valid(memory_plan const& plan, std::vector<pool_limits> const& limits)
{
    auto const& all = plan.buffers;
    for (std::size_t i = 0; i != all.size(); ++i) {
        byte_count const arena = plan.arena_bytes.at(all[i].pool);
        if (all[i].size > arena || all[i].offset > arena - all[i].size) return false;
        if (all[i].offset % all[i].alignment != 0) return false;
        if (all[i].pool < limits.size() && arena > limits[all[i].pool].capacity) return false;
        for (std::size_t j = 0; j != i; ++j) {
            bool const is_below =
                all[i].offset < all[j].offset && all[j].offset - all[i].offset >= all[i].size;
            bool const is_above =
                all[j].offset < all[i].offset && all[i].offset - all[j].offset >= all[j].size;
            if (all[i].pool == all[j].pool && overlaps(all[i].life, all[j].life) && !is_below && !is_above)
                return false;
        }
    }
    return true;
}

/// Everything that is written about a plan.
void report(snapshot const& p, memory_plan const& plan)
{
    std::ostringstream out;
    write_csv(out, plan);
    write_svg(out, plan);
    write_html(out, plan, {.program = &p});
    write_dot(out, p, {.slots = [&](value_id v) { return +plan.buffer_of[v]; }});
    for (pool_id pool = 0; pool != plan.arena_bytes.size() + 1; ++pool)
        write_why_peak(out, why_peak(p, plan, pool));
    CHECK(out);
}

using call = std::function<std::string(snapshot const&, plan_options const&)>;

/// The sentence of a planner, or none: then its plan is valid.
template <class Planned>
std::string sentence_of(Planned const& planned, snapshot const& p, plan_options const& options)
{
    if (!planned) return printed(planned.error());
    CHECK(is_valid(planned.plan, options.pools));
    report(p, planned.plan);
    return {};
}

std::string sentence_of(verdict const& valid) { return valid ? std::string() : printed(valid.error()); }

symbolic_options symbolic(plan_options const& o, std::size_t values)
{
    auto const bytes = o.bytes.tabulate(values), offset = o.view_offset.tabulate(values);
    auto affine = [](byte_count b) { return b == no_size ? affine_bytes::unknown() : affine_bytes{b, 0}; };
    return {.bytes = [=](value_id v) { return affine(bytes[v]); },
            .dims = batches(1),
            .alignment = o.alignment,
            .role = o.role,
            .alias_of = o.alias_of,
            .view_offset = [=](value_id v) { return affine_bytes{offset[v], 0}; },
            .pool = o.pool,
            .eligible = o.eligible,
            .pools = o.pools,
            .order = o.order,
            .effort = o.effort};
}

memory_plan no_offsets(snapshot const& p, program_reading reading)
{
    memory_plan plan{.valid_for = reading};
    plan.buffer_of.assign(p.values(), no_buffer);
    return plan;
}

/// All planners, checkers of a plan that gives no offset, and analyses, by name.
std::map<std::string, call> const& all_calls()
{
    static std::map<std::string, call> const calls = {
        {"plan_memory", [](auto& p, auto& o) { return sentence_of(plan_memory(p, o), p, o); }},
        {"plan_concurrent", [](auto& p, auto& o) { return sentence_of(plan_concurrent(p, o), p, o); }},
        {"plan_concurrent in slots",
         [](auto& p, auto& o) {
             return sentence_of(plan_concurrent(p, o, {.strategy = concurrent_options::strategy_kind::slots}),
                                p, o);
         }},
        {"plan_with_handoffs", [](auto& p, auto& o) { return sentence_of(plan_with_handoffs(p, o), p, o); }},
        {"schedules",
         [](auto& p, auto& o) {
             schedule_curve const found = schedules(p, o);
             return found ? std::string() : printed(found.error());
         }},
        {"plan_flow", [](auto& p, auto& o) { return sentence_of(plan_flow(p, o), p, o); }},
        {"plan_nested",
         [](auto& p, auto& o) {
             planned_nested const planned = plan_nested(program_tree(p), std::vector{o});
             return sentence_of(planned, planned.flat.program, o);
         }},
        {"plan_symbolic",
         [](auto& p, auto& o) {
             planned_symbolic const planned = plan_symbolic(p, symbolic(o, p.values()));
             if (!planned) return printed(planned.error());
             CHECK(is_valid(planned.plan.at(1), o.pools));
             return std::string();
         }},
        {"advise_memory",
         [](auto& p, auto& o) {
             memory_advice const advice = advise_memory(p, o);
             return advice ? std::string() : printed(advice.error());
         }},
        {"order",
         [](auto& p, auto& o) {
             node_order const found = order(p, o);
             return found ? std::string() : std::string("no order");
         }},
        {"share_slots", [](auto& p, auto& o) { return (void)share_slots(p, o), std::string(); }},
        {"versions", [](auto& p, auto& o) { return (void)versions(p, o), std::string(); }},
        {"check_plan", [](auto& p, auto& o) { return sentence_of(check_plan(p, no_offsets(p, {}), o)); }},
        {"check_concurrent_plan",
         [](auto& p, auto& o) {
             return sentence_of(check_concurrent_plan(p, no_offsets(p, program_reading::concurrent), o));
         }},
        {"check_flow_plan",
         [](auto& p, auto& o) {
             return sentence_of(check_flow_plan(p, no_offsets(p, program_reading::control_flow), o));
         }},
        {"fits", [](auto& p, auto& o) { return sentence_of(fits(no_offsets(p, {}), p, o)); }},
    };
    return calls;
}

/// The sentence of a call; empty: it succeeds.
std::string outcome_of(call const& one, snapshot const& p, plan_options const& o)
{
    try {
        return one(p, o);
    } catch (precondition_error const& e) {
        return e.what();
    }
}

/// Each step uses the value before and makes one, and the last uses all; value 1 may be a view of value 0.
snapshot chain(bool has_view = false)
{
    return sequence(4, 4, [=](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        if (s == 3) sink.use(0), sink.use(1);
        if (s == 1 && has_view) sink.view(1);
        else sink.def(+s);
        if (s == 1) sink.may_overwrite(3, 2); // neither is touched here
        sink.may_recompute();
    });
}

snapshot touching_nothing(std::size_t steps, std::size_t values)
{
    return sequence(steps, values, [](step_id, effect_sink&) {});
}

bool is_planner(std::string const& name) { return name.starts_with("plan_"); }

} // namespace

TEST_CASE("nothing, or one of everything, is planned by every call")
{
    struct input {
        snapshot program;
        plan_options options;
    };
    for (input const& in :
         std::vector<input>{{snapshot{}, {.bytes = 8}},
                            {touching_nothing(1, 0), {.bytes = 8}},
                            {touching_nothing(0, 3), {.bytes = 8}},
                            {touching_nothing(2, 3), {.bytes = 8}},
                            {sequence(1, 1, [](step_id, effect_sink& s) { s.def(0); }), {.bytes = 8}},
                            {sequence(1, 1, [](step_id, effect_sink& s) { s.def(0); }), {.bytes = 0}},
                            {sequence(1, 1, [](step_id, effect_sink& s) { s.def(0); }), {.bytes = no_size}},
                            {sequence(1, 1, [](step_id, effect_sink& s) { s.def(0); }),
                             {.bytes = 8, .alignment = byte_count{1} << 61}},
                            {sequence(1, 1, [](step_id, effect_sink& s) { s.def(0); }),
                             {.bytes = (byte_count{1} << 62) - 1, .pools = {{}, {.capacity = 0}}}},
                            {chain(), {.bytes = 0}},
                            {sequence(2, 1, [](step_id, effect_sink& s) { s.use(0); }),
                             {.bytes = 8, .role = value_role::external}},
                            {chain(), {.bytes = 8, .eligible = false}},
                            {chain(), {.bytes = 8}}})
        for (auto const& [label, one] : all_calls()) {
            std::string const name = label;
            CAPTURE(name);
            CAPTURE(in.program.steps());
            CAPTURE(in.program.values());
            std::string const sentence = outcome_of(one, in.program, in.options);
            if (name.find("check") == name.npos && name != "fits") CHECK(sentence == "");
        }
}

TEST_CASE("what contradicts itself or the program is a sentence of every call that names it")
{
    struct contradiction {
        char const* named; ///< in the sentence of a planner
        snapshot program;
        plan_options options;
    };
    auto leads = [](std::vector<std::vector<node_id>> to) {
        std::size_t const nodes = to.size();
        return tasks(
            nodes, nodes, [to](node_id n) { return to[n]; }, [](node_id n, effect_sink& s) { s.def(+n); });
    };
    snapshot const p = chain(), viewed = chain(true);
    std::vector<contradiction> const all = {
        {"value 0",
         sequence(2, 2, [](step_id s, effect_sink& k) { s == 1 ? k.use(0) : k.def(1); }),
         {.bytes = 8}},
        {"value 2", touching_nothing(0, 3), {.bytes = 8, .role = {{}, {}, value_role::output}}},
        {"value 1 is a view of itself", viewed, {.bytes = 8, .alias_of = {-1, 1, -1, -1}}},
        {"views of value 1 form a cycle", viewed, {.bytes = 8, .alias_of = {-1, 2, 1, -1}}},
        {"view 1 names value 9, but there are only 4 values",
         viewed,
         {.bytes = 8, .alias_of = {-1, 9, -1, -1}}},
        {"16 bytes", viewed, {.bytes = {16, 17, 8, 8}, .alias_of = {-1, 0, -1, -1}}},
        {"ends at byte 18446744073709551614",
         viewed,
         {.bytes = 8, .alias_of = {-1, 0, -1, -1}, .view_offset = no_size - 1}},
        {"step 1 defines value 1, a view of value 0", p, {.bytes = 8, .alias_of = {-1, 0, -1, -1}}},
        {"node 1 twice", p, {.bytes = 8, .order = {0, 1, 1, 2}}},
        {"node", p, {.bytes = 8, .order = {0, 1}}},
        {"node 9", p, {.bytes = 8, .order = {0, 1, 2, 9}}},
        {"pool 4294967294", p, {.bytes = 8, .pool = pool_id(4294967294U)}},
        {"alignment of value 1 is 0", p, {.bytes = 8, .alignment = {1, 0, 1, 1}}},
        {"alignment of a pool is 0", p, {.bytes = 8, .pools = {{.alignment = 0}}}},
        {"negative: -8", p, {.bytes = {8, -8, 8, 8}}},
        {"has 3 entries for 4 values", p, {.bytes = {8, 8, 8}}},
        {"alignment has 3 entries", p, {.bytes = 8, .alignment = {8, 8, 8}}},
        {"role has 3 entries", p, {.bytes = 8, .role = std::vector<value_role>(3)}},
        {"alias_of has 1 entries", p, {.bytes = 8, .alias_of = {-1}}},
        {"view_offset has 1 entries", p, {.bytes = 8, .view_offset = {0}}},
        {"pool has 1 entries", p, {.bytes = 8, .pool = {0}}},
        {"pinned has 1 entries", p, {.bytes = 8, .pinned = std::vector<byte_count>{0}}},
        {"eligible has 1 entries", p, {.bytes = 8, .eligible = std::vector<bool>{true}}},
        {"pool 0", p, {.bytes = 8, .pools = {{.capacity = 0}}}},
        {"pool 0", p, {.bytes = 8, .pools = {{.largest_block = 0}}}},
        {"value", p, {.bytes = 8, .pinned = byte_count{0}}},
        {"value 1",
         p,
         {.bytes = 8, .alignment = 8, .pinned = {no_offset, byte_count{3}, no_offset, no_offset}}},
        {"", p, {.bytes = 8, .pinned = {no_offset, no_size - 3, no_offset, no_offset}}},
        {"value 9", p, {.bytes = 8, .pool_choices = {{9, 0, 0}}}},
        {"pool 4294967294", p, {.bytes = 8, .pool_choices = {{1, pool_id(4294967294U), 0}}}},
        {"position 1", leads({{1}, {0}}), {.bytes = 8}},
        {"", p, {.bytes = byte_count{1} << 63}},
        {"alignment", p, {.bytes = 3, .alignment = byte_count{1} << 63}},
        {"",
         p,
         {.bytes = 3, .alignment = (byte_count{1} << 63) + 1, .pools = {{.alignment = byte_count{1} << 62}}}},
    };
    for (contradiction const& one : all)
        for (auto const& [label, run] : all_calls()) {
            std::string const name = label;
            CAPTURE(name);
            CAPTURE(std::string(one.named));
            std::string const sentence = outcome_of(run, one.program, one.options);
            CAPTURE(sentence);
            bool const is_named = sentence.find(one.named) != sentence.npos;
            // Others may have no use for the property, or reasons of their own.
            if (name == "plan_memory" || name == "advise_memory") CHECK((is_named && !sentence.empty()));
            if (name.starts_with("check") || name == "fits") CHECK(!sentence.empty());
            if (name == "plan_concurrent" || name == "plan_with_handoffs") CHECK(!sentence.empty());
        }
}

TEST_CASE("sizes, alignments and pins near 2^64 are planned validly, or are a sentence")
{
    byte_count const top = byte_count{1} << 63;
    byte_count const sizes[] = {0,   1,       3,           top / 2 - 1, top / 2, top - 1,
                                top, top + 1, no_size - 2, no_size - 1, no_size};
    byte_count const alignments[] = {1,       1,           2,   3,       48,         top / 4,
                                     top / 2, top / 2 + 1, top, top + 1, no_size - 1};
    std::size_t planned = 0, refused = 0;
    for (unsigned seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(first_seed() + seed)};
        auto draw = [&](auto const& from, byte_count usual) {
            return pick.below(3) == 0 ? from[pick.below(static_cast<std::uint32_t>(std::size(from)))] : usual;
        };
        bool const has_view = pick.below(2) == 0;
        std::vector<byte_count> bytes, alignment, offset, pinned;
        for (int v = 0; v != 4; ++v) {
            bytes.push_back(draw(sizes, 64));
            alignment.push_back(draw(alignments, 8));
            offset.push_back(v == 1 && has_view ? draw(sizes, 0) : 0);
            pinned.push_back(pick.below(8) == 0 ? draw(sizes, 64) : no_offset);
        }
        plan_options options{.bytes = bytes, .alignment = alignment, .view_offset = offset, .pinned = pinned};
        if (has_view) options.alias_of = {-1, 0, -1, -1};
        options.pools = {{.capacity = draw(sizes, no_limit), .alignment = draw(alignments, 1)}};
        if (pick.below(4) == 0) options.pools[0].largest_block = draw(sizes, no_limit);
        for (auto const& [label, one] : all_calls()) {
            std::string const name = label;
            CAPTURE(name);
            if (!is_planner(name) && name != "advise_memory") {
                (void)outcome_of(one, chain(has_view), options);
                continue;
            }
            ++(outcome_of(one, chain(has_view), options).empty() ? planned : refused);
        }
    }
    CHECK(planned > 20);
    CHECK(refused > 20);
}

TEST_CASE("checkers judge offsets, sizes and arenas near 2^64 as code without sums does")
{
    byte_count const top = byte_count{1} << 63;
    byte_count const all[] = {0,   1,       2,           3,           top - 2,    top - 1,
                              top, top + 1, no_size - 3, no_size - 2, no_size - 1};
    snapshot const both = tasks(
        3, 2, [](node_id n) { return std::vector<node_id>(n == 2 ? 0 : 1, n + 1); },
        [](node_id n, effect_sink& sink) {
            if (n != 2) sink.def(+n);
            else sink.use(0), sink.use(1);
        });
    std::size_t valid = 0, proved = 0;
    for (unsigned seed = 0; seed != rounds(5000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(first_seed() + seed)};
        auto draw = [&](std::size_t from) {
            return all[from + pick.below(static_cast<std::uint32_t>(std::size(all) - from))];
        };
        memory_plan plan{.buffer_of = {0, 1}};
        std::vector<byte_count> bytes, alignment;
        for (value_id v = 0; v != 2; ++v) {
            bytes.push_back(draw(1));
            alignment.push_back(pick.below(4) == 0 ? draw(1) : 1);
            // Often at a place where the other one or the arena ends, or a byte next to it.
            byte_count const offset = pick.below(2) == 0 ? draw(0) : bytes[0] - pick.below(2);
            plan.buffers.push_back({v, {+v, 3}, bytes[v], alignment[v], 0, offset});
        }
        byte_count const arena = pick.below(2) == 0 ? draw(0) : bytes[0] + bytes[1] - pick.below(2);
        plan.arena_bytes = {arena};
        plan_options options{.bytes = bytes, .alignment = alignment};
        options.pools = {{.capacity = pick.below(2) == 0 ? no_limit : draw(0)}};
        // No byte has the number 2^64 - 1, which means that there is none.
        auto is_counted = [](auto const& b) { return b.offset < no_size - b.size; };
        bool const expected = is_valid(plan, options.pools) && std::ranges::all_of(plan.buffers, is_counted);
        valid += expected;
        std::ostringstream at;
        for (auto const& b : plan.buffers)
            at << b.size << " bytes at " << b.offset << ", alignment " << b.alignment << "; ";
        CAPTURE(at.str());
        CAPTURE(arena);
        CAPTURE(options.pools[0].capacity);

        CHECK(bool(check_plan(both, plan, options)) == expected);
        CHECK(static_cast<bool>(fits(plan, both, options)) == expected);
        memory_plan read = plan;
        read.valid_for = program_reading::concurrent;
        CHECK(bool(check_concurrent_plan(both, read, options)) == expected);
        read.valid_for = program_reading::control_flow;
        CHECK(bool(check_flow_plan(both, read, options)) == expected);

        placement_problem problem;
        placement placed;
        placed.pools = {{.height = arena, .status = placement::outcome::feasible}};
        placed.status = placement::outcome::feasible;
        byte_count highest = 0; // where no sum is too large
        for (auto const& b : plan.buffers) {
            problem.buffers.push_back({b.life, b.size, b.alignment});
            placed.offset.push_back(b.offset);
            highest = std::max(highest, b.offset + b.size);
        }
        bool const is_placed = is_valid(plan, {}) && highest == arena && arena != no_size;
        CHECK(bool(check_placement(problem, placed)) == is_placed);

        bool const has_sum = bytes[0] < no_size - bytes[1];
        placed.pools[0].proof = {placement::proof::reason::live_bytes, arena, 1};
        placed.pools[0].peak_position = 1;
        try {
            verdict const holds = check_proof(problem, placed, 0);
            bool const is_proved = has_sum && bytes[0] + bytes[1] == arena;
            CHECK(bool(holds) == is_proved);
            proved += is_proved;
        } catch (precondition_error const&) {
            CHECK(!has_sum);
        }

        // A stacking has offsets of its own, and sizes below 2^63.
        bool const are_sizes = bytes[0] < top && bytes[1] < top;
        bool fits_64_bits =
            are_sizes && bytes[0] < no_size - bytes[1] && alignment[0] < no_size - alignment[1];
        fits_64_bits = fits_64_bits && bytes[0] + bytes[1] < no_size - (alignment[0] + alignment[1]);
        try {
            symbolic_plan stacked{.dims = batches(1), .buffer_of = {0, 1}, .sizes = {bytes[0], bytes[1]}};
            stacked.stack.order = {{.buffer = 0, .alignment = alignment[0]},
                                   {.buffer = 1, .alignment = alignment[1]}};
            stacked.stack.below = {0};
            stacked.stack.pools = 1;
            stacked.most_bytes = {arena};
            for (std::uint32_t i = 0; i != 2; ++i) stacked.buffers.push_back({i, {i, 3}, i, alignment[i]});
            memory_plan const first = stacked.at(1);
            bool const is_in = is_valid(first, options.pools) && first.arena_bytes[0] <= arena;
            CHECK(bool(check_plan(both, stacked, symbolic(options, 2))) == is_in);
        } catch (precondition_error const&) {
            CHECK(!fits_64_bits);
        }
    }
    CHECK(valid > 0);
    CHECK(proved > 0);
}

} // namespace this_test
