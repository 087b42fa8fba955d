// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/choose_pools.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct offer {
    pool_id pool;
    byte_count cost;
    friend bool operator==(offer const&, offer const&) = default;
};

std::vector<offer> of(placement_problem const& problem, buffer_id b)
{
    pool_candidates const all = candidates_of(problem);
    std::vector<offer> result;
    std::uint32_t const k = all.storage_of[b];
    for (std::uint32_t c = 0; c != all.count(k); ++c)
        result.push_back({all.at(k, c).pool, all.at(k, c).cost});
    return result;
}
using offers = std::vector<offer>;

placement_problem three(std::vector<placement_problem::choice> choices,
                        std::vector<placement_problem::colocation> colocated = {})
{
    return {{{{0, 2}, 8, 1, 1}, {{0, 2}, 8, 1, 1}, {{0, 2}, 8, 1, 2}}, {}, {}, colocated, choices};
}

} // namespace

TEST_CASE("who has no choice is in its own pool, for nothing")
{
    CHECK(of(three({}), 0) == offers{{1, 0}});
    CHECK(of(three({{0, 5, 1}}), 2) == offers{{2, 0}});
    CHECK(candidates_of(placement_problem{}).size() == 0);
}

TEST_CASE("the cheapest pool comes first, then the one with the lower number, one listed twice only once")
{
    auto const problem = three({{0, 3, 9}, {0, 4, 2}, {0, 1, 2}, {0, 3, 1}, {0, 4, 7}});
    CHECK(of(problem, 0) == offers{{3, 1}, {1, 2}, {4, 2}});
    CHECK(of(problem, 1) == offers{{1, 0}}); // its own is in nobody's list but its own
}

TEST_CASE("of colocated buffers the one that is anchored to nobody chooses")
{
    auto const problem = three({{0, 3, 4}, {0, 5, 1}, {1, 6, 0}}, {{1, 0, 8}});
    CHECK(of(problem, 0) == offers{{5, 1}, {3, 4}});
    CHECK(of(problem, 1) == of(problem, 0));
    pool_candidates const all = candidates_of(problem);
    CHECK(all.size() == 2);
    CHECK(all.storage_of == std::vector<std::uint32_t>{0, 0, 1});
    // Whichever way round.
    CHECK(of(three({{1, 3, 4}, {0, 6, 0}}, {{0, 1, 8}}), 0) == offers{{3, 4}});
}

TEST_CASE("two that are anchored to nobody have to agree, and both pay")
{
    std::vector<placement_problem::colocation> const both = {{1, 0, 8}, {1, 2, 0}};
    CHECK(of(three({{0, 3, 4}, {0, 5, 1}, {2, 5, 6}, {2, 3, 2}, {2, 9, 0}}, both), 1) ==
          offers{{3, 6}, {5, 7}});
    CHECK(of(three({{0, 3, 4}, {0, 2, 1}}, both), 1) == offers{{2, 1}}); // the other has no choice
    CHECK_THROWS_AS((void)candidates_of(three({{0, 3, 4}, {2, 5, 6}}, both)), precondition_error);
}

TEST_CASE("in a circle of anchors all have to agree")
{
    std::vector<placement_problem::colocation> const circle = {{0, 1, 0}, {1, 0, 0}};
    CHECK(of(three({{0, 3, 4}, {1, 3, 5}, {1, 7, 0}}, circle), 1) == offers{{3, 9}});
}

TEST_CASE("a broken promise is refused")
{
    CHECK_THROWS_AS((void)candidates_of(three({{3, 0, 0}})), precondition_error);
    CHECK_THROWS_AS((void)candidates_of(three({}, {{0, 3, 0}})), precondition_error);
    byte_count const half = byte_count{1} << 63;
    CHECK_THROWS_AS((void)candidates_of(three({{0, 3, half}, {2, 3, half}}, {{1, 0, 8}, {1, 2, 0}})),
                    precondition_error);
}

} // namespace this_test
