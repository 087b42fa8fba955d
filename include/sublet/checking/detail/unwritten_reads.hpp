// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_UNWRITTEN_READS_HPP
#define SUBLET_CHECKING_DETAIL_UNWRITTEN_READS_HPP

/// Reads of a program with control flow: those at the ends of nodes, and those that some path has not
/// written.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>
#include <vector>

namespace sublet::detail {

/// The reads at the ends of CFG nodes: by edges (phi operands), and of outputs.
///
///     0 ──► 1 ──► 2        2 has no successor: the program ends, and its outputs are read
///     └──► 3 ◄──► 4        3 and 4 loop for ever: where either ends, available outputs must be intact
struct node_ends {
    csr_rows<node_id, value_id> read_by_edges; ///< by node: values
    std::vector<value_id> outputs;             ///< ascending
    table<node_id, unsigned char> is_endless;  ///< no path leads to one without successors
};

/// Requires:   `required` are the requirements of the program.
/// Complexity: O(values + V + E + touches).
[[nodiscard]] node_ends ends_of_nodes(snapshot const& p, plan_requirements const& required);

/// Making a view needs the bytes of its root; so does a write through it, if anything makes the root at all.
[[nodiscard]] bool needs_root(touch t, plan_requirements const& required);

/// Finds a value that some path from the entry reads before writing it.
///
///        0 -> 1: def a -> 2: use a        written where 2 begins: {a} on the path over 1, { } on the other,
///        └──────────────────┘             and nothing on both
///
/// What is written on every path is found forwards, as a set for each node
/// (checking/detail/available_values.hpp).
///
/// Requires:   `required` are the requirements of the program, `ends` its ends.
/// Ensures:    the first by position, then value; positions are those of `required`, and their number stands
///             for the end of the program. If such reads are allowed, only of values that no step writes.
/// Complexity: O((values + V + E + touches) log values) without loops, as find_on_all_paths.
[[nodiscard]] std::optional<counterexample> find_unwritten_read(snapshot const& p,
                                                                plan_requirements const& required,
                                                                node_ends const& ends, bool allows_undefined);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/unwritten_reads.ipp>
#endif

#endif
