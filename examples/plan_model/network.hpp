// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_NETWORK_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_NETWORK_HPP

/// A neural network as this program sees it, and how it joins the library: as_program and as_options are
/// all the glue there is.

#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace plan_model {

/// What is wrong with something the user gave, in one sentence.
struct input_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct operation {
    std::string label; ///< for people: "node 7 (Conv)"
    std::string type;  ///< "Conv"
    std::vector<sublet::value_id> inputs;
    std::vector<sublet::value_id> outputs;      ///< `no_value`: an optional result that is not there
    std::vector<sublet::value_id> mutated;      ///< of the inputs: written as well
    std::vector<sublet::value_id> overwritable; ///< of the inputs: the first output may be written over them
    sublet::byte_count flops = 0;               ///< 0: the file does not say
};

struct network_value {
    std::string name;
    sublet::byte_count bytes = sublet::no_size;
    sublet::value_role role = sublet::value_role::intermediate;
    sublet::value_id alias_of = sublet::no_value;
    sublet::node_id producer = sublet::no_node; ///< none: a graph input or an initializer
    sublet::affine_bytes of_any_batch = sublet::affine_bytes::unknown(); ///< its bytes, or a bound for them
};

/// What the declarations of a value say together.
struct value_type {
    enum kind : std::uint8_t { unknown, tensor, other } what = unknown;
    int element = 0;                ///< of a tensor, as ONNX numbers them; 0: not said
    bool has_rank = false;          ///< of a tensor: the number of its dimensions is said
    std::vector<std::int64_t> size; ///< its dimensions; -1: left open
};

struct network {
    std::vector<operation> operations;
    std::vector<network_value> values; ///< graph inputs and initializers first, then results in node order
    std::vector<value_type> types;     ///< by value
    std::size_t results = 0;           ///< how many values operations produce
    sublet::byte_count batch = 1;      ///< that the sizes are for
    std::vector<std::string> remarks;  ///< what a plan of this network leaves out
};

inline sublet::snapshot as_program(network const& net)
{
    return sublet::sequence(net.operations.size(), net.values.size(),
                            [&](auto op, sublet::effect_sink& step) {
                                operation const& node = net.operations[op];
                                for (auto v : node.inputs) step.use(v);
                                for (auto v : node.outputs) step.def(v);
                                for (auto v : node.mutated) step.def(v);
                                for (auto v : node.overwritable) step.may_overwrite(v, node.outputs.front());
                            });
}

/// The options refer to the network.
inline sublet::plan_options as_options(network const& net)
{
    return {.bytes = [&net](auto v) { return net.values[v].bytes; },
            .role = [&net](auto v) { return net.values[v].role; },
            .alias_of = [&net](auto v) { return net.values[v].alias_of; }};
}

/// What is asked of a plan.
struct plan_settings {
    sublet::byte_count alignment = 1;
    bool in_place = true;
    std::vector<sublet::node_id> order = {};
    bool concurrent = false, slots = false, handoffs = false;
    std::size_t workers = 0;
};

/// The options refer to the network.
inline sublet::plan_options as_options(network const& net, plan_settings const& settings)
{
    sublet::plan_options options = as_options(net);
    options.alignment = settings.alignment;
    options.in_place = settings.in_place;
    options.order = settings.order;
    return options;
}

/// For any batch up to a largest one.
inline sublet::symbolic_options as_symbolic_options(network const& net, sublet::byte_count max_batch)
{
    return {.bytes = [&net](auto v) { return net.values[v].of_any_batch; },
            .max_batch = max_batch,
            .role = [&net](auto v) { return net.values[v].role; },
            .alias_of = [&net](auto v) { return net.values[v].alias_of; }};
}

/// A name from a file, fit for a message of one line.
inline std::string quoted(std::string name)
{
    for (char& c : name)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
    return std::string("'") + name + "'";
}

} // namespace plan_model

#endif
