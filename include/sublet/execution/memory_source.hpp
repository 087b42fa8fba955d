// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_MEMORY_SOURCE_HPP
#define SUBLET_EXECUTION_MEMORY_SOURCE_HPP

/// Where executors and devices get their memory: a pointer to any `std::pmr::memory_resource`, or to any type
/// with its two members, without <memory_resource>; by default the free store. One pointer and one table of
/// two functions.

#include <sublet/core/errors.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace sublet::detail {

/// Semantics:       as of std::pmr::memory_resource; alignments are powers of two.
/// Ordinary models: every std::pmr::memory_resource.
template <class R>
concept memory_resource_like = requires(R& resource, void* block, std::size_t count) {
    { resource.allocate(count, count) } -> std::convertible_to<void*>;
    resource.deallocate(block, count, count);
};

} // namespace sublet::detail

namespace sublet {

/// Refers to a memory resource of any type; by default the free store.
class memory_source {
public:
    constexpr memory_source() noexcept = default;

    /// Of this resource.
    /// Requires: the resource outlives everything that was allocated from it.
    /// Throws:   precondition_error for a null pointer.
    template <class R>
        requires(!std::same_as<R, memory_source>)
    memory_source(R const& pointer)
    {
        using resource = std::remove_pointer_t<R>;
        constexpr bool is_pointer_to_resource =
            std::is_pointer_v<R> && detail::memory_resource_like<resource>;
        // Compilers do not name the wrong member of a braced options object; this message does.
        static_assert(
            is_pointer_to_resource,
            "sublet: storage comes from a pointer to a std::pmr::memory_resource, or to a type with "
            "its allocate and deallocate");
        if constexpr (is_pointer_to_resource) {
            SUBLET_EXPECTS(pointer != nullptr, "sublet: a memory resource is a null pointer");
            resource_ = pointer;
            actions_ = &actions_of<resource>;
        }
    }

    /// So many bytes of the resource.
    /// Throws: what the resource throws.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const
    {
        return actions_->allocate(resource_, bytes, alignment);
    }
    /// Gives them back.
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) const
    {
        actions_->deallocate(resource_, block, bytes, alignment);
    }

private:
    struct actions {
        void* (*allocate)(void*, std::size_t, std::size_t);
        void (*deallocate)(void*, void*, std::size_t, std::size_t);
    };
    template <class R>
    static constexpr actions actions_of{[](void* r, std::size_t bytes, std::size_t alignment) -> void* {
                                            return static_cast<R*>(r)->allocate(bytes, alignment);
                                        },
                                        [](void* r, void* block, std::size_t bytes, std::size_t alignment) {
                                            static_cast<R*>(r)->deallocate(block, bytes, alignment);
                                        }};
    // Alignments up to the default use plain new, which is faster.
    static void* allocate_free(void*, std::size_t bytes, std::size_t alignment);
    static void deallocate_free(void*, void* block, std::size_t, std::size_t alignment);
    static constexpr actions free_store{allocate_free, deallocate_free};

    void* resource_ = nullptr;
    actions const* actions_ = &free_store;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/memory_source.ipp>
#endif

#endif
