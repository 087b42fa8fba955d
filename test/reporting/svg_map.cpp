// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/detail/svg_map.hpp>

#include "../random_source.hpp"
#include "svg_reading.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

using namespace reading;

TEST_CASE("a panel holds the buffers of its pool, up to the highest of addresses, arena and peak")
{
    auto const plan = plan_of({placed(0, 2, 8, 0), placed(1, 3, 8, 4), placed(0, 4, 8, 0, 3)});
    std::vector<sublet::memory_plan::placed_buffer const*> drawn;
    for (auto const& b : plan.buffers) drawn.push_back(&b);
    auto const first = sublet::detail::panel_of(plan, drawn, 0);
    CHECK(first.last == 2);
    CHECK(first.arena == 12);
    CHECK(first.live.peak == 16); // the two overlap: this plan is invalid
    CHECK(first.ceiling == 16);
    auto const second = sublet::detail::panel_of(plan, drawn, 2);
    CHECK(second.first == 2);
    CHECK(second.last == 3);
    CHECK(second.pool == 3);
    CHECK(second.ceiling == 8);
}

TEST_CASE("a name is placed on the wider side of the peak's line")
{
    auto const plan = plan_of({placed(0, 100, 50, 0), placed(20, 21, 50, 50)});
    auto const text = svg(plan, {.names = [](auto v) { return v == 0 ? "wide" : ""; }});
    double const line = number_after(text.substr(text.find("class=\"mark\"")), "d=\"M");
    double const name = number_after(text.substr(text.find("class=\"n\"")), "x=\"");
    auto const wide = rectangles(text)[0];
    CHECK(name == doctest::Approx((line + wide.x + wide.width) / 2).epsilon(1e-4));
}

TEST_CASE("a name does not cross the peak's line even if it must be cut")
{
    auto const plan = plan_of({placed(0, 101, 8, 0), placed(50, 51, 8, 8)});
    auto const named = [](std::size_t letters) { return [=](auto) { return std::string(letters, 'm'); }; };
    CHECK(count(svg(plan, {.names = named(60)}), '>' + std::string(60, 'm') + "</text>") == 1);
    CHECK(count(svg(plan, {.names = named(61)}), ">…" + std::string(59, 'm') + "</text>") == 1);
}

TEST_CASE("consecutive buffers have different colours without kinds, and each kind has one colour")
{
    auto const text = svg(five_buffers());
    for (char c : {'A', 'B', 'C', 'D', 'E'}) CHECK(count(text, std::string("<rect class=\"") + c + ' ') == 1);
    auto const kinds = svg(five_buffers(), {.kinds = [](auto v) { return v % 2; }});
    CHECK(count(kinds, "<rect class=\"A ") == 3);
    CHECK(count(kinds, "<rect class=\"B ") == 2);
}

TEST_CASE("parts with one root have one colour and count as one buffer")
{
    auto plan = plan_of({placed(0, 2, 8, 0), placed(3, 4, 8, 0), placed(4, 5, 4, 0), placed(0, 5, 8, 8)});
    plan.buffers[1].root = plan.buffers[2].root = plan.buffers[0].root;
    auto const text = svg(plan);
    CHECK(count(text, "<rect class=\"A ") == 3);
    CHECK(count(text, "<rect class=\"B ") == 1);
    CHECK(count(text, ">2 buffers in 16 B") == 1);
    CHECK(count(text, "<desc>2 buffers over 5 positions") == 1);
}

TEST_CASE("the tooltip of a buffer includes its kind")
{
    auto const text = svg(five_buffers(), {.kinds = {"", "a<b", "Conv", "Conv", "Conv"}});
    CHECK(count(text, "<title>0: positions") == 1);
    CHECK(count(text, "<title>1 (a&lt;b): positions") == 1);
    CHECK(count(text, " (Conv): positions") == 3);
}

TEST_CASE("the gap around a buffer depends on its size")
{
    auto const text = svg(plan_of({placed(0, 10, 1000, 0), placed(0, 10, 6, 1000), placed(0, 10, 1, 1006)}));
    CHECK(count(text, "class=\"A s\"") == 1);
    CHECK(count(text, "class=\"B t\"") == 1);
    CHECK(count(text, "class=\"C\"") == 1);
}

// --- svg kinds ---------------------------------------------------------------------------------------------

namespace {

using reading::placed;

sublet::detail::buffer_kinds kinds_of(std::vector<sublet::memory_plan::placed_buffer> buffers,
                                      std::vector<std::string> const& kinds)
{
    std::vector<sublet::memory_plan::placed_buffer const*> pointers;
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        buffers[i].root = sublet::value_id::of(i);
        pointers.push_back(&buffers[i]);
    }
    return sublet::detail::kinds_of(pointers, kinds);
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

/// n kinds of one buffer each, in falling size: k0, k1 and so on.
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

TEST_CASE("kinds are sorted by their byte-steps")
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

TEST_CASE("kinds with the same printed name are one")
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

TEST_CASE("the kinds of random buffers agree with a table of names")
{
    random_source draw{std::mt19937(41)};
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        std::vector<sublet::memory_plan::placed_buffer> buffers;
        std::vector<std::string> kinds;
        std::map<std::string, std::uint64_t> steps;
        std::map<std::string, std::size_t> first;
        for (auto n = draw.below(20); n != 0; --n) {
            sublet::position_id const last = draw.below(4);
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

TEST_CASE("a share too small for its digits is written as less than 0.1 %")
{
    auto const all = kinds_of({placed(0, 1, 10'000, 0), placed(0, 1, 1, 0), placed(2, 2, 8, 0)},
                              {"large", "tiny", "never"});
    CHECK(reading::count(legend(all), ">100 %<") == 1);
    CHECK(reading::count(legend(all), ">&lt;0.1 %<") == 1);
    CHECK(reading::count(legend(all), ">0 %<") == 1);
}

TEST_CASE("eleven kinds have their own colour, and the others share one grey entry")
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

TEST_CASE("a long kind is cut at its end, and one without characters is called unnamed")
{
    auto const all = kinds_of({placed(0, 1, 3, 0), placed(0, 1, 2, 0), placed(0, 1, 1, 0)},
                              {"ä23456789012345678901234", "ä234567890123456789012345", "\n"});
    CHECK(reading::count(legend(all), ">ä23456789012345678901234 <") == 1);
    CHECK(reading::count(legend(all), ">ä2345678901234567890123… <") == 1);
    CHECK(reading::count(legend(all), ">unnamed <") == 1);
}

TEST_CASE("legend entries wrap into rows within the width, aligned in columns")
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

// --- svg profile -------------------------------------------------------------------------------------------

namespace {

using sublet::byte_count;
using sublet::position_id;

std::vector<sublet::memory_plan::placed_buffer const*>
pointers(std::vector<sublet::memory_plan::placed_buffer> const& buffers)
{
    std::vector<sublet::memory_plan::placed_buffer const*> result;
    for (auto const& b : buffers) result.push_back(&b);
    return result;
}

std::vector<sublet::memory_plan::placed_buffer> random_buffers(random_source& draw, std::uint32_t n,
                                                               std::uint32_t positions)
{
    std::vector<sublet::memory_plan::placed_buffer> buffers;
    for (std::uint32_t i = 0; i != n; ++i) {
        position_id const first = draw.below(positions);
        position_id const last = first + draw.below(std::min(positions - first, 9u) + 1);
        byte_count const size = draw.below(5);
        buffers.push_back(reading::placed(first, last, size, 0));
    }
    return buffers;
}

/// The live bytes at each position, one by one.
std::vector<byte_count> live_bytes(std::vector<sublet::memory_plan::placed_buffer> const& buffers,
                                   std::uint32_t positions)
{
    std::vector<byte_count> alive(positions, 0);
    for (position_id p = 0; p != positions; ++p)
        for (auto const& b : buffers)
            if (contains(b.life, p)) alive[p] += b.size;
    return alive;
}

/// The bytes of a list of levels at each position.
std::vector<byte_count> spread(std::vector<sublet::detail::live_level> const& levels, std::uint32_t positions)
{
    std::vector<byte_count> result(positions, 0);
    for (auto const& level : levels)
        for (position_id p = level.position; p < positions; ++p) result[p] = level.bytes;
    return result;
}

std::string drawn(std::vector<sublet::detail::live_level> const& levels, std::uint32_t positions,
                  byte_count ceiling)
{
    std::ostringstream out;
    sublet::detail::svg_canvas<std::ostringstream> canvas{{out}, 10000, positions};
    sublet::detail::draw_profile(canvas, {.top = 0, .height = 1000, .ceiling = ceiling}, levels);
    return out.str();
}

} // namespace

TEST_CASE("a level is stored only where it changes")
{
    using reading::placed;
    std::vector<sublet::memory_plan::placed_buffer> const buffers{placed(1, 3, 64, 0), placed(2, 4, 32, 64),
                                                                  placed(4, 6, 32, 0), placed(7, 8, 8, 0)};
    auto const profile = sublet::detail::profile_of(pointers(buffers));
    std::vector<sublet::detail::live_level> const expected{{1, 64}, {2, 96}, {3, 32}, {6, 0}, {7, 8}, {8, 0}};
    CHECK(profile.levels == expected); // at 4 one of 32 bytes follows another: no change
    CHECK(profile.peak == 96);
    CHECK(profile.peak_position == 2);
}

TEST_CASE("no buffers, empty buffers and empty live ranges give no level")
{
    using reading::placed;
    CHECK(sublet::detail::profile_of(pointers({})).levels.empty());
    std::vector<sublet::memory_plan::placed_buffer> const buffers{placed(3, 3, 64, 0), placed(5, 2, 64, 0),
                                                                  placed(1, 9, 0, 0)};
    auto const profile = sublet::detail::profile_of(pointers(buffers));
    CHECK(profile.levels.empty());
    CHECK(profile.peak == 0);
    CHECK(sublet::detail::highest_by_column(profile.levels, 7, 100).empty());
    CHECK(drawn(profile.levels, 10, 1).empty());
}

TEST_CASE("more than 64 bits of bytes live at once are refused, but not one after the other")
{
    using reading::placed;
    byte_count const most = sublet::no_size - 1;
    std::vector<sublet::memory_plan::placed_buffer> buffers{placed(0, 2, most, 0), placed(2, 4, most, 0)};
    CHECK(sublet::detail::profile_of(pointers(buffers)).peak == most);
    buffers[1].life.first = 1;
    CHECK_THROWS_AS(static_cast<void>(sublet::detail::profile_of(pointers(buffers))),
                    sublet::precondition_error);
}

TEST_CASE("the levels are the sums at each position, and no two consecutive ones are equal")
{
    random_source draw{std::mt19937(31)};
    for (unsigned round = 0; round != rounds(500); ++round) {
        CAPTURE(round);
        std::uint32_t const positions = 1 + draw.below(20), n = draw.below(14);
        auto const buffers = random_buffers(draw, n, positions);
        auto const alive = live_bytes(buffers, positions + 1);
        auto const profile = sublet::detail::profile_of(pointers(buffers));
        CHECK(spread(profile.levels, positions + 1) == alive);
        byte_count before = 0;
        for (auto const& level : profile.levels) {
            CHECK(level.bytes != before);
            before = level.bytes;
        }
        CHECK(before == 0);
        auto const top = std::max_element(alive.begin(), alive.end());
        CHECK(profile.peak == *top);
        CHECK(profile.peak_position == (*top == 0 ? 0 : top - alive.begin()));
    }
}

TEST_CASE("a column shows the maximum of the positions that begin in it, so no peak is lost")
{
    random_source draw{std::mt19937(32)};
    for (unsigned round = 0; round != rounds(500); ++round) {
        CAPTURE(round);
        std::uint32_t const positions = 1 + draw.below(60), n = draw.below(30);
        std::uint32_t const columns = 1 + draw.below(70);
        auto const buffers = random_buffers(draw, n, positions);
        auto const alive = live_bytes(buffers, positions);
        auto const profile = sublet::detail::profile_of(pointers(buffers));
        std::vector<byte_count> expected(columns + 1, 0);
        for (std::uint32_t p = 0; p != positions; ++p) {
            byte_count& highest = expected[std::size_t{p} * columns / positions];
            highest = std::max(highest, alive[p]);
        }
        auto const merged = sublet::detail::highest_by_column(profile.levels, columns, positions);
        if (columns <= positions) CHECK(spread(merged, columns + 1) == expected);
        CHECK(merged.size() <= columns + 1);
        byte_count top = 0;
        for (auto const& column : merged) top = std::max(top, column.bytes);
        CHECK(top == profile.peak);
    }
}

TEST_CASE("the curve follows the levels and returns to the bottom")
{
    CHECK(drawn({{1, 8}, {2, 4}, {3, 0}, {7, 16}, {10, 0}}, 10, 16) ==
          "<path class=\"live\" d=\"M82 10V5H92V7.5H102V10M142 10V0H172V10\"/>\n");
}

TEST_CASE("a curve of more levels than pixels is drawn in one column per pixel, with its peak")
{
    std::vector<sublet::detail::live_level> levels;
    for (position_id p = 0; p != 100'000; ++p) levels.push_back({p, p == 54'321 ? 1000u : 100 + p % 7});
    levels.push_back({100'000, 0});
    std::string const text = drawn(levels, 100'000, 1000);
    CHECK(text.size() < 2000);
    CHECK(text.find("H126V0H127V") != text.npos); // 72 + 54, up to the top
    CHECK(text.ends_with("H172V10\"/>\n"));
}

} // namespace this_test
