// SPDX-License-Identifier: BSL-1.0
// What a user forgets, and what is said of a view and cannot hold: each planner, checker and executor refuses
// it.
#include <sublet/analysis/internal/unclear.hpp>

#include "affine_bytes.hpp"
#include "printed.hpp"
#include "random_listing.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/schedules.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>

namespace this_test {

using namespace sublet;

namespace {

/// What planners, checkers and an executor say of a program and its options: each sentence once, and nothing
/// if all of them accept it.
std::string answers(snapshot const& p, plan_options const& options)
{
    std::set<std::string> all;
    auto add_fact = [&all](verdict const& valid) {
        std::string const text = printed(valid);
        all.insert(text.substr(0, text.find("; "))); // without the ids in a tree of programs
    };
    auto add = [&](auto const& result) { add_fact(result ? verdict{} : verdict(result.error())); };
    auto const concurrent = plan_concurrent(p, options);
    auto const sequential = plan_memory(p, options);
    auto const flow = plan_flow(p, options);
    add(sequential), add(concurrent), add(flow);
    add(plan_with_handoffs(p, options));
    schedule_curve const timed = schedules(p, options);
    add(timed);
    if (timed) add_fact(check_schedule(p, timed.points.front(), options, {}));
    add(advise_memory(p, options));
    add(plan_nested(program_tree(p), {options}));
    symbolic_options sizes{.bytes = [&options](value_id v) { return affine_bytes{options.bytes[v], 0}; }};
    sizes.alignment = options.alignment, sizes.role = options.role, sizes.alias_of = options.alias_of;
    sizes.pool = options.pool, sizes.eligible = options.eligible;
    sizes.view_offset = [&options](value_id v) { return affine_bytes{options.view_offset[v], 0}; };
    sizes.dims = batches(3);
    sizes.pinned = options.pinned;
    if (auto planned = plan_symbolic(p, sizes); options.pool_choices.empty()) {
        if (!planned) planned.figures.error().at_shape.reset();
        add(planned);
    }
    memory_plan plan = sequential.plan;
    plan.buffer_of.resize(p.values(), no_buffer);
    add_fact(check_plan(p, plan, options));
    plan = concurrent.plan;
    plan.buffer_of.resize(p.values(), no_buffer);
    add_fact(check_concurrent_plan(p, plan, options));
    plan = flow.plan;
    plan.buffer_of.resize(p.values(), no_buffer);
    add_fact(check_flow_plan(p, plan, options));
    try {
        cpu_executor run{p, options, no_plan{}, [](cpu_call const&) {}};
        all.insert("");
    } catch (unsound_plan const& e) {
        add_fact(e.why());
    }
    std::string text;
    for (std::string const& one : all)
        text += (text.empty() ? "" : " | ") + (one.empty() && all.size() > 1 ? "accepted by some" : one);
    return text;
}

std::string const accepted;

/// A step that makes 0, of 64 bytes, and one that makes its view 1.
snapshot root_and_view()
{
    return sequence(2, 2, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        else sink.view(1);
    });
}
plan_options of_view(plan_options options)
{
    options.alias_of = std::vector{no_value, value_id{0}};
    return options;
}

} // namespace

TEST_CASE("a step that reads a value and only makes a view of another one is refused")
{
    // 0: a cache; 1: what is stored; 2: its row, made by the last step
    plan_options const options{
        .bytes = std::vector{64, 8, 8},
        .role = std::vector{value_role::state, value_role::intermediate, value_role::intermediate},
        .alias_of = std::vector{no_value, no_value, value_id{0}}};
    auto program = [](auto last) {
        return sequence(2, 3, [&](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(1);
            else last(sink);
        });
    };
    std::string const forgotten =
        "step 1 reads value 1 and only makes a view of value 0: say write() if it changes "
        "bytes of that, or only_views() if it changes none";
    CHECK(answers(program([](effect_sink& s) { s.use(1), s.view(2); }), options) == forgotten);
    CHECK(answers(program([](effect_sink& s) { s.use_early(1), s.view(2), s.use(0); }), options) ==
          forgotten);
    CHECK(answers(program([](effect_sink& s) { s.use(1), s.view(2), s.write(2); }), options) == accepted);
    CHECK(answers(program([](effect_sink& s) { s.use(1), s.view(2), s.write(0); }), options) == accepted);
    CHECK(answers(program([](effect_sink& s) { s.use(1), s.view(2), s.only_views(); }), options) == accepted);
    CHECK(answers(program([](effect_sink& s) { s.use(0), s.view(2); }), options) == accepted);
    CHECK(answers(program([](effect_sink& s) { s.view(2); }), options) == accepted);
}

TEST_CASE("a step with several results may read what it likes")
{
    snapshot const p = sequence(2, 4, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(1);
        else sink.use(1), sink.view(2), sink.def(3);
    });
    CHECK(answers(p, {.bytes = 8, .alias_of = std::vector{no_value, no_value, value_id{0}, no_value}}) ==
          accepted);
}

TEST_CASE("an alignment, a pool or storage of its own that a view cannot have is refused")
{
    snapshot const p = root_and_view();
    auto const bytes = std::vector{64, 8};
    auto at_8 = [](plan_options options) {
        options.view_offset = std::vector{0, 8};
        return of_view(std::move(options));
    };
    CHECK(answers(p, at_8({.bytes = bytes, .alignment = std::vector{1, 32}})) ==
          "value 1 is a view of value 0 that begins at byte 8, which is not a multiple of its "
          "alignment 32");
    CHECK(answers(p, at_8({.bytes = bytes, .alignment = std::vector{1, 8}})) == accepted);
    CHECK(answers(p, at_8({.bytes = bytes, .alignment = 32})) ==
          accepted); // of roots: it says it of all values
    CHECK(answers(p, of_view({.bytes = bytes, .alignment = std::vector{1, 32}})) == accepted);
    CHECK(answers(p, of_view({.bytes = bytes, .pool = std::vector{1, 2}})) ==
          "value 1 is a view of value 0 in pool 2, but that lies in pool 1");
    CHECK(printed(detail::find_unclear(p, of_view({.bytes = bytes, .pool = std::vector{1, 2}}))) ==
          "value 1 is a view of value 0 in pool 2, but that lies in pool 1"); // and not the checkers alone
    CHECK(answers(p, of_view({.bytes = bytes, .pool = std::vector{1, 0}})) == accepted);
    CHECK(answers(p, of_view({.bytes = bytes, .pool = std::vector{1, 1}})) == accepted);
    auto const intermediate = value_role::intermediate;
    for (value_role role : {value_role::external, value_role::state}) // or, to a checker, given and made
        CHECK(
            answers(p, of_view({.bytes = bytes, .role = std::vector{intermediate, role}})) ==
            "value 1 is a view of value 0 and external, but that is not | value 1 is made at step 1, and is "
            "there before, as it is external or an input: say write()");
    CHECK(answers(p, of_view({.bytes = bytes, .role = std::vector{intermediate, value_role::output}})) ==
          accepted);
    CHECK(answers(p, of_view({.bytes = bytes, .eligible = std::vector{true, false}})) ==
          "value 1 is a view of value 0 with storage of its own (eligible is false), but that has "
          "planned storage");
    CHECK(answers(p, of_view({.bytes = bytes, .eligible = false})) == accepted);
    CHECK(answers(p, of_view({.bytes = bytes, .pool_choices = {{1, 2, 0}}})) ==
          "value 1 is a view of value 0 with pool 2 as a choice: its pool is that of the other");
}

TEST_CASE("a view that begins beyond its root is refused, also if its size is not said")
{
    snapshot const p = root_and_view();
    plan_options options = of_view({.bytes = std::vector{64ull, no_size}});
    options.view_offset = std::vector{0, 64};
    CHECK(answers(p, options) == accepted);
    options.view_offset = std::vector{0, 65};
    CHECK(answers(p, options) ==
          "value 1 is a view of value 0 that ends at byte 65, but there are only 64 bytes");
}

TEST_CASE("a view that begins elsewhere for each shape has its alignment for all of them, or is refused")
{
    snapshot const p = root_and_view();
    auto refused = [&p](affine_bytes offset) {
        symbolic_options options{
            .bytes = [](value_id v) { return v == 0 ? affine_bytes{64, 64} : affine_bytes{8, 0}; }};
        options.view_offset = [offset](value_id v) { return v == 0 ? affine_bytes{0, 0} : offset; };
        options.alignment = std::vector{1, 16};
        options.alias_of = std::vector{no_value, value_id{0}};
        options.dims = batches(3);
        auto const planned = plan_symbolic(p, options);
        std::string const why = planned ? "" : printed(planned.error());
        return why.substr(0, why.find(" that begins at byte"));
    };
    CHECK(refused({16, 32}).empty());
    CHECK(refused({0, 8}) == "for the shape (1): value 1 is a view of value 0");
    CHECK(refused({8, 8}) == "for the shape (2): value 1 is a view of value 0"); // a multiple for 1 and 3
    CHECK(refused({8, 0}) == "for the shape (1): value 1 is a view of value 0");
}

TEST_CASE("a listing in which a word is missing is refused, and no other")
{
    std::size_t forgetful = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_listing words = draw_listing(pick, {.by_ids = true, .orders = false});
        bool is_forgetful = false;
        for (auto& step : words.steps) {
            std::erase(step, random_listing::word{random_listing::verb::only_views, 0, 0});
            is_forgetful = is_forgetful || words.forgets_a_write(step);
        }
        painted_list const list = list_of(words);
        auto const found = detail::find_unclear(list.program(), options_of(words, list));
        REQUIRE((found && found->what == fault::forgotten_write) == is_forgetful);
        forgetful += is_forgetful;
    }
    CHECK(forgetful > rounds(100));
}

} // namespace this_test
