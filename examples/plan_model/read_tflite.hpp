// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_TFLITE_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_TFLITE_HPP

#include "network.hpp"
#include "read_onnx.hpp"

#include <string>
#include <string_view>

namespace plan_model {

struct tflite_options {
    in_place_pairs pairs = in_place_pairs::listed; ///< these files list none
    bool views = true;         ///< reshaped results are views of their operands, otherwise copies
    bool plans_inputs = false; ///< inputs of the graph lie in the arena, too; other subgraphs are refused
};

/// The bytes are those of a TensorFlow Lite file: they have its identifier, TFL3.
bool is_tflite(std::string_view bytes);

/// The network of a TensorFlow Lite file with these bytes: its first subgraph, without weights.
///
/// Ensures: operations are in file order, which is a valid order; every result has a size; a view has that
///          of its base; names of values differ; `tensors` has one entry for each tensor of the subgraph.
/// Throws:  input_error, naming the file and, if there is one, the tensor or operator; also if this program
///          was built without FlatBuffers.
network read_tflite(std::string const& file, std::string const& bytes, tflite_options const& options = {});

} // namespace plan_model

#endif
