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

#include <sublet/execution/run_options.hpp> // options, memory, devices, errors         run_options, run_error
#include <sublet/execution/storage.hpp>     // three ways to give values their bytes    no_plan, recycle, arena
#include <sublet/execution/cpu.hpp>         // one step after the other                 cpu_executor
#include <sublet/execution/recorder.hpp>    // record calls, plan them, run them        recorder
#include <sublet/execution/step_waits.hpp>  // which step waits for which               step_waits
#include <sublet/execution/threads.hpp>     // on threads                               thread_executor
#include <sublet/execution/stream_schedule.hpp> // which step on which stream           stream_options, stream_schedule
#include <sublet/execution/streams.hpp>     // on streams of a device                   stream_executor

// To test with.
#include <sublet/testing/recording_device.hpp> // a device that writes down             recording_device
#include <sublet/testing/simulated_device.hpp> // a device in host memory               simulated_device
#include <sublet/testing/synthetic.hpp>        // any program, in any order             synthetic_kernel, adversarial_order()

#endif
#endif
