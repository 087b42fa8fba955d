// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SPILL_CANDIDATES_HPP
#define SUBLET_PLANNING_DETAIL_SPILL_CANDIDATES_HPP

/// When a buffer can be spilled, and how it can be restored: by a copy, or by recomputation.
///
///     position      0        1        2        3        4
///                 def a    use a    def c    use a    use b
///                          def b             def d
///     a             [========)        .        [====)           spilled after 1, reloaded before 3
///     b                      [====)     .        .    [====)    spilled after 1, reloaded before 4; or
///                                                              step 1 runs again there: a is live
///
/// A buffer is spilled after a step that touches it and restored before the next one that does. Its step runs
/// again only if it says that it may (effect_sink::may_recompute()), its operands are live there and
/// unchanged, and it writes planned storage only: nothing external, no state.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <span>
#include <vector>

namespace sublet::detail {

/// A buffer that no step touches between two positions. It needs its storage at both, and not in between.
struct spill_candidate {
    value_id root = no_value;           ///< the root of the values that are live in the buffer then
    buffer_id buffer = no_buffer;       ///< in the table with in-place pairs joined
    position_id after = 0;              ///< the last that touches it before,
    position_id before = 0;             ///< and the first after
    position_id remat_at = no_position; ///< of the step that recomputes it; none: its bytes are copied
    friend bool operator==(spill_candidate, spill_candidate) = default;
};

/// Uses at the ends of nodes, by position.
std::vector<sort_key> node_end_touches(snapshot const& p, table<position_id, step_id> const& steps);

/// All spill candidates of planned buffers; for each interval first by copy, then by recomputation.
///
/// Requires:   `steps` are the program's by position, `unjoined` its buffers in that order, `joined` the same
///             with in-place pairs joined (or `unjoined` again), `role` has one entry per value.
/// Ensures:    ascending by `before`. Given values are touched at the start of a run, outputs at its end.
///             Pinned buffers are no candidates.
/// Complexity: O(values + touches), and O(touches of the step to run again) for each candidate.
[[nodiscard]] std::vector<spill_candidate> find_spill_candidates(snapshot const& p,
                                                                 table<position_id, step_id> const& steps,
                                                                 buffer_table const& unjoined,
                                                                 buffer_table const& joined,
                                                                 std::span<value_role const> role);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/spill_candidates.ipp>
#endif

#endif
