// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_CHOOSE_POOLS_HPP
#define SUBLET_PLACEMENT_INTERNAL_CHOOSE_POOLS_HPP

/// Which of the pools that it may lie in each buffer gets.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/internal/pack_options.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The pools that each buffer may be in, by rising cost.
///
///     choices      a: pool 0 for 9, pool 1 for 2      b: none, its pool is 1     c: lies 8 above a
///     candidates   a and c: 1 (2), 0 (9)              b: 1 (0)
///
/// Colocated buffers are one piece of storage, in one pool. Those of them without an anchor choose; if there
/// are several, all must allow the pool, and their costs are added.
struct pool_candidate {
    pool_id pool = 0;
    byte_count cost = 0;
};

struct pool_candidates {
    table<buffer_id, std::uint32_t> storage_of; ///< numbered by first buffer
    std::vector<std::uint32_t> first{0};        ///< by storage, and one more
    std::vector<pool_candidate> of;             ///< by storage, ascending by cost, then by pool

    [[nodiscard]] std::size_t size() const { return first.size() - 1; }
    [[nodiscard]] std::uint32_t count(std::uint32_t storage) const
    {
        return first[storage + 1] - first[storage];
    }
    [[nodiscard]] pool_candidate const& at(std::uint32_t storage, std::uint32_t choice) const
    {
        return of[first[storage] + choice];
    }
};

/// Complexity: O(n log n), n = buffers, choices and colocations.
/// Throws:     precondition_error for buffers that do not exist, colocated ones without a pool in common,
///             and costs that exceed 64 bits.
[[nodiscard]] pool_candidates candidates_of(placement_problem const& problem);

/// Of `all` candidates those in which the storage can lie by itself: aligned at its pin, within a block and
/// the capacity. If there are none, the cheapest one. So storage with a single candidate is in no other pool
/// of any placement.
///
/// Requires:   `all` are those of the problem.
/// Complexity: O(buffers + colocations), and O(parts of the storage) for each candidate.
[[nodiscard]] pool_candidates possible_pools(placement_problem const& problem, pool_candidates const& all,
                                             step_poll const& poll = {});

///     fast memory, 64 KiB      [ a ][ c ][  e  ]      cheapest for all; b and d cost least extra for their
///     slow memory              [    b    ][ d ]       bytes in slow memory
///
///     cheapest pools ─► too many live bytes at some position? move the storage with the least extra cost per
///                       byte of relief to its next pool ─► too high when packed? the same again
///                       ─► move storage back to cheaper pools with room, the greatest saving first
///
/// Stopped, it leaves the storage that it has not moved yet where it is, at first in its cheapest pool.
///
/// If all buffers stay in their cheapest pools, the cost is minimal; otherwise the sum of the cheapest costs
/// is a lower bound, without guarantee on the distance. But if place_greedily() can place all, so can this.
///
/// Source of the problem: the constrained heaps and the memory space assignment of XLA, where fast memory is
/// small and what does not fit stays in slow memory.
struct pool_assignment {
    table<buffer_id, pool_id> pool_of;
    byte_count cost = 0;
    byte_count cost_bound = 0; ///< with every buffer in its cheapest pool
};

struct pool_assignment_state {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    pool_candidates candidates;
    placement_shapes shapes;                         ///< of all pools together
    std::vector<std::uint32_t> choice;               ///< by storage: which of its candidates
    std::vector<std::uint32_t> shape_of, storage_of; ///< maps between both; `none`: needs no bytes
    table<pool_id, byte_count> capacity;
    table<pool_id, segment_tree> load;
    bool has_pins = false; ///< some storage is pinned: not everything fits a pool without limits

    /// All storage in its cheapest pool. `together` is the problem with all buffers in one pool. Once `poll`
    /// has stopped, only `candidates` and `choice` are of use.
    pool_assignment_state(placement_problem const& together, pool_candidates const& where,
                          step_poll const& poll = {});

    [[nodiscard]] pool_candidate const& now(std::uint32_t k) const { return candidates.at(k, choice[k]); }
    [[nodiscard]] pool_id pool(std::uint32_t k) const { return now(k).pool; }
    [[nodiscard]] bool has_next_pool(std::uint32_t k) const { return choice[k] + 1 != candidates.count(k); }
    [[nodiscard]] byte_count extra_cost(std::uint32_t k) const
    {
        return candidates.at(k, choice[k] + 1).cost - now(k).cost;
    }
    [[nodiscard]] byte_count saving(std::uint32_t k) const { return now(k).cost - candidates.at(k, 0).cost; }

    void move(std::uint32_t k, std::uint32_t to);
    /// Whether load exceeds capacity at a position of its live range; `including_it` adds its own bytes.
    [[nodiscard]] bool is_overloaded(std::uint32_t k, pool_id where, bool including_it) const;
};

/// A sort key for extra cost per relief; equal ratios give equal keys on every machine.
std::uint64_t cost_ratio(byte_count extra_cost, double relief);

/// Packs all pools; if one is too high, moves storage live near the excess to its next pool, the least extra
/// cost per byte first. Returns whether all fit.
bool fit_capacities(placement_problem const& problem, pool_assignment_state& all, pack_options const& options,
                    search_control& control);

/// Greedy: the largest storage first, each at the lowest gap of its cheapest pool that has one. Returns
/// whether all were placed; contradictory pins and alignments can prevent that, and `poll`.
bool place_greedily(placement_problem const& problem, pool_assignment_state& all, step_poll const& poll = {});

/// A pool for each buffer: one of the problem's choices for it, or its own if there are none.
///
/// Ensures:    colocated buffers are in one pool. If place_greedily() keeps all pools within their
///             capacities, so can pack(). Same problem and options, same pools.
/// Complexity: O(n log n) for each pool and each time that loads are lowered, n = buffers, gaps and choices;
///             and pack() for pools with a capacity, a number of times that is logarithmic in n or fixed.
/// Throws:     as pack() and candidates_of().
[[nodiscard]] pool_assignment choose_pools(placement_problem const& problem, pack_options const& options,
                                           search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/choose_pools.ipp>
#endif

#endif
