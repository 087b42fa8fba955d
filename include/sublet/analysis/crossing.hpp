// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_CROSSING_HPP
#define SUBLET_ANALYSIS_CROSSING_HPP

/// The values that cross from one node to another, and what each node does with them.
///
///     node 0            node 1                       crossing: a (column 0), c (column 1)
///       def a             use a, def b               node 0 writes a and c
///       def c             use b, use c, def c        node 1 reads a and c, and writes c
///
/// Most values are born and die within one node and concern nobody else. Numbering the rest densely, once,
/// makes every set of a liveness analysis smaller; and from here on a node is no more than three short lists.
///
/// Source: Briggs, Cooper, Harvey and Simpson, "Practical improvements to the construction and destruction of
/// static single assignment form", Software: Practice and Experience 28(8), 1998 (the "semi-pruned" names).

#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct crossing_values {
    std::vector<value_id> value;       ///< by column, ascending
    std::vector<std::uint32_t> column; ///< by value; `no_value` if it does not cross
    csr_rows reads;                    ///< by node: columns that it reads before it writes them, maybe twice
    csr_rows writes;                   ///< by node: columns that it writes, maybe twice
    csr_rows reads_at_end;             ///< by node: columns that edge uses read where it ends, maybe twice
    bool single_def = true;            ///< no value of the program is written twice
};

/// Complexity: O(nodes + values + touches) time and memory.
[[nodiscard]] crossing_values crossing(snapshot const& p);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/crossing.ipp>
#endif

#endif
