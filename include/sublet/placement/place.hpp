// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_HPP
#define SUBLET_PLACEMENT_PLACE_HPP

/// An offset for every buffer, in as low an arena a pool as is quickly found.
///
///     for each pool:  bound = most bytes alive at once
///                     for each way to choose a gap, for each order:  fit; keep the lowest
///                     stop when the bound is met: nothing can be lower
///
/// Greedy, with no guaranteed factor: one order alone loses up to 40 % on hard instances, the best of all
/// usually little. The gap to the bound is part of the result.

#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/placement/placed.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

enum class placement_status : std::uint8_t {
    placed,        ///< every buffer has its place
    over_capacity, ///< placed, but higher than the capacity of `pool`
    pins_clash,    ///< `buffer` and `other` are pinned onto each other: nothing is placed in `pool`
    pin_misaligned ///< `buffer` is pinned where its alignment forbids: nothing is placed in `pool`
};

struct placed_pool {
    byte_count height = 0;
    byte_count lower_bound = 0;
    step_id peak_position = 0; ///< where the bound is reached by live bytes, if it is
    std::uint32_t packings = 0;
};

struct placement {
    std::vector<byte_count> offset; ///< by buffer; `no_offset` for one of 0 bytes or an empty life
    std::vector<placed_pool> pools; ///< by pool
    placement_status status = placement_status::placed;
    pool_id pool = 0;
    buffer_id buffer = no_buffer;
    buffer_id other = no_buffer;
};

struct place_options {
    /// No further order is begun once this many buffers have been looked at, to put them in order or because
    /// they were in the way (a fraction of a second's work). A count and not a time, so that the same problem
    /// has the same answer everywhere.
    std::uint64_t visits = 100'000'000;
};

namespace detail {

/// Two pinned buffers that overlap in life and bytes, or {no_buffer, no_buffer}; a sweep over their births.
template <class Buffer>
std::pair<std::uint32_t, std::uint32_t> clashing_pins(std::vector<Buffer> const& buffers)
{
    struct pin {
        byte_count begin, end;
        step_id until;
        std::uint32_t who;
    };
    std::vector<pin> alive; // by ascending begin, disjoint
    std::vector<pin> dying; // a heap, the first to die on top
    auto later = [](pin const& a, pin const& b) {
        return a.until != b.until ? a.until > b.until : a.who > b.who;
    };
    auto at_or_above = [&](byte_count begin) {
        return std::partition_point(alive.begin(), alive.end(),
                                    [&](pin const& p) { return p.begin < begin; });
    };
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        Buffer const& b = buffers[i];
        if (b.pinned == no_offset || b.size == 0 || is_empty(b.life)) continue;
        while (!dying.empty() && dying.front().until <= b.life.first) {
            alive.erase(at_or_above(dying.front().begin));
            std::pop_heap(dying.begin(), dying.end(), later);
            dying.pop_back();
        }
        pin const mine{b.pinned, b.pinned + b.size, b.life.last, static_cast<std::uint32_t>(i)};
        auto const next = at_or_above(mine.begin);
        if (next != alive.end() && next->begin < mine.end) return {next->who, mine.who};
        if (next != alive.begin() && (next - 1)->end > mine.begin) return {(next - 1)->who, mine.who};
        alive.insert(next, mine);
        dying.push_back(mine);
        std::push_heap(dying.begin(), dying.end(), later);
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
        static_cast<step_id>(width < positions / 4 ? width : std::min(positions, step_id{1} << 31)));
}

/// Replace positions by their ranks among all births and deaths, and return the positions by rank: what
/// overlaps stays as it is, and no table is longer than twice the number of buffers.
template <class Buffer>
std::vector<step_id> rank_positions(std::vector<Buffer>& buffers)
{
    std::vector<step_id> positions;
    for (Buffer const& b : buffers)
        if (!is_empty(b.life)) positions.insert(positions.end(), {b.life.first, b.life.last});
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    auto rank = [&](step_id p) {
        return static_cast<step_id>(std::lower_bound(positions.begin(), positions.end(), p) -
                                    positions.begin());
    };
    for (Buffer& b : buffers)
        b.life = is_empty(b.life) ? live_range{} : live_range{rank(b.life.first), rank(b.life.last)};
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

/// Ensures:    where `status` is placed: buffers of one pool whose lives overlap do not overlap in bytes,
///             offsets are aligned and pins kept. Same problem and options, same placement.
/// Complexity: O(n log n) and at most eighteen packings (fit.hpp), n = buffers; O(n + positions) memory.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, or if the buffers alive at one
///             position, or every packing, exceed 64 bits.
template <std::same_as<placement_problem> Problem>
[[nodiscard]] placement place(Problem const& problem, place_options const& options = {})
{
    std::size_t const pools = pool_count(problem);
    std::vector<std::vector<buffer_id>> members(pools);
    for (std::size_t b = 0; b != problem.buffers.size(); ++b)
        members[problem.buffers[b].pool].push_back(static_cast<buffer_id>(b));

    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    result.pools.resize(pools);
    auto fails = [&](placement_status status, std::size_t pool, buffer_id buffer, buffer_id other) {
        if (result.status != placement_status::placed) return;
        result.status = status;
        result.pool = static_cast<pool_id>(pool);
        result.buffer = buffer;
        result.other = other;
    };
    for (std::size_t pool = 0; pool != pools; ++pool) {
        std::vector<buffer_id>& mine = members[pool];
        std::sort(mine.begin(), mine.end(), [&](buffer_id a, buffer_id b) {
            step_id const x = problem.buffers[a].life.first, y = problem.buffers[b].life.first;
            return x != y ? x < y : a < b;
        });
        pool_limits const limits = pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
        SUBLET_EXPECTS(limits.alignment >= 1, "sublet: an alignment is at least 1");
        std::vector<placement_buffer> buffers;
        buffers.reserve(mine.size());
        for (buffer_id b : mine) {
            placement_buffer buffer = problem.buffers[b];
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
        bool sound = true;
        for (std::size_t i = 0; i != buffers.size() && sound; ++i) {
            placement_buffer const& b = buffers[i];
            if (b.pinned == no_offset || b.size == 0 || is_empty(b.life) || b.pinned % b.alignment == 0)
                continue;
            fails(placement_status::pin_misaligned, pool, mine[i], no_buffer);
            sound = false;
        }
        if (auto const [a, b] = detail::clashing_pins(buffers); sound && a != no_buffer) {
            fails(placement_status::pins_clash, pool, mine[a], mine[b]);
            sound = false;
        }
        if (!sound) continue;

        packing const best = detail::best_packing(buffers, bound, options.visits, out.packings);
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        for (std::size_t i = 0; i != buffers.size(); ++i) result.offset[mine[i]] = best.offset[i];
        if (best.height > limits.capacity) fails(placement_status::over_capacity, pool, no_buffer, no_buffer);
    }
    return result;
}

} // namespace sublet

#endif
