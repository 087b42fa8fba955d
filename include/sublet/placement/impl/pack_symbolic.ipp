// SPDX-License-Identifier: BSL-1.0

/// Placements for three batches give orders of the buffers; each order is stacked with sizes that are affine
/// in the batch, and the result that is nearest to the three placements is kept.

#include <sublet/core/internal/affine.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/affine_placement.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/pack_symbolic.hpp>

#include <utility>

namespace sublet::detail {

/// Buffers stacked by improve_affine() in all its moves.
inline constexpr std::size_t max_restacked_buffers = 1'000'000;

SUBLET_DECL std::vector<byte_count> sampled_batches(byte_count most)
{
    byte_count middle = 1;
    while (middle < most / middle) middle *= 2;
    std::vector<byte_count> batches{1};
    for (byte_count batch : {middle, most})
        if (batch > batches.back()) batches.push_back(batch);
    return batches;
}

/// Packs the sizes of each sampled batch alone, ignoring capacities.
SUBLET_DECL std::vector<batch_sample> pack_samples(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                                   byte_count most, pack_options const& options)
{
    std::vector<batch_sample> samples;
    for (byte_count batch : sampled_batches(most)) {
        placement_problem problem;
        for (symbolic_plan::buffer const& b : buffers)
            problem.buffers.push_back({b.life, b.size.at(batch), b.alignment, b.pool});
        samples.push_back({batch, pack(problem, options)});
    }
    return samples;
}

class symbolic_pool {
public:
    symbolic_pool(table<buffer_id, symbolic_plan::buffer> const& buffers, pool_id pool,
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
            auto lower = stack_affine(buffers_, below, most_);
            auto const upper = stack_affine(buffers_, above, most_, height_of(lower, below));
            for (buffer_id b : above) lower[b] = upper[b];
            offer(std::move(lower));
        }
    }

    void pack_together()
    {
        for (batch_sample const& sample : samples_) offer(stack_affine(buffers_, merged(sample), most_));
        if (is_done()) return;
        for (batch_sample const& sample : samples_) {
            auto const below = order_of(fixed_, sample), above = order_of(scaled_, sample);
            if (below.empty() || above.empty()) break;
            offer(stack_affine(buffers_, joined(below, above), most_));
            offer(stack_affine(buffers_, joined(above, below), most_));
        }
        bool const are_few = fixed_.size() + scaled_.size() <= max_quadratic_shapes;
        for (batch_sample const& sample : samples_) {
            if (is_done() || !are_few) break;
            offer(fit_affine(buffers_, merged(sample), most_));
            auto const by_size = order_by_size(sample.batch);
            offer(fit_affine(buffers_, by_size, most_));
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
        std::vector<sort_key> items;
        for (buffer_id b : some) items.push_back({key(b), 0, b});
        sort_by_key(items);
        ids order;
        for (sort_key const& item : items) order.push_back(item.id);
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
                      [&](buffer_id b) { return descending(buffers_[b].size.at(batch)); });
    }

    /// A buffer that starts lower does so for every batch, so the order of starts for one batch places no
    /// buffer higher.
    void improve()
    {
        std::vector<batch_goal> goals;
        for (batch_sample const& sample : samples_)
            goals.push_back({sample.batch, sample.own.pools[pool_].height});
        byte_count const batch = samples_[samples_.size() / 2].batch;
        ids const all = joined(fixed_, scaled_);
        ids const order = sorted(all, [&](buffer_id b) { return best_[b].at(batch); });
        std::uint64_t const moves = smaller(64 * all.size(), max_restacked_buffers / all.size());
        offer(improve_affine(buffers_, order, goals, most_, moves).start);
    }

    affine_bytes height_of(table<buffer_id, affine_bytes> const& start, ids const& some) const
    {
        affine_bytes height;
        for (buffer_id id : some) {
            symbolic_plan::buffer b = buffers_[id];
            b.start = start[id];
            height = least_above(height, b.top(), most_);
        }
        return height;
    }

    void offer(table<buffer_id, affine_bytes> start)
    {
        double worst = 1;
        for (batch_sample const& sample : samples_) {
            byte_count height = 0;
            for (buffer_id id = 0; id != buffers_.size(); ++id) {
                symbolic_plan::buffer b = buffers_[id];
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

    table<buffer_id, symbolic_plan::buffer> const& buffers_;
    pool_id pool_;
    std::vector<batch_sample> const& samples_;
    byte_count most_;
    ids fixed_, scaled_; // ascending
    table<buffer_id, affine_bytes> best_;
    double worst_ = 0; // of `best_`: the largest ratio to the height of a batch alone
};

SUBLET_DECL symbolic_packing pack_symbolic(table<buffer_id, symbolic_plan::buffer> const& buffers,
                                           byte_count most, symbolic_options::mixing_rule mixing,
                                           pack_options const& options)
{
    symbolic_packing result;
    result.start.assign(buffers.size(), {});
    result.samples = detail::pack_samples(buffers, most, options);
    result.arena.assign(result.samples.back().own.pools.size(), {});
    for (pool_id p = 0; p != result.arena.size(); ++p) {
        detail::symbolic_pool pool(buffers, p, result.samples, most);
        if (pool.is_empty()) continue;
        if (mixing == symbolic_options::mixing_rule::apart) pool.pack_apart();
        else pool.pack_together();
        pool.put(result);
    }
    return result;
}

} // namespace sublet::detail
