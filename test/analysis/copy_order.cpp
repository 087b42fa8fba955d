// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/copy_order.hpp>

#include "../random_flow.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct ordered {
    std::vector<std::pair<value_id, value_id>> moves;
    std::vector<value_id> spares; // by spare: the root that it was made for
};

/// Values 0 .. root.size() - 1, then spares.
ordered order(copy_order& orderer, std::size_t values, std::vector<value_copy> const& copies)
{
    ordered all;
    orderer.order(
        copies, [&](value_id from, value_id to) { all.moves.emplace_back(from, to); },
        [&](value_id root) {
            all.spares.push_back(root);
            return static_cast<value_id>(values + all.spares.size() - 1);
        });
    return all;
}

ordered order(std::vector<value_id> root, std::vector<value_copy> const& copies)
{
    copy_order orderer(root);
    return order(orderer, root.size(), copies);
}

using moves = std::vector<std::pair<value_id, value_id>>;

} // namespace

TEST_CASE("a value is copied before it is overwritten")
{
    auto const all = order({0, 1, 2}, {{0, 1}, {1, 2}});
    CHECK(all.moves == moves{{1, 2}, {0, 1}});
    CHECK(all.spares.empty());
}

TEST_CASE("a swap and a cycle of three each take one spare value")
{
    CHECK(order({0, 1}, {{0, 1}, {1, 0}}).moves == moves{{1, 2}, {0, 1}, {2, 0}});
    auto const three = order({0, 1, 2}, {{0, 1}, {1, 2}, {2, 0}});
    CHECK(three.moves.size() == 4);
    CHECK(three.spares == std::vector<value_id>{1});
}

TEST_CASE("no copies, one copy, and a copy onto itself")
{
    CHECK(order({}, {}).moves.empty());
    CHECK(order({0, 1}, {{0, 1}}).moves == moves{{0, 1}});
    CHECK(order({0}, {{0, 0}}).moves == moves{{0, 0}});
    CHECK(order({0, 0}, {{1, 0}}).moves == moves{{1, 0}}); // from a view
}

TEST_CASE("a view is read before its root is overwritten")
{
    // 1 is a view of 0
    CHECK(order({0, 0, 2, 3}, {{3, 0}, {1, 2}}).moves == moves{{1, 2}, {3, 0}});
    auto const swapped = order({0, 0, 2}, {{2, 0}, {1, 2}});
    CHECK(swapped.moves == moves{{0, 3}, {2, 0}, {3, 2}});
    CHECK(swapped.spares == std::vector<value_id>{0});
}

TEST_CASE("a shift of a hundred thousand values takes no spare value, a rotation takes one")
{
    std::size_t const values = 100'000;
    std::vector<value_id> root;
    std::vector<value_copy> copies;
    for (value_id v = 0; v != values; ++v) {
        root.push_back(v);
        if (v != 0) copies.push_back({v - 1, v});
    }
    CHECK(order(root, copies).spares.empty());
    copies.push_back({static_cast<value_id>(values - 1), 0});
    auto const ring = order(root, copies);
    CHECK(ring.spares.size() == 1);
    CHECK(ring.moves.size() == values + 1);
}

TEST_CASE("random copies and views: the sequence has the effect of the parallel copies, with reused tables")
{
    std::size_t circles = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const values = 1 + pick.below(8);
        std::vector<value_id> root;
        for (value_id v = 0; v != values; ++v)
            root.push_back(v != 0 && pick.below(4) == 0 ? root[pick.below(v)] : v);
        copy_order orderer(root);
        for (int round = 0; round != 3; ++round) {
            std::vector<value_copy> copies; // one for each root at most
            std::vector<char> is_written(values);
            for (std::uint32_t k = pick.below(2 * values); k != 0; --k) {
                value_id const from = pick.below(values), to = pick.below(values);
                if (std::exchange(is_written[root[to]], char{1})) continue;
                copies.push_back({from, to});
            }
            std::vector<int> at_once;
            for (value_id v = 0; v != values; ++v) at_once.push_back(static_cast<int>(root[v]));
            auto in_turn = at_once; // by root
            auto const before = at_once;
            for (auto c : copies) at_once[root[c.to]] = before[root[c.from]];
            auto const all = order(orderer, values, copies);
            in_turn.resize(values + all.spares.size(), -1);
            auto place = [&](value_id v) { return v < values ? root[v] : v; };
            for (auto [from, to] : all.moves) in_turn[place(to)] = in_turn[place(from)];
            in_turn.resize(values);
            for (value_id v = 0; v != values; ++v) CHECK(in_turn[root[v]] == at_once[root[v]]);
            CHECK(all.moves.size() == copies.size() + all.spares.size());
            CHECK(all.spares.size() <= copies.size() / 2);
            circles += all.spares.size();
        }
    }
    CHECK(circles > 200);
}

// --- program builder ---------------------------------------------------------------------------------------

TEST_CASE("a program built node by node equals the one made by a factory")
{
    program_builder draft;
    CHECK(draft.open_node() == 0);
    draft.add_edge(0, 2); // does not exist yet
    draft.add_edge(0, 1);
    draft.touch(0, touch::access::def);
    CHECK(draft.end_step() == 0);
    CHECK(draft.open_node() == 1); // without a step
    draft.add_edge(1, 2);
    CHECK(draft.open_node() == 2);
    draft.use_at_end_of(2, 1, 0);
    draft.touch(1, touch::access::def);
    draft.touch(0, touch::access::use);
    draft.may_overwrite(0, 1);
    CHECK(draft.end_step() == 2);
    CHECK(draft.last_node() == 2);
    auto const expected = flow(
        3, 2,
        [](node_id n) {
            return n == 0 ? std::vector<node_id>{2, 1} : std::vector<node_id>(n == 1 ? 1u : 0u, 2);
        },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n != 2) return;
            s.use(0);
            s.def(1);
            s.may_overwrite(0, 1);
            s.use_at_end_of(1, 0);
        });
    CHECK(draft.program(2) == expected);
    CHECK(draft.program(2) == expected); // may be called again
}

TEST_CASE("an empty builder makes the empty program, and an open node has a step that does nothing")
{
    CHECK(program_builder().program(0) == snapshot());
    program_builder draft;
    draft.open_node();
    CHECK(draft.program(1).steps() == 1);
}

TEST_CASE("invalid programs are rejected")
{
    program_builder early;
    CHECK_THROWS_WITH_AS(early.end_step(), "sublet: a step ends before a node is open", precondition_error);
    program_builder from, to, operand;
    for (program_builder* d : {&from, &to, &operand}) d->open_node();
    from.add_edge(1, 0);
    CHECK_THROWS_WITH_AS((void)from.program(0),
                         "sublet: an edge leads from node 1, but there are only 1 nodes", precondition_error);
    to.add_edge(0, 1);
    CHECK_THROWS_WITH_AS((void)to.program(0), "sublet: node 0 leads to node 1, but there are only 1 nodes",
                         precondition_error);
    operand.use_at_end_of(1, 0, 0);
    CHECK_THROWS_WITH_AS((void)operand.program(1),
                         "sublet: a phi operand belongs to node 1, but there are only 1 nodes",
                         precondition_error);
}

TEST_CASE("random programs are rebuilt unchanged, with edges and operands added last")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_flow const f = draw_flow(pick);
        program_builder draft;
        for (auto const& node : f.nodes) {
            draft.open_node();
            for (auto const& step : node.steps) {
                for (auto v : step.defs) draft.touch(v, touch::access::def);
                for (auto v : step.uses) draft.touch(v, touch::access::use);
                for (auto v : step.early) draft.touch(v, touch::access::use_early);
                draft.end_step();
            }
        }
        for (node_id n = 0; n != f.nodes.size(); ++n) {
            for (auto s : f.nodes[n].successors) draft.add_edge(n, s);
            for (auto o : f.nodes[n].operands) draft.use_at_end_of(n, o.pred, o.value);
        }
        CHECK(draft.program(f.values) == f.program());
    }
}

} // namespace this_test
