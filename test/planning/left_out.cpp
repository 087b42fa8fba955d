// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/listing.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/planning/stacking_of.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "../printed.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Steps that may be left out (plan_options::optional): one plan for a program and for all that is left of it.

namespace this_test {

using namespace sublet;

namespace {

/// A program of steps in the order of a list, in which some may be left out.
struct drawn_frame {
    struct value {
        byte_count bytes = 0;
        int of = -1; // a view of this one
        byte_count offset = 0;
        value_role role = value_role::intermediate;
    };
    struct step {
        std::vector<int> reads, early, makes, writes;
        std::vector<std::pair<int, int>> over;
        std::vector<int> waits; // for these steps
        bool is_optional = false;
    };
    std::vector<value> values;
    std::vector<step> steps;

    [[nodiscard]] bool touches(int s, int v) const
    {
        step const& one = steps[std::size_t(s)];
        for (auto const* list : {&one.reads, &one.early, &one.writes})
            if (std::find(list->begin(), list->end(), v) != list->end()) return true;
        for (int made : one.makes)
            if (values[std::size_t(made)].of == v) return true;
        return false;
    }
    [[nodiscard]] bool needs(int s, int other) const
    {
        for (int v : steps[std::size_t(other)].makes)
            if (s != other && touches(s, v)) return true;
        return false;
    }
    [[nodiscard]] listing<int> list(std::vector<bool> const& runs) const
    {
        listing<int> result;
        std::vector<listing<int>::step_ref> made(steps.size());
        auto facts_of = [this](int v) {
            value const& its = values[std::size_t(v)];
            return listing<int>::value_facts{.bytes = its.bytes, .role = its.role};
        };
        for (int s = 0; s != int(steps.size()); ++s) {
            if (!runs[std::size_t(s)]) continue;
            step const& one = steps[std::size_t(s)];
            auto now = made[std::size_t(s)] =
                result.step(s % 3 == 0 && !one.makes.empty() ? "" : "s" + std::to_string(s));
            for (int v : one.makes) {
                value const& its = values[std::size_t(v)];
                if (its.of < 0) now.make(v, facts_of(v));
                else now.view(v, its.of, its.offset, {.bytes = its.bytes}).write(v);
            }
            for (int v = 0; v != int(values.size()); ++v)
                if (has_role(values[std::size_t(v)].role, value_role::input) && touches(s, v))
                    result.facts(v, facts_of(v));
            for (int v : one.reads) now.read(v);
            for (int v : one.early) now.read_early(v);
            for (int v : one.writes) now.write(v);
            for (auto [in, out] : one.over) now.may_overwrite(in, out);
            for (int other : one.waits)
                if (runs[std::size_t(other)]) now.wait_for(made[std::size_t(other)]);
            now.optional(one.is_optional);
        }
        return result;
    }
};

drawn_frame draw_frame(random_source& random)
{
    drawn_frame f;
    auto new_value = [&](byte_count bytes, value_role role) {
        f.values.push_back({.bytes = bytes, .role = role});
        return int(f.values.size() - 1);
    };
    std::vector<int> there; // no views
    for (unsigned i = random.below(3); i-- != 0;)
        there.push_back(new_value(byte_count{8} * (1 + random.below(8)), value_role::input));
    unsigned const steps = 3 + random.below(12);
    for (unsigned s = 0; s != steps; ++s) {
        drawn_frame::step one;
        auto is_used = [&one](int v) {
            for (auto const* list : {&one.reads, &one.early, &one.writes})
                if (std::find(list->begin(), list->end(), v) != list->end()) return true;
            return false;
        };
        for (unsigned i = random.below(4); i-- != 0 && !there.empty();) {
            std::size_t const back = std::min<std::size_t>(there.size(), 1 + random.below(6));
            int const v = there[there.size() - back];
            if (is_used(v)) continue;
            unsigned const how = random.below(6);
            (how == 0 ? one.early : how == 1 ? one.writes : one.reads).push_back(v);
        }
        for (unsigned i = random.below(3); i-- != 0;) {
            bool const is_output = random.below(8) == 0;
            one.makes.push_back(new_value(byte_count{8} * (1 + random.below(8)),
                                          is_output ? value_role::output : value_role::intermediate));
        }
        if (!one.reads.empty() && !one.makes.empty() && random.below(2) == 0)
            one.over.push_back({one.reads.back(), one.makes.back()});
        bool const has_view = !there.empty() && random.below(6) == 0;
        if (int const of = has_view ? there.back() : -1; has_view && !is_used(of)) {
            f.values.push_back({.bytes = f.values[std::size_t(of)].bytes / 2, .of = of});
            one.makes.push_back(int(f.values.size() - 1));
        }
        for (int v : one.makes)
            if (f.values[std::size_t(v)].of < 0) there.push_back(v);
        for (unsigned i = random.below(3); i-- != 0 && s != 0;)
            if (int const other = int(random.below(s));
                std::find(one.waits.begin(), one.waits.end(), other) == one.waits.end())
                one.waits.push_back(other);
        one.is_optional = random.below(3) == 0;
        f.steps.push_back(one);
    }
    for (int s = 0; s != int(steps); ++s) // what takes data of an optional step is optional, too
        for (int other = 0; other != s; ++other)
            if (f.steps[std::size_t(other)].is_optional && f.needs(s, other))
                f.steps[std::size_t(s)].is_optional = true;
    return f;
}

/// Some of the optional steps with all that they need, and the others.
std::vector<bool> draw_rest(random_source& random, drawn_frame const& f)
{
    unsigned const percent = 10 + random.below(90);
    std::vector<bool> runs(f.steps.size(), true);
    for (int s = 0; s != int(runs.size()); ++s) {
        if (f.steps[std::size_t(s)].is_optional) runs[std::size_t(s)] = random.below(100) < percent;
        for (int other = 0; other != s; ++other)
            if (!runs[std::size_t(other)] && f.needs(s, other)) runs[std::size_t(s)] = false;
    }
    return runs;
}

/// a, x and b, which x orders: a ─► x ─► b.
listing<std::string> a_x_b(bool x_is_optional = true)
{
    listing<std::string> list;
    auto a = list.step("a").make("p", {.bytes = 8}).make("r", {.bytes = 8, .role = value_role::output});
    list.step("a2").read("p");
    auto x = list.step("x").make("q", {.bytes = 4}).wait_for(a).wait_for("a2").optional(x_is_optional);
    list.step("b").wait_for(x).make("s", {.bytes = 8, .role = value_role::output});
    return list;
}

} // namespace

TEST_CASE("a plan serves whatever is left of its program")
{
    unsigned plans = 0, left = 0, without_order = 0;
    for (unsigned seed = first_seed(), last = seed + rounds(400); seed != last; ++seed) {
        random_source random{std::mt19937(seed)};
        drawn_frame const f = draw_frame(random);
        auto const all = f.list(std::vector<bool>(f.steps.size(), true));
        auto why = [](auto const& result) { return result ? std::string() : printed(result.error()); };
        auto serves = [&](auto const& planned, auto const& plan_of_others) {
            CAPTURE(seed);
            REQUIRE_MESSAGE(planned, why(planned));
            ++plans;
            for (unsigned tries = 0; tries != 6; ++tries) {
                std::vector<bool> const runs = draw_rest(random, f);
                auto const rest = f.list(runs);
                auto const fitted = fits(planned, rest);
                left += rest.steps() != all.steps();
                CHECK_MESSAGE(fitted, why(fitted));
                plan_of_others(planned, rest);
            }
        };
        auto nothing = [](auto const&, auto const&) {};
        // Without the hand-offs that stand for a step which is left out, some plans do not serve.
        auto try_without_order = [&](auto const& planned, auto const& rest) {
            auto own = planned;
            own.plan.handoffs.clear();
            without_order += !fits(own, rest);
        };
        serves(plan_memory(all), nothing);
        serves(plan_concurrent(all), try_without_order);
        serves(plan_with_handoffs(all, {.workers = 1 + random.below(3), .minimum_gain = 0}), nothing);
    }
    CHECK(plans >= rounds(400) * 3);
    CHECK(left >= rounds(400));
    CHECK(without_order >= rounds(400) / 100);
}

TEST_CASE("a plan that a checker accepts serves whatever is left of its program")
{
    unsigned accepted = 0, refused = 0;
    for (unsigned seed = first_seed(), last = seed + rounds(1000); seed != last; ++seed) {
        random_source random{std::mt19937(seed)};
        drawn_frame const f = draw_frame(random);
        auto const all = f.list(std::vector<bool>(f.steps.size(), true));
        auto change_and_check = [&](auto planned, auto check) {
            REQUIRE(planned);
            memory_plan& plan = planned.plan;
            auto const size = [](auto const& of) { return std::uint32_t(of.size()); };
            unsigned const what = random.below(3);
            if (what == 0 && !plan.handoffs.empty()) {
                plan.handoffs.erase(plan.handoffs.begin() + random.below(size(plan.handoffs)));
            } else if (what == 1 && !plan.handoffs.empty()) {
                handoff& one = random.one_of(plan.handoffs);
                one.from = step_id::of(random.below(1 + one.from));
            } else if (!plan.buffers.empty()) {
                buffer_id const b = buffer_id::of(random.below(size(plan.buffers)));
                buffer_id const other = buffer_id::of(random.below(size(plan.buffers)));
                plan.buffers[b].offset = plan.buffers[other].offset;
            }
            bool const holds = bool(check(all, plan));
            ++(holds ? accepted : refused);
            for (unsigned tries = 0; holds && tries != 6; ++tries) {
                auto const fitted = fits(planned, f.list(draw_rest(random, f)));
                CAPTURE(seed);
                CHECK_MESSAGE(fitted, printed(fitted.error()));
            }
        };
        change_and_check(plan_memory(all),
                         [](auto const& list, auto const& plan) { return check_plan(list, plan); });
        auto check_any = [](auto const& list, auto const& plan) { return check_concurrent_plan(list, plan); };
        change_and_check(plan_concurrent(all), check_any);
        change_and_check(plan_with_handoffs(all, {.workers = 1, .minimum_gain = 0}), check_any);
    }
    CHECK(accepted >= rounds(1000) / 2);
    CHECK(refused >= rounds(1000) / 2);
}

TEST_CASE("an order that stands on an optional step has a hand-off")
{
    auto const list = a_x_b();
    auto const planned = plan_concurrent(list);
    REQUIRE(planned);
    CHECK(planned.plan.offset_of(list.id("s")) == planned.plan.offset_of(list.id("p"))); // s takes its bytes
    CHECK(planned.plan.handoffs == std::vector<handoff>{{0, 3}, {1, 3}});
    CHECK(plan_concurrent(a_x_b(false)).plan.handoffs.empty());

    memory_plan without = planned.plan;
    without.handoffs = {{0, 3}};
    auto const valid = check_concurrent_plan(list, without);
    REQUIRE(!valid);
    CHECK(valid.error().what == fault::order_left_out);
    CHECK(printed(valid.error()) ==
          "step 'b' waits for step 'a2' by way of step 'x' alone, which may be left "
          "out: a hand-off between the two is missing");
}

TEST_CASE("a chain of optional steps keeps the order of what is around it")
{
    listing<int> list;
    auto a = list.step("a").make(0, {.bytes = 8});
    auto x = list.step("x").optional().wait_for(a);
    auto y = list.step("y").optional().wait_for(x);
    list.step("b").wait_for(y).make(1, {.bytes = 8});
    auto const planned = plan_concurrent(list);
    REQUIRE(planned);
    std::vector<handoff> found = planned.plan.handoffs;
    std::sort(found.begin(), found.end(),
              [](handoff h, handoff i) { return std::pair(h.from, h.to) < std::pair(i.from, i.to); });
    CHECK(found == std::vector<handoff>{{0, 2}, {0, 3}, {1, 3}});
    for (std::size_t i = 0; i != found.size(); ++i) { // each is needed
        memory_plan without = planned.plan;
        without.handoffs.erase(without.handoffs.begin() + std::ptrdiff_t(i));
        CHECK(!check_concurrent_plan(list, without));
    }
}

TEST_CASE("past a step that is there whenever it is waited for no hand-off is needed")
{
    listing<int> list;
    auto a = list.step("a").make(0, {.bytes = 8});
    auto a2 = list.step("a2");
    auto x = list.step("x").make(1, {.bytes = 8}).optional().wait_for(a).wait_for(a2);
    list.step("y").read(1).make(2, {.bytes = 8}).optional();
    list.step("b").read(2).wait_for(x).optional();
    list.step("c").read(2).wait_for(x).optional();
    auto const planned = plan_concurrent(list);
    REQUIRE(planned);
    CHECK(planned.plan.handoffs.empty());
    list.step("d").wait_for(x).wait_for(a); // without data of x
    CHECK(plan_concurrent(list).plan.handoffs == std::vector<handoff>{{1, 6}});
}

TEST_CASE("what takes data of an optional step is optional, or refused by name")
{
    listing<std::string> list;
    list.step("bloom").make("light", {.bytes = 8}).optional();
    list.step("draw").read("light").make("picture", {.bytes = 8, .role = value_role::output});
    auto says = [](auto const& planned) {
        return planned ? std::string("a plan") : printed(planned.error());
    };
    std::string const why =
        "value 'light' is used at step 'draw', but made by step 'bloom', which may be left "
        "out without that";
    CHECK(says(plan_memory(list)) == why);
    CHECK(says(plan_concurrent(list)) == why);
    CHECK(says(plan_with_handoffs(list)) == why);
    auto const options = list.options();
    plan_options full = options;
    full.optional.clear();
    memory_plan const plan = plan_memory(list.program(), full).plan;
    CHECK(printed(check_plan(list.program(), plan, options).error()) ==
          "value 0 is used at step 1, but made by step 0, which may be left out without that");
    memory_plan const any = plan_concurrent(list.program(), full).plan;
    CHECK(check_concurrent_plan(list.program(), any, options).error().what == fault::needs_left_out);
    CHECK(check_concurrent_plan(list.program(), any, full));

    listing<std::string> views; // a view of what an optional step makes
    views.step("make").make("whole", {.bytes = 8}).optional();
    views.step("cut").view("half", "whole", 4, {.bytes = 4});
    for (bool check : {true, false}) {
        views.check = check;
        CHECK(says(plan_memory(views)) ==
              "value 'whole' is used at step 'cut', but made by step 'make', which "
              "may be left out without that");
    }
}

TEST_CASE("a step that may be the first one does not take the bytes of an input")
{
    listing<std::string> list;
    list.facts("in", {.bytes = 8, .role = value_role::input});
    list.step("x").optional();
    list.step("s").read_early("in").make("out", {.bytes = 8, .role = value_role::output});
    plan_options options = list.options();
    CHECK(plan_memory(list).report().arena_bytes == 16);
    options.optional.clear();
    auto const in_place = plan_memory(list.program(), options);
    CHECK(in_place.report().arena_bytes == 8);
    CHECK(check_plan(list.program(), in_place.plan, options));
    CHECK(check_plan(list, in_place.plan).error().what == fault::clash);
}

TEST_CASE("bytes that only an optional step writes are data of it")
{
    auto list_of = [](bool reader_is_optional, bool writer_is_optional, value_role role) {
        listing<std::string> list;
        list.step("clear").allocate("whole", {.bytes = 8, .role = role});
        list.step("low").view("l", "whole", 0, {.bytes = 4}).write("l");
        list.step("high").view("h", "whole", 4, {.bytes = 4}).write("h").optional(writer_is_optional);
        list.step("read").read("whole").optional(reader_is_optional);
        return list;
    };
    auto says = [](auto const& list) {
        auto const planned = plan_memory(list);
        return planned ? std::string("a plan") : printed(planned.error());
    };
    std::string const why =
        "value 'whole' is used at step 'read', but bytes [4, 8) of value 'whole' are written "
        "by step 'high', which may be left out without that";
    CHECK(says(list_of(false, true, value_role::intermediate)) == why);
    CHECK(says(list_of(true, true, value_role::intermediate)) == why);
    CHECK(says(list_of(true, false, value_role::intermediate)) == "a plan");
    CHECK(
        says(list_of(true, true, value_role::output)) ==
        "value 'whole' is an output, but bytes [4, 8) of value 'whole' are written by step 'high', which may "
        "be left out");
}

TEST_CASE("a frame without a pass is served by the plan with hand-offs, whatever the numbers of its steps")
{
    auto frame = [](bool has_bloom) {
        listing<std::string> list;
        list.step("shadows").make("map", {.bytes = 64});
        if (has_bloom) {
            list.step("blur").make("blurred", {.bytes = 64}).optional();
            list.step("bloom").read("blurred").make("light", {.bytes = 32}).optional();
        }
        list.step("draw").read("map").make("color", {.bytes = 64});
        list.step("").read("color");
        list.step("tone").make("lut", {.bytes = 64});
        list.step("present").read("lut");
        return list;
    };
    auto const all = frame(true), less = frame(false);
    auto const planned = plan_with_handoffs(all, {.workers = 1, .minimum_gain = 0, .handoffs = {{4, 5}}});
    REQUIRE(planned);
    REQUIRE(!planned.plan.handoffs.empty());
    auto const fitted = fits(planned, less);
    REQUIRE(fitted);
    for (handoff h : fitted.plan.handoffs) CHECK(h.to < less.steps());
    auto has = [](auto const& of, handoff h) {
        auto const& list = of.plan.handoffs;
        return std::find(list.begin(), list.end(), h) != list.end();
    };
    // 'tone' waits for the step without a label, under the numbers of the list.
    REQUIRE(has(planned, {4, 5}));
    CHECK(has(fitted, {2, 3}));
}

TEST_CASE("an order is that of the same steps")
{
    auto frame = [](bool has_first) {
        listing<std::string> list;
        if (has_first) list.step("first").make("a", {.bytes = 8}).optional();
        list.step("second").make("b", {.bytes = 8});
        list.step("third").make("c", {.bytes = 8});
        list.step("").read("c");
        list.step("").read("b");
        return list;
    };
    auto all = frame(true);
    all.order = {2, 3, 0, 1, 4};
    auto const planned = plan_memory(all);
    REQUIRE(planned);
    auto const fitted = fits(planned, frame(false));
    REQUIRE(fitted);
    CHECK(fitted.plan.order == std::vector<node_id>{1, 2, 0, 3});
}

TEST_CASE("steps that share a label are told apart by what they make, else by their order")
{
    auto frame = [](unsigned clears, bool has_a, bool has_b = true) { // all labels are the same
        listing<std::string> list;
        list.facts("s", {.bytes = 8, .role = value_role::state});
        if (has_a) list.step("op").make("a", {.bytes = 8}).optional();
        for (; clears != 0; --clears) list.step("op").write("s");
        if (has_b) list.step("op").make("b", {.bytes = 8}).optional();
        list.step("end").make("c", {.bytes = 8});
        return list;
    };
    auto there = [&](auto const& other, std::vector<handoff> between, unsigned clears = 2) {
        auto const planned = plan_concurrent(frame(clears, true), {.handoffs = std::move(between)});
        REQUIRE(planned);
        auto const fitted = fits(planned, other);
        REQUIRE(fitted);
        return fitted.plan.handoffs;
    };
    std::vector<handoff> const all{{0, 4}, {1, 3}, {2, 4}};
    CHECK(there(frame(2, true), all) == all);
    CHECK(there(frame(2, false), {{1, 3}, {2, 4}}) == std::vector<handoff>{{0, 2}, {1, 3}});
    CHECK(there(frame(1, true), {{0, 3}, {3, 4}}) == std::vector<handoff>{{0, 2}, {2, 3}, {0, 3}});
    CHECK(there(frame(1, true, false), {{0, 1}, {0, 2}}, 0) == std::vector<handoff>{{0, 2}}); // no write is b
    auto more = [&](char const* label) { // this step makes another value than in the plan
        listing<std::string> list = frame(2, true);
        list.step(label).make(label, {.bytes = 0});
        return list;
    };
    auto const with_log = plan_concurrent(more("log"), {.handoffs = {{0, 5}}});
    REQUIRE(with_log);
    auto renamed = frame(2, true);
    renamed.step("log").make("other", {.bytes = 0});
    CHECK(fits(with_log, renamed).plan.handoffs == std::vector<handoff>{{0, 5}});
    CHECK(fits(with_log, more("op")).plan.handoffs.empty());
    auto list = frame(2, true);
    list.order = {4, 3, 1, 2, 0};
    auto const ordered = fits(plan_memory(list), frame(2, true));
    REQUIRE(ordered);
    CHECK(ordered.plan.order == list.order);
}

TEST_CASE("what keeps no optional steps refuses them by name")
{
    auto const list = a_x_b();
    auto why = [](auto call) -> std::string {
        try {
            call();
        } catch (precondition_error const& e) {
            return e.what();
        }
        return "nothing";
    };
    snapshot const p = list.program();
    plan_options const o = list.options();
    std::string const rest = " does not leave out step 2: it may not be optional";
    CHECK(why([&] { static_cast<void>(plan_flow(p, o)); }) == "sublet: plan_flow" + rest);
    CHECK(why([&] { static_cast<void>(advise_memory(list)); }) == "sublet: advise_memory" + rest);
    CHECK(why([&] { static_cast<void>(share_slots(p, o)); }) == "sublet: share_slots" + rest);
    CHECK(why([&] { static_cast<void>(versions(list)); }) == "sublet: versions" + rest);
    CHECK(why([&] { static_cast<void>(symbolic_options_of(list, {.bytes = formula(8), .dims = {}})); }) ==
          "sublet: a plan for every shape leaves out no step");
    plan_options beyond = o;
    beyond.optional = {7};
    CHECK(why([&] { static_cast<void>(plan_memory(p, beyond)); }) ==
          "sublet: step 7 may be left out, but there are only 4 steps");
    CHECK(schedules(list));
}

} // namespace this_test
