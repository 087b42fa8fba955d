// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_WINDOWS_HPP
#define SUBLET_PLACEMENT_DETAIL_WINDOWS_HPP

/// Exact search of ranges of positions, for placements of more shapes than are searched as a whole.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstdint>

namespace sublet::detail {

/// Lowers peaks by exact search of windows around them, for any number of shapes, with `nodes` nodes. One
/// window counts as a node for each of its shapes, and as one for a thousand others.
[[nodiscard]] packing repair_windows(placement_shapes const& shapes, placement_bound const& goal,
                                     std::uint64_t nodes, std::uint64_t seed, packing best,
                                     search_control& control, placement::pool_result& out);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/windows.ipp>
#endif

#endif
