// SPDX-License-Identifier: BSL-1.0

/// Painting by memset, poisoning by the two functions of the sanitizer's runtime, if it is there.

#include <sublet/execution/detail/poison.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstring>

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

SUBLET_DECL void paint(std::span<std::byte> bytes)
{
    if (!bytes.empty()) std::memset(bytes.data(), 0xFF, bytes.size());
}

SUBLET_DECL void poison_bytes([[maybe_unused]] std::span<std::byte> bytes)
{
#if defined(SUBLET_UNDER_ASAN)
    __asan_poison_memory_region(bytes.data(), bytes.size());
#else
    paint(bytes);
#endif
}

SUBLET_DECL void unpoison_bytes([[maybe_unused]] std::span<std::byte> bytes)
{
#if defined(SUBLET_UNDER_ASAN)
    __asan_unpoison_memory_region(bytes.data(), bytes.size());
#endif
}

} // namespace sublet::detail

#undef SUBLET_UNDER_ASAN
