// SPDX-License-Identifier: BSL-1.0
// Random control flow: all results of the library agree with the definitions. With SUBLET_ROUNDS=20 in the
// environment there are twenty times as many programs, with SUBLET_SEED=7 the seeds begin at 7.
#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/live_query.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/checking/check_slots.hpp>
#include <sublet/sharing/color_graph.hpp>

#include "../flow_oracle.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Draws programs and calls `judge` with each.
template <class Draw, class Judge>
void for_random_programs(unsigned usual, Draw draw, flow_limits const& limits, Judge judge)
{
    unsigned const first = first_seed();
    unsigned const programs = rounds(usual);
    for (unsigned seed = first; seed != first + programs; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        judge(draw(pick, limits).program());
    }
}

constexpr flow_limits small = {}, large = {.nodes = 300, .values = 400, .steps = 4};

/// The sets as queries of single values; lists and counts must agree with them.
liveness_tables tables_of(live_sets const& live)
{
    liveness_tables all{all_false(live.nodes(), live.values()), all_false(live.nodes(), live.values())};
    bool agree = true;
    auto listed = [&agree](live_list const& list, std::size_t count, std::vector<bool> const& row) {
        std::vector<value_id> members, lists;
        for (value_id v = 0; v != row.size(); ++v)
            if (row[v]) members.push_back(v);
        for (value_id v : list) lists.push_back(v);
        agree = agree && lists == members && count == members.size() && list.empty() == members.empty();
    };
    for (node_id n = 0; n != live.nodes(); ++n) {
        for (value_id v = 0; v != live.values(); ++v) {
            all.in[n][v] = live.is_live_in(v, n);
            all.out[n][v] = live.is_live_out(v, n);
        }
        listed(live.live_in(n), live.live_in_count(n), all.in[n]);
        listed(live.live_out(n), live.live_out_count(n), all.out[n]);
    }
    CHECK(agree);
    return all;
}

/// Every policy, and `automatic` also with expensive rows of bits.
void check_policies(snapshot const& p, liveness_tables const& truth)
{
    using enum liveness_options::method;
    CHECK(tables_of(liveness(p)) == truth);
    CHECK(tables_of(liveness(p, {.dense_words = 0})) == truth);
    CHECK(tables_of(liveness(p, {.policy = worklist})) == truth);
    CHECK(tables_of(liveness(p, {.policy = per_value})) == truth);
    CHECK(liveness(p, {.policy = per_value}) == liveness(p, {.policy = worklist}));
}

/// By node a, by node b: some edges lead from a to b, inside of `nodes` and to no node in `closed`.
truth_table reached(csr_graph const& g, std::vector<bool> const& nodes, std::vector<bool> const& closed)
{
    truth_table reach = all_false(g.rows(), g.rows());
    for (node_id a = 0; a != g.rows(); ++a)
        for (node_id b : g[a])
            if (nodes[a] && nodes[b] && !closed[b]) reach[a][b] = true;
    for (node_id via = 0; via != g.rows(); ++via)
        for (node_id a = 0; a != g.rows(); ++a)
            for (node_id b = 0; b != g.rows(); ++b)
                if (reach[a][via] && reach[via][b]) reach[a][b] = true;
    return reach;
}

struct plain_loop {
    node_id header;
    std::vector<bool> body; // with the header
};

/// A strongly connected set of nodes is a loop, and the first that the search enters is its header. Without
/// the edges to the header, strongly connected sets inside are inner loops.
std::vector<plain_loop> plain_loops(csr_graph const& g, depth_first_forest const& search)
{
    std::vector<plain_loop> found;
    std::vector<bool> is_header(g.rows());
    auto add_loops_of = [&](std::vector<bool> const& nodes) {
        truth_table const reach = reached(g, nodes, is_header);
        for (node_id n : search.preorder)
            if (reach[n][n] && !is_header[n]) {
                plain_loop loop{n, std::vector<bool>(g.rows())};
                bool is_first = true;
                for (node_id m = 0; m != g.rows(); ++m) {
                    loop.body[m] = reach[n][m] && reach[m][n];
                    is_first =
                        is_first && (!loop.body[m] || search.preorder_index[n] <= search.preorder_index[m]);
                }
                if (is_first) found.push_back(loop);
            }
    };
    add_loops_of(std::vector<bool>(g.rows(), true));
    for (std::size_t i = 0; i != found.size(); ++i) {
        is_header[found[i].header] = true; // a header of one loop only
        auto const body = found[i].body;   // it adds to `found`
        add_loops_of(body);
    }
    return found;
}

/// The depth-first tree that contains n.
node_id root_of(depth_first_forest const& search, node_id n)
{
    while (search.parent[n] != no_node) n = search.parent[n];
    return n;
}

} // namespace

TEST_CASE("three independent definitions of liveness agree")
{
    for (auto draw : {draw_flow, draw_ssa})
        for_random_programs(1000, draw, small, [](snapshot const& p) {
            liveness_tables const truth = searched_liveness(p);
            CHECK(solved_liveness(p) == truth);
            CHECK(walked_liveness(p) == truth);
        });
}

TEST_CASE("programs drawn as strict SSA are strict, and most others are not")
{
    unsigned strict = 0, all = 0;
    for_random_programs(1000, draw_ssa, small,
                        [](snapshot const& p) { CHECK(flow_oracle(p).is_strict_ssa()); });
    for_random_programs(1000, draw_flow, small, [&](snapshot const& p) {
        strict += flow_oracle(p).is_strict_ssa();
        ++all;
    });
    CHECK(strict < all / 2);
}

TEST_CASE("dominators are the nodes without which a node is unreachable")
{
    for_random_programs(2000, draw_graph, small, [](snapshot const& p) {
        truth_table const truth = dominance(p.graph());
        dominator_tree const tree = dominators(p.graph());
        for (node_id b = 0; b != p.nodes(); ++b) {
            std::size_t above = 0;
            for (node_id a = 0; a != p.nodes(); ++a) {
                CHECK(tree.dominates(a, b) == truth[a][b]);
                CHECK(tree.strictly_dominates(a, b) == (truth[a][b] && a != b));
                above += truth[a][b] && a != b;
            }
            // The immediate dominator has all others above it.
            node_id const closest = tree.parent[b];
            CHECK((closest == no_node) == (above == 0));
            if (closest == no_node) continue;
            CHECK(tree.strictly_dominates(closest, b));
            for (node_id a = 0; a != p.nodes(); ++a)
                if (truth[a][b] && a != b) CHECK(truth[a][closest]);
        }
    });
}

TEST_CASE("loops are strongly connected sets of nodes, properly nested")
{
    unsigned reducible = 0, irreducible = 0;
    for_random_programs(2000, draw_graph, small, [&](snapshot const& p) {
        csr_graph const& g = p.graph();
        depth_first_forest const search = depth_first(g);
        loop_forest const forest = loops(g);
        std::vector<plain_loop> const truth = plain_loops(g, search);
        CHECK(forest.loops == truth.size());

        std::size_t entered_in_the_middle = 0;
        std::vector<node_id> innermost(p.nodes(), no_node); // outer loops come before inner ones
        for (plain_loop const& loop : truth) {
            REQUIRE(forest.is_header(loop.header));
            bool is_entered = false;
            for (node_id n = 0; n != p.nodes(); ++n) {
                CHECK(forest.contains(loop.header, n) == loop.body[n]);
                if (loop.body[n]) innermost[n] = loop.header;
                for (node_id to : g[n])
                    if (!loop.body[n] && loop.body[to] && to != loop.header)
                        is_entered = is_entered || root_of(search, n) == root_of(search, to);
            }
            CHECK((forest.kind[loop.header] == loop_forest::loop_kind::irreducible) == is_entered);
            entered_in_the_middle += is_entered;
        }
        CHECK(forest.irreducible_loops == entered_in_the_middle);
        for (node_id n = 0; n != p.nodes(); ++n) {
            CHECK(forest.innermost(n) == innermost[n]);
            for (node_id avoided = 0; avoided != p.nodes(); ++avoided) {
                node_id outermost = n;
                for (plain_loop const& loop : truth)
                    if (outermost == n && loop.body[n] && !loop.body[avoided]) outermost = loop.header;
                CHECK(forest.outermost_excluding(n, avoided) == outermost);
            }
        }

        // By dominators: the target of every back edge dominates its source.
        truth_table const dominates = dominance(g);
        bool is_reducible = true;
        for (node_id n = 0; n != p.nodes(); ++n)
            for (node_id to : g[n])
                is_reducible = is_reducible && (!search.is_back_edge(n, to) || dominates[to][n]);
        CHECK(forest.is_reducible() == is_reducible);
        ++(is_reducible ? reducible : irreducible);
    });
    CHECK(irreducible > (reducible + irreducible) / 20);
}

TEST_CASE("graphs grown by splitting nodes are reducible, and all but back edges ascend in the loop order")
{
    for_random_programs(500, draw_graph, {.nodes = 40, .is_reducible = true}, [](snapshot const& p) {
        depth_first_forest const search = depth_first(p.graph());
        loop_forest const forest = loops(p.graph());
        CHECK(forest.is_reducible());
        CHECK(search.reachable == p.nodes());
        for (node_id n = 0; n != p.nodes(); ++n)
            for (node_id to : p.successors(n))
                CHECK((forest.preorder_index[to] > forest.preorder_index[n]) != search.is_back_edge(n, to));
    });
}

TEST_CASE("every policy computes liveness correctly for any program")
{
    for_random_programs(5000, draw_flow, small,
                        [](snapshot const& p) { check_policies(p, searched_liveness(p)); });
    for_random_programs(20, draw_flow, large,
                        [](snapshot const& p) { check_policies(p, solved_liveness(p)); });
}

TEST_CASE("the loop policy is correct in strict SSA form; otherwise it refuses or is still correct")
{
    constexpr liveness_options by_loops = {.policy = liveness_options::method::loop_forest};
    for_random_programs(5000, draw_ssa, small, [&](snapshot const& p) {
        liveness_tables const truth = searched_liveness(p);
        check_policies(p, truth);
        CHECK(tables_of(liveness(p, by_loops)) == truth);
    });
    for_random_programs(20, draw_ssa, large, [&](snapshot const& p) {
        liveness_tables const truth = solved_liveness(p);
        check_policies(p, truth);
        CHECK(tables_of(liveness(p, by_loops)) == truth);
    });
    unsigned refused = 0, all = 0;
    for_random_programs(5000, draw_flow, small, [&](snapshot const& p) {
        ++all;
        live_sets found;
        try {
            found = liveness(p, by_loops);
        } catch (precondition_error const&) {
            CHECK(!flow_oracle(p).is_strict_ssa());
            ++refused;
            return;
        }
        CHECK(tables_of(found) == searched_liveness(p));
    });
    CHECK(refused > all / 4);
    CHECK(refused < all);
}

TEST_CASE("strict SSA is coloured with as many slots as values occupy a step; other programs are rejected")
{
    auto check_coloring = [](snapshot const& p) {
        flow_oracle const oracle(p);
        chordal_coloring const colored = color(p);
        REQUIRE(colored);
        std::size_t const most = oracle.maxlive();
        CHECK(colored.max_live == most);
        CHECK(colored.plan.slots == most);
        CHECK(check_slots(p, colored.plan));
        truth_table const pairs = oracle.interference();
        for (value_id v = 0; v != p.values(); ++v)
            for (value_id w = 0; w != v; ++w)
                if (pairs[v][w]) CHECK(colored.plan.slot_of[v] != colored.plan.slot_of[w]);
    };
    for_random_programs(5000, draw_ssa, {.is_reached = true}, check_coloring);
    for_random_programs(5000, draw_ssa, small, [](snapshot const& p) {
        chordal_coloring const colored = color(p);
        REQUIRE(colored);
        CHECK(colored.plan.slots <= colored.max_live);
        CHECK(check_slots(p, colored.plan));
    });
    for_random_programs(1000, draw_flow, small,
                        [](snapshot const& p) { CHECK(bool(color(p)) == flow_oracle(p).is_strict_ssa()); });
}

TEST_CASE("queries of single values in strict SSA form agree with the live sets")
{
    auto check_queries = [](snapshot const& p, liveness_tables const& truth) {
        live_query const query(p);
        def_use_chains const chains = def_use_chains(p);
        bool agree = true;
        for (value_id v = 0; v != p.values(); ++v)
            for (node_id n = 0; n != p.nodes(); ++n) {
                agree = agree && query.is_live_in(v, n, chains) == truth.in[n][v];
                agree = agree && query.is_live_out(v, n, chains) == truth.out[n][v];
            }
        CHECK(agree);
    };
    for_random_programs(5000, draw_ssa, small, [&](snapshot const& p) {
        check_queries(p, searched_liveness(p));
        flow_oracle const oracle(p);
        live_query const query(p);
        def_use_chains const chains = def_use_chains(p);
        for (value_id v = 0; v != p.values(); ++v)
            for (step_id s = 0; s != p.steps(); ++s)
                CHECK(query.is_live_after(v, s, chains) == oracle.is_live_after(v, s));
    });
    for_random_programs(20, draw_ssa, large,
                        [&](snapshot const& p) { check_queries(p, solved_liveness(p)); });
}

TEST_CASE("live ranges hold the positions of the steps that a value occupies, in any order of the nodes")
{
    unsigned one_pass = 0;
    auto check_ranges = [&](snapshot const& p) {
        truth_table const occupied = flow_oracle(p).occupancy();
        std::vector<node_id> order = loop_contiguous_order(p.graph()), turned(order.rbegin(), order.rend());
        for (std::vector<node_id> const& by : {std::vector<node_id>{}, order, turned}) {
            live_range_lists const ranges = live_intervals(p, {.order = by});
            one_pass += ranges.method() == live_range_lists::source::one_pass;
            CHECK(live_intervals(p, {.order = by, .method = live_range_lists::source::from_liveness}) ==
                  ranges);
            std::vector<step_id> steps; // by position
            for (node_id i = 0; i != p.nodes(); ++i) {
                step_range const own = p.steps_of(by.empty() ? i : by[i]);
                for (step_id s = own.first; s != own.last; ++s) steps.push_back(s);
            }
            bool agree = ranges.positions() == p.steps();
            for (value_id v = 0; v != p.values(); ++v)
                for (position_id at = 0; at != steps.size(); ++at) {
                    bool is_inside = false;
                    for (live_range r : ranges[v]) is_inside = is_inside || contains(r, at);
                    agree = agree && is_inside == occupied[steps[at]][v];
                }
            CHECK(agree);
            CHECK(ranges.max_live() == flow_oracle(p).maxlive());
        }
    };
    for_random_programs(2000, draw_flow, small, check_ranges);
    one_pass = 0;
    for_random_programs(2000, draw_ssa, small, check_ranges);
    CHECK(one_pass > 0);
}

TEST_CASE("values interfere exactly if they occupy a step together, and colourings of that graph are valid")
{
    auto check_interference = [](snapshot const& p) {
        flow_oracle const oracle(p);
        truth_table pairs = oracle.interference();
        interference_graph const found = interference(p);
        auto const matrix = interference<interference_matrix>(p);
        live_range_lists const ranges = live_intervals(p);
        interference_graph const in_time =
            interference(p.values(), [&ranges](value_id v) { return ranges[v]; });
        for (value_id v = 0; v != p.values(); ++v)
            for (value_id w = 0; w != p.values(); ++w) {
                CHECK(found.are_adjacent(v, w) == pairs[v][w]);
                CHECK(matrix.are_adjacent(v, w) == pairs[v][w]);
                CHECK(in_time.are_adjacent(v, w) == pairs[v][w]);
            }
        // Values live at the entry interfere there, even if a first step reads them early.
        slot_plan const plan = color(found.graph()).plan;
        bool is_early = false;
        for (value_id v = 0; v != p.values(); ++v)
            for (value_id w = 0; w != v; ++w)
                is_early = is_early || (oracle.is_live_in(v, 0) && oracle.is_live_in(w, 0) &&
                                        plan.slot_of[v] == plan.slot_of[w]);
        if (!is_early) CHECK(check_slots(p, plan));
    };
    for_random_programs(2000, draw_flow, small, check_interference);
    for_random_programs(2000, draw_ssa, small, check_interference);
}

} // namespace this_test
