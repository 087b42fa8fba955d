// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_CONCURRENT_HPP
#define SUBLET_SHARING_IN_PLACE_CONCURRENT_HPP

/// Let results be written over operands that nobody can need any more, whatever order the steps run in.
///
///     0: x ──► 1: use x ──► 2: y = relu(x), use 1     y may overwrite x: 1 is done before 2
///     └──────────────────► 3: use x                   not if there is a 3, which nothing holds back
///
/// As long as all who touch the operand come before the step, and all who touch the result behind it, the
/// joined buffer is free for others exactly when the result is, and others have to be done exactly when they
/// had to be done for the operand. It never costs anything either: of buffers that pairwise cannot share, two
/// could not be in the way of the joined one, one sharing with the operand and one with the result, for those
/// two would share with each other. So the largest sum of such buffers does not grow where sizes are equal.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/sharing/in_place_pairs.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

/// Join the buffers of declared in-place pairs.
///
/// Requires:   `g` is the graph of `p`, without violation, and `oracle` knows its order.
/// Ensures:    match_in_place() says which pairs are taken. A buffer is free if, under every schedule, all
///             its other touches come before the step (what is read where the step's node ends does not) and
///             the step does not only read it early; another begins at a step if all its other defs come
///             behind it.
/// Complexity: O(values + touches + pairs) time, match_overwrites() for each step, and as many calls of
///             `oracle` as pairs have touches of their buffers; none for a pair whose operand is touched at a
///             later position.
template <precedence_oracle Oracle>
[[nodiscard]] buffer_table take_in_place_concurrently(snapshot const& p, dependence_graph const& g,
                                                      buffer_table table, Oracle& oracle)
{
    if (p.overwrites().empty()) return table;

    std::size_t const buffers = table.buffers.size();
    std::vector<unsigned char> has_pair(buffers);
    for (overwrite o : p.overwrites()) has_pair[table.buffer_of[o.in]] = has_pair[table.buffer_of[o.out]] = 1;
    auto gather = [&](auto wanted) { // by buffer, steps
        return csr_rows::gathered(buffers, [&](auto add) {
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s))
                    if (buffer_id const b = table.buffer_of[t.value]; has_pair[b] && wanted(t.kind))
                        add(b, s);
        });
    };
    csr_rows const touches = gather([](touch_kind) { return true; });
    std::vector<step_id> last(buffers, 0); // the last position that touches it: only there it can be free
    for (buffer_id b = 0; b != buffers; ++b)
        for (step_id s : touches[b]) last[b] = larger(last[b], g.position_of[s]);
    csr_rows const holds = gather([](touch_kind kind) { return kind != touch_kind::use_early; });
    csr_rows const defs = gather([](touch_kind kind) { return kind == touch_kind::def; });
    csr_rows const at_end = csr_rows::gathered(buffers, [&](auto add) {
        for (edge_use u : p.edge_uses()) add(table.buffer_of[u.value], p.steps_of(u.pred).last - 1);
    });

    auto before = [&](step_id a, step_id b) {
        step_id const first = g.position_of[a], next = g.position_of[b];
        return first < next && oracle.before(first, next);
    };
    auto is_free = [&](buffer_id b, step_id s) {
        if (g.position_of[s] != last[b]) return false;
        if (!is_listed(holds[b], s)) return false; // gone before the step writes: others may use its bytes
        for (step_id other : touches[b])
            if (other != s && !before(other, s)) return false;
        for (step_id other : at_end[b])
            if (!before(other, s)) return false;
        return true;
    };
    auto begins = [&](buffer_id b, step_id s) {
        for (step_id other : defs[b])
            if (other != s && !before(s, other)) return false;
        return true;
    };
    return join_in_place(p, std::move(table), is_free, begins);
}

/// The same, by a search for those who come before each such step.
///
/// Complexity: in the worst case O(V + E) time for each pair; nothing is searched where the operand's other
///             touches come directly before the step.
[[nodiscard]] buffer_table take_in_place_concurrently(snapshot const& p, dependence_graph const& g,
                                                      buffer_table table);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place_concurrent.ipp>
#endif

#endif
