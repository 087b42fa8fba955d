// SPDX-License-Identifier: BSL-1.0
// Builds a chessboard on a CUDA device from two squares, on two streams: with separate storage for every
// value, at the offsets of a plan, and as a captured graph that one command launches. Prints the bytes of
// each and the board, or why there is no usable device.

#include <sublet/execution.hpp>
#include <sublet/execution/cuda.hpp>
#include <sublet/sublet.hpp>

#include <cuda_runtime_api.h>

#include <iostream>
#include <string>
#include <vector>

struct operation {
    char square;         // one square, or ...
    std::vector<int> in; // ... two pieces, concatenated
    int out;
};

int main()
{
    auto const found = sublet::cuda::probe();
    if (!found.is_usable()) {
        std::cout << "skipped: " << found.why() << '\n';
        return 0;
    }
    enum { light, dark, light_two, dark_two, light_four, dark_four, light_row, dark_row, rows, half, board };
    std::vector<operation> const painting = {{'.', {}, light},
                                             {'#', {}, dark},
                                             {0, {light, dark}, light_two},
                                             {0, {dark, light}, dark_two},
                                             {0, {light_two, light_two}, light_four},
                                             {0, {dark_two, dark_two}, dark_four},
                                             {0, {light_four, light_four}, light_row},
                                             {0, {dark_four, dark_four}, dark_row},
                                             {0, {light_row, dark_row}, rows},
                                             {0, {rows, rows}, half},
                                             {0, {half, half}, board}};
    std::vector<std::size_t> const squares = {1, 1, 2, 2, 4, 4, 8, 8, 16, 32, 64};
    auto const program = sublet::sequence(
        painting.size(), squares.size(), [&](auto step) -> auto& { return painting[step].in; },
        [&](auto step) { return std::vector{painting[step].out}; });
    sublet::plan_options const options{.bytes = squares, .role = [](auto v) {
                                           return v == board ? sublet::value_role::output
                                                             : sublet::value_role::intermediate;
                                       }};
    // A kernel enqueues its work in its stream; here copies, which need no device compiler.
    auto kernel = [&](auto const& call) {
        operation const& op = painting[call.step];
        auto* to = call.out(0).data();
        if (op.in.empty()) return void(cudaMemsetAsync(to, op.square, 1, call.stream()));
        for (std::size_t i : {0u, 1u}) {
            auto const from = call.in(i);
            (void)cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyDeviceToDevice, call.stream());
            to += from.size();
        }
    };

    sublet::cuda_device device(found.first()->id);
    sublet::stream_options const how{.streams = 2, .keeps_io_addresses = true};
    auto show = [&](auto& executor) {
        std::string picture(squares[board], ' ');
        executor.take(board, std::as_writable_bytes(std::span(picture)));
        for (std::size_t row = 0; row != 8; ++row) std::cout << "    " << picture.substr(8 * row, 8) << '\n';
    };

    sublet::stream_executor plain{device, program, options, sublet::no_plan{}, kernel, how};
    std::cout << "without a plan: " << plain.run().run.bytes.peak << " bytes\n";
    auto const plan = sublet::plan_memory(program, options).plan;
    sublet::stream_executor planned{device, program, options, sublet::arena{plan}, kernel, how};
    std::cout << "planned:        " << planned.run().plan_bytes << " bytes\n";
    show(planned);
    auto graph = planned.capture();
    for (int i = 0; i != 2; ++i) graph.launch();
    std::cout << "captured and launched twice:\n";
    show(planned);
}
