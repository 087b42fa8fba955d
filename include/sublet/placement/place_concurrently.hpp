// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACE_CONCURRENTLY_HPP
#define SUBLET_PLACEMENT_PLACE_CONCURRENTLY_HPP

/// Offsets if only a partial order of the steps is known, and offsets for slots one after the other.

#include <sublet/detail/live_range_lists.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/placement/detail/concurrent.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- stack slots -----------------------------------------------------------------------------------------

/// Slots as a placement: in each pool one above the other, so that whoever shares a slot shares its address.
///
///     slot  bytes  alignment            pool 0   [ slot 1: 96 bytes ][ slot 0: 40 bytes ]
///       0     40           8            pool 1   [ slot 2: 64 bytes ]
///       1     96          64
///       2     64           8
///
/// The coarsest alignments come first: where they are powers of two and sizes are multiples of them, no
/// byte is lost between slots.

namespace sublet {

/// The offset of each buffer's slot; `bounds`, by pool, is what is known to be the least.
///
/// Requires:   `slots` has an entry for each buffer of the problem, `no_slot` only for 0 bytes; buffers of a
///             slot are of one pool and no larger than it.
/// Ensures:    a slot begins at a multiple of the alignments of its pool and of all its tenants; slots of
///             equal alignment keep their order. Pins and lives are not looked at.
/// Complexity: O(buffers + slots log slots).
/// Throws:     precondition_error if the slots of a pool end beyond 64 bits, or a common alignment does.
[[nodiscard]] placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                    std::vector<byte_count> const& bounds = {});

// --- place concurrently ----------------------------------------------------------------------------------

/// An offset for every buffer, for steps that run as soon as they may: buffers of which neither gives its
/// bytes to the other lie apart, in as low an arena a pool as is quickly found.
///
///     for each pool:  bound = most bytes of buffers that all conflict with each other, if it is known
///                     for each order: fit; keep the lowest
///                     reorder who reaches above the bound, and fit again
///                     stop when the bound is met: nothing can be lower
///
/// What a buffer must not meet is not one range of positions here but several, with holes between them; apart
/// from that it is the problem of place.hpp, and as there, greedy placement has no guaranteed factor.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020, with the conflicts of a partial order instead of those of intervals.


struct place_concurrently_options {
    std::vector<byte_count> bounds = {};   ///< by pool: the height that is low enough; none: not known
    std::vector<buffer_id> antichain = {}; ///< buffers that all conflict with each other, many bytes in all
    std::vector<byte_count> fallback = {}; ///< by buffer: a placement that is valid, or nothing
    std::uint64_t visits = 100'000'000;    ///< about a second's work, then no further order is begun
    std::uint64_t most_visits = no_limit;  ///< a pool that has no placement by then is `no_limit` high
};

namespace detail {

/// The first that is pinned where its alignment forbids, or else the first that is pinned onto one before it:
/// then `bytes` is `no_limit`, and `buffers` are indexes of these.
template <class Buffer>
placement_proof fault_of_pins(std::vector<Buffer> const& buffers, placement_conflicts const& conflicts,
                              placed_by_range& placed)
{
    std::vector<std::uint32_t> pinned;
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        if (buffers[i].pinned == no_offset) continue;
        if (buffers[i].pinned % buffers[i].alignment != 0)
            return {proof_kind::pin_misaligned, no_limit, 0, {i}};
        pinned.push_back(i);
    }
    for (std::uint32_t j : pinned) {
        byte_count const begin = buffers[j].pinned, end = begin + buffers[j].size;
        if (placed.is_free(j, begin, end)) {
            placed.insert(j, begin, end);
            continue;
        }
        for (std::uint32_t i : pinned)
            if (buffers[i].pinned < end && begin < buffers[i].pinned + buffers[i].size &&
                conflicts.conflict(i, j))
                return {proof_kind::pins_clash, no_limit, 0, {i, j}};
    }
    return {};
}

/// The lowest that orders and search find for one pool. `best` is a placement to begin with, or `no_limit`
/// high. Returns false if the visits were spent before each order was tried to its end.
template <class Buffer>
bool pack_concurrently(std::vector<Buffer> const& buffers, placement_conflicts const& conflicts,
                       std::vector<unsigned char> is_in_antichain, byte_count bound, std::uint64_t visits,
                       std::uint64_t most_visits, placed_by_range& placed, packing& best,
                       std::uint32_t& tried)
{
    // Quick ones first, for of very many buffers only they can be had.
    struct attempt {
        concurrent_order order;
        bool by_levels;
    };
    static constexpr attempt portfolio[] = {
        {concurrent_order::octave, false}, {concurrent_order::last, true}, {concurrent_order::begin, true},
        {concurrent_order::octave, true},  {concurrent_order::area, true}, {concurrent_order::peak, false},
        {concurrent_order::size, false}};
    order_keys const keys = keys_of(buffers, conflicts, std::move(is_in_antichain));
    std::vector<std::uint32_t> best_order;
    std::uint64_t spent = 0;
    auto try_order = [&](std::vector<std::uint32_t> order) {
        // To put on top what is left takes little, as a rule.
        std::uint64_t const left = visits - spent;
        std::uint64_t const enough = left + larger(left, std::uint64_t{256} * order.size());
        packing found = fit_concurrently(buffers, order, placed, best.height - 1, visits - spent,
                                         best.height == no_limit ? most_visits : enough);
        ++tried;
        spent += found.visits;
        if (found.height >= best.height && !best_order.empty()) return;
        best_order = std::move(order);
        if (found.height < best.height) best = std::move(found);
    };
    // In the order of the offsets that it has, none is placed above its own.
    if (best.height > bound && best.height != no_limit) try_order(order_by_levels(best.origin, keys));
    for (attempt now : portfolio) {
        if (best.height <= bound) return true;
        if (spent >= visits && (best.height != no_limit || spent >= most_visits)) return false;
        std::vector<std::uint32_t> order = order_by(now.order, keys);
        if (now.by_levels) {
            std::vector<Buffer> const alike(buffers.size(), Buffer{{}, 1});
            packing const levels = fit_concurrently(alike, order, placed, no_limit - 1, visits - spent);
            spent += levels.visits;
            if (spent >= visits) return false;
            order = order_by_levels(levels.origin, keys);
        }
        try_order(std::move(order));
    }
    if (best.height <= bound) return true;
    if (best.height != no_limit && spent >= visits) return false;
    if (best.height != no_limit)
        lower_by_reordering(buffers, conflicts, placed, bound, visits - spent, std::move(best_order), best);
    return true;
}

} // namespace detail

/// Requires:   `lives` and `conflicts` are those of the problem's buffers (analysis/dependences.hpp);
///             where `fallback` is given, it is valid. The lives in the problem are not looked at.
/// Ensures:    buffers of one pool of which neither gives to the other do not overlap in bytes, offsets are
///             aligned and pins kept. No pool is higher than by the fallback. Same problem and options, same
///             placement.
/// Complexity: O(pools * positions + n log n) and at most a packing an order, n = buffers.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, or if every packing exceeds 64
///             bits.
template <class Lives>
[[nodiscard]] placement place_concurrently(placement_problem const& problem, Lives const& lives,
                                           live_range_lists const& conflicts,
                                           place_concurrently_options const& options = {})
{
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
            byte_count const top =
                buffer.pinned == no_offset ? buffer.size : checked_add(buffer.pinned, buffer.size);
            if (top > out.proof.bytes) out.proof = {proof_kind::top_of_pin, top, 0, {mine.back()}};
            buffers.push_back(buffer);
            is_in_antichain.push_back(marked[mine.back()]);
        }
        if (pool < options.bounds.size() && options.bounds[pool] > out.proof.bytes)
            out.proof = {proof_kind::given, options.bounds[pool]};
        out.lower_bound = out.proof.bytes;
        if (mine.empty()) continue;
        placement_conflicts const among = conflicts_among(mine, lives, conflicts);

        placed_by_range placed(among);
        if (placement_proof fault = detail::fault_of_pins(buffers, among, placed); fault.bytes == no_limit) {
            for (buffer_id& b : fault.buffers) b = mine[b];
            out.proof = std::move(fault);
            out.status = placement_status::infeasible;
            continue;
        }

        packing best;
        best.height = no_limit;
        if (!options.fallback.empty()) {
            best.height = 0;
            for (std::size_t i = 0; i != mine.size(); ++i) {
                best.origin.push_back(options.fallback[mine[i]]);
                best.height = larger(best.height, best.origin[i] + buffers[i].size);
            }
        }
        bool const is_complete =
            detail::pack_concurrently(buffers, among, std::move(is_in_antichain), out.lower_bound,
                                      options.visits, options.most_visits, placed, best, out.packings);
        result.is_cut_short = result.is_cut_short || !is_complete;
        if (best.height == no_limit && options.most_visits != no_limit) {
            out.height = no_limit;
            out.status = placement_status::limit;
            continue;
        }
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        for (std::size_t i = 0; i != mine.size(); ++i) result.offset[mine[i]] = best.origin[i];
        out.status = detail::status_of(out.height, out.lower_bound, limits.capacity);
    }
    detail::sum_up(result);
    return result;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/place_concurrently.ipp>
#endif

#endif
