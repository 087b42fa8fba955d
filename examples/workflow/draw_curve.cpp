// SPDX-License-Identifier: BSL-1.0
#include "draw_curve.hpp"

#include "amounts.hpp"
#include "chart.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>

namespace workflow {
namespace {

constexpr char const* style =
    "<style>.curve{fill:none;stroke:#7c8796;stroke-width:2}.point{fill:#7c8796}.taken{fill:#1f5fbf;"
    "stroke:#fff;stroke-width:2}\n"
    ".fit{fill:#c3ccd8;fill-opacity:.45}\n"
    "@media (prefers-color-scheme:dark){.curve{stroke:#8b96a5}.point{fill:#8b96a5}.taken{fill:#7fb2ff;"
    "stroke:#16181c}\n"
    ".fit{fill:#434c59}}\n"
    "</style>\n";

/// Times from a little before the first to a little after the last.
struct time_axis {
    std::uint64_t begin, end;

    time_axis(std::uint64_t first, std::uint64_t last)
    {
        std::uint64_t const room = std::max<std::uint64_t>((last - first) / 16, 1);
        begin = first - std::min(first, room);
        end = last + std::min(room, ~std::uint64_t{0} - last);
    }
    std::string x_of(std::uint64_t time) const
    {
        return pixels(100 * chart::left + portion(chart::plot_width, time - begin, end - begin));
    }
};

void draw_steps(chart& to, sublet::schedule_curve const& curve, time_axis const& times)
{
    std::string path = 'M' + times.x_of(curve.points.front().makespan) + ' ';
    for (std::size_t i = 0; i != curve.points.size(); ++i)
        path += (i == 0 ? "" : 'H' + times.x_of(curve.points[i].makespan) + 'V') +
                to.y_of(curve.points[i].live_bytes);
    path += 'H' + times.x_of(times.end);
    to.out << "<path class=\"fit\" d=\"" << path << 'V' << chart::top << 'H'
           << times.x_of(curve.points.front().makespan) << "z\"/>\n<path class=\"curve\" d=\"" << path
           << "\"/>\n";
}

void draw_point(chart& to, time_axis const& times, sublet::step_schedule const& point, bool is_taken)
{
    to.out << "<circle class=\"" << (is_taken ? "taken" : "point") << "\" cx=\"" << times.x_of(point.makespan)
           << "\" cy=\"" << to.y_of(point.live_bytes) << "\" r=\"" << (is_taken ? 7 : 4) << "\"/>\n";
}

} // namespace

void draw_curve(std::ostream& out, drawn_curve const& drawn)
{
    sublet::schedule_curve const& curve = drawn.curve;
    sublet::step_schedule const& taken = curve.points[drawn.taken];
    std::string const time = drawn.time_unit.empty() ? "" : ' ' + drawn.time_unit;
    auto of = [&](std::uint64_t makespan, sublet::byte_count bytes) {
        return std::to_string(makespan) + time + ", " + amount(bytes, drawn.unit);
    };
    chart to(out, drawn.title,
             std::max({curve.points.front().live_bytes, curve.least_bytes, sublet::byte_count{1}}),
             drawn.unit, style);
    to.entry("curve", chart::line, "schedules found: " + std::to_string(curve.points.size()));
    to.entry("taken", chart::dot, "taken: " + of(taken.makespan, taken.live_bytes));
    to.entry("bound", chart::line, "no schedule is below: " + of(curve.least_makespan, curve.least_bytes));
    to.axes();
    time_axis const times(std::min(curve.least_makespan, curve.points.front().makespan),
                          curve.points.back().makespan);
    std::uint64_t const tick = tick_of(times.end - times.begin, 10, false);
    for (std::uint64_t at = times.begin / tick + (times.begin % tick != 0); at <= times.end / tick; ++at)
        to.mark(times.x_of(at * tick), at * tick);
    to.caption("makespan" + (time.empty() ? "" : " in" + time));

    to.level("bound", curve.least_bytes);
    out << "<path class=\"bound\" d=\"M" << times.x_of(curve.least_makespan) << ' ' << chart::top << 'V'
        << chart::bottom << "\"/>\n";
    draw_steps(to, curve, times);
    for (sublet::step_schedule const& point : curve.points)
        if (&point != &taken) draw_point(to, times, point, false);
    draw_point(to, times, taken, true);
}

} // namespace workflow
