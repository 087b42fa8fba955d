// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ROUNDS_HPP
#define SUBLET_TEST_ROUNDS_HPP

#include "fuzzed_bytes.hpp"

#include <cstdlib>

/// The number of rounds: `usual` times the factor SUBLET_ROUNDS of the environment, such as 20 or 0.25. A
/// fuzzer runs one round, and none of those on large programs, which are few.
inline unsigned rounds(unsigned usual)
{
    if (fuzzed.is_on) return usual < 100 ? 0 : 1;
    char const* const times = std::getenv("SUBLET_ROUNDS");
    if (times == nullptr) return usual;
    double const asked = usual * std::strtod(times, nullptr);
    return asked < 1 ? 1 : static_cast<unsigned>(asked);
}

/// The first seed of random tests: SUBLET_SEED of the environment, or 0.
inline unsigned first_seed()
{
    char const* const said = std::getenv("SUBLET_SEED");
    return said == nullptr ? 0 : static_cast<unsigned>(std::strtoul(said, nullptr, 10));
}

#endif
