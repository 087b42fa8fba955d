// SPDX-License-Identifier: BSL-1.0
// Random programs with sizes affine in a batch: the ordinary checker accepts one plan for every batch.
// With SUBLET_ROUNDS=50 in the environment there are fifty times as many; SUBLET_SEED is the first.
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/plan_symbolic.hpp>

#include "../random_source.hpp"
#include "random_batches.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The peak of live bytes, from the drawn lists: values written in place count once.
byte_count most_alive(random_program const& p, memory_plan const& plan, byte_count batch,
                      std::vector<affine_bytes> const& bytes, pool_id pool)
{
    std::vector<byte_count> live(p.turns().size() + 1, 0);
    std::vector<unsigned char> is_counted(live.size() * plan.buffers.size(), 0);
    for (auto const& [root, life] : live_ranges_of(p)) {
        if (p.pool[root] != pool || bytes[root].at(batch) == 0 || !bytes[root].is_known()) continue;
        buffer_id const b = plan.buffer_of[root];
        for (position_id at = life.first; at < life.last; ++at) {
            unsigned char& counted = is_counted[at * plan.buffers.size() + b];
            if (counted == 0) live[at] += bytes[root].at(batch);
            counted = 1;
        }
    }
    byte_count most = 0;
    for (byte_count bytes_alive : live) most = larger(most, bytes_alive);
    return most;
}

} // namespace

TEST_CASE("one plan is valid for every batch, and no lower than the live bytes")
{
    unsigned const usual = 250;
    unsigned const first = first_seed();
    unsigned const programs = rounds(usual);
    double excess = 0;
    unsigned plans = 0, mixed = 0, worse = 0, in_place = 0;
    for (unsigned seed = first; seed != first + programs; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_batches const all = draw_batches(pick);
        snapshot const program = all.program();
        auto const planned = plan_symbolic(program, all.options);
        REQUIRE(planned);
        REQUIRE(planned.report().is_checked);
        auto const bytes = all.options.bytes.tabulate(program.values());
        for (byte_count n = 1; n <= all.options.max_batch; ++n) {
            CAPTURE(n);
            memory_plan const plan = planned.plan.at(n);
            auto const valid = check_plan(program, plan, all.options.at(n));
            std::ostringstream said;
            if (!valid) said << valid.error();
            REQUIRE(said.str() == "");
            for (pool_id pool = 0; pool != plan.arena_bytes.size(); ++pool) {
                REQUIRE(plan.arena_bytes[pool] <= planned.plan.arena[pool].at(n));
                REQUIRE(plan.arena_bytes[pool] >= most_alive(all.drawn, plan, n, bytes, pool));
            }
        }
        symbolic_options apart = all.options;
        apart.in_place = false;
        in_place += planned.report().buffers < plan_symbolic(program, apart).report().buffers;
        for (planned_symbolic::summary::batch const& b : planned.report().batches)
            REQUIRE(b.lower_bound_bytes <= smaller(b.own_bytes, b.arena_bytes));
        ++plans;
        if (all.options.mixing == symbolic_options::mixing_rule::apart) continue;
        ++mixed;
        excess += planned.report().excess();
        worse += planned.report().excess() > 0.05;
    }
    if (fuzzed.is_on) return;
    MESSAGE(plans << " programs; " << mixed << " may mix sizes: at worst batches " << 100 * excess / mixed
                  << " % above plans of their own, " << worse << " more than 5 %");
    CHECK(excess <= 0.05 * mixed);
    CHECK(in_place * 50 > plans);
}

} // namespace this_test
