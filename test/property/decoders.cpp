// SPDX-License-Identifier: BSL-1.0
// Decoders with caches that are written through views: every order that the library calls legal gives the same
// results, and a listing that forgets the writes is found out by each checker.
#include "../../bench/decoder_graphs.hpp"
#include "../decoders.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using decoder_list = listing<decoder_tensor const*>;

/// A random order of the steps that the dependences of the library allow.
std::vector<node_id> draw_order(decoder_list const& list, random_source& pick)
{
    dependence_graph const g = dependences(list);
    REQUIRE(g);
    std::vector<std::size_t> waits;
    std::vector<position_id> ready;
    std::vector<node_id> order;
    for (position_id at = 0; at != g.positions(); ++at) {
        waits.push_back(g.before[at].size());
        if (waits[at] == 0) ready.push_back(at);
    }
    while (!ready.empty()) {
        std::size_t const drawn = pick.below(static_cast<unsigned>(ready.size()));
        position_id const at = ready[drawn];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(drawn));
        order.push_back(+g.step_at[at]); // one step is one node
        for (position_id next : g.after[at])
            if (--waits[next] == 0) ready.push_back(next);
    }
    return order;
}

/// The result and the caches after two runs.
template <class Executor>
std::vector<float> run(Executor& executor, decoder const& net, decoder_list const& list)
{
    std::map<decoder_tensor const*, std::vector<float>> caches;
    for (decoder_tensor const& t : net.tensors()) {
        if (t.role != value_role::state) continue;
        auto& cache = caches[&t];
        for (std::size_t i = 0; i != t.floats; ++i) cache.push_back(static_cast<float>(i % 5) / 8);
        executor.bind(list.id(&t), std::as_writable_bytes(std::span(cache)));
    }
    std::vector<float> left;
    for (int token : {1, 2}) {
        auto const x = as<float>(executor.input(list.id(&net.tensors().front())));
        for (std::size_t i = 0; i != x.size(); ++i)
            x[i] = static_cast<float>(i + 1) / static_cast<float>(token);
        executor.run();
        auto const y = as<float>(executor.output(list.id(net.result())));
        left.insert(left.end(), y.begin(), y.end());
    }
    for (auto const& [t, cache] : caches) left.insert(left.end(), cache.begin(), cache.end());
    return left;
}

} // namespace

TEST_CASE("in 200 random orders a decoder computes the same, with every plan")
{
    for (bool gated : {false, true}) {
        CAPTURE(gated);
        decoder const net(gated, 3, 8, 4, 2);
        decoder_list const list = net.list();
        cpu_executor apart{list, no_plan{}, net};
        std::vector<float> const expected = run(apart, net, list);
        REQUIRE(!std::isnan(expected[0]));
        auto const any = plan_concurrent(list);
        auto const waiting = plan_with_handoffs(list);
        REQUIRE(bool(any));
        REQUIRE(bool(waiting));
        for (std::uint32_t seed = 0; seed != rounds(200); ++seed) {
            CAPTURE(seed);
            random_source pick{std::mt19937(seed)};
            decoder_list ordered = list;
            ordered.order = draw_order(list, pick);
            auto const planned = plan_memory(ordered);
            REQUIRE(bool(planned));
            cpu_executor in_order{ordered, arena{planned}, net};
            REQUIRE(run(in_order, net, ordered) == expected);
            if (seed % 10 != 0) continue;
            thread_options const at_random{.workers = 1, .policy = queue_policy::random, .seed = seed};
            thread_executor in_any_order{list, arena{any}, net, at_random};
            REQUIRE(run(in_any_order, net, list) == expected);
            thread_executor with_waits{list, arena{waiting}, net, at_random};
            REQUIRE(run(with_waits, net, list) == expected);
        }
    }
}

TEST_CASE("a forgotten write through a view is refused")
{
    for (bool gated : {false, true}) {
        CAPTURE(gated);
        decoder_list const forgetful = decoder(gated, 2, 8, 4, 2).list(false);
        std::string const key = gated ? "layer 0, rotated k" : "layer 0, k";
        std::string const why =
            "no plan: step 'layer 0, key row, stored' reads value '" + key +
            "' and only makes a view of value 'layer 0, keys': say write() if it changes bytes of that, or "
            "only_views() if it changes none";
        auto text = [](auto const& planned) {
            std::ostringstream out;
            out << planned;
            return out.str();
        };
        CHECK(text(plan_memory(forgetful)) == why);
        CHECK(text(plan_concurrent(forgetful)) == why);
        CHECK(text(plan_with_handoffs(forgetful)) == why);
        CHECK(text(plan_flow(forgetful)) == why);
        CHECK(text(advise_memory(forgetful)) == why);
    }
}

TEST_CASE("a write through a view that a step denies is found by each checker")
{
    decoder const net(false, 2, 8, 4, 2);
    decoder_list const list = net.list(), forgetful = net.list(false, true);
    snapshot const program = list.program(), without = forgetful.program();
    plan_options options = list.options();
    std::size_t moved = 0, raced = 0, cycles = 0;
    for (std::uint32_t seed = 0; seed != 50; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        options.order = draw_order(forgetful, pick);
        auto const planned = plan_memory(without, options);
        REQUIRE(bool(planned));
        auto const valid = check_plan(program, planned.plan, options);
        moved += !valid && valid.error().what == fault::write_moved;
    }
    CHECK(moved > 20); // the others happen to keep the order

    // The waits of the forgetful program, and hand-offs that it allows, are too few or contradict the writes.
    auto const order = detail::run_order_of(without, forgetful.options(), no_plan{});
    if (!detail::check_waits(program, list.options(), nullptr, order.lowered.step_at, order.waits.after))
        ++raced;
    CHECK(raced == 1);
    auto const any = plan_concurrent(forgetful);
    REQUIRE(bool(any));
    CHECK(check_concurrent_plan(program, any.plan, list.options()));
    for (step_id from = 0; from != program.steps(); ++from)
        for (step_id to = 0; to != from; ++to) { // the later step before the earlier one
            memory_plan backward = any.plan;
            backward.handoffs = {{from, to}};
            bool const is_allowed{check_concurrent_plan(without, backward, forgetful.options())};
            auto const valid = check_concurrent_plan(program, backward, list.options());
            cycles += is_allowed && !valid && valid.error().what == fault::cycle;
        }
    CHECK(cycles > 4);
}

TEST_CASE("graphs of any size have a plan at the bound at every effort, from ids and from a listing")
{
    for (bench::named_model const& model : bench::graph_models)
        for (std::size_t const nodes : {60u, 300u, 2300u, 5000u}) {
            CAPTURE(model.name);
            CAPTURE(nodes);
            bench::decoder_graph const g(model.model, nodes);
            CHECK(g.nodes() > nodes / 2);
            CHECK(g.nodes() < nodes + 150);
            auto const program = g.program();
            auto const fast = plan_memory(program, g.options(effort::fast));
            REQUIRE(bool(fast));
            CHECK(fast.figures.is_checked);
            CHECK(fast.figures.gap() == 0);
            if (nodes > 2300) continue;
            auto const balanced = plan_memory(program, g.options());
            CHECK(balanced.figures.arena_bytes == fast.figures.arena_bytes);
            auto const by_handle = plan_memory(g.list());
            CHECK(by_handle.figures.arena_bytes == fast.figures.arena_bytes);
            CHECK(by_handle.figures.lower_bound_bytes == fast.figures.lower_bound_bytes);
        }
}

} // namespace this_test
