// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_FORMULA_GRID_HPP
#define SUBLET_CORE_INTERNAL_FORMULA_GRID_HPP

/// Proofs that a formula is not negative for any shape of a grid. In the formula as it is, and after each
/// dimension is replaced by its number of strides from one end,
///
///     D = 12*h^2 - 16*h - ceil(h/32)     h = 64, 96 ... 1024
///     h = 64 + 32*k                      D = 48126 + 48639*k + 12288*k^2     k = 0 ... 30: proved
///
/// each negative term has to be outweighed by positive ones. In 7*k*j - 2*j it is with k >= 1, but not with
/// k >= 0, and in 7*k*j - 2*k*j^2 it is with j <= 3. A quotient or a maximum is a variable between bounds, or
/// a quotient is replaced by its dividend.

#include <sublet/core/internal/formula_terms.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The sizes of a dimension: first, first + stride ... first + steps * stride.
struct size_range {
    std::uint32_t dimension;
    std::int64_t first;
    std::int64_t stride; ///< 0: some of these numbers reach 2^63, and nothing is proved
    std::int64_t steps;  ///< -1: the last size reaches 2^63, and no bound of it is used
};

/// Every dimension that occurs in a formula has one of these, ascending.
using size_grid = std::vector<size_range>;

inline constexpr std::int64_t most_shapes = 4096; ///< that are tried one by one

/// How many shapes there are; most_shapes + 1 if they are more.
[[nodiscard]] std::int64_t count_shapes(size_grid const& grid) noexcept;

/// Whether `holds`, a callable that takes the number, is true for each shape; false if a part of one reaches
/// 2^63. O(words) for each shape.
template <class Holds>
[[nodiscard]] bool holds_for_each(polynomial_view f, size_grid const& grid, Holds holds)
{
    if (grid.empty()) return holds(f.constant);
    std::vector<std::uint64_t> sizes(std::size_t{grid.back().dimension} + 1);
    std::vector<std::int64_t> step(grid.size());
    for (size_range const& r : grid) sizes[r.dimension] = static_cast<std::uint64_t>(r.first);
    for (;;) {
        std::int64_t number = 0;
        if (!evaluate(f, {sizes.data(), sizes.size()}, number) || !holds(number)) return false;
        std::size_t i = 0;
        for (; i != grid.size() && step[i] == grid[i].steps; ++i) {
            step[i] = 0;
            sizes[grid[i].dimension] = static_cast<std::uint64_t>(grid[i].first);
        }
        if (i == grid.size()) return true;
        ++step[i];
        sizes[grid[i].dimension] += static_cast<std::uint64_t>(grid[i].stride);
    }
}

/// Replaces each dimension by first + stride * k, or, where its bit in `from_last` is set, by
/// last - stride * k. k has the index of the dimension.
/// Requires: those with a bit set have a last size.
[[nodiscard]] formula_limit from_ends(polynomial_view f, size_grid const& grid, unsigned from_last,
                                      polynomial& made);

/// No coefficient is negative, within quotients neither; of a maximum that holds for an operand. Then f is
/// not negative for any shape, of any grid.  O(words)
[[nodiscard]] bool has_no_minus(polynomial_view f);

/// No factor is a quotient or a maximum.
[[nodiscard]] bool has_symbols_only(polynomial_view f);

/// Whether it is proved that f is not negative for any shape.
[[nodiscard]] bool is_never_negative(polynomial_view f, size_grid const& grid);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/formula_grid.ipp>
#endif

#endif
