// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_SVG_MAP_HPP
#define SUBLET_REPORTING_DETAIL_SVG_MAP_HPP

/// Computes the parts of a memory map in SVG from the buffers of a plan: kinds with colours and legend, the
/// live bytes as a curve, and a rectangle of live range by addresses for each buffer of a pool. Kinds and
/// curve take O(n log n) for n buffers, however many positions there are; the curve never loses the peak.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/svg_canvas.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// --- svg kinds -------------------------------------------------------------------------------------------

/// The kinds of operation that produce the buffers, each with a colour and a share of the picture.
///
///     buffer   kind   size   life      byte-steps
///       0      Conv    64    [0, 4)       256       A  Conv  80 %
///       1      Relu    16    [1, 3)        32       B  Relu  20 %
///       2      Relu    16    [3, 5)        32
///
/// A byte held for one step is a byte-step, an area in the picture. Rare kinds share one grey.

namespace sublet::detail {

/// The kinds of some buffers, the one with the most byte-steps first.
struct buffer_kinds {
    struct kind {
        std::size_t first, last, characters; ///< of its name, in `text`
        std::uint64_t byte_steps;
    };
    std::vector<char> text;
    std::vector<kind> kinds;
    std::vector<std::uint32_t> kind_of; ///< by buffer
    std::uint64_t byte_steps = 0;       ///< of all

    std::string_view name_of(std::size_t k) const
    {
        return {text.data() + kinds[k].first, kinds[k].last - kinds[k].first};
    }
};

/// Asks for the kind of each buffer's root and sorts the kinds.
///
/// Ensures:    the names are printable (see names.hpp), and kinds with the same printed name are one. Kinds
///             with equal byte-steps stay in the order of their first buffers. If the byte-steps exceed 64
///             bits, sizes are counted in the smallest power of two with which they fit.
/// Complexity: O(n log n) comparisons of names, n = buffers; a kind is asked for once per buffer.
/// Throws:     whatever `kind_of` throws; std::bad_alloc.
[[nodiscard]] buffer_kinds kinds_of(std::vector<memory_plan::placed_buffer const*> const& buffers,
                                    names_of<value_id> const& kind_of);

/// How many kinds have their own colour; the others come last.
inline constexpr std::size_t svg_colors = 11;

struct svg_legend {
    static constexpr std::uint64_t row = 1800, swatch = 1600, head = 2200, longest = 24; // letters of a kind
    std::size_t entries;
    std::uint64_t columns, cell; // cell: from one entry to the next
    std::uint64_t height() const
    {
        return entries == 0 ? 0 : head + (entries + columns - 1) / columns * row + 600;
    }
};

svg_legend legend_of(buffer_kinds const& all, std::uint64_t width);

template <class Stream>
void draw_legend(svg_canvas<Stream>& canvas, svg_legend legend, buffer_kinds const& all, std::uint64_t top)
{
    using px = hundredths;
    if (legend.entries == 0) return;
    std::uint64_t rest = all.byte_steps;
    canvas.text("b", canvas.left, top + 600)
        << "kind and its share of " << canvas.out.units() << " × positions</text>\n";
    for (std::size_t k = 0; k != legend.entries; ++k) {
        std::uint64_t const x = canvas.left + k % legend.columns * legend.cell;
        std::uint64_t const y = top + legend.head + k / legend.columns * legend.row;
        bool const own = k != svg_colors;
        canvas.out << "<path class=\"" << static_cast<char>(own ? 'A' + k : 'O') << "\" d=\"M" << px{x} << ' '
                   << px{y} << "h10v10h-10z\"/>";
        canvas.text("k", x + legend.swatch, y + 900);
        if (!own) {
            std::size_t const others = all.kinds.size() - svg_colors;
            canvas.out << others << (others == 1 ? " other kind" : " other kinds");
        } else if (all.kinds[k].characters > legend.longest) {
            write_escaped(canvas.out, all.name_of(k), 0, legend.longest - 1);
            canvas.out << "…";
        } else {
            if (all.kinds[k].characters == 0) canvas.out << "unnamed";
            write_escaped(canvas.out, all.name_of(k));
        }
        std::uint64_t const steps = own ? all.kinds[k].byte_steps : rest;
        rest -= steps;
        std::uint64_t const whole = larger<std::uint64_t>(all.byte_steps, 1);
        std::uint64_t const tenths = (portion(2000, steps, whole) + 1) / 2; // rounded, of a percent
        canvas.out << " <tspan class=\"b\">" << (tenths == 0 && steps != 0 ? "&lt;" : "")
                   << px{larger<std::uint64_t>(10 * tenths, steps == 0 ? 0 : 10)} << " %</tspan></text>\n";
    }
}

// --- svg profile -----------------------------------------------------------------------------------------

/// The number of live bytes at each position, as a curve below the memory map.
///
///     arena ──────────────────────      a plan's address space
///     peak  ╌╌╌┌─┐╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌      the most bytes live at once
///            ┌─┘▒│  ┌────┐
///           ┌┘▒▒▒└──┘▒▒▒▒└─┐            between curve and arena: unused bytes
///           ┴──────────────┴─────
///
/// Changes of the level are stored, at most two per buffer. A column of pixels shows its highest level.

/// The live bytes from this position up to that of the next level.
struct live_level {
    position_id position;
    byte_count bytes;
    friend bool operator==(live_level const&, live_level const&) = default;
};

struct live_profile {
    std::vector<live_level> levels; ///< neighbours differ; the last is of 0 bytes
    byte_count peak = 0;
    position_id peak_position = 0; ///< the first with `peak` live bytes
};

/// Ensures:    no byte is live before the first level. Buffers of 0 bytes or with an empty life do not count.
/// Complexity: O(n log n) time, O(n) memory, n = buffers.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are live at once; std::bad_alloc.
[[nodiscard]] live_profile profile_of(std::vector<memory_plan::placed_buffer const*> const& buffers);

/// The profile in `columns` columns: each has the highest level of the positions that begin in it. The
/// positions in the result are columns.
///
/// Requires:   no level is beyond `positions`; positions >= 1, 1 <= columns < 2^22.
/// Ensures:    the maximum is that of the profile. Neighbours differ; at most 1 + `columns` levels.
/// Complexity: O(levels + columns).
[[nodiscard]] std::vector<live_level> highest_by_column(std::vector<live_level> const& levels,
                                                        std::uint32_t columns, std::uint32_t positions);

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
        if (y == drawn) continue; // a change of bytes, but not of pixels
        std::uint64_t const x =
            merged ? canvas.left + 100 * std::uint64_t{level.position} : canvas.x_of(level.position);
        if (drawn == plot.bottom()) canvas.out << 'M' << px{x} << ' ' << px{drawn};
        else canvas.out << 'H' << px{x};
        canvas.out << 'V' << px{drawn = y};
    }
    canvas.out << "\"/>\n";
}

// --- svg map ---------------------------------------------------------------------------------------------

/// The panel of one pool: its memory map, and its profile below.
///
///     12 buffers in 9.19 MiB, equal to the lower bound
///             ▼ peak 9.19 MiB at 13
///     ┌───────┆──┬──────────┐ arena
///     │ conv1 ┆  │   relu   │ lower bound      one rectangle per buffer: its live range by its addresses
///     └───────┆──┴──────────┘
///     ▂▆▄▄▆███┆██▄▂▂▂▂▄▂▂▂▂▂▂ live bytes       the profile
///     0          10         20

struct svg_panel {
    std::size_t first = 0, last = 0; // range of the drawn buffers
    pool_id pool = 0;
    byte_count arena = 0;
    byte_count ceiling = 0; // the highest address drawn; above the arena in invalid plans only
    live_profile live = {};
    bool every_schedule = false; // what is alive in the plan's order is then no bound
};

/// The number of buffers in [first, last): consecutive parts with the same root count as one.
std::size_t count_buffers(std::vector<memory_plan::placed_buffer const*> const& drawn, std::size_t first,
                          std::size_t last);

svg_panel panel_of(memory_plan const& plan, std::vector<memory_plan::placed_buffer const*> const& drawn,
                   std::size_t first);

/// What a buffer has to do with the rounds before and after this one.
struct svg_round {
    plan_options::carry leaves = {}; ///< its value `from` is for the next round, if there is one
    plan_options::carry finds = {};  ///< its value `to` is of the round before
    bool leaves_elsewhere = false;   ///< the two of `leaves` have two places, and change them
    bool finds_elsewhere = false;
    position_id ends = no_position;  ///< in the next round, where the rest of it lives
    position_id began = no_position; ///< in the round before
};

/// The plan with lives that end behind the period in two parts, the second one at the begin of the round.
[[nodiscard]] memory_plan in_one_round(memory_plan const& plan, position_id period,
                                       table<buffer_id, svg_round>& rounds);

/// Throws: precondition_error if the plan has no such value.
void add_carried(memory_plan const& plan, std::vector<plan_options::carry> const& carried,
                 table<buffer_id, svg_round>& rounds);

template <class Stream>
struct svg_painter {
    static constexpr std::uint64_t above = 5000, gap = 1800, below = 3600;
    using px = hundredths;

    svg_canvas<Stream>& canvas;
    names_of<value_id> const& names;
    buffer_kinds const& kinds;
    std::vector<memory_plan::placed_buffer const*> const& drawn;
    memory_plan const& plan;
    table<buffer_id, svg_round> const& rounds; // by buffer of the plan; none, if it has no rounds
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
                << "live " << out.units() << "</text>\n";
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
    /// The x of the mark for the peak; the left edge if there is no peak.
    std::uint64_t mark_of(svg_panel const& panel) const
    {
        position_id const at = panel.live.peak_position;
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
        if (panel.every_schedule) out << ", for every schedule";
        else if (arena == peak) out << ", equal to the lower bound";
        else if (peak != 0 && arena > peak && arena / peak < 1000) {
            std::uint64_t const whole = 4'000'000;
            std::uint64_t const unused = portion(whole, arena - peak, arena);
            out << ", " << px{(10'000 * unused + (whole - unused) / 2) / (whole - unused)}
                << " % above the lower bound";
        }
        out << "</text>\n";
    }

    void paint_buffer(std::size_t i, std::size_t number, svg_plot const& map, std::uint64_t mark)
    {
        // A buffer too small to see is drawn with a minimum size, for enlargements and tooltips.
        memory_plan::placed_buffer const& b = *drawn[i];
        byte_count const end = sum_fits(b.offset, b.size) ? b.offset + b.size : map.ceiling;
        std::uint64_t const x = canvas.x_of(b.life.first), y = map.y_of(end);
        std::uint64_t const w =
            larger<std::uint64_t>(is_empty(b.life) ? 0 : canvas.x_of(b.life.last) - x, 25);
        std::uint64_t const h = larger<std::uint64_t>(map.y_of(b.offset) - y, 25);
        names.read(name, b.root);
        std::size_t const characters = keep_printable(name);
        std::string_view const text(name.data(), name.size());

        bool const kindless = kinds.kinds.empty();
        std::size_t const color = kindless ? number % svg_colors : kinds.kind_of[i];
        out << "<rect class=\"" << (color < svg_colors ? static_cast<char>('A' + color) : 'O');
        std::uint64_t const shorter_side = smaller(w, h);
        if (shorter_side >= 100) out << (shorter_side >= 300 ? " s" : " t");
        out << "\" x=\"" << px{x} << "\" y=\"" << px{y} << "\" width=\"" << px{w} << "\" height=\"" << px{h}
            << "\"><title>";
        write_escaped(out, text);
        if (!kindless && kinds.kinds[kinds.kind_of[i]].characters != 0) {
            out << " (";
            write_escaped(out, kinds.name_of(kinds.kind_of[i]));
            out << ')';
        }
        out << ": positions [" << b.life.first << ", " << b.life.last << "), " << b.size << ' ' << out.units()
            << " at " << b.offset << "</title></rect>\n";
        if (!rounds.empty())
            paint_rounds(rounds[buffer_id::of(static_cast<std::size_t>(&b - plan.buffers.data()))], b.root, x,
                         x + w, y + h / 2, smaller<std::uint64_t>(smaller(w, h) / 2, 500));

        // The name is placed on the wider side of the peak's line, if the line crosses the rectangle.
        std::uint64_t from = x, to = x + w;
        if (from < mark && mark < to) (mark - from < to - mark ? from : to) = mark;
        std::uint64_t const wide = to - from;
        std::uint64_t const across =
            h < 1400 ? 0 : (wide - smaller<std::uint64_t>(wide, 1000)) / svg_char_width;
        std::uint64_t const upwards =
            wide < 1400 ? 0 : (h - smaller<std::uint64_t>(h, 1000)) / svg_char_width;
        bool const rotated = across < characters && h > wide;
        std::uint64_t const max_characters = rotated ? upwards : across;
        if (characters == 0 || (max_characters < characters && max_characters < 8)) return;
        std::uint64_t const center = from + wide / 2, middle = y + h / 2;
        out << "<text class=\"n\" x=\"" << px{center} << "\" y=\"" << px{middle + 400};
        if (rotated) out << "\" transform=\"rotate(-90 " << px{center} << ' ' << px{middle} << ')';
        out << "\">";
        // The end of a long name is kept: names in a network share prefixes.
        if (max_characters < characters) out << "…";
        write_escaped(out, text,
                      max_characters < characters ? characters + 1 - static_cast<std::size_t>(max_characters)
                                                  : 0);
        out << "</text>\n";
    }

    /// An arrow over each border of the round that contents cross, or two, up and down, where places change.
    void paint_rounds(svg_round const& its, value_id root, std::uint64_t left, std::uint64_t right,
                      std::uint64_t middle, std::uint64_t half)
    {
        std::vector<char> its_name;
        auto write_name = [&](value_id v) {
            names.read(its_name, v);
            keep_printable(its_name);
            write_escaped(out, {its_name.data(), its_name.size()});
        };
        auto begin_mark = [&](std::uint64_t x, bool moves, value_id first) {
            out << "<path class=\"k\" d=\"M" << px{x - half} << ' ';
            if (moves)
                out << px{middle - 100} << 'L' << px{x} << ' ' << px{middle - 100 - half} << 'L'
                    << px{x + half} << ' ' << px{middle - 100} << "zM" << px{x - half} << ' '
                    << px{middle + 100} << 'L' << px{x} << ' ' << px{middle + 100 + half} << 'L'
                    << px{x + half} << ' ' << px{middle + 100};
            else
                out << px{middle - half} << 'L' << px{x + half} << ' ' << px{middle} << 'L' << px{x - half}
                    << ' ' << px{middle + half};
            out << "z\"><title>";
            write_name(first);
        };
        char const* const end = "</title></path>\n";
        if (its.began != no_position) {
            begin_mark(left, false, root);
            out << " began in the round before, at position " << its.began << end;
        }
        if (its.ends != no_position) {
            begin_mark(right, false, root);
            out << " lives on in the next round, before position " << its.ends << end;
        }
        if (its.finds.to != no_value) {
            begin_mark(left, its.finds_elsewhere, its.finds.to);
            out << " is what the round before left in ";
            write_name(its.finds.from);
            out << (its.finds_elsewhere ? ", which lay here" : "") << end;
        }
        if (its.leaves.from != no_value) {
            begin_mark(right, its.leaves_elsewhere, its.leaves.from);
            out << " is what the next round finds in ";
            write_name(its.leaves.to);
            out << (its.leaves_elsewhere ? ", which lies here then" : "") << end;
        }
    }

    void paint_limits(svg_panel const& panel, svg_plot const& map, std::uint64_t bottom)
    {
        byte_count const arena = panel.arena, peak = panel.live.peak;
        paint_limit("arena", "a", "arena", "", arena, map, arena >= peak);
        if (peak == 0) return;
        bool const is_bound = !panel.every_schedule;
        paint_limit("peak", "p", is_bound ? "lower bound" : "live ", is_bound ? "" : out.units(), peak, map,
                    arena < peak);

        std::uint64_t const at = mark_of(panel);
        out << "<path class=\"peak\" d=\"M" << px{at} << ' ' << px{map.top - 400} << 'V' << px{bottom}
            << "\"/><path class=\"mark\" d=\"M" << px{at} << ' ' << px{map.top - 200} << "l-4.5 -7h9z\"/>";
        // A label that would leave the plot on one side is anchored to the mark by that side.
        char const* const style = at < canvas.left + 9000 ? "h b" : at + 9000 > canvas.end() ? "h e" : "h m";
        canvas.text(style, at, map.top - 1400) << "peak ";
        write_bytes(out, peak);
        out << " at " << panel.live.peak_position << "</text>\n";
    }

    void paint_limit(char const* line, char const* text, char const* label, char const* label_end,
                     byte_count bytes, svg_plot const& map, bool upper)
    {
        // The upper label is above its line and the lower one below: they never overlap, and avoid the axis.
        std::uint64_t const y = map.y_of(bytes), x = canvas.end() + 800;
        std::uint64_t const above_y = smaller(y - 1700, map.bottom() - 4000);
        std::uint64_t const below_y = smaller(y + 1100, map.bottom() - 1300);
        std::uint64_t const first = upper ? above_y : below_y;
        canvas.level(line, y, canvas.end() + 600);
        canvas.text(text, x, first) << label << label_end << "</text>";
        canvas.text(text, x, first + 1300);
        write_bytes(out, bytes);
        out << "</text>\n";
    }
};

/// The buffers of the plan that have bytes and an offset, grouped by pool.
std::vector<memory_plan::placed_buffer const*> drawn_buffers(memory_plan const& plan);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/svg_map.ipp>
#endif

#endif
