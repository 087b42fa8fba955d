// SPDX-License-Identifier: BSL-1.0

// Types of results of operators that are newer than opset 17, that ONNX 1.12 leaves open, and of ONNX
// Runtime's own operators.

#include "newer_operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace plan_model {
namespace {

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

constexpr std::int64_t open = -1;

/// Numbers beyond it are taken as not known, so that sums and products of a few of them do not overflow.
constexpr std::int64_t most_attribute = std::int64_t{1} << 31;
constexpr std::int64_t most_dimension = std::int64_t{1} << 60;

// --- arithmetic of dimensions that may be open -------------------------------------------------------------

std::int64_t times(std::int64_t a, std::int64_t b)
{
    if (a < 0 || b < 0) return open;
    if (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a) return open;
    return a * b;
}

std::int64_t plus(std::int64_t a, std::int64_t b)
{
    if (a < 0 || b < 0 || a > std::numeric_limits<std::int64_t>::max() - b) return open;
    return a + b;
}

/// Open if there is a remainder.
std::int64_t over(std::int64_t a, std::int64_t b) { return a < 0 || b <= 0 || a % b != 0 ? open : a / b; }

dimension at(std::int64_t value) { return {value < 0 ? open : value, {}}; }

/// A dimension that is the same in both; the known one.
dimension same(dimension const& a, dimension const& b)
{
    if (a.value >= 0 && b.value >= 0 && a.value != b.value)
        throw std::runtime_error("a dimension of its operands is " + std::to_string(a.value) + " and " +
                                 std::to_string(b.value));
    if (a.value >= 0) return a;
    return b.value >= 0 || a.name.empty() ? b : a;
}

dimension broadcast(dimension const& a, dimension const& b)
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

std::optional<dimensions> broadcast(std::optional<dimensions> const& a, std::optional<dimensions> const& b)
{
    if (!a || !b) return {};
    dimensions const &longer = a->size() < b->size() ? *b : *a, &shorter = a->size() < b->size() ? *a : *b;
    dimensions found = longer;
    std::size_t const added = longer.size() - shorter.size();
    for (std::size_t i = 0; i != shorter.size(); ++i)
        found[added + i] = broadcast(longer[added + i], shorter[i]);
    return found;
}

std::size_t axis_in(std::int64_t axis, std::size_t rank)
{
    auto const r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r)
        throw std::runtime_error("axis " + std::to_string(axis) + " is not one of a tensor of rank " +
                                 std::to_string(rank));
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

std::vector<std::size_t> axes_in(std::vector<std::int64_t> const& axes, std::size_t rank)
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
        for (auto const& a : node.attribute())
            if (a.name() == name) return &a;
        return nullptr;
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
std::optional<std::size_t> length_of(call const& c, std::size_t i)
{
    auto const size = c.size(i);
    constexpr std::int64_t most = 1024; // of axes
    if (!size || size->size() != 1 || (*size)[0].value < 0 || (*size)[0].value > most) return {};
    return static_cast<std::size_t>((*size)[0].value);
}

// --- results of the shape of an operand --------------------------------------------------------------------

template <std::size_t I = 0>
results like(call const& c)
{
    return {{c.element(I), c.size(I)}};
}

results like_first_of_bool(call const& c) { return {{tensor::BOOL, c.size(0)}}; }

/// The shape of the first operand, the element type of another one.
template <std::size_t Type>
results like_first_of_type(call const& c)
{
    return {{c.element(Type), c.size(0)}};
}

results broadcast_of_two(call const& c) { return {{c.element(0), broadcast(c.size(0), c.size(1))}}; }

results quantize(call const& c)
{
    int const otherwise = c.has(2) ? c.element(2) : c.type_in("output_dtype", tensor::UINT8);
    return {{otherwise, c.size(0)}};
}

results dequantize(call const& c) { return {{c.type_in("output_dtype", c.element(1)), c.size(0)}}; }

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

/// The sum of input and skip is the last result; the statistics are of training only.
results normalize_skip_layer(call const& c)
{
    result const like_input{c.element(0), c.size(0)};
    return {like_input, {tensor::FLOAT, {}}, {tensor::FLOAT, {}}, like_input};
}

results two_like_first(call const& c)
{
    result const like_input{c.element(0), c.size(0)};
    return {like_input, like_input};
}

// --- reductions, parts, paddings ---------------------------------------------------------------------------

/// The shape without the axes, or with 1 there. `axes`: nullptr: not known.
std::optional<dimensions> reduced(std::optional<dimensions> size, integers const* axes, bool keeps)
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

results reduce(call const& c)
{
    bool const keeps = c.number("keepdims", 1) != 0;
    integers const none;
    integers const* axes = c.has(1) ? c.list(1) : &none;
    auto size = c.size(0);
    if (c.number("noop_with_empty_axes", 0) != 0 && (axes == nullptr || axes->empty())) {
        auto const length = c.has(1) ? length_of(c, 1) : std::size_t{0};
        if (length == std::size_t{0}) return {{c.element(0), size}};
        if (!length)
            return {{c.element(0), keeps && size ? std::optional(dimensions(size->size())) : std::nullopt}};
    }
    if (axes == nullptr && !keeps && size)
        if (auto const length = length_of(c, 1); length && *length != 0 && *length <= size->size())
            return {{c.element(0), dimensions(size->size() - *length)}};
    return {{c.element(0), reduced(std::move(size), axes, keeps)}};
}

results reduce_by_attribute(call const& c)
{
    integers const axes = c.numbers("axes").value_or(integers{});
    return {{c.element(0), reduced(c.size(0), &axes, c.number("keepdims", 1) != 0)}};
}

results split(call const& c)
{
    auto const parts = static_cast<std::size_t>(c.node.output_size());
    auto const size = c.size(0);
    constexpr std::size_t most_shapes = std::size_t{1} << 20; // dimensions of all results together
    if (!size || parts == 0 || size->size() > most_shapes / parts) return results(parts, {c.element(0), {}});
    std::size_t const axis = axis_in(c.number("axis", 0), size->size());
    integers const* given = c.list(1);
    if (given != nullptr && given->size() != parts)
        throw std::runtime_error("it has " + std::to_string(parts) + " results and sizes of " +
                                 std::to_string(given->size()));
    results found;
    std::int64_t left = (*size)[axis].value;
    auto const n = static_cast<std::int64_t>(parts);
    std::int64_t const most = left < 0 ? open : left / n + (left % n != 0);
    dimensions part = *size;
    for (std::size_t i = 0; i != parts; ++i) {
        if (given != nullptr) part[axis] = at((*given)[i]);
        else if (c.has(1) || most < 0) part[axis] = {};
        else {
            part[axis] = at(std::min(most, left));
            left -= part[axis].value;
        }
        found.push_back({c.element(0), part});
    }
    return found;
}

/// Numbers that are an attribute before a version of the operator, and an operand since then.
struct moved_list {
    bool is_given = false;
    bool is_known = true; ///< or absent
    integers numbers = {};

    moved_list(call const& c, char const* name, std::size_t operand, std::int64_t since)
    {
        if (c.opset < since) {
            auto found = c.numbers(name);
            is_given = found.has_value();
            if (is_given) numbers = std::move(*found);
        } else if (c.has(operand)) {
            is_given = true;
            auto const* const found = c.list(operand);
            is_known = found != nullptr;
            if (is_known) numbers = *found;
        }
    }
};

/// The items of a slice of one axis. Backwards, what ends beyond the last item is open: by the standard it is
/// empty, and ONNX Runtime takes the greatest numbers for the first item there.
std::int64_t sliced(std::int64_t items, std::int64_t start, std::int64_t end, std::int64_t step)
{
    if (items < 0 || items > most_dimension || step == 0) return open;
    bool const is_back = step < 0;
    if (is_back && end >= std::numeric_limits<std::int32_t>::max()) return open;
    if (items == 0) return 0;
    auto const clamped = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
        if (at < 0) at = std::max(at, -items - 1) + items; // -1 is before the first
        return std::clamp(at, least, most);
    };
    std::int64_t const last = is_back ? items - 1 : items;
    std::int64_t const from = clamped(start, 0, last), to = clamped(end, is_back ? -1 : 0, last);
    std::int64_t const span = is_back ? from - to : to - from;
    if (span <= 0) return 0;
    std::uint64_t const stride =
        is_back ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(span - 1) / stride) + 1;
}

/// Axes that are not known leave all dimensions open.
results slice(call const& c)
{
    auto size = c.size(0);
    if (!size) return {{c.element(0), {}}};
    std::size_t const rank = size->size();
    moved_list const starts(c, "starts", 1, 10), ends(c, "ends", 2, 10), axes(c, "axes", 3, 10),
        steps(c, "steps", 4, 10);
    std::optional<std::size_t> count;
    if (starts.is_known) count = starts.numbers.size();
    else if (ends.is_known) count = ends.numbers.size();
    else count = length_of(c, 1);
    integers along = axes.numbers;
    if (!axes.is_given && count && *count <= rank)
        for (std::size_t i = 0; i != *count; ++i) along.push_back(static_cast<std::int64_t>(i));
    else if (!axes.is_given || !axes.is_known) return {{c.element(0), dimensions(rank)}};
    bool const has_steps = steps.is_given && c.opset >= 10;
    auto const expect_count = [&](moved_list const& list) {
        if (list.is_known && list.numbers.size() != along.size())
            throw std::runtime_error("it slices " + std::to_string(along.size()) + " axes by " +
                                     std::to_string(list.numbers.size()) + " numbers");
    };
    expect_count(starts);
    expect_count(ends);
    if (has_steps) expect_count(steps);
    std::vector<std::size_t> const which = axes_in(along, rank);
    for (std::size_t i = 0; i != which.size(); ++i) {
        dimension& d = (*size)[which[i]];
        bool const is_known = starts.is_known && ends.is_known && (!has_steps || steps.is_known);
        std::int64_t const step = has_steps && steps.is_known ? steps.numbers[i] : 1;
        if (!is_known) d = {};
        else if (starts.numbers[i] != 0 || step != 1 ||
                 ends.numbers[i] < std::numeric_limits<std::int32_t>::max())
            d = at(sliced(d.value, starts.numbers[i], ends.numbers[i], step));
        else if (d.value > ends.numbers[i]) d = at(ends.numbers[i]);
    }
    return {{c.element(0), std::move(size)}};
}

/// Axes may come in any order. Without them each dimension of 1 goes.
results squeeze(call const& c)
{
    auto const size = c.size(0);
    moved_list const axes(c, "axes", 1, 13);
    if (!size || !axes.is_known) return {{c.element(0), {}}};
    dimensions found;
    if (!axes.is_given) {
        for (dimension const& d : *size) {
            if (d.value < 0) return {{c.element(0), {}}};
            if (d.value != 1) found.push_back(d);
        }
        return {{c.element(0), std::move(found)}};
    }
    std::vector<bool> goes(size->size(), false);
    for (auto a : axes_in(axes.numbers, size->size())) {
        goes[a] = true;
        (void)same((*size)[a], at(1));
    }
    for (std::size_t i = 0; i != size->size(); ++i)
        if (!goes[i]) found.push_back((*size)[i]);
    return {{c.element(0), std::move(found)}};
}

/// The axes are those of the result.
results unsqueeze(call const& c)
{
    auto const size = c.size(0);
    moved_list const axes(c, "axes", 1, 13);
    if (!size) return {{c.element(0), {}}};
    if (!axes.is_known) {
        auto const added = length_of(c, 1);
        return {{c.element(0), added ? std::optional(dimensions(size->size() + *added)) : std::nullopt}};
    }
    std::size_t const rank = size->size() + axes.numbers.size();
    std::vector<bool> is_new(rank, false);
    for (auto a : axes_in(axes.numbers, rank)) is_new[a] = true;
    dimensions found;
    auto next = size->begin();
    for (std::size_t i = 0; i != rank; ++i) found.push_back(is_new[i] ? at(1) : *next++);
    return {{c.element(0), std::move(found)}};
}

/// `pads`: before all axes, then after all of them.
std::optional<dimensions> padded(std::optional<dimensions> size, std::vector<std::size_t> const& axes,
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

results pad(call const& c)
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

results resize(call const& c)
{
    auto size = c.size(0);
    auto const* scales = c.known(2);
    auto const* sizes = c.list(3);
    if (scales != nullptr && scales->real.empty()) scales = nullptr;
    if (sizes != nullptr && sizes->empty()) sizes = nullptr;
    auto const given_axes = c.numbers("axes");
    if (!size) {
        if (given_axes) return {{c.element(0), {}}};
        if (sizes != nullptr) size = dimensions(sizes->size());
        else if (scales != nullptr) size = dimensions(scales->real.size());
        else return {{c.element(0), {}}};
    }
    std::size_t const rank = size->size();
    std::vector<std::size_t> axes;
    if (given_axes) axes = axes_in(*given_axes, rank);
    else
        for (std::size_t i = 0; i != rank; ++i) axes.push_back(i);
    std::size_t const given = sizes != nullptr    ? sizes->size()
                              : scales != nullptr ? scales->real.size()
                                                  : axes.size();
    if (given != axes.size())
        throw std::runtime_error("it resizes " + std::to_string(axes.size()) + " axes by " +
                                 std::to_string(given) + " numbers");

    std::string const policy = c.word("keep_aspect_ratio_policy", "stretch");
    auto const nearest = [](float x) {
        return x >= 0 && x < 0x1p60F ? at(static_cast<std::int64_t>(x)) : dimension{};
    };
    bool const is_open = std::any_of(axes.begin(), axes.end(), [&](auto a) { return (*size)[a].value <= 0; });
    if (sizes != nullptr && policy == "stretch") {
        for (std::size_t i = 0; i != axes.size(); ++i) (*size)[axes[i]] = at((*sizes)[i]);
    } else if (sizes != nullptr && !is_open && (policy == "not_larger" || policy == "not_smaller")) {
        auto const scale_of = [&](std::size_t i) {
            return static_cast<float>((*sizes)[i]) / static_cast<float>((*size)[axes[i]].value);
        };
        float scale = axes.empty() ? 1 : scale_of(0);
        for (std::size_t i = 1; i < axes.size(); ++i)
            scale = policy == "not_larger" ? std::min(scale, scale_of(i)) : std::max(scale, scale_of(i));
        for (auto a : axes) (*size)[a] = nearest(std::round(scale * static_cast<float>((*size)[a].value)));
    } else if (scales != nullptr && sizes == nullptr) {
        for (std::size_t i = 0; i != axes.size(); ++i) {
            auto const scale = static_cast<float>(std::clamp(scales->real[i], -1e30, 1e30));
            dimension& d = (*size)[axes[i]];
            if (scales->real[i] == 1) continue;
            d = d.value < 0 ? dimension{} : nearest(std::floor(static_cast<float>(d.value) * scale));
        }
    } else
        for (auto a : axes) (*size)[a] = {};
    return {{c.element(0), std::move(size)}};
}

results center_crop_pad(call const& c)
{
    auto size = c.size(0);
    auto const* to = c.list(1);
    auto const given = c.numbers("axes");
    if (!size && !given && to != nullptr) size = dimensions(to->size());
    if (!size) return {{c.element(0), {}}};
    std::vector<std::size_t> axes;
    if (given) axes = axes_in(*given, size->size());
    else
        for (std::size_t i = 0; i != size->size(); ++i) axes.push_back(i);
    if (to != nullptr && to->size() != axes.size())
        throw std::runtime_error("it crops " + std::to_string(axes.size()) + " axes to " +
                                 std::to_string(to->size()) + " sizes");
    for (std::size_t i = 0; i != axes.size(); ++i)
        (*size)[axes[i]] = to == nullptr ? dimension{} : at((*to)[i]);
    return {{c.element(0), std::move(size)}};
}

// --- windows over space ------------------------------------------------------------------------------------

/// The attributes of convolutions and poolings.
struct window {
    std::vector<std::int64_t> kernel; ///< open where not known
    integers strides, dilations, pads;
    bool is_same = false; ///< as many positions as strides fit into the input
    bool has_ceil_mode = false;
};

window window_of(call const& c, integers kernel)
{
    std::size_t const rank = kernel.size();
    auto const list = [&](char const* name, std::size_t count, std::int64_t otherwise) {
        integers found = c.numbers(name).value_or(integers(count, otherwise));
        if (found.size() != count)
            throw std::runtime_error("attribute " + std::string(name) + " has " +
                                     std::to_string(found.size()) + " numbers, not " + std::to_string(count));
        return found;
    };
    window found;
    found.kernel = std::move(kernel);
    found.strides = list("strides", rank, 1);
    found.dilations = list("dilations", rank, 1);
    std::string const policy = c.word("auto_pad", "NOTSET");
    found.is_same = policy == "SAME_UPPER" || policy == "SAME_LOWER";
    found.pads = policy == "VALID" || found.is_same ? integers(2 * rank, 0) : list("pads", 2 * rank, 0);
    found.has_ceil_mode = c.number("ceil_mode", 0) != 0;
    return found;
}

/// The positions of the window along an axis of space. One that begins in the padding at the end does not
/// count.
std::int64_t positions(window const& w, std::size_t i, std::int64_t items)
{
    auto const is_large = [](std::int64_t x) { return x < 0 || x > most_attribute; };
    std::int64_t const before = w.pads[i], after = w.pads[w.kernel.size() + i], stride = w.strides[i];
    if (items < 0 || items > most_dimension || stride <= 0 || is_large(stride)) return open;
    if (w.is_same) return items / stride + (items % stride != 0);
    if (is_large(before) || is_large(after) || is_large(w.kernel[i]) || is_large(w.dilations[i])) return open;
    std::int64_t const free = items + before + after - (w.kernel[i] - 1) * w.dilations[i] - 1;
    if (w.kernel[i] == 0 || free < 0) return open;
    std::int64_t found = free / stride + 1;
    if (w.has_ceil_mode && free % stride != 0 && found * stride < items + before) ++found;
    return found;
}

/// `channels_last`: the axes of space are all but the first and the last.
std::optional<dimensions> slid(std::optional<dimensions> const& size, window const& w, dimension channels,
                               bool channels_last)
{
    if (!size) return {};
    dimensions found{(*size)[0]};
    if (!channels_last) found.push_back(channels);
    for (std::size_t i = 0; i != w.kernel.size(); ++i)
        found.push_back(at(positions(w, i, (*size)[i + (channels_last ? 1 : 2)].value)));
    if (channels_last) found.push_back(channels);
    return found;
}

void check_space(std::optional<dimensions> const& size, integers const& kernel)
{
    if (size && size->size() != kernel.size() + 2)
        throw std::runtime_error("input 0 has rank " + std::to_string(size->size()) + " and its kernel " +
                                 std::to_string(kernel.size()));
}

/// X, W; kernels are of the shape of W after its first two axes, unless the attribute names it.
std::optional<dimensions> convolved(call const& c, bool channels_last)
{
    auto const size = c.size(0), weights = c.size(1);
    if (!size) return {};
    if (size->size() < 2) throw std::runtime_error("input 0 has rank " + std::to_string(size->size()));
    integers kernel(size->size() - 2, open);
    if (auto const given = c.numbers("kernel_shape"); given && !given->empty()) kernel = *given;
    else if (weights && weights->size() == size->size() && !channels_last)
        for (std::size_t i = 0; i != kernel.size(); ++i) kernel[i] = (*weights)[i + 2].value;
    check_space(size, kernel);
    dimension const filters = weights && !weights->empty() ? (*weights)[0] : dimension{};
    return slid(size, window_of(c, std::move(kernel)), filters, channels_last);
}

template <bool ChannelsLast>
results convolve(call const& c)
{
    return {{c.element(0), convolved(c, ChannelsLast)}};
}

/// X, W: [channels, filters / group, kernel...]. With SAME there are as many positions as the stride takes
/// apart, unless the kernel covers fewer.
results convolve_transposed(call const& c)
{
    auto const size = c.size(0), weights = c.size(1);
    if (!size) return {{c.element(0), {}}};
    if (size->size() < 3) throw std::runtime_error("input 0 has rank " + std::to_string(size->size()));
    std::size_t const space = size->size() - 2;
    integers kernel(space, open);
    if (auto const given = c.numbers("kernel_shape"); given && !given->empty()) kernel = *given;
    else if (weights && weights->size() == size->size())
        for (std::size_t i = 0; i != space; ++i) kernel[i] = (*weights)[i + 2].value;
    check_space(size, kernel);
    window const w = window_of(c, std::move(kernel));
    integers const added = c.numbers("output_padding").value_or(integers(space, 0)),
                   made = c.numbers("output_shape").value_or(integers());
    if (added.size() != space)
        throw std::runtime_error("attribute output_padding has " + std::to_string(added.size()) +
                                 " numbers, not " + std::to_string(space));
    dimensions found{
        (*size)[0],
        at(weights && weights->size() > 1 ? times((*weights)[1].value, c.number("group", 1)) : open)};
    auto const is_large = [](std::int64_t x) { return x < 0 || x > most_attribute; };
    for (std::size_t i = 0; i != space; ++i) {
        std::int64_t const items = (*size)[i + 2].value, before = w.pads[i], after = w.pads[space + i];
        if (!made.empty()) {
            bool const is_of_space = made.size() == space;
            if (!is_of_space && made.size() != space + 2)
                throw std::runtime_error("attribute output_shape has " + std::to_string(made.size()) +
                                         " numbers");
            found.push_back(at(made[is_of_space ? i : i + 2]));
            continue;
        }
        found.emplace_back();
        if (items < 1 || is_large(items) || is_large(before) || is_large(after) || is_large(w.kernel[i]) ||
            w.kernel[i] == 0 || is_large(w.dilations[i]) || is_large(w.strides[i]) || is_large(added[i]))
            continue;
        // Each product is of two numbers below 2^31.
        std::int64_t const covered =
            plus(plus(times(w.strides[i], items - 1), times(w.kernel[i] - 1, w.dilations[i])), added[i] + 1);
        if (covered < 0) continue;
        found.back() = at(w.is_same ? std::min(covered, items * w.strides[i]) : covered - before - after);
    }
    return {{c.element(0), std::move(found)}};
}

/// The second offset's axes of space are those of the result.
results convolve_deformed(call const& c)
{
    auto found = convolved(c, false);
    auto const offsets = c.size(2);
    if (found && offsets && offsets->size() == found->size())
        for (std::size_t i = 2; i != found->size(); ++i) (*found)[i] = same((*found)[i], (*offsets)[i]);
    return {{c.element(0), std::move(found)}};
}

std::optional<dimensions> pooled(call const& c, bool channels_last)
{
    auto const kernel = c.numbers("kernel_shape");
    auto const size = c.size(0);
    if (!kernel) throw std::runtime_error("it has no attribute kernel_shape");
    check_space(size, *kernel);
    if (!size) return {};
    return slid(size, window_of(c, *kernel), channels_last ? size->back() : (*size)[1], channels_last);
}

results pool(call const& c)
{
    auto const size = pooled(c, false);
    return {{c.element(0), size}, {tensor::INT64, size}};
}

results pool_channels_last(call const& c) { return {{c.element(0), pooled(c, true)}}; }

results pool_quantized(call const& c)
{
    return {{c.element(0), pooled(c, c.number("channels_last", 0) != 0)}};
}

results pool_all_quantized(call const& c)
{
    auto size = c.size(0);
    bool const channels_last = c.number("channels_last", 0) != 0;
    for (std::size_t i = 1; size && i < size->size(); ++i)
        if (i != (channels_last ? size->size() - 1 : 1)) (*size)[i] = at(1);
    return {{c.element(0), std::move(size)}};
}

results column_to_image(call const& c)
{
    auto const size = c.size(0);
    auto const *image = c.list(1), *block = c.list(2);
    if (image == nullptr) {
        auto const length = length_of(c, 1);
        if (!length) return {{c.element(0), {}}};
        dimensions found(*length + 2);
        if (size && !size->empty()) found[0] = (*size)[0];
        return {{c.element(0), std::move(found)}};
    }
    dimensions found{size && !size->empty() ? (*size)[0] : dimension{}, {}};
    if (size && size->size() == 3 && block != nullptr) {
        std::int64_t items = 1;
        for (auto n : *block) items = times(items, n);
        found[1] = at(over((*size)[1].value, items));
    }
    for (auto n : *image) found.push_back(at(n));
    return {{c.element(0), std::move(found)}};
}

results sample_grid(call const& c)
{
    auto const x = c.size(0), grid = c.size(1);
    if (!x && !grid) return {{c.element(0), {}}};
    std::size_t const rank = x ? x->size() : grid->size();
    if (rank < 3 || (x && grid && grid->size() != rank))
        throw std::runtime_error("its operands have ranks " + std::to_string(rank) + " and " +
                                 std::to_string(grid ? grid->size() : rank));
    dimensions found(rank);
    if (x) found[0] = (*x)[0], found[1] = (*x)[1];
    if (grid) {
        found[0] = same(found[0], (*grid)[0]);
        for (std::size_t i = 2; i != rank; ++i) found[i] = (*grid)[i - 1];
    }
    return {{c.element(0), std::move(found)}};
}

results affine_grid(call const& c)
{
    auto const* size = c.list(1);
    auto const theta = c.size(0);
    std::size_t rank = 0; // of the images
    if (size != nullptr) rank = size->size();
    else if (auto const length = length_of(c, 1)) rank = *length;
    else if (theta && theta->size() == 3 && (*theta)[1].value > 0 && (*theta)[1].value < 4)
        rank = static_cast<std::size_t>((*theta)[1].value) + 2;
    if (rank != 4 && rank != 5) return {{c.element(0), {}}};
    dimensions found(rank);
    if (theta && theta->size() == 3) found[0] = (*theta)[0];
    if (size != nullptr) {
        found[0] = at((*size)[0]);
        for (std::size_t i = 2; i != rank; ++i) found[i - 1] = at((*size)[i]);
    }
    found[rank - 1] = at(static_cast<std::int64_t>(rank) - 2);
    return {{c.element(0), std::move(found)}};
}

// --- signals -----------------------------------------------------------------------------------------------

results fourier(call const& c)
{
    auto size = c.size(0);
    if (!size || size->size() < 2) return {{c.element(0), {}}};
    bool const is_attribute = c.opset < 20; // the axis
    bool const is_half = c.number("onesided", 0) != 0;
    bool const has_length = c.has(1);
    auto const axis = is_attribute ? std::optional(c.number("axis", 1))
                      : c.has(2)   ? c.scalar(2)
                                   : std::int64_t{-2};
    if (!axis) {
        if (is_half || has_length) size->assign(size->size(), {});
    } else {
        dimension& d = (*size)[axis_in(*axis, size->size())];
        if (has_length) d = at(c.scalar(1).value_or(open));
        if (is_half) d = at(d.value < 0 ? open : d.value / 2 + 1);
    }
    size->back() = at(2);
    return {{c.element(0), std::move(size)}};
}

results short_fourier(call const& c)
{
    dimensions found(4);
    found[3] = at(2);
    auto const signal = c.size(0), window = c.size(2);
    std::int64_t length = c.scalar(3).value_or(open);
    if (!c.has(3) && window && window->size() == 1) length = (*window)[0].value;
    std::int64_t const step = c.scalar(1).value_or(open);
    std::int64_t const items = signal && signal->size() > 1 ? (*signal)[1].value : open;
    if (signal && !signal->empty()) found[0] = (*signal)[0];
    if (length >= 0 && step > 0 && items >= length) found[1] = at((items - length) / step + 1);
    if (length >= 0) found[2] = at(c.number("onesided", 1) != 0 ? length / 2 + 1 : length);
    return {{c.element(0), std::move(found)}};
}

results signal_window(call const& c)
{
    return {{c.type_in("output_datatype", tensor::FLOAT), dimensions{at(c.scalar(0).value_or(open))}}};
}

results mel_weights(call const& c)
{
    std::int64_t const length = c.scalar(1).value_or(open);
    return {{c.type_in("output_datatype", tensor::FLOAT),
             dimensions{at(length < 0 ? open : length / 2 + 1), at(c.scalar(0).value_or(open))}}};
}

/// Of ONNX Runtime: the last axis.
results real_fourier(call const& c)
{
    auto size = c.size(0);
    if (!size || size->empty() || c.number("signal_ndim", 1) != 1) return {{c.element(0), {}}};
    dimension& d = size->back();
    if (c.number("onesided", 1) != 0) d = at(d.value < 0 ? open : d.value / 2 + 1);
    size->push_back(at(2));
    return {{c.element(0), std::move(size)}};
}

results inverse_real_fourier(call const& c)
{
    auto size = c.size(0);
    if (!size || size->size() < 2 || c.number("signal_ndim", 1) != 1) return {{c.element(0), {}}};
    size->pop_back();
    dimension& d = size->back();
    if (c.number("onesided", 1) != 0) d = at(d.value < 1 ? open : times(d.value - 1, 2));
    return {{c.element(0), std::move(size)}};
}

// --- text and images ---------------------------------------------------------------------------------------

results concatenate_text(call const& c) { return {{tensor::STRING, broadcast(c.size(0), c.size(1))}}; }

results split_text(call const& c)
{
    auto const size = c.size(0);
    auto parts = size;
    if (parts) parts->push_back({});
    return {{tensor::STRING, std::move(parts)}, {tensor::INT64, size}};
}

results decode_image(call const& c)
{
    dimensions found(3);
    found[2] = at(c.word("pixel_format", "RGB") == "Grayscale" ? 1 : 3);
    return {{tensor::UINT8, std::move(found)}};
}

// --- what ONNX 1.12 leaves open ----------------------------------------------------------------------------

/// The labels of one tensor in an equation of Einsum: letters, and at most one ellipsis.
struct labels {
    std::string before, after; ///< the ellipsis
    bool has_rest = false;

    explicit labels(std::string const& text)
    {
        auto const dots = text.find("...");
        has_rest = dots != std::string::npos;
        before = text.substr(0, dots);
        if (has_rest) after = text.substr(dots + 3);
        auto const is_letter = [](char x) { return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z'); };
        for (char x : before + after)
            if (!is_letter(x)) throw std::runtime_error("its equation has a label that is no letter");
    }
};

results einsum(call const& c)
{
    std::string text = c.word("equation", "");
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    auto const arrow = text.find("->");
    std::string const left = text.substr(0, arrow);
    auto const terms = static_cast<std::size_t>(std::count(left.begin(), left.end(), ',')) + 1;
    if (terms != static_cast<std::size_t>(c.node.input_size()))
        throw std::runtime_error("its equation is of " + std::to_string(terms) + " tensors and it has " +
                                 std::to_string(c.node.input_size()) + " inputs");

    struct {
        int uses = 0;
        dimension size = {};
    } of_label[128];
    std::optional<dimensions> rest = dimensions{};
    std::size_t from = 0;
    for (std::size_t i = 0; i != terms; ++i) {
        std::size_t const to = std::min(left.find(',', from), left.size());
        labels const term(left.substr(from, to - from));
        from = to + 1;
        auto const size = c.size(i);
        std::size_t const letters = term.before.size() + term.after.size();
        if (size && (size->size() < letters || (size->size() != letters && !term.has_rest)))
            throw std::runtime_error("input " + std::to_string(i) + " has rank " +
                                     std::to_string(size->size()) + " and " + std::to_string(letters) +
                                     " labels");
        auto const use = [&](char label, std::size_t axis) {
            auto& found = of_label[static_cast<unsigned char>(label)];
            dimension const d = size ? (*size)[axis] : dimension{};
            found.size = found.uses++ == 0 ? d : broadcast(found.size, d);
        };
        std::size_t const end = size ? size->size() - term.after.size() : 0;
        for (std::size_t k = 0; k != term.before.size(); ++k) use(term.before[k], k);
        for (std::size_t k = 0; k != term.after.size(); ++k) use(term.after[k], end + k);
        if (!term.has_rest) continue;
        if (!size) rest = std::nullopt;
        else {
            auto const begin = size->begin() + static_cast<std::ptrdiff_t>(term.before.size());
            rest = broadcast(rest, dimensions(begin, size->begin() + static_cast<std::ptrdiff_t>(end)));
        }
    }

    dimensions found;
    auto const append = [&](std::string const& made) {
        for (char label : made) {
            if (of_label[static_cast<unsigned char>(label)].uses == 0)
                throw std::runtime_error("its equation makes a label that no input has");
            found.push_back(of_label[static_cast<unsigned char>(label)].size);
        }
    };
    if (arrow != std::string::npos) {
        labels const made(text.substr(arrow + 2));
        if (made.has_rest && !rest) return {{c.element(0), {}}};
        append(made.before);
        if (made.has_rest) found.insert(found.end(), rest->begin(), rest->end());
        append(made.after);
    } else {
        if (!rest) return {{c.element(0), {}}};
        found = *rest;
        for (auto const& label : of_label) // sorted
            if (label.uses == 1) found.push_back(label.size);
    }
    return {{c.element(0), std::move(found)}};
}

results one_hot(call const& c)
{
    auto size = c.size(0);
    if (!size) return {{c.element(2), {}}};
    dimension depth = at(c.scalar(1).value_or(open));
    if (auto const* k = c.known(1); k != nullptr && k->real.size() == 1)
        if (k->real[0] >= 0 && k->real[0] < 0x1p53) depth = at(static_cast<std::int64_t>(k->real[0]));
    std::size_t const axis = axis_in(c.number("axis", -1), size->size() + 1);
    size->insert(size->begin() + static_cast<std::ptrdiff_t>(axis), depth);
    return {{c.element(2), std::move(size)}};
}

/// In doubles, as ONNX Runtime counts.
results range(call const& c)
{
    dimension length{};
    auto const *start = c.known(0), *limit = c.known(1), *delta = c.known(2);
    if (start != nullptr && limit != nullptr && delta != nullptr) {
        if (start->real.size() == 1 && limit->real.size() == 1 && delta->real.size() == 1) {
            double const items = std::ceil((limit->real[0] - start->real[0]) / delta->real[0]);
            if (items < 0x1p53) length = at(static_cast<std::int64_t>(std::max(items, 0.0)));
        } else if (auto const from = c.scalar(0), to = c.scalar(1), step = c.scalar(2); from && to && step) {
            auto const far = [](std::int64_t x) { return x > most_dimension || x < -most_dimension; };
            if (*step != 0 && !far(*from) && !far(*to) && !far(*step)) {
                std::int64_t const span = *step > 0 ? *to - *from : *from - *to, by = std::abs(*step);
                length = at(span <= 0 ? 0 : (span - 1) / by + 1);
            }
        }
    }
    return {{c.element(0), dimensions{length}}};
}

results compress(call const& c)
{
    auto const* chosen = c.list(1);
    dimension const kept =
        chosen == nullptr ? dimension{}
                          : at(std::count_if(chosen->begin(), chosen->end(), [](auto x) { return x != 0; }));
    if (c.find("axis") == nullptr) return {{c.element(0), dimensions{kept}}};
    auto size = c.size(0);
    if (size) (*size)[axis_in(c.number("axis", 0), size->size())] = kept;
    return {{c.element(0), std::move(size)}};
}

/// ONNX 1.12 leaves a scalar open.
results transpose(call const& c)
{
    auto const size = c.size(0);
    if (!size) return {{c.element(0), {}}};
    dimensions found(size->rbegin(), size->rend());
    if (auto const order = c.numbers("perm")) {
        auto const axes = axes_in(*order, size->size());
        if (axes.size() != size->size())
            throw std::runtime_error("it transposes a tensor of rank " + std::to_string(size->size()) +
                                     " by " + std::to_string(axes.size()) + " axes");
        for (std::size_t i = 0; i != axes.size(); ++i) found[i] = (*size)[axes[i]];
    }
    return {{c.element(0), std::move(found)}};
}

results has_element(call const&) { return {{tensor::BOOL, dimensions{}}}; }

// --- element types that ONNX 1.12 refuses ------------------------------------------------------------------

results cast(call const& c) { return {{c.type_in("to", 0), c.size(0)}}; }

results constant(call const& c)
{
    auto const& stored = c.find("value")->t();
    dimensions size;
    for (auto d : stored.dims()) size.push_back(at(d));
    return {{stored.data_type(), std::move(size)}};
}

results constant_of_shape(call const& c)
{
    int const element = c.find("value")->t().data_type();
    if (auto const* size = c.list(0)) {
        dimensions found;
        for (auto d : *size) found.push_back(at(d));
        return {{element, std::move(found)}};
    }
    auto const rank = length_of(c, 0);
    return {{element, rank ? std::optional(dimensions(*rank)) : std::nullopt}};
}

// --- products of matrices ----------------------------------------------------------------------------------

/// Matrices in the last two axes; a vector is a row on the left and a column on the right.
std::optional<dimensions> multiplied(std::optional<dimensions> a, std::optional<dimensions> b)
{
    if (!a || !b || a->empty() || b->empty()) return {};
    bool const is_row = a->size() == 1, is_column = b->size() == 1;
    if (is_row) a->insert(a->begin(), at(1));
    if (is_column) b->push_back(at(1));
    dimension const rows = (*a)[a->size() - 2], columns = b->back();
    (void)same(a->back(), (*b)[b->size() - 2]);
    a->resize(a->size() - 2);
    b->resize(b->size() - 2);
    auto found = broadcast(a, b);
    if (!is_row) found->push_back(rows);
    if (!is_column) found->push_back(columns);
    return found;
}

results multiply_fused(call const& c)
{
    auto a = c.size(0), b = c.size(1);
    if (c.number("transBatchA", 0) != 0 || c.number("transBatchB", 0) != 0) {
        if (!a || !b) return {{c.element(0), {}}};
        return {{c.element(0), dimensions(std::max(a->size(), b->size()))}};
    }
    if (a && a->size() > 1 && c.number("transA", 0) != 0) std::swap(a->back(), (*a)[a->size() - 2]);
    if (b && b->size() > 1 && c.number("transB", 0) != 0) std::swap(b->back(), (*b)[b->size() - 2]);
    return {{c.element(0), multiplied(std::move(a), std::move(b))}};
}

/// The element type is that of another operand.
template <std::size_t Type>
results multiply(call const& c)
{
    return {{c.element(Type), multiplied(c.size(0), c.size(1))}};
}

std::optional<dimensions> general_product(call const& c, std::size_t second)
{
    auto const a = c.size(0, 2), b = c.size(second, 2);
    bool const turns_a = c.number("transA", 0) != 0, turns_b = c.number("transB", 0) != 0;
    if (a && b) (void)same((*a)[turns_a ? 0 : 1], (*b)[turns_b ? 1 : 0]);
    return dimensions{a ? (*a)[turns_a ? 1 : 0] : dimension{}, b ? (*b)[turns_b ? 0 : 1] : dimension{}};
}

results multiply_general(call const& c) { return {{c.element(0), general_product(c, 1)}}; }

results multiply_general_quantized(call const& c)
{
    return {{c.has(7) ? c.element(0) : int{tensor::FLOAT}, general_product(c, 3)}};
}

/// The weights are packed; the attribute N is the columns.
results multiply_packed(call const& c)
{
    auto size = c.size(0);
    if (size && !size->empty()) size->back() = at(c.number("N", open));
    return {{c.element(0), std::move(size)}};
}

// --- attention ---------------------------------------------------------------------------------------------

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
dimension after_past(call const& c, std::size_t past, dimension const& added)
{
    if (!c.has(past)) return added;
    auto const size = c.size(past);
    return size && size->size() == 4 ? at(plus((*size)[2].value, added.value)) : dimension{};
}

/// Q, K, V, mask, past key, past value -> Y, present key, present value, Q * K.
results attend(call const& c)
{
    heads const q(c.size(0), c.number("q_num_heads", open)), k(c.size(1), c.number("kv_num_heads", open)),
        v(c.size(2), c.number("kv_num_heads", open));
    results found{{c.element(0), {}}, {c.element(1), {}}, {c.element(2), {}}, {c.element(0), {}}};
    if (q.is_known) {
        if (q.is_apart) found[0].size = dimensions{q.batch, q.count, q.length, v.width};
        else found[0].size = dimensions{q.batch, q.length, at(times(q.count.value, v.width.value))};
    }
    dimension const total = after_past(c, 4, k.length);
    if (k.is_known) found[1].size = dimensions{k.batch, k.count, total, k.width};
    if (v.is_known) found[2].size = dimensions{v.batch, v.count, total, v.width};
    if (q.is_known) found[3].size = dimensions{q.batch, q.count, q.length, total};
    return found;
}

/// One product makes queries, keys and values. `past`: the operand.
results attend_itself(call const& c, int element, std::size_t past)
{
    auto const input = c.size(0), weights = c.size(1), bias = c.size(2);
    auto const parts = c.numbers("qkv_hidden_sizes");
    std::int64_t const number = c.number("num_heads", open);
    std::int64_t columns = weights && weights->size() == 2 ? (*weights)[1].value : open;
    if (columns < 0 && bias && bias->size() == 1) columns = (*bias)[0].value;
    bool const has_parts = parts && parts->size() == 3;
    std::int64_t const width = has_parts ? (*parts)[2] : over(columns, 3);
    results found{{element, {}}, {element, {}}};
    if (!input || input->size() != 3) return found;
    found[0].size = dimensions{(*input)[0], (*input)[1], at(width)};
    if (c.number("past_present_share_buffer", 0) != 0) {
        if (c.has(past)) found[1].size = c.size(past);
        return found;
    }
    dimension length = (*input)[1];
    if (c.has(past)) {
        auto const before = c.size(past);
        length = before && before->size() == 5 ? at(plus((*before)[3].value, length.value)) : dimension{};
    }
    found[1].size = dimensions{at(2), (*input)[0], at(number), length, at(over(width, number))};
    if (has_parts && (*parts)[0] != width) found[1].size->back() = {};
    return found;
}

results attend_packed(call const& c) { return attend_itself(c, c.element(0), 4); }
results attend_quantized(call const& c) { return attend_itself(c, c.element(3), 8); }

results attend_many_heads(call const& c)
{
    auto const query = c.size(0), key = c.size(1), value = c.size(2);
    std::int64_t const number = c.number("num_heads", open);
    results found(3, {c.element(0), {}});
    found.push_back({c.element(0), {}});
    if (!query || query->size() < 3) return found;
    if (query->size() == 5) { // [batch, length, heads, 3, width]
        found[0].size = dimensions{(*query)[0], (*query)[1], at(times((*query)[2].value, (*query)[4].value))};
        return found;
    }
    dimension width{}; // of the result
    if (!c.has(2)) width = query->back();
    else if (value && value->size() == 3) width = value->back();
    else if (value && value->size() == 4) width = at(times((*value)[1].value, (*value)[3].value));
    found[0].size = dimensions{(*query)[0], (*query)[1], width};
    if (c.has(8) || !key || !value) return found; // results may be of the size of a buffer
    heads const k(key, number), v(value, number);
    if (k.is_known) found[1].size = dimensions{(*query)[0], at(number), after_past(c, 6, k.length), k.width};
    if (v.is_known) found[2].size = dimensions{(*query)[0], at(number), after_past(c, 7, v.length), v.width};
    return found;
}

results attend_grouped(call const& c)
{
    auto const query = c.size(0), past = c.size(3);
    std::int64_t const number = c.number("num_heads", open), pairs = c.number("kv_num_heads", open);
    results found{{c.element(0), {}},
                  {c.has(3) ? c.element(3) : c.element(0), {}},
                  {c.has(4) ? c.element(4) : c.element(0), {}}};
    if (!query || query->size() != 3) return found;
    std::int64_t const all = c.has(1) ? number : plus(number, times(2, pairs));
    std::int64_t const width = over(query->back().value, all);
    found[0].size = dimensions{(*query)[0], (*query)[1], c.has(1) ? query->back() : at(times(number, width))};
    dimension total{};
    auto const length = c.scalar(6);
    std::int64_t const buffer = past && past->size() == 4 ? (*past)[2].value : c.has(3) ? open : 0;
    if (length && *length >= 0 && buffer >= 0) total = at(std::max(*length, buffer));
    found[1].size = found[2].size = dimensions{(*query)[0], at(pairs), total, at(width)};
    return found;
}

results embed_layer(call const& c)
{
    auto const ids = c.size(0), words = c.size(2);
    results found{{c.element(2), {}}, {tensor::INT32, {}}, {c.element(2), {}}};
    if (!ids || ids->size() != 2) return found;
    found[0].size = dimensions{(*ids)[0], (*ids)[1], words && words->size() == 2 ? (*words)[1] : dimension{}};
    found[1].size = dimensions{(*ids)[0]};
    found[2].size = found[0].size;
    return found;
}

// --- others of ONNX Runtime --------------------------------------------------------------------------------

results split_half(call const& c)
{
    auto size = c.size(0);
    if (size && !size->empty()) size->back() = at(over(size->back().value, 2));
    return {{c.element(0), std::move(size)}};
}

results long_short_term(call const& c)
{
    auto const x = c.size(0);
    dimension const hidden = at(c.number("hidden_size", open));
    dimension const ways = at(c.word("direction", "forward") == "bidirectional" ? 2 : 1);
    dimension const length = x && x->size() == 3 ? (*x)[0] : dimension{};
    dimension const batch = x && x->size() == 3 ? (*x)[1] : dimension{};
    result const last{c.element(0), dimensions{ways, batch, hidden}};
    return {{c.element(0), dimensions{length, ways, batch, hidden}}, last, last};
}

results broadcast_quantized(call const& c) { return {{c.element(0), broadcast(c.size(0), c.size(3))}}; }

results choose_quantized(call const& c)
{
    return {{c.element(1), broadcast(c.size(0), broadcast(c.size(1), c.size(4)))}};
}

/// Scale and zero point of the result, then each operand with its own.
results concatenate_quantized(call const& c)
{
    std::optional<dimensions> found = c.size(2);
    if (!found) return {{c.element(1), {}}};
    std::size_t const axis = axis_in(c.number("axis", 0), found->size());
    for (std::size_t i = 5; i < static_cast<std::size_t>(c.node.input_size()); i += 3) {
        auto const part = c.size(i);
        if (!part || part->size() != found->size()) {
            (*found)[axis] = {};
            continue;
        }
        for (std::size_t d = 0; d != found->size(); ++d)
            (*found)[d] =
                d == axis ? at(plus((*found)[d].value, (*part)[d].value)) : same((*found)[d], (*part)[d]);
    }
    return {{c.element(1), std::move(found)}};
}

results gather_blocks(call const& c)
{
    auto const data = c.size(0), indexes = c.size(1);
    if (!data || !indexes || indexes->empty()) return {{c.element(0), {}}};
    std::int64_t const depth = indexes->back().value;
    if (depth < 0 || depth > static_cast<std::int64_t>(data->size())) return {{c.element(0), {}}};
    dimensions found(indexes->begin(), indexes->end() - 1);
    found.insert(found.end(), data->begin() + depth, data->end());
    return {{c.element(0), std::move(found)}};
}

results expand_dimensions(call const& c)
{
    auto size = c.size(0);
    auto const axis = c.scalar(1);
    if (!size || !axis) return {{c.element(0), {}}};
    size->insert(size->begin() + static_cast<std::ptrdiff_t>(axis_in(*axis, size->size() + 1)), at(1));
    return {{c.element(0), std::move(size)}};
}

results unique(call const& c)
{
    auto const size = c.size(0);
    return {{c.element(0), dimensions(1)}, {tensor::INT64, size}, {tensor::INT64, dimensions(1)}};
}

// --- by name -----------------------------------------------------------------------------------------------

using rule = results (*)(call const&);

struct versioned_rule {
    std::int64_t since;
    rule types;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
};

/// Of opsets that ONNX 1.12 does not know, or that it infers otherwise.
std::unordered_map<std::string_view, versioned_rule> const& standard_rules()
{
    static std::unordered_map<std::string_view, versioned_rule> const found{
        {"Affine", {1, like<>}}, // this one and three others were removed, and ONNX Runtime runs them
        {"AffineGrid", {20, affine_grid}},
        {"Attention", {23, attend}},
        {"AveragePool", {19, pool}},
        {"BitwiseAnd", {18, broadcast_of_two}},
        {"BitwiseNot", {18, like<>}},
        {"BitwiseOr", {18, broadcast_of_two}},
        {"BitwiseXor", {18, broadcast_of_two}},
        {"BlackmanWindow", {17, signal_window}},
        {"CenterCropPad", {18, center_crop_pad}},
        {"Cast", {19, cast}},
        {"CastLike", {19, like_first_of_type<1>}},
        {"Col2Im", {18, column_to_image}},
        {"Compress", {9, compress}},
        {"ConvTranspose", {1, convolve_transposed}},
        {"DFT", {17, fourier}},
        {"DeformConv", {19, convolve_deformed}},
        {"DequantizeLinear", {19, dequantize}},
        {"Einsum", {12, einsum}},
        {"Gelu", {20, like<>}},
        {"GridSample", {20, sample_grid}},
        {"GroupNormalization", {18, like<>}},
        {"HammingWindow", {17, signal_window}},
        {"HannWindow", {17, signal_window}},
        {"ImageDecoder", {20, decode_image}},
        {"ImageScaler", {1, like<>}},
        {"LayerNormalization", {1, normalize_layer<true>, 17}}, // of ONNX Runtime, before it was standard
        {"LpPool", {18, pool}},
        {"MelWeightMatrix", {17, mel_weights}},
        {"Mish", {18, like<>}},
        {"OneHot", {9, one_hot}},
        {"OptionalHasElement", {18, has_element}},
        {"Pad", {18, pad}},
        {"PRelu", {7, broadcast_of_two}}, // ONNX Runtime also broadcasts the first operand
        {"ParametricSoftplus", {1, like<>}},
        {"QuantizeLinear", {19, quantize}},
        {"RMSNormalization", {23, like_first_of_type<1>}},
        {"Range", {11, range}},
        {"ReduceL1", {18, reduce}},
        {"ReduceL2", {18, reduce}},
        {"ReduceLogSum", {18, reduce}},
        {"ReduceLogSumExp", {18, reduce}},
        {"ReduceMax", {18, reduce}},
        {"ReduceMean", {18, reduce}},
        {"ReduceMin", {18, reduce}},
        {"ReduceProd", {18, reduce}},
        {"ReduceSumSquare", {18, reduce}},
        {"RegexFullMatch", {20, like_first_of_bool}},
        {"Resize", {18, resize}},
        {"RotaryEmbedding", {23, like<>}},
        {"STFT", {17, short_fourier}},
        {"ScaledTanh", {1, like<>}},
        {"SimplifiedLayerNormalization", {1, normalize_layer<false>}},
        {"Slice", {1, slice}},
        {"Split", {18, split}},
        {"Squeeze", {1, squeeze}},
        {"StringConcat", {20, concatenate_text}},
        {"StringSplit", {20, split_text}},
        {"Swish", {24, like<>}},
        {"TensorScatter", {24, like<>}},
        {"Transpose", {1, transpose}},
        {"Unsqueeze", {1, unsqueeze}},
    };
    return found;
}

std::unordered_map<std::string_view, rule> const& runtime_rules()
{
    static std::unordered_map<std::string_view, rule> const found{
        {"Attention", attend_packed},
        {"BiasAdd", like<>},
        {"BiasGelu", like<>},
        {"BiasSoftmax", like<>},
        {"BiasSplitGelu", split_half},
        {"DequantizeLinear", dequantize},
        {"DynamicQuantizeLSTM", long_short_term},
        {"DynamicQuantizeMatMul", multiply<0>},
        {"EmbedLayerNormalization", embed_layer},
        {"ExpandDims", expand_dimensions},
        {"FastGelu", like<>},
        {"FusedConv", convolve<false>},
        {"FusedGemm", multiply_general},
        {"FusedMatMul", multiply_fused},
        {"FusedMatMulActivation", multiply_fused},
        {"GatherND", gather_blocks},
        {"Gelu", like<>},
        {"GemmFastGelu", multiply<0>},
        {"GroupNorm", like<>},
        {"GroupQueryAttention", attend_grouped},
        {"Inverse", like<>},
        {"Irfft", inverse_real_fourier},
        {"LayerNormalization", normalize_layer<true>},
        {"MatMulIntegerToFloat", multiply<2>},
        {"MatMulNBits", multiply_packed},
        {"MoE", like<>},
        {"MultiHeadAttention", attend_many_heads},
        {"NGramRepeatBlock", like<1>},
        {"NhwcConv", convolve<true>},
        {"NhwcFusedConv", convolve<true>},
        {"NhwcMaxPool", pool_channels_last},
        {"Pad", pad},
        {"QAttention", attend_quantized},
        {"QGemm", multiply_general_quantized},
        {"QLinearAdd", broadcast_quantized},
        {"QLinearAveragePool", pool_quantized},
        {"QLinearConcat", concatenate_quantized},
        {"QLinearGlobalAveragePool", pool_all_quantized},
        {"QLinearLeakyRelu", like<>},
        {"QLinearMul", broadcast_quantized},
        {"QLinearReduceMean", reduce_by_attribute},
        {"QLinearSigmoid", like<>},
        {"QLinearSoftmax", like<>},
        {"QLinearWhere", choose_quantized},
        {"QuantizeLinear", quantize},
        {"QuickGelu", like<>},
        {"Rfft", real_fourier},
        {"RotaryEmbedding", like<>},
        {"SimplifiedLayerNormalization", normalize_layer<false>},
        {"SkipGroupNorm", two_like_first},
        {"SkipLayerNormalization", normalize_skip_layer},
        {"SkipSimplifiedLayerNormalization", normalize_skip_layer},
        {"TransposeMatMul", multiply_fused},
        {"Trilu", like<>},
        {"Unique", unique},
    };
    return found;
}

rule rule_of(onnx::NodeProto const& node, std::int64_t opset)
{
    if (node.domain() == "com.microsoft") {
        auto const found = runtime_rules().find(node.op_type());
        return found == runtime_rules().end() ? nullptr : found->second;
    }
    if (!node.domain().empty() && node.domain() != "ai.onnx") return nullptr;
    bool const is_pool = node.op_type() == "MaxPool" || node.op_type() == "AveragePool";
    if (is_pool && opset >= 10)
        for (auto const& a : node.attribute()) // ONNX 1.12 counts windows that begin in the padding
            if (a.name() == "ceil_mode" && a.i() != 0) return pool;
    bool const is_constant = node.op_type() == "Constant";
    if (is_constant || node.op_type() == "ConstantOfShape") {
        constexpr int last_known = tensor::BFLOAT16;
        for (auto const& a : node.attribute())
            if (a.name() == "value" && a.t().data_type() > last_known)
                return is_constant ? constant : constant_of_shape;
        return nullptr;
    }
    auto const found = standard_rules().find(node.op_type());
    if (found == standard_rules().end()) return nullptr;
    return opset >= found->second.since && opset < found->second.before ? found->second.types : nullptr;
}

onnx::TypeProto as_type(result const& found)
{
    onnx::TypeProto type;
    if (found.element == 0 && !found.size) return type;
    auto& of_tensor = *type.mutable_tensor_type();
    of_tensor.set_elem_type(found.element);
    if (!found.size) return type;
    auto& shape = *of_tensor.mutable_shape();
    for (auto const& d : *found.size) {
        auto& to = *shape.add_dim();
        if (d.value >= 0) to.set_dim_value(d.value);
        else if (!d.name.empty()) to.set_dim_param(d.name);
    }
    return type;
}

} // namespace

std::optional<std::vector<onnx::TypeProto>> infer_newer(onnx::NodeProto const& node, std::int64_t opset,
                                                        std::vector<onnx::TypeProto const*> const& types,
                                                        std::vector<known_tensor const*> const& elements)
{
    rule const types_of = rule_of(node, opset);
    if (types_of == nullptr) return {};
    results const found = types_of({node, opset, types, elements});
    std::vector<onnx::TypeProto> made(static_cast<std::size_t>(node.output_size()));
    for (std::size_t i = 0; i != std::min(made.size(), found.size()); ++i) made[i] = as_type(found[i]);
    return made;
}

} // namespace plan_model
