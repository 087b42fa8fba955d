// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_STACK_TWO_ENDED_IPP
#define SUBLET_PLACEMENT_IMPL_STACK_TWO_ENDED_IPP

#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/stack_two_ended.hpp>

#include <cstddef>

namespace sublet::detail {

/// The highest top at each position, for a batch of 1 and for the largest.
class two_ended_skyline {
public:
    struct ends {
        byte_count low = 0;
        byte_count high = 0;
        void rise_to(ends other)
        {
            low = larger(low, other.low);
            high = larger(high, other.high);
        }
    };

    explicit two_ended_skyline(std::size_t positions)
        : leaves_(positions), highest_(2 * positions), raised_(2 * positions)
    {
    }

    [[nodiscard]] ends over(live_range when) const
    {
        ends most;
        each_node(when, [&](std::size_t node) {
            most.rise_to(highest_[node]);
            while ((node /= 2) != 0) most.rise_to(raised_[node]);
        });
        return most;
    }
    void raise(live_range when, ends top)
    {
        each_node(when, [&](std::size_t node) {
            raised_[node].rise_to(top);
            for (; node != 0; node /= 2) highest_[node].rise_to(top);
        });
    }

private:
    template <class Visit>
    void each_node(live_range when, Visit visit) const
    {
        for (std::size_t i = when.first + leaves_, j = when.last + leaves_; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) visit(i++);
            if (j % 2 == 1) visit(--j);
        }
    }

    std::size_t leaves_;
    std::vector<ends> highest_; // by node: of the positions under it
    std::vector<ends> raised_;  // by node: all positions under it
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<affine_bytes> stack_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                      std::vector<buffer_id> const& order, byte_count most,
                                                      affine_bytes floor)
{
    step_id positions = 0;
    for (symbolic_buffer const& b : buffers) positions = larger(positions, b.life.last);
    detail::two_ended_skyline tops(positions);
    std::vector<affine_bytes> start(buffers.size());
    for (buffer_id id : order) {
        symbolic_buffer b = buffers[id];
        auto ends = tops.over(b.life);
        ends.rise_to({floor.at(1), floor.at(most)});
        b.start = detail::aligned_start(line_over(ends.low, ends.high, most), b.alignment);
        tops.raise(b.life, {b.top().at(1), b.top().at(most)});
        start[id] = b.start;
    }
    return start;
}

} // namespace sublet

#endif
