// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SCHEDULE_ORDERS_HPP
#define SUBLET_PLANNING_DETAIL_SCHEDULE_ORDERS_HPP

/// What a search of schedules begins with: orders in which little is live, and bounds of every schedule.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Bytes that every schedule needs, if every order of the nodes needs `of_orders`. Less, for what is live
/// while the first step of an order runs, and in a schedule need not be: given buffers that nothing touches,
/// or that a step reads early. If nodes have several steps, between which others may run in a schedule, the
/// most that one step touches.
[[nodiscard]] byte_count least_in_schedules(snapshot const& p, plan_options const& options,
                                            memory_plan const& plan, byte_count of_orders);

/// The listed order, and unless it is given one with a low peak; `least` becomes bytes that every order
/// needs. None, if `enough` bytes, unless that is no_limit, are within so many thousandths of these.
[[nodiscard]] std::vector<std::vector<node_id>>
orders_for_schedules(snapshot const& p, plan_options const& options, byte_count enough,
                     std::uint32_t thousandths, byte_count& least);

/// No schedule is shorter than the critical path, nor than all durations divided by the workers; 0 workers:
/// as many as there are steps.
[[nodiscard]] std::uint64_t least_makespan(table<step_id, std::uint64_t> const& duration, std::size_t workers,
                                           std::uint64_t critical_path);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/schedule_orders.ipp>
#endif

#endif
