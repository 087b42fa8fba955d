// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DEF_USE_HPP
#define SUBLET_ANALYSIS_DEF_USE_HPP

/// Where each value is defined and where it is used: the touches of a program by value instead of by step.
///
///     step 0   def a               a    def 0    uses 1, 3
///     step 1   use a, def b        b    def 1    uses 2, 2
///     step 2   use b, use b
///     step 3   use a

#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct def_use_chains {
    csr_rows defs;                ///< by value: the steps that write it, ascending
    csr_rows uses;                ///< by value: the steps that read it, early or not, ascending
    csr_rows uses_at_end;         ///< by value: the nodes at whose ends it is read
    std::vector<node_id> node_of; ///< by step
};

/// Ensures:    a step that touches a value twice in the same way is listed twice.
/// Complexity: O(nodes + values + touches) time and memory.
[[nodiscard]] def_use_chains def_use(snapshot const& p);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/def_use.ipp>
#endif

#endif
