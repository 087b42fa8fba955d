// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_LISTED_PLAN_HPP
#define SUBLET_PLANNING_DETAIL_LISTED_PLAN_HPP

/// A plan of a listing for another one: the same handle has the same place.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/planning/detail/handle_numbers.hpp>
#include <sublet/planning/detail/result_ids.hpp>

namespace sublet::detail {

/// The plan of values with these numbers, with those of a listing.
template <class Handle, class List>
[[nodiscard]] memory_plan renumbered_for(List const& list, memory_plan const& plan,
                                         handle_numbers<Handle> const& numbers)
{
    return renumbered(plan, list.values(), [&](value_id v) { return numbers.find(list.handle(v)); });
}

/// The plan before of a listing with handles of the same type; empty, or no plan: none.
template <class Handle>
class listed_plan {
public:
    listed_plan() = default;
    template <class Planned>
        requires requires(Planned const& planned, memory_plan& plan, handle_numbers<Handle>& numbers) {
            plan = planned.plan;
            numbers = planned.numbers();
        }
    listed_plan(Planned const& planned)
    {
        if (!planned) return;
        plan_ = planned.plan;
        numbers_ = planned.numbers();
    }
    /// There is one.
    [[nodiscard]] explicit operator bool() const { return !plan_.buffer_of.empty(); }
    /// For this listing.
    template <class List>
    [[nodiscard]] memory_plan operator()(List const& list) const
    {
        return *this ? renumbered_for(list, plan_, numbers_) : memory_plan{};
    }

private:
    memory_plan plan_;
    handle_numbers<Handle> numbers_;
};

} // namespace sublet::detail

#endif
