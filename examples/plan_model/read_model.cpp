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

/// A result that is left out: what is said of it.
struct left_out_result {
    std::string sentence, name;
    bool is_derived; ///< so is an operand of its operation
};

void list_left_out(network const& net, std::vector<left_out_result>& all)
{
    if (net.unsized.empty()) return;
    std::vector<bool> is_open(net.values.size());
    for (sublet::value_id v = 0; v != net.values.size(); ++v) is_open[+v] = net.values[v].bytes == sublet::no_size;
    for (unsized_result const& left : net.unsized) is_open[+left.value] = true;
    std::vector<std::string> readers(net.values.size());
    for (operation const& op : net.operations)
        for (auto const v : op.inputs)
            if (v != sublet::no_value && is_open[+v] && !readers[+v].ends_with(op.label))
                readers[+v] += (readers[+v].empty() ? ", read by " : ", ") + op.label;
    for (unsized_result const& left : net.unsized) {
        network_value const& value = net.values[left.value];
        operation const& by = net.operations[value.producer];
        all.push_back({"value " + quoted(value.name) + " is not planned: it " + left.why + " (made by " + by.label +
                           readers[+left.value] + ')',
                       quoted(value.name),
                       std::any_of(by.inputs.begin(), by.inputs.end(),
                                   [&](auto v) { return v != sublet::no_value && is_open[+v]; })});
    }
}

/// What the plan of the network and of the graphs inside leaves out. Results from which the unknown sizes
/// come are named first, each with its readers.
void add_remarks(std::string const& file, network& net)
{
    constexpr std::size_t most_sentences = 8, most_names = 100;
    std::vector<left_out_result> all;
    std::size_t choices = 0;
    std::string first_choice;
    std::vector<network const*> open{&net};
    for (std::size_t i = 0; i != open.size(); ++i) { // grows during the loop
        list_left_out(*open[i], all);
        for (operation const& op : open[i]->operations) {
            for (network_body const& body : op.bodies) open.push_back(&body.program);
            if (op.type != "If" || op.bodies.size() != 1) continue;
            if (choices++ == 0) first_choice = op.label;
        }
    }
    auto remark = [&](std::string const& what) { net.remarks.push_back(file + ": " + what); };
    if (choices != 0)
        remark("the condition of " + std::to_string(choices) + " nodes If is known, first " + first_choice +
               ": the branch that never runs is not planned");
    std::vector<left_out_result const*> by_cause;
    for (bool const is_derived : {false, true})
        for (left_out_result const& left : all)
            if (left.is_derived == is_derived) by_cause.push_back(&left);
    std::string others;
    for (std::size_t i = 0; i != all.size(); ++i) {
        if (i < most_sentences) remark(by_cause[i]->sentence);
        else if (i - most_sentences < most_names) others += (others.empty() ? "" : ", ") + by_cause[i]->name;
    }
    if (all.size() <= most_sentences) return;
    std::size_t const more = all.size() - most_sentences;
    remark(std::to_string(more) + " more results are not planned: " + others +
           (more > most_names ? " ... (--values lists all)" : ""));
}

/// The network of a model, which declares more afterwards.
network read_parsed(std::string const& file, onnx::ModelProto& model, model_options const& how)
{
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
    auto const open = found.why_open.find(&model.graph());
    if (!set.open.empty() && open != found.why_open.end() && !open->second.empty())
        throw input_error(
            file + ": " + std::to_string(open->second.size()) +
            (open->second.size() == 1 ? " result has no known size: " : " results have no known size: ") +
            sentence_of(set.open));
    network net =
        read_onnx(file, model,
                  {.pairs = how.pairs,
                   .unsized = how.is_strict ? unsized_results::refused_if_tensors : unsized_results::left_out,
                   .reads_bodies = true,
                   .constants_are_weights = true,
                   .why_open = &found.why_open,
                   .taken = &found.taken});
    if (net.results != 0 && net.unsized.size() == net.results && !net.unsized.front().has_no_bytes)
        throw input_error(file + ": no result has a known size: the first, " +
                          quoted(net.values[net.unsized.front().value].name) + ", " + net.unsized.front().why);

    for (unsized_result const& left : net.unsized)
        if (std::string const& name = net.values[left.value].name;
            set.opened.count(name) != 0 && !left.has_no_bytes)
            throw input_error(
                file + ": value " + quoted(name) +
                " is declared for one size alone of a dimension with a range, and for others it " + left.why);

    std::vector<std::string> const remarks = std::exchange(net.remarks, {});
    if (!set.assumed.empty()) net.remarks.push_back(set.assumed);
    for (std::string const& what : set.loosened) net.remarks.push_back(what);
    for (std::string const& contradiction : found.contradictions) net.remarks.push_back(file + ": " + contradiction);
    net.remarks.insert(net.remarks.end(), remarks.begin(), remarks.end());
    add_remarks(file, net);
    return net;
}

onnx::ModelProto parse_with_functions(std::string const& file, std::string bytes, model_options const& how)
{
    if (how.is_micro)
        throw input_error(file + ": is no TensorFlow Lite file, and option --tflm is about these only");
    onnx::ModelProto model = parse_onnx(file, std::move(bytes));
    if (how.inlines_functions) inline_functions(file, model);
    return model;
}

/// Empties stored tensors of so many elements that nothing but their shape is read.
void drop_weights(onnx::ModelProto& model)
{
    constexpr double most_read = double{1} * (1 << 16);
    for (auto& t : *model.mutable_graph()->mutable_initializer()) {
        double elements = 1;
        for (auto const n : t.dims()) elements *= static_cast<double>(n);
        if (elements <= most_read) continue;
        onnx::TensorProto shape; // cleared fields would keep their memory
        shape.set_name(t.name());
        shape.set_data_type(t.data_type());
        *shape.mutable_dims() = t.dims();
        t.Swap(&shape);
    }
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
    onnx::ModelProto model = parse_with_functions(file, std::move(bytes), how);
    return read_parsed(file, model, how);
}

struct parsed_model::state {
    std::string file;
    model_options how;
    onnx::ModelProto model;
    bool is_light = false;
};

parsed_model::parsed_model(std::string const& file, model_options const& how)
{
    std::string bytes = contents_of(file);
    if (is_tflite(bytes))
        throw input_error(file +
                          ": is a TensorFlow Lite file, which gives a size for each dimension: options "
                          "--dim, --value and --inline are about ONNX files");
    state_ = std::make_unique<state>(state{file, how, parse_with_functions(file, std::move(bytes), how)});
}

parsed_model::parsed_model(parsed_model&&) noexcept = default;
parsed_model::~parsed_model() = default;

network parsed_model::read(std::vector<given_dimension> const& dimensions)
{
    model_options how = state_->how;
    how.dimensions.insert(how.dimensions.end(), dimensions.begin(), dimensions.end());
    onnx::ModelProto model = state_->model;
    network net = read_parsed(state_->file, model, how);
    if (!std::exchange(state_->is_light, true)) drop_weights(state_->model); // their lengths are checked now
    return net;
}

} // namespace plan_model
