// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/flatten.hpp>

#include <doctest/doctest.h>

#include <concepts>

namespace this_test {

using namespace sublet;

static_assert(std::regular<flat_tree>);
static_assert(std::regular<flat_step>);
static_assert(std::regular<flat_move>);

TEST_CASE("a flat tree that nobody has made is the empty program, and a flat step that nobody has made does "
          "nothing")
{
    flat_tree const flat;
    CHECK(flat.program == snapshot());
    CHECK(flat.value_of.empty());
    CHECK(flat.first_spare == 0);
    CHECK(flat_step{}.part == flat_part::nothing);
    CHECK(flat_step{}.step == no_step);
    CHECK(flat_move{}.from == no_value);
    flat_tree other = flat;
    CHECK(other == flat);
    other.moves.push_back({1, move_time::again, 0, 1, 2});
    CHECK(other != flat);
}

} // namespace this_test
