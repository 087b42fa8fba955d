// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_FIT_TWO_ENDED_IPP
#define SUBLET_PLACEMENT_IMPL_FIT_TWO_ENDED_IPP

#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/fit_two_ended.hpp>
#include <sublet/placement/stack_two_ended.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL std::vector<affine_bytes> fit_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                    std::vector<buffer_id> const& order, byte_count most)
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
