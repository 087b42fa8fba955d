// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_graph.hpp>

#include "../dice.hpp"
#include "drawn_orders.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<value_id>>;

byte_count bound_of(rows const& uses, rows const& defs, plan_options const& options)
{
    std::size_t values = 0;
    for (auto const& row : defs) values += row.size();
    return order_lower_bound(order_graph_of(
        sequence(
            defs.size(), values, [&](step_id s) { return uses[s]; }, [&](step_id s) { return defs[s]; }),
        options));
}

} // namespace

TEST_CASE("what is touched before a node and behind it is alive while it runs")
{
    // 1 and 2 read what 0 writes, and 3 reads all: a is there while 2 writes 100 bytes, b perhaps not.
    CHECK(bound_of({{}, {0}, {0}, {0, 1, 2}}, {{0}, {1}, {2}, {3}},
                   {.bytes = std::vector<byte_count>{64, 32, 100, 0}}) == 196);
    CHECK(bound_of({{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}},
                   {.bytes = std::vector<byte_count>{64, 32, 100, 1}}) == 164);
}

TEST_CASE("nothing has to be alive where nothing runs")
{
    CHECK(bound_of({}, {}, {.bytes = 8}) == 0);
    CHECK(bound_of({{}}, {{0}}, {.bytes = 8}) == 8);
}

TEST_CASE("inputs are there at first, outputs at last")
{
    CHECK(bound_of({{0, 1}, {}}, {{}, {0, 1}}, {.bytes = 8, .role = value_role::input}) == 16);
    CHECK(bound_of({{}, {}, {}}, {{0}, {1}, {2}}, {.bytes = 8, .role = value_role::output}) == 24);
}

TEST_CASE("a result that may be written over its operand may be there with it as one")
{
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 1) sink.use(0), sink.may_overwrite(0, 1);
        sink.def(s);
    });
    CHECK(order_lower_bound(order_graph_of(p, {.bytes = 8})) == 8);
    CHECK(order_lower_bound(order_graph_of(p, {.bytes = 8, .in_place = false})) == 16);
}

TEST_CASE("sizes that exceed 64 bits together are refused")
{
    CHECK_THROWS_AS((void)bound_of({{}, {}}, {{0}, {1}}, {.bytes = byte_count{1} << 63}), precondition_error);
}

TEST_CASE("no order of a random program goes below the bound")
{
    std::size_t equal = 0, all = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        drawn_program const drawn =
            seed % 2 == 0 ? draw_unordered(pick, 9, seed % 4 == 0) : draw_operations(pick, 10, 8);
        order_graph const g = order_graph_of(drawn.program, drawn.options);
        if (g.violation) continue;
        byte_count const least = least_of_all(g), bound = order_lower_bound(g);
        REQUIRE(bound <= least);
        equal += bound == least;
        ++all;
    }
    CHECK(2 * equal > all);
}

} // namespace this_test
