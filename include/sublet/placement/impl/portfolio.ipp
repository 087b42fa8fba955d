// SPDX-License-Identifier: BSL-1.0

/// Decide: restarts of all searches with node budgets that double. Minimize: the bound is tried first,
/// then heights between it and the best, by a quarter and by halves, with the searches of the bound kept;
/// what is exhausted raises the bound, what is found lowers the best.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/portfolio.hpp>

#include <utility>

// --- portfolio -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL bool is_searched(placement_shapes const& shapes, std::size_t most)
{
    return shapes.size() <= most &&
           (shapes.size() == 0 || shapes.pieces.size() <= max_compared_pieces / shapes.size());
}

SUBLET_DECL bool numbers_stay_below(scaled_shapes const& scaled, byte_count capacity, byte_count bound)
{
    if (capacity >= bound) return false;
    table<position_id, byte_count> load(scaled.shapes.positions.size() + 1, 0);
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

SUBLET_COLD_DECL search_result decide_scaled(scaled_shapes const& scaled, byte_count capacity,
                                             search_options const& options, search_control& control)
{
    search_portfolio portfolio(scaled, step_poll(control));
    portfolio.reset_capacity(capacity);
    std::uint64_t budget = 2 * scaled.shapes.size() + 1, nodes = 0;
    for (std::uint32_t restart = 0;; ++restart) {
        search_result result =
            portfolio.run(restart, budget, options.nodes - nodes, options, control, no_limit, 0);
        result.nodes = nodes += result.nodes;
        if (result.outcome != search_outcome::limit || nodes >= options.nodes ||
            control.stop(no_limit, 0, nodes))
            return result;
        budget *= 2;
    }
}

SUBLET_COLD_DECL search_result decide(placement_shapes const& all, byte_count capacity,
                                      search_options const& options, search_control& control)
{
    scaled_shapes const scaled = scale_down(all);
    byte_count const height_bound = smaller(capacity / scaled.unit, scaled.height_bound) + 1;
    byte_count const height = height_bound > capacity / scaled.unit ? capacity : height_bound * scaled.unit;
    search_result result;
    if (numbers_stay_below(scaled, height_bound, byte_count{1} << 60))
        result = decide_scaled(scaled, height, options, control);
    // If it does not fit within the height of any stacking order, no height suffices.
    if (result.outcome == search_outcome::exhausted && height < capacity) result.height = no_limit;
    return result;
}

// --- minimize --------------------------------------------------------------------------------------------

SUBLET_DECL void minimize_result::raise_bound(placement_shapes const& all, byte_count height,
                                              std::vector<std::uint32_t> tried)
{
    least_stacking = height;
    if (!can_only_be_stacked(all, tried)) return;
    bound = height;
    core = std::move(tried);
}

SUBLET_DECL byte_count next_height(placement_shapes const& all, byte_count unit, byte_count height)
{
    byte_count next = no_limit;
    for (placement_shape const& s : all.shapes) {
        byte_count const origin = height + 1 <= s.size ? 0 : align_up(height + 1 - s.size, unit);
        if (sum_fits(origin, s.size)) next = smaller(next, origin + s.size);
    }
    return next;
}

SUBLET_COLD_DECL void minimize_scaled(placement_shapes const& all, scaled_shapes const& scaled,
                                      search_options const& options, search_control& control,
                                      minimize_result& result)
{
    search_portfolio portfolio(scaled, step_poll(control, result.best.height, result.bound));
    std::uint64_t budget = 2 * all.size() + 1;
    std::uint32_t restart = 0;
    bool is_over = false;
    auto try_height = [&](byte_count height) {
        search_result tried = portfolio.run(restart, budget, options.nodes - result.nodes, options, control,
                                            result.best.height, result.bound);
        result.nodes += tried.nodes;
        if (tried.outcome == search_outcome::found) {
            result.best.origin = std::move(tried.origin);
            result.best.height = tried.height;
        }
        if (tried.outcome == search_outcome::exhausted)
            result.raise_bound(
                all, smaller(larger(tried.height, next_height(all, scaled.unit, height)), result.best.height),
                std::move(tried.core));
        is_over =
            result.nodes >= options.nodes || control.stop(result.best.height, result.bound, result.nodes);
        return tried.outcome;
    };
    while (result.least_stacking < result.best.height && !is_over) {
        byte_count const goal = result.least_stacking;
        portfolio.reset_capacity(goal);
        while (result.least_stacking == goal && goal < result.best.height && !is_over) {
            if (try_height(goal) != search_outcome::limit) break;
            portfolio.switch_capacity(goal);
            // Gaps below an eighth are left to the next round, which begins at the bound again.
            byte_count low = next_height(all, scaled.unit, goal);
            byte_count share = 4;
            while (result.least_stacking == goal && !is_over && low < result.best.height &&
                   result.best.height - low >= (result.best.height - goal) / 8) {
                byte_count const target = low + (result.best.height - low) / share;
                portfolio.reset_capacity(target);
                if (try_height(target) == search_outcome::found) continue;
                low = next_height(all, scaled.unit, target);
                share = 2;
            }
            portfolio.switch_capacity(goal);
            budget *= 2;
            ++restart;
        }
    }
}

SUBLET_COLD_DECL minimize_result minimize(placement_shapes const& all, byte_count bound, packing incumbent,
                                          search_options const& options, search_control& control)
{
    minimize_result result{std::move(incumbent), bound, bound, false, 0, {}};
    if (result.best.height == no_limit) {
        search_result any = decide(all, no_limit, options, control);
        result.nodes = any.nodes;
        if (any.outcome == search_outcome::found) {
            result.best.origin = std::move(any.origin);
            result.best.height = any.height;
        }
        if (any.outcome == search_outcome::exhausted) result.raise_bound(all, no_limit, std::move(any.core));
    }
    if (result.least_stacking < result.best.height && result.best.height != no_limit) {
        scaled_shapes const scaled = scale_down(all);
        byte_count const units = result.best.height / scaled.unit + 1;
        if (numbers_stay_below(scaled, units, byte_count{1} << 60))
            minimize_scaled(all, scaled, options, control, result);
    }
    result.is_proved = result.best.height == result.bound;
    return result;
}

} // namespace sublet::detail
