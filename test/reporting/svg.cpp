// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/svg.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// A plan of buffers that are roots 0, 1, 2 ..., with arenas that just hold them.
sublet::memory_plan plan_of(std::vector<sublet::placed_buffer> buffers)
{
    sublet::memory_plan plan;
    plan.buffers = std::move(buffers);
    for (std::size_t i = 0; i != plan.buffers.size(); ++i) {
        auto& b = plan.buffers[i];
        b.root = static_cast<sublet::value_id>(i);
        if (plan.arena_bytes.size() <= b.pool) plan.arena_bytes.resize(b.pool + 1);
        if (b.offset != sublet::no_offset)
            plan.arena_bytes[b.pool] = std::max(plan.arena_bytes[b.pool], b.offset + b.size);
    }
    return plan;
}

sublet::placed_buffer placed(sublet::step_id first, sublet::step_id last, sublet::byte_count size,
                             sublet::byte_count offset, sublet::pool_id pool = 0)
{
    return {.life = {first, last}, .size = size, .pool = pool, .offset = offset};
}

sublet::memory_plan five_buffers()
{
    return plan_of({placed(0, 2, 64, 0), placed(1, 3, 32, 64), placed(2, 5, 48, 0), placed(3, 6, 40, 64),
                    placed(5, 7, 64, 0)});
}

std::size_t count(std::string_view text, std::string_view part)
{
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

/// XML as far as this library writes it: elements that close in order, quoted attributes with different
/// names, no bare '&' or '<', no control characters, one root.
void check_well_formed(std::string_view text)
{
    std::vector<std::string_view> open;
    std::size_t roots = 0;
    auto const check_text = [&](std::string_view part, bool inside) {
        bool good = inside || part.find_first_not_of('\n') == part.npos;
        for (std::size_t i = 0; i != part.size(); ++i) {
            auto const rest = part.substr(i);
            good &= static_cast<unsigned char>(part[i]) >= 0x20 || part[i] == '\n';
            good &= part[i] != '&' || rest.starts_with("&lt;") || rest.starts_with("&gt;") ||
                    rest.starts_with("&amp;");
        }
        if (!good) FAIL_CHECK(part);
    };
    while (!text.empty()) {
        auto const at = std::min(text.find('<'), text.size());
        check_text(text.substr(0, at), !open.empty());
        text.remove_prefix(at);
        if (text.empty()) break;
        auto const end = text.find('>');
        REQUIRE(end != text.npos);
        auto tag = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        if (tag.starts_with('/')) {
            REQUIRE(!open.empty());
            REQUIRE(open.back() == tag.substr(1));
            open.pop_back();
            continue;
        }
        bool const closes = tag.ends_with('/');
        if (closes) tag.remove_suffix(1);
        auto const name = tag.substr(0, tag.find(' '));
        REQUIRE(!name.empty());
        tag.remove_prefix(name.size());
        std::vector<std::string_view> attributes;
        while (!tag.empty()) {
            REQUIRE(tag[0] == ' ');
            auto const equals = tag.find("=\"");
            REQUIRE(equals != tag.npos);
            auto const attribute = tag.substr(1, equals - 1);
            REQUIRE(std::find(attributes.begin(), attributes.end(), attribute) == attributes.end());
            attributes.push_back(attribute);
            auto const quote = tag.find('"', equals + 2);
            REQUIRE(quote != tag.npos);
            check_text(tag.substr(equals + 2, quote - equals - 2), true);
            tag.remove_prefix(quote + 1);
        }
        if (open.empty()) ++roots;
        if (!closes) open.push_back(name);
    }
    CHECK(open.empty());
    CHECK(roots == 1);
}

template <class... Arguments>
std::string svg(sublet::memory_plan const& plan, Arguments... arguments)
{
    std::ostringstream out;
    CHECK(&sublet::write_svg(out, plan, arguments...) == &out);
    check_well_formed(out.str());
    return out.str();
}

struct rectangle {
    double x, y, width, height;
};

double number_after(std::string_view text, std::string_view key)
{
    auto const at = text.find(key);
    REQUIRE(at != text.npos);
    std::size_t used = 0;
    std::string const rest(text.substr(at + key.size(), 24));
    double const number = std::stod(rest, &used);
    auto const point = rest.substr(0, used).find('.');
    if (point != rest.npos) CHECK(used - point <= 3); // two decimals
    return number;
}

std::vector<rectangle> rectangles(std::string_view text)
{
    std::vector<rectangle> result;
    for (auto at = text.find("<rect"); at != text.npos; at = text.find("<rect", at + 1)) {
        auto const rect = text.substr(at, text.find('>', at) - at);
        result.push_back({number_after(rect, " x=\""), number_after(rect, " y=\""),
                          number_after(rect, " width=\""), number_after(rect, " height=\"")});
    }
    return result;
}

} // namespace

TEST_CASE("five buffers make this picture")
{
    std::string const names[] = {"conv1", "bias", "relu", "pool", "softmax"};
    std::string const text = svg(
        five_buffers(), [&](auto v) -> auto& { return names[v]; },
        sublet::svg_options{.width = 400, .height = 80, .title = "Five"});
    CHECK(
        text.substr(0, text.find("<style>")) ==
        R"(<svg xmlns="http://www.w3.org/2000/svg" role="img" width="400" height="198" viewBox="0 0 400 198">
<title>Five</title>
<desc>5 buffers over 7 positions; pool 0: arena of 104 bytes, peak of 104 bytes at position 5</desc>
)");
    CHECK(text.substr(text.find("<path")) == R"(<path class="page" d="M0 0H400V198H0z"/>
<text class="title" x="72" y="27">Five</text>
<text x="72" y="47">5 buffers in 104 B, equal to the lower bound</text>
<path class="plot" d="M72 82H312V162H72z"/>
<text class="e" x="65" y="166">0 B</text>
<path class="grid" d="M72 112.77H312"/><text class="e" x="65" y="116.77">64 B</text>
<path class="tick" d="M72 162v5"/><text class="m" x="72" y="180">0</text>
<path class="tick" d="M243.42 162v5"/><text class="m" x="243.42" y="180">5</text>
<text class="e" x="390" y="180">position</text>
<g>
<rect class="A s" x="72" y="112.77" width="68.57" height="49.23"><title>conv1: positions [0, 2), 64 bytes at 0</title></rect>
<text class="n" x="106.28" y="141.38">conv1</text>
<rect class="F s" x="106.28" y="88.16" width="68.57" height="24.61"><title>bias: positions [1, 3), 32 bytes at 64</title></rect>
<text class="n" x="140.56" y="104.46">bias</text>
<rect class="K s" x="140.57" y="125.08" width="102.85" height="36.92"><title>relu: positions [2, 5), 48 bytes at 0</title></rect>
<text class="n" x="191.99" y="147.54">relu</text>
<rect class="D s" x="174.85" y="82" width="102.86" height="30.77"><title>pool: positions [3, 6), 40 bytes at 64</title></rect>
<text class="n" x="226.28" y="101.38">pool</text>
<rect class="I s" x="243.42" y="112.77" width="68.58" height="49.23"><title>softmax: positions [5, 7), 64 bytes at 0</title></rect>
<text class="n" x="277.71" y="141.38">softmax</text>
</g>
<path class="arena" d="M72 82H318"/><text class="a" x="320" y="65">arena</text><text class="a" x="320" y="78">104 B</text>
<path class="peak" d="M72 82H318"/><text class="p" x="320" y="93">lower bound</text><text class="p" x="320" y="106">104 B</text>
<path class="peak" d="M260.56 78V162"/><path class="mark" d="M260.56 80l-4.5 -7h9z"/><text class="h e" x="260.56" y="68">peak 104 B at 5</text>
</svg>
)");
}

TEST_CASE("an empty plan is a picture that says so")
{
    std::string const text = svg({});
    CHECK(count(text, "<rect") == 0);
    CHECK(count(text, "Nothing to draw") == 1);
    CHECK(text == svg(plan_of({placed(0, 3, 0, 0), placed(0, 3, 8, sublet::no_offset)})));
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
        svg(five_buffers(), [&](auto) -> auto& { return name; }, sublet::svg_options{.title = "a < b & c\t"});
    CHECK(count(text, "<title>&lt;a href=\"x\"&gt;&amp;'?: positions") == 5);
    CHECK(count(text, "<title>a &lt; b &amp; c</title>") == 1);
}

TEST_CASE("a name that does not fit shows its end, cut between characters")
{
    std::string name;
    for (int i = 0; i != 50; ++i) name += "ä";
    name += "end";
    std::string const text = svg(
        plan_of({placed(0, 3, 8, 0)}), [&](auto) -> auto& { return name; },
        sublet::svg_options{.width = 320, .height = 60});
    auto const label = text.find("…");
    REQUIRE(label != text.npos);
    auto const shown = text.substr(label + 3, text.find("</text>", label) - label - 3);
    CHECK(shown == "ääääääääääääääääääend"); // 22 characters fit, and one of them is the ellipsis
}

TEST_CASE("a name stands in wide buffers, is turned in tall ones and left out of small ones")
{
    auto const text =
        svg(plan_of({placed(0, 100, 50, 0), placed(100, 103, 100, 0), placed(0, 1, 50, 50)}), [](auto v) {
            return v == 0 ? "wide" : v == 1 ? "tall name" : "small";
        });
    CHECK(count(text, ">wide</text>") == 1);
    CHECK(count(text, "rotate(-90 ") == 1);
    CHECK(count(text, ">tall name</text>") == 1);
    CHECK(count(text, ">small</text>") == 0);
}

TEST_CASE("the drawing of a buffer is its life by its addresses")
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

TEST_CASE("the marked peak is the first position at which most bytes are alive")
{
    dice draw{std::mt19937(12)};
    for (int round = 0; round != 300; ++round) {
        CAPTURE(round);
        std::vector<sublet::placed_buffer> buffers;
        for (auto n = 1 + draw.below(12); n != 0; --n) {
            sublet::step_id const first = draw.below(10);
            sublet::step_id const length = draw.below(5);
            sublet::byte_count const size = 1 + draw.below(9);
            buffers.push_back(placed(first, first + length, size, draw.below(30)));
        }
        std::uint64_t peak = 0;
        sublet::step_id at = 0;
        for (sublet::step_id p = 0; p != 20; ++p) {
            std::uint64_t alive = 0;
            for (auto const& b : buffers)
                if (sublet::contains(b.life, p)) alive += b.size;
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

TEST_CASE("the heading says how far the arena is above the lower bound")
{
    CHECK(count(svg(five_buffers()), ">5 buffers in 104 B, equal to the lower bound<") == 1);
    CHECK(count(svg(plan_of({placed(0, 1, 8, 2)})), ">1 buffer in 10 B, 25 % above the lower bound<") == 1);
    auto plan = plan_of({placed(0, 1, 1000, 0)});
    plan.arena_bytes[0] = 1007;
    CHECK(count(svg(plan), "0.7 % above the lower bound") == 1);
}

TEST_CASE("each pool has a panel with an arena and a peak of its own")
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
    sublet::step_id const last = 4294967295u;
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

TEST_CASE("a plan that is not sound is drawn as it is")
{
    auto plan = plan_of({placed(0, 2, 64, 0), placed(1, 3, 64, 32), placed(1, 3, 64, sublet::no_offset - 8)});
    plan.arena_bytes[0] = 40;
    auto const drawn = rectangles(svg(plan));
    REQUIRE(drawn.size() == 3);
    for (auto r : drawn) CHECK(r.y >= 80);
}

TEST_CASE("ticks are few, whatever the scale")
{
    dice draw{std::mt19937(5)};
    for (int round = 0; round != 200; ++round) {
        CAPTURE(round);
        auto const size = std::max<std::uint64_t>(draw.wide(), 2) - 1;
        sublet::step_id const last = 1 + static_cast<sublet::step_id>(draw.wide() >> 33);
        auto const text = svg(plan_of({placed(0, last, size, 0)}));
        CHECK(count(text, "class=\"grid\"") <= 7);
        CHECK(count(text, "class=\"tick\"") <= 11);
        CHECK(count(text, "class=\"tick\"") >= 2);
    }
}

TEST_CASE("options out of their limits are a broken precondition")
{
    std::ostringstream out;
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.width = 319}), sublet::precondition_error);
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.width = 40000}), sublet::precondition_error);
    CHECK_THROWS_AS(sublet::write_svg(out, {}, {.height = 0}), sublet::precondition_error);
    CHECK_NOTHROW(sublet::write_svg(out, five_buffers(), {.width = 320, .height = 60}));
    auto const whole = sublet::no_offset - 1;
    auto const twice = plan_of({placed(0, 1, whole, 0), placed(0, 1, whole, 0)});
    CHECK_THROWS_AS(sublet::write_svg(out, twice), sublet::precondition_error);
}

TEST_CASE("the same plan gives the same bytes, and the size grows with the number of buffers")
{
    auto const many = [](std::size_t n) {
        dice draw{std::mt19937(7)};
        std::vector<sublet::placed_buffer> buffers;
        for (std::size_t i = 0; i != n; ++i) {
            sublet::step_id const first = draw.below(100000);
            sublet::step_id const length = 1 + draw.below(100);
            sublet::byte_count const size = 1 + draw.below(4096);
            buffers.push_back(placed(first, first + length, size, draw.below(10000000)));
        }
        return plan_of(buffers);
    };
    std::ostringstream few_out, many_out, again_out;
    sublet::write_svg(few_out, many(1000));
    sublet::write_svg(many_out, many(60000));
    sublet::write_svg(again_out, many(60000));
    CHECK(many_out.str() == again_out.str());
    CHECK(count(many_out.str(), "<rect") == 60000);
    CHECK(many_out.str().size() < 62 * few_out.str().size());
}
