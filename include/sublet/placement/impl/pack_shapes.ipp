// SPDX-License-Identifier: BSL-1.0

/// The placement of the shapes of a pool. Each stage begins with the lowest placement so far, has a budget,
/// and is left out once the height equals the bound:
///
///     orders (first_packing, best_packing) ─► cuts (cut_shapes) ─► ejection (improve) ─► exact search
///
/// Few shapes are searched first, for a short time; of many, windows are searched instead, with budgets that
/// double, in turns with ejection.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/compose.hpp>
#include <sublet/placement/detail/improve.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/portfolio.hpp>
#include <sublet/placement/detail/proofs.hpp>
#include <sublet/placement/detail/windows.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sublet::detail {

/// Above so many shapes the visit budget grows with their number.
inline constexpr std::size_t visits_scale_above = 200'000;

/// Nodes of the first, short search, or 64 a shape if that is less: easy problems need no more.
inline constexpr std::size_t short_search_nodes = 16'000;

/// Exact search for the shapes of a pool with `nodes` nodes: may lower `best` and raise the bound in `out`.
/// No stacking is lower than `least_stacking`, which it may raise, too.
SUBLET_COLD_DECL packing search_exactly(placement_shapes const& shapes, byte_count capacity,
                                        pack_options const& options, std::uint64_t nodes, packing best,
                                        search_control& control, placement::pool_result& out,
                                        byte_count& least_stacking)
{
    auto raise_bound = [&](byte_count least, std::vector<std::uint32_t> const& core) {
        out.lower_bound = least;
        out.proof = {placement::proof::reason::exhausted, least, 0, buffers_in(shapes, core)};
    };
    if (best.height > capacity) {
        pool_control for_pool(control, best.height, out);
        search_result found = decide(shapes, capacity, {.nodes = nodes, .seed = options.seed}, for_pool);
        out.nodes += found.nodes;
        if (found.outcome == search_outcome::exhausted) {
            least_stacking = capacity + 1;
            if (can_only_be_stacked(shapes, found.core)) raise_bound(capacity + 1, found.core);
        }
        if (found.outcome != search_outcome::found) return best;
        best.origin = std::move(found.origin);
        best.height = found.height;
    }
    if (options.objective == placement::objective::fit || best.height <= out.lower_bound) return best;
    minimize_result found =
        minimize(shapes, out.lower_bound, std::move(best), {.nodes = nodes, .seed = options.seed}, control);
    out.nodes += found.nodes;
    if (found.bound > out.lower_bound) raise_bound(found.bound, found.core);
    least_stacking = larger(least_stacking, found.least_stacking);
    return std::move(found.best);
}

/// The shapes in the order of their first buffers, which is the caller's order.
SUBLET_COLD_DECL std::vector<std::uint32_t> order_of_caller(placement_shapes const& shapes,
                                                            step_poll const& poll)
{
    std::vector<buffer_id> first(shapes.size(), no_buffer); // by shape
    table<buffer_id, std::uint32_t> shape_of;               // the shape that it is the first of
    for (shape_part const& p : shapes.parts) first[p.shape] = smaller(first[p.shape], p.buffer);
    for (std::uint32_t s = 0; s != first.size() && !poll.stops(2); ++s) {
        if (first[s] == no_buffer) continue;
        if (shape_of.size() <= first[s]) shape_of.resize(std::size_t{first[s]} + 1, no_shape);
        shape_of[first[s]] = s;
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t s : shape_of)
        if (s != no_shape) order.push_back(s);
    return order;
}

/// As many bytes are live at each position as at the peak.
SUBLET_COLD_DECL bool is_full(placement_bound const& bound)
{
    std::size_t const positions = bound.live_bytes.size(); // of which the last is the end of all
    for (std::size_t at = 0; at + 1 < positions; ++at)
        if (bound.live_bytes[at] != bound.bytes) return false;
    return positions > 1;
}

/// Composition costs so many visits a shape.
inline constexpr std::uint64_t compose_visits = 1000;

/// Shapes that were cut from a rectangle, put together again where they fit without a gap.
class cut_shapes {
public:
    packing best; ///< of the shapes, as they were

    /// First fit in the caller's order and in its reverse, then composition, and a search of what is left if
    /// these are less than half of the shapes. Orders end at `ceiling` or below. The result is `best`, never
    /// higher than `start`.
    SUBLET_COLD cut_shapes(placement_shapes const& shapes, placement_bound const& goal, byte_count ceiling,
                           std::uint64_t visits, std::uint64_t nodes, packing start, search_control& control,
                           placement::pool_result& out)
        : best(std::move(start))
    {
        step_poll const poll(control);
        std::vector<std::uint32_t> order = order_of_caller(shapes, poll);
        for (std::size_t i = 0; i != 2 && order.size() == shapes.size() && best.height > goal.bytes; ++i) {
            packing found = fit(
                shapes, order, fit_rule::first_fit,
                {.ceiling = ceiling, .known_height = goal.bytes, .visits = visits / 8, .stop = {&control}});
            ++out.packings;
            if (found.height < best.height) {
                best = std::move(found);
                ceiling = best.height - 1;
            }
            std::reverse(order.begin(), order.end());
        }
        if (best.height <= goal.bytes) return;
        composed_ = compose(shapes, smaller(visits, compose_visits * shapes.size()), control);
        if (composed_.shapes.size() > shapes.size() / 2 || control.stop(no_limit, 0, 0)) return;
        bound_ = lower_bound(composed_.shapes);
        bound_.bytes = larger(bound_.bytes, goal.bytes);
        placed_ = first_packing(composed_.shapes, bound_, control);
        if (placed_.height > bound_.bytes)
            placed_ =
                best_packing(composed_.shapes, bound_, visits / 4, std::move(placed_), control, out.packings);
        keep_lower(shapes);
        search(shapes, nodes, 0, control, out);
    }

    [[nodiscard]] bool may_be_searched() const
    {
        return placed_.height > bound_.bytes && !placed_.origin.empty() && is_searched(composed_.shapes);
    }
    SUBLET_COLD void search(placement_shapes const& shapes, std::uint64_t nodes, std::uint64_t seed,
                            search_control& control, placement::pool_result& out)
    {
        if (!may_be_searched() || nodes == 0) return;
        minimize_result lowest = minimize(composed_.shapes, bound_.bytes, std::move(placed_),
                                          {.nodes = nodes, .seed = seed}, control);
        out.nodes += lowest.nodes;
        bound_.bytes = larger(bound_.bytes, lowest.bound);
        placed_ = std::move(lowest.best);
        keep_lower(shapes);
    }

private:
    void keep_lower(placement_shapes const& shapes)
    {
        if (placed_.height >= best.height) return;
        best.height = placed_.height;
        best.origin = composed_.origins(placed_.origin);
        best.origin.resize(shapes.size());
    }

    composed_shapes composed_;
    placement_bound bound_; // of the composed shapes
    packing placed_;        // of the composed shapes
};

SUBLET_COLD_DECL packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound,
                                     byte_count capacity, pack_options const& options,
                                     search_control& control, placement::pool_result& out)
{
    pool_control until_first(control, no_limit, out);
    packing best = first_packing(shapes, bound, until_first);
    std::optional<cut_shapes> cuts; // the search of few shapes goes on without what it finds
    ++out.packings;
    placement_bound goal = bound; // a height that ends the search
    auto lowest = [&] { return cuts ? smaller(best.height, cuts->best.height) : best.height; };
    auto is_done = [&] {
        if (out.lower_bound > capacity) goal.bytes = no_limit;
        else if (options.objective == placement::objective::fit) goal.bytes = capacity;
        else goal.bytes = out.lower_bound;
        // Called even if the goal is reached: a progress listener may be attached.
        return control.stop(lowest(), out.lower_bound, out.nodes) || lowest() <= goal.bytes;
    };
    std::size_t const n = shapes.size();
    // One more order pays for any number of shapes; it takes about a hundred visits for each.
    std::uint64_t const visits = n <= visits_scale_above || options.visits > no_limit / n
                                     ? options.visits
                                     : options.visits / visits_scale_above * n;
    bool const is_small = is_searched(shapes);
    byte_count least_stacking = 0;
    auto search = [&](std::uint64_t nodes) {
        if (nodes == 0) return; // what the search needs is quadratic in the shapes at worst
        best =
            search_exactly(shapes, capacity, options, nodes, std::move(best), control, out, least_stacking);
    };
    auto raise_by_stacks = [&] {
        placement_bound raised = bound;
        raised.bytes = out.lower_bound;
        std::uint64_t const work = smaller(smaller(options.nodes, max_stack_work) * 64, max_stack_work);
        pool_control for_pool(control, best.height, out);
        if (!detail::raise_by_stacks(shapes, work, raised, step_poll(for_pool))) return;
        out.lower_bound = raised.bytes;
        out.proof = {placement::proof::reason::exhausted, raised.bytes, 0,
                     buffers_in(shapes, raised.stacked)};
        least_stacking = larger(least_stacking, raised.bytes);
    };
    auto cut = [&] {
        if (cuts || is_done() || visits == 0) return;
        pool_control for_pool(control, best.height, out);
        byte_count const ceiling = is_small ? goal.bytes : best.height - 1;
        cuts.emplace(shapes, goal, ceiling, visits, smaller(options.nodes, pack_options{}.nodes), best,
                     for_pool, out);
        if (!is_small) best = cuts->best;
    };
    if (n > short_search_nodes / 64 && is_full(bound)) cut(); // from a rectangle, probably
    if (is_small && !is_done())
        search(smaller(options.nodes, byte_count{smaller(64 * n, short_search_nodes)}));
    if (!is_done() && options.nodes != 0) raise_by_stacks();
    if (!is_done() && visits != 0) {
        pool_control for_pool(control, best.height, out);
        best = best_packing(shapes, goal, visits, std::move(best), for_pool, out.packings);
    }
    cut();
    auto search_cuts = [&](std::uint64_t nodes, unsigned round) {
        if (!cuts || !cuts->may_be_searched() || is_done()) return;
        pool_control for_pool(control, lowest(), out);
        cuts->search(shapes, nodes, options.seed + round, for_pool, out);
        if (!is_small && cuts->best.height < best.height) best = cuts->best;
    };
    // Many shapes: ejection, windows, and at last the whole in turn, with budgets that double; few are
    // searched as a whole.
    std::uint64_t visits_left =
        is_small ? smaller(options.improve_visits, pack_options{}.improve_visits) : options.improve_visits;
    std::uint64_t nodes_left = is_small ? 0 : options.nodes;
    for (unsigned round = 0; round != 32 && (visits_left != 0 || nodes_left != 0); ++round) {
        if (!is_done() && visits_left != 0) {
            pool_control for_pool(control, lowest(), out);
            std::uint64_t const now = smaller(visits_left, pack_options{}.improve_visits << round);
            best = improve(shapes, goal, std::move(best), {.visits = now, .seed = options.seed + round},
                           for_pool, out.packings);
            visits_left -= now;
        }
        if (!is_done() && nodes_left != 0) {
            pool_control for_pool(control, lowest(), out);
            std::uint64_t const now = smaller(nodes_left, pack_options{}.nodes << round);
            best = repair_windows(shapes, goal, now, options.seed + round, std::move(best), for_pool, out);
            nodes_left -= now;
            if (round == 0) continue;
            search_cuts(now, round);
            if (is_searched(shapes, 2 * max_searched_shapes) && least_stacking < best.height && !is_done())
                search(now);
        }
        if (is_done()) break;
    }
    // A search begins anew each time: it is not divided if it is the only one.
    for (unsigned round = 0; is_small && out.nodes < options.nodes && least_stacking <= capacity &&
                             least_stacking < lowest() && !is_done();
         ++round) {
        std::uint64_t const left = options.nodes - out.nodes;
        bool const is_only = !cuts || !cuts->may_be_searched() || round == 40;
        std::uint64_t const now = is_only ? left : smaller(left, pack_options{}.nodes << round);
        search(now);
        search_cuts(now, round);
        if (is_only) break;
    }
    return cuts && cuts->best.height < best.height ? std::move(cuts->best) : best;
}

} // namespace sublet::detail
