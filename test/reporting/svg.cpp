// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/svg.hpp>

#include "../random_source.hpp"
#include "svg_reading.hpp"

#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

using namespace reading;

TEST_CASE("five buffers give the expected picture")
{
    std::string const names[] = {"conv1", "bias", "relu", "pool", "softmax"};
    std::string const kinds[] = {"Conv", "Conv", "Relu", "Pool", "Softmax"};
    std::string const text = svg(five_buffers(), {.names = names,
                                                  .kinds = [&](auto v) -> auto& { return kinds[v]; },
                                                  .title = "Five",
                                                  .width = 400,
                                                  .height = 80,
                                                  .profile_height = 40});
    CHECK(
        text.substr(0, text.find("<style>")) ==
        R"(<svg xmlns="http://www.w3.org/2000/svg" role="img" width="400" height="320" viewBox="0 0 400 320">
<title>Five</title>
<desc>5 buffers over 7 positions; pool 0: arena of 104 bytes, peak of 104 bytes at position 5</desc>
)");
    CHECK(text.substr(text.find("<path")) == R"(<path class="page" d="M0 0H400V320H0z"/>
<text class="title" x="72" y="27">Five</text>
<text x="72" y="47">5 buffers in 104 B, equal to the lower bound</text>
<path class="plot" d="M72 82H312V162H72z"/>
<text class="e" x="65" y="166">0 B</text>
<path class="grid" d="M72 112.77H312"/><text class="e" x="65" y="116.77">64 B</text>
<path class="plot" d="M72 180H312V220H72z"/>
<text class="e" x="65" y="224">0 B</text>
<path class="grid" d="M72 195.39H312"/><text class="e" x="65" y="199.39">64 B</text>
<path class="live" d="M72 220V195.39H106.28V183.08H140.57V189.24H174.85V186.16H243.42V180H277.71V195.39H312V220"/>
<path class="arena" d="M72 180H312"/><path class="peak" d="M72 180H312"/><text class="b" x="320" y="204">live bytes</text>
<path class="tick" d="M72 220v5"/><text class="m" x="72" y="238">0</text>
<path class="tick" d="M243.42 220v5"/><text class="m" x="243.42" y="238">5</text>
<text class="e" x="390" y="238">position</text>
<g>
<rect class="A s" x="72" y="112.77" width="68.57" height="49.23"><title>conv1 (Conv): positions [0, 2), 64 bytes at 0</title></rect>
<text class="n" x="106.28" y="141.38">conv1</text>
<rect class="A s" x="106.28" y="88.16" width="68.57" height="24.61"><title>bias (Conv): positions [1, 3), 32 bytes at 64</title></rect>
<text class="n" x="140.56" y="104.46">bias</text>
<rect class="B s" x="140.57" y="125.08" width="102.85" height="36.92"><title>relu (Relu): positions [2, 5), 48 bytes at 0</title></rect>
<text class="n" x="191.99" y="147.54">relu</text>
<rect class="D s" x="174.85" y="82" width="102.86" height="30.77"><title>pool (Pool): positions [3, 6), 40 bytes at 64</title></rect>
<text class="n" x="217.7" y="101.38">pool</text>
<rect class="C s" x="243.42" y="112.77" width="68.58" height="49.23"><title>softmax (Softmax): positions [5, 7), 64 bytes at 0</title></rect>
</g>
<path class="arena" d="M72 82H318"/><text class="a" x="320" y="65">arena</text><text class="a" x="320" y="78">104 B</text>
<path class="peak" d="M72 82H318"/><text class="p" x="320" y="93">lower bound</text><text class="p" x="320" y="106">104 B</text>
<path class="peak" d="M260.56 78V220"/><path class="mark" d="M260.56 80l-4.5 -7h9z"/><text class="h e" x="260.56" y="68">peak 104 B at 5</text>
<text class="b" x="72" y="262">kind and its share of bytes × positions</text>
<path class="A" d="M72 278h10v10h-10z"/><text class="k" x="88" y="287">Conv <tspan class="b">32.9 %</tspan></text>
<path class="B" d="M196.8 278h10v10h-10z"/><text class="k" x="212.8" y="287">Relu <tspan class="b">24.7 %</tspan></text>
<path class="C" d="M72 296h10v10h-10z"/><text class="k" x="88" y="305">Softmax <tspan class="b">21.9 %</tspan></text>
<path class="D" d="M196.8 296h10v10h-10z"/><text class="k" x="212.8" y="305">Pool <tspan class="b">20.5 %</tspan></text>
</svg>
)");
}

TEST_CASE("without kinds there is no legend, and without a profile height there is only the map")
{
    auto const tall = svg(five_buffers(), sublet::svg_options{.height = 80, .profile_height = 40});
    CHECK(count(tall, "share of bytes") == 0);
    CHECK(count(tall, "class=\"live\"") == 1);
    auto const low = svg(five_buffers(), sublet::svg_options{.height = 80, .profile_height = 0});
    CHECK(count(low, "class=\"live\"") == 0);
    CHECK(count(low, "live bytes") == 0);
    CHECK(count(low, "class=\"plot\"") == 1);
    CHECK(number_after(tall, " height=\"") == number_after(low, " height=\"") + 18 + 40);
}

TEST_CASE("the profile has the scale of the larger of arena and peak, and shows both")
{
    auto plan = plan_of({placed(0, 2, 64, 0), placed(1, 2, 64, 32)}); // invalid: a peak above the arena
    auto const text = svg(plan, sublet::svg_options{.height = 60, .profile_height = 128});
    // From y = 160 down to 288.
    CHECK(count(text, "<path class=\"live\" d=\"M72 288V224H492V160H912V288\"/>") == 1);
    CHECK(count(text, "<path class=\"arena\" d=\"M72 192H912\"/>") == 1);
    CHECK(count(text, "<path class=\"peak\" d=\"M72 160H912\"/>") == 1);
}

TEST_CASE("an empty plan gives a picture with a message")
{
    std::string const text = svg({});
    CHECK(count(text, "<rect") == 0);
    CHECK(count(text, "Nothing to draw") == 1);
    CHECK(text == svg(plan_of({placed(0, 3, 0, 0), placed(0, 3, 8, sublet::no_offset)})));
    CHECK(text == svg({}, {.kinds = [](auto v) { return v; }}));
}

TEST_CASE("buffers without bytes or without an offset are not drawn")
{
    std::string const text =
        svg(plan_of({placed(0, 3, 0, 0), placed(0, 3, 8, 0), placed(1, 2, 8, sublet::no_offset)}));
    CHECK(count(text, "<rect") == 1);
    CHECK(count(text, ">1: positions [0, 3), 8 bytes at 0</title>") == 1);
}

TEST_CASE("names and title cannot break the document")
{
    std::string const name = "<a href=\"x\">&'\x01\n\xFF";
    std::string const text =
        svg(five_buffers(), {.names = [&](auto) -> auto& { return name; }, .title = "a < b & c\t"});
    CHECK(count(text, "<title>&lt;a href=\"x\"&gt;&amp;'?: positions") == 5);
    CHECK(count(text, "<title>a &lt; b &amp; c</title>") == 1);
    std::string const kinds = svg(five_buffers(), {.kinds = [&](auto) -> auto& { return name; }});
    CHECK(count(kinds, ">&lt;a href=\"x\"&gt;&amp;'? <tspan class=\"b\">100 %</tspan>") == 1);
}

TEST_CASE("a name that does not fit shows its end, cut between characters")
{
    std::string name;
    for (int i = 0; i != 50; ++i) name += "ä";
    name += "end";
    std::string const text = svg(plan_of({placed(0, 3, 8, 0)}),
                                 {.names = [&](auto) -> auto& { return name; }, .width = 320, .height = 60});
    auto const label = text.find("…");
    REQUIRE(label != text.npos);
    auto const shown = text.substr(label + 3, text.find("</text>", label) - label - 3);
    CHECK(shown ==
          "ääääääääääääääend"); // 18 characters fit beside the peak's line, and one of them is the ellipsis
}

TEST_CASE("a name is horizontal in wide buffers, turned in tall ones and left out of small ones")
{
    auto const text = svg(plan_of({placed(0, 100, 50, 0), placed(100, 103, 100, 0), placed(0, 1, 50, 50)}),
                          {.names = {"wide", "tall name", "small"}});
    CHECK(count(text, ">wide</text>") == 1);
    CHECK(count(text, "rotate(-90 ") == 1);
    CHECK(count(text, ">tall name</text>") == 1);
    CHECK(count(text, ">small</text>") == 0);
}

TEST_CASE("the rectangle of a buffer is its live range by its addresses")
{
    auto const drawn = rectangles(svg(five_buffers(), sublet::svg_options{.width = 860, .height = 104}));
    REQUIRE(drawn.size() == 5);
    double const unit = 100, left = drawn[0].x, bottom = drawn[0].y + drawn[0].height;
    auto const plan = five_buffers();
    for (std::size_t i = 0; i != 5; ++i) {
        auto const& b = plan.buffers[i];
        CHECK(drawn[i].x - left == doctest::Approx(unit * b.life.first));
        CHECK(drawn[i].width == doctest::Approx(unit * (b.life.last - b.life.first)));
        CHECK(bottom - drawn[i].y - drawn[i].height == doctest::Approx(double(b.offset)));
        CHECK(drawn[i].height == doctest::Approx(double(b.size)));
    }
}

TEST_CASE("the marked peak is the first position with the most live bytes")
{
    random_source draw{std::mt19937(12)};
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        std::vector<sublet::memory_plan::placed_buffer> buffers;
        for (auto n = 1 + draw.below(12); n != 0; --n) {
            sublet::position_id const first = draw.below(10);
            std::uint32_t const length = draw.below(5);
            sublet::byte_count const size = 1 + draw.below(9);
            buffers.push_back(placed(first, first + length, size, draw.below(30)));
        }
        std::uint64_t peak = 0;
        sublet::position_id at = 0;
        for (sublet::position_id p = 0; p != 20; ++p) {
            std::uint64_t alive = 0;
            for (auto const& b : buffers)
                if (contains(b.life, p)) alive += b.size;
            if (alive > peak) peak = alive, at = p;
        }
        auto const text = svg(plan_of(buffers));
        CHECK(count(text, "<rect") == buffers.size());
        std::string const bytes = std::to_string(peak), where = std::to_string(at);
        CHECK(count(text, "peak of " + bytes + " bytes at position " + where + "<") == 1);
        CHECK(count(text, ">peak " + bytes + " B at " + where + "<") == (peak != 0));
    }
}

TEST_CASE("a buffer that ends where another begins is not counted with it")
{
    std::string const text = svg(plan_of({placed(0, 2, 10, 0), placed(2, 4, 10, 0)}));
    CHECK(count(text, "peak of 10 bytes at position 0") == 1);
}

TEST_CASE("the live bytes of one order are no bound for a plan for every schedule")
{
    sublet::memory_plan plan = plan_of({placed(0, 1, 8, 2)});
    plan.valid_for = sublet::program_reading::concurrent;
    CHECK(count(svg(plan), ">1 buffer in 10 B, for every schedule<") == 1);
    CHECK(count(svg(plan), "lower bound") == 0);
    CHECK(count(svg(plan), ">live bytes</text>") == 2); // the line, and the profile
}

TEST_CASE("the heading says how far the arena is above the lower bound")
{
    CHECK(count(svg(five_buffers()), ">5 buffers in 104 B, equal to the lower bound<") == 1);
    CHECK(count(svg(plan_of({placed(0, 1, 8, 2)})), ">1 buffer in 10 B, 25 % above the lower bound<") == 1);
    auto plan = plan_of({placed(0, 1, 1000, 0)});
    plan.arena_bytes[0] = 1007;
    CHECK(count(svg(plan), "0.7 % above the lower bound") == 1);
}

TEST_CASE("each pool has its own panel with arena and peak")
{
    auto const plan = plan_of({placed(0, 4, 8, 0, 2), placed(1, 2, 100, 0, 0), placed(2, 3, 16, 8, 2)});
    std::string const text = svg(plan);
    CHECK(count(text, ">pool 0: 1 buffer in 100 B") == 1);
    CHECK(count(text, ">pool 1") == 0);
    CHECK(count(text, ">pool 2: 2 buffers in 24 B") == 1);
    CHECK(count(text, "pool 2: arena of 24 bytes, peak of 24 bytes at position 2") == 1);
    auto const drawn = rectangles(text);
    REQUIRE(drawn.size() == 3);
    CHECK(drawn[0].height == 420); // pool 0, the full height of its panel
    CHECK(drawn[1].y > drawn[0].y + drawn[0].height);
    CHECK(drawn[2].y > drawn[0].y + drawn[0].height);
}

TEST_CASE("a pool that the plan's arenas do not list is drawn up to its highest buffer")
{
    auto plan = plan_of({placed(0, 4, 8, 0, 4000000000u / 1000)});
    plan.arena_bytes.clear();
    plan.buffers[0].pool = 4000000000u;
    CHECK(count(svg(plan), "pool 4000000000: arena of 8 bytes") == 1);
}

TEST_CASE("a plan larger than 4 GiB is drawn to scale")
{
    sublet::byte_count const size = sublet::byte_count{6} << 30;
    auto const text = svg(plan_of({placed(0, 2, size, 0), placed(0, 1, size, size)}));
    auto const drawn = rectangles(text);
    REQUIRE(drawn.size() == 2);
    CHECK(drawn[0].height == 210);
    CHECK(drawn[1].height == 210);
    CHECK(drawn[1].y + 210 == drawn[0].y);
    CHECK(count(text, ">peak 12 GiB at 0<") == 1);
}

TEST_CASE("addresses near 2^64 and positions near 2^32 stay in the picture")
{
    sublet::byte_count const half = sublet::byte_count{1} << 63;
    sublet::position_id const last = 4294967295u;
    auto const plan = plan_of(
        {placed(0, last, half, 0), placed(last - 1, last, half - 2, half), placed(5, 6, 1, half - 1)});
    auto const text = svg(plan, sublet::svg_options{.width = 32768, .height = 32768});
    auto const drawn = rectangles(text);
    REQUIRE(drawn.size() == 3);
    for (auto r : drawn) {
        CHECK(r.x >= 72);
        CHECK(r.x + r.width <= 32768);
        CHECK(r.y >= 80);
        CHECK(r.y + r.height <= 32768 + 83);
    }
    CHECK(drawn[0].height == doctest::Approx(16384));
    CHECK(drawn[1].height == doctest::Approx(16384));
    CHECK(count(text, ">16 EiB<") == 2);
}

TEST_CASE("a life that ends behind the period goes on at the left, marked at both borders")
{
    //   period 6   0   1   2   3   4   5 │ 6            conv1 lives at 4, at 5 and, of the next round, at 0
    auto const plan = plan_of({placed(4, 7, 64, 0), placed(1, 3, 64, 0), placed(0, 6, 16, 64)});
    std::string const text = svg(plan, {.names = {"conv1", "b", "c"}, .period = 6, .width = 760});
    auto const drawn = rectangles(text);
    REQUIRE(drawn.size() == 4);
    CHECK(drawn[0].x == 72 + 400);
    CHECK(drawn[0].width == 200);
    CHECK(drawn[1].x == 72);
    CHECK(drawn[1].width == 100);
    CHECK(drawn[1].y == drawn[0].y);
    CHECK(count(text, ">conv1: positions [4, 6), 64 bytes at 0</title></rect>") == 1);
    CHECK(count(text, ">conv1: positions [0, 1), 64 bytes at 0</title></rect>") == 1);
    CHECK(count(text, "<desc>3 buffers over 6 positions; pool 0: arena of 80 bytes, peak of 80 bytes at") ==
          1);
    CHECK(count(text, "class=\"k\"") == 2);
    CHECK(count(text,
                "M667 329L677 334L667 339z\"><title>conv1 lives on in the next round, before position 1<") ==
          1);
    CHECK(count(text, "M67 329L77 334L67 339z\"><title>conv1 began in the round before, at position 4<") ==
          1);
    // What is in parts already, as by gaps: the second one is of the next round.
    auto parts = plan_of({placed(3, 4, 8, 0), placed(7, 8, 8, 0)});
    parts.buffers[1].root = 0;
    auto const both = rectangles(svg(parts, {.period = 6, .width = 760}));
    REQUIRE(both.size() == 2);
    CHECK(both[1].x == 172);
    CHECK(both[1].width == 100);
    // A round that ends before its period, and none at all.
    CHECK(count(svg(plan_of({placed(0, 1, 8, 0)}), {.period = 6}), "1 buffers over 6 positions") == 1);
    CHECK(count(svg({}, {.period = 6}), "Nothing to draw") == 1);
    CHECK(svg(five_buffers(), {.period = 7}) == svg(five_buffers()));
}

TEST_CASE("what is carried into the next round is marked, and said to change places where it does")
{
    // history and smooth have one place, old and new two; kept stays where it is.
    auto plan = plan_of({placed(0, 2, 64, 0), placed(2, 5, 64, 0), placed(0, 5, 64, 64),
                         placed(0, 5, 64, 128), placed(0, 5, 64, 192)});
    plan.buffer_of = {0, 1, 2, 3, 4, sublet::no_buffer};
    std::string const names[] = {"history", "<smooth>", "old", "new", "kept", "external"};
    std::vector<sublet::plan_options::carry> const carried{{1, 0}, {3, 2}, {4, 4}, {5, 5}};
    std::string const text = svg(plan, {.names = names, .carried = carried});
    CHECK(count(text, "class=\"k\"") == 6);
    for (char const* said :
         {"<title>history is what the round before left in &lt;smooth&gt;</title></path>",
          "<title>&lt;smooth&gt; is what the next round finds in history</title></path>",
          "<title>old is what the round before left in new, which lay here</title></path>",
          "<title>new is what the next round finds in old, which lies here then</title></path>",
          "<title>kept is what the round before left in kept</title></path>",
          "<title>kept is what the next round finds in kept</title></path>"})
        CHECK_MESSAGE(count(text, said) == 1, said);
    // Each has its own name, and one arrow, or two where places change.
    for (auto const* name : {">history</text>", ">&lt;smooth&gt;</text>", ">old</text>", ">new</text>"})
        CHECK(count(text, name) == 1);
    CHECK(count(text, "zM") == 2);
    CHECK(rectangles(text).size() == 5);
    CHECK(svg(plan, {.names = names, .carried = {}}) == svg(plan, {.names = names}));

    std::ostringstream out;
    CHECK_THROWS_AS(sublet::write_svg(out, plan, {.carried = {{6, 0}}}), sublet::precondition_error);
}

TEST_CASE("the marks of a planned program are those of its listing")
{
    sublet::listing<std::string> list;
    for (auto texture : {"lit", "history", "smooth"}) list.facts(texture, {.bytes = 64});
    list.step("light").make("lit");
    list.step("blend").read("lit").read("history").make("smooth");
    list.carries("smooth", "history");
    std::ostringstream out;
    sublet::write_svg(out, sublet::plan_memory(list),
                      {.names = list.names(), .carried = list.options().carried});
    check_well_formed(out.str());
    CHECK(count(out.str(), "<title>history is what the round before left in smooth, which lay here<") == 1);
}

TEST_CASE("an invalid plan is drawn as it is")
{
    auto plan = plan_of({placed(0, 2, 64, 0), placed(1, 3, 64, 32), placed(1, 3, 64, sublet::no_offset - 8)});
    plan.arena_bytes[0] = 40;
    auto const drawn = rectangles(svg(plan));
    REQUIRE(drawn.size() == 3);
    for (auto r : drawn) {
        CHECK(r.y >= 80);
        CHECK(r.height <= 420);
    }
}

TEST_CASE("ticks are few, whatever the scale")
{
    random_source draw{std::mt19937(5)};
    for (unsigned round = 0; round != rounds(200); ++round) {
        CAPTURE(round);
        auto const size = std::max<std::uint64_t>(draw.wide(), 2) - 1;
        sublet::position_id const last = 1 + (draw.wide() >> 33);
        auto const text = svg(plan_of({placed(0, last, size, 0)}));
        CHECK(count(text, "class=\"grid\"") <= 7 + 2);
        CHECK(count(text, "class=\"tick\"") <= 11);
        CHECK(count(text, "class=\"tick\"") >= 2);
    }
}

TEST_CASE("options out of their limits are refused")
{
    std::ostringstream out;
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.width = 319}), sublet::precondition_error);
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.width = 40000}), sublet::precondition_error);
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.height = 0}), sublet::precondition_error);
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.profile_height = 39}), sublet::precondition_error);
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.profile_height = 32769}), sublet::precondition_error);
    CHECK_NOTHROW(sublet::write_svg(out, five_buffers(), {.width = 320, .height = 60, .profile_height = 40}));
    auto const whole = sublet::no_offset - 1;
    auto const twice = plan_of({placed(0, 1, whole, 0), placed(0, 1, whole, 0)});
    CHECK_THROWS_AS(sublet::write_svg(out, twice), sublet::precondition_error);
}

namespace {

sublet::memory_plan many(std::size_t n)
{
    random_source draw{std::mt19937(7)};
    std::vector<sublet::memory_plan::placed_buffer> buffers;
    for (std::size_t i = 0; i != n; ++i) {
        sublet::position_id const first = draw.below(100000);
        std::uint32_t const length = 1 + draw.below(100);
        sublet::byte_count const size = 1 + draw.below(4096);
        buffers.push_back(placed(first, first + length, size, draw.below(10000000)));
    }
    return plan_of(buffers);
}

} // namespace

TEST_CASE("the same plan gives the same bytes, and the size grows with the number of buffers")
{
    auto const kind_of = [](auto v) { return v % 20; };
    std::ostringstream few_out, many_out, again_out;
    sublet::write_svg(few_out, many(1000), {.kinds = kind_of});
    sublet::write_svg(many_out, many(60000), {.kinds = kind_of});
    sublet::write_svg(again_out, many(60000), {.kinds = kind_of});
    CHECK(many_out.str() == again_out.str());
    CHECK(count(many_out.str(), "<rect") == 60000);
    CHECK(many_out.str().size() < 62 * few_out.str().size());
}

TEST_CASE("the curve of 100000 buffers takes less than 20 KB")
{
    std::ostringstream with, without;
    sublet::write_svg(with, many(100000));
    sublet::write_svg(without, many(100000), {.profile_height = 0});
    CHECK(with.str().size() - without.str().size() < 20000);
}

} // namespace this_test
