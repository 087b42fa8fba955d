// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_HPP
#define SUBLET_SHARING_IN_PLACE_HPP

/// In-place results: which results are written over an operand of their step, so that both have one buffer.
///
/// A program declares the pairs {operand, result} that a step permits. These functions choose among them and
/// join the buffers, in three readings: steps in one order (the choice leaves the fewest bytes alive at every
/// position), steps in any order that respects a dependence graph, and steps in a control-flow graph (greedy
/// coalescing, since the best choice is NP-hard there).

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/sharing/internal/match_in_place.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- in place --------------------------------------------------------------------------------------------

/// In-place results if the steps run in one order. Without a pair an output never shares with an input of its
/// step. Placement may need more than the bytes alive: a joined buffer may conflict with more buffers.

namespace sublet {

/// The size that the operand must have.
enum class in_place_fit : std::uint8_t {
    equal,   ///< that of the result
    at_least ///< at least that; other buffers may use the rest from the next position on
};

/// Joins the buffers of declared in-place pairs; `steps` are the program's steps by position. For slots
/// choose operands of equal size, or lives from buffer::slot_life().
[[nodiscard]] buffer_table take_in_place(snapshot const& p, table<position_id, step_id> const& steps,
                                         buffer_table table, in_place_fit fit = in_place_fit::at_least);

// --- in place concurrent ---------------------------------------------------------------------------------

/// In-place results under every schedule of a dependence graph.
///
///     0: x ──► 1: use x ──► 2: y = relu(x), use 1     y may overwrite x: 1 is done before 2
///     └──────────────────► 3: use x                   not with step 3: it may run after 2
///
/// If all other touches of the operand come before the step and all other touches of the result after it, the
/// joined buffer can be reused by exactly the buffers that may reuse the result's, and may reuse exactly
/// those that the operand's could. The join is free: in an antichain with the joined buffer, no member could
/// share with the operand and another one with the result, since these two could then share with each other.
/// So the operand or the result can replace it, and with equal sizes the heaviest antichain does not grow.

/// Joins operands and results that may share bytes under every schedule.
///
/// Requires:   `g` is the graph of `p`, without an error, and `oracle` answers for its order.
/// Ensures:    as match_in_place() of internal/match_in_place.hpp. A buffer is free if, under every schedule,
/// all its other touches come
///             before the step (a read at the end of the step's node does not) and the step has a touch of it
///             that is not an early use; a buffer begins at a step if all its other defs come after it.
/// Complexity: O(values + touches + pairs) time, match_overwrites() for each step, and as many calls of
///             `oracle` as pairs have touches of their buffers; none for a pair with an operand touched at a
///             later position.
template <detail::precedence_oracle Oracle>
[[nodiscard]] buffer_table take_in_place(snapshot const& p, dependence_graph const& g, buffer_table table,
                                         Oracle& oracle)
{
    if (p.overwrites().empty()) return table;

    std::size_t const buffers = table.buffers.size();
    sublet::table<buffer_id, unsigned char> has_pair(buffers);
    for (overwrite o : p.overwrites()) has_pair[table.buffer_of[o.in]] = has_pair[table.buffer_of[o.out]] = 1;
    auto gather = [&](auto wanted) {
        return csr_rows<buffer_id, step_id>::gathered(buffers, [&](auto add) {
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s))
                    if (buffer_id const b = table.buffer_of[t.value]; has_pair[b] && wanted(t)) add(b, s);
        });
    };
    auto const touches = gather([](touch) { return true; });
    sublet::table<buffer_id, position_id> last(buffers, 0); // the last position that touches it
    for (buffer_id b = 0; b != buffers; ++b)
        for (step_id s : touches[b]) last[b] = detail::larger(last[b], g.position_of[s]);
    auto const holds = gather([](touch t) { return t.kind != touch::access::use_early; });
    auto const defs = gather([](touch t) { return t.defines(); });
    auto const at_end = csr_rows<buffer_id, step_id>::gathered(buffers, [&](auto add) {
        for (edge_use u : p.edge_uses()) add(table.buffer_of[u.value], p.steps_of(u.pred).last - 1);
    });

    auto before = [&](step_id a, step_id b) {
        position_id const first = g.position_of[a], next = g.position_of[b];
        return first < next && oracle.before(first, next);
    };
    auto is_free = [&](buffer_id b, step_id s) {
        if (g.position_of[s] != last[b]) return false;
        if (!detail::is_listed(holds[b], s)) return false; // dead before the step writes: needs no pair
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
    return detail::join_in_place(p, std::move(table), is_free, begins);
}

/// The same, with a graph search for the predecessors of each such step: in the worst case O(V + E) time for
/// each pair, but none where the operand's other touches come directly before the step.
[[nodiscard]] buffer_table take_in_place(snapshot const& p, dependence_graph const& g, buffer_table table);

// --- in place flow ---------------------------------------------------------------------------------------

/// In-place results in a control-flow graph: coalescing of moves and phis.
///
///     0: def x                   x  [====)  The value that a loop carries is x in its header, and y, which
///     1: use x, def y  <--.      y     [=)  the back edge moves there: x = y. They are never alive together,
///     2: x = y, over y  --'      x     [==  so they get one storage, and the move becomes a no-op.
///     3: use x
///
/// A buffer may have several first and several last steps here, and joins can exclude each other. They are
/// taken greedily, first the pair that moves the most bytes, weighted by 8 per enclosing loop.
///
/// Source: Chaitin, "Register allocation and spilling via graph coloring", SIGPLAN 1982 (coalescing).

/// Joins operands and results that may share bytes on every path.
///
/// Requires:   `lives` are the cfg_live_ranges() of the program with operand_end::read_early; `position` maps
///             each step to its position in them.
/// Ensures:    all values of a joined buffer have one size and one pool, and none of them is pinned; two of
///             different buffers of `table` occupy no position together, unless each step there reads the
///             one for the last time on every path, and declares that all that it writes of the other may
///             overwrite it. Joined buffers keep the lowest root.
/// Complexity: O((values + touches + pairs) log), and for each pair the ranges of its two buffers.
[[nodiscard]] buffer_table take_in_place(snapshot const& p, live_range_lists const& lives,
                                         table<step_id, position_id> const& position, buffer_table table);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place.ipp>
#endif

#endif
