// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/rename.hpp>

#include "../random_source.hpp"
#include "../random_tree.hpp"

#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// A user's nested programs after renaming: by program, names instead of values.
struct renamed_programs {
    struct program {
        std::vector<std::vector<std::size_t>> in, out, at_end;
        std::vector<std::pair<std::size_t, std::size_t>> captures; // inner, outer
        std::vector<std::vector<std::size_t>> bindings;            // by part
    };
    static constexpr std::size_t kept = 1'000'000; // an unchanged name: kept + program and value
    std::vector<program> programs;

    explicit renamed_programs(program_tree const& tree)
    {
        for (program_id i = 0; i != tree.size(); ++i) {
            snapshot const& p = tree.program_of(i);
            program own;
            own.in.resize(p.steps()), own.out.resize(p.steps()), own.at_end.resize(p.nodes());
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s)) (t.defines() ? own.out : own.in)[s].push_back(kept + t.value);
            for (edge_use u : p.edge_uses()) own.at_end[u.node].push_back(kept + u.value);
            for (program_body::capture c : tree.body(i).captures)
                own.captures.push_back({kept + c.inner, kept + c.outer});
            for (program_body::binding b : tree.body(i).bindings)
                own.bindings.push_back({kept + b.inner, kept + b.initial, kept + b.next, kept + b.result});
            programs.push_back(own);
        }
    }
    void set_input(program_id p, step_id s, std::size_t i, std::size_t k) { programs[p].in[s].at(i) = k; }
    void set_output(program_id p, step_id s, std::size_t i, std::size_t k) { programs[p].out[s].at(i) = k; }
    void set_at_end(program_id p, node_id n, std::size_t i, std::size_t k)
    {
        programs[p].at_end[n].at(i) = k;
    }
    void set_capture(program_id p, std::size_t i, std::size_t k) { programs[p].captures.at(i) = {k, k}; }
    void set_binding(program_id p, std::size_t i, program_body::binding_part part, std::size_t k)
    {
        programs[p].bindings.at(i).at(static_cast<std::size_t>(part)) = k;
    }
};

/// 0: def 0; 1: use 0, def 1; 2: use 1, def 2 and hold a body; 3: use 2
snapshot const chain = sequence(
    4, 3, [](std::uint32_t s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{s - 1}; },
    [](std::uint32_t s) { return s == 3 ? std::vector<value_id>{} : std::vector<value_id>{s}; });

slot_renaming names_of(flat_tree const& flat, std::vector<slot_id> const& slot_of, std::uint32_t slots,
                       rename_options const& how = {})
{
    plan_options const options{.bytes = 8};
    sized_slot_plan plan;
    plan.slot_of = slot_of;
    plan.slots = slots;
    return name_slots(values_as_versions(flat.program, options), plan, options, how);
}

} // namespace

// SYSTEMS M9: step nets are renamed too, and the step that holds them is notified.
TEST_CASE("a captured value is renamed in its body and nested bodies, and captures and bindings are reported")
{
    program_tree tree(chain);
    snapshot const one = sequence(
        1, 2, [](step_id) { return std::vector{0}; }, [](step_id) { return std::vector{1}; });
    tree.add_body(0, 2, program_body::run_kind::loop, one, {{0, 1}});
    tree.add_body(1, 0, program_body::run_kind::branch, one, {{0, 0}}, {{.inner = 1, .result = 1}});
    flat_tree const flat = flatten(tree); // 0 1 2, then 3 of the loop and 4 of the branch
    renamed_programs after(tree);
    rename(tree, flat, names_of(flat, {0, 1, 0, 2, 1}, 3), after);
    std::size_t const own = renamed_programs::kept;
    CHECK(after.programs[0].out == std::vector<std::vector<std::size_t>>{{0}, {1}, {0}, {}});
    CHECK(after.programs[0].in == std::vector<std::vector<std::size_t>>{{}, {0}, {1}, {0}});
    CHECK(after.programs[1].captures == std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}});
    CHECK(after.programs[1].in == std::vector<std::vector<std::size_t>>{{1}});
    CHECK(after.programs[1].out == std::vector<std::vector<std::size_t>>{{own + 1}});
    CHECK(after.programs[2].captures == std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}});
    CHECK(after.programs[2].bindings ==
          std::vector<std::vector<std::size_t>>{{1, own + no_value, own + no_value, own + 1}});
}

TEST_CASE("a tree that has been renamed already gets no report")
{
    program_tree tree(chain);
    flat_tree const flat = flatten(tree);
    auto const names = names_of(flat, {0, 1, 0}, 2, {.is_slot = [](value_id v) { return v == 1; }});
    CHECK(names.planned_already == 1);
    renamed_programs after(tree);
    rename(tree, flat, names, after);
    for (auto const& row : after.programs[0].in)
        for (std::size_t name : row) CHECK(name >= renamed_programs::kept);
    CHECK_THROWS_AS(rename(program_tree(), flat, names, after), precondition_error);
    program_tree const nothing;
    flat_tree const empty = flatten(nothing);
    rename(nothing, empty, names_of(empty, {}, 0), after);
}

namespace {

/// Slots for values without interference, views with their storage; inputs and outputs have none.
sized_slot_plan color_greedily(snapshot const& p, std::vector<value_id> const& root,
                               std::vector<value_role> const& role, std::vector<byte_count> const& bytes)
{
    auto const graph = interference(p);
    std::vector<std::set<value_id>> meets(p.values());
    for (value_id u = 0; u != p.values(); ++u)
        for (value_id v : graph.neighbors(u))
            if (root[u] != root[v]) meets[root[u]].insert(root[v]), meets[root[v]].insert(root[u]);
    std::vector<bool> stays(p.values());
    for (value_id v = 0; v != p.values(); ++v)
        if (role[v] != value_role::intermediate) stays[root[v]] = true;
    sized_slot_plan plan;
    plan.slot_of.assign(p.values(), no_slot);
    for (value_id v = 0; v != p.values(); ++v) {
        if (root[v] != v || stays[v] || bytes[v] == 0) continue;
        slot_id s = 0;
        while (
            std::any_of(meets[v].begin(), meets[v].end(), [&](value_id u) { return plan.slot_of[u] == s; }))
            ++s;
        plan.slot_of[v] = s;
        plan.slots = std::max(plan.slots, s + 1);
    }
    for (value_id v = 0; v != p.values(); ++v) plan.slot_of[v] = plan.slot_of[root[v]];
    return plan;
}

/// Any path through the program: a read by name gives the same as a read by value.
void walk(snapshot const& p, std::vector<value_id> const& root, std::vector<value_id> const& name,
          random_source& pick)
{
    std::map<value_id, std::uint64_t> by_value, by_name;
    std::uint64_t stamp = 0;
    auto read = [&](value_id v) { // before its first write it is the caller's
        if (by_value.count(root[v]) == 0) by_value[root[v]] = by_name[name[v]] = ++stamp;
        REQUIRE(by_value[root[v]] == by_name[name[v]]);
    };
    node_id n = 0;
    for (int turn = 0; turn != 80; ++turn) {
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            for (touch t : p.touches(s))
                if (!t.defines()) read(t.value);
            std::map<value_id, value_id> written; // one step writes no two values into one place
            for (touch t : p.touches(s)) {
                if (!t.defines()) continue;
                by_value[root[t.value]] = by_name[name[t.value]] = ++stamp;
                REQUIRE(written.insert({name[t.value], root[t.value]}).first->second == root[t.value]);
            }
        }
        auto const next = p.successors(n);
        if (next.empty()) return;
        node_id const to = pick.one_of(next);
        for (edge_use u : p.edge_uses(to))
            if (u.pred == n) read(u.value);
        n = to;
    }
}

} // namespace

// REGRESSIONS memonger.py 02f0c1c9d7: inner nets refer to outer values.
TEST_CASE("on every path through a renamed tree steps read what they read before")
{
    std::size_t renamed = 0, nested = 0, told = 0;
    for (std::uint32_t seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tree const drawn = tree_generator(pick, 1 + seed % 4).draw();
        program_tree const tree = drawn.tree();
        std::vector<std::vector<value_id>> alias_of;
        for (auto const& p : drawn.programs) alias_of.push_back(p.alias_of);
        flat_tree const flat = flatten(tree, alias_of);

        std::vector<value_id> view_of, root(flat.value_of.size());
        std::vector<value_role> role;
        std::vector<byte_count> bytes;
        for (value_id f = 0; f != flat.value_of.size(); ++f) {
            auto const [i, v] = flat.value_of[f];
            bool const is_spare = f >= flat.first_spare;
            value_id const of = is_spare ? no_value : alias_of[i][v];
            view_of.push_back(of == no_value ? no_value : flat.flat_of[i][of]);
            role.push_back(is_spare ? value_role::intermediate : drawn.programs[i].role[v]);
            bytes.push_back(drawn.programs[i].bytes[v]);
            root[f] = f;
            while (!is_spare && root[f] < view_of.size() && view_of[root[f]] != no_value)
                root[f] = view_of[root[f]];
        }
        auto const classes = group_views(root.size(), [&](value_id f) { return view_of[f]; });
        for (value_id f = 0; f != root.size(); ++f) root[f] = classes.root[classes.buffer_of[f]];
        plan_options const options{.bytes = bytes, .role = role, .alias_of = view_of};
        auto const made = values_as_versions(flat.program, options);
        auto const names = name_slots(made, color_greedily(flat.program, root, role, bytes), options);
        renamed += names.new_names.size();
        for (int path = 0; path != 8; ++path) walk(flat.program, root, names.storage_of, pick);

        // The user's names agree with those of the flat program.
        renamed_programs after(tree);
        rename(tree, flat, names, after);
        for (program_id i = 0; i != tree.size(); ++i) {
            auto const expected = [&](value_id v, program_id of) {
                value_id const name = names.name_of[flat.flat_of[of][v]];
                return name >= names.values ? std::size_t{name} - names.values : renamed_programs::kept + v;
            };
            snapshot const& p = tree.program_of(i);
            for (step_id s = 0; s != p.steps(); ++s) {
                std::vector<std::size_t> in, out;
                for (touch t : p.touches(s)) (t.defines() ? out : in).push_back(expected(t.value, i));
                REQUIRE(after.programs[i].in[s] == in);
                REQUIRE(after.programs[i].out[s] == out);
                nested += i != 0 && !out.empty() && out[0] < renamed_programs::kept;
            }
            if (i == 0) continue;
            program_body const& body = tree.body(i);
            for (std::size_t c = 0; c != body.captures.size(); ++c) {
                auto const [inner, outer] = after.programs[i].captures[c];
                REQUIRE(inner == expected(body.captures[c].inner, i));
                REQUIRE(outer == expected(body.captures[c].outer, body.parent));
                told += inner < renamed_programs::kept;
            }
            for (std::size_t b = 0; b != body.bindings.size(); ++b) {
                auto const& is = after.programs[i].bindings[b];
                program_body::binding const was = body.bindings[b];
                REQUIRE(is[0] == expected(was.inner, i));
                if (was.initial != no_value) REQUIRE(is[1] == expected(was.initial, body.parent));
                if (was.next != no_value) REQUIRE(is[2] == expected(was.next, i));
                if (was.result != no_value) REQUIRE(is[3] == expected(was.result, body.parent));
            }
        }
    }
    CHECK(renamed > 500);
    CHECK(nested > 500);
    CHECK(told > 200);
}

} // namespace this_test
