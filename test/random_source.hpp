// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_SOURCE_HPP
#define SUBLET_TEST_RANDOM_SOURCE_HPP

#include "rounds.hpp"

#include <cstdint>
#include <random>

/// Random numbers. Draw one per statement: the evaluation order of operands differs between compilers.
struct random_source {
    std::mt19937 random;
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }
    std::uint64_t wide() // of any bit width
    {
        std::uint64_t const high = random();
        std::uint64_t const low = random();
        return (high << 32 | low) >> below(64);
    }
};

#endif
