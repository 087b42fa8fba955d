// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_STAIRCASES_HPP
#define SUBLET_SHARING_STAIRCASES_HPP

/// The fewest bytes of slots for values that all may share, and a proof.
///
///     sizes 40, 16, 16, 16, 8      40 | #                    one slot of at least 40 bytes,
///                                  16 | # # #                three of at least 16,
///                                   8 | # # # #              four of at least 8:
///                                   0 +---------             24 * 1 + 8 * 3 + 8 * 4 = 80 bytes
///
/// What a plan costs is the area under a staircase: so many slots are at least that large. So the search is
/// not for who lies where but for the stairs, one after the other, the largest size first. A stair is as wide
/// as the one above, or wider; that its values and all above it have slots on such stairs is a question of
/// its own (stair_coloring.hpp), and one answer stands for all plans of that shape. Cliques say how wide a
/// stair is at least (prefix_cliques.hpp), and that bounds what is still to come.
///
/// A search that may not exceed a target takes the longer, the higher that is, and a plan that is too high
/// makes it search in vain. So targets rise from the bound towards the best plan: each that is missed raises
/// the bound, and a plan that meets one is nearly the best. Questions that are too hard at first are put
/// off: the next target has more patience.
///
/// Source: the problem is that of Guan and Zhu, "A coloring problem for weighted graphs", Information
/// Processing Letters 61, 1997; Caffe2's `memonger` solved it by dynamic programming over sizes. Rising
/// targets: Korf, "Depth-first iterative-deepening", Artificial Intelligence 27, 1985. To search for stairs
/// is ours.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/sharing/prefix_cliques.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Values are numbered the largest first, and so are slots.
struct staircase {
    std::vector<slot_id> slot_of;
    byte_count bytes = 0;       ///< of all slots
    byte_count lower_bound = 0; ///< no plan has fewer
    prefix_cliques proof;       ///< of most of the bound; the rest was searched
    std::uint64_t nodes = 0;
};

/// Requires:   sizes fall, none is 0, and together they do not exceed 64 bits. `interferes` has a row for
///             each value, and each pair stands in both rows.
[[nodiscard]] staircase find_staircase(bit_rows const& interferes, std::vector<byte_count> const& size,
                                       std::uint64_t nodes);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/staircases.ipp>
#endif

#endif
