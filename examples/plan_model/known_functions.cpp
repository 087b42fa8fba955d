// SPDX-License-Identifier: BSL-1.0

// Rules of known elements: functions of one real number, and those that normalize the reals along an axis.
// All are computed in double, and rounded to the type once.

#include "known_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace plan_model::known_rules {
namespace {

double attribute_of(call const& c, char const* name, double otherwise)
{
    auto const* const a = c.find(name);
    return a == nullptr ? otherwise : double{a->f()};
}

template <class Function>
maybe mapped(call const& c, Function function)
{
    auto const* x = c.known(0);
    if (x == nullptr || !is_real(x->element)) return {};
    known_tensor found = *x;
    for (auto& e : found.real) e = rounded(x->element, function(e));
    return found;
}

template <class Function>
constexpr one_result of(Function)
{
    return [](call const& c) { return mapped(c, Function{}); };
}

double hard(double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

maybe elu(call const& c)
{
    double const alpha = attribute_of(c, "alpha", 1);
    return mapped(c, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

maybe celu(call const& c)
{
    double const alpha = attribute_of(c, "alpha", 1);
    return mapped(c, [=](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}

maybe selu(call const& c)
{
    double const alpha = attribute_of(c, "alpha", 1.6732632423543772),
                 gamma = attribute_of(c, "gamma", 1.0507009873554805);
    return mapped(c, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

maybe leaky_relu(call const& c)
{
    double const alpha = attribute_of(c, "alpha", 0.01);
    return mapped(c, [=](double x) { return x < 0 ? alpha * x : x; });
}

maybe thresholded_relu(call const& c)
{
    double const alpha = attribute_of(c, "alpha", 1);
    return mapped(c, [=](double x) { return x > alpha ? x : 0; });
}

maybe hard_sigmoid(call const& c)
{
    double const alpha = attribute_of(c, "alpha", 0.2), beta = attribute_of(c, "beta", 0.5);
    return mapped(c, [=](double x) { return hard(x, alpha, beta); });
}

maybe shrink(call const& c)
{
    double const lambd = attribute_of(c, "lambd", 0.5), bias = attribute_of(c, "bias", 0);
    return mapped(c, [=](double x) { return x < -lambd ? x + bias : x > lambd ? x - bias : 0; });
}

maybe gelu(call const& c)
{
    auto const* const how = c.find("approximate");
    if (how != nullptr && how->s() == "tanh")
        return mapped(c, [](double x) {
            return x / 2 *
                   (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
        });
    return mapped(c, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); });
}

enum class normalizer { softmax, log_softmax, hardmax };

/// Up to opset 12 all axes from `axis` on are one.
template <normalizer How>
maybe normalized(call const& c)
{
    auto const* x = c.known(0);
    if (x == nullptr || !is_real(x->element)) return {};
    auto const axis = axis_in(c.number("axis", c.opset < 13 ? 1 : -1), x->size.size());
    if (!axis) return {};
    sizes size = x->size;
    if (c.opset < 13) {
        sizes const last(size.begin() + static_cast<std::ptrdiff_t>(*axis), size.end());
        size.resize(*axis);
        size.push_back(static_cast<std::int64_t>(product(last)));
    }
    around_axis const in(size, *axis);
    known_tensor found = *x;
    for (std::size_t o = 0; o != in.outer; ++o)
        for (std::size_t n = 0; n != in.inner; ++n) {
            std::size_t best = 0;
            double sum = 0;
            for (std::size_t i = 1; i < in.items; ++i)
                if (x->real[in.at(o, i, n)] > x->real[in.at(o, best, n)]) best = i;
            double const most = in.items == 0 ? 0 : x->real[in.at(o, best, n)];
            for (std::size_t i = 0; i != in.items; ++i) sum += std::exp(x->real[in.at(o, i, n)] - most);
            for (std::size_t i = 0; i != in.items; ++i) {
                double const at = x->real[in.at(o, i, n)] - most;
                double const y = How == normalizer::softmax       ? std::exp(at) / sum
                                 : How == normalizer::log_softmax ? at - std::log(sum)
                                 : i == best                      ? 1
                                                                  : 0;
                found.real[in.at(o, i, n)] = rounded(x->element, y);
            }
        }
    return found;
}

} // namespace

rule_table rules_of_functions()
{
    static constexpr named_rule found[] = {
        {"Acos", of([](double x) { return std::acos(x); })},
        {"Acosh", of([](double x) { return std::acosh(x); })},
        {"Asin", of([](double x) { return std::asin(x); })},
        {"Asinh", of([](double x) { return std::asinh(x); })},
        {"Atan", of([](double x) { return std::atan(x); })},
        {"Atanh", of([](double x) { return std::atanh(x); })},
        {"Celu", celu},
        {"Cos", of([](double x) { return std::cos(x); })},
        {"Cosh", of([](double x) { return std::cosh(x); })},
        {"Elu", elu},
        {"Erf", of([](double x) { return std::erf(x); })},
        {"Gelu", gelu},
        {"HardSigmoid", hard_sigmoid},
        {"HardSwish", of([](double x) { return x * hard(x, 1.0 / 6, 0.5); })},
        {"Hardmax", normalized<normalizer::hardmax>},
        {"LeakyRelu", leaky_relu},
        {"LogSoftmax", normalized<normalizer::log_softmax>},
        {"Mish", of([](double x) { return x * std::tanh(softplus(x)); })},
        {"Selu", selu},
        {"Shrink", shrink},
        {"Sigmoid", of([](double x) { return 1 / (1 + std::exp(-x)); })},
        {"Sin", of([](double x) { return std::sin(x); })},
        {"Sinh", of([](double x) { return std::sinh(x); })},
        {"Softmax", normalized<normalizer::softmax>},
        {"Softplus", of([](double x) { return softplus(x); })},
        {"Softsign", of([](double x) { return x / (1 + std::fabs(x)); })},
        {"Tan", of([](double x) { return std::tan(x); })},
        {"Tanh", of([](double x) { return std::tanh(x); })},
        {"ThresholdedRelu", thresholded_relu},
    };
    return found;
}

} // namespace plan_model::known_rules
