// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_EVALUATE_LAYERS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_EVALUATE_LAYERS_HPP

#include "elements.hpp"
#include "read_layers.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace run_network {

/// Bytes of an element of ONNX's type; 0: none that is supported.
std::size_t width_of(int element);

/// The elements of a tensor, as double.
std::vector<double> numbers_in(std::span<std::byte const> bytes, int element);
std::vector<double> numbers_in(onnx::TensorProto const& tensor);

/// There are rules for it, and no operand or result is too large for them.
bool is_evaluated(layered_network const& all, plan_model::operation const& operation);

/// Computes the results of an operation by plan_model's rules, in double or 64 bits, each rounded to its
/// type.
///
/// Throws: std::runtime_error, naming the operation, if its operands have no result of the planned type and
/// shape.
void evaluate(layered_network const& all, std::size_t operation, operands const& io);

} // namespace run_network

#endif
