// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/search_control.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("deterministic_control runs each task once, in order, and never stops")
{
    deterministic_control control;
    std::vector<std::size_t> ran;
    control.run(4, [&](std::size_t i) { ran.push_back(i); });
    CHECK(ran == std::vector<std::size_t>{0, 1, 2, 3});
    control.run(0, [&](std::size_t i) { ran.push_back(i); });
    CHECK(ran.size() == 4);
    CHECK_FALSE(control.stop(0, no_limit, ~std::uint64_t{0}));
}

TEST_CASE("atomic_minimum keeps the lowest number")
{
    atomic_minimum first;
    CHECK(first.get() == ~std::uint32_t{0});
    first.update(5);
    first.update(7);
    CHECK(first.get() == 5);
    first.update(0);
    CHECK(first.get() == 0);
}

static_assert(!std::copyable<deterministic_control>, "a search refers to its control");

} // namespace this_test
