// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DEPENDENCES_HPP
#define SUBLET_ANALYSIS_DEPENDENCES_HPP

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

#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

enum class dependence_fault : std::uint8_t {
    several_defs,  ///< `value` is defined at `steps[1]` though it was there already: given, or defined at
                   ///< `steps[0]`
    never_defined, ///< `value` is used at `steps[0]` (no step: it is an output) and nothing defines it
    cycle          ///< each of `steps` waits for the one before it, and the first for the last
};

/// Why a program has no concurrent reading.
struct dependence_violation {
    dependence_fault what = dependence_fault::cycle;
    value_id value = no_value;
    std::vector<step_id> steps;
    friend bool operator==(dependence_violation const&, dependence_violation const&) = default;
};

/// How positions are numbered. All numberings are valid; those that follow a thread of work to its end keep
/// the lists of analysis/later_conflicts.hpp short.
enum class position_order : std::uint8_t {
    depth_first,   ///< all steps that wait for nothing, then always what has become ready last
    breadth_first, ///< what has become ready first
    as_listed      ///< as the program lists them, wherever that is possible
};

struct dependence_options {
    per_value<value_role> role = value_role::intermediate;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps
    position_order order = position_order::depth_first;
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
std::optional<dependence_violation> only_defs(snapshot const& p, std::vector<value_role> const& role,
                                              std::vector<step_id>& def_of);

/// A cycle among those that the topological order has not reached, as their owners.
std::vector<step_id> cycle_among(csr_rows const& after, std::vector<step_id> const& waits);

/// Kahn's algorithm. `waits` counts predecessors; what is left above 0 in the end lies on or behind a cycle.
std::vector<step_id> topological_points(csr_rows const& after, std::vector<step_id>& waits,
                                        position_order how);

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

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/dependences.ipp>
#endif

#endif
