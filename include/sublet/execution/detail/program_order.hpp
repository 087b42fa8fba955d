// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_PROGRAM_ORDER_HPP
#define SUBLET_EXECUTION_DETAIL_PROGRAM_ORDER_HPP

/// Whether a reordering of steps preserves the order of writes to the same bytes.
///
///     listed as                 run as                    part is a view of a
///     0: def a                  0: def a
///     1: view part, write part  2: use a                  reads what 0 wrote, not what 1 writes
///     2: use a                  1: view part, write part
///
/// Bytes that are written once allow every order that data and edges allow. Of two accesses of bytes that are
/// written more than once, one of them a write, the order of the list is kept, if the program can be run in
/// that order; otherwise the order has no meaning.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// Requires:   each value of the program is made at most once, and never if it is given; the program and
///             the options outlive this.
/// Complexity: construction O(V + E + values + steps + touches), and lifetimes() only where bytes are written
///             more than once.
class program_order {
public:
    program_order(snapshot const& program, plan_options const& options);

    /// The first write that is reordered with another access of its bytes.
    /// Complexity: that of detail::moved_write().
    std::optional<counterexample> moved_write(table<position_id, step_id> const& steps) const;

    /// The order that keeps all writes, beyond data and edges: storage_order().
    std::vector<handoff> handoffs() const;

private:
    snapshot const& program_;
    plan_options const& options_;
    ordered_bytes bytes_;
    bool has_order_ = false; // the listed order can be run, and results depend on it
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/program_order.ipp>
#endif

#endif
