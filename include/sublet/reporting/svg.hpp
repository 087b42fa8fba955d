// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_SVG_HPP
#define SUBLET_REPORTING_SVG_HPP

/// Draws a plan as SVG: time from left to right, addresses from bottom to top, one rectangle per buffer.
///
///     arena ─┬───────────────────────      the top of the arena
///            │ ┌──────┐   ┌───────┐
///     peak  ╌│╌│ b    │╌╌╌│ d     │╌╌      most bytes live at once: no plan in this order needs less
///            │┌┴───┬──┴───┴──┬────┘
///            ││ a  │    c    │             here c reuses the bytes of a
///            └┴────┴─────────┴────────
///             ▂▆▄▄▆██▄▂▂▂▂▄▂▂▂▂▂           live bytes: reporting/detail/svg_map.hpp
///                   ▲ position
///
/// Each pool has its own panel and scale; time is the same in all. Large rectangles carry their name, and all
/// have a tooltip. Colours distinguish neighbours, or the kinds of operation that produced the contents.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/detail/svg_picture.hpp>
#include <sublet/reporting/names.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet {

/// Names, title and sizes of a picture.
struct svg_options {
    names_of<value_id> names = {}; ///< of values; default: their numbers
    names_of<value_id> kinds =
        {}; ///< of the operation that makes a root: colours and a legend; default: none
    std::string_view title = "Memory plan"; ///< above the picture
    char const* unit = nullptr;             ///< behind sizes that are no bytes: "qubits"; default: bytes
    /// What a round leaves to the next one, as in the options of the plan: marked where it crosses the border
    /// of the round, and where places change.
    std::vector<plan_options::carry> carried = {};
    /// The plan is one round of so many positions: a life that ends behind it goes on at the left, and is
    /// marked; 0: it is all.
    std::uint32_t period = 0;
    std::uint32_t width = 1000;         ///< of the picture, in pixels: 320 to 32768
    std::uint32_t height = 420;         ///< of the addresses of each pool, in pixels: 60 to 32768
    std::uint32_t profile_height = 100; ///< of the live bytes below them: 40 to 32768; 0: none
};

/// Draws the plan: a complete SVG document. `planned` is the result of a planner, or a plan by itself; of
/// planned_flow, each range of a buffer.
///
/// Requires:   options within the limits that `svg_options` states.
/// Ensures:    one `rect` for each buffer that has bytes and an offset, two if it ends behind the period, and
///             no other `rect`; consecutive ones with the same root are parts of one buffer: they have one
///             colour and count once. Arrows at the borders of a round, each with a tooltip, are over what
///             crosses it; where places change, they point up and down. The peak of a pool is marked at its
///             first position. In names, kinds, title and unit, control characters are dropped and bytes that
///             are not UTF-8 become '?'. An invalid plan is drawn as it is. Equal plans, names, kinds and
///             options give equal bytes.
/// Complexity: O(n log n + output), the output linear in n buffers and in the width; a name and a kind are
///             asked for once per buffer.
/// Throws:     precondition_error for options out of their limits; with the error, if there is no plan; if
///             the bytes live at once exceed 64 bits; if it has no value that is carried; whatever the stream
///             and the names throw; std::bad_alloc.
template <detail::text_stream Stream, detail::planned_or_plan Planned = memory_plan>
Stream& write_svg(Stream& out, Planned const& planned, svg_options const& options = {})
{
    detail::draw_plan(out, detail::plan_by_range(planned), options);
    return out;
}

} // namespace sublet

#endif
