// SPDX-License-Identifier: BSL-1.0

/// proved_sequence(): check_plan() or check_concurrent_plan() for a plan, otherwise a scan for an edge that
/// leads back.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/impl/config.hpp>

#include <optional>

namespace sublet::detail {

SUBLET_DECL lowered_program proved_sequence(snapshot const& p, plan_options const& options,
                                            memory_plan const* plan, executor_options const& settings)
{
    bool const proves = settings.prove && settings.check != executor_options::checks::off;
    if (plan == nullptr) {
        auto const back = proves ? first_backward_edge(p, options.order) : std::nullopt;
        if (back) throw unsound_plan(*back);
        return lower_program(p, options);
    }
    if (proves) expect_sound(p, *plan, options);
    return lower_planned(p, options_of_plan(p, options, *plan), plan);
}

} // namespace sublet::detail
