// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPROVE_ORDER_HPP
#define SUBLET_ORDERING_IMPROVE_ORDER_HPP

/// Lower an order where it is highest, again and again.
///
///     bytes            _                             _           the stretch round the peak is searched for
///               _   __/ \__     _             _   __/ \_  _      its best order; then another place is the
///             _/ \_/[      ]\__/ \_         _/ \_/[    ]\/ \_    highest, or a wider stretch is tried
///
/// What a stretch of an order needs depends on its own order only, and every way to run it leaves the same
/// bytes alive. So no search elsewhere is lost. Where the stretches that a search can master do not help, the
/// whole order is scheduled again, with itself as rank: that moves nodes across any distance.
///
/// Source: exchanging a part for its best is large neighbourhood search as of Shaw, "Using constraint
/// programming and local search methods to solve vehicle routing problems", CP 1998.

#include <sublet/contract.hpp>
#include <sublet/ordering/exact_window.hpp>
#include <sublet/ordering/least_peak.hpp>
#include <sublet/ordering/mirrored_graph.hpp>
#include <sublet/ordering/node_order.hpp>
#include <sublet/ordering/order_contest.hpp>
#include <sublet/ordering/order_graph.hpp>
#include <sublet/ordering/peak_walk.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct improve_limits {
    std::uint64_t states = 20'000;       ///< sets of nodes visited at most, by all searches together
    std::uint64_t window_states = 1'000; ///< by one of them
    std::size_t widest = 72;             ///< nodes of a stretch
    std::uint32_t turns = 4;             ///< of searches and schedules
    least_peak_limits schedules = {};    ///< how often the whole order is scheduled again; has the floor, too
};

namespace detail {

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

} // namespace detail

/// Requires:   `order` names every node once, each behind those that it waits for; or the graph has a
///             violation, which is then that of the result.
/// Ensures:    never a higher peak than `order` has, nor than the listed order. The same on every platform.
/// Complexity: the searches visit as many sets of nodes as `limits` allow; each stretch costs besides what
///             its nodes and those it lies away from the last one do.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] inline node_order improve_order(order_graph const& g, std::vector<node_id> order,
                                              improve_limits const& limits = {})
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
