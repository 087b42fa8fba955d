// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SHAPES_HPP
#define SUBLET_PLACEMENT_DETAIL_SHAPES_HPP

/// A placement problem in the form that the algorithms work on: compressed time, joined buffers, a bound.
/// Included by all of placement/.

#include <sublet/detail/sorting.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- phase -----------------------------------------------------------------------------------------------

/// Offsets that are allowed at regular distances, and those that two such rules have in common.
///
///     multiples of 4, less 1          3       7      11      15      19      23
///     multiples of 6, less 1              5          11              17      23
///     both                                           11                      23     11 modulo 12
///
/// A buffer that lies 1 above the origin of a shape and is aligned to 4 allows the shape 3, 7, 11 ... Two
/// rules are either incompatible or one again; and if of several each two are compatible, all are (the
/// Chinese remainder theorem).

namespace sublet::detail {

/// Offsets that are `phase` modulo `alignment`.
struct residue_class {
    byte_count alignment = 1;
    byte_count phase = 0; ///< below the alignment
    friend constexpr bool operator==(residue_class const&, residue_class const&) = default;
};

/// Where the lowest part of something may be whose part at `distance` is aligned.
[[nodiscard]] constexpr residue_class aligned_origins(byte_count distance, byte_count alignment) noexcept
{
    byte_count const past = distance % alignment;
    return {alignment, past == 0 ? 0 : alignment - past};
}

using sublet::align_up; // and for such offsets:

/// The lowest of them at or above `offset`; `no_offset` beyond 64 bits.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, residue_class const& allowed) noexcept
{
    if (offset <= allowed.phase) return allowed.phase;
    byte_count const up = align_up(offset - allowed.phase, allowed.alignment);
    return up != no_offset && sum_fits(up, allowed.phase) ? up + allowed.phase : no_offset;
}

/// Reduce `one` to the offsets that `other` allows too. False if there are none; then `one` stays.
///
/// Complexity: O(log alignment) steps of Euclid's algorithm, and as many additions.
/// Throws:     precondition_error if the common alignment reaches 2^62.
[[nodiscard]] constexpr bool restrict_to(residue_class& one, residue_class const& other)
{
    if (one.alignment % other.alignment == 0) return one.phase % other.alignment == other.phase;
    // inverse * one.alignment is divisor, modulo other.alignment.
    std::int64_t inverse = 1, next_inverse = 0;
    byte_count divisor = one.alignment, next = other.alignment;
    while (next != 0) {
        auto const times = static_cast<std::int64_t>(divisor / next);
        std::int64_t const after = inverse - times * next_inverse;
        inverse = next_inverse;
        next_inverse = after;
        byte_count const rest = divisor % next;
        divisor = next;
        next = rest;
    }
    byte_count const steps = other.alignment / divisor; // of `one`, after which `other` repeats
    byte_count const common = checked_multiply(one.alignment, steps);
    SUBLET_EXPECTS(common < byte_count{1} << 62, "sublet: a common alignment is too large");
    byte_count const from = one.phase % other.alignment;
    byte_count const missing =
        other.phase >= from ? other.phase - from : other.alignment - from + other.phase;
    if (missing % divisor != 0) return false;
    // step = missing / divisor * inverse modulo steps, doubled and added so that no product is too large.
    byte_count factor = missing / divisor % steps, step = 0;
    auto const period = static_cast<std::int64_t>(steps);
    byte_count addend = static_cast<byte_count>((inverse % period + period) % period);
    for (; factor != 0; factor /= 2) {
        if (factor % 2 != 0) step = (step + addend) % steps;
        addend = addend * 2 % steps;
    }
    one.phase += one.alignment * step;
    one.alignment = common;
    return true;
}

// --- pieces ----------------------------------------------------------------------------------------------

/// The rectangles that something to be placed is made of: one at a position, one after the other.
///
///     a buffer   with a gap   and with a window       two at fixed distance: from the lowest
///     +-------+  +--+   +--+  +--+   +--+             byte to the highest at each position
///     |       |  |  |   |  |  |  +---+  |                +-----+            +--+--+
///     +-------+  +--+   +--+  |      |  |             +--+--+  |         +--+  |  +--+
///                             +------+--+             +-----+--+   ->    +--+--+--+--+
///
/// Then positions are replaced by their ranks among those where a piece begins or ends: what overlaps stays
/// as it is, and no table over positions is longer than twice the number of pieces.

/// The bytes [begin, end) above a shape's origin, during `when`.
struct shape_piece {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
};

/// {buffer, begin, index} of all gaps, ascending.
///
/// Throws: precondition_error for a gap of no buffer.
[[nodiscard]] std::vector<sort_key> gaps_in_order(placement_problem const& problem);

/// Append what of a buffer is solid: its life without its gaps, and their windows.
///
/// Complexity: O(log gaps), and as many steps as the buffer has gaps.
/// Throws:     precondition_error for a window outside of the buffer, and for gaps that meet.
void append_pieces(placement_problem const& problem, std::vector<sort_key> const& gaps, buffer_id id,
                   byte_count distance, std::vector<shape_piece>& pieces);

/// Replace pieces that overlap in time by one at a position: from the lowest byte to the highest.
///
/// The pieces paint the positions between two of their begins and ends, and who paints first stays: the
/// lowest begins, then, in a second round, the highest ends.  O(n log n)
void merge_pieces(std::vector<shape_piece>& pieces);

/// Replace the positions of `pieces` by their ranks, and return the positions by rank. Where positions are
/// dense they are counted, otherwise sorted.
[[nodiscard]] std::vector<step_id> rank_positions(std::vector<shape_piece>& pieces);

// --- colocated -------------------------------------------------------------------------------------------

/// Who is one piece of storage with whom, and how far above the lowest of them.
///
///     b 8 above a, b 16 above c           c 0
///                                         a 8
///     |--8--|--8--|                       b 16
///     c     a     b
///
/// Buffers are joined to groups by walking from one of each to all that are colocated with it, adding up
/// distances on the way. Whoever is come by twice has to be found at the same height.

/// A buffer in its shape.
struct shape_part {
    std::uint32_t shape = 0;
    buffer_id buffer = no_buffer;
    byte_count distance = 0; ///< above the shape's origin
};

struct colocated_groups {
    std::vector<std::uint32_t> first{0}; ///< by group: its first part; and one more
    std::vector<shape_part> parts;       ///< `shape` is the group; not those of no bytes or no life
    std::vector<sort_key> inconsistent;  ///< ascending {group, one, other}: not at the distance asked for
};

/// Groups in the order in which `members` names the first of each, which is where its parts begin.
///
/// Requires:   members are distinct; whoever needs bytes and is colocated with a member is one.
/// Ensures:    the lowest part of each group is at distance 0. Who needs no bytes is no part, but passes
///             distances on.
/// Complexity: O(members) if nothing is colocated, else O(buffers + colocations).
/// Throws:     precondition_error for colocated buffers that do not exist or are not both members, and for
///             distances that reach 2^62.
[[nodiscard]] colocated_groups group_colocated(placement_problem const& problem,
                                               std::vector<buffer_id> const& members);

// --- shapes ----------------------------------------------------------------------------------------------

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
/// position and one after the other (pieces), an origin that is `phase` modulo `alignment` (phase),
/// and perhaps a pin; it may be several buffers (colocated).
///
/// Two shapes are told apart by a single distance in each direction, reach(): how far the origin of the one
/// above must be from that of the one below.

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
struct shape_separation {
    bool meets = false;
    std::int64_t distance = 0;
};

/// Complexity: O(pieces of both).
[[nodiscard]] shape_separation min_separation(placement_shapes const& all, std::uint32_t below,
                                              std::uint32_t above);

/// Whether b can be above a piece of a and below another one: the distances at which they clash have a hole.
bool can_interleave(placement_shapes const& all, std::uint32_t a, std::uint32_t b);

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
    return align_up(offset, residue_class{shape.alignment, shape.phase});
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

// --- bound -----------------------------------------------------------------------------------------------

/// What no placement of some shapes goes below, and why.
///
///     bytes  |      +--+
///     alive  |  +---+  +--+        at one position so many bytes are alive that they need all of this,
///            |--+         +---     however they are stacked
///            +---------^------> position
///
/// Or one shape alone reaches that high: by its pin, or because it is so large. Neither knows of alignment:
/// what it costs between two shapes is for those to find who place them.

struct placement_bound {
    byte_count bytes = 0;
    std::vector<byte_count> live_bytes = {}; ///< by rank of position
    step_id peak_position = 0;               ///< the first rank with the most bytes alive
    placement::proof::reason kind = placement::proof::reason::nothing; ///< or live_bytes, or top_of_pin
    std::uint32_t shape = ~std::uint32_t{0}; ///< top_of_pin: the first that reaches as high
};

/// The lower bound for the shapes of one pool.
///
/// Complexity: O(pieces + positions).
/// Throws:     precondition_error if 2^64 - 1 bytes or more are alive at once, or a shape leads beyond that.
[[nodiscard]] placement_bound lower_bound(placement_shapes const& all);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/shapes.ipp>
#endif

#endif
