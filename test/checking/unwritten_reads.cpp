// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/unwritten_reads.hpp>

#include "../random_flow.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

node_ends ends_of(random_flow const& f, plan_options const& options = {.bytes = 8})
{
    snapshot const p = f.program();
    return ends_of_nodes(p, derive_requirements(p, options));
}

} // namespace

TEST_CASE("nodes from which no path leads to an exit are endless")
{
    random_flow f; // 0 -> 1 -> 2, 0 -> 3 <-> 4
    f.nodes.resize(5);
    f.nodes[0].successors = {1, 3};
    f.nodes[1].successors = {2};
    f.nodes[3].successors = {4};
    f.nodes[4].successors = {3};
    CHECK(ends_of(f).is_endless == std::vector<unsigned char>{0, 0, 0, 1, 1});
    f.nodes[4].successors = {3, 1};
    CHECK(ends_of(f).is_endless == std::vector<unsigned char>(5, 0));
}

TEST_CASE("operands of edges are read at the end of the predecessor, outputs are listed")
{
    random_flow f;
    f.nodes.resize(2);
    f.values = 3;
    f.nodes[0].successors = {1};
    f.nodes[1].operands = {{0, 2}, {0, 1}};
    std::vector const role{value_role::output, value_role::input, value_role::input | value_role::output};
    node_ends const ends = ends_of(f, {.bytes = 8, .role = role});
    REQUIRE(ends.read_by_edges.rows() == 2);
    CHECK(ends.read_by_edges[0].size() == 2);
    CHECK(ends.read_by_edges[1].empty());
    CHECK(ends.outputs == std::vector<value_id>{0, 2});
}

TEST_CASE("an empty program has no node ends")
{
    node_ends const ends = ends_of({});
    CHECK(ends.is_endless.empty());
    CHECK(ends.outputs.empty());
}

TEST_CASE("the endless nodes are those that a search from each node finds")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_flow const f = draw_flow(pick);
        node_ends const ends = ends_of(f);
        for (node_id n = 0; n != f.nodes.size(); ++n) {
            std::vector<bool> is_found(f.nodes.size());
            mark_found(f, n, is_found);
            bool leads_out = false;
            for (node_id m = 0; m != f.nodes.size(); ++m)
                leads_out = leads_out || (is_found[m] && f.nodes[m].successors.empty());
            REQUIRE((ends.is_endless[n] == 0) == leads_out);
        }
    }
}

namespace {

std::optional<counterexample> found_in(random_flow const& f, std::vector<value_role> const& role,
                                       bool allows_undefined = false)
{
    snapshot const p = f.program();
    plan_requirements const asked = derive_requirements(p, {.bytes = 8, .role = role});
    return find_unwritten_read(p, asked, ends_of_nodes(p, asked), allows_undefined);
}

/// A forward search from the entry that stops at writes of v: the first read by position.
std::optional<position_id> walked(random_flow const& f, value_id v, value_role role)
{
    snapshot const p = f.program();
    std::optional<position_id> first;
    auto read = [&first](position_id at) {
        if (!first || at < *first) first = at;
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
                else if (t.value == v) read(+s);
        if (is_written) continue;
        for (edge_use u : p.edge_uses())
            if (u.pred == n && u.value == v) read(p.steps_of(n).last - 1);
        if (p.successors(n).empty() && has_role(role, value_role::output)) read(p.steps());
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
    CHECK(*found == counterexample{fault::used_undefined,
                                   counterexample::access{.value = 0, .other = 0, .position = 2}});
    CHECK_FALSE(found_in(f, {value_role::input}));
    CHECK_FALSE(found_in(f, {{}}, true));
    f.nodes[0].successors = {1};
    CHECK_FALSE(found_in(f, {{}}));
    f.nodes[1].steps[0].defs = {};
    CHECK(found_in(f, {{}}, true)->other() == no_value); // v is never written
}

TEST_CASE("an output that is missing at the end is found, also in an empty program")
{
    random_flow f;
    f.nodes.resize(1);
    f.nodes[0].steps.resize(2);
    f.values = 1;
    CHECK(found_in(f, {value_role::output})->position() == 2);
    CHECK_FALSE(found_in(f, {value_role::output | value_role::input}));
    f.nodes.clear();
    CHECK(found_in(f, {value_role::output})->position() == 0);
    CHECK_FALSE(found_in(f, {{}}));
}

TEST_CASE("a step reads before it writes, and unreachable reads do not count")
{
    random_flow f;
    f.nodes.resize(2);
    f.values = 1;
    f.nodes[1].steps[0].uses = {0};
    CHECK_FALSE(found_in(f, {{}}));
    f.nodes[0].steps[0].uses = f.nodes[0].steps[0].defs = {0};
    CHECK(found_in(f, {{}})->position() == 0);
}

TEST_CASE("the reported read is the first by position, then value, that a forward search finds")
{
    std::size_t undefined = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_flow const f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        std::vector<value_role> role(f.values);
        for (auto& r : role)
            if (pick.below(3) == 0) r = pick.below(2) == 0 ? value_role::input : value_role::output;
        std::optional<counterexample::access> expected;
        for (value_id v = 0; v != f.values; ++v)
            if (auto const s = walked(f, v, role[v]); s && (!expected || *s < expected->position))
                expected = counterexample::access{.value = v, .position = *s};
        auto const found = found_in(f, role);
        REQUIRE(found.has_value() == expected.has_value());
        if (!found) continue;
        ++undefined;
        REQUIRE(found->value() == expected->value);
        REQUIRE(found->position() == expected->position);
    }
    CHECK(undefined > 100);
}

} // namespace this_test
