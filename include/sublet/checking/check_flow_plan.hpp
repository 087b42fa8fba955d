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

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/intact_values.hpp>
#include <sublet/checking/node_ends.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/spoiling_path.hpp>
#include <sublet/checking/unwritten_reads.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

namespace detail {

/// Requires: check_places has passed the plan, whose order that of `asked` is; the program has a node.
class flow_opponent {
public:
    flow_opponent(snapshot const& program, memory_plan const& plan, plan_demands const& asked,
                  node_ends const& ends, bool in_place)
        : program_(program), plan_(plan), asked_(asked), ends_(ends), in_place_(in_place),
          classes_(asked, plan), now_(classes_, program.values()), held_(classes_.size()),
          written_(classes_.size()), paths_{program, asked, classes_, {}, {}}
    {
    }

    std::optional<witness> first_fault();

private:
    node_id node_at(std::size_t i) const
    {
        return plan_.order.empty() ? static_cast<node_id>(i) : plan_.order[i];
    }

    /// What the program is given. Who lies upon another of them cannot be there.
    std::vector<value_id> given();

    std::optional<witness> lost(value_id v, node_id n, step_id before) const;

    /// Reads, then writes; what it holds and writes lies apart, but for what it may write over.
    std::optional<witness> fault_at(step_id s, node_id n);
    /// All that the step holds of the class of `in` may be overwritten by `out`, which lies within it.
    bool takes_over(step_id s, value_id in, value_id out) const;

    snapshot const& program_;
    memory_plan const& plan_;
    plan_demands const& asked_;
    node_ends const& ends_;
    bool const in_place_;
    placed_classes const classes_;
    intact_values now_;       // where the walk is
    rank_set held_, written_; // by the step that is looked at
    flow_paths paths_;
};

/// Whether the plan is of such a program, and its order is one.
bool is_flow_plan_of(snapshot const& p, memory_plan const& plan, plan_options const& options);

} // namespace detail

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
template <program P>
[[nodiscard]] std::optional<witness> check_flow_plan(P const& p, memory_plan const& plan,
                                                     plan_options const& options,
                                                     flow_options const& flow = {})
{
    auto&& flat = as_snapshot(p);
    if (!detail::is_flow_plan_of(flat, plan, options)) return witness{.what = fault::foreign_plan};
    plan_options in_order = options;
    in_order.order = plan.order;
    plan_demands const asked = demands(flat, in_order);
    node_ends const ends = ends_of_nodes(flat, asked);
    if (auto fact = find_unwritten_read(flat, asked, ends, flow)) return fact;
    if (auto fact = check_places(asked, plan, in_order)) return fact;
    if (flat.nodes() == 0) return std::nullopt;
    return detail::flow_opponent(flat, plan, asked, ends, options.in_place).first_fault();
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_flow_plan.ipp>
#endif

#endif
