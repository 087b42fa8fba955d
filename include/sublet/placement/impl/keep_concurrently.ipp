// SPDX-License-Identifier: BSL-1.0

/// What is fixed has a pin; place_concurrently()'s orders place the rest of the pool.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/keep_concurrently.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>

namespace sublet::detail {

SUBLET_DECL packing keep_concurrently(table<buffer_id, placement_problem::buffer> const& buffers,
                                      placement_conflicts const& conflicts,
                                      table<buffer_id, byte_count> const& former, byte_count limit,
                                      std::uint64_t visits, packing now)
{
    auto is_elsewhere = [&](buffer_id b, packing const& in) {
        return former[b] != no_offset && in.origin[b] != former[b];
    };
    auto moved = [&](packing const& in) {
        byte_count bytes = 0;
        for (buffer_id b = 0; b != buffers.size(); ++b)
            if (is_elsewhere(b, in)) bytes += buffers[b].size;
        return bytes;
    };
    auto may_return = [&](buffer_id b) {
        return former[b] != no_offset && buffers[b].pinned == no_offset &&
               former[b] % buffers[b].alignment == 0 && former[b] <= limit &&
               buffers[b].size <= limit - former[b];
    };
    bool is_within = now.height <= limit;
    if (is_within && moved(now) == 0) return now;

    std::vector<sort_key> heaviest; // {size, 0, buffer}
    placed_by_range placed(conflicts);
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        byte_count const pin = buffers[b].pinned;
        if (pin != no_offset) placed.insert(b, pin, pin + buffers[b].size);
        else if (may_return(b)) heaviest.push_back({descending(buffers[b].size), 0, +b});
    }
    sort_by_key(heaviest);
    table<buffer_id, placement_problem::buffer> pinned = buffers;
    std::vector<buffer_id> fixed; // the heaviest first
    for (sort_key const& k : heaviest) {
        buffer_id const b{k.id};
        byte_count const end = former[b] + buffers[b].size;
        if (!placed.is_free(b, former[b], end)) continue;
        placed.insert(b, former[b], end);
        pinned[b].pinned = former[b];
        fixed.push_back(b);
    }
    for (std::size_t count = 1;; count *= 2) {
        packing found;
        found.height = no_limit;
        std::uint32_t tried = 0;
        if (!pack_intervals(pinned, conflicts, limit, visits, found, tried))
            pack_concurrently(pinned, conflicts, table<buffer_id, unsigned char>(buffers.size()), limit,
                              {.visits = visits}, placed, found, tried);
        if (found.height <= limit) {
            if (!is_within || moved(found) < moved(now)) now = std::move(found);
            is_within = true;
            break;
        }
        if (found.height == no_limit) break;
        std::vector<buffer_id> kept;
        std::size_t left = count;
        for (std::size_t i = fixed.size(); i-- != 0;) {
            bool is_near = false;
            for (buffer_id b = 0; left != 0 && b != buffers.size() && !is_near; ++b)
                is_near = found.origin[b] + buffers[b].size > limit &&
                          (b == fixed[i] || conflicts.conflict(b, fixed[i]));
            left -= is_near;
            if (is_near) pinned[fixed[i]].pinned = no_offset;
            else kept.push_back(fixed[i]);
        }
        if (kept.size() == fixed.size()) break;
        fixed.assign(kept.rbegin(), kept.rend());
    }
    if (!is_within) return now;

    for (bool again = true; again;) { // what moves back may free the place of another
        again = false;
        for (sort_key const& k : heaviest) {
            buffer_id const b{k.id};
            if (!is_elsewhere(b, now)) continue;
            bool is_free = true;
            for (buffer_id other = 0; other != buffers.size() && is_free; ++other)
                is_free = other == b || now.origin[other] >= former[b] + buffers[b].size ||
                          former[b] >= now.origin[other] + buffers[other].size ||
                          !conflicts.conflict(b, other);
            if (!is_free) continue;
            now.origin[b] = former[b];
            again = true;
        }
    }
    now.height = 0;
    for (buffer_id b = 0; b != buffers.size(); ++b)
        now.height = larger(now.height, now.origin[b] + buffers[b].size);
    return now;
}

} // namespace sublet::detail
