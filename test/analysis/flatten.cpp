// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/bodies_by_step.hpp>
#include <sublet/analysis/detail/captures.hpp>
#include <sublet/analysis/flatten.hpp>

#include "../archetype.hpp"
#include "../operations.hpp"
#include "../printed.hpp"
#include "../random_source.hpp"
#include "../random_tree.hpp"

#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// One line per node: its steps as `reads -> writes`, a number with ' for an early read, = for a copy; then
/// its successors.
std::string text(flat_tree const& flat)
{
    std::ostringstream out;
    for (node_id n = 0; n != flat.program.nodes(); ++n) {
        out << n << ":";
        auto const steps = flat.program.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            out << (s == steps.first ? "" : ";");
            for (touch t : flat.program.touches(s))
                if (t.kind != touch::access::def)
                    out << ' ' << t.value << (t.kind == touch::access::use ? "" : "'");
            out << (flat.step_of[s].part == flat_tree::part::move ? " =" : " ->");
            for (touch t : flat.program.touches(s))
                if (t.kind == touch::access::def) out << ' ' << t.value;
        }
        out << " |";
        for (node_id to : flat.program.successors(n)) out << ' ' << to;
        out << '\n';
    }
    return out.str();
}

/// 0: def 0, 1; 1: use 0, def 2 (contains the bodies); 2: use 2
snapshot const outer_program = program_of({{{}, {0, 1}}, {{0}, {2}}, {{2}, {}}}, 3);
/// 0: use 0, 1, def 2
snapshot const inner_program = program_of({{{0, 1}, {2}}}, 3);

} // namespace

TEST_CASE("a body that runs once is placed at its step, between the copies in and out")
{
    program_tree tree(outer_program);
    tree.add_body(0, 1, program_body::run_kind::once, inner_program, {{1, 1}},
                  {{.inner = 0, .initial = 0}, {.inner = 2, .result = 2}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.flat_of ==
          table<program_id, table<value_id, value_id>>{{0, 1, 2}, {3, 1, 4}}); // 1 is captured
    CHECK(flat.value_of == std::vector<tree_value>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}});
    CHECK(flat.first_spare == 5);
    CHECK(text(flat) ==
          "0: -> 0 1 | 1\n"
          "1: 0 ->; 0 = 3 | 2\n"
          "2: 3 1 -> 4 | 3\n"
          "3: 4 = 2; 0 -> | 4\n" // the result is defined by the body, the operand is held to the end
          "4: 2 -> |\n");
    REQUIRE(flat.moves.size() == 2);
    CHECK(flat.moves[0] == flat_tree::move{1, flat_tree::move_time::enter, 0, 3, 2});
    CHECK(flat.moves[1] == flat_tree::move{1, flat_tree::move_time::leave, 4, 2, 4});
    CHECK(flat.step_of[2] == flat_tree::step{flat_tree::part::move, 1, 0});
    CHECK(flat.step_of[3] == flat_tree::step{flat_tree::part::whole, 1, 0});
    CHECK(flat.step_of[5] == flat_tree::step{flat_tree::part::end, 0, 1});
    REQUIRE(flat.program.overwrites(2).size() == 1);
    CHECK(flat.program.overwrites(2)[0] == overwrite{2, 0, 3});
}

TEST_CASE("one of two branches runs, and an empty branch does nothing")
{
    program_tree tree(outer_program);
    tree.add_body(0, 1, program_body::run_kind::branch, inner_program, {{0, 0}, {1, 1}},
                  {{.inner = 2, .result = 2}});
    tree.add_body(0, 1, program_body::run_kind::branch, program_of({}, 1), {}, {{0, 1, no_value, 2}});
    CHECK(text(flatten(tree)) == "0: -> 0 1 | 1\n"
                                 "1: 0 -> | 2 5\n"
                                 "2: -> | 3\n"
                                 "3: 0 1 -> 3 | 4\n"
                                 "4: 3 = 2 | 7\n"
                                 "5: 1 = 4 | 6\n"
                                 "6: 4 = 2 | 7\n"
                                 "7: 0 -> | 8\n"
                                 "8: 2 -> |\n");
}

TEST_CASE("a loop has copies at entry, before each further iteration, and at exit from its header")
{
    program_tree tree(outer_program);
    tree.add_body(0, 1, program_body::run_kind::loop, inner_program, {{1, 1}}, {{0, 0, 2, 2}});
    CHECK(text(flatten(tree)) == "0: -> 0 1 | 1\n"
                                 "1: 0 ->; 0 = 3 | 2\n"
                                 "2: -> | 3 5\n"
                                 "3: 3 1 -> 4 | 4\n"
                                 "4: 4 = 3 | 2\n"
                                 "5: 3 = 2; 0 -> | 6\n"
                                 "6: 2 -> |\n");
}

TEST_CASE("values swapped in a loop take a spare value, named after the value that it holds")
{
    program_tree tree(outer_program);
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0, 1}, {}}}, 2), {},
                  {{0, 0, 1, no_value}, {1, 1, 0, 2}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.first_spare == 5);
    REQUIRE(flat.value_of.size() == 6);
    CHECK(flat.value_of[5] == tree_value{1, 0});
    CHECK(text(flat) == "0: -> 0 1 | 1\n"
                        "1: 0 ->; 0 = 3; 1 = 4 | 2\n"
                        "2: -> | 3 5\n"
                        "3: 3 4 -> | 4\n"
                        "4: 3 = 5; 4 = 3; 5 = 4 | 2\n"
                        "5: 4 = 2; 0 -> | 6\n"
                        "6: 2 -> |\n");
}

TEST_CASE("bodies of a step run one after the other; adjacent branches are one choice, separate ones are two")
{
    auto const nothing = program_of({{{}, {}}}, 0);
    program_tree tree(nothing);
    for (auto kind : {program_body::run_kind::branch, program_body::run_kind::branch,
                      program_body::run_kind::once, program_body::run_kind::branch})
        tree.add_body(0, 0, kind, nothing);
    CHECK(text(flatten(tree)) == "0: -> | 1 4\n"
                                 "1: -> | 2\n"
                                 "2: -> | 3\n"
                                 "3: -> | 7\n"
                                 "4: -> | 5\n"
                                 "5: -> | 6\n"
                                 "6: -> | 7\n"
                                 "7: -> | 8\n"
                                 "8: -> | 9\n"
                                 "9: -> | 10\n"
                                 "10: -> | 11\n"
                                 "11: -> | 12\n"
                                 "12: -> | 13\n"
                                 "13: -> |\n");
}

TEST_CASE("a capture of a capture is the outermost value, and a write to it is a write to that value")
{
    program_tree tree(program_of({{{}, {1}}, {{}, {}}, {{1}, {}}}, 2));
    tree.add_body(0, 1, program_body::run_kind::once, program_of({{{}, {}}}, 1), {{0, 1}});
    tree.add_body(1, 0, program_body::run_kind::once, program_of({{{1}, {1}}}, 2), {{1, 0}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.flat_of == table<program_id, table<value_id, value_id>>{{0, 1}, {1}, {2, 1}});
    auto const touches = flat.program.touches(3); // 1: -> 1; begin; begin; 1 -> 1; end; end; 1 ->
    CHECK(flat.step_of[3] == flat_tree::step{flat_tree::part::whole, 2, 0});
    CHECK(touches.size() == 2);
    CHECK(touches[0].value == 1);
    CHECK(touches[1].value == 1);
}

TEST_CASE("captured results are defined at the beginning of a step, those that no body defines at its end")
{
    // values: 0 read early, 1 filled by the body, 2 a result of the body, 3 defined by the step over 4
    program_tree tree(program_of({{{}, {0, 4}}, {{4}, {1, 2, 3}, {{4, 3}}, {0}}}, 5));
    tree.add_body(0, 1, program_body::run_kind::once, program_of({{{0}, {0, 1}}}, 2), {{0, 1}},
                  {{.inner = 1, .result = 2}});
    flat_tree const flat = flatten(tree);
    CHECK(text(flat) == "0: -> 0 4 | 1\n"
                        "1: 4 0' -> 1 | 2\n"
                        "2: 1 -> 1 5 | 3\n"
                        "3: 5 = 2; 4 -> 3 |\n");
    CHECK(flat.program.overwrites().back() == overwrite{4, 4, 3});
    CHECK(flat.program.overwrites().size() == 2);
}

TEST_CASE("edges in a body leave from the end of a node with bodies, and so do the operands of its phis")
{
    // a body of two nodes, 0 <-> 1; 0 has a body, and 1 uses the value of 0 at the end of 0
    auto const cycle = flow(
        3, 1, [](node_id n) { return std::vector<node_id>{n == 0   ? 1u
                                                          : n == 1 ? 0u
                                                                   : 2u}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n == 1) s.use_at_end_of(0, 0);
        });
    program_tree tree(cycle);
    tree.add_body(0, 0, program_body::run_kind::branch, program_of({}, 0));
    flat_tree const flat = flatten(tree);
    CHECK(text(flat) == "0: -> | 1\n" // begin
                        "1: -> | 2\n" // in
                        "2: -> | 3\n" // out
                        "3: -> 0 | 4\n"
                        "4: -> | 0\n"
                        "5: -> | 5\n");
    REQUIRE(flat.program.edge_uses().size() == 1);
    CHECK(flat.program.edge_uses()[0] == edge_use{4, 3, 0});
}

TEST_CASE("the empty tree is the empty program, and a body that never ends has no exit")
{
    flat_tree const empty = flatten(program_tree());
    CHECK(empty.program == snapshot());
    CHECK(empty.flat_of.size() == 1);
    auto const forever = flow(
        1, 0, [](node_id) { return std::vector<node_id>{0}; }, [](node_id, effect_sink&) {});
    program_tree tree(program_of({{{}, {}}}, 0));
    tree.add_body(0, 0, program_body::run_kind::once, forever);
    CHECK(text(flatten(tree)) == "0: -> | 1\n"
                                 "1: -> | 1\n"
                                 "2: -> |\n");
}

TEST_CASE("programs nested a hundred thousand deep are flattened without recursion")
{
    program_tree tree(program_of({{{}, {0}}}, 1));
    for (program_id i = 0; i != 100'000; ++i)
        tree.add_body(i, 0, program_body::run_kind::loop, program_of({{{0}, {}}}, 1), {{0, 0}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.value_of.size() == 1);
    CHECK(flat.program.touches(static_cast<step_id>(flat.program.steps() - 1)).size() ==
          0); // the end of the root's
}

// --- flat tree ---------------------------------------------------------------------------------------------

static_assert(std::regular<flat_tree>);
static_assert(std::regular<flat_tree::step>);
static_assert(std::regular<flat_tree::move>);

TEST_CASE("a default flat tree is the empty program, and a default flat step does "
          "nothing")
{
    flat_tree const flat;
    CHECK(flat.program == snapshot());
    CHECK(flat.value_of.empty());
    CHECK(flat.first_spare == 0);
    CHECK(flat_tree::step{}.part == flat_tree::part::nothing);
    CHECK(flat_tree::step{}.step == no_step);
    CHECK(flat_tree::move{}.from == no_value);
    flat_tree other = flat;
    CHECK(other == flat);
    other.moves.push_back({1, flat_tree::move_time::again, 0, 1, 2});
    CHECK(other != flat);
}

// --- tree values -------------------------------------------------------------------------------------------

namespace {

snapshot of(std::size_t values)
{
    return sequence(1, values, [](auto, effect_sink&) {});
}

using ids = std::vector<value_id>;

} // namespace

TEST_CASE("a captured value is the outer one, at any depth, and the others are new")
{
    program_tree tree(of(2));
    tree.add_body(0, 0, program_body::run_kind::once, of(2), {{1, 1}});
    tree.add_body(1, 0, program_body::run_kind::once, of(2), {{0, 1}});
    auto const values = number_values(tree);
    CHECK(values.flat_of == table<program_id, table<value_id, value_id>>{{0, 1}, {2, 1}, {1, 3}});
    CHECK(values.value_of == std::vector<tree_value>{{0, 0}, {0, 1}, {1, 0}, {2, 1}});
    CHECK(view_roots(values, {}) == ids{0, 1, 2, 3});
    // A view of a value captured twice over; entries of captured values are ignored.
    CHECK(view_roots(values, {{no_value, 0}, {no_value, 7}, {9, 0}}) == ids{0, 0, 2, 0});
}

TEST_CASE("the empty tree has no values")
{
    auto const values = number_values(program_tree());
    CHECK(values.flat_of.size() == 1);
    CHECK(values.value_of.empty());
    CHECK(view_roots(values, {}).empty());
}

TEST_CASE("views of values that do not exist, in a cycle, or for too few programs are rejected")
{
    auto const values = number_values(program_tree(of(2)));
    CHECK_THROWS_AS((void)view_roots(values, {{no_value, 2}}), precondition_error);
    CHECK_THROWS_AS((void)view_roots(values, {{1, 0}}), precondition_error);
    CHECK_THROWS_AS((void)view_roots(values, {{}, {}}), precondition_error);
}

TEST_CASE(
    "in random trees two names have the same root if and only if captures and views lead to the same value")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tree const t = draw_tree(pick);
        auto const values = number_values(t.tree());
        std::vector<ids> alias_of;
        for (auto const& p : t.programs) alias_of.push_back(p.alias_of);
        auto const root_of = view_roots(values, alias_of);
        for (program_id i = 0; i != t.programs.size(); ++i)
            for (value_id v = 0; v != t.programs[i].bytes.size(); ++v) {
                auto const place = t.root(i, v); // a root names itself
                CHECK(root_of[values.flat_of[i][v]] == values.flat_of[place.program][place.value]);
                CHECK(values.value_of[root_of[values.flat_of[i][v]]] ==
                      tree_value{place.program, place.value});
            }
    }
}

// --- with captures -----------------------------------------------------------------------------------------

namespace {

std::vector<touch> touches(snapshot const& p, step_id s)
{
    return {p.touches(s).begin(), p.touches(s).end()};
}

constexpr touch::access use = touch::access::use;
constexpr touch::access def = touch::access::def;
using all = std::vector<touch>;

} // namespace

// REGRESSIONS 02f0c1c9d7: step nets read blobs of the outer net, and those were shared too early.
TEST_CASE("an outer value that a body reads is live until the step of the body has run")
{
    snapshot const outer =
        program_of({{{}, {0}}, {{}, {1}}, {{1}, {2}}, {{2}, {}}}, 3); // step 2 contains the body
    program_tree tree(outer);
    tree.add_body(0, 2, program_body::run_kind::loop, program_of({{{0}, {}}}, 1), {{0, 0}});
    CHECK(lifetimes(outer).of[0] == live_range{0, 1}); // the net without the body
    snapshot const whole = with_captures(tree);
    CHECK(lifetimes(whole).of[0] == live_range{0, 3});
    CHECK(touches(whole, 2) == all{{1, use}, {0, use}, {2, def}});
    CHECK(touches(whole, 0) == touches(outer, 0));
    CHECK(with_captures(tree, 1) == tree.program_of(1));
}

TEST_CASE("a captured value that is written two levels deeper is a use and a def")
{
    program_tree tree(program_of({{{}, {0, 1}}, {{}, {}}}, 2));
    tree.add_body(0, 1, program_body::run_kind::branch, program_of({{{}, {}}}, 2), {{0, 0}, {1, 1}});
    tree.add_body(1, 0, program_body::run_kind::loop, program_of({{{}, {0}}}, 1), {{0, 1}});
    CHECK(touches(with_captures(tree), 1) == all{{0, use}, {1, use}, {1, def}});
    CHECK(touches(with_captures(tree, 1), 0) == all{{1, use}, {1, def}});
}

TEST_CASE("initial values are used, results are defined, and none of them twice")
{
    program_tree tree(program_of({{{}, {0, 1}}, {{0}, {2}}}, 4));
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0}, {1}}}, 2), {},
                  {{0, 0, 1, 2}, {1, 1, no_value, 3}});
    CHECK(touches(with_captures(tree), 1) == all{{0, use}, {1, use}, {2, def}, {3, def}});
}

TEST_CASE("a result of only one of two branches may keep its old value, so it is used, too")
{
    program_tree tree(program_of({{{}, {0}}, {{}, {}}}, 2));
    snapshot const body = program_of({{{}, {0}}}, 1);
    tree.add_body(0, 1, program_body::run_kind::branch, body, {}, {{.inner = 0, .result = 0}});
    CHECK(touches(with_captures(tree), 1) == all{{0, def}});
    tree.add_body(0, 1, program_body::run_kind::branch, body, {}, {{.inner = 0, .result = 1}});
    CHECK(touches(with_captures(tree), 1) == all{{0, use}, {1, use}, {0, def}, {1, def}});
}

TEST_CASE("a value that a step defines for its bodies to fill is not used by the step")
{
    program_tree tree(program_of({{{}, {0}}}, 1));
    tree.add_body(0, 0, program_body::run_kind::loop, program_of({{{0}, {0}}}, 1), {{0, 0}});
    CHECK(touches(with_captures(tree), 0) == all{{0, def}});
}

TEST_CASE("a step with bodies may run again if it and all steps of its bodies, at any depth, say so")
{
    auto two_steps = [](bool first, bool second) {
        return sequence(2, 2, [=](step_id s, effect_sink& sink) {
            sink.def(+s);
            sink.may_recompute(s == 0 ? first : second);
        });
    };
    for (unsigned said = 0; said != 1u << 6; ++said) {
        CAPTURE(said);
        auto says = [said](unsigned step) { return (said >> step & 1) != 0; };
        program_tree tree(two_steps(says(0), says(1))); // step 1 contains the body, and its step 0 another
        tree.add_body(0, 1, program_body::run_kind::loop, two_steps(says(2), says(3)));
        tree.add_body(1, 0, program_body::run_kind::once, two_steps(says(4), says(5)));
        auto const each = each_with_captures(tree);
        CHECK(each[0].may_recompute(0) == says(0));
        CHECK(each[0].may_recompute(1) == (says(1) && says(2) && says(3) && says(4) && says(5)));
        CHECK(each[1].may_recompute(0) == (says(2) && says(4) && says(5)));
        CHECK(each[1].may_recompute(1) == says(3));
        CHECK(each[2].may_recompute(1) == says(5));
        flat_tree const flat = flatten(tree);
        for (step_id s = 0; s != flat.program.steps(); ++s) { // a beginning or an end alone makes nothing
            auto const [part, program, step] = flat.step_of[s];
            bool const is_whole = part == flat_tree::part::whole;
            CHECK(flat.program.may_recompute(s) ==
                  (is_whole && tree.program_of(program).may_recompute(step)));
        }
    }
}

TEST_CASE("the empty program, and one that is not in the tree")
{
    CHECK(with_captures(program_tree()) == snapshot());
    CHECK_THROWS_AS((void)with_captures(program_tree(), 1), precondition_error);
}

TEST_CASE("random trees: each step with bodies touches the outer values that its bodies touch")
{
    std::size_t captured = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tree const t = draw_tree(pick);
        program_tree const tree = t.tree();
        // By program and value: names of the outer value at each level, followed outwards one touch at a
        // time.
        std::vector<std::vector<std::set<std::pair<value_id, bool>>>> expected(tree.size());
        for (program_id i = 0; i != tree.size(); ++i) expected[i].resize(tree.program_of(i).steps());
        auto report = [&](program_id at, value_id v,
                          bool is_def) { // a touch in program `at`, seen in outer programs
            while (at != 0) {
                auto const& how = tree.body(at);
                value_id outer = no_value;
                for (auto c : how.captures)
                    if (c.inner == v) outer = c.outer;
                if (outer == no_value) return;
                expected[how.parent][how.step].insert({outer, is_def});
                v = outer;
                at = how.parent;
            }
        };
        for (program_id i = 0; i != tree.size(); ++i) {
            for (step_id s = 0; s != tree.program_of(i).steps(); ++s)
                for (touch o : tree.program_of(i).touches(s)) report(i, o.value, o.kind == def);
            if (i == 0) continue;
            auto const& how = tree.body(i);
            for (auto c : how.captures) {
                expected[how.parent][how.step].insert({c.outer, false});
                report(how.parent, c.outer, false);
                ++captured;
            }
            for (auto b : how.bindings) {
                if (b.initial != no_value) {
                    expected[how.parent][how.step].insert({b.initial, false});
                    report(how.parent, b.initial, false);
                }
                if (b.result == no_value) continue;
                expected[how.parent][how.step].insert({b.result, true});
                report(how.parent, b.result, true);
            }
        }
        auto const all = each_with_captures(tree);
        REQUIRE(all.size() == tree.size());
        for (program_id i = 0; i != tree.size(); ++i) {
            snapshot const whole = with_captures(tree, i);
            CHECK(all[i] == whole);
            REQUIRE(whole.steps() == tree.program_of(i).steps());
            CHECK(whole.graph() == tree.program_of(i).graph());
            for (step_id s = 0; s != whole.steps(); ++s) {
                std::set<value_id> uses, defs, own;
                for (touch o : whole.touches(s)) (o.kind == def ? defs : uses).insert(o.value);
                for (touch o : tree.program_of(i).touches(s))
                    if (o.kind == def) own.insert(o.value);
                for (auto [v, is_def] : expected[i][s]) {
                    if (is_def) CHECK(defs.count(v) == 1);
                    else CHECK(uses.count(v) + own.count(v) != 0);
                }
            }
        }
    }
    CHECK(captured > 1000);
}

// --- program tree ------------------------------------------------------------------------------------------

namespace {

/// A typical IR of a user: operations with regions, regions with operations.
struct toy_ir {
    struct region;
    struct operation {
        operation(ids used, ids defined);
        operation(ids used, ids defined, std::vector<region> nested);
        ids uses, defs;
        std::vector<region> regions;
    };
    std::vector<operation> operations;
    std::size_t value_count = 0;

    std::size_t nodes() const { return operations.size(); }
    std::size_t values() const { return value_count; }
    std::vector<node_id> successors(node_id) const { return {}; }
    void effects(node_id n, effect_sink& s) const
    {
        for (auto v : operations[n].uses) s.use(v);
        for (auto v : operations[n].defs) s.def(v);
    }
    std::vector<region> const& bodies(node_id n) const { return operations[n].regions; }
};

struct toy_ir::region {
    program_body::run_kind kind;
    toy_ir program;
    std::vector<program_body::capture> captures = {};
    std::vector<program_body::binding> bindings = {};
};

toy_ir::operation::operation(ids used, ids defined) : operation(std::move(used), std::move(defined), {}) {}
toy_ir::operation::operation(ids used, ids defined, std::vector<region> nested)
    : uses(std::move(used)), defs(std::move(defined)), regions(std::move(nested))
{
}

static_assert(nested_program<toy_ir>);
static_assert(!nested_program<snapshot>);
static_assert(!nested_program<archetype::program>);

} // namespace

TEST_CASE("a loop in an IR with regions becomes a body with its step, captures and bindings")
{
    toy_ir const body{{{{0, 1}, {2}}}, 3};
    toy_ir const outer{
        {{{}, {0, 1}}, {{0}, {2}, {{program_body::run_kind::loop, body, {{1, 1}}, {{0, 0, 2, 2}}}}}}, 3};
    program_tree const tree = as_tree(outer);
    REQUIRE(tree.size() == 2);
    CHECK(tree.program_of(0) == snapshot(outer));
    CHECK(tree.program_of(1) == snapshot(body));
    program_body const expected{0, 1, program_body::run_kind::loop, {{1, 1}}, {{0, 0, 2, 2}}};
    CHECK(tree.body(1) == expected);

    program_tree built(outer);
    CHECK(built.add_body(0, 1, program_body::run_kind::loop, body, {{1, 1}}, {{0, 0, 2, 2}}) == 1);
    CHECK(built == tree);
    bodies_by_step const bodies(tree);
    CHECK(bodies.of(0, 0).empty());
    REQUIRE(bodies.of(0, 1).size() == 1);
    CHECK(bodies.of(0, 1)[0] == 1);
    CHECK(bodies.of(1, 0).empty());
}

TEST_CASE("an empty tree is the empty program, and an empty body is a branch that does nothing")
{
    CHECK(program_tree().size() == 1);
    CHECK(program_tree().program_of(0) == snapshot());
    CHECK(bodies_by_step(program_tree()).of(0, 0).empty());
    program_tree tree(sequence(1, 1, [](auto, effect_sink& s) { s.def(0); }));
    CHECK(tree.add_body(0, 0, program_body::run_kind::branch, snapshot()) == 1);
    CHECK(tree.program_of(1).nodes() == 0);
}

TEST_CASE("the bodies of a step are in the order in which they were added, whatever was added in between")
{
    auto const two = sequence(2, 0, [](auto, effect_sink&) {});
    program_tree tree(two);
    tree.add_body(0, 1, program_body::run_kind::once, two);
    tree.add_body(1, 0, program_body::run_kind::once, two);
    tree.add_body(0, 1, program_body::run_kind::loop, two);
    tree.add_body(0, 0, program_body::run_kind::once, two);
    tree.add_body(0, 1, program_body::run_kind::branch, tree.program_of(0)); // a copy of its parent
    bodies_by_step const bodies(tree);
    auto at = [&](program_id p, step_id s) {
        return std::vector<program_id>(bodies.of(p, s).begin(), bodies.of(p, s).end());
    };
    CHECK(at(0, 1) == std::vector<program_id>{1, 3, 5});
    CHECK(at(0, 0) == std::vector<program_id>{4});
    CHECK(at(1, 0) == std::vector<program_id>{2});
    CHECK(at(2, 0).empty());
}

TEST_CASE("a hundred thousand programs, each nested in the one before, are listed without recursion")
{
    struct deep { // program i contains program i + 1
        std::vector<deep> const* all;
        std::size_t number;
        struct held {
            program_body::run_kind kind;
            deep const* program;
            std::vector<program_body::capture> captures = {};
            std::vector<program_body::binding> bindings = {};
        };
        std::size_t nodes() const { return 1; }
        std::size_t values() const { return 1; }
        std::vector<node_id> successors(node_id) const { return {}; }
        void effects(node_id, effect_sink& s) const { s.use(0); }
        std::vector<held> bodies(node_id) const // by value: it points to objects that live longer
        {
            if (number + 1 == all->size()) return {};
            return {{program_body::run_kind::once, &(*all)[number + 1], {{0, 0}}}};
        }
    };
    static_assert(nested_program<deep>);
    std::vector<deep> all;
    for (std::size_t i = 0; i != 100'000; ++i) all.push_back({&all, i});
    program_tree const tree = as_tree(all[0]);
    REQUIRE(tree.size() == 100'000);
    CHECK(tree.body(99'999).parent == 99'998);
}

TEST_CASE("a node of several steps names the step of each body, and bodies may be of other types")
{
    struct inner {
        program_body::run_kind kind;
        snapshot program;
        int step;
        std::vector<program_body::capture> captures = {};
        std::vector<program_body::binding> bindings = {};
    };
    struct block {
        std::vector<inner> nested;
        std::size_t nodes() const { return 2; }
        std::size_t values() const { return 0; }
        std::vector<node_id> successors(node_id) const { return {}; }
        void effects(node_id, effect_sink& s) const { s.next_step(); }
        std::span<inner const> bodies(node_id n) const
        {
            return n == 1 ? std::span<inner const>(nested) : std::span<inner const>{};
        }
    };
    auto const one = sequence(1, 0, [](auto, effect_sink&) {});
    CHECK(as_tree(block{{{program_body::run_kind::once, one, 1}}}).body(1).step == 3);
    CHECK(as_tree(block{{{program_body::run_kind::once, one, 0}}}).body(1).step == 2);
    CHECK(thrown_by<precondition_error>([&] {
              (void)as_tree(block{{{program_body::run_kind::once, one, 2}}});
          }) == "sublet: a body is nested in step 4, but its node has steps 2 to 3");
    CHECK(thrown_by<precondition_error>([&] {
              (void)as_tree(block{{{program_body::run_kind::once, one, -1}}});
          }) == "sublet: a body is nested in step 1, but its node has steps 2 to 3");
}

TEST_CASE("each invalid body is rejected with a message of its own")
{
    auto const outer = sequence(1, 2, [](auto, effect_sink&) {});
    auto const body = sequence(1, 3, [](auto, effect_sink&) {});
    auto add = [&](program_id parent, step_id step, program_body::run_kind kind,
                   std::vector<program_body::capture> captures, std::vector<program_body::binding> bindings) {
        return thrown_by<precondition_error>([&] {
            program_tree tree(outer);
            tree.add_body(parent, step, kind, body, captures, bindings);
        });
    };
    using enum program_body::run_kind;
    CHECK(add(1, 0, once, {}, {}) == "sublet: a body has the parent 1, but there are only 1 programs");
    CHECK(add(0, 1, once, {}, {}) == "sublet: a body is nested in step 1, but there are only 1 steps");
    CHECK(add(0, 0, once, {{3, 0}}, {}) ==
          "sublet: a body captures or binds value 3, but it has only 3 values");
    CHECK(add(0, 0, once, {{0, 2}}, {}) ==
          "sublet: a body captures value 2, but its parent has only 2 values");
    CHECK(add(0, 0, once, {{0, no_value}}, {}) ==
          "sublet: a body captures value 4294967295, but its parent has only 2 values");
    CHECK(add(0, 0, once, {{0, 0}, {0, 1}}, {}) == "sublet: a value of a body is captured or bound twice");
    CHECK(add(0, 0, once, {{0, 0}}, {{.inner = 0}}) ==
          "sublet: a value of a body is captured or bound twice");
    CHECK(add(0, 0, once, {}, {{.inner = 0}, {.inner = 0}}) ==
          "sublet: a value of a body is captured or bound twice");
    CHECK(add(0, 0, once, {}, {{.inner = no_value}}) ==
          "sublet: a body captures or binds value 4294967295, but it has only 3 values");
    CHECK(add(0, 0, once, {}, {{.inner = 0, .initial = 2}}) ==
          "sublet: a body is bound to a value that its parent does not have");
    CHECK(add(0, 0, once, {}, {{.inner = 0, .result = 2}}) ==
          "sublet: a body is bound to a value that its parent does not have");
    CHECK(add(0, 0, loop, {}, {{.inner = 0, .next = 3}}) ==
          "sublet: the next value of a loop is 3, but its body has only 3 values");
    CHECK(add(0, 0, branch, {}, {{.inner = 0, .next = 1}}) == "sublet: only a loop has a next value");
    CHECK(add(0, 0, loop, {}, {{.inner = 0, .result = 1}, {.inner = 1, .result = 1}}) ==
          "sublet: two bindings of a body give the same result");
    CHECK(add(0, 0, loop, {{2, 1}}, {{.inner = 0, .initial = 0, .next = 1, .result = 1}, {.inner = 1}}) ==
          "");
}

} // namespace this_test
