// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_IMPROVE_TWO_ENDED_IPP
#define SUBLET_PLACEMENT_IMPL_IMPROVE_TWO_ENDED_IPP

#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/improve_two_ended.hpp>
#include <sublet/placement/stack_two_ended.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

class stacking_climber {
public:
    stacking_climber(std::vector<symbolic_buffer> const& buffers, std::vector<batch_goal> const& goals,
                     byte_count most, std::uint64_t seed)
        : buffers_(buffers), goals_(goals), most_(most), random_(seed)
    {
    }

    two_ended_stacking stack(std::vector<buffer_id> order)
    {
        two_ended_stacking result{std::move(order), {}, 1};
        result.start = stack_two_ended(buffers_, result.order, most_);
        for (batch_goal const& goal : goals_) {
            buffer_id const top = highest(result, goal.batch);
            double const times =
                static_cast<double>(end_of(result, top, goal.batch)) / static_cast<double>(goal.bytes);
            if (times <= result.worst) continue;
            result.worst = times;
            worst_batch_ = goal.batch;
            worst_top_ = top;
        }
        return result;
    }

    /// Those that the highest of the worst batch stands on, and itself. Asked after stack().
    std::vector<buffer_id> pillar(two_ended_stacking const& all) const
    {
        std::vector<buffer_id> chain{worst_top_};
        for (std::size_t turn = all.order.size(); turn != 0;) {
            while (all.order[turn - 1] != chain.back()) --turn;
            --turn;
            buffer_id below = no_buffer;
            byte_count most = 0;
            for (std::size_t i = 0; i != turn; ++i) {
                buffer_id const b = all.order[i];
                if (!overlaps(buffers_[b].life, buffers_[chain.back()].life)) continue;
                byte_count const end = end_of(all, b, worst_batch_);
                if (end <= most) continue;
                most = end;
                below = b;
            }
            if (below == no_buffer) break;
            chain.push_back(below);
        }
        return chain;
    }

    std::size_t below(std::size_t n)
    {
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(random_ >> 33) % n;
    }

private:
    byte_count end_of(two_ended_stacking const& all, buffer_id id, byte_count batch) const
    {
        return align_up(all.start[id].at(batch), buffers_[id].alignment) + buffers_[id].size.at(batch);
    }
    buffer_id highest(two_ended_stacking const& all, byte_count batch) const
    {
        buffer_id top = all.order.front();
        for (buffer_id b : all.order)
            if (end_of(all, b, batch) > end_of(all, top, batch)) top = b;
        return top;
    }

    std::vector<symbolic_buffer> const& buffers_;
    std::vector<batch_goal> const& goals_;
    byte_count most_;
    std::uint64_t random_;
    byte_count worst_batch_ = 1;
    buffer_id worst_top_ = 0;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL two_ended_stacking improve_two_ended(std::vector<symbolic_buffer> const& buffers,
                                                 std::vector<buffer_id> order,
                                                 std::vector<batch_goal> const& goals, byte_count most,
                                                 std::uint64_t moves, std::uint64_t seed)
{
    detail::stacking_climber climber(buffers, goals, most, seed);
    two_ended_stacking best = climber.stack(std::move(order));
    if (best.worst <= 1) return best;
    std::vector<buffer_id> pillar = climber.pillar(best);
    for (; moves != 0 && best.worst > 1; --moves) {
        std::size_t const n = best.order.size();
        std::size_t from = climber.below(n), to = climber.below(n);
        if (climber.below(5) != 0) {
            buffer_id const moved = pillar[climber.below(pillar.size())];
            for (from = 0; best.order[from] != moved;) ++from;
        }
        std::vector<buffer_id> turns = best.order;
        buffer_id const moved = turns[from];
        for (; from < to; ++from) turns[from] = turns[from + 1];
        for (; from > to; --from) turns[from] = turns[from - 1];
        turns[to] = moved;
        two_ended_stacking next = climber.stack(std::move(turns));
        if (next.worst > best.worst) continue;
        best = std::move(next);
        if (best.worst > 1) pillar = climber.pillar(best);
    }
    return best;
}

} // namespace sublet

#endif
