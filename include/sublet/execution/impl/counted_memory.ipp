// SPDX-License-Identifier: BSL-1.0

/// counted_memory: the limit is compared before the source is called, so a refused allocation changes
/// nothing; two counters run along, one since construction and one since the last mark.

#include <sublet/execution/internal/counted_memory.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <new>

namespace sublet::detail {

SUBLET_DECL void counted_memory::share() noexcept { is_shared_ = true; }

SUBLET_DECL void* counted_memory::allocate(byte_count bytes, byte_count alignment)
{
    scoped_lock const guard(lock());
    if (bytes > limit_ || use_.bytes.live > limit_ - bytes)
        throw memory_limit_exceeded(bytes, use_.bytes.live, limit_);
    if (bytes > ~std::size_t{0}) throw std::bad_alloc(); // more than can be addressed
    void* const block = source_.allocate(to_size(bytes), to_size(alignment));
    if (block == nullptr && bytes != 0) throw std::bad_alloc(); // a resource should not return null
    for (run_report::memory_use* use : {&use_, &since_mark_}) {
        use->bytes.add(bytes);
        use->allocations.add(1);
    }
    return block;
}

SUBLET_DECL void counted_memory::deallocate(void* block, byte_count bytes, byte_count alignment)
{
    scoped_lock const guard(lock());
    source_.deallocate(block, to_size(bytes), to_size(alignment));
    for (run_report::memory_use* use : {&use_, &since_mark_}) {
        use->bytes.remove(bytes);
        use->allocations.remove(1);
    }
}

SUBLET_DECL void counted_memory::mark() noexcept
{
    scoped_lock const guard(lock());
    std::uint64_t const bytes = use_.bytes.live, blocks = use_.allocations.live;
    since_mark_ = {.bytes = {bytes, bytes, 0}, .allocations = {blocks, blocks, 0}};
}

} // namespace sublet::detail
