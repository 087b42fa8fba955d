// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/testing/synthetic.hpp>

#include "dice.hpp"
#include "network.hpp"
#include "random_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using kernel = std::function<void(cpu_call const&)>; // erased, so that one executor is compiled

/// Most bytes alive at once in a pool, in place as the planner takes it.
byte_count live_peak(snapshot const& p, plan_options const& options, pool_id pool)
{
    auto const lives = lifetimes(p, {.role = options.role});
    auto table = gather_buffers(lives, options);
    if (options.in_place) table = take_in_place(p, steps_in_order(p, {}), std::move(table));
    return pressure(
               table.buffers.size(), [&](auto b) { return table.buffers[b].life; },
               [&](auto b) {
                   buffer const& its = table.buffers[b];
                   return its.is_planned() && its.pool == pool ? its.size : byte_count{0};
               },
               lives.positions)
        .peak;
}

struct trace {
    std::vector<std::uint64_t> written, left;
    friend bool operator==(trace const&, trace const&) = default;
};

/// Runs a program with kernels by which each byte counts, watched as closely as can be. Values that are shown
/// get their bytes by what they stand for: the same for the program and for what advice makes of it.
template <class Mode>
trace run(snapshot const& p, plan_options const& options, std::vector<relieved_program::step> const& steps,
          std::vector<value_id> const& origin, std::vector<value_id> const& shown, Mode const& mode)
{
    trace result;
    kernel const compute = [&](cpu_call const& call) {
        auto const [kind, step] = steps[call.step];
        if (kind == relieved_program::kind::copied_out || kind == relieved_program::kind::copied_back) {
            std::copy(call.in(0).begin(), call.in(0).end(), call.out(0).begin());
            return;
        }
        cpu_call as_it_was = call;
        as_it_was.step = step;
        synthetic_kernel{}(as_it_was);
        if (kind != relieved_program::kind::original) return;
        std::uint64_t sum = 0;
        for (std::size_t j = 0; j != call.defs().size(); ++j) sum = fold_digest(sum, digest(call.out(j)));
        result.written.push_back(sum);
    };
    struct alignas(64) block {
        std::byte bytes[64] = {};
    };
    std::map<value_id, block> bound;
    cpu_executor<kernel> executor(p, options, mode, compute, {.check = executor_options::checks::digest});
    auto const table = gather_buffers(lifetimes(p, {.role = options.role, .order = options.order}), options);
    std::vector<bool> is_touched(table.buffers.size());
    for (buffer const& b : table.buffers) {
        if (b.size == 0) continue;
        auto const noise = 1000 + origin[b.root];
        if (!b.is_planned()) {
            std::span<std::byte> const room(bound[b.root].bytes,
                                            b.size == no_size ? 64 : static_cast<std::size_t>(b.size));
            fill_noise(room, noise);
            executor.bind(b.root, room);
        } else if (has_role(b.role, value_role::input)) {
            fill_noise(executor.input(b.root), noise);
        }
    }
    executor.run();
    for (value_id v : shown) result.left.push_back(digest(executor.output(v)));
    for (auto& [root, block] : bound)
        if (root < origin.size() && origin[root] == root) result.left.push_back(digest(block.bytes));
    return result;
}

/// Activations of so many layers, made forwards and used backwards.
struct training {
    std::uint32_t layers;
    snapshot program() const
    {
        return sequence(2 * layers, 2 * layers, [this](step_id s, effect_sink& step) {
            if (s != 0) step.use(s - 1);
            if (s >= layers) step.use(2 * layers - 1 - s);
            step.def(s);
        });
    }
    plan_options options(byte_count capacity) const { return {.bytes = 100, .pools = {{capacity, 1}}}; }
};

} // namespace

TEST_CASE("a plan that does not fit gets advice, and the plan that then fits")
{
    //  step  0 makes a; 1 makes b of it; 2 makes c of b; 3 needs a and c
    auto const p = sequence(4, 4, [](step_id s, effect_sink& step) {
        if (s != 0) step.use(s - 1);
        if (s == 3) step.use(0);
        step.def(s);
    });
    std::vector<byte_count> const sizes{64, 60, 60, 8};
    auto const advice = advise_memory(p, {.bytes = sizes, .pools = {{140, 1}}}, {.reruns = false});
    CHECK(advice.is_enough());
    REQUIRE(advice.suggestions.size() == 1);
    CHECK(advice.suggestions[0] ==
          memory_advice::suggestion{
              .value = 0, .after = 1, .before = 3, .bytes = 64, .saved = 52, .cost = 128});
    CHECK(advice.pools == std::vector<memory_advice::pool>{{184, 132, 132, 3}});
    CHECK(advice.cost == 128);
    CHECK(advice.planned.plan.arena_bytes[0] <= 140);
    CHECK(advice.planned.report.is_checked);

    auto const again = advise_memory(p, {.bytes = sizes, .pools = {{140, 1}}});
    REQUIRE(again.suggestions.size() == 1);
    CHECK(again.suggestions[0].rerun == 0); // which reads nothing and writes 64 bytes
    CHECK(again.suggestions[0].cost == 64);
}

TEST_CASE("what fits gets no advice, and what never fits is told which step needs how much")
{
    training const net{8};
    auto const fits = advise_memory(net.program(), net.options(10'000));
    CHECK(fits.is_enough());
    CHECK(fits.suggestions.empty());
    CHECK(fits.planned.plan.arena_bytes == plan_memory(net.program(), net.options(10'000)).plan.arena_bytes);

    auto const never = advise_memory(net.program(), net.options(299));
    CHECK_FALSE(never.is_enough());
    REQUIRE(never.planned.refuted);
    CHECK(never.planned.refuted->what == fault::over_capacity);
    CHECK(never.pools[0].least == 300); // two operands and a result
    CHECK(never.pools[0].least_step < 16);
    CHECK(never.pools[0].peak_after == 300);
}

TEST_CASE("an order in which a value is missing is refuted without advice; nothing needs none")
{
    auto const p = sequence(2, 1, [](step_id s, effect_sink& step) {
        if (s == 0) step.use(0);
        else step.def(0);
    });
    auto const advice = advise_memory(p, {.bytes = 8, .pools = {{1, 1}}});
    REQUIRE(advice.planned.refuted);
    CHECK(advice.planned.refuted->what == fault::used_undefined);
    CHECK(advice.suggestions.empty());
    CHECK(advise_memory(sequence(0, 0, [](step_id, effect_sink&) {}), {.bytes = 8}).is_enough());
}

TEST_CASE("a network of forty layers is trained in a tenth of its memory by copies, in half of it by reruns")
{
    training const net{40};
    auto const program = net.program();
    byte_count const whole = plan_memory(program, net.options(no_limit)).report.arena_bytes;
    CHECK(whole == 4000 + 100);
    auto const copied = advise_memory(program, net.options(400), {.reruns = false});
    CHECK(copied.is_enough());
    for (memory_advice::suggestion const& s : copied.suggestions) CHECK(s.saved > 0);
    auto const again = advise_memory(program, net.options(whole / 2 + 200), {.copies = false});
    CHECK(again.is_enough());
    for (memory_advice::suggestion const& s : again.suggestions) {
        CHECK(s.rerun == s.value);
        CHECK(s.cost == (s.value == 0 ? 100 : 200)); // one operand at most, and one result
    }
}

TEST_CASE("what the caller says of costs counts: never to be run again, never to be moved")
{
    training const net{10};
    auto const program = net.program();
    auto const options = net.options(800);
    for (memory_advice::suggestion const& s :
         advise_memory(program, options, {.rerun_cost = no_size}).suggestions)
        CHECK(s.rerun == no_step);
    for (memory_advice::suggestion const& s :
         advise_memory(program, options, {.rerun_cost = byte_count{1}}).suggestions)
        CHECK(s.rerun != no_step);
    auto const odd = advise_memory(program, options, {.movable = [](auto v) { return v % 2 == 1; }});
    CHECK_FALSE(odd.suggestions.empty());
    for (memory_advice::suggestion const& s : odd.suggestions) CHECK(s.value % 2 == 1);
    auto const none = advise_memory(program, options, {.movable = false});
    CHECK_FALSE(none.is_enough());
    CHECK(none.pools[0].least == 1100);
}

TEST_CASE("what is read early and made again has left before its reader writes")
{
    //  step  0 makes a; 1 reads it early and makes b; 2 makes c; 3 reads a
    auto const p = sequence(4, 3, [](step_id s, effect_sink& step) {
        if (s == 1) step.use_early(0);
        if (s == 3) step.use(0);
        if (s != 3) step.def(s);
    });
    plan_options const options{.bytes = {byte_count{10}, byte_count{20}, byte_count{20}}, .pools = {{20, 1}}};
    auto const again = advise_memory(p, options);
    CHECK(again.is_enough());
    CHECK(again.pools == std::vector<memory_advice::pool>{{30, 20, 20, 1}});
    CHECK_FALSE(
        advise_memory(p, options, {.reruns = false}).is_enough()); // copied out, it is there throughout 1
}

TEST_CASE("ResNet-50 forward has little to move: its peak is one block")
{
    auto const net = network::resnet50();
    auto options = net.options();
    options.pools = {{9633792 - 1, 1}};
    auto const advice = advise_memory(net.program(), options);
    CHECK(advice.is_enough() == (advice.pools[0].least < 9633792));
}

TEST_CASE("random programs under a capacity: what is said is exact, and what is run leaves the same")
{
    std::size_t relieved = 0, fitting = 0, unreachable = 0, missed = 0, suggestions = 0, reruns = 0;
    for (unsigned seed = 0, n = rounds(250); seed != n; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program const p = draw_program(pick, 12);
        auto const program = p.program();
        auto options = p.options(pick.below(2) == 0);
        auto const whole = plan_memory(program, options);
        REQUIRE(whole.is_sound());
        advice_options how;
        how.copies = pick.below(4) != 0;
        how.reruns = !how.copies || pick.below(3) != 0;

        auto tight = options;
        tight.pools.assign(whole.plan.arena_bytes.size(), {0, 1});
        auto const least = advise_memory(program, tight, how).pools;
        for (std::size_t pool = 0; pool != whole.plan.arena_bytes.size(); ++pool) {
            byte_count const most = whole.plan.arena_bytes[pool], low = least.empty() ? 0 : least[pool].least;
            byte_count const below = pick.below(6) == 0 && low != 0 ? 1 : 0;
            options.pools.push_back({low + (most - low) * pick.below(90) / 100 - below, 1});
        }
        auto const advice = advise_memory(program, options, how);

        REQUIRE(advice.pools.size() == options.pools.size());
        REQUIRE(advice.pools.size() == least.size());
        bool is_out_of_reach = false;
        for (std::size_t pool = 0; pool != advice.pools.size(); ++pool) {
            auto const& its = advice.pools[pool];
            auto const id = static_cast<pool_id>(pool);
            CHECK(its.peak_after == live_peak(advice.relieved.program, advice.options, id));
            CHECK(its.least == least[pool].least);
            CHECK(its.least <= its.peak_after);
            is_out_of_reach = is_out_of_reach || its.least > options.pools[pool].capacity;
        }
        if (is_out_of_reach) {
            CHECK_FALSE(advice.is_enough());
            ++unreachable;
        } else if (advice.suggestions.empty()) {
            ++fitting;
        } else {
            ++(advice.is_enough() ? relieved : missed);
        }

        // Each saving, by the program with all the others.
        detail::advice_question const question(program, options, how);
        std::vector<absence> all;
        for (memory_advice::suggestion const& s : advice.suggestions)
            for (absence const& a : question.absences)
                if (a.root == s.value && question.steps[a.before] == s.before &&
                    (a.rerun == no_step ? no_step : question.steps[a.rerun]) == s.rerun)
                    all.push_back(a);
        REQUIRE(all.size() == advice.suggestions.size());
        for (std::size_t i = 0; i != all.size(); ++i) {
            auto others = all;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            auto const without = apply_absences(program, question.steps, options, question.in_place, others);
            pool_id const pool = p.pool[all[i].root];
            byte_count const peak = live_peak(without.program, without.options(options), pool),
                             with = advice.pools[pool].peak_after;
            CHECK(advice.suggestions[i].saved == (peak > with ? peak - with : 0));
            ++suggestions;
            reruns += all[i].rerun != no_step;
        }
        if (!advice.is_enough()) continue;

        std::vector<value_id> itself, shown;
        std::vector<relieved_program::step> as_it_is;
        for (step_id s = 0; s != program.steps(); ++s)
            as_it_is.push_back({relieved_program::kind::original, s});
        for (value_id v = 0; v != p.values(); ++v) {
            itself.push_back(v);
            if (has_role(p.role[v], value_role::output)) shown.push_back(v);
        }
        trace const expected = run(program, options, as_it_is, itself, shown, no_plan{});
        for (value_id& v : shown) v = advice.relieved.at_the_end[v];
        CHECK(run(advice.relieved.program, advice.options, advice.relieved.steps, advice.relieved.origin,
                  shown, arena{advice.planned.plan}) == expected);
    }
    MESSAGE("relieved " << relieved << " programs, fitting " << fitting << ", out of reach " << unreachable
                        << ", missed " << missed << "; " << suggestions << " suggestions, " << reruns
                        << " of them to run a step again");
    CHECK(relieved > rounds(60));
    CHECK(unreachable > rounds(10));
    CHECK(reruns > rounds(20));
}

} // namespace this_test
