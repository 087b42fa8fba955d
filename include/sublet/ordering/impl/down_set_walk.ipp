// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_IMPL_DOWN_SET_WALK_IPP
#define SUBLET_ORDERING_IMPL_DOWN_SET_WALK_IPP

#include <sublet/impl/config.hpp>
#include <sublet/ordering/down_set_walk.hpp>
#include <sublet/sorting.hpp>

namespace sublet {

SUBLET_DECL down_set_walk::down_set_walk(order_window const& w)
    : w_(w), remaining_(w.graph.touching), done_(bit_rows::words_for(w.graph.nodes())),
      live_(w.around + w.leave_at_first)
{
    for (buffer_id b = 0; b != w.graph.buffers(); ++b)
        if (w.graph.is_given[b]) live_ += w.graph.size[b];
}

SUBLET_DECL node_effect down_set_walk::run(node_id n)
{
    byte_count most = 0;
    step_range const steps = w_.graph.steps[n];
    for (step_id s = steps.first; s != steps.last; ++s) {
        node_effect const e = look_at(s, w_.is_at_start && ran_ == 0 && s == steps.first);
        most = larger(most, e.most);
        live_ = e.behind;
        count(s, ~std::uint32_t{0});
    }
    flip(n);
    ++ran_;
    return {most, live_};
}

SUBLET_DECL void down_set_walk::take_back(node_id n, byte_count live_before)
{
    for (step_id s = w_.graph.steps[n].first; s != w_.graph.steps[n].last; ++s) count(s, 1);
    flip(n);
    --ran_;
    live_ = live_before;
}

SUBLET_DECL void down_set_walk::count(step_id s, std::uint32_t by) // one more or one less remains
{
    for (buffer_id b : w_.graph.held[s]) remaining_[b] += by;
    for (buffer_id b : w_.graph.early[s]) remaining_[b] += by;
}

SUBLET_DECL node_effect down_set_walk::look_at(step_id s, bool is_first)
{
    order_graph const& g = w_.graph;
    byte_count now = live_, dead = is_first ? w_.leave_at_first : 0, early = 0;
    for (buffer_id b : g.held[s]) {
        if (remaining_[b] == g.touching[b] && !g.is_given[b]) now += g.size[b];
        if (dies(b)) dead += g.size[b];
    }
    for (buffer_id b : g.early[s])
        if (dies(b)) early += g.size[b];
    byte_count const behind = now - dead - early;
    if (!is_first) now -= early; // as peak_walk says: what is given is there at first
    if (!g.pairs_of(s).empty()) now -= saved(s, is_first);
    return {now, behind};
}

SUBLET_DECL byte_count down_set_walk::saved(step_id s, bool is_first)
{
    order_graph const& g = w_.graph;
    candidates_.clear();
    for (overwrite_pair const& pair : g.pairs_of(s)) {
        if (!dies(pair.in) || remaining_[pair.out] != g.touching[pair.out]) continue;
        if (!is_first && is_listed(g.early[s], pair.in)) continue;
        candidates_.push_back(pair);
    }
    if (candidates_.size() == 1) return candidates_[0].saved;
    byte_count sum = 0;
    for (std::uint32_t i : match_overwrites(candidates_)) sum += candidates_[i].saved;
    return sum;
}

} // namespace sublet

#endif
