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

SUBLET_DECL bool is_zero_for_every_shape(formula const& f, std::span<dimension const> dims)
{
    if (f.is_by_shape()) return false;
    polynomial_view const of = formula_parts::of(f);
    size_grid const grid = formula_parts::grid(of, 0, dims);
    polynomial made;
    if (!has_all_ranges(grid)) return false;
    if (from_ends(of, grid, 0, made) == formula_limit::none && made.terms.empty()) return made.constant == 0;
    return is_never_negative(of, grid) && add(0, of, -1, made) == formula_limit::none &&
           is_never_negative(made, grid);
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
            bool is_rising = is_alone;
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

// --- restriction ------------------------------------------------------------------------------------------

SUBLET_DECL formula_limit restrict_to(polynomial_view f, size_grid const& grid, polynomial& made);

/// A coefficient times a factor.
SUBLET_DECL formula_limit restrict_factor(word_list factor, std::int64_t& coefficient, size_grid const& grid,
                                          polynomial& made)
{
    if (is_symbol(factor)) {
        std::size_t i = 0;
        while (grid[i].dimension != factor[0]) ++i;
        if (grid[i].steps == 0) made = {grid[i].first, {}};
        else made = factor_alone(factor);
        return formula_limit::none;
    }
    if (is_quotient(factor)) {
        polynomial dividend, quotient;
        formula_limit exceeded = restrict_to(dividend_of(factor), grid, dividend);
        if (exceeded == formula_limit::none) exceeded = divide_up(dividend, factor[2], quotient);
        if (exceeded != formula_limit::none) return exceeded;
        // What it is at the first sizes it is everywhere, if the difference is divisible.
        std::vector<std::uint64_t> first(grid.empty() ? 0 : std::size_t{grid.back().dimension} + 1);
        for (size_range const& r : grid) first[r.dimension] = static_cast<std::uint64_t>(r.first);
        std::int64_t number = 0;
        made = quotient;
        if (coefficient % factor[2] != 0 || !evaluate(dividend, {first.data(), first.size()}, number))
            return formula_limit::none;
        std::int64_t const missing = remainder_of(-number, factor[2]);
        polynomial whole;
        if (add(dividend, missing, 1, whole) == formula_limit::none &&
            is_multiple_on(whole, factor[2], grid)) {
            coefficient /= factor[2];
            made = std::move(whole);
        }
        return formula_limit::none;
    }
    std::vector<polynomial> operands;
    for (word_list rest = operands_of(factor); !rest.empty();) {
        polynomial operand, difference;
        if (formula_limit const exceeded = restrict_to(next_operand(rest), grid, operand);
            exceeded != formula_limit::none)
            return exceeded;
        auto is_below = [&](polynomial const& a, polynomial const& b) {
            return add(b, a, -1, difference) == formula_limit::none && is_never_negative(difference, grid);
        };
        bool is_needed = true;
        for (std::size_t i = 0; is_needed && i != operands.size(); ++i)
            is_needed = !is_below(operand, operands[i]);
        if (!is_needed) continue;
        std::size_t kept = 0;
        for (std::size_t i = 0; i != operands.size(); ++i)
            if (!is_below(operands[i], operand)) std::swap(operands[kept++], operands[i]);
        operands.resize(kept);
        operands.push_back(std::move(operand));
    }
    made = operands[0];
    for (std::size_t i = 1; i != operands.size(); ++i) {
        polynomial larger_one;
        if (formula_limit const exceeded = take_larger(made, operands[i], larger_one);
            exceeded != formula_limit::none)
            return exceeded;
        made = std::move(larger_one);
    }
    return formula_limit::none;
}

SUBLET_DECL formula_limit restrict_to(polynomial_view f, size_grid const& grid, polynomial& made)
{
    polynomial sum{f.constant, {}}, by, next;
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        std::int64_t coefficient = term.coefficient;
        polynomial product{1, {}};
        formula_limit exceeded = formula_limit::none;
        while (exceeded == formula_limit::none && !term.key.empty()) {
            exceeded = restrict_factor(next_factor(term.key), coefficient, grid, by);
            if (exceeded == formula_limit::none) exceeded = multiply(product, by, next);
            std::swap(product, next);
        }
        if (exceeded == formula_limit::none) exceeded = add(sum, product, coefficient, next);
        if (exceeded != formula_limit::none) return exceeded;
        std::swap(sum, next);
    }
    made = std::move(sum);
    return formula_limit::none;
}

SUBLET_DECL formula restricted(formula const& f, std::span<dimension const> dims)
{
    if (f.is_by_shape()) return f;
    polynomial_view const of = formula_parts::of(f);
    size_grid const grid = formula_parts::grid(of, 0, dims);
    polynomial made;
    if (!has_all_ranges(grid) || restrict_to(of, grid, made) != formula_limit::none) return f;
    return formula_parts::made(formula_limit::none, std::move(made));
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
