// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_OPERATOR_SHAPES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_OPERATOR_SHAPES_HPP

/// What rules of operators' results share: dimensions that may be open, their arithmetic, and the node.
///
/// A rule makes element types and shapes; what it cannot know it leaves open, and it throws
/// std::runtime_error, one sentence without the node, if operands contradict each other.

#include "known_elements.hpp"
#include "standard_operators.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plan_model::operator_shapes {

using tensor = onnx::TensorProto;

/// The number of a dimension, or its name, or neither.
struct dimension {
    std::int64_t value = -1; ///< negative: open
    std::string name = {};
};

using dimensions = std::vector<dimension>;

struct result {
    int element = 0; ///< 0: not known
    std::optional<dimensions> size = {};
};

using results = std::vector<result>;

inline constexpr std::int64_t open = -1;

/// Numbers beyond it are taken as not known, so that sums and products of a few of them do not overflow.
inline constexpr std::int64_t most_attribute = std::int64_t{1} << 31;
inline constexpr std::int64_t most_dimension = std::int64_t{1} << 60;

// --- arithmetic of dimensions that may be open -------------------------------------------------------------

inline std::int64_t times(std::int64_t a, std::int64_t b)
{
    if (a < 0 || b < 0) return open;
    if (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a) return open;
    return a * b;
}

inline std::int64_t plus(std::int64_t a, std::int64_t b)
{
    if (a < 0 || b < 0 || a > std::numeric_limits<std::int64_t>::max() - b) return open;
    return a + b;
}

/// Open if there is a remainder.
inline std::int64_t over(std::int64_t a, std::int64_t b)
{
    return a < 0 || b <= 0 || a % b != 0 ? open : a / b;
}

inline dimension at(std::int64_t value) { return {value < 0 ? open : value, {}}; }

/// A dimension that is the same in both; the known one.
inline dimension same(dimension const& a, dimension const& b)
{
    if (a.value >= 0 && b.value >= 0 && a.value != b.value)
        throw std::runtime_error("a dimension of its operands is " + std::to_string(a.value) + " and " +
                                 std::to_string(b.value));
    if (a.value >= 0) return a;
    return b.value >= 0 || a.name.empty() ? b : a;
}

inline dimension broadcast(dimension const& a, dimension const& b)
{
    if (a.value == 1) return b;
    if (b.value == 1) return a;
    if (a.value >= 0 && b.value >= 0) {
        if (a.value != b.value)
            throw std::runtime_error("dimensions of its operands, " + std::to_string(a.value) + " and " +
                                     std::to_string(b.value) + ", do not broadcast");
        return a;
    }
    if (a.value >= 0) return a; // the open one is this or 1
    if (b.value >= 0) return b;
    return !a.name.empty() && a.name == b.name ? a : dimension{};
}

inline std::optional<dimensions> broadcast(std::optional<dimensions> const& a,
                                           std::optional<dimensions> const& b)
{
    if (!a || !b) return {};
    dimensions const &longer = a->size() < b->size() ? *b : *a, &shorter = a->size() < b->size() ? *a : *b;
    dimensions found = longer;
    std::size_t const added = longer.size() - shorter.size();
    for (std::size_t i = 0; i != shorter.size(); ++i)
        found[added + i] = broadcast(longer[added + i], shorter[i]);
    return found;
}

inline std::size_t axis_in(std::int64_t axis, std::size_t rank)
{
    auto const r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r)
        throw std::runtime_error("axis " + std::to_string(axis) + " is not one of a tensor of rank " +
                                 std::to_string(rank));
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

inline std::vector<std::size_t> axes_in(std::vector<std::int64_t> const& axes, std::size_t rank)
{
    std::vector<std::size_t> found;
    std::vector<bool> is_taken(rank, false);
    for (auto a : axes) {
        std::size_t const axis = axis_in(a, rank);
        if (is_taken[axis]) throw std::runtime_error("axis " + std::to_string(a) + " is there twice");
        is_taken[axis] = true;
        found.push_back(axis);
    }
    return found;
}

// --- the node ----------------------------------------------------------------------------------------------

using integers = std::vector<std::int64_t>;

struct call {
    onnx::NodeProto const& node;
    std::int64_t opset;
    std::vector<onnx::TypeProto const*> const& types;
    std::vector<known_tensor const*> const& elements;

    bool has(std::size_t i) const
    {
        return i < static_cast<std::size_t>(node.input_size()) && !node.input(static_cast<int>(i)).empty();
    }

    onnx::TypeProto_Tensor const* type(std::size_t i) const
    {
        if (!has(i) || i >= types.size() || types[i] == nullptr || !types[i]->has_tensor_type())
            return nullptr;
        return &types[i]->tensor_type();
    }

    known_tensor const* known(std::size_t i) const
    {
        return has(i) && i < elements.size() ? elements[i] : nullptr;
    }

    int element(std::size_t i) const
    {
        if (auto const* t = type(i)) return t->elem_type();
        auto const* k = known(i);
        return k == nullptr ? 0 : k->element;
    }

    std::optional<dimensions> size(std::size_t i) const
    {
        dimensions found;
        if (auto const* t = type(i); t != nullptr && t->has_shape()) {
            for (auto const& d : t->shape().dim())
                found.push_back({d.has_dim_value() && d.dim_value() >= 0 ? d.dim_value() : open,
                                 d.has_dim_param() ? d.dim_param() : std::string{}});
            return found;
        }
        auto const* k = known(i);
        if (k == nullptr) return {};
        for (auto d : k->size) found.push_back(at(d));
        return found;
    }

    /// The shape of an operand of this rank.
    std::optional<dimensions> size(std::size_t i, std::size_t rank) const
    {
        auto found = size(i);
        if (found && found->size() != rank)
            throw std::runtime_error("input " + std::to_string(i) + " has rank " +
                                     std::to_string(found->size()) + ", not " + std::to_string(rank));
        return found;
    }

    /// The elements of a known operand of integers, in order.
    integers const* list(std::size_t i) const
    {
        auto const* k = known(i);
        return k != nullptr && k->real.empty() ? &k->whole : nullptr;
    }

    /// The element of an operand of one integer.
    std::optional<std::int64_t> scalar(std::size_t i) const
    {
        auto const* found = list(i);
        if (found == nullptr || found->size() != 1) return {};
        return found->front();
    }

    onnx::AttributeProto const* find(std::string_view name) const
    {
        return plan_model::attribute(node, name);
    }

    std::int64_t number(std::string_view name, std::int64_t otherwise) const
    {
        auto const* a = find(name);
        return a == nullptr ? otherwise : a->i();
    }

    std::optional<integers> numbers(std::string_view name) const
    {
        auto const* a = find(name);
        if (a == nullptr) return {};
        return integers(a->ints().begin(), a->ints().end());
    }

    std::string word(std::string_view name, char const* otherwise) const
    {
        auto const* a = find(name);
        return a == nullptr ? otherwise : a->s();
    }

    /// An element type that an attribute names.
    int type_in(std::string_view name, int otherwise) const
    {
        std::int64_t const t = number(name, 0);
        return t > 0 && t < 1000 ? static_cast<int>(t) : otherwise;
    }
};

/// The number of an operand's elements, if its shape is a list of them.
inline std::optional<std::size_t> length_of(call const& c, std::size_t i)
{
    auto const size = c.size(i);
    constexpr std::int64_t most = 1024; // of axes
    if (!size || size->size() != 1 || (*size)[0].value < 0 || (*size)[0].value > most) return {};
    return static_cast<std::size_t>((*size)[0].value);
}

// --- rules of both domains ---------------------------------------------------------------------------------

using rule = results (*)(call const&);

template <std::size_t I = 0>
results like(call const& c)
{
    return {{c.element(I), c.size(I)}};
}

inline results quantize(call const& c)
{
    int const otherwise = c.has(2) ? c.element(2) : c.type_in("output_dtype", tensor::UINT8);
    return {{otherwise, c.size(0)}};
}

inline results dequantize(call const& c) { return {{c.type_in("output_dtype", c.element(1)), c.size(0)}}; }

/// Layer normalization: the statistics have the shape of the operand, with 1 for what they are about.
template <bool HasMean>
results normalize_layer(call const& c)
{
    auto const size = c.size(0);
    int const stash = c.type_in("stash_type", tensor::FLOAT);
    result statistic{stash, size};
    if (size && !size->empty()) {
        std::size_t const axis = axis_in(c.number("axis", -1), size->size());
        for (std::size_t i = axis; i != size->size(); ++i) (*statistic.size)[i] = at(1);
    }
    results found{{c.has(1) ? c.element(1) : c.element(0), size}, statistic};
    if (HasMean) found.push_back(statistic);
    return found;
}

/// The shape without the axes, or with 1 there. `axes`: nullptr: not known.
inline std::optional<dimensions> reduced(std::optional<dimensions> size, integers const* axes, bool keeps)
{
    if (!size) return {};
    if (axes == nullptr) {
        if (!keeps) return {};
        return dimensions(size->size());
    }
    std::vector<bool> goes(size->size(), axes->empty());
    for (auto a : axes_in(*axes, size->size())) goes[a] = true;
    dimensions found;
    for (std::size_t i = 0; i != size->size(); ++i)
        if (!goes[i]) found.push_back((*size)[i]);
        else if (keeps) found.push_back(at(1));
    return found;
}

/// `pads`: before all axes, then after all of them.
inline std::optional<dimensions> padded(std::optional<dimensions> size, std::vector<std::size_t> const& axes,
                                        integers const* pads)
{
    if (pads != nullptr && pads->size() != 2 * axes.size())
        throw std::runtime_error("it pads " + std::to_string(axes.size()) + " axes by " +
                                 std::to_string(pads->size()) + " numbers");
    for (std::size_t i = 0; i != axes.size(); ++i) {
        dimension& d = (*size)[axes[i]];
        if (pads == nullptr) {
            d = {};
            continue;
        }
        std::int64_t const before = (*pads)[i], after = (*pads)[axes.size() + i];
        if (before == 0 && after == 0) continue;
        bool const is_sane = std::max(before, after) <= most_dimension &&
                             std::min(before, after) >= -most_dimension && d.value <= most_dimension;
        d = at(is_sane && d.value >= 0 ? d.value + before + after : open);
    }
    return size;
}

inline results pad(call const& c)
{
    auto size = c.size(0);
    if (!size) {
        if (auto const* pads = c.list(1); pads != nullptr && !c.has(3)) size = dimensions(pads->size() / 2);
        return {{c.element(0), size}};
    }
    std::vector<std::size_t> axes;
    if (c.has(3)) {
        auto const* given = c.list(3);
        if (given == nullptr) return {{c.element(0), dimensions(size->size())}};
        axes = axes_in(*given, size->size());
    } else
        for (std::size_t i = 0; i != size->size(); ++i) axes.push_back(i);
    return {{c.element(0), padded(std::move(size), axes, c.list(1))}};
}

// --- the heads of attention --------------------------------------------------------------------------------

/// The heads of a tensor [batch, length, heads * width] or [batch, heads, length, width].
struct heads {
    dimension batch = {}, length = {}, count = {}, width = {};
    bool is_known = false;
    bool is_apart = false; ///< in their own axis

    heads(std::optional<dimensions> const& size, std::int64_t number)
    {
        count = at(number > 0 ? number : open);
        if (!size) return;
        if (size->size() == 4) {
            batch = (*size)[0], length = (*size)[2], width = (*size)[3];
            count = same((*size)[1], count);
        } else if (size->size() == 3) {
            batch = (*size)[0], length = (*size)[1];
            width = at(over((*size)[2].value, number));
        } else return;
        is_known = true;
        is_apart = size->size() == 4;
    }
};

/// The length of the past and of what is added; open if a past is there and not known.
inline dimension after_past(call const& c, std::size_t past, dimension const& added)
{
    if (!c.has(past)) return added;
    auto const size = c.size(past);
    return size && size->size() == 4 ? at(plus((*size)[2].value, added.value)) : dimension{};
}

// --- in other files ----------------------------------------------------------------------------------------

/// X, W; kernels are of the shape of W after its first two axes, unless the attribute names it.
std::optional<dimensions> convolved(call const& c, bool channels_last);

std::optional<dimensions> pooled(call const& c, bool channels_last);

results convolve_transposed(call const& c);
results convolve_deformed(call const& c);
results pool(call const& c);
results column_to_image(call const& c);
results sample_grid(call const& c);
results affine_grid(call const& c);

/// The rules of domain com.microsoft, by operator.
std::unordered_map<std::string_view, rule> const& runtime_rules();

} // namespace plan_model::operator_shapes

#endif
