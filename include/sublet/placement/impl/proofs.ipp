// SPDX-License-Identifier: BSL-1.0

/// Contradictions and bounds of shapes in terms of buffers: a shape is named by the one of its buffers that
/// reaches highest, or that is pinned.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/proofs.hpp>

namespace sublet::detail {

SUBLET_COLD_DECL std::vector<buffer_id> buffers_in(placement_shapes const& all,
                                                   std::vector<std::uint32_t> const& some)
{
    std::vector<unsigned char> is_in(all.size(), 0);
    for (std::uint32_t s : some) is_in[s] = 1;
    std::vector<buffer_id> buffers;
    for (shape_part const& p : all.parts)
        if (is_in[p.shape] != 0) buffers.push_back(p.buffer);
    return buffers;
}

SUBLET_COLD_DECL placement::proof contradiction(placement_problem const& problem,
                                                placement_shapes const& shapes)
{
    switch (shapes.fault) {
    case shape_fault::pin_misaligned:
        return {placement::proof::reason::pin_misaligned, no_limit, 0, {shapes.buffer}};
    case shape_fault::parts_clash:
        return {placement::proof::reason::parts_clash, no_limit, 0, {shapes.buffer, shapes.other}};
    case shape_fault::none: break;
    }
    auto const clash = clashing_pins(shapes);
    if (!clash.conflict) return {};
    auto pinned = [&](std::uint32_t s) {
        return best_part(shapes, s, [&](shape_part const& p) {
            return byte_count{problem.buffers[p.buffer].pinned != no_offset};
        });
    };
    return {placement::proof::reason::pins_clash, no_limit, 0, {pinned(clash.one), pinned(clash.other)}};
}

SUBLET_COLD_DECL placement::proof proof_of(placement_problem const& problem, placement_shapes const& shapes,
                                           placement_bound const& bound)
{
    placement::proof proof{bound.kind, bound.bytes};
    if (bound.kind == placement::proof::reason::live_bytes)
        proof.position = shapes.positions[bound.peak_position];
    if (bound.kind == placement::proof::reason::top_of_pin)
        proof.buffers = {best_part(shapes, bound.shape, [&](shape_part const& p) {
            return p.distance + problem.buffers[p.buffer].size;
        })};
    if (bound.kind == placement::proof::reason::exhausted) proof.buffers = buffers_in(shapes, bound.stacked);
    return proof;
}

} // namespace sublet::detail
