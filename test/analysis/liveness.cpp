// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/liveness.hpp>

#include <sublet/graph/control_flow.hpp>

#include "archetype.hpp"
#include "flow_oracle.hpp"
#include "flow_text.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/filtered_graph.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <string_view>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using lists = std::vector<ids>;
using how = liveness_options::method;

namespace {

ids listed(live_list const& list)
{
    ids all;
    for (value_id v : list) all.push_back(v);
    return all;
}

/// By node: what is alive where it begins, then what is where it ends.
lists sets_of(live_sets const& live)
{
    lists all;
    for (node_id n = 0; n != live.nodes(); ++n) all.push_back(listed(live.live_in(n)));
    for (node_id n = 0; n != live.nodes(); ++n) all.push_back(listed(live.live_out(n)));
    return all;
}

/// What any policy finds that takes the program.
lists found(std::vector<std::string_view> const& nodes)
{
    snapshot const p = flow_text(nodes);
    live_sets const live = liveness(p);
    CHECK(live == liveness(p, {.policy = how::worklist}));
    CHECK(live == liveness(p, {.policy = how::per_value}));
    CHECK(live == liveness(p, {.dense_words = 0}));
    return sets_of(live);
}

} // namespace

TEST_CASE("a value is alive where a path leads on to a use and no def comes before")
{
    CHECK(found({"a= b= >1", "a c= >2", "b@1 d= c"}) == lists{{}, {0, 1}, {2}, {0, 1}, {1, 2}, {}});
    CHECK(found({"a= >1 >2", "a= >3", ">3", "a"}) == lists{{}, {}, {0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("a step reads before it writes, early or held")
{
    CHECK(found({"a b! ; a= b= >0"}) == lists{{0, 1}, {0, 1}});
    CHECK(found({"a a= b! b= >0"}) == lists{{0, 1}, {0, 1}});
    CHECK(found({"a= b= ; a b >0"}) == lists{{}, {}});
}

TEST_CASE("what a phi reads is alive at the end of the predecessor, and what it defines not where it begins")
{
    CHECK(found({"a= >2", "b= >2", "a@0 b@1 c= >3", "c"}) == lists{{}, {}, {}, {2}, {0}, {1}, {2}, {}});
    // Its operand defined in the predecessor itself, which is the phi's own node.
    CHECK(found({"a= >1", "a@0 b@1 c= ; c b= >1"}) == lists{{}, {}, {0}, {1}});
    // A phi that reads itself, round a loop of one node.
    CHECK(found({"a= >1", "a@0 b@1 b= >1"}) == lists{{}, {}, {0}, {1}});
    // Two edges from one predecessor.
    CHECK(found({"a= b= >1 >1", "a@0 b@0 c="}) == lists{{}, {}, {0, 1}, {}});
}

TEST_CASE("what is never written is alive from the entry on, what is never read nowhere")
{
    CHECK(found({"b= >1", ">2", "a"}) == lists{{0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("nodes that nothing reaches are solved like the others")
{
    CHECK(found({"a= >1", "a", "a= b >1"}) == lists{{}, {0}, {1}, {0}, {}, {0}});
}

TEST_CASE("no node, no value, no edge: no sets, or empty ones")
{
    CHECK(liveness(snapshot{}).nodes() == 0);
    CHECK(found({"", ">0"}) == lists{{}, {}, {}, {}});
    live_sets const idle = liveness(flow_text({"c="}));
    CHECK(idle.values() == 3);
    CHECK(idle.policy() == how::worklist);
    CHECK(idle.values_as_bits() == 0);
}

TEST_CASE("the policy is the one that was asked for; otherwise rows of bits up to so many words")
{
    snapshot const p = flow_text({"a= >1", ">2 >1", "a"}); // one column, three rows
    for (liveness_options::method policy : {how::worklist, how::loop_forest, how::per_value}) {
        CHECK(liveness(p, {.policy = policy}).policy() == policy);
        CHECK(liveness(p, {.policy = policy}).values_as_bits() == (policy != how::per_value));
        CHECK(liveness(p, {.policy = policy}) == liveness(p));
    }
    CHECK(liveness(p).policy() == how::worklist);
    CHECK(liveness(p, {.dense_words = 2}).policy() == how::worklist); // it is in too many nodes for a list

    snapshot const chain = flow(
        200, 1, [](node_id n) { return n == 199 ? ids{} : ids{n + 1}; },
        [](node_id n) { return n == 1 ? ids{0} : ids{}; }, [](node_id n) { return n == 0 ? ids{0} : ids{}; });
    CHECK(liveness(chain, {.dense_words = 200}).policy() == how::worklist);
    CHECK(liveness(chain, {.dense_words = 199}).policy() == how::per_value);
}

TEST_CASE("in large programs values that live in few nodes are listed, and only the others bits")
{
    // 640 nodes in a loop: a lives in all of them, b in one, c in ten sets and d in twelve.
    std::size_t const nodes = 640;
    auto reads = [](node_id n) {
        return n == 10 ? ids{0} : n == 101 ? ids{1, 2} : n == 105 ? ids{2} : n == 206 ? ids{3} : ids{};
    };
    auto writes = [](node_id n) { return n == 100 ? ids{1, 2} : n == 200 ? ids{3} : ids{}; };
    snapshot const p = flow(
        nodes, 4, [&](node_id n) { return ids{n + 1 == nodes ? 0 : n + 1}; }, reads, writes);
    live_sets const mixed = liveness(p, {.dense_words = 0});
    CHECK(mixed == liveness(p, {.policy = how::worklist}));
    CHECK(mixed.policy() == how::automatic);
    CHECK(mixed.values_as_bits() == 2);
    CHECK(listed(mixed.live_out(100)) == ids{0, 1, 2});
    CHECK(listed(mixed.live_in(206)) == ids{0, 3});

    auto last_only = [](node_id n) { return n == 101 ? ids{1} : ids{}; };
    live_sets const short_lived =
        liveness(flow(
                     nodes, 4, [&](node_id n) { return ids{n + 1 == nodes ? 0 : n + 1}; }, last_only, writes),
                 {.dense_words = 0});
    CHECK(short_lived.policy() == how::per_value);
    CHECK(short_lived.values_as_bits() == 0);
    CHECK(liveness(flow_text({"a= >1", "a"}), {.dense_words = 0}).policy() == how::worklist); // given up
}

TEST_CASE("loops tell the liveness of strict SSA only: another program is refused, or solved all the same")
{
    CHECK_THROWS_AS((void)liveness(flow_text({"a= ; a="}), {.policy = how::loop_forest}), precondition_error);
    CHECK_THROWS_AS((void)liveness(flow_text({">1", "a >2", "a= >1"}), {.policy = how::loop_forest}),
                    precondition_error);
    snapshot const given = flow_text({">1", "a >1"});
    CHECK(liveness(given, {.policy = how::loop_forest}) == liveness(given));
}

TEST_CASE("a million nodes and a hundred thousand values, a few of which live everywhere")
{
    std::size_t const nodes = 1000000, values = 100000; // the rows of bits of all would be 12 GB
    snapshot const p = flow(
        nodes, values, [&](node_id n) { return n + 1 == nodes ? ids{} : ids{n + 1}; },
        [&](node_id n) {
            return n + 1 == nodes ? ids{0, 7, 99999} : n % 10 == 2 ? ids{n / 10} : ids{};
        },
        [&](node_id n) { return n % 10 == 0 ? ids{n / 10} : ids{}; });
    live_sets const live = liveness(p);
    CHECK(live.policy() == how::automatic);
    CHECK(live.values_as_bits() == 2);
    CHECK(listed(live.live_in(0)).empty());
    CHECK(listed(live.live_in(500001)) == ids{0, 7, 50000});
    CHECK(listed(live.live_out(999997)) == ids{0, 7, 99999});
    CHECK(live.live_in_count(nodes - 1) == 3);
}

TEST_CASE("the poorest program and the poorest graph have live sets")
{
    CHECK(sets_of(liveness(archetype::program(3))) == lists{{}, {0}, {1}, {0}, {1}, {}});

    archetype::graph const g({{1}, {2, 1}, {}});
    auto reads = [](archetype::vertex const& v) { return v.name() == -2 ? ids{0} : ids{}; };
    auto writes = [](archetype::vertex const& v) { return v.name() == 0 ? ids{0} : ids{}; };
    auto const live = liveness(g, 1, reads, writes);
    CHECK(listed(live.live_in(archetype::vertex(-1))) == ids{0});
    CHECK(live.is_live_out(0, archetype::vertex(0)));
    CHECK_FALSE(live.is_live_in(0, archetype::vertex(0)));
    CHECK(live.live_in_count(archetype::vertex(-2)) == 1);
    CHECK(live.live_out_count(archetype::vertex(-2)) == 0);
    CHECK(live.by_number().policy() == how::worklist);
    CHECK(liveness(g, 1, reads, writes, {.policy = how::per_value}).by_number().policy() == how::per_value);
    CHECK(live.by_number() == liveness(flow_text({"a= >1", ">2 >1", "a"})));
    CHECK_THROWS_AS((void)live.live_in(archetype::vertex(-3)), precondition_error);
}

TEST_CASE("a graph is asked with its own vertices, lists of nodes and those that a filter leaves too")
{
    using list_graph = boost::adjacency_list<boost::listS, boost::listS, boost::directedS>;
    list_graph g;
    auto const third = add_vertex(g), first = add_vertex(g), second = add_vertex(g);
    add_edge(third, second, g); // `third` is the entry
    add_edge(second, first, g);
    auto effects = [&](auto const& v, auto& s) {
        if (v == third) s.def(0);
        if (v == second) s.next_step(), s.def(1);
        if (v == first) s.use(0), s.use_at_end_of(second, 1);
    };
    auto const live = liveness(g, 2, effects, {.policy = how::per_value});
    CHECK(listed(live.live_out(second)) == ids{0, 1});
    CHECK(listed(live.live_in(first)) == ids{0});
    CHECK(live.is_live_in(0, second));
    CHECK(live.by_number().policy() == how::per_value);
    CHECK(live.numbers().number_of(first) == 1);

    auto without_second = [&](list_graph::vertex_descriptor v) { return v != second; };
    boost::filtered_graph<list_graph, boost::keep_all, decltype(without_second)> const filtered(
        g, {}, without_second);
    auto reads = [&](auto v) { return v == first ? ids{0} : ids{}; };
    auto const cut = liveness(filtered, 1, reads, [](auto) { return ids{}; });
    CHECK(cut.is_live_in(0, first));
    CHECK_FALSE(cut.is_live_out(0, third));
    CHECK_THROWS_AS((void)cut.is_live_in(0, second), precondition_error);
}

TEST_CASE("stored partly as bits and partly as lists, random sets are those of the equations")
{
    unsigned mixed = 0;
    for (unsigned seed = 0; seed != 15; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick, {.nodes = 400, .values = 500, .steps = 3}).program();
        liveness_tables const truth = solved_liveness(p);
        live_sets const live = liveness(p, {.dense_words = 0});
        mixed += live.values_as_bits() != 0 && live.policy() == how::automatic;
        for (node_id n = 0; n != p.nodes(); ++n) {
            ids in, out;
            for (value_id v = 0; v != p.values(); ++v) {
                if (truth.in[n][v]) in.push_back(v);
                if (truth.out[n][v]) out.push_back(v);
            }
            REQUIRE(listed(live.live_in(n)) == in);
            REQUIRE(listed(live.live_out(n)) == out);
        }
    }
    CHECK(mixed > 5);
}

} // namespace this_test
