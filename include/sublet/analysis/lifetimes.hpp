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
/// a value that is used before it is defined, or whose second write now comes before a read of the first, is
/// a fact about that order, returned as a witness.

#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// The steps by position, if the nodes run in `order` (empty: 0, 1, 2 ...), those of a node together.
///
/// Complexity: O(nodes + steps).
/// Throws:     precondition_error if `order` does not name every node once.
[[nodiscard]] inline std::vector<step_id> steps_in_order(snapshot const& p, std::vector<node_id> const& order)
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

enum class order_fault : std::uint8_t {
    never_defined, ///< `value` is needed at `position` (the number of positions: at the end) and defined
                   ///< nowhere
    defined_later, ///< it is needed there, and its first def is not before
    write_moved    ///< it is written there, on the other side of another of its touches than in the program
};

struct order_violation {
    value_id value = no_value;
    step_id position = 0;
    order_fault what = order_fault::never_defined;
    friend bool operator==(order_violation, order_violation) = default;
};

namespace detail {

/// A write that has changed sides with another touch of its value, against the order of the program: somebody
/// would read another version than it was meant to. A value that is written once and not given has no other
/// version, wherever its def stands in the program.  O(touches log touches)
inline std::optional<order_violation> moved_write(snapshot const& p, std::vector<step_id> const& steps,
                                                  std::vector<value_role> const& role)
{
    enum : std::uint64_t { reads, writes, reads_at_end, moments };
    std::vector<unsigned char> versions(p.values()); // 0, 1 or more
    for (std::size_t v = 0; v != p.values(); ++v) versions[v] = is_given(role[v]) ? 1 : 0;
    for (step_id s = 0; s != steps.size(); ++s)
        for (touch t : p.touches(s))
            if (t.kind == touch_kind::def && versions[t.value] != 2) ++versions[t.value];

    std::vector<step_id> position_of(steps.size());
    for (std::size_t at = 0; at != steps.size(); ++at) position_of[steps[at]] = static_cast<step_id>(at);
    std::vector<keyed> touches; // {value, when in the program, position}
    for (step_id s = 0; s != steps.size(); ++s)
        for (touch t : p.touches(s))
            if (versions[t.value] == 2)
                touches.push_back(
                    {t.value, moments * s + (t.kind == touch_kind::def ? writes : reads), position_of[s]});
    for (edge_use u : p.edge_uses()) {
        if (versions[u.value] != 2) continue;
        step_id const s = p.steps_of(u.pred).last - 1;
        touches.push_back({u.value, moments * s + reads_at_end, position_of[s]});
    }
    sort_keyed(touches);

    std::optional<order_violation> found;
    auto moved = [&found](keyed const& write) {
        if (found && found->position <= write.who) return;
        found = order_violation{static_cast<value_id>(write.key), write.who, order_fault::write_moved};
    };
    std::uint64_t latest = 0; // when, in the new order, the last of the value's touches so far
    keyed const* last_write = nullptr;
    for (std::size_t i = 0; i != touches.size(); ++i) {
        keyed const& t = touches[i];
        std::uint64_t const moment = t.tie % moments, when = moments * t.who + moment;
        if (i == 0 || t.key != touches[i - 1].key) {
            latest = 0;
            last_write = nullptr;
        }
        if (moment == writes) {
            if (when < latest) moved(t);
            last_write = &t;
        } else if (last_write != nullptr && when < moments * last_write->who + writes) {
            moved(*last_write);
        }
        if (latest < when) latest = when;
    }
    return found;
}

/// The first position after which an edge leads to a node whose turn is not later. There the steps do not
/// run one after the other, each once.  O(V + E)
///
/// Requires: `order` is empty or names every node once.
inline std::optional<step_id> first_edge_back(snapshot const& p, std::vector<node_id> const& order)
{
    std::vector<unsigned char> has_run(p.nodes(), 0);
    step_id position = 0;
    for (node_id i = 0; i != p.nodes(); ++i) {
        node_id const n = order.empty() ? i : order[i];
        has_run[n] = 1;
        position += p.steps_of(n).last - p.steps_of(n).first;
        for (node_id next : p.successors(n))
            if (has_run[next]) return position - 1;
    }
    return std::nullopt;
}

} // namespace detail

struct live_ranges {
    std::vector<live_range> of; ///< by value; empty for a value that is neither touched nor given nor output
    step_id positions = 0;
    /// The first in time, then by value; of moved writes, looked for if there is no other, any one.
    std::optional<order_violation> violation;
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
/// Complexity: O(nodes + values + touches) time and memory; where an order is given, another
///             O(touches log touches) for its check.
/// Throws:     precondition_error if the order does not name every node once.
[[nodiscard]] inline live_ranges lifetimes(snapshot const& p, lifetimes_options const& options = {})
{
    std::vector<step_id> const steps = steps_in_order(p, options.order);
    std::vector<value_role> const role = options.role.tabulate(p.values());
    auto const positions = static_cast<step_id>(steps.size());

    live_ranges lives;
    lives.positions = positions;
    lives.of = std::vector<live_range>(p.values());
    std::vector<step_id> first_def(p.values(), no_node);
    for (step_id at = 0; at != positions; ++at)
        for (touch t : p.touches(steps[at]))
            if (t.kind == touch_kind::def && first_def[t.value] == no_node) first_def[t.value] = at;

    // The defs of `ready` steps count: of those before `at`, and where a node ends also of its last.
    auto needed = [&](value_id v, step_id at, step_id ready) {
        if (is_given(role[v]) || first_def[v] < ready) return;
        auto const& first = lives.violation;
        if (first && (first->position < at || (first->position == at && first->value <= v))) return;
        lives.violation = order_violation{
            v, at, first_def[v] == no_node ? order_fault::never_defined : order_fault::defined_later};
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
    if (!lives.violation && !options.order.empty()) lives.violation = detail::moved_write(p, steps, role);
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
