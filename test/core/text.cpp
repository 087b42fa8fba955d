// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/text.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <list>
#include <locale>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace this_test {

namespace {

/// Accepts text and characters, and nothing else.
struct minimal_stream {
    std::string written;
    void operator<<(char const* text) { written += text; }
    void operator<<(char one) { written += one; }
};
static_assert(sublet::detail::text_stream<minimal_stream>);
static_assert(sublet::detail::text_stream<std::ostringstream>);
static_assert(!sublet::detail::text_stream<std::string>);

template <class Thing>
std::string written(Thing thing)
{
    minimal_stream out;
    sublet::detail::plain_text<minimal_stream>{out} << thing;
    return out.written;
}

std::string bytes(sublet::byte_count count)
{
    minimal_stream out;
    sublet::detail::plain_text<minimal_stream> text{out};
    sublet::detail::write_bytes(text, count);
    return out.written;
}

} // namespace

TEST_CASE("numbers are written as digits, from the smallest to the largest")
{
    CHECK(written(0) == "0");
    CHECK(written(7u) == "7");
    CHECK(written(-1) == "-1");
    CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(written(std::int8_t{-128}) == "-128");
}

TEST_CASE("numbers are written as std::to_string writes them")
{
    random_source draw{std::mt19937(1)};
    for (int i = 0; i != 1000; ++i) {
        auto const wide = draw.wide();
        CHECK(written(wide) == std::to_string(wide));
        CHECK(written(static_cast<std::int64_t>(wide)) == std::to_string(static_cast<std::int64_t>(wide)));
    }
}

TEST_CASE("a locale that groups digits does not reach what is written")
{
    struct grouping : std::numpunct<char> {
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    std::ostringstream out;
    out.imbue(std::locale(std::locale::classic(), new grouping));
    out << 1234567 << ' ';
    sublet::detail::plain_text<std::ostream>{out} << 1234567;
    CHECK(out.str() == "1.234.567 1234567");
}

TEST_CASE("hundredths have at most two decimals and no trailing zeros")
{
    CHECK(written(sublet::detail::hundredths{0}) == "0");
    CHECK(written(sublet::detail::hundredths{1200}) == "12");
    CHECK(written(sublet::detail::hundredths{1250}) == "12.5");
    CHECK(written(sublet::detail::hundredths{1205}) == "12.05");
    CHECK(written(sublet::detail::hundredths{7}) == "0.07");
}

TEST_CASE("bytes are written in the largest unit that they fill")
{
    CHECK(bytes(0) == "0 B");
    CHECK(bytes(1023) == "1023 B");
    CHECK(bytes(1024) == "1 KiB");
    CHECK(bytes(1536) == "1.5 KiB");
    CHECK(bytes(9633792) == "9.19 MiB");
    CHECK(bytes(std::uint64_t{5} << 30) == "5 GiB");
    CHECK(bytes(std::uint64_t{1} << 60) == "1 EiB");
}

TEST_CASE("bytes that round up to the next unit are written in it")
{
    CHECK(bytes((1u << 20) - 1) == "1 MiB");
    CHECK(bytes((1u << 20) - 6) == "1023.99 KiB");
    CHECK(bytes(~std::uint64_t{0}) == "16 EiB");
}

} // namespace this_test
