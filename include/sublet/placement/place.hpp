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
#include <sublet/placement/fit.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/placement/placed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <bit>
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

/// Columns a few times as wide as lives are long on the average, so that most lie within one; a single one
/// where it would be few, for merging costs more than walking past those that live elsewhere.
template <class Buffer>
step_id column_width(std::vector<Buffer> const& buffers, step_id positions)
{
    std::uint64_t sum = 0;
    for (Buffer const& b : buffers) sum += length(b.life);
    std::uint64_t const width = 4 * (sum / (buffers.size() + 1) + 1);
    return std::bit_ceil(
        static_cast<step_id>(width < positions / 4 ? width : smaller(positions, step_id{1} << 31)));
}

/// Replace positions by their ranks among all births and deaths, and return the positions by rank: what
/// overlaps stays as it is, and no table is longer than twice the number of buffers.
template <class Buffer>
std::vector<step_id> rank_positions(std::vector<Buffer>& buffers)
{
    enum : unsigned { birth, death };
    std::vector<keyed> events;
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        live_range& life = buffers[i].life;
        if (is_empty(life)) continue;
        events.push_back({life.first, birth, static_cast<std::uint32_t>(i)});
        events.push_back({life.last, death, static_cast<std::uint32_t>(i)});
    }
    sort_keyed(events);
    std::vector<step_id> positions;
    for (keyed const& e : events) {
        if (positions.empty() || positions.back() != e.key) positions.push_back(static_cast<step_id>(e.key));
        live_range& life = buffers[e.who].life;
        (e.tie == birth ? life.first : life.last) = static_cast<step_id>(positions.size() - 1);
    }
    return positions;
}

/// The lowest of the portfolio's packings of one pool.
template <class Buffer>
packing best_packing(std::vector<Buffer> const& buffers, placement_bound const& bound, std::uint64_t visits,
                     std::uint32_t& tried)
{
    // Those first that most often meet the bound on networks. Lowest fit usually beats tightest fit: they all
    // have their turn with it before any has one with the other.
    static constexpr placement_order portfolio[] = {
        placement_order::size,    placement_order::peak_length, placement_order::peak_death,
        placement_order::area,    placement_order::size_class,  placement_order::load,
        placement_order::breadth, placement_order::birth,       placement_order::lifetime};
    auto const positions = static_cast<step_id>(bound.live_bytes.size());
    step_id const width = column_width(buffers, positions);
    std::uint64_t const in_order = buffers.size() * static_cast<unsigned>(std::bit_width(buffers.size()));
    packing best;
    best.height = no_limit;
    std::uint64_t spent = 0;
    for (gap_choice choice : {gap_choice::lowest, gap_choice::tightest})
        for (placement_order which : portfolio) {
            if (best.height != no_limit && (best.height <= bound.bytes || spent >= visits)) return best;
            // To be worth anything a packing must end below the best so far.
            packing next = fit(buffers, order_by(which, buffers, bound.live_bytes), choice,
                               placed_by_column(positions, width), best.height - 1);
            ++tried;
            spent += next.visits + in_order;
            if (next.height < best.height) best = std::move(next);
        }
    return best;
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
        std::vector<step_id> const positions = detail::rank_positions(buffers);
        placement_bound const bound = lower_bound(buffers);
        out.lower_bound = bound.bytes;
        out.peak_position = positions.empty() ? 0 : positions[bound.peak_position];
        out.proof = {proof_kind::live_bytes, bound.bytes, out.peak_position};
        for (std::size_t i = 0; i != buffers.size(); ++i) {
            placement_buffer const& b = buffers[i];
            if (b.pinned == no_offset || b.size == 0 || is_empty(b.life)) continue;
            if (bound.bytes != bound.live_bytes[bound.peak_position] && b.pinned + b.size == bound.bytes)
                out.proof = {proof_kind::top_of_pin, bound.bytes, 0, {mine[i].who}};
        }
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

        packing const best = detail::best_packing(buffers, bound, options.visits, out.packings);
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        for (std::size_t i = 0; i != buffers.size(); ++i) result.offset[mine[i].who] = best.offset[i];
        out.status = detail::status_of(out.height, out.lower_bound, limits.capacity);
    }
    detail::sum_up(result);
    return result;
}

} // namespace sublet

#endif
