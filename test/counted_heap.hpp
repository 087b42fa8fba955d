// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_COUNTED_HEAP_HPP
#define SUBLET_TEST_COUNTED_HEAP_HPP

/// The free store of a test program, which main.cpp counts and can limit. Under the thread sanitizer nothing
/// is counted: the counters would order what it has to find unordered. The memory sanitizer has its own.

#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#define HEAP_IS_NOT_COUNTED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEAP_IS_NOT_COUNTED 1
#endif
#endif

extern std::atomic<std::size_t> heap_allocations; // total number
extern std::atomic<std::size_t> heap_limit;       // largest number of them
extern std::atomic<std::size_t> live_allocations; // allocated and not yet freed
extern std::atomic<std::size_t> heap_bytes;       // total of all allocations

/// Basic blocks executed so far by files compiled with -fsanitize-coverage=trace-pc, in a program that counts
/// them (SUBLET_COUNTS_BLOCKS).
extern std::uint64_t executed_blocks;

#endif
