// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_CONCURRENT_HPP
#define SUBLET_REWRITING_RELEASE_CONCURRENT_HPP

/// When storage can be given back if steps run whenever they may: counters, as few and as short as can be.
///
///         ┌──► 1: use a, def b ──┐         a has a counter of 2, which 1 and 2 lower: whoever is later
///     0 ──┤                      ├──► 3    brings it to zero, and releases
///         └──► 2: use a, def c ──┘         b and c have one of 1; if 3 used a as well, so would a
///
/// No step knows whether it is the last to touch a buffer. But those that another touch of it follows, in
/// every execution, need not be asked. The others each lower a counter, set before the program runs.
///
/// Source: the reference counts of Apache SINGA's scheduler, which were only right for its one order; here
/// who counts follows from happens-before.

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

/// The release points of a program whose steps run whenever they may.
///
/// Requires:   `g` is the graph of `p`, without violation; `role` has an entry a value.
/// Ensures:    a buffer's counter is lowered by the steps that touch it and that no other step which touches
///             it follows in every execution; so it comes to zero when the last touch has ended, and whatever
///             is left out would release it too early in some. What is kept is not released.
/// Complexity: O(values + steps + touches) time and what happens_before() takes, and for a buffer of k
///             touches over w positions another min(k^2 log, those w and their edges).
/// Throws:     precondition_error if a table has not one entry a value, or a buffer is out of range.
[[nodiscard]] release_points concurrent_releases(snapshot const& p, dependence_graph const& g,
                                                 std::size_t buffers, std::vector<buffer_id> const& buffer_of,
                                                 std::vector<value_role> const& role);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/release_concurrent.ipp>
#endif

#endif
