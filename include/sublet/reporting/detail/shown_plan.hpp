// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_SHOWN_PLAN_HPP
#define SUBLET_REPORTING_DETAIL_SHOWN_PLAN_HPP

/// The plan that a report is about, of whatever the report is given.
///
///     memory_plan                         itself
///     a result, such as planned_memory    its plan; without one, its error is thrown
///     a result with by_range()            a row for each range, where live ranges have holes
///
/// So no result without a plan is written as if it had one.

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/reporting/names.hpp>

#include <concepts>
#include <type_traits>
#include <vector>

namespace sublet::detail {

/// It has a plan or an error: the result of a planner, or of `read_json`.
template <class P>
concept result_with_plan = requires(P const& planned) {
    requires std::same_as<std::remove_cvref_t<decltype(planned.plan)>, memory_plan>;
    static_cast<bool>(planned);
    planned.error();
};

template <class P>
concept planned_or_plan = std::same_as<P, memory_plan> || result_with_plan<P>;

/// Throws: precondition_error, with the error, if there is no plan.
template <planned_or_plan Planned>
void expect_plan(Planned const& planned)
{
    if constexpr (!std::same_as<Planned, memory_plan>) {
        if (planned) return;
        std::vector<char> why;
        appended_text sentence{why};
        plain_text<appended_text>{sentence} << "sublet: there is no plan to write: " << planned.error()
                                            << '\0';
        broken_precondition(why.data());
    }
}

/// As it was planned.
template <planned_or_plan Planned>
[[nodiscard]] memory_plan const& whole_plan(Planned const& planned)
{
    expect_plan(planned);
    if constexpr (std::same_as<Planned, memory_plan>) return planned;
    else return planned.plan;
}

/// With a row for each range.
template <planned_or_plan Planned>
[[nodiscard]] decltype(auto) plan_by_range(Planned const& planned)
{
    if constexpr (requires { planned.by_range(); }) {
        expect_plan(planned);
        return planned.by_range();
    } else {
        return whole_plan(planned);
    }
}

} // namespace sublet::detail

#endif
