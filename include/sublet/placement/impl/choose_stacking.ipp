// SPDX-License-Identifier: BSL-1.0

/// Orders are scored by the heights of all samples, as parts of 2^20 of their bounds, in integers. The sample
/// that was worst is placed first: most moves are refused by it.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/choose_stacking.hpp>
#include <sublet/placement/internal/pack.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace sublet::detail {

class pool_stacking {
public:
    using ids = std::vector<buffer_id>;
    /// How good an order is; smaller is better.
    struct score {
        std::uint64_t first = no_limit, second = no_limit;
        bool operator<(score const& other) const
        {
            return first != other.first ? first < other.first : second < other.second;
        }
    };

    pool_stacking(unsized_buffers const& all, stacked_reading& reading, pool_id pool,
                  std::vector<stacked_sample> const& samples, stacking_options const& options)
        : all_(all), reading_(reading), pool_(pool), options_(options), samples_(samples),
          members_(members_of(all, pool))
    {
        for (stacked_sample const& sample : samples) {
            placement::pool_result const& own = sample.own.pools[pool];
            goal_.push_back(own.lower_bound != 0 ? own.lower_bound : own.height);
        }
    }

    [[nodiscard]] stacking const& best() const { return best_; }

    /// Takes the order from below of a placement, if it is the best so far.
    void offer(placement const& placed)
    {
        std::vector<sort_key> by_offset;
        for (buffer_id b :
             members_) { // those of 0 bytes have no offset, and raise nothing if they are lowest
            byte_count const offset = placed.offset[b], first = all_.ranges[all_.first_range[b]].first;
            byte_count const pinned = all_.layers[b].pinned;
            if (offset == no_offset) by_offset.push_back({pinned == no_offset ? 0 : pinned, first, b});
            else by_offset.push_back({offset, first | std::uint64_t{1} << 32, b});
        }
        sort_by_key(by_offset);
        ids order;
        for (sort_key const& key : by_offset) order.push_back(buffer_id{key.id});
        (void)take_if_better(order);
    }

    /// The same with the order of a stacking.
    void offer(stacking const& from)
    {
        ids order;
        for (stacking::layer const& its : from.order)
            if (its.pool == pool_) order.push_back(its.buffer);
        (void)take_if_better(order);
    }

    /// Moves single buffers while the budget lasts: strangers to a place where they are not on the path, or
    /// others of it.
    void improve()
    {
        std::size_t const n = members_.size();
        for (placed_ = 0; placed_ < options_.restacked && !is_done();) {
            if (path_.empty()) find_critical_path();
            std::size_t from = random_below(n), to = random_below(n);
            std::uint32_t const kind = static_cast<std::uint32_t>(random_below(8));
            if (kind < 4 && !strangers_.empty()) { // off the path
                buffer_id const moved = strangers_[random_below(strangers_.size())];
                from = place_[moved];
                for (unsigned tries = 0; tries != 8; ++tries) {
                    std::size_t const i =
                        random_below(path_.size() + 1); // above path_[i], below path_[i - 1]
                    bool const is_on_it = i != path_.size() && reading_.conflict(moved, path_[i]);
                    if (is_on_it && i != 0 && reading_.conflict(moved, path_[i - 1])) continue;
                    std::size_t const at = i == path_.size() ? place_[path_[i - 1]] : place_[path_[i]] + 1;
                    to = at > from ? at - 1 : at;
                    break;
                }
            } else if (kind != 0) {
                from = place_[path_[random_below(path_.size())]];
                if (kind > 3 && path_.size() > 1) { // turns one pair: the upper one goes below the lower one
                    std::size_t const i = random_below(path_.size() - 1);
                    std::size_t const upper = place_[path_[i]], lower = place_[path_[i + 1]];
                    from = kind > 5 ? upper : lower;
                    to = kind > 5 ? lower : upper;
                }
            }
            ids order = best_order_;
            buffer_id const moved = order[from];
            for (; from < to; ++from) order[from] = order[from + 1];
            for (; from > to; --from) order[from] = order[from - 1];
            order[to] = moved;
            (void)take_if_better(order, true);
        }
    }
    /// At the bound; or, after some work, 0.006 % above it at most.
    [[nodiscard]] bool is_done() const
    {
        constexpr std::uint64_t bound = std::uint64_t{1} << 20;
        return worst_ <= bound || (worst_ <= bound + 64 && placed_ > options_.restacked / 8);
    }

private:
    static ids members_of(unsized_buffers const& all, pool_id pool)
    {
        ids members;
        for (buffer_id b = 0; b != all.layers.size(); ++b)
            if (all.layers[b].pool == pool) members.push_back(b);
        return members;
    }

    /// The height of one sample; `no_limit` if a pin is not kept. Offsets are in `offset_`.
    byte_count height_of(stacking const& made, stacked_sample const& sample)
    {
        byte_count height = 0;
        offset_.resize(all_.layers.size());
        for (std::size_t i = 0; i != made.order.size(); ++i) {
            stacking::layer const& its = made.order[i];
            byte_count begin = 0;
            for (buffer_id under : made.below_of(i))
                begin = larger(begin, offset_[under] + sample.size[under]);
            begin = align_up(begin, its.alignment);
            byte_count const size = sample.size[its.buffer];
            if (its.pinned != no_offset) {
                if (begin > its.pinned && size != 0) return no_limit;
                begin = larger(begin, its.pinned);
            }
            offset_[its.buffer] = begin;
            if (size != 0) height = larger(height, begin + size);
        }
        return height;
    }

    bool take_if_better(ids const& order, bool or_equal = false)
    {
        reading_.stack(order, next_);
        placed_ += reading_.work_of_stacking(order.size());
        std::uint64_t worst = 0, sum = 0;
        std::size_t at = worst_sample_;
        for (std::size_t i = 0; i != samples_.size(); ++i) {
            std::size_t const s = i == 0 ? worst_sample_ : i == worst_sample_ ? 0 : i;
            byte_count const height = height_of(next_, samples_[s]);
            placed_ += order.size();
            std::uint64_t const parts = height == no_limit ? no_limit : parts_of(height, goal_[s]);
            if (parts > worst) worst = parts, at = s;
            if (options_.goal == symbolic_options::goal_kind::worst && worst > score_.first) return false;
            sum = parts == no_limit ? no_limit : sum + samples_[s].weight * parts;
            if (sum == no_limit && !best_order_.empty()) return false;
        }
        score const its =
            options_.goal == symbolic_options::goal_kind::worst ? score{worst, sum} : score{sum, worst};
        if (!best_order_.empty() && !(its < score_) && !(or_equal && !(score_ < its))) return false;
        score_ = its;
        worst_ = worst;
        worst_sample_ = at;
        std::swap(best_, next_);
        best_order_ = order;
        path_.clear(); // is another one now
        return true;
    }

    /// Of the worst sample, from the highest top downwards; and the place of each buffer.
    void find_critical_path()
    {
        stacked_sample const& sample = samples_[worst_sample_];
        (void)height_of(best_, sample);
        place_.resize(all_.layers.size());
        for (std::size_t i = 0; i != best_order_.size(); ++i) place_[best_order_[i]] = i;
        buffer_id highest = best_order_.front();
        auto top = [&](buffer_id b) { return offset_[b] + sample.size[b]; };
        for (buffer_id b : best_order_)
            if (top(b) > top(highest)) highest = b;
        for (buffer_id b = highest; b != no_buffer;) {
            path_.push_back(b);
            buffer_id below = no_buffer;
            for (buffer_id under : best_.below_of(place_[b]))
                if (below == no_buffer || top(under) > top(below)) below = under;
            b = below;
        }
        reading_.list_strangers(path_, sample.size, strangers_);
    }
    std::size_t random_below(std::size_t n)
    {
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return to_size(random_ >> 33) % n;
    }

    unsized_buffers const& all_;
    stacked_reading& reading_;
    pool_id const pool_;
    stacking_options const& options_;
    std::vector<stacked_sample> const& samples_;
    ids const members_;
    std::vector<byte_count> goal_; // by sample
    stacking best_, next_;
    ids best_order_;
    score score_;
    std::uint64_t worst_ = no_limit; // of `best_`: the largest ratio
    std::size_t worst_sample_ = 0;
    table<buffer_id, byte_count> offset_;
    table<buffer_id, std::size_t> place_; // in `best_order_`
    ids path_, strangers_;                // of the worst sample
    std::uint64_t placed_ = 0;            // buffers
    std::uint64_t random_ = 1;
};

SUBLET_DECL placement in_one_order::place(std::vector<byte_count> const& size)
{
    placement_problem problem;
    for (buffer_id b = 0; b != all_.layers.size(); ++b) {
        stacking::layer const& its = all_.layers[b];
        problem.buffers.push_back({.life = life(b),
                                   .size = size[b],
                                   .alignment = its.alignment,
                                   .pool = its.pool,
                                   .pinned = its.pinned});
    }
    problem.pools.resize(all_.pools);
    return pack(problem, how_);
}

SUBLET_DECL byte_count in_one_order::least_bytes(pool_id pool, std::vector<byte_count> const& size)
{
    change_.assign(change_.size(), 0);
    for (buffer_id b = 0; b != all_.layers.size(); ++b) {
        if (all_.layers[b].pool != pool) continue;
        if (change_.size() <= life(b).last) change_.resize(std::size_t{life(b).last} + 1, 0);
        change_[life(b).first] += size[b];
        change_[life(b).last] -= size[b]; // sums wrap around
    }
    byte_count live = 0, most = 0;
    for (byte_count change : change_) most = larger(most, live += change);
    return most;
}

SUBLET_DECL void in_one_order::stack(std::vector<buffer_id> const& order, stacking& result)
{
    pool_id const pool = all_.layers[order.front()].pool;
    if (!stacker_ || pool != pool_) stacker_.emplace(all_, order);
    pool_ = pool;
    stacker_->stack(order, result);
}

SUBLET_DECL bool in_one_order::conflict(buffer_id a, buffer_id b) const { return overlaps(life(a), life(b)); }

SUBLET_DECL void in_one_order::list_strangers(std::vector<buffer_id> const& path,
                                              std::vector<byte_count> const& size,
                                              std::vector<buffer_id>& result) const
{
    std::vector<sort_key> ends; // ends of lives come before begins
    for (buffer_id b : path) {
        ends.push_back({life(b).first, 1, b});
        ends.push_back({life(b).last, 0, b});
    }
    sort_by_key(ends);
    byte_count live = 0, most = 0;
    std::uint64_t where = 0;
    for (sort_key const& at : ends) {
        live = at.tie != 0 ? live + size[at.id] : live - size[at.id];
        if (live > most) most = live, where = at.key;
    }
    result.clear();
    for (buffer_id b : path)
        if (where < life(b).first || where >= life(b).last) result.push_back(b);
}

/// Sizes in which each sample has the same weight.
[[nodiscard]] SUBLET_DECL std::vector<byte_count> mixture_of(unsized_buffers const& buffers,
                                                             std::vector<stacked_sample> const& samples)
{
    std::vector<byte_count> mixed(buffers.layers.size(), 0);
    for (stacked_sample const& sample : samples)
        for (buffer_id b = 0; b != mixed.size(); ++b) {
            placement::pool_result const& own = sample.own.pools[buffers.layers[b].pool];
            std::uint64_t const parts = parts_of(sample.size[b], larger(own.lower_bound, byte_count{1}));
            mixed[b] += smaller(parts, std::uint64_t{1} << 40);
        }
    return mixed;
}

SUBLET_DECL stacking choose_stacking(unsized_buffers const& buffers, stacked_reading& reading,
                                     std::vector<stacked_sample>& samples, stacking_options const& options,
                                     stacking const& from)
{
    for (stacked_sample& sample : samples)
        if (sample.own.pools.empty()) sample.own = reading.place(sample.size);
    std::optional<placement> mixture;
    if (samples.size() > 2) mixture = reading.place(mixture_of(buffers, samples));
    stacking result;
    result.pools = buffers.pools;
    table<pool_id, unsigned char> is_used(buffers.pools, 0);
    for (stacking::layer const& its : buffers.layers) is_used[its.pool] = 1;
    for (pool_id p = 0; p != buffers.pools; ++p) {
        if (is_used[p] == 0) continue;
        pool_stacking pool(buffers, reading, p, samples, options);
        if (!from.order.empty()) pool.offer(from);
        for (stacked_sample const& sample : samples) pool.offer(sample.own);
        if (mixture) pool.offer(*mixture);
        pool.improve();
        auto const before = static_cast<std::uint32_t>(result.below.size());
        for (stacking::layer its : pool.best().order) {
            its.first_below += before;
            result.order.push_back(its);
        }
        result.below.insert(result.below.end(), pool.best().below.begin(), pool.best().below.end());
    }
    return result;
}

} // namespace sublet::detail
