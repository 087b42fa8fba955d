// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/flatten.hpp>

#include "../dice.hpp"
#include "random_tree.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

snapshot of(std::size_t values)
{
    return sequence(1, values, [](auto, effect_sink&) {});
}
using ids = std::vector<value_id>;

} // namespace

TEST_CASE("a captured value is the outer one, however deep, and the others are new")
{
    program_tree tree(of(2));
    tree.add_body(0, 0, program_body::run_kind::once, of(2), {{1, 1}});
    tree.add_body(1, 0, program_body::run_kind::once, of(2), {{0, 1}});
    auto const values = number_values(tree);
    CHECK(values.flat_of == std::vector<ids>{{0, 1}, {2, 1}, {1, 3}});
    CHECK(values.value_of == std::vector<tree_value>{{0, 0}, {0, 1}, {1, 0}, {2, 1}});
    CHECK(view_roots(values, {}) == ids{0, 1, 2, 3});
    // A view of what is captured twice over; what is said of the captured value itself is not asked.
    CHECK(view_roots(values, {{no_value, 0}, {no_value, 7}, {9, 0}}) == ids{0, 0, 2, 0});
}

TEST_CASE("the empty tree has no values")
{
    auto const values = number_values(program_tree());
    CHECK(values.flat_of.size() == 1);
    CHECK(values.value_of.empty());
    CHECK(view_roots(values, {}).empty());
}

TEST_CASE("views of values that are not there, in a circle, or of too few programs are refused")
{
    auto const values = number_values(program_tree(of(2)));
    CHECK_THROWS_AS((void)view_roots(values, {{no_value, 2}}), precondition_error);
    CHECK_THROWS_AS((void)view_roots(values, {{1, 0}}), precondition_error);
    CHECK_THROWS_AS((void)view_roots(values, {{}, {}}), precondition_error);
}

TEST_CASE(
    "in random trees two names have the same root exactly where captures and views lead to the same place")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_tree const t = draw_tree(pick);
        auto const values = number_values(t.tree());
        std::vector<ids> alias_of;
        for (auto const& p : t.programs) alias_of.push_back(p.alias_of);
        auto const root_of = view_roots(values, alias_of);
        for (program_id i = 0; i != t.programs.size(); ++i)
            for (value_id v = 0; v != t.programs[i].bytes.size(); ++v) {
                auto const place = t.root(i, v); // it names itself
                CHECK(root_of[values.flat_of[i][v]] == values.flat_of[place.program][place.value]);
                CHECK(values.value_of[root_of[values.flat_of[i][v]]] ==
                      tree_value{place.program, place.value});
            }
    }
}

} // namespace this_test
