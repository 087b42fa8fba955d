// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/live_query.hpp>

#include "../archetype.hpp"
#include "../flow_oracle.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"
#include "../rows_of.hpp"

#include <sublet/analysis/liveness.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<std::uint32_t>;

/// Whether a definition in a node needs a phi in another: the iterated dominance frontier of each.
///
/// Source: Das, Dupont de Dinechin and Upadrasta, "Efficient liveness computation using merge sets and
/// DJ-graphs", ACM TACO 8(4), 2012. For graphs in which every node is reachable.
class merge_sets {
public:
    explicit merge_sets(snapshot const& program)
        : p_(program), dominates_(dominance(program.graph())),
          merges_(all_false(program.nodes(), program.nodes())), closest_(program.nodes(), no_node)
    {
        truth_table frontier = merges_;
        for (node_id n = 0; n != p_.nodes(); ++n)
            for (node_id m = 0; m != p_.nodes(); ++m) {
                for (node_id pred : p_.predecessors(m))
                    if (dominates_[n][pred] && !is_strictly_above(n, m)) frontier[n][m] = true;
                if (is_strictly_above(n, m) && (closest_[m] == no_node || is_strictly_above(closest_[m], n)))
                    closest_[m] = n;
            }
        for (node_id n = 0; n != p_.nodes(); ++n) {
            ids open{n};
            while (!open.empty()) {
                node_id const at = open.back();
                open.pop_back();
                for (node_id m = 0; m != p_.nodes(); ++m) {
                    if (!frontier[at][m] || merges_[n][m]) continue;
                    merges_[n][m] = true;
                    open.push_back(m);
                }
            }
        }
    }
    bool is_live_in(value_id v, node_id n, def_use_chains const& chains) const
    {
        node_id const def = chains.node_of[chains.defs[v].front()];
        ids uses(chains.uses_at_end[v].begin(), chains.uses_at_end[v].end());
        for (step_id s : chains.uses[v]) uses.push_back(chains.node_of[s]);
        for (node_id use : uses)
            for (node_id at = use; at != def; at = closest_[at])
                if (at == n || merges_[n][at]) return true;
        return false;
    }
    bool is_live_out(value_id v, node_id n, def_use_chains const& chains) const
    {
        for (node_id m : chains.uses_at_end[v])
            if (m == n) return true;
        for (node_id s : p_.successors(n))
            if (is_live_in(v, s, chains)) return true;
        return false;
    }

private:
    bool is_strictly_above(node_id a, node_id b) const { return a != b && dominates_[a][b]; }

    snapshot p_;
    truth_table dominates_, merges_;
    ids closest_; // by node: its immediate dominator
};

} // namespace

TEST_CASE("a value is live at a node from which a path leads to a use, also around a loop")
{
    live_query const live(graph_of({{1}, {2, 3}, {4}, {4}, {1, 5}, {}}));
    for (node_id n = 1; n != 5; ++n) {
        CHECK(live.is_live_in(n, 0, ids{2}));
        CHECK(live.is_live_out(n, 0, ids{2}));
    }
    CHECK(live.is_live_out(0, 0, ids{2}));
    CHECK_FALSE(live.is_live_in(0, 0, ids{2}));
    CHECK_FALSE(live.is_live_in(5, 0, ids{2}));
    CHECK(live.is_live_in(2, 1, ids{3, 4}));
    CHECK_FALSE(live.is_live_in(1, 1, ids{3, 4}));
    CHECK_FALSE(live.is_live_out(4, 1, ids{3, 4})); // the next iteration redefines it
    CHECK(live.is_live_in(4, 0, ids{5}));
    CHECK(live.is_live_in(2, 0, ids{5}));
}

TEST_CASE("a value is live at the end of its defining node if another node needs it, or a phi operand there")
{
    live_query const live(graph_of({{1}, {1, 2}, {}}));
    CHECK_FALSE(live.is_live_out(1, 1, ids{1}));
    CHECK(live.is_live_out(1, 1, ids{1}, ids{1}));
    CHECK(live.is_live_out(1, 1, ids{2}));
    CHECK_FALSE(live.is_live_in(1, 1, ids{1}, ids{1}));
    CHECK(live.is_live_out(1, 0, ids{1})); // the next iteration of the self loop reads it again
    CHECK_FALSE(live.is_live_out(2, 0, ids{1, 2}));
}

TEST_CASE("a value without uses is live nowhere")
{
    live_query const live(graph_of({{1, 0}, {0}}));
    for (node_id n = 0; n != 2; ++n) {
        CHECK_FALSE(live.is_live_in(n, 0, ids{}));
        CHECK_FALSE(live.is_live_out(n, 0, ids{}));
    }
}

TEST_CASE("within a node a value is live from its definition to before its last use")
{
    auto effects = [](node_id, effect_sink& s) {
        s.next_step();
        s.def(0);
        s.next_step();
        s.use(0);
        s.next_step();
        s.use_early(0);
        s.next_step();
    };
    snapshot const p = flow(
        1, 2, [](auto) { return ids{0}; }, effects);
    live_query const live(p);
    def_use_chains const chains = def_use_chains(p);
    std::vector<bool> after;
    for (step_id s = 0; s != p.steps(); ++s) after.push_back(live.is_live_after(0, s, chains));
    CHECK(after == std::vector<bool>{false, true, true, false, false});
    CHECK_FALSE(live.is_live_after(1, 0, chains)); // has no def
}

TEST_CASE("any graph and any list of ids is accepted")
{
    live_query const live(archetype::graph({{1}, {2, 1}, {}}));
    CHECK(live.is_live_in(1, 0, archetype::id_list({2})));
    CHECK(live.is_live_out(1, 0, std::vector<int>{}, std::vector<short>{1}));
    CHECK_FALSE(live.is_live_out(2, 0, std::vector<long>{1, 2}));
}

TEST_CASE("the minimal program and its chains are accepted")
{
    archetype::program const p(4);
    live_query const live(p);
    live_sets const known = liveness(p);
    for (node_id n = 0; n != 4; ++n)
        for (value_id v = 0; v != known.values(); ++v)
            CHECK(live.is_live_out(v, n, def_use_chains(p)) == known.is_live_out(v, n));
}

TEST_CASE("a node or a step that does not exist is rejected")
{
    snapshot const p = flow(
        1, 1, [](auto) { return ids{}; }, [](auto, effect_sink& s) { s.def(0); });
    live_query const live(p);
    CHECK_THROWS_AS((void)live.is_live_in(1, 0, ids{}), precondition_error);
    CHECK_THROWS_AS((void)live.is_live_in(0, no_node, ids{}), precondition_error);
    CHECK_THROWS_AS((void)live.is_live_out(0, 0, ids{1}), precondition_error);
    CHECK_THROWS_AS((void)live.is_live_after(0, 1, def_use_chains(p)), precondition_error);
    CHECK_THROWS_AS((void)live_query(csr_graph()).is_live_in(0, 0, ids{}), precondition_error);
}

/// Whether all answers about ends of nodes are the known ones.
static bool agrees(live_query const& live, snapshot const& p, liveness_tables const& known)
{
    def_use_chains const chains = def_use_chains(p);
    bool agree = true;
    for (value_id v = 0; v != p.values(); ++v)
        for (node_id n = 0; n != p.nodes(); ++n)
            agree = agree && live.is_live_in(v, n, chains) == known.in[n][v] &&
                    live.is_live_out(v, n, chains) == known.out[n][v];
    return agree;
}

TEST_CASE("random programs in strict SSA form: the results agree with the definition")
{
    std::size_t irreducible = 0, with_several_trees = 0;
    for (unsigned seed = 0; seed != rounds(10'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_flow const f = draw_ssa(pick, {.nodes = 16});
        snapshot const p = f.program();
        liveness_tables const known = walked_liveness(p);
        live_query const live(p);
        def_use_chains const chains = def_use_chains(p);
        irreducible += !loops(p.graph()).is_reducible();
        with_several_trees += depth_first(p.graph()).reachable != p.nodes();
        bool agree = agrees(live, p, known);
        CHECK(agree);
        if (seed % 10 != 0) continue;
        flow_oracle const oracle(p);
        for (value_id v = 0; v != p.values(); ++v)
            for (step_id s = 0; s != p.steps(); ++s)
                agree = agree && live.is_live_after(v, s, chains) == oracle.is_live_after(v, s);
        CHECK(agree);
    }
    CHECK(irreducible > rounds(500));
    CHECK(with_several_trees > rounds(500));
}

TEST_CASE("random programs in strict SSA form: the results agree with merge sets")
{
    for (unsigned seed = 0; seed != rounds(10'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_ssa(pick, {.nodes = 16, .is_reached = true}).program();
        merge_sets const other(p);
        live_query const live(p);
        def_use_chains const chains = def_use_chains(p);
        bool agree = true;
        for (value_id v = 0; v != p.values(); ++v)
            for (node_id n = 0; n != p.nodes(); ++n)
                agree = agree && live.is_live_in(v, n, chains) == other.is_live_in(v, n, chains) &&
                        live.is_live_out(v, n, chains) == other.is_live_out(v, n, chains);
        CHECK(agree);
    }
}

TEST_CASE("uses may be added and removed while the edges stay")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_flow f = draw_ssa(pick, {.nodes = 16});
        live_query const live(f.program());
        for (int edit = 0; edit != 4; ++edit) {
            for (auto& node : f.nodes) {
                for (auto& step : node.steps)
                    if (pick.below(3) == 0) std::swap(step.uses, step.early), step.early.clear();
                if (!node.operands.empty() && pick.below(2) == 0) node.operands.pop_back();
            }
            snapshot const p = f.program();
            CHECK(agrees(live, p, walked_liveness(p)));
        }
    }
}

TEST_CASE(
    "a path of a million nodes, in one loop, takes no row of bits per node and does not overflow the stack")
{
    std::uint32_t const nodes = 1'000'000;
    live_query const live(as_graph(nodes, [](node_id n) { return n + 1 == nodes ? ids{1} : ids{n + 1}; }));
    CHECK(live.is_live_in(nodes - 1, 0, ids{1}));
    CHECK(live.is_live_in(2, 1, ids{nodes - 1}));
    CHECK_FALSE(live.is_live_in(nodes - 1, 1, ids{2}));
}

// --- def use -----------------------------------------------------------------------------------------------

namespace {

template <class Id>
ids listed(std::span<Id const> row)
{
    return ids(row.begin(), row.end());
}

} // namespace

TEST_CASE("chains list the steps that write a value and those that read it, twice for two reads in a step")
{
    std::vector<ids> const uses = {{}, {0}, {1, 1}, {0}}, defs = {{0}, {1}, {}, {}};
    def_use_chains const chains =
        def_use_chains(sequence(4, 3, [&](auto s) { return uses[s]; }, [&](auto s) { return defs[s]; }));
    CHECK(listed(chains.defs[0]) == ids{0});
    CHECK(listed(chains.uses[0]) == ids{1, 3});
    CHECK(listed(chains.uses[1]) == ids{2, 2});
    CHECK(chains.defs[2].empty());
    CHECK(chains.uses[2].empty());
    CHECK(chains.node_of == std::vector<node_id>{0, 1, 2, 3});
}

TEST_CASE("a phi operand is used at the end of the predecessor, and by no step")
{
    auto next = [](node_id n) { return n == 0 ? ids{1} : ids{}; };
    auto effects = [](node_id n, effect_sink& s) {
        s.def(+n);
        if (n == 0) {
            s.next_step();
            s.use_early(0);
        } else {
            s.use_at_end_of(0, 0);
        }
    };
    def_use_chains const chains = def_use_chains(flow(2, 2, next, effects));
    CHECK(listed(chains.uses[0]) == ids{1});
    CHECK(listed(chains.uses_at_end[0]) == ids{0});
    CHECK(chains.uses_at_end[1].empty());
    CHECK(chains.node_of == std::vector<node_id>{0, 0, 1});
}

TEST_CASE("the empty program has no chains, and the minimal program has some")
{
    CHECK(def_use_chains(snapshot()).node_of.empty());
    CHECK(listed(def_use_chains(archetype::program(3)).uses[1]) == ids{2});
}

TEST_CASE("random programs: each touch is listed once at its value, in the order of the steps")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        def_use_chains const chains = def_use_chains(p);
        for (value_id v = 0; v != p.values(); ++v) {
            ids uses, defs, nodes;
            for (node_id n = 0; n != p.nodes(); ++n)
                for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
                    CHECK(chains.node_of[s] == n);
                    for (touch t : p.touches(s))
                        if (t.value == v) (t.kind == touch::access::def ? defs : uses).push_back(s);
                }
            for (edge_use u : p.edge_uses())
                if (u.value == v) nodes.push_back(u.pred);
            CHECK(listed(chains.uses[v]) == uses);
            CHECK(listed(chains.defs[v]) == defs);
            CHECK(listed(chains.uses_at_end[v]) == nodes);
        }
    }
}

} // namespace this_test
