// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_KNOWN_ELEMENTS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_KNOWN_ELEMENTS_HPP

/// Elements of tensors that are known without a run: constants, shapes, and what is computed from them.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace plan_model {

/// A tensor with known elements.
struct known_tensor {
    int element = 0;                 ///< TensorProto.DataType
    std::vector<std::int64_t> size;  ///< dimensions
    std::vector<std::int64_t> whole; ///< elements, if the type is of integers or bool (uint64 as its bits)
    std::vector<double> real;        ///< elements, if the type is of floating point
};

/// No rule reads or makes a larger tensor.
inline constexpr std::size_t most_known_elements = std::size_t{1} << 22;

/// The elements that a tensor stores; nothing if they are in another file, damaged, of another kind or too
/// many.
std::optional<known_tensor> elements_of(onnx::TensorProto const& stored);

/// The reverse.
onnx::TensorProto as_tensor(known_tensor const& known);

/// evaluate() knows this operator.
bool has_rule(std::string_view type);

/// The elements of the results of a standard operator, by result; nothing for those that are not known.
///
/// `elements`: of its operands; nullptr: unknown or absent. `types`: of its operands; nullptr: unknown or
/// absent.
std::vector<std::optional<known_tensor>> evaluate(onnx::NodeProto const& node, std::int64_t opset,
                                                  std::vector<known_tensor const*> const& elements,
                                                  std::vector<onnx::TypeProto const*> const& types);

} // namespace plan_model

#endif
