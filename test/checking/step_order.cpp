// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/step_order.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;
using steps = std::vector<step_id>;

step_order order_of(snapshot const& p, std::vector<handoff> const& handoffs = {})
{
    return order_of_steps(p, std::vector<value_role>(p.values()), handoffs);
}

/// By step, then step: whether edges lead from one to the other.
using relation = std::vector<std::vector<bool>>;
void close(relation& before)
{
    for (std::size_t k = 0; k != before.size(); ++k)
        for (std::size_t a = 0; a != before.size(); ++a)
            if (before[a][k])
                for (std::size_t b = 0; b != before.size(); ++b)
                    if (before[k][b]) before[a][b] = true;
}

} // namespace

TEST_CASE("who reads comes after who writes, whatever the list says, and others come in any order")
{
    // 2 writes what 0 and 1 read.
    auto const p = sequence(3, 1, [](step_id s, effect_sink& sink) {
        if (s == 2) sink.def(0);
        else sink.use(0);
    });
    step_order const o = order_of(p);
    REQUIRE(!o.fault);
    CHECK(o.step_at.front() == 2);
    CHECK(o.position[2] == 0);
    CHECK(o.def_of == steps{2});
    CHECK(o.after.items() == 2);
}

TEST_CASE("steps that are listed so that all can run keep their numbers")
{
    auto const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s > 1) sink.use(s - 2);
        sink.def(s);
    });
    CHECK(order_of(p).step_at == steps{0, 1, 2, 3});
}

TEST_CASE("the order is the closure of data, edges, rows of steps, ends of nodes and hand-offs")
{
    std::size_t cycles = 0, orders = 0;
    for (std::uint32_t seed = 0; seed != rounds(3'000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        std::uint32_t const nodes = 1 + roll.below(6);
        std::vector<std::vector<node_id>> next(nodes);
        std::vector<std::uint32_t> size, first;
        std::uint32_t count = 0;
        for (node_id n = 0; n != nodes; ++n) {
            first.push_back(count);
            size.push_back(1 + roll.below(3));
            count += size.back();
            if (roll.below(3) == 0) next[n].push_back(roll.below(8) == 0 ? roll.below(nodes) : nodes - 1);
        }
        // Step s writes value s; each reads some of those written before, rarely behind.
        std::vector<std::vector<value_id>> uses(count), early(count);
        relation before(count, std::vector<bool>(count));
        auto drawn = [&](step_id s) { return roll.below(25) == 0 ? roll.below(count) : roll.below(s); };
        for (step_id s = 1; s < count; ++s)
            for (auto i = roll.below(3); i != 0; --i) {
                value_id const v = drawn(s);
                if (v == s) continue;
                (roll.below(3) == 0 ? early : uses)[s].push_back(v);
                before[v][s] = true;
            }
        std::vector<edge_use> at_end;
        for (node_id n = 0; n != nodes; ++n)
            for (node_id to : next[n]) {
                step_id const last = first[n] + size[n] - 1;
                before[last][first[to]] = true;
                if (roll.below(3) != 0) continue;
                value_id const v = drawn(last + 1);
                at_end.push_back({to, n, v});
                if (v != last) before[v][last] = true;
            }
        for (node_id n = 0; n != nodes; ++n)
            for (std::uint32_t i = 1; i < size[n]; ++i) before[first[n] + i - 1][first[n] + i] = true;
        std::vector<handoff> handoffs;
        if (roll.below(2) == 0) {
            handoff h;
            h.from = roll.below(count);
            h.to = roll.below(count);
            handoffs.push_back(h);
            before[h.from][h.to] = true;
        }
        auto const direct = before;
        close(before);

        auto const p = flow(
            nodes, count, [&](node_id n) -> auto const& { return next[n]; },
            [&](node_id n, effect_sink& sink) {
                for (std::uint32_t i = 0; i != size[n]; ++i) {
                    if (i != 0) sink.next_step();
                    for (value_id v : uses[first[n] + i]) sink.use(v);
                    for (value_id v : early[first[n] + i]) sink.use_early(v);
                    sink.def(first[n] + i);
                }
                for (edge_use u : at_end)
                    if (u.node == n) sink.use_at_end_of(u.pred, u.value);
            });
        step_order const o = order_of(p, handoffs);
        bool has_cycle = false;
        for (step_id s = 0; s != count; ++s) has_cycle = has_cycle || before[s][s];
        REQUIRE(o.fault.has_value() == has_cycle);
        if (has_cycle) {
            ++cycles;
            CHECK(o.fault->what == fault::cycle);
            REQUIRE(!o.cycle.empty());
            CHECK(o.fault->position == o.cycle.front());
            for (std::size_t i = 0; i != o.cycle.size(); ++i)
                CHECK(direct[o.cycle[i]][o.cycle[(i + 1) % o.cycle.size()]]);
            steps different = o.cycle;
            std::sort(different.begin(), different.end());
            CHECK(std::adjacent_find(different.begin(), different.end()) == different.end());
            continue;
        }
        ++orders;
        relation found(count, std::vector<bool>(count));
        for (step_id s = 0; s != count; ++s)
            for (step_id to : o.after[s]) {
                found[s][to] = true;
                CHECK(o.position[s] < o.position[to]);
            }
        for (step_id s = 0; s != count; ++s) CHECK(o.step_at[o.position[s]] == s);
        close(found);
        CHECK(found == before);
    }
    CHECK(cycles > rounds(100));
    CHECK(orders > rounds(1000));
}

TEST_CASE("a node that leads to itself waits for itself, and so does a step that hands to itself")
{
    auto const loop = flow(
        1, 0, [](node_id) { return steps{0}; }, [](node_id, effect_sink&) {});
    CHECK(order_of(loop).cycle == steps{0});
    auto const one = sequence(1, 0, [](step_id, effect_sink&) {});
    CHECK(!order_of(one).fault);
    CHECK(order_of(one, {{0, 0}}).cycle == steps{0});
}

TEST_CASE("the first fault of versions is found by step, then at ends of nodes, then among outputs")
{
    auto const p = flow(
        2, 4, [](node_id n) { return n == 0 ? steps{1} : steps{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 0) {
                sink.def(0);
                sink.next_step();
                sink.use(1);
                sink.next_step();
            } else {
                sink.use_at_end_of(0, 2);
                sink.def(0);
            }
        });
    std::vector<value_role> role(4);
    role[3] = value_role::output;
    auto fault_with = [&](std::vector<value_role> const& roles) {
        return *order_of_steps(p, roles, {}).fault;
    };
    CHECK(fault_with(role) == witness{.what = fault::several_defs, .value = 0, .position = 3});
    auto const q = flow(
        2, 4, [](node_id n) { return n == 0 ? steps{1} : steps{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 0) {
                sink.def(0);
                sink.next_step();
                sink.use(1);
                sink.next_step();
            } else {
                sink.use_at_end_of(0, 2);
            }
        });
    auto fault_of = [&] { return *order_of_steps(q, role, {}).fault; };
    CHECK(fault_of() == witness{.what = fault::used_undefined, .value = 1, .position = 1});
    role[1] = value_role::input;
    CHECK(fault_of() == witness{.what = fault::used_undefined, .value = 2, .position = 2});
    role[2] = value_role::state;
    CHECK(fault_of() == witness{.what = fault::used_undefined, .value = 3, .position = 4});
    role[0] = value_role::external;
    CHECK(fault_of() == witness{.what = fault::several_defs, .value = 0, .position = 0});
}

TEST_CASE("what a node's last step writes is there where the node ends")
{
    auto const p = flow(
        2, 1, [](node_id n) { return n == 0 ? steps{1} : steps{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 0) sink.def(0);
            else sink.use_at_end_of(0, 0);
        });
    CHECK(!order_of(p).fault);
}

} // namespace this_test
