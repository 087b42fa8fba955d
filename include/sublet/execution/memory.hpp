// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_MEMORY_HPP
#define SUBLET_EXECUTION_MEMORY_HPP

/// Where storage comes from, how much of it there may be, and what was taken.
///
///     your memory resource ──► counted_memory ──► storage of values
///     new and delete               │
///                                  └─ refuses what would exceed the limit; live, peak, total
///
/// Any `std::pmr::memory_resource` will do, and so will every type with its two members: <memory_resource>
/// is therefore not included here.

#include <sublet/contract.hpp>
#include <sublet/execution/sentence.hpp>
#include <sublet/execution/short_lock.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace sublet {

/// Semantics:       as of std::pmr::memory_resource; alignments are powers of two.
/// Ordinary models: every std::pmr::memory_resource.
template <class R>
concept memory_resource_like = requires(R& resource, void* block, std::size_t count) {
                                   {
                                       resource.allocate(count, count)
                                       } -> std::convertible_to<void*>;
                                   resource.deallocate(block, count, count);
                               };

/// Refers to a memory resource of any type; without one it is the free store.
class memory_source {
public:
    constexpr memory_source() noexcept = default;

    /// Requires: the resource outlives everything that was allocated from it.
    /// Throws:   precondition_error for a null pointer.
    template <class R>
        requires(!std::same_as<R, memory_source>)
    memory_source(R const& pointer)
    {
        using resource = std::remove_pointer_t<R>;
        constexpr bool is_pointer_to_resource = std::is_pointer_v<R> && memory_resource_like<resource>;
        // No compiler names the wrong member of a braced options object: this sentence does.
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

    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const
    {
        return actions_->allocate(resource_, bytes, alignment);
    }
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
    // An alignment that every block has anyway is not asked for: that way is longer.
    static void* allocate_free(void*, std::size_t bytes, std::size_t alignment);
    static void deallocate_free(void*, void* block, std::size_t, std::size_t alignment);
    static constexpr actions free_store{allocate_free, deallocate_free};

    void* resource_ = nullptr;
    actions const* actions_ = &free_store;
};

/// What was refused because it would have exceeded the limit; nothing was asked of the resource.
class out_of_budget : public std::bad_alloc {
public:
    out_of_budget(byte_count asked, byte_count live, byte_count limit) noexcept
        : asked_(asked), live_(live), limit_(limit)
    {
        text_ << "sublet: " << asked << " bytes more than the " << live
              << " that are allocated would exceed the limit of " << limit;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] byte_count asked() const noexcept { return asked_; }
    [[nodiscard]] byte_count live() const noexcept { return live_; }
    [[nodiscard]] byte_count limit() const noexcept { return limit_; }

private:
    byte_count asked_, live_, limit_;
    detail::sentence text_;
};

struct counter {
    std::uint64_t live = 0;  ///< now
    std::uint64_t peak = 0;  ///< most at any time
    std::uint64_t total = 0; ///< all that ever came
    friend bool operator==(counter const&, counter const&) = default;

    constexpr void add(std::uint64_t amount) noexcept
    {
        live += amount;
        total += amount;
        peak = std::max(peak, live);
    }
    constexpr void remove(std::uint64_t amount) noexcept { live -= amount; }
};

struct memory_use {
    counter bytes;
    counter allocations;
    friend bool operator==(memory_use const&, memory_use const&) = default;
};

/// Allocates from a source, within a limit, and counts.
///
/// Threads may share it when it has been told so: one at a time then asks the source, which has to be safe
/// for threads only if others use it too. So the limit and the peaks are as exact as they are for one thread.
class counted_memory {
public:
    explicit counted_memory(memory_source source = {}, byte_count limit = no_limit)
        : source_(source), limit_(limit)
    {
    }

    /// From now on several threads may use it at once.
    void share() noexcept;

    /// Requires: a power of two as alignment.
    /// Throws:   out_of_budget if more than the limit would be live; whatever the source throws. Then nothing
    ///           has changed.
    [[nodiscard]] void* allocate(byte_count bytes, byte_count alignment);
    void deallocate(void* block, byte_count bytes, byte_count alignment);

    /// Since it was made.
    [[nodiscard]] memory_use use() const noexcept
    {
        detail::holding const only(lock());
        return use_;
    }
    /// Since the last mark; what was live then counts for the peaks.
    [[nodiscard]] memory_use use_since_mark() const noexcept
    {
        detail::holding const only(lock());
        return since_mark_;
    }
    void mark() noexcept;

private:
    detail::short_lock* lock() const noexcept { return is_shared_ ? &lock_ : nullptr; }

    memory_source source_;
    byte_count limit_;
    memory_use use_, since_mark_;
    bool is_shared_ = false;
    mutable detail::short_lock lock_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/memory.ipp>
#endif

#endif
