// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_POISON_HPP
#define SUBLET_EXECUTION_POISON_HPP

/// What becomes of bytes that nobody may read.
///
///     in an ordinary program              painted with ones: a float read there is a NaN
///     under the address sanitizer         poisoned: the read itself is reported, with its stack
///
/// The sanitizer keeps account of 8 bytes at a time and rounds what it poisons inwards, so a living neighbour
/// is never poisoned; a few dead bytes at a border may stay readable.

#include <cstddef>
#include <span>

namespace sublet::detail {

void paint(std::span<std::byte> bytes);

/// Bytes of a block that outlives their use.
void make_dead(std::span<std::byte> bytes);

/// Before dead bytes are used again, or given back to where they came from.
void make_usable(std::span<std::byte> bytes);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/poison.ipp>
#endif

#endif
