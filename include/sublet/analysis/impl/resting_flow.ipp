// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_RESTING_FLOW_IPP
#define SUBLET_ANALYSIS_IMPL_RESTING_FLOW_IPP

#include <sublet/analysis/resting_flow.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL resting_flow::resting_flow(csr_rows const& heads)
    : rest(heads.rows(), 0), heads_(heads), tail_(heads.items()), flow_(heads.items(), 0),
      arc_to_(heads.rows(), 0), seen_(heads.rows(), 0)
{
    for (node_id t = 0; t != heads.rows(); ++t)
        for (node_id const& head : heads[t]) tail_[arc(head)] = t;
    into_ = csr_rows::gathered(heads.rows(), [&](auto add) {
        for (node_id t = 0; t != heads.rows(); ++t)
            for (node_id const& head : heads[t]) add(head, arc(head));
    });
}

SUBLET_DECL void resting_flow::collect(node_id x, byte_count need)
{
    auto const arcs = into_[x];
    for (std::size_t i = arcs.size(); i-- != 0;)
        if (arcs[i] == arc(heads_[tail_[arcs[i]]].back())) move(arcs[i], rest[tail_[arcs[i]]]);
    for (std::size_t i = arcs.size(); i-- != 0 && rest[x] < need;)
        move(arcs[i], smaller(rest[tail_[arcs[i]]], need - rest[x]));
}

SUBLET_DECL void resting_flow::fetch(node_id x, byte_count need, std::uint64_t most)
{
    while (rest[x] < need && !is_dead(x) && visits < most)
        if (!search(x, need, (most - visits) / 16 + 1)) return;
}

SUBLET_DECL std::uint32_t resting_flow::arc(node_id const& head) const
{
    return static_cast<std::uint32_t>(&head - heads_[0].data());
}

SUBLET_DECL bool resting_flow::search(node_id x, byte_count need, std::uint64_t most)
{
    ++searches_;
    queue_.assign(1, x);
    seen_[x] = searches_;
    for (std::size_t i = 0; i != queue_.size(); ++i) {
        if (i == most) return false;
        node_id const at = queue_[i];
        ++visits;
        for (std::uint32_t a : into_[at])
            if (see(tail_[a], a) && bring(tail_[a], x, need)) return true;
        for (node_id const& head : heads_[at])
            if (flow_[arc(head)] != 0 && see(head, arc(head)) && bring(head, x, need)) return true;
    }
    for (node_id at : queue_) seen_[at] = dead;
    return true;
}

SUBLET_DECL bool resting_flow::see(node_id at, std::uint32_t a)
{
    if (seen_[at] >= searches_) return false; // dead, too
    seen_[at] = searches_;
    arc_to_[at] = a;
    queue_.push_back(at);
    return rest[at] != 0;
}

SUBLET_DECL bool resting_flow::bring(node_id from, node_id x, byte_count need)
{
    byte_count bytes = larger(smaller(rest[from], need - rest[x]), rest[from] / 2);
    for (node_id at = from; at != x;) {
        std::uint32_t const a = arc_to_[at];
        bool const is_back = tail_[a] != at;
        if (is_back) bytes = smaller(bytes, flow_[a]);
        at = is_back ? tail_[a] : head_of(a);
    }
    bool has_closed = false;
    for (node_id at = from; at != x;) {
        std::uint32_t const a = arc_to_[at];
        bool const is_back = tail_[a] != at;
        if (is_back) has_closed |= (flow_[a] -= bytes) == 0;
        else flow_[a] += bytes;
        at = is_back ? tail_[a] : head_of(a);
    }
    rest[from] -= bytes;
    rest[x] += bytes;
    return has_closed || rest[x] >= need;
}

} // namespace sublet::detail

#endif
