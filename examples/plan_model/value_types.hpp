// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_VALUE_TYPES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_VALUE_TYPES_HPP

/// Types of ONNX values as this program keeps them: from declarations and stored tensors, merged, and the bytes that
/// they take.

#include "network.hpp"

#include <sublet/core/units.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace plan_model {

/// The bytes of a value's storage, or why they are unknown.
struct storage {
    sublet::byte_count bytes = sublet::no_size;
    char const* why_unsized = "has no shape (run ONNX shape inference on the model first)";
    bool has_no_bytes = false; ///< no shape would help
};

/// By number of TensorProto.DataType, so that an old header reads the types of later schemas. 0: elements
/// without a fixed size, such as text.
unsigned element_bits(int type);

value_type type_of(onnx::TypeProto const& type);

/// The dimensions of a dense or sparse tensor.
template <class Dims>
value_type type_of(int element, Dims const& dims)
{
    value_type found{value_type::tensor, element, true, {}};
    for (std::int64_t d : dims) found.size.push_back(std::max<std::int64_t>(d, -1));
    return found;
}

/// Merges a second declaration into `known`. Returns false if they contradict each other.
bool merge(value_type& known, value_type const& declared);

/// For messages: "FLOAT[1, ?]".
std::string text_of(value_type const& type);

storage storage_of(value_type const& type);

/// The elements that a tensor stores: no bytes if they are in another file or omitted.
struct stored_elements {
    sublet::byte_count bytes = 0;
    bool is_in_one_field = true; ///< raw_data, or the field of its type
};

stored_elements elements_in(onnx::TensorProto const& t);

} // namespace plan_model

#endif
