// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/witness.hpp>

#include "../printed.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <set>
#include <string>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A minimal stream: text and integers only.
struct plain_text {
    std::string written;
    plain_text& operator<<(char const* text) { return written += text, *this; }
    plain_text& operator<<(char letter) { return written += letter, *this; }
    template <integer I>
    plain_text& operator<<(I number)
    {
        return written += std::to_string(number), *this;
    }
};

struct only_text {
    only_text& operator<<(char const*) { return *this; }
};

template <class Stream>
constexpr bool writes_to = requires(Stream & out, witness const& w) { out << w; };

} // namespace

TEST_CASE("a conflict prints as a sentence with both values, the position and the bytes")
{
    witness const w{.value = 3, .other = 7, .position = 12, .begin = 4096, .end = 8192, .pool = 1};
    CHECK(printed(w) ==
          "values 3 and 7 are both alive at position 12 and share bytes [4096, 8192) of pool 1");
}

TEST_CASE("each fault prints a distinct sentence with the value and the bound")
{
    witness w{.value = 3, .other = 7, .position = 12, .begin = 40, .end = 80, .needed = 64, .pool = 5};
    w.earlier = 3;
    std::set<std::string> sentences;
    for (fault what : {fault::clash, fault::misaligned, fault::outside_arena, fault::off_pin,
                       fault::wrong_pool, fault::misplaced_view, fault::unplaced, fault::needless,
                       fault::over_capacity, fault::write_moved, fault::used_undefined, fault::several_defs,
                       fault::cycle, fault::foreign_plan, fault::leads_back, fault::unordered}) {
        w.what = what;
        std::string const text = printed(w);
        CAPTURE(text);
        CHECK(sentences.insert(text).second);
        bool const is_of_a_pool = what == fault::over_capacity, is_of_all = what == fault::foreign_plan;
        bool const is_of_steps = what == fault::cycle || what == fault::leads_back;
        CHECK((is_of_a_pool || is_of_all || is_of_steps || text.find("3") != std::string::npos));
        bool const has_bound = what == fault::misaligned || what == fault::outside_arena ||
                               what == fault::off_pin || what == fault::misplaced_view || is_of_a_pool;
        CHECK((!has_bound || text.find("64") != std::string::npos));
    }
}

TEST_CASE("a use before the def and a use without any def print different sentences")
{
    witness w{.what = fault::used_undefined, .value = 3, .other = 3, .position = 2};
    CHECK(printed(w) == "value 3 is used at position 2 before anything defines it");
    w.other = no_value;
    CHECK(printed(w) == "value 3 is used at position 2 and never defined, and is neither input nor external");
}

TEST_CASE("a witness prints to any stream that takes text and integers")
{
    witness const w{.what = fault::off_pin, .value = 1, .begin = 8, .needed = 16};
    plain_text out;
    out << w;
    CHECK(out.written == printed(w));
}

TEST_CASE("a stream that takes no numbers takes no witness")
{
    CHECK(writes_to<plain_text>);
    CHECK(writes_to<std::ostream>);
    CHECK(!writes_to<only_text>);
}

TEST_CASE("witnesses are equal if all their members are")
{
    witness const w{.value = 1, .other = 2, .position = 3, .begin = 4, .end = 5, .needed = 6, .pool = 7};
    CHECK(w == witness(w));
    for (auto change :
         {+[](witness& x) { x.what = fault::unplaced; }, +[](witness& x) { ++x.value; },
          +[](witness& x) { ++x.other; }, +[](witness& x) { ++x.position; }, +[](witness& x) { ++x.begin; },
          +[](witness& x) { ++x.end; }, +[](witness& x) { ++x.needed; }, +[](witness& x) { ++x.pool; },
          +[](witness& x) { x.step = 1; }, +[](witness& x) { x.earlier = 1; },
          +[](witness& x) { x.needed_at = 1; }, +[](witness& x) { x.written_at = 1; },
          +[](witness& x) {
              x.schedule = {1, 0};
          },
          +[](witness& x) { x.batch = 0; }, +[](witness& x) { x.value_in_tree.program = 1; },
          +[](witness& x) { x.other_in_tree.value = 1; }, +[](witness& x) { x.name(1, "a"); }}) {
        witness other = w;
        change(other);
        CHECK(other != w);
    }
}

// --- steps in any order ------------------------------------------------------------------------------------

namespace {

witness overwritten()
{
    return {
        .what = fault::clash, .value = 3, .other = 5, .end = 64, .pool = 1, .needed_at = 9, .written_at = 7};
}

} // namespace

TEST_CASE("a conflict prints as a sentence with both steps, both values and the bytes")
{
    witness w = overwritten();
    CHECK(printed(w) == "step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 1, "
                        "where value 3 lies, which step 9 touches");
    w.needed_at = 7;
    CHECK(printed(w) == "step 7 writes value 5 over bytes [0, 64) of pool 1, where value 3 lies, which the "
                        "step itself touches");
    w.needed_at = no_step;
    CHECK(printed(w) == "step 7 writes value 5 over bytes [0, 64) of pool 1, where value 3 lies, an output");
    w.written_at = no_step;
    CHECK(printed(w) == "values 3 and 5 are both there from the start and share bytes [0, 64) of pool 1");
}

TEST_CASE("a fault of steps in any order names the step")
{
    witness w{.what = fault::used_undefined, .value = 3, .other = 3, .step = 2};
    CHECK(printed(w) == "value 3 is used at step 2 before anything defines it");
    w.what = fault::several_defs;
    CHECK(printed(w) == "value 3 is written at step 2 and is already defined: make each version a value of "
                        "its own first");
    w.what = fault::cycle;
    CHECK(printed(w) == "step 2 waits for itself: the order has a cycle");
}

// --- batches, trees and names ------------------------------------------------------------------------------

TEST_CASE("of a plan for all batches, the sentence begins with the batch")
{
    witness w{.what = fault::unplaced, .value = 3, .batch = 8};
    CHECK(printed(w) == "for a batch of 8: value 3 needs storage and has none");
    w.batch = 0;
    CHECK(printed(w) == "it is not proved for all batches: value 3 needs storage and has none");
}

TEST_CASE("of a nested plan, the sentence ends with the programs of the values")
{
    witness w{.value = 3, .other = 7, .position = 1, .end = 8};
    w.value_in_tree = {2, 0};
    w.other_in_tree = {0, 5};
    CHECK(printed(w) == "values 3 and 7 are both alive at position 1 and share bytes [0, 8) of pool 0; "
                        "3 is value 0 of program 2; 7 is value 5 of program 0");
}

TEST_CASE("names that the caller gives replace the ids of values and steps")
{
    witness w = overwritten();
    w.name(5, "cache");
    w.name_step(9, std::string("soft\0max", 8));
    CHECK(printed(w) ==
          "step 7 need not wait for step 'softmax', and writes value 'cache' over bytes [0, 64) "
          "of pool 1, where value 3 lies, which step 'softmax' touches");
    w = {.value = 3, .other = 7, .position = 1, .end = 8, .step = 4, .value_in_tree = {2, 0}};
    w.name(3, "a");
    w.name(7, "b");
    w.name_step(4, "add");
    CHECK(printed(w) ==
          "values 'a' and 'b' are both alive at position 1 ('add') and share bytes [0, 8) of pool 0");
    plain_text out;
    out << w;
    CHECK(out.written == printed(w));
    CHECK(w.name_of(8) == nullptr);
}

} // namespace this_test
