// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PROBLEM_HPP
#define SUBLET_PLACEMENT_PROBLEM_HPP

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

#include <sublet/live_range.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

struct placement_buffer {
    live_range life;
    byte_count size = 0;
    byte_count alignment = 1; ///< >= 1, any integer
    pool_id pool = 0;
    byte_count pinned = no_offset;    ///< the offset that it must have
    byte_count preferred = no_offset; ///< the offset that it takes if that costs nothing
};

/// During `when` only the bytes [begin, end) of a buffer matter, counted from its offset; none, if they are
/// none. Gaps of a buffer do not meet; what lies outside of its life says nothing.
struct buffer_gap {
    buffer_id buffer = no_buffer;
    live_range when;
    byte_count begin = 0;
    byte_count end = 0;
};

/// `buffer` lies `distance` bytes above `anchor`. Both are parts of one piece of storage: they may overlap
/// each other, and at each position it holds all bytes from the lowest to the highest of its live parts.
struct colocation {
    buffer_id buffer = no_buffer;
    buffer_id anchor = no_buffer;
    byte_count distance = 0;
};

/// `buffer` may be in `pool`, at a cost. Who has no choice is in its own pool, for nothing; of colocated
/// buffers the one that others are anchored to chooses.
struct pool_choice {
    buffer_id buffer = no_buffer;
    pool_id pool = 0;
    byte_count cost = 0;
};

/// Buffers of one pool whose lives overlap must not overlap in bytes.
struct placement_problem {
    std::vector<placement_buffer> buffers;
    std::vector<pool_limits> pools = {}; ///< by pool id; one not listed has no limits
    std::vector<buffer_gap> gaps = {};   ///< in any order
    std::vector<colocation> colocated = {};
    std::vector<pool_choice> choices = {};
};

/// One more than the highest pool id that the problem names.
/// Throws: precondition_error for a pool id beyond 65535: pools are numbered densely, and there are few.
[[nodiscard]] std::size_t pool_count(placement_problem const& problem);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/problem.ipp>
#endif

#endif
