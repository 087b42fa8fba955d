// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_HPP
#define SUBLET_REWRITING_RELEASE_HPP

/// When storage can be given back, for executors that allocate as they go.
///
///     0: def a                     one after the other    a is released after 2, b after 3
///     1: use a, def b              in any order           a has a counter of 2, and 1 and 2 lower it;
///     2: use a, def c                                     b and c have one of 1, which 3 lowers
///     3: use b, use c, def d                              d is an output: nobody releases it
///
/// In one order it is the last touch after which a buffer dies. If steps run as they may, no step knows
/// whether it is the last; but those that another touch of the buffer follows need not be asked. The others
/// each lower a counter, and whoever brings it to zero releases: one counter a buffer, as short as can be.
///
/// Sources: PaddlePaddle's memory transpiler (`release_memory`), which inserts operations that delete; the
/// counters are those of Apache SINGA and OpenMP runtimes, set before the program runs.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/happens_before.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// Which step releases which buffers; or slots: whatever the values were gathered to.
struct release_points {
    csr_rows after; ///< by step: those whose counter it lowers when it has ended, ascending
    std::vector<std::uint32_t> counter;   ///< by buffer, at first; 0: it is never released, or at the start
    std::vector<buffer_id> at_start = {}; ///< given, and touched by nobody

    [[nodiscard]] std::size_t buffers() const { return counter.size(); }
};

namespace detail {

/// By buffer, whether it is there before the first step and whether it is there to the end.
struct buffer_ends {
    std::vector<unsigned char> is_given, is_kept;

    template <std::same_as<value_role> Role>
    buffer_ends(std::size_t buffers, std::vector<buffer_id> const& buffer_of, std::vector<Role> const& role)
        : is_given(buffers), is_kept(buffers)
    {
        for (value_id v = 0; v != buffer_of.size(); ++v) {
            buffer_id const b = buffer_of[v];
            if (b == no_buffer) continue;
            SUBLET_EXPECTS(b < buffers, "sublet: a value is in a buffer that is not there");
            if (sublet::is_given(role[v])) is_given[b] = 1;
            if (has_role(role[v], value_role::output) || has_role(role[v], value_role::external))
                is_kept[b] = 1;
        }
    }
};

/// Of positions that touch one buffer, ascending, those that none of the others follows.
template <std::same_as<dependence_graph> G>
class last_touches {
public:
    explicit last_touches(G const& g)
        : g_(g), order_(g), is_followed_(g.positions()), is_touch_(g.positions())
    {
    }

    template <std::same_as<step_id> Position>
    void keep_in(std::vector<Position>& touches)
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
            for (Position at : touches) is_touch_[at] = 1;
            for (Position at = touches[count - 1] + 1; at-- != touches[0];) {
                is_followed_[at] = 0;
                for (Position next : g_.after[at])
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
    G const& g_;
    precedence order_;
    std::vector<unsigned char> is_followed_, is_touch_;
};

} // namespace detail

/// The release points of a program whose nodes run one after the other. `buffer_of`, by value, is `no_buffer`
/// for what is not released.
///
/// Ensures:    every counter is 1 or 0: a buffer is released after its last touch in the order, in which a
///             use at the end of a node belongs to its last step. Buffers with an output or an external value
///             are not released, nor is what is neither given nor touched.
/// Complexity: O(nodes + values + touches) time, O(values + steps) memory.
/// Throws:     precondition_error if a table has not one entry a value, a buffer is out of range, or the
///             order does not name every node once.
template <std::same_as<snapshot> S>
[[nodiscard]] release_points releases(S const& p, std::size_t buffers,
                                      std::vector<buffer_id> const& buffer_of,
                                      lifetimes_options const& options = {})
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

/// The release points of a program whose steps run whenever they may.
///
/// Requires:   `g` is the graph of `p`, without violation; `role` has an entry a value.
/// Ensures:    a buffer's counter is lowered by the steps that touch it and that no other step which touches
///             it follows in every execution; so it comes to zero when the last touch has ended, and whatever
///             is left out would release it too early in some. What is kept is not released.
/// Complexity: O(values + steps + touches) time and what happens_before() takes, and for a buffer of k
///             touches over w positions another min(k^2 log, those w and their edges).
/// Throws:     precondition_error if a table has not one entry a value, or a buffer is out of range.
template <std::same_as<snapshot> S>
[[nodiscard]] release_points concurrent_releases(S const& p, dependence_graph const& g, std::size_t buffers,
                                                 std::vector<buffer_id> const& buffer_of,
                                                 std::vector<value_role> const& role)
{
    SUBLET_EXPECTS(!g.violation && g.step_at.size() >= p.steps() && buffer_of.size() == p.values() &&
                       role.size() == p.values(),
                   "sublet: a table has not one entry for each value, or the graph is none");
    detail::buffer_ends const ends(buffers, buffer_of, role);
    concurrent_lives const lives = concurrent_lifetimes(p, g, buffers, buffer_of, role);
    detail::last_touches<dependence_graph> last(g);
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

/// Put what releases into a list of operations: `insert(i, buffers)` for those that are to be released in
/// front of its i-th step, which is behind the one before; i is the number of steps for the end.
///
/// Calls come from the end to the front, so that every i is right for the list as it then is, and what was
/// noted of places in front of it (where the backward part begins, say) stays right too: those behind have
/// moved by `shifted_positions`.
///
/// Requires:   all counters are 1 or 0. `order` has the steps by position; empty: as they are numbered.
/// Complexity: O(steps + buffers).
template <std::same_as<release_points> Points, class Insert>
    requires std::invocable<Insert&, step_id, std::span<buffer_id const>>
void insert_releases(Points const& points, std::vector<step_id> const& order, Insert insert)
{
    for (std::uint32_t count : points.counter)
        SUBLET_EXPECTS(count <= 1, "sublet: a buffer that several steps release has no place in a list");
    for (auto at = static_cast<step_id>(points.after.rows()); at-- != 0;) {
        auto const dying = points.after[order.empty() ? at : order[at]];
        if (!dying.empty()) insert(at + 1, dying);
    }
    if (!points.at_start.empty())
        insert(step_id{0}, std::span<buffer_id const>(points.at_start.data(), points.at_start.size()));
}

/// By position, where a step stands after insert_releases() has put in one operation for each of its calls.
template <std::same_as<release_points> Points>
[[nodiscard]] std::vector<step_id> shifted_positions(Points const& points,
                                                     std::vector<step_id> const& order = {})
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
