// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_SOURCE_HPP
#define SUBLET_TEST_RANDOM_SOURCE_HPP

#include "fuzzed_bytes.hpp"
#include "rounds.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

/// Random numbers. Draw one per statement: the evaluation order of operands differs between compilers. A
/// fuzzer's bytes come first, as few as each number needs, so that a changed byte changes one decision.
struct random_source {
    std::mt19937 random;
    std::uint32_t below(std::uint32_t n)
    {
        if (!fuzzed.left.empty()) return fuzzed.number(n <= 1 ? 0 : n <= 256 ? 1 : n <= 65536 ? 2 : 4) % n;
        return static_cast<std::uint32_t>(random() % n);
    }
    std::uint64_t wide() // of any bit width
    {
        std::uint64_t const high = bits();
        std::uint64_t const low = bits();
        return (high << 32 | low) >> below(64);
    }
    template <class Items>
    decltype(auto) one_of(Items&& items)
    {
        return items[below(static_cast<std::uint32_t>(std::size(items)))];
    }
    template <class Id>
    void shuffle(std::vector<Id>& ids)
    {
        for (std::size_t i = ids.size(); i > 1; --i)
            std::swap(ids[i - 1], ids[below(static_cast<std::uint32_t>(i))]);
    }
    /// The ids below n, in a random order.
    template <class Id>
    std::vector<Id> permutation(std::size_t n)
    {
        std::vector<Id> ids(n);
        std::iota(ids.begin(), ids.end(), Id{0});
        shuffle(ids);
        return ids;
    }

private:
    std::uint32_t bits()
    {
        return fuzzed.left.empty() ? static_cast<std::uint32_t>(random()) : fuzzed.number(4);
    }
};

#endif
