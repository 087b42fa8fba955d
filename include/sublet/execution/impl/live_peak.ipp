// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_LIVE_PEAK_IPP
#define SUBLET_EXECUTION_IMPL_LIVE_PEAK_IPP

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/execution/live_peak.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

SUBLET_DECL byte_count live_peak(run_tape const& tape)
{
    std::vector<byte_count> live(tape.pools, 0), peak(tape.pools, 0);
    std::vector<unsigned char> is_there(tape.holds.size(), 0);
    std::vector<std::uint32_t> left = tape.holds;
    auto enter = [&](buffer_id b) {
        buffer const& its = tape.table.buffers[b];
        if (is_there[b] || !its.is_planned()) return;
        is_there[b] = 1;
        live[its.pool] = checked_add(live[its.pool], its.size);
    };
    auto leave = [&](buffer_id b) {
        if (!is_there[b]) return;
        is_there[b] = 0;
        live[tape.table.buffers[b].pool] -= tape.table.buffers[b].size;
    };
    for (std::size_t b = 0; b != left.size(); ++b)
        if (has_role(tape.table.buffers[b].role, value_role::input)) enter(static_cast<buffer_id>(b));
    peak = live;
    if (tape.is_any_schedule)
        for (buffer_id b : tape.given_up) leave(b);
    std::vector<overwrite_pair> pairs;
    for (step_id at = 0; at != tape.positions(); ++at) {
        for (yielded y : tape.yields_at(at))
            if (y.to == no_buffer && left[y.from] == 1) leave(y.from);
        for (yielded y : tape.yields_at(at)) {
            if (y.to == no_buffer || left[y.from] != 1 || !is_there[y.from] || is_there[y.to]) continue;
            buffer const &from = tape.table.buffers[y.from], &to = tape.table.buffers[y.to];
            if (to.is_planned() && from.pool == to.pool && from.size >= to.size)
                pairs.push_back({y.from, y.to, to.size});
        }
        std::vector<std::uint32_t> const taken = match_overwrites(pairs);
        for (std::uint32_t i : taken) is_there[pairs[i].out] = 1; // within the operand, beside nobody
        for (buffer_id b : tape.touched[at])
            if (tape.first_write[b] == at) enter(b);
        for (buffer_id b : tape.touched[at]) { // only their pools can have risen
            if (!is_there[b]) continue;
            pool_id const pool = tape.table.buffers[b].pool;
            peak[pool] = std::max(peak[pool], live[pool]);
        }
        for (std::uint32_t i : taken) is_there[pairs[i].out] = 0;
        for (buffer_id b : tape.touched[at])
            if (--left[b] == 0) leave(b);
        for (std::uint32_t i : taken)
            if (left[pairs[i].out] != 0) enter(pairs[i].out); // what is left of the operand's bytes
        pairs.clear();
    }
    byte_count sum = 0;
    for (byte_count p : peak) sum = checked_add(sum, p);
    return sum;
}

} // namespace sublet

#endif
