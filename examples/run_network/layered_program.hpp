// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_LAYERED_PROGRAM_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_LAYERED_PROGRAM_HPP

/// The program and the kernel of a layered network: each step has the scratch that its kernel needs, and may
/// overwrite the operands that its kernel can overwrite.
///
///     Conv     uses x, weights    defines y, padded input      the padded input is scratch: planned like
///     Relu     uses y             defines z, over y            other values, live for one step

#include "kernels.hpp"
#include "read_layers.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace run_network {

struct layered_program {
    sublet::snapshot program;
    sublet::plan_options options;
    std::vector<unsigned char> is_scratch; ///< by value
    sublet::byte_count largest_scratch = 0;
};

/// The values of the network, then the scratch values of the steps, if their kernels need any.
inline layered_program program_of(layered_network const& all, bool needs_scratch = true)
{
    plan_model::network const& net = all.net;
    std::vector<sublet::byte_count> bytes;
    std::vector<sublet::value_role> roles;
    std::vector<sublet::value_id> views;
    std::vector<unsigned char> is_scratch(net.values.size(), 0);
    sublet::byte_count largest = 0;
    for (auto const& v : net.values) {
        bytes.push_back(v.bytes);
        roles.push_back(v.role);
        views.push_back(v.alias_of);
    }
    std::vector<sublet::value_id> scratch_of(all.layers.size(), sublet::no_value);
    for (std::size_t i = 0; i != scratch_of.size(); ++i) {
        auto const size = sublet::byte_count{needs_scratch ? scratch_bytes(all.layers[i]) : 0};
        if (size == 0) continue;
        largest = std::max(largest, size);
        scratch_of[i] = static_cast<sublet::value_id>(bytes.size());
        bytes.push_back(size);
        roles.push_back(sublet::value_role::intermediate);
        views.push_back(sublet::no_value);
        is_scratch.push_back(1);
    }
    auto program =
        sublet::sequence(net.operations.size(), bytes.size(), [&](auto step, sublet::effect_sink& sink) {
            plan_model::operation const& operation = net.operations[step];
            for (auto v : operation.inputs) sink.use(v);
            for (auto v : operation.outputs)
                if (net.is_view(v)) sink.view(v);
                else sink.def(v);
            sink.def(scratch_of[step]);
            sink.only_views(); // a reshape reads its shape
            for (std::size_t o : overwritable_operands(all.layers[step])) {
                sublet::value_id const over = operation.inputs[o], result = operation.outputs[0];
                if (bytes[over] == bytes[result]) sink.may_overwrite(over, result);
            }
        });
    return {std::move(program),
            {.bytes = bytes, .alignment = 64, .role = roles, .alias_of = views},
            is_scratch,
            largest};
}

template <class Call>
operands operands_of(Call const& call)
{
    operands io;
    for (std::size_t i = 0; i != call.uses().size(); ++i) io.in.push_back(call.in(i).data());
    io.out = call.out(0).data();
    io.out_bytes = call.out(0).size();
    return io;
}

/// Runs layer `call.step` by `kernel(layer, operands)`, unless its result is a view.
template <class Call, class Kernel>
void run_layer(layered_network const& all, Call const& call, Kernel kernel)
{
    layer const& what = all.layers[call.step];
    bool const is_view = std::holds_alternative<view>(what);
    if (!is_view || !call.is_view(0)) kernel(what, operands_of(call));
}

/// Runs on the host; several threads may call it at once.
struct host_kernel {
    layered_network const* all;

    void operator()(auto const& call) const
    {
        run_layer(*all, call, [&](layer const& what, operands const& io) {
            run_on_host(what, io, call.scratch_count() == 0 ? nullptr : call.scratch().data());
        });
    }
};

/// Runs the formulas of a CUDA device on the host.
struct formula_kernel {
    layered_network const* all;

    void operator()(auto const& call) const { run_layer(*all, call, run_as_formulas); }
};

} // namespace run_network

#endif
