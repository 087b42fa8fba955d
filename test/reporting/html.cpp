// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/html.hpp>

#include "../random_source.hpp"
#include "svg_reading.hpp"

#include <sublet/graph/snapshot.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

using namespace reading;

template <class... Arguments>
std::string html(Arguments const&... arguments)
{
    std::ostringstream out;
    CHECK(&sublet::write_html(out, arguments...) == &out);
    std::string const text = out.str();
    // One document, with one block of data that only its own end ends, and nothing from elsewhere.
    CHECK(text.starts_with("<!DOCTYPE html>\n"));
    CHECK(text.ends_with("</html>\n"));
    CHECK(count(text, "</html>") == 1);
    CHECK(count(text, "<script") == 2);
    CHECK(count(text, "</script>") == 2);
    CHECK(count(text, "<title>") == 1);
    CHECK(count(text, "http://") + count(text, "https://") + count(text, "src=") == 0);
    CHECK(text.find('\0') == text.npos);
    return text;
}

/// The data in a page.
std::string data_of(std::string const& page)
{
    std::string_view const begin = "<script type=\"application/json\" id=\"data\">\n";
    auto const first = page.find(begin) + begin.size();
    return page.substr(first, page.find("\n</script>", first) - first);
}

/// The text of a member, up to the end of its line; of the last plan, if there are two.
std::string member(std::string const& data, std::string const& key)
{
    auto const at = data.rfind("\"" + key + "\":");
    REQUIRE(at != data.npos);
    auto const first = at + key.size() + 3, last = data.find('\n', first);
    return data.substr(first, data.find_last_not_of(",}]\n", last) + 1 - first) +
           (data[first] == '[' ? "]" : "");
}

/// JSON: brackets that close in order, strings with known escapes, numbers that JavaScript holds exactly.
void check_json(std::string_view text)
{
    std::string open;
    for (std::size_t i = 0; i != text.size(); ++i) {
        char const c = text[i];
        if (c == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i) {
                if (static_cast<unsigned char>(text[i]) < 0x20 || text[i] == '<')
                    FAIL("a character in a string");
                if (text[i] == '\\') {
                    ++i;
                    if (text.substr(i, 5) != "u003c" && text[i] != '"' && text[i] != '\\') FAIL("an escape");
                }
            }
            REQUIRE(i < text.size());
        } else if (c == '{' || c == '[') {
            open += c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            REQUIRE(!open.empty());
            REQUIRE(open.back() == c);
            open.pop_back();
        } else if (c >= '0' && c <= '9') {
            std::uint64_t number = 0;
            std::size_t const first = i;
            for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
                number = 10 * number + static_cast<std::uint64_t>(text[i] - '0');
            if (i - first > 16 || number > std::uint64_t{1} << 53) FAIL("a number beyond 2^53");
            --i;
        }
    }
    CHECK(open.empty());
}

TEST_CASE("a page holds its plan as rows, with names and kinds by number")
{
    std::string const names[] = {"conv1", "bias", "relu", "pool", "softmax"};
    std::string const kinds[] = {"Conv", "Conv", "Relu", "Pool", "Softmax"};
    std::string const page =
        html(five_buffers(), sublet::html_options{.names = names,
                                                  .kinds = [&](auto v) -> auto& { return kinds[v]; },
                                                  .title = "Five"});
    CHECK(count(page, "<title>Five</title>") == 1);
    CHECK(count(page, "<h1>Five</h1>") == 1);
    check_json(data_of(page));
    CHECK(data_of(page) == R"({"title":"Five",
"has_steps":false,
"names":["conv1","bias","relu","pool","softmax"],
"steps":[],
"kinds":["Conv","Relu","Softmax","Pool"],
"plans":[{"label":"",
"report":"",
"reading":0,
"arena":[104],
"bound":[],
"blocks":[],
"root":[0,1,2,3,4],
"pool":[0,0,0,0,0],
"first":[0,1,2,3,5],
"last":[2,3,5,6,7],
"size":[64,32,48,40,64],
"offset":[0,64,0,64,0],
"alignment":[1,1,1,1,1],
"over":[-1,-1,-1,-1,-1],
"kind":[0,0,1,3,2],
"holds":[],
"pinned":[],
"in_place":[],
"handoffs":[],
"path":[],
"without_place":0}]})");
}

TEST_CASE("a planner's result adds its sentence, bounds, in-place pairs and, with the program, the steps")
{
    // a; b over a; c in the other pool; d reads all
    auto const program = sublet::sequence(4, 4, [](auto s, sublet::effect_sink& step) {
        if (s == 1) step.use(0);
        if (s == 3) step.use(1), step.use(2);
        step.def(+s);
        if (s == 1) step.may_overwrite(0, 1);
    });
    sublet::plan_options const options{
        .bytes = {64, 64, 16, 8},
        .role = {sublet::value_role::intermediate, sublet::value_role::intermediate,
                 sublet::value_role::intermediate, sublet::value_role::output},
        .pool = {0, 0, 1, 0},
        .pinned = {sublet::no_offset, sublet::no_offset, sublet::no_offset, sublet::byte_count{64}}};
    auto const planned = sublet::plan_memory(program, options);
    REQUIRE(planned);
    auto const letter = [](auto v) { return std::string(1, static_cast<char>('a' + v)); };
    auto const step = [](auto s) { return "step " + std::to_string(s + 1); };
    auto const page =
        html(planned,
             sublet::html_options{
                 .names = letter, .kinds = letter, .steps = step, .program = &program, .options = &options});
    std::string const data = data_of(page);
    check_json(data);
    CHECK(member(data, "report") == "\"88 B instead of 88 B; no plan in this order goes below 88 B\"");
    CHECK(member(data, "steps") == R"(["step 1","step 2","step 3","step 4"])");
    CHECK(member(data, "names") == R"(["a","b","c","d"])");
    CHECK(member(data, "arena") == "[72,16]");
    CHECK(member(data, "bound") == "[72,16]");
    CHECK(member(data, "root") == "[0,3,2]"); // pool 0, then pool 1
    CHECK(member(data, "holds") == "[0,0,2,1]");
    CHECK(member(data, "pinned") == "[1]");
    CHECK(member(data, "in_place") == "[[1,0,1,64,56,56]");
    CHECK(member(data, "maker") == "[0,3,2]");
    CHECK(member(data, "user") == "[3,3,3]");
    CHECK(member(data, "until") == "[4,4,4]");
    CHECK(member(data, "last") == "[4,4,4]");
}

TEST_CASE("the result for a listing is written with the names of its handles")
{
    sublet::listing<std::string> list;
    list.step("load").make("image", {.bytes = 64});
    list.step("blur").read("image").make("blurred", {.bytes = 32, .role = sublet::value_role::output});
    auto const planned = sublet::plan_memory(list);
    auto const page = html(planned, sublet::html_options{.names = [&](auto v) { return list.handle(v); }});
    CHECK(member(data_of(page), "names") == R"(["image","blurred"])");
    CHECK(member(data_of(page), "size") == "[64,32]");
}

TEST_CASE("what is carried into the next round is in the page, with the step that makes it")
{
    // history and now change places; kept stays.
    sublet::listing<std::string> list;
    for (auto texture : {"lit", "history", "now", "kept"}) list.facts(texture, {.bytes = 64});
    list.step("light").read("kept").make("lit");
    list.step("blend").read("lit").read("history").make("now");
    auto page_of = [&] {
        auto const planned = sublet::plan_memory(list);
        REQUIRE(planned);
        auto const program = list.program();
        auto const options = list.options();
        std::string const data = data_of(html(
            planned, sublet::html_options{.names = list.names(), .program = &program, .options = &options}));
        check_json(data);
        return data;
    };
    list.facts("kept", {.bytes = 64, .role = sublet::value_role::input});
    list.facts("history", {.bytes = 64, .role = sublet::value_role::input});
    CHECK(count(page_of(), "carried") == 0);
    list.carries("now", "history");
    list.carries("kept", "kept");
    std::string const data = page_of();
    CHECK(member(data, "names") == R"(["lit","history","now","kept"])");
    CHECK(member(data, "root") == "[0,1,2,3]");
    CHECK(member(data, "maker") == "[0,-1,1,-1]");
    CHECK(member(data, "carried") == "[[2,1,2,1,true],[3,3,3,3,false]");
}

TEST_CASE("two plans are in one page, with their labels and one list of names")
{
    auto const program = sublet::sequence(3, 3, [](auto s, sublet::effect_sink& step) {
        if (s != 0) step.use(s - 1);
        step.def(+s);
        if (s != 0) step.may_overwrite(s - 1, +s);
    });
    sublet::plan_options options{.bytes = 8};
    auto const in_place = sublet::plan_memory(program, options);
    options.in_place = false;
    auto const apart = sublet::plan_memory(program, options);
    auto const page = html(apart, in_place, sublet::html_options{.before = "apart", .program = &program});
    std::string const data = data_of(page);
    check_json(data);
    CHECK(count(data, "\"label\":\"apart\"") == 1);
    CHECK(count(data, "\"label\":\"after\"") == 1);
    CHECK(count(data, "\"names\":") == 1);
    CHECK(member(data, "names") == R"(["0","1","2"])");
    CHECK(count(data, "\"holds\":[0,1,2]") == 1);
    CHECK(count(data, "\"holds\":[0,0,0]") == 1);
    CHECK(page == html(apart, in_place,
                       sublet::html_options{
                           .names = [](auto v) { return v; }, .before = "apart", .program = &program}));
}

TEST_CASE("with hand-offs, positions are those of an order that keeps them, and the critical path is named")
{
    // Two chains of two steps: 0 -> 1, 2 -> 3.
    auto const program = sublet::sequence(4, 4, [](auto s, sublet::effect_sink& step) {
        if (s % 2 == 1) step.use(s - 1);
        step.def(+s);
    });
    sublet::plan_options const options{.bytes = 64};
    sublet::planned_with_handoffs planned;
    static_cast<sublet::planned_memory&>(planned) = sublet::plan_memory(program, options);
    planned.plan.valid_for = sublet::program_reading::concurrent;
    planned.plan.handoffs = {{3, 0}}; // the second chain is first
    planned.handoff_bytes = {128};
    planned.critical_path = 2;
    planned.critical_path_with = planned.makespan = 4;
    auto const data = data_of(html(planned, sublet::html_options{.program = &program, .options = &options}));
    check_json(data);
    CHECK(member(data, "order") == "[2,3,0,1]");
    CHECK(member(data, "path") == "[2,3,0,1]");
    CHECK(member(data, "handoffs") == "[[3,0,128]");
    CHECK(member(data, "times") == "[0,2,4,4]");
    CHECK(data.find("waits_within") == std::string::npos);
    auto const curve =
        data_of(html(planned, sublet::html_options{.waits_within = {{sublet::no_limit, 0}, {128, 7}}}));
    check_json(curve);
    CHECK(member(curve, "waits_within") == "[[\"18446744073709551615\",0],[128,7]");
    CHECK(curve.find("cost_within") == std::string::npos);
    auto const costs =
        data_of(html(planned, sublet::html_options{.cost_within = {{64, sublet::no_limit}, {128, 7}}}));
    check_json(costs);
    CHECK(member(costs, "cost_within") == "[[64,\"18446744073709551615\"],[128,7]");
    CHECK(member(data, "first") == "[2,3,0,1]");
    CHECK(member(data, "last") == "[4,4,2,2]");
    planned.critical_path_with = 5; // by other durations
    CHECK(member(data_of(html(planned, sublet::html_options{.program = &program, .options = &options})),
                 "path") == "[]");
    CHECK(member(data_of(html(planned, sublet::html_options{.program = &program})), "first") == "[0,1,2,3]");
}

TEST_CASE("a live range with holes is a row for each range")
{
    // A conditional: 0 makes a; 1 reads it; 2 does not; both lead to 3.
    std::vector<std::vector<sublet::node_id>> const next{{1, 2}, {3}, {3}, {}};
    auto const program = sublet::flow(
        4, 3, [&](auto n) -> auto& { return next[n]; },
        [](auto n, sublet::effect_sink& step) {
            if (n == 0) step.def(0), step.def(1);
            if (n == 1) step.use(1), step.def(2);
            if (n == 2) step.def(2);
            if (n == 3) step.use(2), step.use(0);
        });
    sublet::plan_options const options{.bytes = 8, .order = {0, 2, 1, 3}};
    auto const planned = sublet::plan_flow(program, options);
    REQUIRE(planned);
    auto const data = data_of(html(planned, sublet::html_options{.program = &program, .options = &options}));
    check_json(data);
    std::size_t const rows = planned.by_range().buffers.size();
    CHECK(rows > planned.plan.buffers.size());
    CHECK(count(member(data, "first"), ",") + 1 == rows);
    CHECK(count(member(data, "user"), ",") + 1 == rows);
    CHECK(member(data, "reading") == "2");
}

TEST_CASE("a page without buffers, and buffers without bytes or offset")
{
    check_json(data_of(html(sublet::memory_plan{})));
    auto const plan = plan_of({placed(0, 3, 0, 0), placed(0, 3, 8, sublet::no_offset), placed(1, 1, 8, 0)});
    auto const data = data_of(html(plan));
    check_json(data);
    CHECK(member(data, "root") == "[0]");
    CHECK(member(data, "names") == R"(["2"])");
    CHECK(member(data, "without_place") == "1");
    sublet::snapshot const nothing = sublet::sequence(0, 0, [](auto, sublet::effect_sink&) {});
    sublet::memory_plan const empty;
    check_json(data_of(html(empty, sublet::html_options{.program = &nothing})));
    sublet::snapshot const another = sublet::sequence(1, 1, [](auto, sublet::effect_sink& s) { s.def(0); });
    std::ostringstream out;
    CHECK_THROWS_AS(sublet::write_html(out, plan, sublet::html_options{.program = &another}),
                    sublet::precondition_error);
    CHECK(out.str().empty());
}

TEST_CASE("sizes and offsets up to 2^64 are exact, as text beyond 2^53")
{
    std::uint64_t const exact = std::uint64_t{1} << 53;
    auto const plan = plan_of({placed(0, 1, exact, 0), placed(0, 1, exact + 1, exact),
                               placed(1, 2, sublet::no_size - 1, 0), placed(2, 3, 1, sublet::no_offset - 2)});
    auto const data = data_of(html(plan));
    check_json(data);
    CHECK(member(data, "size") == R"([9007199254740992,"9007199254740993","18446744073709551614",1])");
    CHECK(member(data, "offset") == R"([0,9007199254740992,0,"18446744073709551613"])");
    CHECK(member(data, "arena") == R"(["18446744073709551614"])");
}

TEST_CASE("no name, kind, step, label or title can end the script or break the data")
{
    std::string const name = "</script><!--<script>\"\\&\x01\n\xFF\xE2\x80\xA8";
    auto const bad = [&](auto) -> auto& { return name; };
    auto const program = sublet::sequence(2, 2, [](auto s, sublet::effect_sink& step) { step.def(+s); });
    auto const planned = sublet::plan_memory(program, {.bytes = 8});
    auto const page = html(planned, planned,
                           sublet::html_options{.names = bad,
                                                .kinds = bad,
                                                .steps = bad,
                                                .title = name,
                                                .before = name,
                                                .after = name,
                                                .program = &program});
    std::string const data = data_of(page);
    check_json(data);
    std::string const shown = "\"\\u003c/script>\\u003c!--\\u003cscript>\\\"\\\\&?\xE2\x80\xA8\"";
    CHECK(count(data, shown) == 1 + 2 + 2 + 1 + 2); // title, values, steps, kind, labels
    CHECK(count(page, "<title>&lt;/script&gt;&lt;!--&lt;script&gt;\"\\&amp;?\xE2\x80\xA8</title>") == 1);
}

TEST_CASE("random plans give data that can be read, and each drawn row once")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(200); ++seed) {
        CAPTURE(seed);
        random_source random_source{std::mt19937(seed)};
        std::vector<sublet::memory_plan::placed_buffer> buffers;
        std::size_t drawn = 0;
        for (std::uint32_t n = random_source.below(30); n != 0; --n) {
            sublet::position_id const first = random_source.below(40);
            sublet::position_id const last = first + random_source.below(10);
            std::uint64_t const size = random_source.wide() >> 1;
            std::uint64_t const offset =
                random_source.below(8) == 0 ? sublet::no_offset : random_source.wide() >> 1;
            buffers.push_back(placed(first, last, size, offset, random_source.below(3)));
            drawn += size != 0 && offset != sublet::no_offset;
        }
        std::string random_name;
        auto const name_of = [&](auto) -> auto& {
            random_name.clear();
            for (std::uint32_t i = random_source.below(12); i != 0; --i)
                random_name += static_cast<char>(random_source.below(256));
            return random_name;
        };
        auto const plan = plan_of(buffers);
        auto const data =
            data_of(html(plan, sublet::html_options{.names = name_of, .kinds = name_of, .steps = name_of}));
        check_json(data);
        std::string const roots = member(data, "root");
        CHECK((roots == "[]" ? 0 : count(roots, ",") + 1) == drawn);
    }
}

} // namespace this_test
