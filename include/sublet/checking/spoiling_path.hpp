// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_SPOILING_PATH_HPP
#define SUBLET_CHECKING_SPOILING_PATH_HPP

/// Why a value is not intact: a path on which it is written, and then something else is, over it.
///
///     0: def a ──► 1: def b, upon a ──► 2: use a        from the use back: 2, 1 (b spoils it), 0 (a)
///       └──────────────────────────────►┘               the other way nothing is wrong
///
/// The search goes backwards, and in two states: what has spoilt the value is still to be met, or it has been
/// and a write of the value before is still to be met. Who comes to the entry without one has only found that
/// the value was never written, which is no matter of places.

#include <sublet/checking/demands.hpp>
#include <sublet/checking/intact_values.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

/// What a search for a path has to know. Refers to what it is made of.
struct flow_paths {
    snapshot const& program;
    plan_demands const& asked;
    placed_classes const& classes;
    std::vector<unsigned char> is_reached; ///< by node, from the entry
    std::vector<value_id> beside_entry;    ///< by rank of what is given: another that is, upon it; `no_value`
};

/// A path on which v is written or given, then something else is over it, and then step `before` of node n
/// comes (or its end, if it has no such step).
///
/// Ensures:    the witness says what spoils v, and where.
/// Complexity: O(V + E + touches).
[[nodiscard]] inline std::optional<witness> find_spoiling_path(flow_paths const& paths, value_id v, node_id n,
                                                               step_id before)
{
    struct place {
        node_id node;
        step_id before;
        value_id spoiler; // `no_value`: still to be met
        step_id step;
    };
    snapshot const& p = paths.program;
    placed_classes const& classes = paths.classes;
    auto spoils = [&](value_id other) {
        return classes.is_placed(other) && classes.rank_of(other) != classes.rank_of(v) &&
               classes.meet(other, v);
    };
    std::vector<unsigned char> is_seen(p.nodes(), 0), is_seen_spoilt = is_seen;
    std::vector<place> open{{n, before, no_value, no_step}};
    while (!open.empty()) {
        place at = open.back();
        open.pop_back();
        bool is_written = false;
        for (step_id s = at.before; s != p.steps_of(at.node).first && !is_written;) {
            --s;
            for (touch t : p.touches(s))
                is_written = is_written || (t.kind == touch_kind::def && t.value == v);
            if (is_written || at.spoiler != no_value) continue;
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::def && spoils(t.value)) {
                    at.spoiler = t.value;
                    at.step = s;
                }
        }
        bool const is_there = is_written || (at.node == 0 && is_given(paths.asked.role[v]));
        if (is_there && at.spoiler != no_value)
            return classes.clash(v, at.spoiler, paths.asked.position[at.step]);
        if (is_written) continue;
        if (value_id const other = paths.beside_entry[classes.rank_of(v)]; is_there && other != no_value)
            return classes.clash(v, other, paths.asked.position[p.steps_of(0).first]);
        for (node_id from : p.predecessors(at.node)) {
            std::vector<unsigned char>& seen = at.spoiler == no_value ? is_seen : is_seen_spoilt;
            if (!paths.is_reached[from] || std::exchange(seen[from], 1)) continue;
            open.push_back({from, p.steps_of(from).last, at.spoiler, at.step});
        }
    }
    return std::nullopt;
}

} // namespace sublet

#endif
