// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIFETIMES_HPP
#define SUBLET_ANALYSIS_LIFETIMES_HPP

/// When each value is alive, if the steps run one after the other.
///
///     position        0        1        2        3
///                   def a  use a      use a    def d
///                          def b      def c
///     a             [==================)                 to the end of its last touch
///     b                    [==)                          never read, but written all the same
///
/// A use holds its storage to the end of its step, so no output of a step shares with its inputs; a use
/// declared early ends where the writes of its step begin. The order is the caller's and is only checked:
/// a value that is used before it is defined is a fact about the program, returned as a witness.

#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sublet {

/// The steps by position, if the nodes run in `order` (empty: 0, 1, 2 ...), those of a node together.
///
/// Complexity: O(nodes + steps).
/// Throws:     precondition_error if `order` does not name every node once.
template <std::same_as<snapshot> S>
[[nodiscard]] std::vector<step_id> steps_in_order(S const& p, std::span<node_id const> order)
{
    std::vector<step_id> steps;
    steps.reserve(p.steps());
    if (order.empty()) {
        for (std::size_t s = 0; s != p.steps(); ++s) steps.push_back(static_cast<step_id>(s));
        return steps;
    }
    SUBLET_EXPECTS(order.size() == p.nodes(), "sublet: an order has to name every node once");
    std::vector<unsigned char> named(p.nodes());
    for (node_id n : order) {
        SUBLET_EXPECTS(n < p.nodes() && !named[n], "sublet: an order has to name every node once");
        named[n] = 1;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) steps.push_back(s);
    }
    return steps;
}

/// `value` is needed at `position` (at the end, if that is the number of positions) and not there yet.
struct order_violation {
    value_id value = no_value;
    step_id position = 0;
    bool is_defined_later = false; ///< otherwise it is defined nowhere
    friend bool operator==(order_violation, order_violation) = default;
};

struct live_ranges {
    std::vector<live_range> of; ///< by value; empty for a value that is neither touched nor given nor output
    step_id positions = 0;
    std::optional<order_violation> violation; ///< the first in time, then by value
};

struct lifetimes_options {
    per_value<value_role> role = value_role::intermediate;
    std::vector<node_id> order = {}; ///< empty: 0, 1, 2 ...
};

/// The live range of every value in an order of the nodes: the sequential reading of a program.
///
/// Ensures:    an input lives from position 0, an output to the end. A value with several defs is one
///             value, alive from the first to its last touch. A use at the end of a predecessor follows
///             what that node's last step writes. Where `violation` is set, ranges are of no use.
/// Complexity: O(nodes + values + touches) time and memory.
/// Throws:     precondition_error if the order does not name every node once.
template <std::same_as<snapshot> S>
[[nodiscard]] live_ranges lifetimes(S const& p, lifetimes_options const& options = {})
{
    std::vector<step_id> const steps = steps_in_order(p, options.order);
    std::vector<value_role> const role = options.role.tabulate(p.values());
    auto const positions = static_cast<step_id>(steps.size());

    live_ranges lives;
    lives.positions = positions;
    lives.of.assign(p.values(), {});
    std::vector<step_id> first_def(p.values(), no_node);
    for (step_id at = 0; at != positions; ++at)
        for (touch t : p.touches(steps[at]))
            if (t.kind == touch_kind::def && first_def[t.value] == no_node) first_def[t.value] = at;

    // The defs of `ready` steps count: of those before `at`, and where a node ends also of its last.
    auto needed = [&](value_id v, step_id at, step_id ready) {
        if (is_given(role[v]) || first_def[v] < ready) return;
        auto const& first = lives.violation;
        if (first && (first->position < at || (first->position == at && first->value <= v))) return;
        lives.violation = order_violation{v, at, first_def[v] != no_node};
    };
    auto held = [&](value_id v, step_id until) {
        if (lives.of[v].last < until) lives.of[v].last = until;
    };
    for (step_id at = 0; at != positions; ++at)
        for (touch t : p.touches(steps[at])) {
            if (t.kind != touch_kind::def) needed(t.value, at, at);
            held(t.value, t.kind == touch_kind::use_early ? at : at + 1);
        }
    std::vector<step_id> position_of(p.edge_uses().empty() ? 0 : steps.size());
    for (step_id at = 0; at != position_of.size(); ++at) position_of[steps[at]] = at;
    for (edge_use u : p.edge_uses()) {
        step_id const at = position_of[p.steps_of(u.pred).last - 1];
        needed(u.value, at, at + 1);
        held(u.value, at + 1);
    }
    for (std::size_t i = 0; i != p.values(); ++i) {
        auto const v = static_cast<value_id>(i);
        if (has_role(role[v], value_role::input)) held(v, 1);
        if (has_role(role[v], value_role::output)) {
            needed(v, positions, positions);
            held(v, positions);
        }
        lives.of[v].first = is_given(role[v]) || first_def[v] == no_node ? 0 : first_def[v];
    }
    return lives;
}

template <program P>
    requires(!std::same_as<P, snapshot>)
[[nodiscard]] live_ranges lifetimes(P const& p, lifetimes_options const& options = {})
{
    return lifetimes(as_snapshot(p), options);
}

} // namespace sublet

#endif
