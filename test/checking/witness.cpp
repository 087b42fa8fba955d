// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/witness.hpp>

#include "../printed.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <ostream>
#include <set>
#include <sstream>
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
          +[](witness& x) { ++x.end; }, +[](witness& x) { ++x.needed; }, +[](witness& x) { ++x.pool; }}) {
        witness other = w;
        change(other);
        CHECK(other != w);
    }
}

// --- concurrent witness ------------------------------------------------------------------------------------

namespace {

concurrent_witness clash()
{
    concurrent_witness w{{.what = fault::clash, .value = 3, .other = 5, .begin = 0, .end = 64, .pool = 1}};
    w.needed_at = 9;
    w.written_at = 7;
    return w;
}

} // namespace

TEST_CASE("a conflict prints as a sentence with both steps, both values and the bytes")
{
    concurrent_witness w = clash();
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

TEST_CASE("any other fault prints as it does for sequential steps")
{
    witness const plain{.what = fault::misaligned, .value = 3, .begin = 4, .needed = 8};
    std::ostringstream text;
    text << plain;
    CHECK(printed(concurrent_witness{plain}) == text.str());
}

TEST_CASE("a concurrent witness converts to a witness without its schedule")
{
    std::optional<concurrent_witness> const found = clash();
    std::optional<witness> const plain = found;
    CHECK(plain == witness{.what = fault::clash, .value = 3, .other = 5, .begin = 0, .end = 64, .pool = 1});
    concurrent_witness other = clash();
    other.schedule = {1, 0};
    CHECK(other != *found);
}

} // namespace this_test
