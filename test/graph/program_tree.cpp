// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/flatten.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<value_id>;

/// An IR as users have them: operations with regions, regions with operations.
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
    ids successors(node_id) const { return {}; }
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

/// What is refused, as its sentence.
template <class F>
std::string sentence(F f)
{
    try {
        f();
    } catch (precondition_error const& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("a loop in an IR with regions becomes a body that knows its step, its captures and its bindings")
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

TEST_CASE("the bodies of a step stand in the order in which they were added, whatever stands between")
{
    auto const two = sequence(2, 0, [](auto, effect_sink&) {});
    program_tree tree(two);
    tree.add_body(0, 1, program_body::run_kind::once, two);
    tree.add_body(1, 0, program_body::run_kind::once, two);
    tree.add_body(0, 1, program_body::run_kind::loop, two);
    tree.add_body(0, 0, program_body::run_kind::once, two);
    tree.add_body(0, 1, program_body::run_kind::branch, tree.program_of(0)); // also of itself
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
    struct deep { // program i holds program i + 1
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
        ids successors(node_id) const { return {}; }
        void effects(node_id, effect_sink& s) const { s.use(0); }
        std::vector<held> bodies(node_id) const // by value: it points to what lives on
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

TEST_CASE("a node of several steps says in which of them a body is nested, and may hold other types")
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
        ids successors(node_id) const { return {}; }
        void effects(node_id, effect_sink& s) const { s.next_step(); }
        std::span<inner const> bodies(node_id n) const
        {
            return n == 1 ? std::span<inner const>(nested) : std::span<inner const>{};
        }
    };
    auto const one = sequence(1, 0, [](auto, effect_sink&) {});
    CHECK(as_tree(block{{{program_body::run_kind::once, one, 1}}}).body(1).step == 3);
    CHECK(as_tree(block{{{program_body::run_kind::once, one, 0}}}).body(1).step == 2);
    CHECK(sentence([&] {
              (void)as_tree(block{{{program_body::run_kind::once, one, 2}}});
          }) == "sublet: a body is nested in a step that its node does not have");
    CHECK(sentence([&] {
              (void)as_tree(block{{{program_body::run_kind::once, one, -1}}});
          }) == "sublet: a body is nested in a step that its node does not have");
}

TEST_CASE("every joint that cannot be meant is refused by a sentence of its own")
{
    auto const outer = sequence(1, 2, [](auto, effect_sink&) {});
    auto const body = sequence(1, 3, [](auto, effect_sink&) {});
    auto add = [&](program_id parent, step_id step, program_body::run_kind kind,
                   std::vector<program_body::capture> captures, std::vector<program_body::binding> bindings) {
        return sentence([&] {
            program_tree tree(outer);
            tree.add_body(parent, step, kind, body, captures, bindings);
        });
    };
    using enum program_body::run_kind;
    CHECK(add(1, 0, once, {}, {}) == "sublet: a body has a parent that is not in the tree");
    CHECK(add(0, 1, once, {}, {}) == "sublet: a body is nested in a step that is not there");
    CHECK(add(0, 0, once, {{3, 0}}, {}) == "sublet: a body captures or binds a value that it does not have");
    CHECK(add(0, 0, once, {{0, 2}}, {}) == "sublet: a body captures a value that its parent does not have");
    CHECK(add(0, 0, once, {{0, no_value}}, {}) ==
          "sublet: a body captures a value that its parent does not have");
    CHECK(add(0, 0, once, {{0, 0}, {0, 1}}, {}) == "sublet: a value of a body is captured or bound twice");
    CHECK(add(0, 0, once, {{0, 0}}, {{.inner = 0}}) ==
          "sublet: a value of a body is captured or bound twice");
    CHECK(add(0, 0, once, {}, {{.inner = 0}, {.inner = 0}}) ==
          "sublet: a value of a body is captured or bound twice");
    CHECK(add(0, 0, once, {}, {{.inner = no_value}}) ==
          "sublet: a body captures or binds a value that it does not have");
    CHECK(add(0, 0, once, {}, {{.inner = 0, .initial = 2}}) ==
          "sublet: a body is bound to a value that its parent does not have");
    CHECK(add(0, 0, once, {}, {{.inner = 0, .result = 2}}) ==
          "sublet: a body is bound to a value that its parent does not have");
    CHECK(add(0, 0, loop, {}, {{.inner = 0, .next = 3}}) ==
          "sublet: a loop goes on with a value that it does not have");
    CHECK(add(0, 0, branch, {}, {{.inner = 0, .next = 1}}) == "sublet: what is no loop does not begin again");
    CHECK(add(0, 0, loop, {}, {{.inner = 0, .result = 1}, {.inner = 1, .result = 1}}) ==
          "sublet: two bindings of a body give the same result");
    CHECK(add(0, 0, loop, {{2, 1}}, {{.inner = 0, .initial = 0, .next = 1, .result = 1}, {.inner = 1}}) ==
          "");
}

} // namespace this_test
