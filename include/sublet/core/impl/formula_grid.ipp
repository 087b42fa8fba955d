// SPDX-License-Identifier: BSL-1.0

/// The proof for a part of the grid: the signs of all coefficients, the corners, each choice of ends, each
/// operand of a maximum, each shape, and both halves of the longest range. The parts are counted, so that a
/// proof that fails ends.

#include <sublet/core/internal/formula_grid.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL std::int64_t count_shapes(size_grid const& grid) noexcept
{
    std::int64_t count = 1;
    for (size_range const& r : grid) {
        if (r.steps < 0 || r.steps >= most_shapes) return most_shapes + 1;
        count *= r.steps + 1;
        if (count > most_shapes) return most_shapes + 1;
    }
    return count;
}

SUBLET_DECL formula_limit from_ends(polynomial_view f, size_grid const& grid, unsigned from_last,
                                    polynomial& made)
{
    return substitute(
        f,
        [&](std::uint32_t dimension, polynomial& by) {
            std::size_t i = 0;
            while (grid[i].dimension != dimension) ++i;
            size_range const& r = grid[i];
            bool const is_last = i < 32 && (from_last >> i & 1) != 0;
            by.constant = is_last ? r.first + r.steps * r.stride : r.first;
            by.terms.clear();
            if (r.steps != 0) by.terms = {is_last ? -r.stride : r.stride, 1, dimension};
            return formula_limit::none;
        },
        made);
}

// --- signs ------------------------------------------------------------------------------------------------

// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL bool has_no_minus(polynomial_view f)
{
    if (f.constant < 0) return false;
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        if (term.coefficient < 0) return false;
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            bool is_found = is_symbol(factor);
            if (is_quotient(factor)) {
                is_found = has_no_minus(dividend_of(factor));
            } else if (!is_found) {
                for (word_list rest = operands_of(factor); !is_found && !rest.empty();)
                    is_found = has_no_minus(next_operand(rest));
            }
            if (!is_found) return false;
        }
    }
    return true;
}

// --- bounds -----------------------------------------------------------------------------------------------

/// Numbers from low to high.
struct value_bounds {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool has_high = true; ///< otherwise no bound is known above
};

/// A variable is never negative.
struct variable_bounds {
    std::uint32_t variable;
    value_bounds its;
};
using all_bounds = std::vector<variable_bounds>;

SUBLET_DECL value_bounds bounds_of(all_bounds const& all, std::int64_t variable)
{
    for (variable_bounds const& b : all)
        if (b.variable == variable) return b.its;
    return {0, 0, false};
}

/// a * b; false if no bound is known below.
SUBLET_DECL bool multiply_ranges(value_bounds const& a, value_bounds const& b, value_bounds& made)
{
    value_bounds product;
    if (a.low >= 0 && b.low >= 0) {
        if (!multiply_signed(a.low, b.low, product.low)) return false;
        product.has_high = a.has_high && b.has_high && multiply_signed(a.high, b.high, product.high);
        made = product;
        return true;
    }
    if (!a.has_high || !b.has_high) return false;
    bool is_first = true;
    for (std::int64_t const x : {a.low, a.high}) {
        for (std::int64_t const y : {b.low, b.high}) {
            std::int64_t xy = 0;
            if (!multiply_signed(x, y, xy)) return false;
            product.low = is_first ? xy : smaller(product.low, xy);
            product.high = is_first ? xy : larger(product.high, xy);
            is_first = false;
        }
    }
    made = product;
    return true;
}

SUBLET_DECL bool bound_factor(word_list factor, all_bounds const& bounds, value_bounds& made);

/// Bounds of f; false if none is known below.
// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL bool bound(polynomial_view f, all_bounds const& bounds, value_bounds& made)
{
    made = {f.constant, f.constant, true};
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        value_bounds product{1, 1, true};
        while (!term.key.empty()) {
            value_bounds factor;
            if (!bound_factor(next_factor(term.key), bounds, factor)) return false;
            if (!multiply_ranges(product, factor, product)) return false;
        }
        std::int64_t const c = term.coefficient;
        if (c < 0 && !product.has_high) return false;
        std::int64_t low = 0, high = 0;
        if (!multiply_signed(c, c > 0 ? product.low : product.high, low)) return false;
        made.has_high = made.has_high && (c < 0 || product.has_high) &&
                        multiply_signed(c, c > 0 ? product.high : product.low, high) &&
                        add_signed(made.high, high, made.high);
        if (!add_signed(made.low, low, made.low)) return false;
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL bool bound_factor(word_list factor, all_bounds const& bounds, value_bounds& made)
{
    if (is_symbol(factor)) {
        made = bounds_of(bounds, factor[0]);
        return true;
    }
    if (is_quotient(factor)) {
        if (!bound(dividend_of(factor), bounds, made)) return false;
        made.low = divide_up(made.low, factor[2]);
        made.high = divide_up(made.high, factor[2]);
        return true;
    }
    bool is_first = true;
    for (word_list rest = operands_of(factor); !rest.empty(); is_first = false) {
        value_bounds operand;
        if (!bound(next_operand(rest), bounds, operand)) return false;
        if (is_first) {
            made = operand;
            continue;
        }
        made.low = larger(made.low, operand.low);
        made.high = larger(made.high, operand.high);
        made.has_high = made.has_high && operand.has_high;
    }
    return true;
}

// --- polynomials ------------------------------------------------------------------------------------------

/// down * key <= up * by, wherever all variables are within their bounds.
struct term_ratio {
    std::size_t of_term; ///< by
    std::int64_t up;     ///< 0: none is known
    std::int64_t down;
};

/// What `key` has more is replaced by its most, and what it has less by its least.
SUBLET_DECL term_ratio ratio_of(word_list key, word_list by, all_bounds const& bounds)
{
    term_ratio ratio{0, 1, 1};
    while (!key.empty() || !by.empty()) {
        std::int64_t const variable = key.empty() ? by[0] : by.empty() ? key[0] : smaller(key[0], by[0]);
        std::size_t in_key = 0, in_by = 0;
        while (in_key != key.size() && key[in_key] == variable) ++in_key;
        while (in_by != by.size() && by[in_by] == variable) ++in_by;
        key = {key.data() + in_key, key.size() - in_key};
        by = {by.data() + in_by, by.size() - in_by};
        if (in_key == in_by) continue;
        value_bounds const its = bounds_of(bounds, variable);
        // A power of an integer is not below the integer, not even of 0.
        std::int64_t const least = in_key == 0 ? its.low : larger(its.low, std::int64_t{1});
        bool is_known = in_key < in_by ? least > 0 : its.has_high;
        for (; is_known && in_key < in_by; ++in_key)
            is_known = multiply_signed(ratio.down, least, ratio.down);
        for (; is_known && in_key > in_by; ++in_by)
            is_known = multiply_signed(ratio.up, larger(its.high, std::int64_t{1}), ratio.up);
        if (!is_known) return {0, 0, 1};
    }
    return ratio;
}

/// Whether positive terms outweigh the negative ones of f, which has variables only.
SUBLET_DECL bool is_outweighed(polynomial_view f, all_bounds const& bounds)
{
    std::vector<term_view> positive, negative;
    (f.constant < 0 ? negative : positive).push_back({f.constant, {}});
    while (!f.terms.empty()) {
        term_view const term = next_term(f.terms);
        (term.coefficient < 0 ? negative : positive).push_back(term);
    }
    std::vector<term_ratio> ratios;
    for (term_view const& minus : negative) {
        ratios.clear();
        for (std::size_t i = 0; i != positive.size(); ++i) {
            term_ratio ratio = ratio_of(minus.key, positive[i].key, bounds);
            ratio.of_term = i;
            if (ratio.up != 0) ratios.push_back(ratio);
        }
        sort_by(ratios, [](term_ratio const& a, term_ratio const& b) {
            return a.up != b.up ? a.up < b.up : a.down > b.down;
        });
        std::int64_t left = -minus.coefficient;
        for (std::size_t i = 0; left > 0 && i != ratios.size(); ++i) {
            auto const& [of_term, up, down] = ratios[i];
            std::int64_t& coefficient = positive[of_term].coefficient;
            std::int64_t needed = 0, outweighed = 0;
            if (multiply_signed(left, up, needed) && divide_up(needed, down) <= coefficient) {
                coefficient -= divide_up(needed, down);
                left = 0;
            } else if (multiply_signed(coefficient, down, outweighed)) {
                left -= outweighed / up;
                coefficient = 0;
            }
        }
        if (left > 0) return false;
    }
    return true;
}

// --- quotients and maxima -------------------------------------------------------------------------------

/// Replaces each quotient and maximum by a new variable z, low + z, or high - z.
SUBLET_DECL formula_limit as_variables(polynomial_view f, bool from_high, all_bounds& bounds,
                                       polynomial& made)
{
    struct compound {
        word_list factor;
        value_bounds its;
        std::uint32_t variable;
    };
    std::vector<compound> known;
    return rebuild(
        f,
        [&](word_list factor, polynomial& by) {
            if (is_symbol(factor)) {
                by = factor_alone(factor);
                return formula_limit::none;
            }
            std::size_t i = 0;
            while (i != known.size() && compare_words(known[i].factor, factor) != 0) ++i;
            if (i == known.size()) {
                compound one{factor, {}, static_cast<std::uint32_t>(quotient_word - 1)};
                if (!bound_factor(factor, bounds, one.its)) return formula_limit::number;
                // No shape has so many dimensions.
                if (!known.empty()) one.variable = known.back().variable - 1;
                value_bounds of_variable = one.its;
                if ((from_high && one.its.has_high) || one.its.low < 0) {
                    of_variable.low = 0;
                    of_variable.has_high =
                        one.its.has_high && add_signed(one.its.high, -one.its.low, of_variable.high);
                }
                known.push_back(one);
                bounds.push_back({one.variable, of_variable});
            }
            value_bounds const& its = known[i].its;
            bool const is_from_high = from_high && its.has_high;
            by.constant = is_from_high ? its.high : its.low < 0 ? its.low : 0;
            by.terms = {is_from_high ? -1 : 1, 1, std::int64_t{known[i].variable}};
            return formula_limit::none;
        },
        made);
}

/// A quotient that in some term is the only factor but variables: of these the one of most words, for others
/// may be in it, and vanish with its dividend. Empty if there is none.
SUBLET_DECL word_list lone_quotient(polynomial_view f)
{
    word_list best;
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        word_list found;
        unsigned others = 0;
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (is_symbol(factor)) continue;
            if (is_quotient(factor)) found = factor;
            ++others;
        }
        if (others == 1 && found.size() > best.size()) best = found;
    }
    return best;
}

/// Multiplies f by the divisor, and replaces the quotient by its dividend, or by what it may be more, where
/// it is alone in its term: the result is not above the product.
SUBLET_DECL formula_limit below_quotient(polynomial_view f, word_list quotient, polynomial& made)
{
    std::int64_t const divisor = quotient[2];
    polynomial sum, next, term_made, key;
    if (!multiply_signed(f.constant, divisor, sum.constant)) return formula_limit::number;
    while (!f.terms.empty()) {
        term_view const term = next_term(f.terms);
        std::vector<std::int64_t> others;
        unsigned quotients = 0, compounds = 0;
        for (word_list rest = term.key; !rest.empty();) {
            word_list const factor = next_factor(rest);
            if (!is_symbol(factor)) ++compounds;
            if (compare_words(factor, quotient) == 0) ++quotients;
            else others.insert(others.end(), factor.data(), factor.data() + factor.size());
        }
        formula_limit exceeded = formula_limit::none;
        if (quotients == 1 && compounds == 1) {
            polynomial above{0, {}};
            exceeded = add(dividend_of(quotient), term.coefficient < 0 ? divisor - 1 : 0, 1, above);
            key = {others.empty() ? term.coefficient : 0, {}};
            if (!others.empty()) {
                key.terms = {term.coefficient, static_cast<std::int64_t>(others.size())};
                key.terms.insert(key.terms.end(), others.begin(), others.end());
            }
            if (exceeded == formula_limit::none) exceeded = multiply(key, above, term_made);
            if (exceeded == formula_limit::none) exceeded = add(sum, term_made, 1, next);
        } else {
            key = {0, {term.coefficient, static_cast<std::int64_t>(term.key.size())}};
            key.terms.insert(key.terms.end(), term.key.data(), term.key.data() + term.key.size());
            exceeded = add(sum, key, divisor, next);
        }
        if (exceeded != formula_limit::none) return exceeded;
        std::swap(sum, next);
    }
    made = std::move(sum);
    return formula_limit::none;
}

SUBLET_DECL bool has_symbols_only(polynomial_view f)
{
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        while (!term.key.empty())
            if (!is_symbol(next_factor(term.key))) return false;
    }
    return true;
}

/// Whether it is proved for variables between these bounds.
SUBLET_DECL bool is_never_negative_between(polynomial_view f, all_bounds const& bounds)
{
    if (has_symbols_only(f)) return is_outweighed(f, bounds);
    all_bounds with_new;
    polynomial plain;
    for (bool const from_high : {false, true}) {
        with_new = bounds;
        if (as_variables(f, from_high, with_new, plain) == formula_limit::none &&
            is_outweighed(plain, with_new))
            return true;
    }
    polynomial scaled{f.constant, {f.terms.data(), f.terms.data() + f.terms.size()}};
    std::int64_t times = 1;
    for (int left = 16; left != 0; --left) {
        word_list const quotient = lone_quotient(scaled);
        polynomial next;
        if (quotient.empty() || !multiply_signed(times, quotient[2], times) ||
            below_quotient(scaled, quotient, next) != formula_limit::none)
            return false;
        scaled = next;
        // An integer that is above -1 is not negative.
        with_new = bounds;
        if (add_signed(next.constant, times - 1, next.constant) &&
            as_variables(next, false, with_new, plain) == formula_limit::none &&
            is_outweighed(plain, with_new))
            return true;
    }
    return false;
}

// --- parts of the grid ------------------------------------------------------------------------------------

enum class proof_result : std::uint8_t { proved, open, refuted };

SUBLET_DECL proof_result prove_not_negative(polynomial_view f, size_grid const& grid, int& parts_left);

/// f does not fall where this factor rises.
SUBLET_DECL bool rises_with(polynomial_view f, word_list rising)
{
    while (!f.terms.empty()) {
        term_view term = next_term(f.terms);
        bool is_found = false, has_sign = term.coefficient < 0;
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (compare_words(factor, rising) == 0) {
                has_sign = has_sign || is_found; // a square
                is_found = true;
            } else {
                has_sign = has_sign || !has_no_minus(factor_alone(factor));
            }
        }
        if (is_found && has_sign) return false;
    }
    return true;
}

/// The maximum among the factors of f in which the most are nested, of these the first with which f does not
/// rise, if there is one; empty if there is none.
SUBLET_DECL word_list largest_to_replace(polynomial_view f)
{
    word_list found;
    unsigned most = 0;
    for (word_list terms = f.terms; !terms.empty();) {
        term_view term = next_term(terms);
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (factor[0] != largest_word) continue;
            polynomial const alone = factor_alone(factor);
            unsigned const rank =
                2 * depth_of({alone.terms.data(), alone.terms.size()}) + (rises_with(f, factor) ? 0 : 1);
            if (rank > most) found = factor;
            most = larger(most, rank);
        }
    }
    return found;
}

/// For a maximum among the factors: one operand suffices if f rises with it, and all always do.
// NOLINTNEXTLINE(misc-no-recursion): halves of at most 32 parts
SUBLET_DECL bool is_proved_by_operands(polynomial_view f, size_grid const& grid, int& parts_left)
{
    word_list const largest = largest_to_replace(f);
    if (largest.empty()) return false;
    bool const is_rising = rises_with(f, largest);
    for (bool const needs_all : {false, true}) {
        if (!needs_all && !is_rising) continue;
        bool has_all = true;
        for (word_list rest = operands_of(largest); !rest.empty();) {
            polynomial_view const operand = next_operand(rest);
            polynomial made;
            formula_limit const exceeded = rebuild(
                f,
                [&](word_list factor, polynomial& by) {
                    by = factor_alone(factor);
                    if (compare_words(factor, largest) == 0)
                        by = {operand.constant,
                              {operand.terms.data(), operand.terms.data() + operand.terms.size()}};
                    return formula_limit::none;
                },
                made);
            bool const is_proved = exceeded == formula_limit::none && parts_left > 0 &&
                                   prove_not_negative(made, grid, parts_left) == proof_result::proved;
            if (is_proved && !needs_all) return true;
            if (!is_proved && needs_all) {
                has_all = false;
                break;
            }
        }
        if (needs_all && has_all) return true;
    }
    return false;
}

/// Whether f is negative at a corner of the grid.
SUBLET_DECL bool is_negative_at_corner(polynomial_view f, size_grid const& grid)
{
    std::vector<std::uint64_t> sizes(std::size_t{grid.back().dimension} + 1);
    unsigned const corners = grid.size() <= 4 ? 1u << grid.size() : 2;
    for (unsigned corner = 0; corner != corners; ++corner) {
        bool is_in_grid = true;
        for (std::size_t i = 0; i != grid.size(); ++i) {
            size_range const& r = grid[i];
            bool const is_last = (corner >> (grid.size() <= 4 ? i : 0) & 1) != 0;
            is_in_grid = is_in_grid && !(is_last && r.steps < 0);
            sizes[r.dimension] = static_cast<std::uint64_t>(is_last ? r.first + r.steps * r.stride : r.first);
        }
        std::int64_t number = 0;
        if (is_in_grid && evaluate(f, {sizes.data(), sizes.size()}, number) && number < 0) return true;
    }
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion): halves of at most 32 parts
SUBLET_DECL proof_result prove_not_negative(polynomial_view f, size_grid const& whole, int& parts_left)
{
    if (has_no_minus(f)) return proof_result::proved;
    std::vector<std::uint32_t> dimensions;
    list_dimensions(f.terms, dimensions);
    size_grid grid;
    grid.reserve(whole.size());
    for (size_range const& r : whole)
        if (is_listed(dimensions, r.dimension)) grid.push_back(r);
    if (f.terms.empty() || is_negative_at_corner(f, grid)) return proof_result::refuted;
    --parts_left;

    // As it is: to replace dimensions may multiply quotients out that are alike here.
    all_bounds bounds;
    bounds.reserve(grid.size());
    for (size_range const& r : grid)
        bounds.push_back(
            {r.dimension, {r.first, r.steps < 0 ? 0 : r.first + r.steps * r.stride, r.steps >= 0}});
    if (is_never_negative_between(f, bounds)) return proof_result::proved;
    for (std::size_t i = 0; i != grid.size(); ++i) bounds[i].its = {0, grid[i].steps, grid[i].steps >= 0};
    unsigned const choices = grid.size() <= 3 ? 1u << grid.size() : 2;
    for (unsigned choice = 0; choice != choices; ++choice) {
        unsigned const ends = grid.size() <= 3 || choice == 0 ? choice : ~0u;
        bool has_ends = true;
        for (std::size_t i = 0; i != grid.size(); ++i)
            has_ends = has_ends && !(grid[i].steps < 0 && i < 32 && (ends >> i & 1) != 0);
        polynomial made;
        if (has_ends && from_ends(f, grid, ends, made) == formula_limit::none &&
            is_never_negative_between(made, bounds))
            return proof_result::proved;
    }
    if (is_proved_by_operands(f, grid, parts_left)) return proof_result::proved;
    if (count_shapes(grid) <= most_shapes)
        return holds_for_each(f, grid, [](std::int64_t number) { return number >= 0; })
                   ? proof_result::proved
                   : proof_result::refuted;

    std::size_t longest = 0;
    for (std::size_t i = 0; i != grid.size(); ++i)
        if (grid[i].steps > grid[longest].steps) longest = i;
    if (grid[longest].steps < 1) return proof_result::open;
    for (bool const is_upper : {false, true}) {
        size_grid half = grid;
        std::int64_t const lower_steps = grid[longest].steps / 2;
        half[longest].steps = is_upper ? grid[longest].steps - lower_steps - 1 : lower_steps;
        if (is_upper) half[longest].first += (lower_steps + 1) * grid[longest].stride;
        if (parts_left <= 0) return proof_result::open;
        proof_result const of_half = prove_not_negative(f, half, parts_left);
        if (of_half != proof_result::proved) return of_half;
    }
    return proof_result::proved;
}

SUBLET_DECL bool is_never_negative(polynomial_view f, size_grid const& grid)
{
    for (size_range const& r : grid)
        if (r.stride == 0) return false;
    int parts_left = 32;
    return prove_not_negative(f, grid, parts_left) == proof_result::proved;
}

} // namespace sublet::detail
