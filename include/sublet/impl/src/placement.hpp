// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_PLACEMENT_HPP
#define SUBLET_IMPL_SRC_PLACEMENT_HPP

/// The definitions of placement/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#include <sublet/placement/impl/advise.ipp>
#include <sublet/placement/impl/best_packing.ipp>
#include <sublet/placement/impl/bound.ipp>
#include <sublet/placement/impl/byte_unions.ipp>
#include <sublet/placement/impl/choose_pools.ipp>
#include <sublet/placement/impl/clashing_pins.ipp>
#include <sublet/placement/impl/clocked.ipp>
#include <sublet/placement/impl/colocated.ipp>
#include <sublet/placement/impl/concurrent_orders.ipp>
#include <sublet/placement/impl/conflicts.ipp>
#include <sublet/placement/impl/driver.ipp>
#include <sublet/placement/impl/ejection.ipp>
#include <sublet/placement/impl/fewest_that_fail.ipp>
#include <sublet/placement/impl/fit.ipp>
#include <sublet/placement/impl/fit_concurrently.ipp>
#include <sublet/placement/impl/fit_outwards.ipp>
#include <sublet/placement/impl/fit_two_ended.ipp>
#include <sublet/placement/impl/fit_upwards.ipp>
#include <sublet/placement/impl/gap_list.ipp>
#include <sublet/placement/impl/idle_loads.ipp>
#include <sublet/placement/impl/improve.ipp>
#include <sublet/placement/impl/improve_two_ended.ipp>
#include <sublet/placement/impl/load_tree.ipp>
#include <sublet/placement/impl/minimize.ipp>
#include <sublet/placement/impl/orders.ipp>
#include <sublet/placement/impl/pack.ipp>
#include <sublet/placement/impl/pack_symbolic.ipp>
#include <sublet/placement/impl/parts_in_time.ipp>
#include <sublet/placement/impl/pieces.ipp>
#include <sublet/placement/impl/place.ipp>
#include <sublet/placement/impl/placed.ipp>
#include <sublet/placement/impl/placed_by_range.ipp>
#include <sublet/placement/impl/pool_candidates.ipp>
#include <sublet/placement/impl/portfolio.ipp>
#include <sublet/placement/impl/problem.ipp>
#include <sublet/placement/impl/replan.ipp>
#include <sublet/placement/impl/result.ipp>
#include <sublet/placement/impl/scaled_shapes.ipp>
#include <sublet/placement/impl/shapes.ipp>
#include <sublet/placement/impl/sorted_pieces.ipp>
#include <sublet/placement/impl/stack_slots.ipp>
#include <sublet/placement/impl/stack_two_ended.ipp>
#include <sublet/placement/impl/subset.ipp>

#endif
