// SPDX-License-Identifier: BSL-1.0
// A text classifier serves requests of any number of sentences, of any length, with one plan. Sizes are
// formulas in two open dimensions: the scores of attention grow with the square of the length, the labels not
// at all. What is planned is which tensor lies below which; the offsets of each request follow from its
// sizes, and no two tensors overlap for any of them. All requests run at the same addresses, which have
// memory for the last one only.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <iostream>
#include <string>
#include <vector>

struct tensor {
    std::string name;
    sublet::formula bytes;
};

struct operation {
    std::vector<int> inputs, outputs;
};

int main()
{
    std::vector<sublet::dimension> const dims{{"sentences", 1, 32}, {"length", 8, 512, 8}};
    sublet::formula const sentences = sublet::symbol(0), length = sublet::symbol(1);

    enum { words, queries, scores, weights, mixed, labels, classes, best };
    std::vector<tensor> const tensors = {{"words", 256 * sentences * length},
                                         {"queries", 768 * sentences * length},
                                         {"scores", 16 * sentences * length * length},
                                         {"weights", 16 * sentences * length * length},
                                         {"mixed", 256 * sentences * length},
                                         {"labels", 60000},
                                         {"classes", 400 * sentences},
                                         {"best", 4 * sentences}};
    std::vector<operation> const operations = {{{words}, {queries}},  {{queries}, {scores}},
                                               {{scores}, {weights}}, {{weights, queries}, {mixed}},
                                               {{}, {labels}},        {{mixed, labels}, {classes}},
                                               {{classes}, {best}}};
    auto const classifier = sublet::sequence(
        operations.size(), tensors.size(), [&](auto op) -> auto& { return operations[op].inputs; },
        [&](auto op) -> auto& { return operations[op].outputs; });

    sublet::symbolic_options const options{.bytes = [&](auto v) { return tensors[v].bytes; },
                                           .dims = dims,
                                           .alignment = 16,
                                           .role =
                                               [](auto v) {
                                                   return v == words  ? sublet::value_role::input
                                                          : v == best ? sublet::value_role::output
                                                                      : sublet::value_role::intermediate;
                                               }};
    auto const planned = sublet::plan_symbolic(classifier, options);
    std::cout << planned.report() << "\n\n";
    sublet::stacking const& all = planned.plan.stack;
    auto name_of = [&](sublet::buffer_id b) { return tensors[planned.plan.buffers[b].root].name; };
    for (std::size_t i = 0; i != all.order.size(); ++i) {
        std::cout << name_of(all.order[i].buffer) << " above";
        for (auto below : all.below_of(i)) std::cout << ' ' << name_of(below);
        std::cout << (all.below_of(i).empty() ? " nothing\n" : "\n");
    }

    sublet::symbolic_plan::places now; // no allocation from the second request on
    for (sublet::shape const& request : std::vector<sublet::shape>{{1, 8}, {1, 512}, {32, 64}, {2, 16}}) {
        planned.plan.place(request, now);
        std::cout << '\n'
                  << request[0] << " sentences of " << request[1] << " words: " << now.at.bytes[0]
                  << " bytes, classes at " << planned.plan.offset_of(classes, now);
    }

    std::cout << '\n';
    sublet::growing_arena memory(planned);
    sublet::cpu_executor run{classifier, options, memory.at({1, 8}), sublet::synthetic_kernel{}};
    for (sublet::shape const& request : std::vector<sublet::shape>{{1, 8}, {32, 512}, {2, 16}}) {
        run.set_shape(request);
        sublet::fill_noise(run.input(words), 7);
        std::cout << '\n'
                  << request[0] << " sentences of " << request[1] << " words ran in " << run.run().reserved
                  << " bytes";
    }
    sublet::table<sublet::pool_id, sublet::pool_limits> const small{{.capacity = 8'000'000}};
    std::cout << "\n\nin 8 MB: " << *planned.plan.largest(0, {1, 256}, small)
              << " sentences of 256 words, or 4 of " << *planned.plan.largest(1, {4, 8}, small) << '\n';
}
