// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_ANALYSIS_HPP
#define SUBLET_IMPL_SRC_ANALYSIS_HPP

/// The definitions of analysis/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/analysis/impl/aliases.ipp>
#include <sublet/analysis/impl/bodies_by_step.ipp>
#include <sublet/analysis/impl/captures.ipp>
#include <sublet/analysis/impl/concurrent_lifetimes.ipp>
#include <sublet/analysis/impl/conflict_ranges.ipp>
#include <sublet/analysis/impl/conflict_walks.ipp>
#include <sublet/analysis/impl/conflicts.ipp>
#include <sublet/analysis/impl/contents.ipp>
#include <sublet/analysis/impl/control_flow.ipp>
#include <sublet/analysis/impl/copy_order.ipp>
#include <sublet/analysis/impl/dependences.ipp>
#include <sublet/analysis/impl/flat_options.ipp>
#include <sublet/analysis/impl/flatten.ipp>
#include <sublet/analysis/impl/flow_ranges.ipp>
#include <sublet/analysis/impl/interference_graph.ipp>
#include <sublet/analysis/impl/interval_walk.ipp>
#include <sublet/analysis/impl/late_def.ipp>
#include <sublet/analysis/impl/left_out.ipp>
#include <sublet/analysis/impl/lifetimes.ipp>
#include <sublet/analysis/impl/listed_steps.ipp>
#include <sublet/analysis/impl/live_query.ipp>
#include <sublet/analysis/impl/live_sets.ipp>
#include <sublet/analysis/impl/liveness.ipp>
#include <sublet/analysis/impl/liveness_methods.ipp>
#include <sublet/analysis/impl/pressure.ipp>
#include <sublet/analysis/impl/program_tree.ipp>
#include <sublet/analysis/impl/renamed_program.ipp>
#include <sublet/analysis/impl/storage_order.ipp>
#include <sublet/analysis/impl/topological_points.ipp>
#include <sublet/analysis/impl/tree_values.ipp>
#include <sublet/analysis/impl/unclear.ipp>
#include <sublet/analysis/impl/unreached_positions.ipp>
#include <sublet/analysis/impl/versions.ipp>

#endif
#endif
