// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_KERNELS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_KERNELS_HPP

/// Layers on the host, in C++ that a compiler can vectorize.

#include "elements.hpp"
#include "layer.hpp"

#include <cstddef>

namespace run_network {

inline constexpr std::size_t too_many_bytes = ~std::size_t{0};

/// Scratch bytes of a layer: a convolution's padded input. `too_many_bytes`: more elements than an int can
/// count.
std::size_t scratch_bytes(layer const& what);

/// The operands that a layer may overwrite: it reads an element of them before it writes that element, and
/// never again. They have the size of the result.
std::vector<std::size_t> overwritable_operands(layer const& what);

/// Requires: `scratch` has scratch_bytes(what), aligned for float.
void run_on_host(layer const& what, operands const& io, void* scratch);

/// The same as formulas: what a CUDA device computes, one element after the other. Needs no scratch.
void run_as_formulas(layer const& what, operands const& io);

} // namespace run_network

#endif
