// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_INFER_SHAPES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_INFER_SHAPES_HPP

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
} // namespace onnx

namespace plan_model {

/// What was found besides the shapes.
struct inferred_shapes {
    /// Of results without a size, by graph and name, and without a full stop.
    std::unordered_map<onnx::GraphProto const*, std::unordered_map<std::string, std::string>> why_open;
    std::unordered_map<onnx::NodeProto const*, bool> taken; ///< of each If with a known condition
    std::vector<std::string> contradictions; ///< sentences: declarations of results that were replaced
};

/// A number that all elements of an input of integers or truth values are in every run.
struct given_value {
    std::string input;
    std::int64_t element = 0;
};

/// Declares the type and shape of each value of the main graph and of the graphs inside, as far as they
/// follow from the operators and from known elements: constants, shapes, and what is computed from them.
///
/// The nodes are followed in the order of the file, with ONNX's own rule for each operator, or with one of
/// ours where it has none (newer_operators.hpp). Of an If with an unknown condition, a dimension is open in
/// which the two branches differ. A carried value of a loop has the shape that holds in every iteration.
///
/// `is_declared_right`: a node is not followed if the file declares all its results in full.
///
/// Requires:   graphs are nested at most 100 deep, as parse_onnx() ensures.
/// Ensures:    nothing is guessed: what does not follow is open, with a reason in `why_open`. A dimension
///             that follows is kept where a declared one differs.
/// Complexity: O(nodes + operands + elements followed), and for each loop inside of others its iterations
///             until shapes stay. What a small file could ask for without end is bounded, and open beyond:
///             250 000 nodes of bodies and functions, 2^28 bytes of functions, 2^24 elements that are kept
///             and 2^27 that are visited, shapes of 256 dimensions.
/// Throws:     input_error, without the file, if an input has no such elements.
inferred_shapes infer_shapes(onnx::ModelProto& model, bool is_declared_right,
                             std::vector<given_value> const& values = {});

} // namespace plan_model

#endif
