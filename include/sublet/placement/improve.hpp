// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPROVE_HPP
#define SUBLET_PLACEMENT_IMPROVE_HPP

/// Lower a packing that orders have left above the bound.
///
///     height  |_____________                     ceilings half way between what was reached and what failed,
///             |_ _ _ _ _ _ _ _ __________        tried from several packings; what fails from all of them is
///             |      ________ _ _ _              tried again in the next lap, with twice the steps
///     bound   |_____________________________
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
/// packings that it begins with.
///
/// Requires: `best` is a packing of all shapes; `bound` is theirs, or its `bytes` a height that is low
/// enough. Ensures:  the result is a packing of all shapes, no higher than `best`. Pins are kept. Same
/// arguments, same
///           packing, as long as the driver does not stop it.
template <std::same_as<placement_shapes> Shapes, search_driver Driver>
[[nodiscard]] packing improve(Shapes const& all, placement_bound const& bound, packing best,
                              improve_options options, Driver& driver, std::uint32_t& tried)
{
    auto stop = [&](std::uint64_t steps) { return driver.stop(best.height, bound.bytes, steps); };
    if (best.height <= bound.bytes || best.height == no_limit || stop(0)) return best;
    ejection eject(all, options.seed);
    std::uint64_t spent = 0; // on the packings to begin with
    std::vector<std::vector<byte_count>> starts{best.origin};
    placed_pieces placed(all);
    for (placement_order which : {placement_order::peak_birth, placement_order::peak_length}) {
        if (spent >= options.visits / 4) break;
        packing start = fit(all, order_by(which, all, bound), gap_choice::lowest,
                            {.expected = bound.bytes, .visits = options.visits / 4 - spent}, placed);
        spent += start.visits + all.size();
        if (start.height == no_limit || stop(0)) continue;
        ++tried;
        if (start.height < best.height) best = start;
        starts.push_back(std::move(start.origin));
    }

    ejection_limits limits{64, options.visits - smaller(spent, options.visits)};
    auto is_over = [&] {
        return best.height <= bound.bytes || eject.visits() >= limits.visits || stop(eject.steps());
    };
    for (; !is_over(); limits.steps *= 2) {
        byte_count failed = bound.bytes; // not yet, but in the end it is what is tried
        for (bool is_lap_over = false; !is_lap_over && !is_over();) {
            byte_count const ceiling = failed + (best.height - failed) / 2;
            bool is_lower = false;
            for (std::size_t from = 0; from != starts.size() && !is_lower && !is_over(); ++from) {
                is_lower = eject.lower(starts[from], ceiling, limits, [&] { return stop(eject.steps()); });
                if (!is_lower) continue;
                best.origin = starts[from];
                best.height = 0;
                for (std::size_t s = 0; s != all.size(); ++s)
                    best.height = larger(best.height, best.origin[s] + all.shapes[s].size);
                for (std::size_t i = from; i != 0; --i) starts[i].swap(starts[i - 1]);
            }
            if (!is_lower) failed = ceiling + 1;
            is_lap_over = failed >= best.height || best.height - failed <= (best.height - bound.bytes) / 8;
        }
    }
    best.visits += spent + eject.visits();
    return best;
}

} // namespace sublet

#endif
