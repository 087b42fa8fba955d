// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_DRAW_PROFILE_HPP
#define SUBLET_EXAMPLES_WORKFLOW_DRAW_PROFILE_HPP

/// Draws the live bytes of two orders of the same steps above each other, as SVG.
///
///     4 KiB ┤   ┌─┐                    before: the area
///           │ ┌─┘ └─┐   ┌──┐
///     2 KiB ┼╌│╌╌╌╌╌└╌╌╌│╌╌│╌╌╌        a lower bound of every order
///           │─┘─────────┘  └──         after: the line
///       0 B ┼──────────────────
///           0     5     10     step

#include <sublet/core/units.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace workflow {

struct profiles {
    std::string title;
    std::vector<sublet::byte_count> before, after; ///< by step; as many in both
    sublet::byte_count bound = 0;                  ///< of the peak of every order
    std::string before_name, after_name, unit;     ///< unit: empty for bytes
};

/// A complete SVG document, for light and dark pages. Of more steps than the picture has columns, each column
/// shows the most live bytes.
/// Requires: there is a step.
void draw_profiles(std::ostream& out, profiles const& p);

} // namespace workflow

#endif
