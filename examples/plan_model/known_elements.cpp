// SPDX-License-Identifier: BSL-1.0

// Elements of small tensors: read, written, and computed by the rules of ONNX's standard operators.

#include "known_elements.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace plan_model {
namespace {

using tensor = onnx::TensorProto;
using attribute = onnx::AttributeProto;
using sizes = std::vector<std::int64_t>;
using places = std::vector<std::size_t>; ///< indexes of elements, one for each element of a result
using maybe = std::optional<known_tensor>;
using several = std::vector<maybe>;

/// Tensors of a higher rank are not followed.
constexpr std::size_t most_dimensions = 32;

// --- element types -----------------------------------------------------------------------------------------

/// Bytes of an element; 0: not a type that is followed.
std::size_t width_of(int element)
{
    switch (element) {
    case tensor::INT8:
    case tensor::UINT8:
    case tensor::BOOL: return 1;
    case tensor::INT16:
    case tensor::UINT16:
    case tensor::FLOAT16:
    case tensor::BFLOAT16: return 2;
    case tensor::INT32:
    case tensor::UINT32:
    case tensor::FLOAT: return 4;
    case tensor::INT64:
    case tensor::UINT64:
    case tensor::DOUBLE: return 8;
    default: return 0;
    }
}

bool is_real(int element)
{
    return element == tensor::FLOAT || element == tensor::DOUBLE || element == tensor::FLOAT16 ||
           element == tensor::BFLOAT16;
}

bool is_signed(int element)
{
    return element == tensor::INT8 || element == tensor::INT16 || element == tensor::INT32 ||
           element == tensor::INT64;
}

bool is_number(int element) { return width_of(element) != 0 && element != tensor::BOOL; }

/// The integer that a kernel stores in the width of its type.
std::int64_t wrapped(int element, std::uint64_t bits)
{
    switch (element) {
    case tensor::BOOL: return bits != 0;
    case tensor::INT8: return static_cast<std::int8_t>(bits);
    case tensor::UINT8: return static_cast<std::uint8_t>(bits);
    case tensor::INT16: return static_cast<std::int16_t>(bits);
    case tensor::UINT16: return static_cast<std::uint16_t>(bits);
    case tensor::INT32: return static_cast<std::int32_t>(bits);
    case tensor::UINT32: return static_cast<std::uint32_t>(bits);
    default: return static_cast<std::int64_t>(bits);
    }
}

std::uint64_t bits_of(std::int64_t x) { return static_cast<std::uint64_t>(x); }

/// The nearest float, by ties to even; the conversion of what is larger than any float is undefined.
float to_float(double x)
{
    constexpr double overflows = 0x1.ffffffp127;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (x > FLT_MAX) return x < overflows ? FLT_MAX : infinity;
    if (x < -FLT_MAX) return x > -overflows ? -FLT_MAX : -infinity;
    return static_cast<float>(x);
}

/// The nearest number with so many binary digits after the first one.
double narrowed(double x, int digits, int least_exponent, double greatest)
{
    if (x == 0 || !std::isfinite(x)) return x;
    int const unit = std::max(std::ilogb(x), least_exponent) - digits;
    double const nearest = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    return std::fabs(nearest) > greatest ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                         : nearest;
}

double rounded(int element, double x)
{
    switch (element) {
    case tensor::FLOAT: return double{to_float(x)};
    case tensor::FLOAT16: return narrowed(x, 10, -14, 65504);
    case tensor::BFLOAT16: return narrowed(x, 7, -126, 0x1.fep127);
    default: return x;
    }
}

double from_half(std::uint16_t bits)
{
    int const exponent = bits >> 10 & 31;
    int const digits = bits & 1023;
    double x;
    if (exponent == 31) x = digits == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0) x = std::ldexp(digits, -24);
    else x = std::ldexp(1024 + digits, exponent - 25);
    return (bits & 0x8000) != 0 ? -x : x;
}

std::uint16_t to_half(double x)
{
    double const value = std::fabs(rounded(tensor::FLOAT16, x));
    unsigned bits = 0;
    if (std::isnan(x)) bits = 0x7e00;
    else if (std::isinf(value)) bits = 0x7c00;
    else if (value < 0x1p-14) bits = static_cast<unsigned>(std::ldexp(value, 24));
    else {
        int const exponent = std::ilogb(value);
        bits = static_cast<unsigned>(std::ldexp(value, 10 - exponent)) - 1024;
        bits += static_cast<unsigned>(exponent + 15) << 10;
    }
    return static_cast<std::uint16_t>(bits | (std::signbit(x) ? 0x8000u : 0u));
}

double from_bfloat(std::uint16_t bits)
{
    return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)};
}

std::uint16_t to_bfloat(double x)
{
    if (std::isnan(x)) return 0x7fc0;
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(to_float(rounded(tensor::BFLOAT16, x))) >>
                                      16);
}

/// Calls `op` in the precision that kernels use for this type.
template <class Op, class... Real>
double in_precision(int element, Op op, Real... x)
{
    if (element == tensor::DOUBLE) return op(x...);
    return rounded(element, double{op(to_float(x)...)});
}

// --- shapes ------------------------------------------------------------------------------------------------

/// Nothing if there are too many elements or dimensions. No dimension of a followed tensor exceeds the limit,
/// even of one without elements, so that sums and products of two of them do not overflow.
std::optional<std::size_t> count_of(sizes const& size)
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

/// Without a check.
std::size_t product(sizes const& size)
{
    if (std::find(size.begin(), size.end(), 0) != size.end()) return 0;
    std::size_t count = 1;
    for (auto d : size) count *= static_cast<std::size_t>(d);
    return count;
}

bool is_sound(known_tensor const& t)
{
    auto const count = count_of(t.size);
    if (width_of(t.element) == 0 || !count) return false;
    return is_real(t.element) ? t.real.size() == *count : t.whole.size() == *count;
}

std::size_t count_of(known_tensor const& t) { return is_real(t.element) ? t.real.size() : t.whole.size(); }

/// Elements from one index to the next one, by dimension. Zeros if there are no elements.
sizes strides_of(sizes const& size)
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
places strided(sizes const& size, sizes const& stride, std::int64_t first)
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
std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank)
{
    auto const r = static_cast<std::int64_t>(rank);
    if (axis < -r || axis >= r) return {};
    return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

/// Nothing if one is out of range or twice there.
std::optional<places> axes_in(sizes const& axes, std::size_t rank)
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
std::optional<sizes> broadcast(sizes const& a, sizes const& b)
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
places broadcast_places(sizes const& from, sizes const& to)
{
    sizes strides(to.size(), 0);
    auto const own = strides_of(from);
    std::size_t const added = to.size() - from.size();
    for (std::size_t i = 0; i != from.size(); ++i) strides[added + i] = from[i] == 1 ? 0 : own[i];
    return strided(to, strides, 0);
}

/// The tensor of these elements of another one.
known_tensor picked(known_tensor const& from, sizes size, places const& at)
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
maybe reshaped(known_tensor const& from, sizes size)
{
    auto const count = count_of(size);
    if (!count || *count != count_of(from)) return {};
    known_tensor found = from;
    found.size = std::move(size);
    return found;
}

/// A tensor of equal elements: those of `from` at this index.
maybe filled(known_tensor const& from, std::size_t index, sizes size)
{
    auto const count = count_of(size);
    if (!count) return {};
    return picked(from, std::move(size), places(*count, index));
}

void set(known_tensor& to, std::size_t at, known_tensor const& from, std::size_t index)
{
    if (is_real(to.element)) to.real[at] = from.real[index];
    else to.whole[at] = from.whole[index];
}

/// A list or a scalar of int64.
known_tensor integers(sizes elements)
{
    auto const count = static_cast<std::int64_t>(elements.size());
    return {tensor::INT64, {count}, std::move(elements), {}};
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

    attribute const* find(std::string_view name) const
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

moved_list list_of(call const& c, char const* name, std::size_t operand, std::int64_t since)
{
    if (c.opset < since) return {true, c.numbers(name)};
    if (!c.has(operand)) return {true, {}};
    auto const* found = c.list(operand);
    return found == nullptr ? moved_list{} : moved_list{true, *found};
}

constexpr auto real_sum = [](auto a, auto b) { return a + b; };

// --- constants and shapes ----------------------------------------------------------------------------------

maybe constant(call const& c)
{
    if (auto const* a = c.find("value")) return elements_of(a->t());
    if (auto const* a = c.find("value_int")) return known_tensor{tensor::INT64, {}, {a->i()}, {}};
    if (auto const* a = c.find("value_float")) return known_tensor{tensor::FLOAT, {}, {}, {double{a->f()}}};
    if (auto const* a = c.find("value_ints"); a != nullptr && a->ints_size() <= int{most_known_elements})
        return integers({a->ints().begin(), a->ints().end()});
    if (auto const* a = c.find("value_floats"); a != nullptr && a->floats_size() <= int{most_known_elements})
        return known_tensor{tensor::FLOAT, {a->floats_size()}, {}, {a->floats().begin(), a->floats().end()}};
    return {};
}

maybe identity(call const& c)
{
    auto const* x = c.known(0);
    if (x == nullptr) return {};
    return *x;
}

maybe shape(call const& c)
{
    auto const size = c.size(0);
    if (!size || size->size() > most_known_elements) return {};
    auto const rank = static_cast<std::int64_t>(size->size());
    auto bound = [&](char const* name, std::int64_t otherwise) {
        std::int64_t const i = c.opset < 15 ? otherwise : c.number(name, otherwise);
        return i < 0 ? std::max(i, -rank) + rank : std::min(i, rank);
    };
    std::int64_t const first = bound("start", 0);
    std::int64_t const last = std::max(bound("end", rank), first);
    sizes found(size->begin() + first, size->begin() + last);
    if (std::count(found.begin(), found.end(), -1) != 0) return {};
    return integers(std::move(found));
}

maybe size(call const& c)
{
    auto const size = c.size(0);
    if (!size || std::count(size->begin(), size->end(), -1) != 0) return {};
    std::int64_t count = std::count(size->begin(), size->end(), 0) != 0 ? 0 : 1;
    for (auto d : *size) {
        if (count > std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(d, 1)) return {};
        count *= d;
    }
    return known_tensor{tensor::INT64, {}, {count}, {}};
}

maybe constant_of_shape(call const& c)
{
    auto const* size = c.list(0);
    if (size == nullptr) return {};
    known_tensor value{tensor::FLOAT, {1}, {}, {0}};
    if (auto const* a = c.find("value")) {
        auto stored = elements_of(a->t());
        if (!stored || count_of(*stored) != 1) return {};
        value = std::move(*stored);
    }
    return filled(value, 0, *size);
}

maybe eye_like(call const& c)
{
    auto const size = c.size(0);
    if (!size || size->size() != 2) return {};
    auto const count = count_of(*size);
    auto const element = c.number("dtype", c.element(0));
    if (!count || element < 0 || element > tensor::BFLOAT16 || width_of(static_cast<int>(element)) == 0)
        return {};
    known_tensor found{static_cast<int>(element), *size, {}, {}};
    std::int64_t const k = c.number("k", 0);
    std::int64_t const limit = most_known_elements;
    for (std::int64_t i = 0; *count != 0 && i != (*size)[0]; ++i)
        for (std::int64_t j = 0; j != (*size)[1]; ++j) {
            bool const is_one = k >= -limit && k <= limit && j == i + k;
            if (is_real(found.element)) found.real.push_back(is_one ? 1 : 0);
            else found.whole.push_back(is_one ? 1 : 0);
        }
    return found;
}

maybe range(call const& c)
{
    auto const *start = c.known(0), *limit = c.known(1), *delta = c.known(2);
    for (auto const* x : {start, limit, delta})
        if (x == nullptr || count_of(*x) != 1 || x->element != start->element) return {};
    int const element = start->element;
    if (is_real(element)) {
        double const first = start->real[0], step = delta->real[0];
        double const items = std::ceil((limit->real[0] - first) / step); // as ONNX Runtime: not in floats
        if (!(items <= double{most_known_elements})) return {};          // nor if it is not a number
        known_tensor found{
            element, {std::max(static_cast<std::int64_t>(std::max(items, 0.0)), std::int64_t{0})}, {}, {}};
        double next = first; // kernels add up
        for (std::int64_t i = 0; i != found.size[0]; ++i) {
            found.real.push_back(next);
            next = in_precision(element, real_sum, next, step);
        }
        return found;
    }
    if (!is_signed(element)) return {};
    std::int64_t const first = start->whole[0], last = limit->whole[0], step = delta->whole[0];
    if (step == 0) return {};
    std::uint64_t items = 0;
    if (step > 0 && first < last) items = (bits_of(last) - bits_of(first) - 1) / bits_of(step) + 1;
    if (step < 0 && first > last) items = (bits_of(first) - bits_of(last) - 1) / (0 - bits_of(step)) + 1;
    if (items > most_known_elements) return {};
    known_tensor found{element, {static_cast<std::int64_t>(items)}, {}, {}};
    for (std::uint64_t i = 0; i != items; ++i)
        found.whole.push_back(wrapped(element, bits_of(first) + i * bits_of(step)));
    return found;
}

// --- the same elements in another shape --------------------------------------------------------------------

maybe reshape(call const& c)
{
    auto const* data = c.known(0);
    auto const to = list_of(c, "shape", 1, 5);
    if (data == nullptr || !to.elements || to.elements->size() > most_dimensions) return {};
    sizes size = *to.elements;
    bool const takes_zero = c.opset >= 14 && c.number("allowzero", 0) != 0;
    std::size_t open = size.size();
    for (std::size_t i = 0; i != size.size(); ++i) {
        if (size[i] == 0 && !takes_zero) {
            if (i >= data->size.size()) return {};
            size[i] = data->size[i];
        } else if (size[i] == -1) {
            if (open != size.size()) return {};
            open = i;
            size[i] = 1;
        }
    }
    if (open != size.size()) {
        auto const others = count_of(size);
        if (!others || *others == 0 || count_of(*data) % *others != 0) return {};
        size[open] = static_cast<std::int64_t>(count_of(*data) / *others);
    }
    return reshaped(*data, std::move(size));
}

maybe flatten(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr) return {};
    auto const rank = static_cast<std::int64_t>(data->size.size());
    std::int64_t axis = c.number("axis", 1);
    if (axis < -rank || axis > rank) return {};
    if (axis < 0) axis += rank;
    sizes const front(data->size.begin(), data->size.begin() + axis),
        back(data->size.begin() + axis, data->size.end());
    auto const rows = count_of(front), columns = count_of(back);
    if (!rows || !columns) return {};
    return reshaped(*data, {static_cast<std::int64_t>(*rows), static_cast<std::int64_t>(*columns)});
}

maybe squeeze(call const& c)
{
    auto const* data = c.known(0);
    auto const given = list_of(c, "axes", 1, 13);
    if (data == nullptr || !given.is_known) return {};
    std::vector<bool> goes(data->size.size(), false);
    if (given.elements) {
        auto const axes = axes_in(*given.elements, goes.size());
        if (!axes) return {};
        for (auto a : *axes) {
            if (data->size[a] != 1) return {};
            goes[a] = true;
        }
    } else
        for (std::size_t i = 0; i != goes.size(); ++i) goes[i] = data->size[i] == 1;
    sizes size;
    for (std::size_t i = 0; i != goes.size(); ++i)
        if (!goes[i]) size.push_back(data->size[i]);
    return reshaped(*data, std::move(size));
}

maybe unsqueeze(call const& c)
{
    auto const* data = c.known(0);
    auto const given = list_of(c, "axes", 1, 13);
    if (data == nullptr || !given.elements || given.elements->size() > most_dimensions) return {};
    std::size_t const rank = data->size.size() + given.elements->size();
    auto const axes = axes_in(*given.elements, rank);
    if (!axes) return {};
    sizes size(rank, -1);
    for (auto a : *axes) size[a] = 1;
    auto next = data->size.begin();
    for (auto& d : size)
        if (d == -1) d = *next++;
    return reshaped(*data, std::move(size));
}

// --- some of the elements, in another order ----------------------------------------------------------------

maybe transpose(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr) return {};
    std::size_t const rank = data->size.size();
    sizes order = c.numbers("perm").value_or(sizes{});
    if (c.find("perm") == nullptr)
        for (std::size_t i = rank; i-- != 0;) order.push_back(static_cast<std::int64_t>(i));
    auto const axes = axes_in(order, rank);
    if (!axes || axes->size() != rank) return {};
    auto const own = strides_of(data->size);
    sizes size, strides;
    for (auto a : *axes) {
        size.push_back(data->size[a]);
        strides.push_back(own[a]);
    }
    auto const at = strided(size, strides, 0);
    return picked(*data, std::move(size), at);
}

maybe slice(call const& c)
{
    auto const* data = c.known(0);
    auto const starts = list_of(c, "starts", 1, 10), ends = list_of(c, "ends", 2, 10),
               axes = list_of(c, "axes", 3, 10),
               steps = c.opset < 10 ? moved_list{true, {}} : list_of(c, "steps", 4, 10);
    if (data == nullptr || !starts.elements || !ends.elements || !axes.is_known || !steps.is_known) return {};
    std::size_t const rank = data->size.size(), items = starts.elements->size();
    if (items > rank || ends.elements->size() != items) return {};
    if (steps.elements && steps.elements->size() != items) return {};
    places along(items);
    std::iota(along.begin(), along.end(), std::size_t{0});
    if (axes.elements) {
        auto const found = axes_in(*axes.elements, rank);
        if (!found || found->size() != items) return {};
        along = *found;
    }
    sizes size = data->size, strides = strides_of(data->size);
    std::int64_t first = 0;
    for (std::size_t i = 0; i != items; ++i) {
        std::int64_t const n = data->size[along[i]], step = steps.elements ? (*steps.elements)[i] : 1;
        if (step == 0) return {};
        // By the standard it is empty, and ONNX Runtime takes the greatest numbers for the first element.
        if (step < 0 && (*ends.elements)[i] >= std::numeric_limits<std::int32_t>::max()) return {};
        auto clamped = [&](std::int64_t at, std::int64_t from, std::int64_t to) {
            if (at < 0) at = std::max(at, -n - 1) + n; // -1 is before the first
            return std::max(std::min(at, to), from);
        };
        bool const is_back = step < 0;
        std::int64_t const from = clamped((*starts.elements)[i], 0, is_back ? n - 1 : n),
                           to = clamped((*ends.elements)[i], is_back ? -1 : 0, is_back ? n - 1 : n);
        std::uint64_t kept = 0;
        if (step > 0 && from < to) kept = bits_of(to - from - 1) / bits_of(step) + 1;
        if (is_back && n != 0 && from > to) kept = bits_of(from - to - 1) / (0 - bits_of(step)) + 1;
        auto& stride = strides[along[i]];
        if (kept != 0) first += from * stride;
        stride *= kept > 1 ? step : 0; // a step that is taken is less than the dimension
        size[along[i]] = static_cast<std::int64_t>(kept);
    }
    auto const at = strided(size, strides, first);
    return picked(*data, std::move(size), at);
}

maybe expand(call const& c)
{
    auto const* data = c.known(0);
    auto const* to = c.list(1);
    if (data == nullptr || to == nullptr || !count_of(*to)) return {};
    auto size = broadcast(data->size, *to);
    if (!size) return {};
    auto const at = broadcast_places(data->size, *size);
    return picked(*data, std::move(*size), at);
}

maybe tile(call const& c)
{
    auto const* data = c.known(0);
    auto const* repeats = c.list(1);
    if (data == nullptr || repeats == nullptr || c.opset < 6 || repeats->size() != data->size.size())
        return {};
    auto const own = strides_of(data->size);
    sizes size, walked, strides;
    for (std::size_t i = 0; i != repeats->size(); ++i) {
        std::int64_t const d = data->size[i], times = (*repeats)[i];
        if (times < 0 || bits_of(times) > most_known_elements) return {};
        size.push_back(d * times);
        walked.insert(walked.end(), {times, d});
        strides.insert(strides.end(), {0, own[i]});
    }
    if (!count_of(size)) return {};
    auto const at = strided(walked, strides, 0);
    return picked(*data, std::move(size), at);
}

maybe concat(call const& c)
{
    std::vector<known_tensor const*> parts;
    for (std::size_t i = 0; i != static_cast<std::size_t>(c.node.input_size()); ++i) {
        parts.push_back(c.known(i));
        if (parts.back() == nullptr || parts.back()->element != parts[0]->element) return {};
    }
    if (parts.empty()) return {};
    sizes size = parts[0]->size;
    auto const axis = axis_in(c.number("axis", 1), size.size());
    if (!axis || (c.opset >= 4 && c.find("axis") == nullptr)) return {};
    size[*axis] = 0;
    for (auto const* part : parts) {
        if (part->size.size() != size.size()) return {};
        for (std::size_t i = 0; i != size.size(); ++i)
            if (i != *axis && part->size[i] != size[i]) return {};
        size[*axis] += part->size[*axis];
        if (bits_of(size[*axis]) > most_known_elements) return {};
    }
    if (!count_of(size)) return {};
    around_axis const to(size, *axis);
    known_tensor found{parts[0]->element, size, {}, {}};
    if (is_real(found.element)) found.real.resize(product(size));
    else found.whole.resize(product(size));
    std::size_t offset = 0;
    for (auto const* part : parts) {
        around_axis const from(part->size, *axis);
        for (std::size_t o = 0; o != from.outer; ++o)
            for (std::size_t i = 0; i != from.items; ++i)
                for (std::size_t n = 0; n != from.inner; ++n)
                    set(found, to.at(o, offset + i, n), *part, from.at(o, i, n));
        offset += from.items;
    }
    return found;
}

several split(call const& c)
{
    auto const parts = static_cast<std::size_t>(c.node.output_size());
    several found(parts);
    auto const* data = c.known(0);
    auto const given = list_of(c, "split", 1, 13);
    if (data == nullptr || !given.is_known || parts == 0 || c.opset < 2) return found;
    auto const axis = axis_in(c.number("axis", 0), data->size.size());
    if (!axis) return found;
    std::int64_t const all = data->size[*axis];
    sizes items = given.elements.value_or(sizes{});
    if (!given.elements) {
        if (parts > most_known_elements) return found;
        auto const n = static_cast<std::int64_t>(parts);
        if (c.opset < 18 && all % n != 0) return found;
        std::int64_t const most = (all + n - 1) / n;
        for (std::int64_t i = 0, left = all; i != n; ++i) {
            items.push_back(std::min(most, left));
            left -= items.back();
        }
    }
    if (items.size() != parts) return found;
    std::int64_t total = 0;
    for (auto n : items) {
        if (n < 0 || n > all) return found;
        total += n;
        if (total > all) return found;
    }
    if (total != all) return found;
    auto const strides = strides_of(data->size);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i != parts; ++i) {
        sizes size = data->size;
        size[*axis] = items[i];
        auto const at = strided(size, strides, offset * strides[*axis]);
        found[i] = picked(*data, std::move(size), at);
        offset += items[i];
    }
    return found;
}

maybe gather(call const& c)
{
    auto const* data = c.known(0);
    auto const* indexes = c.whole(1);
    if (data == nullptr || indexes == nullptr) return {};
    auto const axis = axis_in(c.number("axis", 0), data->size.size());
    if (!axis) return {};
    sizes size(data->size.begin(), data->size.begin() + static_cast<std::ptrdiff_t>(*axis));
    size.insert(size.end(), indexes->size.begin(), indexes->size.end());
    size.insert(size.end(), data->size.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->size.end());
    if (!count_of(size)) return {};
    around_axis const from(data->size, *axis);
    places rows;
    for (auto i : indexes->whole) {
        auto const row = axis_in(i, from.items);
        if (!row) return {};
        rows.push_back(*row);
    }
    places at;
    for (std::size_t o = 0; o != from.outer; ++o)
        for (auto row : rows)
            for (std::size_t n = 0; n != from.inner; ++n) at.push_back(from.at(o, row, n));
    return picked(*data, std::move(size), at);
}

/// For each element of `indexes`, the element of a tensor of shape `size` that GatherElements reads and
/// ScatterElements writes.
std::optional<places> indexed(sizes const& size, known_tensor const& indexes, std::int64_t of_axis)
{
    auto const axis = axis_in(of_axis, size.size());
    if (!axis || indexes.size.size() != size.size()) return {};
    for (std::size_t i = 0; i != size.size(); ++i)
        if (i != *axis && indexes.size[i] > size[i]) return {};
    auto strides = strides_of(size);
    std::int64_t const stride = strides[*axis];
    strides[*axis] = 0;
    auto at = strided(indexes.size, strides, 0);
    for (std::size_t i = 0; i != at.size(); ++i) {
        auto const row = axis_in(indexes.whole[i], static_cast<std::size_t>(size[*axis]));
        if (!row) return {};
        at[i] += *row * static_cast<std::size_t>(stride);
    }
    return at;
}

maybe gather_elements(call const& c)
{
    auto const* data = c.known(0);
    auto const* indexes = c.whole(1);
    if (data == nullptr || indexes == nullptr) return {};
    auto const at = indexed(data->size, *indexes, c.number("axis", 0));
    if (!at) return {};
    return picked(*data, indexes->size, *at);
}

/// The first element of each block that GatherND reads and ScatterND writes.
struct blocks {
    places first;
    std::size_t items = 1; ///< elements of a block
    sizes size;            ///< of the whole result of GatherND
};

std::optional<blocks> blocks_of(sizes const& size, known_tensor const& indexes, std::int64_t batch_dims)
{
    if (indexes.size.empty() || batch_dims < 0 ||
        batch_dims >= static_cast<std::int64_t>(indexes.size.size()))
        return {};
    auto const batches = static_cast<std::size_t>(batch_dims);
    auto const depth = static_cast<std::size_t>(indexes.size.back());
    if (depth == 0 || batches + depth > size.size()) return {};
    std::size_t batch = 1;
    for (std::size_t i = 0; i != batches; ++i) {
        if (size[i] != indexes.size[i]) return {};
        batch *= static_cast<std::size_t>(size[i]);
    }
    blocks found;
    found.size.assign(indexes.size.begin(), indexes.size.end() - 1);
    found.size.insert(found.size.end(), size.begin() + static_cast<std::ptrdiff_t>(batches + depth),
                      size.end());
    if (!count_of(found.size)) return {};
    if (product(size) == 0 || indexes.whole.empty()) {
        if (product(found.size) != 0) return {};
        found.items = 0;
        return found;
    }
    for (std::size_t i = batches + depth; i != size.size(); ++i)
        found.items *= static_cast<std::size_t>(size[i]);
    auto const strides = strides_of(size);
    std::size_t const rows = indexes.whole.size() / depth;
    std::size_t const per_batch = product(size) / batch;
    for (std::size_t r = 0; r != rows; ++r) {
        std::size_t at = r / (rows / batch) * per_batch;
        for (std::size_t i = 0; i != depth; ++i) {
            auto const index =
                axis_in(indexes.whole[r * depth + i], static_cast<std::size_t>(size[batches + i]));
            if (!index) return {};
            at += *index * static_cast<std::size_t>(strides[batches + i]);
        }
        found.first.push_back(at);
    }
    return found;
}

maybe gather_nd(call const& c)
{
    auto const* data = c.known(0);
    auto const* indexes = c.whole(1);
    if (data == nullptr || indexes == nullptr) return {};
    auto const from = blocks_of(data->size, *indexes, c.opset < 12 ? 0 : c.number("batch_dims", 0));
    if (!from) return {};
    places at;
    for (auto first : from->first)
        for (std::size_t i = 0; i != from->items; ++i) at.push_back(first + i);
    return picked(*data, from->size, at);
}

bool replaces(call const& c)
{
    auto const* a = c.find("reduction");
    return a == nullptr || a->s() == "none";
}

maybe scatter_elements(call const& c)
{
    auto const *data = c.known(0), *indexes = c.whole(1), *updates = c.known(2);
    if (data == nullptr || indexes == nullptr || updates == nullptr || !replaces(c)) return {};
    if (updates->size != indexes->size || updates->element != data->element) return {};
    auto const at = indexed(data->size, *indexes, c.number("axis", 0));
    if (!at) return {};
    known_tensor found = *data;
    for (std::size_t i = 0; i != at->size(); ++i) set(found, (*at)[i], *updates, i);
    return found;
}

maybe scatter_nd(call const& c)
{
    auto const *data = c.known(0), *indexes = c.whole(1), *updates = c.known(2);
    if (data == nullptr || indexes == nullptr || updates == nullptr || !replaces(c)) return {};
    auto const to = blocks_of(data->size, *indexes, 0);
    if (!to || updates->size != to->size || updates->element != data->element) return {};
    known_tensor found = *data;
    for (std::size_t b = 0; b != to->first.size(); ++b)
        for (std::size_t i = 0; i != to->items; ++i)
            set(found, to->first[b] + i, *updates, b * to->items + i);
    return found;
}

maybe pad(call const& c)
{
    auto const* data = c.known(0);
    auto const given = list_of(c, c.opset < 2 ? "paddings" : "pads", 1, 11);
    auto const along = c.opset < 18 ? moved_list{true, {}} : list_of(c, "axes", 3, 18);
    if (auto const* mode = c.find("mode"); mode != nullptr && mode->s() != "constant") return {};
    if (data == nullptr || !given.elements || !along.is_known) return {};
    std::size_t const rank = data->size.size();
    places axes(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    if (along.elements) {
        auto const found = axes_in(*along.elements, rank);
        if (!found) return {};
        axes = *found;
    }
    if (given.elements->size() != 2 * axes.size()) return {};

    known_tensor value{data->element, {}, {}, {}};
    if (is_real(data->element)) value.real = {0};
    else value.whole = {0};
    if (c.opset < 11) {
        if (auto const* a = c.find("value")) {
            if (!is_real(data->element)) return {};
            value.real = {rounded(data->element, double{a->f()})};
        }
    } else if (c.has(2)) {
        auto const* stored = c.known(2);
        if (stored == nullptr || count_of(*stored) != 1 || stored->element != data->element) return {};
        value = *stored;
    }

    sizes size = data->size, kept = data->size;
    auto const own = strides_of(data->size);
    sizes from(rank, 0), to(rank, 0);
    constexpr std::int64_t limit = most_known_elements;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const before = (*given.elements)[i], after = (*given.elements)[axes.size() + i];
        if (before < -limit || before > limit || after < -limit || after > limit) return {};
        std::size_t const a = axes[i];
        from[a] = std::max<std::int64_t>(-before, 0);
        to[a] = std::max<std::int64_t>(before, 0);
        size[a] += before + after;
        kept[a] = std::max<std::int64_t>(data->size[a] - from[a] - std::max<std::int64_t>(-after, 0), 0);
    }
    auto found = filled(value, 0, size);
    if (!found) return {};
    if (product(kept) == 0) return found;
    auto const strides = strides_of(size);
    std::int64_t first_read = 0, first_written = 0;
    for (std::size_t i = 0; i != rank; ++i) {
        if (to[i] + kept[i] > size[i]) return {};
        first_read += from[i] * own[i];
        first_written += to[i] * strides[i];
    }
    auto const reads = strided(kept, own, first_read), writes = strided(kept, strides, first_written);
    for (std::size_t i = 0; i != reads.size(); ++i) set(*found, writes[i], *data, reads[i]);
    return found;
}

maybe trilu(call const& c)
{
    auto const* data = c.known(0);
    std::int64_t k = 0;
    if (c.has(1)) {
        auto const* given = c.list(1);
        if (given == nullptr || given->size() != 1) return {};
        k = (*given)[0];
    }
    if (data == nullptr || data->size.size() < 2) return {};
    constexpr std::int64_t limit = most_known_elements;
    k = std::clamp(k, -limit, limit);
    bool const keeps_upper = c.number("upper", 1) != 0;
    known_tensor found = *data;
    std::int64_t const columns = data->size.back(), rows = data->size[data->size.size() - 2];
    for (std::size_t i = 0; i != count_of(found); ++i) {
        std::int64_t const at = static_cast<std::int64_t>(i) % (rows * columns);
        std::int64_t const row = at / columns, column = at % columns;
        if (keeps_upper ? column >= row + k : column <= row + k) continue;
        if (is_real(found.element)) found.real[i] = 0;
        else found.whole[i] = 0;
    }
    return found;
}

// --- elementwise -------------------------------------------------------------------------------------------

/// Calls `make` with the result and an element of each operand for each element of the result. False: not
/// known.
template <class Make>
maybe paired(call const& c, known_tensor const& a, known_tensor const& b, int element, Make make)
{
    if (c.opset < 7 && a.size != b.size) return {};
    auto size = broadcast(a.size, b.size);
    if (!size) return {};
    auto const left = broadcast_places(a.size, *size), right = broadcast_places(b.size, *size);
    known_tensor found{element, std::move(*size), {}, {}};
    for (std::size_t i = 0; i != left.size(); ++i)
        if (!make(found, left[i], right[i])) return {};
    return found;
}

using whole_operation = std::optional<std::int64_t> (*)(int element, std::int64_t a, std::int64_t b);

template <class Real>
maybe combined(call const& c, known_tensor const* a, known_tensor const* b, whole_operation whole, Real real)
{
    if (a == nullptr || b == nullptr || a->element != b->element || !is_number(a->element)) return {};
    int const element = a->element;
    return paired(c, *a, *b, element, [&](known_tensor& found, std::size_t i, std::size_t j) {
        if (is_real(element)) {
            found.real.push_back(in_precision(element, real, a->real[i], b->real[j]));
            return true;
        }
        auto const x = whole(element, a->whole[i], b->whole[j]);
        found.whole.push_back(x.value_or(0));
        return x.has_value();
    });
}

std::optional<std::int64_t> sum(int element, std::int64_t a, std::int64_t b)
{
    return wrapped(element, bits_of(a) + bits_of(b));
}

std::optional<std::int64_t> quotient(int element, std::int64_t a, std::int64_t b)
{
    if (b == 0) return {};
    if (element == tensor::UINT64) return static_cast<std::int64_t>(bits_of(a) / bits_of(b));
    if (b == -1) {
        std::int64_t const negative = wrapped(element, 0 - bits_of(a));
        if (negative == a && a != 0) return {}; // the least one has no opposite
        return negative;
    }
    return a / b;
}

/// With the sign of the dividend.
std::optional<std::int64_t> remainder_of(int element, std::int64_t a, std::int64_t b)
{
    if (b == 0) return {};
    if (element == tensor::UINT64) return static_cast<std::int64_t>(bits_of(a) % bits_of(b));
    return b == -1 ? 0 : a % b;
}

/// With the sign of the divisor.
std::optional<std::int64_t> modulus(int element, std::int64_t a, std::int64_t b)
{
    auto const r = remainder_of(element, a, b);
    if (!r || element == tensor::UINT64 || *r == 0 || (*r < 0) == (b < 0)) return r;
    return *r + b;
}

bool is_less(int element, std::int64_t a, std::int64_t b)
{
    return element == tensor::UINT64 ? bits_of(a) < bits_of(b) : a < b;
}

std::optional<std::int64_t> least(int element, std::int64_t a, std::int64_t b)
{
    return is_less(element, b, a) ? b : a;
}

std::optional<std::int64_t> most(int element, std::int64_t a, std::int64_t b)
{
    return is_less(element, a, b) ? b : a;
}

/// Not a number if one of them is none.
constexpr auto real_least = [](auto a, auto b) { return a != a || a < b ? a : b; };
constexpr auto real_most = [](auto a, auto b) { return a != a || a > b ? a : b; };

maybe add(call const& c) { return combined(c, c.known(0), c.known(1), sum, real_sum); }

maybe subtract(call const& c)
{
    whole_operation const whole = [](int element, std::int64_t a,
                                     std::int64_t b) -> std::optional<std::int64_t> {
        return wrapped(element, bits_of(a) - bits_of(b));
    };
    return combined(c, c.known(0), c.known(1), whole, [](auto a, auto b) { return a - b; });
}

maybe multiply(call const& c)
{
    whole_operation const whole = [](int element, std::int64_t a,
                                     std::int64_t b) -> std::optional<std::int64_t> {
        return wrapped(element, bits_of(a) * bits_of(b));
    };
    return combined(c, c.known(0), c.known(1), whole, [](auto a, auto b) { return a * b; });
}

maybe divide(call const& c)
{
    return combined(c, c.known(0), c.known(1), quotient, [](auto a, auto b) { return a / b; });
}

maybe mod(call const& c)
{
    bool const is_of_c = c.number("fmod", 0) != 0;
    if (auto const* a = c.known(0); a != nullptr && is_real(a->element) && !is_of_c) return {};
    return combined(c, c.known(0), c.known(1), is_of_c ? remainder_of : modulus,
                    [](auto a, auto b) { return std::fmod(a, b); });
}

double as_real(known_tensor const& t, std::size_t i)
{
    if (is_real(t.element)) return t.real[i];
    return t.element == tensor::UINT64 ? static_cast<double>(bits_of(t.whole[i]))
                                       : static_cast<double>(t.whole[i]);
}

/// The integer part, if the type holds it.
std::optional<std::int64_t> as_whole(int element, double x)
{
    if (element == tensor::BOOL) return x != 0;
    double const whole = std::trunc(x);
    int const bits = static_cast<int>(8 * width_of(element));
    double const end = std::ldexp(1.0, is_signed(element) ? bits - 1 : bits);
    if (!(whole < end) || !(whole >= (is_signed(element) ? -end : 0.0))) return {};
    if (element == tensor::UINT64) return static_cast<std::int64_t>(static_cast<std::uint64_t>(whole));
    return static_cast<std::int64_t>(whole);
}

maybe power(call const& c)
{
    auto const *a = c.known(0), *b = c.known(1);
    if (a == nullptr || b == nullptr || !is_number(a->element) || !is_number(b->element)) return {};
    return paired(c, *a, *b, a->element, [&](known_tensor& found, std::size_t i, std::size_t j) {
        double const exponent = as_real(*b, j);
        if (is_real(a->element)) {
            found.real.push_back(in_precision(
                a->element, [](auto x, auto y) { return std::pow(x, y); }, a->real[i], exponent));
            return true;
        }
        double const x = std::pow(as_real(*a, i), exponent);
        auto const whole = as_whole(a->element, x);
        found.whole.push_back(whole.value_or(0));
        return whole && std::fabs(x) <= 0x1p53; // kernels differ in the digits of larger ones
    });
}

/// Comparisons. Each is a function of which of two elements is less than the other one.
template <class Whole, class Real>
maybe compared(call const& c, Whole whole, Real real)
{
    auto const *a = c.known(0), *b = c.known(1);
    if (a == nullptr || b == nullptr || a->element != b->element) return {};
    return paired(c, *a, *b, tensor::BOOL, [&](known_tensor& found, std::size_t i, std::size_t j) {
        bool const holds =
            is_real(a->element) ? real(a->real[i], b->real[j]) : whole(a->element, a->whole[i], b->whole[j]);
        found.whole.push_back(holds);
        return true;
    });
}

maybe equal(call const& c)
{
    return compared(c, [](int, auto a, auto b) { return a == b; }, [](double a, double b) { return a == b; });
}

maybe less(call const& c)
{
    return compared(c, is_less, [](double a, double b) { return a < b; });
}

maybe greater(call const& c)
{
    return compared(
        c, [](int e, auto a, auto b) { return is_less(e, b, a); }, [](double a, double b) { return a > b; });
}

maybe less_or_equal(call const& c)
{
    return compared(
        c, [](int e, auto a, auto b) { return !is_less(e, b, a); },
        [](double a, double b) { return a <= b; });
}

maybe greater_or_equal(call const& c)
{
    return compared(
        c, [](int e, auto a, auto b) { return !is_less(e, a, b); },
        [](double a, double b) { return a >= b; });
}

template <class Op>
maybe logical(call const& c, Op op)
{
    auto const *a = c.whole(0), *b = c.whole(1);
    if (a == nullptr || b == nullptr || a->element != tensor::BOOL || b->element != tensor::BOOL) return {};
    return paired(c, *a, *b, tensor::BOOL, [&](known_tensor& found, std::size_t i, std::size_t j) {
        found.whole.push_back(op(a->whole[i] != 0, b->whole[j] != 0));
        return true;
    });
}

maybe logical_and(call const& c)
{
    return logical(c, [](bool a, bool b) { return a && b; });
}
maybe logical_or(call const& c)
{
    return logical(c, [](bool a, bool b) { return a || b; });
}
maybe logical_xor(call const& c)
{
    return logical(c, [](bool a, bool b) { return a != b; });
}

/// Sum and the like: from the first operand to the last.
template <class Real>
maybe folded(call const& c, whole_operation whole, Real real)
{
    constexpr int most_operands = 64; // each is a pass over the result
    auto const* first = c.known(0);
    if (first == nullptr || !is_number(first->element) || c.node.input_size() > most_operands) return {};
    maybe found = *first;
    for (std::size_t i = 1; found && i != static_cast<std::size_t>(c.node.input_size()); ++i)
        found = combined(c, &*found, c.known(i), whole, real);
    return found;
}

maybe add_all(call const& c) { return folded(c, sum, real_sum); }
maybe smallest_of_all(call const& c) { return folded(c, least, real_least); }
maybe greatest_of_all(call const& c) { return folded(c, most, real_most); }

maybe mean_of_all(call const& c)
{
    auto found = add_all(c);
    if (!found || !is_real(found->element)) return {};
    auto const divide_by = static_cast<double>(c.node.input_size());
    for (auto& x : found->real)
        x = in_precision(found->element, [](auto a, auto b) { return a / b; }, x, divide_by);
    return found;
}

/// `whole`: nullptr if the operator takes no integers.
template <class Real>
maybe mapped(call const& c, std::int64_t (*whole)(int element, std::int64_t), Real real)
{
    auto const* x = c.known(0);
    if (x == nullptr || !is_number(x->element)) return {};
    if (!is_real(x->element) && whole == nullptr) return {};
    known_tensor found = *x;
    for (auto& e : found.whole) e = whole(x->element, e);
    for (auto& e : found.real) e = in_precision(x->element, real, e);
    return found;
}

std::int64_t opposite(int element, std::int64_t x) { return wrapped(element, 0 - bits_of(x)); }

maybe negate(call const& c)
{
    return mapped(c, opposite, [](auto x) { return -x; });
}

maybe absolute(call const& c)
{
    return mapped(
        c, [](int e, std::int64_t x) { return is_signed(e) && x < 0 ? opposite(e, x) : x; },
        [](auto x) { return std::fabs(x); });
}

maybe sign(call const& c)
{
    return mapped(
        c, [](int e, std::int64_t x) -> std::int64_t { return x != 0 ? (is_less(e, x, 0) ? -1 : 1) : 0; },
        [](auto x) { return x > 0   ? decltype(x){1}
                            : x < 0 ? decltype(x){-1}
                                    : x; });
}

maybe relu(call const& c)
{
    return mapped(
        c, [](int e, std::int64_t x) -> std::int64_t { return is_less(e, x, 0) ? 0 : x; },
        [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

maybe floor_of(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return std::floor(x); });
}
maybe ceiling(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return std::ceil(x); });
}
maybe nearest(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return std::nearbyint(x); });
}
maybe root(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return std::sqrt(x); });
}
maybe exponential(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return std::exp(x); });
}
maybe logarithm(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return std::log(x); });
}
maybe reciprocal(call const& c)
{
    return mapped(c, nullptr, [](auto x) { return decltype(x){1} / x; });
}

maybe logical_not(call const& c)
{
    auto const* x = c.whole(0);
    if (x == nullptr || x->element != tensor::BOOL) return {};
    known_tensor found = *x;
    for (auto& e : found.whole) e = e == 0;
    return found;
}

maybe clip(call const& c)
{
    auto const* x = c.known(0);
    if (x == nullptr || !is_number(x->element)) return {};
    maybe found = *x;
    for (std::size_t i = 1; i != 3; ++i) {
        maybe bound;
        if (c.opset < 11) {
            auto const* a = c.find(i == 1 ? "min" : "max");
            if (a == nullptr) continue;
            if (!is_real(x->element)) return {};
            bound = known_tensor{x->element, {}, {}, {rounded(x->element, double{a->f()})}};
        } else {
            if (!c.has(i)) continue;
            auto const* given = c.known(i);
            if (given == nullptr || count_of(*given) != 1) return {};
            bound = reshaped(*given, {});
        }
        auto const is_like_before = found->size; // a scalar does not change the shape
        call const scalar{c.node, std::max<std::int64_t>(c.opset, 7), c.elements, c.types};
        found = i == 1 ? combined(scalar, &*found, &*bound, most, real_most)
                       : combined(scalar, &*found, &*bound, least, real_least);
        if (!found || found->size != is_like_before) return {};
    }
    return found;
}

maybe where(call const& c)
{
    auto const *condition = c.whole(0), *a = c.known(1), *b = c.known(2);
    if (condition == nullptr || condition->element != tensor::BOOL) return {};
    if (a == nullptr || b == nullptr || a->element != b->element) return {};
    auto size = broadcast(a->size, b->size);
    if (size) size = broadcast(*size, condition->size);
    if (!size) return {};
    auto const chosen = broadcast_places(condition->size, *size), left = broadcast_places(a->size, *size),
               right = broadcast_places(b->size, *size);
    known_tensor found = picked(*a, *size, left);
    for (std::size_t i = 0; i != chosen.size(); ++i)
        if (condition->whole[chosen[i]] == 0) set(found, i, *b, right[i]);
    return found;
}

maybe cast_to(known_tensor const& from, int element)
{
    if (width_of(element) == 0) return {};
    if (from.element == element) return from;
    known_tensor found{element, from.size, {}, {}};
    for (auto x : from.real) {
        if (is_real(element)) {
            bool const is_by_float = element != tensor::DOUBLE; // halves are made from floats
            found.real.push_back(rounded(element, is_by_float ? double{to_float(x)} : x));
            continue;
        }
        auto const whole = as_whole(element, x);
        if (!whole) return {};
        found.whole.push_back(*whole);
    }
    for (auto x : from.whole) {
        bool const is_large = from.element == tensor::UINT64;
        if (!is_real(element)) found.whole.push_back(wrapped(element, bits_of(x)));
        else if (element == tensor::DOUBLE)
            found.real.push_back(is_large ? static_cast<double>(bits_of(x)) : static_cast<double>(x));
        else {
            float const nearest = is_large ? static_cast<float>(bits_of(x)) : static_cast<float>(x);
            found.real.push_back(rounded(element, double{nearest}));
        }
    }
    return found;
}

maybe cast(call const& c)
{
    auto const* x = c.known(0);
    auto const* to = c.find("to");
    if (x == nullptr || to == nullptr || to->i() < 0 || to->i() > tensor::BFLOAT16) return {};
    return cast_to(*x, static_cast<int>(to->i()));
}

maybe cast_like(call const& c)
{
    auto const* x = c.known(0);
    if (x == nullptr) return {};
    return cast_to(*x, c.element(1));
}

maybe one_hot(call const& c)
{
    auto const *given = c.known(0), *depth = c.known(1), *values = c.known(2);
    if (given == nullptr || depth == nullptr || values == nullptr) return {};
    if (count_of(*depth) != 1 || count_of(*values) != 2) return {};
    auto const indexes = cast_to(*given, tensor::INT64), items = cast_to(*depth, tensor::INT64);
    if (!indexes || !items) return {};
    std::int64_t const n = items->whole[0];
    auto const axis = axis_in(c.number("axis", -1), indexes->size.size() + 1);
    if (!axis || n < 0 || bits_of(n) > most_known_elements) return {};
    sizes size = indexes->size;
    size.insert(size.begin() + static_cast<std::ptrdiff_t>(*axis), n);
    auto found = filled(*values, 0, size);
    if (!found) return {};
    around_axis const to(size, *axis);
    for (std::size_t o = 0; o != to.outer; ++o)
        for (std::size_t i = 0; i != to.inner; ++i) {
            auto const row = axis_in(indexes->whole[o * to.inner + i], to.items); // others have no one
            if (row) set(*found, to.at(o, *row, i), *values, 1);
        }
    return found;
}

// --- along axes --------------------------------------------------------------------------------------------

/// What a reduction makes: the result's shape, and the result of each operand's element.
struct reduction {
    sizes size;
    places into;
    bool is_identity = false;
};

std::optional<reduction> reduction_of(call const& c, known_tensor const& data, std::int64_t operand_since)
{
    auto const given = list_of(c, "axes", 1, operand_since);
    if (!given.is_known) return {};
    std::size_t const rank = data.size.size();
    std::vector<bool> goes(rank, true);
    bool const is_all = !given.elements || given.elements->empty();
    reduction found;
    found.is_identity = is_all && c.opset >= operand_since && c.number("noop_with_empty_axes", 0) != 0;
    if (found.is_identity) goes.assign(rank, false);
    if (!is_all) {
        auto const axes = axes_in(*given.elements, rank);
        if (!axes) return {};
        goes.assign(rank, false);
        for (auto a : *axes) goes[a] = true;
    }
    sizes kept = data.size;
    for (std::size_t i = 0; i != rank; ++i) {
        if (goes[i]) kept[i] = 1;
        if (!goes[i] || c.number("keepdims", 1) != 0) found.size.push_back(kept[i]);
    }
    if (!count_of(kept)) return {};
    auto strides = strides_of(kept);
    for (std::size_t i = 0; i != rank; ++i)
        if (goes[i]) strides[i] = 0;
    found.into = strided(data.size, strides, 0);
    return found;
}

/// Nothing if the type does not hold it: some kernels of reductions wrap, and others saturate.
std::optional<std::int64_t> exact_sum(int element, std::int64_t a, std::int64_t b)
{
    std::int64_t const found = wrapped(element, bits_of(a) + bits_of(b));
    bool const adds = b >= 0 || element == tensor::UINT64;
    if (adds ? is_less(element, found, a) : is_less(element, a, found)) return {};
    return found;
}

std::optional<std::int64_t> exact_product(int element, std::int64_t a, std::int64_t b)
{
    if (a == 0) return 0;
    std::int64_t const found = wrapped(element, bits_of(a) * bits_of(b));
    if (quotient(element, found, a) != b) return {};
    return found;
}

enum class reducer : std::uint8_t { sum, product, most, least, mean };

template <reducer How>
maybe reduced(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr) return {};
    int const element = data->element;
    bool const takes_bool = (How == reducer::most || How == reducer::least) && c.opset >= 20;
    if (!is_number(element) && !takes_bool) return {};
    auto const to = reduction_of(c, *data, How == reducer::sum ? 13 : 18);
    if (!to) return {};
    if (to->is_identity) return *data;
    known_tensor found{element, to->size, {}, {}};
    std::size_t const count = product(found.size);
    bool const is_empty = to->into.empty() && count != 0;
    if (is_empty && How != reducer::sum && How != reducer::product) return {};

    constexpr std::int64_t neutral = How == reducer::product ? 1 : 0;
    if (is_real(element)) found.real.assign(count, static_cast<double>(neutral));
    else found.whole.assign(count, neutral);
    std::vector<bool> has_begun(count,
                                How == reducer::sum || How == reducer::product || How == reducer::mean);
    for (std::size_t i = 0; i != to->into.size(); ++i) {
        std::size_t const at = to->into[i];
        if (!has_begun[at]) {
            set(found, at, *data, i);
            has_begun[at] = true;
        } else if (is_real(element)) {
            double& x = found.real[at];
            double const y = data->real[i];
            if constexpr (How == reducer::sum || How == reducer::mean) x += y;
            if constexpr (How == reducer::product) x *= y;
            if constexpr (How == reducer::most) x = real_most(x, y);
            if constexpr (How == reducer::least) x = real_least(x, y);
        } else {
            std::int64_t& x = found.whole[at];
            std::int64_t const y = data->whole[i];
            std::optional<std::int64_t> next = x;
            if constexpr (How == reducer::sum || How == reducer::mean) next = exact_sum(element, x, y);
            if constexpr (How == reducer::product) next = exact_product(element, x, y);
            if constexpr (How == reducer::most) next = most(element, x, y);
            if constexpr (How == reducer::least) next = least(element, x, y);
            if (!next) return {};
            x = *next;
        }
    }
    if constexpr (How == reducer::mean) {
        auto const items = static_cast<std::int64_t>(count == 0 ? 1 : to->into.size() / count);
        for (auto& x : found.real) x /= static_cast<double>(items);
        for (auto& x : found.whole) x = quotient(element, x, items).value_or(0);
    }
    for (auto& x : found.real) x = rounded(element, x);
    return found;
}

maybe running_sum(call const& c)
{
    auto const* data = c.known(0);
    auto const* along = c.list(1);
    if (data == nullptr || !is_number(data->element) || along == nullptr || along->size() != 1) return {};
    auto const axis = axis_in((*along)[0], data->size.size());
    if (!axis) return {};
    bool const is_exclusive = c.number("exclusive", 0) != 0, is_reverse = c.number("reverse", 0) != 0;
    known_tensor found = *data;
    around_axis const in(data->size, *axis);
    for (std::size_t o = 0; o != in.outer; ++o)
        for (std::size_t n = 0; n != in.inner; ++n) {
            std::int64_t whole = 0;
            double real = 0;
            for (std::size_t i = 0; i != in.items; ++i) {
                std::size_t const at = in.at(o, is_reverse ? in.items - 1 - i : i, n);
                if (is_real(data->element)) {
                    double const next = in_precision(data->element, real_sum, real, data->real[at]);
                    found.real[at] = is_exclusive ? real : next;
                    real = next;
                } else {
                    std::int64_t const next =
                        wrapped(data->element, bits_of(whole) + bits_of(data->whole[at]));
                    found.whole[at] = is_exclusive ? whole : next;
                    whole = next;
                }
            }
        }
    return found;
}

/// Whether element i of a tensor is less than element j.
bool is_less_at(known_tensor const& t, std::size_t i, std::size_t j)
{
    return is_real(t.element) ? t.real[i] < t.real[j] : is_less(t.element, t.whole[i], t.whole[j]);
}

bool has_nan(known_tensor const& t)
{
    return std::any_of(t.real.begin(), t.real.end(), [](double x) { return std::isnan(x); });
}

template <bool Most>
maybe index_of_extreme(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr || !is_number(data->element) || has_nan(*data)) return {};
    auto const axis = axis_in(c.number("axis", 0), data->size.size());
    if (!axis || data->size[*axis] == 0) return {};
    bool const is_last = c.opset >= 12 && c.number("select_last_index", 0) != 0;
    around_axis const in(data->size, *axis);
    known_tensor found{tensor::INT64, data->size, {}, {}};
    if (c.number("keepdims", 1) != 0) found.size[*axis] = 1;
    else found.size.erase(found.size.begin() + static_cast<std::ptrdiff_t>(*axis));
    for (std::size_t o = 0; o != in.outer; ++o)
        for (std::size_t n = 0; n != in.inner; ++n) {
            std::size_t best = 0;
            for (std::size_t i = 1; i != in.items; ++i) {
                std::size_t const x = in.at(o, i, n), y = in.at(o, best, n);
                bool const is_better = Most ? is_less_at(*data, y, x) : is_less_at(*data, x, y);
                bool const is_worse = Most ? is_less_at(*data, x, y) : is_less_at(*data, y, x);
                if (is_better || (is_last && !is_worse)) best = i;
            }
            found.whole.push_back(static_cast<std::int64_t>(best));
        }
    return found;
}

several top_k(call const& c)
{
    several found(static_cast<std::size_t>(c.node.output_size()));
    auto const* data = c.known(0);
    std::int64_t k = c.number("k", -1);
    if (c.opset >= 10) {
        auto const* given = c.list(1);
        k = given != nullptr && given->size() == 1 ? (*given)[0] : -1;
    }
    if (data == nullptr || !is_number(data->element) || has_nan(*data) || found.size() > 2) return found;
    auto const axis = axis_in(c.number("axis", -1), data->size.size());
    bool const is_most = c.opset < 11 || c.number("largest", 1) != 0;
    bool const is_sorted = c.opset < 11 || c.number("sorted", 1) != 0;
    if (!axis || k < 0 || k > data->size[*axis] || !is_sorted) return found;
    around_axis const from(data->size, *axis);
    sizes size = data->size;
    size[*axis] = k;
    around_axis const to(size, *axis);
    places at(product(size), 0);
    known_tensor indexes{tensor::INT64, size, sizes(product(size), 0), {}};
    places order(from.items);
    for (std::size_t o = 0; o != to.outer; ++o)
        for (std::size_t n = 0; n != to.inner; ++n) {
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
                std::size_t const x = from.at(o, i, n), y = from.at(o, j, n);
                if (is_most ? is_less_at(*data, y, x) : is_less_at(*data, x, y)) return true;
                if (is_most ? is_less_at(*data, x, y) : is_less_at(*data, y, x)) return false;
                return i < j;
            });
            for (std::size_t i = 0; i != to.items; ++i) {
                at[to.at(o, i, n)] = from.at(o, order[i], n);
                indexes.whole[to.at(o, i, n)] = static_cast<std::int64_t>(order[i]);
            }
        }
    if (!found.empty()) found[0] = picked(*data, size, at);
    if (found.size() > 1) found[1] = std::move(indexes);
    return found;
}

/// Not of real numbers: another kernel may round one to 0, and the size would be another one.
maybe non_zero(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr || data->size.empty() || is_real(data->element)) return {};
    places found;
    for (std::size_t i = 0; i != count_of(*data); ++i)
        if (data->whole[i] != 0) found.push_back(i);
    known_tensor indexes{
        tensor::INT64,
        {static_cast<std::int64_t>(data->size.size()), static_cast<std::int64_t>(found.size())},
        {},
        {}};
    if (!count_of(indexes.size)) return {};
    auto const strides = strides_of(data->size);
    for (std::size_t i = 0; i != strides.size(); ++i)
        for (auto at : found)
            indexes.whole.push_back(static_cast<std::int64_t>(at) / strides[i] % data->size[i]);
    return indexes;
}

// --- by name -----------------------------------------------------------------------------------------------

using one_result = maybe (*)(call const&);

std::unordered_map<std::string_view, one_result> const& rules()
{
    static std::unordered_map<std::string_view, one_result> const found{
        {"Abs", absolute},
        {"Add", add},
        {"And", logical_and},
        {"ArgMax", index_of_extreme<true>},
        {"ArgMin", index_of_extreme<false>},
        {"Cast", cast},
        {"CastLike", cast_like},
        {"Ceil", ceiling},
        {"Clip", clip},
        {"Concat", concat},
        {"Constant", constant},
        {"ConstantOfShape", constant_of_shape},
        {"CumSum", running_sum},
        {"Div", divide},
        {"Equal", equal},
        {"Exp", exponential},
        {"Expand", expand},
        {"EyeLike", eye_like},
        {"Flatten", flatten},
        {"Floor", floor_of},
        {"Gather", gather},
        {"GatherElements", gather_elements},
        {"GatherND", gather_nd},
        {"Greater", greater},
        {"GreaterOrEqual", greater_or_equal},
        {"Identity", identity},
        {"Less", less},
        {"LessOrEqual", less_or_equal},
        {"Log", logarithm},
        {"Max", greatest_of_all},
        {"Mean", mean_of_all},
        {"Min", smallest_of_all},
        {"Mod", mod},
        {"Mul", multiply},
        {"Neg", negate},
        {"NonZero", non_zero},
        {"Not", logical_not},
        {"OneHot", one_hot},
        {"Or", logical_or},
        {"Pad", pad},
        {"Pow", power},
        {"Range", range},
        {"Reciprocal", reciprocal},
        {"ReduceMax", reduced<reducer::most>},
        {"ReduceMean", reduced<reducer::mean>},
        {"ReduceMin", reduced<reducer::least>},
        {"ReduceProd", reduced<reducer::product>},
        {"ReduceSum", reduced<reducer::sum>},
        {"Relu", relu},
        {"Reshape", reshape},
        {"Round", nearest},
        {"Scatter", scatter_elements},
        {"ScatterElements", scatter_elements},
        {"ScatterND", scatter_nd},
        {"Shape", shape},
        {"Sign", sign},
        {"Size", size},
        {"Slice", slice},
        {"Sqrt", root},
        {"Squeeze", squeeze},
        {"Sub", subtract},
        {"Sum", add_all},
        {"Tile", tile},
        {"Transpose", transpose},
        {"Trilu", trilu},
        {"Unsqueeze", unsqueeze},
        {"Where", where},
        {"Xor", logical_xor},
    };
    return found;
}

/// The elements of typed fields, if they are of the field's range.
template <class Field, class Convert>
bool take(Field const& field, std::size_t count, Convert convert)
{
    if (static_cast<std::size_t>(field.size()) != count) return false;
    for (auto x : field)
        if (!convert(x)) return false;
    return true;
}

} // namespace

std::optional<known_tensor> elements_of(onnx::TensorProto const& stored)
{
    if (stored.data_location() == tensor::EXTERNAL || stored.has_segment()) return {};
    int const element = stored.data_type();
    std::size_t const width = width_of(element);
    if (width == 0 || static_cast<std::size_t>(stored.dims_size()) > most_dimensions) return {};
    known_tensor found{element, {stored.dims().begin(), stored.dims().end()}, {}, {}};
    auto const count = count_of(found.size);
    if (!count) return {};
    auto add_bits = [&](std::uint64_t bits) {
        if (element == tensor::DOUBLE) found.real.push_back(std::bit_cast<double>(bits));
        else if (element == tensor::FLOAT)
            found.real.push_back(double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
        else if (element == tensor::FLOAT16)
            found.real.push_back(from_half(static_cast<std::uint16_t>(bits)));
        else if (element == tensor::BFLOAT16)
            found.real.push_back(from_bfloat(static_cast<std::uint16_t>(bits)));
        else found.whole.push_back(wrapped(element, bits));
    };

    bool const has_fields = stored.float_data_size() != 0 || stored.double_data_size() != 0 ||
                            stored.int32_data_size() != 0 || stored.int64_data_size() != 0 ||
                            stored.uint64_data_size() != 0 || stored.string_data_size() != 0;
    if (!has_fields) {
        std::string const& raw = stored.raw_data();
        if (raw.size() != *count * width) return {};
        for (std::size_t i = 0; i != raw.size(); i += width) {
            std::uint64_t bits = 0;
            for (std::size_t j = width; j-- != 0;) bits = bits << 8 | static_cast<unsigned char>(raw[i + j]);
            add_bits(bits);
        }
        return found;
    }
    if (!stored.raw_data().empty()) return {};
    bool is_whole = false;
    switch (element) {
    case tensor::FLOAT:
        is_whole =
            take(stored.float_data(), *count, [&](float x) { return found.real.push_back(double{x}), true; });
        break;
    case tensor::DOUBLE:
        is_whole =
            take(stored.double_data(), *count, [&](double x) { return found.real.push_back(x), true; });
        break;
    case tensor::INT64:
        is_whole =
            take(stored.int64_data(), *count, [&](std::int64_t x) { return found.whole.push_back(x), true; });
        break;
    case tensor::UINT32:
    case tensor::UINT64:
        is_whole = take(stored.uint64_data(), *count, [&](std::uint64_t x) {
            add_bits(x);
            return bits_of(found.whole.back()) == x;
        });
        break;
    case tensor::FLOAT16:
    case tensor::BFLOAT16:
        is_whole = take(stored.int32_data(), *count, [&](std::int32_t x) {
            add_bits(bits_of(x));
            return x >= 0 && x <= 0xffff;
        });
        break;
    default:
        is_whole = take(stored.int32_data(), *count, [&](std::int32_t x) {
            add_bits(bits_of(x));
            return element == tensor::BOOL || found.whole.back() == x;
        });
    }
    if (!is_whole) return {};
    return found;
}

onnx::TensorProto as_tensor(known_tensor const& known)
{
    tensor stored;
    stored.set_data_type(known.element);
    for (auto d : known.size) stored.add_dims(d);
    std::string& raw = *stored.mutable_raw_data();
    std::size_t const width = width_of(known.element);
    auto write = [&](std::uint64_t bits) {
        for (std::size_t i = 0; i != width; ++i)
            raw += static_cast<char>(static_cast<unsigned char>(bits >> 8 * i));
    };
    if (!is_real(known.element))
        for (auto x : known.whole) write(known.element == tensor::BOOL ? x != 0 : bits_of(x));
    else
        for (auto x : known.real) {
            if (known.element == tensor::DOUBLE) write(std::bit_cast<std::uint64_t>(x));
            else if (known.element == tensor::FLOAT) write(std::bit_cast<std::uint32_t>(to_float(x)));
            else write(known.element == tensor::FLOAT16 ? to_half(x) : to_bfloat(x));
        }
    return stored;
}

std::vector<std::optional<known_tensor>> evaluate(onnx::NodeProto const& node, std::int64_t opset,
                                                  std::vector<known_tensor const*> const& elements,
                                                  std::vector<onnx::TypeProto const*> const& types)
{
    several unknown(static_cast<std::size_t>(node.output_size()));
    if (!node.domain().empty() && node.domain() != "ai.onnx") return unknown;
    constexpr std::size_t most_operand_elements = 16 * most_known_elements;
    std::size_t read = 0;
    for (auto const* e : elements)
        if (e != nullptr) read += e->whole.size() + e->real.size();
    if (read > most_operand_elements || unknown.empty()) return unknown;
    call const c{node, opset, elements, types};
    if (node.op_type() == "Split") return split(c);
    if (node.op_type() == "TopK") return top_k(c);
    auto const rule = rules().find(node.op_type());
    if (rule == rules().end()) return unknown;
    unknown[0] = rule->second(c);
    return unknown;
}

} // namespace plan_model
