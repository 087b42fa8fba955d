// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/flatten.hpp>

#include <sublet/analysis/lifetimes.hpp>

#include "../dice.hpp"
#include "random_tree.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct op {
    std::vector<value_id> uses, defs;
};
snapshot list(std::size_t values, std::vector<op> const& ops)
{
    return sequence(
        ops.size(),
        values, [&](auto n) -> auto& { return ops[n].uses; }, [&](auto n) -> auto& { return ops[n].defs; });
}
std::vector<touch> touches(snapshot const& p, step_id s)
{
    return {p.touches(s).begin(), p.touches(s).end()};
}
constexpr touch::access use = touch::access::use;
constexpr touch::access def = touch::access::def;
using all = std::vector<touch>;

} // namespace

// REGRESSIONS 02f0c1c9d7: step nets read blobs of the net around them, and those were shared away before.
TEST_CASE("what a body reads of the values around it is alive until its step has run")
{
    snapshot const outer = list(3, {{{}, {0}}, {{}, {1}}, {{1}, {2}}, {{2}, {}}}); // step 2 holds the body
    program_tree tree(outer);
    tree.add_body(0, 2, program_body::run_kind::loop, list(1, {{{0}, {}}}), {{0, 0}});
    CHECK(lifetimes(outer).of[0] == live_range{0, 1}); // the net alone
    snapshot const whole = with_captures(tree);
    CHECK(lifetimes(whole).of[0] == live_range{0, 3});
    CHECK(touches(whole, 2) == all{{1, use}, {0, use}, {2, def}});
    CHECK(touches(whole, 0) == touches(outer, 0));
    CHECK(with_captures(tree, 1) == tree.program_of(1));
}

TEST_CASE("a capture that is written two programs further in is a use and a def")
{
    program_tree tree(list(2, {{{}, {0, 1}}, {{}, {}}}));
    tree.add_body(0, 1, program_body::run_kind::branch, list(2, {{{}, {}}}), {{0, 0}, {1, 1}});
    tree.add_body(1, 0, program_body::run_kind::loop, list(1, {{{}, {0}}}), {{0, 1}});
    CHECK(touches(with_captures(tree), 1) == all{{0, use}, {1, use}, {1, def}});
    CHECK(touches(with_captures(tree, 1), 0) == all{{1, use}, {1, def}});
}

TEST_CASE("what is brought in is used, what is given is defined, and nothing twice")
{
    program_tree tree(list(4, {{{}, {0, 1}}, {{0}, {2}}}));
    tree.add_body(0, 1, program_body::run_kind::loop, list(2, {{{0}, {1}}}), {},
                  {{0, 0, 1, 2}, {1, 1, no_value, 3}});
    CHECK(touches(with_captures(tree), 1) == all{{0, use}, {1, use}, {2, def}, {3, def}});
}

TEST_CASE("a result that only one of two branches gives may still be what it was before")
{
    program_tree tree(list(2, {{{}, {0}}, {{}, {}}}));
    snapshot const body = list(1, {{{}, {0}}});
    tree.add_body(0, 1, program_body::run_kind::branch, body, {}, {{.inner = 0, .result = 0}});
    CHECK(touches(with_captures(tree), 1) == all{{0, def}});
    tree.add_body(0, 1, program_body::run_kind::branch, body, {}, {{.inner = 0, .result = 1}});
    CHECK(touches(with_captures(tree), 1) == all{{0, use}, {1, use}, {0, def}, {1, def}});
}

TEST_CASE("what the step makes ready for its bodies to fill is no use of it")
{
    program_tree tree(list(1, {{{}, {0}}}));
    tree.add_body(0, 0, program_body::run_kind::loop, list(1, {{{0}, {0}}}), {{0, 0}});
    CHECK(touches(with_captures(tree), 0) == all{{0, def}});
}

TEST_CASE("the empty program, and one that is not in the tree")
{
    CHECK(with_captures(program_tree()) == snapshot());
    CHECK_THROWS_AS((void)with_captures(program_tree(), 1), precondition_error);
}

TEST_CASE("of random trees, each step with bodies touches what a walk through its bodies touches outside")
{
    std::size_t captured = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_tree const t = draw_tree(pick);
        program_tree const tree = t.tree();
        // By program, by value: names of the outer value at each level, followed outwards one touch at a
        // time.
        std::vector<std::vector<std::set<std::pair<value_id, bool>>>> expected(tree.size());
        for (program_id i = 0; i != tree.size(); ++i) expected[i].resize(tree.program_of(i).steps());
        auto report = [&](program_id at, value_id v,
                          bool is_def) { // what program `at` touches, seen further out
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

} // namespace this_test
