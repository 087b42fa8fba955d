// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_HPP
#define SUBLET_EXECUTION_CUDA_HPP

/// Running on a CUDA device, in reading order. Not in sublet/execution.hpp: it needs CUDA's runtime, of 11.4
/// or newer; with CMake it comes with the target sublet::cuda.
///
///     probe ──► cuda_device ──► stream_executor ──► run, or capture ──► cuda_graph

// clang-format off: in the order of reading, not of the alphabet

// Is there one? And what if a call fails?
#include <sublet/execution/cuda/errors.hpp>
#include <sublet/execution/cuda/probe.hpp>

// Calls, and what they give out.
#include <sublet/execution/cuda/calls.hpp>
#include <sublet/execution/cuda/graph.hpp>
#include <sublet/execution/cuda/handles.hpp>
#include <sublet/execution/cuda/pool.hpp>

// The model of a stream_device.
#include <sublet/execution/cuda/device.hpp>

#endif
