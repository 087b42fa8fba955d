// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/staircases.hpp>

#include "dice.hpp"
#include "interference_graphs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using lists = std::vector<ids>;

namespace {

hosted_values hosted(interferences const& all)
{
    hosted_values result(all.size());
    for (value_id v = 0; v != all.size(); ++v)
        for (value_id w : all.neighbors(v))
            if (w < v) result.connect(v, w);
    return result;
}

lists parts_of(hosted_values const& values)
{
    csr_rows const rows = values.parts();
    lists result;
    for (std::size_t p = 0; p != rows.rows(); ++p) result.push_back({rows[p].begin(), rows[p].end()});
    return result;
}

} // namespace

TEST_CASE("the picture: b moves in with a, and c is apart")
{
    interferences all(3); // a, c, b: the largest first
    all.add(0, 1);
    all.add(1, 2);
    auto values = hosted(all);
    values.find_hosts();
    CHECK(parts_of(values) == lists{{0}, {1}});
    std::vector<slot_id> slot_of{0, 1, no_slot};
    values.settle(slot_of);
    CHECK(slot_of == std::vector<slot_id>{0, 1, 0});
}

TEST_CASE("guests make guests: values that interfere with none are all with the first")
{
    for (std::size_t n : {0u, 1u, 2u, 64u, 65u}) {
        hosted_values values(n);
        values.find_hosts();
        CHECK(parts_of(values) == (n == 0 ? lists{} : lists{{0}}));
        std::vector<slot_id> slot_of(n, no_slot);
        if (n != 0) slot_of[0] = 7;
        values.settle(slot_of);
        CHECK(slot_of == std::vector<slot_id>(n, 7));
    }
}

TEST_CASE("a guest is in nobody's way, whether it came before or comes later")
{
    interferences all(4); // 0 - 1, 0 - 2 - 3: with 3 at home with 0, 2 can be with 1
    all.add(0, 1);
    all.add(0, 2);
    all.add(2, 3);
    auto values = hosted(all);
    values.find_hosts();
    CHECK(parts_of(values) == lists{{0}, {1}});
    interferences other(4); // the same, 2 and 3 by the names of each other
    other.add(0, 1);
    other.add(0, 3);
    other.add(2, 3);
    values = hosted(other);
    values.find_hosts();
    CHECK(parts_of(values) == lists{{0}, {1}});
}

TEST_CASE("a path of four keeps its ends and its middle: nobody covers a smaller one's neighbours")
{
    interferences path(4); // 0 - 2 - 3 - 1
    path.add(0, 2);
    path.add(2, 3);
    path.add(3, 1);
    auto values = hosted(path);
    values.find_hosts();
    CHECK(parts_of(values) == lists{{0, 1, 2, 3}});
}

TEST_CASE("who is joined brings along whom it interferes with")
{
    interferences all(4);
    all.add(1, 2);
    auto values = hosted(all);
    values.join(2, 0);
    CHECK(values.interferes().test(0, 1));
    CHECK(values.interferes().test(1, 0));
    values.find_hosts();
    CHECK(parts_of(values) == lists{{0}, {1}}); // 3 is with 0 or 1
}

TEST_CASE("between two parts everyone interferes with everyone, and no part can be split")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = any_interferences(roll, roll.below(80), 60 + roll.below(41));
        lists const parts = parts_of(hosted(all));
        std::vector<std::size_t> part_of(all.size(), ~std::size_t{0});
        for (std::size_t p = 0; p != parts.size(); ++p) {
            CHECK(std::is_sorted(parts[p].begin(), parts[p].end()));
            for (value_id v : parts[p]) {
                CHECK(part_of[v] == ~std::size_t{0});
                part_of[v] = p;
            }
        }
        for (value_id v = 0; v != all.size(); ++v) {
            REQUIRE(part_of[v] < parts.size());
            for (value_id w = 0; w != v; ++w)
                if (part_of[v] != part_of[w]) CHECK(all(v, w));
        }
        for (ids const& part : parts) { // walk from the first to all others by who may share
            ids reached{part[0]};
            for (std::size_t i = 0; i != reached.size(); ++i)
                for (value_id w : part)
                    if (w != reached[i] && !all(reached[i], w) &&
                        std::find(reached.begin(), reached.end(), w) == reached.end())
                        reached.push_back(w);
            CHECK(reached.size() == part.size());
        }
    }
}

TEST_CASE("hosts cost nothing: the fewest bytes of what is left are the fewest of all")
{
    std::size_t guests = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        auto const all = any_interferences(roll, roll.below(9), roll.below(101));
        std::vector<byte_count> sizes;
        for (std::size_t v = 0; v != all.size(); ++v) sizes.push_back(1 + roll.below(5));
        std::sort(sizes.rbegin(), sizes.rend());
        auto values = hosted(all);
        values.find_hosts();
        std::vector<byte_count> left(all.size(), 0);
        for (ids const& part : parts_of(values))
            for (value_id v : part) left[v] = sizes[v];
        guests += static_cast<std::size_t>(std::count(left.begin(), left.end(), 0));
        CHECK(fewest(all, left).bytes == fewest(all, sizes).bytes);

        std::vector<slot_id> slot_of(all.size(), no_slot);
        slot_id next = 0;
        for (value_id v = 0; v != all.size(); ++v)
            if (left[v] != 0) slot_of[v] = next++; // a slot for each that is left
        values.settle(slot_of);
        CHECK(all.allows(slot_of));
        for (value_id v = 0; v != all.size(); ++v) CHECK(slot_of[v] < next);
    }
    CHECK(guests > rounds(400));
}

} // namespace this_test
