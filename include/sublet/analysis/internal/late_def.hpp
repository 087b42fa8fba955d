// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_LATE_DEF_HPP
#define SUBLET_ANALYSIS_INTERNAL_LATE_DEF_HPP

/// A step that is listed before the one that makes what it uses: no planner runs such a list, and order()
/// mends it if some order can run.
///
///     0: use x, def y       step 0 is listed before step 1, which makes x
///     1: def x              order: 1 0

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// The first use in the list of a value with a first def that is listed later; nothing for control flow.
///
/// Requires:   `role` and `root` have an entry per value; `root` may be empty if no step makes a view, and
///             `listed` is empty or names every node once.
/// Ensures:    `has_order` only if some order of the nodes can run. It may be missing where steps write to
///             parts of one storage.
/// Complexity: O(V + E + steps + touches).
[[nodiscard]] std::optional<counterexample> late_def(snapshot const& p,
                                                     table<value_id, value_role> const& role,
                                                     table<value_id, value_id> const& root,
                                                     std::vector<node_id> const& listed);

/// Says of a use of an undefined value which later step makes it, and whether another order can run. Another
/// counterexample stays as it is.
void explain_late_def(counterexample& why, snapshot const& p, table<value_id, value_role> const& role,
                      table<value_id, value_id> const& root, std::vector<node_id> const& listed);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/late_def.ipp>
#endif

#endif
