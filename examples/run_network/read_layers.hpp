// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_READ_LAYERS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_READ_LAYERS_HPP

#include "../plan_model/infer_shapes.hpp"
#include "../plan_model/network.hpp"
#include "../plan_model/open_dimensions.hpp"
#include "layer.hpp"

#include <onnx/onnx_pb.h>

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace run_network {

/// The element type and shape of a value. `other`: nothing computes with it.
///
/// Invariant: unless it is `other`, the network's bytes are those of so many elements.
struct tensor_type {
    static constexpr int other = 0, float_32 = 1, int_32 = 6, int_64 = 7;
    int element = other;   ///< ONNX's number
    std::vector<int> size; ///< empty for `other`
};

/// A network as plan_model reads it, with the layers of its operations.
struct layered_network {
    plan_model::network net;
    std::shared_ptr<onnx::ModelProto const> model; ///< node i is operation i
    std::int64_t opset = 1;
    std::vector<layer> layers;                 ///< by operation
    std::vector<tensor_type> types;            ///< by value
    std::vector<std::vector<std::byte>> data;  ///< by value: contents in the file; empty: none
    std::vector<sublet::value_id> elements_of; ///< by value: the root of its views

    struct unsupported_reason {
        std::string why;        ///< "Conv over 3 dimensions (2)", with its count
        std::string where = {}; ///< the first occurrence: "node 7 (Conv)"
    };
    /// Why it cannot be run, each reason once; empty: it can be run.
    std::vector<unsupported_reason> missing() const;
};

/// What a file leaves open.
struct open_sizes {
    std::vector<plan_model::given_dimension> dimensions = {};
    std::vector<plan_model::given_value> values = {}; ///< of inputs on which shapes or branches depend
    std::vector<onnx::TensorProto> inputs = {};       ///< the first ones of the graph, as put_inputs() does
};

/// Reads the file once. Shapes are those that follow, also where it declares others; an If that they decide
/// is replaced by its branch.
///
/// Ensures: a layer that is not `unsupported` stays within its operands, result and scratch, for any
///          contents.
/// Throws:  plan_model::input_error, as read_onnx(). A layer that cannot be computed is `unsupported`, no
///          error.
layered_network read_layers(std::string const& file, open_sizes const& given = {});

} // namespace run_network

#endif
