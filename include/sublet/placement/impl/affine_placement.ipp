// SPDX-License-Identifier: BSL-1.0

/// Tops are kept for the two ends, a batch of 1 and the largest: what is above another line at both is above
/// it between them. A gap fits if it does at both ends.

#include <sublet/core/internal/affine.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/affine_placement.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <utility>

// --- stack affine ----------------------------------------------------------------------------------------

namespace sublet::detail {

/// The highest top at each position, for a batch of 1 and for the largest.
class affine_skyline {
public:
    struct ends {
        byte_count low = 0;
        byte_count high = 0;
        void raise_to(ends other)
        {
            low = larger(low, other.low);
            high = larger(high, other.high);
        }
    };

    explicit affine_skyline(std::size_t positions)
        : tree_{positions}, highest_(2 * positions), raised_(2 * positions)
    {
    }

    [[nodiscard]] ends over(live_range when) const
    {
        ends most;
        tree_.each(when, [&](std::size_t node) {
            most.raise_to(highest_[node]);
            while ((node /= 2) != 0) most.raise_to(raised_[node]);
        });
        return most;
    }
    void raise(live_range when, ends top)
    {
        tree_.each(when, [&](std::size_t node) {
            raised_[node].raise_to(top);
            for (; node != 0; node /= 2) highest_[node].raise_to(top);
        });
    }

private:
    segment_nodes tree_;
    std::vector<ends> highest_; // by node: of the positions under it
    std::vector<ends> raised_;  // by node: all positions under it
};

SUBLET_DECL table<buffer_id, affine_bytes>
stack_affine(table<buffer_id, symbolic_plan::buffer> const& buffers, std::vector<buffer_id> const& order,
             byte_count most, affine_bytes floor)
{
    std::uint32_t positions = 0;
    for (symbolic_plan::buffer const& b : buffers) positions = larger(positions, +b.life.last);
    affine_skyline tops(positions);
    table<buffer_id, affine_bytes> start(buffers.size());
    for (buffer_id id : order) {
        symbolic_plan::buffer b = buffers[id];
        auto ends = tops.over(b.life);
        ends.raise_to({floor.at(1), floor.at(most)});
        b.start = aligned_start(line_over(ends.low, ends.high, most), b.alignment);
        tops.raise(b.life, {b.top().at(1), b.top().at(most)});
        start[id] = b.start;
    }
    return start;
}

// --- fit affine ------------------------------------------------------------------------------------------

SUBLET_DECL table<buffer_id, affine_bytes> fit_affine(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                                 std::vector<buffer_id> const& order, byte_count most)
{
    struct batch_extremes {
        byte_count start[2], top[2];
    };
    auto is_below = [](byte_count const* a, byte_count const* b) { return a[0] <= b[0] && a[1] <= b[1]; };
    table<buffer_id, affine_bytes> start(buffers.size());
    table<buffer_id, batch_extremes> placed(buffers.size());
    std::vector<buffer_id> by_start, overlapping; // ascending by start for a batch of 1
    for (buffer_id id : order) {
        symbolic_plan::buffer b = buffers[id];
        overlapping.clear();
        for (buffer_id other : by_start)
            if (overlaps(buffers[other].life, b.life)) overlapping.push_back(other);
        batch_extremes own;
        auto move_to = [&](affine_bytes to) {
            b.start = aligned_start(to, b.alignment);
            affine_bytes const top = b.top();
            own = {{b.start.at(1), b.start.at(most)}, {top.at(1), top.at(most)}};
        };
        move_to({});
        for (bool is_clear = false; !is_clear;) {
            is_clear = true;
            for (buffer_id other : overlapping) {
                batch_extremes const& other_ends = placed[other];
                if (is_below(other_ends.top, own.start) || is_below(own.top, other_ends.start)) continue;
                move_to(line_over(larger(own.start[0], other_ends.top[0]),
                                  larger(own.start[1], other_ends.top[1]), most));
                is_clear = false;
            }
        }
        placed[id] = own;
        start[id] = b.start;
        by_start.push_back(id);
        for (std::size_t i = by_start.size() - 1; i != 0 && placed[by_start[i - 1]].start[0] > own.start[0];
             --i) {
            by_start[i] = by_start[i - 1];
            by_start[i - 1] = id;
        }
    }
    return start;
}

// --- improve affine --------------------------------------------------------------------------------------

class hill_climber {
public:
    hill_climber(table<buffer_id, symbolic_plan::buffer> const& buffers, std::vector<batch_goal> const& goals,
                 byte_count most, std::uint64_t seed)
        : buffers_(buffers), goals_(goals), most_(most), random_(seed)
    {
    }

    affine_stacking stack(std::vector<buffer_id> order)
    {
        affine_stacking result{std::move(order), {}, 1};
        result.start = stack_affine(buffers_, result.order, most_);
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

    /// The highest buffer of the worst batch and those stacked below it. Requires: stack() was called.
    std::vector<buffer_id> critical_path(affine_stacking const& all) const
    {
        std::vector<buffer_id> path{worst_top_};
        for (std::size_t position = all.order.size(); position != 0;) {
            while (all.order[position - 1] != path.back()) --position;
            --position;
            buffer_id below = no_buffer;
            byte_count most = 0;
            for (std::size_t i = 0; i != position; ++i) {
                buffer_id const b = all.order[i];
                if (!overlaps(buffers_[b].life, buffers_[path.back()].life)) continue;
                byte_count const end = end_of(all, b, worst_batch_);
                if (end <= most) continue;
                most = end;
                below = b;
            }
            if (below == no_buffer) break;
            path.push_back(below);
        }
        return path;
    }

    std::size_t random_below(std::size_t n)
    {
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return to_size(random_ >> 33) % n;
    }

private:
    byte_count end_of(affine_stacking const& all, buffer_id id, byte_count batch) const
    {
        return align_up(all.start[id].at(batch), buffers_[id].alignment) + buffers_[id].size.at(batch);
    }
    buffer_id highest(affine_stacking const& all, byte_count batch) const
    {
        buffer_id top = all.order.front();
        for (buffer_id b : all.order)
            if (end_of(all, b, batch) > end_of(all, top, batch)) top = b;
        return top;
    }

    table<buffer_id, symbolic_plan::buffer> const& buffers_;
    std::vector<batch_goal> const& goals_;
    byte_count most_;
    std::uint64_t random_;
    byte_count worst_batch_ = 1;
    buffer_id worst_top_ = 0;
};

SUBLET_DECL affine_stacking improve_affine(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                           std::vector<buffer_id> order, std::vector<batch_goal> const& goals,
                                           byte_count most, std::uint64_t moves, std::uint64_t seed)
{
    hill_climber climber(buffers, goals, most, seed);
    affine_stacking best = climber.stack(std::move(order));
    if (best.worst <= 1) return best;
    std::vector<buffer_id> critical_path = climber.critical_path(best);
    for (; moves != 0 && best.worst > 1; --moves) {
        std::size_t const n = best.order.size();
        std::size_t from = climber.random_below(n), to = climber.random_below(n);
        if (climber.random_below(5) != 0) {
            buffer_id const moved = critical_path[climber.random_below(critical_path.size())];
            for (from = 0; best.order[from] != moved;) ++from;
        }
        std::vector<buffer_id> next_order = best.order;
        buffer_id const moved = next_order[from];
        for (; from < to; ++from) next_order[from] = next_order[from + 1];
        for (; from > to; --from) next_order[from] = next_order[from - 1];
        next_order[to] = moved;
        affine_stacking next = climber.stack(std::move(next_order));
        if (next.worst > best.worst) continue;
        best = std::move(next);
        if (best.worst > 1) critical_path = climber.critical_path(best);
    }
    return best;
}

} // namespace sublet::detail
