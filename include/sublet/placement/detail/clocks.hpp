// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_CLOCKS_HPP
#define SUBLET_PLACEMENT_DETAIL_CLOCKS_HPP

/// Placement with a begin and an end of each buffer for every thread (vector clocks).

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/concurrent.hpp>
#include <sublet/placement/internal/pack_options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// A problem with clocks as one without: live ranges with gaps over positions of its own.
///
///     begin      a 0:0   b 0:1   c 2:3   d 2:3       each position is a set of buffers that conflict with
///     end        a 2:1   b 3:3   c 4:5   d 2:9       each other; each pair that conflicts has one
///
///     position   0       1       2       3
///                a       a b     b c     b d, c d ...
///
/// The buffers come in the order of their begins, by the sum of their counters. Each gets positions with all
/// earlier ones that it conflicts with: these are divided greedily into sets without reuse among them. So a
/// position is a bound, too. The best bound is one more such set: the heaviest antichain of the order of
/// reuse, by a flow (Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics
/// 1950); or, if that takes too many visits, the buffers live at one counter of one thread.
///
/// If the placement by positions does not meet the bound, placement by conflicts lowers it: the begins are
/// numbered, and each buffer has the ranges of later begins that conflict with it (placement_conflicts). That
/// is the better one if buffers and conflicts are many; positions are searched exactly if they are few.
///
/// Clocks of one thread become live ranges.
struct positioned_clocks {
    struct pool_peak {
        byte_count bytes = 0; ///< live at `counter` of `thread`
        std::uint32_t thread = 0;
        std::uint32_t counter = 0;
        bool has_antichain = false; ///< the heaviest antichain is known
    };

    placement_problem problem;
    std::uint32_t threads = 0;
    table<position_id, std::vector<buffer_id>> at = {}; ///< what is live there
    table<pool_id, positioned_clocks::pool_peak> peaks = {};

    table<buffer_id, position_id> begin = {}; ///< the number of the begin
    buffer_range_lists conflicts = {};        ///< of these numbers

    [[nodiscard]] pack_options budgets(pack_options options) const;

    /// Lowers pools that are higher than their bounds within `visits`; buffers in `fixed`, which may be
    /// empty, do not move. With a control, as lower_by_reordering() has it.
    void lower(placement& placed, placement::objective objective, std::uint64_t visits,
               table<buffer_id, unsigned char> const& fixed = {}, search_control* control = nullptr,
               std::uint64_t seed = 0) const;

    /// Takes over the pools of `other`, another placement of the problem, that are lower, and higher bounds.
    void keep_lower(placement& placed, placement const& other, placement::objective objective) const;

    /// Names buffers or a thread instead of a position, in the proofs of `placed`. `has_choice` may be empty.
    void name_proofs(placement& placed, table<buffer_id, unsigned char> const& has_choice = {}) const;
};

/// Buffers of a pool, and visits of the flow, up to which the heaviest antichain is searched for.
inline constexpr std::size_t max_antichain_buffers = 4096;
inline constexpr std::uint64_t max_antichain_visits = 50'000'000;

/// The most entries of all positions: each costs about 100 bytes until the buffers are placed.
inline constexpr std::uint64_t most_clock_entries = std::uint64_t{1} << 24;

/// Complexity: O(n^2 threads) if the lives are long; O(pairs that conflict) memory; and the flow.
/// Throws:     precondition_error if the clocks are not those of the buffers, a buffer ends before it
///             begins, there are gaps or colocations, or more than most_clock_entries.
[[nodiscard]] positioned_clocks positions_of_clocks(placement_problem const& problem);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/clocks.ipp>
#endif

#endif
