// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_NODE_DEMANDS_IPP
#define SUBLET_ORDERING_IMPL_NODE_DEMANDS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/node_demands.hpp>
#include <sublet/ordering/topological.hpp>
#include <sublet/sorting.hpp>

namespace sublet {

SUBLET_DECL node_demands::node_demands(order_graph const& g)
    : g_(g), walk_(g), touched_by_(touched_by(g)), touches_(touched_by_.transposed(g.buffers())),
      begins_(g.nodes()), ends_(g.nodes()), is_plain_(g.nodes()), has_run_(g.nodes()),
      has_begun_(g.buffers()), left_(g.buffers()), sum_left_(g.buffers())
{
    for (node_id n = 0; n != g.nodes(); ++n) {
        step_range const its = g.steps[n];
        is_plain_[n] =
            its.last - its.first == 1 && g.pairs_of(its.first).empty() && g.early[its.first].empty();
        for (buffer_id b : touched_by_[n]) {
            ++left_[b];
            sum_left_[b] += n;
            if (!g.is_given[b]) begins_[n] += g.size[b];
        }
    }
    for (buffer_id b = 0; b != g.buffers(); ++b) {
        has_begun_[b] = g.is_given[b];
        if (left_[b] == 1 && !g.is_kept[b]) ends_[sum_left_[b]] += g.size[b];
    }
}

SUBLET_DECL std::vector<keyed> node_demands::announced() const
{
    std::vector<keyed> result;
    std::vector<node_id> begun_by(g_.buffers(), no_node);
    std::vector<std::uint32_t> seen(g_.buffers()); // steps of the node
    for (node_id n : topological(g_)) {
        byte_count begun = 0, more = 0;
        for (buffer_id b : touched_by_[n]) {
            if (g_.is_given[b]) continue;
            if (begun_by[b] == no_node) begun_by[b] = n;
            if (begun_by[b] == n) begun += g_.size[b];
            else if (!is_listed(g_.before[n], begun_by[b])) more += g_.size[b];
        }
        result.push_back({begun, 0, n});
        if (more != 0) result.push_back({begun + more, 0, n});
        if (is_plain_[n]) continue;
        // As if it ran alone: what only its own steps touch comes and goes among them.
        byte_count alive = 0, most = 0;
        for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s) {
            byte_count saved = 0, dead = 0;
            for (buffer_id b : g_.held[s]) {
                if (seen[b]++ == 0 && begun_by[b] == n) alive += g_.size[b];
                if (seen[b] == g_.touching[b] && !g_.is_kept[b] && !g_.is_given[b]) dead += g_.size[b];
            }
            for (overwrite_pair const& pair : g_.pairs_of(s)) saved = larger(saved, pair.saved);
            most = larger(most, alive - smaller(alive, saved));
            alive -= smaller(alive, dead);
        }
        for (buffer_id b : touched_by_[n]) seen[b] = 0;
        if (most != begun) result.push_back({most, 0, n});
    }
    return result;
}

SUBLET_DECL csr_rows node_demands::touched_by(order_graph const& g) // by node: its buffers, each once
{
    std::vector<node_id> seen(g.buffers(), no_node);
    csr_rows result;
    for (node_id n = 0; n != g.nodes(); ++n) {
        auto see = [&](buffer_id b) {
            if (seen[b] != n) result.append(b);
            seen[b] = n;
        };
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) see(b);
            for (buffer_id b : g.early[s]) see(b);
        }
        result.close_row();
    }
    return result;
}

} // namespace sublet

#endif
