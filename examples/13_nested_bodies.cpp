// SPDX-License-Identifier: BSL-1.0
// An IR with operations that contain blocks (a loop with a conditional inside) needs one member more:
// bodies(n). One plan covers all blocks. Prints what it saves, the offset of each tensor, and how many of the
// copies at the borders of the loop and the branches remain. Then it runs the blocks in the arena of the
// plan.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

struct block;
struct body {
    sublet::program_body::run_kind kind;
    block const* program;
    std::vector<sublet::program_body::capture> captures = {}; // tensors of the enclosing block, read in place
    std::vector<sublet::program_body::binding> bindings =
        {}; // inner, initial, next and result of a carried tensor
};
struct operation {
    std::vector<int> inputs, results;
    bool in_place = false; // may overwrite its first input
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

    // The members that the concepts program and nested_program require.
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
    // Sharpens an image: each iteration adds a part of the remaining difference, found in one of two ways.
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

    std::vector<block const*> const blocks{&root, &turn, &coarse, &fine}; // in preorder
    auto const tree = sublet::as_tree(root);
    auto const options_of = [&](sublet::program_id i) -> sublet::plan_options {
        return {.bytes = [of = blocks[i]](auto t) { return of->tensors[t].kib * 1024; }, .alignment = 64};
    };
    auto const planned = sublet::plan_nested(tree, options_of);
    std::cout << planned.report() << "\n\n";
    for (sublet::program_id i = 0; i != blocks.size(); ++i)
        for (sublet::value_id t = 0; t != blocks[i]->values(); ++t)
            std::cout << std::left << std::setw(8) << blocks[i]->name << std::setw(9)
                      << blocks[i]->tensors[t].name << std::right << std::setw(4)
                      << planned.offset_of(i, t) / 1024 << " KiB\n";
    std::cout << '\n' << planned.copies.size() << " of " << planned.flat.moves.size() << " copies remain\n";

    // Each tensor is one number here: a half of the difference is found coarsely, later a quarter finely.
    auto kernel = [&](sublet::nested_call const& call) {
        if (!blocks[call.program]->operations[call.step].bodies.empty()) return; // its bodies did it
        auto in = [&](std::size_t i) { return sublet::as<float>(call.in(i))[0]; };
        if (call.defs().empty()) std::cout << "sharp: " << in(0) << '\n';
        if (call.defs().empty()) return;
        float& out = sublet::as<float>(call.out(0))[0];
        std::string const& name = blocks[call.program]->tensors[call.defs()[0]].name;
        if (name == "image") out = 16;
        else if (name == "blurred" || name == "spectrum") out = in(0) / 2;
        else if (name == "rest") out = in(0) - in(1);
        else if (name == "curve") out = in(0) / 4;
        else if (name == "better") out = in(0) + in(1);
        else out = in(0); // found
    };
    std::size_t turn_number = 0;
    auto choose = [&](sublet::nested_choice const& choice) -> std::size_t {
        if (choice.program == 0) return (turn_number = choice.iteration) < 3; // the loop
        return turn_number < 2 ? 0 : 1;                                       // coarse, then fine
    };
    sublet::nested_executor execute{tree, options_of, sublet::arena{planned}, kernel, choose};
    auto const report = execute.run();
    std::cout << report.steps << " steps, " << report.copies << " copies, " << report.reserved / 1024
              << " KiB\n";
}
