// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/flatten.hpp>

#include <doctest/doctest.h>

#include <concepts>

namespace this_test {

using namespace sublet;

static_assert(std::regular<flat_tree>);
static_assert(std::regular<flat_tree::step>);
static_assert(std::regular<flat_tree::move>);

TEST_CASE("a flat tree that nobody has made is the empty program, and a flat step that nobody has made does "
          "nothing")
{
    flat_tree const flat;
    CHECK(flat.program == snapshot());
    CHECK(flat.value_of.empty());
    CHECK(flat.first_spare == 0);
    CHECK(flat_tree::step{}.part == flat_tree::part::nothing);
    CHECK(flat_tree::step{}.step == no_step);
    CHECK(flat_tree::move{}.from == no_value);
    flat_tree other = flat;
    CHECK(other == flat);
    other.moves.push_back({1, flat_tree::move_time::again, 0, 1, 2});
    CHECK(other != flat);
}

} // namespace this_test
