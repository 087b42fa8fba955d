// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/reporting/why_peak.hpp>

#include "../network.hpp"
#include "../operations.hpp"
#include "../random_source.hpp"
#include "../view_sizes.hpp"
#include "archetype.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::string text(peak_reason const& reason, why_peak_options const& options = {})
{
    std::ostringstream out;
    CHECK(&write_why_peak(out, reason, options) == &out);
    return out.str();
}

/// a = load(), b = blur(a), c = edges(b), d = sharpen(a, c), e = shrink(d)
snapshot five_steps() { return op_list(5, {{}, {0}, {1}, {0, 2}, {3}}, {{0}, {1}, {2}, {3}, {4}}); }

std::string step_of_five(step_id s)
{
    return std::vector<std::string>{"load", "blur", "edges", "sharpen", "shrink"}[s];
}
std::string value_of_five(value_id v) { return std::string(1, "abcde"[v]); }

/// The peak of a pool, counted at each position, without one of its buffers if given.
byte_count peak_of(memory_plan const& plan, pool_id pool, std::uint32_t positions,
                   buffer_id without = no_buffer)
{
    byte_count peak = 0;
    for (position_id at = 0; at != std::max(positions, 1u); ++at) {
        byte_count alive = 0;
        for (buffer_id b = 0; b != plan.buffers.size(); ++b)
            if (b != without && plan.buffers[b].pool == pool && contains(plan.buffers[b].life, at))
                alive += plan.buffers[b].size;
        peak = std::max(peak, alive);
    }
    return peak;
}

struct drawn {
    snapshot program;
    plan_options options;
    std::vector<value_role> role;
};

/// Nodes of one to three steps; values of two pools, inputs, outputs, views, in-place pairs; a feasible order
/// of the nodes.
drawn draw_named_program(random_source& draw)
{
    struct operation {
        std::vector<value_id> uses, early, defs;
        std::vector<overwrite> pairs;
    };
    std::vector<std::vector<operation>> nodes(1 + draw.below(8));
    std::vector<byte_count> bytes;
    std::vector<value_role> role;
    std::vector<value_id> alias_of;
    std::vector<pool_id> pool;
    std::vector<node_id> maker; // by value
    auto value = [&](node_id n, value_id alias) {
        bytes.push_back(draw.below(10) == 0 ? 0 : 1 + draw.below(9));
        role.push_back(value_role::intermediate);
        alias_of.push_back(alias);
        pool.push_back(draw.below(2));
        maker.push_back(n);
        return value_id::of(bytes.size() - 1);
    };
    for (auto n = draw.below(3); n != 0; --n)
        role[value(no_node, no_value)] = draw.below(4) == 0 ? value_role::external : value_role::input;
    for (node_id n = 0; n != nodes.size(); ++n)
        for (auto steps = 1 + draw.below(3); steps != 0; --steps) {
            operation op;
            auto const known = value_id::of(bytes.size());
            for (auto k = draw.below(4); k != 0 && known != 0; --k) {
                value_id const v = draw.below(known);
                (draw.below(6) == 0 ? op.early : op.uses).push_back(v);
            }
            for (auto k = draw.below(3); k != 0; --k) {
                bool const is_view = !op.uses.empty() && draw.below(4) == 0;
                value_id const out = value(n, is_view ? op.uses[0] : no_value);
                if (draw.below(6) == 0) role[out] = value_role::output;
                for (value_id in : op.uses)
                    if (draw.below(2) == 0) op.pairs.push_back({0, in, out});
                op.defs.push_back(out);
            }
            nodes[n].push_back(std::move(op));
        }

    std::vector<node_id> order;
    std::vector<bool> has_run(nodes.size());
    while (order.size() != nodes.size()) { // the first ready one, from a random one on
        auto n = draw.below(static_cast<std::uint32_t>(nodes.size()));
        auto ready = [&] {
            for (auto const& op : nodes[n])
                for (auto const* list : {&op.uses, &op.early})
                    for (value_id v : *list)
                        if (maker[v] != no_node && maker[v] != n && !has_run[maker[v]]) return false;
            return !has_run[n];
        };
        while (!ready()) n = node_id::of((n + 1) % nodes.size());
        has_run[n] = true;
        order.push_back(n);
    }
    auto no_edges = [](auto) { return std::vector<node_id>{}; };
    auto program = tasks(nodes.size(), bytes.size(), no_edges, [&](auto n, effect_sink& s) {
        for (std::size_t i = 0; i != nodes[n].size(); ++i) {
            if (i != 0) s.next_step();
            add_results(s, nodes[n][i].defs, alias_of);
            for (auto v : nodes[n][i].uses) s.use(v);
            for (auto v : nodes[n][i].early) s.use_early(v);
            for (auto o : nodes[n][i].pairs) s.may_overwrite(o.in, o.out);
        }
    });
    plan_options options{.bytes = within_roots(bytes, alias_of),
                         .role = role,
                         .alias_of = alias_of,
                         .pool = of_roots(pool, alias_of)};
    if (draw.below(2) == 0) options.order = order;
    return {std::move(program), std::move(options), std::move(role)};
}

} // namespace

TEST_CASE("the peak lists the buffers live there, the largest first")
{
    snapshot const program = five_steps();
    auto const plan = plan_memory(program, {.bytes = {64, 96, 32, 96, 64}}).plan;
    peak_reason const reason = why_peak(program, plan);
    CHECK(reason.pool == 0);
    CHECK(reason.position == 2);
    CHECK(reason.positions == 5);
    CHECK(reason.later_peaks == 1); // at sharpen
    CHECK(reason.step == 2);
    CHECK(reason.bytes == 192);
    CHECK(reason.arena_bytes == 192);
    REQUIRE(reason.alive.size() == 3);
    peak_reason::buffer const& b = reason.alive[0];
    CHECK(b.buffer == plan.buffer_of[1]);
    CHECK(b.root == 1);
    CHECK(b.producer == 1);
    CHECK(b.last_user == 2);
    CHECK(b.life == live_range{1, 3});
    CHECK(b.bytes == 96);
    CHECK(b.peak_without == 192);
    CHECK(reason.alive[1].peak_without == 160); // that of d, e and c without a
}

TEST_CASE("the table has the expected text")
{
    snapshot const program = five_steps();
    auto const plan = plan_memory(program, {.bytes = {64, 96, 32, 96, 64}}).plan;
    peak_reason const reason = why_peak(program, plan);
    CHECK(text(reason, {.names = value_of_five, .steps = step_of_five}) ==
          "192 B alive at position 2 of 5 (and at 1 more), while edges runs; arena 192 B\n"
          "  bytes      %  value  defined by  last used by  peak without it  saves\n"
          "   96 B  50.00  b      blur        edges                   192 B    0 B\n"
          "   64 B  33.33  a      load        sharpen                 160 B   32 B\n"
          "   32 B  16.67  c      edges       sharpen                 160 B   32 B\n");
    CHECK(text(reason) == "192 B alive at position 2 of 5 (and at 1 more), while step 2 runs; arena 192 B\n"
                          "  bytes      %  value  defined by  last used by  peak without it  saves\n"
                          "   96 B  50.00  1      step 1      step 2                  192 B    0 B\n"
                          "   64 B  33.33  0      step 0      step 3                  160 B   32 B\n"
                          "   32 B  16.67  2      step 2      step 3                  160 B   32 B\n");
}

TEST_CASE("rows beyond the limit are summed up")
{
    snapshot const program = five_steps();
    peak_reason const reason = why_peak(program, plan_memory(program, {.bytes = {64, 96, 32, 96, 64}}).plan);
    CHECK(text(reason, {.names = value_of_five, .steps = step_of_five, .rows = 2}) ==
          "192 B alive at position 2 of 5 (and at 1 more), while edges runs; arena 192 B\n"
          "  bytes      %  value  defined by  last used by  peak without it  saves\n"
          "   96 B  50.00  b      blur        edges                   192 B    0 B\n"
          "   64 B  33.33  a      load        sharpen                 160 B   32 B\n"
          "  and 1 more: 32 B\n");
    CHECK(text(reason, {.names = value_of_five, .steps = step_of_five, .rows = 0}) ==
          "192 B alive at position 2 of 5 (and at 1 more), while edges runs; arena 192 B\n"
          "  and 3 more: 192 B\n");
}

TEST_CASE("an input has no producer, and an output held beyond its last touch has no last user")
{
    // 0 is an input and read late; 1 = f(), an output; 2 = g(0), an output of the last step
    std::vector<std::vector<int>> const uses = {{}, {0}}, defs = {{1}, {2}};
    auto const program = sequence(
        2, 4, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    using enum value_role;
    auto const plan = plan_memory(program, {.bytes = 1024, .role = {input, output, output, input}}).plan;
    auto const reason = why_peak(program, plan);
    CHECK(text(reason) == "3 KiB alive at position 0 of 2 (and at 1 more), while step 0 runs; arena 3 KiB\n"
                          "  bytes      %  value  defined by  last used by  peak without it  saves\n"
                          "  1 KiB  33.33  0      (input)     step 1                  2 KiB  1 KiB\n"
                          "  1 KiB  33.33  1      step 0      (output)                2 KiB  1 KiB\n"
                          "  1 KiB  33.33  3      (input)     (none)                  3 KiB    0 B\n");
}

TEST_CASE("an input that the first step overwrites is still an input")
{
    auto const program = sequence(1, 2, [](auto, auto& s) {
        s.def(1);
        s.use(0);
        s.may_overwrite(0, 1);
    });
    using enum value_role;
    auto const plan = plan_memory(program, {.bytes = 8, .role = {input, output}}).plan;
    REQUIRE(plan.buffers.size() == 1);
    auto const reason = why_peak(program, plan);
    REQUIRE(reason.alive.size() == 1);
    CHECK(reason.alive[0].producer == no_step);
    CHECK(reason.alive[0].last_user == 0);
}

TEST_CASE("a use at the end of a predecessor is a touch of its last step")
{
    auto next = [](auto n) { return n == 0 ? std::vector{1} : std::vector<int>{}; };
    auto const program = tasks(2, 2, next, [](auto n, effect_sink& s) {
        if (n == 0) {
            s.def(0);
            s.next_step();
        } else {
            s.use_at_end_of(0, 0);
            s.def(1);
        }
    });
    auto const reason = why_peak(program, plan_memory(program, {.bytes = 8}).plan);
    REQUIRE(reason.alive.size() == 1);
    CHECK(reason.alive[0].root == 0);
    CHECK(reason.alive[0].producer == 0);
    CHECK(reason.alive[0].last_user == 1); // the second step of node 0
}

TEST_CASE("each pool has its own peak")
{
    snapshot const program = five_steps();
    auto const plan = plan_memory(program, {.bytes = {64, 96, 32, 96, 64}, .pool = {0, 3, 0, 3, 0}}).plan;
    CHECK(why_peak(program, plan).bytes == 96);
    CHECK(why_peak(program, plan, 3).bytes == 96);
    CHECK(why_peak(program, plan, 3).position == 1);
    CHECK(text(why_peak(program, plan, 3), {.names = value_of_five, .steps = step_of_five}) ==
          "pool 3: 96 B alive at position 1 of 5 (and at 3 more), while blur runs; arena 96 B\n"
          "  bytes       %  value  defined by  last used by  peak without it  saves\n"
          "   96 B  100.00  b      blur        edges                    96 B    0 B\n");
    CHECK(why_peak(program, plan, 1).alive.empty());
    CHECK(text(why_peak(program, plan, 7)) ==
          "pool 7: 0 B alive at position 0 of 5, while step 0 runs; arena 0 B\n");
}

TEST_CASE("a program without steps has a peak if it has inputs")
{
    CHECK(text(why_peak(snapshot(), memory_plan())) == "0 B alive at position 0 of 0; arena 0 B\n");
    auto const program = sequence(0, 1, [](auto, effect_sink&) {});
    auto const plan = plan_memory(program, {.bytes = 8, .role = value_role::input}).plan;
    CHECK(text(why_peak(program, plan)) ==
          "8 B alive at position 0 of 0; arena 8 B\n"
          "  bytes       %  value  defined by  last used by  peak without it  saves\n"
          "    8 B  100.00  0      (input)     (output)                  0 B    8 B\n");
}

TEST_CASE("long names are cut in the middle, between characters, and columns stay aligned")
{
    snapshot const program = five_steps();
    auto const plan = plan_memory(program, {.bytes = {64, 96, 32, 96, 64}}).plan;
    auto umlauts = [](int n) {
        std::string text;
        while (n-- != 0) text += "ä";
        return text;
    };
    auto const name = [&](auto v) {
        return v == 0 ? "ü\n\xFF" : v == 1 ? "begin" + umlauts(33) + "end" : umlauts(40);
    };
    CHECK(text(why_peak(program, plan), {.names = name, .steps = step_of_five}) ==
          "192 B alive at position 2 of 5 (and at 1 more), while edges runs; arena 192 B\n"
          "  bytes      %  value" +
              std::string(35, ' ') +
              "  defined by  last used by  peak without it  saves\n"
              "   96 B  50.00  begin" +
              umlauts(8) + "..." + umlauts(21) +
              "end  blur        edges                   192 B    0 B\n"
              "   64 B  33.33  ü?" +
              std::string(38, ' ') +
              "  load        sharpen                 160 B   32 B\n"
              "   32 B  16.67  " +
              umlauts(40) + "  edges       sharpen                 160 B   32 B\n");
}

TEST_CASE("percents keep two digits at every size")
{
    byte_count const eib = byte_count{1} << 60;
    auto const program = sequence(1, 3, [](auto, effect_sink& s) {
        for (int v : {0, 1, 2}) s.def(v);
    });
    auto const reason =
        why_peak(program, plan_memory(program, {.bytes = {2 * eib, eib, byte_count{4}}}).plan);
    CHECK(text(reason) == "3 EiB alive at position 0 of 1, while step 0 runs; arena 3 EiB\n"
                          "  bytes      %  value  defined by  last used by  peak without it  saves\n"
                          "  2 EiB  66.67  0      step 0      step 0                  1 EiB  2 EiB\n"
                          "  1 EiB  33.33  1      step 0      step 0                  2 EiB  1 EiB\n"
                          "    4 B   0.00  2      step 0      step 0                  3 EiB    4 B\n");
}

TEST_CASE("an invalid plan of this program is refused with a message")
{
    snapshot const program = five_steps();
    auto const plan = plan_memory(program, {.bytes = 8}).plan;
    auto corrupted = [&](auto corrupt) {
        memory_plan copy = plan;
        corrupt(copy);
        return copy;
    };
    auto refused = [&](memory_plan const& p, char const* sentence) {
        CHECK_THROWS_WITH_AS((void)why_peak(program, p), sentence, precondition_error);
    };
    refused(memory_plan{}, "sublet: the plan is of another program: it has 0 values, the program 5");
    refused(corrupted([](auto& p) { p.buffer_of[2] = 5; }),
            "sublet: the plan names buffer 5, but it has only 5 buffers");
    refused(corrupted([](auto& p) { p.order = {0, 1}; }), "sublet: an order does not name node 2");
    refused(corrupted([](auto& p) { p.buffers[4].life.last = 6; }),
            "sublet: the live range of buffer 4 ends at position 6, beyond the last position 5");
    refused(corrupted([](auto& p) { p.buffers[0].size = no_size - 2; }),
            "sublet: the sum of the sizes 18446744073709551613 and 8 exceeds 64 bits");
}

TEST_CASE("an unsafe plan is reported as it is")
{
    snapshot const program = five_steps();
    auto plan = plan_memory(program, {.bytes = {64, 96, 32, 96, 64}}).plan;
    plan.buffers[0].life = {3, 1};         // never live
    plan.buffers[1].life = {0, 5};         // from before its def to after its use
    plan.buffer_of[2] = plan.buffer_of[1]; // not a view of it
    auto const reason = why_peak(program, plan);
    CHECK(reason.position == 4);
    REQUIRE(reason.alive.size() == 3);
    CHECK(reason.alive[0].root == 1);
    CHECK(reason.alive[0].producer == no_step);
    CHECK(reason.alive[0].last_user == no_step);
}

TEST_CASE("a program of any type is accepted, and it is copied")
{
    memory_plan plan;
    archetype::program const poorest(3);
    plan.buffer_of.assign(snapshot(poorest).values(), no_buffer);
    CHECK(why_peak(poorest, plan).bytes == 0);
}

TEST_CASE("ResNet-50 has its peak where the first block is summed")
{
    auto const net = network::resnet50();
    auto const program = net.program();
    auto const planned = plan_memory(program, net.options());
    auto const reason = why_peak(program, planned.plan);
    CHECK(reason.bytes == planned.report().lower_bound_bytes);
    CHECK(reason.position == planned.report().peak_position);
    CHECK(reason.arena_bytes == planned.report().arena_bytes);
    for (peak_reason::buffer const& b : reason.alive)
        CHECK(b.peak_without == peak_of(planned.plan, 0, reason.positions, b.buffer));
}

TEST_CASE("in random programs the peak without a buffer is that of the plan without it")
{
    std::size_t rows = 0, ties = 0, given = 0, kept = 0, no_gain = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source draw{std::mt19937(seed)};
        drawn const d = draw_named_program(draw);
        auto const planned = plan_memory(d.program, d.options);
        REQUIRE(planned);
        memory_plan const& plan = planned.plan;
        auto const steps = steps_in_order(d.program, plan.order);
        auto const positions = static_cast<std::uint32_t>(steps.size());
        for (pool_id pool : {0u, 1u, 2u}) {
            CAPTURE(pool);
            auto const reason = why_peak(d.program, plan, pool);
            CHECK(reason.bytes == peak_of(plan, pool, positions));
            CHECK(reason.step == steps[reason.position]);
            std::size_t alive = 0;
            byte_count sum = 0;
            for (memory_plan::placed_buffer const& b : plan.buffers)
                if (b.pool == pool && contains(b.life, reason.position)) ++alive, sum += b.size;
            CHECK(reason.alive.size() == alive);
            CHECK(reason.bytes == sum);
            for (std::size_t i = 0; i != reason.alive.size(); ++i) {
                peak_reason::buffer const& b = reason.alive[i];
                if (i != 0) {
                    peak_reason::buffer const& larger = reason.alive[i - 1];
                    CHECK((larger.bytes > b.bytes || (larger.bytes == b.bytes && larger.root < b.root)));
                    ties += larger.bytes == b.bytes;
                }
                CHECK(b.root == plan.buffers[b.buffer].root);
                CHECK(b.bytes == plan.buffers[b.buffer].size);
                CHECK(b.life == plan.buffers[b.buffer].life);
                CHECK(b.peak_without == peak_of(plan, pool, positions, b.buffer));

                step_id producer = no_step, last_user = no_step;
                position_id until = 0;
                value_role role = value_role::intermediate;
                for (value_id v = 0; v != d.role.size(); ++v)
                    if (plan.buffer_of[v] == b.buffer) role = role | d.role[v];
                for (position_id at = 0; at != positions; ++at)
                    for (touch t : d.program.touches(steps[at])) {
                        if (plan.buffer_of[t.value] != b.buffer) continue;
                        if (t.kind == touch::access::def && producer == no_step) producer = steps[at];
                        last_user = steps[at];
                        until = at + 1;
                    }
                if (has_role(role, value_role::input)) producer = no_step;
                if (has_role(role, value_role::output) && until != positions) last_user = no_step;
                CHECK(b.producer == producer);
                CHECK(b.last_user == last_user);
                ++rows;
                given += b.producer == no_step;
                kept += b.last_user == no_step;
                no_gain += b.peak_without == reason.bytes;
            }
        }
    }
    CHECK(rows > rounds(10000)); // none of these is rare
    CHECK(ties > rounds(500));
    CHECK(given > rounds(500));
    CHECK(kept > rounds(500));
    CHECK(no_gain > rounds(300));
}

} // namespace this_test
