// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/placed.hpp>

#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace sublet;

namespace {

template <class InTheWay>
std::vector<byte_count> ends_in_the_way(InTheWay& all, live_range life, std::size_t stop_after = ~std::size_t{0})
{
    std::vector<byte_count> ends;
    all.for_each_in_the_way(life, [&](placed const& p) {
        ends.push_back(p.end);
        return ends.size() < stop_after;
    });
    return ends;
}

} // namespace

TEST_CASE("who overlaps in time is shown from the bottom up, until the caller has seen enough")
{
    placed_by_life by_life({0, 0, 1, 3});
    placed_by_offset by_offset;
    placed const items[] = {{{0, 2}, 32, 64}, {{0, 3}, 0, 32}, {{1, 4}, 64, 96}, {{3, 4}, 0, 8}};
    for (std::size_t i = 0; i != 4; ++i) {
        by_life.insert(i, items[i]);
        by_offset.insert(i, items[i]);
    }
    std::vector<byte_count> const three{32, 64, 96};
    CHECK(ends_in_the_way(by_life, {1, 3}) == three);
    CHECK(ends_in_the_way(by_offset, {1, 3}) == three);
    CHECK(ends_in_the_way(by_life, {1, 3}, 2).size() == 2);
    CHECK(ends_in_the_way(by_offset, {1, 3}, 2).size() == 2);
    CHECK(ends_in_the_way(by_life, {4, 9}).empty());
    CHECK(ends_in_the_way(by_offset, {4, 9}).empty());
}

TEST_CASE("nobody placed, nobody in the way")
{
    placed_by_life by_life({});
    placed_by_offset by_offset;
    CHECK(ends_in_the_way(by_life, {0, 9}).empty());
    CHECK(ends_in_the_way(by_offset, {0, 9}).empty());
}

TEST_CASE("both structures show the same as a look at all, also when blocks are full and split")
{
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::size_t const n = seed < 50 ? 1 + pick() % 20 : 600 + pick() % 600;
        std::vector<placed> items(n);
        for (auto& p : items) {
            p.life.first = static_cast<step_id>(pick() % 40);
            p.life.last = static_cast<step_id>(p.life.first + 1 + pick() % 20);
            p.offset = pick() % (2 * n);
            p.end = p.offset + 1 + pick() % 10;
        }
        std::sort(items.begin(), items.end(), [](placed const& a, placed const& b) { return a.life.first < b.life.first; });
        std::vector<step_id> births;
        for (auto const& p : items) births.push_back(p.life.first);
        placed_by_life by_life(births);
        placed_by_offset by_offset;
        std::vector<std::size_t> order(n);
        for (std::size_t i = 0; i != n; ++i) order[i] = i;
        for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[pick() % i]);
        std::vector<placed> inserted;
        for (std::size_t i : order) {
            by_life.insert(i, items[i]);
            by_offset.insert(i, items[i]);
            inserted.push_back(items[i]);
            if (n > 100 && pick() % 50 != 0) continue;
            live_range life{static_cast<step_id>(pick() % 50), 0};
            life.last = static_cast<step_id>(life.first + 1 + pick() % 20);
            std::vector<byte_count> expected, got[2];
            for (placed const& p : inserted)
                if (p.life.first < life.last && life.first < p.life.last) expected.push_back(p.offset);
            std::sort(expected.begin(), expected.end());
            by_life.for_each_in_the_way(life, [&](placed const& p) { return got[0].push_back(p.offset), true; });
            by_offset.for_each_in_the_way(life, [&](placed const& p) { return got[1].push_back(p.offset), true; });
            CHECK(got[0] == expected);
            CHECK(got[1] == expected);
        }
    }
}
