// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_SVG_PROFILE_HPP
#define SUBLET_REPORTING_SVG_PROFILE_HPP

/// How many bytes are alive at each position, as a curve below the memory map.
///
///     arena ──────────────────────      a plan's address space
///     peak  ╌╌╌┌─┐╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌      the most that is alive at once
///            ┌─┘▒│  ┌────┐
///           ┌┘▒▒▒└──┘▒▒▒▒└─┐            everything between curve and arena is room that nobody uses
///           ┴──────────────┴─────
///
/// A level is noted where it changes and nowhere else, so a profile is no longer than two notes a buffer,
/// however long the time. A picture has fewer columns of pixels than a large program has changes: a column
/// then shows the highest of its levels, and the peak is never lost.

#include <sublet/plan.hpp>
#include <sublet/reporting/svg_canvas.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// From this position on to that of the next level so many bytes are alive.
struct live_level {
    step_id position;
    byte_count bytes;
    friend bool operator==(live_level const&, live_level const&) = default;
};

struct live_profile {
    std::vector<live_level> levels; ///< neighbours differ; the last is of 0 bytes
    byte_count peak = 0;
    step_id peak_position = 0; ///< the first of those where `peak` bytes are alive
};

/// The live bytes of these buffers over time.
///
/// Ensures:    before the first level no byte is alive. Buffers of 0 bytes or an empty life change nothing.
/// Complexity: O(n log n) time, O(n) memory, n = buffers.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are alive at once; std::bad_alloc.
[[nodiscard]] live_profile profile_of(std::vector<placed_buffer const*> const& buffers);

/// The profile in `columns` columns: each has the highest level of the positions that begin in it. The
/// "positions" of the result are columns.
///
/// Requires:   no level lies beyond `positions`; positions >= 1, 1 <= columns < 2^22.
/// Ensures:    the most bytes are those of the profile. Neighbours differ; at most 1 + `columns` levels.
/// Complexity: O(levels + columns).
[[nodiscard]] std::vector<live_level> highest_by_column(std::vector<live_level> const& levels,
                                                        std::uint32_t columns, step_id positions);

/// The curve, filled down to the ground of its plot.
template <class Stream>
void draw_profile(svg_canvas<Stream>& canvas, svg_plot const& plot, std::vector<live_level> const& levels)
{
    using px = hundredths;
    auto const columns = static_cast<std::uint32_t>(canvas.width / 100);
    bool const merged = levels.size() > columns;
    std::vector<live_level> const few =
        merged ? highest_by_column(levels, columns, canvas.positions) : levels;
    if (few.empty()) return;
    canvas.out << "<path class=\"live\" d=\"";
    std::uint64_t drawn = plot.bottom();
    for (live_level const& level : few) {
        std::uint64_t const y = plot.y_of(level.bytes);
        if (y == drawn) continue; // a change of bytes, but of no pixel
        std::uint64_t const x =
            merged ? canvas.left + 100 * std::uint64_t{level.position} : canvas.x_of(level.position);
        if (drawn == plot.bottom()) canvas.out << 'M' << px{x} << ' ' << px{drawn};
        else canvas.out << 'H' << px{x};
        canvas.out << 'V' << px{drawn = y};
    }
    canvas.out << "\"/>\n";
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/svg_profile.ipp>
#endif

#endif
