// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_BOUND_IPP
#define SUBLET_PLACEMENT_IMPL_BOUND_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/bound.hpp>

namespace sublet {

SUBLET_DECL placement_bound lower_bound(placement_shapes const& all)
{
    placement_bound bound;
    bound.live_bytes.assign(all.positions.size(), 0);
    std::vector<byte_count> dying(all.positions.size(), 0);
    for (shape_piece const& p : all.pieces) {
        byte_count& born = bound.live_bytes[p.when.first];
        born = checked_add(born, p.end - p.begin);
        dying[p.when.last] += p.end - p.begin;
    }
    byte_count load = 0, most = 0;
    for (step_id at = 0; at != bound.live_bytes.size(); ++at) {
        bound.live_bytes[at] = load = checked_add(load - dying[at], bound.live_bytes[at]);
        if (load <= most) continue;
        most = load;
        bound.peak_position = at;
    }
    bound.bytes = most;
    if (most != 0) bound.kind = proof_kind::live_bytes;
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        placement_shape const& shape = all.shapes[s];
        byte_count const top =
            checked_add(shape.pinned == no_offset ? shape.phase : shape.pinned, shape.size);
        if (top <= bound.bytes) continue;
        bound.bytes = top;
        bound.kind = proof_kind::top_of_pin;
        bound.shape = s;
    }
    return bound;
}

} // namespace sublet

#endif
