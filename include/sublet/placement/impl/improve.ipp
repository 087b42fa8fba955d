// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_IMPROVE_IPP
#define SUBLET_PLACEMENT_IMPL_IMPROVE_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/ejection.hpp>
#include <sublet/placement/improve.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet {

SUBLET_DECL packing improve(placement_shapes const& all, placement_bound const& bound, packing best,
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
