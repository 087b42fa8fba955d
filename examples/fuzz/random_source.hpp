// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_RANDOM_SOURCE_HPP
#define SUBLET_EXAMPLES_FUZZ_RANDOM_SOURCE_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace fuzz {

/// Numbers that follow from a seed, the same on every platform.
///
/// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014 (SplitMix64).
class random_source {
public:
    explicit random_source(std::uint64_t seed) : state_(seed) {}

    std::uint64_t number()
    {
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    /// Requires: count != 0.
    std::size_t below(std::size_t count) { return number() % count; }
    int between(int first, int last)
    {
        return first + static_cast<int>(below(static_cast<std::size_t>(last - first) + 1));
    }
    bool percent(unsigned chance) { return below(100) < chance; }

    /// Requires: `from` is not empty.
    template <class Range>
    auto& one_of(Range& from)
    {
        return from[below(std::size(from))];
    }

private:
    std::uint64_t state_;
};

} // namespace fuzz

#endif
