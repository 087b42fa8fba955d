// SPDX-License-Identifier: BSL-1.0
// Random programs on 1 to 8 streams of a device with adversarial orders give the sequential results, in every
// memory mode, by every kind of plan, at every check level.
#include <sublet/execution/streams.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <map>
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
    std::vector<bool> is_scratch;
    lowered_program lowered = lower_program(program, options, is_scratch);

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
        cpu_executor run(program, options, no_plan{}, synthetic_kernel{}, {.scratch = is_scratch});
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
                                {.check = level, .scratch = is_scratch});
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
        subject const s{pick.below(4) == 0 ? drawn.program() : drawn.unordered_program(), drawn.options(),
                        drawn.is_scratch};
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
        subject const s{drawn.program(), drawn.options(), std::vector<bool>(drawn.values(), false)};
        auto const expected = s.expected();
        auto const concurrent = plan_concurrent(s.program, s.options);
        REQUIRE(concurrent);
        s.check(arena{concurrent.plan}, expected, pick);
        s.check(arena{plan_memory(s.program, s.options).plan}, expected, pick);
        s.check(recycle{}, expected, pick);
    }
}

} // namespace this_test
