// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_ORDERING_HPP
#define SUBLET_IMPL_SRC_ORDERING_HPP

/// The definitions of ordering/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#include <sublet/ordering/impl/best_order.ipp>
#include <sublet/ordering/impl/clock_conflicts.ipp>
#include <sublet/ordering/impl/clock_lives.ipp>
#include <sublet/ordering/impl/clock_order.ipp>
#include <sublet/ordering/impl/down_set_table.ipp>
#include <sublet/ordering/impl/down_set_walk.ipp>
#include <sublet/ordering/impl/exact_order.ipp>
#include <sublet/ordering/impl/exact_window.ipp>
#include <sublet/ordering/impl/free_moves.ipp>
#include <sublet/ordering/impl/improve_order.ipp>
#include <sublet/ordering/impl/least_peak.ipp>
#include <sublet/ordering/impl/list_schedule.ipp>
#include <sublet/ordering/impl/longest_path.ipp>
#include <sublet/ordering/impl/mirrored_graph.ipp>
#include <sublet/ordering/impl/node_demands.ipp>
#include <sublet/ordering/impl/nodes_on_demand.ipp>
#include <sublet/ordering/impl/order_bound.ipp>
#include <sublet/ordering/impl/order_contest.ipp>
#include <sublet/ordering/impl/order_cuts.ipp>
#include <sublet/ordering/impl/order_graph.ipp>
#include <sublet/ordering/impl/order_window.ipp>
#include <sublet/ordering/impl/parallel_clock.ipp>
#include <sublet/ordering/impl/peak_walk.ipp>
#include <sublet/ordering/impl/plain_walks.ipp>
#include <sublet/ordering/impl/ready_nodes.ipp>
#include <sublet/ordering/impl/topological.ipp>

#endif
