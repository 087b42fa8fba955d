// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_BEST_PACKING_HPP
#define SUBLET_PLACEMENT_BEST_PACKING_HPP

/// The lowest of the packings that several orders make.
///
///     for each way to choose a gap, for each order:   fit; keep the lowest
///     stop when the bound is met: nothing can be lower
///
/// Greedy, with no guaranteed factor: a problem that one order packs badly is often one that another packs
/// well.

#include <sublet/placement/bound.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/placement/placed.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

/// One packing, quickly: there is always one, unless 64 bits do not suffice; then its height is `no_limit`.
///
/// Requires: no two pins clash; `bound` is that of the shapes.
template <std::same_as<placement_shapes> Shapes>
[[nodiscard]] packing first_packing(Shapes const& all, placement_bound const& bound)
{
    return fit(all, order_by(placement_order::size, all, bound), gap_choice::lowest,
               {.expected = bound.bytes, .visits = 20'000'000});
}

/// `best`, or what is lower: an order after the other, until the height is `bound.bytes`, or so many visits
/// are spent that no further order is begun. `tried` counts the packings.
///
/// Requires: as first_packing(); the bound's `bytes` may be any height that is low enough.
template <std::same_as<placement_shapes> Shapes>
[[nodiscard]] packing best_packing(Shapes const& all, placement_bound const& bound, std::uint64_t visits,
                                   packing best, std::uint32_t& tried)
{
    // Those first that most often meet the bound on networks. Lowest fit usually beats tightest fit: they all
    // have their turn with it before any has one with the other.
    using enum placement_order;
    static constexpr placement_order portfolio[] = {size,     peak_birth, peak_length, peak_death, size_class,
                                                    area,     rings,      load,        breadth,    birth,
                                                    lifetime, fine_rings, wide_rings};
    placed_pieces placed(all);
    std::uint64_t spent = 0;
    for (gap_choice choice : {gap_choice::lowest, gap_choice::tightest})
        for (placement_order which : portfolio) {
            if (best.height <= bound.bytes || spent >= visits) return best;
            // To be worth anything a packing must end below the best so far.
            packing next =
                fit(all, order_by(which, all, bound), choice,
                    {.ceiling = best.height - 1, .expected = bound.bytes, .visits = visits - spent}, placed);
            ++tried;
            spent += next.visits + all.size();
            if (next.height < best.height) best = std::move(next);
        }
    return best;
}

} // namespace sublet

#endif
