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
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- in place pairs --------------------------------------------------------------------------------------

/// In-place pairs: the part that does not depend on when steps run.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
///     a smaller result                          x  [=====)
///     keeps the first bytes                     y        [=====)   over x: it begins where x begins, and
///                                                                  lies within x while both are needed
///
/// Callables say whether the operand is still needed, and whether the result's buffer is in use before the
/// step. Pairs of different steps never compete: an operand is free only at the last step that touches it,
/// and a result begins at one step. A pair saves the bytes of its result there and changes nothing elsewhere.
/// So the fewest bytes are alive at every position if the results of the pairs of each step have the largest
/// sum of bytes (detail/overwrite_matching.hpp). A result over a view begins where the view begins: a pair is
/// taken only if both begin at the same byte of their roots.

namespace sublet {

namespace detail {

/// Size that the operand must have.
enum class in_place_fit : std::uint8_t {
    equal,   ///< that of the result
    at_least ///< at least that; other buffers may use the rest from the next position on
};

/// The pairs to take, by step, those of a step in the order of their declaration.
///
/// Requires:   is_free(b, step): only the step itself touches the buffer when the step writes or later, and
///             writing over it saves bytes. begins(b, step): nothing touches it before the step writes.
/// Ensures:    a pair may be taken if the step uses the input, defines the output and touches the input's
///             buffer in no other way; that buffer is free, and neither output nor pinned; the output's
///             buffer begins here, is no input and not pinned; both are planned, of one pool, and fit, and
///             both values begin at the same byte of their roots. An
///             input and an output are each in at most one pair taken; the outputs taken have the largest
///             sum of bytes. Among several inputs an output gets the smallest, of equal ones the one that is
///             declared first.
/// Complexity: O(values + touches + pairs) time, and match_overwrites() for each step; O(values) memory. Each
///             callable is called at most once per pair.
template <class IsFree, class Begins>
[[nodiscard]] std::vector<memory_plan::in_place_pair>
match_in_place(snapshot const& p, buffer_table const& table, IsFree is_free, Begins begins,
               in_place_fit fit = in_place_fit::equal)
{
    std::vector<memory_plan::in_place_pair> matched;
    if (p.overwrites().empty()) return matched;

    // Of the current step, the one value that it reads of a buffer, if it touches nothing else there.
    value_id const several_values = no_value - 1; // no program has so many ids
    sublet::table<buffer_id, value_id> only_reads(table.buffers.size(), no_value);
    sublet::table<buffer_id, value_id> only_writes(table.buffers.size(), no_value); // and that it writes
    sublet::table<value_id, step_id> defined_at(table.buffer_of.size(), no_step);   // the last that does
    std::vector<detail::sort_key> allowed;                             // {size of the operand, 0, pair}
    std::vector<overwrite_pair> buffers_of;                            // of `allowed`
    std::vector<detail::sort_key> taken;                               // {pair}
    auto const pairs = p.overwrites();                                 // by step
    matched.reserve(pairs.size());
    for (std::uint32_t i = 0; i != pairs.size();) {
        step_id const s = pairs[i].step;
        for (touch t : p.touches(s)) {
            bool const defines = t.defines();
            if (defines) defined_at[t.value] = s;
            value_id& read = only_reads[table.buffer_of[t.value]];
            bool const only_reads_it = !defines && !t.writes();
            read = !only_reads_it || (read != no_value && read != t.value) ? several_values : t.value;
            value_id& written = only_writes[table.buffer_of[t.value]];
            if (t.writes()) written = written != no_value && written != t.value ? several_values : t.value;
        }
        for (; i != pairs.size() && pairs[i].step == s; ++i) {
            buffer_id const from = table.buffer_of[pairs[i].in], to = table.buffer_of[pairs[i].out];
            buffer const &in = table.buffers[from], &out = table.buffers[to];
            if (only_reads[from] != pairs[i].in || defined_at[pairs[i].out] != s) continue;
            if (only_writes[to] != pairs[i].out) continue;
            if (has_role(in.role, value_role::output) || has_role(out.role, value_role::input)) continue;
            if (!in.is_planned() || !out.is_planned() || in.pool != out.pool) continue;
            if (in.size < out.size || (fit == in_place_fit::equal && in.size != out.size)) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            if (!table.offset_in_root.empty() && // the result would begin elsewhere
                table.offset_in_root[pairs[i].in] != table.offset_in_root[pairs[i].out])
                continue;
            if (is_free(from, s) && begins(to, s)) allowed.push_back({in.size, 0, i});
        }
        for (touch t : p.touches(s))
            only_reads[table.buffer_of[t.value]] = only_writes[table.buffer_of[t.value]] = no_value;

        auto match = [&](overwrite pair) {
            matched.push_back({s, pair.in, pair.out, table.buffers[table.buffer_of[pair.out]].size});
        };
        if (allowed.size() <= 1) {
            for (detail::sort_key const& a : allowed) match(pairs[a.id]);
            allowed.clear();
            continue;
        }
        sort_by_key(allowed);
        for (detail::sort_key const& a : allowed) {
            buffer_id const from = table.buffer_of[pairs[a.id].in], to = table.buffer_of[pairs[a.id].out];
            buffers_of.push_back({from, to, table.buffers[to].size});
        }
        for (std::uint32_t at : detail::match_overwrites(buffers_of)) taken.push_back({allowed[at].id, 0, 0});
        sort_by_key(taken);
        for (detail::sort_key const& t : taken) match(pairs[detail::to_size(t.key)]);
        allowed.clear();
        buffers_of.clear();
        taken.clear();
    }
    return matched;
}

/// Joins the buffers of in-place pairs. Buffers of equal size become one, with the root of the first in the
/// chain. A smaller result stays a buffer of its own, `over` the operand's: it lies within the operand while
/// both are alive, and has its own storage from the next position on, if it is needed there.
///
/// Requires:   no buffer is the input, and none the output, of two pairs; an output that is smaller than its
///             input begins where that ends, as in lives by position. Nothing is joined in `table`.
/// Ensures:    the table stays sorted by root, and lists the pairs.
/// Complexity: O(values + pairs).
[[nodiscard]] buffer_table join_in_place(buffer_table table, std::vector<memory_plan::in_place_pair> pairs);

/// match_in_place() and join_in_place(), for results as large as the operand.
template <class IsFree, class Begins>
[[nodiscard]] buffer_table join_in_place(snapshot const& p, buffer_table table, IsFree is_free, Begins begins)
{
    std::vector<memory_plan::in_place_pair> pairs = match_in_place(p, table, is_free, begins);
    return join_in_place(std::move(table), std::move(pairs));
}

// --- in place --------------------------------------------------------------------------------------------

/// In-place results if the steps run in one order. Without a pair an output never shares with an input of its
/// step. Placement may need more than the bytes alive: a joined buffer may conflict with more buffers.

/// The in-place pairs to take; `steps` are the program's steps by position.
///
/// Ensures:    as match_in_place() with callables. A buffer is free if nothing touches it after the step (a
///             use at the end of the step's node counts) and it is alive at the step: a buffer with an early
///             use as last touch is dead before the step writes, so sharing needs no pair.
/// Complexity: O(values + steps + touches + pairs) time, and match_overwrites() for each step; O(values +
///             steps) memory.
[[nodiscard]] std::vector<memory_plan::in_place_pair>
match_in_place(snapshot const& p, table<position_id, step_id> const& steps, buffer_table const& table,
               in_place_fit fit = in_place_fit::at_least);

} // namespace detail

/// Joins the buffers of declared in-place pairs; `steps` are the program's steps by position. For slots
/// choose operands of equal size, or lives from buffer::slot_life().
[[nodiscard]] buffer_table take_in_place(snapshot const& p, table<position_id, step_id> const& steps,
                                         buffer_table table,
                                         detail::in_place_fit fit = detail::in_place_fit::at_least);

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
/// Ensures:    as match_in_place(). A buffer is free if, under every schedule, all its other touches come
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
