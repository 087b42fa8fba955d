// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_RESULT_IDS_HPP
#define SUBLET_PLANNING_DETAIL_RESULT_IDS_HPP

/// The ids of a result, and those of listings. Values and steps of a result are those of the program that the
/// planner was given, unless it has made another one: the advisor's has values and steps after them.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>

namespace sublet::detail {

/// The value that `v` of the result was made from.
template <class Result>
[[nodiscard]] value_id original_value(Result const& result, value_id v)
{
    if constexpr (requires { result.spilled; })
        return v < result.spilled.origin.size() ? result.spilled.origin[v] : v;
    else return v;
}

/// The step that `s` of the result runs; `no_step`: it copies a value.
template <class Result>
[[nodiscard]] step_id original_step(Result const& result, step_id s)
{
    if constexpr (requires { result.spilled; }) {
        if (s >= result.spilled.steps.size()) return s;
        auto const one = result.spilled.steps[s];
        using does = decltype(one.kind);
        return one.kind == does::original || one.kind == does::rematerialize ? one.step : no_step;
    } else return s;
}

/// The plan for `values` values: what value `of(v)` has in it, or nothing for `no_value`.
template <class Original>
[[nodiscard]] memory_plan renumbered(memory_plan const& plan, std::size_t values, Original of)
{
    memory_plan result = plan;
    result.buffer_of.assign(values, no_buffer);
    if (!result.offset_in_root.empty()) result.offset_in_root.assign(values, 0);
    result.empty.clear();
    for (value_id v = 0; v != values; ++v) {
        value_id const own = of(v);
        if (own == no_value || own >= plan.buffer_of.size()) continue;
        result.buffer_of[v] = plan.buffer_of[own];
        if (std::size_t const at = find_value(plan.empty, own); at != plan.empty.size())
            result.empty.push_back({v, plan.empty[at].pool, plan.empty[at].offset});
        if (!result.offset_in_root.empty()) result.offset_in_root[v] = plan.offset_in_root[own];
    }
    return result;
}

} // namespace sublet::detail

#endif
