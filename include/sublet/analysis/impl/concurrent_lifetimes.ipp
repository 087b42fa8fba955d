// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_CONCURRENT_LIFETIMES_IPP
#define SUBLET_ANALYSIS_IMPL_CONCURRENT_LIFETIMES_IPP

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet::detail {

/// Leave out of the first row what some of its members directly precede (or follow), as the edges say.
SUBLET_DECL void append_extreme(csr_rows& to, std::vector<step_id> const& row,
                                std::vector<unsigned char> const& is_touch, csr_rows const& edges)
{
    // Enough to see what follows at once; of a step with a thousand successors the rest is not worth the
    // walk.
    constexpr std::size_t looks = 16;
    for (std::size_t i = 0; i != row.size(); ++i) {
        if (i != 0 && row[i] == row[i - 1]) continue;
        bool is_extreme = true;
        std::size_t looked = 0;
        for (step_id next : edges[row[i]]) {
            if (looked++ == looks) break;
            if (is_touch[next]) is_extreme = false;
        }
        if (is_extreme) to.append(row[i]);
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL concurrent_lives concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                  std::size_t buffers,
                                                  std::vector<buffer_id> const& buffer_of,
                                                  std::vector<value_role> const& role)
{
    SUBLET_EXPECTS(buffer_of.size() == p.values() && role.size() == p.values(),
                   "sublet: a table has not one entry for each value");
    auto const positions = static_cast<step_id>(g.positions());
    auto each = [&](bool defs, auto add) { // by ascending position
        for (step_id at = 0; at != positions; ++at) {
            step_id const s = g.step_at[at];
            bool const is_late = g.position_of[s] == at;
            for (touch t : p.touches(s)) {
                if ((t.kind == touch_kind::use_early) == is_late) continue;
                if (buffer_of[t.value] != no_buffer && (!defs || t.kind == touch_kind::def))
                    add(buffer_of[t.value], at);
            }
        }
    };
    csr_rows const defs = csr_rows::gathered(buffers, [&](auto add) { each(true, add); });
    csr_rows const touches = csr_rows::gathered(buffers, [&](auto add) {
        each(false, add);
        for (edge_use u : p.edge_uses())
            if (buffer_of[u.value] != no_buffer)
                add(buffer_of[u.value], g.position_of[p.steps_of(u.pred).last - 1]);
    });
    std::vector<unsigned char> is_given(buffers), is_kept(buffers);
    for (value_id v = 0; v != p.values(); ++v) {
        if (buffer_of[v] == no_buffer) continue;
        if (sublet::is_given(role[v])) is_given[buffer_of[v]] = 1;
        if (has_role(role[v], value_role::output)) is_kept[buffer_of[v]] = 1;
    }

    concurrent_lives lives;
    lives.positions = positions;
    lives.begins.reserve(buffers, buffers);
    lives.ends.reserve(buffers, buffers);
    std::vector<unsigned char> is_touch(positions);
    std::vector<step_id> row;
    for (buffer_id b = 0; b != buffers; ++b) {
        for (step_id at : touches[b]) is_touch[at] = 1;
        if (!is_given[b]) {
            row.assign(defs[b].begin(), defs[b].end());
            detail::append_extreme(lives.begins, row, is_touch, g.before);
        }
        lives.begins.close_row();
        if (is_kept[b]) {
            lives.ends.append(positions);
        } else {
            row.assign(touches[b].begin(), touches[b].end());
            if (!p.edge_uses().empty()) std::sort(row.begin(), row.end()); // those come after all others
            detail::append_extreme(lives.ends, row, is_touch, g.after);
        }
        lives.ends.close_row();
        for (step_id at : touches[b]) is_touch[at] = 0;
    }
    return lives;
}

} // namespace sublet

#endif
