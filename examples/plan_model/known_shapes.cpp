// SPDX-License-Identifier: BSL-1.0

// Rules of known elements: constants, what is made from shapes, and the same elements in another shape. They
// read few elements or none: a shape is often known where the tensor is not.

#include "known_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace plan_model::known_rules {
namespace {

// --- constants and shapes ----------------------------------------------------------------------------------

/// A list or a scalar of int64.
known_tensor integers(sizes elements)
{
    auto const count = static_cast<std::int64_t>(elements.size());
    return {tensor::INT64, {count}, std::move(elements), {}};
}

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

} // namespace

rule_table rules_of_shapes()
{
    static constexpr named_rule found[] = {
        {"Constant", constant},   {"ConstantOfShape", constant_of_shape},
        {"EyeLike", eye_like},    {"Flatten", flatten},
        {"Identity", identity},   {"Range", range},
        {"Reshape", reshape},     {"Shape", shape},
        {"Size", size},           {"Squeeze", squeeze},
        {"Unsqueeze", unsqueeze},
    };
    return found;
}

} // namespace plan_model::known_rules
