// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_MEMORY_IPP
#define SUBLET_EXECUTION_IMPL_MEMORY_IPP

#include <sublet/execution/memory.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL void* memory_source::allocate_free(void*, std::size_t bytes, std::size_t alignment)
{
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes);
    return ::operator new(bytes, std::align_val_t{alignment});
}

SUBLET_DECL void memory_source::deallocate_free(void*, void* block, std::size_t, std::size_t alignment)
{
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator delete(block);
    ::operator delete(block, std::align_val_t{alignment});
}

SUBLET_DECL void counted_memory::share() noexcept { is_shared_ = true; }

SUBLET_DECL void* counted_memory::allocate(byte_count bytes, byte_count alignment)
{
    detail::holding const only(lock());
    if (bytes > limit_ || use_.bytes.live > limit_ - bytes)
        throw out_of_budget(bytes, use_.bytes.live, limit_);
    if (bytes > ~std::size_t{0}) throw std::bad_alloc(); // more than this machine can address
    void* const block =
        source_.allocate(static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment));
    if (block == nullptr && bytes != 0) throw std::bad_alloc(); // not what a resource should do
    for (memory_use* use : {&use_, &since_mark_}) {
        use->bytes.add(bytes);
        use->allocations.add(1);
    }
    return block;
}

SUBLET_DECL void counted_memory::deallocate(void* block, byte_count bytes, byte_count alignment)
{
    detail::holding const only(lock());
    source_.deallocate(block, static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment));
    for (memory_use* use : {&use_, &since_mark_}) {
        use->bytes.remove(bytes);
        use->allocations.remove(1);
    }
}

SUBLET_DECL void counted_memory::mark() noexcept
{
    detail::holding const only(lock());
    std::uint64_t const bytes = use_.bytes.live, blocks = use_.allocations.live;
    since_mark_ = {.bytes = {bytes, bytes, 0}, .allocations = {blocks, blocks, 0}};
}

} // namespace sublet

#endif
