// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLAN_HPP
#define SUBLET_CHECKING_CHECK_PLAN_HPP

/// Checkers of memory plans. Each returns true if the plan is valid, or the first counterexample.
///
///     check_plan              one order of steps              sweep over positions, O(n log n + touches)
///     check_plan (symbolic)   every batch from 1 to a maximum check_plan() at both ends, and between them
///     check_flow_plan         every path of a CFG             forward dataflow of available values
///     check_concurrent_plan   every execution order           happens-before queries between reusing classes
///     fits                    a plan of a larger program      one of these, with the same places

#include <sublet/counterexample.hpp>
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

// --- node ends -------------------------------------------------------------------------------------------

/// The reads at the ends of CFG nodes: by edges (phi operands), and of outputs.
///
///     0 ──► 1 ──► 2        2 has no successor: the program ends, and its outputs are read
///     └──► 3 ◄──► 4        3 and 4 loop for ever: where either ends, available outputs must be intact

namespace sublet {

namespace detail {

struct node_ends {
    csr_rows<node_id, value_id> read_by_edges; ///< by node: values
    std::vector<value_id> outputs;             ///< ascending
    table<node_id, unsigned char> is_endless;  ///< no path leads to one without successors
};

/// Requires:   `required` are the requirements of the program.
/// Complexity: O(values + V + E + touches).
[[nodiscard]] node_ends ends_of_nodes(snapshot const& p, detail::plan_requirements const& required);

} // namespace detail

// --- unwritten reads -------------------------------------------------------------------------------------

/// Finds a value that some path from the entry reads before writing it.
///
///        0 -> 1: def a -> 2: use a        written where 2 begins: {a} on the path over 1, { } on the other,
///        └──────────────────┘             and nothing on both
///
/// What is written on every path is found forwards, as a set for each node
/// (checking/detail/available_values.hpp).

/// Which reads a program with control flow may have.
struct flow_options {
    /// Allow reads on paths that have not written the value; such a read may find anything.
    bool allows_undefined = false;
};

namespace detail {

/// Requires:   `required` are the requirements of the program, `ends` its ends.
/// Ensures:    the first by position, then value; positions are those of `required`, and their number stands
///             for the end of the program. If such reads are allowed, only of values that no step writes.
/// Complexity: O((values + V + E + touches) log values) without loops, as find_on_all_paths.
[[nodiscard]] std::optional<counterexample> find_unwritten_read(snapshot const& p,
                                                                detail::plan_requirements const& required,
                                                                node_ends const& ends,
                                                                flow_options const& options);

} // namespace detail

// --- check plan ------------------------------------------------------------------------------------------

/// Checks a plan for steps in one order: derives what the plan must respect and finds the first fault.
///
///     offset 128 |         [=== b ====)           b is alive at positions 1 and 2, c at 2 and 3:
///             96 |             [=== c ====)       the error is "values b and c, at position 2,
///             64 | [== a ==)                      bytes [96, 112)"
///                +-0---1---2---3---> position
///
/// A sweep over positions: while no two active ranges overlap, they are ordered by offset, and a starting
/// range that overlaps an active one overlaps a neighbour. So two comparisons for each range suffice.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976. Here the segments are buffers, and
/// one may begin in the bytes of another that ends: an in-place pair.

/// Whether `plan` is a valid plan of this program under these options: true, or the first reason why not.
///
/// Order and reading are compared with the options; live ranges and sizes are derived again. Of the plan only
/// offsets, pools and arena sizes count.
///
/// Requires:   one entry for each value in every table; alignments of at least 1; `alias_of` without cycles;
///             `options.order` empty or naming every node once.
/// Ensures:    the first fault in this order: a plan of another program, order or reading; the first use
///             before a def (by position, then value); a write that the order moves across another touch of
///             its value; the first edge that goes backward in the order; by value, a view of more bytes than
///             its root; by value, storage that is missing or needless; by value, a misplaced view, a wrong
///             pool, a bad alignment, a missed pin, the end of the arena; by pool, its capacity; the first
///             position at which two classes conflict. There classes start by ascending root, in-place
///             results last, and each is compared with its neighbour below before the one above.
/// Complexity: O(n log n + nodes + steps + touches + in-place pairs) time, n = values; O(n + steps) memory.
///             Checking a given order takes another O(touches log touches) time, O(defs) memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_plan(snapshot const& p, memory_plan const& plan, plan_options const& options);
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_plan(L const& list, memory_plan const& plan)
{
    return list.named(check_plan(list.program(), plan, list.options()));
}

// --- check symbolic plan ---------------------------------------------------------------------------------

/// Checks a plan for every batch: as an ordinary plan at both ends, and neighbouring buffers in between.
///
///     N = 1      check_plan()                  live ranges, views, in-place pairs, pools, capacities
///     N = max    check_plan()
///     between    buffers alive together keep one order by address, and none reaches into the next
///
/// Proof for the batches between: let buffer a start below b, both alive, and let the top of a (its end, with
/// the most padding that rounding may take) be at most the start of b for N = 1 and for N = max. Both are
/// affine in N, so this holds for every N between; ends are at most tops, and rounding up does not lower b.
/// As in check_plan(), comparing neighbours suffices. Arenas are largest for N = max; sizes that are 0 or
/// unknown are so for every N. Values of one buffer have one offset, and whether they may share it depends on
/// N only by the sizes of in-place pairs, which are compared at both ends.

/// Whether `plan` is valid for every batch from 1 to `options.max_batch`: true, or the first reason why not.
///
/// Requires:   as check_plan(); `options.max_batch` is at least 1.
/// Ensures:    the first fault in this order: a plan of another program or largest batch; what check_plan()
///             finds for a batch of 1, then for the largest; by value, a buffer that is too small; by buffer,
///             a top above the arena; by value, an alignment; the first position at which one buffer reaches
///             into the next. A plan that is valid for every batch can be refused, with a batch of 0: if two
///             buffers swap their order between two batches, or rounding takes less padding than it may.
/// Complexity: check_plan() twice, and O(n log n), n = values.
/// Throws:     precondition_error where a requirement is broken, or bytes reach 2^64 - 1.
[[nodiscard]] verdict check_plan(snapshot const& p, symbolic_plan const& plan,
                                 symbolic_options const& options);

// --- check flow plan -------------------------------------------------------------------------------------

/// Checks a plan for control flow: every read must find the bytes that were written for it, on every path.
///
///        0: def a             a and b share bytes. The path over node 2 is valid, that over node 1 is not:
///        /      \             the error is "values a and b at position 1, bytes [0, 64)", where b is
///     1: def b   2:           written over a, which is read later
///        \      /
///        3: use a
///
/// Liveness is not needed. The state at a point of the program is the set of available values: those with
/// intact bytes on every path to it. A write adds its value and removes all values that overlap it. The
/// values left are disjoint, hence ordered by offset, and those that a write overlaps are its neighbours.
/// Where paths meet, the sets are intersected. If a read fails, a path that clobbers the value is searched
/// for the counterexample (checking/detail/available_values.hpp).

/// Whether `plan` is valid on every path: true, or the first read that finds other bytes than were written
/// for it.
///
/// Successors are alternatives, and every path from the entry counts. A step reads, then writes; what it
/// holds and writes is disjoint, unless it may write the result over that operand. An operand of an edge is
/// read where the predecessor ends. A write covers all bytes of its class and preserves the other values of
/// the class: making a view of a value reads it. Inputs are available at the entry, and disjoint there;
/// outputs are read where a node has no successor, and, as far as available, at the end of nodes of endless
/// loops.
///
/// Requires:   one entry for each value in every table; alignments of at least 1; `alias_of` without cycles.
/// Ensures:    the first fault in this order: a plan of another program, reading or order; the first position
///             that reads what some path has not written (then by value); as check_places; by position in the
///             plan's order the first read that fails, or write over bytes that its step holds; inputs that
///             overlap. The counterexample names the position of the clobbering write.
/// Complexity: as find_unwritten_read and find_available: without loops O((V + E + touches) log n), and O(log
/// n)
///             for each value that is written, or intact, on one path to a node and not on another one. Where
///             reads may be undefined, O(V + E + touches) for each that is.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_flow_plan(snapshot const& p, memory_plan const& plan, plan_options const& options,
                                      flow_options const& flow = {});
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_flow_plan(L const& list, memory_plan const& plan, flow_options const& flow = {})
{
    return list.named(check_flow_plan(list.program(), plan, list.options(), flow));
}

// --- check concurrent plan -------------------------------------------------------------------------------

/// Checks a plan for steps in any order: no execution order may let two classes of values conflict.
///
///     offset 64 |  [== a ==|== c ==|= e =)      each byte is reused: from a to c, from c to e. Is c first
///            32 |  [== a ==|= d =|== e ==)      written after all touches of a? If each reuse is ordered so,
///               +-------------------------      e need not be compared with a.
///
/// v may reuse bytes of u iff every touch of u happens before every def of v. The relation is transitive, so
/// the classes that share a byte form a chain, or two neighbours of the sequence conflict. Classes are
/// inserted by the position of their first def, so a reusing class comes after the class it reuses, and each
/// is compared, byte by byte, with the last occupant only.
///
/// Source: the relation and its chains are those of Dilworth, "A decomposition theorem for partially ordered
/// sets", Annals of Mathematics 1950. The order of the steps is derived again, not taken from a planner.

namespace detail {

bool is_foreign(memory_plan const& plan, std::size_t steps, std::size_t values);

} // namespace detail

/// Whether `plan` is valid for this program if its steps run in any order: true, or the first reason why not.
/// If it is, in every execution that respects data, edges of the program, the sequence of steps of a node and
/// the plan's hand-offs, every read finds what was written for it.
///
/// Of the plan only the reading, offsets, pools, arena sizes and hand-offs count. An input is live before all
/// steps and until its last touch, an output until after all steps. A step may write over what it reads
/// early, and over an operand in place, as declared, if all other touches happen before. A value and its
/// views are one class and not compared.
///
/// Requires:   one entry for each value in every table; alignments of at least 1; `alias_of` without cycles;
///             `options.order`, which is not used, empty or naming every node once.
/// Ensures:    the first fault in this order: a plan of another program or reading; a value that is written
///             twice or was given, a use before a def, a cycle (step_order.hpp says which first); what
///             check_places finds; two classes that conflict, even if the overwritten value is never read.
///             Classes are inserted by the position of their first def, those of one step as it lists them,
///             and compared by ascending offset.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values, and that of
///             reachability_queries for about as many queries as there are buffers.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_concurrent_plan(snapshot const& p, memory_plan const& plan,
                                            plan_options const& options);
/// The same for a listing, with its names.
template <detail::listed L>
[[nodiscard]] verdict check_concurrent_plan(L const& list, memory_plan const& plan)
{
    return list.named(check_concurrent_plan(list.program(), plan, list.options()));
}

// --- fits ------------------------------------------------------------------------------------------------

/// Does the plan of a larger program serve this one: of smaller shapes, or with fewer steps?
///
///     auto fitted = sublet::fits(plan, program, options);              // options of the smaller batch
///     if (!fitted) std::cout << fitted.error() << '\n';                // which value has no room, and why
///
///     planned for        offset                     this program         the same offset
///     a  64 bytes           0                       a  16 bytes             0
///     b  32 bytes          64                       b   8 bytes            64
///     c  64 bytes           0  (after a)            (no step makes c)

namespace detail {

/// Converts to true if the plan serves the program; otherwise it has an error.
struct fitted_plan : verdict {
    memory_plan plan; ///< of this program, valid if the plan serves it: the same places and arenas
};

} // namespace detail

/// Whether `plan`, of a program with more bytes or more steps, also serves this program: for the reading of
/// the plan, each buffer at its planned offset, in arenas of the planned size. Values and nodes that both
/// programs have bear the same numbers. Shapes and lives are derived again, so what was planned for another
/// reason is not asked for: a value may even be larger than planned if nothing else needs the bytes behind
/// it.
///
/// A planned value of no bytes, or without a touch, in this program is left out. A view lies in its root
/// where this program says. Steps run in `options.order`; if that is empty, in the order of the plan without
/// the nodes that this program does not have. A plan with an order does not serve a program with more nodes
/// then. Of the hand-offs those stay of which this program has both steps. Without its last steps a program
/// is served; without its first ones it can be refused, as an input is live while the first step runs.
///
/// Requires:   as the checker of the reading; `flow` is for control flow only.
/// Ensures:    the result's plan is one of this program in that order, and executors take it, with `order` in
///             their options. If it is not valid the error is what the checker of the reading finds, such as
///             a value without a place in the plan, one that shares bytes with another (perhaps a result that
///             is larger now than the operand it was planned over) or ends behind the arena, a pool that is
///             not its own, an offset that is no multiple of a stricter alignment. A planned value that is
///             now external, not eligible or of unknown size has `needless` storage.
/// Complexity: that of the checker, and O(values + nodes + buffers).
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] detail::fitted_plan fits(memory_plan const& plan, snapshot const& p,
                                       plan_options const& options, flow_options const& flow = {});

/// The same for two listings: a handle keeps its place, whatever its number. The result is asked with
/// handles. If the handles of the second are new, as pointers to a graph that is built anew are, it is
/// fits_by_position().
template <class Planned, detail::listed L>
    requires requires(Planned const& planned, L const& list) { planned.plan_for(list); }
[[nodiscard]] auto fits(Planned const& planned, L const& list, flow_options const& flow = {})
{
    return list.named(fits(planned.plan_for(list), list.program(), list.options(), flow));
}

/// The same for a listing with other handles, such as the pointers of a graph that is built anew: what was
/// named first lies where the first of the planned listing lies, and so on. The result is asked with the new
/// handles.
template <class Planned, detail::listed L>
    requires requires(Planned const& planned, L const& list) { planned.plan_for(list); }
[[nodiscard]] auto fits_by_position(Planned const& planned, L const& list, flow_options const& flow = {})
{
    memory_plan const plan = planned ? planned.plan : memory_plan{};
    return list.named(fits(plan, list.program(), list.options(), flow));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_plan.ipp>
#endif

#endif
