// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

namespace this_test {

using sublet::detail::sentence;

// An int would be a character to somebody.
template <class S, class T>
concept takes = requires(S& s, T one) { s << one; };
static_assert(takes<sentence, char> && takes<sentence, unsigned> && takes<sentence, char const*>);
static_assert(!takes<sentence, int> && !takes<sentence, double> && !takes<sentence, std::string>);

TEST_CASE("a sentence is made of text, characters and numbers")
{
    sentence s;
    CHECK(s.text() == std::string());
    s << "value " << 0u << ' ' << ~std::uint64_t{0} << '!';
    CHECK(s.text() == std::string("value 0 18446744073709551615!"));
    sentence const copy = s;
    CHECK(copy.text() == std::string(s.text()));
    CHECK(static_cast<void const*>(copy.text()) != s.text());
}

TEST_CASE("what does not fit is left out")
{
    std::string const all(400, 'x');
    sentence s;
    s << all.c_str() << "more" << 7u;
    CHECK(s.text() == all.substr(0, 319));
}

} // namespace this_test
