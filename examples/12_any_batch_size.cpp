// SPDX-License-Identifier: BSL-1.0
// A classifier that serves any number of images is planned once: the offset of each tensor is a formula in N,
// and every request takes the bytes that its own images need. The labels do not grow with N; that no tensor
// overlaps them is proved for every N. All batches run at the same addresses, which have memory for the last
// one only.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <iostream>
#include <string>
#include <vector>

struct tensor {
    std::string name;
    int per_image, fixed; // bytes
};

struct operation {
    std::vector<int> inputs, outputs;
};

int main()
{
    enum { images, edges, parts, features, labels, scores, best };
    std::vector<tensor> const tensors = {{"images", 3072, 0},  {"edges", 8192, 0},  {"parts", 4096, 0},
                                         {"features", 512, 0}, {"labels", 0, 6000}, {"scores", 400, 0},
                                         {"best", 4, 0}};
    std::vector<operation> const operations = {{{images}, {edges}},
                                               {{edges}, {parts}},
                                               {{parts}, {features}},
                                               {{}, {labels}},
                                               {{features, labels}, {scores}},
                                               {{scores}, {best}}};
    auto const classifier = sublet::sequence(
        operations.size(), tensors.size(), [&](auto op) -> auto& { return operations[op].inputs; },
        [&](auto op) -> auto& { return operations[op].outputs; });

    sublet::symbolic_options const options{
        .bytes =
            [&](auto v) {
                return sublet::affine_bytes{.fixed = static_cast<sublet::byte_count>(tensors[v].fixed),
                                            .per_batch =
                                                static_cast<sublet::byte_count>(tensors[v].per_image)};
            },
        .max_batch = 64,
        .alignment = 16,
        .role =
            [](auto v) {
                return v == images ? sublet::value_role::input
                       : v == best ? sublet::value_role::output
                                   : sublet::value_role::intermediate;
            }};
    auto const planned = sublet::plan_symbolic(classifier, options);
    std::cout << planned.report() << "\n\n";
    for (auto const& b : planned.plan.buffers)
        std::cout << tensors[b.root].name << ": from " << b.start.fixed << " + " << b.start.per_batch
                  << "*N\n";

    for (int arrived : {1, 3, 64, 2}) {
        sublet::memory_plan const plan =
            planned.plan.at(arrived); // an ordinary plan, for an ordinary executor
        std::cout << '\n'
                  << arrived << " images: " << plan.arena_bytes[0] << " bytes, scores at "
                  << plan.offset_of(scores);
    }

    std::cout << '\n';
    sublet::growing_arena memory(planned);
    for (int arrived : {1, 64, 2}) {
        sublet::cpu_executor run{classifier, options.at(static_cast<sublet::byte_count>(arrived)),
                                 memory.at(arrived), sublet::synthetic_kernel{}};
        sublet::fill_noise(run.input(images), 7);
        std::cout << '\n' << arrived << " images ran in " << run.run().reserved << " bytes";
    }
    std::cout << "\n\nwith only 300000 bytes, batches up to ";
    sublet::symbolic_options small = options;
    small.pools = {{.capacity = 300000}};
    std::cout << sublet::plan_symbolic(classifier, small).report().fits_up_to << " fit\n";
}
