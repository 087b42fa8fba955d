// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_ANYTIME_CHART_HPP
#define SUBLET_BENCH_ANYTIME_CHART_HPP

/// A chart of search progress: the gap of the best placement so far to its bound, over the logarithm of time.
///
///     gap %  |__
///            |  |__ A            a curve ends in a dot where the bound is met
///            |_____|______.
///            +--------------> ms

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct anytime_curve {
    struct incumbent {
        double ms, gap; ///< from `ms` on the best placement lies `gap` percent above the bound
    };
    std::string name;
    std::vector<incumbent> incumbents = {}; ///< ascending in time
    double end = 0;                         ///< ms, of the run
    bool is_optimal = false;

    /// In percent after so many milliseconds; below 0: no placement was found by then.
    double gap_after(double ms) const
    {
        double gap = -1;
        for (incumbent const& f : incumbents)
            if (f.ms <= ms) gap = f.gap;
        return gap;
    }
};

/// As SVG, with a legend: when each curve met the bound, or its final gap. Eight colours for light and dark
/// backgrounds.
inline std::string draw_anytime(std::vector<anytime_curve> const& curves)
{
    static constexpr char const* colors[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                             "#66ccee", "#aa3377", "#ee8866", "#888888"};
    static constexpr double left = 56, right = 596, top = 24, bottom = 300, first_ms = 0.1;
    double most = 1, last_ms = 10;
    for (anytime_curve const& c : curves) {
        for (auto const& f : c.incumbents) most = std::max(most, f.gap);
        while (last_ms < (c.is_optimal ? c.incumbents.back().ms : c.end)) last_ms *= 10;
    }
    most = 5 * std::ceil(most / 5);
    auto x = [&](double ms) {
        double const decades = std::log10(std::clamp(ms, first_ms, last_ms) / first_ms);
        return left + (right - left) * decades / std::log10(last_ms / first_ms);
    };
    auto y = [&](double gap) { return bottom - (bottom - top) * gap / most; };
    std::string svg;
    auto put = [&svg](char const* format, auto... what) {
        char text[400];
        std::snprintf(text, sizeof text, format, what...);
        svg += text;
    };
    svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 840 340\" font-family=\"sans-serif\" "
          "font-size=\"12\">\n<g fill=\"#777\">\n";
    for (double ms = first_ms; ms <= last_ms * 1.01; ms *= 10) {
        put("<path d=\"M%.1f %.1fV%.1f\" stroke=\"#888\" stroke-opacity=\".25\"/>", x(ms), top, bottom);
        if (ms < 999) put("<text x=\"%.1f\" y=\"318\" text-anchor=\"middle\">%g ms</text>\n", x(ms), ms);
        else
            put("<text x=\"%.1f\" y=\"318\" text-anchor=\"middle\">%g s</text>\n", x(ms),
                std::round(ms / 1000));
    }
    for (double gap = 0; gap <= most; gap += most > 20 ? 10 : 5) {
        put("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#888\" stroke-opacity=\".25\"/>", left, y(gap), right);
        put("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g %%</text>\n", left - 8, y(gap) + 4, gap);
    }
    put("<text x=\"%.1f\" y=\"14\">above the lower bound</text>\n</g>\n", left);

    std::vector<std::pair<double, std::size_t>> rows; // of the legend, by the time of the bound
    for (std::size_t i = 0; i != curves.size(); ++i) {
        anytime_curve const& c = curves[i];
        if (c.incumbents.empty()) continue;
        char const* const color = colors[i % std::size(colors)];
        auto const& last = c.incumbents.back();
        put("<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"M%.1f %.1f",
            color, x(c.incumbents.front().ms), y(c.incumbents.front().gap));
        for (auto const& f : c.incumbents) put("H%.1fV%.1f", x(f.ms), y(f.gap));
        if (!c.is_optimal) put("H%.1f", x(c.end));
        svg += "\"/>\n";
        if (c.is_optimal)
            put("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x(last.ms), y(last.gap), color);
        rows.push_back({c.is_optimal ? last.ms : last_ms + last.gap, i});
    }
    std::sort(rows.begin(), rows.end());
    double at = top + 10;
    for (auto const& [unused, i] : rows) {
        anytime_curve const& c = curves[i];
        auto const& last = c.incumbents.back();
        put("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>", right + 24, at - 4,
            colors[i % std::size(colors)]);
        put("<text x=\"%.1f\" y=\"%.1f\" fill=\"#777\">%s: ", right + 36, at, c.name.c_str());
        if (c.is_optimal && last.ms < 999) put("%.*f ms</text>\n", last.ms < 10 ? 1 : 0, last.ms);
        else if (c.is_optimal) put("%.1f s</text>\n", last.ms / 1000);
        else put("%.2f %%</text>\n", last.gap);
        at += 18;
    }
    return svg + "</svg>\n";
}

} // namespace bench

#endif
