// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_LEAST_PEAK_IPP
#define SUBLET_ORDERING_IMPL_LEAST_PEAK_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/least_peak.hpp>
#include <sublet/ordering/list_schedule.hpp>
#include <sublet/ordering/longest_path.hpp>
#include <sublet/ordering/mirrored_graph.hpp>
#include <sublet/ordering/plain_walks.hpp>
#include <sublet/ordering/topological.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL void schedule_again(order_contest& contest, order_graph const& g, order_graph const& mirror,
                                least_peak_limits const& limits, std::uint32_t made)
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL node_order least_peak(order_graph const& g, least_peak_limits const& limits)
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
