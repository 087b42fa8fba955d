// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_LEAST_PEAK_HPP
#define SUBLET_ORDERING_LEAST_PEAK_HPP

/// An order with a low peak, for graphs of any size.
///
///     listed, depth first, ...   ──►  the best so far  ──►  scheduled again, with its own order as rank and
///     a least peak first, from                ▲               lower goal, forwards or from the end either
///     end                            └────────────── if that is better
///
/// No rule wins everywhere, but all are cheap, so several run and the best stays. That one is then the rank
/// of the next schedule: nodes that grow keep the places that proved good, nodes that give bytes back move
/// forward as far as they can; seen from the end, what makes bytes that are needed late moves backward. A few
/// turns of that go further than all the rules together.

#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/order_contest.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <cstdint>

namespace sublet {

struct least_peak_limits {
    std::uint32_t schedules = 32; ///< made at most, ...
    std::uint64_t nodes =
        400'000; ///< ... so many nodes in all of them; one from either end even if that is more
    std::uint32_t patience = 6; ///< so many in a row that were no better are the end
    byte_count floor = 0;       ///< a peak that no order goes below, if it is known
};

namespace detail {

/// Schedule the best order of a contest again and again, if `made` schedules have been made before.
void schedule_again(order_contest& contest, order_graph const& g, order_graph const& mirror,
                    least_peak_limits const& limits, std::uint32_t made = 0);

} // namespace detail

/// Ensures:    never worse than the listed order. How good the order is nobody promises; `lower_bound` is the
///             floor that was given, and an order that reaches it is optimal.
/// Complexity: that of list_schedule(), so many times as `limits` allow, and O(E + V log V).
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] node_order least_peak(order_graph const& g, least_peak_limits const& limits = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/least_peak.ipp>
#endif

#endif
