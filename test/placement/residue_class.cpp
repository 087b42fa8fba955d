// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/alignment.hpp>
#include <sublet/placement/detail/residue_class.hpp>

#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("the intersection of two residue classes holds the offsets that both allow")
{
    residue_class both{4, 3};
    CHECK(restrict_to(both, {6, 5}));
    CHECK(both == residue_class{12, 11});
    CHECK(restrict_to(both, {3, 2})); // already the case
    CHECK(both == residue_class{12, 11});
    CHECK(!restrict_to(both, {8, 2}));
    CHECK(both == residue_class{12, 11});
    CHECK(restrict_to(both, {24, 23}));
    CHECK(both == residue_class{24, 23});
}

TEST_CASE("the lowest allowed offset is at least the phase")
{
    CHECK(align_up(0, residue_class{8, 5}) == 5);
    CHECK(align_up(5, residue_class{8, 5}) == 5);
    CHECK(align_up(6, residue_class{8, 5}) == 13);
    CHECK(align_up(no_offset - 1, residue_class{8, 5}) == no_offset);
}

TEST_CASE("the distance of a part shifts the allowed origins")
{
    CHECK(aligned_origins(0, 8) == residue_class{8, 0});
    CHECK(aligned_origins(3, 8) == residue_class{8, 5});
    CHECK(aligned_origins(16, 8) == residue_class{8, 0});
}

TEST_CASE("large coprime alignments are combined fast, and too large ones are refused")
{
    byte_count const a = (byte_count{1} << 30) + 3, b = (byte_count{1} << 31) - 1;
    residue_class both{a, 17};
    CHECK(restrict_to(both, {b, 4711}));
    CHECK(both.alignment == a * b);
    CHECK(both.phase % a == 17);
    CHECK(both.phase % b == 4711);
    CHECK_THROWS_AS((void)restrict_to(both, {1'000'003, 0}), precondition_error);
}

TEST_CASE("random residue classes: the intersection equals trial of all offsets")
{
    random_source pick{std::mt19937{1}};
    for (unsigned round = 0; round != rounds(20'000); ++round) {
        byte_count const a = 1 + pick.below(40), b = 1 + pick.below(40);
        residue_class const one{a, pick.below(static_cast<unsigned>(a))};
        residue_class const other{b, pick.below(static_cast<unsigned>(b))};
        CAPTURE(round);
        byte_count first = 0;
        while (first != a * b && (first % a != one.phase || first % b != other.phase)) ++first;
        residue_class both = one;
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
