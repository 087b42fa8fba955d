// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/planning/detail/antichain.hpp>
#include <sublet/sharing/detail/chains.hpp>

#include "../concurrent_lives.hpp"
#include "../random_source.hpp"
#include "../task_families.hpp"
#include "../weighted_tasks.hpp"

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// By enumeration of all sets.
byte_count heaviest_exhaustive(weighted_tasks const& one)
{
    std::vector<buffer_id> items;
    for (buffer_id b = 0; b != one.weights.size(); ++b)
        if (one.weights[b] != 0) items.push_back(b);
    byte_count best = 0;
    for (std::size_t set = 0; set != std::size_t{1} << items.size(); ++set) {
        std::vector<buffer_id> chosen;
        for (std::size_t i = 0; i != items.size(); ++i)
            if ((set >> i & 1) != 0) chosen.push_back(items[i]);
        byte_count const bytes = one.weight(chosen);
        if (bytes > best && one.is_antichain(chosen)) best = bytes;
    }
    return best;
}

/// By Dilworth: the total less the maximum flow over all pairs, by Boost.
byte_count heaviest_by_boost(weighted_tasks const& one)
{
    using namespace boost;
    using traits = adjacency_list_traits<vecS, vecS, directedS>;
    using network = adjacency_list<vecS, vecS, directedS, no_property,
                                   property<edge_capacity_t, std::int64_t,
                                            property<edge_residual_capacity_t, std::int64_t,
                                                     property<edge_reverse_t, traits::edge_descriptor>>>>;
    std::size_t const n = one.weights.size();
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
        total += one.weights[u];
        add(2 * n, u, one.weights[u]);
        add(n + u, 2 * n + 1, one.weights[u]);
        for (buffer_id v = 0; v != n; ++v)
            if (one.weights[u] != 0 && one.weights[v] != 0 && one.reusable_by(u, v))
                add(u, n + v, one.weights[u]);
    }
    return total - static_cast<byte_count>(push_relabel_max_flow(net, 2 * n, 2 * n + 1));
}

/// The same by augmenting paths, without signed capacities.
byte_count heaviest_by_augmenting(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                  std::vector<byte_count> const& weights)
{
    std::size_t const n = weights.size();
    std::vector<byte_count> supply = weights, demand = weights;
    std::vector<std::vector<byte_count>> moved(n, std::vector<byte_count>(n));
    byte_count heaviest = 0;
    for (byte_count weight : weights) heaviest += weight;
    for (;;) { // node u: its end; node n + v: the begin of v
        std::vector<std::size_t> from(2 * n, 2 * n), queue;
        std::size_t target = 2 * n;
        for (std::size_t u = 0; u != n; ++u)
            if (supply[u] != 0) from[u] = u, queue.push_back(u);
        for (std::size_t i = 0; i != queue.size() && target == 2 * n; ++i) {
            std::size_t const at = queue[i];
            for (std::size_t k = 0; k != n; ++k) {
                std::size_t const next = at < n ? n + k : k;
                auto const u = buffer_id::of(at < n ? at : k);
                auto const v = buffer_id::of(at < n ? k : at - n);
                bool const is_open = at < n ? weights[u] != 0 && weights[v] != 0 && u != v &&
                                                  reusable_by(conflicts, lives, u, v)
                                            : moved[u][v] != 0;
                if (!is_open || from[next] != 2 * n) continue;
                from[next] = at;
                queue.push_back(next);
                if (next >= n && demand[next - n] != 0) target = next;
            }
        }
        if (target == 2 * n) return heaviest;
        byte_count bytes = demand[target - n];
        std::size_t source = target;
        for (; from[source] != source; source = from[source])
            if (source < n) bytes = smaller(bytes, moved[source][from[source] - n]);
        bytes = smaller(bytes, supply[source]);
        for (std::size_t at = target; at != source; at = from[at])
            if (at < n) moved[at][from[at] - n] -= bytes;
            else moved[from[at]][at - n] += bytes;
        supply[source] -= bytes;
        demand[target - n] -= bytes;
        heaviest -= bytes;
    }
}

/// A program of several parts, each of chains, forks and joins; sometimes a task reads another branch.
snapshot draw_forks(random_source& pick, std::uint32_t tasks)
{
    std::vector<std::vector<value_id>> operands;
    std::vector<value_id> open; // values of branches that have not joined
    for (value_id t = 0; t != tasks; ++t) {
        std::vector<value_id> reads;
        unsigned const what = pick.below(8);
        if (!open.empty() && what != 0) {
            std::size_t const at = pick.below(static_cast<unsigned>(open.size()));
            reads.push_back(open[at]);
            if (what >= 4) open.erase(open.begin() + static_cast<std::ptrdiff_t>(at)); // otherwise a fork
            if (what >= 6 && !open.empty()) reads.push_back(open.back()), open.pop_back();
            if (what == 7 && t > 8 && pick.below(3) == 0) reads.push_back(t - 1 - pick.below(8));
        }
        operands.push_back(reads);
        open.push_back(t);
    }
    return sequence(tasks, tasks, [&](step_id s, effect_sink& sink) {
        for (value_id v : operands[s]) sink.use(v);
        sink.def(+s);
    });
}

/// Of random programs of up to `tasks` tasks the antichain found is one, and as heavy as the oracle says.
void compare_heaviest(unsigned programs, unsigned tasks, byte_count (*oracle)(weighted_tasks const&))
{
    for (std::uint32_t seed = 0; seed != rounds(programs); ++seed) {
        CAPTURE(seed);
        weighted_tasks const one(draw_small_tasks(seed, tasks));
        antichain const found = heaviest_antichain(one.g, one.lives, one.weights);
        REQUIRE(one.is_antichain(found.members));
        REQUIRE(one.weight(found.members) == found.bytes);
        byte_count const best = oracle(one);
        REQUIRE(found.bytes <= best);
        REQUIRE(best <= found.upper_bound);
        REQUIRE(found.is_exact);
    }
}

} // namespace

TEST_CASE("two branches and the value that both read are an antichain")
{
    snapshot const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s == 3) sink.use(1), sink.use(2);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    antichain const found = heaviest_antichain(g, lives, {4, 3, 1, 2});
    CHECK(found.members == std::vector<buffer_id>{0, 1, 2});
    CHECK(found.bytes == 8);
    CHECK(found.is_exact);
}

TEST_CASE("the heaviest antichain of the empty program is empty")
{
    snapshot const p = sequence(0, 0, [](step_id, effect_sink&) {});
    dependence_graph const g = dependences(p);
    antichain const found = heaviest_antichain(g, concurrent_lifetimes(p, g, 0, {}, {}), {});
    CHECK(found.members.empty());
    CHECK(found.bytes == 0);
    CHECK(found.is_exact);
}

TEST_CASE("no antichain of a small program is heavier") { compare_heaviest(1500, 8, heaviest_exhaustive); }

TEST_CASE("its weight is the total less Boost's maximum flow over all pairs")
{
    compare_heaviest(600, 100, heaviest_by_boost);
}

TEST_CASE("with equal weights its size is the number of slots needed")
{
    for (std::uint32_t seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        weighted_tasks one(draw_small_tasks(seed, 60));
        for (byte_count& weight : one.weights) weight = weight == 0 ? 0 : 1;
        auto const conflicts = find_conflict_ranges(one.g, one.lives);
        antichain const found = heaviest_antichain(one.g, one.lives, conflicts, one.weights);
        REQUIRE(found.is_exact);
        REQUIRE(found.bytes == fewest_slots(one.lives, conflicts, {.bytes = one.weights}).plan.slots);
    }
}

TEST_CASE("with few visits or undecided conflicts the bounds are still valid")
{
    std::size_t unknown = 0;
    for (std::uint32_t seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        weighted_tasks const one(draw_small_tasks(seed, 80));
        std::uint64_t const few = seed % 2 == 0 ? 0 : 1 + one.lives.buffers() / 2;
        auto const conflicts = find_conflict_ranges(one.g, one.lives, few);
        antichain const found = heaviest_antichain(one.g, one.lives, conflicts, one.weights,
                                                   seed % 3 == 0 ? 0 : 1 + pick.below(100));
        REQUIRE(one.is_antichain(found.members));
        REQUIRE(one.weight(found.members) == found.bytes);
        byte_count const best = heaviest_by_boost(one);
        REQUIRE(found.bytes <= best);
        REQUIRE(best <= found.upper_bound);
        REQUIRE(found.is_exact == (found.bytes == found.upper_bound));
        if (!found.is_exact) ++unknown;
        for (position_id x = 0; x != one.g.positions(); ++x) { // all buffers live at x are an antichain
            byte_count level = 0;
            for (buffer_id b = 0; b != one.weights.size(); ++b)
                if (!one.lives.ends[b].empty() && one.lives.first(b) <= x && x < one.lives.last(b))
                    level += one.weights[b];
            REQUIRE(found.bytes >= level);
        }
    }
    CHECK(unknown > rounds(50));
}

TEST_CASE("a buffer written in parts begins at several positions")
{
    // 2 and 3 write the two halves of b; only 2 reads a, so it may still be live when 3 writes.
    snapshot const p = sequence(5, 6, [](step_id s, effect_sink& sink) {
        if (s == 2) sink.use(0);
        if (s == 3) sink.use(1);
        if (s == 4) sink.use(2), sink.use(3);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 4, {0, 1, 2, 2, 3, no_buffer}, std::vector<value_role>(6));
    REQUIRE(lives.begins[2].size() == 2);
    antichain const found = heaviest_antichain(g, lives, {8, 8, 8, 8});
    CHECK(found.members == std::vector<buffer_id>{0, 1, 2});
    CHECK(found.is_exact);
}

TEST_CASE("if parts are not compared with all buffers, the upper bound allows for them")
{
    // b is written by 2, after the only reader of a, and by 3, which has no predecessor.
    snapshot const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s == 1) sink.use(0);
        if (s == 2) sink.use(1);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = concurrent_lifetimes(p, g, 3, {0, 1, 2, 2}, std::vector<value_role>(4));
    CHECK(heaviest_antichain(g, lives, {8, 8, 8}).bytes == 24);
    CHECK(heaviest_antichain(g, lives, {8, 8, 8}).is_exact);
    antichain const truncated = heaviest_antichain(g, lives, {8, 8, 8}, 16);
    CHECK(truncated.bytes <= 24);
    CHECK(truncated.upper_bound >= 24);
}

TEST_CASE("undecided conflicts prove no member, nor one written in parts")
{
    std::size_t in_parts = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        weighted_tasks const one(
            draw_tasks(pick, {.tasks = 40, .operands = 1 + pick.below(3), .views = 60, .shuffled = true}));
        auto const conflicts = find_conflict_ranges(one.g, one.lives, 1);
        antichain const found = heaviest_antichain(one.g, one.lives, conflicts, one.weights);
        REQUIRE(one.is_antichain(found.members));
        for (buffer_id b = 0; b != one.weights.size(); ++b)
            if (conflicts.undecided != 0 && one.weights[b] != 0 && one.lives.begins[b].size() > 1) ++in_parts;
    }
    CHECK(in_parts > 50);
}

TEST_CASE("a buffer conflicts with one written in parts of which only the first may reuse its bytes")
{
    // 3 waits for both readers of a, 4 has no predecessor; each writes a part of b.
    snapshot const p = sequence(5, 5, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s == 3) sink.use(1), sink.use(2);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p, {.order = dependence_options::position_order::as_listed});
    auto const lives = concurrent_lifetimes(p, g, 4, {0, 1, 2, 3, 3}, std::vector<value_role>(5));
    std::vector<buffer_id> members{0, 3};
    detail::keep_proved(g, lives, find_conflict_ranges(g, lives), {3}, std::vector<unsigned char>(5, 1),
                        members);
    CHECK(members == std::vector<buffer_id>{0, 3});
}

TEST_CASE("of any buffers only those are kept of which none may reuse another")
{
    std::size_t member_count = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        weighted_tasks const one(
            draw_tasks(pick, {.tasks = 20, .operands = 2, .views = 60, .shuffled = true}));
        auto const conflicts = find_conflict_ranges(one.g, one.lives);
        std::vector<unsigned char> cut(one.g.positions());
        bool const is_prefix = pick.below(2) == 0;
        std::size_t const part = pick.below(static_cast<unsigned>(cut.size()) + 1);
        for (std::size_t x = 0; x != cut.size(); ++x) cut[x] = is_prefix ? x < part : pick.below(2) != 0;
        std::vector<buffer_id> members, multi_begin;
        for (buffer_id b = 0; b != one.weights.size(); ++b) {
            if (one.weights[b] == 0) continue;
            if (one.lives.begins[b].size() > 1) multi_begin.push_back(b);
            bool const may_be = one.lives.begins[b].size() != 1 || cut[one.lives.first(b)] != 0;
            if (may_be && pick.below(3) != 0) members.push_back(b);
        }
        bool const was_antichain = one.is_antichain(members);
        std::size_t const were = members.size();
        detail::keep_proved(one.g, one.lives, conflicts, multi_begin, cut, members);
        REQUIRE(one.is_antichain(members));
        if (was_antichain) REQUIRE(members.size() == were);
        member_count += members.size();
    }
    CHECK(member_count > 3000);
}

TEST_CASE("a buffer of weight 0 is no member, and the total must not exceed 64 bits")
{
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) { sink.def(+s); });
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    CHECK(heaviest_antichain(g, lives, {0, 5}).members == std::vector<buffer_id>{1});
    CHECK(heaviest_antichain(g, lives, {no_size - 2, 1}).bytes == no_size - 1);
    CHECK_THROWS_AS((void)heaviest_antichain(g, lives, {no_size - 1, 1}), precondition_error);
    CHECK_THROWS_AS((void)heaviest_antichain(g, lives, {1}), precondition_error);
}

TEST_CASE("all buffers but inputs may reuse an unread input")
{
    snapshot const p = sequence(1, 3, [](step_id, effect_sink& sink) { sink.def(2); });
    std::vector<value_role> const role{value_role::input, value_role::input, value_role::intermediate};
    dependence_graph const g = dependences(p, {.role = role});
    auto const lives = lives_of_each(p, g, role);
    CHECK(heaviest_antichain(g, lives, {4, 5, 8}).members == std::vector<buffer_id>{0, 1});
    CHECK(heaviest_antichain(g, lives, {4, 5, 10}).members == std::vector<buffer_id>{2});
    CHECK(heaviest_antichain(g, lives, {4, 5, 10}).is_exact);
}

TEST_CASE("of forks and joins with any weights, the heaviest is the one by augmenting paths")
{
    std::size_t large = 0;
    for (std::uint32_t seed = 0; seed != rounds(800); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const n = 1 + pick.below(60);
        snapshot const p = draw_forks(pick, n);
        dependence_graph const g = dependences(p);
        std::vector<buffer_id> all;
        std::vector<byte_count> weights;
        for (buffer_id b = 0; b != n; ++b) {
            all.push_back(b);
            byte_count const most = (byte_count{1} << 63) / n;
            switch (pick.below(4)) {
            case 0: weights.push_back(0); break;
            case 1: weights.push_back(1 + pick.below(3)); break; // ties
            case 2: weights.push_back(1000); break;
            default: weights.push_back(seed % 2 == 0 ? most - pick.below(1000) : 1 + pick.below(1000));
            }
        }
        if (seed % 4 == 0) weights[pick.below(n)] = byte_count{1} << 63, ++large;
        auto const lives = concurrent_lifetimes(p, g, n, all, std::vector<value_role>(n));
        auto const conflicts = find_conflict_ranges(g, lives);
        antichain const found = heaviest_antichain(g, lives, conflicts, weights);
        REQUIRE(found.is_exact);
        REQUIRE(found.bytes == heaviest_by_augmenting(lives, conflicts, weights));
        byte_count sum = 0;
        for (buffer_id u : found.members) {
            sum += weights[u];
            for (buffer_id v : found.members) REQUIRE((u == v || !reusable_by(conflicts, lives, u, v)));
        }
        REQUIRE(sum == found.bytes);
    }
    CHECK(large > 0);
}

TEST_CASE("in a chain of 100000 values the two heaviest neighbours are the antichain, without searches")
{
    constexpr std::uint32_t n = 100'000;
    snapshot const p = sequence(n, n, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        sink.def(+s);
    });
    dependence_graph const g = dependences(p);
    std::vector<buffer_id> all;
    std::vector<byte_count> weights;
    byte_count most = 0;
    for (buffer_id b = 0; b != n; ++b) {
        all.push_back(b);
        weights.push_back(1 + std::uint64_t{b} * 7919 % 10007);
        if (b != 0) most = larger(most, weights[b - 1] + weights[b]);
    }
    auto const lives = concurrent_lifetimes(p, g, n, all, std::vector<value_role>(n));
    antichain const found = heaviest_antichain(g, lives, weights);
    CHECK(found.is_exact);
    CHECK(found.bytes == most);
    CHECK(found.members.size() == 2);
    CHECK(found.visits == 0);
}

TEST_CASE("on families of graphs the weight is the total less the flow")
{
    for (std::string_view name : family_names) {
        CAPTURE(name);
        task_family const drawn = draw_family(name, 2000);
        snapshot const p = drawn.program();
        dependence_graph const g = dependences(p);
        auto const lives = lives_of_each(p, g);
        CHECK(heaviest_antichain(g, lives, drawn.bytes).is_exact);
    }
}

} // namespace this_test
