// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/available_values.hpp>

#include "../placed_values.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<value_id>;

/// Classes of values at places, without a program.
struct places {
    plan_requirements asked;
    memory_plan plan;

    void add(byte_count offset, byte_count size, pool_id pool = 0)
    {
        auto const v = value_id::of(asked.root.size());
        asked.root.push_back(v);
        asked.bytes.push_back(size);
        plan.buffer_of.push_back(buffer_id::of(plan.buffers.size()));
        plan.buffers.push_back({.root = v, .size = size, .pool = pool, .offset = offset});
    }
    void add_view(value_id of)
    {
        asked.root.push_back(of);
        asked.bytes.push_back(1);
        plan.buffer_of.push_back(plan.buffer_of[of]);
    }
    void add_unplaced()
    {
        asked.root.push_back(value_id::of(asked.root.size()));
        asked.bytes.push_back(8);
        plan.buffer_of.push_back(no_buffer);
    }
};

/// The values of the set, ascending.
ids values_in(available_set const& now, std::size_t values)
{
    ids found;
    for (value_id v = 0; v != values; ++v)
        if (now.has(v)) found.push_back(v);
    return found;
}

} // namespace

TEST_CASE("a write removes all values that it overlaps")
{
    places at;
    at.add(0, 64);
    at.add(32, 64);
    at.add(64, 64);
    at.add(128, 64);
    placed_classes const classes(at.asked, at.plan);
    available_set now(classes);
    now.write(0);
    now.write(2);
    now.write(3);
    CHECK(now.has(0));
    now.write(1);
    CHECK_FALSE(now.has(0));
    CHECK_FALSE(now.has(2));
    CHECK(values_in(now, 4) == ids{1, 3});
    now.become(0);
    CHECK(values_in(now, 4).empty());
}

TEST_CASE("values of one class are available together, and removed together")
{
    places at;
    at.add(0, 64);
    at.add_view(0);
    at.add(32, 64);
    placed_classes const classes(at.asked, at.plan);
    CHECK(classes.size() == 2);
    CHECK(classes.rank_of(1) == classes.rank_of(0));
    CHECK(classes.numbers_at(0).first == 0);
    CHECK(classes.numbers_at(0).last == 2);
    available_set now(classes);
    now.write(0);
    now.write(1);
    CHECK(now.has(0));
    now.write(2);
    CHECK(values_in(now, 3) == ids{2});
}

TEST_CASE("pools do not interact, and values without a place are in no class")
{
    places at;
    at.add(0, 64, 1);
    at.add_unplaced();
    at.add(0, 64, 0);
    placed_classes const classes(at.asked, at.plan);
    CHECK(classes.size() == 2);
    CHECK_FALSE(classes.is_placed(1));
    CHECK_FALSE(classes.overlaps(0, 2));
    CHECK(classes.root_at(0) == 2); // by pool
    CHECK(placed_classes(places{}.asked, places{}.plan).size() == 0);
}

TEST_CASE("a clash names the common bytes of both values")
{
    places at;
    at.add(0, 64);
    at.add(32, 64);
    placed_classes const classes(at.asked, at.plan);
    CHECK(classes.clash(1, 0, 7) ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 1, .other = 0, .position = 7, .begin = 32, .end = 64}});
}

TEST_CASE("the set agrees with a comparison of every pair")
{
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        places at;
        auto const values = 1 + pick.below(12);
        for (value_id v = 0; v != values; ++v)
            if (pick.below(4) == 0 && v != 0) at.add_view(at.asked.root[pick.below(v)]);
            else at.add(pick.below(40), 1 + pick.below(12), pick.below(2));
        placed_classes const classes(at.asked, at.plan);
        available_set now(classes);
        std::set<value_id> slow;
        for (int i = 0; i != 60; ++i) {
            value_id const v = pick.below(values);
            now.write(v);
            memory_plan::placed_buffer const& x = at.plan.buffers[at.plan.buffer_of[v]];
            for (value_id w = 0; w != values; ++w) {
                memory_plan::placed_buffer const& y = at.plan.buffers[at.plan.buffer_of[w]];
                if (at.plan.buffer_of[w] != at.plan.buffer_of[v] && x.pool == y.pool &&
                    x.offset < y.offset + y.size && y.offset < x.offset + x.size)
                    slow.erase(w);
            }
            slow.insert(v);
            for (value_id w = 0; w != values; ++w) REQUIRE(now.has(w) == (slow.count(w) != 0));
            if (pick.below(20) != 0) continue;
            now.become(0);
            slow.clear();
        }
    }
}

// --- available values --------------------------------------------------------------------------------------

namespace {

/// Every value is a class of 8 bytes at its own offset. By node, the values available at its entry.
std::vector<ids> available_at_entry(random_flow const& f, std::vector<byte_count> const& offsets,
                                    ids const& given)
{
    snapshot const p = f.program();
    plan_requirements const asked = derive_requirements(p, {.bytes = 8});
    memory_plan const plan = flow_plan_at(offsets, 8);
    placed_classes const classes(asked, plan);
    available_set now(classes);
    sets_along_paths const arrivals = find_available(p, classes, given, now);
    std::vector<ids> result;
    for (node_id n = 0; n != p.nodes(); ++n) {
        now.become(arrivals.entering[n]);
        result.push_back(values_in(now, f.values));
    }
    return result;
}

bool are_apart(byte_count a, byte_count b) { return a + 8 <= b || b + 8 <= a; }

} // namespace

TEST_CASE("where paths meet, the values available on all of them are available")
{
    random_flow f; // 0: def a, b -> 1: def c, over b; 2 -> 3
    f.nodes.resize(4);
    f.values = 3;
    f.nodes[0].successors = {1, 2};
    f.nodes[1].successors = f.nodes[2].successors = {3};
    f.nodes[0].steps[0].defs = {0, 1};
    f.nodes[1].steps[0].defs = {2};
    CHECK(available_at_entry(f, {0, 8, 12}, {}) == std::vector<ids>{{}, {0, 1}, {0, 1}, {0}});
    CHECK(available_at_entry(f, {0, 8, 16}, {}) == std::vector<ids>{{}, {0, 1}, {0, 1}, {0, 1}});
    CHECK(available_at_entry(f, {0, 8, 16}, {2}) == std::vector<ids>{{2}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
}

TEST_CASE("a value that is clobbered at the end of a loop is not available in its middle")
{
    random_flow f; // 0: def a -> 1 -> 2 -> 3: def b, over a -> 1, 4
    f.nodes.resize(5);
    f.values = 2;
    for (node_id n = 0; n != 4; ++n) f.nodes[n].successors = {n + 1};
    f.nodes[3].successors = {1, 4};
    f.nodes[0].steps[0].defs = {0};
    f.nodes[3].steps[0].defs = {1};
    CHECK(available_at_entry(f, {0, 4}, {}) == std::vector<ids>{{}, {}, {}, {}, {1}});
    f.nodes[2].steps[0].defs = {0}; // written again on the way
    CHECK(available_at_entry(f, {0, 4}, {}) == std::vector<ids>{{}, {}, {}, {0}, {1}});
}

TEST_CASE("unreachable nodes have no available values")
{
    random_flow f;
    f.nodes.resize(2);
    f.values = 1;
    f.nodes[1].successors = {0};
    f.nodes[1].steps[0].defs = {0};
    CHECK(available_at_entry(f, {0}, {0}) == std::vector<ids>{{0}, {}});
    CHECK(available_at_entry(f, {0}, {}) == std::vector<ids>{{}, {}});
}

TEST_CASE("a value is available if and only if it is intact on every path")
{
    std::size_t arrived = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_flow const f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        std::vector<byte_count> offsets;
        ids given;
        for (value_id v = 0; v != f.values; ++v) {
            offsets.push_back(pick.below(8 * 8));
            bool is_apart = true;
            for (value_id w : given) is_apart = is_apart && are_apart(offsets[v], offsets[w]);
            if (is_apart && pick.below(3) == 0) given.push_back(v);
        }
        auto const found = available_at_entry(f, offsets, given);
        snapshot const p = f.program();
        std::vector<ids> expected(p.nodes());
        for (value_id v = 0; v != f.values; ++v) { // by node: can it be lost, or intact?
            std::vector<std::vector<bool>> is_seen(p.nodes(), std::vector<bool>(2));
            std::vector<std::pair<node_id, bool>> open{{0, is_listed(given, v)}};
            while (!open.empty()) {
                auto [n, is_available] = open.back();
                open.pop_back();
                if (is_seen[n][is_available]) continue;
                is_seen[n][is_available] = true;
                for (touch t : p.touches(p.steps_of(n)))
                    if (t.kind != touch::access::def) continue;
                    else if (t.value == v) is_available = true;
                    else if (!are_apart(offsets[v], offsets[t.value])) is_available = false;
                for (node_id s : p.successors(n)) open.push_back({s, is_available});
            }
            for (node_id n = 0; n != p.nodes(); ++n)
                if (is_seen[n][1] && !is_seen[n][0]) expected[n].push_back(v);
        }
        REQUIRE(found == expected);
        for (ids const& values : found) arrived += values.size();
    }
    CHECK(arrived > 1000);
}

// --- clobber path ------------------------------------------------------------------------------------------

namespace {

/// A flow with values that are placed at `offsets`, and with the nodes that are reached from its entry.
struct placed_flow {
    placed_flow(random_flow const& flow, std::vector<value_role> const& role,
                std::vector<byte_count> const& offsets)
        : p(flow.program()), asked(derive_requirements(p, {.bytes = 8, .role = role})),
          plan(flow_plan_at(offsets, 8)), classes(asked, plan),
          paths{p, asked, classes, std::vector<unsigned char>(p.nodes(), 0),
                std::vector<value_id>(classes.size(), no_value)}
    {
        std::vector<bool> is_found(p.nodes());
        mark_found(flow, 0, is_found);
        for (node_id n = 0; n != p.nodes(); ++n) paths.is_reached[n] = is_found[n];
    }
    placed_flow(placed_flow const&) = delete;

    snapshot p;
    plan_requirements asked;
    memory_plan plan;
    placed_classes classes;
    clobber_query paths;
};

struct question {
    random_flow flow;
    std::vector<value_role> role;
    std::vector<byte_count> offsets;

    std::optional<counterexample> at_end_of(node_id n, value_id v) const
    {
        placed_flow placed(flow, role, offsets);
        for (value_id a = 0; a != role.size(); ++a)
            for (value_id b = 0; b != role.size(); ++b)
                if (a != b && is_given(role[a]) && is_given(role[b]) && !are_apart(offsets[a], offsets[b]))
                    placed.paths.entry_overlap[placed.classes.rank_of(a)] = b;
        return find_clobber_path(placed.paths, v, n, placed.p.steps_of(n).last);
    }

    /// By node: whether v can be clobbered at its end, by following all paths from the entry.
    std::vector<bool> clobbered_at_ends(value_id v) const
    {
        snapshot const p = flow.program();
        enum state { nothing, right, clobbered };
        std::vector<std::vector<bool>> is_seen(p.nodes(), std::vector<bool>(3));
        std::vector<std::pair<node_id, state>> open;
        state first = is_given(role[v]) ? right : nothing;
        for (value_id w = 0; w != role.size(); ++w)
            if (w != v && is_given(role[w]) && first == right && !are_apart(offsets[v], offsets[w]))
                first = clobbered;
        open.push_back({0, first});
        std::vector<bool> result(p.nodes());
        while (!open.empty()) {
            auto [n, now] = open.back();
            open.pop_back();
            if (is_seen[n][now]) continue;
            is_seen[n][now] = true;
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
                bool is_written = false, is_clobbered = false;
                for (touch t : p.touches(s)) {
                    if (t.kind != touch::access::def) continue;
                    if (t.value == v) is_written = true;
                    else if (!are_apart(offsets[v], offsets[t.value])) is_clobbered = true;
                }
                if (is_written) now = right;
                else if (is_clobbered && now == right) now = clobbered;
            }
            if (now == clobbered) result[n] = true;
            for (node_id s : p.successors(n)) open.push_back({s, now});
        }
        return result;
    }
};

} // namespace

TEST_CASE("the path has a write of the value and then one over it")
{
    question q; // 0: def a -> 1: def b -> 2; 0 -> 2
    q.flow.nodes.resize(3);
    q.flow.values = 2;
    q.role.resize(2);
    q.offsets = {0, 4};
    q.flow.nodes[0].successors = {1, 2};
    q.flow.nodes[1].successors = {2};
    q.flow.nodes[0].steps[0].defs = {0};
    q.flow.nodes[1].steps[0].defs = {1};
    auto const found = q.at_end_of(2, 0);
    REQUIRE(found);
    CHECK(*found ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 1, .position = 1, .begin = 4, .end = 8}});
    CHECK_FALSE(q.at_end_of(0, 0));
    CHECK_FALSE(q.at_end_of(2, 1));
    q.offsets = {0, 8};
    CHECK_FALSE(q.at_end_of(2, 0));
}

TEST_CASE("a value that was never written is not clobbered, and a given value is")
{
    question q; // 0: def b
    q.flow.nodes.resize(1);
    q.flow.values = 2;
    q.role.resize(2);
    q.offsets = {0, 0};
    q.flow.nodes[0].steps[0].defs = {1};
    CHECK_FALSE(q.at_end_of(0, 0));
    q.role[0] = value_role::input;
    CHECK(q.at_end_of(0, 0)->position() == 0);
    q.flow.nodes[0].steps[0].defs = {};
    CHECK_FALSE(q.at_end_of(0, 0));
    q.role[1] = value_role::input; // two given values overlap
    CHECK(q.at_end_of(0, 0)->other() == 1);
}

TEST_CASE("a path is found if and only if following all paths finds one")
{
    std::size_t paths = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        question q;
        q.flow = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        for (value_id v = 0; v != q.flow.values; ++v) {
            q.offsets.push_back(pick.below(24));
            q.role.push_back(pick.below(4) == 0 ? value_role::input : value_role::intermediate);
        }
        // A step that writes the value and over it is another fault.
        for (auto& node : q.flow.nodes)
            for (auto& step : node.steps)
                if (step.defs.size() > 1) step.defs.resize(1);
        snapshot const p = q.flow.program();
        std::vector<bool> is_touched(q.flow.values);
        for (touch t : p.touches({0, step_id::of(p.steps())})) is_touched[t.value] = true;
        for (value_id v = 0; v != q.flow.values; ++v) {
            auto const clobbered = q.clobbered_at_ends(v);
            for (node_id n = 0; n != p.nodes(); ++n) {
                std::vector<bool> is_found(p.nodes());
                mark_found(q.flow, 0, is_found);
                if (!is_found[n]) continue;
                auto const found = q.at_end_of(n, v);
                REQUIRE(found.has_value() == clobbered[n]);
                if (found) REQUIRE_FALSE(are_apart(q.offsets[v], q.offsets[found->other()]));
                paths += clobbered[n];
            }
        }
    }
    CHECK(paths > 1000);
}

// --- contested classes -------------------------------------------------------------------------------------

TEST_CASE("a read has a path that clobbers it only if its class is contested, which few are")
{
    std::size_t clobbered = 0, spared = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_flow const f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        snapshot const p = f.program();
        std::vector<byte_count> offsets;
        std::vector<value_role> role(f.values);
        ids given, outputs;
        for (value_id v = 0; v != f.values; ++v) {
            offsets.push_back(pick.below(100));
            bool is_apart = true;
            for (value_id w : given) is_apart = is_apart && are_apart(offsets[v], offsets[w]);
            if (is_apart && pick.below(3) == 0) given.push_back(v), role[v] = value_role::input;
            else if (pick.below(5) == 0) outputs.push_back(v);
        }
        placed_flow const placed(f, role, offsets);
        std::vector<unsigned char> ends;
        for (node_id n = 0; n != p.nodes(); ++n) ends.push_back(p.successors(n).empty());
        auto const by_edges = csr_rows<node_id, value_id>::gathered(p.nodes(), [&p](auto add) {
            for (edge_use u : p.edge_uses()) add(u.pred, u.value);
        });
        auto const is_contested = find_contested(p, placed.classes, by_edges, outputs, ends, given);
        std::vector<bool> is_clobbered(f.values);
        for (node_id n = 0; n != p.nodes(); ++n) {
            if (placed.paths.is_reached[n] == 0) continue;
            auto read = [&](value_id v, step_id before) {
                if (find_clobber_path(placed.paths, v, n, before)) is_clobbered[v] = true;
            };
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
                for (touch t : p.touches(s))
                    if (!t.defines()) read(t.value, s);
            for (value_id v : by_edges[n]) read(v, p.steps_of(n).last);
            for (value_id v : outputs)
                if (ends[n]) read(v, p.steps_of(n).last);
        }
        for (value_id v = 0; v != f.values; ++v) {
            bool const may_be = is_contested[placed.classes.rank_of(v)] != 0;
            if (is_clobbered[v]) REQUIRE(may_be);
            clobbered += is_clobbered[v];
            spared += !may_be;
        }
    }
    CHECK(clobbered > rounds(100));
    CHECK(spared > rounds(1000));
}

TEST_CASE("sets of numbers agree with sets of the standard library")
{
    for (std::uint32_t seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const n = 1 + pick.below(pick.below(2) == 0 ? 60 : 1000);
        shared_sets sets(n);
        std::vector<shared_sets::set> made{0};
        std::vector<std::set<std::uint32_t>> slow(1);
        for (int i = 0; i != 200; ++i) {
            auto const some = [&] { return pick.below(static_cast<std::uint32_t>(made.size())); };
            std::size_t const a = some(), b = some(), c = some();
            std::uint32_t const number = pick.below(n), end = number + pick.below(n - number) + 1;
            std::set<std::uint32_t> result = slow[a];
            switch (pick.below(5)) {
            case 0:
                made.push_back(sets.common({made[a], made[b], made[c]}));
                for (std::uint32_t x : slow[a])
                    if (slow[b].count(x) == 0 || slow[c].count(x) == 0) result.erase(x);
                break;
            case 1:
                made.push_back(sets.united({made[a], made[b], made[c]}));
                result.insert(slow[b].begin(), slow[b].end());
                result.insert(slow[c].begin(), slow[c].end());
                break;
            case 2:
                made.push_back(sets.without(made[a], {number, end}));
                result.erase(result.lower_bound(number), result.lower_bound(end));
                break;
            default: made.push_back(sets.with(made[a], number)); result.insert(number);
            }
            slow.push_back(result);
            sets.keep();
            if (result == slow[a]) REQUIRE(made.back() == made[a]); // the first one
            std::set<std::uint32_t> found;
            for (std::uint32_t x = 0; x != n; ++x)
                if (sets.has(made.back(), x)) found.insert(x);
            REQUIRE(found == result);
            auto const from = result.lower_bound(number);
            CHECK(sets.from(made.back(), number) == (from == result.end() ? shared_sets::none : *from));
            CHECK(sets.before(made.back(), number) ==
                  (from == result.begin() ? shared_sets::none : *std::prev(from)));
            std::set<std::uint32_t> both;
            for (std::uint32_t x : slow[a])
                if (slow[b].count(x) != 0) both.insert(x);
            found.clear();
            sets.each_common(
                made[a], made[b], [](unsigned, std::uint32_t) { return true; },
                [&](std::uint32_t x) { found.insert(x); });
            REQUIRE(found == both);
        }
    }
}

} // namespace this_test
