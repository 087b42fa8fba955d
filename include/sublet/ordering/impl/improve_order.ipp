// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_IMPROVE_ORDER_IPP
#define SUBLET_ORDERING_IMPL_IMPROVE_ORDER_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/exact_window.hpp>
#include <sublet/ordering/improve_order.hpp>
#include <sublet/ordering/mirrored_graph.hpp>
#include <sublet/ordering/order_contest.hpp>
#include <sublet/ordering/peak_walk.hpp>

#include <span>
#include <utility>

namespace sublet::detail {

/// An order with what each of its nodes needs, and its searches.
class order_stretches {
public:
    /// `states` is how many sets of nodes the searches may visit, and is counted down.
    order_stretches(order_graph const& g, std::vector<node_id> order, std::uint64_t& states)
        : g_(g), walk_(g), order_(std::move(order)), left_(states)
    {
        for (node_id n : order_) most_.push_back(walk_.run(n));
    }
    [[nodiscard]] std::vector<node_id> const& order() const { return order_; }

    /// Find a better order for some stretch round the highest node; false if none is found.
    bool lower_peak(improve_limits const& limits)
    {
        std::size_t top = 0;
        for (std::size_t at = 0; at != most_.size(); ++at)
            if (most_[at] > most_[top]) top = at;
        for (std::size_t width = 8; width <= limits.widest; width *= 3) {
            for (std::size_t part : {2u, 3u, 1u}) { // so many quarters before the peak
                if (left_ == 0) return false;
                std::size_t const before = width / 4 * part;
                std::size_t const first = top > before ? top - before : 0;
                if (search(first, smaller(first + width, order_.size()), limits)) return true;
            }
            if (width >= order_.size()) break;
        }
        return false;
    }

private:
    bool search(std::size_t first, std::size_t last, improve_limits const& limits)
    {
        byte_count outside = 0, inside = 0; // no use to be lower than the rest
        for (std::size_t at = 0; at != most_.size(); ++at)
            (at < first || at >= last ? outside : inside) =
                larger(most_[at], at < first || at >= last ? outside : inside);
        while (walk_.ran() > first) walk_.step_back();
        while (walk_.ran() < first) walk_.run(order_[walk_.ran()]);
        order_search_limits asked;
        asked.states = smaller(left_, limits.window_states);
        asked.floor = larger(outside, limits.schedules.floor);
        window_order const found =
            exact_window(g_, walk_, std::span<node_id const>(order_).subspan(first, last - first), asked);
        left_ -= smaller(left_, larger(found.states, std::uint64_t{1}));
        if (found.peak >= inside) return false;
        for (std::size_t i = 0; i != found.order.size(); ++i) {
            order_[first + i] = found.order[i];
            most_[first + i] = walk_.run(found.order[i]);
        }
        return true;
    }

    order_graph const& g_;
    peak_walk walk_;
    std::vector<node_id> order_;
    std::vector<byte_count> most_; // by place: bytes alive while the node there runs
    std::uint64_t& left_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL node_order improve_order(order_graph const& g, std::vector<node_id> order,
                                     improve_limits const& limits)
{
    order_contest contest(g, limits.schedules.floor);
    if (contest.best().violation) return contest.best();
    contest.enter(std::move(order), order_method::improved);
    order_graph const mirror = mirrored(g);
    std::uint64_t left = limits.states;
    for (std::uint32_t turn = 0; turn != limits.turns && left != 0 && !contest.is_over(); ++turn) {
        byte_count const before = contest.best().peak;
        detail::order_stretches stretches(g, contest.best().order, left);
        while (stretches.lower_peak(limits)) {}
        contest.enter(stretches.order(), order_method::improved);
        detail::schedule_again(contest, g, mirror, limits.schedules);
        if (contest.best().peak == before) break;
    }
    return contest.best();
}

} // namespace sublet

#endif
