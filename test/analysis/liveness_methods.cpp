// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/liveness_methods.hpp>

#include "../dense_lists.hpp"
#include "../flow_oracle.hpp"
#include "../flow_text.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<std::uint32_t>;
using lists = std::vector<ids>;

namespace {

/// By node, sorted, without duplicates: rows need be neither sorted nor free of duplicates.
template <class Item>
lists rows_of(csr_rows<node_id, Item> const& rows)
{
    lists all;
    for (node_id n = 0; n != rows.rows(); ++n) {
        all.emplace_back(rows[n].begin(), rows[n].end());
        std::sort(all.back().begin(), all.back().end());
        all.back().erase(std::unique(all.back().begin(), all.back().end()), all.back().end());
    }
    return all;
}

/// Whether node n reads v before it writes it.
bool reads_first(snapshot const& p, node_id n, value_id v)
{
    for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
        bool writes = false;
        for (touch t : p.touches(s)) {
            if (t.value == v && t.kind != touch::access::def) return true;
            writes = writes || t.value == v;
        }
        if (writes) return false;
    }
    return false;
}

bool defines(snapshot const& p, node_id n, value_id v)
{
    for (touch t : p.touches(p.steps_of(n)))
        if (t == touch{v, touch::access::def}) return true;
    return false;
}

} // namespace

TEST_CASE("a value used in its node only is not cross-block, a value read by another node is")
{
    cross_block_values const cross_block =
        find_cross_block_values(flow_text({"a= ; c= >1", "a b= ; b c c="}));
    CHECK(cross_block.value == std::vector<value_id>{0, 2});
    CHECK(cross_block.column == ids{0, no_value, 1});
    CHECK(rows_of(cross_block.reads) == lists{{}, {0, 1}});
    CHECK(rows_of(cross_block.writes) == lists{{0, 1}, {1}});
    CHECK(rows_of(cross_block.reads_at_end) == lists{{}, {}});
    CHECK_FALSE(cross_block.single_def);
}

TEST_CASE("an early use is a use before the writes of its step")
{
    cross_block_values const cross_block = find_cross_block_values(flow_text({"a= a! b= ; b!"}));
    CHECK(cross_block.value == std::vector<value_id>{0});
    CHECK(rows_of(cross_block.reads) == lists{{0}});
    CHECK(rows_of(cross_block.writes) == lists{{0}});
}

TEST_CASE("values that are never read, or never touched, are not cross-block")
{
    CHECK(find_cross_block_values(flow_text({"a= c= >1", "a= c="})).value.empty());
}

TEST_CASE("a value read at the end of a node is cross-block, wherever it is defined")
{
    cross_block_values const cross_block =
        find_cross_block_values(flow_text({"a= >1 >2", "a@0 c@1 b= ; c= >1", "a@0"}));
    CHECK(cross_block.value == std::vector<value_id>{0, 2});
    CHECK(rows_of(cross_block.reads) == lists{{}, {}, {}});
    CHECK(rows_of(cross_block.writes) == lists{{0}, {1}, {}});
    CHECK(rows_of(cross_block.reads_at_end) == lists{{0}, {1}, {}});
}

TEST_CASE("a read after a write in the same node is not upward-exposed")
{
    cross_block_values const cross_block =
        find_cross_block_values(flow_text({"a= ; a= a ; a >1", "a a! ; a b="}));
    CHECK(rows_of(cross_block.reads) == lists{{}, {0}});
    CHECK(rows_of(cross_block.writes) == lists{{0}, {}});
}

TEST_CASE("a single definition is in one step of one node, cross-block or not")
{
    CHECK(find_cross_block_values(flow_text({"a= b= >1", "a"})).single_def);
    CHECK_FALSE(find_cross_block_values(flow_text({"a= ; a="})).single_def);
    CHECK_FALSE(find_cross_block_values(flow_text({"a=", "a="})).single_def);
}

TEST_CASE("an empty program has empty lists, and nodes without effects have empty rows")
{
    cross_block_values const nothing = find_cross_block_values(snapshot{});
    CHECK(nothing.value.empty());
    CHECK(nothing.column.empty());
    CHECK(nothing.reads.rows() == 0);
    cross_block_values const idle = find_cross_block_values(flow_text({">1", ""}));
    CHECK(idle.reads.rows() == 2);
    CHECK(idle.writes.rows() == 2);
    CHECK(idle.reads_at_end.rows() == 2);
    CHECK(idle.single_def);
}

TEST_CASE("random programs: the lists agree with their definitions")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        cross_block_values const cross_block = find_cross_block_values(p);

        std::vector<value_id> crossing_ids;
        for (value_id v = 0; v != p.values(); ++v) {
            bool is_cross_block = false;
            for (node_id n = 0; n != p.nodes(); ++n) is_cross_block = is_cross_block || reads_first(p, n, v);
            for (edge_use u : p.edge_uses()) is_cross_block = is_cross_block || u.value == v;
            REQUIRE(cross_block.column[v] == (is_cross_block ? crossing_ids.size() : no_column));
            if (is_cross_block) crossing_ids.push_back(v);
        }
        REQUIRE(cross_block.value == crossing_ids);

        lists reads(p.nodes()), writes(p.nodes()), reads_at_end(p.nodes());
        for (node_id n = 0; n != p.nodes(); ++n)
            for (std::uint32_t c = 0; c != crossing_ids.size(); ++c) {
                if (reads_first(p, n, crossing_ids[c])) reads[n].push_back(c);
                if (defines(p, n, crossing_ids[c])) writes[n].push_back(c);
                bool is_read = false;
                for (edge_use u : p.edge_uses())
                    is_read = is_read || (u.pred == n && u.value == crossing_ids[c]);
                if (is_read) reads_at_end[n].push_back(c);
            }
        REQUIRE(rows_of(cross_block.reads) == reads);
        REQUIRE(rows_of(cross_block.writes) == writes);
        REQUIRE(rows_of(cross_block.reads_at_end) == reads_at_end);
    }
}

// --- liveness loop forest ----------------------------------------------------------------------------------

namespace {

lists found(snapshot const& p)
{
    cross_block_values const cross_block = find_cross_block_values(p);
    return dense_lists(cross_block, detail::live_by_loop_forest(p, cross_block));
}

lists expected(snapshot const& p)
{
    liveness_tables const live = solved_liveness(p);
    lists all;
    for (truth_table const* half : {&live.in, &live.out})
        for (node_id n = 0; n != p.nodes(); ++n) {
            ids& set = all.emplace_back();
            for (value_id v = 0; v != p.values(); ++v)
                if ((*half)[n][v]) set.push_back(v);
        }
    return all;
}

} // namespace

TEST_CASE("a value live at the header of a loop is live throughout the loop")
{
    CHECK(found(flow_text({"a= >1", ">2", "a >3", ">1"})) == lists{{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}});
}

TEST_CASE("a value last read in the header of a loop is read again by the next iteration")
{
    CHECK(found(flow_text({"a= >1", "a >2 >3", ">1", ""})) == lists{{}, {0}, {0}, {}, {0}, {0}, {0}, {}});
    CHECK(found(flow_text({"a= >1", "a >1"})) == lists{{}, {0}, {0}, {0}});
}

TEST_CASE("a value defined in a loop is not live around it, unless a phi of the next iteration reads it")
{
    CHECK(found(flow_text({">1", "a= >2", "a >1"})) == lists{{}, {}, {0}, {}, {0}, {}});
    CHECK(found(flow_text({"a= >1", "a@0 c@1 b= ; b c= >1 >2", "b"})) == lists{{}, {}, {1}, {0}, {1, 2}, {}});
}

TEST_CASE("an inner loop keeps the values that its outer loop needs, and not the other way round")
{
    // b is defined in the outer loop and read in the inner one only; a is read after both.
    snapshot const p = flow_text({"a= >1", "b= >2", "b >3", ">2 >4", ">1 >5", "a"});
    CHECK(found(p) == lists{{}, {0}, {0, 1}, {0, 1}, {0}, {0}, {0}, {0, 1}, {0, 1}, {0, 1}, {0}, {}});
}

TEST_CASE("an edge into the middle of a loop counts as one to its header")
{
    // 2 is entered from 0 as well as from 1; a is read in 1 only, so it is live on the path over 2.
    CHECK(found(flow_text({"a= >1 >2", "a >2", ">1"})) == lists{{}, {0}, {0}, {0}, {0}, {0}});
    // Into the middle of two nested loops at once: the outermost one counts.
    snapshot const deep = flow_text({"a= >1 >3", "a >2", ">3", ">2 >1"});
    CHECK(found(deep) == expected(deep));
}

TEST_CASE("without nodes there are no sets, and without cross-block values empty ones")
{
    CHECK(found(snapshot{}).empty());
    CHECK(found(flow_text({"a= ; a"})) == lists{{}, {}});
}

TEST_CASE("a value written twice is rejected, also within one node or one step")
{
    CHECK_THROWS_AS(found(flow_text({"a= >1", "a= >2", "a"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({"a= ; a= >1", "a"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({"a= a="})), precondition_error);
}

TEST_CASE("a value read on a path without its def is rejected, if the sets could be wrong")
{
    CHECK_THROWS_AS(found(flow_text({"a a= >0"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({">1", ">2 >3", "a a= >1", ""})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({">1", "a >2", "a= >1"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({">1 >2", "a= >2", "a >1"})),
                    precondition_error); // entered in the middle
    for (auto const& harmless : {flow_text({">1 >2", "a= >2", "a"}), flow_text({">1 >3", ">2", "a= >3", "a"}),
                                 flow_text({"", "b= >2 >3", "a= >3", "a b"})})
        CHECK(found(harmless) == expected(harmless));
}

TEST_CASE("a value without a def is live wherever it is still needed")
{
    CHECK(found(flow_text({">1", ">2", ">1 >3", "a"})) == lists{{0}, {0}, {0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("an edge from an unreachable node into the middle of a loop contributes the values live there")
{
    // 3 is unreachable. a is defined before the loop, then in its header: live in 2 in both cases.
    CHECK(found(flow_text({"a= >1", "a >2", ">1", ">2"})) == lists{{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}});
    CHECK(found(flow_text({">1", "a= >2", "a >1", ">2"})) == lists{{}, {}, {0}, {0}, {}, {0}, {}, {0}});
    // Into the middle of an irreducible one; b belongs to the loop, a does not.
    snapshot const p = flow_text({"a= >1 >2", "a b= ; b >2", ">1", ">2 >4", ">3"});
    CHECK(found(p) == expected(p));
}

TEST_CASE("random strict programs, with unreachable nodes and edges from them to any node: sets satisfy the "
          "equations")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_flow f = draw_ssa(pick, {.nodes = 9, .values = 9, .steps = 2});
        auto const reached = static_cast<std::uint32_t>(f.nodes.size());
        f.nodes.resize(reached + pick.below(5)); // reachable only from each other
        for (std::size_t n = reached; n != f.nodes.size(); ++n)
            for (std::uint32_t k = pick.below(4); k != 0; --k)
                f.nodes[n].successors.push_back(pick.below(static_cast<std::uint32_t>(f.nodes.size())));
        snapshot const p = f.program();
        REQUIRE(found(p) == expected(p));
    }
}

// --- liveness per value ------------------------------------------------------------------------------------

namespace {

constexpr std::size_t all_of_them = ~std::size_t{0};

detail::sparse_sets explored(snapshot const& p, std::size_t max_sets = all_of_them)
{
    return detail::live_by_exploration(p, find_cross_block_values(p), max_sets);
}

} // namespace

TEST_CASE("a value is followed up all paths from its uses to its defs")
{
    detail::sparse_sets const sets = explored(flow_text({"a= >1 >2", ">3", ">3", "a"}));
    CHECK(rows_of(sets.in) == lists{{}, {0}, {0}, {0}});
    CHECK(rows_of(sets.out) == lists{{0}, {0}, {0}, {}});
    CHECK(sets.given_up.empty());
}

TEST_CASE("each def ends a path, and a node that reads before it writes continues it")
{
    detail::sparse_sets const sets = explored(flow_text({"a= >1 >2", "a= >3", "a a= >3", "a"}));
    CHECK(rows_of(sets.in) == lists{{}, {}, {0}, {0}});
    CHECK(rows_of(sets.out) == lists{{0}, {0}, {0}, {}});
}

TEST_CASE("lists ascend, in whatever order values are read")
{
    detail::sparse_sets const sets = explored(flow_text({"c= b= a= >1", "c ; a b >2", "b c"}));
    CHECK(rows_of(sets.in) == lists{{}, {0, 1, 2}, {1, 2}});
    CHECK(rows_of(sets.out) == lists{{0, 1, 2}, {1, 2}, {}});
}

TEST_CASE("a phi operand is followed up from the end of the predecessor, once for any number of phis")
{
    detail::sparse_sets const sets = explored(flow_text({"a= >1", ">2 >3", "a@1 b= >3", "a@1 b@2 c="}));
    CHECK(rows_of(sets.in) == lists{{}, {0}, {}, {}});
    CHECK(rows_of(sets.out) == lists{{0}, {0}, {1}, {}});
    // An operand defined in the node itself, by the phi of a self loop.
    CHECK(rows_of(explored(flow_text({"b= >1", "b@0 c@1 a= ; c= a >1"})).in) == lists{{}, {}});
}

TEST_CASE("a value in more sets than allowed is given up, and one in exactly as many is not")
{
    snapshot const p = flow_text({"a= b= >1", "b >2", "a"}); // a is in four sets, b in two
    detail::sparse_sets const four = explored(p, 4), three = explored(p, 3), one = explored(p, 1);
    CHECK(four.given_up.empty());
    CHECK(three.given_up == std::vector<value_id>{0});
    CHECK(rows_of(three.in) == lists{{}, {1}, {}});
    CHECK(rows_of(three.out) == lists{{1}, {}, {}});
    CHECK(one.given_up == std::vector<value_id>{0, 1});
    CHECK(one.in.items() == 0);
    CHECK(one.out.items() == 0);
    // Read in one node, and nowhere else: it is in one set. A limit of 0 is too low.
    CHECK(explored(flow_text({"a"}), 1).given_up.empty());
    CHECK(explored(flow_text({"a"}), 0).given_up == std::vector<value_id>{0});
}

TEST_CASE("a value that is not cross-block is in no list, and is not given up")
{
    detail::sparse_sets const sets = explored(flow_text({"a= ; a", ""}), 0);
    CHECK(rows_of(sets.in) == lists{{}, {}});
    CHECK(sets.given_up.empty());
    CHECK(explored(snapshot{}).in.rows() == 0);
}

TEST_CASE("a million nodes and a hundred thousand values cost as much as the lists are long")
{
    std::size_t const nodes = 1000000, values = 100000;
    // Value v is defined in node 10 v and read in the node after the next; the last one by node 0, around.
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

TEST_CASE("random programs: the lists satisfy the equations, without the values in too many sets")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        std::size_t const most = pick.below(3) == 0 ? all_of_them : pick.below(12);
        liveness_tables const truth = solved_liveness(p);
        detail::sparse_sets const sets = explored(p, most);
        lists in(p.nodes()), out(p.nodes());
        std::vector<value_id> given_up;
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

// --- liveness worklist -------------------------------------------------------------------------------------

namespace {

lists worklist_sets(snapshot const& p)
{
    cross_block_values const cross_block = find_cross_block_values(p);
    return dense_lists(cross_block, detail::live_by_worklist(p, cross_block));
}

} // namespace

TEST_CASE("a value that a successor needs is live in, unless the node writes it")
{
    CHECK(worklist_sets(flow_text({"a= b= >1 >2", "a= >3", ">3", "a b"})) ==
          lists{{}, {1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {}});
}

TEST_CASE("a value read before it is written in a node is live in")
{
    CHECK(worklist_sets(flow_text({"a= >1", "a a= >1"})) == lists{{}, {0}, {0}, {0}});
    CHECK(worklist_sets(flow_text({"a= >1", "a! a= >1 >2", "a"})) == lists{{}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("a phi operand is live at the end of the predecessor, and not where the phi is")
{
    CHECK(worklist_sets(flow_text({"a= >1", "a@0 b@1 c= ; c b= >1"})) == lists{{}, {}, {0}, {1}});
    CHECK(worklist_sets(flow_text({"a= >1", ">2", "a@1 b="})) == lists{{}, {0}, {}, {0}, {0}, {}});
}

TEST_CASE("a loop is iterated to the fixed point")
{
    // a is propagated back over both loops, the inner one first.
    CHECK(worklist_sets(flow_text({"a= >1", ">2 >5", ">3 >4", ">2", ">1", "a"})) ==
          lists{{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {}});
    CHECK(worklist_sets(flow_text({"a >0"})) == lists{{0}, {0}});
}

TEST_CASE("unreachable nodes are solved, too")
{
    CHECK(worklist_sets(flow_text({"", ">2", "a >1"})) == lists{{}, {0}, {0}, {}, {0}, {0}});
}

TEST_CASE("without nodes there are no sets, and without cross-block values empty ones")
{
    CHECK(worklist_sets(snapshot{}).empty());
    CHECK(worklist_sets(flow_text({"a= ; a >0"})) == lists{{}, {}});
}

TEST_CASE("a value passes through a node that does not write it, and the next call starts from empty state")
{
    detail::transfer_function transfer(2);
    bit_rows out(1, 128), in(1, 128);
    out.set(0, 3);
    out.set(0, 64);
    CHECK(transfer(out[0], ids{64}, in[0]));
    CHECK(in.test(0, 3));
    CHECK_FALSE(in.test(0, 64));
    CHECK_FALSE(transfer(out[0], ids{64}, in[0])); // it had grown before
    CHECK(transfer(out[0], ids{}, in[0]));
    CHECK(in.test(0, 64));
}

TEST_CASE("a chain of a million nodes, forward and back, is solved without recursion")
{
    std::size_t const nodes = 1000000;
    auto chain = [&](node_id from, node_id to, node_id user, bool is_back) {
        snapshot const p = flow(
            nodes, 1, [&](node_id n) { return n + 1 == nodes ? (is_back ? ids{0} : ids{}) : ids{n + 1}; },
            [&](node_id n) { return n == user ? ids{0} : ids{}; }, [](node_id) { return ids{}; });
        detail::dense_sets const sets = detail::live_by_worklist(p, find_cross_block_values(p));
        return sets.in.test(from, 0) && sets.out.test(from, 0) && sets.in.test(to, 0);
    };
    CHECK(chain(0, nodes - 1, nodes - 1, false));
    CHECK(chain(500000, nodes - 1, 499999, true)); // only around the back edge
}

TEST_CASE("random programs: the sets satisfy the equations, also with more values than a word has bits")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p =
            (seed % 10 == 0 ? draw_flow(pick, {.nodes = 30, .values = 300, .steps = 4}) : draw_flow(pick))
                .program();
        liveness_tables const truth = solved_liveness(p);
        lists const sets = worklist_sets(p);
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

// --- liveness by trees -------------------------------------------------------------------------------------

namespace {

ids columns_of(set_trees& trees, set_trees::set s)
{
    ids columns;
    trees.each_difference(s, 0, [&](std::uint32_t c, bool is_in) {
        CHECK(is_in);
        columns.push_back(c);
    });
    return columns;
}

} // namespace

TEST_CASE("random programs: trees have the same sets as rows of bits")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p =
            draw_flow(pick, {.nodes = 20, .values = seed % 2 == 0 ? 8u : 300u, .steps = 3}).program();
        cross_block_values const cross_block = find_cross_block_values(p);
        dense_sets const expected = live_by_worklist(p, cross_block);
        set_trees trees(cross_block.value.size());
        tree_sets const live = live_by_trees(p, cross_block, trees);
        for (node_id n = 0; n != p.nodes(); ++n) {
            ids in, out;
            for (std::uint32_t c = 0; c != cross_block.value.size(); ++c) {
                if (expected.in.test(n, c)) in.push_back(c);
                if (expected.out.test(n, c)) out.push_back(c);
            }
            REQUIRE(columns_of(trees, live.leaving[n]) == in);
            REQUIRE(columns_of(trees, live.arriving[n]) == out);
        }
    }
}

TEST_CASE("random programs: a write reaches what a search from its node finds")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick, {.nodes = 20, .values = 100, .steps = 2}).program();
        auto const writes = cross_block_values::columns::gathered(p.nodes(), [&p](auto add) {
            for (node_id n = 0; n != p.nodes(); ++n)
                for (touch t : p.touches(p.steps_of(n)))
                    if (t.defines()) add(n, t.value);
        });
        lists expected(p.nodes());
        for (value_id v = 0; v != p.values(); ++v) {
            ids open;
            std::vector<bool> is_found(p.nodes());
            for (node_id n = 0; n != p.nodes(); ++n)
                if (defines(p, n, v)) open.push_back(n);
            while (!open.empty()) {
                node_id const n = open.back();
                open.pop_back();
                for (node_id next : p.successors(n))
                    if (!is_found[next]) is_found[next] = true, open.push_back(next);
            }
            for (node_id n = 0; n != p.nodes(); ++n)
                if (is_found[n]) expected[n].push_back(v);
        }
        set_trees trees(p.values());
        tree_sets const written = written_by_trees(p, writes, trees);
        for (node_id n = 0; n != p.nodes(); ++n)
            REQUIRE(columns_of(trees, written.arriving[n]) == expected[n]);
    }
}

TEST_CASE("a union is the first set if that is equal, and differences name their sets")
{
    set_trees trees(1000);
    set_trees::set const a = trees.changed(trees.changed(0, 3, true), 900, true);
    trees.keep();
    set_trees::set const b = trees.changed(a, 70, true);
    trees.keep();
    CHECK(columns_of(trees, a) == ids{3, 900});
    CHECK(columns_of(trees, b) == ids{3, 70, 900});
    CHECK(trees.united({b, a, 0}) == b);
    CHECK(columns_of(trees, trees.united({0, a, b})) == ids{3, 70, 900});
    CHECK(trees.united({0}) == 0);
    trees.each_difference(a, b, [](std::uint32_t c, bool is_in_a) {
        CHECK(c == 70);
        CHECK_FALSE(is_in_a);
    });
    CHECK(trees.changed(a, 5, false) == a);
    CHECK(trees.changed(trees.changed(a, 3, false), 900, false) == 0);
}

} // namespace this_test
