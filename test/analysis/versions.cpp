// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/versions.hpp>

#include "../archetype.hpp"
#include "../operations.hpp"
#include "../random_names.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../transitive.hpp"
#include "../versions_run.hpp"

#include <sublet/analysis/dependences.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using operations = std::vector<operation>;
using roles = std::vector<value_role>;

operations operations_of(snapshot const& p)
{
    operations ops(p.steps());
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) (t.defines() ? ops[s].defs : ops[s].uses).push_back(t.value);
    return ops;
}

/// The waits that the storage of the versions needs beyond data and edges.
std::vector<handoff> waits_of(versioned_program const& made, std::vector<node_id> const& order = {})
{
    ordered_bytes const bytes =
        find_ordered_bytes(made.program, {.role = made.role, .alias_of = made.alias_of});
    return bytes.segments == 0 ? std::vector<handoff>{} : storage_order(made.program, bytes, order);
}

} // namespace

TEST_CASE("a value written twice has two versions, and each use reads its own")
{
    auto const made = versions_of(program_of({{{}, {0}}, {{0}, {1}}, {{}, {0}}, {{0, 1}, {}}}, 2));
    CHECK(operations_of(made.program) == operations{{{}, {0}}, {{0}, {1}}, {{}, {2}}, {{2, 1}, {}}});
    CHECK(made.value_of == std::vector<value_id>{0, 1, 0});
    CHECK(made.number == std::vector<std::uint32_t>{0, 0, 1});
    CHECK(made.last == std::vector<value_id>{2, 1});
    CHECK(waits_of(made).empty());
    CHECK(made.program.overwrites().empty());
}

TEST_CASE("a step that reads and writes a value may write the new version over the old one")
{
    auto const made = versions_of(program_of({{{}, {0}}, {{0, 0}, {0}}}, 1));
    REQUIRE(made.program.overwrites().size() == 1);
    CHECK(made.program.overwrites()[0] == overwrite{1, 0, 1});
}

TEST_CASE("a declared pair is renamed, and one without effect is dropped")
{
    auto const p = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(1);
        if (s == 1)
            sink.use(0), sink.def(1), sink.may_overwrite(0, 1), sink.may_overwrite(2, 1),
                sink.may_overwrite(0, 2);
        if (s == 2) sink.use(1), sink.def(0), sink.def(1), sink.may_overwrite(1, 1), sink.may_overwrite(1, 0);
    });
    auto const made = versions_of(p);
    std::vector<overwrite> const seen(made.program.overwrites().begin(), made.program.overwrites().end());
    CHECK(seen == std::vector<overwrite>{{1, 0, 3}, {2, 3, 5}, {2, 3, 4}});
}

TEST_CASE("a program that needs no versions is unchanged, whatever its order and its values")
{
    for (std::uint32_t seed = 0; seed != 50; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks = draw_tasks(pick, {.views = 30, .in_place = 40, .shuffled = seed % 2 == 0});
        auto const p = tasks.program();
        auto const made =
            versions_of(p, {.role = tasks.role, .alias_of = tasks.alias_of, .same_storage = true});
        CHECK(made);
        CHECK(made.program == p);
        CHECK(made.role == tasks.role);
        CHECK(made.alias_of == tasks.alias_of);
        for (value_id v = 0; v != tasks.values(); ++v) {
            CHECK(made.value_of[v] == v);
            CHECK(made.last[v] == v);
            CHECK(made.number[v] == 0);
        }
    }
    CHECK(versions_of(snapshot{}).program == snapshot{});
    archetype::program const poorest(3);
    CHECK(versions_of(poorest).program == snapshot(poorest));
}

TEST_CASE("two writes of one step make one version")
{
    auto backward_edge = [](bool again) {
        return tasks(
            2, 1, [](node_id n) { return n == 1 ? std::vector<int>{0} : std::vector<int>{}; },
            [again](node_id n, effect_sink& s) {
                if (n == 0) s.def(0), s.def(0);
                else if (again) s.def(0);
            });
    };
    CHECK(versions_of(backward_edge(false))); // nothing depends on the list
    CHECK(!versions_of(backward_edge(true)));
    auto const made = versions_of(program_of({{{}, {0}}, {{0}, {0, 0}}, {{0}, {}}}, 1));
    CHECK(operations_of(made.program) == operations{{{}, {0}}, {{0}, {1, 1}}, {{1}, {}}});
    CHECK(made.program.overwrites().size() == 1);
}

TEST_CASE("the first version is the input, the last one the output")
{
    auto const made =
        versions_of(program_of({{{0}, {0}}, {{}, {0}}}, 1), {.role = value_role::input | value_role::output});
    CHECK(made.role == roles{value_role::input, value_role::intermediate, value_role::output});
    auto const unwritten = versions_of(program_of({{{0}, {1}}, {{}, {1}}}, 2),
                                       {.role = roles{value_role::input | value_role::output, {}}});
    CHECK(unwritten.role[0] == (value_role::input | value_role::output));
}

TEST_CASE("a value of the caller is overwritten in its storage, after its readers")
{
    operations const ops{{{0}, {1}}, {{0}, {2}}, {{3}, {0}}, {{0}, {4}}};
    roles const role{value_role::state, {}, {}, value_role::input, {}};
    auto const made = versions_of(program_of(ops, 5), {.role = role});
    CHECK(operations_of(made.program) == operations{{{0}, {1}}, {{0}, {2}}, {{3}, {5}}, {{5}, {4}}});
    CHECK(made.alias_of[5] == 0);
    CHECK(made.role[0] == value_role::state);
    CHECK(made.role[5] == value_role::intermediate); // it may have a def
    CHECK(made.program.touches(2)[1] == touch{5, touch::access::write_view});
    CHECK(waits_of(made) == std::vector<handoff>{{0, 2}, {1, 2}}); // 3 reads what 2 makes
}

TEST_CASE("an unread write comes before the next write")
{
    auto const made = versions_of(program_of({{{}, {0}}, {{}, {0}}, {{0}, {}}}, 1), {.same_storage = true});
    CHECK(waits_of(made) == std::vector<handoff>{{0, 1}});
}

TEST_CASE("no wait repeats a data dependence")
{
    auto const chain =
        versions_of(program_of({{{}, {0}}, {{0}, {0}}, {{0}, {0}}, {{0}, {}}}, 1), {.same_storage = true});
    CHECK(waits_of(chain).empty());
    auto const read = versions_of(program_of({{{}, {0}}, {{0}, {1}}, {{1}, {0}}}, 2), {.same_storage = true});
    CHECK(waits_of(read).empty());
}

TEST_CASE("a view refers to the version that is available when its step ends")
{
    // 1: b = view of a; 2: a is made again; 3: b = view of a, again; 4: a and its view c by one step
    operations const ops{{{}, {0}}, {{0}, {1}}, {{}, {0}}, {{0}, {1}}, {{0}, {0, 2}}, {{1, 2}, {}}};
    auto const made = versions_of(with_views(program_of(ops, 3), {no_value, 0, 0}), {.alias_of = {-1, 0, 0}});
    // a: 0, 3, 5; b: 1, 4; c: 2
    CHECK(made.alias_of == std::vector<value_id>{no_value, 0, 5, no_value, 3, no_value});
    CHECK(made.program.touches(3)[1] == touch{4, touch::access::view});
    CHECK(waits_of(made).empty());
}

TEST_CASE("a write through a view waits for the readers of its root, and new readers wait for the write")
{
    auto const p = sequence(5, 4, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        if (s == 1) sink.use(0), sink.view(1);
        if (s == 2) sink.use(0), sink.def(2);
        if (s == 3) sink.write(1);
        if (s == 4) sink.use(0), sink.def(3);
    });
    auto const made = versions_of(p, {.alias_of = {-1, 0, -1, -1}});
    CHECK(made.program == p);                                      // a write makes no version
    CHECK(waits_of(made) == std::vector<handoff>{{2, 3}, {3, 4}}); // 3 writes through the view that 1 makes
}

TEST_CASE("a step may write a part that nothing has written")
{
    // 1 reads a; 2 writes the part b of a; 3 reads b and makes a again
    auto const p = sequence(5, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        if (s == 1) sink.use(0), sink.def(2);
        if (s == 2) sink.view(1), sink.write(1);
        if (s == 3) sink.use(1), sink.def(0);
        if (s == 4) sink.use(0);
    });
    auto const made = versions_of(p, {.alias_of = {-1, 0, -1}});
    CHECK(made.alias_of == std::vector<value_id>{no_value, 0, no_value, no_value});
    CHECK(waits_of(made) == std::vector<handoff>{{1, 2}});
}

TEST_CASE("parts of a value wait for each other only where they overlap")
{
    enum { cache, first, second, both, x };
    auto const p = sequence(5, 5, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(cache);
        if (s == 1) sink.view(first), sink.write(first);
        if (s == 2) sink.view(second), sink.write(second);
        if (s == 3) sink.view(both), sink.write(both);
        if (s == 4) sink.use(second), sink.def(x);
    });
    lifetimes_options const options{.alias_of = std::vector<int>{-1, cache, cache, cache, -1},
                                    .view_offset = {0, 0, 8, 4, 0},
                                    .bytes = {16, 8, 8, 8, 8}};
    std::vector<handoff> const waits = storage_order(p, find_ordered_bytes(p, options));
    CHECK(waits == std::vector<handoff>{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}});
    lifetimes_options apart = options;
    apart.view_offset = {0, 0, 8, 0, 0};
    CHECK(storage_order(p, find_ordered_bytes(p, apart)) == std::vector<handoff>{{0, 1}, {0, 2}, {1, 3}});
}

TEST_CASE("one external view keeps the storage of the whole class")
{
    operations const ops{{{}, {0}}, {{0}, {1}}, {{}, {0}}};
    auto const made = versions_of(with_views(program_of(ops, 2), {no_value, 0}),
                                  {.role = roles{{}, value_role::external}, .alias_of = {-1, 0}});
    CHECK(made.alias_of[made.last[0]] == 0);
}

TEST_CASE("a use at the end of a node reads the version after the last step of the node")
{
    auto const p = tasks(
        3, 1, [](node_id n) { return n == 0 ? std::vector<int>{2} : std::vector<int>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0), s.next_step(), s.use(0), s.def(0);
            if (n == 1) s.def(0);
            if (n == 2) s.use(0), s.use_at_end_of(0, 0);
        });
    auto const made = versions_of(p, {.same_storage = true});
    CHECK(made.program.edge_uses()[0].value == 1);
    CHECK(made.program.touches(3)[0].value == 2);
    CHECK(waits_of(made) == std::vector<handoff>{{1, 2}});
}

TEST_CASE("nodes are processed in the given order")
{
    operations const ops{{{0}, {}}, {{}, {0}}, {{}, {0}}};
    auto const made = versions_of(program_of(ops, 1), {.order = {1, 0, 2}});
    REQUIRE(made);
    CHECK(operations_of(made.program) == operations{{{0}, {}}, {{}, {0}}, {{}, {1}}});
    CHECK_THROWS_AS((void)versions_of(program_of(ops, 1), {.order = {1, 1, 2}}), precondition_error);
}

TEST_CASE("an edge against the list, or a use of a split value before its def, is an error")
{
    auto with_edge = [](int from, int to, bool twice) {
        return tasks(
            3, 1, [=](int n) { return n == from ? std::vector<int>{to} : std::vector<int>{}; },
            [=](int n, effect_sink& s) {
                if (n == 0 || twice) s.def(0);
            });
    };
    auto leads_back = [](step_id from) {
        return counterexample{fault::leads_back, counterexample::waiting{.step = from}};
    };
    auto used_before_def = [](value_id v, step_id s) {
        return counterexample{fault::used_undefined,
                              counterexample::access{.value = v, .other = v, .step = s}};
    };
    CHECK(versions_of(with_edge(2, 1, true)).error() == leads_back(2));
    CHECK(versions_of(with_edge(1, 1, true)).error() == leads_back(1));
    CHECK(versions_of(with_edge(1, 2, true)));
    CHECK(versions_of(with_edge(2, 1, false))); // nothing depends on the list
    CHECK(versions_of(with_edge(2, 1, true), {.order = {0, 2, 1}}));

    operations const early{{{0}, {}}, {{}, {1}}, {{1}, {0}}, {{1}, {0}}};
    CHECK(versions_of(program_of(early, 2)).error() == used_before_def(0, 0));
    CHECK(versions_of(program_of({{{0}, {0}}, {{}, {0}}}, 1)).error() == used_before_def(0, 0));
    CHECK(versions_of(program_of(early, 2), {.role = value_role::input}));
    operations const once{{{1}, {0}}, {{}, {0}}, {{}, {1}}}; // a value with one def may be anywhere
    CHECK(versions_of(program_of(once, 2)));
}

TEST_CASE("with and without kept storage, every execution order reads what the listed order reads")
{
    std::size_t handoffs = 0, splits = 0, views_again = 0;
    for (std::uint32_t seed = 0; seed != rounds(15000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        unsigned const many = seed % 4 == 0 ? 12 : 5;
        random_names const names = draw_names(pick, {.nodes = many,
                                                     .names = 6,
                                                     .same = seed % 3 == 0 ? 0u : 30u,
                                                     .views = seed % 2 == 0 ? 0u : 40u,
                                                     .early = seed % 5 == 0 ? 30u : 0u,
                                                     .shuffled = seed % 7 != 0});
        names_run const expected(names);
        if (expected.is_ambiguous) continue;
        auto const made = versions_of(names.program(), version_options_of(names));
        REQUIRE(made);
        dependence_graph const g =
            dependences(made.program, {.role = made.role, .alias_of = made.alias_of, .listed = names.order});
        REQUIRE(g);
        for (int i = 0; i != 3; ++i) run_in_any_order(names, expected, made, g, roots_of(made), pick);
        handoffs += waits_of(made, names.order).size();
        splits += made.value_of.size() - names.values();
        for (std::size_t v = names.values(); v != made.value_of.size(); ++v)
            views_again += names.alias_of[made.value_of[v]] != no_value;

        // The order is minimal: exactly the steps that have to wait do.
        if (g.positions() != made.program.steps()) continue;
        std::size_t const steps = made.program.steps();
        std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
        for (position_id at = static_cast<position_id>(steps); at-- != 0;)
            for (position_id next : g.after[at]) {
                before[g.step_at[at]][g.step_at[next]] = true;
                for (step_id s = 0; s != steps; ++s)
                    if (before[g.step_at[next]][s]) before[g.step_at[at]][s] = true;
            }
        REQUIRE(before == expected.before);
    }
    CHECK(handoffs > rounds(8000)); // the generator covers all cases
    CHECK(splits > rounds(30000));
    CHECK(views_again > rounds(1000));
}

TEST_CASE("numbers, values and views of versions are consistent")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_names const names = draw_names(pick, {});
        auto const made = versions_of(names.program(), version_options_of(names));
        REQUIRE(made);
        snapshot const p = names.program();
        CHECK(made.program.graph() == p.graph());
        REQUIRE(made.program.steps() == p.steps());
        for (step_id s = 0; s != p.steps(); ++s) {
            auto const before = p.touches(s), after = made.program.touches(s);
            REQUIRE(before.size() == after.size());
            for (std::size_t i = 0; i != before.size(); ++i) {
                bool const is_kept = after[i].kind == touch::access::write_view;
                CHECK((before[i].kind == after[i].kind || (is_kept && before[i].kind == touch::access::def)));
                CHECK(before[i].value == made.value_of[after[i].value]);
            }
        }
        std::vector<std::uint32_t> next(names.values(), 0);
        std::vector<std::set<step_id>> defs(made.value_of.size());
        for (step_id s = 0; s != made.program.steps(); ++s)
            for (touch t : made.program.touches(s))
                if (t.defines()) defs[t.value].insert(s);
        for (value_id v = 0; v != made.value_of.size(); ++v) {
            CHECK(made.number[v] == next[made.value_of[v]]++);
            bool const is_last = made.last[made.value_of[v]] == v;
            value_role const of_name = names.role[made.value_of[v]];
            CHECK(has_role(made.role[v], value_role::output) ==
                  (is_last && has_role(of_name, value_role::output)));
            CHECK(is_given(made.role[v]) == (made.number[v] == 0 && is_given(of_name)));
            CHECK(defs[v].size() <= (is_given(made.role[v]) ? 0 : 1));
            if (names.is_kept(made.value_of[v]) && made.number[v] != 0)
                CHECK(made.alias_of[v] == made.value_of[v]);
        }
        for (value_id v = 0; v != names.values(); ++v) CHECK(made.number[made.last[v]] + 1 == next[v]);
    }
}

TEST_CASE("versions have the properties of their values")
{
    auto const p = program_of({{{}, {0}}, {{0}, {1, 0}}}, 2);
    plan_options const options{.bytes = {64, 32},
                               .alignment = {4, 8},
                               .role = value_role::output,
                               .pool = {1, 0},
                               .pinned = std::vector<byte_count>{no_offset, 8},
                               .eligible = std::vector<bool>{true, false},
                               .pools = {{.capacity = 100}},
                               .in_place = false};
    auto const made = versions(p, options);
    auto const lifted = with_versions(options, made);
    CHECK(lifted.bytes.tabulate(3) == std::vector<byte_count>{64, 32, 64});
    CHECK(lifted.alignment.tabulate(3) == std::vector<byte_count>{4, 8, 4});
    CHECK(lifted.pool.tabulate(3) == std::vector<pool_id>{1, 0, 1});
    CHECK(lifted.role.tabulate(3) == made.role);
    CHECK(lifted.alias_of.tabulate(3) == made.alias_of);
    CHECK(lifted.pinned.tabulate(3) == std::vector<byte_count>{no_offset, 8, no_offset});
    CHECK(lifted.eligible.tabulate(3) == std::vector<unsigned char>{1, 0, 1});
    CHECK(lifted.pools.size() == 1);
    CHECK(!lifted.in_place);
}

TEST_CASE("all versions of a value that is pinned, or has storage of its own, share one storage")
{
    auto const p = program_of({{{}, {0, 1, 2}}, {{}, {0, 1, 2}}}, 3);
    plan_options const options{.bytes = 8,
                               .pinned = std::vector<byte_count>{0, no_offset, no_offset},
                               .eligible = std::vector<bool>{true, false, true}};
    CHECK(versions(p, options).alias_of ==
          std::vector<value_id>{no_value, no_value, no_value, 0, 1, no_value});
    CHECK(versions(p, options, true).alias_of[5] == 2);
}

// --- storage order -----------------------------------------------------------------------------------------

namespace {

using ids = std::vector<value_id>;

/// Task i defines value i and uses the given values.
snapshot tasks_of(std::vector<ids> const& uses)
{
    return sequence(uses.size(), uses.size(), [&](step_id s, effect_sink& sink) {
        for (value_id v : uses[s]) sink.use(v);
        sink.def(+s);
    });
}

/// Each value is one segment, or none (-1).
ordered_bytes parts(std::vector<int> const& segment_of)
{
    ordered_bytes bytes;
    for (int i : segment_of) {
        auto const segment = static_cast<std::uint32_t>(i < 0 ? 0 : i);
        bytes.of.push_back({segment, i < 0 ? segment : segment + 1});
        if (i >= 0) bytes.segments = std::max(bytes.segments, segment + 1);
    }
    return bytes;
}

} // namespace

TEST_CASE("an overwriting step waits for the readers")
{
    // 0 ─► 1, 2    3 overwrites 0
    auto const p = tasks_of({{}, {0}, {0}, {}});
    CHECK(storage_order(p, parts({0, -1, -1, 0})) == std::vector<handoff>{{1, 3}, {2, 3}});
}

TEST_CASE("a step that overwrites an unread value waits for the write")
{
    CHECK(storage_order(tasks_of({{}, {}, {}}), parts({0, 0, 0})) == std::vector<handoff>{{0, 1}, {1, 2}});
}

TEST_CASE("storage that needs no order has no hand-offs")
{
    CHECK(storage_order(tasks_of({{}, {}}), parts({-1, -1})).empty());
    CHECK(storage_order(tasks_of({{}, {}}), parts({0, 1})).empty());
    CHECK(storage_order(snapshot{}, parts({})).empty());
}

TEST_CASE("making a view accesses nothing, and its readers wait for the write before them")
{
    // 1 = view of 0; 2 reads the view; 3 overwrites 0 and all its views; 4 reads the view, with the new
    // content
    auto const p = with_views(tasks_of({{}, {}, {1}, {}, {1}}), {no_value, 0, no_value, no_value, no_value});
    CHECK(storage_order(p, parts({0, 0, -1, 0, -1})) == std::vector<handoff>{{0, 2}, {2, 3}, {3, 4}});
}

TEST_CASE("an order that follows from edges, data or nodes is not repeated")
{
    CHECK(storage_order(tasks_of({{}, {0}, {1}}), parts({0, -1, 0})).empty());
    auto in_nodes = [](bool edge) { // a node with two steps, and a successor if there is an edge
        return tasks(
            2, 4, [edge](node_id n) { return n == 0 && edge ? std::vector<int>{1} : std::vector<int>{}; },
            [](node_id n, effect_sink& s) {
                if (n == 0) s.def(0), s.next_step(), s.use(0), s.def(1);
                else s.def(2), s.next_step(), s.def(3);
            });
    };
    CHECK(storage_order(in_nodes(false), parts({0, 0, 1, 1})).empty());
    ordered_bytes const storage = parts({0, -1, -1, 0});
    CHECK(storage_order(in_nodes(true), storage).empty());
    CHECK(storage_order(in_nodes(false), storage) == std::vector<handoff>{{1, 3}});
}

TEST_CASE("a use at the end of a node waits by data, and is waited for")
{
    // 0 writes; 2 uses the value at the end of 1; 3 overwrites it
    auto const p = tasks(
        4, 2, [](node_id n) { return n == 1 ? std::vector<int>{2} : std::vector<int>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n == 2) s.use_at_end_of(1, 0);
            if (n == 3) s.def(1);
        });
    CHECK(storage_order(p, parts({0, 0})) == std::vector<handoff>{{1, 3}});
}

TEST_CASE("touches of one storage run in listed order, and no step waits needlessly")
{
    std::size_t needed = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const tasks =
            draw_tasks(pick, {.tasks = 1 + pick.below(14), .early = 0, .given = 0, .views = 30});
        snapshot const p = tasks.program();
        auto const steps = static_cast<step_id>(p.steps());
        ordered_bytes bytes;
        bytes.segments = 1 + pick.below(pick.below(3) == 0 ? 20 : 4);
        for (value_id v = 0; v != p.values(); ++v) {
            std::uint32_t const first = pick.below(bytes.segments), more = pick.below(bytes.segments - first);
            bytes.of.push_back({first, pick.below(5) == 0 ? first : first + 1 + more});
        }
        auto const handoffs = storage_order(p, bytes);
        sharing_rule const data(tasks), all(tasks, handoffs);

        auto required = data.before;
        for (step_id a = 0; a != steps; ++a)
            for (step_id b = a + 1; b < steps; ++b)
                for (touch t : p.touches(a))
                    for (touch u : p.touches(b)) {
                        if (t.kind == touch::access::view || u.kind == touch::access::view) continue;
                        segment_range const of_t = bytes.of[t.value], of_u = bytes.of[u.value];
                        bool const overlap =
                            std::max(of_t.first, of_u.first) < std::min(of_t.last, of_u.last);
                        if (overlap && (t.writes() || u.writes())) required[a][b] = true;
                    }
        make_transitive(required);
        REQUIRE(all.before == required);

        for (std::size_t i = 0; i != handoffs.size(); ++i) {
            auto const [from, to] = handoffs[i];
            if (i != 0) {
                handoff const last = handoffs[i - 1];
                REQUIRE((last.from < from || (last.from == from && last.to < to)));
            }
            bool is_said = false;
            for (touch t : p.touches(to))
                for (touch u : p.touches(from)) is_said |= !t.defines() && u.defines() && u.value == t.value;
            auto const next = p.successors(+from);
            REQUIRE(!is_said);
            REQUIRE(std::find(next.begin(), next.end(), +to) == next.end());
        }
        needed += handoffs.size();
    }
    CHECK(needed > rounds(8000));
}

TEST_CASE("reads of a whole between writes of its parts wait for few of them")
{
    // step 2 i writes part i of `parts`, and the step after it reads all
    std::uint32_t const parts = 1000;
    snapshot const p = sequence(2 * parts, parts + 1, [&](step_id s, effect_sink& sink) {
        if (s % 2 == 0) sink.def(s / 2);
        else sink.use(parts);
    });
    ordered_bytes bytes{{}, parts};
    for (std::uint32_t i = 0; i != parts; ++i) bytes.of.push_back({i, i + 1});
    bytes.of.push_back({0, parts});
    std::vector<handoff> const waits = storage_order(p, bytes);
    CHECK(waits.size() < std::size_t{30} * parts);
    for (step_id s = 0; s + 1 != p.steps(); ++s)
        CHECK(std::find(waits.begin(), waits.end(), handoff{s, s + 1}) != waits.end());
}

} // namespace this_test
