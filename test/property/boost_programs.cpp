// SPDX-License-Identifier: BSL-1.0
// Programs that are Boost graphs: through tasks() every function that orders, shares, places or rewrites
// gives the same result as for the same program as a list or as a flow.
#include <sublet/advise_memory.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/orders.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "../random_source.hpp"
#include "affine_bytes.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using vertex = boost::graph_traits<boost_graph>::vertex_descriptor;

/// Operation v defines value v from those of its predecessors, and may write over the first.
struct operations {
    boost_graph graph;
    std::vector<byte_count> bytes;

    std::vector<value_id> operands(vertex v) const
    {
        std::vector<value_id> result;
        auto const [first, last] = in_edges(v, graph);
        for (auto e = first; e != last; ++e) result.push_back(static_cast<value_id>(source(*e, graph)));
        std::sort(result.begin(), result.end());
        return result;
    }
    template <class Sink>
    void say(vertex v, Sink& step) const
    {
        auto const read = operands(v);
        for (value_id o : read) step.use(o);
        step.def(v);
        if (!read.empty()) step.may_overwrite(read[0], v);
        step.may_recompute();
    }
    snapshot through_boost() const
    {
        return tasks(graph, bytes.size(), [this](vertex v, auto& step) { say(v, step); });
    }
    snapshot as_list() const
    {
        return sequence(bytes.size(), bytes.size(), [this](step_id s, effect_sink& step) { say(s, step); });
    }
    plan_options options() const
    {
        std::vector<value_role> role(bytes.size(), value_role::intermediate);
        if (!role.empty()) role.back() = value_role::output;
        return {.bytes = bytes, .role = role};
    }
};

operations draw_operations_of(random_source& pick, std::uint32_t most)
{
    operations drawn;
    std::uint32_t const nodes = pick.below(most + 1);
    drawn.graph = boost_graph(nodes);
    for (std::uint32_t v = 0; v != nodes; ++v) {
        drawn.bytes.push_back(1 + pick.below(64));
        for (std::uint32_t i = 0, n = v == 0 ? 0 : pick.below(4); i != n; ++i) {
            std::uint32_t const from =
                pick.below(4) == 0 ? pick.below(v) : v - 1 - pick.below(std::min(v, 3u));
            if (!edge(from, v, drawn.graph).second) add_edge(from, v, drawn.graph);
        }
    }
    return drawn;
}

} // namespace

TEST_CASE("a Boost graph of operations is ordered, planned, shared and rewritten like the list of operations")
{
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        operations const ops = draw_operations_of(pick, 14);
        snapshot const p = ops.through_boost(), list = ops.as_list();
        plan_options const options = ops.options();

        order_graph const g = order_graph_of(p, options), of_list = order_graph_of(list, options);
        CHECK(topological(g) == topological(of_list));
        CHECK(longest_path(g) == longest_path(of_list));
        CHECK(least_peak(g).order == least_peak(of_list).order);
        auto const best = exact_order(g);
        CHECK(best.order == exact_order(of_list).order);
        CHECK(best.peak <= least_peak(g).peak);

        auto ordered = options;
        ordered.order = best.order;
        auto const planned = plan_memory(p, ordered);
        CHECK(planned);
        CHECK(planned.plan == plan_memory(list, ordered).plan);

        CHECK(share_slots(p, options).slot_of == share_slots(list, options).slot_of);
        std::vector<buffer_id> each; // one buffer per value
        for (value_id v = 0; v != p.values(); ++v) each.push_back(+v);
        CHECK(releases(p, each.size(), each).counter == releases(list, each.size(), each).counter);

        auto tight = options;
        tight.pools = {{planned.report().lower_bound_bytes * 3 / 4, 1}};
        CHECK(advise_memory(p, tight).suggestions == advise_memory(list, tight).suggestions);
    }
}

TEST_CASE("a Boost graph of operations is planned for every batch")
{
    random_source pick{std::mt19937{7}};
    operations const ops = draw_operations_of(pick, 40);
    auto const role = ops.options().role;
    symbolic_options const wanted{
        .bytes = [&](value_id v) { return affine_bytes{v % 3 == 0 ? ops.bytes[v] : 0, ops.bytes[v]}; },
        .dims = batches(8),
        .role = role};
    auto const planned = plan_symbolic(ops.through_boost(), wanted);
    CHECK(planned);
    auto const of_list = plan_symbolic(ops.as_list(), wanted);
    for (byte_count batch : {1u, 3u, 8u}) CHECK(planned.plan.at(batch) == of_list.plan.at(batch));
}

TEST_CASE("a Boost graph of basic blocks is planned like the same blocks in a flow")
{
    for (unsigned seed = 0; seed != 30; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const nodes = 1 + pick.below(8), values = 1 + pick.below(10);
        boost_graph blocks(nodes);
        for (std::uint32_t n = 0; n + 1 < nodes; ++n) add_edge(n, n + 1, blocks);
        for (std::uint32_t i = 0; i != nodes / 2; ++i) {
            std::uint32_t const from = pick.below(nodes), to = pick.below(nodes);
            add_edge(from, to, blocks);
        }
        std::vector<std::vector<value_id>> uses(nodes), defs(nodes);
        for (value_id v = 0; v != values; ++v) {
            defs[0].push_back(v);
            uses[pick.below(nodes)].push_back(v);
            uses[pick.below(nodes)].push_back(v);
        }
        uses[0].clear(); // nothing is defined before
        plan_options const options{.bytes = [](value_id v) { return 8 * (v + 1); }};
        auto const p = flow(
            blocks, values, [&](vertex v) -> auto& { return uses[v]; },
            [&](vertex v) -> auto& { return defs[v]; });
        auto const planned = plan_flow(p, options);
        CHECK(planned);
        auto const same = flow(
            nodes, values,
            [&](node_id n) {
                std::vector<node_id> next;
                auto const [first, last] = out_edges(n, blocks);
                for (auto e = first; e != last; ++e) next.push_back(static_cast<node_id>(target(*e, blocks)));
                return next;
            },
            [&](node_id n) -> auto& { return uses[n]; }, [&](node_id n) -> auto& { return defs[n]; });
        CHECK(planned.plan == plan_flow(same, options).plan);
    }
}

} // namespace this_test
