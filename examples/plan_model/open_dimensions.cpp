// SPDX-License-Identifier: BSL-1.0

// Sets dimensions in the declarations of the main graph. A dimension with a name is one size under this name;
// one without a name is known by its input and axis.

#include "open_dimensions.hpp"

#include "known_elements.hpp"
#include "network.hpp"
#include "standard_operators.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace plan_model {
namespace {

using dimension = onnx::TensorShapeProto::Dimension;

/// The dimensions that a declaration lists; none if it is no tensor, or has no shape.
google::protobuf::RepeatedPtrField<dimension>* dimensions_of(onnx::ValueInfoProto& declared)
{
    if (!declared.type().has_tensor_type() || !declared.type().tensor_type().has_shape()) return nullptr;
    return declared.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
}

/// A name from a file as it is, without line breaks.
std::string shown(std::string const& name)
{
    std::string const text = quoted(name);
    return text.substr(1, text.size() - 2);
}

/// The graph and those inside of its nodes.
std::vector<onnx::GraphProto*> all_graphs(onnx::GraphProto& graph)
{
    std::vector<onnx::GraphProto*> graphs{&graph};
    for (std::size_t i = 0; i != graphs.size(); ++i) // grows during the loop
        for (auto& node : *graphs[i]->mutable_node())
            for (auto& a : *node.mutable_attribute()) {
                if (a.has_g()) graphs.push_back(a.mutable_g());
                for (auto& inner : *a.mutable_graphs()) graphs.push_back(&inner);
            }
    return graphs;
}

/// A target of a Reshape that says all sizes, the first of which is `size`: -1 takes its place.
bool loosen(std::vector<std::int64_t>& target, std::int64_t size)
{
    if (target.empty() || target.front() != size ||
        std::any_of(target.begin(), target.end(), [](std::int64_t d) { return d <= 0; }))
        return false;
    target.front() = -1;
    return true;
}

/// Does so with constant targets that nothing but Reshape reads, and returns how many of these nodes there
/// are.
std::size_t loosen_targets(onnx::ModelProto& model, std::int64_t size)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    standard_operators const standard(model);
    std::map<std::string_view, std::size_t> reshapes; // by the name of the target
    std::unordered_set<std::string_view> others;      // names that are read otherwise
    std::size_t found = 0;
    for (auto const& v : graph.output()) others.insert(v.name());
    for (onnx::GraphProto* const g : all_graphs(graph))
        for (auto& node : *g->mutable_node()) {
            bool const is_reshape = g == &graph && standard.contains(node) && node.op_type() == "Reshape";
            for (int i = 0; i != node.input_size(); ++i)
                if (is_reshape && i == 1) ++reshapes[node.input(1)];
                else others.insert(node.input(i));
            for (auto& a : *node.mutable_attribute())
                if (is_reshape && a.name() == "shape") { // before version 5
                    std::vector<std::int64_t> target(a.ints().begin(), a.ints().end());
                    if (loosen(target, size)) a.set_ints(0, -1), ++found;
                }
        }
    auto loosen_stored = [&](std::string const& name, onnx::TensorProto& stored) {
        auto const readers = reshapes.find(name);
        if (readers == reshapes.end() || others.count(name) != 0) return;
        auto known = elements_of(stored);
        if (!known || !loosen(known->whole, size)) return;
        std::string const kept = stored.name();
        stored = as_tensor(*known);
        stored.set_name(kept);
        found += readers->second;
    };
    for (auto& t : *graph.mutable_initializer()) loosen_stored(t.name(), t);
    for (auto& node : *graph.mutable_node())
        if (standard.constant_of(node) != nullptr)
            for (auto& a : *node.mutable_attribute())
                if (a.name() == "value") loosen_stored(node.output(0), *a.mutable_t());
    return found;
}

class dimension_setter {
public:
    dimension_setter(std::string const& file, onnx::ModelProto& model)
        : file_(file), model_(model), graph_(*model.mutable_graph())
    {
        onnx::GraphProto const& graph = graph_;
        for (auto const& t : graph.initializer()) stored_.insert(t.name());
        for (auto const& t : graph.sparse_initializer()) stored_.insert(t.values().name());
    }

    set_dimensions set(std::vector<given_dimension> const& all)
    {
        drop_names_of_none();
        set_dimensions done;
        for (given_dimension const& given : all)
            if (given.is_of_range) open_declared(given.where, done);
        find_open();
        for (given_dimension const& given : all) set_given(given);
        done.is_any_set = !all.empty();
        find_open();
        if (open_.size() == 1 && open_.front().is_first_axis) {
            done.assumed = file_ + ": dimension " + open_.front().text +
                           " is taken for a batch of 1 (--dim " + shown(open_.front().option) +
                           "=N for another size)";
            set_one(open_.front(), 1);
            done.is_any_set = true;
            return done;
        }
        for (open_dimension const& d : open_) done.open.push_back(d.text);
        return done;
    }

private:
    struct open_dimension {
        std::string name; ///< empty: it has none
        int input = 0;    ///< the first input that has it
        int axis = 0;
        bool is_first_axis = true; ///< wherever it occurs in an input
        std::string text, option;  ///< for messages; what stands before the size
    };

    [[noreturn]] void refuse(std::string const& what) const { throw input_error(file_ + ": " + what); }

    template <class Visit>
    void each_declared(Visit visit)
    {
        for (auto* const list :
             {graph_.mutable_input(), graph_.mutable_output(), graph_.mutable_value_info()})
            for (auto& declared : *list)
                if (auto* const dims = dimensions_of(declared))
                    for (auto& d : *dims) visit(d);
    }

    /// Exporters write -1, or the same '?' for two sizes that have nothing in common.
    void drop_names_of_none()
    {
        each_declared([](dimension& d) {
            if (d.has_dim_value() ? d.dim_value() < 0 : d.dim_param() == "?") d.clear_value();
        });
    }

    void find_open()
    {
        open_.clear();
        std::map<std::string, std::size_t, std::less<>> by_name;
        for (int i = 0; i != graph_.input_size(); ++i) {
            auto& input = *graph_.mutable_input(i);
            auto const* const dims = dimensions_of(input);
            if (dims == nullptr || stored_.count(input.name()) != 0) continue;
            for (int axis = 0; axis != dims->size(); ++axis) {
                auto const& d = dims->Get(axis);
                if (d.has_dim_value()) continue;
                std::string const& name = d.dim_param();
                auto const known = name.empty() ? by_name.end() : by_name.find(name);
                if (known != by_name.end()) {
                    open_[known->second].is_first_axis &= axis == 0;
                    continue;
                }
                if (!name.empty()) by_name.emplace(name, open_.size());
                std::string const at = "axis " + std::to_string(axis) + " of input " + quoted(input.name());
                open_.push_back({name, i, axis, axis == 0, name.empty() ? at : quoted(name) + " (" + at + ')',
                                 name.empty() ? input.name() + ':' + std::to_string(axis) : name});
            }
        }
    }

    /// A size that was set before stays: a second one must be equal.
    void set_given(given_dimension const& given)
    {
        auto const before = given_.find(given.where);
        if (before != given_.end() && before->second != given.size)
            refuse("dimension " + quoted(given.where) + " is given as " + std::to_string(before->second) +
                   " and as " + std::to_string(given.size));
        given_.emplace(given.where, given.size);
        bool found = false;
        each_declared([&](dimension const& d) {
            found = found || (!given.where.empty() && !d.has_dim_value() && d.dim_param() == given.where);
        });
        if (found) return set_name(given.where, given.size);
        if (before != given_.end()) return;
        set_axis(given);
    }

    /// The name in INPUT:AXIS, empty if it is none, and the axis.
    static std::pair<std::string, int> input_and_axis(std::string const& where)
    {
        auto const colon = where.rfind(':');
        std::string_view const digits =
            colon == std::string::npos ? std::string_view{} : std::string_view(where).substr(colon + 1);
        int axis = -1;
        auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), axis);
        bool const is_axis = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
        return {where.substr(0, is_axis ? colon : 0), axis};
    }

    auto find_input(std::string const& name)
    {
        return std::find_if(graph_.mutable_input()->begin(), graph_.mutable_input()->end(),
                            [&](auto const& v) { return !name.empty() && v.name() == name; });
    }

    /// Opens the dimension if the file declares it with a number, and with it what is declared of results.
    void open_declared(std::string const& where, set_dimensions& done)
    {
        auto const [name, axis] = input_and_axis(where);
        auto const input = find_input(name);
        if (input == graph_.mutable_input()->end()) return;
        auto* const dims = dimensions_of(*input);
        if (dims == nullptr || axis < 0 || axis >= dims->size() || !dims->Get(axis).has_dim_value()) return;
        std::string const text = "axis " + std::to_string(axis) + " of input " + quoted(name);
        if (stored_.count(name) != 0)
            refuse(text + " is open in no run: the file stores the elements of the input");
        std::int64_t const declared = dims->Get(axis).dim_value();
        dims->Mutable(axis)->clear_value();
        open_results(name, done.opened);
        if (axis != 0) return;
        if (std::size_t const targets = loosen_targets(model_, declared); targets != 0)
            done.loosened.push_back(
                file_ + ": " + text + " is declared as " + std::to_string(declared) + ", and " +
                std::to_string(targets) + (targets == 1 ? " Reshape is" : " nodes Reshape are") +
                " for this size alone: the first dimension of what they make is taken to follow");
    }

    /// Declared sizes of results, also in graphs inside, may be those of one size of an input.
    void open_results(std::string const& input, std::unordered_set<std::string>& opened)
    {
        std::unordered_set<std::string_view> given(stored_.begin(), stored_.end());
        for (auto const& v : graph_.input())
            if (v.name() != input) given.insert(v.name());
        for (onnx::GraphProto* const g : all_graphs(graph_)) {
            for (auto* const list : {g->mutable_output(), g->mutable_value_info(), g->mutable_input()})
                for (auto& declared : *list)
                    if (auto* const dims = dimensions_of(declared);
                        dims != nullptr &&
                        (g != &graph_ || (list != g->mutable_input() && given.count(declared.name()) == 0))) {
                        bool const is_full = std::all_of(
                            dims->begin(), dims->end(), [](dimension const& d) { return d.has_dim_value(); });
                        if (g == &graph_ && is_full) opened.insert(declared.name());
                        for (auto& d : *dims)
                            if (d.has_dim_value()) d.clear_value();
                    }
        }
    }

    void set_axis(given_dimension const& given)
    {
        auto const [name, axis] = input_and_axis(given.where);
        auto const input = find_input(name);
        if (input == graph_.mutable_input()->end())
            refuse("no dimension is named " + quoted(given.where) + what_is_open());
        auto* const dims = dimensions_of(*input);
        if (dims == nullptr)
            refuse("input " + quoted(name) + " has no shape of which a dimension could be given");
        if (axis < 0 || axis >= dims->size())
            refuse("input " + quoted(name) + " has no axis " + std::to_string(axis) + ", but " +
                   std::to_string(dims->size()) + " dimensions");
        dimension& d = *dims->Mutable(axis);
        if (d.has_dim_value() && d.dim_value() != given.size)
            refuse("axis " + std::to_string(axis) + " of input " + quoted(name) + " has size " +
                   std::to_string(d.dim_value()) + ", and is given as " + std::to_string(given.size));
        std::string const symbol = d.dim_param();
        if (symbol.empty()) d.set_dim_value(given.size);
        else set_name(symbol, given.size);
    }

    std::string what_is_open() const
    {
        if (open_.empty()) return ", and none is open";
        std::string text = "; open ";
        text += open_.size() == 1 ? "is " : "are ";
        for (std::size_t i = 0; i != open_.size(); ++i)
            text += (i == 0 ? "" : i + 1 == open_.size() ? " and " : ", ") + open_[i].text;
        return text;
    }

    void set_one(open_dimension const& open, std::int64_t size)
    {
        if (!open.name.empty()) return set_name(open.name, size);
        auto* const dims = dimensions_of(*graph_.mutable_input(open.input));
        dims->Mutable(open.axis)->set_dim_value(size);
    }

    void set_name(std::string const name, std::int64_t size)
    {
        each_declared([&](dimension& d) {
            if (!d.has_dim_value() && d.dim_param() == name) d.set_dim_value(size);
        });
    }

    std::string const& file_;
    onnx::ModelProto& model_;
    onnx::GraphProto& graph_;
    std::unordered_set<std::string> stored_; // initializers, which give an input its shape
    std::vector<open_dimension> open_;
    std::map<std::string, std::int64_t, std::less<>> given_;
};

} // namespace

set_dimensions set_open_dimensions(std::string const& file, onnx::ModelProto& model,
                                   std::vector<given_dimension> const& given)
{
    return dimension_setter(file, model).set(given);
}

} // namespace plan_model
