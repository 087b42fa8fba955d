// SPDX-License-Identifier: BSL-1.0

/// Sums, along the positions, the buffers that stay, and for each step those that it touches besides.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/least_load.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

SUBLET_DECL table<buffer_id, unsigned char> staying_buffers(snapshot const& p, buffer_table const& table,
                                                            advice_options const& how)
{
    auto const step_cost = how.step_cost.tabulate(p.steps(), "step_cost");
    auto const movable = how.movable.tabulate(p.values(), "movable");
    sublet::table<buffer_id, unsigned char> stays(table.buffers.size(), !how.copies);
    for (step_id s = 0; how.remats && s != p.steps(); ++s) {
        if (!(p.may_recompute(s) || p.may_recompute_results(s)) || step_cost[s] == no_size) continue;
        for (touch t : p.touches(s))
            if (t.writes() && !is_given(table.buffers[table.buffer_of[t.value]].role))
                stays[table.buffer_of[t.value]] = 0;
    }
    for (value_id v = 0; v != p.values(); ++v)
        if (!movable[v]) stays[table.buffer_of[v]] = 1;
    for (buffer_id b = 0; b != stays.size(); ++b) {
        buffer const& its = table.buffers[b];
        bool const may_leave = // before the first step writes, though its live range includes that
            is_given(its.role) && !has_role(its.role, value_role::output) && its.life.last == 1;
        stays[b] = its.is_planned() && !may_leave && (stays[b] != 0 || its.pinned != no_offset);
    }
    return stays;
}

/// Sums the bytes that must be there at once, whatever is copied and recomputed in between.
class least_load_finder {
public:
    /// `table` is without in-place pairs joined: any of them may come into use.
    least_load_finder(snapshot const& p, sublet::table<position_id, step_id> const& steps,
                      buffer_table const& table, sublet::table<buffer_id, unsigned char> const& stays)
        : p_(p), steps_(steps), table_(table), stays_(stays), counted_(table.buffers.size(), 0),
          shared_(table.buffers.size(), 0)
    {
        for (buffer const& b : table.buffers)
            if (b.is_planned()) loads_.resize(larger(loads_.size(), std::size_t{b.pool} + 1));
    }

    table<pool_id, lowest_load> find()
    {
        auto const positions = static_cast<std::uint32_t>(steps_.size());
        take_all_with(value_role::input, 0);
        take_all_with(value_role::output, positions - (positions != 0));
        auto const staying_from = staying([](buffer const& b) { return b.life.first; });
        auto const staying_until = staying([](buffer const& b) { return b.life.last; });
        for (position_id at = 0; at != positions; ++at) {
            for (buffer_id b : staying_until[at]) of(b).staying -= table_.buffers[b].size;
            for (touch t : p_.touches(steps_[at]))
                if (!t.defines()) add(table_.buffer_of[t.value], at, true);
            take(at);
            for (buffer_id b : staying_from[at])
                of(b).staying = checked_add(of(b).staying, table_.buffers[b].size);
            for (touch t : p_.touches(steps_[at]))
                if (t.kind != touch::access::use_early) add(table_.buffer_of[t.value], at, false);
            for (overwrite o : p_.overwrites(steps_[at]))
                share(table_.buffer_of[o.in], table_.buffer_of[o.out], at);
            for (overwrite o : p_.overwrites(steps_[at])) {
                buffer_id const out = table_.buffer_of[o.out];
                if (shared_[out] != 0) of(out).shared += std::exchange(shared_[out], 0);
            }
            take(at);
        }
        table<pool_id, lowest_load> least;
        for (load const& l : loads_) least.push_back(l.least);
        return least;
    }

private:
    struct load { // of a pool
        byte_count staying = 0, touched = 0, shared = 0;
        lowest_load least;
    };

    /// Requires: it is planned.
    load& of(buffer_id b) { return loads_[table_.buffers[b].pool]; }

    template <class Border>
    csr_rows<position_id, buffer_id> staying(Border border_of) const
    {
        return csr_rows<position_id, buffer_id>::gathered(steps_.size() + 1, [&](auto add) {
            for (buffer_id b = 0; b != stays_.size(); ++b)
                if (stays_[b] != 0 && border_of(table_.buffers[b]) <= steps_.size())
                    add(border_of(table_.buffers[b]), b);
        });
    }
    /// Adds a buffer that a step touches: before it writes, or while it does.
    void add(buffer_id b, position_id at, bool before)
    {
        buffer const& its = table_.buffers[b];
        std::uint64_t const time = 2 * std::uint64_t{at} + (before ? 1 : 2);
        bool const is_staying = stays_[b] != 0 && contains(its.life, at) && !(before && its.life.first == at);
        if (is_staying || !its.is_planned() || counted_[b] == time) return;
        counted_[b] = time;
        of(b).touched = checked_add(of(b).touched, its.size);
    }
    /// A result takes the bytes of at most one operand that is not needed later.
    void share(buffer_id in, buffer_id out, position_id at)
    {
        buffer const &from = table_.buffers[in], &to = table_.buffers[out];
        bool const is_needed = stays_[in] != 0 && from.life.last > at + 1;
        if (in == out || is_needed || !from.is_planned() || !to.is_planned() || from.pool != to.pool) return;
        shared_[out] = larger(shared_[out], smaller(from.size, to.size));
    }
    void take_all_with(value_role role, position_id at)
    {
        for (buffer_id b = 0; b != table_.buffers.size(); ++b) {
            buffer const& its = table_.buffers[b];
            if (its.is_planned() && has_role(its.role, role))
                of(b).touched = checked_add(of(b).touched, its.size);
        }
        take(at);
    }
    void take(position_id at)
    {
        for (load& l : loads_) {
            byte_count const all = checked_add(l.staying, l.touched);
            byte_count const bytes = all - smaller(all, l.shared);
            if (bytes > l.least.bytes) l.least = {bytes, at};
            l.touched = l.shared = 0;
        }
    }

    snapshot const& p_;
    table<position_id, step_id> const& steps_;
    buffer_table const& table_;
    table<buffer_id, unsigned char> const& stays_;
    table<pool_id, load> loads_;
    table<buffer_id, std::uint64_t> counted_; // the time at which it was counted last
    table<buffer_id, byte_count> shared_;     // of a result, during its step
};

SUBLET_DECL table<pool_id, lowest_load> least_loads(snapshot const& p,
                                                    table<position_id, step_id> const& steps,
                                                    buffer_table const& buffers,
                                                    table<buffer_id, unsigned char> const& stays)
{
    return least_load_finder(p, steps, buffers, stays).find();
}

} // namespace sublet::detail
