// SPDX-License-Identifier: BSL-1.0

/// Values vote for the offset of their storage: sort keys {storage, offset, value}, of which the longest run
/// wins. A value that lies elsewhere is tried at its former place against each buffer of its pool.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/previous_places.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

SUBLET_COLD_DECL void expect_previous(plan_options const& options)
{
    SUBLET_EXPECTS(options.keep_within >= 0, "sublet: keep_within is negative, or not a number");
}

SUBLET_COLD_DECL void expect_no_previous(plan_options const& options, char const* planner)
{
    SUBLET_EXPECTS(!has_previous(options), "sublet: % does not take account of a previous plan", planner);
}

/// A value of the plan before by one of this plan.
class former_values {
public:
    SUBLET_COLD explicit former_values(plan_options const& options)
        : before_(options.previous), value_of_(options.previous_value),
          is_same_(options.previous_value.is_constant(no_value))
    {
    }
    /// `no_value`: it was not placed.
    [[nodiscard]] value_id operator()(value_id v) const
    {
        value_id const was = is_same_ ? v : value_of_[v];
        if (was >= before_.buffer_of.size()) return no_value;
        return before_.buffer_of[was] == no_buffer || before_.offset_of(was) == no_offset ? no_value : was;
    }

private:
    memory_plan const& before_;
    per_value<value_id> const& value_of_;
    bool const is_same_;
};

/// By buffer, the one at the end of those that it is written over.
SUBLET_COLD_DECL table<buffer_id, buffer_id> hosts_of(memory_plan const& plan)
{
    table<buffer_id, buffer_id> host(plan.buffers.size(), no_buffer);
    std::vector<buffer_id> chain;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        buffer_id at = b;
        for (; host[at] == no_buffer && plan.buffers[at].over != no_buffer; at = plan.buffers[at].over)
            chain.push_back(at);
        if (host[at] == no_buffer) host[at] = at;
        for (buffer_id above : chain) host[above] = host[at];
        chain.clear();
    }
    return host;
}

SUBLET_COLD_DECL table<buffer_id, byte_count> previous_offsets(memory_plan const& plan,
                                                               plan_options const& options)
{
    former_values const former(options);
    table<buffer_id, buffer_id> const host = hosts_of(plan);
    std::vector<sort_key> votes; // {host, offset, value}
    for (value_id v = 0; v != plan.buffer_of.size(); ++v) {
        buffer_id const b = plan.buffer_of[v];
        value_id const was = b == no_buffer ? no_value : former(v);
        if (was == no_value || options.previous.pool_of(was) != plan.buffers[b].pool) continue;
        byte_count const offset = options.previous.offset_of(was);
        byte_count const in_root = plan.offset_in_root.empty() ? byte_count{0} : plan.offset_in_root[v];
        if (offset >= in_root) votes.push_back({byte_count{+host[b]}, offset - in_root, +v});
    }
    sort_by_key(votes);
    table<buffer_id, byte_count> of_host(plan.buffers.size(), no_offset);
    for (std::size_t i = 0, most = 0, of = 0, last = 0; i != votes.size(); i = last) {
        bool const is_first = i == 0 || votes[i].key != votes[i - 1].key;
        for (last = i;
             last != votes.size() && votes[last].key == votes[i].key && votes[last].tie == votes[i].tie;)
            ++last;
        if (is_first || last - i > most || (last - i == most && votes[i].id < votes[of].id)) {
            most = last - i;
            of = i;
            of_host[buffer_id::of(votes[i].key)] = votes[i].tie;
        }
    }
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) of_host[b] = of_host[host[b]];
    return of_host;
}

/// What a value breaks at its former place.
class former_places {
public:
    SUBLET_COLD former_places(memory_plan const& plan, plan_options const& options,
                              table<buffer_id, byte_count> const& former, buffer_conflicts const* conflicts)
        : plan_(plan), pools_(options.pools), former_(former), conflicts_(conflicts), host_(hosts_of(plan)),
          pin_(plan.buffers.size(), no_offset)
    {
        for (value_id v = 0; v != plan.buffer_of.size(); ++v)
            if (plan.buffer_of[v] != no_buffer && options.pinned[v] != no_offset)
                pin_[host_[plan.buffer_of[v]]] = plan.offset_of(v);
        for (buffer_id b = 0; b != plan.buffers.size(); ++b)
            in_storage_.push_back({byte_count{+host_[b]}, 0, +b});
        sort_by_key(in_storage_);
    }

    SUBLET_COLD counterexample why_not(value_id v, pool_id pool, byte_count at)
    {
        buffer_id const b = plan_.buffer_of[v];
        memory_plan::placed_buffer const& own = plan_.buffers[b];
        counterexample::place its{.value = v, .pool = own.pool, .begin = at, .end = at + own.size};
        if (pool != own.pool) return {fault::wrong_pool, its};
        if (pin_[host_[b]] != no_offset) {
            its.needed = plan_.offset_of(v);
            return {fault::off_pin, its};
        }
        byte_count const in_root = plan_.offset_of(v) - own.offset;
        if (in_root > at) return elsewhere(v);
        byte_count const origin = its.begin = at - in_root;
        its.end = origin + own.size;
        std::size_t const first = partition_point(
            in_storage_.size(), [&](std::size_t i) { return in_storage_[i].key >= +host_[b]; });
        for (std::size_t i = first; i != in_storage_.size() && in_storage_[i].key == +host_[b]; ++i) {
            its.needed = plan_.buffers[buffer_id{in_storage_[i].id}].alignment;
            if (origin % its.needed != 0) return {fault::misaligned, its};
        }
        for (std::size_t i = first; i != in_storage_.size() && in_storage_[i].key == +host_[b]; ++i) {
            if (work_ >> 27 != 0) return {fault::foreign_plan, its};
            buffer_id const part{in_storage_[i].id};
            buffer_id const other = in_the_way(part, origin);
            if (other == no_buffer) continue;
            memory_plan::placed_buffer const& one = plan_.buffers[part];
            memory_plan::placed_buffer const& two = plan_.buffers[other];
            bool const is_ordered = conflicts_ == nullptr;
            byte_count const from = larger(origin, two.offset);
            byte_count const to = smaller(origin + one.size, two.offset + two.size);
            return {from < to ? fault::clash : fault::too_close,
                    counterexample::overlap{.value = v,
                                            .other = two.root,
                                            .step = is_ordered ? no_step : conflicts_->of(part, other).step,
                                            .position = is_ordered ? larger(one.life.first, two.life.first)
                                                                   : no_position,
                                            .pool = own.pool,
                                            .begin = smaller(from, to),
                                            .end = larger(from, to)}};
        }
        its.needed = plan_.arena_bytes[own.pool];
        for (std::size_t i = first; i != in_storage_.size() && in_storage_[i].key == +host_[b]; ++i)
            its.end = larger(its.end, origin + plan_.buffers[buffer_id{in_storage_[i].id}].size);
        if (its.end > its.needed) return {fault::outside_arena, its};
        if (own.pool < pools_.size())
            for (auto const& range : pools_[own.pool].reserved)
                if (range.first < range.second && origin < range.second + guard_of(own.pool) &&
                    range.first < its.end + guard_of(own.pool))
                    return {fault::in_reserved, counterexample::place{.value = v,
                                                                      .pool = own.pool,
                                                                      .begin = range.first,
                                                                      .end = range.second,
                                                                      .needed = origin}};
        for (memory_plan::block const& block : plan_.blocks)
            if (block.pool == own.pool && origin < block.begin && its.end > block.begin)
                return {fault::crosses_block, its};
        return elsewhere(v);
    }

private:
    /// Another value of the same storage keeps its place.
    SUBLET_COLD counterexample elsewhere(value_id v) const
    {
        memory_plan::placed_buffer const& storage = plan_.buffers[host_[plan_.buffer_of[v]]];
        return {fault::misplaced_view, counterexample::view{.value = v,
                                                            .other = storage.root,
                                                            .pool = storage.pool,
                                                            .begin = plan_.offset_of(v),
                                                            .needed = storage.offset}};
    }
    /// A buffer that overlaps `part` at this offset, if possible one that lies where it lay before.
    SUBLET_COLD buffer_id in_the_way(buffer_id part, byte_count origin)
    {
        memory_plan::placed_buffer const& own = plan_.buffers[part];
        buffer_id found = no_buffer;
        work_ += plan_.buffers.size();
        for (buffer_id b = 0; b != plan_.buffers.size(); ++b) {
            memory_plan::placed_buffer const& its = plan_.buffers[b];
            byte_count const guard = guard_of(own.pool);
            if (its.pool != own.pool || its.offset >= origin + own.size + guard ||
                origin >= its.offset + its.size + guard || host_[b] == host_[part])
                continue;
            bool const meets = conflicts_ != nullptr
                                   ? conflicts_->of(part, b).conflict
                                   : its.life.first < own.life.last && own.life.first < its.life.last;
            if (!meets) continue;
            if (its.offset == former_[b]) return b;
            if (found == no_buffer) found = b;
        }
        return found;
    }

    byte_count guard_of(pool_id pool) const { return pool < pools_.size() ? pools_[pool].guard : 0; }

    memory_plan const& plan_;
    table<pool_id, pool_limits> const& pools_;
    table<buffer_id, byte_count> const& former_;
    buffer_conflicts const* conflicts_;
    table<buffer_id, buffer_id> const host_;
    table<buffer_id, byte_count> pin_; // by host
    std::vector<sort_key> in_storage_; // {host, 0, buffer}
    std::uint64_t work_ = 0;
};

SUBLET_COLD_DECL std::vector<counterexample> moved_values(memory_plan const& plan,
                                                          plan_options const& options,
                                                          table<buffer_id, byte_count> const& former,
                                                          buffer_conflicts const* conflicts)
{
    former_values const value_of(options);
    former_places places(plan, options, former, conflicts);
    std::vector<counterexample> moved;
    for (value_id v = 0; v != plan.buffer_of.size(); ++v) {
        value_id const was = plan.buffer_of[v] == no_buffer ? no_value : value_of(v);
        if (was == no_value || plan.offset_of(v) == no_offset) continue;
        pool_id const pool = options.previous.pool_of(was);
        byte_count const at = options.previous.offset_of(was);
        if (pool == plan.pool_of(v) && at == plan.offset_of(v)) continue;
        moved.push_back(places.why_not(v, pool, at));
    }
    return moved;
}

} // namespace sublet::detail
