// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SHAPES_HPP
#define SUBLET_PLACEMENT_DETAIL_SHAPES_HPP

/// The form of a placement problem that the algorithms work on: rigid shapes, that is, rectangles over ranks
/// of positions with a residue class of origins and perhaps a pin; and their lower bound. O(n log n), n =
/// buffers, gaps and colocations.

#include <sublet/detail/sorting.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- residue class ---------------------------------------------------------------------------------------

/// Offsets that are congruent to a phase modulo an alignment, and the intersection of two such classes.
///
///     multiples of 4, less 1          3       7      11      15      19      23
///     multiples of 6, less 1              5          11              17      23
///     both                                           11                      23     11 modulo 12
///
/// A buffer that lies 1 above the origin of a shape and is aligned to 4 allows the shape the origins 3, 7,
/// 11 and so on. The intersection of two classes is empty or again a class; if several are pairwise
/// compatible, all are (Chinese remainder theorem).

namespace sublet::detail {

struct residue_class {
    byte_count alignment = 1;
    byte_count phase = 0; ///< below the alignment
    friend constexpr bool operator==(residue_class const&, residue_class const&) = default;
};

/// Requires: alignment >= 1 (shapes_of() checks all).
[[nodiscard]] constexpr residue_class aligned_origins(byte_count distance, byte_count alignment) noexcept
{
    byte_count const past = distance % alignment; // NOLINT(clang-analyzer-core.DivideZero): it is at least 1
    return {alignment, past == 0 ? 0 : alignment - past};
}

using sublet::align_up; // and for residue classes:

/// The lowest allowed offset at or above `offset`; `no_offset` beyond 64 bits.
[[nodiscard]] constexpr byte_count align_up(byte_count offset, residue_class const& allowed) noexcept
{
    if (offset <= allowed.phase) return allowed.phase;
    byte_count const up = align_up(offset - allowed.phase, allowed.alignment);
    return up != no_offset && sum_fits(up, allowed.phase) ? up + allowed.phase : no_offset;
}

/// Restricts `one` to the offsets that `other` allows too. False if there are none; then `one` is unchanged.
///
/// Complexity: O(log alignment) steps of Euclid's algorithm, and as many additions.
/// Throws:     precondition_error if the common alignment reaches 2^62.
[[nodiscard]] constexpr bool restrict_to(residue_class& one, residue_class const& other)
{
    if (one.alignment % other.alignment == 0) return one.phase % other.alignment == other.phase;
    auto expect_small = [&](byte_count alignment) {
        SUBLET_EXPECTS(alignment < byte_count{1} << 62,
                       "sublet: the alignments % and % have no common multiple below 2^62", one.alignment,
                       other.alignment);
    };
    expect_small(other.alignment);
    // Invariant: inverse * one.alignment is congruent to divisor modulo other.alignment.
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
    byte_count const steps = other.alignment / divisor; // steps of `one` after which `other` repeats
    byte_count const common = checked_multiply(one.alignment, steps);
    expect_small(common);
    byte_count const from = one.phase % other.alignment;
    byte_count const missing =
        other.phase >= from ? other.phase - from : other.alignment - from + other.phase;
    if (missing % divisor != 0) return false;
    // step = missing / divisor * inverse modulo steps, by doubling, so that no product overflows.
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

/// The rectangles of a shape: at most one at each position, ascending in time.
///
///     a buffer   with a gap   and with a window       two at fixed distance: from the lowest
///     +-------+  +--+   +--+  +--+   +--+             byte to the highest at each position
///     |       |  |  |   |  |  |  +---+  |                +-----+            +--+--+
///     +-------+  +--+   +--+  |      |  |             +--+--+  |         +--+  |  +--+
///                             +------+--+             +-----+--+   ->    +--+--+--+--+
///
/// Positions are replaced by their ranks among those where a piece begins or ends: overlaps are unchanged,
/// and there are at most twice as many as pieces.

/// The bytes [begin, end) above a shape's origin, during `when`.
struct shape_piece {
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
};

/// {buffer, begin, index} of the gaps of members, ascending.
///
/// Throws: precondition_error for a gap of no buffer.
[[nodiscard]] std::vector<sort_key> gaps_in_order(placement_problem const& problem,
                                                  std::vector<buffer_id> const& members,
                                                  step_poll const& poll = {});

/// Appends the solid parts of a buffer: its live range without its gaps, and the windows of the gaps. Returns
/// where the gaps of the next buffer begin; `near` is such a number.
///
/// Complexity: O(log gaps) if its gaps are not at `near`, and as many steps as the buffer has gaps.
/// Throws:     precondition_error for a window outside of the buffer, and for gaps that overlap.
std::size_t append_pieces(placement_problem const& problem, std::vector<sort_key> const& gaps, buffer_id id,
                          byte_count distance, std::vector<shape_piece>& pieces, std::size_t near = 0);

/// Replaces pieces that overlap in time by one at a position, from the lowest byte to the highest: paints the
/// intervals between piece ends twice, by rising begin and by falling end; the first paint stays.  O(n log n)
void merge_pieces(std::vector<shape_piece>& pieces);

/// Replaces the positions of `pieces` by their ranks, and returns the positions by rank: by counting sort if
/// positions are dense, else by comparison.
[[nodiscard]] table<position_id, position_id> rank_positions(std::vector<shape_piece>& pieces,
                                                             step_poll const& poll = {});

// --- colocation groups -----------------------------------------------------------------------------------

/// Groups of colocated buffers, and the distance of each buffer above the lowest of its group.
///
///     b 8 above a, b 16 above c           c 0
///                                         a 8
///     |--8--|--8--|                       b 16
///     c     a     b
///
/// A graph search from one buffer of each group adds up distances. A buffer that is reached twice must get
/// the same distance; otherwise the colocations contradict each other.

struct shape_part {
    std::uint32_t shape = 0;
    buffer_id buffer = no_buffer;
    byte_count distance = 0; ///< above the shape's origin
};

struct colocated_groups {
    std::vector<std::uint32_t> first{0}; ///< by group: its first part; and one more
    std::vector<shape_part> parts;       ///< `shape` is the group; without parts of no bytes or no positions
    std::vector<sort_key> inconsistent;  ///< ascending {group, one, other}: contradictory distances
};

/// Groups in the order of their first members, which is also the order of their parts.
///
/// Requires:   members are distinct; every buffer with bytes that is colocated with a member is a member.
/// Ensures:    the lowest part of each group is at distance 0. A buffer without bytes is no part, but passes
///             distances on.
/// Complexity: O(members) if nothing is colocated, else O(buffers + colocations).
/// Throws:     precondition_error for colocated buffers that do not exist or are not both members, and for
///             distances that reach 2^62.
[[nodiscard]] colocated_groups group_colocated(placement_problem const& problem,
                                               std::vector<buffer_id> const& members,
                                               step_poll const& poll = {});

// --- shapes ----------------------------------------------------------------------------------------------

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

// --- bound -----------------------------------------------------------------------------------------------

/// A height that no placement of the shapes goes below, and its reason.
///
///     bytes  |      +--+
///     live   |  +---+  +--+        the bytes live at one position are needed however they are
///            |--+         +---     stacked
///            +---------^------> position
///
/// Or the top of a single shape: its pin plus its size, or its size.
///
/// Or the padding of a common alignment g > 1, which is above all pieces of a position but the highest:
///
///     g = 8   5 + 3 | 13 + 3 | 4       of three shapes of 4, 5 and 13 bytes the one on top is not padded:
///             0       8        24      they need 8 + 16 + 4 = 28 bytes, and 29 with others on top
///
/// All origins and all begins of pieces are multiples of g. So the distance of the begins of two pieces of a
/// position is one, too, and at least the height of the lower one: rounding heights up to multiples of g
/// removes no placement. The sum of the rounded heights is the least end of the highest piece, if that is
/// rounded, too: so the bound is this sum less the most padding of a piece. It holds for every placement, as
/// all pieces of one position are stacked.
struct placement_bound {
    byte_count bytes = 0;
    table<position_id, byte_count> live_bytes = {}; ///< by rank of position
    position_id peak_position = 0;                  ///< the first rank with the most live bytes
    placement::proof::reason kind = placement::proof::reason::nothing; ///< or one of the three
    std::uint32_t shape = no_shape;          ///< for top_of_pin: the first that reaches this high
    std::vector<std::uint32_t> stacked = {}; ///< for exhausted: the shapes of the position, ascending
};

/// Ascending. Sorts parts, and merges them, so that little is done between two questions. Once `poll` has
/// stopped, they may be in any order.  O(n log n)
void sort_in_parts(std::vector<sort_key>& items, step_poll const& poll);

/// Sorts ids by falling key, stable: a radix sort that skips digits in which all keys agree. Once `poll` has
/// stopped, they may be in any order.  O(n * digits that differ)
void sort_descending(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key,
                     step_poll const& poll = {});

/// The largest g such that all origins, and all begins of pieces above them, are multiples of g; 0 without
/// shapes. Pins count as origins since they have the residue of their shape.  O(pieces)
[[nodiscard]] byte_count common_alignment(placement_shapes const& all);

/// Raises the bound to the highest top that a single shape requires. O(shapes)
void raise_to_tops(placement_shapes const& all, placement_bound& bound);

/// Once `poll` has stopped, the bound is valid, but the padding may be missing, and before it the live bytes:
/// then `live_bytes` is empty.
///
/// Complexity: O(pieces + positions); if shapes have a common alignment O(pieces log pieces + positions).
/// Throws:     precondition_error if 2^64 - 1 bytes or more are live at once, or a shape ends beyond that.
[[nodiscard]] placement_bound lower_bound(placement_shapes const& all, step_poll const& poll = {});

// --- stacks ----------------------------------------------------------------------------------------------

/// The least end of the highest piece if the pieces of `some` at one rank are stacked: a bound that counts
/// pins and all alignments, not only the common one.
///
///     a 5 bytes, c 6        alignment 1      order b a d c   0..12  12..17  24..28  28..34
///     b 12 bytes, d 4       alignment 8      order b a c d   0..12  12..17  17..23  24..28     least
///
/// At one position the pieces of every placement are stacked, those that interleave included. In a given
/// order, a lower piece never raises the next one: so of all orders of the same pieces only the lowest end
/// counts, and equal pieces are interchangeable. Pinned pieces come in the order of their pins.
///
/// Source: Held and Karp, "A dynamic programming approach to sequencing problems", Journal of SIAM 10, 1962.
///
/// Requires:   each of `some` has a piece at the rank.
/// Returns:    0 if `work` operations do not suffice, or `poll` has stopped; `no_limit` if they cannot be
///             stacked.
/// Complexity: O(k log k + s c) time, O(k + s) memory, k pieces of c kinds with s sets, which is the product
///             over kinds of one more than their pieces; s c operations, subtracted from `work`.
[[nodiscard]] byte_count least_stack(placement_shapes const& all, std::vector<std::uint32_t> const& some,
                                     position_id rank, std::uint64_t& work, step_poll const& poll = {});

/// Operations of a stack; its table has less than 32 MiB.
inline constexpr std::uint64_t max_stack_work = std::uint64_t{1} << 22;

/// Raises the bound by the stacks of single positions, most live bytes first, while about `work` operations
/// last. Does nothing if no stack can be above the load and its padding: without pins and with one alignment.
///
/// Without pins and alignments the bound of any one position is its load, so mapped sizes (dual feasible
/// functions) and sums of sizes give no more. Nor do two positions: what is live at both comes first. Nor does
/// a linear programme that may cut buffers into rows: rows of one byte fit into the load. Only a search over
/// several positions could, and of the windows that `bench_placement --windows` tries none raises the bound.
///
/// Returns:    whether it raised the bound; then its kind is `exhausted`.
bool raise_by_stacks(placement_shapes const& all, std::uint64_t work, placement_bound& bound,
                     step_poll const& poll = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/shapes.ipp>
#endif

#endif
