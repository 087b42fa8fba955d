// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_EXECUTION_HPP
#define SUBLET_IMPL_SRC_EXECUTION_HPP

/// The definitions of execution/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#if defined(__cpp_exceptions) // no executor without
#include <sublet/execution/impl/adversarial_order.ipp>
#include <sublet/execution/impl/byte_owners.ipp>
#include <sublet/execution/impl/caller_duties.ipp>
#include <sublet/execution/impl/cpu_call.ipp>
#include <sublet/execution/impl/digest.ipp>
#include <sublet/execution/impl/errors.ipp>
#include <sublet/execution/impl/listed_order.ipp>
#include <sublet/execution/impl/live_peak.ipp>
#include <sublet/execution/impl/memory.ipp>
#include <sublet/execution/impl/poison.ipp>
#include <sublet/execution/impl/ready_queue.ipp>
#include <sublet/execution/impl/run_desk.ipp>
#include <sublet/execution/impl/sentence.ipp>
#include <sublet/execution/impl/step_dispatcher.ipp>
#include <sublet/execution/impl/step_waits.ipp>
#include <sublet/execution/impl/storage.ipp>
#include <sublet/execution/impl/tape.ipp>
#include <sublet/execution/impl/tenants.ipp>
#include <sublet/execution/impl/watch.ipp>
#include <sublet/execution/stream/impl/call.ipp>
#include <sublet/execution/stream/impl/check_schedule.ipp>
#include <sublet/execution/stream/impl/digests.ipp>
#include <sublet/execution/stream/impl/knowledge.ipp>
#include <sublet/execution/stream/impl/pool.ipp>
#include <sublet/execution/stream/impl/queues.ipp>
#include <sublet/execution/stream/impl/schedule.ipp>
#include <sublet/execution/stream/impl/simulated_device.ipp>
#endif

#endif
