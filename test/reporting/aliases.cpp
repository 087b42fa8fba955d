// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/aliases.hpp>

#include "../printed.hpp"

#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

template <class Found, class... Names>
std::string json_of(Found const& found, Names const&... names)
{
    std::ostringstream out;
    CHECK(&write_json(out, found, names...) == &out);
    return out.str();
}

/// c has the bytes of a in the round, and a those of c in the next one.
///
///             ┌─► blur ─┐
///     load: a ┤         ├─► show: c ─► keep
///             └─► edge ─┘
listing<std::string> diamond()
{
    listing<std::string> list;
    list.step("load").make("a", {.bytes = 64});
    auto const blur = list.step("blur").read("a");
    auto const edge = list.step("edge").read("a");
    list.step("show").make("c", {.bytes = 64}).wait_for(blur).wait_for(edge);
    list.step("keep").read("c");
    return list;
}

} // namespace

TEST_CASE("aliases of a listing are printed with its names, one a line, with what orders them if asked")
{
    auto const list = diamond();
    auto const planned = plan_concurrent(list);
    REQUIRE(planned.bytes() == 64);
    CHECK(printed(aliases(list, planned)) ==
          "1 alias\na -> c: bytes [0, 64) of pool 0, after steps blur and edge, before step show");
    auto const found = aliases(list, planned, {.repeats = true, .paths = true});
    CHECK(printed(found) ==
          "2 aliases, 1 of the next round\n"
          "a -> c: bytes [0, 64) of pool 0, after steps blur and edge, before step show; by blur -> show, "
          "edge -> show\n"
          "c -> a of the next round: bytes [0, 64) of pool 0, after step keep, before step load");
    CHECK(json_of(found) == R"({
 "sublet_aliases": 1,
 "buffers": [
  {"id": 0, "root": 0, "name": "a"},
  {"id": 1, "root": 1, "name": "c"}
 ],
 "steps": ["load", "blur", "edge", "show", "keep"],
 "aliases": [
  {"before": 0, "after": 1, "pool": 0, "first": "0", "last": "64", "next_round": false,
   "ends": [1, 2], "begins": [3], "paths": [[1, 3], [2, 3]]},
  {"before": 1, "after": 0, "pool": 0, "first": "0", "last": "64", "next_round": true,
   "ends": [4], "begins": [0], "paths": []}
 ]
}
)");
}

TEST_CASE("aliases without a listing have numbers, or the names that are given")
{
    auto const list = diamond();
    auto const planned = plan_concurrent(list);
    std::vector<alias> const found = aliases(list.program(), planned.plan, list.options());
    CHECK(printed(found) == "1 alias\n0 -> 1: bytes [0, 64) of pool 0, after steps 1 and 2, before step 3");
    std::string const numbers = json_of(found);
    CHECK(numbers.find(R"({"id": 1, "root": 1, "name": "1"})") != std::string::npos);
    CHECK(numbers.find(R"("steps": ["0", "1", "2", "3"])") != std::string::npos);
    using texts = std::vector<std::string>;
    names_of<value_id> const values = texts{"x", "y"};
    names_of<step_id> const steps = texts{"p", "q", "r", "s", "t"};
    std::string const named = json_of(found, values, steps);
    CHECK(named.find(R"({"id": 0, "root": 0, "name": "x"})") != std::string::npos);
    CHECK(named.find(R"("steps": ["p", "q", "r", "s"])") != std::string::npos);
    CHECK(json_of(aliases(list, planned), values, steps) == named);
    CHECK(json_of(found, list.names(), list.step_names()) == json_of(aliases(list, planned)));
}

TEST_CASE("an alias within a step, one beside inputs and outputs, and three steps that end a buffer are said")
{
    alias within{
        .before = 0, .after = 1, .before_root = 4, .after_root = 5, .pool = 2, .first = 8, .last = 16};
    within.ends = within.begins = {7};
    alias kept = within;
    kept.next_round = true;
    kept.ends.clear();
    kept.begins.clear();
    alias several = within;
    several.ends = {1, 2, 3};
    alias untouched = within;
    untouched.ends.clear();
    untouched.begins.clear();
    CHECK(
        printed(std::vector<alias>{within, several, untouched, kept}) ==
        "4 aliases, 1 of the next round\n"
        "4 -> 5: bytes [8, 16) of pool 2, within step 7\n"
        "4 -> 5: bytes [8, 16) of pool 2, after steps 1, 2 and 3, before step 7\n"
        "4 -> 5: bytes [8, 16) of pool 2\n"
        "4 -> 5 of the next round: bytes [8, 16) of pool 2, after the end of the round, before the next one "
        "begins");
}

TEST_CASE("no aliases are printed and written, too")
{
    CHECK(printed(std::vector<alias>{}) == "0 aliases");
    std::string const none =
        "{\n \"sublet_aliases\": 1,\n \"buffers\": [],\n \"steps\": [],\n \"aliases\": []\n}\n";
    CHECK(json_of(std::vector<alias>{}) == none);
    listing<int> const list;
    CHECK(printed(aliases(list, plan_memory(list))) == "0 aliases");
    CHECK(json_of(aliases(list, plan_memory(list))) == none);
}

TEST_CASE("names of any bytes stay on their line, and sizes have the unit of the listing")
{
    listing<std::string> list;
    list.unit = "qubits";
    list.step("say \"x\"\n").make("a\t\"\\", {.bytes = 4}).make("w", {.bytes = 4});
    list.step("\xff").read("w").make("\xc3\xa9", {.bytes = 4});
    auto const found = aliases(list, plan_memory(list));
    CHECK(printed(found) ==
          "1 alias\na\"\\ -> \xc3\xa9: qubits [4, 8) of pool 0, after step say \"x\", before "
          "step ?");
    CHECK(json_of(found) == R"({
 "sublet_aliases": 1,
 "buffers": [
  {"id": 0, "root": 0, "name": "a\u0009\"\\"},
  {"id": 2, "root": 2, "name": ")"
                            "\xc3\xa9"
                            R"("}
 ],
 "steps": ["say \"x\"\u000a", "?"],
 "aliases": [
  {"before": 0, "after": 2, "pool": 0, "first": "4", "last": "8", "next_round": false,
   "ends": [0], "begins": [1], "paths": []}
 ]
}
)");
}

} // namespace this_test
