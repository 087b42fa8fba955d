// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>

#include "../operations.hpp"
#include "../placed_values.hpp"
#include "../printed.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using offsets = std::vector<byte_count>;
using ids = std::vector<value_id>;
using node_ids = std::vector<node_id>;
using steps = std::vector<step_id>;

constexpr value_role input = value_role::input, output = value_role::output, external = value_role::external,
                     state = value_role::state, inner = value_role::intermediate;

/// A plan for every schedule, with hand-offs.
memory_plan plan_at(offsets const& where, byte_count arena, std::vector<handoff> handoffs = {})
{
    memory_plan plan = ::plan_at(where, arena);
    plan.valid_for = program_reading::concurrent;
    plan.handoffs = std::move(handoffs);
    return plan;
}

struct operation {
    ids uses, defs;
    std::vector<std::pair<value_id, value_id>> in_place = {};
    ids early_uses = {};
    std::vector<node_id> next = {};
};

snapshot tasks(std::size_t values, std::vector<operation> const& operations)
{
    return sublet::tasks(
        operations.size(), values, [&](node_id n) -> auto const& { return operations[n].next; },
        [&](node_id n, effect_sink& sink) {
            for (value_id v : operations[n].uses) sink.use(v);
            for (value_id v : operations[n].early_uses) sink.use_early(v);
            for (value_id v : operations[n].defs) sink.def(v);
            for (auto [in, out] : operations[n].in_place) sink.may_overwrite(in, out);
        });
}

/// def a; b and c from a, unordered; d from both.
snapshot diamond() { return tasks(4, {{{}, {0}}, {{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}}}); }

fault fault_of(verdict const& valid)
{
    REQUIRE(!valid);
    return valid.error().what;
}

/// A value that is written over.
counterexample::overlap overwriting_of(verdict const& valid)
{
    REQUIRE(fault_of(valid) == fault::overwritten);
    REQUIRE(valid.error().as<counterexample::overlap>() != nullptr);
    return *valid.error().as<counterexample::overlap>();
}

} // namespace

TEST_CASE("a value may reuse bytes after all uses of the old value in every order")
{
    CHECK(check_concurrent_plan(diamond(), plan_at({0, 8, 16, 0}, 24), {.bytes = 8}));
}

TEST_CASE("a result may not overlap an operand of an unordered step that is listed earlier")
{
    snapshot const p = tasks(4, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{0, 2}, {3}}});
    CHECK(check_concurrent_plan(p, plan_at({0, 8, 16, 8}, 24), {.bytes = 8}));
    // Step 1 precedes step 2 in the list, but the diamond does not order them.
    auto const found = check_concurrent_plan(diamond(), plan_at({0, 8, 12, 0}, 24), {.bytes = 8});
    REQUIRE(!found);
    counterexample const expected{
        fault::overwritten,
        counterexample::overlap{
            .value = 1, .other = 2, .step = 2, .needed_at = 3, .position = 2, .begin = 12, .end = 16},
        {0, 1, 2, 3}};
    CHECK(found.error() == expected);
}

TEST_CASE("a conflict prints as a sentence with the two unordered steps")
{
    auto const found = check_concurrent_plan(diamond(), plan_at({0, 8, 12, 0}, 24), {.bytes = 8});
    CHECK(printed(found) == "step 2 need not wait for step 3, and writes value 2 over bytes [12, 16) of pool "
                            "0, where value 1 lies, which step 3 touches");
}

TEST_CASE("a plan for another reading, of another program or with invalid hand-offs is foreign")
{
    auto plan = plan_at({0, 8, 16, 0}, 24);
    plan.valid_for = program_reading::sequential;
    CHECK(fault_of(check_concurrent_plan(diamond(), plan, {.bytes = 8})) == fault::foreign_plan);
    CHECK(check_plan(diamond(), plan_at({0, 8, 16, 0}, 24), {.bytes = 8}).error().what ==
          fault::foreign_plan);
    plan = plan_at({0, 8, 16}, 24);
    CHECK(fault_of(check_concurrent_plan(diamond(), plan, {.bytes = 8})) == fault::foreign_plan);
    plan = plan_at({0, 8, 16, 0}, 24);
    plan.buffer_of[1] = 4;
    CHECK(fault_of(check_concurrent_plan(diamond(), plan, {.bytes = 8})) == fault::foreign_plan);
    for (handoff h : {handoff{4, 0}, handoff{0, 4}, handoff{no_step, 0}})
        CHECK(fault_of(check_concurrent_plan(diamond(), plan_at({0, 8, 16, 0}, 24, {h}), {.bytes = 8})) ==
              fault::foreign_plan);
}

TEST_CASE("the empty plan is valid for the empty program")
{
    CHECK(check_concurrent_plan(snapshot(), plan_at({}, 0), {.bytes = 8}));
    CHECK(check_concurrent_plan(tasks(2, {}), plan_at({no_offset, no_offset}, 0), {.bytes = 8}));
}

TEST_CASE("any type that models a program is checked like its snapshot")
{
    struct two_steps {
        std::size_t nodes() const { return 2; }
        std::size_t values() const { return 2; }
        node_ids successors(node_id n) const { return n == 0 ? node_ids{1} : node_ids{}; }
        static constexpr edge_meaning edges() { return edge_meaning::order; }
        void effects(node_id n, effect_sink& s) const { s.def(+n); }
    };
    CHECK(check_concurrent_plan(two_steps(), plan_at({0, 0}, 8), {.bytes = 8}));
    CHECK(fault_of(check_concurrent_plan(two_steps(), plan_at({0, 0}, 7), {.bytes = 8})) ==
          fault::outside_arena);
}

TEST_CASE("edges of the program, hand-offs and the sequence of steps of a node order steps")
{
    auto const apart = tasks(2, {{{}, {0}}, {{}, {1}}});
    auto const plan = plan_at({0, 0}, 8);
    CHECK(fault_of(check_concurrent_plan(apart, plan, {.bytes = 8})) == fault::overwritten);
    CHECK(check_concurrent_plan(apart, plan_at({0, 0}, 8, {{0, 1}}), {.bytes = 8}));
    CHECK(check_concurrent_plan(apart, plan_at({0, 0}, 8, {{1, 0}}), {.bytes = 8}));
    CHECK(check_concurrent_plan(tasks(2, {{{}, {0}, {}, {}, {1}}, {{}, {1}}}), plan, {.bytes = 8}));
    auto const block = sublet::tasks(
        1, 2, [](node_id) { return node_ids{}; },
        [](node_id, effect_sink& s) {
            s.def(0);
            s.next_step();
            s.def(1);
        });
    CHECK(check_concurrent_plan(block, plan, {.bytes = 8}));
}

TEST_CASE("two unread results of unordered steps conflict, with both writes adjacent in the schedule")
{
    auto const found = check_concurrent_plan(tasks(3, {{{}, {0}}, {{}, {1}}, {{}, {2}}}),
                                             plan_at({0, 8, 8}, 16), {.bytes = 8});
    auto const lost = overwriting_of(found);
    CHECK(lost.needed_at == 1);
    CHECK(lost.step == 2);
    CHECK(lost.position == 1);
    CHECK(found.error().schedule == steps{1, 2, 0});
}

TEST_CASE("outputs and inputs are never overwritten or reused, and two inputs never share")
{
    snapshot const chain = tasks(3, {{{0}, {1}}, {{1}, {2}}});
    auto const check = [&](offsets const& where, std::vector<value_role> const& role) {
        return check_concurrent_plan(chain, plan_at(where, 24), {.bytes = 8, .role = role});
    };
    CHECK(check({0, 8, 0}, {input, inner, inner}));
    CHECK(check({0, 8, 0}, {input, inner, output}));
    auto found = check({0, 8, 8}, {input, output, inner});
    CHECK(overwriting_of(found).needed_at == no_step);
    CHECK(printed(found) ==
          "step 1 writes value 2 over bytes [8, 16) of pool 0, where value 1 lies, an output");
    found = check({0, 8, 0}, {input | output, inner, inner});
    CHECK(overwriting_of(found).step == 1);

    // 2 is given, and step 0 would overwrite it before it is read.
    snapshot const late = tasks(3, {{{}, {0}}, {{0}, {1}}, {{1, 2}, {}}});
    found = check_concurrent_plan(late, plan_at({0, 8, 0}, 16),
                                  {.bytes = 8, .role = std::vector{inner, inner, input}});
    auto const lost = overwriting_of(found);
    CHECK(lost.value == 2);
    CHECK(lost.needed_at == 2);
    CHECK(lost.step == 0);
    found = check_concurrent_plan(tasks(2, {{{0}, {}}, {{1}, {}}}), plan_at({0, 4}, 16),
                                  {.bytes = 8, .role = input});
    REQUIRE(fault_of(found) == fault::clash);
    CHECK(found.error().step() == no_step);
    CHECK(printed(found) == "values 0 and 1 are both there from the start and share bytes [4, 8) of pool 0");
}

TEST_CASE("the lowest fault is reported, also if another one is found earlier")
{
    // 1 may run before 0; and 3 obviously writes over an output.
    auto const p = tasks(4, {{{}, {0}}, {{}, {1}}, {{1}, {2}}, {{2}, {3}}});
    auto const role = std::vector{inner, inner, output, inner};
    auto const found = check_concurrent_plan(p, plan_at({0, 0, 8, 8}, 16), {.bytes = 8, .role = role});
    REQUIRE(fault_of(found) == fault::overwritten);
    CHECK((found.error().value() < 2 && found.error().other() < 2));
    auto const other = check_concurrent_plan(p, plan_at({0, 16, 8, 8}, 24), {.bytes = 8, .role = role});
    REQUIRE(fault_of(other) == fault::overwritten);
    CHECK((other.error().value() == 2 && other.error().other() == 3));
}

TEST_CASE("external storage is not planned, but its readers wait for its writer")
{
    // 2 reads the external value that 1 writes, so it comes after 1, the last reader of a.
    snapshot const p = tasks(3, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}});
    auto const role = std::vector{inner, external, inner};
    auto const outside = check_concurrent_plan(p, plan_at({0, no_offset, 0}, 8), {.bytes = 8, .role = role});
    CHECK(fault_of(outside) == fault::several_defs); // given and written: two versions
    auto const plain = std::vector{inner, inner, inner};
    auto const off = std::vector<bool>{true, false, true};
    CHECK(check_concurrent_plan(p, plan_at({0, no_offset, 0}, 8),
                                {.bytes = 8, .role = plain, .eligible = off}));
    CHECK(fault_of(check_concurrent_plan(p, plan_at({0, 8, 0}, 16),
                                         {.bytes = 8, .role = plain, .eligible = off})) == fault::needless);
}

TEST_CASE("a value with a second def, or given and written, is refused with the step")
{
    auto const twice = tasks(1, {{{}, {0}}, {{}, {0}}});
    auto found = check_concurrent_plan(twice, plan_at({0}, 8), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::several_defs);
    CHECK(found.error().value() == 0);
    CHECK(found.error().step() == 1);
    auto const once = tasks(1, {{{}, {0, 0}}});
    CHECK(check_concurrent_plan(once, plan_at({0}, 8), {.bytes = 8}));
    for (value_role role : {input, external, state})
        CHECK(fault_of(check_concurrent_plan(once, plan_at({0}, 8), {.bytes = 8, .role = role})) ==
              fault::several_defs);
}

TEST_CASE("a use without a def is found, also in its own step and of an output")
{
    auto found = check_concurrent_plan(tasks(1, {{{0}, {}}}), plan_at({no_offset}, 0), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::used_undefined);
    CHECK(found.error().other() == no_value);
    found = check_concurrent_plan(tasks(1, {{{0}, {0}}}), plan_at({0}, 8), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::used_undefined);
    CHECK(found.error().other() == 0);
    found = check_concurrent_plan(tasks(1, {{}, {}}), plan_at({no_offset}, 0), {.bytes = 8, .role = output});
    REQUIRE(fault_of(found) == fault::used_undefined);
    CHECK(found.error().step() == no_step);
    CHECK(printed(found) == "value 0 is an output and never defined, and is neither input nor external");
    // The list has 0 before 1, the data require the converse.
    CHECK(check_concurrent_plan(tasks(1, {{{0}, {}}, {{}, {0}}}), plan_at({0}, 8), {.bytes = 8}));
}

TEST_CASE("steps that wait for each other are listed as a cycle")
{
    //  0 ─► 1 ─► 2 ─► 1, then 3
    auto const p = tasks(3, {{{}, {0}}, {{0, 2}, {1}}, {{1}, {2}}, {{2}, {}}});
    auto found = check_concurrent_plan(p, plan_at({0, 8, 16}, 24), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::cycle);
    CHECK((found.error().schedule == steps{1, 2} || found.error().schedule == steps{2, 1}));
    CHECK(found.error().step() == found.error().schedule.front());
    found = check_concurrent_plan(diamond(), plan_at({0, 8, 16, 0}, 24, {{3, 0}}), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::cycle);
    CHECK(found.error().schedule.size() == 3);
    found = check_concurrent_plan(diamond(), plan_at({0, 8, 16, 0}, 24, {{1, 1}}), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::cycle);
    CHECK(found.error().schedule == steps{1});
}

TEST_CASE("a result may overlap an operand that its own step reads early, but not if it also reads it late")
{
    auto const early = tasks(2, {{{}, {0}}, {{}, {1}, {}, {0}}});
    CHECK(check_concurrent_plan(early, plan_at({0, 0}, 8), {.bytes = 8}));
    auto const both = tasks(2, {{{}, {0}}, {{0}, {1}, {}, {0}}});
    auto const found = check_concurrent_plan(both, plan_at({0, 0}, 8), {.bytes = 8});
    auto const lost = overwriting_of(found);
    CHECK(lost.needed_at == 1);
    CHECK(lost.step == 1);
    CHECK(printed(found) ==
          "step 1 writes value 1 over bytes [0, 8) of pool 0, where value 0 lies, which the "
          "step itself touches");
    auto const beside = tasks(2, {{{}, {0}}, {{}, {}, {}, {0}}, {{}, {1}}});
    CHECK(fault_of(check_concurrent_plan(beside, plan_at({0, 0}, 8), {.bytes = 8})) == fault::overwritten);
}

TEST_CASE("a result may be written over a declared operand after all other reads of it")
{
    auto const list = [](std::vector<node_id> next) {
        return tasks(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{0}, {2}, {}, {}, next}});
    };
    auto const plan = plan_at({0, 0, 8}, 16);
    CHECK(fault_of(check_concurrent_plan(list({}), plan, {.bytes = 8})) == fault::overwritten);
    CHECK(check_concurrent_plan(list({1}), plan, {.bytes = 8}));
    CHECK(fault_of(check_concurrent_plan(list({1}), plan, {.bytes = 8, .in_place = false})) ==
          fault::overwritten);
    CHECK(fault_of(check_concurrent_plan(list({1}), plan_at({0, 4, 16}, 24), {.bytes = 8})) ==
          fault::overwritten);
    auto const grows = std::vector<byte_count>{4, 8, 8};
    CHECK(fault_of(check_concurrent_plan(list({1}), plan_at({0, 0, 8}, 16), {.bytes = grows})) ==
          fault::overwritten);
    auto const shrinks = std::vector<byte_count>{8, 4, 4};
    CHECK(check_concurrent_plan(list({1}), plan_at({0, 0, 8}, 16), {.bytes = shrinks}));
    auto const pinned = std::vector<byte_count>{0, no_offset, no_offset};
    CHECK(fault_of(check_concurrent_plan(list({1}), plan, {.bytes = 8, .pinned = pinned})) ==
          fault::overwritten);
    auto const kept = std::vector{output, inner, inner};
    CHECK(fault_of(check_concurrent_plan(list({1}), plan, {.bytes = 8, .role = kept})) == fault::overwritten);
}

TEST_CASE("one operand is overwritten by one result, and its step reads it in no other way")
{
    auto const two = tasks(3, {{{}, {0}}, {{0}, {1, 2}, {{0, 1}, {0, 2}}}});
    CHECK(fault_of(check_concurrent_plan(two, plan_at({0, 0, 0}, 8), {.bytes = 8})) == fault::overwritten);
    CHECK(check_concurrent_plan(two, plan_at({0, 0, 8}, 16), {.bytes = 8}));
    // 1 is a view of 0; the step reads both and declares only one of them.
    auto const alias = ids{no_value, 0, no_value};
    auto const view = with_views(tasks(3, {{{}, {0}}, {{0}, {1}}, {{0, 1}, {2}, {{0, 2}}}}), alias);
    CHECK(fault_of(check_concurrent_plan(view, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = alias})) ==
          fault::overwritten);
    auto const last = with_views(tasks(3, {{{}, {0}}, {{0}, {1}}, {{0, 1}, {2}, {{1, 2}}}}), alias);
    CHECK(fault_of(check_concurrent_plan(last, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = alias})) ==
          fault::overwritten);
    auto const offered = with_views(tasks(3, {{{}, {0}}, {{0}, {1}}, {{1}, {2}, {{1, 2}}}}), alias);
    CHECK(check_concurrent_plan(offered, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = alias}));
}

TEST_CASE("a declared pair counts only where the step writes the result that it names")
{
    // 2 is a view of 1. Step 1 writes 1, and declares 0 for 2, which a later step writes.
    auto const alias = ids{no_value, no_value, 1};
    auto const p = with_views(tasks(3, {{{}, {0}}, {{0}, {1}, {{0, 2}}}, {{1}, {2}}}), alias);
    CHECK(fault_of(check_concurrent_plan(p, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = alias})) ==
          fault::overwritten);
    auto const q = with_views(tasks(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}}}), alias);
    CHECK(check_concurrent_plan(q, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = alias}));
}

TEST_CASE("a step may have many operands and results, each over another one")
{
    value_id const many = 40;
    operation make, replace;
    offsets where;
    for (value_id v = 0; v != many; ++v) {
        make.defs.push_back(v);
        replace.uses.push_back(v);
        replace.defs.push_back(many + v);
        replace.in_place.push_back({v, many + v});
        where.push_back(8 * v);
    }
    for (value_id v = 0; v != many; ++v) where.push_back(8 * v);
    auto const plan = plan_at(where, 8 * many);
    CHECK(check_concurrent_plan(tasks(2 * many, {make, replace}), plan, {.bytes = 8}));
    for (value_id v : {0u, 17u, many - 1}) {
        operation one = replace;
        one.in_place.erase(one.in_place.begin() + v);
        auto const undeclared = check_concurrent_plan(tasks(2 * many, {make, one}), plan, {.bytes = 8});
        REQUIRE(fault_of(undeclared) == fault::overwritten);
        CHECK(undeclared.error().value() == v);
        one.uses.erase(one.uses.begin() + v);
        one.early_uses.push_back(v);
        CHECK(check_concurrent_plan(tasks(2 * many, {make, one}), plan, {.bytes = 8}));
        one.uses.push_back(v);
        CHECK(fault_of(check_concurrent_plan(tasks(2 * many, {make, one}), plan, {.bytes = 8})) ==
              fault::overwritten);
    }
}

TEST_CASE("a view keeps the storage of its root live, from the first def to the last read of the class")
{
    // 1 is a view of 0; 3 is defined when 0 is not read any more, and 1 still is.
    auto const alias = ids{no_value, 0, no_value, no_value};
    auto const p = with_views(tasks(4, {{{}, {0}}, {{0}, {1}}, {{0}, {2}}, {{2}, {3}}, {{1}, {}}}), alias);
    CHECK(fault_of(check_concurrent_plan(p, plan_at({0, 0, 8, 0}, 16), {.bytes = 8, .alias_of = alias})) ==
          fault::overwritten);
    CHECK(check_concurrent_plan(p, plan_at({0, 0, 8, 0}, 16, {{4, 3}}), {.bytes = 8, .alias_of = alias}));
    CHECK(fault_of(check_concurrent_plan(p, plan_at({0, 8, 16, 24}, 32), {.bytes = 8, .alias_of = alias})) ==
          fault::misplaced_view);
}

TEST_CASE("a use at the end of a node keeps storage live until the node has written everything")
{
    auto const p = sublet::tasks(
        2, 2, [](node_id n) { return n == 0 ? node_ids{1} : node_ids{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) {
                s.def(0);
                s.next_step();
                s.def(1);
            } else {
                s.use_at_end_of(0, 0);
            }
        });
    auto const found = check_concurrent_plan(p, plan_at({0, 0}, 8), {.bytes = 8});
    CHECK(overwriting_of(found).needed_at == 1);
    CHECK(check_concurrent_plan(p, plan_at({0, 8}, 16), {.bytes = 8}));
}

TEST_CASE("a use at the end of a node does not extend the early reads of its last step")
{
    auto const p = sublet::tasks(
        2, 3, [](node_id n) { return n == 0 ? node_ids{1} : node_ids{}; },
        [](node_id n, effect_sink& s) {
            if (n == 1) return s.use_at_end_of(0, 2);
            s.def(0);
            s.def(2);
            s.next_step();
            s.use_early(0);
            s.def(1);
        });
    CHECK(check_concurrent_plan(p, plan_at({0, 0, 8}, 16), {.bytes = 8}));
    CHECK(fault_of(check_concurrent_plan(p, plan_at({0, 8, 8}, 16), {.bytes = 8})) == fault::overwritten);
}

TEST_CASE("bytes are reused piece by piece, and each piece has its own last occupant")
{
    // b and c take the halves of a; d takes both of them again.
    auto const p =
        tasks(7, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{1}, {3}}, {{2}, {4}}, {{3}, {5}}, {{4, 5}, {6}}});
    auto const bytes = std::vector<byte_count>{8, 8, 4, 4, 4, 4, 8};
    CHECK(check_concurrent_plan(p, plan_at({0, 8, 0, 4, 16, 20, 0}, 24), {.bytes = bytes}));
    CHECK(check_concurrent_plan(p, plan_at({0, 8, 0, 4, 8, 12, 0}, 16, {{2, 5}, {3, 4}}), {.bytes = bytes}));
    // Without the second hand-off, step 4 may write where step 3 still reads; without the first, 5 for 2.
    auto found = check_concurrent_plan(p, plan_at({0, 8, 0, 4, 8, 12, 0}, 16, {{2, 5}}), {.bytes = bytes});
    auto lost = overwriting_of(found);
    CHECK((lost.value == 1 && lost.needed_at == 3 && lost.step == 4));
    found = check_concurrent_plan(p, plan_at({0, 8, 0, 4, 8, 12, 0}, 16, {{3, 4}}), {.bytes = bytes});
    lost = overwriting_of(found);
    CHECK((lost.value == 1 && lost.needed_at == 2 && lost.step == 5));
    CHECK((lost.begin == 12 && lost.end == 16));
    // After a reuse of the middle, both sides are still compared with the old occupant.
    auto const middle = std::vector<byte_count>{8, 2, 8};
    auto const three = tasks(3, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{0}, {}}});
    CHECK(fault_of(check_concurrent_plan(three, plan_at({0, 3, 0}, 8, {{3, 1}}), {.bytes = middle})) ==
          fault::overwritten); // 1 overlaps an operand of step 1
    auto const four = tasks(3, {{{}, {0}}, {{}, {1}, {}, {0}}, {{1}, {}}, {{}, {2}}});
    CHECK(check_concurrent_plan(four, plan_at({0, 3, 0}, 8, {{2, 3}}), {.bytes = middle}));
    CHECK(fault_of(check_concurrent_plan(four, plan_at({0, 3, 6}, 14), {.bytes = middle})) ==
          fault::overwritten);
    CHECK(fault_of(check_concurrent_plan(four, plan_at({0, 6, 0}, 8), {.bytes = middle})) ==
          fault::overwritten);
}

TEST_CASE("values in different pools never conflict")
{
    auto plan = plan_at({0, 0}, 8);
    plan.buffers[1].pool = 1;
    plan.arena_bytes = {8, 8};
    auto const apart = tasks(2, {{{}, {0}}, {{}, {1}}});
    CHECK(check_concurrent_plan(apart, plan, {.bytes = 8, .pool = std::vector<pool_id>{0, 1}}));
    CHECK(fault_of(check_concurrent_plan(apart, plan, {.bytes = 8})) == fault::wrong_pool);
}

TEST_CASE("a conflict names the pool of the plan, whichever the options name first")
{
    auto plan = plan_at({0, 4}, 12);
    for (memory_plan::placed_buffer& b : plan.buffers) b.pool = 1;
    plan.arena_bytes = {0, 12};
    plan_options const options{.bytes = 8, .pool_choices = {{0, 1, 0}, {1, 1, 0}}};
    auto const found = check_concurrent_plan(tasks(2, {{{}, {0}}, {{}, {1}}}), plan, options);
    CHECK(overwriting_of(found).pool == 1);
}

TEST_CASE("a chain of a million steps is checked, and a fault at its end found")
{
    std::uint32_t const n = 1'000'000;
    auto const chain = sequence(n, n, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        sink.def(+s);
    });
    offsets where;
    for (step_id s = 0; s != n; ++s) where.push_back(s % 2 * 8);
    CHECK(check_concurrent_plan(chain, plan_at(where, 16), {.bytes = 8}));
    where.back() = 0;
    auto const found = check_concurrent_plan(chain, plan_at(where, 16), {.bytes = 8});
    REQUIRE(fault_of(found) == fault::overwritten);
    CHECK(found.error().value() == n - 2);
    CHECK(found.error().other() == n - 1);
}

} // namespace this_test
