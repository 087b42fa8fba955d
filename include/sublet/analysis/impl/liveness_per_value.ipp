// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LIVENESS_PER_VALUE_IPP
#define SUBLET_ANALYSIS_IMPL_LIVENESS_PER_VALUE_IPP

#include <sublet/analysis/liveness_per_value.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

SUBLET_DECL sparse_sets live_by_exploration(snapshot const& p, crossing_values const& cross,
                                            std::size_t most_sets)
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
