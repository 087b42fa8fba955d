// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_IMPL_RELEASE_CONCURRENT_IPP
#define SUBLET_REWRITING_IMPL_RELEASE_CONCURRENT_IPP

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/happens_before.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/rewriting/release_concurrent.hpp>

#include <algorithm>
#include <cstdint>

namespace sublet::detail {

/// Of positions that touch one buffer, ascending, those that none of the others follows.
class last_touches {
public:
    explicit last_touches(dependence_graph const& g)
        : g_(g), order_(g), is_followed_(g.positions()), is_touch_(g.positions())
    {
    }

    void keep_in(std::vector<step_id>& touches)
    {
        std::size_t const count = touches.size();
        if (count < 2) return;
        std::size_t kept = 0;
        if (count <= (touches[count - 1] - touches[0]) / count) { // few: pair by pair
            for (std::size_t i = 0; i != count; ++i) {
                std::size_t k = i + 1;
                while (k != count && !order_.before(touches[i], touches[k])) ++k;
                if (k == count) touches[kept++] = touches[i];
            }
        } else { // many: all that lies between, once
            for (step_id at : touches) is_touch_[at] = 1;
            for (step_id at = touches[count - 1] + 1; at-- != touches[0];) {
                is_followed_[at] = 0;
                for (step_id next : g_.after[at])
                    if (next <= touches[count - 1] && (is_touch_[next] || is_followed_[next]))
                        is_followed_[at] = 1;
            }
            for (std::size_t i = 0; i != count; ++i) {
                is_touch_[touches[i]] = 0;
                if (!is_followed_[touches[i]]) touches[kept++] = touches[i];
            }
        }
        while (touches.size() != kept) touches.pop_back();
    }

private:
    dependence_graph const& g_;
    precedence order_;
    std::vector<unsigned char> is_followed_, is_touch_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL release_points concurrent_releases(snapshot const& p, dependence_graph const& g,
                                               std::size_t buffers, std::vector<buffer_id> const& buffer_of,
                                               std::vector<value_role> const& role)
{
    SUBLET_EXPECTS(!g.violation && g.step_at.size() >= p.steps() && buffer_of.size() == p.values() &&
                       role.size() == p.values(),
                   "sublet: a table has not one entry for each value, or the graph is none");
    detail::buffer_ends const ends(buffers, buffer_of, role);
    concurrent_lives const lives = concurrent_lifetimes(p, g, buffers, buffer_of, role);
    detail::last_touches last(g);
    release_points points;
    points.counter.assign(buffers, 0);
    csr_rows by_buffer;
    std::vector<step_id> row;
    for (buffer_id b = 0; b != buffers; ++b) {
        row.clear();
        if (!ends.is_kept[b])
            for (step_id at : lives.ends[b]) { // where a step reads early it has not ended
                step_id const whole = g.position_of[g.step_at[at]];
                row.push_back(whole);
            }
        std::sort(row.begin(), row.end());
        std::size_t kept = 0;
        for (std::size_t i = 0; i != row.size(); ++i)
            if (kept == 0 || row[kept - 1] != row[i]) row[kept++] = row[i];
        while (row.size() != kept) row.pop_back();
        last.keep_in(row);
        for (step_id at : row) by_buffer.append(g.step_at[at]);
        by_buffer.close_row();
        points.counter[b] = static_cast<std::uint32_t>(row.size());
        if (row.empty() && ends.is_given[b] && !ends.is_kept[b]) points.at_start.push_back(b);
    }
    points.after = by_buffer.transposed(p.steps());
    return points;
}

} // namespace sublet

#endif
