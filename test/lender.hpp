// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_LENDER_HPP
#define SUBLET_TEST_LENDER_HPP

#include <cstddef>
#include <doctest/doctest.h>
#include <map>
#include <new>
#include <utility>
#include <vector>

/// The poorest memory resource, two members. It remembers what it has lent, and runs dry after so many
/// blocks.
struct lender {
    using block = std::pair<std::size_t, std::size_t>; // bytes, alignment
    std::map<void*, block> lent = {};
    std::vector<block> asked = {};
    std::size_t gives = ~std::size_t{0}, refused_bytes = 0;

    void* allocate(std::size_t bytes, std::size_t alignment)
    {
        if (asked.size() == gives) {
            refused_bytes = bytes;
            throw std::bad_alloc();
        }
        asked.push_back({bytes, alignment});
        void* const at = ::operator new(bytes, std::align_val_t{alignment});
        lent[at] = asked.back();
        return at;
    }
    void deallocate(void* at, std::size_t bytes, std::size_t alignment)
    {
        CHECK(lent.at(at) == block{bytes, alignment});
        lent.erase(at);
        ::operator delete(at, std::align_val_t{alignment});
    }
    std::size_t live() const
    {
        std::size_t sum = 0;
        for (auto const& [at, its] : lent) sum += its.first;
        return sum;
    }
};

#endif
