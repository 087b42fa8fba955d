// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLAN_HPP
#define SUBLET_CHECKING_CHECK_PLAN_HPP

/// Proves plans, or says what is wrong: sequential, for every batch, along control flow, concurrent.

#include <sublet/checking/witness.hpp>
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

// --- node ends -------------------------------------------------------------------------------------------

/// What is read where the nodes of a control-flow graph end: by edges, and by whoever takes the outputs.
///
///     0 ──► 1 ──► 2        2 has no successor: the program ends, and its outputs are read
///     └──► 3 ◄──► 4        3 and 4 go round for ever: stopped where either ends, what is there of the
///                          outputs has to be right
///
/// It is the checker's own derivation, on purpose a second one.

namespace sublet {

namespace detail {

struct node_ends {
    csr_rows read_by_edges;                ///< by node: values
    std::vector<value_id> outputs;         ///< ascending
    std::vector<unsigned char> is_endless; ///< by node: no path leads to one without successors
};

/// Requires:   `required` are the demands of the program.
/// Complexity: O(values + V + E + touches).
[[nodiscard]] node_ends ends_of_nodes(snapshot const& p, detail::plan_requirements const& required);

} // namespace detail

// --- unwritten reads -------------------------------------------------------------------------------------

/// Look for a value that some path from the entry reads before it has written it.
///
///        0 -> 1: def a -> 2: use a        from the use back: 2, then 0, which is the entry
///        └──────────────────┘             (1 writes a, so that way is good)
///
/// From each read that no write of its node comes before one walks back, and not through nodes that write the
/// value. Who comes to the entry has found a path, told backwards.

struct flow_options {
    /// A value may be read on a path that has not written it: the read finds anything, and it may be so.
    bool allows_undefined = false;
};

namespace detail {

/// Requires:   `required` are the demands of the program, `ends` its ends.
/// Ensures:    the first by position, then value: positions are those of `required`, and their number stands for
///             the end of the program. If such reads are allowed, only of values that no step writes.
/// Complexity: O(values + V + E + touches log touches), and for each value the edges into nodes in which it
///             may be needed.
[[nodiscard]] std::optional<witness> find_unwritten_read(snapshot const& p,
                                                         detail::plan_requirements const& required,
                                                         node_ends const& ends, flow_options const& options);

} // namespace detail

// --- check plan ------------------------------------------------------------------------------------------

/// The opponent of every planner: derives afresh what a plan must respect, and looks for one thing it breaks.
///
///     offset 128 |         [=== b ====)           b is alive at positions 1 and 2, c at 2 and 3:
///             96 |             [=== c ====)       the witness is "values b and c, at position 2,
///             64 | [== a ==)                      bytes [96, 112)", and anybody can see it is true
///                +-0---1---2---3---> position
///
/// Nothing is listed or compared in pairs. Walk the positions: as long as nothing has clashed, the living lie
/// apart, hence in one order by offset, and a newborn that overlaps anyone overlaps a neighbour in that
/// order. So two looks a birth find the first clash, or prove that there is none.
///
/// Source: Shamos and Hoey, "Geometric intersection problems", FOCS 1976 (does any pair of n segments
/// cross?). Here segments are buffers, and one may rise out of another that dies: an in-place pair.

/// Look for a reason why `plan` is not a plan of this program under these options. None: it is proved.
///
/// Order and reading are compared with what was asked for, lives and sizes are derived again; of the plan
/// only offsets, pools and arena sizes count, and they are what is to be proved.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles;
///             `options.order` empty or every node once.
/// Ensures:    the first fault in this order: a plan of another program, order or reading; the first use
///             before a def (by position, then value); a write that changed sides with another touch of its
///             value; the first edge that leads back in the order; by value, a view of more bytes than its
///             root; by value, storage that is missing or needless; by value, a torn view, a wrong pool, a
///             bad alignment, a missed pin, the end of the arena; by pool, its capacity; the first position
///             at which two classes clash. There classes are born by ascending root, those that take over in
///             place last, and a newborn meets its neighbour below before the one above.
/// Complexity: O(n log n + nodes + steps + touches + in-place pairs) time, n = values; O(n + steps) memory.
///             Where an order is given, its check takes another O(touches log touches) time, O(defs) memory.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<witness> check_plan(snapshot const& p, memory_plan const& plan,
                                                plan_options const& options);

// --- check symbolic plan ---------------------------------------------------------------------------------

/// The opponent of a plan for every batch: two ordinary plans, and what leads from one to the other.
///
///     N = 1      check_plan()                  lives, views, in-place pairs, pools, capacities ...
///     N = most   check_plan()
///     between    whoever is alive together keeps one order by address, and none reaches into the next
///
/// That it holds between: let a start below b, both alive, and let the top of a (its end, with all the room
/// that rounding may take) be no higher than the start of b for N = 1 and for the largest. Both are affine,
/// so it is no higher for any N between; ends are below tops, and rounding up does not lower b. Among the
/// living it suffices to look at neighbours, as check_plan() does. Arenas are largest for the largest batch,
/// sizes of 0 and unknown ones are so for all. Buffers, not values, are compared between: values of one
/// buffer have one offset by one formula, and whether they may share it does not depend on the batch but for
/// sizes of in-place pairs, which are compared at both ends.

struct symbolic_witness {
    witness found;
    byte_count batch = 0; ///< for which it is so; 0: it is not shown for any, but neither proved for all
    friend bool operator==(symbolic_witness const&, symbolic_witness const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, symbolic_witness const& w)
{
    if (w.batch == 0) out << "it is not proved for all batches: ";
    else out << "for a batch of " << w.batch << ": ";
    return out << w.found;
}

/// Look for a reason why `plan` is not a plan of this program under these options for some batch from 1 to
/// `options.max_batch`. None: it is proved for all of them.
///
/// Requires:   as check_plan(); `options.max_batch` is at least 1.
/// Ensures:    the first fault in this order: a plan of another program or largest batch; what check_plan()
///             finds for a batch of 1, then for the largest; by value, a buffer that is too small; by buffer,
///             a top above the arena; by value, an alignment; the first position at which one reaches into
///             the next. What is right for every batch can be refused, with a batch of 0: if two change sides
///             between two batches, or roundings take less room than they may.
/// Complexity: check_plan() twice, and O(n log n), n = values.
/// Throws:     precondition_error where a requirement is broken, or bytes reach 2^64 - 1.
[[nodiscard]] std::optional<symbolic_witness> check_plan(snapshot const& p, symbolic_plan const& plan,
                                                         symbolic_options const& options);

// --- check flow plan -------------------------------------------------------------------------------------

/// The opponent of plans for control flow: follows what lies in the arena along every path, and looks for a
/// read that would not find what was written for it.
///
///        0: def a             b lies where a lies. Over node 2 that is good. Over node 1 it is not: the
///        /      \             witness is "values a and b at position 1, bytes [0, 64)": there b is written,
///     1: def b   2:           a was written before, and somebody reads it later.
///        \      /
///        3: use a
///
/// Who is alive where is not asked. What matters of the arena at a point of the program is the set of values
/// whose bytes are intact there, whatever path led to it. A write adds its value and takes away all that
/// overlaps it, so those left lie apart, in one order by offset, and whom a write hits stands next to it.
/// Where paths meet, what is intact on all of them is (checking/detail/available_set.hpp). Only where a read
/// fails is a path looked for, to say why (checking/detail/available_set.hpp).

/// Look for a path on which `plan` lets a step read other bytes than were written for it. None: it is proved.
///
/// Successors are alternatives, and every path from the entry counts. A step reads, then writes; what it
/// holds and writes lies apart, whatever is in it, unless it may write the result over that operand. An
/// operand of an edge is read where the predecessor ends. A write occupies all bytes of its class, and leaves
/// other values of the class what they were: who makes a view of a value reads it. Inputs are all there at
/// the entry; outputs are read where a node has no successor, and, as far as they are there, where a node of
/// an endless loop ends.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles.
/// Ensures:    the first fault in this order: a plan of another program, reading or order; the first position
///             that reads what some path has not written (then by value); as check_places; by position of the
///             plan's order the first read that fails or write that falls upon what its step holds. The
///             witness says where what is lost was written over.
/// Complexity: as find_unwritten_read and available_values: beyond O(V + E + touches log n), for each node the
///             values that arrive there intact, needed or not (what lies apart in the arena bounds them), for
///             each value the nodes in which it is needed. Where reads may be undefined, O(V + E + touches)
///             for each that is.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<witness> check_flow_plan(snapshot const& p, memory_plan const& plan,
                                                     plan_options const& options,
                                                     flow_options const& flow = {});

// --- check concurrent plan -------------------------------------------------------------------------------

/// The opponent of every plan for steps that run in any order: looks for an order in which it goes wrong.
///
///     offset 64 |  [== a ==|== c ==|= e =)      each byte is handed on: from a to c, from c to e. Is c first
///            32 |  [== a ==|= d =|== e ==)      written after all touches of a? If so for each hand-over,
///               +-------------------------      e need not be compared with a.
///
/// u may give its bytes to v if and only if every touch of u comes before every def of v. That is transitive,
/// so whoever shares a byte forms a chain or there is a fault between two neighbours. Let the classes of
/// values move in by the position of their first def: whoever is to receive anything moves in after the
/// giver, and what has to be asked about is, byte by byte, only who lies there last.
///
/// Source: the relation and its chains are those of Dilworth, "A decomposition theorem for partially ordered
/// sets", Annals of Mathematics 1950. Nothing is taken from any planner, the order of the steps included.

namespace detail {

/// A plan of another program or reading.
bool is_foreign(memory_plan const& plan, std::size_t steps, std::size_t values);

} // namespace detail

/// Look for a reason why `plan` is not a plan of this program for steps that run in any order. None: it is
/// proved that in every execution that waits for data, for edges of the program, for the row of steps of a
/// node and for the plan's hand-offs, every read finds what was written for it.
///
/// Of the plan only the reading, offsets, pools, arena sizes and hand-offs count. An input is there before
/// all steps and needed until its last touch, an output until after them all. A step may write over what it
/// reads early, and over an operand in place, as declared, if all other touches come before. A value and its
/// views are one and the same to it, and are not compared.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles;
///             `options.order`, which says nothing here, empty or every node once.
/// Ensures:    the first fault in this order: a plan of another program or reading; a value that is written
///             twice or was given, a use before a def, a cycle (step_order.hpp says which first); what
///             check_places finds; two classes that clash, though a value that nobody reads might as well be
///             destroyed. Classes move in by the position of their first def, those of one step as it lists
///             them, and meet those that lie there by ascending offset.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values, and what reachability_queries
///             takes for about as many questions as there are buffers.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<concurrent_witness>
check_concurrent_plan(snapshot const& p, memory_plan const& plan, plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_plan.ipp>
#endif

#endif
