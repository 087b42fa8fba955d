// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SHAPES_HPP
#define SUBLET_PLACEMENT_SHAPES_HPP

/// What is moved about when buffers are placed: rigid shapes made of rectangles.
///
///     a buffer     one with a gap and a window   two, colocated 8 apart
///     +------+     +--+   +----+                     +------+
///     |      |     |  |   +--+ |                  +--+------+
///     |      |     |  |      | |                  |     |  |
///     +------+     +--+      +-+                  +-----+--+
///     1 piece      3 pieces                       3 pieces: at each position one
///
/// All that a placement_problem can say about one pool is said here in one form: a shape has pieces, one at a
/// position and one after the other (pieces.hpp), an origin that is `phase` modulo `alignment` (phase.hpp),
/// and perhaps a pin; it may be several buffers (colocated.hpp).
///
/// Two shapes are told apart by a single distance in each direction, reach(): how far the origin of the one
/// above must be from that of the one below.

#include <sublet/live_range.hpp>
#include <sublet/placement/colocated.hpp>
#include <sublet/placement/phase.hpp>
#include <sublet/placement/pieces.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

struct placement_shape {
    live_range life;          ///< in ranks, from the first piece to the last; never empty
    byte_count size = 0;      ///< origin + size is what it needs of the arena; never 0
    byte_count alignment = 1; ///< its origin is `phase` modulo this
    byte_count phase = 0;
    byte_count pinned = no_offset;
    byte_count preferred = no_offset;
};

/// What contradicts itself before anything is placed.
enum class shape_fault : std::uint8_t {
    none,
    pin_misaligned, ///< `buffer` is pinned where alignment forbids
    parts_clash     ///< what is asked of `buffer` and of `other`, colocated with it, cannot both be
};

/// The shapes of one pool, sorted by the begin of their lives.
struct placement_shapes {
    std::vector<placement_shape> shapes;
    std::vector<std::uint32_t> first_piece{0}; ///< by shape, and one more
    std::vector<shape_piece> pieces;           ///< by shape, ascending in time
    std::vector<shape_part> parts;             ///< ascending by shape; not those that need no bytes
    std::vector<step_id> positions;            ///< by rank: the position
    shape_fault fault = shape_fault::none;
    buffer_id buffer = no_buffer;
    buffer_id other = no_buffer;

    [[nodiscard]] std::size_t size() const { return shapes.size(); }
    [[nodiscard]] std::span<shape_piece const> pieces_of(std::uint32_t s) const
    {
        return {pieces.data() + first_piece[s], pieces.data() + first_piece[s + 1]};
    }
    /// One rectangle, from its origin up: all that its life and size say.
    [[nodiscard]] bool is_plain(std::uint32_t s) const
    {
        return first_piece[s + 1] - first_piece[s] == 1 && pieces[first_piece[s]].begin == 0 &&
               pieces[first_piece[s]].end == shapes[s].size;
    }
};

/// How far above the origin of `below` that of `above` must be: not at all (`meets` is false) if they have no
/// position in common, and perhaps below it, if windows leave room.
struct shape_reach {
    bool meets = false;
    std::int64_t distance = 0;
};

/// Complexity: O(pieces of both).
[[nodiscard]] shape_reach reach(placement_shapes const& all, std::uint32_t below, std::uint32_t above);

namespace detail {

/// Whether b can be above a piece of a and below another one: the distances at which they clash have a hole.
bool can_pass(placement_shapes const& all, std::uint32_t a, std::uint32_t b);

} // namespace detail

/// Whether every placement of `some` shapes is a stacking.
///
/// It is if each has a byte that all of its pieces have: where two meet, the one whose byte is higher is
/// above the other, and the order of these bytes is one in which each lies above all before it. Otherwise two
/// are looked for that can pass each other, or several in a circle: a above b at one position, b above c at
/// another, c above a at a third.
///
/// Ensures:    true only if it is so, whatever their alignments and pins are; false only if it is not, these
///             left aside, or if there are more than 64 or they are very large.
/// Complexity: O(pieces of these); if one has no such byte O(n^2 pieces of two + n^3), n = up to 64 shapes.
[[nodiscard]] bool can_only_be_stacked(placement_shapes const& all, std::vector<std::uint32_t> const& some);

/// The lowest origin at or above `offset` that its alignment allows; `no_offset` beyond 64 bits.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, placement_shape const& shape) noexcept
{
    if (shape.alignment == 1) return offset;
    return align_up(offset, phased_offsets{shape.alignment, shape.phase});
}

/// The shapes of `members`, which are buffers of one pool.
///
/// Requires:   members are distinct; whoever is colocated with a member is one.
/// Ensures:    buffers of 0 bytes or an empty life are in no shape; those of nothing but gaps are if others
///             are that they are colocated with. Shapes that are born together stand as `members` does. If
///             `fault` is not none, it is the first that was met, and not all that a shape says holds.
/// Complexity: O(n log n) time, O(n + buffers of the problem) memory, n = members, gaps and colocations.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, a window outside of its buffer,
///             gaps that meet, colocation across pools, and what reaches 2^62 bytes: shapes, tops of pins,
///             common alignments.
[[nodiscard]] placement_shapes shapes_of(placement_problem const& problem,
                                         std::vector<buffer_id> const& members, pool_limits limits = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/shapes.ipp>
#endif

#endif
