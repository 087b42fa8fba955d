// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_PLAN_ADDRESSES_HPP
#define SUBLET_EXECUTION_DETAIL_PLAN_ADDRESSES_HPP

/// What an executor takes from a plan to address memory, and checks first, at every level of checks: offsets,
/// sizes and alignments of all buffers.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>

#include <cstddef>
#include <span>

namespace sublet::detail {

/// The bytes of a value in those of its buffer.
[[nodiscard]] std::span<std::byte> part_of(lowered_program const& lowered, value_id v,
                                           std::span<std::byte> whole);

/// Throws: unsound_plan if a buffer of this size at this offset is not in its arena, or not aligned.
void expect_place(buffer const& its, byte_count size, byte_count at, byte_count arena_bytes);

/// Checks all that an executor takes from a plan to address memory, whatever its level of checks. Views lie
/// within their roots: lower_program().
///
/// Requires: the program was lowered with options_of_plan().
/// Throws:   unsound_plan if the plan does not have an entry for each value, or a planned buffer has no
///           offset, lies in another pool, ends outside of its arena, or is not aligned as its values and its
///           pool need it.
void expect_placed(lowered_program const& lowered, memory_plan const& plan);

/// The largest alignment of the buffers of each pool.
/// Requires: expect_placed().
[[nodiscard]] table<pool_id, byte_count> arena_alignments(lowered_program const& lowered,
                                                          memory_plan const& plan);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/plan_addresses.ipp>
#endif

#endif
