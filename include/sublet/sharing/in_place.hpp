// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_HPP
#define SUBLET_SHARING_IN_PLACE_HPP

/// Which results may be written over an operand: step by step, concurrently, and along control flow.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/detail/overwrite_matching.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- in place pairs --------------------------------------------------------------------------------------

/// Let results be written over operands: what does not depend on when steps run.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
///     a smaller result                          x  [=====)
///     keeps the first bytes                     y        [=====)   over x: it begins where x begins, and
///                                                                  lies within x while both are needed
///
/// Whether anybody still needs the operand, and whether the result's buffer is not in use before, depends on
/// how the program is read; that is asked. Pairs of different steps are never in each other's way: an operand
/// is free at the last step that touches it, and a result begins at one. A pair saves the bytes of its result
/// at that one step, and changes what is alive nowhere else. So the fewest bytes are alive everywhere at once
/// if at each step the results that find an operand are as large as possible in sum: what
/// detail/overwrite_matching.hpp finds.
///
/// What is overwritten is a buffer, not a value: whoever lets a result be written over a view lets it be
/// written over the storage that the view is one of, from its beginning, since there every view begins.

namespace sublet {

namespace detail {

/// What size the operand must have.
enum class in_place_fit : std::uint8_t {
    equal,   ///< that of the result
    at_least ///< or more: what the result leaves free others may use, from the next position on
};

/// The pairs to take, by step, those of a step in the order in which it declares them.
///
/// Requires:   is_free(b, step): only the step itself touches the buffer when the step writes or later, and
///             to write over it saves bytes. begins(b, step): nothing touches it before the step writes.
/// Ensures:    a pair may be taken if the step uses the input, defines the output and touches the input's
///             buffer in no other way; that buffer is free, and neither output nor pinned; the output's
///             buffer begins here, is no input and not pinned; both are planned, of one pool, and fit. Of
///             such pairs at most one an input and one an output is taken, so that the outputs have the most
///             bytes in all. Who can choose takes the smallest input, of equal ones the first that is
///             declared.
/// Complexity: O(values + touches + pairs) time, and match_overwrites() for each step; O(values) memory. Each
///             callable is called once a pair at most.
template <class IsFree, class Begins>
[[nodiscard]] std::vector<memory_plan::in_place_pair>
match_in_place(snapshot const& p, buffer_table const& table, IsFree is_free, Begins begins,
               in_place_fit fit = in_place_fit::equal)
{
    std::vector<memory_plan::in_place_pair> matched;
    if (p.overwrites().empty()) return matched;

    // While a step is looked at: by buffer, the one value that it reads, if it touches no other part of it.
    value_id const several_values = no_value - 1; // of ids a program has fewer
    std::vector<value_id> only_reads(table.buffers.size(), no_value);
    std::vector<step_id> defined_at(table.buffer_of.size(), no_step); // by value: the last step that does
    std::vector<detail::sort_key> allowed;                            // {size of the operand, 0, pair}
    std::vector<overwrite_pair> buffers_of;                           // the same
    std::vector<detail::sort_key> taken;                              // {pair}
    auto const pairs = p.overwrites();                                // by step
    for (std::uint32_t i = 0; i != pairs.size();) {
        step_id const s = pairs[i].step;
        for (touch t : p.touches(s)) {
            bool const defines = t.kind == touch::access::def;
            if (defines) defined_at[t.value] = s;
            value_id& read = only_reads[table.buffer_of[t.value]];
            read = defines || (read != no_value && read != t.value) ? several_values : t.value;
        }
        for (; i != pairs.size() && pairs[i].step == s; ++i) {
            buffer_id const from = table.buffer_of[pairs[i].in], to = table.buffer_of[pairs[i].out];
            buffer const &in = table.buffers[from], &out = table.buffers[to];
            if (only_reads[from] != pairs[i].in || defined_at[pairs[i].out] != s) continue;
            if (has_role(in.role, value_role::output) || has_role(out.role, value_role::input)) continue;
            if (!in.is_planned() || !out.is_planned() || in.pool != out.pool) continue;
            if (in.size < out.size || (fit == in_place_fit::equal && in.size != out.size)) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            if (is_free(from, s) && begins(to, s)) allowed.push_back({in.size, 0, i});
        }
        for (touch t : p.touches(s)) only_reads[table.buffer_of[t.value]] = no_value;

        sort_by_key(allowed);
        for (detail::sort_key const& a : allowed) {
            buffer_id const from = table.buffer_of[pairs[a.id].in], to = table.buffer_of[pairs[a.id].out];
            buffers_of.push_back({from, to, table.buffers[to].size});
        }
        for (std::uint32_t at : detail::match_overwrites(buffers_of)) taken.push_back({allowed[at].id, 0, 0});
        sort_by_key(taken);
        for (detail::sort_key const& t : taken) {
            overwrite const pair = pairs[t.key];
            matched.push_back({s, pair.in, pair.out, table.buffers[table.buffer_of[pair.out]].size});
        }
        allowed.clear();
        buffers_of.clear();
        taken.clear();
    }
    return matched;
}

/// Join the buffers of in-place pairs. Equal ones become one, with the root of the first in the chain; a
/// smaller one stays, `over` the one that it follows, and has storage of its own from the next position on,
/// if anybody needs it there.
///
/// Requires:   no buffer is the input, and none the output, of two pairs; an output that is smaller than its
///             input begins where that ends, as in lives by position. Nothing is joined in `table`.
/// Ensures:    the table stays sorted by root, and lists the pairs.
/// Complexity: O(values + pairs).
[[nodiscard]] buffer_table join_in_place(buffer_table table, std::vector<memory_plan::in_place_pair> pairs);

/// Both at once, for results as large as the operand.
template <class IsFree, class Begins>
[[nodiscard]] buffer_table join_in_place(snapshot const& p, buffer_table table, IsFree is_free, Begins begins)
{
    std::vector<memory_plan::in_place_pair> pairs = match_in_place(p, table, is_free, begins);
    return join_in_place(std::move(table), std::move(pairs));
}

// --- in place --------------------------------------------------------------------------------------------

/// Let results be written over operands that nobody needs any more, where the program allows it.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
/// Without this an output never shares with an input of its own step. The pairs taken leave the fewest bytes
/// alive, at every position at once: no other choice has fewer anywhere. That says nothing about where
/// buffers can be placed: what is joined has a longer life, and may be in the way of others.

/// The in-place pairs to take; `steps` are the program's steps by position.
///
/// Ensures:    match_in_place() says which. A buffer is free if nothing touches it after the step (a use at
///             the end of the step's node counts) and it is alive at the step: whose last touch is an early
///             one has gone before the step writes, and others may use its bytes without any pair.
/// Complexity: O(values + steps + touches + pairs) time, and match_overwrites() for each step; O(values +
///             steps) memory.
[[nodiscard]] std::vector<memory_plan::in_place_pair>
match_in_place(snapshot const& p, std::vector<step_id> const& steps, buffer_table const& table,
               in_place_fit fit = in_place_fit::at_least);

} // namespace detail

/// Join the buffers of declared in-place pairs; `steps` are the program's steps by position. For slots take
/// operands of equal size, or lives from buffer::slot_life().
[[nodiscard]] buffer_table take_in_place(snapshot const& p, std::vector<step_id> const& steps,
                                         buffer_table table,
                                         detail::in_place_fit fit = detail::in_place_fit::at_least);

// --- in place concurrent ---------------------------------------------------------------------------------

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
template <detail::precedence_oracle Oracle>
[[nodiscard]] buffer_table take_in_place(snapshot const& p, dependence_graph const& g, buffer_table table,
                                         Oracle& oracle)
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
    csr_rows const touches = gather([](touch::access) { return true; });
    std::vector<step_id> last(buffers, 0); // the last position that touches it: only there it can be free
    for (buffer_id b = 0; b != buffers; ++b)
        for (step_id s : touches[b]) last[b] = detail::larger(last[b], g.position_of[s]);
    csr_rows const holds = gather([](touch::access kind) { return kind != touch::access::use_early; });
    csr_rows const defs = gather([](touch::access kind) { return kind == touch::access::def; });
    csr_rows const at_end = csr_rows::gathered(buffers, [&](auto add) {
        for (edge_use u : p.edge_uses()) add(table.buffer_of[u.value], p.steps_of(u.pred).last - 1);
    });

    auto before = [&](step_id a, step_id b) {
        step_id const first = g.position_of[a], next = g.position_of[b];
        return first < next && oracle.before(first, next);
    };
    auto is_free = [&](buffer_id b, step_id s) {
        if (g.position_of[s] != last[b]) return false;
        if (!detail::is_listed(holds[b], s))
            return false; // gone before the step writes: others may use its bytes
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

/// The same, by a search for those who come before each such step.
///
/// Complexity: in the worst case O(V + E) time for each pair; nothing is searched where the operand's other
///             touches come directly before the step.
[[nodiscard]] buffer_table take_in_place(snapshot const& p, dependence_graph const& g, buffer_table table);

// --- in place flow ---------------------------------------------------------------------------------------

/// Let results be written over operands where control flow branches and goes round.
///
///     0: def x                   x  [====)  the value that a loop carries is x in its header, and y, which
///     1: use x, def y  <--.      y     [=)  its end moves there: x = y. The two are never both needed: they
///     2: x = y, over y  --'      x     [==  get one storage, and the move moves nothing.
///     3: use x
///
/// There is no first and last here: a buffer may die at several steps, and be born at several. But whether
/// two buffers may be one is only a question of where they meet. They may if they meet at no position, or
/// only at steps that read the one, for the last time on every path, and may write the other over it.
///
/// A join may stand in the way of another. They are taken greedily, first what moves the most bytes, counted
/// eightfold for each loop around the step. (That is the coalescing of Chaitin, "Register allocation and
/// spilling via graph coloring", SIGPLAN 1982, on buffers. To choose best is NP-hard.)

/// Join the buffers of declared in-place pairs in the control-flow reading.
///
/// Requires:   `lives` are the framed lives of the program with operands handed over, and `position` says of
///             each step at which of their positions it stands.
/// Ensures:    all values of a joined buffer have one size and one pool, and none of them is pinned; two of
///             different buffers of `table` occupy no position together, unless each step there reads the
///             one, after it on no path any more, and declares that it may overwrite that with all that it
///             writes of the other. Joined buffers keep the lowest root.
/// Complexity: O((values + touches + pairs) log), and for each pair the ranges of its two buffers.
[[nodiscard]] buffer_table take_in_place(snapshot const& p, live_range_lists const& lives,
                                         std::vector<step_id> const& position, buffer_table table);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place.ipp>
#endif

#endif
