// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/counterexample.hpp>

#include "printed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A minimal stream.
struct only_text {
    std::string written;
    void operator<<(char const* text) { written += text; }
};

struct only_numbers {
    only_numbers& operator<<(int) { return *this; }
};

template <class Stream>
constexpr bool writes_to = requires(Stream& out, counterexample const& w) { out << w; };

} // namespace

TEST_CASE("a conflict prints as a sentence with both values, the position and the bytes")
{
    counterexample const w{
        fault::clash, counterexample::overlap{
                          .value = 3, .other = 7, .position = 12, .pool = 1, .begin = 4096, .end = 8192}};
    CHECK(printed(w) ==
          "values 3 and 7 are both alive at position 12 and share bytes [4096, 8192) of pool 1");
}

namespace {

/// One of each rule, or the second of those rules that have two payloads: of values, then of buffers. Value
/// or buffer 3, step or command 33, and the bound 64 where the rule has one.
counterexample example_of(fault what, bool of_buffers = false)
{
    using is = counterexample;
    is::overlap const overlap{
        .value = 3, .other = 7, .step = 33, .position = 12, .pool = 5, .begin = 40, .end = 80};
    is::place const place{.value = 3, .pool = 5, .begin = 40, .end = 80, .needed = 64};
    is::view const view{.value = 3,
                        .other = 7,
                        .step = 33,
                        .pool = 5,
                        .begin = 40,
                        .end = 80,
                        .needed = 64,
                        .fact = "alignment"};
    is::access const access{.value = 3, .other = 7, .step = 33, .position = 12, .begin = 40, .end = 80};
    is::waiting const waiting{
        .step = 33, .position = 12, .earlier = 2, .value = 3, .other = 7, .pool = 5, .begin = 40, .end = 80};
    is::slots const slots{.value = 3, .other = 7, .slot = 4, .step = 33, .written = 8};
    is::buffers const buffers{
        .buffer = 3, .other = 7, .position = 12, .pool = 5, .begin = 40, .end = 80, .needed = 64};
    is::renaming const renaming{.step = 33, .operand = 1, .value = 3, .name = 7};
    is::commands const commands{.first = 8,
                                .second = 33,
                                .first_stream = 1,
                                .second_stream = 2,
                                .first_step = 9,
                                .second_step = 10,
                                .first_value = 3,
                                .second_value = 7,
                                .block = 6,
                                .begin = 40,
                                .end = 80};
    if (of_buffers) return {what, buffers};
    switch (what) {
    case fault::foreign_plan: return {};
    case fault::clash:
    case fault::too_close:
    case fault::shared_page:
    case fault::shared_bank: return {what, overlap};
    case fault::overwritten:
        return {what,
                is::overlap{
                    .value = 3, .other = 7, .step = 33, .needed_at = 8, .pool = 5, .begin = 40, .end = 80}};
    case fault::misaligned:
    case fault::outside_arena:
    case fault::off_pin:
    case fault::wrong_pool:
    case fault::unplaced:
    case fault::needless:
    case fault::over_capacity:
    case fault::crosses_block:
    case fault::in_reserved:
    case fault::over_budget:
    case fault::over_time:
    case fault::unlisted_pool:
    case fault::over_block:
    case fault::unplaceable_parts: return {what, place};
    case fault::unclear_view:
    case fault::forgotten_write:
    case fault::unlike_root:
    case fault::oversized_view:
    case fault::misplaced_view: return {what, view};
    case fault::unwritten:
    case fault::used_undefined:
    case fault::several_defs:
    case fault::not_dominated:
    case fault::never_defined:
    case fault::write_moved: return {what, access};
    case fault::needs_left_out: {
        counterexample::access of_maker = access;
        of_maker.maker = 8;
        return {what, of_maker};
    }
    case fault::order_left_out: return {what, waiting, {9, 33, 8}};
    case fault::cycle:
    case fault::leads_back:
    case fault::unordered: return {what, waiting};
    case fault::too_early:
    case fault::busy_worker:
    case fault::over_group:
        return {what, is::timing{.step = 33, .other = 8, .start = 40, .end = 80, .most = 64, .of = 5}};
    case fault::unlike_capture:
    case fault::unlike_binding: {
        counterexample why{what, view};
        why.value_in_tree = {1, 3};
        why.other_in_tree = {2, 7};
        return why;
    }
    case fault::fixed_together:
    case fault::lost_in_slot:
    case fault::without_slot: return {what, slots};
    case fault::foreign_placement:
    case fault::not_colocated:
    case fault::wrong_height:
    case fault::wrong_blocks:
    case fault::wrong_bound:
    case fault::wrong_status:
    case fault::wrong_cost:
    case fault::not_apart:
    case fault::wrong_penalty:
    case fault::wrong_penalty_bound:
    case fault::wrong_movement: return {what, buffers};
    case fault::wrong_proof: return {what, is::proof{5, 80, 64, "has a row of only %"}};
    case fault::wrong_peak: return {what, is::proof{5, 80, 64, "begins at position %"}};
    case fault::not_checkable: return {what, is::proof{5, 80, 64, "is too large to be checked"}};
    case fault::other_shape:
    case fault::other_read:
    case fault::other_read_at_end:
    case fault::other_end:
    case fault::other_storage:
    case fault::other_in_place: return {what, renaming};
    case fault::race:
    case fault::use_before_allocation:
    case fault::use_after_release:
    case fault::freed_in_use:
    case fault::double_release:
    case fault::never_allocated:
    case fault::double_allocation:
    case fault::out_of_bounds:
    case fault::unrecorded:
    case fault::leaked:
    case fault::missing_order: return {what, commands};
    }
    return {};
}

bool is_one_of(fault what, std::initializer_list<fault> list)
{
    return std::find(list.begin(), list.end(), what) != list.end();
}

/// One of each rule, with each of its payloads.
std::vector<counterexample> all_examples()
{
    std::vector<counterexample> all;
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(fault::missing_order); ++i) {
        auto const what = static_cast<fault>(i);
        all.push_back(example_of(what));
        if (is_one_of(what, {fault::clash, fault::too_close, fault::shared_page, fault::shared_bank,
                             fault::misaligned, fault::off_pin, fault::outside_arena, fault::wrong_pool,
                             fault::unplaced, fault::needless, fault::over_capacity, fault::crosses_block,
                             fault::in_reserved, fault::over_block, fault::unplaceable_parts}))
            all.push_back(example_of(what, true));
    }
    return all;
}

} // namespace

TEST_CASE("each fault prints a distinct sentence with the value and the bound")
{
    std::set<std::string> sentences;
    for (counterexample const& why : all_examples()) {
        fault const what = why.what;
        std::string const text = printed(why);
        CAPTURE(text);
        CHECK(sentences.insert(text).second);
        CHECK(text.find('%') == std::string::npos);
        bool const is_of_all = is_one_of(
            what, {fault::foreign_plan, fault::foreign_placement, fault::over_capacity, fault::over_budget,
                   fault::over_time, fault::cycle, fault::leads_back, fault::wrong_height,
                   fault::wrong_blocks, fault::wrong_bound, fault::wrong_status, fault::wrong_cost,
                   fault::wrong_movement, fault::wrong_penalty, fault::wrong_penalty_bound,
                   fault::wrong_proof, fault::wrong_peak, fault::not_checkable, fault::leaked});
        CHECK((is_of_all || text.find("3") != std::string::npos));
        bool const has_bound = is_one_of(what, {fault::misaligned,     fault::off_pin,
                                                fault::over_capacity,  fault::over_budget,
                                                fault::over_time,      fault::unlisted_pool,
                                                fault::over_block,     fault::unlike_root,
                                                fault::oversized_view, fault::misplaced_view,
                                                fault::unlike_capture, fault::unlike_binding,
                                                fault::not_colocated,  fault::wrong_height,
                                                fault::wrong_blocks,   fault::wrong_bound,
                                                fault::wrong_cost,     fault::wrong_movement,
                                                fault::wrong_penalty,  fault::wrong_penalty_bound,
                                                fault::wrong_proof,    fault::wrong_peak}) ||
                               (what == fault::outside_arena && why.as<counterexample::place>() != nullptr);
        CHECK((!has_bound || text.find("64") != std::string::npos));
    }
    CHECK(sentences.size() == all_examples().size());
}

TEST_CASE("the payload of a counterexample is of one type, and no other is found")
{
    auto const place = example_of(fault::off_pin);
    REQUIRE(place.as<counterexample::place>() != nullptr);
    CHECK(place.as<counterexample::place>()->needed == 64);
    CHECK(place.as<counterexample::buffers>() == nullptr);
    CHECK(place.as<counterexample::view>() == nullptr);
    auto const buffers = example_of(fault::off_pin, true);
    REQUIRE(buffers.as<counterexample::buffers>() != nullptr);
    CHECK(buffers.as<counterexample::buffers>()->buffer == 3);
    CHECK(buffers.as<counterexample::place>() == nullptr);
    counterexample const without; // without a payload
    CHECK(without.as<counterexample::overlap>() == nullptr);
    CHECK(without.as<counterexample::commands>() == nullptr);
    CHECK(without.what == fault::foreign_plan);
}

TEST_CASE("what several payloads have is asked of the counterexample")
{
    using ids = std::vector<step_id>;
    auto const answers = [](counterexample const& why) {
        return std::tuple{why.value(), why.other(), why.step(), why.position(), why.steps()};
    };
    position_id const nowhere = no_position;
    auto of = [&](value_id value, value_id other, step_id step, position_id position, ids const& all) {
        return std::tuple{value, other, step, position, all};
    };
    for (counterexample const& why : all_examples()) {
        CAPTURE(why);
        auto const found = answers(why);
        bool has_payload = false;
        why.of.visit([&]<class P>(P const&) {
            has_payload = true;
            using is = counterexample;
            if constexpr (std::is_same_v<P, is::overlap>)
                CHECK(found == (why.what != fault::overwritten ? of(3, 7, 33, 12, {33})
                                                               : of(3, 7, 33, nowhere, {33, 8})));
            else if constexpr (std::is_same_v<P, is::access>)
                CHECK(found == of(3, 7, 33, 12,
                                  why.what == fault::needs_left_out ? ids{step_id{33}, step_id{8}}
                                                                    : ids{step_id{33}}));
            else if constexpr (std::is_same_v<P, is::waiting>)
                CHECK(found == of(3, 7, 33, 12,
                                  why.what == fault::order_left_out ? ids{step_id{33}, step_id{9}, step_id{8}}
                                                                    : ids{step_id{33}}));
            else if constexpr (std::is_same_v<P, is::place>)
                CHECK(found == of(3, no_value, no_step, nowhere, {}));
            else if constexpr (std::is_same_v<P, is::view>) CHECK(found == of(3, 7, 33, nowhere, {33}));
            else if constexpr (std::is_same_v<P, is::timing>)
                CHECK(found == of(no_value, no_value, 33, nowhere, {33, 8}));
            else if constexpr (std::is_same_v<P, is::slots>) CHECK(found == of(3, 7, 33, nowhere, {33, 8}));
            else if constexpr (std::is_same_v<P, is::buffers>)
                CHECK(found == of(no_value, no_value, no_step, 12, {}));
            else if constexpr (std::is_same_v<P, is::renaming>)
                CHECK(found == of(3, no_value, 33, nowhere, {33}));
            else if constexpr (std::is_same_v<P, is::commands>)
                CHECK(found == of(no_value, no_value, 10, nowhere, {10, 9}));
            else CHECK(found == of(no_value, no_value, no_step, nowhere, {}));
        });
        CHECK(has_payload == (why.what != fault::foreign_plan));
        if (!has_payload) CHECK(found == of(no_value, no_value, no_step, nowhere, {}));
    }
    counterexample::overlap lost{.value = 3, .step = 33, .needed_at = no_step, .position = 4};
    CHECK(answers({fault::overwritten, lost}) == of(3, no_value, 33, 4, {33}));
    CHECK(counterexample{fault::lost_in_slot, counterexample::slots{.step = 33}}.steps() == ids{step_id{33}});
    CHECK(counterexample{fault::leaked, counterexample::commands{.first_step = 9}}.steps() == ids{9});
}

TEST_CASE("the step at a position is set if the payload has a step")
{
    counterexample why{fault::clash, counterexample::overlap{.value = 3, .other = 7, .position = 12}};
    CHECK(why.step() == no_step);
    set_step(why, 4);
    CHECK(why.step() == 4);
    CHECK(why.as<counterexample::overlap>()->step == 4);
    counterexample place = example_of(fault::off_pin); // has no step
    set_step(place, 4);
    CHECK(place == example_of(fault::off_pin));
}

TEST_CASE("a use before the def and a use without any def print different sentences")
{
    counterexample::access use{.value = 3, .other = 3, .position = 2};
    CHECK(printed(counterexample{fault::used_undefined, use}) ==
          "value 3 is used at position 2 before anything defines it");
    use.other = no_value;
    CHECK(printed(counterexample{fault::used_undefined, use}) ==
          "value 3 is used at position 2 and never defined, and is neither input nor external");
}

TEST_CASE("a counterexample prints to any stream that takes text, and to no other")
{
    counterexample const w{fault::off_pin, counterexample::place{.value = 1, .begin = 8, .needed = 16}};
    only_text out;
    out << w;
    CHECK(out.written == printed(w));
    CHECK(writes_to<std::ostream>);
    CHECK(!writes_to<only_numbers>);
}

namespace {

/// Not equal to the payload that `change` changes.
template <class Payload, class... Changes>
void check_each_counts(Payload const& payload, Changes... changes)
{
    counterexample const w{fault::clash, payload};
    CHECK(w == counterexample{fault::clash, Payload(payload)});
    auto check = [&](auto change) {
        Payload other = payload;
        change(other);
        CHECK(counterexample{fault::clash, other} != w);
    };
    (check(changes), ...);
}

} // namespace

#define ADDS_TO(member) [](auto& x) { ++x.member; }

TEST_CASE("counterexamples are equal if all their members are")
{
    using is = counterexample;
    auto const change_fact = [](auto& x) { x.fact = "size"; };
    check_each_counts(is::overlap{.value = 1, .other = 2, .step = 3, .needed_at = 4, .position = 5},
                      ADDS_TO(value), ADDS_TO(other), ADDS_TO(step), ADDS_TO(needed_at), ADDS_TO(position),
                      ADDS_TO(pool), ADDS_TO(begin), ADDS_TO(end));
    check_each_counts(is::place{.value = 1}, ADDS_TO(value), ADDS_TO(pool), ADDS_TO(begin), ADDS_TO(end),
                      ADDS_TO(needed));
    check_each_counts(is::view{.value = 1, .other = 2, .step = 3}, ADDS_TO(value), ADDS_TO(other),
                      ADDS_TO(step), ADDS_TO(pool), ADDS_TO(begin), ADDS_TO(end), ADDS_TO(needed),
                      change_fact);
    check_each_counts(is::access{.value = 1, .other = 2, .step = 3, .position = 4}, ADDS_TO(value),
                      ADDS_TO(other), ADDS_TO(step), ADDS_TO(position), ADDS_TO(begin), ADDS_TO(end),
                      [](auto& x) { x.is_given = true; });
    check_each_counts(is::waiting{.step = 1, .position = 2, .earlier = 3, .value = 4, .other = 5},
                      ADDS_TO(step), ADDS_TO(position), ADDS_TO(earlier), ADDS_TO(value), ADDS_TO(other),
                      ADDS_TO(pool), ADDS_TO(begin), ADDS_TO(end));
    check_each_counts(is::timing{.step = 1, .other = 2}, ADDS_TO(step), ADDS_TO(other), ADDS_TO(start),
                      ADDS_TO(end), ADDS_TO(most), ADDS_TO(of));
    check_each_counts(is::slots{.value = 1, .other = 2, .slot = 3, .step = 4, .written = 5}, ADDS_TO(value),
                      ADDS_TO(other), ADDS_TO(slot), ADDS_TO(step), ADDS_TO(written));
    check_each_counts(is::buffers{.buffer = 1, .other = 2, .position = 3}, ADDS_TO(buffer), ADDS_TO(other),
                      ADDS_TO(position), ADDS_TO(pool), ADDS_TO(begin), ADDS_TO(end), ADDS_TO(needed));
    check_each_counts(is::proof{}, ADDS_TO(pool), ADDS_TO(bytes), ADDS_TO(found),
                      [](auto& x) { x.text = "is none"; });
    check_each_counts(is::renaming{.step = 1, .value = 2, .name = 3, .expected = {4, 5}, .found = {6, 7}},
                      ADDS_TO(step), ADDS_TO(operand), ADDS_TO(value), ADDS_TO(name), ADDS_TO(expected.step),
                      ADDS_TO(expected.operand), ADDS_TO(found.step), ADDS_TO(found.operand));
    check_each_counts(is::commands{.first = 1,
                                   .second = 2,
                                   .first_step = 3,
                                   .second_step = 4,
                                   .first_value = 5,
                                   .second_value = 6,
                                   .block = 7},
                      ADDS_TO(first), ADDS_TO(second), ADDS_TO(first_stream), ADDS_TO(second_stream),
                      ADDS_TO(first_step), ADDS_TO(second_step), ADDS_TO(first_value), ADDS_TO(second_value),
                      ADDS_TO(block), ADDS_TO(begin), ADDS_TO(end));

    counterexample const w = example_of(fault::overwritten);
    CHECK(w == counterexample(w));
    for (auto change :
         {+[](counterexample& x) { x.what = fault::clash; }, +[](counterexample& x) { x.of = is::overlap{}; },
          +[](counterexample& x) { x.schedule = {1, 0}; }, +[](counterexample& x) { x.at_shape.emplace(); },
          +[](counterexample& x) { x.value_in_tree.program = 1; },
          +[](counterexample& x) { x.other_in_tree.value = 1; }, +[](counterexample& x) { x.name(1, "a"); },
          +[](counterexample& x) { x.name_step(1, "a"); }}) {
        counterexample other = w;
        change(other);
        CHECK(other != w);
    }
}

#undef ADDS_TO

// --- steps in any order ------------------------------------------------------------------------------------

namespace {

counterexample overwritten(step_id needed_at = 9)
{
    return {fault::overwritten,
            counterexample::overlap{
                .value = 3, .other = 5, .step = 7, .needed_at = needed_at, .pool = 1, .end = 64}};
}

} // namespace

TEST_CASE("a conflict prints as a sentence with both steps, both values and the bytes")
{
    CHECK(printed(overwritten()) ==
          "step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 1, "
          "where value 3 lies, which step 9 touches");
    CHECK(printed(overwritten(7)) ==
          "step 7 writes value 5 over bytes [0, 64) of pool 1, where value 3 lies, which the "
          "step itself touches");
    CHECK(printed(overwritten(no_step)) ==
          "step 7 writes value 5 over bytes [0, 64) of pool 1, where value 3 lies, an output");
    counterexample const given{fault::clash,
                               counterexample::overlap{.value = 3, .other = 5, .pool = 1, .end = 64}};
    CHECK(printed(given) == "values 3 and 5 are both there from the start and share bytes [0, 64) of pool 1");
}

TEST_CASE("a fault of steps in any order names the step")
{
    counterexample w{fault::used_undefined, counterexample::access{.value = 3, .other = 3, .step = 2}};
    CHECK(printed(w) == "value 3 is used at step 2 before anything defines it");
    w.what = fault::several_defs;
    CHECK(printed(w) == "value 3 is written at step 2 and is already defined: make each version a value of "
                        "its own first");
    w = {fault::cycle, counterexample::waiting{.step = 2}};
    CHECK(printed(w) == "step 2 waits for itself: the order has a cycle");
    w.schedule = {5, 7, 2};
    w.name_step(7, "pack");
    CHECK(printed(w) ==
          "step 2 waits for itself: the order has a cycle: step 5 before 'pack' before 2 before 5");
    w.schedule.clear();
    for (step_id s = 10; s != 18; ++s) w.schedule.push_back(s);
    std::string const before = "step 2 waits for itself: the order has a cycle: step 10 before 11 before 12 "
                               "before 13 before ";
    CHECK(printed(w) == before + "14 before 15 before 16 before 17 before 10");
    for (step_id s = 18; s != 21; ++s) w.schedule.push_back(s);
    CHECK(printed(w) == before + "3 more before 17 before 18 before 19 before 20 before 10");
    w = {fault::leads_back, counterexample::waiting{.position = 9}, {4, 3}};
    w.name_step(3, "draw");
    CHECK(printed(w).find("an edge or a hand-off from position 9 to step 'draw' goes backward") == 0);
    CHECK(w.steps() == std::vector<step_id>{4, 3});
}

TEST_CASE("a fault of a schedule names its steps and times")
{
    counterexample w{fault::too_early,
                     counterexample::timing{.step = 4, .other = 2, .start = 3, .end = 5, .of = 1}};
    CHECK(printed(w) == "step 4 starts at 3, before step 2, for which it waits, ends at 5");
    CHECK(w.step() == 4);
    CHECK(w.steps() == std::vector<step_id>{4, 2});
    w.what = fault::busy_worker;
    CHECK(printed(w) == "step 4 starts at 3 on worker 1, which runs step 2 until 5");
    w.of = counterexample::timing{.step = 4, .end = 2, .of = 3};
    CHECK(printed(w) == "step 4 runs on worker 3, and there are only 2");
    w = {fault::over_group, counterexample::timing{.step = 4, .start = 3, .end = 2, .most = 2, .of = 1}};
    w.name_step(4, "fetch");
    counterexample const crossed{fault::over_group,
                                 counterexample::timing{.step = 4, .other = 2, .most = 1, .of = 1}};
    CHECK(printed(crossed) == "no order was found that keeps group 1: step 4 begins a section before that of "
                              "step 2 has ended, and at most 1 may run at once");
    CHECK(printed(w) ==
          "step 'fetch' begins a section of group 1 at 3, while 2 others run, and at most 2 may "
          "run at once");
}

// --- shapes, trees and names ------------------------------------------------------------------------------

TEST_CASE("of a plan for every shape, the sentence begins with the shape")
{
    counterexample w{
        .what = fault::unplaced, .of = counterexample::place{.value = 3}, .at_shape = {{8, 512}}};
    CHECK(printed(w) == "for the shape (8, 512): value 3 needs storage and has none");
    w.at_shape->clear();
    CHECK(printed(w) == "it is not proved for every shape: value 3 needs storage and has none");
}

TEST_CASE("of a nested plan, the sentence ends with the programs of the values")
{
    counterexample w{fault::clash, counterexample::overlap{.value = 3, .other = 7, .position = 1, .end = 8}};
    w.value_in_tree = {2, 0};
    w.other_in_tree = {0, 5};
    CHECK(printed(w) == "values 3 and 7 are both alive at position 1 and share bytes [0, 8) of pool 0; "
                        "3 is value 0 of program 2; 7 is value 5 of program 0");
}

TEST_CASE("names that the caller gives replace the ids of values and steps")
{
    counterexample w = overwritten();
    w.name(5, "cache");
    w.name_step(9, std::string("soft\0max", 8));
    CHECK(printed(w) ==
          "step 7 need not wait for step 'softmax', and writes value 'cache' over bytes [0, 64) "
          "of pool 1, where value 3 lies, which step 'softmax' touches");
    w = {fault::clash, counterexample::overlap{.value = 3, .other = 7, .step = 4, .position = 1, .end = 8}};
    w.value_in_tree = {2, 0};
    w.name(3, "a");
    w.name(7, "b");
    w.name_step(4, "add");
    CHECK(printed(w) ==
          "values 'a' and 'b' are both alive at position 1 ('add') and share bytes [0, 8) of pool 0");
    only_text out;
    out << w;
    CHECK(out.written == printed(w));
    CHECK(w.name_of(8) == nullptr);
    CHECK(w.name_of(4) == nullptr); // a step has this name, and no value
    CHECK(std::string(w.name_of_step(4)) == "add");
}

// --- verdicts --------------------------------------------------------------------------------------------

TEST_CASE("a verdict holds, or it has an error")
{
    counterexample const why = overwritten();
    verdict const holds, fails = why;
    CHECK(holds);
    CHECK(!fails);
    CHECK(fails.error() == why);
    CHECK(verdict(std::optional<counterexample>()));
    CHECK(!verdict(std::optional(why)));
    CHECK(verdict(std::optional(why)).error() == why);
    CHECK(holds == verdict());
    CHECK(holds != fails);
    CHECK(fails == verdict(why));
    CHECK(fails != verdict(overwritten(7)));
}

TEST_CASE("a verdict is copied with its error, and moved")
{
    verdict const first = overwritten();
    verdict copy = first;
    CHECK(copy == first);
    copy.error().name(5, "cache");
    CHECK(copy != first);
    CHECK(first.error() == overwritten());
    verdict moved = std::move(copy);
    CHECK(moved != first);
    moved = first;
    CHECK(moved == first);
    moved = moved.error().what == fault::overwritten ? verdict() : moved;
    CHECK(moved);
    moved = std::move(copy = overwritten(7));
    CHECK(moved.error() == overwritten(7));
    verdict& same = moved;
    moved = same;
    CHECK(moved.error() == overwritten(7));
}

TEST_CASE("what has failed and was moved from still fails, and says that its error is gone")
{
    verdict from = overwritten(), holds;
    verdict const to = std::move(from);
    CHECK(to.error() == overwritten());
    CHECK(!from); // NOLINT(bugprone-use-after-move)
    CHECK_THROWS_WITH_AS(static_cast<void>(from.error()),
                         "sublet: this has failed, and its error was moved away", precondition_error);
    CHECK(from != to);
    verdict const copy = from;
    CHECK(!copy);
    CHECK(!holds.refute(from));
    CHECK(!holds);
    from = {};
    CHECK(from);
}

TEST_CASE("a name that is given later replaces the one before, and text is compared by its characters")
{
    counterexample why{fault::unplaced, counterexample::place{.value = 3}};
    why.name(3, "first");
    why.name(3, std::string("second"));
    counterexample same{fault::unplaced, counterexample::place{.value = 3}};
    same.name(3, static_cast<char const*>("second"));
    CHECK(why == same);
    CHECK(printed(why) == "value 'second' needs storage and has none");
    counterexample both{fault::not_dominated, counterexample::access{.value = 3, .step = 3}};
    both.name(3, "value");
    both.name_step(3, "step"); // of another kind
    CHECK(printed(both) ==
          "value 'value' is used at step 'step', and some path leads there without its definition");
    std::string const pool = "pool";
    counterexample const one{fault::unlike_root, counterexample::view{.fact = "pool"}};
    CHECK(one == counterexample{fault::unlike_root, counterexample::view{.fact = pool.c_str()}});
    CHECK(one != counterexample{fault::unlike_root, counterexample::view{.fact = "role"}});
    CHECK(!printed(counterexample{fault::unlike_root, counterexample::view{.fact = nullptr}}).empty());
}

TEST_CASE("what holds has no error, and to ask for one throws")
{
    verdict holds;
    CHECK_THROWS_AS(static_cast<void>(holds.error()), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(std::as_const(holds).error()), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(verdict().error()), precondition_error);
}

TEST_CASE("a verdict fails with the error of another one, and with nothing else")
{
    verdict all;
    CHECK(all.refute({}));
    CHECK(all.refute(std::optional<counterexample>()));
    CHECK(all);
    CHECK(!all.refute(overwritten()));
    CHECK(!all);
    CHECK(all.error() == overwritten());
    CHECK(!all.refute(verdict())); // that holds, and this stays refuted
    CHECK(all.error() == overwritten());
    CHECK(!all.refute(overwritten(7))); // the last one counts
    CHECK(all.error() == overwritten(7));
}

TEST_CASE("an error is given names, and that of a temporary stays valid")
{
    verdict fails = overwritten();
    fails.error().name(5, "cache");
    CHECK(printed(fails.error()).find("'cache'") != std::string::npos);
    counterexample const& kept = verdict(overwritten()).error();
    CHECK(kept == overwritten());
}

} // namespace this_test
