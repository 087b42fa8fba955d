// SPDX-License-Identifier: BSL-1.0

// Rules of known elements: along axes, as sums, the greatest element, and sorted ones. Elements are visited
// in their order, and integers that the type does not hold make the result unknown.

#include "known_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace plan_model::known_rules {
namespace {

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

enum class norm : std::uint8_t { absolute, euclidean, log_sum, log_sum_exp, squares };

template <norm How>
maybe norm_of(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr || !is_real(data->element)) return {};
    auto const to = reduction_of(c, *data, 18);
    if (!to) return {};
    if (to->is_identity) return *data;
    std::vector<double> most(product(to->size), 0);
    if (How == norm::log_sum_exp) { // so that no exponential overflows
        for (double& m : most) m = -HUGE_VAL;
        for (std::size_t i = 0; i != to->into.size(); ++i)
            most[to->into[i]] = real_most(most[to->into[i]], data->real[i]);
        for (double& m : most) m = std::isinf(m) ? 0 : m;
    }
    known_tensor found{data->element, to->size, {}, std::vector<double>(most.size(), 0)};
    for (std::size_t i = 0; i != to->into.size(); ++i) {
        double const x = data->real[i];
        found.real[to->into[i]] += How == norm::absolute      ? std::fabs(x)
                                   : How == norm::log_sum     ? x
                                   : How == norm::log_sum_exp ? std::exp(x - most[to->into[i]])
                                                              : x * x;
    }
    for (std::size_t i = 0; i != most.size(); ++i) {
        double& x = found.real[i];
        if (How == norm::euclidean) x = std::sqrt(x);
        if (How == norm::log_sum || How == norm::log_sum_exp) x = std::log(x) + most[i];
        x = rounded(data->element, x);
    }
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

} // namespace

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

rule_table rules_of_reductions()
{
    static constexpr named_rule found[] = {
        {"ArgMax", index_of_extreme<true>},
        {"ArgMin", index_of_extreme<false>},
        {"CumSum", running_sum},
        {"NonZero", non_zero},
        {"ReduceL1", norm_of<norm::absolute>},
        {"ReduceL2", norm_of<norm::euclidean>},
        {"ReduceLogSum", norm_of<norm::log_sum>},
        {"ReduceLogSumExp", norm_of<norm::log_sum_exp>},
        {"ReduceMax", reduced<reducer::most>},
        {"ReduceMean", reduced<reducer::mean>},
        {"ReduceMin", reduced<reducer::least>},
        {"ReduceProd", reduced<reducer::product>},
        {"ReduceSum", reduced<reducer::sum>},
        {"ReduceSumSquare", norm_of<norm::squares>},
    };
    return found;
}

} // namespace plan_model::known_rules
