// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_CHART_HPP
#define SUBLET_EXAMPLES_WORKFLOW_CHART_HPP

/// What the pictures have in common: a title, a legend, and a plot with bytes on its left side.
///
///     title
///     ■ entry   ─ entry
///     4 KiB ┤
///     2 KiB ┤                 the area of width plot_width from (left, top) down to bottom
///       0 B ┼──────────

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace workflow {

/// Writes one SVG document, for light and dark pages. Positions are hundredths of a pixel in numbers, and
/// pixels in texts.
class chart {
public:
    static constexpr std::size_t width = 900, left = 96, right = 24, top = 78, plot_height = 300;
    static constexpr std::size_t plot_width = width - left - right, bottom = top + plot_height;

    /// Of at most `most` bytes, with some room above them. `more_style`: rules beside the common ones.
    chart(std::ostream& out, std::string const& title, sublet::byte_count most, std::string unit,
          char const* more_style = "");
    ~chart();
    chart(chart const&) = delete;
    chart& operator=(chart const&) = delete;

    std::ostream& out;

    std::string y_of(sublet::byte_count bytes) const;
    void text(char const* style_name, std::string const& x, std::string const& y, std::string const& shown);
    /// A line over the width of the plot.
    void level(char const* style_name, sublet::byte_count bytes);
    /// The next entry of the legend: a sample, and what it stands for.
    void entry(char const* style_name, char const* sample, std::string const& shown);
    static constexpr char const* area = "50h22v10h-22z";
    static constexpr char const* line = "55h22";
    static constexpr char const* dot = "55m4 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0";
    /// The plot with its lines for bytes.
    void axes();
    /// A mark of the other axis, and its name.
    void mark(std::string const& x, std::uint64_t shown);
    void caption(std::string const& below);

private:
    std::uint64_t y_at(sublet::byte_count bytes) const;

    sublet::byte_count ceiling_;
    std::string unit_;
    std::size_t legend_ = left;
};

/// length * part / whole, in hundredths. Requires: part <= whole, whole >= 1.
std::uint64_t portion(std::uint64_t length, std::uint64_t part, std::uint64_t whole);

std::string pixels(std::uint64_t hundredths);

/// 1, 2 or 5 times a power of ten, or a power of two times one: at most `most` of them are in the whole.
std::uint64_t tick_of(std::uint64_t whole, std::uint64_t most, bool is_binary);

} // namespace workflow

#endif
