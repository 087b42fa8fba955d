// SPDX-License-Identifier: BSL-1.0

#include "given_data.hpp"

#include "../plan_model/known_numbers.hpp"
#include "../plan_model/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace run_network {
namespace {

std::vector<onnx::TensorProto> tensors_of(std::string const& folder, std::string const& kind)
{
    std::vector<onnx::TensorProto> all;
    for (;;) {
        auto const file = std::filesystem::path(folder) / (kind + '_' + std::to_string(all.size()) + ".pb");
        if (!std::filesystem::exists(file)) return all;
        if (!all.emplace_back().ParseFromString(plan_model::contents_of(file.string())))
            throw plan_model::input_error(file.string() + ": is no tensor");
    }
}

double distance(double x, double should)
{
    if (x == should || (std::isnan(x) && std::isnan(should))) return 0;
    return std::isnan(x - should) ? HUGE_VAL : std::abs(x - should);
}

} // namespace

given_data read_data(std::string const& folder)
{
    given_data data{tensors_of(folder, "input"), tensors_of(folder, "output")};
    if (data.inputs.empty() && data.outputs.empty())
        throw plan_model::input_error(folder + ": has neither input_0.pb nor output_0.pb");
    return data;
}

void put_inputs(onnx::ModelProto& model, std::vector<onnx::TensorProto> const& inputs)
{
    auto& graph = *model.mutable_graph();
    if (static_cast<int>(inputs.size()) > graph.input_size())
        throw plan_model::input_error("there are " + std::to_string(inputs.size()) + " given inputs, and " +
                                      std::to_string(graph.input_size()) + " of the network");
    for (std::size_t i = 0; i != inputs.size(); ++i) {
        std::string const& name = graph.input(static_cast<int>(i)).name();
        auto& stored = *graph.mutable_initializer();
        auto const old =
            std::find_if(stored.begin(), stored.end(), [&](auto& t) { return t.name() == name; });
        int const element = graph.input(static_cast<int>(i)).type().tensor_type().elem_type();
        if (inputs[i].data_type() != element)
            throw plan_model::input_error("the given input " + std::to_string(i) + " is of type " +
                                          std::to_string(inputs[i].data_type()) +
                                          ", that of the network of " + std::to_string(element));
        onnx::TensorProto& now = old == stored.end() ? *stored.Add() : *old;
        now = inputs[i];
        now.set_name(name);
    }
    graph.mutable_input()->DeleteSubrange(0, static_cast<int>(inputs.size()));
}

std::string deviation_from(given_data const& data, layered_network const& all, results const& outputs)
{
    std::unordered_map<std::string, std::size_t> at;
    auto const values = outputs_of(all.net);
    for (std::size_t i = 0; i != values.size(); ++i) at.emplace(all.net.values[values[i]].name, i);
    for (std::size_t i = 0; i != data.outputs.size(); ++i) {
        onnx::TensorProto const& should = data.outputs[i];
        auto const& declared = all.model->graph().output();
        auto const found =
            static_cast<int>(i) < declared.size() ? at.find(declared[static_cast<int>(i)].name()) : at.end();
        std::string const about = "output " + std::to_string(i);
        if (found == at.end()) return about + " is none of the network";
        tensor_type const& type = all.types[values[found->second]];
        if (type.element != should.data_type())
            throw plan_model::input_error("the given " + about + " is of type " +
                                          std::to_string(should.data_type()) + ", that of the network of " +
                                          std::to_string(type.element));
        if (!std::equal(type.size.begin(), type.size.end(), should.dims().begin(), should.dims().end()))
            return about + " has another shape";
        std::vector<double> const expected = numbers_in(should), &got = outputs[found->second];
        double largest = 0;
        for (double x : expected) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
        bool const is_rounded = plan_model::known_rules::is_real(type.element);
        std::size_t worst = 0;
        double most = -1;
        for (std::size_t e = 0; e != std::min(expected.size(), got.size()); ++e)
            if (double const by = distance(got[e], expected[e]); by > most) most = by, worst = e;
        if (got.size() != expected.size()) return about + " has another number of elements";
        if (most <= (is_rounded ? largest * 1e-3 : 0)) continue;
        std::ostringstream text;
        text << about << " is " << got[worst] << " at element " << worst << ", not " << expected[worst]
             << ": it deviates by " << most / largest << " of the largest";
        return text.str();
    }
    return {};
}

} // namespace run_network
