// SPDX-License-Identifier: BSL-1.0

#include "fitted_size.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace plan_model {
namespace {

using term_map = std::map<std::vector<int>, std::int64_t>;

/// n choose k.
std::int64_t choose(std::int64_t n, std::int64_t k)
{
    std::int64_t ways = 1;
    for (std::int64_t i = 0; i != k; ++i) ways = exact_product(ways, n - i) / (i + 1);
    return ways;
}

void multiply(term_map& by, std::size_t dimension, std::int64_t constant)
{
    term_map product; // by * (x + constant)
    for (auto const& [e, c] : by) {
        std::vector<int> higher = e;
        ++higher[dimension];
        auto& raised = product[higher];
        raised = exact_sum(raised, c);
        auto& same = product[e];
        same = exact_sum(same, exact_product(c, constant));
    }
    by = std::move(product);
}

/// Divides by what all have in common, and drops what is 0.
void reduce(fitted_size& size)
{
    std::int64_t common = size.divisor;
    for (auto at = size.polynomial.begin(); at != size.polynomial.end();) {
        common = std::gcd(common, at->second);
        at = at->second == 0 ? size.polynomial.erase(at) : std::next(at);
    }
    for (auto& [e, c] : size.polynomial) c /= common;
    size.divisor /= common;
}

} // namespace

std::int64_t exact_product(std::int64_t a, std::int64_t b)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (a == -most - 1 || b == -most - 1 || (a != 0 && (b < 0 ? -b : b) > most / (a < 0 ? -a : a)))
        throw std::overflow_error("a product of sizes exceeds 63 bits");
    return a * b;
}

std::int64_t exact_sum(std::int64_t a, std::int64_t b)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (b > 0 ? a > most - b : a < -most - b) throw std::overflow_error("a sum of sizes exceeds 63 bits");
    return a + b;
}

std::int64_t number_at(newton_terms const& terms, grid_point const& at)
{
    std::int64_t sum = 0;
    for (auto const& [e, c] : terms) {
        std::int64_t term = c;
        for (std::size_t i = 0; i != at.size() && term != 0; ++i)
            term = at[i] < e[i] ? 0 : exact_product(term, choose(at[i], e[i]));
        sum = exact_sum(sum, term);
    }
    return sum;
}

fitted_size in_sizes(newton_terms const& terms, std::vector<dimension_range> const& ranges)
{
    std::size_t const m = ranges.size();
    std::vector<std::int64_t> degree(m);
    for (auto const& [e, c] : terms)
        for (std::size_t i = 0; i != m; ++i) degree[i] = std::max(degree[i], e[i]);
    auto below = [&](std::size_t i, std::int64_t e) { // what (t choose e) is divided by
        std::int64_t product = 1;
        for (std::int64_t k = 0; k != e; ++k)
            product = exact_product(product, exact_product(ranges[i].stride, k + 1));
        return product;
    };
    fitted_size size;
    for (std::size_t i = 0; i != m; ++i) size.divisor = exact_product(size.divisor, below(i, degree[i]));
    for (auto const& [e, c] : terms) {
        std::int64_t coefficient = c;
        for (std::size_t i = 0; i != m; ++i)
            coefficient = exact_product(coefficient, below(i, degree[i]) / below(i, e[i]));
        term_map one{{std::vector<int>(m), coefficient}};
        for (std::size_t i = 0; i != m; ++i)
            for (std::int64_t k = 0; k != e[i]; ++k)
                multiply(one, i, -exact_sum(ranges[i].least, exact_product(k, ranges[i].stride)));
        for (auto const& [exponents, n] : one) {
            auto& sum = size.polynomial[exponents];
            sum = exact_sum(sum, n);
        }
    }
    reduce(size);
    return size;
}

sublet::formula fitted_size::as_formula() const
{
    sublet::formula sum = 0;
    for (auto const& [exponents, coefficient] : polynomial) {
        sublet::formula term = coefficient;
        for (std::size_t i = 0; i != exponents.size(); ++i)
            for (int e = 0; e != exponents[i]; ++e) term *= sublet::symbol(static_cast<std::uint32_t>(i));
        sum += term;
    }
    sum *= rest;
    return divisor == 1 ? sum : sublet::ceil_divide(sum, static_cast<sublet::byte_count>(divisor));
}

fitted_size fitted_constant(std::int64_t number, std::size_t dimensions)
{
    fitted_size size;
    if (number != 0) size.polynomial.emplace(std::vector<int>(dimensions), number);
    return size;
}

fitted_size operator*(fitted_size const& a, fitted_size const& b)
{
    fitted_size product;
    product.divisor = exact_product(a.divisor, b.divisor);
    for (auto const& [e, c] : a.polynomial)
        for (auto const& [f, d] : b.polynomial) {
            std::vector<int> sum = e;
            for (std::size_t i = 0; i != sum.size(); ++i) sum[i] += f[i];
            auto& coefficient = product.polynomial[sum];
            coefficient = exact_sum(coefficient, exact_product(c, d));
        }
    product.rest = a.rest * b.rest;
    reduce(product);
    return product;
}

} // namespace plan_model
