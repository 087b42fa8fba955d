// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_PLACE_CONCURRENTLY_HPP
#define SUBLET_PLACEMENT_INTERNAL_PLACE_CONCURRENTLY_HPP

/// Placement where only a partial order of the steps is known: conflicts instead of live ranges.
///
///     for each pool:  bound = the given bound, or the highest top that a single buffer requires
///                     for each order: greedy fit; keep the lowest
///                     few buffers: positions instead of conflicts, and pack()
///                     move buffers that reach above the bound forward in the order, and fit again
///                     stop when the height equals the bound: it is optimal
///
/// Two buffers conflict unless one may reuse the bytes of the other in every execution. So a buffer's
/// conflicts are several ranges of positions; otherwise it is the problem of place.hpp, and of a pool in
/// which each buffer has one range from its begin, as where dependences order all steps, pack() finds a
/// placement. Other conflicts become sets of buffers that all conflict, so that pack() can search: live
/// ranges with gaps. No guaranteed factor.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020, with the conflicts of a partial order instead of those of intervals.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/concurrent.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The work of improving offsets.
constexpr std::uint64_t offset_visits(effort work) { return work.of(100'000'000); }

struct place_concurrently_options {
    table<pool_id, byte_count> bounds = {};     ///< a height that is low enough; none: unknown
    std::vector<buffer_id> antichain = {};      ///< pairwise conflicting buffers with many bytes in all
    table<buffer_id, byte_count> fallback = {}; ///< a valid placement; may be empty
    table<buffer_id, byte_count> nearly = {};   ///< one for other conflicts: its order is tried first
    std::uint64_t visits = 100'000'000;         ///< about a second of work; then no further order is begun
    std::uint64_t most_visits = no_limit;       ///< a pool without a placement by then has height `no_limit`
    bool searches = false;                      ///< small pools above their bounds, as pack() does
    search_control* control = nullptr;          ///< if any, orders are searched until it stops
    std::uint64_t seed = 0;                     ///< of that search
};

/// The first buffer with a misaligned pin, else the first pinned onto an earlier one: then
/// `bytes` of the proof is `no_limit`, and its `buffers` are indexes into those given here.
template <class Buffer>
placement::proof check_pins(table<buffer_id, Buffer> const& buffers, placement_conflicts const& conflicts,
                            placed_by_range& placed)
{
    std::vector<buffer_id> pinned;
    for (buffer_id i = 0; i != buffers.size(); ++i) {
        if (buffers[i].pinned == no_offset) continue;
        if (buffers[i].pinned % buffers[i].alignment != 0)
            return {placement::proof::reason::pin_misaligned, no_limit, 0, {i}};
        pinned.push_back(i);
    }
    for (buffer_id j : pinned) {
        byte_count const begin = buffers[j].pinned, end = begin + buffers[j].size;
        if (placed.is_free(j, begin, end)) {
            placed.insert(j, begin, end);
            continue;
        }
        for (buffer_id i : pinned)
            if (buffers[i].pinned < end && begin < buffers[i].pinned + buffers[i].size &&
                conflicts.conflict(i, j))
                return {placement::proof::reason::pins_clash, no_limit, 0, {i, j}};
    }
    return {};
}

/// The most buffers of a pool, and the most entries of its positions, up to which pack() searches.
inline constexpr std::size_t most_searched_buffers = 2048;
inline constexpr std::size_t most_searched_entries = std::size_t{1} << 17;

/// Conflicts as live ranges with gaps, if they are few: two buffers share a position if and only if they
/// conflict.
///
///     a ─── b ─── c      position   0      1      2      3
///     └── d ┘                       a      a b    b c    a b d       a pair may share several positions
///
/// As positioned_clocks does it (clocks.hpp): the buffers come by the number of those that they may take
/// over. Each gets positions with all earlier ones that it conflicts with, divided greedily into sets that
/// all conflict. One such set is the antichain, so that the most live bytes are the bound.
///
/// Complexity: O(n^2) for each set of a buffer at most, n = buffers; O(n^2) bits.
[[nodiscard]] std::optional<placement_problem>
positions_of_conflicts(table<buffer_id, placement_problem::buffer> const& buffers,
                       placement_conflicts const& conflicts,
                       table<buffer_id, unsigned char> const& is_in_antichain);

/// Lowers `best` by a search of these positions.
void search_positions(table<buffer_id, placement_problem::buffer> const& buffers,
                      placement_conflicts const& conflicts,
                      table<buffer_id, unsigned char> const& is_in_antichain, std::uint64_t visits,
                      packing& best, std::uint32_t& tried);

/// `best` is the initial placement, or has height `no_limit`, and offsets of one that is not valid. False:
/// the visits ended before the last order.
template <class Buffer>
bool pack_concurrently(table<buffer_id, Buffer> const& buffers, placement_conflicts const& conflicts,
                       table<buffer_id, unsigned char> is_in_antichain, byte_count bound,
                       place_concurrently_options const& options, placed_by_range& placed, packing& best,
                       std::uint32_t& tried)
{
    std::uint64_t const visits = options.visits, most_visits = options.most_visits;
    // Cheap orders first: for very many buffers there is time for no others.
    struct attempt {
        concurrent_order order;
        bool by_levels;
    };
    static constexpr attempt portfolio[] = {
        {concurrent_order::size_class, false}, {concurrent_order::last, true},
        {concurrent_order::begin, true},       {concurrent_order::size_class, true},
        {concurrent_order::area, true},        {concurrent_order::peak, false},
        {concurrent_order::size, false}};
    order_keys const keys = keys_of(buffers, conflicts, std::move(is_in_antichain));
    std::vector<buffer_id> best_order;
    std::uint64_t spent = 0;
    auto try_order = [&](std::vector<buffer_id> order) {
        std::uint64_t const left = visits - spent;
        std::uint64_t const visit_limit = left + larger(left, std::uint64_t{256} * order.size());
        packing found = fit_concurrently(buffers, order, placed, best.height - 1, visits - spent,
                                         best.height == no_limit ? most_visits : visit_limit);
        ++tried;
        spent += found.visits;
        if (found.height >= best.height && !best_order.empty()) return;
        best_order = std::move(order);
        if (found.height < best.height) best = std::move(found);
    };
    // In the order of its offsets, no buffer is placed above its present offset.
    if (best.height > bound && !best.origin.empty()) try_order(order_by_levels(best.origin, keys));
    for (attempt now : portfolio) {
        if (best.height <= bound) return true;
        if (spent >= visits && (best.height != no_limit || spent >= most_visits)) return false;
        std::vector<buffer_id> order = order_by(now.order, keys);
        if (now.by_levels) {
            table<buffer_id, Buffer> const unit_sized(buffers.size(), Buffer{{}, 1});
            packing const levels = fit_concurrently(unit_sized, order, placed, no_limit - 1, visits - spent);
            spent += levels.visits;
            if (spent >= visits) return false;
            order = order_by_levels(levels.origin, keys);
        }
        try_order(std::move(order));
    }
    if (best.height <= bound) return true;
    if (best.height != no_limit && spent >= visits) return false;
    if (best.height == no_limit) return true;
    packing searched = best;
    if (options.searches) search_positions(buffers, conflicts, keys.is_in_antichain, visits, searched, tried);
    if (searched.height > bound)
        lower_by_reordering(buffers, conflicts, placed, bound, visits - spent, std::move(best_order), best,
                            options.control, options.seed);
    if (searched.height >= best.height) return true;
    best = std::move(searched);
    if (best.height > bound)
        lower_by_reordering(buffers, conflicts, placed, bound, visits - spent,
                            order_by_levels(best.origin, keys), best, options.control, options.seed);
    return true;
}

/// The same as pack() does it, if buffers conflict as live ranges do. False: they do not, or they are too
/// large for pack().
bool pack_intervals(table<buffer_id, placement_problem::buffer> const& given,
                    placement_conflicts const& conflicts, byte_count bound, std::uint64_t visits,
                    packing& best, std::uint32_t& tried);

/// Places the buffers of all pools for any execution that respects the dependences.
///
/// Requires:   `lives` and `conflicts` are those of the problem's buffers
/// (analysis/internal/conflict_ranges.hpp);
///             `fallback`, if given, is valid. The live ranges in the problem are ignored.
/// Ensures:    conflicting buffers of one pool do not overlap in bytes, offsets are aligned and pins kept.
///             No pool is higher than by the fallback. Same problem and options, same placement.
/// Complexity: O(pools * positions + n log n) and at most a packing an order, n = buffers.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, or if every packing exceeds 64
///             bits.
template <class Lives>
// NOLINTNEXTLINE(misc-no-recursion): once, without rules between neighbours
[[nodiscard]] placement place_concurrently(placement_problem const& problem, Lives const& lives,
                                           buffer_range_lists const& conflicts,
                                           place_concurrently_options const& options = {})
{
    if (has_spacing(problem)) {
        place_concurrently_options own = options;
        for (pool_id pool = 0; pool != own.bounds.size(); ++pool)
            if (own.bounds[pool] != 0)
                own.bounds[pool] = with_guard(own.bounds[pool], limits_of(problem, pool).guard);
        return without_spacing(problem, place_concurrently(spaced(problem), lives, conflicts, own));
    }
    std::size_t const all = problem.buffers.size(), pools = pool_count(problem);
    SUBLET_EXPECTS(lives.buffers() == all && (options.fallback.empty() || options.fallback.size() == all),
                   "sublet: a table needs one entry for each buffer");
    std::vector<detail::sort_key> members; // by pool, then by first begin
    table<buffer_id, unsigned char> marked(all);
    for (buffer_id b : options.antichain) marked[b] = 1;
    placement result;
    result.offset.assign(all, no_offset);
    result.pools = table<pool_id, placement::pool_result>(pools);
    for (buffer_id b = 0; b != all; ++b) {
        placement_problem::buffer const& buffer = problem.buffers[b];
        SUBLET_EXPECTS(buffer.alignment >= 1,
                       "sublet: the alignment of buffer % is 0, but has to be at least 1", b);
        SUBLET_EXPECTS(buffer.size != no_size, "sublet: buffer %, of unknown size, cannot be placed", b);
        if (buffer.size != 0) members.push_back({buffer.pool, lives.first(b), b});
    }
    sort_by_key(members);

    std::size_t next = 0;
    for (pool_id pool = 0; pool != pools; ++pool) {
        pool_limits const limits = pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
        SUBLET_EXPECTS(limits.alignment >= 1,
                       "sublet: the alignment of a pool is 0, but has to be at least 1");
        std::vector<buffer_id> pool_buffers;
        table<buffer_id, placement_problem::buffer> buffers; // numbered in the pool
        table<buffer_id, unsigned char> is_in_antichain;
        placement::pool_result& out = result.pools[pool];
        for (; next != members.size() && members[next].key == pool; ++next) {
            pool_buffers.push_back(members[next].id);
            placement_problem::buffer buffer = problem.buffers[pool_buffers.back()];
            buffer.alignment = combine_alignment(buffer.alignment, limits.alignment);
            byte_count const top =
                buffer.pinned == no_offset ? buffer.size : checked_add(buffer.pinned, buffer.size);
            if (top > out.proof.bytes)
                out.proof = {placement::proof::reason::top_of_pin, top, 0, {pool_buffers.back()}};
            buffers.push_back(buffer);
            is_in_antichain.push_back(marked[pool_buffers.back()]);
        }
        if (pool < options.bounds.size() && options.bounds[pool] > out.proof.bytes)
            out.proof = {placement::proof::reason::given, options.bounds[pool]};
        out.lower_bound = out.proof.bytes;
        if (pool_buffers.empty()) continue;
        placement_conflicts const pool_conflicts = conflicts_among(pool_buffers, lives, conflicts);

        placed_by_range placed(pool_conflicts);
        if (placement::proof fault = check_pins(buffers, pool_conflicts, placed); fault.bytes == no_limit) {
            for (buffer_id& b : fault.buffers) b = pool_buffers[b];
            out.proof = std::move(fault);
            out.status = placement::outcome::infeasible;
            continue;
        }

        packing best;
        best.height = no_limit;
        if (!options.fallback.empty()) {
            best.height = 0;
            for (std::size_t i = 0; i != pool_buffers.size(); ++i) {
                best.origin.push_back(options.fallback[pool_buffers[i]]);
                best.height = larger(best.height, best.origin[i] + buffers[i].size);
            }
        } else if (!options.nearly.empty()) {
            for (buffer_id b : pool_buffers) best.origin.push_back(options.nearly[b]);
        }
        bool is_complete =
            pack_intervals(buffers, pool_conflicts, out.lower_bound, options.visits, best, out.packings) ||
            pack_concurrently(buffers, pool_conflicts, is_in_antichain, out.lower_bound, options, placed,
                              best, out.packings);
        if (!is_complete && options.searches) { // its first orders are fast
            search_positions(buffers, pool_conflicts, is_in_antichain, options.visits, best, out.packings);
            is_complete = best.height <= out.lower_bound;
        }
        result.is_cut_short = result.is_cut_short || !is_complete;
        if (best.height == no_limit && options.most_visits != no_limit) {
            out.height = no_limit;
            out.status = placement::outcome::limit;
            continue;
        }
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        if (limits.largest_block != no_limit && best.height <= limits.largest_block)
            out.blocks = {{pool, 0, best.height}};
        for (std::size_t i = 0; i != pool_buffers.size(); ++i)
            result.offset[pool_buffers[i]] = best.origin[i];
        out.status = status_of(out.height, out.lower_bound, limits.capacity);
    }
    set_overall_status(result);
    return result;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/place_concurrently.ipp>
#endif

#endif
