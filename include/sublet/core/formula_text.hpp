// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_FORMULA_TEXT_HPP
#define SUBLET_CORE_FORMULA_TEXT_HPP

/// Formulas as text: for sentences and reports, and as an expression of C.
///
///     formula_text      40 + 12*batch*height^2 - 4*batch*ceil(height^2/8)
///     formula_c         40ll + 12ll*batch*height*height - 4ll*batch*sublet_ceil_div(height*height, 8ll)

#include <sublet/core/formula.hpp>

#include <span>
#include <vector>

namespace sublet {

/// A formula as text, to be written to a stream.
struct formula_text {
    std::vector<char> characters; ///< ends with '\0'
};
/// Writes it.
template <class Stream>
    requires requires(Stream& out) { out << "text"; }
Stream& operator<<(Stream& out, formula_text const& its)
{
    out << its.characters.data();
    return out;
}
/// The formula with the names of these dimensions: `48 + 12*batch*height^2`; a dimension without a name is
/// d0, d1 ...
[[nodiscard]] formula_text with_names(formula const& f, std::span<dimension const> dims);

} // namespace sublet

namespace sublet::detail {

/// The text, which ends with '\0': the constant first, names as in `dims` (none: d0, d1 ...), `?` if it is
/// unknown, and `by shape`.  O(words)
[[nodiscard]] std::vector<char> text_of_formula(formula const& f, std::span<dimension const> dims);

/// An expression of C, which ends with '\0'. Dimensions are variables of type long long, by their name if
/// that is one in C and of no other dimension, and else d0, d1 ... Two functions are called, for a may be
/// negative:
///
///     long long sublet_ceil_div(long long a, long long n) { return a / n + (a % n > 0); }
///     long long sublet_max(long long a, long long b) { return a < b ? b : a; }
///
/// Complexity: O(words + dimensions^2).
/// Throws:     precondition_error if the formula is unknown or by_shape().
[[nodiscard]] std::vector<char> formula_c(formula const& f, std::span<dimension const> dims);

/// A name for users in C, in C++ and beside what is written with formula_c(): a letter first, no keyword,
/// none of the macros of compilers, not d0, d1 ... and without sublet_ at its begin.
[[nodiscard]] bool is_c_name(char const* name);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/formula_text.ipp>
#endif

#endif
