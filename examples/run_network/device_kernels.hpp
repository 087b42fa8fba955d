// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_DEVICE_KERNELS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_DEVICE_KERNELS_HPP

/// Layers on a CUDA device: what convolutional networks need, each a formula of elements.hpp, one thread per
/// element of the result:
///
///     Conv, MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool, BatchNormalization, LRN, Softmax,
///     Gemm, MatMul, Add, Sub, Mul, Div, Pow, Sum, Relu, Clip and other functions of one element,
///     reductions of the last dimensions, Transpose, Concat, constants and views
///
/// A network with another layer runs on the host only. The definitions are in kernels.cu, for nvcc; no other
/// file needs CUDA.

#include "elements.hpp"
#include "layer.hpp"

namespace run_network {

/// Queues a layer in a stream (a cudaStream_t); the addresses are device addresses.
///
/// Requires: `what` exists until the stream has run the layer.
/// Ensures:  an error of CUDA is left for cudaPeekAtLastError().
void queue_on_device(layer const& what, operands const& io, void* stream);

} // namespace run_network

#endif
