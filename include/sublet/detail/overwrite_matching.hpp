// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_OVERWRITE_MATCHING_HPP
#define SUBLET_DETAIL_OVERWRITE_MATCHING_HPP

/// Which results of one step are written over which of its operands.
///
///     results    64   32              32 may be written over both operands, 64 over the first only:
///                 | / |               whoever takes 32 first, 64 is moved in where 32 has to give way
///     operands    a   b
///
/// An operand takes one result, and each result saves as many bytes as it has, wherever it goes. So what
/// counts is the set of results that find a place; such sets form a matroid, and it is best to take results
/// largest first, each if room can be made for it: those that have a place keep one, perhaps another.
///
/// Source: Edmonds and Fulkerson, "Transversals and matroid partition", Journal of Research of the National
/// Bureau of Standards 69B, 1965; that the greedy choice is best in a matroid is from Edmonds, "Matroids and
/// the greedy algorithm", Mathematical Programming 1, 1971.

#include <sublet/plan.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The pairs to take, by index, ascending.
///
/// Ensures:    no two of them have an operand or a result in common, and no such choice saves more bytes. Of
///             results of one size the one named first is placed first, over the operand named first.
/// Complexity: O(k log k) time where every result finds an operand that nobody has, else up to O(k^2); O(k)
///             memory, for k pairs.
[[nodiscard]] std::vector<std::uint32_t> match_overwrites(std::vector<overwrite_pair> const& pairs);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/overwrite_matching.ipp>
#endif

#endif
