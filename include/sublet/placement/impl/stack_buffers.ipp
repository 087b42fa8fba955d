// SPDX-License-Identifier: BSL-1.0

/// The ranks of the live buffers are kept sorted, for each pool; those that begin at a position are inserted,
/// and are in pairs with their neighbours. Pairs are sorted by the upper one, and each is kept once.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/stack_buffers.hpp>

#include <algorithm>

namespace sublet::detail {

SUBLET_DECL buffer_stacker::buffer_stacker(unsized_buffers const& all, std::vector<buffer_id> const& some)
    : all_(all), rank_(all.layers.size(), 0), live_(all.pools)
{
    std::vector<sort_key> sorted; // {position, begins, buffer}
    for (buffer_id b : some)
        for (std::uint32_t i = all.first_range[b]; i != all.first_range[b + 1]; ++i) {
            if (is_empty(all.ranges[i])) continue;
            sorted.push_back({all.ranges[i].first, 1, b});
            sorted.push_back({all.ranges[i].last, 0, b});
        }
    sort_by_key(sorted);
    for (sort_key const& at : sorted)
        events_.push_back({static_cast<std::uint32_t>(at.key), at.tie != 0, buffer_id{at.id}});
}

SUBLET_DECL void buffer_stacker::stack(std::vector<buffer_id> const& order, stacking& result)
{
    for (std::size_t i = 0; i != order.size(); ++i) rank_[order[i]] = static_cast<std::uint32_t>(i);
    for (std::vector<std::uint32_t>& live : live_) live.clear();
    pairs_.clear();
    // What is written over a buffer lies where that lies: it is raised by what lies below either.
    auto raised = [&](std::uint32_t rank) {
        for (buffer_id over = all_.layers[order[rank]].over; over != no_buffer; over = all_.layers[over].over)
            rank = rank_[over];
        return rank;
    };
    auto add_pair = [&](std::uint32_t below, std::uint32_t above) {
        pairs_.push_back(std::uint64_t{raised(above)} << 32 | below);
    };
    auto place_of = [this](event const& at, std::vector<std::uint32_t>& live) {
        return std::lower_bound(live.begin(), live.end(), rank_[at.buffer]);
    };
    for (std::size_t i = 0, end = 0; i != events_.size();
         i = end) { // all that begin at one position, at once
        for (end = i; end != events_.size() && events_[end].position == events_[i].position; ++end) {
            std::vector<std::uint32_t>& live = live_[all_.layers[events_[end].buffer].pool];
            auto const place = place_of(events_[end], live);
            if (events_[end].begins) live.insert(place, rank_[events_[end].buffer]);
            else live.erase(place);
        }
        for (std::size_t k = i; k != end; ++k) {
            if (!events_[k].begins) continue;
            std::vector<std::uint32_t>& live = live_[all_.layers[events_[k].buffer].pool];
            auto const place = place_of(events_[k], live);
            if (place != live.begin()) add_pair(*(place - 1), *place);
            if (place + 1 != live.end()) add_pair(*place, *(place + 1));
        }
    }
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    result.order.clear();
    result.below.clear();
    result.pools = all_.pools;
    std::size_t next = 0;
    for (std::size_t i = 0; i != order.size(); ++i) {
        stacking::layer its = all_.layers[order[i]];
        its.buffer = order[i];
        its.first_below = static_cast<std::uint32_t>(result.below.size());
        for (; next != pairs_.size() && pairs_[next] >> 32 == i; ++next)
            result.below.push_back(order[static_cast<std::uint32_t>(pairs_[next])]);
        result.order.push_back(its);
    }
}

} // namespace sublet::detail
