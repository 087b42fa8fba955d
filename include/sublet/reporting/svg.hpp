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
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/detail/svg_canvas.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
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
    std::uint32_t width = 1000;         ///< of the picture, in pixels: 320 to 32768
    std::uint32_t height = 420;         ///< of the addresses of each pool, in pixels: 60 to 32768
    std::uint32_t profile_height = 100; ///< of the live bytes below them: 40 to 32768; 0: none
};

namespace detail {

template <text_stream Stream>
void draw_plan(Stream& out, memory_plan const& plan, svg_options const& options)
{
    SUBLET_EXPECTS(options.width >= 320 && options.width <= 32768,
                   "sublet: the width of a picture is 320 to 32768 pixels");
    SUBLET_EXPECTS(options.height >= 60 && options.height <= 32768,
                   "sublet: the height of a pool is 60 to 32768 pixels");
    SUBLET_EXPECTS(options.profile_height == 0 ||
                       (options.profile_height >= 40 && options.profile_height <= 32768),
                   "sublet: the height of a profile is 0 or 40 to 32768 pixels");
    using canvas_type = svg_canvas<Stream>;
    using painter = svg_painter<Stream>;

    std::vector<memory_plan::placed_buffer const*> const drawn = drawn_buffers(plan);
    buffer_kinds const kinds = options.kinds.is_given() ? kinds_of(drawn, options.kinds) : buffer_kinds{};
    std::uint32_t positions = 1;
    std::vector<svg_panel> panels;
    for (memory_plan::placed_buffer const* b : drawn)
        positions = larger(larger(positions, +b->life.first), +b->life.last);
    for (std::size_t first = 0; first != drawn.size(); first = panels.back().last)
        panels.push_back(panel_of(plan, drawn, first));

    std::uint64_t const width = std::uint64_t{100} * options.width - canvas_type::left - canvas_type::right;
    std::uint64_t const map = std::uint64_t{100} * options.height;
    std::uint64_t const profile = std::uint64_t{100} * options.profile_height;
    std::uint64_t const plots = map + (profile == 0 ? 0 : painter::gap + profile);
    std::uint64_t const panel_height = painter::above + plots + painter::below, header_height = 3200;
    svg_legend const legend = legend_of(kinds, width + canvas_type::right);
    std::uint64_t const legend_top = header_height + panels.size() * panel_height;
    hundredths const all{panels.empty() ? 7000 : legend_top + legend.height()};
    std::vector<char> printable(options.title.begin(), options.title.end());
    keep_printable(printable);
    std::string_view const title(printable.data(), printable.size());

    plain_text<Stream> text{out};
    text << "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" << options.width
         << "\" height=\"" << all << "\" viewBox=\"0 0 " << options.width << ' ' << all << "\">\n<title>";
    write_escaped(text, title);
    text << "</title>\n<desc>" << count_buffers(drawn, 0, drawn.size()) << " buffers over "
         << (panels.empty() ? 0 : positions) << " positions";
    for (svg_panel const& panel : panels)
        text << "; pool " << panel.pool << ": arena of " << panel.arena << " bytes, peak of "
             << panel.live.peak << " bytes at position " << panel.live.peak_position;
    text << "</desc>\n"
         << svg_style << "<path class=\"page\" d=\"M0 0H" << options.width << 'V' << all << "H0z\"/>\n"
         << "<text class=\"title\" x=\"72\" y=\"27\">";
    write_escaped(text, title);
    text << "</text>\n";
    if (panels.empty())
        text << "<text x=\"72\" y=\"50\">Nothing to draw: no buffer has bytes and an offset.</text>\n";
    canvas_type canvas{text, width, positions};
    painter paint{canvas, options.names, kinds, drawn};
    for (std::uint64_t top = header_height; svg_panel const& panel : panels) {
        svg_plot const upper{top + painter::above, map, panel.ceiling};
        svg_plot const lower{upper.bottom() + painter::gap, profile,
                             larger<byte_count>(larger(panel.arena, panel.live.peak), 1)};
        paint.paint(panel, panels.size() != 1, upper, lower);
        top += panel_height;
    }
    draw_legend(canvas, legend, kinds, legend_top);
    text << "</svg>\n";
}

} // namespace detail

/// Draws the plan: a complete SVG document. `planned` is the result of a planner, or a plan by itself; of
/// planned_flow, each range of a buffer.
///
/// Requires:   options within the limits that `svg_options` states.
/// Ensures:    one `rect` for each buffer that has bytes and an offset, and no other `rect`; consecutive ones
///             with the same root are parts of one buffer: they have one colour and count once. The peak of
///             a pool is marked at its first position. In names, kinds and title, control characters are
///             dropped and bytes that are not UTF-8 become '?'. An invalid plan is drawn as it is. Equal
///             plans, names, kinds and options give equal bytes.
/// Complexity: O(n log n + output), the output linear in n buffers and in the width; a name and a kind are
///             asked for once per buffer.
/// Throws:     precondition_error for options out of their limits; with the error, if there is no plan; if
///             the bytes live at once exceed 64 bits; whatever the stream and the names throw;
///             std::bad_alloc.
template <detail::text_stream Stream, detail::planned_or_plan Planned = memory_plan>
Stream& write_svg(Stream& out, Planned const& planned, svg_options const& options = {})
{
    detail::draw_plan(out, detail::plan_by_range(planned), options);
    return out;
}

} // namespace sublet

#endif
