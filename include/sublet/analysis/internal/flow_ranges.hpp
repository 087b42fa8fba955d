// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_FLOW_RANGES_HPP
#define SUBLET_ANALYSIS_INTERNAL_FLOW_RANGES_HPP

/// Live ranges in a control-flow graph that is entered with inputs and left with outputs.
///
///     entry           The program is augmented by a virtual entry, at position 0, where inputs are written,
///        0: def a     and a virtual exit, which reads the outputs and follows all nodes without successors.
///       /        \    .
///     1: use a   2: def out
///       \        /    Liveness of the augmented program takes the roles into account.
///       exit: out     Over 1, `out` is read without having been written: this is detected.
///
/// A loop without an exit may be stopped at the end of any of its nodes, where outputs written so far have to
/// be intact. So its nodes lead to the virtual exit, too. An operand that a step may overwrite is live
/// throughout the step; only the decision whether it can be overwritten uses ranges without those positions.

#include <sublet/analysis/liveness.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

/// The end of an operand at a step that may overwrite it.
enum class operand_end : std::uint8_t {
    held,      ///< held to the end of the step, as any other operand
    read_early ///< read before the step writes
};

/// Collects ranges by owner, in any order; they may overlap.
class unsorted_ranges {
public:
    void add(std::uint32_t id, live_range r)
    {
        if (!is_empty(r)) ranges_.push_back({id, descending(r.first), r.last});
    }
    /// Complexity: O(n log n).
    [[nodiscard]] live_range_lists lists(std::size_t count, live_range_lists::source method,
                                         std::uint32_t positions);

private:
    std::vector<sort_key> ranges_; // {owner, begin (latest first), end}
};

/// The operands that a result of the step may overwrite, ascending.
///
/// Complexity: O(n log n) for n touches and pairs of the step.
std::vector<value_id> overwritable_operands(snapshot const& p, step_id s);

/// The program with virtual entry and exit: node n becomes n + 1, and step s becomes s + 1.
snapshot augmented(snapshot const& p, table<value_id, value_role> const& role, operand_end operands);

/// Live ranges over the positions of the augmented program: 0 is the entry, i + 1 the i-th step of the order.
///
/// Requires:   `role` has one entry per value, `order` names every node once.
/// Ensures:    position 0 is in the range of a value if and only if it is an input, or some path may read it
///             before it is written.
/// Complexity: as live_intervals, and O(r log r), r = ranges.
[[nodiscard]] live_range_lists cfg_live_ranges(snapshot const& p, table<value_id, value_role> const& role,
                                               std::vector<node_id> const& order, operand_end operands);

/// The same over the positions of the order: values live at the entry occupy the first step of the program.
///
/// Requires:   `augmented` are the ranges of the program in this order, held to the ends of steps.
/// Complexity: O(n + r log r), r = ranges.
[[nodiscard]] live_range_lists to_program_positions(snapshot const& p, live_range_lists const& augmented,
                                                    std::vector<node_id> const& order);

/// A read of a value that is not given, which some path from the entry reaches without a def: of the lowest
/// such value, any. If such reads are allowed, only of values that nothing writes. Without a step: an output,
/// at the end of the program. `other`: the value itself if some step writes it, on another path or later.
///
/// Requires:   `augmented` are the ranges of the program.
/// Complexity: O(values + touches), and O(V + E + touches) for each value that may be read undefined.
[[nodiscard]] std::optional<counterexample> undefined_read(snapshot const& p,
                                                           live_range_lists const& augmented,
                                                           table<value_id, value_role> const& role,
                                                           bool is_allowed);

/// The nodes that the entry reaches; all of a sequence, which has no edges.
table<node_id, unsigned char> reached_nodes(snapshot const& p);

/// The positions of both, by owner.  O(ranges)
live_range_lists common_ranges(live_range_lists const& one, live_range_lists const& other);

/// The live ranges without the positions that no write of their value reaches, except those at which a step
/// holds it; `position` is that of each step, from 1.
///
/// Complexity: O((V + E + touches) log values + r log r), r = ranges, as written_by_trees.
live_range_lists where_written(snapshot const& p, live_range_lists const& augmented,
                               table<value_id, unsigned char> const& is_unwritten,
                               std::vector<node_id> const& order, table<step_id, position_id> const& position,
                               bool counts_held);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flow_ranges.ipp>
#endif

#endif
