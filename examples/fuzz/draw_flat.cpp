// SPDX-License-Identifier: BSL-1.0
#include "draw_flat.hpp"

#ifdef SUBLET_EXAMPLES_FLATBUFFERS
#include "../plan_model/tflite_builder.hpp"
#endif

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fuzz {

#ifdef SUBLET_EXAMPLES_FLATBUFFERS

namespace {

using plan_model::made_model;
using plan_model::made_operator;
using plan_model::made_tensor;
using plan_model::tensor_numbers;

// CONV_2D, ADD, RELU, RESHAPE, SOFTMAX, SVDF, custom, SQUEEZE, SELECT, EXPAND_DIMS, ADD_N, IF, CALL_ONCE,
// VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, RANDOM_UNIFORM, and a code of a later schema.
constexpr std::int32_t codes[] = {3,  3,  3,  0,  0,   19,  19,  22,  22,  25,  27,
                                  32, 43, 64, 70, 106, 118, 142, 143, 144, 148, 300};
constexpr std::uint8_t types[] = {0, 0, 0, 0, 2, 9, 17, 18};
constexpr std::int32_t sizes[] = {1, 1, 3, 4, 4, 4, 5, 16};

made_tensor draw_tensor(random_source& d)
{
    made_tensor t;
    if (d.percent(80)) t.name = std::string(1, static_cast<char>('a' + d.below(26)));
    t.shape.clear();
    for (int rank = d.between(0, 2); rank != 0; --rank) t.shape.push_back(d.percent(3) ? 0 : d.one_of(sizes));
    t.type = d.percent(60) ? 0 : d.one_of(types);
    if (d.percent(10)) t.signature.assign(t.shape.size(), -1);
    return t;
}

void add_operator(made_model& m, std::vector<std::int32_t>& defined, random_source& d)
{
    constexpr std::int32_t call_once = 129;
    std::int32_t const code = d.percent(1) ? call_once : d.one_of(codes);
    tensor_numbers operands, results;
    for (int n = d.between(code == 148 ? 0 : 1, 3); n != 0; --n)
        operands.push_back(d.percent(4) ? -1 : d.one_of(defined));
    for (int n = d.percent(80) ? 1 : d.between(0, 3); n != 0; --n) {
        made_tensor t = draw_tensor(d);
        if (d.percent(70) && !operands.empty() &&
            operands[0] >= 0) { // as an operand that may be overwritten or viewed
            made_tensor const& of = m.main().tensors[static_cast<std::size_t>(operands[0])];
            t.shape = of.shape, t.type = of.type;
        }
        results.push_back(m.tensor(std::move(t)));
    }
    made_operator& op = m.op(code, operands, results);
    if (code == 118) op.options_type = 92, op.options = {1, 1};
    if (code == call_once) op.options_type = 103, op.options = {1};
    if (d.percent(8)) {
        op.mutating.assign(operands.size(), 0);
        if (!operands.empty()) d.one_of(op.mutating) = 1;
    }
    for (std::int32_t v : results) defined.push_back(v);
}

} // namespace

std::string draw_flat(random_source& d)
{
    made_model m;
    std::vector<std::int32_t> defined;
    for (int n = d.between(1, 3); n != 0; --n) {
        m.main().inputs.push_back(m.tensor(draw_tensor(d)));
        defined.push_back(m.main().inputs.back());
    }
    for (int n = d.between(0, 2); n != 0; --n) {
        made_tensor t = draw_tensor(d);
        t.type = 9; // INT8
        std::size_t bytes = 1;
        for (std::int32_t size : t.shape) bytes *= static_cast<std::size_t>(size);
        if (d.percent(50)) t.is_variable = true;
        else t.buffer = m.buffer(bytes);
        defined.push_back(m.tensor(std::move(t)));
    }
    for (int n = d.between(0, 20); n != 0; --n) add_operator(m, defined, d);
    for (int n = d.between(0, 3); n != 0; --n) m.main().outputs.push_back(d.one_of(defined));
    bool is_caller = false;
    for (made_operator const& op : m.main().operators) is_caller = is_caller || op.options_type != 0;
    if (is_caller ? d.percent(97) : d.percent(5)) m.subgraphs.emplace_back();
    for (made_operator& op : m.main().operators) {
        if (!d.percent(1)) continue;
        auto& list = d.percent(50) ? op.inputs : op.outputs;
        list.push_back(d.between(-2, static_cast<int>(m.main().tensors.size())));
    }
    return m.bytes();
}

#else
std::string draw_flat(random_source&) { return {}; }
#endif

} // namespace fuzz
