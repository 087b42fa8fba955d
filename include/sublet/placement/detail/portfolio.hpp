// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PORTFOLIO_HPP
#define SUBLET_PLACEMENT_DETAIL_PORTFOLIO_HPP

/// A portfolio of exact searches with a common node budget: can shapes be stacked within a capacity (decide),
/// and what is their lowest stacking (minimize)? Exponential at worst; at most `nodes` nodes of O(n) each.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/sections.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- portfolio -------------------------------------------------------------------------------------------

/// Several searches in turn, each with a small node budget that doubles with each restart.
///
///     restart 0    L:TWA ▪    W:TWA ▪    W:TZW ▪    L:TZW ▪    W:WAT ▪
///     restart 1    L:TWA ▪▪   W:TWA ▪▪   ...        and two with random orders, new in each restart
///
/// One order may need a hundred nodes, another a million: so all budgets grow together. Source: Gomes, Selman
/// and Kautz, "Boosting combinatorial search through randomization", AAAI 1998.

namespace sublet::detail {

/// Exact search does not come first for more shapes, and is not tried at all for twice as many: a node costs
/// too much. Nor for this many shapes times pieces: all pairs of shapes are compared, piece by piece, before
/// the first node, and nothing stops that.
inline constexpr std::size_t max_searched_shapes = 2000;
inline constexpr std::uint64_t max_compared_pieces = 100'000'000;
[[nodiscard]] bool is_searched(placement_shapes const& shapes, std::size_t most = max_searched_shapes);

struct search_options {
    std::uint64_t nodes = 1'000'000; ///< of all searches together
    std::uint64_t seed = 0;          ///< of the random orders
    search_techniques techniques = {};
};

struct search_result {
    search_outcome outcome = search_outcome::limit;
    std::vector<byte_count> origin; ///< by shape, if found
    byte_count height = no_limit; ///< if found; if exhausted, no stacking is lower (`no_limit`: none exists)
    std::uint64_t nodes = 0;
    std::vector<std::uint32_t> core; ///< if exhausted: shapes that alone cannot be stacked, ascending
};

class search_portfolio {
public:
    search_portfolio(scaled_shapes const& scaled, step_poll const& poll)
        : problem(search_problem_of(scaled, poll))
    {
    }
    search_portfolio(search_portfolio const&) = delete;
    search_portfolio& operator=(search_portfolio const&) = delete;
    SUBLET_COLD ~search_portfolio() = default;

    void reset_capacity(byte_count capacity)
    {
        problem.set_capacity(capacity);
        for (auto& s : searches)
            if (s) s->reset_weights();
    }
    /// For a while: swaps the failure weights with the saved ones.
    void switch_capacity(byte_count capacity)
    {
        problem.set_capacity(capacity);
        for (auto& s : searches)
            if (s) s->swap_weights();
    }

    /// One restart: a search of each order with up to `budget` nodes each, `left` for all.
    search_result run(std::uint32_t restart, std::uint64_t budget, std::uint64_t left,
                      search_options const& options, search_control& control, byte_count best,
                      byte_count bound)
    {
        atomic_minimum first;
        search_outcome outcomes[fixed_orders + random_orders];
        std::uint64_t nodes[fixed_orders + random_orders];
        std::size_t const tasks = fixed_orders + (restart < first_random_restart ? 0 : random_orders);
        control.run(tasks, [&](std::size_t i) {
            outcomes[i] = search_outcome::limit;
            nodes[i] = 0;
            std::uint64_t const before = budget * i;
            std::uint64_t const own_budget = left <= before ? 0 : smaller(budget, left - before);
            if (first.get() < i || own_budget == 0 || control.stop(best, bound, 0)) return;
            search_order const order =
                i < fixed_orders ? search_orders[i] : draw_order(options.seed, restart, i - fixed_orders);
            if (!searches[i]) searches[i].emplace(problem, order, options.techniques);
            else if (i >= fixed_orders) searches[i]->set_order(problem, order);
            outcomes[i] = searches[i]->run(
                own_budget, [&](std::uint64_t n) { return first.get() < i || control.stop(best, bound, n); });
            nodes[i] = searches[i]->nodes;
            if (outcomes[i] != search_outcome::limit) first.update(static_cast<std::uint32_t>(i));
        });
        search_result result;
        for (std::size_t i = 0; i != tasks; ++i) {
            result.nodes += nodes[i];
            if (i != first.get()) continue;
            auto const& search = *searches[i];
            result.outcome = outcomes[i];
            if (result.outcome == search_outcome::exhausted) {
                result.core = search.core_shapes();
                result.height = search.state.next_height;
            } else {
                result.height = 0;
                for (std::uint32_t k = 0; k != problem.shapes; ++k) {
                    result.origin.push_back(static_cast<byte_count>(search.state.min_origin[k]) *
                                            problem.unit);
                    result.height = larger(result.height, result.origin[k] + problem.size[k]);
                }
            }
            break;
        }
        return result;
    }

    search_problem problem;

private:
    std::optional<stacking_search> searches[fixed_orders + random_orders];
};

bool numbers_stay_below(scaled_shapes const& scaled, byte_count capacity, byte_count bound);

/// Whether the shapes can be stacked within `capacity` bytes.
///
/// Requires:   all.fault is none.
/// Ensures:    the same result with any control that does not stop the search.
/// Complexity: exponential at worst; at most `options.nodes` nodes of O(n) each, usually far less.
[[nodiscard]] search_result decide(placement_shapes const& all, byte_count capacity,
                                   search_options const& options, search_control& control);

// --- minimize --------------------------------------------------------------------------------------------

/// The lowest stacking between a lower bound and the height of an incumbent.
///
///     best    ──────┬──────────────┬── found: the new best
///     target        │      ┬───────┘
///     target        │      │ budget spent: no lower target in this round
///     bound   ──────┴──────┴── tried first; if exhausted, the bound rises
///
/// The bound is usually attained, so it is tried first, with a small budget. Then the gap is bisected,
/// nearer to the bound than to the best, which lowers the best quickly; then the budget is doubled.

struct minimize_result {
    packing best;
    byte_count bound = 0;          ///< no placement is lower; `no_limit`: none exists
    byte_count least_stacking = 0; ///< no stacking is lower; at least the bound
    bool is_proved = false;        ///< the height of best equals the bound
    std::uint64_t nodes = 0;
    std::vector<std::uint32_t> core = {}; ///< if search raised the bound: shapes that alone are no lower

    /// Records that no stacking of `tried` is lower than `height`; if these can only be stacked, this is a
    /// bound for all placements.
    void raise_bound(placement_shapes const& all, byte_count height, std::vector<std::uint32_t> tried);
};

/// The lowest height above `height` that a stacking can have: origins are multiples of the unit.
byte_count next_height(placement_shapes const& all, byte_count unit, byte_count height);

/// Requires:   all.fault is none; nothing is lower than `bound`; the incumbent is a placement of the shapes,
///             or none, with a height of `no_limit`.
/// Ensures:    the same result with any control that does not stop the search. The bound is raised only if
///             it holds for placements that are no stackings, too; an incumbent that is no stacking may be
///             lower than all stackings, and is returned then.
/// Complexity: exponential at worst; at most `options.nodes` nodes of O(n) each.
[[nodiscard]] minimize_result minimize(placement_shapes const& all, byte_count bound, packing incumbent,
                                       search_options const& options, search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/portfolio.ipp>
#endif

#endif
