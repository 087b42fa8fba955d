// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVENESS_PER_VALUE_HPP
#define SUBLET_ANALYSIS_LIVENESS_PER_VALUE_HPP

/// Liveness of any program, value by value: from each node that reads it, up all paths to the nodes that
/// write it.
///
///     def a                        a is read in node 3: live in there, live out in 1 and 2, live in there,
///      /  \                        live out in 0, which writes it. Nobody else is looked at.
///     1    2
///      \  /
///     use a
///
/// As long as one value is treated, "is it in this set already?" is a question about the last entry only. So
/// sets are lists to which values are appended in ascending order, and time and memory are what the answer
/// is long: little where values live shortly, whatever the size of the graph.
///
/// Source: Brandner, Boissinot, Darte, Dupont de Dinechin and Rastello, "Computing liveness sets for SSA-form
/// programs", INRIA RR-7503, 2011 (path exploration, variable by variable); here without recursion, and for
/// values with several defs too.

#include <sublet/analysis/crossing.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

struct sparse_sets {
    csr_rows in; // by node: values, ascending
    csr_rows out;
    std::vector<value_id> given_up; // ascending; in no list
};

/// Values that turn out to be in more than `most_sets` sets are given up.
///
/// Complexity: O(V + values + size of all sets with their edges) time and memory.
sparse_sets live_by_exploration(snapshot const& p, crossing_values const& cross, std::size_t most_sets);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness_per_value.ipp>
#endif

#endif
