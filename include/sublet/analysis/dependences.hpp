// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DEPENDENCES_HPP
#define SUBLET_ANALYSIS_DEPENDENCES_HPP

/// What has to wait for what if steps run as soon as they may, and which buffers may then be alive at once.

#include <sublet/detail/range_sets.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- dependences -----------------------------------------------------------------------------------------

/// What has to wait for what, if steps run as soon as they may: the concurrent reading of a program.
///
///     step 0: def a              0 ──► 1 ──► 3        data: who reads waits for who writes
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program: who follows waits
///     step 2: use a, def c                            steps of a node: one after the other
///     step 3: use b, use c                            1 and 2 wait for each other in no way
///
/// Happens-before is the transitive closure of these edges, and nothing else may be relied on. The graph is
/// given over positions: numbers such that every edge leads from a lower to a higher one. A step that reads
/// early has two of them, one to read and one to write, so that "before it writes" is a position like
/// others and no algorithm behind this line needs to know of early reads.
///
/// Source: flow dependences as in Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs and compiler
/// optimizations", POPL 1981. Of anti and output dependences there are none: a value is written once
/// (analysis/versions.hpp sees to it, and says which order storage needs that holds several versions, or of
/// which a part is written through a view).

namespace sublet {

/// Why a program has no concurrent reading.
struct dependence_violation {
    enum class kind : std::uint8_t {
        several_defs,  ///< `value` is defined at `steps[1]` though it was there already: given, or defined at
                       ///< `steps[0]`
        never_defined, ///< `value` is used at `steps[0]` (no step: it is an output) and nothing defines it
        cycle          ///< each of `steps` waits for the one before it, and the first for the last
    };

    dependence_violation::kind what = dependence_violation::kind::cycle;
    value_id value = no_value;
    std::vector<step_id> steps;
    friend bool operator==(dependence_violation const&, dependence_violation const&) = default;
};

struct dependence_options {
    /// How positions are numbered. All numberings are valid; those that follow a thread of work to its end
    /// keep the lists of analysis/dependences.hpp short.
    enum class position_order : std::uint8_t {
        depth_first,   ///< all steps that wait for nothing, then always what has become ready last
        breadth_first, ///< what has become ready first
        as_listed      ///< as the program lists them, wherever that is possible
    };

    per_value<value_role> role = value_role::intermediate;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps
    dependence_options::position_order order = dependence_options::position_order::depth_first;
};

struct dependence_graph {
    csr_rows after;  ///< by position: those that wait for it directly, ascending, each once, all higher
    csr_rows before; ///< by position: those that it waits for directly, ascending, each once, all lower
    std::vector<step_id> step_at;     ///< by position
    std::vector<step_id> position_of; ///< by step: where it writes, and reads what it does not read early
    std::optional<dependence_violation> violation; ///< then all else is of no use

    [[nodiscard]] std::size_t positions() const { return step_at.size(); }
    [[nodiscard]] std::size_t edges() const { return after.items(); }
    /// Where the step reads early: where it begins.
    [[nodiscard]] step_id start_of(step_id s) const;
};

namespace detail {

/// The one step that defines each value, `no_step` for what is given; or why there is not one.
std::optional<dependence_violation> unique_defs(snapshot const& p, std::vector<value_role> const& role,
                                                std::vector<step_id>& def_of);

/// A cycle among those that the topological order has not reached, as their owners.
std::vector<step_id> residual_cycle(csr_rows const& after, std::vector<step_id> const& in_degree);

/// Kahn's algorithm. `in_degree` counts predecessors; what is left above 0 in the end lies on or behind a cycle.
std::vector<step_id> topological_points(csr_rows const& after, std::vector<step_id>& in_degree,
                                        dependence_options::position_order numbering);

} // namespace detail

/// Who waits for whom in `p`.
///
/// Ensures:    where there is no violation, every step has a position, every edge of the result leads from a
///             lower position to a higher one, and one position comes before another in every execution if
///             and only if edges lead from it there. Steps read where they begin what they read early;
///             what is read at the end of a node is read by its last step.
/// Complexity: O(V + E + steps + touches) time and memory.
/// Throws:     precondition_error for a hand-off between steps that do not exist.
[[nodiscard]] dependence_graph dependences(snapshot const& p, dependence_options const& options = {});

// --- concurrent lifetimes --------------------------------------------------------------------------------

/// From when to when each buffer needs its storage, if only a partial order of the steps is known.
///
///     0 ──► 1 ──► 3       a: defined at 0, used at 1 and 2     begins {0}  ends {1, 2}
///     └───► 2 ──► ┘       b: defined at 1, used at 3           begins {1}  ends {3}
///                         c: defined at 2, used at 3           begins {2}  ends {3}
///
/// A live range has two ends; here either may be several positions, none of which needs to be the last. u may
/// give its bytes to v, in every execution, if and only if every end of u comes before every begin of v. That
/// relation is transitive: who got the bytes of who got the bytes of u comes after u.
///
/// An input begins nowhere: it is there before all positions, so nobody can give it anything. An output ends
/// at a position behind all others: it gives to nobody.

namespace detail {

/// Rows of positions of a dependence graph, by buffer.
struct concurrent_live_ranges {
    csr_rows begins; ///< ascending; no def of the buffer comes before all of these; empty: given
    csr_rows ends;   ///< ascending; every touch comes before one of these or is one; `positions`: never
    step_id positions = 0;

    [[nodiscard]] std::size_t buffers() const { return begins.rows(); }
    /// The lowest position at which the buffer is there.
    [[nodiscard]] step_id first(buffer_id b) const { return begins[b].empty() ? 0 : begins[b].front(); }
    /// The position behind the highest at which it is needed.
    [[nodiscard]] step_id last(buffer_id b) const
    {
        auto const row = ends[b];
        return row.empty() ? first(b) + 1 : detail::smaller(row.back(), positions - 1) + 1;
    }
    [[nodiscard]] bool is_kept(buffer_id b) const { return !ends[b].empty() && ends[b].back() == positions; }
};

} // namespace detail

namespace detail {

/// Says whether one position comes before another in every execution; asked only for a < b.
///
/// Semantics:      a strict order that the numbers of positions extend.
/// Poorest model:  archetype::precedence.   Ordinary models: precedence, token_sets.
template <class O>
concept precedence_oracle = requires(O& o, step_id a, step_id b) {
                                {
                                    o.before(a, b)
                                    } -> std::convertible_to<bool>;
                            };

/// u can hand its bytes to v in every execution.  O(ends of u x begins of v) calls
template <precedence_oracle Oracle>
[[nodiscard]] bool reusable_by(concurrent_live_ranges const& lives, buffer_id u, buffer_id v, Oracle& oracle)
{
    if (lives.begins[v].empty()) return false;
    for (step_id begin : lives.begins[v])
        for (step_id end : lives.ends[u])
            if (end >= begin || !oracle.before(end, begin)) return false;
    return true;
}

/// The lives of `buffers` classes of values; `buffer_of`, by value, is `no_buffer` for one that does not
/// matter.
///
/// Requires:   `g` is the graph of `p`, without violation; `role` has an entry a value.
/// Ensures:    an end that an edge leads from to another end of the buffer is left out where it is one of the
///             first few of its edges, and so is a begin behind another.
/// Complexity: O(values + steps + touches) time and memory.
[[nodiscard]] concurrent_live_ranges concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                          std::size_t buffers,
                                                          std::vector<buffer_id> const& buffer_of,
                                                          std::vector<value_role> const& role);

} // namespace detail

} // namespace sublet

// --- unreached -------------------------------------------------------------------------------------------

/// Which of the later positions does each position not reach?
///
///          ┌──► 1 ──► 2 ──► 3 ──┐        6, 5, 4: none     3, 2, 1: 4 and 5     0: none
///     0 ───┤                    ├──► 6
///          └──► 4 ──► 5 ────────┘        in reverse: that of t is, over its successors s, what all of
///                                        {between t and s} + {what s does not reach} have in common
///
/// What a position in the middle of a network does not reach are the branches beside it. Each was numbered as
/// a whole, so a few ranges say which; where branches meet, none is left.

namespace sublet::detail {

/// Take from `ranges` what is not among the `others`, but leave what lies below `from`.
///
/// Requires:   the others begin at `from` or behind it.
void intersect_from(std::vector<live_range>& ranges, step_id from, std::span<live_range const> others,
                    std::vector<live_range>& old);

/// Calls `visit(t, ranges, known)` for t from the last position to the first, until it returns false: those
/// after t that t does not reach; below `known` exactly, from there on perhaps some more.
///
/// Requires:   by position, `next` is the next one of interest, or the number of positions; ranges begin and
///             end at such only. `sets` has an owner for each position. Those of positions whose
///             predecessors are done are let go, unless `keep_all`.
/// Complexity: O(positions + edges + ranges of the successors of all positions).
template <class Visit>
void find_unreached(dependence_graph const& g, std::vector<step_id> const& next, range_sets& sets,
                    bool keep_all, Visit visit)
{
    auto const positions = static_cast<step_id>(g.positions());
    std::vector<live_range> current, scratch;
    for (step_id t = positions; t-- != 0;) {
        auto const after = g.after[t];
        step_id known = no_step;
        current.clear();
        push_range(current, {next[t + 1], after.empty() ? positions : next[after[0]]});
        for (step_id s : after) {
            if (s == after[0]) push_ranges(current, sets[s]);
            else intersect_from(current, next[s], sets[s], scratch);
            known = smaller(known, sets.exact_until(s));
        }
        if (!keep_all)
            for (step_id s : after)
                if (g.before[s].front() == t) sets.erase(s);
        if (keep_all || !g.before[t].empty()) sets.assign(t, current, known);
        if (!visit(t, current, known)) return;
    }
}

} // namespace sublet::detail

// --- later conflicts -------------------------------------------------------------------------------------

/// Who must not take whose bytes, if only a partial order of the steps is known: live ranges with holes.
///
///          ┌──► 1 ──► 2 ──► 3 ──┐       position          0   1   2   3   4   5   6
///     0 ───┤                    ├──► 6  begun 1, ended 2      [=======)   [=======)
///          └──► 4 ──► 5 ────────┘       begun 4, ended 5                  [=======)
///
/// What begins at 3 or 6 may take the bytes of the first; 4 and 5 may run before 2 has ended.
///
/// Number the positions in any topological order. Who begins at a lower number than u never gets its bytes;
/// who begins at a higher one gets them unless that lies in u's own range, or is a position that some end of
/// u does not reach. Those lie together, in branches that were numbered as a whole. So a few ranges say it
/// all: two buffers conflict if and only if the one that begins later does so within the ranges of the other,
/// and no pair of them is ever tested.

namespace sublet {
namespace detail {

struct conflict_ranges {
    /// By buffer: the positions, from its first on, at which nobody may begin who takes its bytes. The first
    /// is always among them; one at which nothing begins may be or not.
    live_range_lists of;
    /// At most so many pairs, of a buffer and a later begin, are forbidden because there was no more room.
    std::uint64_t undecided = 0;
};

} // namespace detail

namespace detail {

/// The union of both, in `to`.
void unite(std::span<live_range const> a, std::span<live_range const> b, std::vector<live_range>& to);

/// The positions that conflict with each buffer.
///
/// Requires:   `lives` are of `g`, which has no violation.
/// Ensures:    u gives its bytes to v in every execution if no begin of v is below the first position of u or
///             in one of its ranges; where nothing is undecided, only then. Exceptions are buffers without
///             touches and without begins: `reusable_by` knows them. `max_ranges` are held at once, eight bytes
///             each, before all are made coarser, which only forbids, and forbids first what begins last; 0:
///             2^24, or eight for each position and buffer if that is more.
/// Complexity: O(positions + edges + buffers + r) time, r = ranges of the successors of all positions and of
///             the ends of all buffers: few where few branches are open at once. O(positions + buffers +
///             ranges) memory.
/// Throws:     precondition_error if `lives` are of another graph.
[[nodiscard]] conflict_ranges find_conflict_ranges(dependence_graph const& g,
                                                   concurrent_live_ranges const& lives,
                                                   std::uint64_t max_ranges = 0);

} // namespace detail

namespace detail {

/// u can hand its bytes to v in every execution.
///
/// Ensures:    exact where nothing is undecided; otherwise never true where it should be false.
/// Complexity: O(begins of v x log of the ranges of u).
[[nodiscard]] bool reusable_by(conflict_ranges const& conflicts, concurrent_live_ranges const& lives,
                               buffer_id u, buffer_id v);

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/dependences.ipp>
#endif

#endif
