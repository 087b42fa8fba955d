// SPDX-License-Identifier: BSL-1.0
// The stackings of random plans in each reading: valid for other sizes, and each pair that is left out is
// missed.
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_stacking.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/stacking_of.hpp>

#include "../printed.hpp"
#include "../random_flow.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct stacking_counts {
    std::size_t plans = 0, pairs = 0, dropped = 0, needless = 0;
};

/// The checker accepts it, ordinary checkers accept its plans for larger sizes, and no pair may be left out.
void judge(random_source& pick, snapshot const& p, stacking const& stack, memory_plan const& plan,
           plan_options const& options, stacking_counts& counts, flow_options const& flow = {})
{
    stacking::offsets now;
    std::vector<byte_count> sizes;
    for (auto const& b : plan.buffers) sizes.push_back(b.size);
    verdict const as_planned = stack.place(sizes, now);
    REQUIRE((as_planned ? std::string() : printed(as_planned.error())) == "");
    for (buffer_id b = 0; b != plan.buffers.size() && !flow.allows_undefined; ++b)
        REQUIRE(now.of[b] <= plan.buffers[b].offset);
    verdict const valid = check_stacking(p, stack, plan, options, flow);
    REQUIRE((valid ? std::string() : printed(valid.error())) == "");
    ++counts.plans;
    counts.pairs += stack.below.size();

    auto const bytes = options.bytes.tabulate(p.values());
    auto const alias_of = options.alias_of.tabulate(p.values());
    for (unsigned round = 0; round != 2; ++round) {
        std::vector<byte_count> more = sizes;
        memory_plan moved = plan;
        std::vector<byte_count> all = bytes;
        for (buffer_id b = 0; b != plan.buffers.size(); ++b) more[+b] += pick.below(90);
        for (buffer_id b = 0; b != plan.buffers.size(); ++b) // what is written over another is no larger
            for (buffer_id at = plan.buffers[b].over; at != no_buffer; at = plan.buffers[at].over)
                more[+at] = larger(more[+at], more[+b]);
        bool const are_pinned = !stack.place(more, now);
        if (are_pinned) continue; // a pin is too low for these sizes
        for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
            moved.buffers[b].offset = now.of[b];
            moved.buffers[b].size = more[+b];
        }
        for (pool_id q = 0; q != moved.arena_bytes.size(); ++q) moved.arena_bytes[q] = now.bytes[q];
        for (value_id v = 0; v != p.values(); ++v)
            if (buffer_id const b = plan.buffer_of[v]; b != no_buffer && alias_of[v] == no_value)
                all[+v] = more[+b];
        plan_options changed = options;
        changed.bytes = all;
        for (pool_limits& pool : changed.pools) pool.capacity = no_limit;
        verdict const holds = plan.valid_for == program_reading::sequential ? check_plan(p, moved, changed)
                              : plan.valid_for == program_reading::concurrent
                                  ? check_concurrent_plan(p, moved, changed)
                                  : check_flow_plan(p, moved, changed, flow);
        REQUIRE((holds ? std::string() : printed(holds.error())) == "");
    }
    if (stack.below.empty()) return;
    stacking without = stack;
    auto const at = pick.below(static_cast<std::uint32_t>(stack.below.size()));
    without.below.erase(without.below.begin() + at);
    for (stacking::layer& its : without.order) its.first_below -= its.first_below > at;
    bool const is_noticed = !check_stacking(p, without, plan, options, flow);
    counts.dropped += is_noticed;
    counts.needless += !is_noticed;
}

} // namespace

TEST_CASE("stackings of plans in one order, for every schedule and with hand-offs hold for other sizes")
{
    stacking_counts counts;
    for (unsigned seed = first_seed(), end = seed + rounds(400); seed != end; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick, 9);
        snapshot const p = drawn.program();
        plan_options const options = drawn.options();
        if (auto const planned = plan_memory(p, options))
            judge(pick, p, stacking_of(p, planned.plan, options), planned.plan, options, counts);
        if (auto const planned = plan_concurrent(p, options))
            judge(pick, p, stacking_of(p, planned.plan, options), planned.plan, options, counts);
        if (auto const planned = plan_with_handoffs(p, options))
            judge(pick, p, stacking_of(p, planned.plan, options), planned.plan, options, counts);
    }
    MESSAGE(counts.plans << " stackings, " << counts.pairs << " pairs; " << counts.dropped
                         << " left out and noticed, " << counts.needless << " not needed");
    CHECK(counts.plans > rounds(400));
    CHECK(counts.dropped > counts.needless);
}

TEST_CASE("stackings of plans for control flow hold for other sizes")
{
    stacking_counts counts;
    for (unsigned seed = first_seed(), end = seed + rounds(400); seed != end; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_flow const drawn = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        snapshot const p = drawn.program();
        flow_options const how{.allows_undefined = pick.below(2) == 0};
        plan_options const options{.bytes = [](value_id v) { return byte_count{8} << v % 5; }};
        auto const planned = plan_flow(p, options, how);
        if (planned) judge(pick, p, stacking_of(planned, options.pinned), planned.plan, options, counts, how);
    }
    MESSAGE(counts.plans << " stackings, " << counts.pairs << " pairs; " << counts.dropped
                         << " left out and noticed, " << counts.needless << " not needed");
    CHECK(counts.plans > rounds(100));
    CHECK(counts.dropped > 0);
}

TEST_CASE("what is no stacking of a plan is refused, and so is a plan without blocks of one piece")
{
    snapshot const p = sequence(2, 2, [](int step, effect_sink& sink) {
        if (step == 0) sink.def(0);
        else sink.use(0), sink.def(1);
    });
    plan_options options{.bytes = 64};
    auto const planned = plan_memory(p, options);
    stacking const stack = stacking_of(p, planned.plan, options);
    CHECK(check_stacking(p, stack, planned.plan, options));
    auto is_foreign = [&](auto change) {
        stacking other = stack;
        change(other);
        return check_stacking(p, other, planned.plan, options).error().what == fault::foreign_plan;
    };
    CHECK(is_foreign([](stacking& s) { s.order.pop_back(); }));
    CHECK(is_foreign([](stacking& s) { s.order[1].buffer = s.order[0].buffer; }));
    CHECK(is_foreign([](stacking& s) { s.order[1].buffer = 2; }));
    CHECK(is_foreign([](stacking& s) { s.order[1].pool = 1; }));
    CHECK(is_foreign([](stacking& s) { s.order[1].alignment = 0; }));
    CHECK(is_foreign([](stacking& s) { s.order[1].first_below = 2; }));
    CHECK(is_foreign([](stacking& s) { s.order[1].over = 0; }));
    CHECK(is_foreign([](stacking& s) { s.below[0] = s.order[1].buffer; }));
    CHECK(is_foreign([](stacking& s) { s.pools = 0; }));
    stacking apart = stack;
    apart.below.clear();
    CHECK(check_stacking(p, apart, planned.plan, options).error().what == fault::clash);
    options.pools = {{.largest_block = 64}};
    auto const split = plan_memory(p, options);
    REQUIRE(split.plan.blocks.size() == 2);
    CHECK_THROWS_AS((void)stacking_of(p, split.plan, options), precondition_error);
    memory_plan const along = plan_flow(p, {.bytes = 64}).plan;
    CHECK_THROWS_AS((void)stacking_of(p, along, {.bytes = 64}), precondition_error);
}

} // namespace this_test
