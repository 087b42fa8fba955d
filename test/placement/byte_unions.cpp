// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fit.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ranges = std::vector<std::pair<byte_count, byte_count>>;

ranges upwards(byte_unions const& all, byte_unions::byte_union const& u)
{
    ranges found;
    std::uint32_t below = byte_unions::none;
    for (std::uint32_t at = u.lowest; at != byte_unions::none; at = all[at].above) {
        CHECK(all[at].below == below);
        found.push_back({all[at].begin, all[at].end});
        below = at;
    }
    return found;
}

} // namespace

TEST_CASE("neighbours grow together, and what lies apart stays apart")
{
    byte_unions all;
    byte_unions::byte_union u;
    all.unite(u, 0, 4);
    all.unite(u, 8, 12);
    CHECK(upwards(all, u) == ranges{{0, 4}, {8, 12}});
    all.unite(u, 4, 8);
    CHECK(upwards(all, u) == ranges{{0, 12}});
    all.unite(u, 2, 6);
    CHECK(upwards(all, u) == ranges{{0, 12}});
    all.unite(u, 13, 14);
    CHECK(upwards(all, u) == ranges{{0, 12}, {13, 14}});
}

TEST_CASE("several unions hold the bytes that were put into each, and nothing else")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        byte_unions all;
        for (int twice = 0; twice != 2; ++twice) {
            all.clear();
            std::vector<byte_unions::byte_union> unions(3);
            std::vector<std::vector<bool>> holds(3, std::vector<bool>(65, false));
            for (int i = 0; i != 40; ++i) {
                auto const which = roll.below(3);
                byte_count const begin = roll.below(60);
                byte_count const end = begin + 1 + roll.below(4);
                CHECK(all.unite(unions[which], begin, end) >= 1);
                for (byte_count b = begin; b != end; ++b) holds[which][b] = true;
                for (unsigned u = 0; u != 3; ++u) {
                    ranges expected;
                    for (byte_count b = 0; b != 64; ++b) {
                        if (!holds[u][b]) continue;
                        if (b == 0 || !holds[u][b - 1]) expected.push_back({b, b});
                        expected.back().second = b + 1;
                    }
                    REQUIRE(upwards(all, unions[u]) == expected);
                }
            }
        }
    }
}

} // namespace this_test
