// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/stream_schedule.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace this_test {

using sublet::detail::stream_knowledge;

TEST_CASE("who waits for a mark knows what was known there, and nothing that came later")
{
    stream_knowledge known(3);
    auto const m0 = known.mark(0), m1 = known.mark(1), m2 = known.mark(0);
    known.learn(1, m0);
    auto const m3 = known.mark(1);
    CHECK(known.knows(1, m0));
    CHECK_FALSE(known.knows(1, m2));
    CHECK_FALSE(known.knows(2, m0));
    known.learn(2, m3);
    CHECK(known.knows(2, m0));
    CHECK(known.knows(2, m1));
    CHECK_FALSE(known.knows(2, m2));
    CHECK(known.stream_of(m3) == 1);
}

TEST_CASE("marks cover a stream if one of them, or what was known there, is its last")
{
    stream_knowledge known(2);
    auto const m0 = known.mark(0);
    CHECK(known.covers(std::vector{m0}, 0));
    known.learn(1, m0);
    auto const m1 = known.mark(1);
    CHECK(known.covers(std::vector{m1}, 0));
    known.mark(0);
    CHECK_FALSE(known.covers(std::vector{m0, m1}, 0));
}

} // namespace this_test
