// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_REPLAN_HPP
#define SUBLET_PLACEMENT_REPLAN_HPP

/// A new placement that moves little of an old one.
///
///     before      a b c d e              f is new, c lives longer than it did, b must not move
///     at home     a b . d e              c and d are in each other's way now: the lighter one goes
///     around it   a b c d e f            the others are placed around those at home; if that ends too high,
///                                        those that live beside what is too high go as well, the lightest
///                                        first, and in the end all that may
///
/// First it is found how low everybody could lie if only those that must not move stayed: nobody stays who
/// costs height. Whoever prefers stability asks for placement_objective::fit: then all that fits the
/// capacity is low enough.
///
/// Greedy: nobody moves that could stay alone with all the others, but fewer bytes in all might do. (For one
/// position and equal sizes it is a knapsack already.)

#include <sublet/placement/driver.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// Place the buffers, with those that are to be kept where they were, and of the others, as long as that
/// costs no height (or fits the capacities, if no more is asked), as many bytes as are quickly found.
///
/// Requires:   `previous` has the old offset of each buffer, `no_offset` for one that is new or may be
///             anywhere; `keep` is 0 or 1 for each, 1 only for those that have an old offset and no other
///             pin.
/// Ensures:    what pack() ensures; who is kept has its old offset. `moved_bytes` is the size of those that
///             have another than before.
/// Complexity: pack(), and a number of smaller ones that is logarithmic in the number of buffers, or fixed.
[[nodiscard]] placement replan(placement_problem const& problem, std::vector<byte_count> const& previous,
                               std::vector<unsigned char> const& keep, pack_options const& options,
                               search_driver& driver);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/replan.ipp>
#endif

#endif
