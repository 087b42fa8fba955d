// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_CHECKING_HPP
#define SUBLET_IMPL_SRC_CHECKING_HPP

/// The definitions of checking/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/checking/impl/available_values.ipp>
#include <sublet/checking/impl/check_concurrent_plan.ipp>
#include <sublet/checking/impl/check_flow_plan.ipp>
#include <sublet/checking/impl/check_placement.ipp>
#include <sublet/checking/impl/check_plan.ipp>
#include <sublet/checking/impl/check_proof.ipp>
#include <sublet/checking/impl/check_rewrite.ipp>
#include <sublet/checking/impl/check_schedule.ipp>
#include <sublet/checking/impl/check_slots.ipp>
#include <sublet/checking/impl/check_stacking.ipp>
#include <sublet/checking/impl/check_streams.ipp>
#include <sublet/checking/impl/check_symbolic_plan.ipp>
#include <sublet/checking/impl/check_waits.ipp>
#include <sublet/checking/impl/class_touches.ipp>
#include <sublet/checking/impl/conflict_scan.ipp>
#include <sublet/checking/impl/fits.ipp>
#include <sublet/checking/impl/left_out_order.ipp>
#include <sublet/checking/impl/places.ipp>
#include <sublet/checking/impl/stacked_classes.ipp>
#include <sublet/checking/impl/stackings.ipp>
#include <sublet/checking/impl/step_order.ipp>
#include <sublet/checking/impl/stream_clocks.ipp>
#include <sublet/checking/impl/unordered_buffers.ipp>
#include <sublet/checking/impl/unwritten_reads.ipp>

#endif
#endif
