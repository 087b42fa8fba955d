// SPDX-License-Identifier: BSL-1.0

// Follows the batch from the inputs of a network through its operators. Of each value two facts are kept:
// where its shape grows with the batch (`place`), and whether its elements depend on the batch (`source`), as
// the elements of Shape do. An operand that determines a size, as the second one of Expand, must not be one
// of which the elements depend on the batch: then the size may be any function of it.

#include "follow_batch.hpp"

#include "batch_places.hpp"
#include "standard_operators.hpp"

#include <sublet/core/units.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace plan_model {
namespace {

using sublet::byte_count;
using sublet::value_id;

/// Why the elements of a value depend on the batch.
struct source {
    enum kind : std::uint8_t {
        none,
        elements, ///< they are computed from an input that grows
        shape     ///< they are computed from the shape of a value that grows
    } what = none;
    value_id from = sublet::no_value; ///< what they are computed from; none: the value is a graph input
    bool begins = false;              ///< it is the shape of `from`
};

class batch_follower {
public:
    batch_follower(std::string const& file, onnx::ModelProto const& model, network& net)
        : file_(file), model_(model), graph_(model.graph()), net_(net), standard_(model),
          constants_(graph_, standard_), places_{1, std::vector<place>(net.values.size(), nowhere)},
          sources_(net.values.size())
    {
        for (value_id v = 0; v != net.values.size(); ++v) ids_.emplace(net.values[v].name, v);
    }

    void follow()
    {
        try {
            find_batch();
            for (int n = 0; n != graph_.node_size(); ++n) follow_node(n);
        } catch (not_followed const& reason) {
            net_.not_for_any_batch =
                file_ + ": " + reason.why + ": --symbolic plans sizes that are linear in the batch";
            return;
        }
        for (value_id v = 0; v != net_.values.size(); ++v) size_value(v);
    }

private:
    // --- the batch of the inputs ------------------------------------------------------------------------

    std::string metadata(std::string_view key) const
    {
        for (auto const& entry : model_.metadata_props())
            if (entry.key() == key) return entry.value();
        return {};
    }

    std::string name_of(value_id v) const { return quoted(net_.values[v].name); }

    /// Marks the inputs that grow.
    void find_batch()
    {
        std::istringstream weights(metadata("parameters"));
        std::unordered_set<std::string> given;
        for (std::string name; std::getline(weights, name);) given.insert(name);
        for (auto const& t : graph_.initializer()) given.insert(t.name());
        for (auto const& t : graph_.sparse_initializer()) given.insert(t.values().name());
        std::vector<value_id> inputs;
        for (auto const& v : graph_.input())
            if (given.count(v.name()) == 0) inputs.push_back(ids_.at(v.name()));
        places_.batch = std::max<std::int64_t>(std::atoll(metadata("batch").c_str()), 0);
        if (places_.batch != 0) find_stated_batch(inputs);
        else find_first_dimension(inputs);

        value_id one = sublet::no_value; // the first input in which a dimension of 1 is the batch
        for (value_id v : inputs) {
            if (places_.of[v] == nowhere) continue;
            sources_[v].what = source::elements;
            if (places_.batch != 1 || places_.of[v] == somewhere) continue;
            if (one != sublet::no_value) // it may as well be broadcast
                throw not_followed{"inputs " + name_of(one) + " and " + name_of(v) +
                                   " have a dimension of 1, and whether both are the batch cannot be told "
                                   "(it can in a model of a larger batch)"};
            one = v;
        }
    }

    /// The batch is the dimension of the stated size.
    void find_stated_batch(std::vector<value_id> const& inputs)
    {
        for (value_id v : inputs) {
            value_type const& type = net_.types[v];
            bool const is_known = type.what == value_type::tensor && type.has_rank &&
                                  std::count(type.size.begin(), type.size.end(), -1) == 0;
            auto const found = std::find(type.size.begin(), type.size.end(), places_.batch);
            if (!is_known) places_.of[v] = somewhere;
            else if (found != type.size.end()) places_.of[v] = found - type.size.begin();
            if (is_known && std::count(type.size.begin(), type.size.end(), places_.batch) > 1)
                throw not_followed{"which dimension of input " + name_of(v) + " is the batch, of size " +
                                   std::to_string(places_.batch) + ", cannot be told"};
        }
    }

    /// The batch is the first dimension of the first input. Another input has that first dimension, too, or
    /// one of 1, which is none but in a batch of 1.
    void find_first_dimension(std::vector<value_id> const& inputs)
    {
        value_id first = sublet::no_value;
        for (value_id v : inputs) {
            value_type const& type = net_.types[v];
            if (type.what == value_type::tensor && type.has_rank && type.size.empty()) continue;
            std::int64_t const size = type.has_rank ? type.size.front() : -1;
            if (size <= 0)
                throw not_followed{"the batch, the first dimension of input " + name_of(v) +
                                   ", is no number from 1 on"};
            if (first == sublet::no_value) first = v, places_.batch = size;
            if (size == places_.batch) places_.of[v] = 0;
            else if (size != 1)
                throw not_followed{"input " + name_of(first) + " begins with a dimension of " +
                                   std::to_string(places_.batch) + " and input " + name_of(v) +
                                   " with one of " + std::to_string(size) +
                                   ", and which is the batch cannot be told"};
        }
        if (first == sublet::no_value) places_.batch = 1;
    }

    // --- nodes ------------------------------------------------------------------------------------------

    void follow_node(int n)
    {
        auto const& node = graph_.node(n);
        operation const& op = net_.operations[static_cast<std::size_t>(n)];
        node_context const at{standard_, constants_, net_, node, op};
        bool const is_standard = standard_.contains(node) && !holds_graphs(node);
        auto const first =
            std::find_if(op.outputs.begin(), op.outputs.end(), [](auto v) { return v != sublet::no_value; });
        if (first == op.outputs.end()) return;

        source made;
        bool grows = false;
        for (std::size_t i = 0; i != op.inputs.size(); ++i) {
            value_id const v = op.inputs[i];
            if (v == sublet::no_value) continue;
            source::kind const what = sources_[v].what;
            sizing const by = is_standard ? sizing_by(op.type, i) : sizing::unknown;
            // An operator of which nothing is known may size its result by a number computed from a shape.
            if (by == sizing::yes ? what != source::none : by == sizing::unknown && what == source::shape)
                refuse_size(*first, v);
            if (what > made.what) made = {what, v, false};
            grows = grows || places_.depends(v);
        }
        if (is_standard && (op.type == "Shape" || op.type == "Size")) {
            if (!op.inputs.empty() && places_.depends(op.inputs.front()))
                sources_[*first] = {source::shape, op.inputs.front(), true};
            return;
        }
        for (value_id v : op.outputs)
            if (v != sublet::no_value) sources_[v] = made;
        if (is_standard && is_reshape(op.type)) {
            bool const has_target = op.inputs.size() > 1 && op.inputs[1] != sublet::no_value;
            place_reshape(at, places_, has_target && sources_[op.inputs[1]].what != source::none);
        } else if (grows) {
            if (!is_standard)
                refuse_node(at, places_,
                            holds_graphs(node) ? "it contains graphs" : "it is no standard operator");
            place_results(at, places_);
        }
    }

    /// `v` determines the size of `result`.
    [[noreturn]] void refuse_size(value_id result, value_id v) const
    {
        bool const by_shape = sources_[v].what == source::shape;
        std::vector<std::string> way{step_of(result)};
        value_id from = v;
        for (bool ends = false; !ends && sources_[from].from != sublet::no_value;
             from = sources_[from].from) {
            way.push_back(step_of(from));
            ends = by_shape && sources_[from].begins;
        }
        std::reverse(way.begin(), way.end());
        constexpr std::size_t most = 8; // more are left out in the middle
        if (way.size() > most) {
            way[most / 2] = "...";
            way.erase(way.begin() + most / 2 + 1, way.end() - most / 2);
        }
        std::string text = way.front();
        for (std::size_t i = 1; i != way.size(); ++i) text += " -> " + way[i];
        throw not_followed{"the size of " + name_of(result) + " depends on the " +
                           (by_shape ? "shape" : "elements") + " of " + name_of(from) + " by " + text};
    }

    /// For messages: the operator that makes the value, under its own name or that of its first result.
    std::string step_of(value_id v) const
    {
        auto const& node = graph_.node(static_cast<int>(net_.values[v].producer));
        std::string const type = quoted(node.op_type());
        return type.substr(1, type.size() - 2) + ' ' +
               quoted(node.name().empty() ? node.output(0) : node.name());
    }

    // --- sizes ------------------------------------------------------------------------------------------

    void size_value(value_id v) const
    {
        network_value& value = net_.values[v];
        if (value.bytes == sublet::no_size) return;
        auto const batch = static_cast<byte_count>(places_.batch);
        if (value.alias_of != sublet::no_value) value.of_any_batch = net_.values[value.alias_of].of_any_batch;
        else if (places_.of[v] == nowhere || places_.of[v] == moved) value.of_any_batch = {value.bytes, 0};
        else
            value.of_any_batch = {0, value.bytes / batch + (value.bytes % batch != 0)}; // of less than a byte
    }

    std::string const& file_;
    onnx::ModelProto const& model_;
    onnx::GraphProto const& graph_;
    network& net_;
    standard_operators standard_;
    constant_numbers constants_;
    std::unordered_map<std::string_view, value_id> ids_;
    batch_places places_;
    std::vector<source> sources_; // by value
};

} // namespace

void follow_batch(std::string const& file, onnx::ModelProto const& model, network& net)
{
    batch_follower(file, model, net).follow();
}

} // namespace plan_model
