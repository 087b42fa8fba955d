// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/names.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace this_test {

namespace {

static_assert(sublet::detail::text_like<int> && sublet::detail::text_like<std::uint64_t>);
static_assert(sublet::detail::text_like<char const*> && sublet::detail::text_like<std::string const&>);
static_assert(sublet::detail::text_like<std::string_view> && sublet::detail::text_like<std::list<char>>);
static_assert(!sublet::detail::text_like<bool> && !sublet::detail::text_like<double> &&
              !sublet::detail::text_like<char>);
static_assert(!sublet::detail::text_like<std::vector<std::string>>);

std::string name(sublet::names_of<sublet::value_id> const& names, sublet::value_id v = 7)
{
    std::vector<char> text(3, 'x');
    names.read(text, v);
    return {text.begin(), text.end()};
}

std::string word_of(sublet::value_id v) { return "word " + std::to_string(v); }

std::string printable(std::string_view text, std::size_t expected_characters)
{
    std::vector<char> characters(text.begin(), text.end());
    CHECK(sublet::detail::keep_printable(characters) == expected_characters);
    return {characters.begin(), characters.end()};
}

} // namespace

TEST_CASE("a name may be any range of characters, or any number")
{
    CHECK(name([](auto v) { return v; }) == "7");
    CHECK(name([](int v) { return -v; }) == "-7");
    CHECK(name([](auto) { return "literal"; }) == "literal");
    CHECK(name([](auto v) { return "value " + std::to_string(v); }) == "value 7");
    CHECK(name([](auto) { return std::string_view("view").substr(1); }) == "iew");
    CHECK(name([](auto) { return std::list<char>{'l', 'i'}; }) == "li");
    CHECK(name([](auto) { return std::string(); }).empty());
    CHECK(name([](auto) { return std::string("a\0b", 3); }) == std::string("a\0b", 3));
}

TEST_CASE("a name returned by reference is not copied")
{
    struct uncopied {
        uncopied() = default;
        uncopied(uncopied const&) = delete;
        char const* begin() const { return "ab"; }
        char const* end() const { return begin() + 2; }
    };
    static uncopied const only;
    CHECK(name([](auto) -> uncopied const& { return only; }).size() == 2);
}

TEST_CASE("without names the number is the name")
{
    CHECK(name({}) == "7");
    CHECK(!sublet::names_of<sublet::step_id>().is_given());
    CHECK(sublet::names_of<sublet::step_id>([](int s) { return s; }).is_given());
}

TEST_CASE("a table of texts is a name for each number, and one that is too short is refused")
{
    std::vector<std::string> const words{"a", "b"};
    CHECK(name(words, 1) == "b");
    CHECK(name(std::span(words), 1) == "b");
    CHECK(name({"a", "b"}, 1) == "b");
    std::string_view const views[] = {"a", "b", "c"};
    CHECK(name(views, 2) == "c");
    sublet::table<sublet::value_id, std::string> of_values;
    of_values.push_back("first");
    CHECK(name(of_values, 0) == "first");
    CHECK(name(std::vector{30, 40}, 1) == "40");
    CHECK(name(std::vector<sublet::value_id>{3, 9}, 1) == "9");
    CHECK_THROWS_WITH_AS(name(words, 2), "sublet: a table of names has no entry for 2, but 2 entries",
                         sublet::precondition_error);
}

TEST_CASE("names are a copy of what they are made of, and can be copied and assigned")
{
    std::vector<std::string> words{"a", "b"};
    sublet::names_of<sublet::value_id> kept = words;
    words[0] = "changed";
    CHECK(name(kept, 0) == "a");
    sublet::names_of<sublet::value_id> copy = kept;
    kept = [](auto v) { return v + 1; };
    CHECK(name(kept, 0) == "1");
    CHECK(name(copy, 0) == "a");
    copy = std::as_const(copy);
    CHECK(name(copy, 0) == "a");
    copy = {};
    CHECK(name(copy, 0) == "0");
    kept = copy;
    CHECK(!kept.is_given());
    CHECK(name(word_of, 3) == "word 3");
    CHECK(name(&word_of, 3) == "word 3");
    auto const shared = std::make_shared<int>(0);
    {
        sublet::names_of<sublet::value_id> const one = [shared](auto) { return *shared; };
        sublet::names_of<sublet::value_id> const two = one;
        CHECK(shared.use_count() == 3);
    }
    CHECK(shared.use_count() == 1);
}

TEST_CASE("a name that is a null pointer is refused, and lists of numbers are no names")
{
    sublet::names_of<sublet::value_id> const none = [](auto) -> char const* { return nullptr; };
    CHECK_THROWS_WITH_AS(name(none, 0), "sublet: a name is a null pointer", sublet::precondition_error);
    auto numbers = [](auto) { return std::vector<int>{97, 98}; };
    CHECK(!sublet::detail::names_callable<decltype(numbers), sublet::value_id>);
    CHECK(!sublet::detail::names_table<std::vector<std::vector<double>>, sublet::value_id>);
    CHECK(sublet::detail::names_table<std::vector<std::vector<char>>, sublet::value_id>);
}

TEST_CASE("a name is asked for once each time that it is read")
{
    int asked = 0;
    sublet::names_of<sublet::value_id> const names = [&](auto) { return ++asked; };
    CHECK(name(names) == "1");
    CHECK(name(names) == "2");
    CHECK(asked == 2);
}

TEST_CASE("control characters are dropped and other scripts are kept")
{
    CHECK(printable("", 0) == "");
    CHECK(printable("a\tb\nc\x7F"
                    "d",
                    4) == "abcd");
    CHECK(printable(std::string_view("a\0b", 3), 2) == "ab");
    CHECK(printable("\xC2\x85next", 4) == "next");
    CHECK(printable("größe → 値 🙂", 11) == "größe → 値 🙂");
}

TEST_CASE("bytes that are not UTF-8 become question marks")
{
    CHECK(printable("\xFF", 1) == "?");
    CHECK(printable("a\xC3", 2) == "a?");              // cut off
    CHECK(printable("\xC3(", 2) == "?(");              // not continued
    CHECK(printable("\x80x", 2) == "?x");              // a continuation byte alone
    CHECK(printable("\xC0\xAF", 2) == "??");           // '/' in two bytes
    CHECK(printable("\xE0\x80\xAF", 3) == "???");      // and in three
    CHECK(printable("\xED\xA0\x80", 3) == "???");      // half of a surrogate pair
    CHECK(printable("\xEF\xBF\xBF", 3) == "???");      // U+FFFF, no character
    CHECK(printable("\xF4\x90\x80\x80", 4) == "????"); // beyond Unicode
    CHECK(printable("\xF0\x8F\xBF\xBF", 4) == "????"); // four bytes for what needs three
    CHECK(printable("\xF4\x8F\xBF\xBD", 1) == "\xF4\x8F\xBF\xBD");
}

} // namespace this_test
