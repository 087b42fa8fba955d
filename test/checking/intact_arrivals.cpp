// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/intact_values.hpp>

#include "dice.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<value_id>;

/// Every value a class of 8 bytes at its own offset. By node, what is intact where it begins.
std::vector<ids> arriving_at(random_flow const& f, std::vector<byte_count> const& offsets, ids const& given)
{
    snapshot const p = f.program();
    plan_demands const asked = demands(p, {.bytes = 8});
    memory_plan plan;
    for (value_id v = 0; v != f.values; ++v) {
        plan.buffers.push_back({.root = v, .size = 8, .offset = offsets[v]});
        plan.buffer_of.push_back(v);
    }
    placed_classes const classes(asked, plan);
    intact_values now(classes, f.values);
    intact_arrivals const arrivals(p, classes, given, now);
    std::vector<ids> result;
    for (node_id n = 0; n != p.nodes(); ++n) {
        if (arrivals.is_reached(n)) arrivals.enter(n, now);
        result.push_back(now.taken());
    }
    return result;
}

bool are_apart(byte_count a, byte_count b) { return a + 8 <= b || b + 8 <= a; }

} // namespace

TEST_CASE("where paths meet, what is intact on all of them is")
{
    random_flow f; // 0: def a, b -> 1: def c, upon b; 2 -> 3
    f.nodes.resize(4);
    f.values = 3;
    f.nodes[0].successors = {1, 2};
    f.nodes[1].successors = f.nodes[2].successors = {3};
    f.nodes[0].steps[0].defs = {0, 1};
    f.nodes[1].steps[0].defs = {2};
    CHECK(arriving_at(f, {0, 8, 12}, {}) == std::vector<ids>{{}, {0, 1}, {0, 1}, {0}});
    CHECK(arriving_at(f, {0, 8, 16}, {}) == std::vector<ids>{{}, {0, 1}, {0, 1}, {0, 1}});
    CHECK(arriving_at(f, {0, 8, 16}, {2}) == std::vector<ids>{{2}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
}

TEST_CASE("what a loop loses at its end is not there in its middle")
{
    random_flow f; // 0: def a -> 1 -> 2 -> 3: def b, upon a -> 1, 4
    f.nodes.resize(5);
    f.values = 2;
    for (node_id n = 0; n != 4; ++n) f.nodes[n].successors = {n + 1};
    f.nodes[3].successors = {1, 4};
    f.nodes[0].steps[0].defs = {0};
    f.nodes[3].steps[0].defs = {1};
    CHECK(arriving_at(f, {0, 4}, {}) == std::vector<ids>{{}, {}, {}, {}, {1}});
    f.nodes[2].steps[0].defs = {0}; // written again on the way
    CHECK(arriving_at(f, {0, 4}, {}) == std::vector<ids>{{}, {}, {}, {0}, {1}});
}

TEST_CASE("nothing arrives at what is not reached")
{
    random_flow f;
    f.nodes.resize(2);
    f.values = 1;
    f.nodes[1].successors = {0};
    f.nodes[1].steps[0].defs = {0};
    CHECK(arriving_at(f, {0}, {0}) == std::vector<ids>{{0}, {}});
    CHECK(arriving_at(f, {0}, {}) == std::vector<ids>{{}, {}});
}

TEST_CASE("a value arrives intact if and only if it does so on every path")
{
    std::size_t arrived = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_flow const f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        std::vector<byte_count> offsets;
        ids given;
        for (value_id v = 0; v != f.values; ++v) {
            offsets.push_back(pick.below(8 * 8));
            bool is_apart = true;
            for (value_id w : given) is_apart = is_apart && are_apart(offsets[v], offsets[w]);
            if (is_apart && pick.below(3) == 0) given.push_back(v);
        }
        auto const found = arriving_at(f, offsets, given);
        snapshot const p = f.program();
        std::vector<ids> expected(p.nodes());
        for (value_id v = 0; v != f.values; ++v) { // by node: can it arrive lost, or intact?
            std::vector<std::vector<bool>> is_seen(p.nodes(), std::vector<bool>(2));
            std::vector<std::pair<node_id, bool>> open{{0, is_listed(given, v)}};
            while (!open.empty()) {
                auto [n, intact] = open.back();
                open.pop_back();
                if (is_seen[n][intact]) continue;
                is_seen[n][intact] = true;
                for (touch t : p.touches(p.steps_of(n)))
                    if (t.kind != touch::access::def) continue;
                    else if (t.value == v) intact = true;
                    else if (!are_apart(offsets[v], offsets[t.value])) intact = false;
                for (node_id s : p.successors(n)) open.push_back({s, intact});
            }
            for (node_id n = 0; n != p.nodes(); ++n)
                if (is_seen[n][1] && !is_seen[n][0]) expected[n].push_back(v);
        }
        REQUIRE(found == expected);
        for (ids const& values : found) arrived += values.size();
    }
    CHECK(arrived > 1000);
}

} // namespace this_test
