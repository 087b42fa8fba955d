// SPDX-License-Identifier: BSL-1.0
// Two chains of operations on the same sound, mixed at the end, on two threads: with a plan for one order,
// where the second chain waits for storage of the first; with a larger plan for every order; and with
// reference counting. Prints what each plans, and which steps wait for storage.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

enum class kind { delay, gain, mix, clip };
struct operation {
    kind what;
    std::vector<int> in;
    int out;
};

int main()
{
    enum { dry, left, loud_left, clear_left, right, loud_right, clear_right, both }; // 4096 samples each
    std::vector<operation> const effect = {{kind::delay, {dry}, left},
                                           {kind::gain, {left}, loud_left},
                                           {kind::clip, {loud_left}, clear_left},
                                           {kind::delay, {dry}, right},
                                           {kind::gain, {right}, loud_right},
                                           {kind::clip, {loud_right}, clear_right},
                                           {kind::mix, {clear_left, clear_right}, both}};
    auto const program = sublet::sequence(
        effect.size(), 8, [&](auto step) -> auto& { return effect[step].in; },
        [&](auto step) { return std::vector{effect[step].out}; });
    std::vector roles(8, sublet::value_role::intermediate);
    roles[dry] = sublet::value_role::input;
    roles[both] = sublet::value_role::output;
    sublet::plan_options const options{
        .bytes = 4096 * sizeof(float), .alignment = alignof(float), .role = roles};

    // One kernel for the whole program. Several threads call it at once: it keeps no state.
    auto kernel = [&](sublet::cpu_call const& call) {
        operation const& op = effect[call.step];
        auto const x = sublet::as<float>(call.in(0)), z = sublet::as<float>(call.in(op.in.size() - 1));
        auto const y = sublet::as<float>(call.out(0));
        for (std::size_t i = 0; i != y.size(); ++i)
            y[i] = op.what == kind::delay  ? (i < 100 ? 0 : x[i - 100])
                   : op.what == kind::gain ? 2 * x[i]
                   : op.what == kind::mix  ? x[i] + z[i]
                                           : std::clamp(x[i], -1.f, 1.f);
    };
    auto play = [&](auto& executor) {
        auto const samples = sublet::as<float>(executor.input(dry));
        for (std::size_t i = 0; i != samples.size(); ++i) samples[i] = static_cast<float>(i % 7) / 8;
        auto const report = executor.run();
        return std::pair{report, sublet::digest(executor.output(both))};
    };
    sublet::cpu_executor serial{program, options, sublet::no_plan{}, kernel};
    auto const expected = play(serial).second;

    bool is_same = true;
    auto run_parallel = [&](char const* name, auto mode) {
        sublet::thread_executor executor{program, options, mode, kernel, {.workers = 2}};
        auto const [report, sound] = play(executor);
        std::cout << name << report.plan_bytes / 1024 << " KiB planned, " << report.waits << " waits, "
                  << report.handoffs << " of them for storage\n";
        for (auto const& wait : executor.waits().list)
            if (wait.why == sublet::step_waits::kind::handoff)
                std::cout << "    " << wait.to << " waits for " << wait.from << ": a hand-off\n";
        is_same = is_same && sound == expected;
    };
    run_parallel("a plan for one order:      ", sublet::arena{sublet::plan_memory(program, options).plan});
    run_parallel("a plan for every schedule: ",
                 sublet::arena{sublet::plan_concurrent(program, options).plan});
    run_parallel("references counted:        ", sublet::recycle{});
    std::cout << (is_same ? "all results equal those of one thread\n" : "they differ\n");
    return is_same ? 0 : 1;
}
