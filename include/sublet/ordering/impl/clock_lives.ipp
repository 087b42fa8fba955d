// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_CLOCK_LIVES_IPP
#define SUBLET_ORDERING_IMPL_CLOCK_LIVES_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/clock_lives.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <cstddef>

namespace sublet {

SUBLET_DECL std::vector<live_range> clock_lives(concurrent_lives const& lives, clock_times const& clock)
{
    SUBLET_EXPECTS(clock.start.size() == lives.positions, "sublet: the clock is of another graph");
    std::vector<tick_count> starts = clock.start;
    std::sort(starts.begin(), starts.end());
    auto number_of = [&starts](tick_count t) {
        return static_cast<step_id>(first_that(starts.size(), [&](std::size_t i) { return starts[i] >= t; }));
    };
    std::vector<live_range> result;
    result.reserve(lives.buffers());
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        tick_count begin = lives.begins[b].empty() ? 0 : no_limit, end = 0;
        for (step_id at : lives.begins[b]) begin = smaller(begin, clock.start[at]);
        for (step_id at : lives.ends[b]) end = at == lives.positions ? no_limit : larger(end, clock.end[at]);
        step_id const first = number_of(begin);
        result.push_back({first, larger(number_of(end), first + 1)});
    }
    return result;
}

} // namespace sublet

#endif
