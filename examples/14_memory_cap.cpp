// SPDX-License-Identifier: BSL-1.0
// Four layers, forward and backward: every activation stays live until its gradient. With 160 KiB, less than
// the plan needs, the library selects activations to copy out and back or to recompute, and plans the program
// with these spills. Prints the spills and the steps, and what each of three limits costs.

#include <sublet/sublet.hpp>

#include <iostream>
#include <string>
#include <vector>

struct tensor {
    std::string name;
    int kibibytes;
};

struct operation {
    std::string name;
    std::vector<int> inputs, outputs;
    bool is_cheap = false; // an activation function, not a convolution
};

int main()
{
    enum { image, a, ra, b, rb, c, rc, d, gd, gc, gb, ga };
    std::vector<tensor> const tensors = {{"image", 16}, {"a", 48},  {"ra", 48}, {"b", 32},
                                         {"rb", 32},    {"c", 32},  {"rc", 32}, {"d", 16},
                                         {"gd", 16},    {"gc", 32}, {"gb", 32}, {"ga", 48}};
    std::vector<operation> const operations = {{"conv1", {image}, {a}},
                                               {"relu1", {a}, {ra}, true},
                                               {"conv2", {ra}, {b}},
                                               {"relu2", {b}, {rb}, true},
                                               {"conv3", {rb}, {c}},
                                               {"relu3", {c}, {rc}, true},
                                               {"loss", {rc}, {d}},
                                               {"grad loss", {d, rc}, {gd}},
                                               {"grad conv3", {gd, c, rb}, {gc}},
                                               {"grad conv2", {gc, b, ra}, {gb}},
                                               {"grad conv1", {gb, a, image}, {ga}}};
    auto const network =
        sublet::sequence(operations.size(), tensors.size(), [&](auto op, sublet::effect_sink& step) {
            for (int t : operations[op].inputs) step.use(t);
            for (int t : operations[op].outputs) step.def(t);
            step.may_recompute(operations[op].is_cheap); // a convolution costs too much
        });

    using enum sublet::value_role;
    sublet::plan_options options{
        .bytes = [&](auto v) { return 1024 * tensors[v].kibibytes; },
        .role = [](auto v) { return v == image ? input
                                    : v == ga  ? output
                                               : intermediate; }};
    std::cout << "without a limit: " << sublet::plan_memory(network, options).report() << "\n\n";

    options.pools = {{.capacity = 160 * 1024}};
    auto const advice = sublet::advise_memory(network, options, {.step_cost = 16 * 1024});
    for (auto const& s : advice.suggestions) {
        std::cout << tensors[s.value].name << ": spilled after " << operations[s.after].name << ", ";
        if (s.remat_step == sublet::no_step) std::cout << "copied back";
        else std::cout << "recomputed by " << operations[s.remat_step].name;
        std::cout << " before " << operations[s.before].name << "; " << s.bytes / 1024 << " KiB\n";
    }
    std::cout << "\nwith them: " << advice.report() << "\n\n";
    auto const& spilled = advice.spilled;
    for (std::size_t i = 0; i != spilled.steps.size(); ++i) {
        auto const [kind, step] = spilled.steps[i];
        auto const touched = spilled.program.touches(static_cast<sublet::step_id>(i));
        std::string const& first = tensors[spilled.origin[touched[0].value]].name;
        switch (kind) {
        case sublet::spilled_program::kind::original: std::cout << operations[step].name << '\n'; break;
        case sublet::spilled_program::kind::rematerialize:
            std::cout << "  recompute: " << operations[step].name << '\n';
            break;
        case sublet::spilled_program::kind::copied_out: std::cout << "  copy out: " << first << '\n'; break;
        case sublet::spilled_program::kind::copied_back: std::cout << "  copy back: " << first << '\n'; break;
        }
    }
    std::cout << "\nwithin     cost\n";
    std::vector<sublet::byte_count> const limits{240 * 1024, 200 * 1024, 160 * 1024, 128 * 1024};
    for (auto const& within : sublet::advise_limits(network, options, limits, {.step_cost = 16 * 1024}))
        std::cout << within.options.pools[0].capacity / 1024 << " KiB    "
                  << (within ? std::to_string(within.cost) : "no plan") << '\n';
    return advice ? 0 : 1;
}
