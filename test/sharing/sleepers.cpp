// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/token_sets.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;

TEST_CASE("those who wait for a token of the range are woken, once")
{
    detail::sleepers sleeping(200, 4);
    sleeping.sleep(0, 3);
    sleeping.sleep(1, 199);
    sleeping.sleep(2, 3);
    std::vector<buffer_id> woken;
    auto up = [&](buffer_id b) { woken.push_back(b); };
    sleeping.wake(4, 199, up);
    CHECK(woken.empty());
    sleeping.wake(0, 4, up);
    CHECK(woken == std::vector<buffer_id>{2, 0});
    sleeping.wake(0, 200, up);
    CHECK(woken == std::vector<buffer_id>{2, 0, 1});
    sleeping.sleep(0, 64);
    sleeping.wake(64, 65, up);
    CHECK(woken.size() == 4);
}

TEST_CASE("random sleepers, of one token and of many thousand")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        std::uint32_t const tokens = 1 + roll.below(seed % 3 == 0 ? 3 : seed % 3 == 1 ? 300 : 20'000);
        std::size_t const buffers = 1 + roll.below(50);
        detail::sleepers sleeping(tokens, buffers);
        std::vector<std::uint32_t> token_of(buffers, no_node);
        for (unsigned i = 0; i != 200; ++i) {
            auto const b = roll.below(static_cast<unsigned>(buffers));
            if (token_of[b] == no_node) sleeping.sleep(b, token_of[b] = roll.below(tokens));
            std::uint32_t const first = roll.below(tokens);
            std::uint32_t const last = first + roll.below(roll.below(2) ? 3 : tokens - first + 1);
            std::vector<buffer_id> woken, expected;
            sleeping.wake(first, last, [&](buffer_id u) { woken.push_back(u); });
            for (buffer_id u = 0; u != buffers; ++u)
                if (first <= token_of[u] && token_of[u] < last) {
                    expected.push_back(u);
                    token_of[u] = no_node;
                }
            std::sort(woken.begin(), woken.end());
            REQUIRE(woken == expected);
        }
    }
}

} // namespace this_test
