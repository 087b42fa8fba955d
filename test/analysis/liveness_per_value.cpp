// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/liveness_methods.hpp>

#include "../dice.hpp"
#include "flow_oracle.hpp"
#include "flow_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using lists = std::vector<ids>;

namespace {

constexpr std::size_t all_of_them = ~std::size_t{0};

detail::sparse_sets explored(snapshot const& p, std::size_t most_sets = all_of_them)
{
    return detail::live_by_exploration(p, crossing(p), most_sets);
}

lists rows_of(csr_rows const& rows)
{
    lists all;
    for (std::size_t n = 0; n != rows.rows(); ++n) all.emplace_back(rows[n].begin(), rows[n].end());
    return all;
}

} // namespace

TEST_CASE("a value is followed up all paths from its uses to its defs")
{
    detail::sparse_sets const sets = explored(flow_text({"a= >1 >2", ">3", ">3", "a"}));
    CHECK(rows_of(sets.in) == lists{{}, {0}, {0}, {0}});
    CHECK(rows_of(sets.out) == lists{{0}, {0}, {0}, {}});
    CHECK(sets.given_up.empty());
}

TEST_CASE("each def stops a path, and a node that reads first lets it pass")
{
    detail::sparse_sets const sets = explored(flow_text({"a= >1 >2", "a= >3", "a a= >3", "a"}));
    CHECK(rows_of(sets.in) == lists{{}, {}, {0}, {0}});
    CHECK(rows_of(sets.out) == lists{{0}, {0}, {0}, {}});
}

TEST_CASE("lists ascend, though values are read in any order")
{
    detail::sparse_sets const sets = explored(flow_text({"c= b= a= >1", "c ; a b >2", "b c"}));
    CHECK(rows_of(sets.in) == lists{{}, {0, 1, 2}, {1, 2}});
    CHECK(rows_of(sets.out) == lists{{0, 1, 2}, {1, 2}, {}});
}

TEST_CASE("what a phi reads where a node ends goes up from there, once, however many phis read it")
{
    detail::sparse_sets const sets = explored(flow_text({"a= >1", ">2 >3", "a@1 b= >3", "a@1 b@2 c="}));
    CHECK(rows_of(sets.in) == lists{{}, {0}, {}, {}});
    CHECK(rows_of(sets.out) == lists{{0}, {0}, {1}, {}});
    // An operand defined in the node itself, phi of a self loop.
    CHECK(rows_of(explored(flow_text({"b= >1", "b@0 c@1 a= ; c= a >1"})).in) == lists{{}, {}});
}

TEST_CASE("a value that is in more sets than asked for is given up, at exactly that many it is not")
{
    snapshot const p = flow_text({"a= b= >1", "b >2", "a"}); // a is in four sets, b in two
    detail::sparse_sets const four = explored(p, 4), three = explored(p, 3), one = explored(p, 1);
    CHECK(four.given_up.empty());
    CHECK(three.given_up == ids{0});
    CHECK(rows_of(three.in) == lists{{}, {1}, {}});
    CHECK(rows_of(three.out) == lists{{1}, {}, {}});
    CHECK(one.given_up == ids{0, 1});
    CHECK(one.in.items() == 0);
    CHECK(one.out.items() == 0);
    // Read in one node, and nowhere else: in one set. Not one is too few.
    CHECK(explored(flow_text({"a"}), 1).given_up.empty());
    CHECK(explored(flow_text({"a"}), 0).given_up == ids{0});
}

TEST_CASE("a value that does not cross is in no list, and is not given up")
{
    detail::sparse_sets const sets = explored(flow_text({"a= ; a", ""}), 0);
    CHECK(rows_of(sets.in) == lists{{}, {}});
    CHECK(sets.given_up.empty());
    CHECK(explored(snapshot{}).in.rows() == 0);
}

TEST_CASE("a million nodes and a hundred thousand values cost what the lists are long")
{
    std::size_t const nodes = 1000000, values = 100000;
    // Value v is defined in node 10 v and read in the next but one; the last one by the first node, round.
    snapshot const p = flow(
        nodes, values + 1, [&](node_id n) { return n + 1 == nodes ? ids{0} : ids{n + 1}; },
        [&](node_id n) { return n == 0        ? ids{100000}
                                : n % 10 == 2 ? ids{n / 10}
                                              : ids{}; },
        [&](node_id n) { return n == 1        ? ids{100000}
                                : n % 10 == 0 ? ids{n / 10}
                                              : ids{}; });
    detail::sparse_sets const sets = explored(p);
    CHECK(sets.in.items() == 2 * values + nodes - 1);
    CHECK(sets.out.items() == 2 * values + nodes - 1);
    CHECK(rows_of(csr_rows(sets.in))[nodes - 8] == ids{99999, 100000});
}

TEST_CASE("on random programs the lists are those of the equations, but for what lives in too many sets")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        std::size_t const most = pick.below(3) == 0 ? all_of_them : pick.below(12);
        liveness_tables const truth = solved_liveness(p);
        detail::sparse_sets const sets = explored(p, most);
        lists in(p.nodes()), out(p.nodes());
        ids given_up;
        for (value_id v = 0; v != p.values(); ++v) {
            std::size_t size = 0;
            for (node_id n = 0; n != p.nodes(); ++n)
                size += std::size_t{truth.in[n][v]} + std::size_t{truth.out[n][v]};
            if (size > most) given_up.push_back(v);
            for (node_id n = 0; n != p.nodes() && size <= most; ++n) {
                if (truth.in[n][v]) in[n].push_back(v);
                if (truth.out[n][v]) out[n].push_back(v);
            }
        }
        REQUIRE(rows_of(sets.in) == in);
        REQUIRE(rows_of(sets.out) == out);
        REQUIRE(sets.given_up == given_up);
    }
}

} // namespace this_test
