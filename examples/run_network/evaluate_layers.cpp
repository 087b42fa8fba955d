// SPDX-License-Identifier: BSL-1.0

// What is no work for a library of primitives: integers, truth values, shapes, selections of elements. The
// rules by which plan_model follows shapes compute it.

#include "evaluate_layers.hpp"

#include "../plan_model/known_elements.hpp"
#include "../plan_model/known_numbers.hpp"
#include "../plan_model/standard_operators.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace run_network {

std::size_t width_of(int element) { return plan_model::known_rules::width_of(element); }

std::vector<double> numbers_in(onnx::TensorProto const& tensor)
{
    auto const known = plan_model::elements_of(tensor);
    if (!known) return {};
    std::vector<double> all = known->real;
    for (auto x : known->whole) all.push_back(static_cast<double>(x));
    return all;
}

std::vector<double> numbers_in(std::span<std::byte const> bytes, int element)
{
    std::vector<double> all;
    std::size_t const width = width_of(element), most = width * plan_model::most_known_elements;
    while (width != 0 && !bytes.empty()) {
        auto const part = bytes.first(std::min(bytes.size(), most));
        onnx::TensorProto stored;
        stored.set_data_type(element);
        stored.add_dims(static_cast<std::int64_t>(part.size() / width));
        stored.set_raw_data(part.data(), part.size());
        auto const some = numbers_in(stored);
        all.insert(all.end(), some.begin(), some.end());
        bytes = bytes.subspan(part.size());
    }
    return all;
}

namespace {

using value_ids = std::vector<sublet::value_id>;

bool copies_rows(layered_network const& all, plan_model::operation const& its)
{
    auto is_there = [&](value_ids const& of, std::size_t i) {
        return i < of.size() && of[i] != sublet::no_value;
    };
    return its.type == "Gather" && is_there(its.inputs, 0) && is_there(its.inputs, 1) &&
           is_there(its.outputs, 0) && width_of(all.types[its.inputs[0]].element) != 0 &&
           all.types[its.outputs[0]].element == all.types[its.inputs[0]].element &&
           !plan_model::known_rules::is_real(all.types[its.inputs[1]].element);
}

/// Rows of a table, which may be too large for a rule. Returns false if there is no such row.
bool gather(layered_network const& all, plan_model::operation const& its, std::int64_t axis,
            operands const& io)
{
    auto const &table = all.types[its.inputs[0]], &indices = all.types[its.inputs[1]];
    auto const rank = static_cast<std::int64_t>(table.size.size());
    if (axis < -rank || axis >= rank) return false;
    auto const at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    auto bytes_of = [&](sublet::value_id v) { return static_cast<std::size_t>(all.net.values[v].bytes); };
    std::size_t outer = 1, row = width_of(table.element);
    for (std::size_t i = 0; i != table.size.size(); ++i)
        if (i != at) (i < at ? outer : row) *= static_cast<std::size_t>(table.size[i]);
    auto const rows = static_cast<std::size_t>(table.size[at]);
    auto const* const index_bytes = static_cast<std::byte const*>(io.in[1]);
    auto const wanted = numbers_in({index_bytes, bytes_of(its.inputs[1])}, indices.element);
    if (io.out_bytes != outer * wanted.size() * row) return false;
    auto* to = static_cast<std::byte*>(io.out);
    for (std::size_t o = 0; o != outer; ++o)
        for (double listed : wanted) {
            double const k = listed < 0 ? listed + static_cast<double>(rows) : listed;
            if (k < 0 || k >= static_cast<double>(rows)) return false;
            std::size_t const from = (o * rows + static_cast<std::size_t>(k)) * row;
            if (row != 0) std::memcpy(to, static_cast<std::byte const*>(io.in[0]) + from, row);
            to += row;
        }
    return true;
}

[[noreturn]] void refuse(plan_model::operation const& its)
{
    throw std::runtime_error(its.label + " has no result of the planned type and shape");
}

} // namespace

bool is_evaluated(layered_network const& all, plan_model::operation const& operation)
{
    auto fits = [&](sublet::value_id v) {
        if (v == sublet::no_value) return true;
        std::size_t const width = width_of(all.types[v].element);
        return width != 0 && all.net.values[v].bytes / width <= plan_model::most_known_elements;
    };
    bool const is_table = copies_rows(all, operation);
    return plan_model::has_rule(operation.type) &&
           std::all_of(operation.inputs.begin() + (is_table ? 1 : 0), operation.inputs.end(), fits) &&
           (is_table || std::all_of(operation.outputs.begin(), operation.outputs.end(), fits));
}

void evaluate(layered_network const& all, std::size_t operation, operands const& io)
{
    auto const& node = all.model->graph().node(static_cast<int>(operation));
    auto const& its = all.net.operations[operation];
    if (copies_rows(all, its)) {
        auto const* const axis = plan_model::attribute(node, "axis");
        return gather(all, its, axis == nullptr ? 0 : axis->i(), io) ? void() : refuse(its);
    }
    std::vector<plan_model::known_tensor> known;
    std::vector<onnx::TypeProto> types;
    known.reserve(its.inputs.size());
    types.reserve(its.inputs.size());
    std::vector<plan_model::known_tensor const*> elements;
    std::vector<onnx::TypeProto const*> its_types;
    std::size_t at = 0;
    for (auto v : its.inputs) {
        if (v == sublet::no_value) {
            elements.push_back(nullptr);
            its_types.push_back(nullptr);
            continue;
        }
        tensor_type const& type = all.types[v];
        onnx::TensorProto stored;
        stored.set_data_type(type.element);
        onnx::TypeProto& declared = types.emplace_back();
        declared.mutable_tensor_type()->set_elem_type(type.element);
        declared.mutable_tensor_type()->mutable_shape();
        for (auto n : type.size) {
            stored.add_dims(n);
            declared.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(n);
        }
        auto const bytes = static_cast<std::size_t>(all.net.values[v].bytes);
        if (bytes != 0) stored.set_raw_data(io.in[at], bytes);
        ++at;
        auto found = plan_model::elements_of(stored);
        if (!found) throw std::runtime_error(its.label + " has an operand of too many elements");
        elements.push_back(&known.emplace_back(std::move(*found)));
        its_types.push_back(&declared);
    }
    auto const results = plan_model::evaluate(node, all.opset, elements, its_types);
    std::size_t out = 0;
    for (std::size_t i = 0; i != its.outputs.size(); ++i) {
        sublet::value_id const v = its.outputs[i];
        if (v == sublet::no_value) continue;
        tensor_type const& type = all.types[v];
        if (!results[i] || results[i]->element != type.element ||
            !std::equal(type.size.begin(), type.size.end(), results[i]->size.begin(), results[i]->size.end()))
            refuse(its);
        std::string const raw = plan_model::as_tensor(*results[i]).raw_data();
        if (!raw.empty()) std::memcpy(io.outs[out], raw.data(), raw.size());
        ++out;
    }
}

} // namespace run_network
