// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SHAPES_HPP
#define SUBLET_PLACEMENT_DETAIL_SHAPES_HPP

/// The form of a placement problem that the algorithms work on: rigid shapes, that is, rectangles over ranks
/// of positions with a residue class of origins and perhaps a pin. O(n log n), n = buffers, gaps and
/// colocations.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/colocation.hpp>
#include <sublet/placement/detail/pieces.hpp>
#include <sublet/placement/detail/residue_class.hpp>
#include <sublet/placement/detail/search_control.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// The unit of placement: a rigid shape of pieces, which is one buffer or a group of colocated buffers.
struct placement_shape {
    live_range life;          ///< in ranks, from the first piece to the last; never empty
    byte_count size = 0;      ///< bytes above the origin; never 0
    byte_count alignment = 1; ///< its origin is `phase` modulo this
    byte_count phase = 0;
    byte_count pinned = no_offset;
    byte_count preferred = no_offset;
};

inline constexpr std::uint32_t no_shape = ~std::uint32_t{0};

/// Contradictions that are found before anything is placed.
enum class shape_fault : std::uint8_t {
    none,
    pin_misaligned, ///< the pin of `buffer` violates its alignment
    parts_clash     ///< requirements of `buffer` and `other`, which are colocated, contradict
};

/// The shapes of one pool, sorted by the begin of their live ranges.
struct placement_shapes {
    std::vector<placement_shape> shapes;
    std::vector<std::uint32_t> first_piece{0}; ///< by shape, and one more
    std::vector<shape_piece> pieces;           ///< by shape, ascending in time
    std::vector<shape_part> parts;             ///< ascending by shape; without buffers of no bytes
    table<position_id, position_id> positions; ///< by rank
    shape_fault fault = shape_fault::none;
    buffer_id buffer = no_buffer;
    buffer_id other = no_buffer;

    [[nodiscard]] std::size_t size() const { return shapes.size(); }
    [[nodiscard]] std::span<shape_piece const> pieces_of(std::uint32_t s) const
    {
        return {pieces.data() + first_piece[s], pieces.data() + first_piece[s + 1]};
    }
    /// The shape is a single rectangle that begins at its origin.
    [[nodiscard]] bool is_plain(std::uint32_t s) const
    {
        return first_piece[s + 1] - first_piece[s] == 1 && pieces[first_piece[s]].begin == 0 &&
               pieces[first_piece[s]].end == shapes[s].size;
    }
};

/// The least distance of the origin of `above` from that of `below`; `meets` is false if they share no
/// position. Negative if windows let `above` lie lower.
struct shape_separation {
    bool meets = false;
    std::int64_t distance = 0;
};

/// Complexity: O(pieces of both).
[[nodiscard]] shape_separation min_separation(placement_shapes const& all, std::uint32_t below,
                                              std::uint32_t above);

/// Whether b can be above one piece of a and below another: the forbidden distances are no interval.
bool can_interleave(placement_shapes const& all, std::uint32_t a, std::uint32_t b);

/// Whether every placement of `some` shapes is a stacking. It is if each has a byte that all of its pieces
/// have (problem.hpp). Otherwise the function looks for two shapes that can interleave, or a cycle: a above b
/// at one position, b above c at another, c above a at a third.
///
/// Ensures:    if true, it holds for any alignments and pins; if false, it fails without them, or there are
///             more than 64 shapes, or they are very large.
/// Complexity: O(pieces of these); if one has no such byte O(n^2 pieces of two + n^3), n = up to 64 shapes.
[[nodiscard]] bool can_only_be_stacked(placement_shapes const& all, std::vector<std::uint32_t> const& some);

[[nodiscard]] constexpr byte_count align_up(byte_count offset, placement_shape const& shape) noexcept
{
    if (shape.alignment == 1) return offset;
    return align_up(offset, residue_class{shape.alignment, shape.phase});
}

/// Throws: precondition_error for an alignment of 0, and for sizes that are not known or reach 2^62.
void expect_placeable(placement_problem::buffer const& buffer, buffer_id id);

/// The shapes of `members`, which are buffers of one pool.
///
/// Requires:   members are distinct; every buffer that is colocated with a member is one.
/// Ensures:    buffers of 0 bytes or an empty live range are in no shape; buffers with no solid part only if
///             a colocated one has one. Shapes with equal begins are in the order of `members`. If `fault`
///             is not none, it is the first contradiction found, and the shapes may be incomplete. They
///             are of no use once `poll` has stopped.
/// Complexity: O(n log n) time, O(n + buffers of the problem) memory, n = members, gaps and colocations.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, a window outside of its
///             buffer, gaps that overlap, colocation across pools, and what reaches 2^62 bytes: shapes, tops
///             of pins, common alignments.
[[nodiscard]] placement_shapes shapes_of(placement_problem const& problem,
                                         std::vector<buffer_id> const& members, pool_limits limits = {},
                                         step_poll const& poll = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/shapes.ipp>
#endif

#endif
