// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_HPP
#define SUBLET_EXECUTION_HPP

/// The reference executor, in reading order. It needs exceptions, and is apart from the rest for that reason.
///
///     program + plan -> storage in one of three modes -> your kernel, step by step -> results

// clang-format off: in the order of reading, not of the alphabet

#if !defined(__cpp_exceptions)
#error "sublet: an executor says by exceptions what went wrong in a run; compile it with exceptions"
#else

// Where storage comes from, and what can go wrong.
#include <sublet/execution/errors.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/sentence.hpp>
#include <sublet/execution/short_lock.hpp>

// The program as it is run, and the bytes of its values.
#include <sublet/execution/live_peak.hpp>
#include <sublet/execution/poison.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>

// Is every value still what its producer left?
#include <sublet/execution/byte_owners.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/watch.hpp>

// Running it.
#include <sublet/execution/caller_duties.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/cpu_call.hpp>
#include <sublet/execution/run_desk.hpp>
#include <sublet/execution/synthetic.hpp>

// Calls that are recorded first, and run later.
#include <sublet/execution/recorded_call.hpp>
#include <sublet/execution/recorder.hpp>

// Running it at once: on threads, on streams.
#include <sublet/execution/adversarial_order.hpp>
#include <sublet/execution/listed_order.hpp>
#include <sublet/execution/ready_queue.hpp>
#include <sublet/execution/run_proof.hpp>
#include <sublet/execution/step_dispatcher.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/stream/call.hpp>
#include <sublet/execution/stream/capture.hpp>
#include <sublet/execution/stream/check_schedule.hpp>
#include <sublet/execution/stream/commands.hpp>
#include <sublet/execution/stream/desk.hpp>
#include <sublet/execution/stream/device.hpp>
#include <sublet/execution/stream/digests.hpp>
#include <sublet/execution/stream/knowledge.hpp>
#include <sublet/execution/stream/pool.hpp>
#include <sublet/execution/stream/queues.hpp>
#include <sublet/execution/stream/recording_device.hpp>
#include <sublet/execution/stream/schedule.hpp>
#include <sublet/execution/stream/simulated_device.hpp>
#include <sublet/execution/stream/storage.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/tenants.hpp>
#include <sublet/execution/thread_pool.hpp>
#include <sublet/execution/threads.hpp>

#endif
#endif
