// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/json.hpp>

#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

std::string json(memory_plan const& plan, std::vector<std::string> const& names)
{
    std::ostringstream out;
    write_json(out, plan, {.names = names});
    return out.str();
}

} // namespace

TEST_CASE("two buffers are written as the header shows")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 2}, .size = 64, .offset = 0},
                    {.root = 1, .life = {1, 3}, .size = 32, .offset = 64}};
    plan.buffer_of = {0, 1, no_buffer};
    plan.arena_bytes = {96};
    CHECK(json(plan, {"a", "b", "w"}) == R"({
 "sublet_plan": 1,
 "valid_for": "sequential",
 "order": [],
 "pools": [
  {"arena_bytes": "96"}
 ],
 "blocks": [],
 "buffers": [
  {"root": 0, "name": "a", "pool": 0, "offset": "0", "size": "64", "alignment": "1", "first": 0, "last": 2, "over": null},
  {"root": 1, "name": "b", "pool": 0, "offset": "64", "size": "32", "alignment": "1", "first": 1, "last": 3, "over": null}
 ],
 "values": [
  {"name": "a", "buffer": 0},
  {"name": "b", "buffer": 1},
  {"name": "w", "buffer": null}
 ],
 "handoffs": [],
 "unsized": []
}
)");
}

TEST_CASE("an empty plan has every member")
{
    auto const read = nlohmann::json::parse(json({}, {}));
    CHECK(read.size() == 9);
    CHECK(read["sublet_plan"] == 1);
    for (char const* list : {"order", "pools", "blocks", "buffers", "values", "handoffs", "unsized"})
        CHECK_MESSAGE(read[list] == nlohmann::json::array(), list);
}

TEST_CASE("hand-offs, blocks, an order and parts of roots are written")
{
    memory_plan plan;
    plan.valid_for = program_reading::concurrent;
    plan.order = {1, 0};
    plan.arena_bytes = {0, 64};
    plan.blocks = {{.pool = 1, .begin = 0, .size = 64}};
    plan.buffers = {{.root = 0, .life = {0, 2}, .size = 64, .alignment = 16, .pool = 1, .offset = 0},
                    {.root = 2, .life = {2, 3}, .size = 8, .pool = 1, .offset = 0, .over = 0}};
    plan.buffer_of = {0, 0, 1};
    plan.offset_in_root = {0, 16, 0};
    plan.handoffs = {{0, 1}};
    plan.unsized = {7};
    auto const read = nlohmann::json::parse(json(plan, {"a", "b", "c"}));
    CHECK(read["valid_for"] == "concurrent");
    CHECK(read["order"] == std::vector{1, 0});
    CHECK(read["pools"][1]["arena_bytes"] == "64");
    CHECK(read["blocks"][0] == nlohmann::json{{"pool", 1}, {"begin", "0"}, {"size", "64"}});
    CHECK(read["buffers"][0]["alignment"] == "16");
    CHECK(read["buffers"][1]["over"] == 0);
    CHECK(read["values"][1] == nlohmann::json{{"name", "b"}, {"buffer", 0}, {"begin", "16"}});
    CHECK(read["handoffs"][0] == nlohmann::json{{"from", 0}, {"to", 1}});
    CHECK(read["unsized"] == std::vector{7});
}

TEST_CASE("byte counts near 2^64 keep their digits")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, no_step - 1}, .size = no_size - 1, .offset = 0}};
    plan.arena_bytes = {no_size - 1};
    std::string const text = json(plan, {"a"});
    CHECK(text.find("\"size\": \"18446744073709551614\"") != text.npos);
    CHECK(text.find("\"arena_bytes\": \"18446744073709551614\"") != text.npos);
    CHECK(text.find("\"last\": 4294967294") != text.npos);
}

TEST_CASE("a buffer without an offset has null")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 1}, .size = 1}};
    CHECK(json(plan, {"a"}).find("\"offset\": null") != std::string::npos);
}

TEST_CASE("any name is a JSON string that is read back, if it is UTF-8")
{
    memory_plan plan;
    plan.buffer_of = {no_buffer};
    std::string every; // all characters of ASCII, with those that have a meaning in JSON, XML and HTML
    for (int c = 0; c != 128; ++c) every += static_cast<char>(c);
    for (std::string const& name :
         {std::string("<a> & \"b\" \\ 'c'"), every, std::string(),
          std::string("\xC3\xA9 \xE2\x94\xBC \xF0\x9F\x98\x80 \xE2\x80\xA8 \xC2\x80")})
        CHECK(nlohmann::json::parse(json(plan, {name}))["values"][0]["name"] == name);
    CHECK(nlohmann::json::parse(json(plan, {"a\xFF\xC3 \xE2\x94"}))["values"][0]["name"] == "a?? ??");
}

TEST_CASE("without names a value has its id")
{
    memory_plan plan;
    plan.buffer_of = {no_buffer, no_buffer};
    std::ostringstream out;
    write_json(out, plan);
    CHECK(nlohmann::json::parse(out.str())["values"][1]["name"] == "1");
}

TEST_CASE("a plan with offsets of too few views is refused")
{
    memory_plan plan;
    plan.buffer_of = {no_buffer, no_buffer};
    plan.offset_in_root = {0};
    std::ostringstream out;
    CHECK_THROWS_WITH(write_json(out, plan), "sublet: a plan has offsets of 1 views, but 2 values");
}

} // namespace this_test
