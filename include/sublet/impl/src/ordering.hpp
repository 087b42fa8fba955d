// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_ORDERING_HPP
#define SUBLET_IMPL_SRC_ORDERING_HPP

/// The definitions of ordering/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/ordering/impl/cone_order.ipp>
#include <sublet/ordering/impl/exact_window.ipp>
#include <sublet/ordering/impl/least_live.ipp>
#include <sublet/ordering/impl/list_schedule.ipp>
#include <sublet/ordering/impl/order.ipp>
#include <sublet/ordering/impl/order_graph.ipp>
#include <sublet/ordering/impl/order_moves.ipp>
#include <sublet/ordering/impl/order_pipeline.ipp>
#include <sublet/ordering/impl/order_window.ipp>
#include <sublet/ordering/impl/orders.ipp>
#include <sublet/ordering/impl/peak_walk.ipp>
#include <sublet/ordering/impl/series_parallel.ipp>
#include <sublet/ordering/impl/threshold_search.ipp>

#endif
#endif
