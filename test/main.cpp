// SPDX-License-Identifier: BSL-1.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "counted_heap.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

std::atomic<std::size_t> heap_allocations = 0;
std::atomic<std::size_t> heap_limit = ~std::size_t{0};

#if !defined(HEAP_IS_NOT_COUNTED)
[[gnu::noinline]] void* operator new(std::size_t bytes) // if inlined, GCC 12 warns of a mismatched pair
{
    if (heap_allocations >= heap_limit) throw std::bad_alloc();
    ++heap_allocations;
    if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif
