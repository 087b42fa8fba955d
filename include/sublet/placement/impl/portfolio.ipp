// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PORTFOLIO_IPP
#define SUBLET_PLACEMENT_IMPL_PORTFOLIO_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/portfolio.hpp>

namespace sublet::detail {

SUBLET_DECL bool numbers_stay_below(scaled_shapes const& scaled, byte_count capacity, byte_count bound)
{
    if (capacity >= bound) return false;
    std::vector<byte_count> load(scaled.shapes.positions.size() + 1, 0);
    for (placement_shape const& s : scaled.shapes.shapes)
        if (s.alignment >= bound || (s.pinned != no_offset && s.pinned >= bound)) return false;
    for (shape_piece const& p : scaled.shapes.pieces) {
        if (p.end >= bound) return false;
        load[p.when.first] += p.end - p.begin;
        load[p.when.last] -= p.end - p.begin;
    }
    byte_count sum = 0;
    for (byte_count l : load)
        if ((sum += l) >= bound) return false;
    return true;
}

template <class Number>
search_result decide_in(scaled_shapes const& scaled, byte_count capacity, search_options const& options,
                        search_driver& driver)
{
    search_portfolio<Number> portfolio(scaled);
    portfolio.aim_at(capacity);
    std::uint64_t budget = 2 * scaled.shapes.size() + 1, nodes = 0;
    for (std::uint32_t lap = 0;; ++lap) {
        search_result result =
            portfolio.run(lap, budget, options.nodes - nodes, options, driver, no_limit, 0);
        result.nodes = nodes += result.nodes;
        if (result.outcome != search_outcome::limit || nodes >= options.nodes ||
            driver.stop(no_limit, 0, nodes))
            return result;
        budget *= 2;
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL search_result decide(placement_shapes const& all, byte_count capacity,
                                 search_options const& options, search_driver& driver)
{
    scaled_shapes const scaled = scale_down(all);
    byte_count const enough = smaller(capacity / scaled.unit, scaled.enough) + 1;
    byte_count const height = enough > capacity / scaled.unit ? capacity : enough * scaled.unit;
    search_result result;
    if (detail::numbers_stay_below(scaled, enough, byte_count{1} << 60))
        result = detail::decide_in<std::int64_t>(scaled, height, options, driver);
    // What does not fit within enough fits nowhere.
    if (result.outcome == search_outcome::exhausted && height < capacity) result.height = no_limit;
    return result;
}

} // namespace sublet

#endif
