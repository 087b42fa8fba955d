// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_PLACEMENT_HPP
#define SUBLET_IMPL_SRC_PLACEMENT_HPP

/// The definitions of placement/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/placement/impl/best_packing.ipp>
#include <sublet/placement/impl/blocks.ipp>
#include <sublet/placement/impl/bound.ipp>
#include <sublet/placement/impl/choose_pools.ipp>
#include <sublet/placement/impl/choose_stacking.ipp>
#include <sublet/placement/impl/clocks.ipp>
#include <sublet/placement/impl/colocation.ipp>
#include <sublet/placement/impl/compose.ipp>
#include <sublet/placement/impl/concurrent.ipp>
#include <sublet/placement/impl/fit.ipp>
#include <sublet/placement/impl/fit_from_peak.ipp>
#include <sublet/placement/impl/improve.ipp>
#include <sublet/placement/impl/infeasible_core.ipp>
#include <sublet/placement/impl/keep_concurrently.ipp>
#include <sublet/placement/impl/keep_places.ipp>
#include <sublet/placement/impl/move_back.ipp>
#include <sublet/placement/impl/pack.ipp>
#include <sublet/placement/impl/pack_few.ipp>
#include <sublet/placement/impl/pack_shapes.ipp>
#include <sublet/placement/impl/penalties.ipp>
#include <sublet/placement/impl/penalty_bound.ipp>
#include <sublet/placement/impl/penalty_search.ipp>
#include <sublet/placement/impl/pieces.ipp>
#include <sublet/placement/impl/place.ipp>
#include <sublet/placement/impl/place_concurrently.ipp>
#include <sublet/placement/impl/pools.ipp>
#include <sublet/placement/impl/portfolio.ipp>
#include <sublet/placement/impl/proofs.ipp>
#include <sublet/placement/impl/replan.ipp>
#include <sublet/placement/impl/sections.ipp>
#include <sublet/placement/impl/shapes.ipp>
#include <sublet/placement/impl/spacing.ipp>
#include <sublet/placement/impl/stack_buffers.ipp>
#include <sublet/placement/impl/stack_slots.ipp>
#include <sublet/placement/impl/timed_control.ipp>
#include <sublet/placement/impl/windows.ipp>

#endif
#endif
