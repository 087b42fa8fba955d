// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_FORMULA_TERMS_HPP
#define SUBLET_CORE_INTERNAL_FORMULA_TERMS_HPP

/// How a formula is stored: a constant, and the other terms in one vector of 64-bit words.
///
///     5 + 12*d0*d1^2 + 7*ceil((3 + d1)/8)
///
///     constant  5
///     terms     12, 3, 0, 1, 1                          coefficient, words of the key, key
///               7, 7, quotient, 7, 8, 3, 1, 1, 1        (here 9 words in the key)
///
///     key       factors, ascending, repeated for powers
///     factor    d                                       a dimension, less than 2^32
///               quotient, words of it, divisor, constant, terms
///               largest, words of it, and for each operand: its words, constant, terms
///
/// Keys ascend word by word, and no coefficient is 0. No factor is the begin of another, so two keys are
/// equal if their factors are. Numbers are in (-2^63, 2^63). Nothing here throws: what exceeds a limit is
/// returned.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/impl/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

using word_list = std::span<std::int64_t const>;

inline constexpr std::int64_t quotient_word = std::int64_t{1} << 32; ///< begins a quotient
inline constexpr std::int64_t largest_word = quotient_word + 1;      ///< begins a maximum

inline constexpr std::size_t most_terms = 4096; ///< those inside quotients and maxima included
inline constexpr unsigned most_factors = 64;    ///< of one term
inline constexpr unsigned most_depth = 64;      ///< of quotients and maxima in each other

/// A constant and the other terms.
struct polynomial {
    std::int64_t constant = 0;
    std::vector<std::int64_t> terms;
};

/// The same, stored elsewhere.
struct polynomial_view {
    polynomial_view(std::int64_t number) : constant(number) {}
    polynomial_view(std::int64_t number, word_list of) : constant(number), terms(of) {}
    polynomial_view(polynomial const& of) : constant(of.constant), terms(of.terms.data(), of.terms.size()) {}

    std::int64_t constant;
    word_list terms;
};

/// What a result exceeds.
enum class formula_limit : std::uint8_t {
    none,    ///< there is a result
    number,  ///< a coefficient is 2^63 or more
    terms,   ///< more than most_terms
    factors, ///< more than most_factors
    depth    ///< more than most_depth
};

// --- checked arithmetic -----------------------------------------------------------------------------------

/// The sum, unless it is not in (-2^63, 2^63); nor are a and b -2^63.
[[nodiscard]] constexpr bool add_signed(std::int64_t a, std::int64_t b, std::int64_t& sum) noexcept
{
    constexpr std::int64_t most = ~(std::int64_t{1} << 63);
    if (b >= 0 ? a > most - b : a < -most - b) return false;
    sum = a + b;
    return true;
}

/// The product on any compiler, as below.
[[nodiscard]] constexpr bool multiply_portably(std::int64_t a, std::int64_t b, std::int64_t& product) noexcept
{
    std::uint64_t const u = static_cast<std::uint64_t>(a < 0 ? -a : a),
                        v = static_cast<std::uint64_t>(b < 0 ? -b : b);
    constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
    if (u != 0 && v > most / u) return false;
    auto const size = static_cast<std::int64_t>(u * v);
    product = (a < 0) != (b < 0) ? -size : size;
    return true;
}

/// The product, unless it is not in (-2^63, 2^63); nor are a and b -2^63.
[[nodiscard]] constexpr bool multiply_signed(std::int64_t a, std::int64_t b, std::int64_t& product) noexcept
{
#if defined(__GNUC__) && defined(__SIZEOF_POINTER__) &&                                                      \
    __SIZEOF_POINTER__ == 8 // else clang needs compiler-rt
    std::int64_t made = 0;
    if (__builtin_mul_overflow(a, b, &made) || made < -~(std::int64_t{1} << 63)) return false;
    product = made;
    return true;
#else
    return multiply_portably(a, b, product);
#endif
}

/// a / divisor, rounded up, of negative numbers, too. By a power of two, it is a shift.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t divisor) noexcept
{
    std::uint64_t const less = static_cast<std::uint64_t>(divisor) - 1;
    if (a >= 0 && (less & static_cast<std::uint64_t>(divisor)) == 0)
        return static_cast<std::int64_t>((static_cast<std::uint64_t>(a) + less) >> std::bit_width(less));
    return a / divisor + (a % divisor > 0 ? 1 : 0);
}

/// a / divisor, rounded down.
[[nodiscard]] constexpr std::int64_t divide_down(std::int64_t a, std::int64_t divisor) noexcept
{
    return a / divisor - (a % divisor < 0 ? 1 : 0);
}

// --- reading ----------------------------------------------------------------------------------------------

/// A term that is not the constant.
struct term_view {
    std::int64_t coefficient;
    word_list key;
};

/// The first of these terms, which is removed from them.
[[nodiscard]] inline term_view next_term(word_list& terms) noexcept
{
    auto const length = static_cast<std::size_t>(terms[1]);
    term_view const first{terms[0], {terms.data() + 2, length}};
    terms = {terms.data() + 2 + length, terms.size() - 2 - length};
    return first;
}

/// The first factor of a key, which is removed from it.
[[nodiscard]] inline word_list next_factor(word_list& key) noexcept
{
    std::size_t const length = key[0] < quotient_word ? 1 : static_cast<std::size_t>(key[1]);
    word_list const first{key.data(), length};
    key = {key.data() + length, key.size() - length};
    return first;
}

[[nodiscard]] inline bool is_symbol(word_list factor) noexcept { return factor[0] < quotient_word; }
[[nodiscard]] inline bool is_quotient(word_list factor) noexcept { return factor[0] == quotient_word; }

/// What is divided.
[[nodiscard]] inline polynomial_view dividend_of(word_list quotient) noexcept
{
    return {quotient[3], {quotient.data() + 4, quotient.size() - 4}};
}

/// The operands of a maximum, which next_operand() takes apart.
[[nodiscard]] inline word_list operands_of(word_list largest) noexcept
{
    return {largest.data() + 2, largest.size() - 2};
}
/// The first operand, which is removed.
[[nodiscard]] inline polynomial_view next_operand(word_list& operands) noexcept
{
    auto const length = static_cast<std::size_t>(operands[0]);
    polynomial_view const first{operands[1], {operands.data() + 2, length - 2}};
    operands = {operands.data() + length, operands.size() - length};
    return first;
}

/// The remainder that divide_down() leaves, in [0, divisor).
[[nodiscard]] constexpr std::int64_t remainder_of(std::int64_t a, std::int64_t divisor) noexcept
{
    return a % divisor + (a % divisor < 0 ? divisor : 0);
}

/// Below, equal or above 0, as words are before, equal to or behind others, word by word.
[[nodiscard]] int compare_words(word_list a, word_list b) noexcept;

/// How deep quotients and maxima are nested.
[[nodiscard]] unsigned depth_of(word_list terms);

/// The dimensions that occur, ascending, added to `found`.
void list_dimensions(word_list terms, std::vector<std::uint32_t>& found);

/// The number for one shape, in O(words); false if a dimension is missing or a part reaches 2^63.
[[nodiscard]] bool evaluate(polynomial_view f, std::span<std::uint64_t const> sizes,
                            std::int64_t& number) noexcept;

// --- making
// -------------------------------------------------------------------------------------------------- Words
// are those of both operands, n and m their terms. A result may not be stored where an operand is.

/// a + times * b, in O(words).
[[nodiscard]] formula_limit add(polynomial_view a, polynomial_view b, std::int64_t times, polynomial& sum);
/// In O(n m (words + log(n m))), for at most 2^20 pairs of terms.
[[nodiscard]] formula_limit multiply(polynomial_view a, polynomial_view b, polynomial& product);
/// a / divisor, rounded up, in O(words). The remainder of each coefficient is in [0, divisor), and has no
/// divisor in common with it; a quotient with coefficient 1 in it is multiplied out.
/// Requires: divisor >= 1.
[[nodiscard]] formula_limit divide_up(polynomial_view a, std::int64_t divisor, polynomial& quotient);
/// In O(words * operands). Of operands that differ by a constant one is kept, and the least constant is taken
/// out.
[[nodiscard]] formula_limit take_larger(polynomial_view a, polynomial_view b, polynomial& larger);
/// This factor alone.
[[nodiscard]] polynomial factor_alone(word_list factor);

/// The same formula, of which each factor is replaced: `replace(factor, by)` writes what by, and returns a
/// limit.
template <class Replace>
// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
[[nodiscard]] formula_limit rebuild(polynomial_view f, Replace const& replace, polynomial& made)
{
    polynomial sum{f.constant, {}}, product, by, next;
    for (word_list rest = f.terms; !rest.empty();) {
        term_view term = next_term(rest);
        product = {term.coefficient, {}};
        while (!term.key.empty()) {
            formula_limit exceeded = replace(next_factor(term.key), by);
            if (exceeded == formula_limit::none) exceeded = multiply(product, by, next);
            if (exceeded != formula_limit::none) return exceeded;
            std::swap(product, next);
        }
        if (formula_limit const exceeded = add(sum, product, 1, next); exceeded != formula_limit::none)
            return exceeded;
        std::swap(sum, next);
    }
    made = std::move(sum);
    return formula_limit::none;
}

/// The same formula, of which each dimension is replaced, within quotients and maxima, too:
/// `replace(dimension, by)` writes what by.
template <class Replace>
// NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
[[nodiscard]] formula_limit substitute(polynomial_view f, Replace const& replace, polynomial& made)
{
    return rebuild(
        f,
        // NOLINTNEXTLINE(misc-no-recursion): at most most_depth deep
        [&](word_list factor, polynomial& by) {
            if (is_symbol(factor)) return replace(static_cast<std::uint32_t>(factor[0]), by);
            if (is_quotient(factor)) {
                polynomial dividend;
                formula_limit const exceeded = substitute(dividend_of(factor), replace, dividend);
                return exceeded == formula_limit::none ? divide_up(dividend, factor[2], by) : exceeded;
            }
            polynomial largest, operand;
            bool is_first = true;
            for (word_list rest = operands_of(factor); !rest.empty(); is_first = false) {
                formula_limit exceeded = substitute(next_operand(rest), replace, operand);
                if (exceeded == formula_limit::none && !is_first)
                    exceeded = take_larger(largest, operand, by);
                if (exceeded != formula_limit::none) return exceeded;
                largest = is_first ? operand : by;
            }
            by = std::move(largest);
            return formula_limit::none;
        },
        made);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/formula_terms.ipp>
#endif

#endif
