// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/range_matching.hpp>

#include "../dice.hpp"
#include "../drawn_sharing.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("who takes is all that the rule says and nobody else, in ascending ranges")
{
    std::size_t several = 0, taken = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, 14);
        auto members = d.wanted;
        sort_by(members, [&](buffer_id a, buffer_id b) {
            return takers::begin_key(d.lives, a) < takers::begin_key(d.lives, b);
        });
        takers const who(d.lives, d.conflicts, members);
        REQUIRE(who.size() == members.size());
        for (std::size_t i = 0; i != who.size(); ++i) {
            REQUIRE(who[i] == members[i]);
            if (d.lives.begins[who[i]].size() > 1) ++several;
            std::vector<bool> takes(who.size());
            std::uint32_t last = 0;
            bool is_first = true;
            who.for_each_range(i, [&](live_range r) {
                REQUIRE(!is_empty(r));
                REQUIRE((is_first || last <= r.first));
                is_first = false;
                last = r.last;
                REQUIRE(last <= who.size());
                for (std::uint32_t k = r.first; k != r.last; ++k) takes[k] = true;
            });
            for (std::size_t k = 0; k != who.size(); ++k) {
                REQUIRE(takes[k] == d.rule.gives(who[i], who[k]));
                taken += takes[k];
            }
        }
    }
    CHECK(several > rounds(100));
    CHECK(taken > rounds(1000));
}

} // namespace this_test
