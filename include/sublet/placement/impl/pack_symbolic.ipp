// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PACK_SYMBOLIC_IPP
#define SUBLET_PLACEMENT_IMPL_PACK_SYMBOLIC_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/placement/best_packing.hpp>
#include <sublet/placement/fit_two_ended.hpp>
#include <sublet/placement/improve.hpp>
#include <sublet/placement/improve_two_ended.hpp>
#include <sublet/placement/pack_symbolic.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/stack_two_ended.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

/// So many buffers are stacked again, all orders together, to improve one; fewer if they are few.
inline constexpr std::size_t stacked_buffers = 1'000'000;

SUBLET_DECL std::vector<byte_count> sampled_batches(byte_count most)
{
    byte_count middle = 1;
    while (middle < most / middle) middle *= 2;
    std::vector<byte_count> batches{1};
    for (byte_count batch : {middle, most})
        if (batch > batches.back()) batches.push_back(batch);
    return batches;
}

/// Each batch by itself, without regard to capacities.
SUBLET_DECL std::vector<batch_sample> pack_samples(std::vector<symbolic_buffer> const& buffers,
                                                   byte_count most, pack_options const& options)
{
    std::vector<batch_sample> samples;
    for (byte_count batch : sampled_batches(most)) {
        placement_problem problem;
        for (symbolic_buffer const& b : buffers)
            problem.buffers.push_back({b.life, b.size.at(batch), b.alignment, b.pool});
        samples.push_back({batch, pack(problem, options)});
    }
    return samples;
}

/// The buffers of one pool, and the best starts so far.
class symbolic_pool {
public:
    symbolic_pool(std::vector<symbolic_buffer> const& buffers, pool_id pool,
                  std::vector<batch_sample> const& samples, byte_count most)
        : buffers_(buffers), pool_(pool), samples_(samples), most_(most)
    {
        for (buffer_id b = 0; b != buffers.size(); ++b)
            if (buffers[b].pool == pool) (buffers[b].size.is_scaled() ? scaled_ : fixed_).push_back(b);
    }

    bool is_empty() const { return fixed_.empty() && scaled_.empty(); }

    void pack_apart()
    {
        for (batch_sample const& sample : samples_) {
            auto const below = order_of(fixed_, sample), above = order_of(scaled_, sample);
            auto lower = stack_two_ended(buffers_, below, most_);
            auto const upper = stack_two_ended(buffers_, above, most_, height_of(lower, below));
            for (buffer_id b : above) lower[b] = upper[b];
            offer(std::move(lower));
        }
    }

    void pack_together()
    {
        for (batch_sample const& sample : samples_) offer(stack_two_ended(buffers_, merged(sample), most_));
        if (is_done()) return;
        for (batch_sample const& sample : samples_) {
            auto const below = order_of(fixed_, sample), above = order_of(scaled_, sample);
            if (below.empty() || above.empty()) break;
            offer(stack_two_ended(buffers_, joined(below, above), most_));
            offer(stack_two_ended(buffers_, joined(above, below), most_));
        }
        bool const are_few = fixed_.size() + scaled_.size() <= few_to_look_at;
        for (batch_sample const& sample : samples_) {
            if (is_done() || !are_few) break;
            offer(fit_two_ended(buffers_, merged(sample), most_));
            auto const by_size = order_by_size(sample.batch);
            offer(fit_two_ended(buffers_, by_size, most_));
        }
        if (!is_done()) improve();
    }

    void put(symbolic_packing& result) const
    {
        for (buffer_id b = 0; b != buffers_.size(); ++b)
            if (buffers_[b].pool == pool_) result.start[b] = best_[b];
        auto const all = joined(fixed_, scaled_);
        result.arena[pool_] = height_of(best_, all);
    }

private:
    using ids = std::vector<buffer_id>;

    static ids joined(ids first, ids const& then)
    {
        for (buffer_id b : then) first.push_back(b);
        return first;
    }
    template <class Key>
    static ids sorted(ids const& some, Key key)
    {
        std::vector<keyed> items;
        for (buffer_id b : some) items.push_back({key(b), 0, b});
        sort_keyed(items);
        ids order;
        for (keyed const& item : items) order.push_back(item.who);
        return order;
    }
    static ids order_of(ids const& some, batch_sample const& sample)
    {
        return sorted(some, [&](buffer_id b) { return sample.own.offset[b]; });
    }
    ids merged(batch_sample const& sample) const { return order_of(joined(fixed_, scaled_), sample); }
    ids order_by_size(byte_count batch) const
    {
        return sorted(joined(fixed_, scaled_),
                      [&](buffer_id b) { return falling(buffers_[b].size.at(batch)); });
    }

    /// Who starts lower does so for every batch, so in the order of starts for one nobody comes to lie
    /// higher.
    void improve()
    {
        std::vector<batch_goal> goals;
        for (batch_sample const& sample : samples_)
            goals.push_back({sample.batch, sample.own.pools[pool_].height});
        byte_count const batch = samples_[samples_.size() / 2].batch;
        ids const all = joined(fixed_, scaled_);
        ids const order = sorted(all, [&](buffer_id b) { return best_[b].at(batch); });
        std::uint64_t const moves = smaller(64 * all.size(), stacked_buffers / all.size());
        offer(improve_two_ended(buffers_, order, goals, most_, moves).start);
    }

    affine_bytes height_of(std::vector<affine_bytes> const& start, ids const& some) const
    {
        affine_bytes height;
        for (buffer_id id : some) {
            symbolic_buffer b = buffers_[id];
            b.start = start[id];
            height = least_above(height, b.top(), most_);
        }
        return height;
    }

    /// Keep what is nearest to what one batch alone needs, where it is farthest.
    void offer(std::vector<affine_bytes> start)
    {
        double worst = 1;
        for (batch_sample const& sample : samples_) {
            byte_count height = 0;
            for (buffer_id id = 0; id != buffers_.size(); ++id) {
                symbolic_buffer b = buffers_[id];
                if (b.pool != pool_) continue;
                b.start = start[id];
                height = larger(height, checked_add(b.offset_at(sample.batch), b.size.at(sample.batch)));
            }
            double const ratio =
                static_cast<double>(height) / static_cast<double>(sample.own.pools[pool_].height);
            if (ratio > worst) worst = ratio;
        }
        if (!best_.empty() && worst >= worst_) return;
        worst_ = worst;
        best_ = std::move(start);
    }
    bool is_done() const { return worst_ <= 1; }

    std::vector<symbolic_buffer> const& buffers_;
    pool_id pool_;
    std::vector<batch_sample> const& samples_;
    byte_count most_;
    ids fixed_, scaled_; // ascending
    std::vector<affine_bytes> best_;
    double worst_ = 0; // of `best_`: how many times as high as it would be alone
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL symbolic_packing pack_symbolic(std::vector<symbolic_buffer> const& buffers, byte_count most,
                                           batch_mixing mixing, pack_options const& options)
{
    symbolic_packing result;
    result.start.assign(buffers.size(), {});
    result.samples = detail::pack_samples(buffers, most, options);
    result.arena.assign(result.samples.back().own.pools.size(), {});
    for (pool_id p = 0; p != result.arena.size(); ++p) {
        detail::symbolic_pool pool(buffers, p, result.samples, most);
        if (pool.is_empty()) continue;
        if (mixing == batch_mixing::apart) pool.pack_apart();
        else pool.pack_together();
        pool.put(result);
    }
    return result;
}

} // namespace sublet

#endif
