// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/antichain.hpp>

#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace sublet;

namespace {

/// A random program, its graph, and the weights of its buffers, which are numbered by their root values.
struct weighed_program {
    sharing_rule rule;
    dependence_graph g;
    concurrent_lives lives;
    std::vector<byte_count> weights;

    explicit weighed_program(random_tasks const& tasks) : rule(tasks)
    {
        snapshot const p = tasks.program();
        g = dependences(p, {.role = tasks.role});
        std::vector<buffer_id> buffer_of;
        for (std::size_t r : rule.root) buffer_of.push_back(static_cast<buffer_id>(r));
        lives = concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
        weights = tasks.bytes;
        for (value_id v = 0; v != tasks.values(); ++v) {
            bool const is_untouched = rule.late[v].empty() && rule.early[v].empty();
            if (rule.root[v] != v || (is_untouched && !rule.is_given[v])) weights[v] = 0;
        }
    }
    antichain heaviest() const { return heaviest_antichain(g, lives, weights); }

    bool is_antichain(std::vector<buffer_id> const& members) const
    {
        for (buffer_id u : members)
            for (buffer_id v : members)
                if (u != v && rule.gives(u, v)) return false;
        return true;
    }
    byte_count weight(std::vector<buffer_id> const& members) const
    {
        byte_count sum = 0;
        for (buffer_id b : members) sum += weights[b];
        return sum;
    }
    bool has_several_begins() const
    {
        for (buffer_id b = 0; b != weights.size(); ++b)
            if (weights[b] != 0 && lives.begins[b].size() > 1) return true;
        return false;
    }

    /// By trying every set.
    byte_count heaviest_by_trying() const
    {
        std::vector<buffer_id> items;
        for (buffer_id b = 0; b != weights.size(); ++b)
            if (weights[b] != 0) items.push_back(b);
        byte_count best = 0;
        for (std::size_t set = 0; set != std::size_t{1} << items.size(); ++set) {
            std::vector<buffer_id> chosen;
            for (std::size_t i = 0; i != items.size(); ++i)
                if ((set >> i & 1) != 0) chosen.push_back(items[i]);
            byte_count const bytes = weight(chosen);
            if (bytes > best && is_antichain(chosen)) best = bytes;
        }
        return best;
    }

    /// By Dilworth: all, less the most that can be given on, over all pairs, as Boost finds it.
    byte_count heaviest_by_boost() const
    {
        using namespace boost;
        using traits = adjacency_list_traits<vecS, vecS, directedS>;
        using network = adjacency_list<vecS, vecS, directedS, no_property,
                                       property<edge_capacity_t, std::int64_t,
                                                property<edge_residual_capacity_t, std::int64_t,
                                                         property<edge_reverse_t, traits::edge_descriptor>>>>;
        std::size_t const n = weights.size();
        network net(2 * n + 2);
        auto add = [&net](std::size_t from, std::size_t to, byte_count bytes) {
            auto const there = add_edge(from, to, net).first;
            auto const back = add_edge(to, from, net).first;
            put(edge_capacity, net, there, static_cast<std::int64_t>(bytes));
            put(edge_capacity, net, back, 0);
            put(edge_reverse, net, there, back);
            put(edge_reverse, net, back, there);
        };
        byte_count total = 0;
        for (buffer_id u = 0; u != n; ++u) {
            total += weights[u];
            add(2 * n, u, weights[u]);
            add(n + u, 2 * n + 1, weights[u]);
            for (buffer_id v = 0; v != n; ++v)
                if (weights[u] != 0 && weights[v] != 0 && rule.gives(u, v)) add(u, n + v, weights[u]);
        }
        return total - static_cast<byte_count>(push_relabel_max_flow(net, 2 * n, 2 * n + 1));
    }
};

random_tasks drawn(std::uint32_t seed, unsigned tasks)
{
    dice roll{std::mt19937(seed)};
    random_tasks_shape shape;
    shape.tasks = 1 + roll.below(tasks);
    shape.outputs = 1 + roll.below(2);
    shape.operands = 1 + roll.below(4);
    shape.back = roll.below(3) == 0 ? 1 + roll.below(8) : 0;
    shape.early = 30 * roll.below(2);
    shape.views = 30 * roll.below(2);
    shape.edges = 40 * roll.below(2);
    shape.shuffled = roll.below(3) == 0;
    return draw_tasks(roll, shape);
}

} // namespace

TEST_CASE("two branches and what both of them read are an antichain")
{
    snapshot const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s == 3) sink.use(1), sink.use(2);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 4, {0, 1, 2, 3}, std::vector<value_role>(4));
    antichain const found = heaviest_antichain(g, lives, {4, 3, 1, 2});
    CHECK(found.members == std::vector<buffer_id>{0, 1, 2});
    CHECK(found.bytes == 8);
    CHECK(found.is_exact);
}

TEST_CASE("of nothing the heaviest antichain is empty")
{
    snapshot const p = sequence(0, 0, [](step_id, effect_sink&) {});
    dependence_graph const g = dependences(p);
    antichain const found = heaviest_antichain(g, concurrent_lifetimes(p, g, 0, {}, {}), {});
    CHECK(found.members.empty());
    CHECK(found.bytes == 0);
    CHECK(found.is_exact);
}

TEST_CASE("no set of a small program is heavier")
{
    for (std::uint32_t seed = 0; seed != 1500; ++seed) {
        CAPTURE(seed);
        weighed_program const one(drawn(seed, 8));
        antichain const found = one.heaviest();
        REQUIRE(one.is_antichain(found.members));
        REQUIRE(one.weight(found.members) == found.bytes);
        byte_count const best = one.heaviest_by_trying();
        REQUIRE(found.bytes <= best);
        REQUIRE(best <= found.at_most);
        REQUIRE((found.is_exact || one.has_several_begins()));
    }
}

TEST_CASE("it weighs what Boost's maximum flow over all pairs leaves")
{
    for (std::uint32_t seed = 0; seed != 600; ++seed) {
        CAPTURE(seed);
        weighed_program const one(drawn(seed, 100));
        antichain const found = one.heaviest();
        REQUIRE(one.is_antichain(found.members));
        REQUIRE(one.weight(found.members) == found.bytes);
        byte_count const best = one.heaviest_by_boost();
        REQUIRE(found.bytes <= best);
        REQUIRE(best <= found.at_most);
        REQUIRE((found.is_exact || one.has_several_begins()));
    }
}

TEST_CASE("families of graphs have an antichain that weighs as much as the flow leaves")
{
    for (std::string_view name : family_names) {
        CAPTURE(name);
        task_family const drawn = draw_family(name, 500);
        snapshot const p = drawn.program();
        dependence_graph const g = dependences(p);
        std::vector<buffer_id> all;
        for (buffer_id b = 0; b != drawn.tasks(); ++b) all.push_back(b);
        auto const lives = concurrent_lifetimes(p, g, all.size(), all, std::vector<value_role>(all.size()));
        CHECK(heaviest_antichain(g, lives, drawn.bytes).is_exact);
    }
}
