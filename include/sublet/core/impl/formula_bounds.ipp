// SPDX-License-Identifier: BSL-1.0

/// Each question is asked of the difference of two formulas, or of the coefficients after dimensions are
/// replaced by their number of strides from the first size.

#include <sublet/core/internal/formula_bounds.hpp>
#include <sublet/core/internal/formula_grid.hpp>
#include <sublet/core/internal/formula_terms.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL bool has_all_ranges(size_grid const& grid)
{
    for (size_range const& r : grid)
        if (r.stride == 0) return false;
    return true;
}

SUBLET_DECL bool has_coefficients_of(polynomial_view f, std::int64_t n)
{
    if (f.constant % n != 0) return false;
    while (!f.terms.empty())
        if (next_term(f.terms).coefficient % n != 0) return false;
    return true;
}

SUBLET_DECL bool is_multiple_on(polynomial_view f, std::int64_t n, size_grid const& grid)
{
    polynomial made;
    if (has_coefficients_of(f, n)) return true;
    if (!has_all_ranges(grid) || from_ends(f, grid, 0, made) != formula_limit::none) return false;
    if (has_coefficients_of(made, n)) return true;
    // In its number of strides, of which the remainder decides where it has no quotients.
    bool const is_periodic = has_symbols_only(made);
    std::vector<std::uint32_t> dimensions;
    list_dimensions({made.terms.data(), made.terms.size()}, dimensions);
    size_grid strides;
    for (size_range const& r : grid)
        if (is_listed(dimensions, r.dimension))
            strides.push_back(
                {r.dimension, 0, 1, is_periodic && (r.steps < 0 || r.steps >= n) ? n - 1 : r.steps});
    return count_shapes(strides) <= most_shapes &&
           holds_for_each(made, strides, [&](std::int64_t number) { return number % n == 0; });
}

SUBLET_DECL bool is_multiple_of(formula const& f, byte_count n, std::span<dimension const> dims)
{
    SUBLET_EXPECTS(n != 0, "sublet: a formula is divided by 0");
    SUBLET_EXPECTS(n >> 63 == 0, "sublet: a formula is divided by %: it reaches 2^63", n);
    if (f.is_by_shape()) return false;
    polynomial_view const of = formula_parts::of(f);
    return is_multiple_on(of, static_cast<std::int64_t>(n), formula_parts::grid(of, 0, dims));
}

/// Each term is positive and a product of what rises and is not negative, or has no such dimension.
// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL bool is_rising_by_form(polynomial_view f, std::uint32_t of)
{
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        std::vector<std::uint32_t> dimensions;
        list_dimensions({term.key.data() - 2, term.key.size() + 2}, dimensions); // with its two words before
        if (!is_listed(dimensions, of)) continue;
        if (term.coefficient < 0) return false;
        word_list others = term.key;
        (void)next_factor(others);
        bool const is_alone = others.empty();
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (is_symbol(factor)) continue;
            bool is_rising; // set in both branches
            if (is_quotient(factor)) {
                is_rising = (is_alone || has_no_minus(dividend_of(factor))) &&
                            is_rising_by_form(dividend_of(factor), of);
            } else {
                is_rising = is_alone || has_no_minus(factor_alone(factor));
                for (word_list rest = operands_of(factor); is_rising && !rest.empty();)
                    is_rising = is_rising_by_form(next_operand(rest), of);
            }
            if (!is_rising) return false;
        }
    }
    return true;
}

SUBLET_DECL bool is_rising_in(formula const& f, std::uint32_t of, std::span<dimension const> dims)
{
    if (f.is_by_shape()) return false;
    polynomial_view const terms = formula_parts::of(f);
    size_grid grid = formula_parts::grid(terms, 0, dims);
    for (size_range& r : grid) {
        if (r.dimension != of) continue;
        if (!has_all_ranges(grid)) return false;
        if (r.steps == 0 || is_rising_by_form(terms, of)) return true;
        polynomial from_first;
        if (from_ends(terms, grid, 0, from_first) == formula_limit::none && is_rising_by_form(from_first, of))
            return true;
        polynomial next, difference;
        formula_limit const exceeded = substitute(
            terms,
            [&](std::uint32_t dimension, polynomial& by) {
                by = {dimension == of ? r.stride : 0, {1, 1, dimension}};
                return formula_limit::none;
            },
            next);
        if (r.steps > 0) --r.steps;
        return exceeded == formula_limit::none && add(next, terms, -1, difference) == formula_limit::none &&
               is_never_negative(difference, grid);
    }
    return true;
}

SUBLET_DECL std::size_t dimensions_of(formula const& f)
{
    std::vector<std::uint32_t> found;
    list_dimensions(formula_parts::of(f).terms, found);
    std::size_t most = 0;
    for (std::uint32_t d : found) most = larger(most, std::size_t{d} + 1);
    return most;
}

SUBLET_DECL byte_count upper_bound_of(formula const& f, std::span<dimension const> dims)
{
    constexpr byte_count most = byte_count{1} << 62;
    std::vector<byte_count> last;
    for (dimension const& its : dims) last.push_back(its.largest());
    byte_count const there = f.at(std::span<byte_count const>(last));
    if (f.is_constant() || never_above(f, there, dims)) return there;
    byte_count low = there, high = larger(there, byte_count{1}); // low is not proved
    while (high < most && !never_above(f, high, dims)) low = high, high *= 2;
    if (high >= most) return no_size;
    for (unsigned i = 0; i != 20 && high - low > 1; ++i) {
        byte_count const middle = low + (high - low) / 2;
        if (never_above(f, middle, dims)) high = middle;
        else low = middle;
    }
    return high;
}

SUBLET_DECL bool add_times(formula& sum, formula const& f, byte_count times)
{
    polynomial made;
    if (times >> 62 != 0) return false;
    if (add(formula_parts::of(sum), formula_parts::of(f), static_cast<std::int64_t>(times), made) !=
        formula_limit::none)
        return false;
    sum = formula_parts::made(formula_limit::none, std::move(made));
    return true;
}

} // namespace sublet::detail
