// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/planned_buffers.hpp>
#include <sublet/detail/unclear.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/units.hpp>

#include <ctime>
#include <utility>
#include <vector>

namespace sublet {

SUBLET_DECL planned_memory plan_memory(snapshot const& p, plan_options const& given)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    std::clock_t const begin = std::clock();
    planned_memory result;
    memory_plan& plan = result.plan;
    plan.order = options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    result.figures.refuted = detail::find_unclear(p, options);
    if (result.figures.refuted) return result;
    live_ranges const lives = lifetimes(p, detail::lifetimes_of(options));
    if (lives.violation) {
        auto const [value, position, what] = *lives.violation;
        bool const is_moved = what == live_ranges::order_violation::kind::write_moved;
        result.figures.refuted =
            witness{.what = is_moved ? fault::write_moved : fault::used_undefined,
                    .value = value,
                    .other = what == live_ranges::order_violation::kind::defined_later ? value : no_value,
                    .position = position};
        return result;
    }
    if (auto const position = detail::first_backward_edge(p, options.order)) {
        result.figures.refuted = witness{.what = fault::leads_back, .position = *position};
        return result;
    }
    buffer_table table = gather_buffers(lives, options);
    result.figures.external = detail::external_roots(table);
    detail::set_chosen_pools(table, options, options.pools);
    sublet::table<position_id, step_id> const steps = detail::steps_in_order(p, options.order);
    std::vector<memory_plan::in_place_pair> pairs;
    if (options.in_place) pairs = detail::match_in_place(p, steps, table);

    detail::in_place_selection found =
        detail::select_in_place(table, pairs, steps, options.pools, options.effort);
    found.plan.order = options.order;
    plan = std::move(found.plan);
    result.in_place = std::move(found.gains);
    result.figures.refuted = detail::oversized_view(table); // of classes before they are joined
    if (!result.figures.refuted) result.figures.refuted = found.refuted;
    detail::set_offsets(found.placed, plan);
    detail::fill_report(result.figures, found.placed, plan);

    if (!result.figures.refuted)
        result.figures.refuted = detail::placement_witness(found.placed, found.problem, plan);
    if (options.check && !result.figures.refuted) {
        result.figures.refuted = check_plan(p, plan, options);
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
