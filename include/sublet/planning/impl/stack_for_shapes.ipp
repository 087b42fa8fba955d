// SPDX-License-Identifier: BSL-1.0

/// stack_for_shapes(): a sequence of shapes that are spread over the ranges is walked, 128 at a time, and from
/// the highest of these uphill, one dimension after another, by smaller and smaller parts of its size.

#include <sublet/core/plan.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/stack_for_shapes.hpp>
#include <sublet/planning/detail/stages.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sublet::detail {

SUBLET_DECL unsized_buffers without_sizes(symbolic_plan const& plan, std::size_t pools)
{
    unsized_buffers made;
    for (symbolic_plan::buffer const& b : plan.buffers) {
        SUBLET_EXPECTS(b.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       b.root, b.pool);
        pools = larger(pools, std::size_t{b.pool} + 1);
        made.layers.push_back({.pool = b.pool, .alignment = b.alignment, .pinned = b.pinned});
        made.ranges.push_back(b.life);
        made.end_buffer();
    }
    made.pools = static_cast<std::uint32_t>(pools);
    return made;
}

/// Sizes of the buffers of a plan, and how high its stacking is, for single shapes.
class shape_heights {
public:
    shape_heights(symbolic_plan const& plan, stacked_reading& reading) : plan_(plan), reading_(reading)
    {
        for (symbolic_plan::buffer const& b : plan.buffers) pools_.push_back(b.pool);
        std::sort(pools_.begin(), pools_.end());
        pools_.erase(std::unique(pools_.begin(), pools_.end()), pools_.end());
    }

    [[nodiscard]] std::vector<byte_count> const& sizes_of(shape const& s)
    {
        kinds_.clear();
        for (formula const& size : plan_.sizes) kinds_.push_back(size.is_by_shape() ? no_size : size.at(s));
        sizes_.clear();
        for (symbolic_plan::buffer const& b : plan_.buffers)
            sizes_.push_back(plan_.sizes[b.size].is_by_shape() ? plan_.bytes_at(b.root, s) : kinds_[b.size]);
        return sizes_;
    }
    /// The height of the pool in which it exceeds the bytes that are needed by most, in parts of 2^20 of
    /// these.
    [[nodiscard]] std::uint64_t parts_of_needed(shape const& s)
    {
        if (!plan_.stack.place(sizes_of(s), at_)) return no_limit;
        std::uint64_t worst = 0;
        for (pool_id p : pools_)
            worst = larger(worst, parts_of(at_.bytes[p], reading_.least_bytes(p, sizes_)));
        return worst;
    }

private:
    symbolic_plan const& plan_;
    stacked_reading& reading_;
    std::vector<pool_id> pools_;            // with buffers, ascending
    std::vector<byte_count> kinds_, sizes_; // by formula and buffer
    stacking::offsets at_;
};

/// Finds shapes for which a stacking is high.
class high_shapes {
public:
    high_shapes(symbolic_plan const& plan, stacked_reading& reading, sampled_shapes const& samples,
                std::uint64_t budget)
        : plan_(plan), samples_(samples), left_(budget), heights_(plan, reading)
    {
    }

    [[nodiscard]] shape_heights& heights() { return heights_; }

    /// Of the next 128 of the sequence, the one for which it is highest, and from there uphill; none if it is
    /// at most 0.1 % above the bytes that are needed for each of them.
    [[nodiscard]] std::optional<shape> next()
    {
        most_ = (std::uint64_t{1} << 20) + (std::uint64_t{1} << 10);
        for (shape const& sample : samples_.shapes) most_ = larger(most_, heights_.parts_of_needed(sample));
        highest_.reset();
        for (unsigned i = 0; i != 128; ++i) consider(spread_shape(plan_.dims, ++number_));
        if (highest_) climb();
        return highest_;
    }

private:
    void climb()
    {
        for (byte_count part = 8; part <= 512; part *= 2) // of a size: by how much it changes
            for (std::size_t d = 0; d != plan_.dims.size(); ++d)
                for (bool is_up : {false, true}) {
                    shape one = *highest_;
                    dimension const& its = plan_.dims[d];
                    byte_count const step = larger(one[d] / part / its.stride, byte_count{1}) * its.stride;
                    if (is_up ? its.most - one[d] < step : one[d] - its.least < step) continue;
                    one[d] = is_up ? one[d] + step : one[d] - step;
                    consider(std::move(one));
                }
    }
    void consider(shape&& one)
    {
        if (left_ < plan_.buffers.size()) return;
        left_ -= plan_.buffers.size();
        std::uint64_t const parts = heights_.parts_of_needed(one);
        if (parts <= most_) return;
        if (std::find(samples_.shapes.begin(), samples_.shapes.end(), one) != samples_.shapes.end()) return;
        most_ = parts;
        highest_ = std::move(one);
    }

    symbolic_plan const& plan_;
    sampled_shapes const& samples_;
    std::uint64_t left_; // buffers that are placed
    shape_heights heights_;
    std::uint32_t number_ = 0; // in the sequence
    std::uint64_t most_ = 0;
    std::optional<shape> highest_;
};

SUBLET_DECL void stack_for_shapes(symbolic_plan& plan, unsized_buffers const& buffers,
                                  stacked_reading& reading, symbolic_options const& options,
                                  sampled_shapes& samples, std::vector<stacked_sample>& sized)
{
    bool const by_worst = options.goal == symbolic_options::goal_kind::worst;
    stacking_options const how{.goal = options.goal, .restacked = options.effort.of(4'000'000)};
    high_shapes high(plan, reading, samples, how.restacked / 4);
    for (std::size_t i = 0; i != samples.shapes.size(); ++i)
        sized.push_back({.size = high.heights().sizes_of(samples.shapes[i]), .weight = samples.weights[i]});
    plan.stack = choose_stacking(buffers, reading, sized, how);
    for (unsigned round = 0, low = 0; by_worst && !options.dims.empty() && round != 16 && low != 2; ++round) {
        std::optional<shape> one = high.next();
        low = one ? 0 : low + 1;
        if (!one) continue;
        sized.insert(sized.end() - 1, {.size = high.heights().sizes_of(*one), .weight = 1});
        samples.shapes.insert(samples.shapes.end() - 1, std::move(*one));
        samples.weights.insert(samples.weights.end() - 1, 1);
        plan.stack = choose_stacking(buffers, reading, sized, how, plan.stack);
    }
}

} // namespace sublet::detail
