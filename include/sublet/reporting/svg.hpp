// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_SVG_HPP
#define SUBLET_REPORTING_SVG_HPP

/// A plan as a picture: time from left to right, addresses from bottom to top, one rectangle a buffer.
///
///     arena ─┬───────────────────────      the top of what is allocated
///            │ ┌──────┐   ┌───────┐
///     peak  ╌│╌│ b    │╌╌╌│ d     │╌╌      most bytes alive at once: no plan in this order needs less
///            │┌┴───┬──┴───┴──┬────┘
///            ││ a  │    c    │             e.g. c moved in where a had moved out
///            └┴────┴─────────┴────────
///                   ▲ position
///
/// Each pool has a panel and a scale of its own; time is the same in all. Point at a rectangle to read what
/// it is; large ones carry their name. All is computed in integers: the file is the same on every machine.

#include <sublet/contract.hpp>
#include <sublet/live_range.hpp>
#include <sublet/plan.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/text.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sublet {

struct svg_options {
    std::uint32_t width = 1000; ///< of the picture, in pixels: 320 to 32768
    std::uint32_t height = 420; ///< of the addresses of each pool, in pixels: 60 to 32768
    std::string_view title = "Memory plan";
};

namespace detail {

/// length * part / whole, rounded down. Requires: part <= whole, whole >= 1, length < 2^22.
constexpr std::uint64_t portion(std::uint64_t length, std::uint64_t part, std::uint64_t whole)
{
    // 41 bits of an address are more than a picture can show, and leave room for the product.
    for (; whole >> 41 != 0; whole >>= 1) part >>= 1;
    return length * part / whole;
}

/// A printable text without its first characters, and with the three that XML reserves written as entities.
template <class Out>
void write_escaped(Out& out, std::vector<char> const& text, std::size_t left_out = 0)
{
    for (std::size_t begun = 0; char c : text) {
        bool const continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
        begun += continues ? 0 : 1;
        if (begun <= left_out) continue;
        switch (c) {
        case '<': out << "&lt;"; break;
        case '>': out << "&gt;"; break;
        case '&': out << "&amp;"; break;
        default: out << c;
        }
    }
}

/// The buffers of one pool, and what is said about them.
struct svg_panel {
    std::span<placed_buffer const* const> buffers;
    pool_id pool = 0;
    byte_count arena = 0;
    byte_count peak = 0;
    step_id peak_position = 0; // the first at which `peak` bytes are alive
    byte_count ceiling = 0;    // the highest address of the picture; above the arena in unsound plans only
};

/// By function pointer: one sort is compiled for all orders.
template <std::same_as<placed_buffer const*> B>
void sort_buffers(std::vector<B>& buffers, bool (*before)(placed_buffer const*, placed_buffer const*))
{
    std::sort(buffers.begin(), buffers.end(), before);
}

template <std::same_as<memory_plan> P>
svg_panel panel_of(P const& plan, std::span<placed_buffer const* const> buffers)
{
    svg_panel panel{.buffers = buffers, .pool = buffers.front()->pool};
    std::vector<placed_buffer const*> born, dying;
    for (placed_buffer const* b : buffers) {
        byte_count const end = sum_fits(b->offset, b->size) ? b->offset + b->size : no_offset - 1;
        panel.ceiling = std::max(panel.ceiling, end);
        if (is_empty(b->life)) continue;
        born.push_back(b);
        dying.push_back(b);
    }
    sort_buffers(born, [](auto a, auto b) { return a->life.first < b->life.first; });
    sort_buffers(dying, [](auto a, auto b) { return a->life.last < b->life.last; });
    byte_count alive = 0; // among equals the order does not matter: only their sum can be a peak
    for (auto dead = dying.begin(); placed_buffer const* b : born) {
        for (; (*dead)->life.last <= b->life.first; ++dead) alive -= (*dead)->size;
        alive = checked_add(alive, b->size);
        if (alive > panel.peak) panel.peak = alive, panel.peak_position = b->life.first;
    }
    panel.arena = panel.pool < plan.arena_bytes.size() ? plan.arena_bytes[panel.pool] : panel.ceiling;
    panel.ceiling = std::max({panel.ceiling, panel.arena, panel.peak});
    return panel;
}

/// Writes the panels below each other. Lengths are in 1/100 pixel, y grows downwards.
template <class Stream, class Names>
class svg_painter {
public:
    static constexpr std::uint64_t left = 7200, right = 8800, above = 5000, below = 3600, title_room = 3200;

    svg_painter(Stream& out, Names& name_of, std::uint64_t width, std::uint64_t height, step_id positions)
        : out_{out}, name_of_(name_of), width_(width - left - right), height_(height), positions_(positions)
    {
    }

    void paint(svg_panel const& panel, bool one_of_many)
    {
        top_ = next_top_ + above;
        next_top_ = top_ + height_ + below;
        ceiling_ = panel.ceiling;
        paint_heading(panel, one_of_many);
        paint_axes();
        out_ << "<g>\n";
        for (placed_buffer const* b : panel.buffers) paint_buffer(*b);
        out_ << "</g>\n";
        paint_limits(panel);
    }

private:
    using px = hundredths;

    std::uint64_t x_of(step_id position) const { return left + portion(width_, position, positions_); }
    std::uint64_t y_of(byte_count at) const { return top_ + height_ - portion(height_, at, ceiling_); }

    void paint_heading(svg_panel const& panel, bool one_of_many)
    {
        out_ << "<text x=\"" << px{left} << "\" y=\"" << px{top_ - 3500} << "\">";
        if (one_of_many) out_ << "pool " << panel.pool << ": ";
        out_ << panel.buffers.size() << (panel.buffers.size() == 1 ? " buffer in " : " buffers in ");
        write_bytes(out_, panel.arena);
        if (panel.arena == panel.peak) out_ << ", equal to the lower bound";
        if (panel.peak != 0 && panel.arena > panel.peak && panel.arena / panel.peak < 1000) {
            std::uint64_t const whole = 4'000'000;
            std::uint64_t const unused = portion(whole, panel.arena - panel.peak, panel.arena);
            out_ << ", " << px{(10'000 * unused + (whole - unused) / 2) / (whole - unused)}
                 << " % above the lower bound";
        }
        out_ << "</text>\n";
    }

    void paint_axes()
    {
        std::uint64_t const bottom = top_ + height_, end = left + width_;
        out_ << "<path class=\"plot\" d=\"M" << px{left} << ' ' << px{top_} << 'H' << px{end} << 'V'
             << px{bottom} << 'H' << px{left} << "z\"/>\n";

        byte_count bytes = 1; // a power of two, so that every tick is a short number
        while (ceiling_ / bytes > std::max<std::uint64_t>(height_ / 6000, 2)) bytes *= 2;
        for (byte_count k = 0; k <= ceiling_ / bytes; ++k) {
            std::uint64_t const y = y_of(k * bytes);
            if (k != 0) paint_level("grid", y, end);
            paint_text("e", left - 700, y + 400);
            write_bytes(out_, k * bytes);
            out_ << "</text>\n";
        }

        std::uint64_t step = 1, next = 2; // 1, 2, 5, 10 ...
        for (std::uint64_t ten = 1; positions_ / step > width_ / 9000; step = next) {
            next = step == ten ? 2 * ten : step == 2 * ten ? 5 * ten : 10 * ten;
            if (next == 10 * ten) ten = next;
        }
        for (std::uint64_t p = 0; p <= positions_; p += step) {
            std::uint64_t const x = x_of(static_cast<step_id>(p));
            out_ << "<path class=\"tick\" d=\"M" << px{x} << ' ' << px{bottom} << "v5\"/>";
            paint_text("m", x, bottom + 1800) << p << "</text>\n";
        }
        paint_text("e", end + right - 1000, bottom + 1800) << "position</text>\n";
    }

    void paint_buffer(placed_buffer const& b)
    {
        // What is too small to see still has to be there to be pointed at in an enlargement.
        byte_count const end = sum_fits(b.offset, b.size) ? b.offset + b.size : ceiling_;
        std::uint64_t const x = x_of(b.life.first), y = y_of(end);
        std::uint64_t const w = std::max<std::uint64_t>(is_empty(b.life) ? 0 : x_of(b.life.last) - x, 25);
        std::uint64_t const h = std::max<std::uint64_t>(y_of(b.offset) - y, 25);
        read_name(name_, name_of_, b.root);
        std::size_t const characters = keep_printable(name_);

        out_ << "<rect class=\"" << static_cast<char>('A' + painted_++ * 5 % 12);
        if (w >= 300 && h >= 300) out_ << " s";
        out_ << "\" x=\"" << px{x} << "\" y=\"" << px{y} << "\" width=\"" << px{w} << "\" height=\"" << px{h}
             << "\"><title>";
        write_escaped(out_, name_);
        out_ << ": positions [" << b.life.first << ", " << b.life.last << "), " << b.size << " bytes at "
             << b.offset << "</title></rect>\n";

        std::uint64_t const across = h < 1400 ? 0 : (w - std::min<std::uint64_t>(w, 600)) / 680;
        std::uint64_t const upwards = w < 1400 ? 0 : (h - std::min<std::uint64_t>(h, 600)) / 680;
        bool const turned = across < characters && h > w;
        std::uint64_t const room = turned ? upwards : across;
        if (characters == 0 || (room < characters && room < 8)) return;
        std::uint64_t const center = x + w / 2, middle = y + h / 2;
        out_ << "<text class=\"n\" x=\"" << px{center} << "\" y=\"" << px{middle + 400};
        if (turned) out_ << "\" transform=\"rotate(-90 " << px{center} << ' ' << px{middle} << ')';
        out_ << "\">";
        // The end of a long name tells more than its beginning: the layers of a network share prefixes.
        if (room < characters) out_ << "…";
        write_escaped(out_, name_, room < characters ? characters + 1 - static_cast<std::size_t>(room) : 0);
        out_ << "</text>\n";
    }

    void paint_limits(svg_panel const& panel)
    {
        paint_limit("arena", "a", "arena", panel.arena, panel.arena >= panel.peak);
        if (panel.peak == 0) return;
        paint_limit("peak", "p", "lower bound", panel.peak, panel.arena < panel.peak);

        step_id const position = panel.peak_position;
        std::uint64_t const at = (x_of(position) + x_of(position + 1)) / 2;
        out_ << "<path class=\"peak\" d=\"M" << px{at} << ' ' << px{top_ - 400} << 'V' << px{top_ + height_}
             << "\"/><path class=\"mark\" d=\"M" << px{at} << ' ' << px{top_ - 200} << "l-4.5 -7h9z\"/>";
        // A label that would leave the plot at one side is held at the mark by that side.
        char const* const held = at < left + 9000 ? "h b" : at + 9000 > left + width_ ? "h e" : "h m";
        paint_text(held, at, top_ - 1400) << "peak ";
        write_bytes(out_, panel.peak);
        out_ << " at " << position << "</text>\n";
    }

    void paint_limit(char const* line, char const* text, char const* label, byte_count bytes, bool upper)
    {
        // The upper label stands on its line and the lower one hangs: they never meet, and keep off the axis.
        std::uint64_t const y = y_of(bytes), x = left + width_ + 800, bottom = top_ + height_;
        std::uint64_t const above_y = std::min(y - 1700, bottom - 4000);
        std::uint64_t const below_y = std::min(y + 1100, bottom - 1300);
        std::uint64_t const first = upper ? above_y : below_y;
        paint_level(line, y, left + width_ + 600);
        paint_text(text, x, first) << label << "</text>";
        paint_text(text, x, first + 1300);
        write_bytes(out_, bytes);
        out_ << "</text>\n";
    }

    void paint_level(char const* line, std::uint64_t y, std::uint64_t end)
    {
        out_ << "<path class=\"" << line << "\" d=\"M" << px{left} << ' ' << px{y} << 'H' << px{end}
             << "\"/>";
    }

    plain_text<Stream>& paint_text(char const* text, std::uint64_t x, std::uint64_t y)
    {
        return out_ << "<text class=\"" << text << "\" x=\"" << px{x} << "\" y=\"" << px{y} << "\">";
    }

    plain_text<Stream> out_;
    Names& name_of_;
    std::vector<char> name_;
    std::uint64_t width_, height_; // of the plot
    step_id positions_;
    std::uint64_t next_top_ = title_room, top_ = 0;
    byte_count ceiling_ = 1;
    std::uint64_t painted_ = 0;
};

/// Calm fills of three lightnesses, told apart in print too. Buffers take every fifth of the twelve in turn.
inline constexpr char const* svg_style =
    "<style>text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:11px}\n"
    "text{fill:#565b63}.title{font-size:17px;font-weight:600;fill:#22262b}\n"
    ".m,.n{text-anchor:middle}.e{text-anchor:end}\n"
    ".page{fill:#fff}.plot{fill:#f3f3ef}.grid{stroke:#dededa}.tick{stroke:#8b9098}\n"
    ".n{fill:#1d2126;pointer-events:none}.s{stroke:#fff;stroke-width:.8}\n"
    ".arena,.peak{fill:none;stroke:#3b4048;stroke-width:1.3;pointer-events:none}\n"
    ".peak{stroke:#b3261e;stroke-dasharray:5 3}.mark,.p,.h{fill:#b3261e}.h{font-weight:600}\n"
    ".A{fill:#94c2f3}.B{fill:#da8f74}.C{fill:#9fdfda}.D{fill:#e4a9cf}.E{fill:#90b16d}.F{fill:#c8cdfc}\n"
    ".G{fill:#e1b581}.H{fill:#51b3d0}.I{fill:#f8c0c7}.J{fill:#8dcfab}.K{fill:#b893d4}.L{fill:#dad3a2}\n"
    "@media (prefers-color-scheme:dark){.page{fill:#16181c}.plot{fill:#22252b}.grid{stroke:#363a42}\n"
    "text{fill:#a9afb8}.title{fill:#e6e8eb}.n{fill:#1d2126}.s{stroke:#16181c}.arena{stroke:#d5d8dd}\n"
    ".peak{stroke:#ff7a70}.mark,.p,.h{fill:#ff7a70}}\n"
    "</style>\n";

} // namespace detail

/// Draw the plan: a complete SVG document of its own.
///
/// Requires:   options within the limits that `svg_options` states.
/// Ensures:    one `rect` for each buffer that has bytes and an offset, and no other `rect`. The peak of a
///             pool is marked at the first position at which most bytes are alive. In names and title,
///             control characters are left out and bytes that are not UTF-8 become '?'. A plan that is not
///             sound is drawn as it is. Equal plans, names and options give equal bytes.
/// Complexity: O(n log n + output), the output linear in n buffers; `name_of` is called once for each.
/// Throws:     precondition_error for options out of their limits, or if the bytes alive at once exceed 64
///             bits; whatever the stream and `name_of` throw; std::bad_alloc.
template <text_stream Stream, name_function Names>
Stream& write_svg(Stream& out, memory_plan const& plan, Names name_of, svg_options options = {})
{
    SUBLET_EXPECTS(options.width >= 320 && options.width <= 32768,
                   "sublet: the width of a picture is 320 to 32768 pixels");
    SUBLET_EXPECTS(options.height >= 60 && options.height <= 32768,
                   "sublet: the height of a pool is 60 to 32768 pixels");
    using painter = detail::svg_painter<Stream, Names>;

    std::vector<placed_buffer const*> drawn;
    step_id positions = 1;
    for (placed_buffer const& b : plan.buffers) {
        if (b.size == 0 || b.offset == no_offset) continue;
        drawn.push_back(&b);
        positions = std::max({positions, b.life.first, b.life.last});
    }
    detail::sort_buffers(drawn,
                         [](auto a, auto b) { return a->pool != b->pool ? a->pool < b->pool : a < b; });
    std::vector<detail::svg_panel> panels;
    for (auto first = drawn.begin(); first != drawn.end();) {
        pool_id const pool = (*first)->pool;
        auto const last = std::find_if(first, drawn.end(), [pool](auto b) { return b->pool != pool; });
        panels.push_back(detail::panel_of(plan, {&*first, static_cast<std::size_t>(last - first)}));
        first = last;
    }

    std::uint64_t const width = std::uint64_t{100} * options.width;
    std::uint64_t const height = std::uint64_t{100} * options.height;
    std::uint64_t const panel_height = painter::above + height + painter::below;
    detail::hundredths const all{panels.empty() ? 7000 : painter::title_room + panels.size() * panel_height};
    std::vector<char> title(options.title.begin(), options.title.end());
    detail::keep_printable(title);

    detail::plain_text<Stream> text{out};
    text << "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" << options.width
         << "\" height=\"" << all << "\" viewBox=\"0 0 " << options.width << ' ' << all << "\">\n<title>";
    detail::write_escaped(text, title);
    text << "</title>\n<desc>" << drawn.size() << " buffers over " << (panels.empty() ? 0 : positions)
         << " positions";
    for (detail::svg_panel const& panel : panels)
        text << "; pool " << panel.pool << ": arena of " << panel.arena << " bytes, peak of " << panel.peak
             << " bytes at position " << panel.peak_position;
    text << "</desc>\n"
         << detail::svg_style << "<path class=\"page\" d=\"M0 0H" << options.width << 'V' << all
         << "H0z\"/>\n"
         << "<text class=\"title\" x=\"72\" y=\"27\">";
    detail::write_escaped(text, title);
    text << "</text>\n";
    if (panels.empty())
        text << "<text x=\"72\" y=\"50\">Nothing to draw: no buffer has bytes and an offset.</text>\n";
    painter paint(out, name_of, width, height, positions);
    for (detail::svg_panel const& panel : panels) paint.paint(panel, panels.size() != 1);
    text << "</svg>\n";
    return out;
}

/// The same with the ids of the root values for names.
template <text_stream Stream>
Stream& write_svg(Stream& out, memory_plan const& plan, svg_options options = {})
{
    return write_svg(out, plan, detail::own_id{}, options);
}

} // namespace sublet

#endif
