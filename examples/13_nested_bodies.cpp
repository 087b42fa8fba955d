// SPDX-License-Identifier: BSL-1.0
// An IR whose operations hold blocks, a loop with a conditional inside, joins by a fifth member: bodies(n).
// One plan for all the blocks: prints what it saves, where each tensor lies, and how many of the copies that
// the loop and the branches ask for are left to be made.

#include <sublet/sublet.hpp>

#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

struct block;
struct body {
    sublet::program_body::run_kind kind;
    block const* program;
    std::vector<sublet::program_body::capture> captures = {}; // tensors of the block around, as they are
    std::vector<sublet::program_body::binding> bindings =
        {}; // tensors that are brought in, carried on, given back
};
struct operation {
    std::vector<int> inputs, results;
    bool in_place = false; // may write over its first input
    std::vector<body> bodies = {};
};
struct tensor {
    std::string name;
    int kib;
};
struct block {
    std::string name;
    std::vector<tensor> tensors;
    std::vector<operation> operations;

    // What the library asks of a program, and of one that holds others.
    std::size_t nodes() const { return operations.size(); }
    std::size_t values() const { return tensors.size(); }
    std::vector<int> successors(sublet::node_id) const { return {}; } // a list
    void effects(sublet::node_id n, sublet::effect_sink& step) const
    {
        for (auto t : operations[n].inputs) step.use(t);
        for (auto t : operations[n].results) step.def(t);
        if (operations[n].in_place) step.may_overwrite(operations[n].inputs[0], operations[n].results[0]);
    }
    auto const& bodies(sublet::node_id n) const { return operations[n].bodies; }
};
static_assert(sublet::nested_program<block>);

int main()
{
    using enum sublet::program_body::run_kind;
    // Sharpen an image: in each turn add what is left to explain of it, found in one of two ways.
    block const coarse{"coarse", {{"rest", 64}, {"spectrum", 128}, {"found", 64}}, {{{0}, {1}}, {{1}, {2}}}};
    block const fine{"fine", {{"rest", 64}, {"curve", 96}, {"found", 64}}, {{{0}, {1}}, {{1}, {2}}}};
    std::vector<body> const branches{{branch, &coarse, {{0, 2}}, {{.inner = 2, .result = 3}}},
                                     {branch, &fine, {{0, 2}}, {{.inner = 2, .result = 3}}}};
    block const turn{"turn",
                     {{"image", 64}, {"x", 64}, {"rest", 64}, {"found", 64}, {"better", 64}},
                     {{{0, 1}, {2}}, {{}, {3}, false, branches}, {{1, 3}, {4}, true}}};
    body const turns{loop, &turn, {{0, 0}}, {{.inner = 1, .initial = 1, .next = 4, .result = 2}}};
    block const root{"root",
                     {{"image", 64}, {"blurred", 64}, {"sharp", 64}},
                     {{{}, {0}}, {{0}, {1}}, {{}, {2}, false, {turns}}, {{2}, {}}}};

    std::vector<block const*> const blocks{&root, &turn, &coarse, &fine}; // as a tree numbers them
    auto const planned = sublet::plan_nested(sublet::as_tree(root), [&](auto i) -> sublet::plan_options {
        return {.bytes = [of = blocks[i]](auto t) { return of->tensors[t].kib * 1024; }};
    });
    std::cout << planned.report << "\n\n";
    for (sublet::program_id i = 0; i != blocks.size(); ++i)
        for (sublet::value_id t = 0; t != blocks[i]->values(); ++t)
            std::cout << std::left << std::setw(8) << blocks[i]->name << std::setw(9)
                      << blocks[i]->tensors[t].name << std::right << std::setw(4)
                      << planned.offset_of(i, t) / 1024 << " KiB\n";
    std::cout << '\n' << planned.copies.size() << " of " << planned.flat.moves.size() << " copies are left\n";
}
