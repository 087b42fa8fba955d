// SPDX-License-Identifier: BSL-1.0
#include <sublet/adapt/json.hpp>

#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../run_environment.hpp"

#include <sublet/checking/check_plan.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/reporting/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <istream>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::string written(memory_plan const& plan)
{
    std::ostringstream out;
    write_json(out, plan);
    return out.str();
}

/// Line, column and sentence of an error; empty if there is a plan.
std::string refusal(std::string_view text)
{
    json_plan const read = read_json(text);
    if (read) return "";
    CHECK(read.plan == memory_plan{});
    CHECK(read.names.empty());
    json_plan::failure const& why = read.error();
    std::string const line = std::to_string(why.line), column = std::to_string(why.column);
    std::ostringstream out;
    CHECK(&(out << why) == &out);
    CHECK(out.str() == "line " + line + ", column " + column + ": " + why.sentence);
    return line + ":" + column + " " + why.sentence;
}

/// A document with these members, and the others empty.
std::string with(std::string const& members)
{
    std::string text = "{\"sublet_plan\":1,\"valid_for\":\"sequential\"," + members;
    for (char const* list : {"order", "pools", "blocks", "buffers", "values", "handoffs", "unsized"})
        if (text.find('"' + std::string(list) + "\":[") == text.npos)
            text += (text.back() == ',' ? "\"" : ",\"") + std::string(list) + "\":[]";
    return text + '}';
}

std::string const one_buffer =
    R"("pools":[{"arena_bytes":"8"}],"buffers":[{"root":0,"pool":0,"offset":"0","size":"8","alignment":"1",)"
    R"("first":0,"last":1,"over":null}],"values":[{"buffer":0}])";

std::string replaced(std::string text, std::string const& what, std::string const& by)
{
    std::size_t const at = text.find(what);
    REQUIRE(at != text.npos);
    return text.replace(at, what.size(), by);
}

/// A plan with everything that one can hold, which may be valid for no program.
memory_plan draw_plan(random_source& pick)
{
    memory_plan plan;
    plan.valid_for = static_cast<program_reading>(pick.below(3));
    for (std::uint32_t n = 0, count = pick.below(6); n != count; ++n) plan.order.push_back(n);
    std::shuffle(plan.order.begin(), plan.order.end(), pick.random);
    for (std::uint32_t i = 1 + pick.below(3); i != 0; --i) {
        byte_count const bytes = pick.wide();
        plan.arena_bytes.push_back(bytes < no_size ? bytes : 0);
    }
    auto const pools = static_cast<std::uint32_t>(plan.arena_bytes.size());
    for (pool_id p = 0; p != pools; ++p) {
        byte_count begin = 0;
        for (std::uint32_t i = pick.below(3); i != 0; --i) {
            byte_count const size = pick.wide() / 4;
            plan.blocks.push_back({p, begin, size});
            begin += size;
        }
    }
    std::uint32_t const values = pick.below(9);
    bool const has_parts = pick.below(2) == 0 && values != 0;
    for (value_id v = 0; v != values; ++v) {
        if (pick.below(3) != 0) continue;
        memory_plan::placed_buffer b{.root = v};
        b.life.first = pick.below(no_position);
        b.life.last = b.life.first + pick.below(no_position - b.life.first);
        b.size = pick.wide() / 2;
        b.alignment = 1 + pick.wide() / 2;
        b.pool = pick.below(pools);
        if (pick.below(5) != 0) b.offset = pick.wide() / 4;
        if (!plan.buffers.empty() && pick.below(3) == 0)
            b.over = pick.below(static_cast<std::uint32_t>(plan.buffers.size()));
        plan.buffers.push_back(b);
    }
    auto const buffers = static_cast<std::uint32_t>(plan.buffers.size());
    for (value_id v = 0; v != values; ++v) {
        plan.buffer_of.push_back(buffers == 0 || pick.below(4) == 0 ? no_buffer
                                                                    : buffer_id{pick.below(buffers)});
        if (has_parts) plan.offset_in_root.push_back(pick.wide() / 2);
        if (pick.below(6) == 0) plan.unsized.push_back(v);
    }
    for (std::uint32_t i = pick.below(3); i != 0; --i) {
        step_id const from = pick.below(1000);
        plan.handoffs.push_back({from, from + 1 + pick.below(1000)});
    }
    return plan;
}

} // namespace

TEST_CASE("a plan that is written and read is the same plan")
{
    auto const program = sequence(
        3, 3, [](auto s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{s - 1}; },
        [](auto s) { return std::vector<value_id>{+s}; });
    plan_options const options{.bytes = std::vector{64, 96, 32}};
    memory_plan const plan = plan_memory(program, options).plan;
    std::ostringstream out;
    write_json(out, plan, {.names = [](value_id v) { return "<\"" + std::to_string(v) + "\\&\n>"; }});
    json_plan const read = read_json(out.str());
    if (!read) FAIL(read.error());
    CHECK(read.plan == plan);
    CHECK(read.names == std::vector<std::string>{"<\"0\\&\n>", "<\"1\\&\n>", "<\"2\\&\n>"});
    CHECK(check_plan(program, read.plan, options));

    std::istringstream in(out.str());
    CHECK(read_json(in).plan == plan);
}

TEST_CASE("a plan that is read is reported as a planned one, and an error is no plan")
{
    json_plan const read =
        read_json(replaced(with(one_buffer), R"({"buffer":0})", R"({"buffer":0,"name":"a"})"));
    if (!read) FAIL(read.error());
    CHECK_THROWS_WITH(static_cast<void>(read.error()), "sublet: a plan has no error");
    std::ostringstream out;
    write_json(out, read, {.names = read.names});
    CHECK(read_json(out.str()).plan == read.plan);
    CHECK(read_json(out.str()).names == read.names);
    CHECK_THROWS_WITH(write_json(out, read_json("{\n")),
                      "sublet: there is no plan to write: line 2, column 1: the text ends too early");
    CHECK(read_json("[]").error().sentence == "a plan is an object"); // of a temporary
}

TEST_CASE("an empty plan is read")
{
    CHECK(read_json(with("")).plan == memory_plan{});
    CHECK(read_json(written({})).plan == memory_plan{});
}

/// Calls `judge` with the generator, a program and its plan.
template <class Judge>
static void for_random_plans(Judge judge)
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        subject const drawn = draw_subject(pick);
        auto const planned = plan_memory(drawn.program, drawn.options);
        if (planned) judge(pick, drawn, planned.plan);
    }
}

TEST_CASE("plans of random programs are read as they are")
{
    for_random_plans([&](random_source&, subject const& drawn, memory_plan const& plan) {
        json_plan const read = read_json(written(plan));
        if (!read) FAIL(read.error());
        CHECK(read.plan == plan);
        CHECK(check_plan(drawn.program, read.plan, drawn.options));
    });
}

TEST_CASE("plans of random tasks, with hand-offs, are read as they are")
{
    std::size_t handoffs = 0;
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 1 + pick.below(20), .views = 20, .pools = 2});
        auto const planned = plan_with_handoffs(tasks.program(), tasks.options());
        REQUIRE(planned);
        handoffs += planned.plan.handoffs.size();
        json_plan const read = read_json(written(planned.plan));
        if (!read) FAIL(read.error());
        CHECK(read.plan == planned.plan);
    }
    if (rounds(200) >= 200) CHECK(handoffs > 0);
}

TEST_CASE("random plans with all that a plan can hold are read as they are")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        memory_plan const plan = draw_plan(pick);
        json_plan const read = read_json(written(plan));
        if (!read) FAIL(read.error());
        CHECK(read.plan == plan);
    }
}

TEST_CASE("the order of members and space between tokens have no meaning")
{
    std::string const text =
        "\xEF\xBB\xBF { \"unsized\" : [ ] ,\r\n\t\"values\":[],\"handoffs\":[],\"order\":[],"
        "\"buffers\":[],\"blocks\":[],\"pools\":[],\"valid_for\":\"control_flow\","
        "\"sublet_plan\":1}\n\n";
    json_plan const read = read_json(text);
    if (!read) FAIL(read.error());
    CHECK(read.plan.valid_for == program_reading::control_flow);
}

TEST_CASE("a value without a name has none, whatever stands before it")
{
    std::string const text =
        replaced(with(one_buffer), R"({"root":0)", R"({"name":"of the buffer","root":0)");
    json_plan const read = read_json(
        replaced(text, R"([{"buffer":0}])", R"([{"buffer":0},{"name":"b","buffer":null},{"buffer":null}])"));
    if (!read) FAIL(read.error());
    CHECK(read.names == std::vector<std::string>{"", "b", ""});
}

TEST_CASE("an error says what is wrong and where")
{
    CHECK(refusal("") == "1:1 the text ends too early");
    CHECK(refusal("{") == "1:2 the text ends too early");
    CHECK(refusal("{\n \"order\": [1,\n  2") == "3:4 the text ends too early");
    CHECK(refusal("{\n \"order\": [1,\n  2}") == "3:4 this is not JSON");
    CHECK(refusal("{\"order\": [1, x]}") == "1:15 this is not JSON");
    CHECK(refusal("5") == "1:1 a plan is an object");
    CHECK(refusal("[]") == "1:1 a plan is an object");
    CHECK(refusal("null") == "1:1 a plan is an object");
    CHECK(refusal("{\"a\nb\": 1}").substr(0, 4) == "1:4 ");
    CHECK(refusal(with("") + " 1") == "1:130 this is not JSON");
    CHECK(refusal("{\n  \"plan\": 1}") == "2:3 a plan has no member 'plan'");
    CHECK(refusal("{\"sublet_plan\":1}") == "1:17 the member 'valid_for' is missing");
    CHECK(refusal("{\"sublet_plan\": 2}") ==
          "1:17 the version of the schema is 2, and only version 1 can be read");
    CHECK(refusal("{\"sublet_plan\": \"1\"}") == "1:17 'sublet_plan' is the number 1");
    CHECK(refusal("{\"sublet_plan\": [1]}") == "1:17 'sublet_plan' is the number 1");
    CHECK(refusal("{\"valid_for\": \"ever\"}") ==
          "1:15 'valid_for' is \"sequential\", \"concurrent\" or \"control_flow\"");
    CHECK(refusal("{\"order\": {}}") == "1:11 'order' is a list");
    CHECK(refusal("{\"order\": [[0]]}") == "1:12 an item of 'order' is a number from 0 to 4294967294");
    CHECK(refusal("{\"order\": [],\n \"order\": []}") == "2:2 the member 'order' is there twice");
    for (char const* number :
         {"-1", "-0", "1.0", "1e3", "4294967295", "99999999999999999999999", "\"1\"", "null", "true"})
        CHECK(refusal("{\"order\": [0,\n" + std::string(number) + "]}") ==
              "2:1 an item of 'order' is a number from 0 to 4294967294");
    CHECK(refusal("{\"order\": [1e999]}").find("this is not JSON") != std::string::npos);
    CHECK(refusal(with("\"order\":[1,0,1]")).find(" node 1 is there twice") != std::string::npos);
    CHECK(refusal(with("\"order\":[0,3]")).find(" there is no node 3, but 2") != std::string::npos);
    CHECK(refusal(with("\"unsized\":[3,3]")).find(" value 3 is there twice") != std::string::npos);
    CHECK(refusal("{\"buffers\": [1]}") == "1:14 an item of 'buffers' is an object");
    CHECK(refusal("{\"buffers\": [{\"name\": 1}]}") == "1:23 'name' is a string");
    CHECK(refusal("{\"buffers\": [{\"x\": 1}]}") == "1:15 an item of 'buffers' has no member 'x'");
    CHECK(refusal("{\"buffers\": [{\"root\": 1, \"root\": 1}]}") == "1:26 the member 'root' is there twice");
    CHECK(refusal("{\"buffers\": [{\"root\": 1}]}") == "1:24 the member 'pool' is missing");
    CHECK(refusal("{\"buffers\": [{\"root\": 4294967295}]}") ==
          "1:23 'root' is a number from 0 to 4294967294");
    CHECK(refusal("{\"buffers\": [{\"over\": 4294967295}]}") ==
          "1:23 'over' is a number from 0 to 4294967294, or null");
    CHECK(refusal("{\"handoffs\": [{\"from\": 1, \"to\": 1}]}") == "1:15 a hand-off is between two steps");
    for (char const* bytes : {"5", "\"\"", "\"05\"", "\"00\"", "\"-1\"", "\" 1\"", "\"1 \"", "\"1e3\"",
                              "\"18446744073709551615\"", "\"99999999999999999999\"", "null", "\"0x1\""})
        CHECK(refusal("{\"pools\": [{\"arena_bytes\": " + std::string(bytes) + "}]}") ==
              "1:28 'arena_bytes' is a string of digits, from \"0\" to \"18446744073709551614\"");
    CHECK(read_json(with("\"pools\":[{\"arena_bytes\":\"18446744073709551614\"}]")).plan.arena_bytes[0] ==
          no_size - 1);
}

TEST_CASE("a plan that contradicts itself is refused")
{
    REQUIRE(refusal(with(one_buffer)).empty());
    auto refused = [](std::string const& what, std::string const& by) {
        std::string const said = refusal(replaced(with(one_buffer), what, by));
        return said.substr(std::min(said.find(' ') + 1, said.size()));
    };
    std::string const another = R"({"root":0,"pool":0,"offset":"0","size":"8","alignment":"1","first":0,)"
                                R"("last":1,"over":null},{"root":)";
    CHECK(refused(R"("alignment":"1")", R"("alignment":"0")") == "'alignment' is at least 1");
    CHECK(refused(R"("first":0)", R"("first":2)") == "'last' is before 'first'");
    CHECK(refused(R"("offset":"0")", R"("offset":"18446744073709551607")") ==
          "'offset' and 'size' exceed 64 bits together");
    CHECK(refused(R"("pool":0)", R"("pool":1)") == "there is no pool 1, but 1");
    CHECK(refused(R"("root":0)", R"("root":1)") == "there is no value 1, but 1");
    CHECK(refused(R"("over":null)", R"("over":1)") == "there is no buffer 1, but 1");
    CHECK(refused(R"("over":null)", R"("over":0)") == "a buffer is written over itself");
    CHECK(refused(R"({"root":)", another) == "roots of buffers are not ascending, or one is there twice");
    CHECK(refused(R"("buffer":0)", R"("buffer":1)") == "there is no buffer 1, but 1");
    CHECK(refused(R"({"buffer":0})", R"({"buffer":0},{"buffer":null,"begin":"0"})") ==
          "'begin' is in all values or in none");
    CHECK(refused(R"({"buffer":0})", R"({"buffer":0,"begin":"0"},{"buffer":null})") ==
          "'begin' is in all values or in none");
    CHECK(refused(R"("unsized":[])", R"("unsized":[1])") == "there is no value 1, but 1");
    std::string const blocks = R"("blocks":[{"pool":0,"begin":"8","size":"8"},)";
    CHECK(refused(R"("blocks":[])", blocks + R"({"pool":0,"begin":"15","size":"8"}])") ==
          "blocks are not ascending, or overlap");
    CHECK(refused(R"("blocks":[])", blocks + R"({"pool":1,"begin":"16","size":"8"}])") ==
          "there is no pool 1, but 1");
    CHECK(refused(R"("blocks":[])", R"("blocks":[{"pool":0,"begin":"9","size":"18446744073709551610"}])") ==
          "'begin' and 'size' exceed 64 bits together");
}

TEST_CASE("hostile texts get one sentence")
{
    for (std::string const& text :
         {std::string(10'000'000, '['), std::string(1'000'000, '{'),
          "{\"order\": " + std::string(1'000'000, '['),
          "{\"sublet_plan\":" + std::string(1'000'000, '9') + "}", std::string(1000, '\0'),
          "{\"" + std::string(1'000'000, 'x') + "\": 1}", std::string("\xFF\xFE{\0}\0", 6),
          "{\"pools\":[{\"arena_bytes\":\"" + std::string(1'000'000, '9') + "\"}]}",
          "{\"valid_for\":\"" + std::string(1'000'000, '\xFF') + "\"}"}) {
        std::string const said = refusal(text);
        CHECK(!said.empty());
        CHECK(said.size() < 200);
        CHECK(std::all_of(said.begin(), said.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
}

TEST_CASE("a document that is cut short anywhere is refused")
{
    random_source pick{std::mt19937(first_seed())};
    std::string const text = written(draw_plan(pick));
    for (std::size_t length = 0; length + 1 < text.size(); ++length)
        CHECK(!read_json(std::string_view(text).substr(0, length)));
}

TEST_CASE("a damaged document is refused, or a plan that is written as it is read")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::string text = written(draw_plan(pick));
        for (std::uint32_t i = 1 + pick.below(3); i != 0; --i) {
            std::size_t const at = pick.below(static_cast<std::uint32_t>(text.size()));
            switch (pick.below(4)) {
            case 0: text[at] = static_cast<char>(pick.below(256)); break;
            case 1: text[at] = "0129-\"{}[],:"[pick.below(12)]; break;
            case 2: text.erase(at, 1 + pick.below(20)); break;
            default: text.insert(at, text.substr(pick.below(static_cast<std::uint32_t>(text.size())), 30));
            }
            if (text.empty()) text = " ";
        }
        json_plan const read = read_json(text);
        if (read) CHECK(read_json(written(read.plan)).plan == read.plan);
        else CHECK(!read.error().sentence.empty());
    }
}

TEST_CASE("whatever is read of a damaged plan, the checker finds what is wrong with it")
{
    std::size_t sound = 0, unsound = 0;
    for_random_plans([&](random_source& pick, subject const& drawn, memory_plan const& plan) {
        std::string text = written(plan);
        std::size_t at = pick.below(static_cast<std::uint32_t>(text.size()));
        while (at != text.size() && (text[at] < '0' || text[at] > '9')) ++at;
        if (at == text.size()) return;
        text[at] = static_cast<char>('0' + pick.below(10));
        json_plan const read = read_json(text);
        if (!read) return;
        bool const is_sound{check_plan(drawn.program, read.plan, drawn.options)};
        if (read.plan == plan) CHECK(is_sound);
        ++(is_sound ? sound : unsound);
    });
    if (rounds(1000) < 1000) return;
    CHECK(sound > 10);
    CHECK(unsound > 10);
}

TEST_CASE("a stream that cannot be read is an error")
{
    struct broken : std::streambuf {
        int_type underflow() override { throw std::runtime_error("no disk"); }
    } source;
    std::istream in(&source);
    json_plan const read = read_json(in);
    REQUIRE(!read);
    CHECK(read.error() == json_plan::failure{"the text cannot be read to its end", 1, 1});
}

} // namespace this_test
