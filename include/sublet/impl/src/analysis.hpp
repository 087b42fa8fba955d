// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_ANALYSIS_HPP
#define SUBLET_IMPL_SRC_ANALYSIS_HPP

/// The definitions of analysis/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#include <sublet/analysis/impl/absences.ipp>
#include <sublet/analysis/impl/ancestor_walk.ipp>
#include <sublet/analysis/impl/antichain.ipp>
#include <sublet/analysis/impl/bit_rows.ipp>
#include <sublet/analysis/impl/buffers.ipp>
#include <sublet/analysis/impl/column_closure.ipp>
#include <sublet/analysis/impl/concurrent_lifetimes.ipp>
#include <sublet/analysis/impl/copy_order.ipp>
#include <sublet/analysis/impl/crossing.ipp>
#include <sublet/analysis/impl/def_use.ipp>
#include <sublet/analysis/impl/dependences.ipp>
#include <sublet/analysis/impl/flatten.ipp>
#include <sublet/analysis/impl/flow_lives.ipp>
#include <sublet/analysis/impl/giving_network.ipp>
#include <sublet/analysis/impl/happens_before.ipp>
#include <sublet/analysis/impl/interference.ipp>
#include <sublet/analysis/impl/interference_graph.ipp>
#include <sublet/analysis/impl/later_conflicts.ipp>
#include <sublet/analysis/impl/lifetimes.ipp>
#include <sublet/analysis/impl/live_intervals.ipp>
#include <sublet/analysis/impl/live_query.ipp>
#include <sublet/analysis/impl/live_range_lists.ipp>
#include <sublet/analysis/impl/live_sets.ipp>
#include <sublet/analysis/impl/liveness.ipp>
#include <sublet/analysis/impl/liveness_loop_forest.ipp>
#include <sublet/analysis/impl/liveness_per_value.ipp>
#include <sublet/analysis/impl/liveness_worklist.ipp>
#include <sublet/analysis/impl/overwrite_matching.ipp>
#include <sublet/analysis/impl/range_sets.ipp>
#include <sublet/analysis/impl/resting_flow.ipp>
#include <sublet/analysis/impl/storage_order.ipp>
#include <sublet/analysis/impl/strictness.ipp>
#include <sublet/analysis/impl/tree_values.ipp>
#include <sublet/analysis/impl/unreached.ipp>
#include <sublet/analysis/impl/value_set.ipp>
#include <sublet/analysis/impl/versions.ipp>
#include <sublet/analysis/impl/with_captures.ipp>

#endif
