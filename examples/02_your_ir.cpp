// SPDX-License-Identifier: BSL-1.0
// Plans a small compiler IR: a listing says what each operation reads and makes, by pointers to the tensors.
// Prints what a plan saves, what it saves when the listing also names an in-place operation and a view, and
// the offset of each tensor, read from the IR into which the offsets were written.

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
    std::vector<std::uint64_t> shape;
    std::optional<std::uint64_t> offset = {};

    std::uint64_t bytes() const
    {
        auto product = static_cast<std::uint64_t>(type);
        for (auto extent : shape) product *= extent;
        return product;
    }
};

struct operation {
    std::string kind;
    std::vector<tensor*> inputs;
    tensor* output;
};

int main()
{
    enum { image, first, second, matrix, features, active, finer, pooled, row, scores };
    std::vector<tensor> t = {
        {"image", dtype::f32, {1, 3, 64, 64}},    {"first", dtype::f16, {8, 3, 3, 3}},
        {"second", dtype::f16, {16, 8, 3, 3}},    {"matrix", dtype::f16, {4096, 10}},
        {"features", dtype::f32, {1, 8, 64, 64}}, {"active", dtype::f32, {1, 8, 64, 64}},
        {"finer", dtype::f32, {1, 16, 32, 32}},   {"pooled", dtype::f32, {1, 16, 16, 16}},
        {"row", dtype::f32, {1, 4096}},           {"scores", dtype::f32, {1, 10}}};
    std::vector<operation> const operations = {{"conv", {&t[image], &t[first]}, &t[features]},
                                               {"relu", {&t[features]}, &t[active]},
                                               {"conv", {&t[active], &t[second]}, &t[finer]},
                                               {"maxpool", {&t[finer]}, &t[pooled]},
                                               {"reshape", {&t[pooled]}, &t[row]},
                                               {"matmul", {&t[row], &t[matrix]}, &t[scores]}};

    using enum sublet::value_role;
    auto list_of = [&](bool has_views_and_overwrites) {
        sublet::listing<tensor*> list;
        for (auto v : {image, first, second, matrix}) // storage of the caller's: not in the plan
            list.facts(&t[v], {.bytes = t[v].bytes(), .role = external, .name = t[v].name});
        list.facts(&t[scores], {.role = output}); // needed to the end
        for (operation const& o : operations) {
            auto step = list.step(o.kind);
            for (tensor* in : o.inputs) step.read(in);
            if (has_views_and_overwrites && o.kind == "reshape") step.view(o.output, o.inputs[0]);
            else step.make(o.output);
            if (has_views_and_overwrites && o.kind == "relu") step.may_overwrite(o.inputs[0], o.output);
            list.facts(o.output, {.bytes = o.output->bytes(), .alignment = 64, .name = o.output->name});
        }
        return list;
    };
    std::cout << sublet::plan_memory(list_of(false)) << '\n';

    auto const planned = sublet::plan_memory(list_of(true));
    for (auto [one, pool, offset] : planned) one->offset = offset;
    std::cout << planned << "\n\ntensor     bytes   offset\n";
    for (tensor const& one : t) {
        std::cout << std::left << std::setw(9) << one.name << std::right << std::setw(7) << one.bytes();
        if (one.offset) std::cout << std::setw(9) << *one.offset << '\n';
        else std::cout << " external\n";
    }
}
