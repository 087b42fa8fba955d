// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_FIT_UPWARDS_IPP
#define SUBLET_PLACEMENT_IMPL_FIT_UPWARDS_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/fit_upwards.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL packing fit_upwards(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                placement_bound const& bound, byte_count ceiling)
{
    struct waiting {
        byte_count lowest; // where it can lie
        live_range life;
        std::uint32_t who;
        bool is_plain;
    };
    packing result;
    result.origin.assign(all.size(), no_offset);
    std::vector<waiting> queue;
    queue.reserve(all.size());
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        SUBLET_EXPECTS(shape.pinned == no_offset, "sublet: a pinned shape is not placed upwards");
        queue.push_back({shape.phase, shape.life, s, all.is_plain(s)});
    }
    std::vector<byte_count> to_come = bound.live_bytes;
    std::vector<std::int32_t> candidates(all.positions.size() + 1);
    while (!queue.empty()) {
        result.visits += queue.size() + to_come.size();
        byte_count lowest = no_offset;
        for (waiting const& w : queue) lowest = smaller(lowest, w.lowest);
        for (std::int32_t& n : candidates) n = 0;
        for (waiting const& w : queue)
            if (w.lowest == lowest) {
                ++candidates[w.life.first];
                --candidates[w.life.last];
            }
        step_id fullest = no_step;
        std::int32_t alive = 0;
        for (step_id at = 0; at != to_come.size(); ++at)
            if ((alive += candidates[at]) != 0 && (fullest == no_step || to_come[at] > to_come[fullest]))
                fullest = at;
        std::size_t next = 0;
        while (queue[next].lowest != lowest || !contains(queue[next].life, fullest)) ++next;

        waiting const now = queue[next];
        byte_count const size = all.shapes[now.who].size;
        if (size > ceiling || now.lowest > ceiling - size) {
            result.height = no_limit;
            return result;
        }
        result.origin[now.who] = now.lowest;
        result.height = larger(result.height, now.lowest + size);
        for (shape_piece const& p : all.pieces_of(now.who))
            for (step_id at = p.when.first; at != p.when.last; ++at) to_come[at] -= p.end - p.begin;
        for (std::size_t i = next + 1; i != queue.size(); ++i) queue[i - 1] = queue[i];
        queue.pop_back();
        for (waiting& w : queue) {
            if (w.life.first >= now.life.last || now.life.first >= w.life.last) continue;
            byte_count above = now.lowest + size;
            if (!now.is_plain || !w.is_plain) {
                shape_reach const apart = reach(all, now.who, w.who);
                if (!apart.meets) continue;
                above = now.lowest + static_cast<byte_count>(apart.distance); // below it: modulo 2^64
                if (apart.distance < 0 && above > now.lowest) continue;       // not even at 0 in the way
            }
            if (above > w.lowest) w.lowest = align_up(above, all.shapes[w.who]);
        }
    }
    return result;
}

} // namespace sublet

#endif
