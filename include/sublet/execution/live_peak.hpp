// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_LIVE_PEAK_HPP
#define SUBLET_EXECUTION_LIVE_PEAK_HPP

/// How many bytes a run cannot do without.
///
///     position      0   1   2
///     a: 8          [=======)
///     b: 4              [=======)       8, then 12, or 8 if b may be written over a; then 4
///
/// A walk along the tape with the bytes of all that is there: inputs come first, a result comes with the
/// first step that writes it, and all leave with their last touch. Of the in-place pairs of a step as many
/// bytes are saved as its results can save together.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// The most bytes alive at once in each pool, as many results written in place as can be; summed over the
/// pools. What no arenas for these values go below, nor, of one pool, any storage, whoever gives it out.
///
/// Complexity: O(touches + buffers + pairs), and match_overwrites() at each position.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are alive at once.
[[nodiscard]] inline byte_count live_peak(run_tape const& tape)
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
