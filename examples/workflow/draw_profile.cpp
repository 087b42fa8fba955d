// SPDX-License-Identifier: BSL-1.0
#include "draw_profile.hpp"

#include "amounts.hpp"
#include "chart.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>

namespace workflow {
namespace {

using sublet::byte_count;

std::string x_of(std::uint64_t step, std::size_t steps)
{
    return pixels(100 * chart::left + portion(chart::plot_width, step, steps));
}

/// The steps of a profile; closed at 0 bytes if it is an area.
void draw_profile(chart& to, char const* style_name, std::vector<byte_count> const& live, bool is_area)
{
    std::size_t const steps = live.size(), columns = std::min(steps, chart::plot_width / 2);
    to.out << "<path class=\"" << style_name << "\" d=\"";
    byte_count before = 0;
    for (std::size_t c = 0; c != columns; ++c) {
        auto const first = live.begin() + static_cast<std::ptrdiff_t>(c * steps / columns);
        auto const last = live.begin() + static_cast<std::ptrdiff_t>((c + 1) * steps / columns);
        byte_count const most = *std::max_element(first, last);
        std::string const x = x_of(c * steps / columns, steps);
        if (c == 0 && is_area) to.out << 'M' << x << ' ' << to.y_of(0) << 'V' << to.y_of(most);
        else if (c == 0) to.out << 'M' << x << ' ' << to.y_of(most);
        else if (most != before) to.out << 'H' << x << 'V' << to.y_of(most);
        before = most;
    }
    to.out << 'H' << x_of(steps, steps);
    if (is_area) to.out << 'V' << to.y_of(0) << 'z';
    to.out << "\"/>\n";
}

} // namespace

void draw_profiles(std::ostream& out, profiles const& p)
{
    byte_count const before = *std::max_element(p.before.begin(), p.before.end());
    byte_count const after = *std::max_element(p.after.begin(), p.after.end());
    std::size_t const steps = p.before.size();
    chart to(out, p.title, std::max({p.bound, before, after, byte_count{1}}), p.unit);
    to.entry("before", chart::area, p.before_name + ": " + amount(before, p.unit));
    to.entry("after", chart::line, p.after_name + ": " + amount(after, p.unit));
    to.entry("bound", chart::line, "no order needs less than: " + amount(p.bound, p.unit));
    to.axes();
    std::uint64_t const tick = tick_of(steps, 10, false);
    for (std::uint64_t at = 0; at <= steps; at += tick) to.mark(x_of(at, steps), at);
    to.caption("steps that have run");
    draw_profile(to, "before", p.before, true);
    draw_profile(to, "after", p.after, false);
    to.level("bound", p.bound);
}

} // namespace workflow
