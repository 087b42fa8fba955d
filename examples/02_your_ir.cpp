// SPDX-License-Identifier: BSL-1.0
// Plans a small compiler IR through lambdas that return what an operation reads and writes and how large a
// tensor is. Prints what a plan saves, what it saves when the IR also declares an in-place operation and a
// view, and the offset of each tensor, read from the IR into which the offsets were written.

#include <sublet/sublet.hpp>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

enum class dtype { f16 = 2, f32 = 4 };

struct tensor {
    std::string name;
    dtype type;
    std::vector<std::int64_t> shape;
    std::optional<std::uint64_t> offset = {};

    std::int64_t bytes() const
    {
        auto product = static_cast<std::int64_t>(type);
        for (auto extent : shape) product *= extent;
        return product;
    }
};

struct operation {
    std::string kind;
    std::vector<int> inputs; // indices of tensors; -1: an absent operand
    std::vector<std::size_t> outputs;
};

int main()
{
    enum : std::size_t { image, first, second, matrix, features, active, finer, pooled, row, scores };
    std::vector<tensor> tensors = {
        {"image", dtype::f32, {1, 3, 64, 64}},    {"first", dtype::f16, {8, 3, 3, 3}},
        {"second", dtype::f16, {16, 8, 3, 3}},    {"matrix", dtype::f16, {4096, 10}},
        {"features", dtype::f32, {1, 8, 64, 64}}, {"active", dtype::f32, {1, 8, 64, 64}},
        {"finer", dtype::f32, {1, 16, 32, 32}},   {"pooled", dtype::f32, {1, 16, 16, 16}},
        {"row", dtype::f32, {1, 4096}},           {"scores", dtype::f32, {1, 10}}};
    std::vector<operation> const operations = {{"conv", {image, first, -1}, {features}},
                                               {"relu", {features}, {active}},
                                               {"conv", {active, second, -1}, {finer}},
                                               {"maxpool", {finer}, {pooled}},
                                               {"reshape", {pooled}, {row}},
                                               {"matmul", {row, matrix}, {scores}}};

    using enum sublet::value_role; // inputs and weights are external: not in the plan
    sublet::plan_options options{
        .bytes = [&](auto v) { return tensors[v].bytes(); },
        .alignment = 64,
        .role = [](auto v) { return v <= matrix   ? external
                                    : v == scores ? output
                                                  : intermediate; }};
    auto const program = sublet::sequence(
        operations.size(), tensors.size(), [&](auto op) -> auto& { return operations[op].inputs; },
        [&](auto op) -> auto& { return operations[op].outputs; });
    std::cout << sublet::plan_memory(program, options).report() << '\n';

    // The result of a relu may overwrite its operand. The result of a reshape is a view of its operand.
    auto const with_in_place = sublet::sequence(operations.size(), tensors.size(), [&](auto op, auto& step) {
        operation const& o = operations[op];
        for (auto in : o.inputs) step.use(in);
        for (auto out : o.outputs)
            if (o.kind == "reshape") step.view(out);
            else step.def(out);
        if (o.kind == "relu") step.may_overwrite(o.inputs[0], o.outputs[0]);
    });
    std::vector<int> view_of(tensors.size(), -1);
    for (auto const& o : operations)
        if (o.kind == "reshape") view_of[o.outputs[0]] = o.inputs[0];
    options.alias_of = view_of;

    auto const planned = sublet::plan_memory(with_in_place, options);
    for (auto [tensor, pool, offset] : planned) tensors[tensor].offset = offset;
    std::cout << planned.report() << "\n\ntensor     bytes   offset\n";
    for (auto const& t : tensors) {
        std::cout << std::left << std::setw(9) << t.name << std::right << std::setw(7) << t.bytes();
        if (t.offset) std::cout << std::setw(9) << *t.offset << '\n';
        else std::cout << " external\n";
    }
}
