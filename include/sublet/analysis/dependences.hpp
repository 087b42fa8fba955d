// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DEPENDENCES_HPP
#define SUBLET_ANALYSIS_DEPENDENCES_HPP

/// Computes the happens-before order of a program with concurrent steps, and from it the live ranges and
/// conflicts of its buffers. Dependences are exact and take O(V + E + touches). Conflicts are found without a
/// test of each pair: positions are numbered by branches, so a few ranges per buffer list the begins that
/// exclude a reuse. Beyond a memory limit they are coarsened, which forbids more reuse. Source: Kuck, Kuhn,
/// Padua, Leasure and Wolfe, "Dependence graphs and compiler optimizations", POPL 1981.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/range_sets.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// --- dependences -----------------------------------------------------------------------------------------

/// Dependences: the edges of the happens-before order if steps run concurrently.
///
///     step 0: def a              0 ──► 1 ──► 3        data: a reader waits for the writer
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program: a successor waits
///     step 2: use a, def c                            steps of a node: in sequence
///     step 3: use b, use c                            1 and 2 are unordered
///
/// The graph is over positions: a step that reads early has two, one to read and one to write. A value is
/// made once (see analysis/versions.hpp), so there are anti and output dependences only where a step changes
/// bytes that are there already: `write` in graph/program.hpp.

namespace sublet {

/// What orders the steps besides data and edges, and how positions are numbered.
struct dependence_options {
    /// The numbering of positions. All are topological; depth_first keeps the conflict ranges few.
    enum class position_order : std::uint8_t {
        depth_first,   ///< the step that became ready last comes first
        breadth_first, ///< the step that became ready first comes first
        as_listed      ///< as the program lists them, where possible
    };

    /// Inputs and external values are there before any step.
    per_value<value_role> role = value_role::intermediate;
    std::vector<handoff> handoffs = {}; ///< additional order that the execution keeps
    /// The numbering.
    dependence_options::position_order order = dependence_options::position_order::depth_first;
    /// As in plan_options: which accesses of one storage wait for each other. Read if a step makes a view or
    /// writes in place.
    per_value<value_id> alias_of = no_value;
    per_value<byte_count> view_offset = byte_count{0}; ///< by value: its first byte in alias_of[v]
    per_value<byte_count> bytes = no_size;             ///< `no_size`: unknown, so all bytes of the storage
    std::vector<node_id> listed = {}; ///< the order of nodes in which writes are listed; empty: 0, 1, 2 ...
};

/// The happens-before order of the steps, as a graph over positions. Converts to false if there is none: a
/// value is defined twice, used without a def, or changed by a step that is listed before the one that makes
/// it, or steps wait for each other in a cycle. Then all else is meaningless.
struct dependence_graph : verdict {
    /// The direct successors of each position, ascending, each once, all higher.
    csr_rows<position_id, position_id> after;
    /// The direct predecessors of each position, ascending, each once, all lower.
    csr_rows<position_id, position_id> before;
    table<position_id, step_id> step_at; ///< the step at each position
    /// Where each step writes, and does the reads that are not early.
    table<step_id, position_id> position_of;

    /// How many positions there are: one for each step, two for one that reads early.
    [[nodiscard]] std::size_t positions() const { return step_at.size(); }
    /// How many pairs of positions are ordered directly.
    [[nodiscard]] std::size_t edges() const { return after.items(); }
    /// The position at which the step begins, and reads early.
    [[nodiscard]] position_id start_of(step_id s) const;
};

namespace detail {

/// For a program under options of a plan.
[[nodiscard]] dependence_options dependences_of(plan_options const& options, std::vector<handoff> handoffs);

/// Steps that each wait for the one before, and the first for the last.
[[nodiscard]] counterexample cycle_of(std::vector<step_id> steps);

/// The defining step of each value, `no_step` for given values; or why not.
std::optional<counterexample> unique_defs(snapshot const& p, table<value_id, value_role> const& role,
                                          table<value_id, step_id>& def_of);

/// A cycle among the points, of any kind, that the topological order does not contain.
template <class Point>
std::vector<Point> residual_cycle(csr_rows<Point, Point> const& after,
                                  std::vector<std::uint32_t> const& in_degree)
{
    table<Point, Point> from(after.rows(), Point(0));
    Point at = 0;
    for (Point x = 0; x != after.rows(); ++x)
        if (in_degree[x] != 0) {
            at = x;
            for (Point y : after[x])
                if (in_degree[y] != 0) from[y] = x;
        }
    table<Point, unsigned char> seen(after.rows());
    for (; !seen[at]; at = from[at]) seen[at] = 1;
    std::vector<Point> backwards{at}, cycle;
    for (Point x = from[at]; x != at; x = from[x]) backwards.push_back(x);
    while (!backwards.empty()) {
        cycle.push_back(backwards.back());
        backwards.pop_back();
    }
    return cycle;
}

/// Kahn's algorithm. `in_degree` counts predecessors; points above 0 at the end are on or after a cycle.
template <class Point>
std::vector<Point> topological_points(csr_rows<Point, Point> const& after,
                                      std::vector<std::uint32_t>& in_degree,
                                      dependence_options::position_order numbering)
{
    std::size_t const points = after.rows();
    std::vector<Point> order, ready;
    order.reserve(points);
    if (numbering == dependence_options::position_order::as_listed) {
        bool ascends = true;
        for (Point x = 0; x != points && ascends; ++x)
            for (Point y : after[x]) ascends &= x < y;
        if (ascends) {
            for (Point x = 0; x != points; ++x) order.push_back(x);
            in_degree.assign(points, 0);
            return order;
        }
    }
    auto finish = [&](Point x, auto found) {
        for (Point y : after[x])
            if (--in_degree[y] == 0) found(y);
    };
    for (Point x = 0; x != points; ++x)
        if (in_degree[x] == 0) order.push_back(x);
    if (numbering != dependence_options::position_order::depth_first) {
        for (std::size_t i = 0; i != order.size(); ++i)
            finish(order[i], [&](Point y) { order.push_back(y); });
        return order;
    }
    auto reverse_from = [&](std::size_t first) { // the first one pushed is popped first
        for (std::size_t i = first, j = ready.size(); i + 1 < j; ++i) std::swap(ready[i], ready[--j]);
    };
    for (std::size_t i = 0, roots = order.size(); i != roots; ++i)
        finish(order[i], [&](Point y) { ready.push_back(y); });
    reverse_from(0);
    while (!ready.empty()) {
        Point const x = ready.back();
        ready.pop_back();
        order.push_back(x);
        std::size_t const first = ready.size();
        finish(x, [&](Point y) { ready.push_back(y); });
        reverse_from(first);
    }
    return order;
}

} // namespace detail

/// The order of the steps that edges, data and given hand-offs enforce.
///
/// Ensures:    without an error every step has a position, every edge leads from a lower position to a
///             higher one, and one position precedes another in every execution if and only if a path leads
///             from it to the other. Early reads are at the beginning of the step; a value used at the end
///             of a node is read by the last step of the node. A view waits for the step that makes its root.
///             Accesses of bytes that a step changes keep the order in which the program lists them.
/// Complexity: O(V + E + steps + touches) time and memory, and for writes in place storage_order().
/// Throws:     precondition_error for a hand-off between steps that do not exist.
[[nodiscard]] dependence_graph dependences(snapshot const& p, dependence_options const& options = {});
/// The same for a listing, with its roles, views, sizes and order.
template <detail::listed L>
[[nodiscard]] dependence_graph dependences(L const& list, std::vector<handoff> handoffs = {})
{
    return list.named(
        dependences(list.program(), detail::dependences_of(list.options(), std::move(handoffs))));
}

// --- concurrent lifetimes --------------------------------------------------------------------------------

/// Live ranges in a partial order: the positions, one or more, at which each buffer begins and ends.
///
///     0 ──► 1 ──► 3       a: defined at 0, used at 1 and 2     begins {0}  ends {1, 2}
///     └───► 2 ──► ┘       b: defined at 1, used at 3           begins {1}  ends {3}
///                         c: defined at 2, used at 3           begins {2}  ends {3}
///
/// v can reuse the bytes of u in every execution if and only if every end of u precedes every begin of v. The
/// relation is transitive. An input has no begin: it is live before all positions, so it reuses no bytes. An
/// output ends at a position after all others, so its bytes are not reused.

namespace detail {

/// By buffer, positions of a dependence graph.
struct concurrent_live_ranges {
    /// Ascending; every def is one of these or follows one; empty: given.
    csr_rows<buffer_id, position_id> begins;
    /// Ascending; every touch is one of these or precedes one; `positions`: never.
    csr_rows<buffer_id, position_id> ends;
    std::uint32_t positions = 0;

    [[nodiscard]] std::size_t buffers() const { return begins.rows(); }
    [[nodiscard]] position_id first(buffer_id b) const
    {
        return begins[b].empty() ? position_id{0} : begins[b].front();
    }
    /// The position after the highest at which it is needed.
    [[nodiscard]] position_id last(buffer_id b) const
    {
        auto const row = ends[b];
        return row.empty() ? first(b) + 1 : detail::smaller(+row.back(), positions - 1) + 1;
    }
    [[nodiscard]] bool is_kept(buffer_id b) const { return !ends[b].empty() && ends[b].back() == positions; }
};

} // namespace detail

namespace detail {

/// Whether one position precedes another in every execution; queried for a < b only.
///
/// Semantics:      a strict order that the numbers of positions extend.
/// Minimal model:  archetype::precedence.   Ordinary models: precedence, token_sets.
template <class O>
concept precedence_oracle = requires(O& o, position_id a, position_id b) {
    { o.before(a, b) } -> std::convertible_to<bool>;
};

/// v can reuse the bytes of u in every execution.  O(ends of u x begins of v) calls
template <precedence_oracle Oracle>
[[nodiscard]] bool reusable_by(concurrent_live_ranges const& lives, buffer_id u, buffer_id v, Oracle& oracle)
{
    if (lives.begins[v].empty()) return false;
    for (position_id begin : lives.begins[v])
        for (position_id end : lives.ends[u])
            if (end >= begin || !oracle.before(end, begin)) return false;
    return true;
}

/// The live ranges of the classes of values; `buffer_of` a value is `no_buffer` if it is to be ignored.
///
/// Requires:   `g` is the graph of `p`, without an error; `role` has one entry per value.
/// Ensures:    an end is omitted if one of its first 16 edges leads to another touch of the buffer, and so is
///             a begin after another touch.
/// Complexity: O(values + steps + touches) time and memory.
[[nodiscard]] concurrent_live_ranges concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                          std::size_t buffers,
                                                          table<value_id, buffer_id> const& buffer_of,
                                                          table<value_id, value_role> const& role);

} // namespace detail

} // namespace sublet

// --- unreached positions ---------------------------------------------------------------------------------

/// For each position, the later positions that it does not reach.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐        6, 5, 4: none     3, 2, 1: 4 and 5     0: none
///     0 ───┤                    ├──► 6
///          └──► 4 ──► 5 ────────┘        in reverse order: for t, the intersection over its successors s of
///                                        {between t and s} + {not reached by s}
///
/// The positions that a position does not reach are parallel branches. Each branch is numbered contiguously,
/// so a few ranges describe them; where branches join, none is left.

namespace sublet::detail {

/// Removes from `ranges` what is not in `others`, but keeps what lies below `from`.
///
/// Requires:   `others` begin at `from` or after it.
void intersect_from(std::vector<live_range>& ranges, position_id from, std::span<live_range const> others,
                    std::vector<live_range>& old);

/// Calls `visit(t, ranges, known)` for t from the last position to the first, until it returns false. The
/// ranges are the positions after t that t does not reach: exactly below `known`, a superset from there on.
///
/// Requires:   `next` of each position is the next one of interest, or the number of positions; ranges begin
///             and end at such only. `sets` has an owner for each position. Sets that no predecessor needs
///             any more are erased, unless `keep_all`.
/// Complexity: O(positions + edges + ranges of the successors of all positions).
template <class Visit>
void find_unreached(dependence_graph const& g, table<position_id, position_id> const& next, range_sets& sets,
                    bool keep_all, Visit visit)
{
    auto const positions = position_id::of(g.positions());
    std::vector<live_range> current, scratch;
    for (position_id t = positions; t-- != 0;) {
        auto const after = g.after[t];
        position_id known = no_position;
        current.clear();
        push_range(current, {next[t + 1], after.empty() ? positions : next[after[0]]});
        for (position_id s : after) {
            if (s == after[0]) push_ranges(current, sets[s]);
            else intersect_from(current, next[s], sets[s], scratch);
            known = smaller(known, sets.exact_until(s));
        }
        if (!keep_all)
            for (position_id s : after)
                if (g.before[s].front() == t) sets.erase(s);
        if (keep_all || !g.before[t].empty()) sets.assign(t, current, known);
        if (!visit(t, current, known)) return;
    }
}

} // namespace sublet::detail

// --- conflict ranges -------------------------------------------------------------------------------------

/// Conflict ranges: the begins that exclude a reuse in a partial order, as live ranges with holes.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐       position          0   1   2   3   4   5   6
///     0 ───┤                    ├──► 6  begun 1, ended 2      [=======)   [=======)
///          └──► 4 ──► 5 ────────┘       begun 4, ended 5                  [=======)
///
/// A buffer that begins at 3 or 6 may reuse the bytes of the first; 4 and 5 may run before 2 has ended. Two
/// buffers conflict if and only if the later one begins within the ranges of the other.

namespace sublet {
namespace detail {

struct conflict_ranges {
    /// By buffer: the positions, from its first on, at which no buffer may begin that reuses its bytes. The
    /// first is always included; a position at which nothing begins may be included or not.
    buffer_range_lists of;
    /// At most so many pairs of a buffer and a later begin are forbidden only because of the memory limit.
    std::uint64_t undecided = 0;
};

} // namespace detail

namespace detail {

void unite(std::span<live_range const> a, std::span<live_range const> b, std::vector<live_range>& to);

/// Requires:   `lives` are of `g`, which has no error.
/// Ensures:    v can reuse the bytes of u in every execution if no begin of v is below the first position of
///             u or in one of its ranges; if nothing is undecided, only then. Exceptions are buffers without
///             touches and without begins: see `reusable_by`. `max_ranges` (0: 2^24, or 8 for each position
///             and buffer if that is more) are held at once, 8 bytes each. Beyond that all sets are
///             coarsened, which forbids more reuse, the latest begins first.
/// Complexity: O(positions + edges + buffers + r) time, O(positions + buffers + ranges) memory; r = ranges of
///             the successors of all positions and of the ends of all buffers: few if few branches are open.
/// Throws:     precondition_error if `lives` belong to another graph.
[[nodiscard]] conflict_ranges find_conflict_ranges(dependence_graph const& g,
                                                   concurrent_live_ranges const& lives,
                                                   std::uint64_t max_ranges = 0);

} // namespace detail

namespace detail {

/// Ensures:    exact if nothing is undecided; otherwise false for some pairs that could reuse.
/// Complexity: O(begins of v x log of the ranges of u).
[[nodiscard]] bool reusable_by(conflict_ranges const& conflicts, concurrent_live_ranges const& lives,
                               buffer_id u, buffer_id v);

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/dependences.ipp>
#endif

#endif
