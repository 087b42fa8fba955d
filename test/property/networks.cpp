// SPDX-License-Identifier: BSL-1.0
// Results of earlier systems on a network that they all report: equal here, or optimal.
#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/checking/check_slots.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/color_intervals.hpp>

#include "../network.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

buffer_table buffers_of(network::op_list const& net)
{
    return gather_buffers(lifetimes(net.program()), net.options());
}

sized_slot_plan recycled(buffer_table const& table, linear_options::fit_kind fit)
{
    return share_linearly(
        table.buffers.size(), [&](auto b) { return table.buffers[b].life; },
        [&](auto b) { return table.buffers[b].size; }, {.fit = fit});
}

/// The same list as control flow: an edge from each operation to the next.
snapshot as_flow(network::op_list const& net)
{
    std::size_t const ops = net.uses.size();
    return tasks(
        ops, ops, [ops](node_id n) { return std::vector<node_id>(n + 1 == ops ? 0 : 1, n + 1); },
        [&net](node_id n) { return std::span(net.uses[n]); },
        [](node_id n) { return std::vector<value_id>{+n}; });
}

/// As many operations as a training step of SE-ResNeXt-152: blocks of five, each with a sum.
network::op_list four_thousand_operations()
{
    network::op_list net;
    value_id x = net.add({}, 64);
    while (net.uses.size() < 4000) {
        value_id y = x;
        for (unsigned i = 0; i != 4; ++i) y = net.add({y}, 64);
        x = net.add({x, y}, 64);
    }
    return net;
}

} // namespace

TEST_CASE("ResNet-50 built in code is the network of the files: 176 operations, 143 MiB")
{
    auto const net = network::resnet50();
    CHECK(net.uses.size() == 176);
    auto const planned = plan_memory(net.program(), net.options());
    CHECK(planned);
    auto options = net.options();
    options.in_place = false;
    CHECK(plan_memory(net.program(), options).report().naive_bytes == 150243136);
}

TEST_CASE("recycling over the operation list gives 3 slots on ResNet-50, as Caffe2's linear planner does")
{
    auto const table = buffers_of(network::resnet50());
    CHECK(color(table.buffers.size(), [&](auto b) { return table.buffers[b].life; }).slots == 3);
    auto const grown = recycled(table, linear_options::fit_kind::grow);
    CHECK(grown.slots == 3);
    CHECK(grown.total_bytes <= 9640000); // Caffe2: 9.64 MB
}

TEST_CASE("a larger free slot serves a smaller buffer, as in PaddlePaddle's level 1, or not, as in level 0")
{
    auto const table = buffers_of(network::resnet50());
    auto const equal = recycled(table, linear_options::fit_kind::equal),
               at_least = recycled(table, linear_options::fit_kind::at_least);
    CHECK(at_least.total_bytes < equal.total_bytes);
    for (std::size_t b = 0; b != table.buffers.size(); ++b)
        CHECK(equal.slot_bytes[equal.slot_of[b]] == table.buffers[b].size);
}

TEST_CASE(
    "offsets on ResNet-50 meet the lower bound, and relu in place saves buffers but no byte of the peak")
{
    auto const net = network::resnet50();
    auto options = net.options();
    options.in_place = false;
    auto const apart = plan_memory(net.program(), options).report();
    CHECK(apart.buffers == 175);
    CHECK(apart.lower_bound_bytes == 9633792);
    CHECK(apart.arena_bytes == 9633792);
    auto const in_place = plan_memory(net.program(), net.options()).report();
    CHECK(in_place.buffers == 175 - 49);
    CHECK(in_place.arena_bytes == in_place.lower_bound_bytes);
    CHECK(in_place.lower_bound_bytes <= apart.lower_bound_bytes);
}

TEST_CASE("liveness over an operation list agrees with lifetimes, by every policy and for 4000 operations")
{
    for (network::op_list const& net : {network::resnet50(), four_thousand_operations()}) {
        snapshot const p = as_flow(net);
        live_ranges const lives = lifetimes(net.program());
        live_sets const live = liveness(p);
        for (liveness_options::method policy :
             {liveness_options::method::worklist, liveness_options::method::loop_forest,
              liveness_options::method::per_value})
            CHECK(liveness(p, {.policy = policy}) == live);
        std::size_t wrong = 0;
        for (value_id v = 0; v != p.values(); ++v)
            for (node_id n = v < 50 ? 0 : v - 50; n != std::min<std::size_t>(p.nodes(), v + 400); ++n)
                wrong +=
                    live.is_live_out(v, n) != (contains(lives.of[v], +n) && contains(lives.of[v], n + 1));
        CHECK(wrong == 0);
    }
}

TEST_CASE("an interference graph coloured greedily by size, as by Caffe2's memonger.py, needs little more "
          "than the peak")
{
    auto const table = buffers_of(network::resnet50());
    auto const found =
        interference(table.buffers.size(), [&](std::uint32_t b) { return table.buffers[b].life; });
    csr_graph const& graph = found.graph();
    auto const colored = color(found, {.by = coloring_options::heuristic::by_size,
                                       .bytes = [&](std::uint32_t b) { return table.buffers[b].size; }});
    for (node_id v = 0; v != graph.rows(); ++v)
        for (node_id w : graph[v]) CHECK(colored.plan.slot_of[v] != colored.plan.slot_of[w]);
    CHECK(colored.clique.size() == 3);
    CHECK(colored.least_bytes == 9633792);
    CHECK(colored.total_bytes == 10436608);
    CHECK(color(graph).is_optimal());
    auto const refused = interference(table.buffers.size(),
                                      [&](std::uint32_t b) { return table.buffers[b].life; }, {.budget = 64});
    CHECK_THROWS_AS((void)color(refused), precondition_error);
}

TEST_CASE("a Boost graph of operations is coloured through tasks() with as many slots as the list")
{
    auto const net = network::resnet50();
    boost::adjacency_list<boost::listS, boost::vecS, boost::directedS> g(net.uses.size());
    for (std::size_t op = 1; op != net.uses.size(); ++op) add_edge(op - 1, op, g);
    snapshot const p = tasks(
        g, net.uses.size(), [&](auto op) { return std::span(net.uses[op]); },
        [](auto op) { return std::vector{op}; });
    auto const colored = color(p);
    CHECK(colored.plan.slots == 3);
    CHECK(colored.is_optimal());
    CHECK(check_slots(p, colored.plan));
}

} // namespace this_test
