// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/intact_values.hpp>

#include "dice.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Every value a class of 8 bytes at its own offset.
memory_plan plan_at(std::vector<byte_count> const& offsets)
{
    memory_plan plan{.valid_for = program_reading::control_flow};
    for (value_id v = 0; v != offsets.size(); ++v) {
        plan.buffers.push_back({.root = v, .size = 8, .offset = offsets[v]});
        plan.buffer_of.push_back(v);
    }
    return plan;
}
bool are_apart(byte_count a, byte_count b) { return a + 8 <= b || b + 8 <= a; }

struct question {
    random_flow flow;
    std::vector<value_role> role;
    std::vector<byte_count> offsets;

    std::optional<witness> at_end_of(node_id n, value_id v) const
    {
        snapshot const p = flow.program();
        plan_demands const asked = demands(p, {.bytes = 8, .role = role});
        memory_plan const plan = plan_at(offsets);
        placed_classes const classes(asked, plan);
        flow_paths paths{p, asked, classes, std::vector<unsigned char>(p.nodes(), 0),
                         std::vector<value_id>(classes.size(), no_value)};
        std::vector<bool> is_found(p.nodes());
        mark_found(flow, 0, is_found);
        for (node_id m = 0; m != p.nodes(); ++m) paths.is_reached[m] = is_found[m];
        for (value_id a = 0; a != role.size(); ++a)
            for (value_id b = 0; b != role.size(); ++b)
                if (a != b && is_given(role[a]) && is_given(role[b]) && !are_apart(offsets[a], offsets[b]))
                    paths.beside_entry[classes.rank_of(a)] = b;
        return find_spoiling_path(paths, v, n, p.steps_of(n).last);
    }

    /// By node: whether v can be spoilt at its end, by following all paths from the entry.
    std::vector<bool> spoilt_at_ends(value_id v) const
    {
        snapshot const p = flow.program();
        enum state { nothing, right, spoilt };
        std::vector<std::vector<bool>> is_seen(p.nodes(), std::vector<bool>(3));
        std::vector<std::pair<node_id, state>> open;
        state first = is_given(role[v]) ? right : nothing;
        for (value_id w = 0; w != role.size(); ++w)
            if (w != v && is_given(role[w]) && first == right && !are_apart(offsets[v], offsets[w]))
                first = spoilt;
        open.push_back({0, first});
        std::vector<bool> result(p.nodes());
        while (!open.empty()) {
            auto [n, now] = open.back();
            open.pop_back();
            if (is_seen[n][now]) continue;
            is_seen[n][now] = true;
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
                bool is_written = false, is_hit = false;
                for (touch t : p.touches(s)) {
                    if (t.kind != touch::access::def) continue;
                    if (t.value == v) is_written = true;
                    else if (!are_apart(offsets[v], offsets[t.value])) is_hit = true;
                }
                if (is_written) now = right;
                else if (is_hit && now == right) now = spoilt;
            }
            if (now == spoilt) result[n] = true;
            for (node_id s : p.successors(n)) open.push_back({s, now});
        }
        return result;
    }
};

} // namespace

TEST_CASE("the path goes through a write of the value and then one upon it")
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
          witness{.what = fault::clash, .value = 0, .other = 1, .position = 1, .begin = 4, .end = 8});
    CHECK_FALSE(q.at_end_of(0, 0));
    CHECK_FALSE(q.at_end_of(2, 1));
    q.offsets = {0, 8};
    CHECK_FALSE(q.at_end_of(2, 0));
}

TEST_CASE("what was never written is not spoilt, and what was given is")
{
    question q; // 0: def b
    q.flow.nodes.resize(1);
    q.flow.values = 2;
    q.role.resize(2);
    q.offsets = {0, 0};
    q.flow.nodes[0].steps[0].defs = {1};
    CHECK_FALSE(q.at_end_of(0, 0));
    q.role[0] = value_role::input;
    CHECK(q.at_end_of(0, 0)->position == 0);
    q.flow.nodes[0].steps[0].defs = {};
    CHECK_FALSE(q.at_end_of(0, 0));
    q.role[1] = value_role::input; // two that are given lie upon each other
    CHECK(q.at_end_of(0, 0)->other == 1);
}

TEST_CASE("there is a path if and only if following all paths comes upon one")
{
    std::size_t paths = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        question q;
        q.flow = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        for (value_id v = 0; v != q.flow.values; ++v) {
            q.offsets.push_back(pick.below(24));
            q.role.push_back(pick.below(4) == 0 ? value_role::input : value_role::intermediate);
        }
        // A step that writes the value and upon it is another fault.
        for (auto& node : q.flow.nodes)
            for (auto& step : node.steps)
                if (step.defs.size() > 1) step.defs.resize(1);
        snapshot const p = q.flow.program();
        std::vector<bool> is_touched(q.flow.values);
        for (touch t : p.touches({0, static_cast<step_id>(p.steps())})) is_touched[t.value] = true;
        for (value_id v = 0; v != q.flow.values; ++v) {
            auto const spoilt = q.spoilt_at_ends(v);
            for (node_id n = 0; n != p.nodes(); ++n) {
                std::vector<bool> is_found(p.nodes());
                mark_found(q.flow, 0, is_found);
                if (!is_found[n]) continue;
                auto const found = q.at_end_of(n, v);
                REQUIRE(found.has_value() == spoilt[n]);
                if (found) REQUIRE_FALSE(are_apart(q.offsets[v], q.offsets[found->other]));
                paths += spoilt[n];
            }
        }
    }
    CHECK(paths > 1000);
}

} // namespace this_test
