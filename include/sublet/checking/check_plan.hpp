// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLAN_HPP
#define SUBLET_CHECKING_CHECK_PLAN_HPP

/// The opponent of every planner: derives afresh what a plan must respect, and looks for one thing it breaks.
///
///     offset 128 |         [=== b ====)           b is alive at positions 1 and 2, c at 2 and 3:
///             96 |             [=== c ====)       the witness is "values b and c, at position 2,
///             64 | [== a ==)                      bytes [96, 112)", and anybody can see it is true
///                +-0---1---2---3---> position
///
/// Nothing is listed or compared in pairs. Walk the positions: as long as nothing has clashed, the living lie
/// apart, hence in one order by offset, and a newborn that overlaps anyone overlaps a neighbour in that
/// order. So two looks a birth find the first clash, or prove that there is none.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976 (does any pair of n segments
/// cross?). Here segments are buffers, and one may rise out of another that dies: an in-place pair.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>

#include <optional>

namespace sublet {

/// Look for a reason why `plan` is not a plan of this program under these options. None: it is proved.
///
/// Order and reading are compared with what was asked for, lives and sizes are derived again; of the plan
/// only offsets, pools and arena sizes count, and they are what is to be proved.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles;
///             `options.order` empty or every node once.
/// Ensures:    the first fault in this order: a plan of another program, order or reading; the first use
///             before a def (by position, then value); a write that changed sides with another touch of its
///             value; the first edge that leads back in the order; by value, a view of more bytes than its
///             root; by value, storage that is missing or needless; by value, a torn view, a wrong pool, a
///             bad alignment, a missed pin, the end of the arena; by pool, its capacity; the first position
///             at which two classes clash. There classes are born by ascending root, those that take over in
///             place last, and a newborn meets its neighbour below before the one above.
/// Complexity: O(n log n + nodes + steps + touches + in-place pairs) time, n = values; O(n + steps) memory.
///             Where an order is given, its check takes another O(touches log touches) time, O(defs) memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<witness> check_plan(snapshot const& p, memory_plan const& plan,
                                                plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_plan.ipp>
#endif

#endif
