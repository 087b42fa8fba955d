// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_PLACEMENTS_HPP
#define SUBLET_TEST_RANDOM_PLACEMENTS_HPP

/// Random placement problems with every property of buffers, and a literal of each, so that a failing one can
/// be copied into a test.

#include "random_source.hpp"

#include <sublet/core/placement_problem.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

struct random_placement_shape {
    unsigned buffers = 6;
    unsigned positions = 8;
    unsigned sizes = 6;      ///< different ones
    unsigned alignments = 1; ///< the largest
    unsigned gaps = 0;       ///< percent of buffers with one or two
    unsigned windows = 50;   ///< percent of gaps with one
    unsigned pinned = 0;     ///< percent
    unsigned preferred = 0;  ///< percent
    unsigned colocated = 0;  ///< percent of buffers that are colocated with an earlier one
    unsigned needless = 0;   ///< percent of buffers of no bytes or with an empty live range
    unsigned pools = 1;
    unsigned scale = 1; ///< of all bytes
};

template <class RandomSource>
random_placement_shape draw_placement_shape(RandomSource& random_source)
{
    random_placement_shape shape;
    shape.buffers = 1 + random_source.below(7);
    shape.positions = 2 + random_source.below(9);
    shape.sizes = 1 + random_source.below(8);
    shape.alignments = random_source.below(3) == 0 ? 2 + random_source.below(5) : 1;
    shape.gaps = random_source.below(2) * 40;
    shape.windows = random_source.below(3) * 50;
    shape.pinned = random_source.below(3) == 0 ? 30 : 0;
    shape.preferred = random_source.below(3) == 0 ? 30 : 0;
    shape.colocated = random_source.below(4) == 0 ? 40 : 0;
    shape.needless = random_source.below(4) == 0 ? 15 : 0;
    shape.scale = random_source.below(4) == 0 ? 1 + random_source.below(64) : 1;
    return shape;
}

template <class RandomSource>
sublet::live_range draw_life(RandomSource& random_source, unsigned positions)
{
    sublet::position_id const first = random_source.below(positions);
    return {first, first + 1 + random_source.below(positions - first)};
}

template <class RandomSource>
void draw_gaps(RandomSource& random_source, random_placement_shape const& shape,
               sublet::placement_problem& problem, sublet::buffer_id id)
{
    auto const [life, size] = std::pair{problem.buffers[id].life, problem.buffers[id].size / shape.scale};
    sublet::position_id next =
        life.first == 0 ? 0 : life.first - random_source.below(2); // perhaps beginning before its live range
    unsigned const wanted = 1 + random_source.below(2);
    for (unsigned i = 0; i != wanted && next < life.last; ++i) {
        next += random_source.below(3);
        sublet::placement_problem::gap gap{id, {next, next + random_source.below(4)}, 0, 0};
        next = gap.when.last;
        if (random_source.below(100) < shape.windows) {
            gap.begin = random_source.below(static_cast<unsigned>(size) + 1);
            gap.end = gap.begin + random_source.below(static_cast<unsigned>(size - gap.begin) + 1);
        }
        gap.begin *= shape.scale;
        gap.end *= shape.scale;
        problem.gaps.push_back(gap);
    }
}

template <class RandomSource>
sublet::placement_problem draw_placement(RandomSource& random_source, random_placement_shape const& shape)
{
    using sublet::buffer_id;
    auto chance = [&random_source](unsigned percent) { return random_source.below(100) < percent; };
    sublet::placement_problem problem;
    for (buffer_id b = 0; b != shape.buffers; ++b) {
        sublet::placement_problem::buffer buffer;
        buffer.life = draw_life(random_source, shape.positions);
        buffer.size = sublet::byte_count{1 + random_source.below(shape.sizes)} * shape.scale;
        if (chance(shape.needless)) {
            if (chance(50)) buffer.size = 0;
            else buffer.life.last = buffer.life.first;
        }
        buffer.alignment = 1 + random_source.below(shape.alignments);
        if (chance(20)) buffer.alignment *= shape.scale;
        buffer.pool = random_source.below(shape.pools);
        unsigned const room = 1 + shape.buffers * shape.sizes / 2;
        if (chance(shape.pinned)) buffer.pinned = sublet::byte_count{random_source.below(room)} * shape.scale;
        if (buffer.pinned != sublet::no_offset && !chance(10))
            buffer.pinned -= buffer.pinned % buffer.alignment;
        if (chance(shape.preferred))
            buffer.preferred = sublet::byte_count{random_source.below(room)} * shape.scale;
        problem.buffers.push_back(buffer);
        if (chance(shape.gaps)) draw_gaps(random_source, shape, problem, b);
    }
    for (buffer_id b = 1; b < shape.buffers; ++b) {
        if (!chance(shape.colocated)) continue;
        buffer_id const anchor = random_source.below(b);
        if (problem.buffers[anchor].pool != problem.buffers[b].pool) continue;
        sublet::byte_count const distance =
            sublet::byte_count{random_source.below(shape.sizes + 1)} * shape.scale;
        problem.colocated.push_back({b, anchor, distance});
        if (chance(10)) problem.colocated.push_back({b, anchor, distance}); // once more
        if (chance(5)) problem.colocated.push_back({b, anchor, distance + 1});
    }
    for (unsigned pool = 0; pool != shape.pools; ++pool) {
        problem.pools.push_back({});
        if (shape.alignments > 1 && chance(30)) problem.pools.back().alignment = 1 + random_source.below(4);
    }
    return problem;
}

/// Buffers with other solid bytes at each position: many can interlock.
template <class RandomSource>
sublet::placement_problem draw_interlocking(RandomSource& random_source, unsigned buffers)
{
    sublet::placement_problem problem{{}, {{}}};
    problem.buffers.assign(buffers, {{0, 3}, 4});
    for (sublet::buffer_id b = 0; b != problem.buffers.size(); ++b)
        for (sublet::position_id at = 0; at != 3; ++at) {
            sublet::byte_count const begin = random_source.below(4);
            problem.gaps.push_back(
                {b, {at, at + 1}, begin, begin + 1 + random_source.below(4 - static_cast<unsigned>(begin))});
        }
    return problem;
}

/// Three buffers, of which one has a gap at each position and the others have one or two solid bytes.
template <class RandomSource>
sublet::placement_problem draw_circle(RandomSource& random_source)
{
    sublet::placement_problem problem{{}, {{}}};
    problem.buffers.assign(3, {{0, 3}, 4});
    for (sublet::buffer_id b = 0; b != 3; ++b)
        for (sublet::position_id at = 0; at != 3; ++at) {
            sublet::byte_count const begin = random_source.below(3);
            problem.gaps.push_back(
                {b, {at, at + 1}, begin, begin + (at == +b ? 0 : 1 + random_source.below(2))});
        }
    return problem;
}

/// Three buffers of which no two can pass each other: a is above b at 0, b above c at 1, c above a at 2. All
/// can be at offset 0.
inline sublet::placement_problem circle_of_three()
{
    return {{{{0, 3}, 10}, {{0, 3}, 10}, {{0, 3}, 10}},
            {},
            {{0, {0, 1}, 9, 10},
             {0, {1, 2}, 0, 0},
             {0, {2, 3}, 0, 1},
             {1, {0, 1}, 0, 1},
             {1, {1, 2}, 9, 10},
             {1, {2, 3}, 0, 0},
             {2, {0, 1}, 0, 0},
             {2, {1, 2}, 0, 1},
             {2, {2, 3}, 9, 10}}};
}

/// Clocks of `threads` threads instead of the live ranges of `problem`: of steps that hear of each other, or
/// any numbers.
template <class RandomSource>
void draw_clocks(RandomSource& random_source, sublet::placement_problem& problem, unsigned threads)
{
    sublet::placement_problem::clock_table clocks{threads, {}, {}};
    std::vector<std::vector<std::uint32_t>> now(threads, std::vector<std::uint32_t>(threads, 0)); // by thread
    bool const is_run = random_source.below(4) != 0;
    auto step = [&] {
        unsigned const t = random_source.below(threads), other = random_source.below(threads);
        if (random_source.below(3) == 0)
            for (unsigned k = 0; k != threads; ++k) now[t][k] = std::max(now[t][k], now[other][k]);
        ++now[t][t];
        return now[t];
    };
    for (std::size_t b = 0; b != problem.buffers.size(); ++b) {
        std::vector<std::uint32_t> begin, end;
        if (is_run) {
            begin = end = step();
            for (unsigned uses = random_source.below(4); uses != 0; --uses) {
                unsigned const t = random_source.below(threads);
                for (unsigned k = 0; k != threads; ++k) now[t][k] = std::max(now[t][k], end[k]);
                ++now[t][t];
                end = now[t];
            }
        } else {
            for (unsigned k = 0; k != threads; ++k) {
                begin.push_back(random_source.below(8));
                end.push_back(begin.back() + random_source.below(4));
            }
        }
        clocks.begin.insert(clocks.begin.end(), begin.begin(), begin.end());
        clocks.end.insert(clocks.end.end(), end.begin(), end.end());
        problem.buffers[b].life = {};
    }
    problem.gaps.clear();
    problem.colocated.clear();
    problem.clocks = clocks;
}

/// As a C++ literal.
inline std::ostream& operator<<(std::ostream& out, sublet::placement_problem const& p)
{
    auto number = [&out](sublet::byte_count bytes) -> std::ostream& {
        return bytes == sublet::no_offset ? out << "no_offset" : out << bytes;
    };
    out << "{{";
    for (auto const& b : p.buffers) {
        out << "{{" << b.life.first << ", " << b.life.last << "}, " << b.size << ", " << b.alignment << ", "
            << b.pool;
        if (b.pinned != sublet::no_offset || b.preferred != sublet::no_offset)
            number((out << ", ", b.pinned));
        if (b.preferred != sublet::no_offset) number((out << ", ", b.preferred));
        out << "}, ";
    }
    out << "}, {";
    for (auto const& l : p.pools) number((out << "{", l.capacity)) << ", " << l.alignment << "}, ";
    out << "}, {";
    for (auto const& g : p.gaps)
        out << "{" << g.buffer << ", {" << g.when.first << ", " << g.when.last << "}, " << g.begin << ", "
            << g.end << "}, ";
    out << "}, {";
    for (auto const& c : p.colocated)
        out << "{" << c.buffer << ", " << c.anchor << ", " << c.distance << "}, ";
    out << "}, {";
    for (auto const& c : p.choices) out << "{" << c.buffer << ", " << c.pool << ", " << c.cost << "}, ";
    if (p.clocks.threads == 0) return out << "}}";
    out << "}, {" << p.clocks.threads;
    for (auto const* counters : {&p.clocks.begin, &p.clocks.end}) {
        out << ", {";
        for (auto counter : *counters) out << counter << ", ";
        out << "}";
    }
    return out << "}}";
}

/// Puts one buffer of pool 0 elsewhere below the height, and sets the height; false if it draws one without a
/// place, or there are none.
inline bool move_one(random_source& pick, sublet::placement_problem const& problem, sublet::placement& placed)
{
    if (placed.offset.empty()) return false;
    sublet::buffer_id const moved = pick.below(static_cast<unsigned>(placed.offset.size()));
    if (placed.offset[moved] == sublet::no_offset) return false;
    placed.offset[moved] = pick.below(static_cast<unsigned>(placed.pools[0].height) + 1);
    sublet::byte_count height = 0;
    for (sublet::buffer_id b = 0; b != placed.offset.size(); ++b)
        if (placed.offset[b] != sublet::no_offset)
            height = std::max(height, placed.offset[b] + problem.buffers[b].size);
    placed.pools[0].height = height;
    return true;
}

/// The checker refuses the offsets, and not only the bound or the status.
inline bool is_misplaced(sublet::verdict const& found)
{
    return !found && found.error().what != sublet::fault::wrong_status &&
           found.error().what != sublet::fault::wrong_bound;
}

namespace doctest {

template <>
struct StringMaker<sublet::placement_problem> {
    static String convert(sublet::placement_problem const& problem)
    {
        std::ostringstream out;
        ::operator<<(out, problem);
        return out.str().c_str();
    }
};

} // namespace doctest

#endif
