// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_IMPL_RELEASE_IPP
#define SUBLET_REWRITING_IMPL_RELEASE_IPP

#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/rewriting/release.hpp>

namespace sublet {

SUBLET_DECL std::size_t release_points::buffers() const { return counter.size(); }

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL buffer_ends::buffer_ends(std::size_t buffers, std::vector<buffer_id> const& buffer_of,
                                     std::vector<value_role> const& role)
    : is_given(buffers), is_kept(buffers)
{
    for (value_id v = 0; v != buffer_of.size(); ++v) {
        buffer_id const b = buffer_of[v];
        if (b == no_buffer) continue;
        SUBLET_EXPECTS(b < buffers, "sublet: a value is in a buffer that is not there");
        if (sublet::is_given(role[v])) is_given[b] = 1;
        if (has_role(role[v], value_role::output) || has_role(role[v], value_role::external)) is_kept[b] = 1;
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL release_points releases(snapshot const& p, std::size_t buffers,
                                    std::vector<buffer_id> const& buffer_of, lifetimes_options const& options)
{
    SUBLET_EXPECTS(buffer_of.size() == p.values(), "sublet: a table has not one entry for each value");
    detail::buffer_ends const ends(buffers, buffer_of, options.role.tabulate(p.values()));
    std::vector<step_id> const steps = steps_in_order(p, options.order);
    std::vector<step_id> last(buffers, no_step), position_of(steps.size()); // by buffer, by step
    for (step_id at = 0; at != steps.size(); ++at) position_of[steps[at]] = at;
    auto touched = [&](value_id v, step_id s) {
        buffer_id const b = buffer_of[v];
        if (b != no_buffer && (last[b] == no_step || position_of[last[b]] < position_of[s])) last[b] = s;
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touched(t.value, s);
    for (edge_use u : p.edge_uses()) touched(u.value, p.steps_of(u.pred).last - 1);

    release_points points;
    points.counter.assign(buffers, 0);
    points.after = csr_rows::gathered(p.steps(), [&](auto add) {
        for (buffer_id b = 0; b != buffers; ++b)
            if (last[b] != no_step && !ends.is_kept[b]) add(last[b], b);
    });
    for (buffer_id b = 0; b != buffers; ++b) {
        if (ends.is_kept[b]) continue;
        if (last[b] != no_step) points.counter[b] = 1;
        else if (ends.is_given[b]) points.at_start.push_back(b);
    }
    return points;
}

SUBLET_DECL std::vector<step_id> shifted_positions(release_points const& points,
                                                   std::vector<step_id> const& order)
{
    std::vector<step_id> shifted;
    step_id to = points.at_start.empty() ? 0 : 1;
    for (step_id at = 0; at != points.after.rows(); ++at) {
        shifted.push_back(to);
        to += points.after[order.empty() ? at : order[at]].empty() ? 1u : 2u;
    }
    return shifted;
}

} // namespace sublet

#endif
