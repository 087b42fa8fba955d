// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_STRUCTURES_INTERNAL_OVERWRITE_MATCHING_HPP
#define SUBLET_STRUCTURES_INTERNAL_OVERWRITE_MATCHING_HPP

/// Which results of one step overwrite which of its operands: a matching that saves the most bytes.
///
///     results    64   32              32 may overwrite both operands, 64 only the first:
///                 | / |               if 32 has the first, an augmenting path moves it to the second
///     operands    a   b
///
/// An operand takes one result, and a result saves its own size wherever it goes. So only the set of matched
/// results matters. These sets form a (transversal) matroid, hence the greedy order is optimal: results by
/// descending size, each matched if an augmenting path exists. A matched result stays matched.
///
/// Source: Edmonds and Fulkerson, "Transversals and matroid partition", Journal of Research of the National
/// Bureau of Standards 69B, 1965; greedy optimality: Edmonds, "Matroids and the greedy algorithm",
/// Mathematical Programming 1, 1971.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/plan.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The selected pairs, by index, ascending.
///
/// Ensures:    no two of them have an operand or a result in common, and no such choice saves more bytes.
///             Among results of equal size the first named is matched first, to the operand named first.
/// Complexity: for k pairs O(k log k) time, of which all searches that fail take O(k), and O(k) memory. A
/// search
///             that succeeds without finding an unmatched operand at once takes up to O(k) more.
[[nodiscard]] std::vector<std::uint32_t> match_overwrites(std::vector<overwrite_pair> const& pairs);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/structures/impl/overwrite_matching.ipp>
#endif

#endif
