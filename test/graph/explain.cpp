// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/program.hpp>

#include <sublet/graph/snapshot.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;

// What is wrong with a type is said at compile time: compile_fail/explain_*.cpp.
TEST_CASE("there is nothing to explain about a graph or a program")
{
    static_assert(explain_graph<csr_graph>());
    static_assert(explain_graph<archetype::graph>());
    static_assert(explain_program<snapshot>());
    static_assert(explain_program<archetype::program>());
    CHECK(explain_graph<csr_graph>());
    CHECK(explain_program<snapshot>());
}

} // namespace this_test
