// SPDX-License-Identifier: BSL-1.0

/// Sums by merging two ascending lists, products by sorting the pairs, quotients by taking out of each
/// coefficient what is divisible. Recursion is along nesting only, which is bounded.

#include <sublet/core/internal/formula_terms.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL int compare_words(word_list a, word_list b) noexcept
{
    for (std::size_t i = 0; i != a.size() && i != b.size(); ++i)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL void list_dimensions(word_list terms, std::vector<std::uint32_t>& found)
{
    while (!terms.empty()) {
        term_view term = next_term(terms);
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (is_symbol(factor)) {
                auto const dimension = static_cast<std::uint32_t>(factor[0]);
                std::size_t const at =
                    partition_point(found.size(), [&](std::size_t i) { return found[i] >= dimension; });
                if (at == found.size() || found[at] != dimension)
                    found.insert(found.begin() + static_cast<std::ptrdiff_t>(at), dimension);
            } else if (is_quotient(factor)) {
                list_dimensions(dividend_of(factor).terms, found);
            } else {
                for (word_list rest = operands_of(factor); !rest.empty();)
                    list_dimensions(next_operand(rest).terms, found);
            }
        }
    }
}

/// The size of a dimension of a shape; false if there is none, or it reaches 2^63.
[[nodiscard]] inline bool read_size(std::int64_t dimension, std::span<std::uint64_t const> sizes,
                                    std::int64_t& size) noexcept
{
    auto const d = static_cast<std::uint64_t>(dimension);
    if (d >= sizes.size()) return false;
    size = static_cast<std::int64_t>(sizes[static_cast<std::size_t>(d)]);
    return size >= 0;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL bool evaluate(polynomial_view f, std::span<std::uint64_t const> sizes,
                          std::int64_t& number) noexcept
{
    std::int64_t sum = f.constant;
    for (word_list rest = f.terms; !rest.empty();) {
        term_view term = next_term(rest);
        std::int64_t product = term.coefficient;
        while (!term.key.empty()) {
            std::int64_t value = 0;
            word_list const factor = next_factor(term.key);
            if (is_symbol(factor)) {
                if (!read_size(factor[0], sizes, value)) return false;
            } else if (is_quotient(factor)) {
                if (factor.size() == 7) { // (constant + coefficient * dimension) / divisor, as most are
                    if (!read_size(factor[6], sizes, value) || !multiply_signed(value, factor[4], value) ||
                        !add_signed(value, factor[3], value))
                        return false;
                } else if (!evaluate(dividend_of(factor), sizes, value)) return false;
                value = divide_up(value, factor[2]);
            } else {
                word_list operands = operands_of(factor);
                if (!evaluate(next_operand(operands), sizes, value)) return false;
                while (!operands.empty()) {
                    std::int64_t other = 0;
                    if (!evaluate(next_operand(operands), sizes, other)) return false;
                    value = larger(value, other);
                }
            }
            if (!multiply_signed(product, value, product)) return false;
        }
        if (!add_signed(sum, product, sum)) return false;
    }
    number = sum;
    return true;
}

/// Terms, those inside of quotients and maxima included.
// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL std::size_t count_terms(word_list terms)
{
    std::size_t count = 0;
    while (!terms.empty()) {
        term_view term = next_term(terms);
        ++count;
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (is_symbol(factor)) continue;
            if (is_quotient(factor)) count += count_terms(dividend_of(factor).terms);
            else
                for (word_list rest = operands_of(factor); !rest.empty();)
                    count += count_terms(next_operand(rest).terms);
        }
    }
    return count;
}

/// A term has at least 3 words, so that most results need not be counted.
SUBLET_DECL formula_limit limit_of_terms(polynomial const& made)
{
    return made.terms.size() <= 3 * most_terms ||
                   count_terms({made.terms.data(), made.terms.size()}) <= most_terms
               ? formula_limit::none
               : formula_limit::terms;
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL unsigned depth_of(word_list terms)
{
    unsigned depth = 0;
    while (!terms.empty()) {
        term_view term = next_term(terms);
        while (!term.key.empty()) {
            word_list const factor = next_factor(term.key);
            if (is_symbol(factor)) continue;
            if (is_quotient(factor)) {
                depth = larger(depth, 1 + depth_of(dividend_of(factor).terms));
            } else {
                for (word_list rest = operands_of(factor); !rest.empty();)
                    depth = larger(depth, 1 + depth_of(next_operand(rest).terms));
            }
        }
    }
    return depth;
}

SUBLET_DECL void append_words(std::vector<std::int64_t>& to, word_list more)
{
    to.insert(to.end(), more.data(), more.data() + more.size());
}

SUBLET_DECL void append_term(std::vector<std::int64_t>& to, std::int64_t coefficient, word_list key)
{
    to.push_back(coefficient);
    to.push_back(static_cast<std::int64_t>(key.size()));
    append_words(to, key);
}

SUBLET_DECL polynomial factor_alone(word_list factor)
{
    polynomial alone;
    append_term(alone.terms, 1, factor);
    return alone;
}

SUBLET_DECL formula_limit add(polynomial_view a, polynomial_view b, std::int64_t times, polynomial& sum)
{
    std::int64_t scaled = 0;
    sum.terms.clear();
    if (!multiply_signed(b.constant, times, scaled) || !add_signed(a.constant, scaled, sum.constant))
        return formula_limit::number;
    sum.terms.reserve(a.terms.size() + b.terms.size());
    term_view of_a{0, {}}, of_b{0, {}};
    if (!a.terms.empty()) of_a = next_term(a.terms);
    if (!b.terms.empty()) of_b = next_term(b.terms);
    while (of_a.coefficient != 0 || of_b.coefficient != 0) {
        int const order = of_b.coefficient == 0   ? -1
                          : of_a.coefficient == 0 ? 1
                                                  : compare_words(of_a.key, of_b.key);
        std::int64_t coefficient = order <= 0 ? of_a.coefficient : 0;
        if (order >= 0 && (!multiply_signed(of_b.coefficient, times, scaled) ||
                           !add_signed(coefficient, scaled, coefficient)))
            return formula_limit::number;
        if (coefficient != 0) append_term(sum.terms, coefficient, order <= 0 ? of_a.key : of_b.key);
        if (order <= 0) of_a = a.terms.empty() ? term_view{0, {}} : next_term(a.terms);
        if (order >= 0) of_b = b.terms.empty() ? term_view{0, {}} : next_term(b.terms);
    }
    return limit_of_terms(sum);
}

/// Appends all factors of both keys, ascending; false if they are too many.
SUBLET_DECL bool append_product(std::vector<std::int64_t>& to, word_list a, word_list b)
{
    unsigned factors = 0;
    word_list of_a, of_b;
    if (!a.empty()) of_a = next_factor(a);
    if (!b.empty()) of_b = next_factor(b);
    while (!of_a.empty() || !of_b.empty()) {
        bool const is_a = of_b.empty() || (!of_a.empty() && compare_words(of_a, of_b) <= 0);
        append_words(to, is_a ? of_a : of_b);
        if (is_a) of_a = a.empty() ? word_list{} : next_factor(a);
        else of_b = b.empty() ? word_list{} : next_factor(b);
        if (++factors > most_factors) return false;
    }
    return true;
}

/// A product of two terms; its key is stored elsewhere.
struct product_term {
    std::int64_t coefficient;
    std::size_t begin;
    std::size_t length;
};

SUBLET_DECL formula_limit multiply(polynomial_view a, polynomial_view b, polynomial& product)
{
    if (a.terms.empty()) return add(0, b, a.constant, product);
    if (b.terms.empty()) return add(0, a, b.constant, product);
    product.terms.clear();
    if (!multiply_signed(a.constant, b.constant, product.constant)) return formula_limit::number;
    std::vector<std::int64_t> keys;
    std::vector<product_term> terms;
    // The constant of either is a term without factors.
    bool at_constant_of_a = true;
    for (word_list rest_a = a.terms; at_constant_of_a || !rest_a.empty();) {
        term_view const of_a = at_constant_of_a ? term_view{a.constant, {}} : next_term(rest_a);
        bool at_constant_of_b = !at_constant_of_a;
        at_constant_of_a = false;
        if (of_a.coefficient == 0) continue;
        for (word_list rest_b = b.terms; at_constant_of_b || !rest_b.empty();) {
            term_view const of_b = at_constant_of_b ? term_view{b.constant, {}} : next_term(rest_b);
            at_constant_of_b = false;
            if (of_b.coefficient == 0) continue;
            product_term made{0, keys.size(), 0};
            if (!multiply_signed(of_a.coefficient, of_b.coefficient, made.coefficient))
                return formula_limit::number;
            if (!append_product(keys, of_a.key, of_b.key)) return formula_limit::factors;
            made.length = keys.size() - made.begin;
            terms.push_back(made);
            if (terms.size() > (std::size_t{1} << 20)) return formula_limit::terms;
        }
    }
    auto key_of = [&](product_term const& t) { return word_list{keys.data() + t.begin, t.length}; };
    sort_by(terms, [&](product_term const& x, product_term const& y) {
        return compare_words(key_of(x), key_of(y)) < 0;
    });
    for (std::size_t i = 0; i != terms.size();) {
        std::int64_t coefficient = 0;
        word_list const key = key_of(terms[i]);
        for (; i != terms.size() && compare_words(key, key_of(terms[i])) == 0; ++i)
            if (!add_signed(coefficient, terms[i].coefficient, coefficient)) return formula_limit::number;
        if (coefficient != 0) append_term(product.terms, coefficient, key);
    }
    return limit_of_terms(product);
}

/// The only factor of a term; empty if it has others, or another coefficient than 1.
SUBLET_DECL word_list only_factor(term_view term)
{
    word_list const factor = next_factor(term.key);
    return term.coefficient == 1 && term.key.empty() ? factor : word_list{};
}

// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
SUBLET_DECL formula_limit divide_up(polynomial_view a, std::int64_t divisor, polynomial& quotient)
{
    polynomial whole, rest;
    whole.constant = divide_down(a.constant, divisor);
    rest.constant = remainder_of(a.constant, divisor);
    std::int64_t common = divisor;
    for (word_list terms = a.terms; !terms.empty();) {
        term_view const term = next_term(terms);
        std::int64_t const times = divide_down(term.coefficient, divisor),
                           left = remainder_of(term.coefficient, divisor);
        if (times != 0) append_term(whole.terms, times, term.key);
        if (left == 0) continue;
        append_term(rest.terms, left, term.key);
        for (std::int64_t other = left; other != 0;) {
            std::int64_t const next = common % other;
            common = other;
            other = next;
        }
    }
    if (rest.terms.empty()) {
        whole.constant += rest.constant != 0 ? 1 : 0;
        quotient = std::move(whole);
        return formula_limit::none;
    }
    if (common != 1) {
        for (std::size_t i = 0; i != rest.terms.size(); i += 2 + static_cast<std::size_t>(rest.terms[i + 1]))
            rest.terms[i] /= common;
        divisor /= common;
        rest.constant = divide_up(rest.constant, common);
        if (rest.constant == divisor) {
            ++whole.constant;
            rest.constant = 0;
        }
    }
    word_list const left{rest.terms.data(), rest.terms.size()};
    polynomial only;
    for (word_list terms = left; !terms.empty();) {
        word_list const inner = only_factor(next_term(terms));
        std::int64_t outer = 0;
        if (inner.empty() || !is_quotient(inner) || !multiply_signed(inner[2], divisor, outer)) continue;
        // (r + a / m) / n is (m r + a) / (m n), both rounded up.
        polynomial others, dividend;
        formula_limit exceeded = add(rest, factor_alone(inner), -1, others);
        if (exceeded == formula_limit::none) exceeded = add(dividend_of(inner), others, inner[2], dividend);
        if (exceeded == formula_limit::none) exceeded = divide_up(dividend, outer, only);
        return exceeded == formula_limit::none ? add(whole, only, 1, quotient) : exceeded;
    }
    if (depth_of(left) >= most_depth) return formula_limit::depth;
    auto const length = static_cast<std::int64_t>(4 + left.size());
    only.terms = {1, length, quotient_word, length, divisor, rest.constant};
    append_words(only.terms, left);
    return add(whole, only, 1, quotient);
}

SUBLET_DECL formula_limit take_larger(polynomial_view a, polynomial_view b, polynomial& larger_one)
{
    std::vector<polynomial_view> operands;
    bool is_small = true;
    auto add_operand = [&](polynomial_view f, std::int64_t more) {
        std::size_t const at = partition_point(
            operands.size(), [&](std::size_t i) { return compare_words(operands[i].terms, f.terms) >= 0; });
        is_small = is_small && add_signed(f.constant, more, f.constant);
        if (at == operands.size() || compare_words(operands[at].terms, f.terms) != 0)
            operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(at), f);
        else if (operands[at].constant < f.constant) operands[at] = f;
    };
    for (polynomial_view const& f : {a, b}) {
        word_list others = f.terms, factor;
        if (!others.empty()) factor = only_factor(next_term(others));
        if (!others.empty() || factor.empty() || factor[0] != largest_word) add_operand(f, 0);
        else
            for (word_list rest = operands_of(factor); !rest.empty();)
                add_operand(next_operand(rest), f.constant);
    }
    // The least constant is taken out.
    std::int64_t least = operands[0].constant;
    for (polynomial_view const& f : operands) least = smaller(least, f.constant);
    std::vector<std::int64_t> made;
    if (operands.size() == 1) {
        append_words(made, operands[0].terms);
    } else {
        made = {1, 0, largest_word, 0};
        for (polynomial_view const& f : operands) {
            std::int64_t constant = 0;
            if (depth_of(f.terms) >= most_depth) return formula_limit::depth;
            is_small = is_small && add_signed(f.constant, -least, constant);
            made.push_back(static_cast<std::int64_t>(2 + f.terms.size()));
            made.push_back(constant);
            append_words(made, f.terms);
        }
        made[1] = made[3] = static_cast<std::int64_t>(made.size() - 2);
    }
    if (!is_small) return formula_limit::number;
    larger_one.constant = least;
    larger_one.terms = std::move(made);
    return limit_of_terms(larger_one);
}

} // namespace sublet::detail
