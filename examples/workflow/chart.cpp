// SPDX-License-Identifier: BSL-1.0
#include "chart.hpp"

#include "amounts.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

namespace workflow {
namespace {

using sublet::byte_count;

constexpr std::size_t height = chart::bottom + 52;

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

} // namespace

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

std::uint64_t tick_of(std::uint64_t whole, std::uint64_t most, bool is_binary)
{
    std::uint64_t tick = 1;
    for (std::uint64_t turn = 0; whole / tick > most; ++turn)
        tick = is_binary || turn % 3 != 1 ? 2 * tick : tick / 2 * 5;
    return tick;
}

chart::chart(std::ostream& to, std::string const& title, byte_count most, std::string unit,
             char const* more_style)
    : out(to), ceiling_(most + std::min(most / 20, ~byte_count{0} - most)), unit_(std::move(unit))
{
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" << width << "\" height=\""
        << height << "\" viewBox=\"0 0 " << width << ' ' << height << "\">\n<title>" << escaped(title)
        << "</title>\n"
        << style << more_style << "<path class=\"page\" d=\"M0 0H" << width << 'V' << height << "H0z\"/>\n";
    text("title", std::to_string(left), "30", title);
}

chart::~chart() { out << "</svg>\n"; }

std::uint64_t chart::y_at(byte_count bytes) const
{
    return 100 * bottom - portion(plot_height, bytes, ceiling_);
}

std::string chart::y_of(byte_count bytes) const { return pixels(y_at(bytes)); }

void chart::text(char const* style_name, std::string const& x, std::string const& y, std::string const& shown)
{
    out << "<text class=\"" << style_name << "\" x=\"" << x << "\" y=\"" << y << "\">" << escaped(shown)
        << "</text>\n";
}

void chart::level(char const* style_name, byte_count bytes)
{
    out << "<path class=\"" << style_name << "\" d=\"M" << left << ' ' << y_of(bytes) << 'H'
        << left + plot_width << "\"/>\n";
}

void chart::entry(char const* style_name, char const* sample, std::string const& shown)
{
    out << "<path class=\"" << style_name << "\" d=\"M" << legend_ << ' ' << sample << "\"/>\n";
    text("k", std::to_string(legend_ + 28), "59", shown);
    legend_ += 52 + 7 * shown.size();
}

void chart::axes()
{
    out << "<path class=\"plot\" d=\"M" << left << ' ' << top << "h" << plot_width << 'v' << plot_height
        << 'H' << left << "z\"/>\n";
    byte_count const tick = tick_of(ceiling_, 6, unit_.empty());
    for (byte_count k = 0; k <= ceiling_ / tick; ++k) {
        if (k != 0) level("grid", k * tick);
        text("e", std::to_string(left - 8), pixels(y_at(k * tick) + 400), amount(k * tick, unit_));
    }
}

void chart::mark(std::string const& x, std::uint64_t shown)
{
    out << "<path class=\"tick\" d=\"M" << x << ' ' << bottom << "v5\"/>\n";
    text("m", x, std::to_string(bottom + 20), std::to_string(shown));
}

void chart::caption(std::string const& below)
{
    text("m", std::to_string(left + plot_width / 2), std::to_string(bottom + 42), below);
}

} // namespace workflow
