// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/shapes.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("two rules have those offsets in common that both allow")
{
    phased_offsets both{4, 3};
    CHECK(restrict_to(both, {6, 5}));
    CHECK(both == phased_offsets{12, 11});
    CHECK(restrict_to(both, {3, 2})); // which they are already
    CHECK(both == phased_offsets{12, 11});
    CHECK(!restrict_to(both, {8, 2}));
    CHECK(both == phased_offsets{12, 11});
    CHECK(restrict_to(both, {24, 23}));
    CHECK(both == phased_offsets{24, 23});
}

TEST_CASE("the lowest allowed offset is at least the phase")
{
    CHECK(align_up(0, phased_offsets{8, 5}) == 5);
    CHECK(align_up(5, phased_offsets{8, 5}) == 5);
    CHECK(align_up(6, phased_offsets{8, 5}) == 13);
    CHECK(align_up(no_offset - 1, phased_offsets{8, 5}) == no_offset);
}

TEST_CASE("a part at a distance shifts the offsets of the whole")
{
    CHECK(below_aligned(0, 8) == phased_offsets{8, 0});
    CHECK(below_aligned(3, 8) == phased_offsets{8, 5});
    CHECK(below_aligned(16, 8) == phased_offsets{8, 0});
}

TEST_CASE("large alignments without a common divisor take no time, and too large ones are refused")
{
    byte_count const a = (byte_count{1} << 30) + 3, b = (byte_count{1} << 31) - 1;
    phased_offsets both{a, 17};
    CHECK(restrict_to(both, {b, 4711}));
    CHECK(both.alignment == a * b);
    CHECK(both.phase % a == 17);
    CHECK(both.phase % b == 4711);
    CHECK_THROWS_AS((void)restrict_to(both, {1'000'003, 0}), precondition_error);
}

TEST_CASE("random rules are combined as by trying all offsets")
{
    dice roll{std::mt19937{1}};
    for (unsigned round = 0; round != rounds(20'000); ++round) {
        byte_count const a = 1 + roll.below(40), b = 1 + roll.below(40);
        phased_offsets const one{a, roll.below(static_cast<unsigned>(a))};
        phased_offsets const other{b, roll.below(static_cast<unsigned>(b))};
        CAPTURE(round);
        byte_count first = 0;
        while (first != a * b && (first % a != one.phase || first % b != other.phase)) ++first;
        phased_offsets both = one;
        CHECK(restrict_to(both, other) == (first != a * b));
        if (first == a * b) {
            CHECK(both == one);
            continue;
        }
        CHECK(both.phase == first);
        CHECK(both.alignment == combine_alignment(a, b));
    }
}

} // namespace this_test
