// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP

#include "network.hpp"

#include <string>

namespace onnx {
class ModelProto;
}

namespace plan_model {

/// Read an ONNX file, once: it may be a pipe.
///
/// Ensures: it holds a graph; no graph within graphs is so deep that a recursion over them ends badly.
/// Throws:  input_error, naming the file.
onnx::ModelProto parse_onnx(std::string const& file);

/// The network in a parsed file: structure, shapes and types; never weights.
///
/// Ensures: operations are in file order, which is a valid order; every result has a size; all declarations
/// of
///          a value agree, and so does the length of what is stored of it; a view is no larger than what it
///          is a view of.
/// Throws:  input_error, naming the file and, where there is one, the value.
network read_onnx(std::string const& file, onnx::ModelProto const& model);

/// Both.
network read_onnx(std::string const& file);

} // namespace plan_model

#endif
