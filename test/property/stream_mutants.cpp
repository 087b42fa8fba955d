// SPDX-License-Identifier: BSL-1.0
// Stream schedules that lack a wait, a hand-off or a reference: the check finds each before the run. In sound
// schedules it finds no fault, and their results do not depend on the order that the device chooses.
// With SUBLET_ROUNDS=5 in the environment five times as many: a thousand of each.
#include <sublet/execution/detail/check_schedule.hpp>
#include <sublet/execution/detail/stream_scheduler.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/recording_device.hpp>
#include <sublet/testing/simulated_device.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../schedule_runner.hpp"
#include "../touched_cells.hpp"


#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A program, how it is run, and the bytes that its steps touch, by position.
struct subject {
    snapshot program;
    plan_options options;
    memory_plan plan = {}; // of arena mode
    bool is_arena = false, recycles = false;
    stream_options how = {};
    run_order order = {};
    stream_schedule schedule = {};
    std::vector<touched_cells> cells = {};
    std::set<std::pair<position_id, position_id>> demanded = {};

    memory_plan const* plan_or_none() const { return is_arena ? &plan : nullptr; }
    void make_order()
    {
        if (is_arena) order = run_order_of(program, options, arena{plan});
        else if (recycles) order = run_order_of(program, options, recycle{});
        else order = run_order_of(program, options, no_plan{});
    }
    void make_schedule(bool paints)
    {
        if (is_arena) schedule = schedule_streams(order, arena{plan}, how, paints);
        else if (recycles) schedule = schedule_streams(order, recycle{}, how, paints);
        else schedule = schedule_streams(order, no_plan{}, how, paints);
    }
    verdict check() const
    {
        return check_schedule(program, options, plan_or_none(), order.lowered, schedule, how);
    }
};

/// One order: with a plan, recycling, or without sharing.
subject draw_sequential(random_source& pick)
{
    random_program p = draw_program(pick, 14);
    p.drops_free_edges = true;
    subject s{.program = p.program(), .options = p.options()};
    std::uint32_t const mode = pick.below(3);
    s.is_arena = mode == 0;
    s.recycles = mode == 1;
    if (s.is_arena) s.plan = plan_memory(s.program, s.options).plan;
    s.how.streams = 2 + pick.below(7);
    s.make_order();
    s.make_schedule(pick.below(3) == 0);
    s.cells = cells_touched(p, s.plan_or_none(), s.order.lowered.step_at);
    s.demanded = required_pairs(p, s.order.lowered.step_at);
    return s;
}

void read_cells(subject& s, random_tasks const& p)
{
    s.cells.clear();
    s.demanded.clear();
    std::vector<position_id> position(p.tasks.size());
    for (position_id at = 0; at != position.size(); ++at) position[s.order.lowered.step_at[at]] = at;
    auto cells_of = [&](value_id v) {
        std::set<touched_cells::cell> cells;
        byte_count const offset = s.plan.offset_of(v);
        if (offset == no_offset) cells.insert({1000 + v, 0});
        else
            for (byte_count i = 0; i != p.bytes[v]; ++i) cells.insert({p.pool[v], offset + i});
        return cells;
    };
    for (step_id step : s.order.lowered.step_at) {
        touched_cells touched;
        for (auto const* row : {&p.tasks[step].uses, &p.tasks[step].early})
            for (value_id v : *row) touched.read.merge(cells_of(v));
        for (value_id v : p.tasks[step].defs) touched.written.merge(cells_of(v));
        s.cells.push_back(touched);
        for (node_id next : p.tasks[step].next) s.demanded.insert({position[step], position[next]});
    }
}

/// A plan for any schedule that keeps its hand-offs.
std::pair<subject, random_tasks> draw_concurrent(random_source& pick)
{
    random_tasks p = draw_tasks(pick, {.tasks = 6 + pick.below(14), .back = 6, .edges = 10, .in_place = 20});
    subject s{.program = p.program(), .options = p.options()};
    s.is_arena = true;
    s.plan = plan_with_handoffs(s.program, s.options).plan;
    s.how.streams = 2 + pick.below(7);
    s.make_order();
    s.make_schedule(false);
    read_cells(s, p);
    return {std::move(s), std::move(p)};
}

// --- the check by definition -----------------------------------------------------------------------------

/// By a scan of all pairs of commands: whether streams and events allow an order that the program forbids.
bool is_wrong(subject const& s)
{
    // The caller's own commands on stream 0 come before and after the run.
    std::vector<stream_schedule::command> list = s.schedule.commands;
    stream_schedule::command const caller{stream_schedule::action::launch, 0, no_step};
    list.insert(list.begin(), caller);
    list.push_back(caller);
    std::size_t const count = list.size();
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
    for (std::size_t b = 0; b != count; ++b) {
        std::size_t recorded = count;
        for (std::size_t a = 0; a != b; ++a) {
            if (list[a].stream == list[b].stream) before[a][b] = true;
            if (list[a].what == stream_schedule::action::record && list[a].which == list[b].which)
                recorded = a;
        }
        if (list[b].what == stream_schedule::action::wait && recorded == count) return true;
        if (list[b].what == stream_schedule::action::wait) before[recorded][b] = true;
    }
    for (std::size_t k = 0; k != count; ++k)
        for (std::size_t a = 0; a != k; ++a)
            if (before[a][k])
                for (std::size_t b = k + 1; b != count; ++b)
                    if (before[k][b]) before[a][b] = true;

    std::vector<std::size_t> launched; // by position
    for (std::size_t i = 1; i + 1 != count; ++i) {
        bool const works =
            list[i].what != stream_schedule::action::record && list[i].what != stream_schedule::action::wait;
        if (works && (!before[0][i] || !before[i][count - 1])) return true;
        if (list[i].what == stream_schedule::action::launch) launched.push_back(i);
    }
    for (position_id b = 0; b != launched.size(); ++b)
        for (position_id a = 0; a != b; ++a)
            if ((s.demanded.count({a, b}) != 0 || s.cells[a].clashes_with(s.cells[b])) &&
                !before[launched[a]][launched[b]])
                return true;

    // Overwriting dead bytes counts as a write.
    auto const whole = [&](buffer_id b) {
        touched_cells cells;
        auto const& its = s.order.lowered.table.buffers[b];
        byte_count const offset = s.is_arena ? s.plan.offset_of(its.root) : no_offset;
        if (offset == no_offset) cells.written.insert({1000 + its.root, 0});
        else
            for (byte_count k = 0; k != its.size; ++k) cells.written.insert({its.pool, offset + k});
        return cells;
    };
    for (std::size_t i = 1; i + 1 != count; ++i) {
        if (list[i].what != stream_schedule::action::fill) continue;
        for (std::size_t k = 1; k + 1 != count; ++k) {
            bool const is_ordered = k == i || before[k][i] || before[i][k];
            if (list[k].what == stream_schedule::action::fill && !is_ordered &&
                whole(list[k].which).clashes_with(whole(list[i].which)))
                return true;
            if (list[k].what == stream_schedule::action::launch && !is_ordered &&
                s.cells[list[k].which].clashes_with(whole(list[i].which)))
                return true;
        }
    }

    // For each buffer: its block, from allocation to release, by any of its ids. All that touch it come
    // before the release, and before the step that has a result in it next.
    for (std::size_t i = 1; i + 1 != count; ++i) {
        bool const is_release = list[i].what == stream_schedule::action::release;
        if (!is_release && list[i].what != stream_schedule::action::transfer_block) continue;
        std::set<buffer_id> names{is_release ? buffer_id{list[i].which} : list[i].from};
        std::size_t const step = is_release ? count : *std::upper_bound(launched.begin(), launched.end(), i);
        for (std::size_t k = i; k-- != 0;)
            if (list[k].what == stream_schedule::action::transfer_block && names.count(list[k].which) != 0)
                names.insert(list[k].from);
        for (std::size_t k = 1; k + 1 != count; ++k) {
            bool const fills =
                list[k].what == stream_schedule::action::fill && names.count(list[k].which) != 0;
            bool touches = fills;
            for (buffer_id b : names)
                touches = touches || (list[k].what == stream_schedule::action::launch &&
                                      s.cells[list[k].which].clashes_with(whole(b)));
            bool const makes =
                list[k].what == stream_schedule::action::allocate && names.count(list[k].which) != 0;
            if ((touches || makes) && k != step && !(k < i && before[k][i])) return true;
        }
    }
    return false;
}

// --- runs ------------------------------------------------------------------------------------------------

std::vector<simulated_options> adversaries(unsigned seed)
{
    return {{.order = simulated_options::order_kind::latest_first},
            {.order = simulated_options::order_kind::starve, .which = 0},
            {.order = simulated_options::order_kind::starve, .which = 1},
            {.order = simulated_options::order_kind::favour, .which = 1},
            {.order = simulated_options::order_kind::random, .seed = seed}};
}

/// Each step once as late as possible, the others latest first.
std::vector<simulated_options> each_step_late(subject const& s)
{
    std::vector<simulated_options> orders;
    for (step_id step : s.order.lowered.step_at)
        orders.push_back({.order = simulated_options::order_kind::latest_first, .postponed = step});
    return orders;
}

schedule_trace run_twice(subject const& s, simulated_options const& options)
{
    simulated_device device(options);
    schedule_runner runner(device, s.order, s.schedule, s.plan_or_none());
    runner.issue(1);
    runner.issue(2);
    return runner.finish();
}

/// Steps one by one, each value in storage of its own.
schedule_trace run_serially(subject const& s)
{
    simulated_device device({.order = simulated_options::order_kind::eager});
    stream_schedule const serial = schedule_streams(s.order, no_plan{}, {.streams = 1});
    schedule_runner runner(device, s.order, serial, nullptr);
    runner.issue(1);
    runner.issue(2);
    return runner.finish();
}

bool is_shown(subject const& s, schedule_trace const& expected, std::vector<simulated_options> const& orders)
{
    for (simulated_options const& order : orders) {
        try {
            if (run_twice(s, order) != expected) return true;
        } catch (run_error const&) { // results over the scratch of a step
            return true;
        }
    }
    return false;
}

// --- mutants ---------------------------------------------------------------------------------------------

/// A random command that satisfies the predicate, if there is one.
template <class Is>
std::optional<std::size_t> any_command(random_source& pick, stream_schedule const& schedule, Is is)
{
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i != schedule.commands.size(); ++i)
        if (is(schedule.commands[i])) found.push_back(i);
    if (found.empty()) return std::nullopt;
    return pick.one_of(found);
}
std::ptrdiff_t distance(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

bool drop_wait(subject& s, random_source& pick)
{
    auto const is_wait = [](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::wait;
    };
    auto const at = any_command(pick, s.schedule, is_wait);
    if (at) s.schedule.commands.erase(s.schedule.commands.begin() + distance(*at));
    return at.has_value();
}
/// Makes a wait refer to an event that was recorded earlier than its own.
bool misdirect_wait(subject& s, random_source& pick)
{
    auto const is_late = [](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::wait && c.which != 0;
    };
    auto const at = any_command(pick, s.schedule, is_late);
    if (at) s.schedule.commands[*at].which = pick.below(s.schedule.commands[*at].which);
    return at.has_value();
}
/// Drops a hand-off derived from reused bytes, before streams are assigned.
bool drop_derived_handoff(subject& s, random_source& pick)
{
    auto& waits = s.order.waits;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i != waits.list.size(); ++i)
        if (waits.list[i].why == step_waits::kind::handoff) found.push_back(i);
    if (found.empty()) return false;
    std::size_t const at = pick.one_of(found);
    waits.list.erase(waits.list.begin() + distance(at));
    std::size_t const steps = s.order.lowered.step_at.size();
    waits.before = csr_rows<position_id, position_id>::gathered(steps, [&](auto add) {
        for (step_waits::wait const& wait : waits.list) add(wait.to, wait.from);
    });
    waits.after = waits.before.transposed(steps);
    s.make_schedule(false);
    return true;
}
/// Drops a hand-off of the plan.
bool drop_planned_handoff(subject& s, random_tasks const& p, random_source& pick)
{
    if (s.plan.handoffs.empty()) return false;
    std::uint32_t const at = pick.below(static_cast<std::uint32_t>(s.plan.handoffs.size()));
    s.plan.handoffs.erase(s.plan.handoffs.begin() + distance(at));
    s.make_order();
    s.make_schedule(false);
    read_cells(s, p);
    return true;
}
/// Moves a release before the last use, or to a stream that is not ordered after it.
bool drop_reference(subject& s, random_source& pick)
{
    auto const is_release = [](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::release;
    };
    auto const at = any_command(pick, s.schedule, is_release);
    if (!at) return false;
    auto& list = s.schedule.commands;
    if (pick.below(2) == 0) {
        list[*at].stream = pick.below(static_cast<std::uint32_t>(s.schedule.streams));
        return true;
    }
    stream_schedule::command const moved = list[*at];
    for (std::size_t k = *at; k-- != 0;) {
        if (list[k].what != stream_schedule::action::launch) continue;
        auto const touched = s.order.lowered.touched[list[k].which];
        if (std::find(touched.begin(), touched.end(), moved.which) == touched.end()) continue;
        list.erase(list.begin() + distance(*at));
        list.insert(list.begin() + distance(k), moved);
        return true;
    }
    return false;
}

struct tally {
    std::size_t wrong = 0, found = 0, shown = 0, shown_late = 0, harmless = 0, false_alarms = 0;
};

template <class Draw, class Mutate>
tally run_mutants(std::size_t count, unsigned first_seed, Draw draw, Mutate mutate)
{
    tally result;
    for (unsigned seed = first_seed; result.wrong != count && seed != first_seed + 100 * count; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto drawn = draw(pick);
        subject& s = [&]() -> subject& {
            if constexpr (requires { drawn.first; }) return drawn.first;
            else return drawn;
        }();
        if (!mutate(drawn, pick)) continue;
        bool const found = !s.check();
        if (!is_wrong(s)) { // the remaining commands imply it, on these streams
            ++result.harmless;
            result.false_alarms += found;
            CHECK(!found);
            continue;
        }
        ++result.wrong;
        result.found += found;
        CHECK(found);
        auto const expected = run_serially(s);
        bool const shown = is_shown(s, expected, adversaries(seed));
        result.shown += shown;
        result.shown_late += shown || is_shown(s, expected, each_step_late(s));
    }
    return result;
}

void report(std::string const& what, tally const& t)
{
    MESSAGE(what, ": ", t.found, " of ", t.wrong, " found, ", t.shown, " shown by five orders, ",
            t.shown_late, " by those and each step late; ", t.harmless, " harmless, ", t.false_alarms,
            " false alarms");
}

} // namespace

TEST_CASE("a sound schedule has no fault, also as issued, and gives the sequential results under five "
          "adversarial orders")
{
    std::size_t waits = 0, several = 0, sound = 0;
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        subject const s = pick.below(4) == 0 ? draw_concurrent(pick).first : draw_sequential(pick);
        if (auto const valid = s.check(); !valid) FAIL_CHECK(valid.error());
        CHECK(!is_wrong(s));
        ++sound;
        waits += s.schedule.waits;
        several += s.schedule.streams > 1;
        schedule_trace const expected = run_serially(s);
        for (simulated_options const& order : adversaries(seed)) CHECK(run_twice(s, order) == expected);
        simulated_device inner({.order = simulated_options::order_kind::random, .seed = seed});
        recording_device device(inner);
        schedule_runner runner(device, s.order, s.schedule, s.plan_or_none());
        runner.issue(1);
        runner.issue(2);
        CHECK(device.check());
        CHECK(runner.finish() == expected);
    }
    MESSAGE(sound, " sound schedules, ", several, " of them on several streams, ", waits, " waits");
    CHECK(several > sound / 2);
}

TEST_CASE("the check finds every missing or misdirected wait, hand-off and reference")
{
    std::size_t const count = std::max(rounds(40), 40u); // with fewer the ratio of failing runs means nothing
    auto const sequential = [](random_source& pick) { return draw_sequential(pick); };
    auto const of_arena = [](random_source& pick) {
        for (;;)
            if (subject s = draw_sequential(pick); s.is_arena) return s;
    };
    auto const recycling = [](random_source& pick) {
        for (;;)
            if (subject s = draw_sequential(pick); s.recycles) return s;
    };
    tally const dropped = run_mutants(2 * count, 1000, sequential, drop_wait);
    report("a wait dropped", dropped);
    CHECK(dropped.harmless == 0);
    tally const misdirected = run_mutants(count, 2000, sequential, misdirect_wait);
    report("a wait misdirected", misdirected);
    tally const derived = run_mutants(count, 3000, of_arena, drop_derived_handoff);
    report("a derived hand-off dropped", derived);
    tally const planned = run_mutants(count, 4000, draw_concurrent, [](auto& drawn, random_source& pick) {
        return drop_planned_handoff(drawn.first, drawn.second, pick);
    });
    report("a hand-off of the plan dropped", planned);
    tally const reference = run_mutants(count, 5000, recycling, drop_reference);
    report("a reference dropped", reference);
    std::size_t wrong = 0, found = 0, shown = 0, shown_late = 0;
    for (tally const& t : {dropped, misdirected, derived, planned, reference}) {
        wrong += t.wrong;
        found += t.found;
        shown += t.shown;
        shown_late += t.shown_late;
    }
    MESSAGE(found, " of ", wrong, " mutants found, ", shown, " shown by five orders, ", shown_late,
            " by those and each step late");
    CHECK(wrong == 6 * count);
    CHECK(found == wrong);
    CHECK(shown > wrong / 3);
}

} // namespace this_test
