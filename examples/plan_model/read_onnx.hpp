// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP

#include "network.hpp"

#include <cstdint>
#include <string>

namespace onnx {
class ModelProto;
}

namespace plan_model {

/// Which results may overwrite operands.
enum class in_place_pairs : std::uint8_t {
    listed,    ///< those that nodes list in an attribute may_inplace
    operators, ///< also those of standard operators that compute element by element
    softmax    ///< also Softmax and LogSoftmax along the last axis
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
/// Ensures: operations are in file order, which is a valid order; every result has a size; all declarations
///          of a value and the length of its stored data agree; a view is no larger than its base.
/// Throws:  input_error, naming the file and, if there is one, the value.
network read_onnx(std::string const& file, onnx::ModelProto const& model,
                  in_place_pairs pairs = in_place_pairs::listed);

/// Calls both.
network read_onnx(std::string const& file, in_place_pairs pairs = in_place_pairs::listed);

} // namespace plan_model

#endif
