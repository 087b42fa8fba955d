// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/release.hpp>

#include "../random_flow.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../transitive.hpp"

#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<std::uint32_t>>;

template <class Row>
rows rows_of(csr_rows<Row, buffer_id> const& all)
{
    rows result;
    for (Row r = 0; r != all.rows(); ++r) result.emplace_back(all[r].begin(), all[r].end());
    return result;
}

/// 0: a; 1: a -> b; 2: a -> c; 3: b, c -> d
snapshot diamond()
{
    return sequence(
        4, 4, [](step_id s) { return std::vector<std::vector<int>>{{}, {0}, {0}, {1, 2}}[s]; },
        [](std::uint32_t s) { return std::vector{s}; });
}

table<value_id, buffer_id> const each_its_own{0, 1, 2, 3};
auto const last_is_output = std::vector<value_role>{{}, {}, {}, value_role::output};

release_points concurrent(snapshot const& p, std::size_t buffers, table<value_id, buffer_id> const& buffer_of,
                          table<value_id, value_role> const& role)
{
    return releases(p, dependences(p, {.role = role}), buffers, buffer_of, role);
}

} // namespace

TEST_CASE("in one order a buffer is released after its last touch")
{
    auto const points = releases(diamond(), 4, each_its_own, {.role = last_is_output});
    CHECK(rows_of(points.after) == rows{{}, {}, {0}, {1, 2}});
    CHECK(points.counter == std::vector<std::uint32_t>{1, 1, 1, 0});
    CHECK(points.at_start.empty());
    auto const turned = releases(diamond(), 4, each_its_own, {.role = last_is_output, .order = {0, 2, 1, 3}});
    CHECK(rows_of(turned.after) == rows{{}, {0}, {}, {1, 2}});
}

TEST_CASE("an untouched input is released at the start, and an external value never")
{
    snapshot const p = sequence(
        1, 5,
        [](step_id) {
            return std::vector{1, 3};
        },
        [](step_id) { return std::vector{2}; });
    std::vector<value_role> const role{value_role::input, value_role::input, value_role::output,
                                       value_role::external, value_role::intermediate};
    std::vector<buffer_id> const own{0, 1, 2, 3, 4};
    for (auto const& points : {releases(p, 5, own, {.role = role}), concurrent(p, 5, own, role)}) {
        CHECK(points.at_start == std::vector<buffer_id>{0});
        CHECK(rows_of(points.after) == rows{{1}});
        CHECK(points.counter == std::vector<std::uint32_t>{0, 1, 0, 0, 0});
    }
}

TEST_CASE("a result without a use is released after its definition")
{
    snapshot const p = sequence(
        1, 1, [](step_id) { return std::vector<int>{}; }, [](step_id) { return std::vector{0}; });
    CHECK(rows_of(releases(p, 1, {0}).after) == rows{{0}});
    CHECK(rows_of(concurrent(p, 1, {0}, {{}}).after) == rows{{0}});
}

TEST_CASE("a value without a buffer is not released, and there may be no buffers")
{
    CHECK(rows_of(releases(diamond(), 1, {no_buffer, 0, no_buffer, no_buffer}).after) ==
          rows{{}, {}, {}, {0}});
    CHECK(releases(snapshot(), 0, {}).after.rows() == 0);
    CHECK(concurrent(snapshot(), 0, {}, {}).after.rows() == 0);
    CHECK(concurrent(diamond(), 0, std::vector<buffer_id>(4, no_buffer), last_is_output).buffers() == 0);
    CHECK_THROWS_AS((void)releases(diamond(), 0, each_its_own), precondition_error);
    CHECK_THROWS_AS((void)releases(diamond(), 4, {0}), precondition_error);
    CHECK_THROWS_AS((void)releases(diamond(), 4, each_its_own, {.order = {0, 0, 1, 2}}), precondition_error);
    CHECK_THROWS_AS((void)concurrent(diamond(), 3, each_its_own, last_is_output), precondition_error);
}

TEST_CASE("a slot is released after the last of its occupants")
{
    auto const points = releases(diamond(), 2, {0, 1, 1, 0}); // slots, as if they did not overlap
    CHECK(rows_of(points.after) == rows{{}, {}, {}, {0, 1}});
}

TEST_CASE("a use at the end of a node belongs to its last step")
{
    snapshot const p = tasks(
        2, 1, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) {
                s.def(0);
                s.next_step();
            } else {
                s.use_at_end_of(0, 0);
            }
        });
    CHECK(rows_of(releases(p, 1, {0}).after) == rows{{}, {0}, {}});
    CHECK(rows_of(concurrent(p, 1, {0}, {{}}).after) == rows{{}, {0}, {}});
}

// SYSTEMS T8: a forward and a backward part, with positions recorded before anything is inserted.
TEST_CASE("releases are inserted from the end to the front, and earlier positions stay valid")
{
    std::vector<int> list{0, 1, 2, 3}; // operations; -1 releases
    std::size_t backward = 2, inserted_before = 0;
    auto const points = releases(diamond(), 4, each_its_own, {.role = last_is_output});
    std::vector<std::vector<buffer_id>> released;
    insert_releases(points, {}, [&](position_id i, auto buffers) {
        released.emplace_back(buffers.begin(), buffers.end());
        list.insert(list.begin() + i, -1);
        if (i <= backward) ++inserted_before;
    });
    CHECK(list == std::vector<int>{0, 1, 2, -1, 3, -1});
    CHECK(released == std::vector<std::vector<buffer_id>>{{1, 2}, {0}});
    CHECK(inserted_before == 0);
    auto const shifted = shifted_positions(points);
    CHECK(shifted == std::vector<position_id>{0, 1, 2, 4});
    for (position_id at = 0; at != 4; ++at) CHECK(list[shifted[at]] == static_cast<int>(at));
    auto const any = concurrent(diamond(), 4, each_its_own, last_is_output);
    CHECK_THROWS_AS(insert_releases(any, {}, [](position_id, auto) {}), precondition_error);
}

// An interpreter that frees: no buffer is touched before allocation, freed twice or leaked, and none is kept
// beyond its last touch.
TEST_CASE("in one order every buffer is released once, directly after its last touch")
{
    std::size_t released = 0, at_start = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick, 10);
        snapshot const p = drawn.program();
        auto const classes = group_views(drawn.values(), [&](value_id v) { return drawn.alias_of[v]; });
        std::size_t const buffers = classes.root.size();
        auto const points =
            releases(p, buffers, classes.buffer_of, {.role = drawn.role, .order = drawn.order});
        auto const turns = drawn.turns();
        std::vector<step_id> order;
        for (auto const& turn : turns) order.push_back(turn.id);

        struct entry {
            bool is_insertion;
            step_id step;
            std::vector<buffer_id> freed;
        };
        std::vector<entry> list;
        for (step_id s : order) list.push_back({false, s, {}});
        position_id last_place = no_position;
        insert_releases(points, order, [&](position_id i, std::span<buffer_id const> freed) {
            REQUIRE(i < last_place);
            last_place = i;
            list.insert(list.begin() + i, {true, no_step, {freed.begin(), freed.end()}});
        });
        auto const shifted = shifted_positions(points, order);
        for (std::size_t at = 0; at != order.size(); ++at) REQUIRE(list[shifted[at]].step == order[at]);

        auto const history = access_history(drawn);
        std::vector<bool> is_freed(buffers);
        std::size_t position = 0;
        for (entry const& e : list) {
            if (!e.is_insertion) {
                for (auto const& [root, touches] : history)
                    if (touches.count(position_id::of(position)) != 0 &&
                        !touches.at(position_id::of(position)).is_unused_input)
                        REQUIRE(!is_freed[classes.buffer_of[root]]);
                ++position;
                continue;
            }
            for (buffer_id b : e.freed) {
                REQUIRE(!is_freed[b]);
                is_freed[b] = true;
                ++released;
                auto const& touches = history.at(classes.root[b]);
                bool const is_untouched = touches.rbegin()->second.is_unused_input;
                at_start += is_untouched;
                REQUIRE(position == (is_untouched ? 0 : touches.rbegin()->first + 1));
            }
        }
        for (buffer_id b = 0; b != buffers; ++b) {
            auto const role = drawn.class_role(classes.root[b]);
            bool const is_kept = has_role(role, value_role::output) || has_role(role, value_role::external);
            bool const is_there = history.count(classes.root[b]) != 0;
            REQUIRE(is_freed[b] == (is_there && !is_kept));
        }
    }
    CHECK(released > rounds(10'000));
    CHECK(at_start > rounds(100));
}

// --- concurrent releases -----------------------------------------------------------------------------------

namespace {

} // namespace

TEST_CASE("a buffer is released when all touches that no other follows have ended")
{
    auto const points = concurrent(diamond(), 4, each_its_own, last_is_output);
    CHECK(rows_of(points.after) == rows{{}, {0}, {0}, {1, 2}});
    CHECK(points.counter == std::vector<std::uint32_t>{2, 1, 1, 0});
    // 3 reads a as well, after 1 and 2
    snapshot const joined = sequence(
        4, 4, [](step_id s) { return std::vector<std::vector<int>>{{}, {0}, {0}, {1, 2, 0}}[s]; },
        [](std::uint32_t s) { return std::vector{s}; });
    CHECK(concurrent(joined, 4, each_its_own, last_is_output).counter ==
          std::vector<std::uint32_t>{1, 1, 1, 0});
}

TEST_CASE("a hundred thousand independent readers all count")
{
    std::size_t const readers = 100'000;
    snapshot const star = sequence(
        readers + 1, readers + 1,
        [](step_id s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{0}; },
        [](std::uint32_t s) { return std::vector{s}; });
    table<value_id, buffer_id> own;
    for (value_id v = 0; v <= readers; ++v) own.push_back(+v);
    auto const points = concurrent(star, readers + 1, own, std::vector<value_role>(readers + 1));
    CHECK(points.counter[0] == readers);
}

TEST_CASE("under every schedule the last of the counting steps releases, and each of them is necessary")
{
    std::size_t several = 0, searched = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const drawn = draw_tasks(
            pick, {.tasks = 1 + pick.below(25), .back = pick.below(3) * 4, .edges = 30, .views = 20});
        snapshot const p = drawn.program();
        auto const classes = group_views(drawn.values(), [&](value_id v) { return drawn.alias_of[v]; });
        std::size_t const buffers = classes.root.size(), steps = drawn.tasks.size();
        auto const points = concurrent(p, buffers, classes.buffer_of, drawn.role);

        // Waits: edges, and writers after the readers of the previous version.
        std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
        std::vector<std::vector<std::size_t>> touches(buffers); // by buffer: steps
        for (std::size_t s = 0; s != steps; ++s) {
            for (node_id n : drawn.tasks[s].next) before[s][n] = true;
            for (value_id v : drawn.tasks[s].defs)
                for (std::size_t t = 0; t != steps; ++t)
                    for (auto const* operands : {&drawn.tasks[t].uses, &drawn.tasks[t].early})
                        if (std::count(operands->begin(), operands->end(), v) != 0) before[s][t] = true;
            for (auto const* row : {&drawn.tasks[s].uses, &drawn.tasks[s].early, &drawn.tasks[s].defs})
                for (value_id v : *row) {
                    auto& its = touches[classes.buffer_of[v]];
                    if (its.empty() || its.back() != s) its.push_back(s);
                }
        }
        make_transitive(before);

        std::vector<bool> is_kept(buffers), is_given_buffer(buffers);
        for (value_id v = 0; v != drawn.values(); ++v) {
            bool const stays =
                has_role(drawn.role[v], value_role::output) || has_role(drawn.role[v], value_role::external);
            if (stays) is_kept[classes.buffer_of[v]] = true;
            if (is_given(drawn.role[v])) is_given_buffer[classes.buffer_of[v]] = true;
        }
        std::vector<std::vector<std::size_t>> by_buffer(buffers);
        for (std::size_t s = 0; s != steps; ++s)
            for (buffer_id b : points.after[s]) by_buffer[b].push_back(s);
        for (buffer_id b = 0; b != buffers; ++b) {
            std::vector<std::size_t> last;
            for (std::size_t t : touches[b])
                if (std::none_of(touches[b].begin(), touches[b].end(),
                                 [&](std::size_t other) { return before[t][other]; }))
                    last.push_back(t);
            if (is_kept[b]) last.clear();
            REQUIRE(by_buffer[b] == last);
            REQUIRE(points.counter[b] == last.size());
            bool const starts = touches[b].empty() && is_given_buffer[b] && !is_kept[b];
            REQUIRE(std::count(points.at_start.begin(), points.at_start.end(), b) == (starts ? 1 : 0));
            several += last.size() > 1;
        }

        for (int schedule = 0; schedule != 3; ++schedule) {
            auto counter = points.counter;
            std::vector<std::size_t> left(buffers); // touches that have not happened
            for (buffer_id b = 0; b != buffers; ++b) left[b] = touches[b].size();
            std::vector<bool> done(steps);
            for (std::size_t turn = 0; turn != steps; ++turn) {
                std::vector<std::size_t> ready;
                for (std::size_t s = 0; s != steps; ++s) {
                    bool waits = done[s];
                    for (std::size_t other = 0; other != steps; ++other)
                        if (before[other][s] && !done[other]) waits = true;
                    if (!waits) ready.push_back(s);
                }
                std::size_t const s = pick.one_of(ready);
                done[s] = true;
                for (buffer_id b = 0; b != buffers; ++b)
                    left[b] -= static_cast<std::size_t>(std::count(touches[b].begin(), touches[b].end(), s));
                for (buffer_id b : points.after[s]) {
                    REQUIRE(counter[b] > 0);
                    --counter[b];
                }
                for (buffer_id b = 0; b != buffers; ++b)
                    if (!is_kept[b] && !touches[b].empty()) REQUIRE((counter[b] == 0) == (left[b] == 0));
            }
            ++searched;
        }
    }
    CHECK(several > rounds(3000));
    CHECK(searched > rounds(5000));
}

// --- releases along control flow ---------------------------------------------------------------------------

namespace {

/// Nodes of one step, with what each reads and writes.
snapshot nodes(std::size_t values, rows const& next, rows const& uses, rows const& defs)
{
    return flow(
        next.size(), values, [&](node_id n) -> auto& { return next[n]; },
        [&](node_id n) -> auto& { return uses[n]; }, [&](node_id n) -> auto& { return defs[n]; });
}

flow_release_points own_buffers(snapshot const& p, std::vector<value_role> role = {})
{
    table<value_id, buffer_id> own;
    for (value_id v = 0; v != p.values(); ++v) own.push_back(+v);
    role.resize(p.values());
    return flow_releases(p, p.values(), own, role);
}

} // namespace

TEST_CASE("a buffer that one branch reads is released there, and at the entry of the other branch")
{
    auto const points =
        own_buffers(nodes(2, {{1, 2}, {3}, {3}, {}}, {{}, {1}, {0}, {}}, {{0, 1}, {}, {}, {}}));
    CHECK(rows_of(points.after) == rows{{}, {1}, {0}, {}});
    CHECK(rows_of(points.at_entry) == rows{{}, {0}, {1}, {}});
    CHECK(points.on_edge.empty());
}

TEST_CASE("a buffer that only some incoming edges release is released on these edges")
{
    // 0 leads to 1 and directly to 2; 1 has released a already
    auto const points = own_buffers(nodes(1, {{1, 2}, {2}, {}}, {{}, {0}, {}}, {{0}, {}, {}}));
    CHECK(rows_of(points.after) == rows{{}, {0}, {}});
    CHECK(rows_of(points.at_entry) == rows{{}, {}, {}});
    CHECK(points.on_edge == std::vector<flow_release_points::edge>{{0, 2, 0}});
}

TEST_CASE("a loop keeps the buffers that it reads until its exit")
{
    auto const points = own_buffers(nodes(2, {{1}, {1, 2}, {}}, {{}, {0}, {}}, {{0}, {1}, {}}));
    CHECK(rows_of(points.after) == rows{{}, {1}, {}}); // the result of each iteration, which is not read
    CHECK(rows_of(points.at_entry) == rows{{}, {}, {0}});
    auto const turned = own_buffers(nodes(1, {{0, 1}, {}}, {{0}, {}}, {{}, {}}), {value_role::input});
    CHECK(rows_of(turned.at_entry) == rows{{}, {0}});
}

TEST_CASE("an operand of a phi is released on its edge, after the read")
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
          std::vector<flow_release_points::edge>{{0, 2, 0}}); // on the other edge it is not live
    CHECK(rows_of(points.after) == rows{{}, {}, {1}});
}

TEST_CASE("a kept buffer is not released, and an unused input is released at the start")
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

// Walks along random paths: storage is allocated when it is touched, released once, and allocated exactly as
// long as a search along all paths finds a later touch.
TEST_CASE("on every path a buffer is allocated from its first touch to the last possible one")
{
    std::size_t released = 0, on_edges = 0, at_entries = 0, walked = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
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
        table<value_id, buffer_id> buffer_of;
        for (value_id v = 0; v != f.values; ++v)
            buffer_of.push_back(pick.below(8) == 0 ? no_buffer : buffer_id{pick.below(buffers)});

        // Whether some path reads v from step s of n on (last: its end) before v is written again.
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
                node_id const to = pick.one_of(next);
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
