// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_PACK_OPTIONS_HPP
#define SUBLET_PLACEMENT_INTERNAL_PACK_OPTIONS_HPP

/// How much work a placement may take, in counts.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>

namespace sublet::detail {

struct pack_options {
    placement::objective objective = placement::objective::minimize;
    // For each pool:
    std::uint64_t visits = 20'000'000; ///< pieces examined by greedy orders; scaled beyond 200,000 shapes
    std::uint64_t improve_visits = 20'000'000; ///< pieces examined by ejection; not scaled
    std::uint64_t nodes = 50'000;              ///< nodes of the exact search
    std::uint64_t seed = 0;
};

/// The default work, scaled.
[[nodiscard]] inline pack_options pack_budgets(effort work)
{
    pack_options budgets;
    budgets.visits = work.of(budgets.visits);
    budgets.improve_visits = work.of(budgets.improve_visits);
    budgets.nodes = work.of(budgets.nodes);
    return budgets;
}

} // namespace sublet::detail

#endif
