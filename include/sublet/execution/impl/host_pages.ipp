// SPDX-License-Identifier: BSL-1.0

/// host_pages: mmap() without access reserves; mprotect() opens pages, and madvise() returns those that are
/// left. Where the system has none of these, one block of the free store.

#include <sublet/execution/detail/host_pages.hpp>
#include <sublet/execution/detail/poison.hpp>
#include <sublet/execution/memory_source.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#if defined(MAP_ANONYMOUS) && defined(MADV_DONTNEED)
#define SUBLET_RESERVES_ADDRESSES
#endif
#endif

namespace sublet::detail {

SUBLET_DECL host_pages::host_pages(byte_count most, byte_count alignment, [[maybe_unused]] bool reserves)
    : most_(most), alignment_(alignment)
{
#if defined(SUBLET_RESERVES_ADDRESSES)
    long const page = ::sysconf(_SC_PAGESIZE);
    byte_count const size = page > 0 ? static_cast<byte_count>(page) : 4096;
    byte_count const excess = alignment > size ? alignment - size : 0, whole = align_up(most, size);
    bool const fits = whole != no_offset && sum_fits(whole, excess) && whole + excess <= ~std::size_t{0} / 2;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
    flags |= MAP_NORESERVE; // addresses only: memory is charged when it is used
#endif
    if (reserves && fits) {
        void* const begin = ::mmap(nullptr, to_size(whole + excess), PROT_NONE, flags, -1, 0);
        if (begin != MAP_FAILED) {
            page_ = size;
            mapped_ = whole + excess;
            begin_ = static_cast<std::byte*>(begin);
            first_ = begin_ + (alignment - reinterpret_cast<std::uintptr_t>(begin_) % alignment) % alignment;
            return;
        }
    }
#endif
    if (most > ~std::size_t{0} / 2) throw std::bad_alloc();
    first_ = begin_ = static_cast<std::byte*>(memory_source().allocate(to_size(most), to_size(alignment)));
    bytes_ = most;
}

SUBLET_DECL host_pages::~host_pages()
{
    if (first_ == nullptr) return;
    unpoison_bytes({first_, to_size(bytes_)});
#if defined(SUBLET_RESERVES_ADDRESSES)
    if (mapped_ != 0) {
        (void)::munmap(begin_, to_size(mapped_));
        return;
    }
#endif
    memory_source().deallocate(begin_, to_size(most_), to_size(alignment_));
}

SUBLET_DECL void host_pages::resize([[maybe_unused]] byte_count bytes)
{
    unpoison_bytes({first_, to_size(bytes_)}); // by a checked run of another executor
#if defined(SUBLET_RESERVES_ADDRESSES)
    if (mapped_ == 0) return;
    byte_count const wanted = align_up(bytes, page_);
    if (wanted > bytes_) {
        std::size_t const more = to_size(wanted - bytes_);
        if (::mprotect(first_ + bytes_, more, PROT_READ | PROT_WRITE) != 0) {
            (void)::mprotect(first_ + bytes_, more, PROT_NONE); // a part may have been added
            throw std::bad_alloc();
        }
        bytes_ = wanted;
    } else if (wanted < bytes_) {
        std::size_t const less = to_size(bytes_ - wanted);
        (void)::madvise(first_ + wanted, less, MADV_DONTNEED);
        // Without access, neither a large page nor a stale pointer brings memory back.
        (void)::mprotect(first_ + wanted, less, PROT_NONE);
        bytes_ = wanted;
    }
#endif
}

} // namespace sublet::detail

#undef SUBLET_RESERVES_ADDRESSES
