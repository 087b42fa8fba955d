// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_NETWORK_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_NETWORK_HPP

/// The representation of a neural network in this program. as_program and as_options describe it to the
/// library; no other glue is needed.

#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace plan_model {

/// One sentence about an error in the user's input.
struct input_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct network_body;

struct operation {
    std::string label;                          ///< for messages: "node 7 (Conv)"
    std::string type;                           ///< "Conv"
    std::vector<sublet::value_id> inputs;       ///< operands, and what the graphs inside read
    std::vector<sublet::value_id> outputs;      ///< `no_value`: an absent optional result
    std::vector<sublet::value_id> mutated;      ///< inputs that are also written
    std::vector<sublet::value_id> overwritable; ///< inputs that the first output may overwrite
    sublet::byte_count flops = 0;               ///< 0: unknown
    bool may_recompute = false;       ///< it is known to be a function of its inputs, without other effects
    std::vector<network_body> bodies; ///< graphs inside that are planned; adjacent branches are one choice
    std::vector<sublet::value_id> read_before = {}; ///< operands that it reads before the bodies run
    bool is_border = false; ///< no node: it begins or ends an iteration of a body
    /// It is one of the inputs that it does not write: run again, it may leave the writes out.
    bool may_recompute_results = false;
    sublet::value_id scratch = sublet::no_value; ///< storage of its bodies, if it is planned as one step
};

struct network_value {
    std::string name;
    sublet::byte_count bytes = sublet::no_size;
    sublet::value_role role = sublet::value_role::intermediate;
    sublet::value_id alias_of = sublet::no_value;
    sublet::node_id producer = sublet::no_node; ///< none: a graph input or an initializer
    bool is_bound = false; ///< of a body: each iteration copies into it
};

/// The merged declarations of a value.
struct value_type {
    enum kind : std::uint8_t { unknown, tensor, other } what = unknown;
    int element = 0;                ///< of a tensor, ONNX's number; 0: unknown
    bool has_rank = false;          ///< of a tensor: its rank is known
    std::vector<std::int64_t> size; ///< dimensions of a tensor; -1: unknown
};

/// A result that a plan leaves out: to the plan it has 0 bytes.
struct unsized_result {
    sublet::value_id value;
    std::string why;           ///< "has no static shape"
    bool has_no_bytes = false; ///< it is no tensor, or its elements have no fixed size: no shape would help
};

struct network {
    std::vector<operation> operations;
    std::vector<network_value> values; ///< graph inputs and initializers first, then results in node order
    std::vector<value_type> types;     ///< by value
    std::vector<sublet::value_id> tensors; ///< by number in a TensorFlow Lite file; `no_value`: not used
    std::size_t results = 0;               ///< number of values that operations produce
    std::vector<std::string> remarks;      ///< parts of the network that the plan does not cover
    std::vector<unsized_result> unsized;   ///< ascending by value

    /// Of the operation that makes the value.
    std::string kind_of(sublet::value_id v) const
    {
        return values[v].producer == sublet::no_node ? "input" : operations[values[v].producer].type;
    }
    bool is_view(sublet::value_id v) const
    {
        return v != sublet::no_value && values[v].alias_of != sublet::no_value;
    }
};

/// A graph inside an operation: a branch of If, the body of Loop or Scan.
struct network_body {
    sublet::program_body::run_kind kind = sublet::program_body::run_kind::once;
    network program;
    std::vector<sublet::program_body::capture> captures; ///< values of the network around it
    std::vector<sublet::program_body::binding> bindings; ///< carried values, and results
};

/// What an operation without bodies does; of one with bodies, what all of them do together.
inline void add_effects(network const& net, operation const& op, sublet::effect_sink& step)
{
    for (auto v : op.inputs) step.use(v);
    for (auto v : op.outputs)
        if (net.is_view(v)) step.view(v);
        else step.def(v);
    if (op.scratch != sublet::no_value) step.allocate(op.scratch);
    for (auto v : op.mutated) step.write(v);
    for (auto v : op.overwritable) step.may_overwrite(v, op.outputs.front());
    step.may_recompute(op.may_recompute);
    step.may_recompute_results(op.may_recompute_results);
    step.only_views(); // a reshape reads its shape; writes are in `mutated`
}

/// The network alone: what lies inside an operation is part of it.
inline sublet::snapshot as_program(network const& net)
{
    return sublet::sequence(net.operations.size(), net.values.size(), [&](auto n, sublet::effect_sink& step) {
        add_effects(net, net.operations[n], step);
    });
}

/// The options refer to the network.
inline sublet::plan_options as_options(network const& net)
{
    return {.bytes = [&net](auto v) { return net.values[v].bytes; },
            .role = [&net](auto v) { return net.values[v].role; },
            .alias_of = [&net](auto v) { return net.values[v].alias_of; }};
}

/// The bytes of all planned values together, without views: of one allocation a value. If 64 bits cannot
/// count them, 2^64 - 2.
inline sublet::byte_count per_value_bytes(network const& net, sublet::memory_plan const& planned)
{
    sublet::byte_count sum = 0;
    for (std::size_t v = 0; v != planned.buffer_of.size(); ++v)
        if (planned.buffer_of[v] != sublet::no_buffer && net.values[v].alias_of == sublet::no_value)
            sum += std::min(net.values[v].bytes, sublet::no_size - 1 - sum);
    return sum;
}

/// The settings of a plan.
struct plan_settings {
    sublet::byte_count alignment = 1;
    bool in_place = true;
    std::vector<sublet::node_id> order = {};
    bool concurrent = false, slots = false, handoffs = false;
    std::size_t workers = 0;
};

/// A limit of the arena: a number of bytes, or of percent of those of the plan without limits.
struct memory_limit {
    sublet::byte_count number = 0;
    bool is_percent = false;

    sublet::byte_count bytes_of(sublet::byte_count whole) const
    {
        return is_percent ? whole / 100 * number + whole % 100 * number / 100 : number;
    }
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

/// A name from a file, without line breaks.
inline std::string quoted(std::string name)
{
    for (char& c : name)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
    return std::string("'") + name + "'";
}

/// ... without its middle, if it is too long to be repeated.
inline std::string quoted_in_short(std::string const& name)
{
    constexpr std::size_t most = 200, kept = 90;
    if (name.size() <= most) return quoted(name);
    return quoted(name.substr(0, kept) + "..." + name.substr(name.size() - kept));
}

} // namespace plan_model

#endif
