// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PARTS_IN_TIME_HPP
#define SUBLET_PLACEMENT_PARTS_IN_TIME_HPP

/// Shapes cut into parts where nobody lives on: each may be placed as if there were no others.
///
///     [====)   [===)     |  [=====)      |    [=)
///        [=======)       |     [======)  |  [=====)
///          [=====)       |               |  [===)
///           part 0          part 1          part 2
///
/// The arena is as high as the highest part. A batch of programs, or one whose steps are repeated, falls into
/// many, and each has a peak of its own to begin at.

#include <sublet/placement/shapes.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// By part, the number of its first shape; and the number of shapes behind them.  O(n)
[[nodiscard]] std::vector<std::uint32_t> parts_in_time(placement_shapes const& all);

/// The shapes from `first` to before `last` as shapes of their own, without their buffers.
///
/// Requires:   first < last.
/// Ensures:    shape i is first + i of all; positions are only those from its first birth to its last death.
/// Complexity: O(shapes and positions of the part).
[[nodiscard]] placement_shapes part_of(placement_shapes const& all, std::uint32_t first, std::uint32_t last);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/parts_in_time.ipp>
#endif

#endif
