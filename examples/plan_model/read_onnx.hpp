// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_ONNX_HPP

#include "network.hpp"

#include <string>

namespace plan_model {

/// Read an ONNX file: structure, shapes and types; never weights.
///
/// Ensures: operations are in file order, which is a valid order; every result has a size.
/// Throws:  input_error, naming the file and, where there is one, the value.
network read_onnx(std::string const& file);

} // namespace plan_model

#endif
