// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_BEST_PACKING_IPP
#define SUBLET_PLACEMENT_IMPL_BEST_PACKING_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/best_packing.hpp>
#include <sublet/placement/fit_outwards.hpp>
#include <sublet/placement/fit_upwards.hpp>
#include <sublet/placement/orders.hpp>
#include <sublet/placement/parts_in_time.hpp>
#include <sublet/placement/placed.hpp>
#include <sublet/units.hpp>

#include <utility>
#include <vector>

namespace sublet::detail {

struct packing_attempt {
    packing_way way;
    placement_order order;
};

/// For any number of shapes quickly the first; and for few a better one.
inline constexpr packing_attempt first_of_many{packing_way::outwards, placement_order::peak_birth};

inline constexpr packing_attempt first_of_few{packing_way::upwards, placement_order::load_area};

/// What makes the largest difference to those before it comes next, on lifetimes of networks, on perturbed
/// copies of them, and on drawn ones.
inline constexpr packing_attempt packing_attempts[] = {first_of_few,
                                                       {packing_way::upwards, placement_order::load_death},
                                                       {packing_way::upwards, placement_order::load_length},
                                                       first_of_many,
                                                       {packing_way::lowest, placement_order::peak_length},
                                                       {packing_way::lowest, placement_order::peak_death},
                                                       {packing_way::upwards, placement_order::area},
                                                       {packing_way::upwards, placement_order::size_class},
                                                       {packing_way::lowest, placement_order::size_class},
                                                       {packing_way::lowest, placement_order::size},
                                                       {packing_way::outwards, placement_order::peak_death},
                                                       {packing_way::lowest, placement_order::peak_birth},
                                                       {packing_way::tightest, placement_order::size},
                                                       {packing_way::lowest, placement_order::birth}};

/// A part of time, and the lowest packing of its shapes.
struct part_packing {
    placement_shapes own; ///< unless it is all there is
    placement_shapes const* all = nullptr;
    std::uint32_t first = 0;
    bool has_wishes = false; ///< pins or preferred origins
    placement_bound bound;
    packing best;

    [[nodiscard]] placement_shapes const& shapes() const { return all != nullptr ? *all : own; }
};

template <class Shapes>
std::vector<part_packing> parts_to_pack(Shapes const& all, placement_bound const& bound)
{
    std::vector<std::uint32_t> const first = parts_in_time(all);
    std::vector<part_packing> parts(first.size() - 1);
    for (std::size_t i = 0; i != parts.size(); ++i) {
        part_packing& part = parts[i];
        part.first = first[i];
        if (parts.size() == 1) {
            part.all = &all;
            part.bound = bound;
        } else {
            part.own = part_of(all, first[i], first[i + 1]);
            part.bound = lower_bound(part.own);
        }
        for (placement_shape const& s : part.shapes().shapes)
            if (s.pinned != no_offset || s.preferred != no_offset) part.has_wishes = true;
    }
    return parts;
}

template <class Part>
packing pack_part(Part const& part, packing_attempt const& attempt, fit_limits limits)
{
    placement_shapes const& shapes = part.shapes();
    std::vector<std::uint32_t> const order = order_by(attempt.order, shapes, part.bound);
    switch (attempt.way) {
    case packing_way::upwards: return fit_upwards(shapes, order, part.bound, limits.ceiling);
    case packing_way::outwards: return fit_outwards(shapes, order, part.bound, limits.ceiling);
    case packing_way::tightest: return fit(shapes, order, gap_choice::tightest, limits);
    case packing_way::lowest: break;
    }
    return fit(shapes, order, gap_choice::lowest, limits);
}

template <class Part>
packing whole_packing(std::vector<Part> const& parts, std::size_t shapes)
{
    packing whole;
    whole.origin.reserve(shapes);
    for (Part const& part : parts) {
        for (byte_count origin : part.best.origin) whole.origin.push_back(origin);
        whole.height = larger(whole.height, part.best.height);
        whole.visits += part.best.visits;
    }
    return whole;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL packing first_packing(placement_shapes const& all, placement_bound const& bound)
{
    auto parts = detail::parts_to_pack(all, bound);
    for (detail::part_packing& part : parts) {
        std::size_t const n = part.shapes().size();
        detail::packing_attempt attempt = n > 512 ? detail::first_of_many : detail::first_of_few;
        if (part.has_wishes) attempt = {packing_way::lowest, placement_order::size};
        part.best =
            detail::pack_part(part, attempt, {.expected = bound.bytes, .patience = 1'000'000 + 100 * n});
    }
    return detail::whole_packing(parts, all.size());
}

SUBLET_DECL packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                 std::uint64_t visits, packing best, search_driver& driver,
                                 std::uint32_t& tried)
{
    if (best.height <= bound.bytes) return best;
    auto parts = detail::parts_to_pack(all, bound);
    for (detail::part_packing& part : parts) {
        std::size_t const n = part.shapes().size();
        auto const* const origins = best.origin.data() + part.first;
        part.best.origin.assign(origins, origins + n);
        if (best.height == no_limit) part.best.height = no_limit;
        for (std::size_t s = 0; s != n && best.height != no_limit; ++s)
            part.best.height = larger(part.best.height, part.best.origin[s] + part.shapes().shapes[s].size);
    }
    std::uint64_t spent = 0;
    byte_count height = best.height;
    for (detail::packing_attempt const& attempt : detail::packing_attempts) {
        if (height <= bound.bytes || spent >= visits || driver.stop(height, bound.bytes, 0)) break;
        bool is_tried = false;
        for (detail::part_packing& part : parts) {
            if (part.best.height <= bound.bytes || !detail::is_possible(part, attempt.way)) continue;
            if (spent >= visits) break;
            // To be worth anything a packing must end below the best so far.
            packing next = detail::pack_part(
                part, attempt,
                {.ceiling = part.best.height - 1, .expected = bound.bytes, .visits = visits - spent});
            is_tried = true;
            spent += next.visits + part.shapes().size();
            if (next.height < part.best.height) part.best = std::move(next);
        }
        tried += is_tried;
        height = 0;
        for (detail::part_packing const& part : parts) height = larger(height, part.best.height);
    }
    return detail::whole_packing(parts, all.size());
}

SUBLET_DECL packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                 std::uint64_t visits, packing best, std::uint32_t& tried)
{
    steady driver;
    return best_packing(all, bound, visits, std::move(best), driver, tried);
}

} // namespace sublet

#endif
