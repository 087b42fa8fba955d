// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_FLOW_PLAN_HPP
#define SUBLET_CHECKING_CHECK_FLOW_PLAN_HPP

/// The opponent of plans for control flow: follows what lies in the arena along every path, and looks for a
/// read that would not find what was written for it.
///
///        0: def a             b lies where a lies. Over node 2 that is good. Over node 1 it is not: the
///        /      \             witness is "values a and b at position 1, bytes [0, 64)": there b is written,
///     1: def b   2:           a was written before, and somebody reads it later.
///        \      /
///        3: use a
///
/// Who is alive where is not asked. What matters of the arena at a point of the program is the set of values
/// whose bytes are intact there, whatever path led to it. A write adds its value and takes away all that
/// overlaps it, so those left lie apart, in one order by offset, and whom a write hits stands next to it.
/// Where paths meet, what is intact on all of them is (intact_arrivals.hpp). Only where a read fails is a
/// path looked for, to say why (spoiling_path.hpp).

#include <sublet/checking/unwritten_reads.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>

#include <optional>

namespace sublet {

/// Look for a path on which `plan` lets a step read other bytes than were written for it. None: it is proved.
///
/// Successors are alternatives, and every path from the entry counts. A step reads, then writes; what it
/// holds and writes lies apart, whatever is in it, unless it may write the result over that operand. An
/// operand of an edge is read where the predecessor ends. A write occupies all bytes of its class, and leaves
/// other values of the class what they were: who makes a view of a value reads it. Inputs are all there at
/// the entry; outputs are read where a node has no successor, and, as far as they are there, where a node of
/// an endless loop ends.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles.
/// Ensures:    the first fault in this order: a plan of another program, reading or order; the first position
///             that reads what some path has not written (then by value); as check_places; by position of the
///             plan's order the first read that fails or write that falls upon what its step holds. The
///             witness says where what is lost was written over.
/// Complexity: as find_unwritten_read and intact_arrivals: beyond O(V + E + touches log n), for each node the
///             values that arrive there intact, needed or not (what lies apart in the arena bounds them), for
///             each value the nodes in which it is needed. Where reads may be undefined, O(V + E + touches)
///             for each that is.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<witness> check_flow_plan(snapshot const& p, memory_plan const& plan,
                                                     plan_options const& options,
                                                     flow_options const& flow = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_flow_plan.ipp>
#endif

#endif
