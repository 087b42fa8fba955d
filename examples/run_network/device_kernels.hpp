// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_DEVICE_KERNELS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_DEVICE_KERNELS_HPP

/// Layers on a CUDA device. What is declared here is defined in kernels.cu, by nvcc; nobody else needs CUDA.

#include "elements.hpp"
#include "layer.hpp"

namespace run_network {

/// Queues a layer in a stream (a cudaStream_t); addresses are those of the device.
///
/// Requires: `what` is there until the stream has come to its end.
/// Ensures:  what CUDA has to say against it is left for cudaPeekAtLastError().
void queue_on_device(layer const& what, operands const& io, void* stream);

} // namespace run_network

#endif
