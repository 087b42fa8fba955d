// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/staircases.hpp>

#include "dice.hpp"
#include "interference_graphs.hpp"
#include "sized_interferences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using bytes = std::vector<byte_count>;

namespace {

bit_rows rows_of(interferences const& all)
{
    bit_rows rows(all.size(), all.size());
    for (std::size_t v = 0; v != all.size(); ++v)
        for (value_id w : all.neighbors(v)) rows.set(v, w);
    return rows;
}

byte_count total(std::vector<slot_id> const& slot_of, bytes const& sizes)
{
    bytes largest(sizes.size(), 0);
    byte_count sum = 0;
    for (std::size_t v = 0; v != sizes.size(); ++v)
        largest[slot_of[v]] = std::max(largest[slot_of[v]], sizes[v]);
    for (byte_count slot : largest) sum += slot;
    return sum;
}

} // namespace

TEST_CASE("the picture: 80 bytes under the stairs")
{
    interferences all(5);
    for (std::size_t v = 0; v != 5; ++v)
        for (std::size_t w = 0; w != v; ++w)
            if (v != 3 || w != 1) all.add(v, w);
    auto const found = find_staircase(rows_of(all), {40, 16, 16, 16, 8}, 100);
    CHECK(found.bytes == 80);
    CHECK(found.lower_bound == 80);
    CHECK(found.slot_of == std::vector<slot_id>{0, 1, 2, 1, 3});
    CHECK(find_staircase(bit_rows(), {}, 100).bytes == 0);
}

TEST_CASE("any graph has the fewest bytes of all that can be tried")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = any_interferences(roll, 1 + roll.below(8), roll.below(101));
        bytes sizes;
        auto const kinds = 1 + roll.below(9);
        for (std::size_t v = 0; v != all.size(); ++v) sizes.push_back(1 + roll.below(kinds));
        std::sort(sizes.rbegin(), sizes.rend());
        auto const found = find_staircase(rows_of(all), sizes, 1'000'000);
        CHECK(all.allows(found.slot_of));
        CHECK(found.bytes == total(found.slot_of, sizes));
        CHECK(found.bytes == fewest(all, sizes).bytes);
        CHECK(found.lower_bound == found.bytes);
    }
}

} // namespace this_test
