// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_HPP
#define SUBLET_PLACEMENT_PLACE_HPP

/// An offset for every buffer, in as low an arena a pool as is quickly found.
///
///     for each pool:  bound = most bytes alive at once
///                     for each way to choose a gap, for each order:  fit; keep the lowest
///                     stop when the bound is met: nothing can be lower
///
/// Greedy, with no guaranteed factor: a problem that one order packs badly is often one that another packs
/// well, and the lowest of all is kept. Height and bound are part of the result.

#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/best_packing.hpp>
#include <sublet/placement/bound.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct place_options {
    /// No further order is begun once this many buffers have been looked at, to put them in order or because
    /// they were in the way (a fraction of a second's work). A count and not a time, so that the same problem
    /// has the same answer everywhere.
    std::uint64_t visits = 100'000'000;
};

namespace detail {

/// Two pinned buffers that overlap in life and bytes, or {no_buffer, no_buffer}.
///
/// A sweep over their births: as long as nothing clashes, those alive lie apart, and a new one that meets
/// any of them meets a neighbour.
template <class Buffer>
std::pair<std::uint32_t, std::uint32_t> clashing_pins(std::vector<Buffer> const& buffers)
{
    std::vector<keyed> births, deaths;
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        Buffer const& b = buffers[i];
        if (b.pinned == no_offset || b.size == 0 || is_empty(b.life)) continue;
        births.push_back({b.life.first, 0, static_cast<std::uint32_t>(i)});
        deaths.push_back({b.life.last, 0, static_cast<std::uint32_t>(i)});
    }
    sort_keyed(births);
    sort_keyed(deaths);
    std::vector<keyed> alive; // {begin, end, who}, ascending
    auto at_or_above = [&alive](byte_count begin) {
        return first_that(alive.size(), [&](std::size_t i) { return alive[i].key >= begin; });
    };
    auto dead = deaths.begin();
    for (keyed const& birth : births) {
        for (; dead->key <= birth.key; ++dead) {
            std::size_t at = at_or_above(buffers[dead->who].pinned);
            for (; at + 1 != alive.size(); ++at) alive[at] = alive[at + 1];
            alive.pop_back();
        }
        Buffer const& b = buffers[birth.who];
        byte_count const end = b.pinned + b.size;
        std::size_t const next = at_or_above(b.pinned);
        if (next != alive.size() && alive[next].key < end) return {alive[next].who, birth.who};
        if (next != 0 && alive[next - 1].tie > b.pinned) return {alive[next - 1].who, birth.who};
        alive.push_back({b.pinned, end, birth.who});
        for (std::size_t at = alive.size() - 1; at != next; --at) std::swap(alive[at], alive[at - 1]);
    }
    return {no_buffer, no_buffer};
}

} // namespace detail

/// Ensures:    buffers of one pool whose lives overlap do not overlap in bytes,
///             offsets are aligned and pins kept. Same problem and options, same placement.
/// Complexity: O(n log n) and at most two packings (fit.hpp) an order, n = buffers; O(n) memory.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, or if the buffers alive at one
///             position, or every packing, exceed 64 bits.
template <std::same_as<placement_problem> Problem>
[[nodiscard]] placement place(Problem const& problem, place_options const& options = {})
{
    std::size_t const pools = pool_count(problem);
    std::vector<keyed> members; // by pool, then by birth
    members.reserve(problem.buffers.size());
    for (std::size_t b = 0; b != problem.buffers.size(); ++b)
        members.push_back(
            {problem.buffers[b].pool, problem.buffers[b].life.first, static_cast<buffer_id>(b)});
    sort_keyed(members);

    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    result.pools = std::vector<placed_pool>(pools);
    std::size_t next = 0;
    for (std::size_t pool = 0; pool != pools; ++pool) {
        pool_limits const limits = pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
        SUBLET_EXPECTS(limits.alignment >= 1, "sublet: an alignment is at least 1");
        std::vector<placement_buffer> buffers;
        keyed const* const mine = members.data() + next;
        for (; next != members.size() && members[next].key == pool; ++next) {
            placement_buffer buffer = problem.buffers[members[next].who];
            SUBLET_EXPECTS(buffer.alignment >= 1, "sublet: an alignment is at least 1");
            SUBLET_EXPECTS(buffer.size != no_size, "sublet: a buffer of unknown size cannot be placed");
            buffer.alignment = combine_alignment(buffer.alignment, limits.alignment);
            buffers.push_back(buffer);
        }

        placed_pool& out = result.pools[pool];
        std::vector<buffer_id> ids;
        for (std::size_t i = 0; i != buffers.size(); ++i) ids.push_back(mine[i].who);
        placement_shapes const shapes = shapes_of(problem, ids, limits);
        placement_bound const bound = lower_bound(shapes);
        out.lower_bound = bound.bytes;
        out.peak_position = shapes.positions.empty() ? 0 : shapes.positions[bound.peak_position];
        out.proof = {bound.kind, bound.bytes, out.peak_position};
        if (bound.kind == proof_kind::top_of_pin)
            for (shape_part const& p : shapes.parts)
                if (p.shape == bound.shape) out.proof = {bound.kind, bound.bytes, 0, {p.buffer}};
        for (std::size_t i = 0; i != buffers.size(); ++i) {
            placement_buffer const& b = buffers[i];
            if (b.pinned == no_offset || b.size == 0 || is_empty(b.life) || b.pinned % b.alignment == 0)
                continue;
            out.proof = {proof_kind::pin_misaligned, no_limit, 0, {mine[i].who}};
            break;
        }
        if (auto const [a, b] = detail::clashing_pins(buffers); out.proof.bytes != no_limit && a != no_buffer)
            out.proof = {proof_kind::pins_clash, no_limit, 0, {mine[a].who, mine[b].who}};
        if (out.proof.bytes == no_limit) {
            out.status = placement_status::infeasible;
            continue;
        }

        packing best = first_packing(shapes, bound);
        ++out.packings;
        best = best_packing(shapes, bound, options.visits, std::move(best), out.packings);
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        for (shape_part const& p : shapes.parts) result.offset[p.buffer] = best.origin[p.shape] + p.distance;
        out.status = detail::status_of(out.height, out.lower_bound, limits.capacity);
    }
    detail::sum_up(result);
    return result;
}

} // namespace sublet

#endif
