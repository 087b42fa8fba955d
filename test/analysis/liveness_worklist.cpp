// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/liveness_methods.hpp>

#include "../dice.hpp"
#include "dense_lists.hpp"
#include "flow_oracle.hpp"
#include "flow_text.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using lists = std::vector<ids>;

namespace {

lists found(snapshot const& p)
{
    crossing_values const cross = crossing(p);
    return dense_lists(cross, detail::live_by_worklist(p, cross));
}

} // namespace

TEST_CASE("what successors need, a node needs too, unless it writes it")
{
    CHECK(found(flow_text({"a= b= >1 >2", "a= >3", ">3", "a b"})) ==
          lists{{}, {1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {}});
}

TEST_CASE("what a node reads before it writes it is alive where it begins all the same")
{
    CHECK(found(flow_text({"a= >1", "a a= >1"})) == lists{{}, {0}, {0}, {0}});
    CHECK(found(flow_text({"a= >1", "a! a= >1 >2", "a"})) == lists{{}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("what a phi reads where its predecessor ends is alive there, and not where the phi is")
{
    CHECK(found(flow_text({"a= >1", "a@0 b@1 c= ; c b= >1"})) == lists{{}, {}, {0}, {1}});
    CHECK(found(flow_text({"a= >1", ">2", "a@1 b="})) == lists{{}, {0}, {}, {0}, {0}, {}});
}

TEST_CASE("a loop asks those before it again until nothing more is needed")
{
    // a goes back over both loops, the inner one first.
    CHECK(found(flow_text({"a= >1", ">2 >5", ">3 >4", ">2", ">1", "a"})) ==
          lists{{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {}});
    CHECK(found(flow_text({"a >0"})) == lists{{0}, {0}});
}

TEST_CASE("nodes that nothing reaches are solved too")
{
    CHECK(found(flow_text({"", ">2", "a >1"})) == lists{{}, {0}, {0}, {}, {0}, {0}});
}

TEST_CASE("no node has no sets, and no crossing value empty ones")
{
    CHECK(found(snapshot{}).empty());
    CHECK(found(flow_text({"a= ; a >0"})) == lists{{}, {}});
}

TEST_CASE("a value passes through a node that does not write it, and leaves no trace for the next")
{
    detail::pass_through pass(2);
    bit_rows out(1, 128), in(1, 128);
    out.set(0, 3);
    out.set(0, 64);
    CHECK(pass(out[0], ids{64}, in[0]));
    CHECK(in.test(0, 3));
    CHECK_FALSE(in.test(0, 64));
    CHECK_FALSE(pass(out[0], ids{64}, in[0])); // it has grown before
    CHECK(pass(out[0], ids{}, in[0]));
    CHECK(in.test(0, 64));
}

TEST_CASE("a chain of a million nodes, there and back, is solved without recursion")
{
    std::size_t const nodes = 1000000;
    auto chain = [&](node_id from, node_id to, node_id user, bool is_back) {
        snapshot const p = flow(
            nodes, 1, [&](node_id n) { return n + 1 == nodes ? (is_back ? ids{0} : ids{}) : ids{n + 1}; },
            [&](node_id n) { return n == user ? ids{0} : ids{}; }, [](node_id) { return ids{}; });
        detail::dense_sets const sets = detail::live_by_worklist(p, crossing(p));
        return sets.in.test(from, 0) && sets.out.test(from, 0) && sets.in.test(to, 0);
    };
    CHECK(chain(0, nodes - 1, nodes - 1, false));
    CHECK(chain(500000, nodes - 1, 499999, true)); // only round the back edge
}

TEST_CASE("on random programs the sets are those of the equations, more values than a word has bits too")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        snapshot const p =
            (seed % 10 == 0 ? draw_flow(pick, {.nodes = 30, .values = 300, .steps = 4}) : draw_flow(pick))
                .program();
        liveness_tables const truth = solved_liveness(p);
        lists const sets = found(p);
        for (node_id n = 0; n != p.nodes(); ++n) {
            ids in, out;
            for (value_id v = 0; v != p.values(); ++v) {
                if (truth.in[n][v]) in.push_back(v);
                if (truth.out[n][v]) out.push_back(v);
            }
            REQUIRE(sets[n] == in);
            REQUIRE(sets[p.nodes() + n] == out);
        }
    }
}

} // namespace this_test
