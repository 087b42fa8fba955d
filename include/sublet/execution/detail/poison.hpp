// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_POISON_HPP
#define SUBLET_EXECUTION_DETAIL_POISON_HPP

/// How dead bytes are marked.
///
///     in an ordinary program              painted with ones: a float read there is a NaN
///     under the address sanitizer         poisoned: the read itself is reported, with its stack
///
/// The sanitizer works in units of 8 bytes. A poisoned range is rounded inwards: a few dead bytes at a border
/// may stay readable, but a live neighbour is never poisoned.

#include <cstddef>
#include <span>

namespace sublet::detail {

void paint(std::span<std::byte> bytes);

void poison_bytes(std::span<std::byte> bytes);
/// Call before dead bytes are used again or deallocated.
void unpoison_bytes(std::span<std::byte> bytes);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/poison.ipp>
#endif

#endif
