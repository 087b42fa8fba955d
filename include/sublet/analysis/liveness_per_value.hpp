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

#include <concepts>
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
inline sparse_sets live_by_exploration(snapshot const& p, crossing_values const& cross, std::size_t most_sets)
{
    csr_rows const readers = cross.reads.transposed(cross.value.size());
    csr_rows const end_readers = cross.reads_at_end.transposed(cross.value.size());
    csr_rows const writers = cross.writes.transposed(cross.value.size());

    std::vector<value_id> last_in(p.nodes(), no_value), last_out = last_in, last_written = last_in; // by node
    std::vector<node_id> in, out; // of the value; the nodes from `climbed` on have not been left yet
    csr_rows in_of, out_of;       // by value: nodes
    sparse_sets sets;
    for (value_id v = 0; v != p.values(); ++v) {
        if (std::uint32_t const c = cross.column[v]; c != no_value) {
            in.clear();
            out.clear();
            auto reach_begin = [&](node_id n) {
                if (last_in[n] == v) return;
                last_in[n] = v;
                in.push_back(n);
            };
            auto reach_end = [&](node_id n) {
                if (last_out[n] == v) return;
                last_out[n] = v;
                out.push_back(n);
                if (last_written[n] != v) reach_begin(n);
            };
            for (node_id n : writers[c]) last_written[n] = v;
            for (node_id n : end_readers[c]) reach_end(n);
            for (node_id n : readers[c]) reach_begin(n);
            for (std::size_t climbed = 0; climbed != in.size() && in.size() + out.size() <= most_sets;)
                for (node_id pred : p.predecessors(in[climbed++])) reach_end(pred);
            if (in.size() + out.size() > most_sets) {
                sets.given_up.push_back(v);
            } else {
                for (node_id n : in) in_of.append(n);
                for (node_id n : out) out_of.append(n);
            }
        }
        in_of.close_row();
        out_of.close_row();
    }
    sets.in = in_of.transposed(p.nodes());
    sets.out = out_of.transposed(p.nodes());
    return sets;
}

} // namespace sublet::detail

#endif
