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

#include <sublet/ordering/list_schedule.hpp>
#include <sublet/ordering/longest_path.hpp>
#include <sublet/ordering/mirrored_graph.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/order_contest.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/ordering/plain_walks.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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
inline void schedule_again(order_contest& contest, order_graph const& g, order_graph const& mirror,
                           least_peak_limits const& limits, std::uint32_t made = 0)
{
    std::uint64_t const fitting = limits.nodes / larger(g.nodes(), std::size_t{1});
    std::uint64_t const most = smaller(std::uint64_t{limits.schedules}, fitting);
    std::uint32_t failed = 0;
    for (std::uint32_t turn = 0; made + turn < most && failed != limits.patience; ++turn) {
        if (contest.is_over()) return;
        byte_count const peak = contest.best().peak;
        // A goal just below keeps most of the order, a low one finds an order of its own.
        byte_count const goals[] = {peak - 1, peak - peak / 16, peak - peak / 4};
        schedule_rule const rule{larger(limits.floor, goals[turn / 2 % 3]), false};
        std::vector<node_id> order = contest.best().order;
        bool const from_end = turn % 2 != 0;
        if (from_end) order = {order.rbegin(), order.rend()};
        order = list_schedule(from_end ? mirror : g, order, rule);
        bool const is_better = from_end ? contest.enter_reversed(order, order_method::reversed)
                                        : contest.enter(std::move(order), order_method::least_peak);
        failed = is_better ? 0 : failed + 1;
    }
}

} // namespace detail

/// Ensures:    never worse than the listed order. How good the order is nobody promises; `lower_bound` is the
///             floor that was given, and an order that reaches it is optimal.
/// Complexity: that of list_schedule(), so many times as `limits` allow, and O(E + V log V).
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] inline node_order least_peak(order_graph const& g, least_peak_limits const& limits = {})
{
    order_contest contest(g, limits.floor);
    auto enter = [&](auto walk, order_method how) {
        if (!contest.is_over()) contest.enter(walk(g), how);
    };
    enter([](order_graph const& x) { return on_demand(x); }, order_method::on_demand);
    enter([](order_graph const& x) { return depth_first(x); }, order_method::depth_first);
    enter([](order_graph const& x) { return longest_path(x); }, order_method::longest_path);
    enter([](order_graph const& x) { return breadth_first(x); }, order_method::breadth_first);
    if (contest.is_over()) return contest.best();
    order_graph const mirror = mirrored(g);
    contest.enter(list_schedule(g, topological(g), {limits.floor, true}), order_method::least_peak);
    if (!contest.is_over())
        contest.enter_reversed(list_schedule(mirror, topological(mirror), {limits.floor, true}),
                               order_method::reversed);
    detail::schedule_again(contest, g, mirror, limits, 2);
    return contest.best();
}

} // namespace sublet

#endif
