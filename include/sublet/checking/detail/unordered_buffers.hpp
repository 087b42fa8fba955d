// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_UNORDERED_BUFFERS_HPP
#define SUBLET_CHECKING_DETAIL_UNORDERED_BUFFERS_HPP

/// Clocks of several threads, for the placement checkers: whether two buffers are ordered, by comparing
/// each thread's begin and end; and the problem without them, for what is checked by positions.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

namespace sublet::detail {

/// Without clocks the same problem. Clocks of one thread become live ranges; with several threads all buffers
/// that need bytes live at position 0.
/// Throws: precondition_error for clocks that are not those of the buffers, or come with gaps or colocations.
[[nodiscard]] placement_problem without_clocks(placement_problem problem);

/// Whether by clocks neither buffer may take over the bytes of the other.
[[nodiscard]] bool are_unordered(placement_problem::clock_table const& clocks, buffer_id one,
                                 buffer_id other);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/unordered_buffers.ipp>
#endif

#endif
