// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PORTFOLIO_HPP
#define SUBLET_PLACEMENT_DETAIL_PORTFOLIO_HPP

/// Several searches that share a budget, and the lowest height that they find and prove.

#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/sections.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- portfolio -------------------------------------------------------------------------------------------

/// Several searches in turn, each with a small budget of nodes that grows from lap to lap.
///
///     lap 0    L:TWA ▪    W:TWA ▪    W:TZW ▪    L:TZW ▪    W:WAT ▪
///     lap 1    L:TWA ▪▪   W:TWA ▪▪   ...
///     lap 2    ...        and two with orders drawn anew in each lap
///
/// How long a search takes varies wildly with its order: what one finds in a hundred nodes another does not
/// in a million. So nobody gets much time before the others had theirs. Gomes, Selman and Kautz, "Boosting
/// combinatorial search through randomization", AAAI 1998, on why this pays.

namespace sublet::detail {

struct search_options {
    std::uint64_t nodes = 1'000'000; ///< of all searches together
    std::uint64_t seed = 0;          ///< of the orders that are drawn
    search_techniques techniques = {};
};

struct search_result {
    search_outcome outcome = search_outcome::limit;
    std::vector<byte_count> origin; ///< by shape, if found
    byte_count height = no_limit; ///< if found; if exhausted, no stacking is lower (`no_limit`: none at all)
    std::uint64_t nodes = 0;
    std::vector<std::uint32_t> core; ///< if exhausted: shapes that alone cannot be stacked, ascending
};

/// The searches of one problem, for one capacity after the other.
class search_portfolio {
public:
    explicit search_portfolio(scaled_shapes const& scaled) : problem(search_problem_of(scaled)) {}
    search_portfolio(search_portfolio const&) = delete;
    search_portfolio& operator=(search_portfolio const&) = delete;

    /// What was learned for another capacity is forgotten.
    void reset_capacity(byte_count capacity)
    {
        problem.set_capacity(capacity);
        for (auto& s : searches)
            if (s) s->reset_weights();
    }
    /// Aim at another capacity for a while; what was learned is kept for the way back.
    void switch_capacity(byte_count capacity)
    {
        problem.set_capacity(capacity);
        for (auto& s : searches)
            if (s) s->swap_weights();
    }

    /// Lap by lap: one search of each order with up to `budget` nodes each, `left` for all.
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
            if (first.get() < i || own_budget == 0) return;
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

/// Whether all numbers of a search, for that capacity in units, stay below `bound`.
bool numbers_stay_below(scaled_shapes const& scaled, byte_count capacity, byte_count bound);

/// Whether the shapes can be stacked within `capacity` bytes.
///
/// Requires:   all.fault is none.
/// Ensures:    the same answer with any driver, unless it stops the search.
/// Complexity: exponential at worst; at most `options.nodes` nodes of O(n) each, usually far less.
[[nodiscard]] search_result decide(placement_shapes const& all, byte_count capacity,
                                   search_options const& options, search_control& control);

// --- minimize --------------------------------------------------------------------------------------------

/// The lowest stacking, between a height that one has and a bound that none is below.
///
///     best    ──────┬──────────────┬── found: best is as low as that
///     target        │      ┬───────┘
///     target        │      │ budget spent: a lower target is not tried in this lap
///     bound   ──────┴──────┴── tried first; if nothing fits there, the bound rises
///
/// What a search exhausts are stackings. Where shapes may be threaded through each other (problem.hpp) that
/// says nothing of other placements: no stacking is looked for there any more, and the bound stays.
///
/// The bound is reached more often than not, so it is tried first, with a small budget. Then the gap is
/// bisected, nearer to the bound than to the best, which is what lowers the best soon; and all again with
/// twice the budget.

struct minimize_result {
    packing best;
    byte_count bound = 0;          ///< no placement is lower; `no_limit`: there is none
    byte_count least_stacking = 0; ///< no stacking is lower: the bound, or above it
    bool is_proved = false;        ///< best is as high as the bound
    std::uint64_t nodes = 0;
    std::vector<std::uint32_t> core = {}; ///< shapes that alone are no lower, if search raised the bound

    /// No stacking is lower than `height`, for which `tried` are to blame; if these can only be stacked, no
    /// placement is.
    void raise_bound(placement_shapes const& all, byte_count height, std::vector<std::uint32_t> tried);
};

/// The lowest height above `height` that stackings can have: origins are multiples of the unit.
byte_count next_height(placement_shapes const& all, byte_count unit, byte_count height);

/// Lower the incumbent as far as it goes.
///
/// Requires:   all.fault is none; nothing is lower than `bound`; the incumbent is a placement of the shapes,
///             or none, with a height of `no_limit`.
/// Ensures:    the same answer with any driver, unless it stops the search. The bound is raised only as far
///             as it holds for placements that are no stackings, too; an incumbent that is one of those may
///             be lower than all stackings, and is returned then.
/// Complexity: exponential at worst; at most `options.nodes` nodes of O(n) each.
[[nodiscard]] minimize_result minimize(placement_shapes const& all, byte_count bound, packing incumbent,
                                       search_options const& options, search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/portfolio.ipp>
#endif

#endif
