// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/detail/svg_canvas.hpp>

#include "../random_source.hpp"
#include "svg_reading.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

using namespace sublet::detail;

namespace {

using color = std::array<double, 3>; // linear red, green, blue

/// The fill of a class in the style for light pages.
color fill_of(char name)
{
    std::string_view const style(svg_style);
    auto const at = style.find(std::string(1, '.') + name + "{fill:#");
    REQUIRE(at != style.npos);
    color result{};
    for (std::size_t i = 0; i != 3; ++i) {
        double const c = std::stoi(std::string(style.substr(at + 9 + 2 * i, 2)), nullptr, 16) / 255.0;
        result[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    }
    return result;
}

using matrix = std::array<color, 3>;

color product(matrix const& m, color const& c)
{
    color result{};
    for (std::size_t i = 0; i != 3; ++i)
        for (std::size_t k = 0; k != 3; ++k) result[i] += m[i][k] * c[k];
    return result;
}

/// Björn Ottosson, "A perceptual color space for image processing", 2020: distances are visible differences.
color oklab(color c)
{
    for (double& x : c) x = std::clamp(x, 0.0, 1.0);
    color cones = product({{{0.4122214708, 0.5363325363, 0.0514459929},
                            {0.2119034982, 0.6806995451, 0.1073969566},
                            {0.0883024619, 0.2817188376, 0.6299787005}}},
                          c);
    for (double& x : cones) x = std::cbrt(x);
    return product({{{0.2104542553, 0.7936177850, -0.0040720468},
                     {1.9779984951, -2.4285922050, 0.4505937099},
                     {0.0259040371, 0.7827717662, -0.8086757660}}},
                   cones);
}

/// Colours as seen without long, medium or short cones: Machado, Oliveira and Fernandes, "A physiologically-
/// based model for simulation of color vision deficiency", IEEE TVCG 2009.
matrix const eyes[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}};

std::string escaped(std::string_view text, std::size_t first = 0, std::size_t last = 100)
{
    std::ostringstream out;
    write_escaped(out, text, first, last);
    return out.str();
}

} // namespace

TEST_CASE("a portion is rounded down, for wholes of any size")
{
    CHECK(portion(100, 1, 3) == 33);
    CHECK(portion(100, 3, 3) == 100);
    CHECK(portion(100, 0, 1) == 0);
    std::uint64_t const most = ~std::uint64_t{0};
    CHECK(portion(4'000'000, most, most) == 4'000'000);
    CHECK(portion(4'000'000, most / 2, most) == 1'999'999);
    random_source draw{std::mt19937(21)};
    for (unsigned round = 0; round != rounds(2000); ++round) {
        CAPTURE(round);
        std::uint64_t const x = draw.wide(), y = draw.wide();
        std::uint64_t const part = std::min(x, y), whole = std::max<std::uint64_t>({x, y, 1});
        double const exact = 4e6 * (static_cast<double>(part) / static_cast<double>(whole));
        CHECK(std::abs(static_cast<double>(portion(4'000'000, part, whole)) - exact) <= 1.01);
    }
}

TEST_CASE("characters reserved in XML are escaped, and a part of a text is cut between characters")
{
    CHECK(escaped("a<b>&c\"'") == "a&lt;b&gt;&amp;c\"'");
    CHECK(escaped("äöü€", 1, 3) == "öü");
    CHECK(escaped("äöü€", 3) == "€");
    CHECK(escaped("<<<", 1, 2) == "&lt;");
    CHECK(escaped("", 0, 0).empty());
}

TEST_CASE("bytes go upwards from the bottom of their plot to its top")
{
    svg_plot const plot{.top = 1000, .height = 500, .ceiling = 50};
    CHECK(plot.bottom() == 1500);
    CHECK(plot.y_of(0) == 1500);
    CHECK(plot.y_of(10) == 1400);
    CHECK(plot.y_of(50) == 1000);
}

TEST_CASE("tick labels of bytes do not overlap in the lowest allowed plot")
{
    random_source draw{std::mt19937(22)};
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        std::ostringstream out;
        svg_canvas<std::ostringstream> canvas{{out}, 10000, 10};
        canvas.frame({.top = 0, .height = 4000, .ceiling = std::max<std::uint64_t>(draw.wide(), 1)});
        std::vector<double> heights;
        std::string const text = out.str();
        for (auto at = text.find("<text"); at != text.npos; at = text.find("<text", at + 1))
            heights.push_back(reading::number_after(text.substr(at), " y=\""));
        CHECK(heights.size() >= 2);
        for (std::size_t i = 1; i < heights.size(); ++i) CHECK(heights[i - 1] - heights[i] >= 13);
    }
}

TEST_CASE("any two fills differ visibly, also with colour blindness")
{
    std::string_view const names = "ABCDEFGHIJKO";
    for (matrix const& eye : eyes)
        for (char a : names)
            for (char b : names) {
                if (a <= b) continue;
                color const x = oklab(product(eye, fill_of(a))), y = oklab(product(eye, fill_of(b)));
                CAPTURE(a);
                CAPTURE(b);
                CHECK(std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]) > 0.06);
            }
}

TEST_CASE("names are readable on each fill")
{
    auto const light = [](char fill) {
        color const c = fill_of(fill);
        return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] + 0.05;
    };
    for (char fill : std::string_view("ABCDEFGHIJKO")) {
        CAPTURE(fill);
        CHECK(light(fill) / light('n') > 4.5); // the contrast that WCAG 2 requires
    }
}

} // namespace this_test
