// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_DEAD_BYTES_HPP
#define SUBLET_TEST_DEAD_BYTES_HPP

/// An ordinary program can read dead bytes and must find them painted; under the address sanitizer it must
/// not read them, and asks the sanitizer.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

#if defined(UNDER_ASAN)
extern "C" int __asan_address_is_poisoned(void const volatile*);
inline constexpr bool under_asan = true;
inline bool is_dead(std::byte const* at) { return __asan_address_is_poisoned(at) != 0; }
#else
inline constexpr bool under_asan = false;
inline bool is_dead(std::byte const* at) { return *at == std::byte{0xFF}; }
#endif

#endif
