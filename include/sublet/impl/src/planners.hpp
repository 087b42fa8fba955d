// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_PLANNERS_HPP
#define SUBLET_IMPL_SRC_PLANNERS_HPP

/// The definitions of planners, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#include <sublet/impl/concurrent_planner.ipp>
#include <sublet/impl/flow_planner.ipp>
#include <sublet/impl/handoff_planner.ipp>
#include <sublet/impl/memory_advisor.ipp>
#include <sublet/impl/nested_planner.ipp>
#include <sublet/impl/placed_in_place.ipp>
#include <sublet/impl/planned_buffers.ipp>
#include <sublet/impl/planned_memory.ipp>
#include <sublet/impl/planner.ipp>
#include <sublet/impl/symbolic_planner.ipp>

#endif
