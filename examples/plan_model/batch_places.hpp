// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_BATCH_PLACES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_BATCH_PLACES_HPP

/// What standard operators do with the batch: where a result grows if its operands do, and which operands
/// determine its size. Only follow_batch.cpp includes this.

#include "network.hpp"
#include "standard_operators.hpp"

#include <sublet/core/units.hpp>

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plan_model {

/// Where a shape depends on the batch N: the dimension of this index is a multiple of N, and the others do
/// not depend on it.
using place = std::int64_t;
/// The shape does not depend on N.
inline constexpr place nowhere = -1;
/// The number of elements is a multiple of N, in a shape that is not known.
inline constexpr place somewhere = -2;
/// The number of elements does not depend on N, the shape may.
inline constexpr place moved = -3;

struct batch_places {
    std::int64_t batch = 1; ///< of the file
    std::vector<place> of;  ///< by value

    bool depends(sublet::value_id v) const { return v != sublet::no_value && of[v] != nowhere; }
};

/// The reason why no plan for every batch is made.
struct not_followed {
    std::string why;
};

/// Whether elements of an operand determine the size of a result.
enum class sizing : std::uint8_t {
    no,
    yes,
    unknown ///< the operator is not known
};

/// Of a standard operator without graphs.
sizing sizing_by(std::string_view type, std::size_t operand);

/// The constants of a model. Refers to the model.
class constant_numbers {
public:
    constant_numbers(onnx::GraphProto const& graph, standard_operators const& standard);

    /// The elements of a constant of integers or floats, if it is one and its elements are in the file.
    std::optional<std::vector<double>> numbers(std::string const& name) const;

private:
    std::unordered_map<std::string_view, onnx::TensorProto const*> tensors_;
    std::unordered_map<std::string_view, onnx::AttributeProto const*> lists_;
};

/// A node of a model, and what is known about the model.
struct node_context {
    standard_operators const& standard;
    constant_numbers const& constants;
    network const& net;
    onnx::NodeProto const& node;
    operation const& op;
};

/// Nothing is known of the results of the node.
///
/// Requires: an operand depends on the batch, and there is a result.
/// Throws:   not_followed.
[[noreturn]] void refuse_node(node_context const& at, batch_places const& places, std::string const& why);

/// Sets the places of the results from those of the operands.
///
/// Requires: the node is a standard operator, with a result, and an operand depends on the batch.
/// Throws:   not_followed.
void place_results(node_context const& at, batch_places& places);

/// The operator gives its first operand another shape.
bool is_reshape(std::string_view type);

/// The same for such an operator, also if no operand depends on the batch. `is_computed`: elements of the
/// second operand, as the target of a Reshape, depend on the batch.
void place_reshape(node_context const& at, batch_places& places, bool is_computed);

} // namespace plan_model

#endif
