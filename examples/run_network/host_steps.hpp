// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_HOST_STEPS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_HOST_STEPS_HPP

/// The steps that run a layered network on the host: primitives of oneDNN, formulas, and rules.
///
///     Conv     x, w          reorder   x    ──► x'       in the layout that the convolution chooses
///              y             Conv      x', w' ──► y'     with scratch; w' was reordered before any run
///     Relu     y, z          Relu      y'   ──► z'       over y', in the layout that it has
///     Reshape  z, r          reorder   z'   ──► z        a view needs elements in order
///
/// A value of the network that a primitive makes in another layout has its plain form only if a layer needs
/// that. Reordered forms and scratch are values of the program like all others, so the plan places them.
///
/// A layer without a primitive, or with a slow one, is computed by its formula, and one without a formula by
/// plan_model's rules, which take 16 bytes for each element beside the planned memory.

#include "elements.hpp"
#include "layer.hpp"
#include "read_layers.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <dnnl.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace run_network {

/// How an operand or result is passed to a primitive.
struct primitive_argument {
    int number = 0; ///< DNNL_ARG_SRC
    dnnl::memory::desc layout;
    std::size_t first = 0; ///< byte
};

struct host_step {
    std::size_t operation = 0; ///< of the network
    bool is_reorder = false;   ///< it changes the layout of a value only
    bool is_evaluated = false; ///< by rules
    std::vector<sublet::value_id> uses;
    std::vector<sublet::value_id> defs;
    sublet::value_id scratch = sublet::no_value;
    std::vector<std::size_t> overwritable;     ///< indexes of `uses`
    dnnl::primitive primitive;                 ///< none: the formula or rule of the layer, or `pack`
    std::function<void(void const* plain, void* packed)> pack; ///< of a weight that is computed
    std::vector<primitive_argument> arguments; ///< by use, then by result, then of the scratch
};

/// A weight as a primitive wants it, made before any run.
struct packed_weight {
    sublet::value_id packed, plain;
    std::function<void(void const* plain, void* packed)> pack;
};

/// What computes a layer, if it can; otherwise another one of them.
enum class kernels : std::uint8_t { primitives, formulas, rules };

/// Refers to the network.
struct host_steps {
    layered_network const* all = nullptr;
    dnnl::engine engine;
    std::vector<host_step> steps;
    std::vector<packed_weight> packed;

    // By value: those of the network first.
    std::vector<sublet::byte_count> bytes;
    std::vector<sublet::value_role> roles;
    std::vector<sublet::value_id> view_of;

    sublet::byte_count largest_scratch() const;
    sublet::snapshot program() const;
    sublet::plan_options options() const; ///< refer to this object
    std::string const& label(sublet::step_id step) const
    {
        return all->net.operations[steps[step].operation].label;
    }
};

/// Requires: no layer is `unsupported`.
/// Throws: std::runtime_error, naming the operation, if nothing computes a layer of these sizes.
host_steps steps_of(layered_network const& all, kernels which = kernels::primitives);

/// Runs a step on the host. `scratch` has as many bytes as its value. Several threads may call it at once.
void run_step(host_steps const& of, host_step const& step, operands const& io, void* scratch);

template <class Call>
operands operands_of(Call const& call)
{
    operands io;
    for (std::size_t i = 0; i != call.uses().size(); ++i) io.in.push_back(call.in(i).data());
    for (std::size_t j = 0; j != call.defs().size(); ++j) io.outs.push_back(call.out(j).data());
    io.out = io.outs[0];
    io.out_bytes = call.out(0).size();
    return io;
}

/// Runs a step on the host; several threads may call it at once.
struct host_kernel {
    host_steps const* of;

    void operator()(auto const& call) const
    {
        if (call.is_view(0)) return;
        host_step const& step = of->steps[call.step];
        operands io = operands_of(call);
        io.outs.resize(step.defs.size()); // of a step that runs again, views that other steps made follow
        run_step(*of, step, io, call.scratch_count() == 0 ? nullptr : call.scratch().data());
    }
};

} // namespace run_network

#endif
