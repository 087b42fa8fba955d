// SPDX-License-Identifier: BSL-1.0

/// Gains: the pairs of a pool by position; one count of the bytes live, with all pairs, gives what each adds
/// at its step. Packing: with all pairs; then, where a pool ends above its bound, with those at the peak
/// only, and with none if the bytes live then would still be below the height. A pool keeps the lowest of the
/// three.

#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/planning/detail/pack_in_place.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/in_place.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL std::vector<memory_plan::in_place_gain>
in_place_gains(buffer_table const& table, sublet::table<position_id, step_id> const& steps)
{
    std::vector<memory_plan::in_place_gain> gains;
    if (table.in_place.empty()) return gains;
    sublet::table<step_id, position_id> position_of(steps.size());
    for (position_id at = 0; at != steps.size(); ++at) position_of[steps[at]] = at;

    std::vector<sort_key> by_pool; // {pool, position, pair}
    by_pool.reserve(table.in_place.size());
    gains.reserve(table.in_place.size());
    for (std::uint32_t i = 0; i != table.in_place.size(); ++i) {
        memory_plan::in_place_pair const& pair = table.in_place[i];
        buffer const& in = table.buffers[table.buffer_of[pair.in]];
        by_pool.push_back({in.pool, position_of[pair.step], i});
        gains.push_back({pair});
    }
    sort_by_key(by_pool);
    auto const positions = static_cast<std::uint32_t>(steps.size());
    memory_pressure levels;
    for (std::size_t i = 0; i != by_pool.size();) {
        auto const pool = pool_id::of(by_pool[i].key);
        if (i == 0 || by_pool[i - 1].key != pool)
            levels = pressure(
                table.buffers.size(),
                [&](buffer_id b) {
                    buffer const& its = table.buffers[b];
                    return its.is_planned() && its.pool == pool ? its.life : live_range{};
                },
                [&](buffer_id b) { return table.buffers[b].size; }, positions);
        byte_count const here = levels.live_bytes[to_size(by_pool[i].tie)];
        auto above = [&](byte_count more) {
            byte_count const height = checked_add(here, more);
            return height > levels.peak ? height - levels.peak : 0;
        };
        std::size_t const first = i;
        byte_count all = 0;
        for (; i != by_pool.size() && by_pool[i].key == pool && by_pool[i].tie == by_pool[first].tie; ++i) {
            memory_plan::in_place_gain& gain = gains[by_pool[i].id];
            gain.peak_bytes = above(gain.bytes);
            all = checked_add(all, gain.bytes);
        }
        for (std::size_t of_step = first; of_step != i; ++of_step)
            gains[by_pool[of_step].id].step_peak_bytes = above(all);
    }
    return gains;
}

enum class pair_choice : std::uint8_t { all, at_peak, none };

class in_place_packer {
public:
    in_place_packer(buffer_table const& table, sublet::table<position_id, step_id> const& steps,
                    sublet::table<pool_id, pool_limits> const& pools, effort work,
                    std::vector<plan_options::carry> const& together)
        : table_(table), steps_(steps), pools_(pools), work_(work), together_(together)
    {
    }

    SUBLET_COLD packed_in_place place(std::vector<memory_plan::in_place_pair> const& pairs)
    {
        packed_in_place best = packed(pairs);
        if (pairs.empty()) return best;
        matched_ = best.gains;
        find_bounds(best);
        choice_.assign(bounds_.size(), pair_choice::all);
        for (pair_choice next : {pair_choice::at_peak, pair_choice::none}) try_with(next, best);
        for (pool_id pool = 0; pool != bounds_.size(); ++pool) {
            best.placed.pools[pool].lower_bound = bounds_[pool].bytes;
            best.placed.pools[pool].peak_position = bounds_[pool].peak_position;
        }
        return best;
    }

private:
    pool_id pool_of(memory_plan::in_place_pair const& pair) const
    {
        return table_.buffers[table_.buffer_of[pair.in]].pool;
    }

    SUBLET_COLD packed_in_place packed(std::vector<memory_plan::in_place_pair> pairs) const
    {
        packed_in_place result;
        result.problem.pools = pools_;
        buffer_table joined; // if there are pairs
        if (!pairs.empty()) joined = join_in_place(table_, std::move(pairs));
        buffer_table const& buffers = joined.buffers.empty() ? table_ : joined;
        result.gains = in_place_gains(buffers, steps_);
        result.valid = list_planned(buffers, result.plan, result.problem);
        for (plan_options::carry const& c : together_)
            if (buffer_id const anchor = result.plan.buffer_of[c.to]; anchor != no_buffer)
                result.problem.colocated.push_back({result.plan.buffer_of[c.from], anchor, 0});
        result.placed = pack(result.problem, planner_budgets(work_, result.problem.buffers.size()));
        return result;
    }

    /// Lower bounds, for pools with pairs, of every plan with any choice of pairs: the bytes live are fewest
    /// with all matched pairs. A bound proved by search is only of placements with all pairs.
    SUBLET_COLD void find_bounds(packed_in_place const& first)
    {
        bounds_.resize(first.placed.pools.size());
        for (memory_plan::in_place_gain const& gain : matched_) {
            pool_bound& its = bounds_[pool_of(gain)];
            its.has_pairs = true;
            its.without = larger(its.without, gain.step_peak_bytes);
        }
        for (pool_id pool = 0; pool != bounds_.size(); ++pool) {
            placement::pool_result const& found = first.placed.pools[pool];
            pool_bound& its = bounds_[pool];
            its.bytes = found.lower_bound;
            its.peak_position = found.peak_position;
            if (!its.has_pairs) continue;
            auto life = [&](buffer_id b) {
                placement_problem::buffer const& buffer = first.problem.buffers[b];
                return buffer.pool == pool ? buffer.life : live_range{};
            };
            byte_count unit = 1;
            auto size = [&](buffer_id b) { return align_up(first.problem.buffers[b].size, unit); };
            std::size_t const buffers = first.problem.buffers.size();
            auto const positions = static_cast<std::uint32_t>(steps_.size());
            byte_count const peak = sublet::detail::pressure(buffers, life, size, positions).peak;
            its.without = checked_add(its.without, peak);
            if (found.height <= peak) continue;
            if (found.proof.kind == placement::proof::reason::exhausted) {
                its.bytes = peak;
                for (placement_problem::buffer const& b : first.problem.buffers)
                    if (b.pool == pool && b.pinned != no_offset)
                        its.bytes = larger(its.bytes, b.pinned + b.size);
            }
            // If all offsets are multiples of one unit, all buffers but the highest occupy whole units.
            unit = common_alignment(pool);
            if (unit <= 1 || larger(unit, found.height) > no_limit / 4) continue; // sums stay within 64 bits
            memory_pressure const aligned = sublet::detail::pressure(buffers, life, size, positions);
            byte_count padding = 0;
            for (buffer const& b : table_.buffers)
                if (b.is_planned() && b.pool == pool && contains(b.life, aligned.peak_position))
                    padding = larger(padding, align_up(b.size, unit) - b.size);
            its.bytes = larger(its.bytes, aligned.peak - padding);
        }
    }

    /// The alignment of all buffers of a pool; 1 if they differ.
    byte_count common_alignment(pool_id pool) const
    {
        byte_count common = 0;
        for (buffer const& b : table_.buffers) {
            if (!b.is_planned() || b.pool != pool) continue;
            byte_count const its =
                pool < pools_.size() ? combine_alignment(b.alignment, pools_[pool].alignment) : b.alignment;
            if (common != 0 && its != common) return 1;
            common = its;
        }
        return common;
    }

    SUBLET_COLD bool is_worth_trying(pair_choice next, pool_id pool, byte_count height) const
    {
        pool_bound const& its = bounds_[pool];
        if (!its.has_pairs || height <= its.bytes) return false;
        if (next == pair_choice::none) return its.without < height;
        if (height - its.bytes <= its.bytes / 128) return false; // too little to gain by another pack()
        bool lowers = false, does_not = false;
        for (memory_plan::in_place_gain const& gain : matched_)
            if (pool_of(gain) == pool) (gain.step_peak_bytes != 0 ? lowers : does_not) = true;
        return lowers && does_not;
    }

    std::vector<memory_plan::in_place_pair> pairs_of(table<pool_id, pair_choice> const& taken) const
    {
        std::vector<memory_plan::in_place_pair> pairs;
        for (memory_plan::in_place_gain const& gain : matched_) {
            pair_choice const which = taken[pool_of(gain)];
            if (which == pair_choice::all || (which == pair_choice::at_peak && gain.step_peak_bytes != 0))
                pairs.push_back(gain);
        }
        return pairs;
    }

    /// Pools are independent, and packing the same problem again gives the same result.
    SUBLET_COLD void try_with(pair_choice next, packed_in_place& best)
    {
        table<pool_id, pair_choice> wanted = choice_;
        bool is_tried = false, is_best = true, is_better = false;
        for (pool_id pool = 0; pool != bounds_.size(); ++pool)
            if (is_worth_trying(next, pool, best.placed.pools[pool].height)) {
                wanted[pool] = next;
                is_tried = true;
            }
        if (!is_tried) return;
        packed_in_place found = packed(pairs_of(wanted));
        for (pool_id pool = 0; pool != bounds_.size(); ++pool) {
            if (wanted[pool] == choice_[pool]) continue;
            bool const is_lower = found.placed.pools[pool].height < best.placed.pools[pool].height;
            if (is_lower) choice_[pool] = next;
            (is_lower ? is_better : is_best) = is_lower;
        }
        if (is_better) best = is_best ? std::move(found) : packed(pairs_of(choice_));
    }

    struct pool_bound {
        bool has_pairs = false;
        byte_count bytes = 0;
        byte_count without = 0; // peak of the bytes live without any pair
        position_id peak_position = 0;
    };

    buffer_table const& table_;
    table<position_id, step_id> const& steps_;
    table<pool_id, pool_limits> const& pools_;
    effort const work_;
    std::vector<plan_options::carry> const& together_;
    std::vector<memory_plan::in_place_gain> matched_;
    table<pool_id, pool_bound> bounds_;
    table<pool_id, pair_choice> choice_;
};

SUBLET_COLD_DECL packed_in_place pack_in_place(buffer_table const& table,
                                               std::vector<memory_plan::in_place_pair> const& pairs,
                                               sublet::table<position_id, step_id> const& steps,
                                               sublet::table<pool_id, pool_limits> const& pools, effort work,
                                               std::vector<plan_options::carry> const& together)
{
    return in_place_packer(table, steps, pools, work, together).place(pairs);
}

} // namespace sublet::detail
