// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/clocked.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <stop_token>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a listener is kept by value, and copied with what it holds")
{
    int calls = 0;
    search_listener none,
        one = [&calls, more = std::vector<int>{1, 2}](byte_count, byte_count, std::uint64_t) mutable {
            calls += static_cast<int>(more.size());
            more.push_back(0);
        };
    CHECK(!none);
    search_listener copy = one;
    one(0, 0, 0);
    copy(0, 0, 0);
    CHECK(calls == 4);
    none = one;
    CHECK(static_cast<bool>(none));
    none(0, 0, 0);
    CHECK(calls == 7);
    one = search_listener();
    CHECK(!one);
}

TEST_CASE("a stop request is nothing, a stop token or a predicate")
{
    CHECK(!stop_request()());
    std::stop_source source;
    stop_request const token = source.get_token();
    bool is_asked = false;
    stop_request const predicate = [&is_asked] { return is_asked; };
    stop_request const copy = predicate;
    CHECK((!token() && !predicate() && !copy()));
    source.request_stop();
    is_asked = true;
    CHECK((token() && predicate() && copy()));
}

static_assert(!std::convertible_to<int, stop_request> && !std::convertible_to<int, search_listener>);

} // namespace this_test
