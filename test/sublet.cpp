// SPDX-License-Identifier: BSL-1.0
#include <sublet/sublet.hpp>

#include <doctest/doctest.h>

namespace this_test {

TEST_CASE("one include gives the whole library")
{
    auto touched = [](auto step, auto& sink) { sink.def(+step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    CHECK(program.steps() == 3);
}

} // namespace this_test
