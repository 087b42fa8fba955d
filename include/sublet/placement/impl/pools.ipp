// SPDX-License-Identifier: BSL-1.0

/// How the members of a pool become shapes with a bound, and a packing becomes the result of the pool.
/// Stopped before there are shapes, the members lie one above the other: that needs no shapes, only sizes.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/blocks.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/detail/proofs.hpp>

namespace sublet::detail {

SUBLET_COLD_DECL pool_members members_by_pool(placement_problem const& problem)
{
    pool_members result;
    result.first.assign(pool_count(problem) + 1, 0);
    for (placement_problem::buffer const& b : problem.buffers) ++result.first[b.pool];
    for (std::size_t p = 1; p < result.first.size(); ++p) result.first[p] += result.first[p - 1];
    result.buffers.resize(problem.buffers.size());
    for (auto b = buffer_id::of(problem.buffers.size()); b-- != 0;) // from the end of each pool
        result.buffers[--result.first[problem.buffers[b].pool]] = b;
    return result;
}

SUBLET_COLD_DECL placement::pool_result stack_members(placement_problem const& problem,
                                                      std::vector<buffer_id> const& members,
                                                      pool_limits limits, placement::objective objective,
                                                      table<buffer_id, byte_count>& offset)
{
    SUBLET_EXPECTS(limits.alignment >= 1, "sublet: the alignment of a pool is 0, but has to be at least 1");
    table<buffer_id, unsigned char> is_part;  // if any are colocated
    table<buffer_id, std::uint32_t> unneeded; // if there are gaps: positions without bytes
    if (!problem.colocated.empty()) is_part.assign(problem.buffers.size(), 0);
    for (placement_problem::colocation const& c : problem.colocated)
        for (buffer_id b : {c.buffer, c.anchor})
            if (b < is_part.size()) is_part[b] = 1;
    if (!problem.gaps.empty()) unneeded.assign(problem.buffers.size(), 0);
    for (placement_problem::gap const& g : problem.gaps) {
        if (g.buffer >= unneeded.size() || g.begin != g.end) continue;
        live_range const life = problem.buffers[g.buffer].life;
        live_range const when{larger(g.when.first, life.first), smaller(g.when.last, life.last)};
        if (!is_empty(when)) unneeded[g.buffer] += length(when);
    }
    bool const in_blocks = limits.largest_block != no_limit;
    placement::pool_result out;
    placement::proof bound;
    std::vector<buffer_id> fixed; // these depend on others
    byte_count unit = 1;
    for (buffer_id b : members) {
        placement_problem::buffer const& buffer = problem.buffers[b];
        expect_placeable(buffer, b);
        if (buffer.pinned != no_offset || (!is_part.empty() && is_part[b] != 0)) fixed.push_back(b);
        if (!in_blocks) continue;
        unit = combine_alignment(unit, combine_alignment(buffer.alignment, limits.alignment));
        if (!fixed.empty() || buffer.size > limits.largest_block) {
            out.height = no_limit;
            return out;
        }
    }
    if (!fixed.empty()) {
        placement_shapes const shapes = shapes_of(problem, fixed, limits);
        out.proof = contradiction(problem, shapes);
        if (out.proof.bytes == no_limit) {
            out.status = placement::outcome::infeasible;
            return out;
        }
        placement_bound tops;
        raise_to_tops(shapes, tops);
        bound = proof_of(problem, shapes, tops);
        packing const stacked = stack_all(shapes);
        out.height = stacked.height;
        if (out.height == no_limit) return out;
        for (shape_part const& p : shapes.parts) offset[p.buffer] = stacked.origin[p.shape] + p.distance;
    }
    out.proof = std::move(bound);
    byte_count begin = 0; // of the last block
    for (std::size_t i = 0, next = 0; i != members.size(); ++i) {
        buffer_id const b = members[i];
        placement_problem::buffer const& buffer = problem.buffers[b];
        if (next != fixed.size() && fixed[next] == b) {
            ++next;
            continue;
        }
        if (buffer.size == 0 || is_empty(buffer.life)) continue;
        if (!unneeded.empty() && unneeded[b] >= length(buffer.life)) continue;
        byte_count at = align_up(out.height, combine_alignment(buffer.alignment, limits.alignment));
        if (in_blocks && (at == no_offset || at - begin > limits.largest_block - buffer.size)) {
            out.blocks.push_back({0, begin, out.height - begin});
            begin = at = align_up(out.height, unit);
        }
        if (at == no_offset || buffer.size >= no_limit - 1 - at) {
            for (buffer_id placed : members) offset[placed] = no_offset;
            out = {};
            out.height = no_limit;
            return out;
        }
        offset[b] = at;
        out.height = at + buffer.size;
        if (buffer.size > out.proof.bytes)
            out.proof = {placement::proof::reason::top_of_pin, buffer.size, 0, {b}};
    }
    if (in_blocks && out.height != 0) out.blocks.push_back({0, begin, out.height - begin});
    out.lower_bound = out.proof.bytes;
    out.peak_position = 0;
    out.packings = 1;
    out.status = status_of(out.height, out.lower_bound, limits.capacity, objective);
    return out;
}

SUBLET_COLD_DECL opened_pool open_pool(placement_problem const& problem,
                                       std::vector<buffer_id> const& members, pool_limits limits,
                                       placement::objective objective, table<buffer_id, byte_count>& offset,
                                       search_control& control, std::size_t left, std::size_t phases)
{
    opened_pool pool;
    pool.phases = phases;
    pool.parts = left * (phases + (limits.largest_block != no_limit));
    if (pool.parts != 0) control.begin(pool.parts);
    step_poll const poll(control);
    placement::pool_result& out = pool.result;
    placement_shapes& shapes = pool.shapes;
    shapes = shapes_of(problem, members, limits, poll);
    auto is_stacked = [&] {
        out = stack_members(problem, members, limits, objective, offset);
        return pool.is_done = out.height != no_limit;
    };
    if (poll.has_stopped()) {
        if (is_stacked()) return pool;
        shapes = shapes_of(problem, members, limits);
    }
    out.proof = contradiction(problem, shapes);
    if (out.proof.bytes == no_limit) {
        out.status = placement::outcome::infeasible;
        pool.is_done = true;
        return pool;
    }
    if (std::uint32_t const over = first_over_block(shapes, limits.largest_block); over != shapes.size()) {
        buffer_id const highest = best_part(
            shapes, over, [&](shape_part const& p) { return p.distance + problem.buffers[p.buffer].size; });
        out.proof = {placement::proof::reason::over_block, no_limit, 0, {highest}};
        out.status = placement::outcome::infeasible;
        pool.is_done = true;
        return pool;
    }
    pool.bound = lower_bound(shapes, poll);
    if (pool.bound.live_bytes.size() != shapes.positions.size()) { // stopped
        if (is_stacked()) return pool;
        pool.bound = lower_bound(shapes);
    }
    out.proof = proof_of(problem, shapes, pool.bound);
    out.lower_bound = pool.bound.bytes;
    if (shapes.size() != 0) out.peak_position = shapes.positions[pool.bound.peak_position];
    return pool;
}

SUBLET_COLD_DECL placement::pool_result close_pool(opened_pool& pool, pool_limits limits,
                                                   placement::objective objective,
                                                   table<buffer_id, byte_count>& offset,
                                                   search_control& control, packing& best)
{
    SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
    bool const in_blocks = limits.largest_block != no_limit;
    if (pool.parts != 0 && in_blocks) control.begin(pool.parts - pool.phases);
    placement::pool_result& out = pool.result;
    if (best.height > limits.largest_block)
        out.blocks = split_into_blocks(pool.shapes, pool.bound, limits.largest_block, best, control);
    else if (in_blocks && best.height != 0) out.blocks = {{0, 0, best.height}};
    out.height = best.height;
    out.status = status_of(out.height, out.lower_bound, limits.capacity, objective);
    for (shape_part const& p : pool.shapes.parts) offset[p.buffer] = best.origin[p.shape] + p.distance;
    return std::move(out);
}

} // namespace sublet::detail
