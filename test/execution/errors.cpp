// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include <doctest/doctest.h>

#include <new>
#include <string>
#include <type_traits>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// As a catcher sees it: by its base, copied, after the original has gone.
template <class E>
std::string sentence(E const& thrown)
{
    try {
        throw E(thrown);
    } catch (std::exception const& e) {
        return e.what();
    }
}

struct told : std::exception {
    std::string text;
    explicit told(std::string words) : text(std::move(words)) {}
    char const* what() const noexcept override { return text.c_str(); }
};

static_assert(std::is_base_of_v<precondition_error, unsound_plan>);
static_assert(std::is_base_of_v<precondition_error, unusable_value>);
static_assert(std::is_base_of_v<run_error, allocation_error>);
static_assert(std::is_base_of_v<run_error, clobbered_value>);
static_assert(!std::is_base_of_v<precondition_error, run_error>);
static_assert(std::is_nothrow_copy_constructible_v<unsound_plan>);
static_assert(std::is_nothrow_copy_constructible_v<run_error>);

} // namespace

TEST_CASE("an unsound plan says what is wrong with it, and keeps the witness")
{
    witness const why{.value = 3, .other = 7, .position = 12, .begin = 64, .end = 128};
    unsound_plan const e(why);
    CHECK(sentence(e) ==
          "sublet: a plan is not sound: values 3 and 7 are both alive at position 12 and share "
          "bytes [64, 128) of pool 0");
    CHECK(e.why() == why);
    witness const undefined{.what = fault::used_undefined, .value = 3, .position = 1};
    CHECK(
        sentence(unsound_plan(undefined)) ==
        "sublet: a program cannot run in this order: value 3 is used at position 1 and never defined, and is "
        "neither input nor external");
}

TEST_CASE("an unusable value is named")
{
    unusable_value const e(4, "is an input, and was not given since the last run");
    CHECK(sentence(e) == "sublet: value 4 is an input, and was not given since the last run");
    CHECK(e.value() == 4);
}

TEST_CASE("a run error says where it happened and what was thrown")
{
    auto thrown = [](auto what) { return std::make_exception_ptr(what); };
    CHECK(sentence(run_error(5, thrown(told("no such operation")))) ==
          "sublet: at step 5, a kernel threw: no such operation");
    CHECK(sentence(run_error(4294967294u, thrown(42))) ==
          "sublet: at step 4294967294, a kernel threw: something that is no std::exception");
    CHECK(sentence(run_error(no_step, nullptr)) == "sublet: before any step, a kernel threw");
    CHECK(sentence(allocation_error(0, 4096, thrown(std::bad_alloc()))) ==
          "sublet: at step 0, 4096 bytes could not be had: " + std::string(std::bad_alloc().what()));
    CHECK(sentence(allocation_error(no_step, no_size - 1, nullptr)) ==
          "sublet: before any step, 18446744073709551614 bytes could not be had");
    CHECK(allocation_error(0, 4096, nullptr).bytes() == 4096);
    CHECK(allocation_error(7, 4096, nullptr).step() == 7);
}

TEST_CASE("what was thrown can be thrown again")
{
    run_error const e(5, std::make_exception_ptr(42));
    CHECK(e.step() == 5);
    try {
        std::rethrow_exception(e.cause());
    } catch (int number) {
        CHECK(number == 42);
    }
    CHECK(run_error(5, nullptr).cause() == nullptr);
    CHECK(clobbered_value({}).cause() == nullptr);
}

TEST_CASE("a long cause is cut, and so is one within one")
{
    std::string const start = "sublet: at step 5, a kernel threw: ";
    for (std::size_t length : {283u, 284u, 285u, 319u, 320u, 5000u}) {
        CAPTURE(length);
        run_error const e(5, std::make_exception_ptr(told(std::string(length, 'x'))));
        std::string const all = start + std::string(length, 'x');
        CHECK(sentence(e) == all.substr(0, 319));
        CHECK(sentence(run_error(5, std::make_exception_ptr(e))) == (start + all).substr(0, 319));
    }
    detail::sentence full;
    for (unsigned i = 0; i != 500; ++i) full << i << "," << 'a';
    CHECK(std::string(full.text()).size() == 319);
}

TEST_CASE("every number is written in full")
{
    detail::sentence text;
    text << 0u << ' ' << std::uint8_t{255} << ' ' << std::uint64_t{1000000000000000000u} << ' '
         << ~std::uint64_t{0};
    CHECK(std::string(text.text()) == "0 255 1000000000000000000 18446744073709551615");
}

TEST_CASE("a clobbered value says whose bytes changed, who found out, and who lies over them")
{
    clobbered_value::finding what{.value = 3, .producer = 1, .reader = 6, .culprit = 7, .culprit_step = 4};
    auto said = [&what] { return sentence(clobbered_value(what)); };
    CHECK(said() == "sublet: value 3, made by step 1, is not what it was when step 6 needs it: "
                    "value 7 lies over it, since step 4");
    CHECK(clobbered_value(what).details() == what);
    CHECK(clobbered_value(what).step() == 6);
    what.culprit_step = no_step;
    CHECK(said() == "sublet: value 3, made by step 1, is not what it was when step 6 needs it: "
                    "value 7 lies over it");
    what.culprit = no_value;
    what.producer = no_step;
    CHECK(said() == "sublet: value 3, which was given, is not what it was when step 6 needs it: "
                    "nothing is planned over it, so a kernel wrote beyond its results");
    what.reader = no_step;
    CHECK(said() == "sublet: value 3, which was given, is not what it was when the run ends: "
                    "nothing is planned over it, so a kernel wrote beyond its results");
    CHECK(clobbered_value(what).step() == no_step);
}

} // namespace this_test
