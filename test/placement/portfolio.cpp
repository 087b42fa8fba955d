// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/portfolio.hpp>

#include "../stacking_oracle.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace sublet;

namespace {

search_result decide_steadily(placement_shapes const& all, byte_count capacity, search_options options = {})
{
    steady driver;
    return decide(all, capacity, options, driver);
}

/// Whether what is decided is true at heights around the lowest one.
void hold_to_oracle(stacking_traits traits, search_techniques techniques, std::uint32_t problems)
{
    dice random{};
    for (std::uint32_t i = 0; i != problems; ++i) {
        CAPTURE(i);
        auto const problem = random_stacking(random, traits);
        auto const all = shapes_of_all(problem);
        if (all.fault != shape_fault::none) continue;
        auto const lowest = lowest_stacking(all);
        byte_count const about = lowest ? *lowest : 60;
        for (byte_count below : {0u, 1u, 2u, 5u}) {
            if (below > about) continue;
            byte_count const capacity = about - below;
            CAPTURE(capacity);
            auto const result = decide_steadily(all, capacity, {.techniques = techniques});
            REQUIRE(result.outcome ==
                    (lowest && capacity >= *lowest ? search_outcome::found : search_outcome::exhausted));
            if (result.outcome == search_outcome::found) {
                REQUIRE(is_placed(all, result.origin, capacity));
                REQUIRE(result.height <= capacity);
                continue;
            }
            REQUIRE(result.height > capacity);
            REQUIRE(result.height <= lowest.value_or(no_limit));
            std::vector<buffer_id> members;
            for (std::uint32_t s : result.blamed)
                for (shape_part const& p : all.parts)
                    if (p.shape == s) members.push_back(p.buffer);
            auto const without = lowest_stacking(shapes_of(problem, members));
            REQUIRE((!without || *without > capacity));
        }
    }
}

constexpr stacking_traits everything{6, 6, 6, true, true, true, true};

} // namespace

TEST_CASE("what is decided of plain buffers is what all orders show")
{
    hold_to_oracle({6, 8, 6, false, false, false, false}, {}, 1500);
}
TEST_CASE("what is decided of gaps and windows is what all orders show")
{
    hold_to_oracle({6, 6, 6, true, false, false, false}, {}, 1500);
}
TEST_CASE("what is decided of pins is what all orders show")
{
    hold_to_oracle({6, 6, 6, false, true, false, false}, {}, 1500);
}
TEST_CASE("what is decided of alignments is what all orders show")
{
    hold_to_oracle({6, 6, 6, false, false, true, false}, {}, 1500);
}
TEST_CASE("what is decided of everything together is what all orders show")
{
    hold_to_oracle(everything, {}, 2500);
}
TEST_CASE("each technique may be left out")
{
    for (unsigned which = 0; which != 16; ++which) {
        CAPTURE(which);
        search_techniques const techniques{(which & 1) != 0, (which & 2) != 0, (which & 4) != 0,
                                           (which & 8) != 0};
        hold_to_oracle(everything, techniques, 300);
    }
}
