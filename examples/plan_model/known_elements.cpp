// SPDX-License-Identifier: BSL-1.0

// Elements of small tensors: read, written, and computed by the rules of ONNX's standard operators. The rules
// are in known_shapes.cpp and the other files that known_rules.hpp names; here they are one table.

#include "known_elements.hpp"

#include "known_rules.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plan_model {
namespace {

using namespace known_rules;

std::unordered_map<std::string_view, one_result> const& rules()
{
    static auto const found = [] {
        std::unordered_map<std::string_view, one_result> all;
        for (rule_table const table : {rules_of_shapes(), rules_of_selections(), rules_of_arithmetic(),
                                       rules_of_functions(), rules_of_reductions()})
            for (auto const& [name, rule] : table) all.emplace(name, rule);
        return all;
    }();
    return found;
}

/// The elements of typed fields, if they are of the field's range.
template <class Field, class Convert>
bool take(Field const& field, std::size_t count, Convert convert)
{
    if (static_cast<std::size_t>(field.size()) != count) return false;
    for (auto x : field)
        if (!convert(x)) return false;
    return true;
}

} // namespace

std::optional<known_tensor> elements_of(onnx::TensorProto const& stored)
{
    if (stored.data_location() == tensor::EXTERNAL || stored.has_segment()) return {};
    int const element = stored.data_type();
    std::size_t const width = width_of(element);
    if (width == 0 || static_cast<std::size_t>(stored.dims_size()) > most_dimensions) return {};
    known_tensor found{element, {stored.dims().begin(), stored.dims().end()}, {}, {}};
    auto const count = count_of(found.size);
    if (!count) return {};
    auto add_bits = [&](std::uint64_t bits) {
        if (element == tensor::DOUBLE) found.real.push_back(std::bit_cast<double>(bits));
        else if (element == tensor::FLOAT)
            found.real.push_back(double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
        else if (element == tensor::FLOAT16)
            found.real.push_back(from_half(static_cast<std::uint16_t>(bits)));
        else if (element == tensor::BFLOAT16)
            found.real.push_back(from_bfloat(static_cast<std::uint16_t>(bits)));
        else found.whole.push_back(wrapped(element, bits));
    };

    bool const has_fields = stored.float_data_size() != 0 || stored.double_data_size() != 0 ||
                            stored.int32_data_size() != 0 || stored.int64_data_size() != 0 ||
                            stored.uint64_data_size() != 0 || stored.string_data_size() != 0;
    if (!has_fields) {
        std::string const& raw = stored.raw_data();
        if (raw.size() != *count * width) return {};
        for (std::size_t i = 0; i != raw.size(); i += width) {
            std::uint64_t bits = 0;
            for (std::size_t j = width; j-- != 0;) bits = bits << 8 | static_cast<unsigned char>(raw[i + j]);
            add_bits(bits);
        }
        return found;
    }
    if (!stored.raw_data().empty()) return {};
    bool is_whole = false;
    switch (element) {
    case tensor::FLOAT:
        is_whole =
            take(stored.float_data(), *count, [&](float x) { return found.real.push_back(double{x}), true; });
        break;
    case tensor::DOUBLE:
        is_whole =
            take(stored.double_data(), *count, [&](double x) { return found.real.push_back(x), true; });
        break;
    case tensor::INT64:
        is_whole =
            take(stored.int64_data(), *count, [&](std::int64_t x) { return found.whole.push_back(x), true; });
        break;
    case tensor::UINT32:
    case tensor::UINT64:
        is_whole = take(stored.uint64_data(), *count, [&](std::uint64_t x) {
            add_bits(x);
            return bits_of(found.whole.back()) == x;
        });
        break;
    case tensor::FLOAT16:
    case tensor::BFLOAT16:
        is_whole = take(stored.int32_data(), *count, [&](std::int32_t x) {
            add_bits(bits_of(x));
            return x >= 0 && x <= 0xffff;
        });
        break;
    default:
        is_whole = take(stored.int32_data(), *count, [&](std::int32_t x) {
            add_bits(bits_of(x));
            return element == tensor::BOOL || found.whole.back() == x;
        });
    }
    if (!is_whole) return {};
    return found;
}

onnx::TensorProto as_tensor(known_tensor const& known)
{
    tensor stored;
    stored.set_data_type(known.element);
    for (auto d : known.size) stored.add_dims(d);
    std::string& raw = *stored.mutable_raw_data();
    std::size_t const width = width_of(known.element);
    auto write = [&](std::uint64_t bits) {
        for (std::size_t i = 0; i != width; ++i)
            raw += static_cast<char>(static_cast<unsigned char>(bits >> 8 * i));
    };
    if (!is_real(known.element))
        for (auto x : known.whole) write(known.element == tensor::BOOL ? x != 0 : bits_of(x));
    else
        for (auto x : known.real) {
            if (known.element == tensor::DOUBLE) write(std::bit_cast<std::uint64_t>(x));
            else if (known.element == tensor::FLOAT) write(std::bit_cast<std::uint32_t>(to_float(x)));
            else write(known.element == tensor::FLOAT16 ? to_half(x) : to_bfloat(x));
        }
    return stored;
}

bool has_rule(std::string_view type) { return type == "Split" || type == "TopK" || rules().count(type) != 0; }

std::vector<std::optional<known_tensor>> evaluate(onnx::NodeProto const& node, std::int64_t opset,
                                                  std::vector<known_tensor const*> const& elements,
                                                  std::vector<onnx::TypeProto const*> const& types)
{
    several unknown(static_cast<std::size_t>(node.output_size()));
    if (!node.domain().empty() && node.domain() != "ai.onnx") return unknown;
    constexpr std::size_t most_operand_elements = 16 * most_known_elements;
    std::size_t read = 0;
    for (auto const* e : elements)
        if (e != nullptr) read += e->whole.size() + e->real.size();
    if (read > most_operand_elements || unknown.empty()) return unknown;
    call const c{node, opset, elements, types};
    if (node.op_type() == "Split") return split(c);
    if (node.op_type() == "TopK") return top_k(c);
    auto const rule = rules().find(node.op_type());
    if (rule == rules().end()) return unknown;
    unknown[0] = rule->second(c);
    return unknown;
}

} // namespace plan_model
