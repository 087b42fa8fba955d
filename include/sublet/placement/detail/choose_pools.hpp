// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_CHOOSE_POOLS_HPP
#define SUBLET_PLACEMENT_DETAIL_CHOOSE_POOLS_HPP

/// Which pool each buffer goes to, and what is placed anew when a plan changes. Included by
/// placement/place.hpp.

#include <sublet/detail/segment_tree.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- pool candidates -------------------------------------------------------------------------------------

/// Where each buffer may be, the cheapest pool first.
///
///     choices      a: pool 0 for 9, pool 1 for 2      b: none, its pool is 1     c: lies 8 above a
///     candidates   a and c: 1 (2), 0 (9)              b: 1 (0)
///
/// Colocated buffers are one piece of storage, so they have one pool. Those of them that are anchored to
/// nobody choose, and if they are several, all have to agree: their costs are added up.

namespace sublet::detail {

struct pool_candidate {
    pool_id pool = 0;
    byte_count cost = 0;
};

/// For each piece of storage, that is, for each buffer or group of colocated ones, the pools it may be in.
struct pool_candidates {
    std::vector<std::uint32_t> storage_of; ///< by buffer; numbered by their first buffers
    std::vector<std::uint32_t> first{0};   ///< by storage, and one more
    std::vector<pool_candidate> of;        ///< by storage, ascending by cost, then by pool

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
/// Throws:     precondition_error for buffers that do not exist, colocated ones without a pool in common, and
///             costs that exceed 64 bits.
[[nodiscard]] pool_candidates candidates_of(placement_problem const& problem);

// --- choose pools ----------------------------------------------------------------------------------------

/// Which buffers lie in which kind of memory, where each has a few to choose from, at a cost.
///
///     fast memory, 64 KiB      [ a ][ c ][  e  ]      all would like to be here; b and d cost least, for the
///     slow memory              [    b    ][ d ]       room they give, to have elsewhere
///
///     cheapest pools ─► too many bytes alive somewhere? the least extra cost per byte of relief goes on to
///                       its next pool ─► too high when it is really placed? the same again
///                       ─► and who can come back comes back, the greatest saving first
///
/// The cost is proved to be the least where all are in their cheapest pools; elsewhere the sum of the
/// cheapest is a lower bound, and nothing is promised about the distance. But where simple greed places all,
/// the largest first, each in the cheapest pool that still has a gap for it, so does this.
///
/// Source of the problem: the constrained heaps and the memory space assignment of XLA, where fast memory is
/// small and what does not fit stays in slow memory.

struct pool_assignment {
    std::vector<pool_id> pool_of; ///< by buffer
    byte_count cost = 0;
    byte_count cost_bound = 0; ///< if all were in their cheapest pools
};

/// Who is where, while that is not settled.
struct pool_assignment_state {
    pool_candidates candidates;
    placement_shapes shapes;           ///< of all pools together
    std::vector<std::uint32_t> choice; ///< by storage: which of its candidates
    std::vector<std::uint32_t> shape_of,
        storage_of;                   ///< from one to the other; `no_buffer`: it needs no bytes
    std::vector<byte_count> capacity; ///< by pool
    std::vector<segment_tree> load;   ///< by pool

    /// All in their cheapest pools. `together` is the problem with everybody in one pool.
    pool_assignment_state(placement_problem const& together, pool_candidates const& where);

    [[nodiscard]] pool_candidate const& now(std::uint32_t k) const { return candidates.at(k, choice[k]); }
    [[nodiscard]] pool_id pool(std::uint32_t k) const { return now(k).pool; }
    [[nodiscard]] bool has_next_pool(std::uint32_t k) const { return choice[k] + 1 != candidates.count(k); }
    /// What it costs more in its next pool.
    [[nodiscard]] byte_count extra_cost(std::uint32_t k) const
    {
        return candidates.at(k, choice[k] + 1).cost - now(k).cost;
    }
    [[nodiscard]] byte_count saving(std::uint32_t k) const { return now(k).cost - candidates.at(k, 0).cost; }

    void move(std::uint32_t k, std::uint32_t to);
    /// Whether there is a position of its life where `bytes` of each piece more would be too many.
    [[nodiscard]] bool is_overloaded(std::uint32_t k, pool_id where, bool including_it) const;
};

/// Order by cost for relief; both may be anything, the ratio of equal ones is equal everywhere.
std::uint64_t cost_ratio(byte_count extra_cost, double relief);

/// Place all pools, and where one is too high move on who costs least for its size among those that live
/// beside what is too high. Returns whether all fit in the end.
bool fit_capacities(placement_problem const& problem, pool_assignment_state& all, pack_options const& options,
                    search_control& control);

/// Simple greed: the largest first, each at the lowest place of the cheapest pool that has one for it.
/// Returns whether all have one; where there are pins and alignments that contradict each other, they have
/// not.
bool place_greedily(placement_problem const& problem, pool_assignment_state& all);

/// Choose a pool for each buffer: one of those that the problem lists for it, or its own if none is.
///
/// Ensures:    colocated buffers are in one pool. Where simple greed (above) keeps all pools within their
///             capacities, they can be kept by pack(). Same problem and options, same pools.
/// Complexity: O(n log n) for each pool and each time that loads are lowered, n = buffers, gaps and choices;
///             and pack() for pools with a capacity, a number of times that is logarithmic in n or fixed.
/// Throws:     as pack() and candidates_of().
[[nodiscard]] pool_assignment choose_pools(placement_problem const& problem, pack_options const& options,
                                           search_control& control);

// --- replan ----------------------------------------------------------------------------------------------

/// A new placement that moves little of an old one.
///
///     before      a b c d e              f is new, c lives longer than it did, b must not move
///     at home     a b . d e              c and d are in each other's way now: the lighter one goes
///     around it   a b c d e f            the others are placed around those at home; if that ends too high,
///                                        those that live beside what is too high go as well, the lightest
///                                        first, and in the end all that may
///
/// First it is found how low everybody could lie if only those that must not move stayed: nobody stays who
/// costs height. Whoever prefers stability asks for placement::objective::fit: then all that fits the
/// capacity is low enough.
///
/// Greedy: nobody moves that could stay alone with all the others, but fewer bytes in all might do. (For one
/// position and equal sizes it is a knapsack already.)

/// Place the buffers, with those that are to be kept where they were, and of the others, as long as that
/// costs no height (or fits the capacities, if no more is asked), as many bytes as are quickly found.
///
/// Requires:   `previous` has the old offset of each buffer, `no_offset` for one that is new or may be
///             anywhere; `keep` is 0 or 1 for each, 1 only for those that have an old offset and no other
///             pin.
/// Ensures:    what pack() ensures; who is kept has its old offset. `moved_bytes` is the size of those that
///             have another than before.
/// Complexity: pack(), and a number of smaller ones that is logarithmic in the number of buffers, or fixed.
[[nodiscard]] placement replan(placement_problem const& problem, std::vector<byte_count> const& previous,
                               std::vector<unsigned char> const& keep, pack_options const& options,
                               search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/choose_pools.ipp>
#endif

#endif
