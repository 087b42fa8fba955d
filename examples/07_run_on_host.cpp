// SPDX-License-Identifier: BSL-1.0
// Runs a small audio effect without a plan, recycled by reference counting, and at the offsets of a plan.
// Prints the peak and the allocations of each, and that the results are equal. Then the plan is damaged: the
// executor refuses it; with the proof switched off, the digest check reports which value was clobbered.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

enum class kind { delay, gain, mix, clip };
enum class sound { dry, late, loud, both, echo, wet }; // 4096 samples each
struct operation {
    kind what;
    std::vector<sound> in;
    sound out;
};

int main()
{
    using enum sound;
    std::vector<operation> const effect = {{kind::delay, {dry}, late},
                                           {kind::gain, {dry}, loud},
                                           {kind::mix, {loud, late}, both},
                                           {kind::delay, {both}, echo},
                                           {kind::clip, {echo}, wet}};
    sublet::listing<sound> list;
    list.facts(dry, {.bytes = 4096 * sizeof(float), .role = sublet::value_role::input});
    for (operation const& op : effect) {
        auto step = list.step();
        for (sound in : op.in) step.read(in);
        step.make(op.out, {.bytes = 4096 * sizeof(float), .alignment = alignof(float)});
    }
    list.facts(wet, {.role = sublet::value_role::output});

    auto kernel = [&](sublet::cpu_call const& call) { // one for the whole program
        operation const& op = effect[call.step];
        auto const x = sublet::as<float>(call.of(op.in.front()));
        auto const z = sublet::as<float>(call.of(op.in.back()));
        auto const y = sublet::as<float>(call.of(op.out));
        for (std::size_t i = 0; i != y.size(); ++i)
            y[i] = op.what == kind::delay  ? (i < 100 ? 0 : x[i - 100])
                   : op.what == kind::gain ? 2 * x[i]
                   : op.what == kind::mix  ? x[i] + z[i]
                                           : std::clamp(x[i], -1.f, 1.f);
    };

    auto play = [&](auto mode, sublet::executor_options const& how) {
        sublet::cpu_executor executor{list, mode, kernel, how};
        auto const samples = sublet::as<float>(executor.input(list.id(dry)));
        for (std::size_t i = 0; i != samples.size(); ++i) samples[i] = static_cast<float>(i % 7) / 8;
        auto const report = executor.run();
        std::cout << report.run.bytes.peak / 1024 << " KiB at most, allocated "
                  << executor.memory().allocations.total << " times\n";
        return sublet::digest(executor.output(list.id(wet)));
    };

    auto const planned = sublet::plan_memory(list);
    std::cout << "without a plan: ";
    auto const expected = play(sublet::no_plan{}, {});
    std::cout << "recycled:       ";
    bool is_same = play(sublet::recycle{}, {}) == expected;
    std::cout << "planned:        ";
    is_same &= play(sublet::arena{planned}, {.check = sublet::executor_options::checks::paint}) == expected;
    std::cout << (is_same ? "all three results are equal\n\n" : "they differ\n\n");

    auto plan = planned.plan;
    plan.buffers[plan.buffer_of[list.id(loud)]].offset = planned.offset_of(late);
    try {
        play(sublet::arena{plan}, {});
    } catch (sublet::unsound_plan const& refusal) {
        std::cout << refusal.what() << '\n';
    }
    try {
        play(sublet::arena{plan}, {.check = sublet::executor_options::checks::digest, .prove = false});
    } catch (sublet::clobbered_value const& loss) {
        std::cout << loss.what() << '\n';
    }
}
