// SPDX-License-Identifier: BSL-1.0

// Rules of known elements: elementwise ones, with operands that are broadcast. Most are a function of
// integers and one of reals; where kernels may differ, the result is not known.

#include "known_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace plan_model::known_rules {
namespace {

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

} // namespace

rule_table rules_of_arithmetic()
{
    static constexpr named_rule found[] = {
        {"Abs", absolute},
        {"Add", add},
        {"And", logical_and},
        {"Cast", cast},
        {"CastLike", cast_like},
        {"Ceil", ceiling},
        {"Clip", clip},
        {"Div", divide},
        {"Equal", equal},
        {"Exp", exponential},
        {"Floor", floor_of},
        {"Greater", greater},
        {"GreaterOrEqual", greater_or_equal},
        {"Less", less},
        {"LessOrEqual", less_or_equal},
        {"Log", logarithm},
        {"Max", greatest_of_all},
        {"Mean", mean_of_all},
        {"Min", smallest_of_all},
        {"Mod", mod},
        {"Mul", multiply},
        {"Neg", negate},
        {"Not", logical_not},
        {"OneHot", one_hot},
        {"Or", logical_or},
        {"Pow", power},
        {"Reciprocal", reciprocal},
        {"Relu", relu},
        {"Round", nearest},
        {"Sign", sign},
        {"Sqrt", root},
        {"Sub", subtract},
        {"Sum", add_all},
        {"Where", where},
        {"Xor", logical_xor},
    };
    return found;
}

} // namespace plan_model::known_rules
