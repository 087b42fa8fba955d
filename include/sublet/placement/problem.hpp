// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PROBLEM_HPP
#define SUBLET_PLACEMENT_PROBLEM_HPP

/// Buffers with sizes and lives to be given offsets, and the offsets.

#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- problem ---------------------------------------------------------------------------------------------

/// Dynamic storage allocation: rectangles that may slide up and down, but not in time.
///
///     offset
///       96 |     +-------+
///          |     |   c   |             width   the life of a buffer, fixed
///       64 |---+ +---+---+             height  its size
///          | a |     | d |             below   its offset: what we look for
///       32 |---+-----+ .-|             the top of the highest one is the arena
///          |    b    |_| |
///        0 +---------+---+--> position
///
/// Not all of a rectangle need be solid. For part of its life nothing of a buffer may matter, or only a
/// window of its bytes (below d: what it leaves free at first), and others may lie there. A search looks for
/// *stackings*: there is an order of the buffers in which each lies above all those before it that it is
/// alive with, as far above as their windows ask for. If each buffer has a byte that matters whenever any of
/// its bytes do, every placement is one: of two, the one whose byte is higher is above the other at all
/// positions. A buffer with windows that have no byte in common may also be *threaded* through others, above
/// one of them now and below it later. Such placements are found where a free gap is looked for, but none
/// are ever exhausted: what is proved there is proved by the bytes alive, by pins and by sizes.
///
/// Finding the lowest arena is NP-hard (Garey and Johnson, 1979, problem SR2); the most bytes alive at one
/// position are a lower bound, and often reached.

namespace sublet {

/// Buffers of one pool whose lives overlap must not overlap in bytes.
struct placement_problem {
    struct buffer {
        live_range life;
        byte_count size = 0;
        byte_count alignment = 1; ///< >= 1, any integer
        pool_id pool = 0;
        byte_count pinned = no_offset;    ///< the offset that it must have
        byte_count preferred = no_offset; ///< the offset that it takes if that costs nothing
    };

    /// During `when` only the bytes [begin, end) of a buffer matter, counted from its offset; none, if they
    /// are none. Gaps of a buffer do not meet; what lies outside of its life says nothing.
    struct gap {
        buffer_id buffer = no_buffer;
        live_range when;
        byte_count begin = 0;
        byte_count end = 0;
    };

    /// `buffer` lies `distance` bytes above `anchor`. Both are parts of one piece of storage: they may
    /// overlap each other, and at each position it holds all bytes from the lowest to the highest of its live
    /// parts.
    struct colocation {
        buffer_id buffer = no_buffer;
        buffer_id anchor = no_buffer;
        byte_count distance = 0;
    };

    /// `buffer` may be in `pool`, at a cost. Who has no choice is in its own pool, for nothing; of colocated
    /// buffers the one that others are anchored to chooses.
    struct choice {
        buffer_id buffer = no_buffer;
        pool_id pool = 0;
        byte_count cost = 0;
    };

    std::vector<placement_problem::buffer> buffers;
    std::vector<pool_limits> pools = {};           ///< by pool id; one not listed has no limits
    std::vector<placement_problem::gap> gaps = {}; ///< in any order
    std::vector<placement_problem::colocation> colocated = {};
    std::vector<placement_problem::choice> choices = {};
};

namespace detail {

/// One more than the highest pool id that the problem names.
/// Throws: precondition_error for a pool id beyond 65535: pools are numbered densely, and there are few.
[[nodiscard]] std::size_t pool_count(placement_problem const& problem);

} // namespace detail

// --- result ----------------------------------------------------------------------------------------------

/// What a placement is returned as: offsets, heights, and for each pool a proof of how low it cannot be.
///
///     optimal      as low as the proof allows: nothing is lower (or: fits, where no more was asked)
///     feasible     fits its pools, and lies `height - lower_bound` above what is proved
///     limit        does not fit, and that nothing fits is not proved: a limit struck, or windows let buffers
///                  be threaded through each other (problem.hpp)
///     infeasible   the proof needs more than the pool has: nothing fits
///
/// Where nothing fits there are offsets nevertheless, of the lowest placement found, unless pins or parts
/// contradict each other. Whoever doubts a result asks checking/check_placement.hpp, which shares no code
/// with what places.

struct placement {
    struct proof {
        /// Why no placement of a pool is lower than `bytes`.
        enum class reason : std::uint8_t {
            nothing,        ///< 0 bytes need no reason
            live_bytes,     ///< the parts of buffers alive at `position` have `bytes` bytes
            top_of_pin,     ///< `buffers[0]` ends there: by its pin, or since it is that large
            exhausted,      ///< search: no stacking of `buffers` is lower, and they cannot be threaded
                            ///< (problem.hpp)
            given,          ///< who asked for a placement knew
            pin_misaligned, ///< never: `buffers[0]` is pinned where alignment forbids
            pins_clash,     ///< never: `buffers[0]` and `buffers[1]` are pinned onto each other
            parts_clash ///< never: what is asked of `buffers[0]` and `[1]`, which are colocated, cannot both
                        ///< be
        };

        placement::proof::reason kind = placement::proof::reason::nothing;
        byte_count bytes = 0; ///< `no_limit`: at no height
        step_id position = 0;
        std::vector<buffer_id> buffers = {}; ///< few: of those that fail together, none can be left out
    };

    enum class objective : std::uint8_t {
        minimize, ///< as low as can be
        fit       ///< within the capacities: whatever fits is optimal
    };

    /// What was asked, where it is not in the problem.
    struct question {
        placement::objective objective = placement::objective::minimize;
        std::span<byte_count const> previous =
            {}; ///< by buffer; `no_offset`, or beyond its end: had no place
    };

    /// From good to bad.
    enum class outcome : std::uint8_t { optimal, feasible, limit, infeasible };

    struct pool_result {
        byte_count height = 0;
        byte_count lower_bound = 0; ///< the `bytes` of the proof, if something fits at all
        step_id peak_position = 0;  ///< the first with the most bytes alive
        std::uint32_t packings = 0; ///< orders tried
        std::uint64_t nodes = 0;    ///< of the search
        placement::proof proof = {};
        placement::outcome status = placement::outcome::optimal;
    };

    std::vector<byte_count> offset = {}; ///< by buffer; `no_offset` if it needs no bytes, or has no place
    std::vector<placement::pool_result> pools = {}; ///< by pool
    std::vector<pool_id> pool_of = {}; ///< by buffer, if there were choices; else it is in its own
    placement::outcome status = placement::outcome::optimal; ///< of all pools the worst
    pool_id pool = 0;                                        ///< the first with that status
    byte_count cost = 0;                                     ///< of the pools chosen
    byte_count cost_bound = 0;                               ///< if all were in their cheapest pools
    byte_count moved_bytes = 0; ///< against the previous placement, if one was given
    bool is_cut_short = false;  ///< place_concurrently(): its visits were spent before its orders were tried
    bool is_timed_out = false;  ///< a clock or a stop request struck: another run may give another answer
};

namespace detail {

/// What height and bound say about a pool; one that cannot be placed at any height is infeasible.
[[nodiscard]] constexpr placement::outcome status_of(byte_count height, byte_count bound,
                                                     byte_count capacity) noexcept
{
    if (bound > capacity || bound == no_limit) return placement::outcome::infeasible;
    if (height > capacity) return placement::outcome::limit;
    return height == bound ? placement::outcome::optimal : placement::outcome::feasible;
}

/// The worst of all pools, and the first that has it.
void set_overall_status(placement& all);

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/problem.ipp>
#endif

#endif
