// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_SVG_CANVAS_HPP
#define SUBLET_REPORTING_DETAIL_SVG_CANVAS_HPP

/// The drawing area of a picture: one time axis, any number of plots above it.
///
///     4 KiB ┤         ┌────────┐
///           │    ┌────┘        │          a plot has its own top, height and scale
///       0 B ┼────┘             └────
///           ┴────┬────┬────┬────┬───      time is the same in all plots
///           0    5   10   15   20
///
/// Lengths are integers in 1/100 pixel and y grows downwards, so the file is the same on every machine.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sublet::detail {

/// length * part / whole, rounded down. Requires: part <= whole, whole >= 1, length < 2^22.
constexpr std::uint64_t portion(std::uint64_t length, std::uint64_t part, std::uint64_t whole)
{
    // A picture cannot show more than 41 bits of an address; this leaves room for the product.
    for (; whole >> 41 != 0; whole >>= 1) part >>= 1;
    return length * part / whole;
}

/// The approximate width of a letter, since the font is unknown.
inline constexpr std::uint64_t svg_char_width = 680;

/// Writes the characters [first, last) of a printable text, with XML's reserved characters as entities.
template <class Out>
void write_escaped(Out& out, std::string_view text, std::size_t first = 0, std::size_t last = ~std::size_t{0})
{
    for (std::size_t begun = 0; char c : text) {
        if (begins_character(c)) ++begun;
        if (begun <= first || begun > last) continue;
        switch (c) {
        case '<': out << "&lt;"; break;
        case '>': out << "&gt;"; break;
        case '&': out << "&amp;"; break;
        default: out << c;
        }
    }
}

/// An area where bytes are drawn upwards from `top + height`. Requires: ceiling >= 1.
struct svg_plot {
    std::uint64_t top, height;
    byte_count ceiling; // bytes at `top`
    std::uint64_t bottom() const { return top + height; }
    std::uint64_t y_of(byte_count at) const { return top + height - portion(height, at, ceiling); }
};

template <text_stream Stream>
struct svg_canvas {
    using px = hundredths;
    static constexpr std::uint64_t left = 7200, right = 8800;

    plain_text<Stream> out;
    std::uint64_t width; // of the plots
    std::uint32_t positions;

    std::uint64_t x_of(position_id position) const { return left + portion(width, position, positions); }
    std::uint64_t end() const { return left + width; }

    plain_text<Stream>& text(char const* style, std::uint64_t x, std::uint64_t y)
    {
        return out << "<text class=\"" << style << "\" x=\"" << px{x} << "\" y=\"" << px{y} << "\">";
    }

    void level(char const* style, std::uint64_t y, std::uint64_t to)
    {
        out << "<path class=\"" << style << "\" d=\"M" << px{left} << ' ' << px{y} << 'H' << px{to} << "\"/>";
    }

    /// The background of a plot, and its scale of bytes at the left.
    void frame(svg_plot const& plot)
    {
        out << "<path class=\"plot\" d=\"M" << px{left} << ' ' << px{plot.top} << 'H' << px{end()} << 'V'
            << px{plot.bottom()} << 'H' << px{left} << "z\"/>\n";
        byte_count bytes = 1; // a power of two, so that tick labels are short
        std::uint64_t const most = plot.height < 12000 ? 2 : plot.height / 6000;
        while (plot.ceiling / bytes > most) bytes *= 2;
        for (byte_count k = 0; k <= plot.ceiling / bytes; ++k) {
            std::uint64_t const y = plot.y_of(k * bytes);
            if (k != 0) level("grid", y, end());
            text("e", left - 700, y + 400);
            if (out.unit != nullptr) out << k * bytes; // as wide as the margin is
            else write_bytes(out, k * bytes);
            out << "</text>\n";
        }
    }

    void time_axis(std::uint64_t bottom)
    {
        std::uint64_t step = 1, next = 2; // 1, 2, 5, 10 and so on
        for (std::uint64_t ten = 1; positions / step > width / 9000; step = next) {
            next = step == ten ? 2 * ten : step == 2 * ten ? 5 * ten : 10 * ten;
            if (next == 10 * ten) ten = next;
        }
        for (std::uint64_t p = 0; p <= positions; p += step) {
            std::uint64_t const x = x_of(position_id::of(p));
            out << "<path class=\"tick\" d=\"M" << px{x} << ' ' << px{bottom} << "v5\"/>";
            text("m", x, bottom + 1800) << p << "</text>\n";
        }
        text("e", end() + right - 1000, bottom + 1800) << "position</text>\n";
    }
};

/// Eleven fills, A to K, and O for the rest: distinguishable with colour blindness, and light enough for the
/// dark text on them, in light and dark mode.
inline constexpr char const* svg_style =
    "<style>text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:11px}\n"
    "text{fill:#565b63}.title{font-size:17px;font-weight:600;fill:#22262b}.k{fill:#22262b}.b{fill:#565b63}\n"
    ".m,.n{text-anchor:middle}.e{text-anchor:end}\n"
    ".page{fill:#fff}.plot{fill:#f3f3ef}.grid{stroke:#dededa}.tick{stroke:#8b9098}.live{fill:#a9b4c4}\n"
    ".n{fill:#1d2126;pointer-events:none}.s,.t{stroke:#fff;stroke-width:.8}.t{stroke-width:.25}\n"
    ".arena,.peak{fill:none;stroke:#3b4048;stroke-width:1.3;pointer-events:none}\n"
    ".peak{stroke:#b3261e;stroke-dasharray:5 4}.mark,.p,.h{fill:#b3261e}.h{font-weight:600}\n"
    ".A{fill:#a1b2f9}.B{fill:#f3d786}.C{fill:#80984f}.D{fill:#e68f98}.E{fill:#5c93cd}.F{fill:#7addff}\n"
    ".G{fill:#49b9c4}.H{fill:#c3ad5c}.I{fill:#b58098}.J{fill:#f5b392}.K{fill:#b4eabf}.O{fill:#c5c8cc}\n"
    "@media (prefers-color-scheme:dark){.page{fill:#16181c}.plot{fill:#22252b}.grid{stroke:#363a42}\n"
    "text{fill:#a9afb8}.title,.k{fill:#e6e8eb}.b{fill:#a9afb8}.n{fill:#1d2126}.s,.t{stroke:#16181c}.arena{"
    "stroke:#d5d8dd}\n"
    ".live{fill:#56616f}.peak{stroke:#e5484d}.mark,.p,.h{fill:#ff7a70}}\n"
    "</style>\n";

} // namespace sublet::detail

#endif
