// SPDX-License-Identifier: BSL-1.0
// A picture is smoothed and searched for edges at the same time, on two streams of a simulated device that
// runs queued commands as late as allowed. Prints the commands in issue order, with what each stream waits
// for; then what each memory mode needs for the same result.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <iostream>
#include <span>
#include <vector>

enum { picture, grey, smooth, edges, both, values };
char const* const value_names[] = {"picture", "grey", "smooth", "edges", "both"};
char const* const step_names[] = {"to grey", "smooth", "find edges", "overlay"};

int main()
{
    std::vector<std::vector<int>> const uses = {{picture}, {grey}, {grey}, {smooth, edges}};
    std::vector<std::vector<int>> const defs = {{grey}, {smooth}, {edges}, {both}};
    auto const program = sublet::sequence(
        4, values, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    using enum sublet::value_role;
    sublet::plan_options const options{.bytes = 1024 * sizeof(float),
                                       .role = {input, intermediate, intermediate, intermediate, output}};

    auto const kernel = [](auto const& call) {
        auto const in = sublet::as<float const>(call.in(0));
        auto const out = sublet::as<float>(call.out(0));
        for (std::size_t i = 0; i != out.size(); ++i) {
            float const left = in[i == 0 ? 0 : i - 1];
            if (call.step == 0) out[i] = in[i] / 2;
            if (call.step == 1) out[i] = (left + in[i]) / 2;
            if (call.step == 2) out[i] = in[i] - left;
            if (call.step == 3) out[i] = in[i] + sublet::as<float const>(call.in(1))[i];
        }
    };

    sublet::simulated_device device({.order = sublet::simulated_options::order_kind::latest_first});
    auto run_in = [&](char const* name, auto const& mode, bool prints_commands) {
        sublet::stream_executor run(device, program, options, mode, kernel, {.streams = 2});
        for (sublet::stream_schedule::command const& c : run.schedule().commands) {
            if (!prints_commands) break;
            using enum sublet::stream_schedule::action;
            std::cout << "    stream " << c.stream << (c.stream == 0 ? "  " : "                        ");
            if (c.what == record) std::cout << "record event " << c.which << '\n';
            if (c.what == wait) std::cout << "wait for event " << c.which << '\n';
            if (c.what == allocate) std::cout << "allocate " << value_names[c.which] << '\n';
            if (c.what == launch) std::cout << step_names[c.which] << '\n';
            if (c.what == release) std::cout << "release " << value_names[c.which] << '\n';
        }
        std::vector<float> pixels(1024);
        for (std::size_t i = 0; i != pixels.size(); ++i) pixels[i] = static_cast<float>(i % 100);
        run.give(picture, std::as_bytes(std::span(pixels)));
        auto const report = run.run();
        run.take(both, std::as_writable_bytes(std::span(pixels)));
        std::cout << name << "at most " << report.run.bytes.peak << " bytes, " << report.run.allocations.total
                  << " allocations, pixel 150 is " << pixels[150] << '\n';
    };
    run_in("recycled:       ", sublet::recycle{}, true);
    run_in("without a plan: ", sublet::no_plan{}, false);
    run_in("in an arena:    ", sublet::arena{sublet::plan_memory(program, options).plan}, false);
}
