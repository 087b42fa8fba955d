// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_CONCURRENT_HPP
#define SUBLET_REWRITING_RELEASE_CONCURRENT_HPP

/// When storage can be given back if steps run whenever they may: counters, as few and as short as can be.
///
///         ┌──► 1: use a, def b ──┐         a has a counter of 2, which 1 and 2 lower: whoever is later
///     0 ──┤                      ├──► 3    brings it to zero, and releases
///         └──► 2: use a, def c ──┘         b and c have one of 1; if 3 used a as well, so would a
///
/// No step knows whether it is the last to touch a buffer. But those that another touch of it follows, in
/// every execution, need not be asked. The others each lower a counter, set before the program runs.
///
/// Source: the reference counts of Apache SINGA's scheduler, which were only right for its one order; here
/// who counts follows from happens-before.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/happens_before.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

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

} // namespace detail

/// The release points of a program whose steps run whenever they may.
///
/// Requires:   `g` is the graph of `p`, without violation; `role` has an entry a value.
/// Ensures:    a buffer's counter is lowered by the steps that touch it and that no other step which touches
///             it follows in every execution; so it comes to zero when the last touch has ended, and whatever
///             is left out would release it too early in some. What is kept is not released.
/// Complexity: O(values + steps + touches) time and what happens_before() takes, and for a buffer of k
///             touches over w positions another min(k^2 log, those w and their edges).
/// Throws:     precondition_error if a table has not one entry a value, or a buffer is out of range.
[[nodiscard]] inline release_points concurrent_releases(snapshot const& p, dependence_graph const& g,
                                                        std::size_t buffers,
                                                        std::vector<buffer_id> const& buffer_of,
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
        sort_ascending(row);
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
