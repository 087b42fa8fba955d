// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LIVENESS_WORKLIST_IPP
#define SUBLET_ANALYSIS_IMPL_LIVENESS_WORKLIST_IPP

#include <sublet/analysis/liveness_worklist.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>

#include <cstdint>

namespace sublet::detail {

SUBLET_DECL dense_sets own_reads(crossing_values const& cross, std::size_t nodes)
{
    dense_sets sets{bit_rows(nodes, cross.value.size()), bit_rows(nodes, cross.value.size())};
    for (std::size_t n = 0; n != nodes; ++n) {
        for (std::uint32_t c : cross.reads[n]) sets.in.set(n, c);
        for (std::uint32_t c : cross.reads_at_end[n]) sets.out.set(n, c);
    }
    return sets;
}

/// Few edges lead to a lower number: those of loops, if nodes are numbered as compilers lay them out.  O(E)
SUBLET_DECL bool is_nearly_forward(csr_graph const& g)
{
    std::size_t backward = 0;
    for (std::size_t n = 0; n != g.rows(); ++n)
        for (node_id s : g[n]) backward += s <= n;
    return backward <= g.rows() / 8;
}

SUBLET_DECL dense_sets live_by_worklist(snapshot const& p, crossing_values const& cross)
{
    dense_sets sets = own_reads(cross, p.nodes());
    std::size_t const words = sets.in.words();
    if (words == 0) return sets;
    pass_through pass(words);
    auto visit = [&](node_id n) {
        bit_rows::word* const out = sets.out[n];
        for (node_id s : p.successors(n)) {
            bit_rows::word const* const needed = sets.in[s];
            for (std::size_t w = 0; w != words; ++w) out[w] |= needed[w];
        }
        return pass(out, cross.writes[n], sets.in[n]);
    };

    // Seen in this order, few nodes come before a successor.
    std::vector<node_id> const order =
        is_nearly_forward(p.graph()) ? std::vector<node_id>{} : depth_first(p.graph()).postorder;
    enum : unsigned char { not_seen, settled, waits };
    std::vector<unsigned char> state(p.nodes(), not_seen);
    std::vector<node_id> stack;
    auto settle = [&](node_id n) {
        state[n] = settled;
        if (!visit(n)) return;
        for (node_id pred : p.predecessors(n))
            if (state[pred] == settled) {
                state[pred] = waits;
                stack.push_back(pred);
            }
    };
    for (std::size_t i = 0; i != p.nodes(); ++i)
        settle(order.empty() ? static_cast<node_id>(p.nodes() - 1 - i) : order[i]);
    while (!stack.empty()) {
        node_id const n = stack.back();
        stack.pop_back();
        settle(n);
    }
    return sets;
}

} // namespace sublet::detail

#endif
