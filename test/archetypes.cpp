// SPDX-License-Identifier: BSL-1.0
// Every planner, analysis and colouring accepts the minimal program and the minimal graph: ids that are no
// integers, vertices without ==, edges that can be walked once only, and no copies.
#include "affine_bytes.hpp"
#include "archetype.hpp"

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <doctest/doctest.h>
#include <optional>
#include <sstream>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

/// A chain: step n reads value n - 1 and writes value n. At each step two values of 8 bytes are live.
archetype::program const chain(5);
plan_options const options{.bytes = 8};

TEST_CASE("every planner accepts the minimal program")
{
    auto const alone = plan_memory(chain, options);
    REQUIRE(alone);
    CHECK(alone.report().arena_bytes == 16);
    CHECK(alone.plan.buffer_of.size() == 5);

    auto const at_once = plan_concurrent(chain, options);
    REQUIRE(at_once);
    CHECK(at_once.report().arena_bytes == 16);

    auto const handed = plan_with_handoffs(chain, options);
    REQUIRE(handed);
    CHECK(handed.report().arena_bytes == 16);

    auto const any_batch = plan_symbolic(chain, {.bytes = affine_bytes{0, 8}, .dims = batches(3)});
    REQUIRE(any_batch);
    CHECK(any_batch.plan.at(2).arena_bytes == std::vector<byte_count>{32});

    auto const in_flow = plan_flow(chain, options);
    REQUIRE(in_flow);
    CHECK(in_flow.report().arena_bytes == 16);

    auto const nested = plan_nested(program_tree(snapshot(chain)), std::vector<plan_options>{options});
    REQUIRE(nested);
    CHECK(nested.report().arena_bytes == 16);

    auto const advice = advise_memory(chain, options);
    CHECK(advice);
    CHECK(advice.suggestions.empty());
}

TEST_CASE("every analysis and every checker of plans accepts the minimal program")
{
    CHECK(lifetimes(chain).of[1] == live_range{1, 3});
    CHECK(dependences(chain).positions() == 5);
    CHECK(liveness(chain).is_live_in(0, 1));
    CHECK(live_query(chain).is_live_in(0, 1, def_use_chains(chain)));
    CHECK(live_intervals(chain)[0].front() == live_range{0, 2});
    CHECK(interference(chain).edges() == 4);
    CHECK(versions(chain, {.bytes = 8}).value_of.size() == 5);
    CHECK(sublet::order(chain, options).peak == 16);
    CHECK(releases(chain, 5, {0, 1, 2, 3, 4}).counter.size() == 5);
    CHECK(check_ssa(chain));

    memory_plan const plan = plan_memory(chain, options).plan;
    CHECK(check_plan(chain, plan, options));
    CHECK(check_concurrent_plan(chain, plan_concurrent(chain, options).plan, options));
    CHECK(check_flow_plan(chain, plan_flow(chain, options).plan, options));
    CHECK(check_slots(chain, {{0, 1, 0, 1, 0}, 2}));
}

TEST_CASE("tokens and colourings accept the minimal program, live ranges and sizes")
{
    CHECK(share_slots(chain, options).slots == 2);
    CHECK(color(chain).plan.slots == 2);
    CHECK(color(interference(chain)).plan.slots == 2);
    CHECK(color(3, archetype::lives{}).slots == 1);
    CHECK(share_linearly(3, archetype::lives{}, archetype::sizes{}).slots == 1);
}

TEST_CASE("the minimal graph is accepted as a program")
{
    archetype::graph const loop({{1}, {2, 1}, {}});
    auto reads = [](archetype::vertex const& v) {
        return v.name() == -2 ? std::vector{0} : std::vector<int>{};
    };
    auto writes = [](archetype::vertex const& v) {
        return v.name() == 0 ? std::vector{0} : std::vector<int>{};
    };
    snapshot const program = flow(loop, 1, reads, writes);
    CHECK(liveness(loop, 1, reads, writes).is_live_in(0, archetype::vertex(-1)));
    CHECK(plan_flow(program, options).report().arena_bytes == 8);
    CHECK(depth_first(loop).postorder.size() == 3);
    CHECK(dominators(loop).parent[1] == 0);
    CHECK(loops(loop).preorder.size() == 3);
}

TEST_CASE("executors accept the minimal program")
{
    arena const planned{plan_memory(chain, options).plan};
    CHECK(cpu_executor(chain, options, planned, synthetic_kernel{}).run().steps == 5);
    CHECK(thread_executor(chain, options, planned, synthetic_kernel{}, {.workers = 2}).run().steps == 5);
    simulated_device device;
    CHECK(stream_executor(device, chain, options, planned, synthetic_kernel{}).run().steps == 5);
}

} // namespace this_test
