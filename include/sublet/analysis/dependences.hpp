// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DEPENDENCES_HPP
#define SUBLET_ANALYSIS_DEPENDENCES_HPP

/// Computes the happens-before order of a program with concurrent steps. Dependences are exact and take
/// O(V + E + touches). Positions are numbered by branches, so that a few ranges say what a position does not
/// reach. Source: Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs and compiler optimizations", POPL
/// 1981.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
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
/// value is defined twice, used without a def, or used by a step that is listed before the one that makes it,
/// or steps wait for each other in a cycle. Then all else is meaningless.
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

/// dependences(), also where a step is listed before one that makes what it reads.
[[nodiscard]] dependence_graph dependences_of_any_list(snapshot const& p, dependence_options const& options);

} // namespace detail

/// The order of the steps that edges, data and given hand-offs enforce.
///
/// Ensures:    without an error every step has a position, every edge leads from a lower position to a
///             higher one, and one position precedes another in every execution if and only if a path leads
///             from it to the other. Early reads are at the beginning of the step; a value used at the end
///             of a node is read by the last step of the node. A view waits for the step that makes its root.
///             Accesses of bytes that a step changes keep the order in which the program lists them. In a
///             list, or in an order that is given, a value is made before its uses; the numbers of the
///             nodes of a task graph with edges are no order.
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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/dependences.ipp>
#endif

#endif
