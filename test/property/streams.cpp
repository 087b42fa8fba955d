// SPDX-License-Identifier: BSL-1.0
// Random programs on 1 to 8 streams of a device with adversarial orders give the sequential results, in every
// memory mode, by every kind of plan, at every check level. What a plan decides no executor asks the options.
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/execution/streams.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <map>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A program with the caller's values. Its steps run on one thread, in the order of the options, or on
/// streams.
struct subject {
    snapshot program;
    plan_options options;
    lowered_program lowered = lower_program(program, options);

    struct alignas(64) block {
        std::byte bytes[64] = {};
    };
    struct outcome { // of two runs
        std::vector<std::uint64_t> final_digests;
        friend bool operator==(outcome const&, outcome const&) = default;
    };

    template <class Run>
    outcome run_twice(Run& run) const
    {
        std::map<value_id, block> bound; // by root
        outcome result;
        for (unsigned number = 1; number != 3; ++number) {
            for (buffer const& b : lowered.table.buffers) {
                if (b.is_planned() && has_role(b.role, value_role::input)) give(run, b.root, number);
                if (b.is_planned() || b.size == 0 || number == 2) continue;
                std::size_t const room = to_size(b.size == no_size ? 64 : b.size);
                std::span<std::byte> const bytes = std::span(bound[b.root].bytes).first(room);
                fill_noise(bytes, b.root);
                run.bind(b.root, bytes);
            }
            run.run();
            for (value_id v = 0; v != program.values(); ++v)
                if (has_role(options.role[v], value_role::output))
                    result.final_digests.push_back(digest(run.output(v)));
            for (auto const& [root, its] : bound) result.final_digests.push_back(digest(its.bytes));
        }
        return result;
    }
    template <class Run>
    static void give(Run& run, value_id v, unsigned number)
    {
        if constexpr (requires { run.stream(); }) {
            if (number == 2) { // by a copy
                std::vector<std::byte> noise(run.input(v).size());
                fill_noise(std::span(noise), number * 1000 + v);
                return run.give(v, noise);
            }
        }
        fill_noise(run.input(v), number * 1000 + v);
    }

    outcome expected() const
    {
        cpu_executor run(program, options, no_plan{}, synthetic_kernel{});
        return run_twice(run);
    }

    template <class Mode>
    void check(Mode const& mode, outcome const& expected, random_source& pick) const
    {
        simulated_options how{.order = static_cast<simulated_options::order_kind>(pick.below(6)),
                              .seed = pick.below(1000)};
        how.which = pick.below(4);
        simulated_device device(how);
        stream_options streams{.streams = 1 + pick.below(8)};
        streams.keeps_io_addresses = pick.below(4) == 0;
        if (pick.below(4) == 0)
            for (step_id s = 0; s != program.steps(); ++s)
                streams.stream_of.push_back(pick.below(static_cast<std::uint32_t>(streams.streams)));
        auto const level = static_cast<executor_options::checks>(pick.below(4));
        CAPTURE(streams.streams);
        CAPTURE(static_cast<int>(level));
        {
            stream_executor run(device, program, options, mode, synthetic_kernel{}, streams,
                                {.check = level});
            REQUIRE(run_twice(run) == expected);
            if (std::same_as<Mode, arena>)
                CHECK(run.memory().allocations.total == run.memory().allocations.live);
        }
        CHECK(device.memory().used == 0);
        CHECK(device.live_streams() == 0);
        CHECK(device.live_events() == 0);
    }
};

} // namespace

TEST_CASE("random programs on streams give the sequential results, in every memory mode")
{
    for (unsigned seed = 0; seed != rounds(250); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick, 10);
        subject const s{pick.below(4) == 0 ? drawn.program() : drawn.unordered_program(), drawn.options()};
        auto const expected = s.expected();
        s.check(no_plan{}, expected, pick);
        s.check(recycle{}, expected, pick);
        auto const planned = plan_memory(s.program, s.options);
        REQUIRE(planned);
        s.check(arena{planned}, expected, pick);
    }
}

TEST_CASE("plans for any schedule, and plans with hand-offs, give the sequential results on streams")
{
    for (unsigned seed = 0; seed != rounds(150); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const drawn =
            draw_tasks(pick, {.tasks = 4 + pick.below(20), .views = 10, .pools = 2, .in_place = 30});
        subject const s{drawn.program(), drawn.options()};
        auto const expected = s.expected();
        auto const concurrent = plan_concurrent(s.program, s.options);
        REQUIRE(concurrent);
        s.check(arena{concurrent.plan}, expected, pick);
        s.check(arena{plan_memory(s.program, s.options).plan}, expected, pick);
        s.check(recycle{}, expected, pick);
    }
}

namespace {

/// An order of the nodes that data and edges allow.
std::vector<node_id> random_order(snapshot const& program, plan_options options, random_source& pick)
{
    std::vector<node_id> order;
    for (node_id n = 0; n != program.nodes(); ++n) order.push_back(n);
    for (std::uint32_t i = 0; i != 40; ++i) {
        std::uint32_t const at = pick.below(static_cast<std::uint32_t>(order.size() - 1));
        options.order = order;
        std::swap(options.order[at], options.order[at + 1]);
        if (!lifetimes(program, lifetimes_of(options))) continue;
        if (!first_backward_edge(program, options.order)) order = options.order;
    }
    return order;
}

/// How many plans decide otherwise than the options of the executor say.
struct differences {
    unsigned plans = 0, pools = 0, orders = 0, in_place = 0, blocks = 0;

    void count(memory_plan const& plan, plan_options const& said)
    {
        ++plans;
        bool is_other_pool = false, is_in_place = false;
        for (memory_plan::placed_buffer const& b : plan.buffers) {
            is_other_pool = is_other_pool || b.pool != said.pool[b.root];
            is_in_place = is_in_place || b.over != no_buffer;
        }
        for (value_id v = 0; v != plan.buffer_of.size(); ++v) // a result of the same size is in one buffer
            is_in_place = is_in_place || (plan.buffer_of[v] != no_buffer && said.alias_of[v] == no_value &&
                                          plan.buffers[plan.buffer_of[v]].root != v);
        pools += is_other_pool;
        orders += plan.order != said.order;
        in_place += is_in_place;
        blocks += plan.blocks.size() > 3;
    }
};

} // namespace

TEST_CASE("every executor reads pools, blocks, offsets, order and in-place results from the plan alone")
{
    differences drawn_differences;
    for (unsigned seed = 0; seed != rounds(120); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const drawn =
            draw_tasks(pick, {.tasks = 4 + pick.below(12), .views = 20, .in_place = 40});
        subject s{drawn.program(), drawn.options()};
        std::vector<byte_count> bytes = s.options.bytes.tabulate(drawn.values()), begin(drawn.values(), 0);
        for (value_id v = 0; v != drawn.values(); ++v) {
            value_id const of = drawn.alias_of[v];
            if (of == no_value || bytes[of] == 0) continue;
            begin[v] = pick.below(static_cast<std::uint32_t>(bytes[of]));
            bytes[v] = smaller(bytes[v], bytes[of] - begin[v]);
        }
        s.options.bytes = bytes;
        s.options.view_offset = begin;
        s.options.alignment = byte_count{1} << pick.below(4);
        s.options.in_place = false;
        s.lowered = lower_program(s.program, s.options);
        auto const expected = s.expected();

        plan_options asked = s.options; // of the planner
        asked.in_place = true;
        asked.order = random_order(s.program, asked, pick);
        asked.pools = {{}, {.alignment = 16}, {}};
        for (pool_limits& pool : asked.pools)
            if (pick.below(2) == 0) pool.largest_block = 64 + 8 * pick.below(10);
        for (value_id v = 0; v != drawn.values(); ++v)
            for (pool_id pool = 0; drawn.alias_of[v] == no_value && pool != 3; ++pool)
                if (std::uint32_t const cost = pick.below(4); cost != 3)
                    asked.pool_choices.push_back({v, pool, cost});
        auto check = [&](memory_plan const& plan) {
            drawn_differences.count(plan, s.options);
            for (bool const proves : {true, false}) {
                plan_options const& options = proves ? asked : s.options;
                executor_options const how{.check = static_cast<executor_options::checks>(pick.below(4)),
                                           .prove = proves};
                CAPTURE(proves);
                CAPTURE(static_cast<int>(how.check));
                cpu_executor one(s.program, options, arena{plan}, synthetic_kernel{}, how);
                CHECK(s.run_twice(one) == expected);
                thread_options const threads{.workers = 1 + pick.below(2),
                                             .policy = static_cast<queue_policy>(pick.below(4)),
                                             .seed = seed};
                thread_executor many(s.program, options, arena{plan}, synthetic_kernel{}, threads, how);
                CHECK(s.run_twice(many) == expected);
                simulated_device device(
                    {.order = static_cast<simulated_options::order_kind>(pick.below(6)), .seed = seed});
                stream_executor streams(device, s.program, options, arena{plan}, synthetic_kernel{},
                                        {.streams = 1 + pick.below(4)}, how);
                CHECK(s.run_twice(streams) == expected);
            }
        };
        if (auto const planned = plan_memory(s.program, asked)) check(planned.plan);
        if (auto const planned = plan_concurrent(s.program, asked)) check(planned.plan);
        if (auto const planned = plan_with_handoffs(s.program, asked)) check(planned.plan);
    }
    if (fuzzed.is_on) return;
    CHECK(drawn_differences.plans > rounds(100));
    CHECK(drawn_differences.pools > rounds(50));
    CHECK(drawn_differences.orders > rounds(20));
    CHECK(drawn_differences.in_place > rounds(8));
    CHECK(drawn_differences.blocks > rounds(20));
}

} // namespace this_test
