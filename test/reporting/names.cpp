// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/names.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

namespace {

static_assert(sublet::detail::text_like<int> && sublet::detail::text_like<std::uint64_t>);
static_assert(sublet::detail::text_like<char const*> && sublet::detail::text_like<std::string const&>);
static_assert(sublet::detail::text_like<std::string_view> && sublet::detail::text_like<std::list<char>>);
static_assert(!sublet::detail::text_like<bool> && !sublet::detail::text_like<double> &&
              !sublet::detail::text_like<char>);
static_assert(!sublet::detail::text_like<std::vector<std::string>>);

static_assert(sublet::detail::name_function<int (*)(sublet::value_id)>);
static_assert(!sublet::detail::name_function<void (*)(sublet::value_id)>);
static_assert(!sublet::detail::name_function<int>);

template <class Names>
std::string name(Names name_of)
{
    std::vector<char> text(3, 'x');
    sublet::detail::read_name(text, name_of, 7);
    return {text.begin(), text.end()};
}

std::string printable(std::string_view text, std::size_t expected_characters)
{
    std::vector<char> characters(text.begin(), text.end());
    CHECK(sublet::detail::keep_printable(characters) == expected_characters);
    return {characters.begin(), characters.end()};
}

} // namespace

TEST_CASE("a name may be anything that has characters, and any number")
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

TEST_CASE("a name by reference is not copied on the way")
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
    CHECK(printable("\x80x", 2) == "?x");              // continues nothing
    CHECK(printable("\xC0\xAF", 2) == "??");           // '/' in two bytes
    CHECK(printable("\xE0\x80\xAF", 3) == "???");      // and in three
    CHECK(printable("\xED\xA0\x80", 3) == "???");      // half of a surrogate pair
    CHECK(printable("\xEF\xBF\xBF", 3) == "???");      // U+FFFF, no character
    CHECK(printable("\xF4\x90\x80\x80", 4) == "????"); // beyond Unicode
    CHECK(printable("\xF0\x8F\xBF\xBF", 4) == "????"); // four bytes for what needs three
    CHECK(printable("\xF4\x8F\xBF\xBD", 1) == "\xF4\x8F\xBF\xBD");
}

} // namespace this_test
