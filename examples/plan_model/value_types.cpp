// SPDX-License-Identifier: BSL-1.0

// Types of ONNX values, and the bytes that they take.

#include "value_types.hpp"

namespace plan_model {

using sublet::byte_count;

unsigned element_bits(int type)
{
    switch (type) {
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::BOOL: return 8;
    case onnx::TensorProto::UINT16:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16: return 16;
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32: return 32;
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::UINT64:
    case onnx::TensorProto::COMPLEX64: return 64;
    case onnx::TensorProto::COMPLEX128: return 128;
    case 17: // FLOAT8E4M3FN
    case 18: // FLOAT8E4M3FNUZ
    case 19: // FLOAT8E5M2
    case 20: // FLOAT8E5M2FNUZ
    case 24: // FLOAT8E8M0
        return 8;
    case 21: // UINT4
    case 22: // INT4
    case 23: // FLOAT4E2M1
        return 4;
    case 25: // UINT2
    case 26: // INT2
        return 2;
    default: return 0;
    }
}

value_type type_of(onnx::TypeProto const& type)
{
    if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return {};
    if (!type.has_tensor_type()) return {value_type::other, 0, false, {}};
    auto const& tensor = type.tensor_type();
    value_type found{value_type::tensor, tensor.elem_type(), tensor.has_shape(), {}};
    for (auto const& d : tensor.shape().dim())
        found.size.push_back(d.has_dim_value() ? std::max<std::int64_t>(d.dim_value(), -1) : -1);
    return found;
}

bool merge(value_type& known, value_type const& declared)
{
    if (declared.what == value_type::unknown) return true;
    if (known.what == value_type::unknown) return known = declared, true;
    if (known.what != declared.what) return false;
    if (known.element != 0 && declared.element != 0 && known.element != declared.element) return false;
    if (known.element == 0) known.element = declared.element;
    if (!declared.has_rank) return true;
    if (!known.has_rank) return known.has_rank = true, known.size = declared.size, true;
    if (known.size.size() != declared.size.size()) return false;
    for (std::size_t i = 0; i != declared.size.size(); ++i) {
        if (known.size[i] >= 0 && declared.size[i] >= 0 && known.size[i] != declared.size[i]) return false;
        known.size[i] = std::max(known.size[i], declared.size[i]);
    }
    return true;
}

std::string text_of(value_type const& type)
{
    if (type.what != value_type::tensor) return "no tensor";
    std::string text = onnx::TensorProto::DataType_IsValid(type.element)
                           ? onnx::TensorProto::DataType_Name(type.element)
                           : "type " + std::to_string(type.element);
    if (!type.has_rank) return text;
    text += '[';
    for (std::size_t i = 0; i != type.size.size(); ++i) {
        if (i != 0) text += ", ";
        text += type.size[i] < 0 ? "?" : std::to_string(type.size[i]);
    }
    return text + ']';
}

storage storage_of(value_type const& type)
{
    if (type.what == value_type::unknown) return {};
    if (type.what == value_type::other)
        return {sublet::no_size, "is no tensor, and so has no static size", true};
    unsigned const bits = element_bits(type.element);
    if (bits == 0) return {sublet::no_size, "has no element type of a fixed size", type.element != 0};
    if (!type.has_rank) return {};

    bool is_empty = false;
    for (auto d : type.size) {
        if (d < 0) return {sublet::no_size, "has no static shape"};
        is_empty = is_empty || d == 0;
    }
    if (is_empty) return {0, nullptr}; // before the product of the others can overflow
    try {
        byte_count elements = 1;
        for (auto d : type.size) elements = sublet::checked_multiply(elements, static_cast<byte_count>(d));
        if (bits >= 8) return {sublet::checked_multiply(elements, bits / 8), nullptr};
        byte_count const per_byte = 8 / bits;
        return {elements / per_byte + (elements % per_byte != 0), nullptr};
    } catch (sublet::precondition_error const&) {
        return {sublet::no_size, "is larger than 64 bits can count"};
    }
}

stored_elements elements_in(onnx::TensorProto const& t)
{
    using tensor = onnx::TensorProto;
    if (t.data_location() == tensor::EXTERNAL) return {};
    int const type = t.data_type();
    unsigned const width = std::max(element_bits(type) / 8, 1u);
    bool const is_float = type == tensor::FLOAT || type == tensor::COMPLEX64;
    bool const is_double = type == tensor::DOUBLE || type == tensor::COMPLEX128;
    bool const is_long = type == tensor::INT64,
               is_unsigned = type == tensor::UINT32 || type == tensor::UINT64;
    bool const is_int = !is_float && !is_double && !is_long && !is_unsigned;
    struct {
        int items;
        unsigned width; // bytes of an element in one item
        bool is_mine;
    } const fields[] = {{t.float_data_size(), 4, is_float},
                        {t.int32_data_size(), std::min(width, 4u), is_int},
                        {t.int64_data_size(), 8, is_long},
                        {t.double_data_size(), 8, is_double},
                        {t.uint64_data_size(), width, is_unsigned}};
    stored_elements found{t.raw_data().size()};
    for (auto const& f : fields) {
        if (f.items == 0) continue;
        found.is_in_one_field = f.is_mine && t.raw_data().empty();
        found.bytes = static_cast<byte_count>(f.items) * f.width;
        if (!found.is_in_one_field) break;
    }
    return found;
}

} // namespace plan_model
