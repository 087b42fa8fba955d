// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_KNOWN_RULES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_KNOWN_RULES_HPP

/// What the rules of known elements share: shapes, places of elements, and the node.
///
/// A rule makes the elements of a node's result, or nothing if they are not known. Most of them copy: they
/// list the place in an operand of each element of the result. Each subject has its file and its table.

#include "known_elements.hpp"
#include "known_numbers.hpp"
#include "standard_operators.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace plan_model::known_rules {

using attribute = onnx::AttributeProto;
using sizes = std::vector<std::int64_t>;
using places = std::vector<std::size_t>; ///< indexes of elements, one for each element of a result
using maybe = std::optional<known_tensor>;
using several = std::vector<maybe>;

/// Tensors of a higher rank are not followed.
inline constexpr std::size_t most_dimensions = 32;

// --- shapes ------------------------------------------------------------------------------------------------

/// Nothing if there are too many elements or dimensions. No dimension of a followed tensor exceeds the limit,
/// even of one without elements, so that sums and products of two of them do not overflow.
inline std::optional<std::size_t> count_of(sizes const& size)
{
    if (size.size() > most_dimensions) return {};
    std::size_t count = 1;
    bool is_large = false;
    bool is_empty = false;
    for (auto d : size) {
        if (d < 0 || bits_of(d) > most_known_elements) return {};
        is_empty = is_empty || d == 0;
        if (!is_large) count *= static_cast<std::size_t>(d == 0 ? 1 : d);
        is_large = is_large || count > most_known_elements;
    }
    if (is_empty) return 0;
    if (is_large) return {};
    return count;
}

inline std::size_t count_of(known_tensor const& t)
{
    return is_real(t.element) ? t.real.size() : t.whole.size();
}

/// Without a check.
inline std::size_t product(sizes const& size)
{
    if (std::find(size.begin(), size.end(), 0) != size.end()) return 0;
    std::size_t count = 1;
    for (auto d : size) count *= static_cast<std::size_t>(d);
    return count;
}

inline bool is_sound(known_tensor const& t)
{
    auto const count = count_of(t.size);
    if (width_of(t.element) == 0 || !count) return false;
    return is_real(t.element) ? t.real.size() == *count : t.whole.size() == *count;
}

/// Elements from one index to the next one, by dimension. Zeros if there are no elements.
inline sizes strides_of(sizes const& size)
{
    sizes strides(size.size(), 0);
    if (product(size) == 0) return strides;
    std::int64_t stride = 1;
    for (std::size_t i = size.size(); i-- != 0;) {
        strides[i] = stride;
        stride *= size[i];
    }
    return strides;
}

/// The elements of a block, from the one at `first`, in row-major order.
inline places strided(sizes const& size, sizes const& stride, std::int64_t first)
{
    std::size_t const count = product(size);
    places found;
    found.reserve(count);
    sizes index(size.size(), 0);
    std::int64_t at = first;
    while (found.size() != count) {
        found.push_back(static_cast<std::size_t>(at));
        for (std::size_t i = size.size(); i-- != 0;) {
            if (++index[i] < size[i]) {
                at += stride[i];
                break;
            }
            at -= stride[i] * (size[i] - 1);
            index[i] = 0;
        }
    }
    return found;
}

/// From the front for a number that is not negative, else from the back.
inline std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank)
{
    auto const r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r) return {};
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

/// Nothing if one is out of range or twice there.
inline std::optional<places> axes_in(sizes const& axes, std::size_t rank)
{
    places found;
    std::vector<bool> is_taken(rank, false);
    for (auto a : axes) {
        auto const axis = axis_in(a, rank);
        if (!axis || is_taken[*axis]) return {};
        is_taken[*axis] = true;
        found.push_back(*axis);
    }
    return found;
}

/// A shape around one of its axes.
struct around_axis {
    std::size_t outer = 1;
    std::size_t items = 1;
    std::size_t inner = 1;

    around_axis(sizes const& size, std::size_t axis) : items(static_cast<std::size_t>(size[axis]))
    {
        bool const is_empty = product(size) == 0;
        for (std::size_t i = 0; i != size.size() && !is_empty; ++i)
            if (i != axis) (i < axis ? outer : inner) *= static_cast<std::size_t>(size[i]);
        if (is_empty) outer = 0;
    }

    std::size_t at(std::size_t o, std::size_t i, std::size_t n) const { return (o * items + i) * inner + n; }
};

/// The shape of an elementwise result; nothing if the shapes contradict each other.
inline std::optional<sizes> broadcast(sizes const& a, sizes const& b)
{
    sizes size(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i != size.size(); ++i) {
        std::int64_t const x = i < a.size() ? a[a.size() - 1 - i] : 1;
        std::int64_t const y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return {};
        size[size.size() - 1 - i] = x == 1 ? y : x;
    }
    if (!count_of(size)) return {};
    return size;
}

/// The elements of an operand of shape `from` for each element of an elementwise result.
inline places broadcast_places(sizes const& from, sizes const& to)
{
    sizes strides(to.size(), 0);
    auto const own = strides_of(from);
    std::size_t const added = to.size() - from.size();
    for (std::size_t i = 0; i != from.size(); ++i) strides[added + i] = from[i] == 1 ? 0 : own[i];
    return strided(to, strides, 0);
}

/// The tensor of these elements of another one.
inline known_tensor picked(known_tensor const& from, sizes size, places const& at)
{
    known_tensor found{from.element, std::move(size), {}, {}};
    if (is_real(from.element)) {
        found.real.reserve(at.size());
        for (auto i : at) found.real.push_back(from.real[i]);
    } else {
        found.whole.reserve(at.size());
        for (auto i : at) found.whole.push_back(from.whole[i]);
    }
    return found;
}

/// The same elements in another shape of as many.
inline maybe reshaped(known_tensor const& from, sizes size)
{
    auto const count = count_of(size);
    if (!count || *count != count_of(from)) return {};
    known_tensor found = from;
    found.size = std::move(size);
    return found;
}

/// A tensor of equal elements: those of `from` at this index.
inline maybe filled(known_tensor const& from, std::size_t index, sizes size)
{
    auto const count = count_of(size);
    if (!count) return {};
    return picked(from, std::move(size), places(*count, index));
}

inline void set(known_tensor& to, std::size_t at, known_tensor const& from, std::size_t index)
{
    if (is_real(to.element)) to.real[at] = from.real[index];
    else to.whole[at] = from.whole[index];
}

// --- the node ----------------------------------------------------------------------------------------------

struct call {
    onnx::NodeProto const& node;
    std::int64_t opset;
    std::vector<known_tensor const*> const& elements;
    std::vector<onnx::TypeProto const*> const& types;

    bool has(std::size_t i) const
    {
        return i < static_cast<std::size_t>(node.input_size()) && !node.input(static_cast<int>(i)).empty();
    }

    /// nullptr: not known, or absent.
    known_tensor const* known(std::size_t i) const
    {
        if (!has(i) || i >= elements.size() || elements[i] == nullptr || !is_sound(*elements[i]))
            return nullptr;
        return elements[i];
    }

    known_tensor const* whole(std::size_t i) const
    {
        auto const* found = known(i);
        return found != nullptr && !is_real(found->element) ? found : nullptr;
    }

    /// The elements of a list or scalar of integers.
    sizes const* list(std::size_t i) const
    {
        auto const* found = whole(i);
        return found != nullptr && found->size.size() <= 1 ? &found->whole : nullptr;
    }

    attribute const* find(std::string_view name) const { return plan_model::attribute(node, name); }

    std::int64_t number(std::string_view name, std::int64_t otherwise) const
    {
        auto const* a = find(name);
        return a == nullptr ? otherwise : a->i();
    }

    std::optional<sizes> numbers(std::string_view name) const
    {
        auto const* a = find(name);
        if (a == nullptr) return {};
        return sizes(a->ints().begin(), a->ints().end());
    }

    /// The type of an operand's elements; 0: not known.
    int element(std::size_t i) const
    {
        if (auto const* found = known(i)) return found->element;
        if (!has(i) || i >= types.size() || types[i] == nullptr) return 0;
        return types[i]->tensor_type().elem_type();
    }

    /// The shape of an operand, with -1 for what is open; nothing if the rank is not known.
    std::optional<sizes> size(std::size_t i) const
    {
        if (auto const* found = known(i)) return found->size;
        if (!has(i) || i >= types.size() || types[i] == nullptr) return {};
        if (!types[i]->has_tensor_type() || !types[i]->tensor_type().has_shape()) return {};
        sizes found;
        for (auto const& d : types[i]->tensor_type().shape().dim())
            found.push_back(d.has_dim_value() && d.dim_value() >= 0 ? d.dim_value() : -1);
        return found;
    }
};

/// What an operator takes as an attribute before a version, and as an operand since.
struct moved_list {
    bool is_known = false; ///< or absent
    std::optional<sizes> elements;
};

inline moved_list list_of(call const& c, char const* name, std::size_t operand, std::int64_t since)
{
    if (c.opset < since) return {true, c.numbers(name)};
    if (!c.has(operand)) return {true, {}};
    auto const* found = c.list(operand);
    return found == nullptr ? moved_list{} : moved_list{true, *found};
}

// --- the tables --------------------------------------------------------------------------------------------

using one_result = maybe (*)(call const&);

struct named_rule {
    std::string_view name; ///< of the operator
    one_result rule;
};

using rule_table = std::span<named_rule const>;

rule_table rules_of_shapes();     ///< constants, shapes, and the same elements in another shape
rule_table rules_of_selections(); ///< some of the elements, in another order
rule_table rules_of_arithmetic(); ///< elementwise
rule_table rules_of_functions();  ///< of one real number, or of the reals along an axis
rule_table rules_of_reductions(); ///< along axes

maybe resize(call const& c);

/// The operators with several results.
several split(call const& c);
several top_k(call const& c);

} // namespace plan_model::known_rules

#endif
