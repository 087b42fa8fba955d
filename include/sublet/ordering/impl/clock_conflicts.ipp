// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_CLOCK_CONFLICTS_IPP
#define SUBLET_ORDERING_IMPL_CLOCK_CONFLICTS_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/clock_conflicts.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet {

SUBLET_DECL live_range_lists clock_conflicts(live_range_lists const& exact, concurrent_lives const& lives,
                                             std::vector<live_range> const& in_clock,
                                             std::vector<unsigned char> const& may_wait)
{
    SUBLET_EXPECTS(exact.values() == lives.buffers() && in_clock.size() == lives.buffers() &&
                       may_wait.size() == lives.buffers(),
                   "sublet: a table has not one entry for each buffer");
    step_id const positions = lives.positions;
    std::vector<unsigned char> waits(positions); // by position: a buffer begins there that may wait
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        for (step_id at : lives.begins[b])
            if (may_wait[b]) waits[at] = 1;
    std::vector<step_id> turn(std::size_t{positions} + 1, positions); // the next where that is not so, or is
    for (step_id at = positions; at-- != 0;)
        turn[at] = at + 1 != positions && waits[at] == waits[at + 1] ? turn[at + 1] : at + 1;

    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    auto add = [&](live_range r) {
        if (is_empty(r)) return;
        if (ranges.size() != first.back() && ranges.back().last == r.first) ranges.back().last = r.last;
        else ranges.push_back(r);
    };
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        step_id const until = in_clock[b].last;
        std::size_t const most = exact.ranges() + 64 * (std::size_t{b} + 1);
        for (live_range r : exact[b]) {
            add({r.first, smaller(r.last, until)});
            step_id at = larger(r.first, until);
            while (!may_wait[b] && at < r.last && ranges.size() < most) {
                step_id const next = smaller(turn[at], r.last);
                if (!waits[at]) add({at, next});
                at = next;
            }
        }
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {exact.method(), positions, std::move(first), std::move(ranges)};
}

} // namespace sublet

#endif
