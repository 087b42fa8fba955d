// SPDX-License-Identifier: BSL-1.0

/// A table of attempts, ordered by what they gain, each run on every component that is above the bound,
/// with the best so far as ceiling. The bottom-left fit has the lowest origin of each shape that is left,
/// and raises those that overlap the shape just placed.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/best_packing.hpp>

#include <iterator>
#include <span>
#include <utility>

// --- bottom-left fit -------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL packing bottom_left_fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                    placement_bound const& bound, byte_count ceiling, fit_stop stop)
{
    constexpr std::uint64_t visits_per_poll = 65536; // a few operations each
    std::uint64_t next_poll = visits_per_poll;
    struct unplaced_shape {
        byte_count lowest; // lowest possible origin
        live_range life;
        std::uint32_t id;
        bool is_plain;
    };
    packing result;
    result.origin.assign(all.size(), no_offset);
    std::vector<unplaced_shape> queue;
    queue.reserve(all.size());
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        SUBLET_EXPECTS(shape.pinned == no_offset, "sublet: a pinned shape cannot be placed bottom-left");
        queue.push_back({shape.phase, shape.life, s, all.is_plain(s)});
    }
    table<position_id, byte_count> unplaced_load = bound.live_bytes;
    table<position_id, std::int32_t> candidates(all.positions.size() + 1);
    while (!queue.empty()) {
        result.visits += queue.size() + unplaced_load.size();
        if (result.visits >= next_poll) {
            next_poll = result.visits + visits_per_poll;
            if (stop() && stop.finish(all, result)) return result;
        }
        byte_count lowest = no_offset;
        for (unplaced_shape const& w : queue) lowest = smaller(lowest, w.lowest);
        live_range lives; // of all candidates
        for (unplaced_shape const& w : queue)
            if (w.lowest == lowest) {
                ++candidates[w.life.first];
                --candidates[w.life.last];
                lives = hull(lives, w.life);
            }
        position_id fullest = no_position;
        std::int32_t alive = 0;
        for (position_id at = lives.first; at != lives.last; candidates[at++] = 0)
            if ((alive += candidates[at]) != 0 &&
                (fullest == no_position || unplaced_load[at] > unplaced_load[fullest]))
                fullest = at;
        candidates[lives.last] = 0;
        std::size_t next = 0;
        while (queue[next].lowest != lowest || !contains(queue[next].life, fullest)) ++next;

        unplaced_shape const now = queue[next];
        byte_count const size = all.shapes[now.id].size;
        if (size > ceiling || now.lowest > ceiling - size) {
            result.height = no_limit;
            return result;
        }
        result.origin[now.id] = now.lowest;
        result.height = larger(result.height, now.lowest + size);
        for (shape_piece const& p : all.pieces_of(now.id))
            for (position_id at = p.when.first; at != p.when.last; ++at) unplaced_load[at] -= p.end - p.begin;
        for (std::size_t i = next + 1; i != queue.size(); ++i) queue[i - 1] = queue[i];
        queue.pop_back();
        for (unplaced_shape& w : queue) {
            if (w.life.first >= now.life.last || now.life.first >= w.life.last) continue;
            byte_count above = now.lowest + size;
            if (!now.is_plain || !w.is_plain) {
                shape_separation const apart = min_separation(all, now.id, w.id);
                if (!apart.meets) continue;
                above = now.lowest + static_cast<byte_count>(apart.distance); // if below it: modulo 2^64
                if (apart.distance < 0 && above > now.lowest) continue;       // no overlap even at 0
            }
            if (above > w.lowest) w.lowest = align_up(above, all.shapes[w.id]);
        }
    }
    return result;
}

// --- time components -------------------------------------------------------------------------------------

SUBLET_DECL std::vector<std::uint32_t> time_components(placement_shapes const& all, step_poll const& poll)
{
    std::vector<std::uint32_t> first;
    position_id end = 0;
    for (std::uint32_t s = 0; s != all.size() && !poll.stops(1); ++s) {
        if (s == 0 || all.shapes[s].life.first >= end) first.push_back(s);
        end = larger(end, all.shapes[s].life.last);
    }
    first.push_back(static_cast<std::uint32_t>(all.size()));
    return first;
}

SUBLET_COLD_DECL placement_shapes component_of(placement_shapes const& all, std::uint32_t first,
                                               std::uint32_t last, step_poll const& poll)
{
    placement_shapes component;
    position_id const begin = all.shapes[first].life.first;
    position_id end = begin;
    auto shifted = [begin](live_range r) { return live_range{r.first - begin, r.last - begin}; };
    component.shapes.reserve(last - first);
    component.first_piece.reserve(last - first + 1);
    for (std::uint32_t s = first; s != last && !poll.stops(4); ++s) {
        end = larger(end, all.shapes[s].life.last);
        component.shapes.push_back(all.shapes[s]);
        component.shapes.back().life = shifted(all.shapes[s].life);
        for (shape_piece const& p : all.pieces_of(s))
            component.pieces.push_back({shifted(p.when), p.begin, p.end});
        component.first_piece.push_back(static_cast<std::uint32_t>(component.pieces.size()));
    }
    component.positions.assign(all.positions.begin() + begin, all.positions.begin() + end + 1);
    return component;
}

// --- best packing ----------------------------------------------------------------------------------------

struct packing_attempt {
    packing_method method;
    placement_order order;
};

/// Fast attempts for any number of shapes, of which the second takes some 20 visits for each; and one in
/// quadratic time, which is better: the only one for up to 64 shapes, the last one for up to 512.
inline constexpr packing_attempt first_attempt_large{packing_method::from_peak, placement_order::peak_birth};
inline constexpr packing_attempt second_attempt{packing_method::first_fit, placement_order::peak_length};
inline constexpr packing_attempt first_attempt_small{packing_method::bottom_left, placement_order::load_area};

/// Ordered by the gain over the attempts before, measured on live ranges of networks, on perturbed copies of
/// them, and on random ones.
inline constexpr packing_attempt attempts_of_few[] = {
    first_attempt_small,
    {packing_method::bottom_left, placement_order::load_death},
    {packing_method::bottom_left, placement_order::load_length},
    first_attempt_large,
    {packing_method::below_roof, placement_order::peak_birth},
    second_attempt,
    {packing_method::first_fit, placement_order::peak_death},
    {packing_method::bottom_left, placement_order::area},
    {packing_method::bottom_left, placement_order::size_class},
    {packing_method::first_fit, placement_order::size_class},
    {packing_method::first_fit, placement_order::size},
    {packing_method::from_peak, placement_order::peak_death},
    {packing_method::first_fit, placement_order::peak_birth},
    {packing_method::best_fit, placement_order::size},
    {packing_method::first_fit, placement_order::birth}};

/// For more than max_quadratic_shapes, ordered by the gain for the time, measured on the same, repeated, and
/// on networks that are trained by micro-batches.
inline constexpr packing_attempt attempts_of_many[] = {
    {packing_method::below_roof, placement_order::peak_birth},
    {packing_method::from_peak, placement_order::peak_death},
    {packing_method::first_fit, placement_order::size_class},
    {packing_method::first_fit, placement_order::peak_birth},
    {packing_method::first_fit, placement_order::peak_death},
    {packing_method::first_fit, placement_order::size_class_death},
    {packing_method::first_fit, placement_order::length_class},
    {packing_method::first_fit, placement_order::size},
    {packing_method::first_fit, placement_order::load_birth},
    {packing_method::first_fit, placement_order::breadth},
    {packing_method::best_fit, placement_order::lifetime},
    {packing_method::best_fit, placement_order::area_death},
    {packing_method::best_fit, placement_order::load_death},
    {packing_method::best_fit, placement_order::area},
    second_attempt,
    {packing_method::best_fit, placement_order::size},
    {packing_method::first_fit, placement_order::birth}};

struct component_packing {
    placement_shapes own; ///< unless it is the only component
    placement_shapes const* all = nullptr;
    std::uint32_t first = 0;
    bool has_pin_or_preference = false;
    placement_bound bound;
    packing best;

    [[nodiscard]] placement_shapes const& shapes() const { return all != nullptr ? *all : own; }
    [[nodiscard]] std::span<packing_attempt const> attempts() const
    {
        if (shapes().size() > max_quadratic_shapes) return attempts_of_many;
        return attempts_of_few;
    }
};

SUBLET_DECL bool is_possible(component_packing const& component, packing_method method)
{
    return !component.has_pin_or_preference || method == packing_method::first_fit ||
           method == packing_method::best_fit;
}

/// None once `poll` has stopped.
SUBLET_COLD_DECL std::vector<component_packing>
components_to_pack(placement_shapes const& all, placement_bound const& bound, step_poll const& poll)
{
    std::vector<std::uint32_t> const first = time_components(all, poll);
    std::vector<component_packing> components(first.size() - 1);
    for (std::size_t i = 0; i != components.size(); ++i) {
        if (poll.stops(8)) return {};
        component_packing& component = components[i];
        component.first = first[i];
        if (components.size() == 1) {
            component.all = &all;
            component.bound = bound;
        } else {
            component.own = component_of(all, first[i], first[i + 1], poll);
            component.bound = lower_bound(component.own, poll);
        }
        for (placement_shape const& s : component.shapes().shapes)
            if (s.pinned != no_offset || s.preferred != no_offset) component.has_pin_or_preference = true;
    }
    if (poll.has_stopped()) return {};
    return components;
}

SUBLET_COLD_DECL packing pack_component(component_packing const& component, packing_attempt const& attempt,
                                        fit_limits limits)
{
    placement_shapes const& shapes = component.shapes();
    std::vector<std::uint32_t> const order =
        order_by(attempt.order, shapes, component.bound, limits.stop.poll());
    switch (attempt.method) {
    case packing_method::bottom_left:
        return bottom_left_fit(shapes, order, component.bound, limits.ceiling, limits.stop);
    case packing_method::from_peak:
        return fit_from_peak(shapes, order, component.bound, limits.ceiling, limits.stop);
    case packing_method::below_roof:
        return fit_from_peak(shapes, order, component.bound, smaller(limits.ceiling, limits.known_height),
                             limits.stop, true);
    case packing_method::best_fit: return fit(shapes, order, fit_rule::best_fit, limits);
    case packing_method::first_fit: break;
    }
    return fit(shapes, order, fit_rule::first_fit, limits);
}

SUBLET_COLD_DECL packing whole_packing(std::vector<component_packing> const& components, std::size_t shapes)
{
    packing whole;
    whole.origin.reserve(shapes);
    for (component_packing const& component : components) {
        for (byte_count origin : component.best.origin) whole.origin.push_back(origin);
        whole.height = larger(whole.height, component.best.height);
        whole.visits += component.best.visits;
    }
    return whole;
}

SUBLET_COLD_DECL packing stack_all(placement_shapes const& all)
{
    packing stack;
    stack.origin.assign(all.size(), no_offset);
    for (std::uint32_t s = 0; s != all.size(); ++s)
        if (placement_shape const& shape = all.shapes[s]; shape.pinned != no_offset) {
            stack.origin[s] = shape.pinned;
            stack.height = larger(stack.height, shape.pinned + shape.size);
        }
    if (!fit_stop{nullptr, true}.finish(all, stack)) stack.height = no_limit;
    return stack;
}

SUBLET_COLD_DECL packing first_packing(placement_shapes const& all, placement_bound const& bound)
{
    deterministic_control control;
    return first_packing(all, bound, control);
}

SUBLET_COLD_DECL packing first_packing(placement_shapes const& all, placement_bound const& bound,
                                       search_control& control)
{
    fit_stop const stop{&control, true};
    if (all.size() >= 512 && stop())
        if (packing stack = stack_all(all); stack.height != no_limit) return stack;
    step_poll const poll(control);
    auto components = components_to_pack(all, bound, poll);
    if (poll.has_stopped()) {
        if (packing stack = stack_all(all); stack.height != no_limit) return stack;
        components = components_to_pack(all, bound, {});
    }
    for (component_packing& component : components) {
        std::size_t const n = component.shapes().size();
        fit_limits limits{.known_height = bound.bytes, .gap_visits = 1'000'000 + 100 * n, .stop = stop};
        if (component.has_pin_or_preference) {
            component.best =
                pack_component(component, {packing_method::first_fit, placement_order::size}, limits);
            continue;
        }
        component.best =
            pack_component(component, n > 64 ? first_attempt_large : first_attempt_small, limits);
        if (n <= 64) continue;
        auto attempt = [&](packing_attempt const& next) {
            if (component.best.height <= bound.bytes) return;
            limits.ceiling = component.best.height - 1;
            packing found = pack_component(component, next, limits);
            if (found.height < component.best.height) component.best = std::move(found);
        };
        limits.visits = 64 * n;
        attempt(second_attempt);
        if (n <= 512) attempt(first_attempt_small);
    }
    return whole_packing(components, all.size());
}

SUBLET_COLD_DECL packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                      std::uint64_t visits, packing best, search_control& control,
                                      std::uint32_t& tried)
{
    if (best.height <= bound.bytes) return best;
    step_poll const poll(control);
    auto components = components_to_pack(all, bound, poll);
    if (poll.has_stopped()) return best;
    for (component_packing& component : components) {
        std::size_t const n = component.shapes().size();
        auto const* const origins = best.origin.data() + component.first;
        component.best.origin.assign(origins, origins + n);
        if (best.height == no_limit) component.best.height = no_limit;
        for (std::size_t s = 0; s != n && best.height != no_limit; ++s)
            component.best.height =
                larger(component.best.height, component.best.origin[s] + component.shapes().shapes[s].size);
    }
    std::uint64_t spent = 0, next_poll = 4096;
    byte_count height = best.height;
    for (std::size_t i = 0; i != larger(std::size(attempts_of_few), std::size(attempts_of_many)); ++i) {
        if (height <= bound.bytes || spent >= visits || control.stop(height, bound.bytes, 0)) break;
        bool is_tried = false;
        for (component_packing& component : components) {
            if (component.best.height <= bound.bytes || i >= component.attempts().size()) continue;
            packing_attempt const& attempt = component.attempts()[i];
            if (!is_possible(component, attempt.method)) continue;
            if (spent >= visits || (spent >= next_poll && control.stop(height, bound.bytes, 0))) break;
            if (spent >= next_poll) next_poll = spent + 4096;
            // Only packings that end below the best so far are of use.
            packing next = pack_component(component, attempt,
                                          {.ceiling = component.best.height - 1,
                                           .known_height = bound.bytes,
                                           .visits = visits - spent,
                                           .stop = {&control}});
            is_tried = true;
            spent += next.visits + component.shapes().size();
            if (next.height < component.best.height) component.best = std::move(next);
        }
        tried += is_tried;
        height = 0;
        for (component_packing const& component : components) height = larger(height, component.best.height);
    }
    return whole_packing(components, all.size());
}

SUBLET_COLD_DECL packing best_packing(placement_shapes const& all, placement_bound const& bound,
                                      std::uint64_t visits, packing best, std::uint32_t& tried)
{
    deterministic_control control;
    return best_packing(all, bound, visits, std::move(best), control, tried);
}

} // namespace sublet::detail
