// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/fit.hpp>

#include "../all_shapes.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using buffers = std::vector<placement_problem::buffer>;

packing packed(buffers const& b, std::vector<std::uint32_t> const& order,
               fit_rule choice = fit_rule::first_fit, fit_limits limits = {})
{
    return fit(shapes_of_all({b}), order, choice, limits);
}

} // namespace

TEST_CASE("first fit takes the lowest gap that is large enough, best fit the smallest")
{
    //  gaps of 12 bytes, then of 8, below and between two pins
    buffers const b{{{0, 3}, 4, 1, 0, 12}, {{0, 3}, 4, 1, 0, 24}, {{1, 3}, 8}};
    CHECK(packed(b, {2, 0, 1}, fit_rule::first_fit).origin[2] == 0);
    CHECK(packed(b, {2, 0, 1}, fit_rule::best_fit).origin[2] == 16);
}

TEST_CASE("a gap that alignment makes too small is skipped")
{
    buffers b{{{0, 2}, 3, 1, 0, 0}, {{0, 2}, 4, 1, 0, 10}, {{0, 2}, 6, 8}};
    CHECK(packed(b, {0, 1, 2}).origin[2] == 16);
    b[2].alignment = 3;
    CHECK(packed(b, {0, 1, 2}, fit_rule::best_fit).origin[2] == 3);
}

TEST_CASE("shapes that do not overlap in time may have the same origin")
{
    auto const p = packed({{{0, 2}, 8}, {{2, 4}, 8}}, {0, 1});
    CHECK(p.origin == std::vector<byte_count>{0, 0});
    CHECK(p.height == 8);
}

TEST_CASE("a shape that is not in the order is not placed")
{
    auto const p = packed({{{0, 2}, 8}, {{0, 2}, 4}}, {1});
    CHECK(p.origin == std::vector<byte_count>{no_offset, 0});
    CHECK(p.height == 4);
    CHECK(packed({}, {}).height == 0);
}

TEST_CASE("a packing that cannot end below the ceiling is given up")
{
    buffers const b{{{0, 2}, 8}, {{0, 2}, 8}};
    CHECK(packed(b, {0, 1}, fit_rule::first_fit, {.ceiling = 16}).height == 16);
    CHECK(packed(b, {0, 1}, fit_rule::first_fit, {.ceiling = 15}).height == no_limit);
    CHECK(packed(b, {0, 1}, fit_rule::best_fit, {.ceiling = 15}).height == no_limit);
    CHECK(packed(b, {0, 1}, fit_rule::first_fit, {.ceiling = 7}).height == no_limit); // not even one
    CHECK(packed({{{0, 1}, 8, 1, 0, 8}}, {0}, fit_rule::first_fit, {.ceiling = 15}).height == no_limit);
}

TEST_CASE("a preferred origin is taken if it is free and does not raise the height")
{
    buffers b{{{0, 2}, 8}, {{0, 2}, 4}};
    b[1].preferred = 12;
    CHECK(packed(b, {0, 1}).origin[1] == 8);
    CHECK(packed(b, {0, 1}, fit_rule::first_fit, {.known_height = 15}).origin[1] == 8);
    CHECK(packed(b, {0, 1}, fit_rule::first_fit, {.known_height = 16}).origin[1] == 12);
    b[1].preferred = 7;
    CHECK(packed(b, {0, 1}, fit_rule::first_fit, {.known_height = 16}).origin[1] == 8);
    b[1].preferred = 4;
    CHECK(packed(b, {1, 0}, fit_rule::first_fit, {.known_height = 12}).origin ==
          std::vector<byte_count>{8, 4});
    b[1].alignment = 3;
    CHECK(packed(b, {1, 0}, fit_rule::first_fit, {.known_height = 12}).origin[1] == 0);
    b[1].preferred = no_offset - 1;
    CHECK(packed(b, {1, 0}, fit_rule::first_fit, {.known_height = 12}).origin[1] == 0);
}

TEST_CASE("after gap_visits all others go on top, and gaps stay free")
{
    buffers const b{{{0, 3}, 4, 1, 0, 8}, {{0, 1}, 2}, {{1, 2}, 6}, {{2, 3}, 2}};
    auto const p = packed(b, {0, 1, 2, 3}, fit_rule::first_fit, {.gap_visits = 0});
    CHECK(p.origin == std::vector<byte_count>{8, 12, 12, 12});
    CHECK(packed(b, {0, 1, 2, 3}).origin == std::vector<byte_count>{8, 0, 0, 0});
}

TEST_CASE("a packing that takes too many visits is given up")
{
    buffers const b{{{0, 2}, 8}, {{0, 2}, 8}, {{0, 2}, 8}};
    auto const p = packed(b, {0, 1, 2});
    CHECK(p.visits > 8);
    CHECK(packed(b, {0, 1, 2}, fit_rule::first_fit, {.visits = p.visits}).origin == p.origin);
    CHECK(packed(b, {0, 1, 2}, fit_rule::first_fit, {.visits = 1}).height == no_limit);
}

TEST_CASE("offsets up to 2^64 - 1 do not wrap round")
{
    byte_count const most = (byte_count{1} << 62) - 1;
    buffers b(5, placement_problem::buffer{{0, 2}, most});
    CHECK(packed(b, {0, 1, 2, 3}).height == 4 * most);
    CHECK(packed(b, {0, 1, 2, 3, 4}).height == no_limit);
    b[4] = {{0, 2}, 1, most};
    CHECK(packed(b, {0, 1, 2, 4}).height == 3 * most + 1);
    CHECK(packed(b, {0, 1, 2, 3, 4}).height == 4 * most + 1);
    b[4].alignment = byte_count{1} << 61;
    CHECK(packed(b, {0, 1, 2, 3, 4}).height == no_limit);
}

TEST_CASE("random shapes in random orders: each origin equals that of a scan over all offsets")
{
    std::size_t preferred = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(pick);
        kind.scale = 1;
        kind.pinned = 0;
        auto const problem = draw_placement(pick, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) continue;
        auto const order = pick.permutation<std::uint32_t>(shapes.size());
        byte_count const expected = pick.below(30);
        auto const p = fit(shapes, order, fit_rule::first_fit, {.known_height = expected});

        std::vector<byte_count> origin(shapes.size(), no_offset);
        byte_count height = 0;
        for (std::uint32_t s : order) {
            placement_shape const& shape = shapes.shapes[s];
            auto is_free = [&](byte_count at) {
                if (at % shape.alignment != shape.phase) return false;
                for (std::uint32_t t = 0; t != shapes.size(); ++t)
                    if (origin[t] != no_offset && share_a_byte(shapes, s, at, t, origin[t])) return false;
                return true;
            };
            byte_count at = 0;
            while (!is_free(at)) ++at;
            byte_count const top = std::max({height, expected, at + shape.size});
            bool const takes = shape.preferred != no_offset && shape.preferred + shape.size <= top &&
                               is_free(shape.preferred);
            if (takes && at != shape.preferred) ++preferred;
            origin[s] = takes ? shape.preferred : at;
            height = std::max(height, origin[s] + shape.size);
        }
        CHECK(p.origin == origin);
        CHECK(p.height == height);
        auto const budgeted = fit(shapes, order, fit_rule::first_fit, {.gap_visits = pick.below(100)});
        for (std::uint32_t s = 0; s != shapes.size(); ++s)
            for (std::uint32_t t = 0; t != s; ++t)
                CHECK(!share_a_byte(shapes, s, budgeted.origin[s], t, budgeted.origin[t]));
    }
    CHECK(preferred > rounds(100));
}

// --- byte unions -------------------------------------------------------------------------------------------

namespace {

using ranges = std::vector<std::pair<byte_count, byte_count>>;

ranges intervals_of(byte_unions const& all, byte_unions::byte_union const& u)
{
    ranges found;
    std::uint32_t below = byte_unions::none;
    for (std::uint32_t at = u.lowest; at != byte_unions::none; at = all[at].above) {
        CHECK(all[at].below == below);
        found.push_back({all[at].begin, all[at].end});
        below = at;
    }
    return found;
}

} // namespace

TEST_CASE("adjacent intervals are merged, separate ones are not")
{
    byte_unions all;
    byte_unions::byte_union u;
    all.unite(u, 0, 4);
    all.unite(u, 8, 12);
    CHECK(intervals_of(all, u) == ranges{{0, 4}, {8, 12}});
    all.unite(u, 4, 8);
    CHECK(intervals_of(all, u) == ranges{{0, 12}});
    all.unite(u, 2, 6);
    CHECK(intervals_of(all, u) == ranges{{0, 12}});
    all.unite(u, 13, 14);
    CHECK(intervals_of(all, u) == ranges{{0, 12}, {13, 14}});
}

TEST_CASE("several unions hold exactly the bytes that were added to each")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        byte_unions all;
        for (int twice = 0; twice != 2; ++twice) {
            all.clear();
            std::vector<byte_unions::byte_union> unions(3);
            std::vector<std::vector<bool>> holds(3, std::vector<bool>(65, false));
            for (int i = 0; i != 40; ++i) {
                auto const which = pick.below(3);
                byte_count const begin = pick.below(60);
                byte_count const end = begin + 1 + pick.below(4);
                CHECK(all.unite(unions[which], begin, end) >= 1);
                for (byte_count b = begin; b != end; ++b) holds[which][b] = true;
                for (unsigned u = 0; u != 3; ++u) {
                    ranges expected;
                    for (byte_count b = 0; b != 64; ++b) {
                        if (!holds[u][b]) continue;
                        if (b == 0 || !holds[u][b - 1]) expected.push_back({b, b});
                        expected.back().second = b + 1;
                    }
                    REQUIRE(intervals_of(all, unions[u]) == expected);
                }
            }
        }
    }
}

// --- orders ------------------------------------------------------------------------------------------------

using order = std::vector<std::uint32_t>;

/// The buffers are sorted by begin, so shapes have their numbers.
static order ordered(placement_order which, buffers const& b)
{
    auto const shapes = shapes_of_all({b});
    return order_by(which, shapes, lower_bound(shapes));
}

/// Counts distance classes outwards, one by one.
static int class_by_hand(int distance, int steps)
{
    int ring = 0;
    for (int begin = 1, width; begin + (width = std::max(1, begin / steps)) <= distance + 1; begin += width)
        ++ring;
    return ring;
}

//     position  0   1   2   3   4   5
//     0: 10     [===)
//     1: 40         [=======)
//     2: 30         [===)
//     3: 20                 [=======)
//     4: 60                     [===)
static buffers const five{{{0, 1}, 10}, {{1, 3}, 40}, {{1, 2}, 30}, {{3, 5}, 20}, {{4, 5}, 60}};

TEST_CASE("each order is sorted by its key")
{
    CHECK(ordered(placement_order::size, five) == order{4, 1, 2, 3, 0});
    CHECK(ordered(placement_order::area, five) == order{1, 4, 3, 2, 0});
    CHECK(ordered(placement_order::lifetime, five) == order{1, 3, 4, 2, 0});
    CHECK(ordered(placement_order::birth, five) == order{0, 1, 2, 3, 4});
    CHECK(ordered(placement_order::load, five) == order{4, 3, 1, 2, 0});       // 80 at 4, 70 at 1, 10 at 0
    CHECK(ordered(placement_order::breadth, five) == order{4, 3, 1, 2, 0});    // positions 4, 1, 2, 3, 0
    CHECK(ordered(placement_order::size_class, five) == order{1, 4, 3, 2, 0}); // 32 to 63, 16 to 31, 8 to 15
}

//     position  0   1   2   3   4   5
//     0: 10     [===============)
//     1: 90     [===)                        the peak is at 2, with 60 bytes more than 0, 2 and 3
//     2: 20         [=======)
//     3: 30             [===============)
//     4: 60             [===)
//     5: 70                     [===)
static buffers const pyramid{{{0, 4}, 10}, {{0, 1}, 90}, {{1, 3}, 20},
                             {{2, 5}, 30}, {{2, 3}, 60}, {{3, 4}, 70}};

TEST_CASE("shapes live at the peak come first, by begin, length or end")
{
    CHECK(lower_bound(shapes_of_all({pyramid})).peak_position == 2);
    CHECK(ordered(placement_order::peak_birth, pyramid) == order{0, 2, 4, 3, 1, 5});
    CHECK(ordered(placement_order::peak_length, pyramid) == order{0, 3, 2, 4, 1, 5});
    CHECK(ordered(placement_order::peak_death, pyramid) == order{3, 0, 4, 2, 1, 5});
}

TEST_CASE("of two equal peaks the first is used")
{
    buffers const b{{{0, 1}, 8}, {{0, 1}, 2}, {{1, 3}, 8}, {{2, 3}, 2}};
    for (auto which : {placement_order::peak_birth, placement_order::peak_length, placement_order::peak_death,
                       placement_order::peak_distance})
        CHECK(ordered(which, b) == order{0, 1, 2, 3});
}

TEST_CASE("random buffers: every order agrees with its keys on each pair")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        buffers b(pick() % 12);
        for (auto& x : b) {
            x.life.first = pick() % 8;
            x.life.last = x.life.first + 1 + pick() % 5;
            x.size = 1 + pick() % 40;
        }
        std::sort(b.begin(), b.end(),
                  [](auto const& x, auto const& y) { return x.life.first < y.life.first; });
        auto const shapes = shapes_of_all({b});
        for (std::size_t i = 0; i != b.size(); ++i) b[i].life = shapes.shapes[i].life; // in ranks
        auto const load = lower_bound(shapes).live_bytes;
        position_id peak = 0;
        for (position_id p = 0; p < load.size(); ++p)
            if (load[p] > load[peak]) peak = p;
        auto is_at_peak = [&](placement_problem::buffer const& x) {
            return x.life.first <= peak && peak < x.life.last;
        };
        auto doublings = [](byte_count size) {
            int count = 0;
            for (; size != 0; size /= 2) ++count;
            return count;
        };
        auto check_falling = [&](placement_order which, auto key) {
            order const o = order_by(which, shapes, lower_bound(shapes));
            order all = o;
            std::sort(all.begin(), all.end());
            for (std::uint32_t i = 0; i != b.size(); ++i) CHECK(all[i] == i);
            for (std::size_t i = 1; i < o.size(); ++i) {
                auto const &before = b[o[i - 1]], &after = b[o[i]];
                CHECK(key(before) >= key(after));
                if (key(before) > key(after)) continue;
                CHECK(before.size >= after.size);
                if (before.size == after.size) CHECK(o[i - 1] < o[i]);
            }
        };
        check_falling(placement_order::size, [](auto const&) { return 0; });
        check_falling(placement_order::area, [](auto const& x) { return x.size * length(x.life); });
        check_falling(placement_order::lifetime, [](auto const& x) { return length(x.life); });
        check_falling(placement_order::birth, [](auto const& x) { return -static_cast<int>(x.life.first); });
        auto most = [&](auto const& x) {
            return *std::max_element(load.begin() + x.life.first, load.begin() + x.life.last);
        };
        check_falling(placement_order::load_area, [&](auto const& x) {
            return std::tuple(most(x), x.size * length(x.life), length(x.life));
        });
        check_falling(placement_order::load_length, [&](auto const& x) {
            return std::tuple(most(x), length(x.life), x.size * length(x.life));
        });
        check_falling(placement_order::load_death,
                      [&](auto const& x) { return std::pair(most(x), x.life.last); });
        check_falling(placement_order::peak_birth, [&](auto const& x) {
            return is_at_peak(x) ? 100 - static_cast<int>(x.life.first) : 0;
        });
        check_falling(placement_order::load, most);
        check_falling(placement_order::peak_distance_coarse, [&](auto const& x) {
            int nearest = 100;
            for (position_id p = x.life.first; p != x.life.last; ++p)
                nearest = std::min(nearest, std::abs(static_cast<int>(p) - static_cast<int>(peak)));
            return -class_by_hand(nearest, 2);
        });
        check_falling(placement_order::peak_distance, [&](auto const& x) {
            int nearest = 100;
            for (position_id p = x.life.first; p != x.life.last; ++p)
                nearest = std::min(nearest, std::abs(static_cast<int>(p) - static_cast<int>(peak)));
            return -class_by_hand(nearest, 5);
        });
        check_falling(placement_order::peak_length,
                      [&](auto const& x) { return is_at_peak(x) ? length(x.life) : 0; });
        check_falling(placement_order::peak_death,
                      [&](auto const& x) { return is_at_peak(x) ? +x.life.last : 0; });
        check_falling(placement_order::size_class,
                      [&](auto const& x) { return std::pair(doublings(x.size), length(x.life)); });
        check_falling(placement_order::size_class_death,
                      [&](auto const& x) { return std::pair(doublings(x.size), x.life.last); });
        check_falling(placement_order::length_class, [&](auto const& x) {
            return std::pair(doublings(length(x.life)), -static_cast<int>(x.life.first));
        });
        check_falling(placement_order::area_death,
                      [&](auto const& x) { return std::pair(x.size * length(x.life), x.life.last); });
        check_falling(placement_order::load_birth,
                      [&](auto const& x) { return std::pair(most(x), -static_cast<int>(x.life.first)); });
    }
}

TEST_CASE("ties go to the larger size, then to the earlier begin")
{
    buffers const b{{{0, 1}, 8}, {{0, 1}, 9}, {{0, 1}, 8}};
    for (auto which : {placement_order::lifetime, placement_order::load, placement_order::breadth,
                       placement_order::birth, placement_order::peak_length, placement_order::peak_death})
        CHECK(ordered(which, b) == order{1, 0, 2});
}

TEST_CASE("of two positions with equal load the first comes first, for any sizes")
{
    buffers const b{{{0, 1}, 4}, {{0, 1}, 4}, {{1, 2}, 8}};
    CHECK(ordered(placement_order::breadth, b) == order{0, 1, 2});
}

TEST_CASE("areas beyond 64 bits are equal, and sorted by size")
{
    buffers b{{{0, 8}, byte_count{1} << 61}, {{0, 6}, (byte_count{1} << 62) - 1}, {{0, 1}, 5}};
    for (position_id p = 1; p != 8; ++p) b.push_back({{p, p + 1}, p});
    CHECK(ordered(placement_order::area, b) == order{1, 0, 9, 8, 2, 7, 6, 5, 4, 3});
}

TEST_CASE("the order of no buffers is empty")
{
    for (auto which : {placement_order::size, placement_order::breadth, placement_order::load,
                       placement_order::peak_length, placement_order::size_class,
                       placement_order::peak_distance, placement_order::load_area})
        CHECK(ordered(which, {}).empty());
}

TEST_CASE("random ranges: the maximum equals that of a scan")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::vector<byte_count> table(1 + pick() % 17);
        for (auto& x : table) x = pick() % 30;
        detail::range_maximum const maximum(table);
        for (position_id a = 0; a <= table.size(); ++a)
            for (position_id b = a; b <= table.size(); ++b) {
                byte_count expected = 0;
                for (position_id x = a; x != b; ++x) expected = std::max(expected, table[x]);
                CHECK(maximum.over({a, b}) == expected);
            }
    }
}

TEST_CASE("random keys: the radix sort equals a stable sort")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::vector<byte_count> key(pick.below(40));
        bool const is_small = pick.below(2) == 0;
        for (auto& k : key) k = is_small ? pick.below(4) : pick.wide();
        std::vector<std::uint32_t> ids, expected;
        for (std::uint32_t i = 0; i != key.size(); ++i)
            if (pick.below(8) != 0) ids.insert(pick.below(2) == 0 ? ids.begin() : ids.end(), i);
        expected = ids;
        std::vector<std::size_t> place(key.size());
        for (std::size_t i = 0; i != ids.size(); ++i) place[ids[i]] = i;
        std::sort(expected.begin(), expected.end(),
                  [&](auto a, auto b) { return key[a] != key[b] ? key[a] > key[b] : place[a] < place[b]; });
        detail::sort_descending(ids, key);
        CHECK(ids == expected);
    }
}

// --- placed pieces -----------------------------------------------------------------------------------------

namespace {

placement_shapes shapes_of_pool_0(placement_problem const& problem)
{
    std::vector<buffer_id> members;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (problem.buffers[b].pool == 0) members.push_back(b);
    return shapes_of(problem, members);
}

/// The inserted pieces, scanned one by one.
struct naive_pieces {
    placement_shapes const& all;
    std::vector<std::pair<std::uint32_t, byte_count>> placed = {};

    bool is_free(std::uint32_t s, byte_count origin) const
    {
        for (auto [t, at] : placed)
            if (share_a_byte(all, s, origin, t, at)) return false;
        return true;
    }
    bool is_aligned(std::uint32_t s, byte_count origin) const
    {
        return origin % all.shapes[s].alignment == all.shapes[s].phase;
    }
    byte_count lowest(std::uint32_t s, byte_count from, byte_count highest) const
    {
        for (byte_count at = from; at <= highest; ++at)
            if (is_aligned(s, at) && is_free(s, at)) return at;
        return no_offset;
    }
    byte_count best_fit(std::uint32_t s, byte_count highest, byte_count beyond) const
    {
        byte_count best = no_offset, least_room = no_offset;
        for (byte_count at = 0; at <= highest; ++at) {
            if (!is_aligned(s, at) || !is_free(s, at)) continue;
            byte_count end = at;
            while (end != beyond && is_free(s, end + 1)) ++end;
            byte_count const room = end == beyond ? no_offset - 1 : end - at;
            if (room < least_room) {
                best = at;
                least_room = room;
            }
            at = end;
        }
        return best;
    }
    byte_count top(std::uint32_t s, byte_count beyond) const
    {
        byte_count at = beyond;
        while (at != 0 && is_free(s, at - 1)) --at;
        while (!is_aligned(s, at)) ++at;
        return at;
    }
};

} // namespace

TEST_CASE("a shape goes into the lowest gap, the smallest gap, or on top")
{
    placement_problem const problem{{{{0, 2}, 8}, {{0, 2}, 8}, {{1, 3}, 8}, {{0, 3}, 4}}};
    auto const shapes = shapes_of_pool_0(problem);
    placed_pieces all(shapes);
    all.insert(shapes, 0, 12);
    all.insert(shapes, 1, 24);
    CHECK(all.free_origin(shapes, 2, 0, 100) == 0); // shapes are sorted by begin: 2 is the one of 4 bytes
    CHECK(shapes.shapes[2].size == 4);
    CHECK(all.free_origin(shapes, 2, 0, 100, fit_rule::best_fit) == 20);
    CHECK(all.free_origin(shapes, 2, 10, 100) == 20);
    CHECK(all.origin_on_top(shapes, 2, 100) == 32);
    CHECK(all.free_origin(shapes, 3, 0, 100) == 0);
    CHECK(all.free_origin(shapes, 3, 5, 100) == 32);
}

TEST_CASE("of two equal gaps the lower is taken, and any gap before the unlimited one")
{
    placement_problem const problem{{{{0, 2}, 4}, {{0, 2}, 4}, {{0, 2}, 8}}};
    auto const shapes = shapes_of_pool_0(problem);
    placed_pieces all(shapes);
    all.insert(shapes, 0, 12);
    all.insert(shapes, 1, 28);
    CHECK(all.free_origin(shapes, 2, 0, 100, fit_rule::best_fit) == 0);
    CHECK(all.free_origin(shapes, 2, 1, 100, fit_rule::best_fit) == 1);
    CHECK(all.free_origin(shapes, 2, 5, 100, fit_rule::best_fit) == 16);
}

TEST_CASE("without placed shapes the origin is 0, and a shape that is too large has none")
{
    auto const shapes = shapes_of_pool_0({{{{0, 9}, 8, 16}}});
    placed_pieces all(shapes);
    CHECK(all.free_origin(shapes, 0, 0, 0) == 0);
    CHECK(all.free_origin(shapes, 0, 1, 15) == no_offset);
    CHECK(all.free_origin(shapes, 0, 1, 16) == 16);
    CHECK(all.origin_on_top(shapes, 0, 0) == 0);
    all.insert(shapes, 0, 0);
    CHECK(all.free_origin(shapes, 0, 0, 15) == no_offset);
    CHECK(all.origin_on_top(shapes, 0, 15) == no_offset);
    all.clear();
    CHECK(all.visits() == 0);
    CHECK(all.free_origin(shapes, 0, 0, 15) == 0);
}

TEST_CASE("shapes packed without gaps are visited as one interval")
{
    placement_problem problem;
    for (int i = 0; i != 1000; ++i) problem.buffers.push_back({{0, 2}, 8});
    auto const shapes = shapes_of_pool_0(problem);
    placed_pieces all(shapes);
    for (std::uint32_t s = 0; s != 999; ++s) all.insert(shapes, s, 8 * s);
    std::uint64_t const before = all.visits();
    CHECK(all.free_origin(shapes, 999, 0, no_limit / 2) == 8 * 999);
    CHECK(all.visits() - before < 20);
}

TEST_CASE("random shapes with gaps, windows and alignments: every origin equals that of a scan")
{
    std::size_t gaps = 0, nowhere = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_placement_shape kind = draw_placement_shape(pick);
        kind.scale = 1;
        kind.pinned = kind.preferred = 0;
        if (seed % 10 == 0) kind.buffers = 20 + pick.below(80), kind.positions = 10 + pick.below(90);
        auto const problem = draw_placement(pick, kind);
        CAPTURE(problem);
        auto const shapes = shapes_of_pool_0(problem);
        if (shapes.fault != shape_fault::none) continue;
        placed_pieces all(shapes);
        naive_pieces one_by_one{shapes};
        byte_count beyond = 0;
        for (std::uint32_t s = 0; s != shapes.size(); ++s) {
            byte_count const from = pick.below(3) == 0 ? pick.below(20) : 0;
            byte_count const highest = pick.below(2) == 0 ? pick.below(30) : 2 * beyond + 1000;
            byte_count const lowest = one_by_one.lowest(s, from, highest);
            REQUIRE(all.free_origin(shapes, s, from, highest) == lowest);
            nowhere += lowest == no_offset;
            byte_count const top = one_by_one.top(s, beyond);
            REQUIRE(all.origin_on_top(shapes, s, top) == top);
            if (top != 0) REQUIRE(all.origin_on_top(shapes, s, top - 1) == no_offset);
            byte_count const tight = one_by_one.best_fit(s, highest, larger(highest, beyond) + 1);
            REQUIRE(all.free_origin(shapes, s, 0, highest, fit_rule::best_fit) == tight);
            gaps += tight != one_by_one.lowest(s, 0, highest);
            byte_count const at =
                pick.below(2) == 0 ? pick.below(40) : one_by_one.lowest(s, 0, 2 * beyond + 1000);
            all.insert(shapes, s, at); // may overlap others
            one_by_one.placed.emplace_back(s, at);
            beyond = larger(beyond, at + shapes.shapes[s].size);
        }
    }
    CHECK(gaps > 100);
    CHECK(nowhere > 100);
}

} // namespace this_test
