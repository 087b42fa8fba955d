// SPDX-License-Identifier: BSL-1.0

#include "read_model.hpp"

#include "model_file.hpp"
#include "model_functions.hpp"
#include "read_tflite.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace plan_model {
namespace {

/// "open are 'height' (axis 2 of input 'image') and axis 3 of input 'image' (--dim ...)".
std::string sentence_of(std::vector<std::string> const& open)
{
    std::string text = open.size() == 1 ? "open is " : "open are ";
    for (std::size_t i = 0; i != open.size(); ++i)
        text += (i == 0 ? "" : i + 1 == open.size() ? " and " : ", ") + open[i];
    return text + " (--dim NAME=N or INPUT:AXIS=N gives a size)";
}

} // namespace

network read_model(std::string const& file, model_options const& how)
{
    std::string bytes = contents_of(file);
    if (is_tflite(bytes)) {
        if (!how.dimensions.empty() || !how.values.empty() || how.inlines_functions)
            throw input_error(file +
                              ": is a TensorFlow Lite file, which gives a size for each dimension: options "
                              "--dim, --value and --inline are about ONNX files");
        return read_tflite(file, bytes,
                           {.pairs = how.pairs, .views = how.has_views, .plans_inputs = how.is_micro});
    }
    if (how.is_micro)
        throw input_error(file + ": is no TensorFlow Lite file, and option --tflm is about these only");
    onnx::ModelProto model = parse_onnx(file, std::move(bytes));
    if (how.inlines_functions) inline_functions(file, model);
    set_dimensions const set = set_open_dimensions(file, model, how.dimensions);
    inferred_shapes const found = [&] {
        try {
            return infer_shapes(model, !set.is_any_set && how.values.empty(), how.values);
        } catch (input_error const& e) {
            throw input_error(file + ": " + e.what());
        }
    }();
    if (how.is_strict && !found.contradictions.empty())
        throw input_error(file + ": " + found.contradictions.front());
    network net =
        read_onnx(file, model,
                  {.pairs = how.pairs,
                   .unsized = how.is_strict ? unsized_results::refused_if_tensors : unsized_results::left_out,
                   .reads_bodies = true,
                   .why_open = &found.why_open,
                   .taken = &found.taken});

    std::vector<std::string> first;
    if (!set.assumed.empty()) first.push_back(set.assumed);
    auto const unknown = static_cast<std::size_t>(
        std::count_if(net.unsized.begin(), net.unsized.end(),
                      [](unsized_result const& left) { return !left.has_no_bytes; }));
    if (unknown != 0 && unknown == net.results) {
        std::string const why = set.open.empty()
                                    ? "the first, " + quoted(net.values[net.unsized.front().value].name) +
                                          ", " + net.unsized.front().why
                                    : sentence_of(set.open);
        throw input_error(file + ": no result has a known size: " + why);
    }
    if (unknown != 0 && !set.open.empty())
        first.push_back(file + ": " + std::to_string(unknown) + " of " + std::to_string(net.results) +
                        " results have no known size: " + sentence_of(set.open));
    for (std::string const& contradiction : found.contradictions)
        first.push_back(file + ": " + contradiction);
    net.remarks.insert(net.remarks.begin(), first.begin(), first.end());
    return net;
}

} // namespace plan_model
