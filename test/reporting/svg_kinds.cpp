// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/detail/svg_map.hpp>

#include "../dice.hpp"
#include "svg_reading.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

namespace {

using reading::placed;

sublet::detail::buffer_kinds kinds_of(std::vector<sublet::memory_plan::placed_buffer> buffers,
                                      std::vector<std::string> const& kinds)
{
    std::vector<sublet::memory_plan::placed_buffer const*> pointers;
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        buffers[i].root = static_cast<sublet::value_id>(i);
        pointers.push_back(&buffers[i]);
    }
    auto kind_of = [&](auto v) -> auto& { return kinds[v]; };
    return sublet::detail::kinds_of(pointers, kind_of);
}

std::vector<std::string> names(sublet::detail::buffer_kinds const& all)
{
    std::vector<std::string> result;
    for (std::size_t k = 0; k != all.kinds.size(); ++k) result.emplace_back(all.name_of(k));
    return result;
}

std::string legend(sublet::detail::buffer_kinds const& all, std::uint64_t width = 92'800)
{
    std::ostringstream out;
    sublet::detail::svg_canvas<std::ostringstream> canvas{{out}, width, 10};
    sublet::detail::draw_legend(canvas, sublet::detail::legend_of(all, width), all, 0);
    return out.str();
}

/// n kinds of a buffer each, every one larger than the next: k0, k1 ...
sublet::detail::buffer_kinds falling_kinds(std::size_t n)
{
    std::vector<sublet::memory_plan::placed_buffer> buffers;
    std::vector<std::string> kinds;
    for (std::size_t i = 0; i != n; ++i) {
        buffers.push_back(placed(0, 1, 1000 - i, 0));
        kinds.push_back(std::string("k") + std::to_string(i));
    }
    return kinds_of(buffers, kinds);
}

} // namespace

TEST_CASE("kinds stand in the order of their byte-steps")
{
    auto const all =
        kinds_of({placed(0, 4, 16, 0), placed(1, 3, 64, 0), placed(3, 5, 16, 0)}, {"Relu", "Conv", "Relu"});
    CHECK(names(all) == std::vector<std::string>{"Conv", "Relu"});
    CHECK(all.kinds[0].byte_steps == 128);
    CHECK(all.kinds[1].byte_steps == 96);
    CHECK(all.byte_steps == 224);
    CHECK(all.kind_of == std::vector<std::uint32_t>{1, 0, 1});
}

TEST_CASE("of two kinds with equal shares the one with the first buffer comes first")
{
    auto const all = kinds_of({placed(0, 1, 8, 0), placed(0, 2, 4, 0), placed(0, 8, 1, 0)}, {"z", "m", "a"});
    CHECK(names(all) == std::vector<std::string>{"z", "m", "a"});
}

TEST_CASE("kinds that print alike are one")
{
    auto const all = kinds_of({placed(0, 1, 8, 0), placed(0, 1, 8, 0), placed(0, 1, 8, 0)},
                              {"Conv\n", "Conv", "Con\x01v"});
    CHECK(names(all) == std::vector<std::string>{"Conv"});
}

TEST_CASE("kinds may be numbers")
{
    sublet::memory_plan::placed_buffer const b = placed(0, 1, 8, 0);
    auto kind_of = [](auto) { return -7; };
    CHECK(names(sublet::detail::kinds_of(std::vector{&b}, kind_of)) == std::vector<std::string>{"-7"});
}

TEST_CASE("no buffers have no kinds, and no legend")
{
    auto const all = kinds_of({}, {});
    CHECK(all.kinds.empty());
    CHECK(legend(all).empty());
    CHECK(sublet::detail::legend_of(all, 1000).height() == 0);
}

TEST_CASE("byte-steps beyond 64 bits are counted in larger units")
{
    auto const half = std::uint64_t{1} << 63;
    auto const all = kinds_of({placed(0, 4'000'000'000, half, 0), placed(0, 4'000'000'000, half / 4, 0),
                               placed(0, 4'000'000'000, half / 4 * 3, 0), placed(0, 1, 1, 0)},
                              {"a", "b", "b", "c"});
    CHECK(names(all) == std::vector<std::string>{"a", "b", "c"});
    CHECK(all.kinds[0].byte_steps == all.byte_steps / 2);
    CHECK(all.kinds[1].byte_steps == all.byte_steps / 2);
    CHECK(all.byte_steps > half);
}

TEST_CASE("the kinds are those of a table of names")
{
    dice draw{std::mt19937(41)};
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        std::vector<sublet::memory_plan::placed_buffer> buffers;
        std::vector<std::string> kinds;
        std::map<std::string, std::uint64_t> steps;
        std::map<std::string, std::size_t> first;
        for (auto n = draw.below(20); n != 0; --n) {
            sublet::step_id const last = draw.below(4);
            sublet::byte_count const size = 1 + draw.below(4);
            buffers.push_back(placed(0, last, size, 0));
            std::string const kind(draw.below(4), static_cast<char>('a' + draw.below(2)));
            first.emplace(kind, kinds.size());
            steps[kind] += last * size;
            kinds.push_back(kind);
        }
        auto const all = kinds_of(buffers, kinds);
        CHECK(all.kinds.size() == steps.size());
        for (std::size_t k = 0; k != all.kinds.size(); ++k) {
            std::string const name(all.name_of(k));
            CHECK(all.kinds[k].byte_steps == steps.at(name));
            if (k == 0) continue;
            std::string const before(all.name_of(k - 1));
            CHECK((steps[before] > steps[name] ||
                   (steps[before] == steps[name] && first[before] < first[name])));
        }
        for (std::size_t i = 0; i != buffers.size(); ++i) CHECK(all.name_of(all.kind_of[i]) == kinds[i]);
    }
}

TEST_CASE("an entry is a swatch, a kind and its share")
{
    auto const all = kinds_of({placed(0, 1, 2, 0), placed(0, 1, 1, 0)}, {"Conv", "a<b&c"});
    CHECK(legend(all) ==
          "<text class=\"b\" x=\"72\" y=\"6\">kind and its share of bytes × positions</text>\n"
          "<path class=\"A\" d=\"M72 22h10v10h-10z\"/><text class=\"k\" x=\"88\" y=\"31\">"
          "Conv <tspan class=\"b\">66.7 %</tspan></text>\n"
          "<path class=\"B\" d=\"M196.8 22h10v10h-10z\"/><text class=\"k\" x=\"212.8\" y=\"31\">"
          "a&lt;b&amp;c <tspan class=\"b\">33.3 %</tspan></text>\n");
}

TEST_CASE("a share that is too small for its digits is not called nothing")
{
    auto const all = kinds_of({placed(0, 1, 10'000, 0), placed(0, 1, 1, 0), placed(2, 2, 8, 0)},
                              {"large", "tiny", "never"});
    CHECK(reading::count(legend(all), ">100 %<") == 1);
    CHECK(reading::count(legend(all), ">&lt;0.1 %<") == 1);
    CHECK(reading::count(legend(all), ">0 %<") == 1);
}

TEST_CASE("eleven kinds have a colour of their own, what is left is grey together")
{
    CHECK(reading::count(legend(falling_kinds(11)), "other") == 0);
    CHECK(reading::count(legend(falling_kinds(11)), "class=\"O\"") == 0);
    CHECK(reading::count(legend(falling_kinds(12)), ">1 other kind <") == 1);
    std::string const text = legend(falling_kinds(30));
    CHECK(reading::count(text, "class=\"O\"") == 1);
    CHECK(reading::count(text, ">19 other kinds <tspan class=\"b\">63 %<") == 1);
    for (int k = 0; k != 30; ++k)
        CHECK(reading::count(text, ">k" + std::to_string(k) + " <") == (k < 11 ? 1 : 0));
    CHECK(reading::count(text, "<rect") == 0);
}

TEST_CASE("a long kind is cut at its end, one without characters says so")
{
    auto const all = kinds_of({placed(0, 1, 3, 0), placed(0, 1, 2, 0), placed(0, 1, 1, 0)},
                              {"ä23456789012345678901234", "ä234567890123456789012345", "\n"});
    CHECK(reading::count(legend(all), ">ä23456789012345678901234 <") == 1);
    CHECK(reading::count(legend(all), ">ä2345678901234567890123… <") == 1);
    CHECK(reading::count(legend(all), ">unnamed <") == 1);
}

TEST_CASE("entries wrap into rows that stay inside, aligned in columns")
{
    for (std::uint64_t const width : {12'000u, 24'800u, 92'800u}) {
        CAPTURE(width);
        auto const all = falling_kinds(30);
        auto const shape = sublet::detail::legend_of(all, width);
        std::string const text = legend(all, width);
        std::map<double, int> columns, rows;
        for (auto at = text.find("d=\"M"); at != text.npos; at = text.find("d=\"M", at + 1)) {
            double const x = reading::number_after(text.substr(at), "M");
            ++columns[x];
            ++rows[reading::number_after(text.substr(text.find(' ', at + 3)), " ")];
            CHECK(x + static_cast<double>(shape.cell) / 100 <= 72 + static_cast<double>(width) / 100 + 80);
        }
        CHECK(columns.size() == shape.columns);
        CHECK(rows.size() == (12 + shape.columns - 1) / shape.columns);
        CHECK(rows.rbegin()->first + 10 < static_cast<double>(shape.height()) / 100);
    }
}

} // namespace this_test
