// SPDX-License-Identifier: BSL-1.0
// A small U-Net. Its tensors are smallest at the bottom, yet its peak is there: the report names the values
// live at the peak and the last use of each, and so which two operations should run earlier. Prints the
// report before and after. With a file name it also draws the network for Graphviz, one colour per
// allocation.

#include <sublet/sublet.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

struct tensor {
    std::string name;
    int channels, side;
};

struct operation {
    std::string name;
    std::vector<int> inputs, outputs;
    bool in_place = false;
};

int main(int count, char** words)
{
    enum { image, wide, pooled, deep, small, bottom, up, narrow, sum, large, thin, last, mask };
    std::vector<tensor> const tensors = {
        {"image", 3, 128},   {"wide", 32, 128}, {"pooled", 32, 64}, {"deep", 128, 64}, {"small", 128, 32},
        {"bottom", 256, 32}, {"up", 16, 64},    {"narrow", 16, 64}, {"sum", 16, 64},   {"large", 4, 128},
        {"thin", 4, 128},    {"last", 4, 128},  {"mask", 1, 128}};
    std::vector<operation> const operations = {
        {"conv1", {image}, {wide}},            // 0
        {"pool1", {wide}, {pooled}},           // 1
        {"conv2", {pooled}, {deep}},           // 2
        {"pool2", {deep}, {small}},            // 3
        {"conv3", {small}, {bottom}},          // 4
        {"grow2", {bottom}, {up}},             // 5
        {"skip2", {deep}, {narrow}},           // 6: reduces the channels ...
        {"add2", {up, narrow}, {sum}, true},   // 7: ... of what skips the bottom
        {"grow1", {sum}, {large}},             // 8
        {"skip1", {wide}, {thin}},             // 9
        {"add1", {large, thin}, {last}, true}, // 10
        {"conv4", {last}, {mask}}};            // 11

    auto const network = sublet::sequence(operations.size(), tensors.size(), [&](auto op, auto& step) {
        for (auto in : operations[op].inputs) step.use(in);
        for (auto out : operations[op].outputs) step.def(out);
        if (operations[op].in_place) step.may_overwrite(operations[op].inputs[0], operations[op].outputs[0]);
    });
    using enum sublet::value_role;
    sublet::plan_options options{
        .bytes = [&](auto v) { return 4 * tensors[v].channels * tensors[v].side * tensors[v].side; },
        .role = [](auto v) { return v == image  ? input
                                    : v == mask ? output
                                                : intermediate; }};
    auto tensor_name = [&](auto v) -> auto& { return tensors[v].name; };
    auto operation_name = [&](auto op) -> auto& { return operations[op].name; };

    auto const listed = sublet::plan_memory(network, options);
    sublet::write_why_peak(std::cout, sublet::why_peak(network, listed.plan),
                           {.names = tensor_name, .steps = operation_name});

    // Both skips are ready early: they need nothing from the bottom.
    options.order = {0, 9, 1, 2, 6, 3, 4, 5, 7, 8, 10, 11};
    auto const planned = sublet::plan_memory(network, options);
    std::cout << "\nskip1 and skip2 as early as possible:\n";
    sublet::write_why_peak(std::cout, sublet::why_peak(network, planned.plan),
                           {.names = tensor_name, .steps = operation_name});

    if (count != 2) return 0;
    auto const& buffers = planned.plan.buffers;
    auto const slots = sublet::color(buffers.size(), [&](auto b) { return buffers[b].life; });
    auto slot_of = [&](auto v) { return slots.slot_of[planned.plan.buffer_of[v]]; };
    std::ofstream file(words[1]);
    sublet::write_dot(file, network,
                      {.slots = slot_of, .names = tensor_name, .steps = operation_name, .value_names = true});
    if (file.flush()) return 0;
    std::cerr << words[1] << ": cannot be written\n";
    return 2;
}
