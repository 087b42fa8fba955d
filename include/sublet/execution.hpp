// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_HPP
#define SUBLET_EXECUTION_HPP

/// The reference executors, in reading order. They need exceptions, so they are not in sublet.hpp.
///
///     program + plan -> storage in one of three modes -> your kernel, step by step -> results

// clang-format off: in the order of reading, not of the alphabet

#if !defined(__cpp_exceptions)
#error "sublet: executors report errors of a run by exceptions; compile with exceptions enabled"
#else

// Executors.
#include <sublet/execution/errors.hpp>      // what a run throws                        run_error
#include <sublet/execution/memory_source.hpp> // where memory comes from               memory_source
#include <sublet/execution/run_options.hpp> // options and report of a run              executor_options
#include <sublet/execution/digest.hpp>      // digests of bytes, and noise              digest(), fill_noise()
#include <sublet/execution/storage.hpp>     // storage of values, in three modes        no_plan, recycle, arena
#include <sublet/execution/growing_arena.hpp> // arenas that grow with the batch      growing_arena
#include <sublet/execution/cpu.hpp>         // one step after another                   cpu_executor
#include <sublet/execution/nested.hpp>      // bodies: branches and loops                 nested_executor
#include <sublet/execution/recorder.hpp>    // record calls, plan them, run them        recorder
#include <sublet/execution/step_waits.hpp>  // which step waits for which               step_waits
#include <sublet/execution/edges.hpp>       // what a task engine of yours keeps        edges()
#include <sublet/execution/queue_waits.hpp> // what given queues wait for              waits()
#include <sublet/execution/threads.hpp>     // steps on a thread pool                   thread_executor
#include <sublet/execution/device.hpp>      // what a device with streams can do        stream_device
#include <sublet/execution/stream_schedule.hpp> // which step on which stream           stream_options, stream_schedule
#include <sublet/execution/streams.hpp>     // steps on streams of a device             stream_executor
#include <sublet/execution/trace.hpp>       // when and where each step ran             run_trace, write_trace()

// For tests.
#include <sublet/testing/recording_device.hpp> // a device that logs commands           recording_device
#include <sublet/testing/simulated_options.hpp> // in which order it executes           simulated_options
#include <sublet/testing/simulated_device.hpp> // a device in host memory               simulated_device
#include <sublet/testing/synthetic.hpp>        // a kernel for any program              synthetic_kernel, adversarial_order()

#endif
#endif
