// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_MEMORY_MODE_HPP
#define SUBLET_EXECUTION_DETAIL_MEMORY_MODE_HPP

/// What executors ask of a memory mode: whether it is one, and the plan in it; and the names that an error
/// shows for arguments that are none.

#include <sublet/core/plan.hpp>
#include <sublet/execution/storage.hpp>

#include <type_traits>

namespace sublet::detail {

template <class M>
concept memory_mode = requires { requires M::is_memory_mode; };

// Parameters of deleted constructors: their names are the reason.
template <class M>
struct the_memory_mode_is_arena_recycle_or_no_plan {};
struct a_kernel_takes_its_call {};
template <class Mode, bool IsKernel>
using executor_problem = std::conditional_t<memory_mode<Mode>, a_kernel_takes_its_call,
                                            the_memory_mode_is_arena_recycle_or_no_plan<Mode>>;

struct an_executor_for_every_shape_takes_memory_at_a_shape {};
template <bool IsKernel>
using shaped_problem = std::conditional_t<IsKernel, an_executor_for_every_shape_takes_memory_at_a_shape,
                                          a_kernel_takes_its_call>;

/// The plan of a memory mode, or null.
inline memory_plan const* plan_in(arena const& mode) { return &mode.plan; }
template <memory_mode Mode>
memory_plan const* plan_in(Mode const&)
{
    return nullptr;
}

} // namespace sublet::detail

#endif
