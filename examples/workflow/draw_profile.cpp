// SPDX-License-Identifier: BSL-1.0
#include "draw_profile.hpp"

#include "amounts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace workflow {
namespace {

using sublet::byte_count;

// In pixels.
constexpr std::size_t width = 900, left = 96, right = 24, top = 78, plot_height = 300;
constexpr std::size_t plot_width = width - left - right, bottom = top + plot_height, height = bottom + 52;

constexpr char const* style =
    "<style>text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px;"
    "fill:#565b63}\n"
    ".title{font-size:17px;font-weight:600;fill:#22262b}.e{text-anchor:end}.m{text-anchor:middle}\n"
    ".page{fill:#fff}.plot{fill:#f6f6f3}.grid{stroke:#dededa}.tick{stroke:#8b9098}\n"
    ".before{fill:#c3ccd8;stroke:#7c8796}.after{fill:none;stroke:#1f5fbf;stroke-width:2}\n"
    ".bound{fill:none;stroke:#b3261e;stroke-width:1.5;stroke-dasharray:6 4}\n"
    "@media (prefers-color-scheme:dark){text{fill:#a9afb8}.title{fill:#e6e8eb}.page{fill:#16181c}\n"
    ".plot{fill:#22252b}.grid{stroke:#363a42}.before{fill:#434c59;stroke:#8b96a5}.after{stroke:#7fb2ff}\n"
    ".bound{stroke:#ff7a70}}\n"
    "</style>\n";

std::string escaped(std::string_view text)
{
    std::string shown;
    for (char c : text) {
        if (c == '<') shown += "&lt;";
        else if (c == '>') shown += "&gt;";
        else if (c == '&') shown += "&amp;";
        else shown += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
    }
    return shown;
}

/// length * part / whole, in hundredths. Requires: part <= whole, whole >= 1.
std::uint64_t portion(std::uint64_t length, std::uint64_t part, std::uint64_t whole)
{
    for (; whole >> 40 != 0; whole >>= 1) part >>= 1; // a picture shows less
    return 100 * length * part / whole;
}

std::string pixels(std::uint64_t hundredths)
{
    std::string text = std::to_string(hundredths / 100);
    std::uint64_t const rest = hundredths % 100;
    if (rest != 0)
        text += '.' + std::to_string(rest / 10) + (rest % 10 == 0 ? "" : std::to_string(rest % 10));
    return text;
}

/// 1, 2 or 5 times a power of ten, or a power of two times one: at most `most` of them are in the whole.
std::uint64_t tick_of(std::uint64_t whole, std::uint64_t most, bool is_binary)
{
    std::uint64_t tick = 1;
    for (std::uint64_t turn = 0; whole / tick > most; ++turn)
        tick = is_binary || turn % 3 != 1 ? 2 * tick : tick / 2 * 5;
    return tick;
}

struct canvas {
    std::ostream& out;
    std::size_t steps;
    byte_count ceiling;

    std::string x_of(std::uint64_t step) const
    {
        return pixels(100 * left + portion(plot_width, step, steps));
    }
    std::string y_of(byte_count bytes) const
    {
        return pixels(100 * bottom - portion(plot_height, bytes, ceiling));
    }

    void text(char const* style_name, std::string const& x, std::string const& y, std::string const& shown)
    {
        out << "<text class=\"" << style_name << "\" x=\"" << x << "\" y=\"" << y << "\">" << escaped(shown)
            << "</text>\n";
    }
    void level(char const* style_name, byte_count bytes)
    {
        out << "<path class=\"" << style_name << "\" d=\"M" << left << ' ' << y_of(bytes) << 'H'
            << left + plot_width << "\"/>\n";
    }

    /// The steps of a profile; closed at 0 bytes if it is an area.
    void profile(char const* style_name, std::vector<byte_count> const& live, bool is_area)
    {
        std::size_t const columns = std::min(steps, plot_width / 2);
        out << "<path class=\"" << style_name << "\" d=\"";
        byte_count before = 0;
        for (std::size_t c = 0; c != columns; ++c) {
            auto const first = live.begin() + static_cast<std::ptrdiff_t>(c * steps / columns);
            auto const last = live.begin() + static_cast<std::ptrdiff_t>((c + 1) * steps / columns);
            byte_count const most = *std::max_element(first, last);
            std::string const x = x_of(c * steps / columns);
            if (c == 0 && is_area) out << 'M' << x << ' ' << y_of(0) << 'V' << y_of(most);
            else if (c == 0) out << 'M' << x << ' ' << y_of(most);
            else if (most != before) out << 'H' << x << 'V' << y_of(most);
            before = most;
        }
        out << 'H' << x_of(steps);
        if (is_area) out << 'V' << y_of(0) << 'z';
        out << "\"/>\n";
    }
};

void draw_axes(canvas& to, std::string const& unit)
{
    to.out << "<path class=\"plot\" d=\"M" << left << ' ' << top << "h" << plot_width << 'v' << plot_height
           << 'H' << left << "z\"/>\n";
    byte_count const tick = tick_of(to.ceiling, 6, unit.empty());
    for (byte_count k = 0; k <= to.ceiling / tick; ++k) {
        byte_count const bytes = k * tick;
        if (k != 0) to.level("grid", bytes);
        std::uint64_t const y = 100 * bottom - portion(plot_height, bytes, to.ceiling);
        to.text("e", std::to_string(left - 8), pixels(y + 400), amount(bytes, unit));
    }
    std::uint64_t const step = tick_of(to.steps, 10, false);
    for (std::uint64_t at = 0; at <= to.steps; at += step) {
        to.out << "<path class=\"tick\" d=\"M" << to.x_of(at) << ' ' << bottom << "v5\"/>\n";
        to.text("m", to.x_of(at), std::to_string(bottom + 20), std::to_string(at));
    }
    to.text("m", std::to_string(left + plot_width / 2), std::to_string(bottom + 42), "steps that have run");
}

/// One row under the title: a sample and a name each.
void draw_legend(canvas& to, profiles const& p)
{
    std::size_t x = left;
    auto entry = [&](char const* style_name, bool is_area, std::string const& name, byte_count peak) {
        to.out << "<path class=\"" << style_name << "\" d=\"M" << x << ' ' << (is_area ? 50 : 55)
               << (is_area ? "h22v10h-22z" : "h22") << "\"/>\n";
        std::string const shown = name + ": " + amount(peak, p.unit);
        to.text("k", std::to_string(x + 28), "59", shown);
        x += 52 + 7 * shown.size();
    };
    entry("before", true, p.before_name, *std::max_element(p.before.begin(), p.before.end()));
    entry("after", false, p.after_name, *std::max_element(p.after.begin(), p.after.end()));
    entry("bound", false, "no order needs less than", p.bound);
}

} // namespace

void draw_profiles(std::ostream& out, profiles const& p)
{
    byte_count most = std::max<byte_count>(p.bound, 1);
    for (auto const* live : {&p.before, &p.after})
        most = std::max(most, *std::max_element(live->begin(), live->end()));
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" << width << "\" height=\""
        << height << "\" viewBox=\"0 0 " << width << ' ' << height << "\">\n<title>" << escaped(p.title)
        << "</title>\n"
        << style << "<path class=\"page\" d=\"M0 0H" << width << 'V' << height << "H0z\"/>\n";
    byte_count const above = std::min(most / 20, ~byte_count{0} - most);
    canvas to{out, p.before.size(), most + above};
    to.text("title", std::to_string(left), "30", p.title);
    draw_legend(to, p);
    draw_axes(to, p.unit);
    to.profile("before", p.before, true);
    to.profile("after", p.after, false);
    to.level("bound", p.bound);
    out << "</svg>\n";
}

} // namespace workflow
