// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_EXECUTION_HPP
#define SUBLET_IMPL_SRC_EXECUTION_HPP

/// The definitions of execution/ and testing/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#if defined(__cpp_exceptions) // no executor without
#include <sublet/execution/impl/arena_blocks.ipp>
#include <sublet/execution/impl/arena_occupants.ipp>
#include <sublet/execution/impl/binding_state.ipp>
#include <sublet/execution/impl/bounded_text.ipp>
#include <sublet/execution/impl/check_schedule.ipp>
#include <sublet/execution/impl/clobber_checker.ipp>
#include <sublet/execution/impl/counted_memory.ipp>
#include <sublet/execution/impl/cpu.ipp>
#include <sublet/execution/impl/device_error.ipp>
#include <sublet/execution/impl/digest.ipp>
#include <sublet/execution/impl/edges.ipp>
#include <sublet/execution/impl/errors.ipp>
#include <sublet/execution/impl/growing_arena.ipp>
#include <sublet/execution/impl/host_pages.ipp>
#include <sublet/execution/impl/host_values.ipp>
#include <sublet/execution/impl/live_peak.ipp>
#include <sublet/execution/impl/lowered_program.ipp>
#include <sublet/execution/impl/memory_source.ipp>
#include <sublet/execution/impl/nested.ipp>
#include <sublet/execution/impl/nested_program.ipp>
#include <sublet/execution/impl/operand_table.ipp>
#include <sublet/execution/impl/path_checker.ipp>
#include <sublet/execution/impl/plan_addresses.ipp>
#include <sublet/execution/impl/poison.ipp>
#include <sublet/execution/impl/program_order.ipp>
#include <sublet/execution/impl/proved_order.ipp>
#include <sublet/execution/impl/queue_waits.ipp>
#include <sublet/execution/impl/run_order.ipp>
#include <sublet/execution/impl/shaped_values.ipp>
#include <sublet/execution/impl/step_dispatcher.ipp>
#include <sublet/execution/impl/step_waits.ipp>
#include <sublet/execution/impl/storage.ipp>
#include <sublet/execution/impl/stream_digests.ipp>
#include <sublet/execution/impl/stream_scheduler.ipp>
#include <sublet/execution/impl/trace.ipp>
#include <sublet/execution/impl/value_storage.ipp>
#include <sublet/execution/impl/vector_clocks.ipp>
#include <sublet/execution/impl/wait_finder.ipp>
#include <sublet/testing/impl/conflict_orders.ipp>
#include <sublet/testing/impl/position_set.ipp>
#include <sublet/testing/impl/simulated_device.ipp>
#include <sublet/testing/impl/stream_pool.ipp>
#include <sublet/testing/impl/stream_queues.ipp>
#include <sublet/testing/impl/synthetic.ipp>
#endif

#endif
#endif
