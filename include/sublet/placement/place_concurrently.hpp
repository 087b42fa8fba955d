// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_CONCURRENTLY_HPP
#define SUBLET_PLACEMENT_PLACE_CONCURRENTLY_HPP

/// An offset for every buffer, for steps that run as soon as they may: buffers of which neither gives its
/// bytes to the other lie apart, in as low an arena a pool as is quickly found.
///
///     for each pool:  bound = most bytes of buffers that all conflict with each other, if it is known
///                     for each order: fit; keep the lowest
///                     stop when the bound is met: nothing can be lower
///
/// What a buffer must not meet is not one range of positions here but several, with holes between them; apart
/// from that it is the problem of place.hpp, and as there, greedy placement has no guaranteed factor.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020, with the conflicts of a partial order instead of those of intervals.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/conflicts.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/placement/placed_by_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct place_concurrently_options {
    std::vector<byte_count> bounds = {};   ///< by pool: what no placement goes below; none: not known
    std::vector<buffer_id> antichain = {}; ///< buffers that all conflict with each other, many bytes in all
    std::vector<byte_count> fallback = {}; ///< by buffer: a placement that is valid, or nothing
    std::uint64_t visits = 100'000'000;    ///< no further order is begun after so many
};

namespace detail {

enum class concurrent_order : std::uint8_t { size, antichain, area, weight, begin };

/// By buffer, the bytes of those that conflict with it; of one with several begins some are counted twice.
template <class Buffer>
std::vector<byte_count> conflict_weights(std::vector<Buffer> const& buffers,
                                         placement_conflicts const& conflicts)
{
    // By position: the bytes that begin below it, and the bytes whose ranges it lies in, as differences.
    std::vector<byte_count> begun(std::size_t{conflicts.positions()} + 1, 0), around = begun;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        for (step_id at : conflicts.begins[b]) begun[at] += buffers[b].size;
        for (live_range r : conflicts.ranges[b]) {
            around[r.first] += buffers[b].size;
            around[r.last] -= buffers[b].size;
        }
    }
    byte_count below = 0, inside = 0;
    for (std::size_t at = 0; at != begun.size(); ++at) {
        below += std::exchange(begun[at], below);
        around[at] = inside += around[at];
    }
    std::vector<byte_count> weight;
    weight.reserve(buffers.size());
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        byte_count sum = 0;
        for (step_id at : conflicts.begins[b]) sum += around[at];
        for (live_range r : conflicts.ranges[b]) sum += begun[r.last] - begun[r.first];
        weight.push_back(sum);
    }
    return weight;
}

/// The buffers' indexes in the given order, by falling key, then size.
template <class Buffer>
std::vector<std::uint32_t> order_by(concurrent_order which, std::vector<Buffer> const& buffers,
                                    std::vector<byte_count> const& weight,
                                    std::vector<unsigned char> const& is_in_antichain)
{
    std::vector<keyed> offers;
    offers.reserve(buffers.size());
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        byte_count const size = buffers[i].size;
        byte_count key = 0;
        switch (which) {
        case concurrent_order::size: break;
        case concurrent_order::antichain: key = is_in_antichain[i]; break;
        case concurrent_order::area:
            // Of the product only the logarithm matters, to six bits behind the point.
            key = weight[i] == 0 || size <= (no_size - 1) / weight[i] ? size * weight[i] : no_size;
            break;
        case concurrent_order::weight: key = weight[i]; break;
        case concurrent_order::begin: key = ~byte_count{i}; break;
        }
        offers.push_back({falling(key), falling(size), static_cast<std::uint32_t>(i)});
    }
    sort_keyed(offers);
    std::vector<std::uint32_t> order;
    order.reserve(offers.size());
    for (keyed const& o : offers) order.push_back(o.who);
    return order;
}

/// As fit(), with the conflicts of a partial order.
template <class Buffer>
packing fit(std::vector<Buffer> const& buffers, std::vector<std::uint32_t> const& order,
            placed_by_range placed, byte_count ceiling)
{
    packing result;
    result.offset.assign(buffers.size(), no_offset);
    auto put = [&](std::uint32_t i, byte_count offset) {
        result.offset[i] = offset;
        result.height = larger(result.height, offset + buffers[i].size);
        placed.insert(i, offset, offset + buffers[i].size);
    };
    for (std::uint32_t i : order)
        if (buffers[i].pinned != no_offset) put(i, buffers[i].pinned);
    for (std::uint32_t i : order) {
        if (buffers[i].pinned != no_offset) continue;
        byte_count const at =
            placed.lowest_gap(i, buffers[i].size, buffers[i].alignment, ceiling, result.visits);
        if (at == no_offset) {
            result.height = no_limit;
            return result;
        }
        put(i, at);
    }
    return result;
}

} // namespace detail

/// Requires:   `lives` and `conflicts` are those of the problem's buffers (analysis/later_conflicts.hpp);
///             where `fallback` is given, it is valid. The lives in the problem are not looked at.
/// Ensures:    where `status` is placed: buffers of one pool of which neither gives to the other do not
///             overlap in bytes, offsets are aligned and pins kept. No pool is higher than by the fallback.
///             Same problem and options, same placement.
/// Complexity: O(pools * positions + n log n) and at most a packing an order, n = buffers.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, or if every packing exceeds 64
///             bits.
template <std::same_as<placement_problem> Problem>
[[nodiscard]] placement place_concurrently(Problem const& problem, concurrent_lives const& lives,
                                           live_range_lists const& conflicts,
                                           place_concurrently_options const& options = {})
{
    using detail::concurrent_order;
    std::size_t const all = problem.buffers.size(), pools = pool_count(problem);
    SUBLET_EXPECTS(lives.buffers() == all && (options.fallback.empty() || options.fallback.size() == all),
                   "sublet: a table has not one entry for each buffer");
    std::vector<keyed> members; // by pool, then by first begin
    std::vector<unsigned char> marked(all);
    for (buffer_id b : options.antichain) marked[b] = 1;
    placement result;
    result.offset.assign(all, no_offset);
    result.pools = std::vector<placed_pool>(pools);
    for (std::size_t b = 0; b != all; ++b) {
        placement_buffer const& buffer = problem.buffers[b];
        SUBLET_EXPECTS(buffer.alignment >= 1, "sublet: an alignment is at least 1");
        SUBLET_EXPECTS(buffer.size != no_size, "sublet: a buffer of unknown size cannot be placed");
        auto const id = static_cast<buffer_id>(b);
        if (buffer.size != 0) members.push_back({buffer.pool, lives.first(id), id});
    }
    sort_keyed(members);
    auto fails = [&](placement_status status, std::size_t pool, buffer_id buffer, buffer_id other) {
        if (result.status != placement_status::placed) return;
        result.status = status;
        result.pool = static_cast<pool_id>(pool);
        result.buffer = buffer;
        result.other = other;
    };

    std::size_t next = 0;
    for (std::size_t pool = 0; pool != pools; ++pool) {
        pool_limits const limits = pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
        SUBLET_EXPECTS(limits.alignment >= 1, "sublet: an alignment is at least 1");
        std::vector<buffer_id> mine;
        std::vector<placement_buffer> buffers;
        std::vector<unsigned char> is_in_antichain;
        placed_pool& out = result.pools[pool];
        for (; next != members.size() && members[next].key == pool; ++next) {
            mine.push_back(members[next].who);
            placement_buffer buffer = problem.buffers[mine.back()];
            buffer.alignment = combine_alignment(buffer.alignment, limits.alignment);
            out.lower_bound =
                larger(out.lower_bound,
                       buffer.pinned == no_offset ? buffer.size : checked_add(buffer.pinned, buffer.size));
            buffers.push_back(buffer);
            is_in_antichain.push_back(marked[mine.back()]);
        }
        if (pool < options.bounds.size()) out.lower_bound = larger(out.lower_bound, options.bounds[pool]);
        if (mine.empty()) continue;
        placement_conflicts const among = conflicts_among(mine, lives, conflicts);

        bool sound = true;
        std::vector<std::uint32_t> pinned;
        for (std::uint32_t i = 0; i != buffers.size(); ++i) {
            byte_count const at = buffers[i].pinned;
            if (at == no_offset) continue;
            if (at % buffers[i].alignment != 0) {
                fails(placement_status::pin_misaligned, pool, mine[i], no_buffer);
                sound = false;
            }
            pinned.push_back(i);
        }
        for (std::size_t j = 0; j != pinned.size() && sound; ++j)
            for (std::size_t i = 0; i != j && sound; ++i) {
                placement_buffer const &a = buffers[pinned[i]], &b = buffers[pinned[j]];
                if (a.pinned >= b.pinned + b.size || b.pinned >= a.pinned + a.size ||
                    !among.conflict(pinned[i], pinned[j]))
                    continue;
                fails(placement_status::pins_clash, pool, mine[pinned[i]], mine[pinned[j]]);
                sound = false;
            }
        if (!sound) continue;

        packing best;
        best.height = no_limit;
        if (!options.fallback.empty()) {
            best.height = 0;
            for (std::size_t i = 0; i != mine.size(); ++i) {
                best.offset.push_back(options.fallback[mine[i]]);
                best.height = larger(best.height, best.offset[i] + buffers[i].size);
            }
        }
        auto const weight = detail::conflict_weights(buffers, among);
        placed_by_range const empty(among);
        std::uint64_t spent = 0;
        for (auto which : {concurrent_order::size, concurrent_order::antichain, concurrent_order::area,
                           concurrent_order::weight, concurrent_order::begin}) {
            if (best.height != no_limit && (best.height <= out.lower_bound || spent >= options.visits)) break;
            packing found = detail::fit(buffers, detail::order_by(which, buffers, weight, is_in_antichain),
                                        empty, best.height - 1);
            ++out.packings;
            spent += found.visits + buffers.size();
            if (found.height < best.height) best = std::move(found);
        }
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        for (std::size_t i = 0; i != mine.size(); ++i) result.offset[mine[i]] = best.offset[i];
        if (best.height > limits.capacity) fails(placement_status::over_capacity, pool, no_buffer, no_buffer);
    }
    return result;
}

} // namespace sublet

#endif
