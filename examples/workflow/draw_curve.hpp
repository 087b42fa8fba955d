// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_DRAW_CURVE_HPP
#define SUBLET_EXAMPLES_WORKFLOW_DRAW_CURVE_HPP

/// Draws the live bytes of schedules over the time that they take, as SVG.
///
///     4 KiB ┤╎  o──┐                   a point for each schedule, and one that is taken
///           │╎     o────┐
///     2 KiB ┤╎          @─────
///           ┼╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌          no schedule is left of the one bound, or below the other
///       0 B ┼─────────────────
///           10    12    14    makespan

#include <sublet/core/schedule.hpp>
#include <sublet/core/units.hpp>
#include <sublet/schedules.hpp>

#include <cstddef>
#include <iosfwd>
#include <string>

namespace workflow {

struct drawn_curve {
    std::string title;
    sublet::schedule_curve const& curve;
    std::size_t taken = 0; ///< the point
    std::string unit;      ///< of sizes; empty for bytes
    std::string time_unit; ///< may be empty
};

/// A complete SVG document, for light and dark pages.
/// Requires: the curve has the point.
void draw_curve(std::ostream& out, drawn_curve const& drawn);

} // namespace workflow

#endif
