// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_PLAN_REQUIREMENTS_HPP
#define SUBLET_GRAPH_INTERNAL_PLAN_REQUIREMENTS_HPP

/// What a program and its options require of every plan, derived without any plan or planner.
///
///     position         0      1      2         class of a and b:  root a, live [0, 3), output,
///                    def a  use a  use b                          size of a, alignment: lcm of
///                           def b                                 those of a and b
///     b = view of a, output
///
/// This is the checker's own derivation. It shares no code with the planners' analyses (analysis/), so that
/// one mistake cannot affect both. A value with all its views is a class; tables are by value, and the entry
/// of the root is that of the class.

#include <sublet/core/internal/known_property.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// How a step accesses a value. `changes`: reads and writes bytes in place; `views`: makes a view and
/// accesses no byte; `views_and_reads`: makes a view and reads its bytes; `views_and_changes`: makes a view
/// and writes through it; `reads_at_end`: at the end of its node, after every write.
enum class access_kind : std::uint8_t {
    reads_early,
    reads,
    changes,
    views,
    views_and_reads,
    views_and_changes,
    writes,
    reads_at_end
};

struct plan_requirements {
    static constexpr position_id never = no_position;

    table<step_id, position_id> position;
    table<value_id, position_id> first_def; ///< the position, or `never`
    known_property<value_role> role;        ///< without its class
    known_property<byte_count> alignment;
    known_property<byte_count> offset_in_root;  ///< saturated; the root's is 0
    table<value_id, value_id> root;             ///< the tables below are valid at roots
    known_property<value_role> class_role;      ///< the union
    table<value_id, byte_count> bytes;
    known_property<byte_count> pinned; ///< as given; the root's is that of its class, as far as it tells
    known_property<pool_id> pool;
    known_property<bool> eligible; ///< as given; another than that of the root is a fault
    known_property<std::uint32_t> kind;
    table<value_id, live_range> life;

    /// Whether the class needs planned storage.
    [[nodiscard]] bool is_planned(value_id of_root) const
    {
        return is_used(of_root) && bytes[of_root] != 0 && bytes[of_root] != no_size;
    }
    /// Whether it would need it if it had bytes.
    [[nodiscard]] bool is_empty_storage(value_id of_root) const
    {
        return is_used(of_root) && bytes[of_root] == 0;
    }

    /// Behind the last byte of v in its root; `no_size`: unknown. In storage of no bytes a value ends a byte
    /// after it begins: accesses of it keep their order, too.
    [[nodiscard]] byte_count end_in_root(value_id v) const
    {
        byte_count const begin = offset_in_root[v], its = bytes[v];
        if (its == no_size || !sum_fits(begin, its)) return no_size;
        return begin + (bytes[root[v]] == 0 ? 1 : its);
    }

private:
    [[nodiscard]] bool is_used(value_id of_root) const
    {
        return !has_role(class_role[of_root], value_role::external) && eligible[of_root] &&
               !is_empty(life[of_root]);
    }
};

table<step_id, position_id> positions_in(std::vector<node_id> const& order, snapshot const& program);

/// The end of the chain of views of each value, in O(values).
table<value_id, value_id> roots_of(table<value_id, value_id> const& alias_of);

/// The first byte of each value in its root, in O(values log values). Sums saturate at no_offset - 1.
table<value_id, byte_count> offsets_along(table<value_id, value_id> alias_of,
                                          table<value_id, byte_count> offset);

/// Calls `visit(value, position, access_kind)` for every touch, step by step, then for uses at node ends.
template <class Visit>
void each_touch(snapshot const& program, table<step_id, position_id> const& position, Visit visit)
{
    auto kind_of = [](touch t) {
        switch (t.kind) {
        case touch::access::use_early: return access_kind::reads_early;
        case touch::access::use: return access_kind::reads;
        case touch::access::write: return access_kind::changes;
        case touch::access::view: return access_kind::views;
        case touch::access::read_view: return access_kind::views_and_reads;
        case touch::access::write_view: return access_kind::views_and_changes;
        case touch::access::def:
        case touch::access::allocate: break;
        }
        return access_kind::writes;
    };
    for (step_id s = 0; s != program.steps(); ++s)
        for (touch t : program.touches(s)) visit(t.value, position[s], kind_of(t));
    for (edge_use u : program.edge_uses())
        visit(u.value, position[program.steps_of(u.pred).last - 1], access_kind::reads_at_end);
}

/// Complexity: O(values + steps + touches) time and memory.
/// Throws:     precondition_error if the size of a table is not the number of values, an alignment is 0,
///             views form a cycle, or the order does not name every node once.
[[nodiscard]] plan_requirements derive_requirements(snapshot const& program, plan_options const& options);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/plan_requirements.ipp>
#endif

#endif
