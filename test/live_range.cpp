// SPDX-License-Identifier: BSL-1.0
#include <sublet/units.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(live_range_function<archetype::lives>);
static_assert(!live_range_function<int> && !live_range_function<decltype([](auto) { return 3; })>);
static_assert(!live_range_function<decltype([](std::vector<int>) { return live_range{}; })>);

TEST_CASE("a range that ends where another begins does not meet it")
{
    CHECK_FALSE(overlaps(live_range{0, 3}, live_range{3, 4}));
    CHECK(overlaps(live_range{0, 3}, live_range{2, 4}));
    CHECK(length(live_range{0, 3}) == 3);
    CHECK(contains(live_range{0, 3}, 2));
    CHECK_FALSE(contains(live_range{0, 3}, 3));
}

TEST_CASE("a default range is empty")
{
    CHECK(is_empty(live_range{}));
    CHECK(live_range{} == live_range{0, 0});
}

TEST_CASE("ranges are sets of positions")
{
    step_id const top = 5;
    auto positions = [](live_range r) {
        std::vector<bool> in(top, false);
        for (step_id p = 0; p != top; ++p) in[p] = contains(r, p);
        return in;
    };
    for (step_id a = 0; a != top; ++a)
        for (step_id b = 0; b != top; ++b)
            for (step_id c = 0; c != top; ++c)
                for (step_id d = 0; d != top; ++d) {
                    live_range const x{a, b}, y{c, d};
                    std::vector<bool> const in_x = positions(x), in_y = positions(y),
                                            in_hull = positions(hull(x, y));
                    step_id in_one = 0, in_both = 0, first = top, last = 0, covered = 0;
                    for (step_id p = 0; p != top; ++p) {
                        in_one += in_x[p];
                        in_both += in_x[p] && in_y[p];
                        covered += in_hull[p];
                        if (!in_x[p] && !in_y[p]) continue;
                        if (first == top) first = p;
                        last = p + 1;
                        CHECK(in_hull[p]);
                    }
                    CHECK(length(x) == in_one);
                    CHECK(is_empty(x) == (in_one == 0));
                    CHECK(overlaps(x, y) == (in_both != 0));
                    CHECK(covered == (first == top ? 0 : last - first));
                }
}

} // namespace this_test
