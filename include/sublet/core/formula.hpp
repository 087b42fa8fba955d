// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_FORMULA_HPP
#define SUBLET_CORE_FORMULA_HPP

/// Sizes in bytes as expressions in open dimensions: what a program's batch, length, height and width are is
/// known only when it runs.
///
///     std::vector<sublet::dimension> const dims{{"batch", 1, 64}, {"height", 64, 1024, 32}};
///     sublet::formula const batch = sublet::symbol(0), height = sublet::symbol(1);
///     sublet::formula const image = 12 * batch * height * height;
///     sublet::formula const masks = batch * sublet::ceil_divide(height * height, 8);
///     image.at({2, 96});                             // 221184
///     sublet::never_above(masks, image, dims);       // true: proved for each of the 64 * 31 shapes
///
/// A formula is kept as a sum of products, in one form: two that are equal as polynomials compare equal.

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/formula_terms.hpp>
#include <sublet/core/internal/id.hpp>
#include <sublet/core/internal/kept_text.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace sublet {

namespace detail {

struct formula_parts;
struct size_range;

} // namespace detail

/// A dimension that is open until the program runs: it is `least`, `least + stride` ... at most `most`.
struct dimension {
    detail::kept_text name = {}; ///< a copy; empty: d0, d1 ...
    byte_count least = 1;        ///< its smallest size
    byte_count most = 1;         ///< no size is above
    byte_count stride = 1;       ///< between two sizes; at least 1

    /// Its largest size. Requires: the range is not empty.
    [[nodiscard]] byte_count largest() const { return least + (most - least) / stride * stride; }
};

/// One size for each open dimension, in their order.
using shape = std::vector<byte_count>;

/// A number of bytes, or of anything, for every shape; unknown, or a sum of products of integers, dimensions,
/// quotients that are rounded up, and maxima.
class formula {
public:
    /// 0.
    formula() = default;
    /// A constant.
    /// Throws: precondition_error if it is 2^63 or more.
    template <detail::integer N>
    formula(N constant) : sum_{to_constant(constant), {}}
    {
    }

    /// A size that is unknown: the value gets no storage. No sum or product has unknown operands.
    [[nodiscard]] static formula unknown();
    /// A size that is no formula: symbolic_options::bytes_at gives it for each shape. It equals itself, and
    /// nothing is proved of it; no sum or product has it as an operand.
    [[nodiscard]] static formula by_shape();
    /// It is by_shape().
    [[nodiscard]] bool is_by_shape() const noexcept;

    /// There is a size.
    [[nodiscard]] bool is_known() const noexcept { return sum_.constant != no_constant; }
    /// It is the same number for every shape.
    [[nodiscard]] bool is_constant() const noexcept { return is_known() && sum_.terms.empty(); }

    /// The number for one shape; `no_size` if unknown.
    ///
    /// Complexity: O(operations in it).
    /// Throws:     precondition_error if the shape has no such dimension, the number is negative, or it or a
    ///             part of it reaches 2^63.
    [[nodiscard]] byte_count at(std::span<byte_count const> sizes) const;
    /// The same for a list.
    [[nodiscard]] byte_count at(std::initializer_list<byte_count> sizes) const
    {
        return at(std::span<byte_count const>(sizes.begin(), sizes.size()));
    }

    /// Sums, differences and products. A difference may be negative for some shapes: at() refuses these.
    ///
    /// Throws: precondition_error if an operand is unknown, a coefficient reaches 2^63, the result has more
    ///         than 4096 terms (with those in quotients and maxima) or more than 64 factors in a term, or
    ///         expressions are nested more than 64 deep. So do all functions below.
    ///
    /// Complexity: O(operations in both) for sums; O(n m log(n m)) products of two terms for n and m terms.
    friend formula operator+(formula const& a, formula const& b) { return sum(a, b, 1); }
    /// The difference.
    friend formula operator-(formula const& a, formula const& b) { return sum(a, b, -1); }
    /// The product.
    friend formula operator*(formula const& a, formula const& b) { return product(a, b); }
    /// The same, in place.
    formula& operator+=(formula const& b) { return *this = *this + b; }
    /// The same, in place.
    formula& operator-=(formula const& b) { return *this = *this - b; }
    /// The same, in place.
    formula& operator*=(formula const& b) { return *this = *this * b; }

    /// Quotients are rounded: see ceil_divide().
    friend formula operator/(formula const&, formula const&) = delete;

    /// Equal for every shape, by their one form. Two that differ may still be equal in the range of their
    /// dimensions: see never_above().
    friend bool operator==(formula const& a, formula const& b) { return is_equal(a, b); }

private:
    friend struct detail::formula_parts;

    static constexpr std::int64_t no_constant = -~(std::int64_t{1} << 63) - 1; // which no number is

    template <detail::integer N>
    static std::int64_t to_constant(N number)
    {
        if constexpr (std::signed_integral<N>)
            SUBLET_EXPECTS(std::int64_t{number} != no_constant,
                           "sublet: the constant % of a formula is -2^63 or less", number);
        else
            SUBLET_EXPECTS(std::uint64_t{number} >> 63 == 0,
                           "sublet: the constant % of a formula is 2^63 or more", number);
        return static_cast<std::int64_t>(number);
    }
    static formula sum(formula const& a, formula const& b, std::int64_t times);
    static formula product(formula const& a, formula const& b);
    static bool is_equal(formula const& a, formula const& b) noexcept;

    detail::polynomial sum_; // of no terms: allocates nothing
};

/// The size of an open dimension, by its index.  O(1)
[[nodiscard]] formula symbol(std::uint32_t dimension);
/// a / divisor, rounded up: towards 0 where a is negative. Multiples of the divisor are taken out of it, so
/// that it is a quotient only where a has other terms.
///
/// Requires:   1 <= divisor < 2^63.
/// Complexity: O(operations in a).
[[nodiscard]] formula ceil_divide(formula const& a, byte_count divisor);
/// The least multiple that is not below a.
/// Requires: 1 <= multiple < 2^63.
[[nodiscard]] formula round_up(formula const& a, byte_count multiple);
/// The larger of both, for each shape. If they differ by a constant it is one of them.
/// Complexity: O(operations in both * operands of both, if these are maxima).
[[nodiscard]] formula larger_of(formula const& a, formula const& b);

/// Whether a <= b is proved for every shape in the ranges of the dimensions. False: it is not, or it is wrong
/// for some shape.
///
/// It is proved if no coefficient of the difference is negative, or positive terms outweigh each negative
/// one: as it is, or after each dimension is replaced by its number of strides from the first or the last
/// size. So it is if that holds for both halves of a range, and so on, or if each of at most 4096 shapes is
/// tried. Quotients become variables between bounds; a maximum is compared by its operands.
///
/// Requires:   each dimension that occurs is in `dims`, has a stride, and its least size is not above its
///             most.
/// Ensures:    what is too large to be computed in 63 bits is not proved. Nothing is proved of by_shape().
/// Complexity: O(words of a and b) where the answer is no at an end of each range, or no coefficient of the
///             difference is negative. Else for each of at most 32 parts of the ranges O(t^2 log t) for each
///             choice of ends, of which there are at most 8, with t terms after dimensions are replaced; and
///             4096 evaluations for a part of so many shapes.
/// Throws:     precondition_error if a requirement is broken, or an operand is unknown.
[[nodiscard]] bool never_above(formula const& a, formula const& b, std::span<dimension const> dims);

namespace detail {

/// The terms of formulas, for what reads or makes them.
struct formula_parts {
    /// Throws: precondition_error if it is unknown or by_shape().
    static polynomial_view of(formula const& f);
    /// Throws: precondition_error if a limit is exceeded.
    static formula made(formula_limit exceeded, polynomial&& from);
    static formula unknown();
    static formula by_shape();
    /// The sizes of the dimensions that occur in a or b, ascending.
    /// Throws: precondition_error if one is not in `dims`, has no stride, or its least size is above its
    /// most.
    static std::vector<size_range> grid(polynomial_view a, polynomial_view b,
                                        std::span<dimension const> dims);
};

} // namespace detail
} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/formula.ipp>
#endif

#endif
