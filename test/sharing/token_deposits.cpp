// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/token_sets.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("random sets stay as they were left until the last has taken them")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        constexpr step_id n = 60;
        csr_rows after;
        for (step_id x = 0; x != n; ++x) {
            for (unsigned i = roll.below(4); i != 0; --i) after.append(n - 1);
            after.close_row();
        }
        detail::token_deposits deposits(after);
        std::vector<std::vector<token_range>> left(n);
        std::vector<std::size_t> takers(n);
        auto check = [&] {
            for (step_id x = 0; x != n; ++x)
                if (takers[x] != 0)
                    REQUIRE(std::vector<token_range>(deposits[x].begin(), deposits[x].end()) == left[x]);
        };
        for (step_id x = 0; x != n; ++x) {
            CHECK(deposits[x].empty());
            if (roll.below(3) != 0) {
                for (unsigned i = 1 + roll.below(20); i != 0; --i)
                    left[x].push_back({roll.below(100), roll.below(100)});
                deposits.leave(x, left[x]);
            }
            takers[x] = after[x].size();
            check();
            for (step_id from = 0; from <= x; ++from)
                if (takers[from] != 0 && roll.below(4) == 0) {
                    --takers[from];
                    deposits.taken(from);
                }
            check();
        }
    }
}

} // namespace this_test
