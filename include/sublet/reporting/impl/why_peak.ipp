// SPDX-License-Identifier: BSL-1.0
/// One sweep gives the live bytes, and prefix and suffix maxima of them what is left without a buffer;
/// another over the touches, in the order in which steps read and write, the first and the last step of
/// each buffer.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/reporting/why_peak.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

SUBLET_DECL peak_reason why_peak(snapshot const& p, memory_plan const& plan, pool_id pool)
{
    std::size_t const buffers = plan.buffers.size();
    SUBLET_EXPECTS(plan.buffer_of.size() == p.values(),
                   "sublet: the plan is of another program: it has % values, the program %",
                   plan.buffer_of.size(), p.values());
    for (buffer_id b : plan.buffer_of)
        SUBLET_EXPECTS(b == no_buffer || b < buffers,
                       "sublet: the plan names buffer %, but it has only % buffers", b, buffers);

    table<position_id, step_id> const steps = detail::steps_in_order(p, plan.order);
    auto const positions = static_cast<std::uint32_t>(steps.size());
    detail::memory_pressure const levels = detail::pressure(
        buffers,
        [&](buffer_id b) { return plan.buffers[b].pool == pool ? plan.buffers[b].life : live_range{}; },
        [&](buffer_id b) { return plan.buffers[b].size; },
        detail::larger(positions, 1u)); // inputs need no step

    peak_reason reason{.pool = pool, .position = levels.peak_position, .positions = positions};
    reason.bytes = levels.peak;
    for (position_id at = reason.position + 1; at < levels.live_bytes.size(); ++at)
        if (levels.peak != 0 && levels.live_bytes[at] == levels.peak) ++reason.later_peaks;
    if (positions != 0) reason.step = steps[reason.position];
    if (pool < plan.arena_bytes.size()) reason.arena_bytes = plan.arena_bytes[pool];

    std::size_t const ends = levels.live_bytes.size() + 1;
    // The highest level before a position, and from it on.
    table<position_id, byte_count> before(ends, 0), from(ends, 0);
    for (std::size_t at = 1; at != ends; ++at)
        before[at] = detail::larger(before[at - 1], levels.live_bytes[at - 1]);
    for (std::size_t at = ends - 1; at-- != 0;)
        from[at] = detail::larger(from[at + 1], levels.live_bytes[at]);

    std::vector<detail::sort_key> largest;
    for (buffer_id i = 0; i != buffers; ++i) {
        memory_plan::placed_buffer const& b = plan.buffers[i];
        if (b.pool == pool && contains(b.life, reason.position))
            largest.push_back({detail::descending(b.size), b.root, i});
    }
    detail::sort_by_key(largest);
    table<buffer_id, std::uint32_t> row_of(buffers, no_buffer);
    for (detail::sort_key const& k : largest) {
        memory_plan::placed_buffer const& b = plan.buffers[k.id];
        row_of[k.id] = static_cast<std::uint32_t>(reason.alive.size());
        byte_count const outside = detail::larger(before[b.life.first], from[b.life.last]);
        reason.alive.push_back({.buffer = k.id,
                                .root = b.root,
                                .life = b.life,
                                .bytes = b.size,
                                .peak_without = detail::larger(reason.bytes - b.size, outside)});
    }

    table<step_id, position_id> position_of(steps.size());
    std::vector<position_id> held_until(reason.alive.size(), 0); // by row: the position after the last touch
    auto touched = [&](touch t, position_id at) {
        buffer_id const b = plan.buffer_of[t.value];
        if (b == no_buffer || row_of[b] == no_buffer) return;
        peak_reason::buffer& row = reason.alive[row_of[b]];
        position_id& until = held_until[row_of[b]];
        if (until == 0 && t.defines() && at <= row.life.first) row.producer = steps[at];
        if (until < at + 1) until = at + 1, row.last_user = steps[at];
    };
    for (position_id at = 0; at != positions; ++at) {
        position_of[steps[at]] = at;
        for (touch t : p.touches(steps[at])) // a step reads, then writes
            if (!t.defines()) touched(t, at);
        for (touch t : p.touches(steps[at]))
            if (t.defines()) touched(t, at);
    }
    for (edge_use u : p.edge_uses())
        touched({u.value, touch::access::use}, position_of[p.steps_of(u.pred).last - 1]);
    for (std::size_t i = 0; i != reason.alive.size(); ++i)
        if (reason.alive[i].life.last > held_until[i]) reason.alive[i].last_user = no_step;
    return reason;
}

} // namespace sublet
