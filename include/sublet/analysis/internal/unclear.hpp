// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_UNCLEAR_HPP
#define SUBLET_ANALYSIS_INTERNAL_UNCLEAR_HPP

/// What a program and its options say that cannot be meant, found before anything is planned or run.
///
///     step 'append' reads k, makes no value, and only makes a view of cache     a write() was forgotten
///     row, a view that begins at byte 8 of cache, has alignment 32              no place of cache gives it
///     x lies in pool 7, of the two pools 0 and 1                                a pool was mistaken
///
/// Size, pool and storage of a view are those of its root: what else is said of it has to be the same. A fact
/// of a view that has its default is not said, and neither is an alignment that is the root's: it may be a
/// constant, which says it of all values.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>

namespace sublet::detail {

/// A value in a pool that is not listed, or with a choice of one, if any are. Else a step that makes a view
/// without saying so, or of nothing; one that reads values and only makes views of other storage, without
/// only_views(); or a view of which something is said that its root contradicts: an alignment that does not
/// divide its offset, another pool, storage of its own. The first by step, then by value. Or else what
/// find_unwritten() finds, or find_needed().
///
/// Complexity: O(values + touches), and theirs.
/// Throws:     precondition_error if views form a cycle.
[[nodiscard]] std::optional<counterexample> find_unclear(snapshot const& p, plan_options const& options);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/unclear.ipp>
#endif

#endif
