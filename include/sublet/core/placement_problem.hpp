// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_PLACEMENT_PROBLEM_HPP
#define SUBLET_CORE_PLACEMENT_PROBLEM_HPP

/// The input of offset placement (buffers with sizes, live ranges, pools, pins and gaps) and its result:
/// offsets, and for each pool the height and a proved lower bound. Minimising the height is NP-hard (dynamic
/// storage allocation; Garey and Johnson, 1979, problem SR2); the most bytes live at one position are a
/// lower bound, and often reached.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- problem ---------------------------------------------------------------------------------------------

/// Dynamic storage allocation: rectangles with fixed horizontal position that may slide up and down.
///
///     offset
///       96 |     +-------+
///          |     |   c   |             width   the live range of a buffer, fixed
///       64 |---+ +---+---+             height  its size
///          | a |     | d |             below   its offset: the unknown
///       32 |---+-----+ .-|             the highest top is the height of the arena
///          |    b    |_| |
///        0 +---------+---+--> position
///
/// During a gap, none of a buffer's bytes matter, or only a window of them (below d: the bytes that it leaves
/// free at first), and others may lie there. A search enumerates *stackings*: in some order, each buffer lies
/// above all earlier ones that it is live with, by the distance that their windows require. If each buffer
/// has a byte that matters whenever any of its bytes do, every placement is a stacking: of two buffers, the
/// one with the higher byte is above the other at all positions. A buffer with windows that have no byte in
/// common may be *threaded* through others: above one of them now and below it later. Heuristics find such
/// placements, but no search exhausts them: bounds on them come only from live bytes, pins and sizes.
///
/// If several threads use the buffers, vector clocks may replace the live ranges: one counter a thread, where
/// each buffer begins and where it ends. v may take over the bytes of u exactly if no counter of the end of u
/// is above that of the begin of v; if neither may take over those of the other, they conflict.
///
///     thread 0   0    1    2    3    4             a   begin 0:0   end 2:1
///       a        [=========)                       b   begin 0:1   end 3:3
///       b        [==============)                  c   begin 2:3   end 4:5
///       c                  [=========)
///     thread 1   0    1    2    3    4    5        c may take over a: 2:1 is nowhere above 2:3
///       a        [====)                            b conflicts with c, since 3 > 2, and with a, since 2 > 0
///       b             [=========)
///       c                       [=========)        clocks of a single thread are live ranges
///
/// A problem that repeats every `period` positions is one round of it: a buffer that the next round still
/// needs ends behind the period. In every round it has the same offset, so it lives at most one round.
///
///     period 6   0   1   2   3   4   5 │ 6   7       a lives at 4, at 5 and, of the next round, at 0
///       a        ====)           [===========)
///       b            [===========)                   b may take over the bytes of a, and c those of neither
///       c                [===========)

namespace sublet {

/// Buffers of one pool must not overlap in bytes while they are live together.
struct placement_problem {
    /// What is to be placed.
    struct buffer {
        live_range life;     ///< the positions at which it occupies its bytes; ignored if there are clocks
        byte_count size = 0; ///< 0: it needs no offset
        byte_count alignment = 1; ///< >= 1, any integer
        pool_id pool = 0;         ///< the pool to lie in, if it has no choices
        byte_count pinned = no_offset;    ///< the required offset
        byte_count preferred = no_offset; ///< the offset to take if that costs no height
        std::uint32_t kind = 0; ///< in a pool with pages: it shares none with buffers of other kinds
    };

    /// During `when` only the bytes [begin, end) of the buffer matter, relative to its offset; none if the
    /// range is empty. Gaps of a buffer do not overlap; parts outside of its live range are ignored.
    struct gap {
        buffer_id buffer = no_buffer; ///< the buffer with the gap
        live_range when;              ///< the positions of the gap
        byte_count begin = 0;         ///< the first byte that matters then
        byte_count end = 0;           ///< behind the last one
    };

    /// `buffer` lies `distance` bytes above `anchor`. Both are parts of one piece of storage: they may
    /// overlap each other, and at each position the storage occupies all bytes from the lowest to the
    /// highest of its live parts.
    struct colocation {
        buffer_id buffer = no_buffer; ///< the upper part
        buffer_id anchor = no_buffer; ///< the part that it is measured from
        byte_count distance = 0;      ///< in bytes, from begin to begin
    };

    /// `buffer` may be in `pool`, at a cost. A buffer without choices is in its own pool, at no cost; of
    /// colocated buffers the anchor chooses.
    struct choice {
        buffer_id buffer = no_buffer; ///< the buffer that may choose
        pool_id pool = 0;             ///< a pool that it may be in
        byte_count cost = 0;          ///< what is added up, in any unit
    };

    /// Two buffers of one pool that share a byte pay `cost`, though they are never live together: a reuse of
    /// bytes that makes something wait. Within the capacity, the sum of what is paid is the least that is
    /// found, and then the height. Several penalties of two buffers add up.
    struct penalty {
        buffer_id buffer = no_buffer; ///< one of them
        buffer_id other = no_buffer;  ///< the other one
        byte_count cost = 0;          ///< in any unit; `no_limit`: they never share a byte
    };

    /// Vector clocks instead of live ranges. A buffer with an end equal to its begin needs no bytes.
    struct clock_table {
        std::uint32_t threads = 0; ///< 0: there are none, and `life` counts; otherwise `life` is ignored
        std::vector<std::uint32_t> begin; ///< by buffer, then by thread
        std::vector<std::uint32_t> end;   ///< likewise; no counter is below that of the begin
    };

    table<buffer_id, placement_problem::buffer> buffers; ///< numbered from 0
    /// Each that a buffer or a choice names; none: no pool has limits.
    table<pool_id, pool_limits> pools = {};
    std::vector<placement_problem::gap> gaps = {}; ///< in any order
    std::vector<placement_problem::colocation> colocated = {}; ///< in any order
    std::vector<placement_problem::choice> choices = {};       ///< in any order
    placement_problem::clock_table clocks = {}; ///< not together with gaps, colocations or a period
    /// Positions of a round, of which one follows another; 0: there is a single one. Every buffer with bytes
    /// begins in [0, period), and ends at most a period later; gaps, too, count on behind the period.
    std::uint32_t period = 0;
    /// Pairs of one pool, in any order: while both are live they have no bytes in one bank of the pool
    /// (pool_limits::bank). Parts of one storage are in no pair.
    std::vector<std::pair<buffer_id, buffer_id>> apart = {};
    /// In any order. Not together with clocks, choices, colocations, windows, a period, or old places; nor in
    /// a pool with a largest block, a guard, reserved ranges or pages, or with pairs that are kept apart.
    std::vector<placement_problem::penalty> penalties = {};
};

// --- result ----------------------------------------------------------------------------------------------

/// The offsets of a problem, with the height, the bound and the proof of each pool.
///
///     optimal      the height equals the proved bound (with objective::fit: it fits the capacity)
///     feasible     fits its pools, and is `height - lower_bound` above the proved bound
///     limit        does not fit, and infeasibility is not proved: the budget ended, or windows let buffers
///                  be threaded through each other (problem.hpp)
///     infeasible   the proved bound exceeds the capacity: nothing fits
///
/// A pool that penalties name is optimal if what is paid is the proved bound on that, and otherwise feasible
/// if it fits: whether its height is the least for what is paid is not proved.
///
/// The result of place() converts to false with the last two: the error names the first such pool, and what
/// does not fit. The offsets are then those of the lowest placement found, unless pins or parts contradict
/// each other. checking/check_placement.hpp checks a result; it shares no code with placement.
struct placement : verdict {
    /// Why no placement of a pool is lower. Buffers that are live together have the guard of the pool between
    /// them, and where ranges are reserved, `bytes` is where those end that lie outside of these.
    struct proof {
        /// The kinds of proof that no placement of a pool is lower than `bytes`.
        enum class reason : std::uint8_t {
            nothing,        ///< the bound is 0
            live_bytes,     ///< the parts of buffers live at `position` (of `thread`) have `bytes` bytes
            antichain,      ///< by clocks `buffers`, of `bytes` bytes in all, conflict with each other
            top_of_pin,     ///< `buffers[0]` ends there: by its pin or by its size
            exhausted,      ///< search or padding: no stacking of `buffers` is lower; they cannot be threaded
            given,          ///< the caller gave the bound
            pin_misaligned, ///< impossible: the pin of `buffers[0]` violates its alignment
            over_block,     ///< impossible: `buffers[0]`, from its pin on, is larger than the largest block
            pins_clash,     ///< impossible: `buffers[0]` and `buffers[1]` are pinned onto each other
            parts_clash, ///< impossible: pins or distances of the colocated `buffers[0]` and `[1]` contradict
            pin_reserved ///< impossible: the pin of `buffers[0]` leads into a reserved range
        };

        placement::proof::reason kind = placement::proof::reason::nothing; ///< the kind of proof
        byte_count bytes = 0; ///< `no_limit`: no height is possible
        position_id position = 0;            ///< where the bytes are live, for `live_bytes`
        std::vector<buffer_id> buffers = {}; ///< small: with `exhausted` minimal, unless timed out
        std::uint32_t thread = 0;            ///< with clocks: the thread that counts to `position`
    };

    /// What is asked for.
    enum class objective : std::uint8_t {
        minimize, ///< as low as possible
        fit       ///< within the capacities: whatever fits is optimal
    };

    /// Options that are not in the problem.
    struct question {
        placement::objective objective = placement::objective::minimize; ///< what is asked for
        std::span<byte_count const> previous = {}; ///< old offsets by buffer; `no_offset` or missing: none
    };

    /// How good a placement is, from the best to the worst.
    enum class outcome : std::uint8_t { optimal, feasible, limit, infeasible };

    /// The result for one pool.
    struct pool_result {
        byte_count height = 0;      ///< the end of its highest buffer: the bytes of its arena
        byte_count lower_bound = 0; ///< the `bytes` of the proof, if a placement exists
        position_id peak_position =
            0;                      ///< the first with the most live bytes; 0 with clocks of several threads
        std::uint32_t packings = 0; ///< orders tried; the fast ones at first count as one
        std::uint64_t nodes = 0;    ///< of the exact search
        placement::proof proof = {};                             ///< of the lower bound
        placement::outcome status = placement::outcome::optimal; ///< how good it is
        std::vector<memory_plan::block> blocks = {}; ///< ascending, if the pool has a largest block
        byte_count penalty = 0;                      ///< what its buffers pay
        byte_count penalty_bound = 0; ///< proved: they pay no less within the capacity; 0 if they do not fit
    };

    table<buffer_id, byte_count> offset = {};          ///< `no_offset` if it needs no bytes, or has no place
    table<pool_id, placement::pool_result> pools = {}; ///< of each pool
    table<buffer_id, pool_id> pool_of = {};            ///< if there were choices; else empty
    placement::outcome status = placement::outcome::optimal; ///< the worst of all pools
    pool_id pool = 0;                                        ///< the first with that status
    byte_count cost = 0;                                     ///< of the chosen pools
    byte_count cost_bound = 0;                               ///< with every buffer in its cheapest pool
    byte_count penalty = 0;                                  ///< the sum over all pools
    byte_count penalty_bound = 0;                            ///< likewise
    byte_count moved_bytes = 0; ///< relative to the previous placement, if one was given
    bool is_cut_short = false;  ///< place_concurrently(): the visits ended before all orders were tried
    bool is_timed_out = false;  ///< a time limit or a stop request may have changed the result
};

} // namespace sublet

#endif
