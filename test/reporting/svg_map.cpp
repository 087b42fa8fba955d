// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/detail/svg_map.hpp>

#include "svg_reading.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

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
    CHECK(first.live.peak == 16); // the two overlap: this plan is not sound
    CHECK(first.ceiling == 16);
    auto const second = sublet::detail::panel_of(plan, drawn, 2);
    CHECK(second.first == 2);
    CHECK(second.last == 3);
    CHECK(second.pool == 3);
    CHECK(second.ceiling == 8);
}

TEST_CASE("a name keeps to the wider side of the peak's line")
{
    auto const plan = plan_of({placed(0, 100, 50, 0), placed(20, 21, 50, 50)});
    auto const text = svg(plan, [](auto v) { return v == 0 ? "wide" : ""; });
    double const line = number_after(text.substr(text.find("class=\"mark\"")), "d=\"M");
    double const name = number_after(text.substr(text.find("class=\"n\"")), "x=\"");
    auto const wide = rectangles(text)[0];
    CHECK(name == doctest::Approx((line + wide.x + wide.width) / 2).epsilon(1e-4));
}

TEST_CASE("a name stays off the line even where that cuts it")
{
    auto const plan = plan_of({placed(0, 101, 8, 0), placed(50, 51, 8, 8)});
    auto const named = [](std::size_t letters) { return [=](auto) { return std::string(letters, 'm'); }; };
    CHECK(count(svg(plan, named(60)), '>' + std::string(60, 'm') + "</text>") == 1);
    CHECK(count(svg(plan, named(61)), ">…" + std::string(59, 'm') + "</text>") == 1);
}

TEST_CASE("colours in turn differ between neighbours of the list, kinds have one colour each")
{
    auto const text = svg(five_buffers());
    for (char c : {'A', 'B', 'C', 'D', 'E'}) CHECK(count(text, std::string("<rect class=\"") + c + ' ') == 1);
    auto const kinds = svg(five_buffers(), sublet::detail::own_id{}, [](auto v) { return v % 2; });
    CHECK(count(kinds, "<rect class=\"A ") == 3);
    CHECK(count(kinds, "<rect class=\"B ") == 2);
}

TEST_CASE("what has one root is one buffer in parts: of one colour, and counted once")
{
    auto plan = plan_of({placed(0, 2, 8, 0), placed(3, 4, 8, 0), placed(4, 5, 4, 0), placed(0, 5, 8, 8)});
    plan.buffers[1].root = plan.buffers[2].root = plan.buffers[0].root;
    auto const text = svg(plan);
    CHECK(count(text, "<rect class=\"A ") == 3);
    CHECK(count(text, "<rect class=\"B ") == 1);
    CHECK(count(text, ">2 buffers in 16 B") == 1);
    CHECK(count(text, "<desc>2 buffers over 5 positions") == 1);
}

TEST_CASE("who points at a buffer reads its kind too")
{
    auto const text = svg(five_buffers(), sublet::detail::own_id{}, [](auto v) {
        return v == 0 ? "" : v == 1 ? "a<b" : "Conv";
    });
    CHECK(count(text, "<title>0: positions") == 1);
    CHECK(count(text, "<title>1 (a&lt;b): positions") == 1);
    CHECK(count(text, " (Conv): positions") == 3);
}

TEST_CASE("buffers have a gap around them that their size allows")
{
    auto const text = svg(plan_of({placed(0, 10, 1000, 0), placed(0, 10, 6, 1000), placed(0, 10, 1, 1006)}));
    CHECK(count(text, "class=\"A s\"") == 1);
    CHECK(count(text, "class=\"B t\"") == 1);
    CHECK(count(text, "class=\"C\"") == 1);
}

} // namespace this_test
