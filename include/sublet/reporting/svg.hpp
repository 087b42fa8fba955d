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

#include <sublet/detail/text.hpp>
#include <sublet/plan.hpp>
#include <sublet/reporting/detail/svg_canvas.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet {

/// Sizes and the title of a picture.
struct svg_options {
    std::uint32_t width = 1000;         ///< of the picture, in pixels: 320 to 32768
    std::uint32_t height = 420;         ///< of the addresses of each pool, in pixels: 60 to 32768
    std::uint32_t profile_height = 100; ///< of the live bytes below them: 40 to 32768; 0: none
    std::string_view title = "Memory plan"; ///< above the picture
};

namespace detail {

template <text_stream Stream, name_function Names>
Stream& draw_plan(Stream& out, memory_plan const& plan, Names& name_of,
                  std::vector<memory_plan::placed_buffer const*> const& drawn, buffer_kinds const& kinds,
                  svg_options const& options)
{
    SUBLET_EXPECTS(options.width >= 320 && options.width <= 32768,
                   "sublet: the width of a picture is 320 to 32768 pixels");
    SUBLET_EXPECTS(options.height >= 60 && options.height <= 32768,
                   "sublet: the height of a pool is 60 to 32768 pixels");
    SUBLET_EXPECTS(options.profile_height == 0 ||
                       (options.profile_height >= 40 && options.profile_height <= 32768),
                   "sublet: the height of a profile is 0 or 40 to 32768 pixels");
    using canvas_type = svg_canvas<Stream>;
    using painter = svg_painter<Stream, Names>;

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
    painter paint{canvas, name_of, kinds, drawn};
    for (std::uint64_t top = header_height; svg_panel const& panel : panels) {
        svg_plot const upper{top + painter::above, map, panel.ceiling};
        svg_plot const lower{upper.bottom() + painter::gap, profile,
                             larger<byte_count>(larger(panel.arena, panel.live.peak), 1)};
        paint.paint(panel, panels.size() != 1, upper, lower);
        top += panel_height;
    }
    draw_legend(canvas, legend, kinds, legend_top);
    text << "</svg>\n";
    return out;
}

} // namespace detail

/// Draws the plan: a complete SVG document.
///
/// Requires:   options within the limits that `svg_options` states.
/// Ensures:    one `rect` for each buffer that has bytes and an offset, and no other `rect`; consecutive ones
///             with the same root are parts of one buffer: they have one colour and count once. The peak of
///             a pool is marked at its first position. In names, kinds and title, control characters are
///             dropped and bytes that are not UTF-8 become '?'. An invalid plan is drawn as it is. Equal
///             plans, names, kinds and options give equal bytes.
/// Complexity: O(n log n + output), the output linear in n buffers and in the width; each callable is called
///             once per buffer.
/// Throws:     precondition_error for options out of their limits, or if the bytes live at once exceed 64
///             bits; whatever the stream and the callables throw; std::bad_alloc.
template <detail::text_stream Stream, detail::name_function Names>
Stream& write_svg(Stream& out, memory_plan const& plan, Names name_of, svg_options options = {})
{
    return detail::draw_plan(out, plan, name_of, detail::drawn_buffers(plan), {}, options);
}

/// The same in the colours of kinds, with a legend: `kind_of` names the kind of operation that makes a root.
template <detail::text_stream Stream, detail::name_function Names, detail::name_function Kinds>
Stream& write_svg(Stream& out, memory_plan const& plan, Names name_of, Kinds kind_of,
                  svg_options options = {})
{
    auto const drawn = detail::drawn_buffers(plan);
    return detail::draw_plan(out, plan, name_of, drawn, detail::kinds_of(drawn, kind_of), options);
}

/// The same with numbers as names.
template <detail::text_stream Stream>
Stream& write_svg(Stream& out, memory_plan const& plan, svg_options options = {})
{
    return write_svg(out, plan, detail::own_id{}, options);
}

} // namespace sublet

#endif
