// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DEMANDS_HPP
#define SUBLET_CHECKING_DEMANDS_HPP

/// What a program and its options demand of every plan, worked out without any plan or planner.
///
///     position         0      1      2         class of a and b:  root a, alive [0, 3), output,
///                    def a  use a  use b                          as large as a, at a multiple of
///                           def b                                 a's alignment and of b's
///     b = view of a, output
///
/// It is the checker's own derivation, on purpose a second one: had it anything in common with what planners
/// use (analysis/), one mistake there would fool both. A value with all its views is a class; tables are by
/// value, and where the class counts, the entry of its root speaks for it.

#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// How a step touches a value. `reads_at_end`: where its node ends, after every write.
enum class moment : std::uint8_t { reads_early, reads, writes, reads_at_end };

struct plan_demands {
    static constexpr step_id never = ~step_id{0};

    std::vector<step_id> position;  ///< by step
    std::vector<step_id> first_def; ///< by value: its position, or `never`
    std::vector<value_role> role;   ///< by value, its own
    std::vector<byte_count> alignment;
    std::vector<value_id> root;         ///< by value; all below count at the root
    std::vector<value_role> class_role; ///< the union
    std::vector<byte_count> bytes;
    std::vector<byte_count> pinned; ///< a pin on any of the class, unless the root has one of its own
    std::vector<pool_id> pool;
    std::vector<unsigned char> eligible; ///< all of the class
    std::vector<live_range> life;

    /// Whether storage is to be planned for the class.
    [[nodiscard]] bool is_planned(value_id of_root) const
    {
        return !has_role(class_role[of_root], value_role::external) && eligible[of_root] &&
               bytes[of_root] != 0 && bytes[of_root] != no_size && !is_empty(life[of_root]);
    }
};

namespace detail {

inline std::vector<step_id> positions_in(std::vector<node_id> const& order, snapshot const& program)
{
    std::size_t const nodes = program.nodes();
    SUBLET_EXPECTS(order.empty() || order.size() == nodes, "sublet: an order has to name every node once");
    std::vector<step_id> position(program.steps(), plan_demands::never);
    step_id next = 0;
    for (std::size_t i = 0; i != nodes; ++i) {
        node_id const n = order.empty() ? static_cast<node_id>(i) : order[i];
        SUBLET_EXPECTS(n < nodes, "sublet: an order has to name every node once");
        step_range const steps = program.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            SUBLET_EXPECTS(position[s] == plan_demands::never,
                           "sublet: an order has to name every node once");
            position[s] = next++;
        }
    }
    return position;
}

/// By value, the end of its chain of views. A stretch of a chain is walked once, whatever hangs on it.
inline std::vector<value_id> roots_of(std::vector<value_id> const& alias_of)
{
    std::size_t const values = alias_of.size();
    std::vector<value_id> root(values, no_value);
    for (value_id v = 0; v != values; ++v) {
        value_id end = v;
        for (std::size_t walked = 0; root[end] == no_value && alias_of[end] != no_value; ++walked) {
            SUBLET_EXPECTS(alias_of[end] < values, "sublet: alias_of names a value that does not exist");
            SUBLET_EXPECTS(walked != values, "sublet: views run in a circle");
            end = alias_of[end];
        }
        value_id const top = root[end] == no_value ? end : root[end];
        for (value_id u = v; u != end; u = alias_of[u]) root[u] = top;
        root[end] = top;
    }
    return root;
}

} // namespace detail

/// Call `see(value, position, moment)` for every touch, those of a step in a row; ends of nodes come last.
template <class See>
void each_touch(snapshot const& program, std::vector<step_id> const& position, See see)
{
    for (step_id s = 0; s != program.steps(); ++s)
        for (touch t : program.touches(s))
            see(t.value, position[s],
                t.kind == touch_kind::def   ? moment::writes
                : t.kind == touch_kind::use ? moment::reads
                                            : moment::reads_early);
    for (edge_use u : program.edge_uses())
        see(u.value, position[program.steps_of(u.pred).last - 1], moment::reads_at_end);
}

/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error if a table has not one entry a value, an alignment is 0, views run in a
///             circle, or the order does not name every node once.
[[nodiscard]] inline plan_demands demands(snapshot const& program, plan_options const& options)
{
    std::size_t const values = program.values();
    plan_demands d;
    d.position = detail::positions_in(options.order, program);
    d.root = detail::roots_of(options.alias_of.tabulate(values));
    d.role = options.role.tabulate(values);
    d.class_role = std::vector<value_role>(values);
    d.alignment = options.alignment.tabulate(values);
    d.bytes = options.bytes.tabulate(values);
    d.pinned = options.pinned.tabulate(values);
    d.pool = options.pool.tabulate(values);
    d.eligible = options.eligible.tabulate(values);
    for (pool_limits const& p : options.pools)
        SUBLET_EXPECTS(p.alignment >= 1, "sublet: the alignment of a pool is at least 1");
    for (value_id v = 0; v != values; ++v) {
        SUBLET_EXPECTS(d.alignment[v] >= 1, "sublet: an alignment is at least 1");
        value_id const r = d.root[v];
        d.class_role[r] = d.class_role[r] | d.role[v];
        if (d.pinned[r] == no_offset) d.pinned[r] = d.pinned[v];
        if (!d.eligible[v]) d.eligible[r] = 0;
    }

    d.first_def.assign(values, plan_demands::never);
    d.life = std::vector<live_range>(
        values, {plan_demands::never, 0}); // empty until a def or a role says where it begins
    each_touch(program, d.position, [&d](value_id v, step_id p, moment m) {
        live_range& life = d.life[d.root[v]];
        life.last = larger(life.last, m == moment::reads_early ? p : p + 1);
        if (m != moment::writes) return;
        life.first = smaller(life.first, p);
        d.first_def[v] = smaller(d.first_def[v], p);
    });
    step_id const end = larger(static_cast<step_id>(program.steps()), step_id{1});
    for (value_id r = 0; r != values; ++r) {
        live_range& life = d.life[r];
        if (has_role(d.class_role[r], value_role::input)) life = {0, larger(life.last, step_id{1})};
        if (has_role(d.class_role[r], value_role::output)) life.last = end;
        if (is_empty(life)) life = {};
    }
    return d;
}

} // namespace sublet

#endif
