// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_INTERNAL_COUNTED_MEMORY_HPP
#define SUBLET_EXECUTION_INTERNAL_COUNTED_MEMORY_HPP

/// The source of storage, its limit, and counts of what was allocated.
///
///     your memory resource ──► counted_memory ──► storage of values
///     new and delete               │
///                                  └─ throws if the limit would be exceeded; live, peak, total

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/adaptive_mutex.hpp>
#include <sublet/execution/detail/bounded_text.hpp>
#include <sublet/execution/memory_source.hpp>
#include <sublet/execution/run_options.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace sublet::detail {

/// An allocation would have exceeded the limit; the resource was not called.
class memory_limit_exceeded : public std::bad_alloc {
public:
    memory_limit_exceeded(byte_count requested, byte_count live, byte_count limit) noexcept
        : requested_(requested), live_(live), limit_(limit)
    {
        text_ << "sublet: " << requested << " bytes more than the " << live
              << " that are allocated would exceed the limit of " << limit;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] byte_count requested() const noexcept { return requested_; }
    [[nodiscard]] byte_count live() const noexcept { return live_; }
    [[nodiscard]] byte_count limit() const noexcept { return limit_; }

private:
    byte_count requested_, live_, limit_;
    bounded_text text_;
};

/// Allocates from a source within a limit, and counts. After share(), threads may use it concurrently: a lock
/// serialises the calls of the source, which must be thread-safe only if others use it too. Limit and peaks
/// are exact.
class counted_memory {
public:
    explicit counted_memory(memory_source source = {}, byte_count limit = no_limit)
        : source_(source), limit_(limit)
    {
    }

    void share() noexcept;

    /// Requires: the alignment is a power of two.
    /// Throws:   memory_limit_exceeded if more than the limit would be live; whatever the source throws. Then
    ///           nothing has changed.
    [[nodiscard]] void* allocate(byte_count bytes, byte_count alignment);
    void deallocate(void* block, byte_count bytes, byte_count alignment);

    /// Since construction.
    [[nodiscard]] run_report::memory_use use() const noexcept
    {
        scoped_lock const guard(lock());
        return use_;
    }
    /// Since the last mark(); the peaks include what was live then.
    [[nodiscard]] run_report::memory_use use_since_mark() const noexcept
    {
        scoped_lock const guard(lock());
        return since_mark_;
    }
    void mark() noexcept;

private:
    adaptive_mutex* lock() const noexcept { return is_shared_ ? &lock_ : nullptr; }

    memory_source source_;
    byte_count limit_;
    run_report::memory_use use_, since_mark_;
    bool is_shared_ = false;
    mutable adaptive_mutex lock_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/counted_memory.ipp>
#endif

#endif
