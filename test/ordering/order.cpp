// SPDX-License-Identifier: BSL-1.0
#include <sublet/ordering/detail/order_pipeline.hpp>
#include <sublet/ordering/order.hpp>

#include "../network.hpp"
#include "../random_orders.hpp"
#include "../random_source.hpp"

#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// `layers` layers of forward, backward and update; all updates are listed at the end.
drawn_program training(std::uint32_t layers)
{
    random_program r;
    auto add = [&](std::vector<value_id> uses, byte_count size) {
        r.bytes.push_back(size);
        r.alignment.push_back(1);
        r.role.push_back(value_role::intermediate);
        r.alias_of.push_back(no_value);
        r.pool.push_back(0);
        r.eligible.push_back(true);
        auto const v = static_cast<value_id>(r.values() - 1);
        r.nodes.push_back({{{std::move(uses), {}, {v}, {}, {}}}, {}});
        return v;
    };
    std::vector<value_id> forward{add({}, 16)}, gradients;
    for (std::uint32_t i = 0; i != layers; ++i) forward.push_back(add({forward.back()}, 16));
    value_id back = add({forward.back()}, 16);
    for (std::uint32_t i = layers; i-- != 0;) {
        gradients.push_back(add({back, forward[i]}, 64));
        back = add({back}, 16);
    }
    for (value_id g : gradients) add({g}, 0); // writes the caller's weights
    return {r, r.without_edges(), r.options()};
}

} // namespace

// Gradients are freed as soon as their updates have run: user thread 45 asks for cheap orders that do it.
TEST_CASE("updates listed at the end move to the definitions of their gradients")
{
    drawn_program const drawn = training(10);
    order_graph const g = drawn.graph();
    node_order const found = order(g);
    CHECK(found.is_optimal());
    CHECK(found.given_peak == 10 * 64 + 3 * 16 - 16);
    CHECK(found.peak == 240);
    CHECK(planned_peak(drawn, found.order) == found.peak);
}

TEST_CASE("the listed order of ResNet-50 is proved optimal")
{
    auto const net = network::resnet50();
    node_order const found = order(net.program(), net.options());
    CHECK(found.is_optimal());
    CHECK(found.peak == found.given_peak);
    CHECK(found.found_by == node_order::method::listed);
}

TEST_CASE("an empty program has an empty order, and a cyclic one has none")
{
    CHECK(order(order_graph{}).is_optimal());
    order_graph g;
    g.refute(counterexample{fault::cycle, counterexample::waiting{}});
    CHECK(!order(g));
    CHECK_FALSE(order(g).is_optimal());
}

TEST_CASE("the best order of small programs is optimal, with a proof")
{
    unsigned const graphs = for_small_graphs(150, [&](order_graph const& g, random_source& pick) {
        node_order const found = order(g);
        REQUIRE(is_order(g, found.order));
        CHECK(found.is_optimal());
        CHECK(found.peak == min_peak_exhaustive(g));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(order(g).order == found.order);
        // With almost no search the order is still valid, and its bound holds.
        order_limits const little{.work = pick.below(2000)};
        node_order const quick = order(g, little);
        CHECK(quick.peak >= found.peak);
        CHECK(quick.lower_bound <= found.peak);
        CHECK(quick.peak <= quick.given_peak);
    });
    CHECK(graphs > rounds(100));
}

TEST_CASE("more work gives no higher peak and no lower bound")
{
    std::size_t better = 0, in_later_rounds = 0;
    for (unsigned seed = 1; seed != rounds(40); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_operations(pick, 60, 60).graph();
        node_order last = order(g, {.work = 0});
        std::vector<std::uint64_t> works{10'000, 1'000'000, 4'000'000, 12'000'000};
        for (int drawn = 0; drawn != 4; ++drawn) works.push_back(pick.below(400'000));
        std::sort(works.begin(), works.end());
        for (std::uint64_t work : works) {
            CAPTURE(work);
            node_order found = order(g, {.work = work});
            CHECK(found.peak <= last.peak);
            CHECK(found.lower_bound >= last.lower_bound);
            better += found.peak < last.peak;
            in_later_rounds += work > 1'000'000 && found.peak < last.peak;
            last = std::move(found);
        }
    }
    CHECK(better > rounds(30));
    CHECK((in_later_rounds != 0 || rounds(40) < 40));
}

TEST_CASE("orders of wide graphs are never worse than listed, and only a proved order is called optimal")
{
    for (unsigned seed = 1; seed != 5; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        drawn_program const drawn = draw_operations(pick, 150, 150);
        order_graph const g = drawn.graph();
        node_order const found = order(g, {.work = 2'000'000});
        CHECK(is_order(g, found.order));
        CHECK(found.peak == peak_of(g, found.order));
        CHECK(found.peak < found.given_peak);
        CHECK(found.lower_bound <= found.peak);
        CHECK(planned_peak(drawn, found.order) == found.peak);
    }
}

TEST_CASE("order() gives the order of each rule with its peak and a lower bound")
{
    for (std::uint32_t seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        order_graph const g = draw_unordered(pick, 12).graph();
        if (!g) {
            CHECK(order(g, node_order::method::breadth_first).error() == g.error());
            continue;
        }
        for (auto method : {node_order::method::listed, node_order::method::longest_path,
                            node_order::method::breadth_first, node_order::method::depth_first,
                            node_order::method::on_demand, node_order::method::series_parallel,
                            node_order::method::least_peak, node_order::method::exact}) {
            node_order const found = order(g, method);
            CHECK(found.peak == peak_of(g, found.order));
            CHECK(found.lower_bound >= order_lower_bound(g));
            CHECK(found.lower_bound <= found.peak);
            CHECK(found.given_peak == peak_of(g, detail::topological(g)));
            if (method == node_order::method::least_peak || method == node_order::method::exact)
                CHECK(found.peak <= found.given_peak);
            if (method != node_order::method::exact) CHECK(order(g, {.work = 0}).peak <= found.peak);
        }
        CHECK(order(g, node_order::method::breadth_first).order == detail::breadth_first(g));
        CHECK(order(g, node_order::method::exact).peak == detail::exact_order(g).peak);
    }
    CHECK_THROWS_AS((void)order(order_graph{}, node_order::method::reversed), precondition_error);
}

} // namespace this_test
