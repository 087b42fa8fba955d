// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_PLACEMENTS_HPP
#define SUBLET_TEST_RANDOM_PLACEMENTS_HPP

/// Random placement problems with everything that one can say about a buffer, and a literal of each, so that
/// one that fails can be written down.

#include "dice.hpp"

#include <sublet/placement/problem.hpp>

#include <cstddef>
#include <ostream>
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
    unsigned colocated = 0;  ///< percent of buffers that are colocated with one before them
    unsigned needless = 0;   ///< percent of buffers of no bytes or of no life
    unsigned pools = 1;
    unsigned scale = 1; ///< of all bytes
};

template <class Dice>
random_placement_shape draw_placement_shape(Dice& dice)
{
    random_placement_shape shape;
    shape.buffers = 1 + dice.below(7);
    shape.positions = 2 + dice.below(9);
    shape.sizes = 1 + dice.below(8);
    shape.alignments = dice.below(3) == 0 ? 2 + dice.below(5) : 1;
    shape.gaps = dice.below(2) * 40;
    shape.windows = dice.below(3) * 50;
    shape.pinned = dice.below(3) == 0 ? 30 : 0;
    shape.preferred = dice.below(3) == 0 ? 30 : 0;
    shape.colocated = dice.below(4) == 0 ? 40 : 0;
    shape.needless = dice.below(4) == 0 ? 15 : 0;
    shape.scale = dice.below(4) == 0 ? 1 + dice.below(64) : 1;
    return shape;
}

template <class Dice>
sublet::live_range draw_life(Dice& dice, unsigned positions)
{
    sublet::step_id const first = dice.below(positions);
    return {first, first + 1 + dice.below(positions - first)};
}

template <class Dice>
void draw_gaps(Dice& dice, random_placement_shape const& shape, sublet::placement_problem& problem,
               sublet::buffer_id id)
{
    auto const [life, size] = std::pair{problem.buffers[id].life, problem.buffers[id].size / shape.scale};
    sublet::step_id next = life.first == 0 ? 0 : life.first - dice.below(2); // perhaps begun before its life
    unsigned const wanted = 1 + dice.below(2);
    for (unsigned i = 0; i != wanted && next < life.last; ++i) {
        next += dice.below(3);
        sublet::placement_problem::gap gap{id, {next, next + dice.below(4)}, 0, 0};
        next = gap.when.last;
        if (dice.below(100) < shape.windows) {
            gap.begin = dice.below(static_cast<unsigned>(size) + 1);
            gap.end = gap.begin + dice.below(static_cast<unsigned>(size - gap.begin) + 1);
        }
        gap.begin *= shape.scale;
        gap.end *= shape.scale;
        problem.gaps.push_back(gap);
    }
}

template <class Dice>
sublet::placement_problem draw_placement(Dice& dice, random_placement_shape const& shape)
{
    using sublet::buffer_id;
    auto chance = [&dice](unsigned percent) { return dice.below(100) < percent; };
    sublet::placement_problem problem;
    for (buffer_id b = 0; b != shape.buffers; ++b) {
        sublet::placement_problem::buffer buffer;
        buffer.life = draw_life(dice, shape.positions);
        buffer.size = sublet::byte_count{1 + dice.below(shape.sizes)} * shape.scale;
        if (chance(shape.needless)) {
            if (chance(50)) buffer.size = 0;
            else buffer.life.last = buffer.life.first;
        }
        buffer.alignment = 1 + dice.below(shape.alignments);
        if (chance(20)) buffer.alignment *= shape.scale;
        buffer.pool = dice.below(shape.pools);
        unsigned const room = 1 + shape.buffers * shape.sizes / 2;
        if (chance(shape.pinned)) buffer.pinned = sublet::byte_count{dice.below(room)} * shape.scale;
        if (buffer.pinned != sublet::no_offset && !chance(10))
            buffer.pinned -= buffer.pinned % buffer.alignment;
        if (chance(shape.preferred)) buffer.preferred = sublet::byte_count{dice.below(room)} * shape.scale;
        problem.buffers.push_back(buffer);
        if (chance(shape.gaps)) draw_gaps(dice, shape, problem, b);
    }
    for (buffer_id b = 1; b < shape.buffers; ++b) {
        if (!chance(shape.colocated)) continue;
        buffer_id const anchor = dice.below(b);
        if (problem.buffers[anchor].pool != problem.buffers[b].pool) continue;
        sublet::byte_count const distance = sublet::byte_count{dice.below(shape.sizes + 1)} * shape.scale;
        problem.colocated.push_back({b, anchor, distance});
        if (chance(10)) problem.colocated.push_back({b, anchor, distance}); // once more
        if (chance(5)) problem.colocated.push_back({b, anchor, distance + 1});
    }
    for (unsigned pool = 0; pool != shape.pools; ++pool) {
        problem.pools.push_back({});
        if (shape.alignments > 1 && chance(30)) problem.pools.back().alignment = 1 + dice.below(4);
    }
    return problem;
}

/// Buffers of which another few bytes matter at each position: many can be threaded through each other.
template <class Dice>
sublet::placement_problem draw_interlocking(Dice& dice, unsigned buffers)
{
    sublet::placement_problem problem{{}, {{}}};
    problem.buffers.assign(buffers, {{0, 3}, 4});
    for (sublet::buffer_id b = 0; b != problem.buffers.size(); ++b)
        for (sublet::step_id at = 0; at != 3; ++at) {
            sublet::byte_count const begin = dice.below(4);
            problem.gaps.push_back(
                {b, {at, at + 1}, begin, begin + 1 + dice.below(4 - static_cast<unsigned>(begin))});
        }
    return problem;
}

/// Three buffers, of which one is away at each position, and of the others a byte or two matters.
template <class Dice>
sublet::placement_problem draw_circle(Dice& dice)
{
    sublet::placement_problem problem{{}, {{}}};
    problem.buffers.assign(3, {{0, 3}, 4});
    for (sublet::buffer_id b = 0; b != 3; ++b)
        for (sublet::step_id at = 0; at != 3; ++at) {
            sublet::byte_count const begin = dice.below(3);
            problem.gaps.push_back({b, {at, at + 1}, begin, begin + (at == b ? 0 : 1 + dice.below(2))});
        }
    return problem;
}

/// As a literal of the language.
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
    return out << "}}";
}

#endif
