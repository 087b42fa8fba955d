// SPDX-License-Identifier: BSL-1.0
// Random programs with sizes that are formulas in open dimensions: the ordinary checker accepts one plan for
// every shape. With SUBLET_ROUNDS=50 in the environment there are fifty times as many; SUBLET_SEED is the
// first.
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_symbolic.hpp>

#include "../printed.hpp"
#include "../random_source.hpp"
#include "random_shapes.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The peak of live bytes, from the drawn lists: values written in place count once.
byte_count most_alive(random_program const& p, memory_plan const& plan, std::vector<byte_count> const& bytes,
                      pool_id pool)
{
    std::vector<byte_count> live(p.turns().size() + 1, 0);
    std::vector<unsigned char> is_counted(live.size() * plan.buffers.size(), 0);
    for (auto const& [root, life] : live_ranges_of(p)) {
        if (p.pool[root] != pool || bytes[root] == 0 || bytes[root] == no_size) continue;
        buffer_id const b = plan.buffer_of[root];
        for (position_id at = life.first; at < life.last; ++at) {
            unsigned char& counted = is_counted[at * plan.buffers.size() + b];
            if (counted == 0) live[at] += bytes[root];
            counted = 1;
        }
    }
    byte_count most = 0;
    for (byte_count bytes_alive : live) most = larger(most, bytes_alive);
    return most;
}

} // namespace

TEST_CASE("one plan is valid for every shape, and no lower than the live bytes")
{
    unsigned const usual = 250;
    unsigned const first = first_seed();
    unsigned const programs = rounds(usual);
    double excess = 0;
    unsigned plans = 0, worse = 0, in_place = 0, formulas = 0;
    for (unsigned seed = first; seed != first + programs; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_shapes const all = draw_shapes(pick);
        snapshot const program = all.program();
        auto const planned = plan_symbolic(program, all.options);
        std::ostringstream report;
        report << planned.report();
        CAPTURE(report.str());
        REQUIRE(planned);
        REQUIRE(planned.report().is_checked);
        symbolic_plan::places now;
        for (shape const& one : some_shapes(pick, all.options.dims, 24)) {
            CAPTURE(one[0]);
            plan_options const options = all.options.at(one);
            memory_plan const plan = planned.plan.at(one);
            auto const valid = check_plan(program, plan, options);
            std::ostringstream said;
            if (!valid) said << valid.error();
            REQUIRE(said.str() == "");
            auto const bytes = options.bytes.tabulate(program.values());
            byte_count sum = 0;
            for (pool_id pool = 0; pool != plan.arena_bytes.size(); ++pool) {
                bool const by_shape = planned.report().naive.is_by_shape();
                if (!by_shape) REQUIRE(plan.arena_bytes[pool] <= planned.bytes(pool));
                REQUIRE(plan.arena_bytes[pool] >= most_alive(all.drawn, plan, bytes, pool));
                REQUIRE(plan.arena_bytes[pool] == planned.plan.bytes(one, pool));
                sum += plan.arena_bytes[pool];
            }
            planned.plan.place(one, now); // again: nothing is left of the shape before
            for (value_id v = 0; v != program.values(); ++v)
                if (plan.buffer_of[v] != no_buffer)
                    REQUIRE(planned.plan.offset_of(v, now) == plan.offset_of(v));
            if (planned.report().arena.is_by_shape()) continue;
            ++formulas;
            bool has_empty = false; // these are counted in the formula, with their padding
            for (byte_count size : now.size) has_empty = has_empty || size == 0;
            REQUIRE(planned.report().arena.at(one) >= sum);
            if (!has_empty) REQUIRE(planned.report().arena.at(one) == sum);
        }
        symbolic_options apart = all.options;
        apart.in_place = false;
        in_place += planned.report().buffers < plan_symbolic(program, apart).report().buffers;
        for (planned_symbolic::summary::sample const& s : planned.report().samples)
            REQUIRE(s.lower_bound_bytes <= smaller(s.own_bytes, s.arena_bytes));
        ++plans;
        excess += planned.report().excess();
        worse += planned.report().excess() > 0.05;
    }
    if (fuzzed.is_on) return;
    MESSAGE(plans << " programs: at worst samples " << 100 * excess / plans << " % above plans of their own, "
                  << worse << " more than 5 %; " << formulas << " arenas compared with formulas");
    CHECK(excess <= 0.05 * plans);
    CHECK(in_place * 50 > plans);
    CHECK(formulas > plans);
}

TEST_CASE("one plan for every shape and every schedule is valid in any order, and each pair counts")
{
    unsigned plans = 0, refused = 0, paired = 0, missed = 0, needless = 0;
    double excess = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(150); seed != end; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_shapes all = draw_shapes(pick);
        snapshot const program = all.program();
        all.options.valid_for = program_reading::concurrent;
        auto const planned = plan_symbolic(program, all.options);
        if (!planned) { // as a plan for one shape
            ++refused;
            plan_options const one = all.options.at(some_shapes(pick, all.options.dims, 1).front());
            CAPTURE(printed(planned.report()));
            REQUIRE(!plan_concurrent(program, one));
            continue;
        }
        REQUIRE(planned.report().is_checked);
        ++plans;
        excess += planned.report().excess();
        symbolic_options apart = all.options;
        apart.in_place = false;
        paired += planned.report().buffers < plan_symbolic(program, apart).report().buffers;
        std::vector<shape> const tried = some_shapes(pick, all.options.dims, 16);
        for (shape const& one : tried) {
            CAPTURE(one[0]);
            verdict const valid = check_concurrent_plan(program, planned.plan.at(one), all.options.at(one));
            REQUIRE((valid ? std::string() : printed(valid.error())) == "");
        }
        for (planned_symbolic::summary::sample const& s : planned.report().samples)
            REQUIRE(s.lower_bound_bytes <= smaller(s.own_bytes, s.arena_bytes));
        // Without a pair: what the proof accepts is valid for each shape, whatever the sizes are.
        stacking const& stack = planned.plan.stack;
        if (stack.below.empty()) continue;
        symbolic_plan without = planned.plan;
        auto const at = pick.below(static_cast<std::uint32_t>(stack.below.size()));
        without.stack.below.erase(without.stack.below.begin() + at);
        for (stacking::layer& its : without.stack.order) its.first_below -= its.first_below > at;
        bool const is_noticed = !check_plan(program, without, all.options);
        ++(is_noticed ? missed : needless);
        if (is_noticed) continue;
        for (shape const& one : tried) {
            verdict const valid = check_concurrent_plan(program, without.at(one), all.options.at(one));
            REQUIRE((valid ? std::string() : printed(valid.error())) == "");
        }
    }
    if (fuzzed.is_on) return;
    MESSAGE(plans << " plans, " << refused << " refused, " << paired
                  << " with pairs in place; at worst samples " << 100 * excess / plans
                  << " % above plans of their own; " << missed << " pairs left out and noticed, " << needless
                  << " not needed");
    CHECK(plans > refused);
    CHECK(paired > 0);
    CHECK(missed > needless);
}

} // namespace this_test
