// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_ADDRESS_SPACE_HPP
#define SUBLET_BENCH_ADDRESS_SPACE_HPP

/// A memory resource with addresses but no memory, to count the memory of a run on any machine.
///
///     block, block, block ... ──► the same addresses, which must not be read or written
///
/// Only kernels that touch no memory can use it. An access ends the program.

#include <cstddef>
#include <new>

#include <sys/mman.h>

namespace bench {

class address_space {
public:
    /// Requires: `most` is the size of the largest block in bytes. Reserving it costs no memory.
    explicit address_space(std::size_t most) : most_(most)
    {
        bytes_ = mmap(nullptr, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bytes_ == MAP_FAILED) throw std::bad_alloc();
    }
    address_space(address_space const&) = delete;
    address_space& operator=(address_space const&) = delete;
    ~address_space() { munmap(bytes_, most_); }

    void* allocate(std::size_t bytes, std::size_t /* a page is aligned enough */)
    {
        if (bytes > most_) throw std::bad_alloc();
        return bytes_;
    }
    void deallocate(void*, std::size_t, std::size_t) {}

private:
    std::size_t most_;
    void* bytes_ = nullptr;
};

} // namespace bench

#endif
