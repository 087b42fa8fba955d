// SPDX-License-Identifier: BSL-1.0

/// The free store: alignments up to the default one use plain new, which is faster.

#include <sublet/execution/memory_source.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <new>

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

} // namespace sublet
