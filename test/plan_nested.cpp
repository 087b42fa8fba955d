// SPDX-License-Identifier: BSL-1.0
// The rows of SYSTEMS.md and REGRESSIONS.md about nested programs stand above their tests.
#include <sublet/analysis/detail/captures.hpp>
#include <sublet/plan_nested.hpp>

#include "operations.hpp"
#include "printed.hpp"

#include <sublet/analysis/flatten.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// All values of 8 bytes.
planned_nested plan_eights(program_tree const& tree)
{
    return plan_nested(tree, [](auto) -> plan_options { return {.bytes = 8}; });
}
bool overlap(byte_count a, byte_count b) { return a < b + 8 && b < a + 8; }

/// 0: def 0, 1; 1: (bodies); 2: use 0
snapshot const outer = program_of({{{}, {0, 1}}, {{}, {}}, {{0}, {}}}, 2);

} // namespace

TEST_CASE("a loop needs no copy if its values can stay in place")
{
    // x = ...; y = loop (a = x) { b = f(a); a = b }; use y
    program_tree tree(program_of({{{}, {0}}, {{}, {}}, {{1}, {}}}, 2));
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0}, {1}, {{0, 1}}}}, 2), {},
                  {{0, 0, 1, 1}});
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().arena_bytes == 8);
    CHECK(planned.copies.empty());
    CHECK(planned.flat.moves.size() == 3);
    CHECK(planned.offset_of(1, 0) == planned.offset_of(0, 0));
}

TEST_CASE("a value that is needed after the loop is copied into it, once")
{
    program_tree tree(program_of({{{}, {0}}, {{}, {}}, {{0, 1}, {}}}, 2));
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0}, {1}, {{0, 1}}}}, 2), {},
                  {{0, 0, 1, 1}});
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes == 16);
    REQUIRE(planned.copies.size() == 1);
    CHECK(planned.copies[0].when == flat_tree::move_time::enter);
    CHECK(planned.flat.value_of[planned.copies[0].from] == tree_value{0, 0});
    CHECK(planned.flat.value_of[planned.copies[0].to] == tree_value{1, 0});
}

TEST_CASE("values that are exchanged in a loop are copied in an order that loses none")
{
    program_tree tree(program_of({{{}, {0, 1}}, {{}, {}}, {{2}, {}}}, 3));
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0, 1}, {}}}, 2), {},
                  {{0, 0, 1, 2}, {1, 1, 0, no_value}});
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    REQUIRE(planned.copies.size() == 3); // a spare, and the two
    byte_count const x = planned.offset_of(1, 0), y = planned.offset_of(1, 1);
    CHECK(!overlap(x, y));
    std::vector<int> arena(planned.report().arena_bytes);
    arena[x] = 1;
    arena[y] = 2;
    for (flat_tree::move m : planned.copies) {
        CHECK(m.when == flat_tree::move_time::again);
        arena[planned.plan.offset_of(m.to)] = arena[planned.plan.offset_of(m.from)];
    }
    CHECK(arena[x] == 2);
    CHECK(arena[y] == 1);
    CHECK(planned.report().arena_bytes == 24);
}

TEST_CASE("an empty tree, a program without bodies, and bodies without values")
{
    CHECK(plan_eights(program_tree()));
    snapshot const straight = program_of({{{}, {0}}, {{0}, {1}}, {{1}, {2}}}, 3);
    auto const flat = plan_memory(straight, {.bytes = 8});
    auto const nested = plan_eights(program_tree(straight));
    REQUIRE(nested);
    CHECK(nested.report().arena_bytes == flat.report().arena_bytes);
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::branch, snapshot());
    tree.add_body(0, 1, program_body::run_kind::branch, program_of({{{}, {}}}, 0));
    CHECK(plan_eights(tree).report().arena_bytes == 16);
}

// REGRESSIONS 02f0c1c9d7: sub-nets refer to outer blobs: nested captures count as uses.
TEST_CASE("a blob that only a step net reads keeps its bytes until the step net has run")
{
    // step 1 makes a value after the last outer use of value 0; step 2's body reads 0
    snapshot const net = program_of({{{}, {0}}, {{}, {1}}, {{}, {}}, {{1}, {}}}, 3);
    program_tree tree(net);
    tree.add_body(0, 2, program_body::run_kind::once, program_of({{{0}, {1}}, {{1}, {}}}, 2), {{0, 0}});
    auto const alone = plan_memory(net, {.bytes = 8}); // the bug: bytes are freed too early
    CHECK(alone.plan.offset_of(0) == alone.plan.offset_of(1));
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    CHECK(!overlap(planned.offset_of(0, 0), planned.offset_of(0, 1)));
    CHECK(!overlap(planned.offset_of(0, 0), planned.offset_of(1, 1)));
    auto const with_uses = plan_memory(with_captures(tree), {.bytes = 8}); // for planning the net alone
    CHECK(!overlap(with_uses.plan.offset_of(0), with_uses.plan.offset_of(1)));
}

// REGRESSIONS, user thread 1: the second cond's arena lay over the first cond's live output, and a nested
// cond's began at offset 0.
TEST_CASE("no cond's values overlap a live result of another cond, nor a nested one's those of the enclosing "
          "conds")
{
    // c1 = cond {}, c2 = cond {}, use c1, c2; each branch makes a temporary of its own; the second holds a
    // third
    program_tree tree(program_of({{{}, {0}}, {{0}, {}}, {{0}, {}}, {{1, 2}, {}}}, 3));
    snapshot const branch = program_of({{{}, {0}}, {{0}, {1}}}, 2);
    std::vector<program_id> first, second, third;
    for (int arm = 0; arm != 2; ++arm)
        first.push_back(
            tree.add_body(0, 1, program_body::run_kind::branch, branch, {}, {{.inner = 1, .result = 1}}));
    snapshot const holder = program_of({{{}, {0}}, {{0}, {}}, {{0, 2}, {1}}}, 3);
    for (int arm = 0; arm != 2; ++arm) {
        second.push_back(
            tree.add_body(0, 2, program_body::run_kind::branch, holder, {}, {{.inner = 1, .result = 2}}));
        for (int inner = 0; inner != 2; ++inner)
            third.push_back(tree.add_body(second.back(), 1, program_body::run_kind::branch, branch, {},
                                          {{.inner = 1, .result = 2}}));
    }
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    byte_count const given = planned.offset_of(0, 1), condition = planned.offset_of(0, 0);
    for (program_id i : second)
        for (value_id v = 0; v != 3; ++v) CHECK(!overlap(given, planned.offset_of(i, v)));
    for (program_id i : third)
        for (value_id v = 0; v != 2; ++v) {
            CHECK(!overlap(given, planned.offset_of(i, v)));
            CHECK(!overlap(condition, planned.offset_of(i, v))); // an operand of the step around
            CHECK(!overlap(planned.offset_of(tree.body(i).parent, 0), planned.offset_of(i, v)));
        }
    CHECK(planned.report().arena_bytes ==
          5 * 8); // condition, first result, the enclosing value, the two of the third
}

// REGRESSIONS, user thread 4: storage allocated in `then` was used in `else`. The arena is there whichever
// branch runs, so both may use the same bytes, and neither needs what the other does.
TEST_CASE("both branches use the same bytes, and each is valid when it runs")
{
    program_tree tree(outer);
    snapshot const small = program_of({{{}, {0}}, {{0}, {1}}, {{1}, {}}}, 2);
    snapshot const large = program_of({{{}, {0}}, {{0}, {1, 2}}, {{1, 2}, {}}}, 3);
    tree.add_body(0, 1, program_body::run_kind::branch, small);
    tree.add_body(0, 1, program_body::run_kind::branch, large);
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes == (1 + 3) * 8); // 0 is live, and 1 is dead
    for (value_id v = 0; v != 3; ++v) CHECK(!overlap(planned.offset_of(0, 0), planned.offset_of(2, v)));
    program_tree each(outer); // each of them alone needs as much
    each.add_body(0, 1, program_body::run_kind::once, large);
    CHECK(plan_eights(each).report().arena_bytes == planned.report().arena_bytes);
}

// REGRESSIONS, user thread 15: scratch of one sub-graph was handed to another.
TEST_CASE("scratch of a body is valid in that body only, and overlaps nothing live")
{
    program_tree tree(outer);
    snapshot const with_scratch =
        program_of({{{}, {0, 1}}, {{0}, {}}}, 2); // 1 is scratch: defined, never used
    auto const a = tree.add_body(0, 1, program_body::run_kind::once, with_scratch);
    auto const b = tree.add_body(0, 1, program_body::run_kind::once, with_scratch);
    auto const c = tree.add_body(b, 0, program_body::run_kind::loop, with_scratch);
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    CHECK(planned.flat.flat_of[a][1] != planned.flat.flat_of[b][1]);
    CHECK(planned.flat.flat_of[b][1] != planned.flat.flat_of[c][1]);
    for (program_id i : {a, b, c}) {
        REQUIRE(planned.offset_of(i, 1) != no_offset);
        CHECK(!overlap(planned.offset_of(i, 1), planned.offset_of(i, 0)));
        CHECK(!overlap(planned.offset_of(i, 1), planned.offset_of(0, 0)));
    }
}

// REGRESSIONS, user thread 16: a loop-invariant buffer was used again inside the loop.
TEST_CASE("a value that every iteration reads keeps its bytes in the loop, at any depth of the read")
{
    // value 1 is read in the first step of the innermost body only, and never after the loop
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::loop,
                  program_of({{{}, {}}, {{}, {1}}, {{1}, {2}}, {{2}, {}}}, 3), {{0, 1}});
    tree.add_body(1, 0, program_body::run_kind::loop, program_of({{{0}, {1}}, {{1}, {2}}, {{2}, {}}}, 3),
                  {{0, 0}});
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    for (value_id v = 1; v != 3; ++v)
        for (program_id i : {1u, 2u}) CHECK(!overlap(planned.offset_of(0, 1), planned.offset_of(i, v)));
    // The same body run once frees it.
    program_tree once(outer);
    once.add_body(0, 1, program_body::run_kind::once, program_of({{{0}, {1}}, {{}, {2}}, {{1, 2}, {}}}, 3),
                  {{0, 1}});
    CHECK(plan_eights(once).report().arena_bytes == 3 * 8);
}

// SYSTEMS T6: while, conditional_block and their gradients, captured variables of a sub-block, any depth.
// SYSTEMS T10: a free block is reusable where it is visible, here wherever it is free (any program).
TEST_CASE("a while with a conditional inside, and their gradients, share the bytes of the enclosing block")
{
    // forward: 0 w, 1 x; 2: y = while { y' = cond { f(w, y) | g(y) } }; 3: loss; backward net: 4: dy; 5: dw
    program_tree tree(
        program_of({{{}, {0}}, {{}, {1}}, {{}, {}}, {{2}, {3}}, {{3}, {4}}, {{}, {}}, {{5, 0}, {}}}, 6));
    snapshot const holder = program_of({{{}, {}}}, 3);
    auto const loop = tree.add_body(0, 2, program_body::run_kind::loop, holder, {{0, 0}}, {{1, 1, 2, 2}});
    auto const then =
        tree.add_body(loop, 0, program_body::run_kind::branch, program_of({{{0, 1}, {2}}, {{2}, {3}}}, 4),
                      {{0, 0}, {1, 1}}, {{.inner = 3, .result = 2}});
    auto const other =
        tree.add_body(loop, 0, program_body::run_kind::branch, program_of({{{0}, {1}, {{0, 1}}}}, 2),
                      {{0, 1}}, {{.inner = 1, .result = 2}});
    auto const back = tree.add_body(0, 5, program_body::run_kind::loop, holder, {{0, 0}}, {{1, 4, 2, 5}});
    tree.add_body(back, 0, program_body::run_kind::branch, program_of({{{0, 1}, {2}}, {{2}, {3}}}, 4),
                  {{0, 0}, {1, 1}}, {{.inner = 3, .result = 2}});
    tree.add_body(back, 0, program_body::run_kind::branch, program_of({{{0}, {1}, {{0, 1}}}}, 2), {{0, 1}},
                  {{.inner = 1, .result = 2}});
    auto const planned = plan_eights(tree);
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes == 3 * 8); // w; y of this iteration; and the result of the branch
    for (program_id i : {then, other}) CHECK(!overlap(planned.offset_of(i, 1), planned.offset_of(0, 0)));
    CHECK(planned.offset_of(loop, 1) == planned.offset_of(0, 2));
    auto const least = planned.report().lower_bound_bytes;
    CHECK(least <= planned.report().arena_bytes);
}

TEST_CASE("values of the step net that the backward net reads are external, one time step at a time")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{}, {0}}, {{0}, {1}}}, 2));
    auto const planned = plan_nested(tree, [](program_id i) -> plan_options {
        if (i == 0) return {.bytes = 8};
        return {.bytes = 8, .role = std::vector{value_role::external, value_role::intermediate}};
    });
    REQUIRE(planned);
    CHECK(planned.offset_of(1, 0) == no_offset);
    CHECK(planned.offset_of(1, 1) != no_offset);
}

TEST_CASE(
    "pools, sizes, alignments and views of each program hold for its values, and a spare has those of the "
    "value it holds")
{
    std::vector<value_id> const alias_of{no_value, no_value, 1, no_value};
    program_tree tree(program_of({{{}, {0, 1}}, {{}, {}}, {{0, 1}, {}}}, 2));
    tree.add_body(0, 1, program_body::run_kind::loop,
                  with_views(program_of({{{0, 1}, {}}, {{1}, {2}}, {{2}, {3}}, {{3}, {}}}, 4), alias_of),
                  {{3, 0}}, {{0, 0, 1, no_value}, {1, 1, 0, no_value}});
    std::vector<plan_options> options{{.bytes = 12, .alignment = 4, .pool = 1},
                                      {.bytes = 12, .alignment = 4, .alias_of = alias_of, .pool = 1}};
    auto const planned = plan_nested(tree, options);
    REQUIRE(planned);
    CHECK(planned.offset_of(1, 2) == planned.offset_of(1, 1));
    CHECK(planned.offset_of(1, 3) == planned.offset_of(0, 0));
    auto const all = flat_options(planned.flat, options);
    REQUIRE(planned.flat.value_of.size() == planned.flat.first_spare + 1);
    CHECK(all.bytes[planned.flat.first_spare] == 12);
    CHECK(all.pool[planned.flat.first_spare] == 1);
    CHECK(all.alignment[planned.flat.first_spare] == 4);
    CHECK(planned.plan.buffers[planned.plan.buffer_of[planned.flat.first_spare]].pool == 1);
    CHECK(check_flow_plan(planned.flat.program, planned.plan, all));
}

TEST_CASE("a value that a loop may leave undefined is refused in terms of the tree")
{
    // the body defines its value 1 and passes on 0, which has no definition
    program_tree tree(program_of({{{}, {}}, {{0}, {}}}, 1));
    tree.add_body(0, 0, program_body::run_kind::loop, program_of({{{}, {1}}}, 2), {}, {{0, no_value, 1, 0}});
    auto const planned = plan_eights(tree);
    CHECK(!planned);
    REQUIRE(!planned);
    CHECK(planned.error().value_in_tree == tree_value{1, 0});
    CHECK(planned.flat.value_of[planned.error().value()] == tree_value{1, 0});
    CHECK(planned.flat.step_of[planned.error().step()].part == flat_tree::part::move);
    CHECK(failure_of(planned).find("1 is value 0 of program 1") != std::string::npos);
}

TEST_CASE("invalid options of a tree are refused with a sentence")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::once, program_of({{{}, {0}}}, 1));
    auto refuses = [&](std::vector<plan_options> const& options, char const* why) {
        CHECK_THROWS_WITH_AS((void)plan_nested(tree, options), why, precondition_error);
    };
    plan_options const good{.bytes = 8};
    refuses({good}, "sublet: a tree of 2 programs has options for 1 of them");
    refuses({good, {.bytes = 8, .order = {0}}},
            "sublet: nested programs are planned in listed order, without options.order");
    refuses({good, {.bytes = 8, .role = value_role::output}},
            "sublet: value 2 of body 1 is an input or an output: bind it, or capture one");
    refuses({good, {.bytes = 8, .alias_of = value_id{7}}},
            "sublet: a view of program 1 names value 7, but it has only 1 values");
    refuses({{.bytes = {8}}, good}, "sublet: the table of bytes has 1 entries for 2 values");
}

TEST_CASE("values of any program of the tree are in the pools that their choices name")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::once, program_of({{{}, {0}}, {{0}, {1}}, {{1}, {}}}, 2), {},
                  {});
    std::vector<plan_options> options(2, plan_options{.bytes = 8});
    options[0].pool_choices = {{1, 1, 0}};
    options[1].pool_choices = {{0, 1, 0}, {1, 0, 5}, {1, 2, 3}};
    auto const planned = plan_nested(tree, options);
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    auto pool_of = [&](program_id program, value_id v) {
        return planned.plan.buffers[planned.plan.buffer_of[planned.flat.flat_of[program][v]]].pool;
    };
    CHECK(pool_of(0, 0) == 0);
    CHECK(pool_of(0, 1) == 1);
    CHECK(pool_of(1, 0) == 1);
    CHECK(pool_of(1, 1) == 2); // for 3 instead of 5
    options[1].pool_choices.push_back({2, 0, 0});
    CHECK_THROWS_AS((void)plan_nested(tree, options), precondition_error);
}

TEST_CASE("a wait in a program of a tree is an order: its steps still run as listed")
{
    auto plan = [](bool waits) {
        listing<char> l;
        l.facts('L', {.bytes = 64, .role = value_role::external});
        auto first = l.step("first").make('a', {.bytes = 64});
        l.step("second").make('t', {.bytes = 64});
        l.step("third").read('t').write('L');
        auto last = l.step("last").read('a').make('y', {.bytes = 8, .role = value_role::output});
        if (waits) last.wait_for(first);
        return plan_nested(program_tree(l.program()), std::vector{l});
    };
    REQUIRE(plan(true));
    CHECK(plan(true).bytes() == 128);
    CHECK(plan(true).plan == plan(false).plan);

    snapshot const back =
        tasks(2, 1, [](node_id n) { return std::vector<node_id>(n == 1, 0); }, [](node_id, effect_sink&) {});
    CHECK_THROWS_AS(program_tree{back}, precondition_error);
    program_tree tree(outer);
    CHECK_THROWS_WITH_AS((void)tree.add_body(0, 1, program_body::run_kind::once, back),
                         "sublet: nodes run as they are listed here, but node 0 has to run after node 1",
                         precondition_error);
}

TEST_CASE("what a body says of a value that it captures has to hold for the outer value")
{
    using facts = listing<char>::value_facts;
    auto refused = [](facts const& inner, facts const& outer_facts) {
        listing<char> root, body;
        root.facts('x', outer_facts);
        root.step("call");
        body.facts('X', inner);
        body.step("f").read('X').make('t', {.bytes = 32});
        program_tree tree(root.program());
        tree.add_body(0, 0, program_body::run_kind::once, body.program(),
                      {{.inner = body.id('X'), .outer = root.id('x')}});
        root.pools = {{}, {.alignment = 32}};
        auto const planned = plan_nested(tree, std::vector{root, body});
        return failure_of(planned);
    };
    value_role const input = value_role::input;
    CHECK(refused({.bytes = 64}, {.bytes = 32, .role = input}) ==
          "value 'X' of program 1 captures value 'x' of program 0, but .bytes is 64 of the one and 32 of the "
          "other");
    CHECK(refused({.bytes = 16, .name = "X"}, {.bytes = 32, .role = input, .name = "x"}) ==
          "value 'X' of program 1 captures value 'x' of program 0, but .bytes is 16 of the one and 32 of the "
          "other");
    CHECK(refused({.bytes = 32, .alignment = 64}, {.bytes = 32, .role = input}).find(".alignment is 64") !=
          std::string::npos);
    CHECK(refused({.pool = 1}, {.bytes = 32, .role = input}).find(".pool is 1 of the one and 0") !=
          std::string::npos);
    CHECK(refused({.role = value_role::external}, {.bytes = 32, .role = input}).find(".role") !=
          std::string::npos);
    // What holds, and what is not said.
    CHECK(refused({}, {.bytes = 32, .alignment = 64, .role = input, .pool = 1}).empty());
    CHECK(
        refused({.bytes = 32, .alignment = 32, .pool = 1}, {.bytes = 32, .role = input, .pool = 1}).empty());
    CHECK(refused({.bytes = 32, .alignment = 8}, {.bytes = 32, .alignment = 24, .role = input}).empty());
}

TEST_CASE("other facts of a captured value, and limits of a body, are refused where the root's are others")
{
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::once, program_of({{{0}, {1}}}, 2),
                  {{.inner = 0, .outer = 0}});
    auto with = [&tree](auto change) {
        return plan_nested(tree, [&change](program_id i) {
            plan_options options{.bytes = 8};
            if (i == 1) change(options);
            return options;
        });
    };
    CHECK(with([](plan_options&) {}));
    auto no = no_offset;
    CHECK(failure_of(with([no](plan_options& o) {
              o.pinned = std::vector{byte_count{16}, no};
          })).find(".pinned is 16") != std::string::npos);
    CHECK(failure_of(with([](plan_options& o) {
              o.eligible = std::vector<bool>{false, true};
          })).find(".eligible") != std::string::npos);
    CHECK(failure_of(with([](plan_options& o) {
              o.alias_of = std::vector<value_id>{1, no_value};
          })).find(".alias_of") != std::string::npos);
    CHECK_THROWS_AS(with([](plan_options& o) { o.pool_choices = {{0, 0, 1}}; }), precondition_error);
    CHECK_THROWS_AS(with([](plan_options& o) { o.pools = {{.capacity = 64}}; }), precondition_error);
    CHECK_THROWS_AS(with([](plan_options& o) { o.in_place = false; }), precondition_error);
}

TEST_CASE("a binding copies between values of one size")
{
    using facts = listing<char>::value_facts;
    auto planned = [](byte_count initial, byte_count next, byte_count result) {
        listing<char> root, body;
        root.step("seed").make('i', facts{.bytes = initial});
        root.step("loop").make('r', facts{.bytes = result});
        root.step("end").read('r').make('y', facts{.bytes = 8, .role = value_role::output});
        body.facts('n', facts{.bytes = 64});
        body.step("f").read('n').make('t', facts{.bytes = 16});
        body.step("g").read('t').make('m', facts{.bytes = next});
        program_tree tree(root.program());
        tree.add_body(
            0, 1, program_body::run_kind::loop, body.program(), {},
            {{.inner = body.id('n'), .initial = root.id('i'), .next = body.id('m'), .result = root.id('r')}});
        return plan_nested(tree, std::vector{root, body});
    };
    CHECK(planned(64, 64, 64));
    CHECK(failure_of(planned(32, 64, 64)) ==
          "value 'i' of program 0 is copied to value 'n' of program 1, but "
          ".bytes is 32 of the one and 64 of the other");
    CHECK(failure_of(planned(64, 65, 64)).find("is copied to value 'n' of program 1, but .bytes is 65") !=
          std::string::npos);
    CHECK(failure_of(planned(64, 64, 1)).find("value 'n' of program 1 is copied to value 'r' of program 0") !=
          std::string::npos);
    CHECK(planned(64, no_size, 64)); // its storage is not planned
}

TEST_CASE("listings in another order than the programs of the tree are refused")
{
    listing<char> root, body;
    root.step("seed").make('i', {.bytes = 16});
    root.step("call").make('r', {.bytes = 16});
    root.step("end").read('r').make('y', {.bytes = 16});
    body.step("a").make('u', {.bytes = 4096});
    body.step("b").read('u').make('v', {.bytes = 4096});
    body.step("c").read('u').read('v').make('w', {.bytes = 4096});
    program_tree tree(root.program());
    tree.add_body(0, 1, program_body::run_kind::once, body.program());
    CHECK(plan_nested(tree, std::vector{root, body}).bytes() == 3 * 4096);
    CHECK_THROWS_WITH_AS(
        (void)plan_nested(tree, std::vector{body, root}),
        "sublet: program 0 of the tree was not made of list 0: give the lists in the order of the "
        "tree",
        precondition_error);
    body.step("d").read('w');
    CHECK_THROWS_WITH_AS((void)plan_nested(tree, std::vector{root, body}),
                         "sublet: list 1 has 4 steps, but program 1 of the tree has 3: give the lists in the "
                         "order of the tree",
                         precondition_error);
}

} // namespace this_test
