// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_SVG_PICTURE_HPP
#define SUBLET_REPORTING_DETAIL_SVG_PICTURE_HPP

/// Sets the parts of a memory map below each other and writes them as one SVG document: title, a panel for
/// each pool with its map and its live bytes, and the legend. All sizes follow from the options and the
/// number of pools before anything is written.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/svg_canvas.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/internal/printable_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet::detail {

/// As text of the picture, ending with '\0'; empty for bytes.
[[nodiscard]] inline std::vector<char> escaped_unit(char const* unit)
{
    std::vector<char> escaped, printable;
    if (unit == nullptr) return escaped;
    appended_text{printable} << unit;
    keep_printable(printable);
    appended_text out{escaped};
    write_escaped(out, {printable.data(), printable.size()});
    out << '\0';
    return escaped;
}

/// `Options` are svg_options.
/// Throws: precondition_error for options out of their limits, and what panel_of() throws.
template <text_stream Stream, class Options>
void draw_plan(Stream& out, memory_plan const& given, Options const& options)
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

    table<buffer_id, svg_round> rounds;
    memory_plan const split =
        options.period == 0 ? memory_plan{} : in_one_round(given, position_id{options.period}, rounds);
    memory_plan const& plan = options.period == 0 ? given : split;
    if (!options.carried.empty()) add_carried(plan, options.carried, rounds);
    std::vector<memory_plan::placed_buffer const*> const drawn = drawn_buffers(plan);
    buffer_kinds const kinds = options.kinds.is_given() ? kinds_of(drawn, options.kinds) : buffer_kinds{};
    std::uint32_t positions = larger<std::uint32_t>(options.period, 1);
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

    std::vector<char> const unit = escaped_unit(options.unit);
    plain_text<Stream> text{out, unit.empty() ? nullptr : unit.data()};
    text << "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" << options.width
         << "\" height=\"" << all << "\" viewBox=\"0 0 " << options.width << ' ' << all << "\">\n<title>";
    write_escaped(text, title);
    text << "</title>\n<desc>" << count_buffers(drawn, 0, drawn.size()) << " buffers over "
         << (panels.empty() ? 0 : positions) << " positions";
    for (svg_panel const& panel : panels)
        text << "; pool " << panel.pool << ": arena of " << panel.arena << ' ' << text.units() << ", peak of "
             << panel.live.peak << ' ' << text.units() << " at position " << panel.live.peak_position;
    text << "</desc>\n"
         << svg_style << "<path class=\"page\" d=\"M0 0H" << options.width << 'V' << all << "H0z\"/>\n"
         << "<text class=\"title\" x=\"72\" y=\"27\">";
    write_escaped(text, title);
    text << "</text>\n";
    if (panels.empty())
        text << "<text x=\"72\" y=\"50\">Nothing to draw: no buffer has " << text.units()
             << " and an offset.</text>\n";
    canvas_type canvas{text, width, positions};
    painter paint{canvas, options.names, kinds, drawn, plan, rounds};
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

} // namespace sublet::detail

#endif
