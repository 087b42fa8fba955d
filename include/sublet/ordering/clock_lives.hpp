// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_CLOCK_LIVES_HPP
#define SUBLET_ORDERING_CLOCK_LIVES_HPP

/// From when to when each buffer needs its storage, if steps run when a clock says.
///
///     clock     0         10   12        40        a: begins with the step of 0, ends with that of 12
///     moment    0         1    2         3         a: [0, 3)      who begins at 40 may lie where a was
///
/// Ticks may be nanoseconds, and live ranges have 32 bits. But storage is taken only where a step begins:
/// it is enough to number the moments at which one does.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/ordering/parallel_clock.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// The live ranges of buffers, over the moments of the clock at which a step begins.
///
/// Requires:   `clock` and `lives` are of one graph.
/// Ensures:    two ranges do not overlap if and only if the steps that touch the one buffer have ended in
///             the clock when the first that touches the other begins. An early read holds its buffer to the
///             end of its step. An input lives from moment 0, an output to the end; no range is empty.
/// Complexity: O((positions + begins + ends) log positions) time, O(positions + buffers) memory.
template <std::same_as<clock_times> Clock>
[[nodiscard]] std::vector<live_range> clock_lives(concurrent_lives const& lives, Clock const& clock)
{
    SUBLET_EXPECTS(clock.start.size() == lives.positions, "sublet: the clock is of another graph");
    std::vector<keyed> starts;
    starts.reserve(lives.positions);
    for (step_id at = 0; at != lives.positions; ++at) starts.push_back({clock.start[at], 0, at});
    sort_keyed(starts);
    std::vector<tick_count> moments;
    std::vector<step_id> moment_of(lives.positions); // by position
    for (keyed const& s : starts) {
        if (moments.empty() || moments.back() != s.key) moments.push_back(s.key);
        moment_of[s.who] = static_cast<step_id>(moments.size() - 1);
    }
    auto const all = static_cast<step_id>(moments.size());

    std::vector<live_range> result;
    result.reserve(lives.buffers());
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        live_range life{lives.begins[b].empty() ? 0 : all, 0};
        for (step_id at : lives.begins[b]) life.first = smaller(life.first, moment_of[at]);
        tick_count end = 0;
        for (step_id at : lives.ends[b]) end = at == lives.positions ? no_limit : larger(end, clock.end[at]);
        life.last = static_cast<step_id>(
            first_that(moments.size(), [&](std::size_t i) { return moments[i] >= end; }));
        life.last = larger(life.last, life.first + 1);
        result.push_back(life);
    }
    return result;
}

} // namespace sublet

#endif
