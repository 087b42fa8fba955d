// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_plan.hpp>

#include "dice.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::optional<witness> found_in(random_flow const& f, std::vector<value_role> const& role,
                                flow_options const& flow = {})
{
    snapshot const p = f.program();
    plan_demands const asked = demands(p, {.bytes = 8, .role = role});
    return find_unwritten_read(p, asked, ends_of_nodes(p, asked), flow);
}

/// Walks forward from the entry, as long as nothing writes v: the first read by position.
std::optional<step_id> walked(random_flow const& f, value_id v, value_role role)
{
    snapshot const p = f.program();
    std::optional<step_id> first;
    auto read = [&first](step_id s) {
        if (!first || s < *first) first = s;
    };
    std::vector<bool> is_seen(p.nodes());
    std::vector<node_id> open{0};
    while (!open.empty() && !is_given(role)) {
        node_id const n = open.back();
        open.pop_back();
        if (is_seen[n]) continue;
        is_seen[n] = true;
        bool is_written = false;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last && !is_written; ++s)
            for (touch t : p.touches(s))
                if (t.value == v && t.kind == touch::access::def) is_written = true;
                else if (t.value == v) read(s);
        if (is_written) continue;
        for (edge_use u : p.edge_uses())
            if (u.pred == n && u.value == v) read(p.steps_of(n).last - 1);
        if (p.successors(n).empty() && has_role(role, value_role::output))
            read(static_cast<step_id>(p.steps()));
        for (node_id s : p.successors(n)) open.push_back(s);
    }
    return first;
}

} // namespace

TEST_CASE("a read that one of two paths reaches without a write is found")
{
    random_flow f; // 0 -> 1: def -> 2: use, 0 -> 2
    f.nodes.resize(3);
    f.values = 1;
    f.nodes[0].successors = {1, 2};
    f.nodes[1].successors = {2};
    f.nodes[1].steps[0].defs = {0};
    f.nodes[2].steps[0].uses = {0};
    auto const found = found_in(f, {{}});
    REQUIRE(found);
    CHECK(*found == witness{.what = fault::used_undefined, .value = 0, .other = 0, .position = 2});
    CHECK_FALSE(found_in(f, {value_role::input}));
    CHECK_FALSE(found_in(f, {{}}, {.allows_undefined = true}));
    f.nodes[0].successors = {1};
    CHECK_FALSE(found_in(f, {{}}));
    f.nodes[1].steps[0].defs = {};
    CHECK(found_in(f, {{}}, {.allows_undefined = true})->other == no_value); // nothing ever writes it
}

TEST_CASE("an output that is not there at the end is found, in a program of nothing too")
{
    random_flow f;
    f.nodes.resize(1);
    f.nodes[0].steps.resize(2);
    f.values = 1;
    CHECK(found_in(f, {value_role::output})->position == 2);
    CHECK_FALSE(found_in(f, {value_role::output | value_role::input}));
    f.nodes.clear();
    CHECK(found_in(f, {value_role::output})->position == 0);
    CHECK_FALSE(found_in(f, {{}}));
}

TEST_CASE("a step reads before it writes, and what nothing reaches is never read")
{
    random_flow f;
    f.nodes.resize(2);
    f.values = 1;
    f.nodes[1].steps[0].uses = {0};
    CHECK_FALSE(found_in(f, {{}}));
    f.nodes[0].steps[0].uses = f.nodes[0].steps[0].defs = {0};
    CHECK(found_in(f, {{}})->position == 0);
}

TEST_CASE("the read found is the first by position, then value, of those that a walk forward finds")
{
    std::size_t undefined = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_flow const f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        std::vector<value_role> role(f.values);
        for (auto& r : role)
            if (pick.below(3) == 0) r = pick.below(2) == 0 ? value_role::input : value_role::output;
        std::optional<witness> expected;
        for (value_id v = 0; v != f.values; ++v)
            if (auto const s = walked(f, v, role[v]); s && (!expected || *s < expected->position))
                expected = witness{.value = v, .position = *s};
        auto const found = found_in(f, role);
        REQUIRE(found.has_value() == expected.has_value());
        if (!found) continue;
        ++undefined;
        REQUIRE(found->value == expected->value);
        REQUIRE(found->position == expected->position);
    }
    CHECK(undefined > 100);
}

} // namespace this_test
