// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CHECKED_RESOURCE_HPP
#define SUBLET_TEST_CHECKED_RESOURCE_HPP

#include <cstddef>
#include <doctest/doctest.h>
#include <map>
#include <new>
#include <utility>
#include <vector>

/// A minimal memory resource that records the blocks in use, and fails after a number of blocks.
struct checked_resource {
    using block = std::pair<std::size_t, std::size_t>; // bytes, alignment
    std::map<void*, block> live_blocks = {};
    std::vector<block> requests = {};
    std::size_t max_allocations = ~std::size_t{0}, refused_bytes = 0;

    void* allocate(std::size_t bytes, std::size_t alignment)
    {
        if (requests.size() == max_allocations) {
            refused_bytes = bytes;
            throw std::bad_alloc();
        }
        requests.push_back({bytes, alignment});
        void* const at = ::operator new(bytes, std::align_val_t{alignment});
        try {
            live_blocks[at] = requests.back();
        } catch (...) {
            ::operator delete(at, std::align_val_t{alignment});
            throw;
        }
        return at;
    }
    void deallocate(void* at, std::size_t bytes, std::size_t alignment)
    {
        CHECK(live_blocks.at(at) == block{bytes, alignment});
        live_blocks.erase(at);
        ::operator delete(at, std::align_val_t{alignment});
    }
    std::size_t live() const
    {
        std::size_t sum = 0;
        for (auto const& [at, its] : live_blocks) sum += its.first;
        return sum;
    }
};

#endif
