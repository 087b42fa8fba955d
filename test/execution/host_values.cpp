// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/host_values.hpp>

#include "../operations.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/execution/run_options.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

host_values values_of(snapshot const& p, plan_options const& options)
{
    return host_values(lower_program(p, options), no_plan{}, {});
}

} // namespace

TEST_CASE("required values must be supplied before a run; outputs can be read after it until the next input")
{
    snapshot const program = sequence(
        1, 2, [](auto) { return std::vector{0}; }, [](auto) { return std::vector{1}; });
    host_values its = values_of(program, {.bytes = 8, .role = {value_role::input, value_role::output}});
    auto const make = [&] { its.storage().before(its.lowered(), 0); };
    CHECK_THROWS_AS(its.run_once(make), unusable_value);
    CHECK(its.input(0).size() == 8);
    CHECK_THROWS_AS((void)its.output(1), unusable_value);
    CHECK(its.run_once(make).steps == 1);
    CHECK(its.output(1).size() == 8);
    CHECK_THROWS_AS(its.run_once(make), unusable_value); // an input is supplied before every run
    (void)its.input(0);
    CHECK_THROWS_AS((void)its.output(1), unusable_value);
    CHECK_THROWS_AS(its.run_once([&] { its.run_once(make); }), precondition_error);
    (void)its.input(0);
    CHECK_NOTHROW(its.run_once(make));
}

// --- binding state -----------------------------------------------------------------------------------------

namespace {

/// image * weights -> scores, with a view of unknown storage.
struct task {
    enum { image, weights, cache, part, scores, idle };
    snapshot program = op_list(6, {{image, weights, part}}, {{scores}});
    plan_options options{.bytes = std::vector<byte_count>{16, 8, no_size, 24, 4, 4},
                         .alignment = std::vector<byte_count>{1, 8, 1, 1, 1, 1},
                         .role = {value_role::input, value_role::external, value_role::external,
                                  value_role::external, value_role::output, value_role::external},
                         .alias_of =
                             std::vector<value_id>{no_value, no_value, no_value, cache, no_value, no_value}};
    lowered_program lowered = lower_program(program, options);
    detail::binding_state duties{lowered};

    void give(value_id v) { duties.mark_supplied(lowered.table.buffer_of[v]); }
    value_id missed() const
    {
        try {
            duties.expect_all(lowered);
        } catch (unusable_value const& e) {
            return e.value();
        }
        return no_value;
    }
};

} // namespace

TEST_CASE("bindings stay, inputs are consumed by a run, and values that no step touches are not required")
{
    task its;
    CHECK(its.missed() == task::image);
    its.give(task::image);
    CHECK(its.missed() == task::weights);
    CHECK_THROWS_AS(its.duties.expect_bound(its.lowered), unusable_value);
    its.give(task::weights);
    its.give(task::part); // supplies the root of the view
    CHECK(its.missed() == no_value);
    its.duties.consume_inputs(its.lowered);
    CHECK(its.missed() == task::image);
    CHECK_NOTHROW(its.duties.expect_bound(its.lowered));
}

TEST_CASE("bound storage must be large enough and aligned")
{
    task its;
    alignas(8) std::array<std::byte, 25> bytes{};
    auto fits = [&](value_id v, std::size_t begin, std::size_t size) {
        try {
            its.duties.expect_fit(its.lowered, v, std::span(bytes).subspan(begin, size));
        } catch (unusable_value const& e) {
            return e.value();
        }
        return no_value;
    };
    CHECK(fits(task::weights, 0, 8) == no_value);
    CHECK(fits(task::weights, 0, 7) == task::weights);
    CHECK(fits(task::weights, 1, 8) == task::weights);
    CHECK(fits(task::cache, 0, 24) == no_value);
    CHECK(fits(task::cache, 0, 23) == task::part); // the view is named: it is too large
    CHECK_THROWS_AS(fits(task::image, 0, 16), precondition_error);
}

TEST_CASE("a value can be used only according to its role")
{
    task its;
    CHECK_THROWS_AS(its.duties.expect_value(its.lowered, 6), precondition_error);
    CHECK_THROWS_AS(its.duties.expect_input(its.lowered, task::weights), precondition_error);
    CHECK_THROWS_AS(its.duties.expect_output(its.lowered, task::image), precondition_error);
    CHECK_THROWS_AS(its.duties.expect_results(task::scores, false), unusable_value);
    CHECK_NOTHROW(its.duties.expect_input(its.lowered, task::image));
    CHECK_NOTHROW(its.duties.expect_output(its.lowered, task::scores));
    CHECK_NOTHROW(its.duties.expect_results(task::scores, true));
}

// --- live peak ---------------------------------------------------------------------------------------------

namespace {

lowered_program lowered_of(random_program const& p, bool in_place = true)
{
    return lower_program(p.program(), p.options(in_place));
}

/// Sums live ranges at each position; tries all ways to write results over operands.
byte_count slow_live_peak(random_program const& p, bool in_place)
{
    class_history const touches = access_history(p);
    auto const turns = p.turns();
    std::map<value_id, live_range> life = live_ranges_of(p);
    std::vector<std::map<pool_id, byte_count>> saved(turns.size());
    for (position_id at = 0; in_place && at != turns.size(); ++at) {
        std::vector<std::pair<value_id, value_id>> legal;
        for (auto const& [in, out] : turns[at].what->pairs) {
            value_id const from = p.root(in), to = p.root(out);
            if (life.count(from) == 0 || life.count(to) == 0 || touches.at(from).count(at) == 0) continue;
            if (p.pool[from] != p.pool[to] || p.bytes[from] < p.bytes[to]) continue;
            bool const dies = life[from].last == at + 1 && touches.at(from).at(at).only_reads(in) &&
                              touches.at(from).rbegin()->first == at &&
                              !has_role(p.class_role(from), value_role::output);
            bool const is_born = p.first_write(touches.at(to)) == at && life[to].first == at &&
                                 !has_role(p.class_role(to), value_role::input);
            if (dies && is_born) legal.push_back({from, to});
        }
        for (pool_id pool = 0; pool != 3; ++pool)
            for (std::uint32_t set = 0; set != 1u << legal.size(); ++set) {
                std::set<value_id> used, served;
                byte_count bytes = 0;
                bool is_choice = true;
                for (std::size_t i = 0; i != legal.size(); ++i) {
                    if ((set >> i & 1) == 0) continue;
                    is_choice = is_choice && p.pool[legal[i].first] == pool &&
                                used.insert(legal[i].first).second && served.insert(legal[i].second).second;
                    bytes += p.bytes[legal[i].second];
                }
                if (is_choice) saved[at][pool] = std::max(saved[at][pool], bytes);
            }
    }
    std::map<pool_id, byte_count> peak;
    for (position_id at = 0; at != turns.size(); ++at) {
        std::map<pool_id, byte_count> live;
        for (auto const& [r, range] : life)
            if (contains(range, at)) live[p.pool[r]] += p.bytes[r];
        for (auto const& [pool, bytes] : live) peak[pool] = std::max(peak[pool], bytes - saved[at][pool]);
    }
    byte_count sum = 0;
    for (auto const& [pool, bytes] : peak) sum += bytes;
    return sum;
}

} // namespace

TEST_CASE("the example of the header")
{
    auto const p = sequence(3, 2, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0);
        if (step == 1) return s.use(0), s.def(1), s.may_overwrite(0, 1);
        s.use(1);
    });
    CHECK(live_peak(lower_program(p, {.bytes = {8, 4}, .in_place = false})) == 12);
    CHECK(live_peak(lower_program(p, {.bytes = {8, 4}})) == 8);
}

TEST_CASE("views take no bytes, and scratch only during its step")
{
    enum : std::uint32_t { a, b, c, w };
    auto const p = sequence(3, 4, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(a);
        if (step == 1) return s.use(a), s.view(b), s.def(c), s.allocate(w);
        s.use(b), s.use(c);
    });
    plan_options const options{.bytes = {8, 4, 6, 2}, .alias_of = {-1, 0, -1, -1}};
    CHECK(live_peak(lower_program(p, options)) == 16);
}

TEST_CASE("an empty program, one with unused inputs, and one of inputs only")
{
    CHECK(live_peak(lower_program(snapshot{}, {.bytes = 8})) == 0);
    plan_options const inputs{.bytes = 8, .role = value_role::input};
    auto const unread = sequence(2, 2, [](auto, effect_sink&) {});
    CHECK(live_peak(lower_program(unread, inputs)) == 16);
    auto const given = sequence(0, 2, [](auto, effect_sink&) {});
    CHECK(live_peak(lower_program(given, inputs)) == plan_memory(given, inputs).report().lower_bound_bytes);
}

TEST_CASE("an input that the first step reads early is dead at it where any step may be the first")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.use_early(0), s.def(1); });
    plan_options const options{.bytes = 8, .role = {value_role::input, value_role::output}};
    CHECK(live_peak(lower_program(p, options)) == 16);
    CHECK(live_peak(lower_program(p, options, {0})) == 8);
}

TEST_CASE(
    "an unused input is live at the first step of a single order, but not where any step may be the first")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.def(1); });
    plan_options const options{.bytes = {32, 8}, .role = {value_role::input, value_role::output}};
    CHECK(live_peak(lower_program(p, options)) == plan_memory(p, options).report().lower_bound_bytes);
    CHECK(live_peak(lower_program(p, options)) == 40);
    CHECK(live_peak(lower_program(p, options, {0})) ==
          plan_concurrent(p, options).report().lower_bound_bytes);
    CHECK(live_peak(lower_program(p, options, {0})) == 32);
}

TEST_CASE("more live bytes than 64 bits can count are rejected")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.def(0), s.def(1); });
    lowered_program const lowered = lower_program(p, {.bytes = byte_count{1} << 63});
    CHECK_THROWS_AS((void)live_peak(lowered), precondition_error);
}

TEST_CASE("an operand that is taken by one result leaves the next result to another operand")
{
    auto const p = sequence(2, 4, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0), s.def(1);
        s.use(0), s.use(1), s.def(2), s.def(3);
        s.may_overwrite(0, 2), s.may_overwrite(0, 3), s.may_overwrite(1, 3);
    });
    CHECK(live_peak(lower_program(p, {.bytes = 8})) == 16);
}

TEST_CASE("the live peak is the sum over live ranges, and no plan is below it; most plans reach it")
{
    std::size_t saved = 0, equal = 0;
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 8);
        if (seed % 2 == 0) shrink_results(p, pick);
        byte_count const apart = live_peak(lowered_of(p, false)), in_place = live_peak(lowered_of(p));
        CHECK(apart == slow_live_peak(p, false));
        CHECK(in_place == slow_live_peak(p, true));
        for (bool joins : {false, true}) { // alignments and pins may need more
            byte_count const bound = plan_memory(p.program(), p.options(joins)).report().lower_bound_bytes;
            byte_count const alive = joins ? in_place : apart;
            CHECK(alive <= bound);
            equal += alive == bound;
        }
        saved += in_place < apart;
    }
    CHECK(saved > rounds(40));
    CHECK(equal > rounds(1800));
}

} // namespace this_test
