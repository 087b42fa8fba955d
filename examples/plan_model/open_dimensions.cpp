// SPDX-License-Identifier: BSL-1.0

// Sets dimensions in the declarations of the main graph. A dimension with a name is one size under this name;
// one without a name is known by its input and axis.

#include "open_dimensions.hpp"

#include "network.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_set>

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

class dimension_setter {
public:
    dimension_setter(std::string const& file, onnx::GraphProto& graph) : file_(file), graph_(graph)
    {
        for (auto const& t : graph.initializer()) stored_.insert(t.name());
        for (auto const& t : graph.sparse_initializer()) stored_.insert(t.values().name());
    }

    set_dimensions set(std::vector<given_dimension> const& all)
    {
        drop_names_of_none();
        find_open();
        set_dimensions done;
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

    void set_axis(given_dimension const& given)
    {
        auto const colon = given.where.rfind(':');
        std::string_view const digits =
            colon == std::string::npos ? std::string_view{} : std::string_view(given.where).substr(colon + 1);
        int axis = -1;
        auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), axis);
        bool const is_axis = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
        std::string const name = given.where.substr(0, is_axis ? colon : 0);
        auto const input = std::find_if(graph_.mutable_input()->begin(), graph_.mutable_input()->end(),
                                        [&](auto const& v) { return is_axis && v.name() == name; });
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
    onnx::GraphProto& graph_;
    std::unordered_set<std::string> stored_; // initializers, which give an input its shape
    std::vector<open_dimension> open_;
    std::map<std::string, std::int64_t, std::less<>> given_;
};

} // namespace

set_dimensions set_open_dimensions(std::string const& file, onnx::ModelProto& model,
                                   std::vector<given_dimension> const& given)
{
    return dimension_setter(file, *model.mutable_graph()).set(given);
}

} // namespace plan_model
