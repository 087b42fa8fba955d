// SPDX-License-Identifier: BSL-1.0
#include "counted_bytes.hpp"

#include <cstdlib>
#include <new>

namespace fuzz {

std::atomic<std::size_t> allocated_bytes = 0, most_allocated_bytes = 0;

namespace {

/// Before each block: its size.
constexpr std::size_t header = alignof(std::max_align_t) < 16 ? 16 : alignof(std::max_align_t);

void* allocate(std::size_t bytes) noexcept
{
    void* const block = bytes > ~std::size_t{0} - header ? nullptr : std::malloc(header + bytes);
    if (block == nullptr) return nullptr;
    *static_cast<std::size_t*>(block) = bytes;
    std::size_t const now = allocated_bytes += bytes;
    std::size_t most = most_allocated_bytes;
    while (most < now && !most_allocated_bytes.compare_exchange_weak(most, now)) {}
    return static_cast<char*>(block) + header;
}

} // namespace
} // namespace fuzz

[[gnu::noinline]] void* operator new(std::size_t bytes) // if inlined, GCC 12 warns of a mismatched pair
{
    void* const block = fuzz::allocate(bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept
{
    return fuzz::allocate(bytes);
}
[[gnu::noinline]] void operator delete(void* block) noexcept
{
    if (block == nullptr) return;
    void* const begin = static_cast<char*>(block) - fuzz::header;
    fuzz::allocated_bytes -= *static_cast<std::size_t*>(begin);
    std::free(begin);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
[[gnu::noinline]] void operator delete(void* block, std::nothrow_t const&) noexcept
{
    operator delete(block);
}
