// SPDX-License-Identifier: BSL-1.0

/// The first pool with the worst status decides. The kind of its proof says which rule is violated, and
/// between which buffers; without such a proof it is the capacity.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL std::size_t pool_count(placement_problem const& problem)
{
    std::size_t pools = problem.pools.size();
    for (placement_problem::buffer const& b : problem.buffers) {
        if (b.pool < pools) continue;
        SUBLET_EXPECTS(b.pool < 65536,
                       "sublet: buffer % names pool %, which is out of range (pools are numbered from 0)",
                       &b - problem.buffers.data(), b.pool);
        pools = std::size_t{b.pool} + 1;
    }
    return pools;
}

SUBLET_COLD_DECL void set_overall_status(placement& all)
{
    all.status = placement::outcome::optimal;
    all.pool = 0;
    for (pool_id pool = 0; pool != all.pools.size(); ++pool)
        if (all.pools[pool].status > all.status) {
            all.status = all.pools[pool].status;
            all.pool = pool;
        }
}

SUBLET_COLD_DECL std::optional<counterexample> why_not_placed(placement_problem const& problem,
                                                              placement const& placed)
{
    if (placed.status <= placement::outcome::feasible) return std::nullopt;
    placement::pool_result const& pool = placed.pools[placed.pool];
    pool_limits const limits =
        placed.pool < problem.pools.size() ? problem.pools[placed.pool] : pool_limits{};
    counterexample::buffers its{.pool = placed.pool};
    auto refuse = [&its](fault what) { return counterexample{what, its}; };
    if (!pool.proof.buffers.empty()) its.buffer = pool.proof.buffers[0];
    if (pool.proof.buffers.size() > 1) its.other = pool.proof.buffers[1];
    switch (pool.proof.kind) {
    case placement::proof::reason::pin_misaligned:
        its.begin = problem.buffers[its.buffer].pinned;
        its.needed = combine_alignment(problem.buffers[its.buffer].alignment, limits.alignment);
        return refuse(fault::misaligned);
    case placement::proof::reason::over_block:
        its.end = problem.buffers[its.buffer].size;
        if (byte_count const pin = problem.buffers[its.buffer].pinned; pin != no_offset)
            its.end = checked_add(its.end, pin);
        its.needed = limits.largest_block;
        return refuse(fault::over_block);
    case placement::proof::reason::pins_clash: {
        placement_problem::buffer const &a = problem.buffers[its.buffer], &b = problem.buffers[its.other];
        if (problem.clocks.threads == 0) its.position = larger(a.life.first, b.life.first);
        its.begin = larger(a.pinned, b.pinned);
        its.end = smaller(a.pinned + a.size, b.pinned + b.size);
        if (its.begin >= its.end && its.begin - its.end < limits.guard) {
            std::swap(its.begin, its.end);
            return refuse(fault::too_close);
        }
        if (its.begin >= its.end) { // what is colocated with them overlaps
            its.begin = its.end = 0;
            its.position = no_position;
        }
        return refuse(fault::clash);
    }
    case placement::proof::reason::parts_clash: return refuse(fault::unplaceable_parts);
    case placement::proof::reason::pin_reserved:
        its.needed = problem.buffers[its.buffer].pinned;
        for (auto const& range : limits.reserved) // the lowest above the pin, where it or a part of it lies
            if (range.first < range.second && its.needed < range.second + limits.guard &&
                (its.end == 0 || range.first < its.begin)) {
                its.begin = range.first;
                its.end = range.second;
            }
        return refuse(fault::in_reserved);
    default: break;
    }
    its = {.pool = placed.pool, .end = pool.height, .needed = limits.capacity};
    return refuse(fault::over_capacity);
}

} // namespace sublet::detail
