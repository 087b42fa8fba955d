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

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#define SUBLET_UNDER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SUBLET_UNDER_ASAN
#endif
#endif

#if defined(SUBLET_UNDER_ASAN)
extern "C" void __asan_poison_memory_region(void const volatile*, std::size_t);
extern "C" void __asan_unpoison_memory_region(void const volatile*, std::size_t);
#endif

namespace sublet::detail {

inline void paint(std::span<std::byte> bytes)
{
    if (!bytes.empty()) std::memset(bytes.data(), 0xFF, bytes.size());
}

/// Bytes of a block that outlives their use.
inline void make_dead([[maybe_unused]] std::span<std::byte> bytes)
{
#if defined(SUBLET_UNDER_ASAN)
    __asan_poison_memory_region(bytes.data(), bytes.size());
#else
    paint(bytes);
#endif
}

/// Before dead bytes are used again, or given back to where they came from.
inline void make_usable([[maybe_unused]] std::span<std::byte> bytes)
{
#if defined(SUBLET_UNDER_ASAN)
    __asan_unpoison_memory_region(bytes.data(), bytes.size());
#endif
}

} // namespace sublet::detail

#undef SUBLET_UNDER_ASAN

#endif
