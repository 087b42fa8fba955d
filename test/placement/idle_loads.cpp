// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/advise.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("taking a stretch lowers the load there, and giving it back raises it again")
{
    placement_problem const problem{{{{0, 5}, 64}, {{1, 3}, 32}}, {{64, 1}}};
    idle_times const times{{{0, {1, 3}, 128}}};
    idle_loads loads(problem, times);
    CHECK(loads.peak(0) == 96);
    CHECK(loads.least(0).bytes == 64);
    CHECK(loads.least(0).position == 0);
    CHECK(loads.is_crowded(0u));
    loads.take(0);
    CHECK(loads.peak(0) == 64);
    CHECK_FALSE(loads.is_crowded(0u));
    CHECK_FALSE(loads.is_free(0));
    loads.give_back(0);
    CHECK(loads.peak(0) == 96);
    CHECK(loads.initial(0) == std::vector<byte_count>{64, 96, 96, 64, 64});
}

TEST_CASE("nothing has no load")
{
    placement_problem const problem;
    idle_times const times;
    idle_loads loads(problem, times);
    CHECK(loads.pools() == 0);
    CHECK(loads.stretches() == 0);
}

TEST_CASE("what asks that another stays blocks it, and is blocked by it")
{
    placement_problem const problem{{{{0, 5}, 64}, {{0, 5}, 32}}};
    idle_times const times{{{0, {1, 3}}, {1, {1, 3}}}, {{1, 3, 0, 8}}, {{1, 0}}};
    idle_loads loads(problem, times);
    CHECK(loads.is_plain(0));
    CHECK_FALSE(loads.is_plain(1));
    loads.take(1);
    CHECK_FALSE(loads.is_free(0));
    CHECK(loads.peak(0) == 104); // with what the second one loads at position 3
    loads.give_back_askers(0);
    CHECK_FALSE(loads.is_taken(1));
    loads.take(0);
    CHECK_FALSE(loads.is_free(1));
}

TEST_CASE("a capacity that cannot be kept is raised to what can, and what loads more cannot be borne")
{
    placement_problem const problem{{{{0, 5}, 64}}, {{10, 1}}};
    idle_times const times{{{0, {1, 3}}, {0, {1, 3}}}, {{0, 3, 0, 1}}, {{0, 1}}};
    idle_loads loads(problem, times);
    CHECK(loads.capacity(0) == 64);
    CHECK_FALSE(loads.can_be_borne(0));
    CHECK(loads.can_be_borne(1));
}

TEST_CASE("after any takes and returns the peak is that of a sum at each position")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        placement_problem problem;
        idle_times times;
        for (std::uint32_t i = 0, n = 1 + pick.below(8); i != n; ++i) {
            step_id const first = pick.below(20), last = first + 1 + pick.below(20);
            problem.buffers.push_back({{first, last}, pick.below(100), 1, pick.below(2)});
            if (last - first < 3) continue;
            step_id const begin = first + 1 + pick.below(last - first - 2);
            times.stretches.push_back({i, {begin, begin + 1 + pick.below(last - begin - 1)}});
            if (pick.below(3) == 0)
                times.loads.push_back({static_cast<std::uint32_t>(times.stretches.size() - 1), pick.below(20),
                                       problem.buffers[i].pool, pick.below(50)});
        }
        problem.buffers.push_back({{0, 40}, 1, 1, 1});
        idle_loads loads(problem, times);
        auto const stretches = static_cast<std::uint32_t>(times.stretches.size());
        for (int change = 0; change != 30 && stretches != 0; ++change) {
            std::uint32_t const i = pick.below(stretches);
            if (loads.is_taken(i)) loads.give_back(i);
            else loads.take(i);
            for (pool_id pool : {0u, 1u}) {
                byte_count most = 0;
                for (step_id at = 0; at != 40; ++at) {
                    byte_count sum = 0;
                    for (auto const& b : problem.buffers)
                        if (b.pool == pool && contains(b.life, at)) sum += b.size;
                    for (std::uint32_t k = 0; k != stretches; ++k) {
                        auto const& its = problem.buffers[times.stretches[k].buffer];
                        if (loads.is_taken(k) && its.pool == pool && contains(times.stretches[k].when, at))
                            sum -= its.size;
                    }
                    for (auto const& l : times.loads)
                        if (loads.is_taken(l.stretch) && l.pool == pool && l.position == at) sum += l.bytes;
                    most = std::max(most, sum);
                }
                CHECK(loads.peak(pool) == most);
            }
        }
    }
}

} // namespace this_test
