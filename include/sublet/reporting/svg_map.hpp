// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_SVG_MAP_HPP
#define SUBLET_REPORTING_SVG_MAP_HPP

/// The panel of one pool: its memory map, and its profile below.
///
///     12 buffers in 9.19 MiB, equal to the lower bound
///             ▼ peak 9.19 MiB at 13
///     ┌───────┆──┬──────────┐ arena
///     │ conv1 ┆  │   relu   │ lower bound      where everybody lies: a rectangle is a life by its addresses
///     └───────┆──┴──────────┘
///     ▂▆▄▄▆███┆██▄▂▂▂▂▄▂▂▂▂▂▂ live bytes       how much of it is needed: svg_profile.hpp
///     0          10         20
///
/// What is too small for a name says it when pointed at.

#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/svg_canvas.hpp>
#include <sublet/reporting/svg_kinds.hpp>
#include <sublet/reporting/svg_profile.hpp>
#include <sublet/reporting/text.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sublet::detail {

/// The buffers of one pool, and what is said about them.
struct svg_panel {
    std::size_t first = 0, last = 0; // of the buffers drawn
    pool_id pool = 0;
    byte_count arena = 0;
    byte_count ceiling = 0; // the highest address of the picture; above the arena in unsound plans only
    live_profile live = {};
};

/// How many buffers [first, last) of those drawn are: parts of one have one root, and stand in a row.
std::size_t count_buffers(std::vector<placed_buffer const*> const& drawn, std::size_t first,
                          std::size_t last);

svg_panel panel_of(memory_plan const& plan, std::vector<placed_buffer const*> const& drawn,
                   std::size_t first);

/// Writes the panels, each where the plots say.
template <class Stream, class Names>
struct svg_painter {
    static constexpr std::uint64_t above = 5000, gap = 1800, below = 3600;
    using px = hundredths;

    svg_canvas<Stream>& canvas;
    Names& name_of;
    buffer_kinds const& kinds;
    std::vector<placed_buffer const*> const& drawn;
    plain_text<Stream>& out = canvas.out;
    std::vector<char> name = {};

    void paint(svg_panel const& panel, bool one_of_many, svg_plot const& map, svg_plot const& profile)
    {
        std::uint64_t const bottom = profile.height == 0 ? map.bottom() : profile.bottom();
        paint_heading(panel, one_of_many, map.top - 3500);
        canvas.frame(map);
        if (profile.height != 0) {
            canvas.frame(profile);
            draw_profile(canvas, profile, panel.live.levels);
            canvas.level("arena", profile.y_of(panel.arena), canvas.end());
            if (panel.live.peak != 0) canvas.level("peak", profile.y_of(panel.live.peak), canvas.end());
            canvas.text("b", canvas.end() + 800, profile.top + profile.height / 2 + 400)
                << "live bytes</text>\n";
        }
        canvas.time_axis(bottom);
        out << "<g>\n";
        for (std::size_t i = panel.first, number = i; i != panel.last; ++i) {
            if (i != panel.first && drawn[i]->root != drawn[i - 1]->root) ++number;
            paint_buffer(i, number, map, mark_of(panel));
        }
        out << "</g>\n";
        paint_limits(panel, map, bottom);
    }

private:
    /// Where the peak is marked; at the left edge, and so in nobody's way, if there is none.
    std::uint64_t mark_of(svg_panel const& panel) const
    {
        step_id const at = panel.live.peak_position;
        return panel.live.peak == 0 ? canvas.left : (canvas.x_of(at) + canvas.x_of(at + 1)) / 2;
    }

    void paint_heading(svg_panel const& panel, bool one_of_many, std::uint64_t y)
    {
        std::size_t const buffers = count_buffers(drawn, panel.first, panel.last);
        byte_count const arena = panel.arena, peak = panel.live.peak;
        out << "<text x=\"" << px{canvas.left} << "\" y=\"" << px{y} << "\">";
        if (one_of_many) out << "pool " << panel.pool << ": ";
        out << buffers << (buffers == 1 ? " buffer in " : " buffers in ");
        write_bytes(out, arena);
        if (arena == peak) out << ", equal to the lower bound";
        if (peak != 0 && arena > peak && arena / peak < 1000) {
            std::uint64_t const whole = 4'000'000;
            std::uint64_t const unused = portion(whole, arena - peak, arena);
            out << ", " << px{(10'000 * unused + (whole - unused) / 2) / (whole - unused)}
                << " % above the lower bound";
        }
        out << "</text>\n";
    }

    void paint_buffer(std::size_t i, std::size_t number, svg_plot const& map, std::uint64_t mark)
    {
        // What is too small to see still has to be there to be pointed at in an enlargement.
        placed_buffer const& b = *drawn[i];
        byte_count const end = sum_fits(b.offset, b.size) ? b.offset + b.size : map.ceiling;
        std::uint64_t const x = canvas.x_of(b.life.first), y = map.y_of(end);
        std::uint64_t const w =
            larger<std::uint64_t>(is_empty(b.life) ? 0 : canvas.x_of(b.life.last) - x, 25);
        std::uint64_t const h = larger<std::uint64_t>(map.y_of(b.offset) - y, 25);
        read_name(name, name_of, b.root);
        std::size_t const characters = keep_printable(name);
        std::string_view const text(name.data(), name.size());

        bool const kindless = kinds.kinds.empty();
        std::size_t const color = kindless ? number % svg_colors : kinds.kind_of[i];
        out << "<rect class=\"" << (color < svg_colors ? static_cast<char>('A' + color) : 'O');
        std::uint64_t const thinner = smaller(w, h);
        if (thinner >= 100) out << (thinner >= 300 ? " s" : " t");
        out << "\" x=\"" << px{x} << "\" y=\"" << px{y} << "\" width=\"" << px{w} << "\" height=\"" << px{h}
            << "\"><title>";
        write_escaped(out, text);
        if (!kindless && kinds.kinds[kinds.kind_of[i]].characters != 0) {
            out << " (";
            write_escaped(out, kinds.name_of(kinds.kind_of[i]));
            out << ')';
        }
        out << ": positions [" << b.life.first << ", " << b.life.last << "), " << b.size << " bytes at "
            << b.offset << "</title></rect>\n";

        // The name stands at the wider side of the peak's line, if that goes through.
        std::uint64_t from = x, to = x + w;
        if (from < mark && mark < to) (mark - from < to - mark ? from : to) = mark;
        std::uint64_t const wide = to - from;
        std::uint64_t const across = h < 1400 ? 0 : (wide - smaller<std::uint64_t>(wide, 1000)) / svg_letter;
        std::uint64_t const upwards = wide < 1400 ? 0 : (h - smaller<std::uint64_t>(h, 1000)) / svg_letter;
        bool const turned = across < characters && h > wide;
        std::uint64_t const room = turned ? upwards : across;
        if (characters == 0 || (room < characters && room < 8)) return;
        std::uint64_t const center = from + wide / 2, middle = y + h / 2;
        out << "<text class=\"n\" x=\"" << px{center} << "\" y=\"" << px{middle + 400};
        if (turned) out << "\" transform=\"rotate(-90 " << px{center} << ' ' << px{middle} << ')';
        out << "\">";
        // The end of a long name tells more than its beginning: the layers of a network share prefixes.
        if (room < characters) out << "…";
        write_escaped(out, text, room < characters ? characters + 1 - static_cast<std::size_t>(room) : 0);
        out << "</text>\n";
    }

    void paint_limits(svg_panel const& panel, svg_plot const& map, std::uint64_t bottom)
    {
        byte_count const arena = panel.arena, peak = panel.live.peak;
        paint_limit("arena", "a", "arena", arena, map, arena >= peak);
        if (peak == 0) return;
        paint_limit("peak", "p", "lower bound", peak, map, arena < peak);

        std::uint64_t const at = mark_of(panel);
        out << "<path class=\"peak\" d=\"M" << px{at} << ' ' << px{map.top - 400} << 'V' << px{bottom}
            << "\"/><path class=\"mark\" d=\"M" << px{at} << ' ' << px{map.top - 200} << "l-4.5 -7h9z\"/>";
        // A label that would leave the plot at one side is held at the mark by that side.
        char const* const held = at < canvas.left + 9000 ? "h b" : at + 9000 > canvas.end() ? "h e" : "h m";
        canvas.text(held, at, map.top - 1400) << "peak ";
        write_bytes(out, peak);
        out << " at " << panel.live.peak_position << "</text>\n";
    }

    void paint_limit(char const* line, char const* text, char const* label, byte_count bytes,
                     svg_plot const& map, bool upper)
    {
        // The upper label stands on its line and the lower one hangs: they never meet, and keep off the axis.
        std::uint64_t const y = map.y_of(bytes), x = canvas.end() + 800;
        std::uint64_t const above_y = smaller(y - 1700, map.bottom() - 4000);
        std::uint64_t const below_y = smaller(y + 1100, map.bottom() - 1300);
        std::uint64_t const first = upper ? above_y : below_y;
        canvas.level(line, y, canvas.end() + 600);
        canvas.text(text, x, first) << label << "</text>";
        canvas.text(text, x, first + 1300);
        write_bytes(out, bytes);
        out << "</text>\n";
    }
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/svg_map.ipp>
#endif

#endif
