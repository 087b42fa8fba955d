// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_MIRRORED_GRAPH_IPP
#define SUBLET_ORDERING_IMPL_MIRRORED_GRAPH_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/mirrored_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

SUBLET_DECL order_graph mirrored(order_graph const& g)
{
    order_graph result;
    result.after = g.before;
    result.before = g.after;
    result.violation = g.violation;
    for (std::size_t at = g.listed.size(); at-- != 0;) result.listed.push_back(g.listed[at]);
    result.size = g.size;
    result.touching = g.touching;
    result.is_given = g.is_kept;
    result.is_kept = g.is_given;

    std::vector<overwrite_pair> best;
    std::vector<std::uint32_t> found(g.buffers(), ~std::uint32_t{0}); // by operand: where in `best`
    for (node_id n = 0; n != g.nodes(); ++n) {
        result.steps.push_back(g.steps[n]);
        for (step_id i = g.steps[n].first; i != g.steps[n].last; ++i) {
            step_id const s = g.steps[n].last - 1 - (i - g.steps[n].first);
            std::size_t next_early = 0;
            auto const early = g.early[s];
            for (buffer_id b : g.held[s]) {
                for (; next_early != early.size() && early[next_early] < b; ++next_early)
                    result.held.append(early[next_early]);
                result.held.append(b);
            }
            for (; next_early != early.size(); ++next_early) result.held.append(early[next_early]);
            result.held.close_row();
            result.early.close_row();

            best.clear();
            for (overwrite_pair const& pair : g.pairs_of(s)) {
                overwrite_pair const turned{pair.out, pair.in, pair.saved};
                std::uint32_t& at = found[pair.in];
                if (at < best.size() && best[at].out == pair.in) {
                    if (best[at].saved < pair.saved) best[at] = turned;
                } else {
                    at = static_cast<std::uint32_t>(best.size());
                    best.push_back(turned);
                }
            }
            result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
            for (overwrite_pair const& pair : best) result.pairs.push_back(pair);
        }
    }
    result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
    return result;
}

} // namespace sublet

#endif
