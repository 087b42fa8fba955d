// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_SAMPLES_HPP
#define SUBLET_TEST_SAMPLES_HPP

/// The variables and functions that the samples in the comments of public headers use; samples.cmake compiles
/// them.

#include <sublet/adapt/boost_graph.hpp>
#include <sublet/execution.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/sublet.hpp>
#include <sublet/testing/recording_device.hpp>
#include <sublet/testing/simulated_device.hpp>

#ifdef SUBLET_SAMPLES_OF_CUDA
#include <sublet/execution/cuda.hpp>
#include <sublet/execution/cuda_growing_arena.hpp>
#endif

#ifdef SUBLET_SAMPLES_OF_JSON
#include <sublet/adapt/json.hpp>

#include <fstream>
#endif

#include <boost/graph/breadth_first_search.hpp>

#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace samples {

using namespace sublet;

extern snapshot const program;
extern std::vector<byte_count> const sizes;
extern plan_options const options;
extern memory_plan const plan;
extern symbolic_options const any_shape;
extern std::vector<shape> const requests;
extern placement_problem const problem;
extern csr_graph const g;
extern boost::bfs_visitor<boost::null_visitor> const visitor;
extern value_id const image, input, scores, result, value;
extern std::vector<value_id> inputs(node_id), outputs(node_id);
extern std::size_t const blobs;
extern planned_memory const planned;
extern std::ofstream file;

// Frameworks have an IR of some shape, and kernels for its operations.
struct my_operation_of_ir {};
struct my_tensor_of_ir {
    std::string name;
};
struct my_ir_of_framework {
    std::vector<my_operation_of_ir> operations;
    std::vector<my_tensor_of_ir> tensors;
};
extern my_ir_of_framework const ir;
void my_operation(my_operation_of_ir const&, std::span<float const>, std::span<float>);
void multiply(std::span<float const>, std::span<float const>, std::span<float>);
void step_down(std::span<float const>, std::span<float>);
void read_image(std::span<float>);
void show(std::span<float const>);

struct any_kernel {
    void operator()(auto const&) const {}
};
extern any_kernel const kernel;
extern recorder net;
extern std::vector<placement_problem::buffer> const buffers;
extern placement_problem::clock_table const clocks;
struct tensor {
    byte_count size;
};
struct operation {
    char const* name;
    std::vector<tensor const*> inputs;
    tensor const *output, *base, *writes;
    byte_count offset;
    bool is_view, is_a_function_of_its_inputs;
};
extern std::vector<operation> const graph_of_operations;
extern tensor const* const cache;
void place(tensor const*, pool_id, byte_count);
void discard(buffer_id, buffer_id);
using my_graph = csr_graph;
extern listing<tensor const*> const list;

// A device that captures graphs, and what is copied to it and from it.
struct graph_device : simulated_device {
    using stream = simulated_device::stream_type;
    struct graph {
        void launch(stream);
    };
    void begin_capture(stream);
    graph end_capture(stream);
    void abandon_capture(stream) noexcept;
};
extern graph_device device;
extern simulated_device inner;
extern std::vector<std::byte> pixels, bytes;
extern std::vector<std::vector<std::byte>> images;
inline void launch_my_operation(std::uint32_t, void const*, void*) {}

#ifdef SUBLET_SAMPLES_OF_CUDA
extern cuda_calls calls;
void launch(cudaStream_t);
#endif

} // namespace samples

#endif
