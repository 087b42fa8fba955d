// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/flatten.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct op {
    std::vector<value_id> uses, defs;
    std::vector<std::pair<value_id, value_id>> over = {};
    std::vector<value_id> early = {};
};

snapshot list(std::size_t values, std::vector<op> const& ops)
{
    return sequence(ops.size(), values, [&](auto n, effect_sink& s) {
        for (auto v : ops[n].uses) s.use(v);
        for (auto v : ops[n].early) s.use_early(v);
        for (auto v : ops[n].defs) s.def(v);
        for (auto [in, out] : ops[n].over) s.may_overwrite(in, out);
    });
}

/// A line a node: its steps as `reads -> writes`, a number with ' where it is read early, = for copies, and
/// where it leads.
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

/// 0: def 0, 1; 1: use 0, def 2 (here the bodies are); 2: use 2
snapshot const outer = list(3, {{{}, {0, 1}}, {{0}, {2}}, {{2}, {}}});
/// 0: use 0, 1, def 2
snapshot const inner = list(3, {{{0, 1}, {2}}});

} // namespace

TEST_CASE("a program that runs once stands in the place of its step, between the copies in and out")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::once, inner, {{1, 1}},
                  {{.inner = 0, .initial = 0}, {.inner = 2, .result = 2}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.flat_of == std::vector<std::vector<value_id>>{{0, 1, 2}, {3, 1, 4}}); // 1 is captured
    CHECK(flat.value_of == std::vector<tree_value>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}});
    CHECK(flat.first_spare == 5);
    CHECK(text(flat) == "0: -> 0 1 | 1\n"
                        "1: 0 ->; 0 = 3 | 2\n"
                        "2: 3 1 -> 4 | 3\n"
                        "3: 4 = 2; 0 -> | 4\n" // the result is the body's def, the operand is held to the end
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

TEST_CASE("one of two branches runs, and an empty one passes by")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::branch, inner, {{0, 0}, {1, 1}}, {{.inner = 2, .result = 2}});
    tree.add_body(0, 1, program_body::run_kind::branch, list(1, {}), {}, {{0, 1, no_value, 2}});
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

TEST_CASE("a loop is entered by one copy, goes on by another, and is left from where it begins")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::loop, inner, {{1, 1}}, {{0, 0, 2, 2}});
    CHECK(text(flatten(tree)) == "0: -> 0 1 | 1\n"
                                 "1: 0 ->; 0 = 3 | 2\n"
                                 "2: -> | 3 5\n"
                                 "3: 3 1 -> 4 | 4\n"
                                 "4: 4 = 3 | 2\n"
                                 "5: 3 = 2; 0 -> | 6\n"
                                 "6: 2 -> |\n");
}

TEST_CASE("values that change places in a loop take a spare, which is named after what it keeps")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::loop, list(2, {{{0, 1}, {}}}), {},
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

TEST_CASE(
    "bodies of a step run one after the other; branches side by side are one choice, apart they are two")
{
    auto const nothing = list(0, {{{}, {}}});
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

TEST_CASE("a capture of a capture is the outermost value, and a write to it is a write to that")
{
    program_tree tree(list(2, {{{}, {1}}, {{}, {}}, {{1}, {}}}));
    tree.add_body(0, 1, program_body::run_kind::once, list(1, {{{}, {}}}), {{0, 1}});
    tree.add_body(1, 0, program_body::run_kind::once, list(2, {{{1}, {1}}}), {{1, 0}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.flat_of == std::vector<std::vector<value_id>>{{0, 1}, {1}, {2, 1}});
    auto const touches = flat.program.touches(3); // 1: -> 1; begin; begin; 1 -> 1; end; end; 1 ->
    CHECK(flat.step_of[3] == flat_tree::step{flat_tree::part::whole, 2, 0});
    CHECK(touches.size() == 2);
    CHECK(touches[0].value == 1);
    CHECK(touches[1].value == 1);
}

TEST_CASE(
    "what a body captures is made ready at the beginning of the step, what nobody gives is made at its end")
{
    // values: 0 read early, 1 filled by the body, 2 given by the body, 3 made by the step, over 4
    program_tree tree(list(5, {{{}, {0, 4}}, {{4}, {1, 2, 3}, {{4, 3}}, {0}}}));
    tree.add_body(0, 1, program_body::run_kind::once, list(2, {{{0}, {0, 1}}}), {{0, 1}},
                  {{.inner = 1, .result = 2}});
    flat_tree const flat = flatten(tree);
    CHECK(text(flat) == "0: -> 0 4 | 1\n"
                        "1: 4 0' -> 1 | 2\n"
                        "2: 1 -> 1 5 | 3\n"
                        "3: 5 = 2; 4 -> 3 |\n");
    CHECK(flat.program.overwrites().back() == overwrite{4, 4, 3});
    CHECK(flat.program.overwrites().size() == 2);
}

TEST_CASE("edges of a body's own lead from the end of a node with bodies, and so do the operands of its phis")
{
    // a body of two nodes, 0 <-> 1; 0 holds a body, and 1 uses 0's value where that ends
    auto const cycle = flow(
        3, 1, [](node_id n) { return std::vector<node_id>{n == 0   ? 1u
                                                          : n == 1 ? 0u
                                                                   : 2u}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n == 1) s.use_at_end_of(0, 0);
        });
    program_tree tree(cycle);
    tree.add_body(0, 0, program_body::run_kind::branch, list(0, {}));
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

TEST_CASE("the empty tree is the empty program, and a body that never ends has no way out")
{
    flat_tree const empty = flatten(program_tree());
    CHECK(empty.program == snapshot());
    CHECK(empty.flat_of.size() == 1);
    auto const forever = flow(
        1, 0, [](node_id) { return std::vector<node_id>{0}; }, [](node_id, effect_sink&) {});
    program_tree tree(list(0, {{{}, {}}}));
    tree.add_body(0, 0, program_body::run_kind::once, forever);
    CHECK(text(flatten(tree)) == "0: -> | 1\n"
                                 "1: -> | 1\n"
                                 "2: -> |\n");
}

TEST_CASE("programs nested a hundred thousand deep are flattened without recursion")
{
    program_tree tree(list(1, {{{}, {0}}}));
    for (program_id i = 0; i != 100'000; ++i)
        tree.add_body(i, 0, program_body::run_kind::loop, list(1, {{{0}, {}}}), {{0, 0}});
    flat_tree const flat = flatten(tree);
    CHECK(flat.value_of.size() == 1);
    CHECK(flat.program.touches(static_cast<step_id>(flat.program.steps() - 1)).size() ==
          0); // the end of the root's
}

} // namespace this_test
