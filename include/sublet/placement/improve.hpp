// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPROVE_HPP
#define SUBLET_PLACEMENT_IMPROVE_HPP

/// Lower a packing that orders have left above the bound.
///
///     height  |_____________                 ceilings half way between what was reached and what failed; a
///             |_ _ _ _ _ _ _ _ __________    lap ends where they nearly meet. Then the next packing to begin
///             |      ________ _ _ _          from has its lap, and when all had theirs, the first again,
///     bound   |__________________________    with more steps
///
/// For tens of thousands of shapes, for which exact search is out of reach, and quickly for a few hundred.
/// There is no guaranteed factor. What packs the peak well, where all bytes of the bound are alive, is a good
/// packing to begin with even if it is high elsewhere: what is too high there has somewhere to go.

#include <sublet/placement/bound.hpp>
#include <sublet/placement/driver.hpp>
#include <sublet/placement/ejection.hpp>
#include <sublet/placement/fit.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct improve_options {
    std::uint64_t visits = 20'000'000; ///< looks at pieces in the way
    std::uint64_t seed = 0;
};

/// `best`, or what is lower, until the height is `bound.bytes` or the limits are reached. `tried` counts the
/// packings that it makes to begin with.
///
/// Requires:   `best` is a packing of all shapes; the bound's `bytes` may be any height that is low enough.
/// Ensures:    the result is a packing of all shapes, no higher than `best`, with all pins. Same arguments,
///             same packing, as long as the driver does not stop it.
[[nodiscard]] inline packing improve(placement_shapes const& all, placement_bound const& bound, packing best,
                                     improve_options options, search_driver& driver, std::uint32_t& tried)
{
    static constexpr placement_order pyramids[] = {placement_order::peak_birth, placement_order::peak_length};
    constexpr std::uint64_t most_visits = 10'000'000; // of one of them: nobody asks the driver meanwhile
    if (best.height == no_limit) return best;
    ejection eject(all, options.seed);
    std::uint64_t spent = 0; // on pyramids
    auto stop = [&] { return driver.stop(best.height, bound.bytes, eject.steps()); };
    auto is_over = [&] {
        return best.height <= bound.bytes || spent + eject.visits() >= options.visits || stop();
    };
    std::vector<byte_count> starts[1 + 2] = {best.origin};
    ejection_limits limits{.steps = 64};
    for (std::size_t lap = 0; lap != 40 && !is_over(); limits.steps *= lap % 3 == 2 ? 2 : 1, ++lap) {
        std::vector<byte_count>& start = starts[lap % 3];
        if (start.empty()) {
            packing pyramid = fit(all, order_by(pyramids[lap - 1], all, bound), gap_choice::lowest,
                                  {.ceiling = 2 * best.height,
                                   .expected = bound.bytes,
                                   .visits = smaller(options.visits / 4, most_visits)});
            spent += pyramid.visits + all.size();
            ++tried;
            if (pyramid.height < best.height) best = pyramid;
            start = pyramid.height == no_limit ? best.origin : std::move(pyramid.origin);
        }
        limits.visits = options.visits - smaller(spent, options.visits);
        byte_count untried = bound.bytes; // all below it has failed, in this lap
        while (best.height - untried > (best.height - bound.bytes) / 8 && !is_over()) {
            byte_count const ceiling = untried + (best.height - 1 - untried) / 2;
            if (!eject.lower(start, ceiling, limits, stop)) {
                untried = ceiling + 1;
                continue;
            }
            best.origin = start;
            best.height = 0;
            for (std::size_t s = 0; s != all.size(); ++s)
                best.height = larger(best.height, start[s] + all.shapes[s].size);
        }
    }
    best.visits += spent + eject.visits();
    return best;
}

} // namespace sublet

#endif
