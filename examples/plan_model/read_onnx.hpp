// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP

#include "network.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
}

namespace plan_model {

/// Which results may overwrite operands.
enum class in_place_pairs : std::uint8_t {
    listed,    ///< those that nodes list in an attribute may_inplace
    operators, ///< also those of standard operators that compute element by element
    softmax    ///< also Softmax and LogSoftmax along the last axis
};

/// What becomes of a result without a size.
enum class unsized_results : std::uint8_t {
    refused,            ///< the file is refused
    refused_if_tensors, ///< so it is, but what has no bytes to plan, such as text or a sequence, is left out
    left_out            ///< it is left out
};

struct reading_options {
    in_place_pairs pairs = in_place_pairs::listed;
    unsized_results unsized = unsized_results::refused;
    bool reads_bodies = false; ///< also graphs inside operations; otherwise a remark says that they are not
    bool constants_are_weights = false; ///< results of Constant are not planned, as initializers
    /// Of results that are left out or refused, why their sizes are not known, if more can be said.
    std::unordered_map<onnx::GraphProto const*, std::unordered_map<std::string, std::string>> const*
        why_open = nullptr;
    /// Of nodes If of this model of which one branch alone runs: whether it is then_branch.
    std::unordered_map<onnx::NodeProto const*, bool> const* taken = nullptr;
};

/// Parses an ONNX file; reads it once, so it may be a pipe.
///
/// Ensures: it holds a graph; nested graphs are not so deep that recursion overflows the stack.
/// Throws:  input_error, naming the file.
onnx::ModelProto parse_onnx(std::string const& file);

/// Parses the bytes of a file of that name, and frees them.
onnx::ModelProto parse_onnx(std::string const& file, std::string bytes);

/// The network of a parsed file: structure, shapes and types, but no weights.
///
/// Ensures: operations are in file order, which is a valid order; every result has a size, or is in
/// `unsized`;
///          all declarations of a value and the length of its stored data agree; a view is no larger than its
///          base.
/// Throws:  input_error, naming the file and, if there is one, the value.
network read_onnx(std::string const& file, onnx::ModelProto const& model, reading_options const& how = {});

/// Parses a file and reads it. A result without a size is refused.
network read_onnx(std::string const& file, in_place_pairs pairs = in_place_pairs::listed);

} // namespace plan_model

#endif
