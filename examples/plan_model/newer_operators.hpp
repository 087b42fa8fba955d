// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_NEWER_OPERATORS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_NEWER_OPERATORS_HPP

/// Types of results of operators that the installed ONNX does not know, or knows in an older version.

#include "known_elements.hpp"

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plan_model {

/// The types of a node's results, by result: a type without a shape, or with open dimensions, as far as it is
/// known. Nothing if there is no rule here for this operator in this version: then ONNX's own rule holds.
///
/// `types`: of the operands, nullptr: unknown or absent; `elements`: likewise.
/// Throws: std::runtime_error, one sentence without the node, if the operands contradict the operator.
std::optional<std::vector<onnx::TypeProto>> infer_newer(onnx::NodeProto const& node, std::int64_t opset,
                                                        std::vector<onnx::TypeProto const*> const& types,
                                                        std::vector<known_tensor const*> const& elements);

} // namespace plan_model

#endif
