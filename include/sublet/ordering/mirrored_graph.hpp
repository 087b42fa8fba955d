// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_MIRRORED_GRAPH_HPP
#define SUBLET_ORDERING_MIRRORED_GRAPH_HPP

/// The same program backwards in time.
///
///     forwards    0: def a     1: use a, def b     2: use b         live behind each    a    b    -
///     mirrored    2: def b     1: use b, def a     0: use a         live behind each    b    a    -
///
/// Bytes are alive between the first touch and the last, and seen from the end these change places, as what
/// is given and what is kept do. So an order found for the mirror image, read backwards, needs as much: a
/// rule that decides well from the end is the same rule in the mirror.

#include <sublet/ordering/order_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Ensures:    an order of the result, reversed, is one of `g`, and has the same peak in both if no step of
///             `g` reads early, no operand may be overwritten by one of several results, and no input goes
///             untouched. Else it is close: what is read early counts as held to the end of its step, such
///             an operand as overwritten by the largest of its results only, such an input not at all.
/// Complexity: O(V + E + touches + pairs).
[[nodiscard]] inline order_graph mirrored(order_graph const& g)
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
