// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_PLANNING_HPP
#define SUBLET_IMPL_SRC_PLANNING_HPP

/// The definitions of planners, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/planning/impl/advise_memory.ipp>
#include <sublet/planning/impl/antichain.ipp>
#include <sublet/planning/impl/capped_schedule.ipp>
#include <sublet/planning/impl/carried_places.ipp>
#include <sublet/planning/impl/concurrent_bounds.ipp>
#include <sublet/planning/impl/find_spills.ipp>
#include <sublet/planning/impl/first_touches.ipp>
#include <sublet/planning/impl/flow_bounds.ipp>
#include <sublet/planning/impl/flow_lives.ipp>
#include <sublet/planning/impl/in_every_schedule.ipp>
#include <sublet/planning/impl/insert_spills.ipp>
#include <sublet/planning/impl/labelled_waits.ipp>
#include <sublet/planning/impl/least_load.ipp>
#include <sublet/planning/impl/pack_in_place.ipp>
#include <sublet/planning/impl/place_in_schedule.ipp>
#include <sublet/planning/impl/plan_concurrent.ipp>
#include <sublet/planning/impl/plan_flow.ipp>
#include <sublet/planning/impl/plan_handoffs.ipp>
#include <sublet/planning/impl/plan_memory.ipp>
#include <sublet/planning/impl/plan_nested.ipp>
#include <sublet/planning/impl/plan_symbolic.ipp>
#include <sublet/planning/impl/planned_buffers.ipp>
#include <sublet/planning/impl/previous_places.ipp>
#include <sublet/planning/impl/reuse_network.ipp>
#include <sublet/planning/impl/sampled_shapes.ipp>
#include <sublet/planning/impl/schedule.ipp>
#include <sublet/planning/impl/schedule_orders.ipp>
#include <sublet/planning/impl/schedule_search.ipp>
#include <sublet/planning/impl/schedules.ipp>
#include <sublet/planning/impl/spill_model.ipp>
#include <sublet/planning/impl/spills.ipp>
#include <sublet/planning/impl/stack_for_shapes.ipp>
#include <sublet/planning/impl/stacking_of.ipp>
#include <sublet/planning/impl/stages.ipp>
#include <sublet/planning/impl/step_groups.ipp>
#include <sublet/planning/impl/step_marks.ipp>
#include <sublet/planning/impl/top_formula.ipp>

#endif
#endif
