// SPDX-License-Identifier: BSL-1.0

/// Arrays on the stack: the buffers by their begins, the borders of their live ranges as ranks, and the bytes
/// live by rank. Each time component is placed in the order load_area by the rule of bottom_left_fit().

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/pack_few.hpp>

#include <algorithm>
#include <cstdint>

namespace sublet::detail {

class few_buffers {
public:
    /// False if they are not placed here.
    bool read(placement_problem const& problem, std::span<buffer_id const> members, byte_count alignment)
    {
        for (buffer_id b : members) {
            placement_problem::buffer const& its = problem.buffers[b];
            if (its.size == 0 || is_empty(its.life)) continue;
            if (count_ == most_few || its.pinned != no_offset || its.preferred != no_offset ||
                its.size >> 40 != 0 || its.alignment == 0 || its.alignment >> 20 != 0)
                return false;
            byte_count const own = its.alignment == alignment || alignment == 1
                                       ? its.alignment
                                       : combine_alignment(its.alignment, alignment);
            read_[count_] = {own, b, 0};
            border_[2 * count_] = std::uint64_t{+its.life.first} << 32 | 2 * count_;
            border_[2 * count_ + 1] = std::uint64_t{+its.life.last} << 32 | (2 * count_ + 1);
            ++count_;
        }
        if (count_ == 0) return false;
        find_ranks(problem);
        return true;
    }
    /// False as soon as one ends above the bytes live.
    bool place()
    {
        for (std::size_t first = 0, last = 0; first != count_; first = last) {
            std::uint32_t end = 0;
            for (last = first; last != count_ && (last == first || few_[last].first < end); ++last)
                end = larger(end, few_[last].last);
            if (last - first > most_few_together || !place_component(first, last)) return false;
        }
        return true;
    }
    [[nodiscard]] byte_count most() const { return most_; }
    [[nodiscard]] position_id peak() const { return position_id{position_[peak_]}; }
    void give(table<buffer_id, byte_count>& offset) const
    {
        for (std::size_t i = 0; i != count_; ++i) offset[few_[i].id] = few_[i].origin;
    }

private:
    struct few {
        byte_count size, alignment;
        buffer_id id;
        std::uint32_t first, last; // ranks
        byte_count load, area, origin;
    };

    struct listed {
        byte_count alignment;
        buffer_id id;
        std::uint32_t at; // in few_
    };

    void find_ranks(placement_problem const& problem)
    {
        std::sort(border_, border_ + 2 * count_);
        std::uint32_t rank = 0;
        std::size_t begun = 0;
        byte_count live = 0;
        for (std::size_t i = 0; i != 2 * count_; ++i) {
            auto const at = static_cast<std::uint32_t>(border_[i] >> 32);
            if (i == 0) position_[0] = at;
            else if (position_[rank] != at) position_[++rank] = at;
            listed& one = read_[(border_[i] & 0xFFFFFFFF) / 2];
            if (border_[i] % 2 == 0) { // by begin, equal ones as they are listed
                one.at = static_cast<std::uint32_t>(begun);
                few_[begun++] = {problem.buffers[one.id].size, one.alignment, one.id, rank, 0, 0, 0, 0};
                live += few_[one.at].size;
            } else {
                few_[one.at].last = rank;
                live -= few_[one.at].size;
            }
            load_[rank] = live;
        }
        for (std::uint32_t r = 0; r <= rank; ++r) {
            opens_[r] = 0;
            if (load_[r] <= most_) continue;
            most_ = load_[r];
            peak_ = r;
        }
    }

    bool comes_before(few const& a, few const& b) const // load_area
    {
        if (a.load != b.load) return a.load > b.load;
        if (a.area != b.area) return a.area > b.area;
        if (a.last - a.first != b.last - b.first) return a.last - a.first > b.last - b.first;
        return a.size > b.size;
    }

    bool place_component(std::size_t first, std::size_t last)
    {
        few* queue[most_few_together];
        std::size_t lowest[most_few_together]; // indices in the queue
        std::size_t left = 0, as_low = 0;      // how many both are
        for (std::size_t i = first; i != last; ++i) {
            few& its = few_[i];
            byte_count load = 0;
            for (std::uint32_t r = its.first; r != its.last; ++r) load = larger(load, load_[r]);
            its.load = load;
            its.area = its.size * (its.last - its.first);
            lowest[as_low++] = left;
            std::size_t at = left++;
            for (; at != 0 && comes_before(its, *queue[at - 1]); --at) queue[at] = queue[at - 1];
            queue[at] = &its;
        }
        while (left != 0) {
            std::size_t const next = as_low == 1 ? lowest[0] : at_fullest(queue, lowest, as_low);
            few const& now = *queue[next];
            byte_count const size = now.size, top = now.origin + size;
            if (top > most_) return false;
            for (std::uint32_t r = now.first; r != now.last; ++r) load_[r] -= size;
            for (std::size_t i = next + 1; i != left; ++i) queue[i - 1] = queue[i];
            --left;
            byte_count origin = no_offset;
            for (std::size_t i = 0; i != left; ++i) {
                few& its = *queue[i];
                if (its.first < now.last && now.first < its.last && top > its.origin)
                    its.origin = its.alignment == 1 ? top : align_up(top, its.alignment);
                if (its.origin < origin) origin = its.origin, as_low = 0;
                lowest[as_low] = i;
                as_low += its.origin == origin;
            }
        }
        return true;
    }
    /// The first of the lowest buffers that is live where, of all their positions, the most bytes are left.
    std::size_t at_fullest(few* const* queue, std::size_t const* lowest, std::size_t as_low)
    {
        std::uint32_t from = no_rank, to = 0;
        for (std::size_t i = 0; i != as_low; ++i) {
            few const& its = *queue[lowest[i]];
            ++opens_[its.first];
            --opens_[its.last];
            from = smaller(from, its.first);
            to = larger(to, its.last);
        }
        std::uint32_t fullest = from;
        byte_count load = load_[from];
        std::int32_t open = 0;
        for (std::uint32_t r = from; r != to; opens_[r++] = 0)
            if ((open += opens_[r]) != 0 && load_[r] > load) load = load_[r], fullest = r;
        opens_[to] = 0;
        while (queue[*lowest]->first > fullest || fullest >= queue[*lowest]->last) ++lowest;
        return *lowest;
    }

    static constexpr std::uint32_t no_rank = ~std::uint32_t{0};
    std::size_t count_ = 0;
    std::uint32_t peak_ = 0;
    byte_count most_ = 0;
    listed read_[most_few];
    few few_[most_few];
    std::uint64_t border_[2 * most_few];   // {position, buffer, whether it ends}
    std::uint32_t position_[2 * most_few]; // by rank
    byte_count load_[2 * most_few + 1];    // of those that are not placed, by rank
    std::int32_t opens_[2 * most_few + 1]; // by rank; 0 between two turns
};

SUBLET_DECL bool pack_few(placement_problem const& problem, std::span<buffer_id const> members,
                          pool_limits const& limits, placement::objective objective,
                          table<buffer_id, byte_count>& offset, placement::pool_result& out)
{
    if (members.empty() || members.size() > 4 * most_few || !problem.gaps.empty() ||
        limits.largest_block != no_limit || limits.alignment == 0 || limits.alignment >> 20 != 0)
        return false;
    pool_id const pool = problem.buffers[members.front()].pool;
    for (placement_problem::colocation const& c : problem.colocated)
        for (buffer_id b : {c.buffer, c.anchor})
            if (b >= problem.buffers.size() || problem.buffers[b].pool == pool) return false;
    few_buffers all;
    if (!all.read(problem, members, limits.alignment) || !all.place()) return false;
    all.give(offset);
    out.height = out.lower_bound = all.most();
    out.peak_position = all.peak();
    out.packings = 1;
    out.proof = {placement::proof::reason::live_bytes, all.most(), all.peak()};
    out.status = status_of(out.height, out.lower_bound, limits.capacity, objective);
    return true;
}

SUBLET_DECL bool place_few(placement_problem const& problem, placement::objective objective,
                           placement& result)
{
    constexpr std::size_t most_pools = 8;
    std::size_t const buffers = problem.buffers.size();
    bool const is_plain = problem.clocks.threads == 0 && problem.choices.empty() && problem.gaps.empty() &&
                          problem.colocated.empty() && problem.penalties.empty() && problem.period == 0;
    if (!is_plain || buffers == 0 || buffers > most_few) return false;
    pool_id last = 0;
    for (placement_problem::buffer const& b : problem.buffers) last = larger(last, b.pool);
    std::size_t const pools = larger(problem.pools.size(), std::size_t{last} + 1);
    if (pools > most_pools) return false;
    for (pool_limits const& limits : problem.pools)
        if (limits.guard != 0 || limits.page != 1 || limits.bank != 1 || !limits.reserved.empty())
            return false;
    result.offset.assign(buffers, no_offset);
    result.pools.resize(pools);
    for (pool_id pool = 0; pool != pools; ++pool) {
        buffer_id members[most_few];
        std::size_t count = 0;
        for (buffer_id b = 0; b != buffers; ++b)
            if (problem.buffers[b].pool == pool) members[count++] = b;
        if (!pack_few(problem, {members, count}, limits_of(problem, pool), objective, result.offset,
                      result.pools[pool]))
            return false;
    }
    set_overall_status(result);
    return true;
}

} // namespace sublet::detail
