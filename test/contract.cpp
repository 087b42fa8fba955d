// SPDX-License-Identifier: BSL-1.0
#include <sublet/units.hpp>

#include <doctest/doctest.h>

#include <exception>
#include <type_traits>

namespace this_test {

static_assert(std::is_nothrow_copy_constructible_v<sublet::precondition_error>);

TEST_CASE("a kept promise costs nothing and a broken one says which")
{
    CHECK_NOTHROW(SUBLET_EXPECTS(1 + 1 == 2, "sublet: never seen"));
    CHECK_THROWS_WITH_AS(SUBLET_EXPECTS(1 + 1 == 3, "sublet: two is not three"), "sublet: two is not three",
                         sublet::precondition_error);
}

TEST_CASE("a broken promise is caught as a std::exception too")
{
    CHECK_THROWS_AS(SUBLET_EXPECTS(false, "sublet: no"), std::exception);
}

TEST_CASE("the condition is asked once")
{
    int asked = 0;
    SUBLET_EXPECTS(++asked == 1, "sublet: asked twice");
    CHECK(asked == 1);
}

namespace {

constexpr int half(int even)
{
    SUBLET_EXPECTS(even % 2 == 0, "sublet: odd");
    return even / 2;
}
static_assert(half(4) == 2);

struct truthy {
    explicit operator bool() const { return true; }
};

} // namespace

TEST_CASE("a condition is whatever an if would take")
{
    CHECK_NOTHROW(SUBLET_EXPECTS(truthy{}, "sublet: never seen"));
}

} // namespace this_test
