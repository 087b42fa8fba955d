// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/release.hpp>

#include "../dice.hpp"
#include "../random_flow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<std::uint32_t>>;

rows rows_of(csr_rows const& all)
{
    rows result;
    for (std::size_t r = 0; r != all.rows(); ++r) result.emplace_back(all[r].begin(), all[r].end());
    return result;
}

/// Nodes of one step, with what each reads and writes.
snapshot nodes(std::size_t values, rows const& next, rows const& uses, rows const& defs)
{
    return flow(
        next.size(), values, [&](node_id n) -> auto& { return next[n]; },
        [&](node_id n) -> auto& { return uses[n]; }, [&](node_id n) -> auto& { return defs[n]; });
}

flow_release_points own_buffers(snapshot const& p, std::vector<value_role> role = {})
{
    std::vector<buffer_id> own;
    for (value_id v = 0; v != p.values(); ++v) own.push_back(v);
    role.resize(p.values());
    return flow_releases(p, p.values(), own, role);
}

} // namespace

TEST_CASE("what one branch reads is released there, and in the other as it begins")
{
    auto const points =
        own_buffers(nodes(2, {{1, 2}, {3}, {3}, {}}, {{}, {1}, {0}, {}}, {{0, 1}, {}, {}, {}}));
    CHECK(rows_of(points.after) == rows{{}, {1}, {0}, {}});
    CHECK(rows_of(points.at_entry) == rows{{}, {0}, {1}, {}});
    CHECK(points.on_edge.empty());
}

TEST_CASE("where only some of the edges release, it is on these")
{
    // 0 leads to 1 and, past it, to 2; 1 does not have a any more
    auto const points = own_buffers(nodes(1, {{1, 2}, {2}, {}}, {{}, {0}, {}}, {{0}, {}, {}}));
    CHECK(rows_of(points.after) == rows{{}, {0}, {}});
    CHECK(rows_of(points.at_entry) == rows{{}, {}, {}});
    CHECK(points.on_edge == std::vector<flow_release_points::edge>{{0, 2, 0}});
}

TEST_CASE("a loop keeps what it reads until it is left")
{
    auto const points = own_buffers(nodes(2, {{1}, {1, 2}, {}}, {{}, {0}, {}}, {{0}, {1}, {}}));
    CHECK(rows_of(points.after) == rows{{}, {1}, {}}); // what is made anew each time, and not read
    CHECK(rows_of(points.at_entry) == rows{{}, {}, {0}});
    auto const turned = own_buffers(nodes(1, {{0, 1}, {}}, {{0}, {}}, {{}, {}}), {value_role::input});
    CHECK(rows_of(turned.at_entry) == rows{{}, {0}});
}

TEST_CASE("an operand of a phi is released on the edge that carries it, after it has been read")
{
    snapshot const p = flow(
        3, 2,
        [](node_id n) { return n == 0   ? std::vector{2}
                               : n == 1 ? std::vector{2}
                                        : std::vector<int>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n == 2) s.use_at_end_of(0, 0), s.def(1);
        });
    auto const points = own_buffers(p);
    CHECK(points.on_edge ==
          std::vector<flow_release_points::edge>{{0, 2, 0}}); // the other edge does not have it
    CHECK(rows_of(points.after) == rows{{}, {}, {1}});
}

TEST_CASE("what is kept is not released, and what nobody needs at the start is, then")
{
    snapshot const p = nodes(4, {{1}, {}}, {{0}, {}}, {{1}, {}});
    auto const points =
        own_buffers(p, {value_role::input, value_role::output, value_role::input, value_role::external});
    CHECK(rows_of(points.after) == rows{{0}, {}});
    CHECK(points.at_start == std::vector<buffer_id>{2});
    CHECK(own_buffers(snapshot()).after.rows() == 0);
    CHECK_THROWS_AS((void)flow_releases(p, 1, {0, 1, 2, 3}, std::vector<value_role>(4)), precondition_error);
    CHECK_THROWS_AS((void)flow_releases(p, 4, {0}, std::vector<value_role>(4)), precondition_error);
}

// Walks along random paths: storage is there when it is touched, given back once, and there exactly as long
// as a search along all paths says that somebody may still touch it.
TEST_CASE("on every path a buffer is there from its first touch to the last that may come")
{
    std::size_t released = 0, on_edges = 0, at_entries = 0, walked = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_flow f = draw_graph(pick, {.nodes = 9, .values = 6});
        f.values = 1 + pick.below(6);
        std::uint32_t const buffers = 1 + pick.below(static_cast<std::uint32_t>(f.values));
        for (auto& node : f.nodes)
            for (auto& step : node.steps)
                for (auto* row : {&step.uses, &step.early, &step.defs})
                    for (auto k = pick.below(3); k > 1 || (k == 1 && pick.below(2) == 0); --k)
                        row->push_back(pick.below(static_cast<std::uint32_t>(f.values)));
        for (node_id n = 0; n != f.nodes.size(); ++n)
            for (auto to : f.nodes[n].successors)
                if (pick.below(6) == 0)
                    f.nodes[to].operands.push_back({n, pick.below(static_cast<std::uint32_t>(f.values))});
        snapshot const p = f.program();
        std::vector<buffer_id> buffer_of;
        for (value_id v = 0; v != f.values; ++v)
            buffer_of.push_back(pick.below(8) == 0 ? no_buffer : pick.below(buffers));

        // May somebody read v from here on, before it is written again?  From the step s of n; last: its end.
        auto is_needed = [&](value_id v, node_id from, std::size_t at) {
            std::vector<std::pair<node_id, std::size_t>> open{{from, at}};
            std::set<node_id> seen;
            while (!open.empty()) {
                auto const [n, first] = open.back();
                open.pop_back();
                bool is_cut = false;
                auto has = [v](auto const& row) { return std::count(row.begin(), row.end(), v) != 0; };
                for (std::size_t s = first; s != f.nodes[n].steps.size() && !is_cut; ++s) {
                    auto const& step = f.nodes[n].steps[s];
                    if (has(step.uses) || has(step.early)) return true;
                    is_cut = has(step.defs);
                }
                if (is_cut) continue;
                for (node_id to : f.nodes[n].successors) {
                    for (auto const& o : f.nodes[to].operands)
                        if (o.pred == n && o.value == v) return true;
                    if (seen.insert(to).second) open.push_back({to, 0});
                }
            }
            return false;
        };
        std::vector<value_role> role(f.values);
        for (value_id v = 0; v != f.values; ++v) {
            bool const undefined = is_needed(v, 0, 0);
            if (undefined || pick.below(8) == 0)
                role[v] = pick.below(6) == 0 ? value_role::external : value_role::input;
            if (pick.below(8) == 0) role[v] = role[v] | value_role::output;
        }
        auto const points = flow_releases(p, buffers, buffer_of, role);
        on_edges += points.on_edge.size();
        at_entries += points.at_entry.items();

        std::vector<bool> is_kept(buffers), is_there(buffers);
        for (value_id v = 0; v != f.values; ++v) {
            if (buffer_of[v] == no_buffer) continue;
            if (has_role(role[v], value_role::output) || has_role(role[v], value_role::external))
                is_kept[buffer_of[v]] = true;
            if (is_given(role[v])) is_there[buffer_of[v]] = true;
        }
        auto const at_start = is_there;
        for (int path = 0; path != 5; ++path) {
            is_there = at_start;
            auto release = [&](auto const& all) {
                for (buffer_id b : all) {
                    REQUIRE(!is_kept[b]);
                    REQUIRE(is_there[b]);
                    is_there[b] = false;
                    ++released;
                }
            };
            auto expect_needed_only = [&](node_id n, std::size_t at) {
                for (buffer_id b = 0; b != buffers; ++b) {
                    bool is_asked = false;
                    for (value_id v = 0; v != f.values; ++v)
                        is_asked = is_asked || (buffer_of[v] == b && is_needed(v, n, at));
                    if (!is_kept[b]) REQUIRE(is_there[b] == is_asked);
                }
            };
            auto touch_value = [&](value_id v) {
                if (buffer_of[v] != no_buffer && !is_kept[buffer_of[v]]) REQUIRE(is_there[buffer_of[v]]);
            };
            release(points.at_start);
            node_id n = 0;
            step_id first = 0;
            for (int turn = 0; turn != 12; ++turn) {
                expect_needed_only(n, 0);
                first = p.steps_of(n).first;
                for (std::size_t s = 0; s != f.nodes[n].steps.size(); ++s) {
                    auto const& step = f.nodes[n].steps[s];
                    for (auto const* row : {&step.uses, &step.early})
                        for (value_id v : *row) touch_value(v);
                    for (value_id v : step.defs)
                        if (buffer_of[v] != no_buffer) is_there[buffer_of[v]] = true;
                    release(points.after[first + s]);
                    if (s + 1 != f.nodes[n].steps.size()) expect_needed_only(n, s + 1);
                }
                auto const& next = f.nodes[n].successors;
                if (next.empty()) break;
                node_id const to = next[pick.below(static_cast<std::uint32_t>(next.size()))];
                for (auto const& o : f.nodes[to].operands)
                    if (o.pred == n) touch_value(o.value);
                std::vector<buffer_id> dying;
                for (flow_release_points::edge const& e : points.on_edge)
                    if (e.from == n && e.to == to) dying.push_back(e.what);
                release(dying);
                release(points.at_entry[to]);
                n = to;
                ++walked;
            }
        }
    }
    CHECK(released > rounds(10'000));
    CHECK(walked > rounds(10'000));
    CHECK(on_edges > rounds(500));
    CHECK(at_entries > rounds(300));
}

} // namespace this_test
