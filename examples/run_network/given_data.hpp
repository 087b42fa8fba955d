// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_GIVEN_DATA_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_GIVEN_DATA_HPP

/// Inputs of a network and the outputs that they must give, as ONNX's own tests store them.
///
///     FOLDER/input_0.pb, input_1.pb, ...      a TensorProto each
///     FOLDER/output_0.pb, ...                 none: nothing is compared

#include "compare_runs.hpp"
#include "read_layers.hpp"

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace run_network {

struct given_data {
    std::vector<onnx::TensorProto> inputs, outputs; ///< in the order of the graph
};

/// Throws: input_error if a file is no tensor, or there is none.
given_data read_data(std::string const& folder);

/// Makes the inputs constants of the file: shapes may follow from their elements.
///
/// Throws: input_error if there are more than the network has.
void put_inputs(onnx::ModelProto& model, std::vector<onnx::TensorProto> const& inputs);

/// What the first output is that deviates from the given one: in its type, its shape, an integer, or by more
/// than a thousandth of the largest element; empty: none does.
std::string deviation_from(given_data const& data, layered_network const& all, results const& outputs);

} // namespace run_network

#endif
