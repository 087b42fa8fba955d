// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_DICE_HPP
#define SUBLET_TEST_DICE_HPP

#include <cstdint>
#include <cstdlib>
#include <random>

/// Random numbers, drawn one a statement: the order of operands is not the same everywhere.
struct dice {
    std::mt19937 random;
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }
    std::uint64_t wide() // of any length
    {
        std::uint64_t const high = random();
        std::uint64_t const low = random();
        return (high << 32 | low) >> below(64);
    }
};

/// How many are drawn: SUBLET_ROUNDS in the environment says how many times as many as usual.
inline unsigned rounds(unsigned usual = 1)
{
    char const* const times = std::getenv("SUBLET_ROUNDS");
    return times == nullptr ? usual : usual * static_cast<unsigned>(std::atoi(times));
}

#endif
