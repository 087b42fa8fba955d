// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_SPOILING_PATH_IPP
#define SUBLET_CHECKING_IMPL_SPOILING_PATH_IPP

#include <sublet/checking/spoiling_path.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/value_role.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL std::optional<witness> find_spoiling_path(flow_paths const& paths, value_id v, node_id n,
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
