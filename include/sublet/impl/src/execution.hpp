// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_EXECUTION_HPP
#define SUBLET_IMPL_SRC_EXECUTION_HPP

/// The definitions of execution/ and testing/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#if defined(__cpp_exceptions) // no executor without
#include <sublet/execution/impl/binding_state.ipp>
#include <sublet/execution/impl/cpu.ipp>
#include <sublet/execution/impl/device_error.ipp>
#include <sublet/execution/impl/growing_arena.ipp>
#include <sublet/execution/impl/host_values.ipp>
#include <sublet/execution/impl/live_peak.ipp>
#include <sublet/execution/impl/operand_table.ipp>
#include <sublet/execution/impl/run_options.ipp>
#include <sublet/execution/impl/step_dispatcher.ipp>
#include <sublet/execution/impl/step_waits.ipp>
#include <sublet/execution/impl/storage.ipp>
#include <sublet/execution/impl/stream_digests.ipp>
#include <sublet/execution/impl/stream_schedule.ipp>
#include <sublet/execution/impl/trace.ipp>
#include <sublet/testing/impl/simulated_device.ipp>
#include <sublet/testing/impl/synthetic.ipp>
#endif

#endif
#endif
