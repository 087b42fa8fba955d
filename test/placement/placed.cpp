// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/placed.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <utility>
#include <vector>

using namespace sublet;

namespace {

std::vector<byte_count> offsets_in_the_way(placed_by_column& all, live_range life,
                                           std::size_t stop_after = ~std::size_t{0})
{
    std::vector<byte_count> offsets;
    all.for_each_in_the_way(life, 0, [&](placed const& p) {
        offsets.push_back(p.offset);
        return offsets.size() < stop_after;
    });
    return offsets;
}

} // namespace

TEST_CASE("who overlaps in time is shown from the bottom up, until the caller has seen enough")
{
    for (step_id width : {1u, 2u, 4u}) {
        CAPTURE(width);
        placed_by_column all(4, width);
        for (placed const& p : {placed{{0, 2}, 32, 64}, {{0, 3}, 0, 32}, {{1, 4}, 64, 96}, {{3, 4}, 0, 8}})
            all.insert(p);
        CHECK(offsets_in_the_way(all, {1, 3}) == std::vector<byte_count>{0, 32, 64});
        CHECK(offsets_in_the_way(all, {1, 3}, 2) == std::vector<byte_count>{0, 32});
        CHECK(offsets_in_the_way(all, {0, 1}) == std::vector<byte_count>{0, 32});
        CHECK(offsets_in_the_way(all, {0, 4}) == std::vector<byte_count>{0, 0, 32, 64});
    }
}

TEST_CASE("nobody placed, nobody in the way")
{
    placed_by_column all(9, 4), none(0, 1);
    CHECK(offsets_in_the_way(all, {0, 9}).empty());
    CHECK(offsets_in_the_way(none, {0, 1}).empty());
}

TEST_CASE("a column is a power of two wide")
{
    CHECK_THROWS_AS(placed_by_column(9, 0), precondition_error);
    CHECK_THROWS_AS(placed_by_column(9, 3), precondition_error);
}

TEST_CASE("columns of any width show the same as a look at all, also when blocks are full and split")
{
    for (unsigned seed = 0; seed != 80; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::size_t const n = seed < 60 ? 1 + pick() % 20 : 600 + pick() % 600;
        step_id const width = step_id{1} << pick() % 8;
        placed_by_column all(60, width);
        std::vector<placed> inserted;
        for (std::size_t i = 0; i != n; ++i) {
            placed p{};
            p.life.first = static_cast<step_id>(pick() % 40);
            p.life.last = static_cast<step_id>(p.life.first + 1 + pick() % 20);
            p.offset = pick() % (2 * n);
            p.end = p.offset + 1 + pick() % 10;
            all.insert(p);
            inserted.push_back(p);
            if (n > 100 && pick() % 50 != 0) continue;

            auto const first = static_cast<step_id>(pick() % 40);
            live_range const life{first, static_cast<step_id>(first + 1 + pick() % 20)};
            std::vector<std::pair<byte_count, byte_count>> expected, shown;
            for (placed const& q : inserted)
                if (overlaps(q.life, life)) expected.emplace_back(q.offset, q.end);
            bool is_ascending = true;
            all.for_each_in_the_way(life, 0, [&](placed const& q) {
                is_ascending = is_ascending && (shown.empty() || shown.back().first <= q.offset);
                shown.emplace_back(q.offset, q.end);
                return true;
            });
            CHECK(is_ascending);
            std::sort(expected.begin(), expected.end());
            std::sort(shown.begin(), shown.end());
            CHECK(shown == expected);
        }
    }
}

TEST_CASE("who has seen enough is not shown another block")
{
    placed_by_column all(2, 2);
    for (byte_count i = 0; i != 1000; ++i) all.insert(placed{{0, 2}, 8 * i, 8 * i + 8});
    std::size_t blocks = 0, until_enough = 0;
    all.for_each_in_the_way({0, 1}, 1, [&](placed const&) { return ++blocks != 0; });
    all.for_each_in_the_way({0, 1}, 1, [&](placed const&) { return ++until_enough < 2; });
    CHECK(blocks > 2);
    CHECK(blocks < 100);
    CHECK(until_enough == 2);
}

TEST_CASE("those that leave no room between them may be shown as one: the gaps that are left are the same")
{
    std::size_t one_by_one = 0, together = 0;
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        bool const has_short_lives = seed % 3 == 0;
        step_id const width = seed % 3 == 1 ? 8 : 64;
        placed_by_column all(60, width);
        std::size_t const n = 300 + pick() % 900;
        for (std::size_t i = 0; i != n; ++i) {
            auto const first = static_cast<step_id>(pick() % 20),
                       last = static_cast<step_id>(22 + pick() % 30);
            byte_count const offset = 8 * (pick() % n);
            all.insert(placed{{first, has_short_lives && pick() % 9 == 0 ? first + 1 : last},
                              offset,
                              offset + 1 + pick() % 60});
            if (i % 20 != 0) continue;

            auto const from = static_cast<step_id>(10 + pick() % 15);
            live_range const life{from, static_cast<step_id>(from + 1 + pick() % 20)};
            struct gap {
                byte_count begin, end;
                bool operator==(gap const&) const = default;
            };
            auto gaps = [&](byte_count room, byte_count shown, std::size_t& visits) {
                std::vector<gap> found;
                byte_count top = 0;
                all.for_each_in_the_way(life, shown, [&](placed const& p) {
                    ++visits;
                    if (p.offset >= top + room) found.push_back({top, p.offset});
                    top = std::max(top, p.end);
                    return true;
                });
                found.push_back({top, no_offset});
                return found;
            };
            byte_count const room = 1 + pick() % 200;
            std::size_t as_blocks = 0, each = 0;
            CHECK(gaps(room, room, as_blocks) == gaps(room, 0, each));
            CHECK(as_blocks <= each);
            if (seed % 3 != 2) continue;
            together += as_blocks;
            one_by_one += each;
        }
    }
    CHECK(together < one_by_one * 3 / 4); // in one column, where nobody is short-lived
}
