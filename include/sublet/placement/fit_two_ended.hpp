// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FIT_TWO_ENDED_HPP
#define SUBLET_PLACEMENT_FIT_TWO_ENDED_HPP

/// Place buffers whose sizes grow with a batch, one after the other, each into a gap that is there for every
/// batch.
///
///     offset for the largest batch
///        |        [ 64 N ]  above both          x must lie below or above each buffer in the way, the same
///        |  x? ->                               for all batches: it rises from 0 to the top of the first
///        |  [ 100 ]                             that it can lie neither below nor above, and looks again
///        +-----------------------
///
/// There need be no lowest gap: of two starts each may be the lower one for some batch. What is found depends
/// on the order of looking, which is by start for a batch of 1. As x never sinks, whom it has passed it need
/// not pass again.

#include <sublet/affine_bytes.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/stack_two_ended.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// The starts of the buffers of `order`, by buffer; of others they are 0.
///
/// Requires:   `order` names no buffer twice; their sizes are known.
/// Ensures:    of two buffers that are alive together, one starts nowhere below the top of the other, for
///             every batch from 1 to `most`.
/// Complexity: O(n k^2) at worst, about O(n k) as a rule, n = buffers, k = those alive together with one.
/// Throws:     precondition_error if a top reaches 2^64 - 1 for `most`.
[[nodiscard]] inline std::vector<affine_bytes> fit_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                             std::vector<buffer_id> const& order,
                                                             byte_count most)
{
    struct two_ended {
        byte_count start[2], top[2];
    };
    auto is_below = [](byte_count const* a, byte_count const* b) { return a[0] <= b[0] && a[1] <= b[1]; };
    std::vector<affine_bytes> start(buffers.size());
    std::vector<two_ended> placed(buffers.size());
    std::vector<buffer_id> by_start, in_the_way; // by rising start for a batch of 1
    for (buffer_id id : order) {
        symbolic_buffer b = buffers[id];
        in_the_way.clear();
        for (buffer_id other : by_start)
            if (overlaps(buffers[other].life, b.life)) in_the_way.push_back(other);
        two_ended mine;
        auto move_to = [&](affine_bytes to) {
            b.start = detail::aligned_start(to, b.alignment);
            affine_bytes const top = b.top();
            mine = {{b.start.at(1), b.start.at(most)}, {top.at(1), top.at(most)}};
        };
        move_to({});
        for (bool is_clear = false; !is_clear;) {
            is_clear = true;
            for (buffer_id other : in_the_way) {
                two_ended const& its = placed[other];
                if (is_below(its.top, mine.start) || is_below(mine.top, its.start)) continue;
                move_to(
                    line_over(larger(mine.start[0], its.top[0]), larger(mine.start[1], its.top[1]), most));
                is_clear = false;
            }
        }
        placed[id] = mine;
        start[id] = b.start;
        by_start.push_back(id);
        for (std::size_t i = by_start.size() - 1; i != 0 && placed[by_start[i - 1]].start[0] > mine.start[0];
             --i) {
            by_start[i] = by_start[i - 1];
            by_start[i - 1] = id;
        }
    }
    return start;
}

} // namespace sublet

#endif
