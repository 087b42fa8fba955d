// SPDX-License-Identifier: BSL-1.0
#include "../../bench/frame_graphs.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Values that are made by the step of their first position and read by the last one of their lives.
struct rectangles {
    struct one {
        position_id first, last;
        byte_count bytes;
        pool_id pool = 0;
        byte_count pinned = no_offset, alignment = 1;
    };
    std::vector<one> all;

    snapshot program() const
    {
        position_id steps = 0;
        for (one const& b : all) steps = std::max(steps, b.last);
        return sequence(steps, all.size(), [this](auto step, effect_sink& sink) {
            for (value_id v = 0; v != all.size(); ++v) {
                if (+all[v].first == +step) sink.def(v);
                else if (+all[v].last == step + 1u) sink.use(v);
            }
        });
    }
    plan_options options() const
    {
        return {.bytes = [this](value_id v) { return all[v].bytes; },
                .alignment = [this](value_id v) { return all[v].alignment; },
                .pool = [this](value_id v) { return all[v].pool; },
                .pinned = [this](value_id v) { return all[v].pinned; }};
    }
    planned_memory plan(memory_plan const& previous = {}, double keep_within = 0) const
    {
        plan_options how = options();
        how.previous = previous;
        how.keep_within = keep_within;
        return plan_memory(program(), how);
    }
};

std::string text_of(std::vector<counterexample> const& moved)
{
    std::ostringstream text;
    for (counterexample const& one : moved) text << one << '\n';
    return text.str();
}

std::vector<value_id> moved_in(memory_plan const& before, memory_plan const& now)
{
    std::vector<value_id> moved;
    for (value_id v = 0; v != now.buffer_of.size() && v != before.buffer_of.size(); ++v)
        if (now.offset_of(v) != no_offset && before.offset_of(v) != no_offset &&
            (now.offset_of(v) != before.offset_of(v) || now.pool_of(v) != before.pool_of(v)))
            moved.push_back(v);
    return moved;
}

std::vector<value_id> values_of(std::vector<counterexample> const& moved)
{
    std::vector<value_id> values;
    for (counterexample const& one : moved) values.push_back(one.value());
    return values;
}

/// The fewest values of `before` that have to lie elsewhere if the arena of pool 0 ends at `height`: all
/// offsets of each value are tried.
class fewest_moved {
public:
    fewest_moved(rectangles const& of, std::vector<byte_count> const& before, byte_count height)
        : of_(of.all), before_(before), height_(height), at_(of.all.size())
    {
        place(0, 0);
    }
    std::size_t fewest = 1000;

private:
    void place(std::size_t v, std::size_t moved)
    {
        if (moved >= fewest) return;
        if (v == of_.size()) {
            fewest = moved;
            return;
        }
        for (byte_count at = 0; at + of_[v].bytes <= height_; ++at) {
            bool free = at % of_[v].alignment == 0 && (of_[v].pinned == no_offset || of_[v].pinned == at);
            for (std::size_t u = 0; u != v && free; ++u)
                free = of_[u].last <= of_[v].first || of_[v].last <= of_[u].first ||
                       at_[u] + of_[u].bytes <= at || at + of_[v].bytes <= at_[u];
            if (!free) continue;
            at_[v] = at;
            place(v + 1, moved + (before_[v] != no_offset && before_[v] != at));
        }
    }
    std::vector<rectangles::one> const& of_;
    std::vector<byte_count> const& before_;
    byte_count const height_;
    std::vector<byte_count> at_;
};

} // namespace

TEST_CASE("values keep their offsets when a step is added, where a plan without the one before moves them")
{
    rectangles program{{{0, 2, 64}, {0, 3, 32}, {1, 3, 64}}};
    planned_memory const before = program.plan();
    program.all.push_back({1, 3, 100}); // the largest, which would lie lowest
    planned_memory const apart = program.plan(), now = program.plan(before.plan);
    REQUIRE(now);
    CHECK(now.bytes() == apart.bytes());
    CHECK(!moved_in(before.plan, apart.plan).empty());
    CHECK(moved_in(before.plan, now.plan).empty());
    CHECK(now.report().moved.empty());
}

TEST_CASE("a value that has to lie elsewhere is named, with what is wrong with its former place")
{
    rectangles program{{{0, 4, 32}, {1, 3, 16}}};
    planned_memory const before = program.plan();
    REQUIRE(before);
    CHECK(before.plan.offset_of(0) == 0);
    CHECK(before.plan.offset_of(1) == 32);
    auto text_with = [&](auto change, memory_plan const& previous) {
        rectangles changed = program;
        change(changed.all);
        planned_memory const now = changed.plan(previous);
        REQUIRE(now);
        CHECK(values_of(now.report().moved) == moved_in(previous, now.plan));
        return text_of(now.report().moved);
    };
    CHECK(text_with([](auto&) {}, before.plan) == "");
    CHECK(text_with([](auto& v) { v[0].bytes = 40; }, before.plan) ==
          "values 1 and 0 are both alive at position 1 and share bytes [32, 40) of pool 0\n");
    CHECK(text_with([](auto& v) { v[1].pool = 1; }, before.plan) ==
          "value 1 belongs to pool 1 and does not lie there\n");
    CHECK(text_with([](auto& v) { v[1].pinned = 48; }, before.plan) ==
          "value 1 lies at offset 32 of pool 0 and is pinned to 48\n");
    CHECK(text_with([](auto& v) { v[1].alignment = 64; }, before.plan) ==
          "values 0 and 1 are both alive at position 1 and share bytes [0, 16) of pool 0\n"
          "value 1 lies at offset 32 of pool 0, which is not a multiple of its alignment 64\n");
    CHECK(text_with([](auto& v) { v[0].bytes = 16; }, before.plan) ==
          "value 1 occupies bytes [32, 48) of pool 0, an arena of only 32\n");
}

TEST_CASE("a pin wins over the place before")
{
    rectangles program{{{0, 3, 32}, {0, 3, 32}}};
    planned_memory const before = program.plan();
    program.all[0].pinned = before.plan.offset_of(1);
    planned_memory const now = program.plan(before.plan);
    REQUIRE(now);
    CHECK(now.plan.offset_of(0) == before.plan.offset_of(1));
    CHECK(now.plan.offset_of(1) == before.plan.offset_of(0));
}

TEST_CASE("a value of another pool takes the place of none that stays")
{
    rectangles program{{{0, 3, 32, 1}, {0, 3, 64, 0}}};
    planned_memory const before = program.plan();
    program.all[1].pool = 1; // larger, and it was at offset 0, too
    planned_memory const now = program.plan(before.plan);
    CHECK(now.plan.offset_of(0) == before.plan.offset_of(0));
    CHECK(values_of(now.report().moved) == std::vector<value_id>{1});
}

TEST_CASE("offsets stay at a growth that is given, and at no more")
{
    rectangles program{{{0, 2, 100}, {0, 4, 10}}};
    planned_memory const before = program.plan();
    byte_count const second = before.plan.offset_of(1);
    REQUIRE(second == 100);
    program.all[0].bytes = 95;
    CHECK(program.plan(before.plan).bytes() == 105);
    CHECK(program.plan(before.plan, 0.04).bytes() == 105);
    planned_memory const grown = program.plan(before.plan, 0.05);
    CHECK(grown.bytes() == 110);
    CHECK(grown.report().moved.empty());
    CHECK(grown.report().lower_bound_bytes == 105);
    CHECK_THROWS_WITH_AS((void)program.plan(before.plan, -0.5),
                         "sublet: keep_within is negative, or not a number", precondition_error);
}

TEST_CASE("a capacity limits the growth")
{
    rectangles program{{{0, 2, 100}, {0, 4, 10}}};
    planned_memory const before = program.plan();
    program.all[0].bytes = 95;
    plan_options how = program.options();
    how.previous = before.plan;
    how.keep_within = 1;
    how.pools = {{.capacity = 109}};
    planned_memory const now = plan_memory(program.program(), how);
    REQUIRE(now);
    CHECK(now.bytes() == 105);
}

TEST_CASE("values are those of the plan before that a callable or a table says")
{
    rectangles program{{{0, 3, 32}, {0, 3, 64}}};
    planned_memory const before = program.plan();
    std::swap(program.all[0], program.all[1]);
    plan_options how = program.options();
    how.previous = before.plan;
    how.previous_value = [](value_id v) { return value_id{1u - v}; };
    planned_memory const now = plan_memory(program.program(), how);
    CHECK(now.plan.offset_of(0) == before.plan.offset_of(1));
    CHECK(now.plan.offset_of(1) == before.plan.offset_of(0));
    CHECK(now.report().moved.empty());
    how.previous_value = std::vector<int>{-1, 0};
    planned_memory const one = plan_memory(program.program(), how);
    CHECK(one.plan.offset_of(1) == before.plan.offset_of(0));
    CHECK(one.report().moved.empty());
    how.previous_value = std::vector<int>{7, -1}; // the plan before has no such value
    CHECK(plan_memory(program.program(), how).report().moved.empty());
}

TEST_CASE("a handle of a listing keeps its place, and what moved has its name")
{
    listing<std::string> before, now;
    before.step().make("a", {.bytes = 64}).make("b", {.bytes = 32});
    before.step().read("a").make("c", {.bytes = 64});
    before.step().read("b").read("c");
    auto const planned = plan_memory(before);
    now.step().make("new", {.bytes = 16});
    now.step().make("b", {.bytes = 48}).make("a", {.bytes = 64});
    now.step().read("a").make("c", {.bytes = 64});
    now.step().read("b").read("c").read("new");
    now.previous = planned;
    auto const again = plan_memory(now);
    REQUIRE(again);
    for (char const* name : {"a", "b", "c"}) CHECK(again.offset_of(name) == planned.offset_of(name));
    CHECK(again.report().moved.empty());

    now.pools = {{}, {}};
    now.facts("d", {.bytes = 8, .pool = 1});
    before.step().make("d", {.bytes = 8});
    now.step().make("d");
    now.previous = plan_memory(before);
    std::ostringstream text;
    auto const other = plan_memory(now);
    text << text_of(other.report().moved) << other;
    CHECK(text.str() ==
          "value 'd' belongs to pool 1 and does not lie there\n200 B instead of 200 B; no plan in "
          "this order goes below 200 B; 1 value moved");
}

TEST_CASE("a previous plan that is none says nothing")
{
    rectangles program{{{0, 3, 32}, {0, 3, 64}}};
    listing<int> impossible, list;
    impossible.step().read(1).make(0, {.bytes = 8});
    impossible.step().make(1, {.bytes = 8}); // after its use
    auto const none = plan_memory(impossible);
    REQUIRE(!none);
    list.step().make(0, {.bytes = 8}).make(1, {.bytes = 16});
    list.step().read(0).read(1);
    auto const apart = plan_memory(list);
    list.previous = none;
    CHECK(plan_memory(list).plan == apart.plan);
}

TEST_CASE("what is written in place over another stays where that was, and the other values say so")
{
    // before: 0 and 1 beside each other; now 1 is written over 0
    auto const program = [](bool in_place) {
        return sequence(2, 2, [=](int step, effect_sink& sink) {
            if (step == 0) sink.def(0);
            if (step == 1) {
                sink.use(0);
                sink.def(1);
                if (in_place) sink.may_overwrite(0, 1);
            }
        });
    };
    plan_options how{.bytes = 64, .role = std::vector{value_role::intermediate, value_role::output}};
    how.previous = plan_memory(program(true), {.bytes = 64}).plan;
    how.previous.buffers.push_back(how.previous.buffers[0]);
    how.previous.buffers[1].offset = 64;
    how.previous.buffer_of = {0, 1};
    planned_memory const now = plan_memory(program(true), how);
    REQUIRE(now);
    CHECK(now.plan.offset_of(0) == 0);
    CHECK(now.plan.offset_of(1) == 0);
    REQUIRE(now.report().moved.size() == 1);
    CHECK(now.report().moved[0].value() == 1);
}

TEST_CASE("storage stays where most of its values were")
{
    auto const chain = sequence(4, 3, [](int step, effect_sink& sink) {
        if (step > 0) sink.use(step - 1);
        if (step < 3) sink.def(step);
        if (step == 1 || step == 2) sink.may_overwrite(step - 1, step);
    });
    plan_options how{.bytes = 64, .keep_within = 1};
    how.previous = plan_memory(chain, how).plan;
    REQUIRE(how.previous.buffers.size() == 1);
    how.previous.buffers.push_back(how.previous.buffers[0]);
    how.previous.buffers[1].offset = 64;
    how.previous.buffer_of = {0, 1, 1};
    planned_memory const now = plan_memory(chain, how);
    REQUIRE(now);
    CHECK(now.plan.offset_of(2) == 64);
    CHECK(values_of(now.report().moved) == std::vector<value_id>{0});
    how.previous.buffer_of = {0, 0, 1};
    CHECK(plan_memory(chain, how).plan.offset_of(2) == 0);
}

TEST_CASE("planners that do not take account of a previous plan refuse it")
{
    rectangles const program{{{0, 3, 32}, {0, 3, 64}}};
    plan_options how = program.options();
    how.previous = program.plan().plan;
    CHECK_THROWS_WITH_AS((void)plan_flow(program.program().as_control_flow(), how),
                         "sublet: plan_flow does not take account of a previous plan", precondition_error);
    CHECK_THROWS_WITH_AS((void)plan_nested(program_tree(program.program()), std::vector{how}),
                         "sublet: plan_nested does not take account of a previous plan", precondition_error);
    listing<int> list;
    list.step().make(0, {.bytes = 8});
    list.previous = plan_memory(list);
    CHECK_THROWS_WITH_AS((void)plan_symbolic(list, {.bytes = formula{8}}),
                         "sublet: a plan for every shape does not take account of a previous plan",
                         precondition_error);
}

TEST_CASE("with spills, values stay until they are spilled")
{
    rectangles program{{{0, 4, 64}, {1, 3, 32}, {2, 5, 16}}};
    memory_advice const before = advise_memory(program.program(), program.options());
    program.all.push_back({1, 4, 100});
    plan_options how = program.options();
    how.previous = before.plan;
    memory_advice const now = advise_memory(program.program(), how);
    REQUIRE(now);
    CHECK(now.report().moved.empty());
    CHECK(moved_in(before.plan, now.plan).empty());
}

TEST_CASE("of up to five values as few lie elsewhere as an enumeration finds, where none have to")
{
    std::size_t none = 0, more = 0, all = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(400); seed != end; ++seed) {
        random_source pick{std::mt19937(seed)};
        auto draw = [&] {
            position_id const first = pick.below(5);
            position_id const last = first + 1 + pick.below(4);
            return rectangles::one{first, last, 1 + pick.below(5)};
        };
        rectangles program;
        for (unsigned n = 2 + pick.below(3); n != 0; --n) program.all.push_back(draw());
        planned_memory const before = program.plan();
        REQUIRE(before);
        bool const adds = pick.below(2) == 0;
        rectangles::one& other = pick.one_of(program.all);
        if (adds) program.all.push_back(draw());
        else if (pick.below(2) == 0) other.bytes = 1 + pick.below(5);
        else other = draw();
        planned_memory const apart = program.plan(), now = program.plan(before.plan);
        REQUIRE(now);
        CHECK(now.bytes() <= apart.bytes());
        std::vector<byte_count> offsets(program.all.size(), no_offset);
        for (value_id v = 0; v != before.plan.buffer_of.size(); ++v) offsets[v] = before.plan.offset_of(v);
        std::size_t const moved = moved_in(before.plan, now.plan).size();
        std::size_t const fewest = fewest_moved(program, offsets, apart.bytes()).fewest;
        INFO("seed ", seed, ": ", moved, " moved, ", fewest, " have to");
        CHECK(moved >= fewest);
        if (fewest == 0) CHECK(moved == 0);
        none += fewest == 0;
        more += moved - fewest;
        all += fewest;
    }
    MESSAGE(none, " programs in which none has to, ", all, " values have to, ", more, " more do");
    CHECK(more <= all / 10);
}

TEST_CASE("a sequence of changes of frames moves few textures, at no bytes, and each plan is proved")
{
    std::size_t apart_moved = 0, moved = 0, most_grown = 0, changes = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(4); seed != end; ++seed) {
        bench::frame_graph frame(40, seed);
        auto apart = plan_memory(frame.list()), now = apart, grown = apart;
        for (int change = 0; change != 25; ++change, ++changes) {
            frame.edit();
            auto list = frame.list();
            auto const fresh = plan_memory(list);
            list.previous = now;
            auto const again = plan_memory(list);
            list.previous = again;
            auto const same = plan_memory(list);
            list.previous = grown;
            list.keep_within = 0.01;
            auto const within = plan_memory(list);
            REQUIRE((fresh && again && within));
            CHECK(check_plan(list.program(), again.plan, list.options()));
            CHECK(again.report().is_checked);
            CHECK(same.plan == again.plan);
            CHECK(same.report().moved.empty());
            for (pool_id pool = 0; pool != 2; ++pool) {
                CHECK(again.bytes(pool) <= fresh.bytes(pool));
                CHECK(100 * within.bytes(pool) <= 101 * fresh.bytes(pool));
            }
            CHECK(again.report().moved.size() == bench::moved_textures(now, again));
            apart_moved += bench::moved_textures(apart, fresh);
            moved += bench::moved_textures(now, again);
            most_grown += bench::moved_textures(grown, within);
            // At its former place each of them breaks a rule, as the checker says.
            for (counterexample const& one : again.report().moved) {
                value_id const v = one.value();
                memory_plan tried = again.plan;
                memory_plan::placed_buffer& b = tried.buffers[tried.buffer_of[v]];
                auto const was = now.find(list.handle(v));
                REQUIRE(was);
                if (one.what == fault::wrong_pool) continue;
                b.offset = *was;
                CHECK(!check_plan(list.program(), tried, list.options()));
            }
            apart = fresh, now = again, grown = within;
        }
    }
    MESSAGE(changes, " changes: ", apart_moved, " offsets moved without `previous`, ", moved, " with, ",
            most_grown, " within 1 % of growth");
    CHECK(2 * moved < apart_moved); // of few frames; of many a ninth
    CHECK(most_grown <= moved);
}

TEST_CASE("for every schedule, too, frames move few textures, at no bytes, and each plan is proved")
{
    std::size_t apart_moved = 0, moved = 0, changes = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(4); seed != end; ++seed) {
        bench::frame_graph frame(16, seed);
        auto apart = plan_concurrent(frame.list()), now = apart;
        for (int change = 0; change != 20; ++change, ++changes) {
            frame.edit();
            auto list = frame.list();
            auto const fresh = plan_concurrent(list);
            list.previous = now;
            auto const again = plan_concurrent(list);
            list.previous = again;
            auto const same = plan_concurrent(list);
            REQUIRE((fresh && again));
            CHECK(again.report().is_checked);
            CHECK(same.plan == again.plan);
            CHECK(same.report().moved.empty());
            for (pool_id pool = 0; pool != 2; ++pool) CHECK(again.bytes(pool) <= fresh.bytes(pool));
            CHECK(again.report().moved.size() == bench::moved_textures(now, again));
            apart_moved += bench::moved_textures(apart, fresh);
            moved += bench::moved_textures(now, again);
            for (counterexample const& one : again.report().moved) {
                if (one.what == fault::wrong_pool) continue;
                memory_plan tried = again.plan;
                auto const was = now.find(list.handle(one.value()));
                REQUIRE(was);
                tried.buffers[tried.buffer_of[one.value()]].offset = *was;
                CHECK(!check_concurrent_plan(list.program(), tried, list.options()));
            }
            apart = fresh, now = again;
        }
    }
    MESSAGE(changes, " changes: ", apart_moved, " offsets moved without `previous`, ", moved, " with");
    CHECK(2 * moved < apart_moved);
}

TEST_CASE("for every schedule a pin wins, a growth is kept to, and slots refuse a previous plan")
{
    auto const two = sequence(2, 2, [](int step, effect_sink& sink) { sink.def(step); }); // in either order
    plan_options how{.bytes = std::vector{100, 10}, .role = value_role::output};
    how.previous = plan_concurrent(two, how).plan;
    REQUIRE(how.previous.offset_of(1) == 100);
    how.bytes = std::vector{95, 10};
    CHECK(plan_concurrent(two, how).bytes() == 105);
    std::vector<counterexample> const moved = plan_concurrent(two, how).report().moved;
    CHECK(text_of(moved) == "value 1 occupies bytes [100, 110) of pool 0, an arena of only 105\n");
    how.keep_within = 0.05;
    CHECK(plan_concurrent(two, how).bytes() == 110);
    CHECK(plan_concurrent(two, how).report().moved.empty());
    how.pinned = std::vector<byte_count>{10, no_offset};
    planned_concurrently const pinned = plan_concurrent(two, how);
    CHECK(pinned.plan.offset_of(0) == 10);
    CHECK(pinned.report().moved.front().what == fault::off_pin);
    CHECK_THROWS_WITH_AS(
        (void)plan_concurrent(two, how, {.strategy = concurrent_options::strategy_kind::slots}),
        "sublet: a plan of slots does not take account of a previous plan", precondition_error);
}

TEST_CASE("with hand-offs, too, frames move fewer textures, at no bytes, and each plan is proved")
{
    for (bool few_waits : {true, false}) {
        std::size_t apart_moved = 0, moved = 0, changes = 0, waiting = 0;
        for (unsigned seed = first_seed(), end = seed + rounds(4); seed != end; ++seed) {
            handoff_options const how{.workers = 2, .few_waits = few_waits};
            bench::frame_graph frame(12, seed);
            auto apart = plan_with_handoffs(frame.list(), how), now = apart;
            for (int change = 0; change != 12; ++change, ++changes) {
                frame.edit();
                auto list = frame.list();
                auto const fresh = plan_with_handoffs(list, how);
                list.previous = now;
                auto const again = plan_with_handoffs(list, how);
                list.previous = again;
                auto const same = plan_with_handoffs(list, how);
                INFO("seed ", seed, " change ", change, " few ", few_waits);
                REQUIRE((fresh && again && same));
                CHECK(again.report().is_checked);
                CHECK(check_concurrent_plan(list.program(), again.plan, list.options()));
                CHECK(same.report().arena_bytes == again.report().arena_bytes);
                waiting += !again.plan.handoffs.empty();
                CHECK(again.report().arena_bytes <= fresh.report().arena_bytes);
                CHECK(again.report().moved.size() == bench::moved_textures(now, again));
                apart_moved += bench::moved_textures(apart, fresh);
                moved += bench::moved_textures(now, again);
                apart = fresh, now = again;
            }
        }
        MESSAGE(changes, " changes: ", apart_moved, " offsets moved without `previous`, ", moved, " with; ",
                waiting, " plans have hand-offs");
        CHECK(waiting > 0);
        CHECK(moved < apart_moved);
    }
}

TEST_CASE("a program that has not changed has the same plan, and any plan before leaves a proved one")
{
    for (unsigned seed = first_seed(), end = seed + rounds(200); seed != end; ++seed) {
        random_source pick{std::mt19937(seed)};
        random_program const program = draw_program(pick, 12);
        plan_options how = program.options();
        if (pick.below(2) == 0) how.effort = effort::fast;
        planned_memory const first = plan_memory(program.program(), how);
        if (!first) continue;
        INFO("seed ", seed);
        how.previous = first.plan;
        how.keep_within = pick.below(2) == 0 ? 0 : 0.25;
        planned_memory const again = plan_memory(program.program(), how);
        REQUIRE(again);
        CHECK(again.plan == first.plan);
        CHECK(again.in_place == first.in_place);
        CHECK(again.report().moved.empty());
        for (memory_plan::placed_buffer& b : how.previous.buffers) b.offset = 8 * pick.below(16);
        how.keep_within = 0;
        planned_memory const wild = plan_memory(program.program(), how);
        REQUIRE(wild);
        CHECK(wild.report().is_checked);
        CHECK(wild.report().arena_bytes <= first.report().arena_bytes);
        CHECK(values_of(wild.report().moved) == moved_in(how.previous, wild.plan));
        for (counterexample const& one : wild.report().moved) {
            if (one.what == fault::misplaced_view) continue;
            memory_plan tried = wild.plan;
            value_id const v = one.value();
            memory_plan::placed_buffer& b = tried.buffers[tried.buffer_of[v]];
            byte_count const in_root = tried.offset_of(v) - b.offset, was = how.previous.offset_of(v);
            bool is_alone = b.over == no_buffer; // otherwise all of the storage has to move
            for (memory_plan::placed_buffer const& other : tried.buffers)
                is_alone = is_alone && other.over != tried.buffer_of[v];
            if (was < in_root || !is_alone) continue;
            b.offset = was - in_root;
            CHECK(!check_plan(program.program(), tried, how));
        }
    }
}

} // namespace this_test
