// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/stream_schedule.hpp>

#include "../operations.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/execution/detail/check_schedule.hpp>
#include <sublet/execution/detail/operand_table.hpp>
#include <sublet/execution/detail/stream_scheduler.hpp>
#include <sublet/execution/detail/vector_clocks.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("a call has the operands of its step in program order, and its stream")
{
    // 0: -> a;   1: a -> b (a view of a), c; w is scratch
    auto const program = sequence(2, 4, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0);
        s.use(0), s.view(1), s.def(2), s.allocate(3);
    });
    plan_options const options{.bytes = {8, 4, 2, 6}, .alias_of = {-1, 0, -1, -1}};
    lowered_program const lowered = lower_program(program, options);
    std::vector<std::byte> bytes(32);
    detail::operand_table const places(lowered);
    REQUIRE(places.count() == 5);
    std::vector<std::span<std::byte>> operands(places.count());
    for (position_id at = 0; at != 2; ++at)
        places.write(operands, lowered, at, [&](value_id v) { return std::span(bytes).subspan(v, v + 1); });
    stream_call<int> const call(lowered, 1, 7, operands.data() + places[1]);
    stream_call<int> const copy = call; // a device keeps one
    CHECK(copy.stream() == 7);
    CHECK(copy.step == 1);
    CHECK(copy.in(0).data() == bytes.data());
    CHECK(copy.out(0).data() == bytes.data() + 1);
    CHECK(copy.out(1).size() == 3);
    CHECK(copy.is_view(0));
    CHECK_FALSE(copy.is_view(1));
    REQUIRE(copy.scratch_count() == 1);
    CHECK(copy.scratch().data() == bytes.data() + 3);
    CHECK_THROWS_AS((void)copy.in(1), precondition_error);
    CHECK_THROWS_AS((void)copy.out(2), precondition_error);
    CHECK_THROWS_AS((void)copy.scratch(1), precondition_error);
    CHECK_THROWS_AS((void)copy.is_view(2), precondition_error);
}

// --- check schedule ----------------------------------------------------------------------------------------

namespace {

template <class Mode>
verdict checked(snapshot const& p, plan_options const& options, Mode const& mode, memory_plan const* plan,
                stream_schedule const& schedule)
{
    return check_schedule(p, options, plan, run_order_of(p, options, mode).lowered, schedule);
}

} // namespace

TEST_CASE("for a diamond on two streams, the removal of any command except the order of releases is found")
{
    //  0: -> a     1: a -> b     2: a -> c     3: b, c -> d
    auto const p = op_list(4, {{}, {0}, {0}, {1, 2}}, {{0}, {1}, {2}, {3}});
    plan_options const options{.bytes = 64,
                               .role =
                                   std::vector<value_role>{value_role::intermediate, value_role::intermediate,
                                                           value_role::intermediate, value_role::output}};
    run_order const order = run_order_of(p, options, recycle{});
    stream_schedule const sound = schedule_streams(order, recycle{}, {.streams = 2});
    REQUIRE(sound.streams == 2);
    CHECK(checked(p, options, recycle{}, nullptr, sound));
    for (std::size_t i = 0; i != sound.commands.size(); ++i) {
        CAPTURE(i);
        stream_schedule less = sound;
        less.commands.erase(less.commands.begin() + static_cast<std::ptrdiff_t>(i));
        if (sound.commands[i].what == stream_schedule::action::launch)
            CHECK_THROWS_AS((void)checked(p, options, recycle{}, nullptr, less), precondition_error);
        else CHECK(!checked(p, options, recycle{}, nullptr, less));
    }
}

// --- commands ----------------------------------------------------------------------------------------------

TEST_CASE("a default command launches the first step on the first stream")
{
    stream_schedule::command const c;
    CHECK(c == stream_schedule::command{stream_schedule::action::launch, 0, 0, 0});
    CHECK(c != stream_schedule::command{stream_schedule::action::launch, 1, 0, 0});
    CHECK(c != stream_schedule::command{stream_schedule::action::launch, 0, 1, 0});
    CHECK(stream_schedule::command{stream_schedule::action::transfer_block, 0, 2, 1} !=
          stream_schedule::command{stream_schedule::action::transfer_block, 0, 2, 3});
}

TEST_CASE("schedules are equal if all their members are")
{
    stream_schedule const one{
        .streams = 2, .stream_of = {0, 1}, .commands = {{}, {stream_schedule::action::launch, 1, 1}}};
    stream_schedule other = one;
    CHECK(one == other);
    other.commands.pop_back();
    CHECK(one != other);
    CHECK(stream_schedule{} != one);
    CHECK(stream_options{}.streams == 4);
}

// --- vector clocks -----------------------------------------------------------------------------------------

using sublet::detail::vector_clocks;

TEST_CASE("a stream that waits for a mark is after what the mark is after, and nothing later")
{
    vector_clocks known(3);
    auto const m0 = known.mark(0), m1 = known.mark(1), m2 = known.mark(0);
    known.join_mark(1, m0);
    auto const m3 = known.mark(1);
    CHECK(known.is_after(1, m0));
    CHECK_FALSE(known.is_after(1, m2));
    CHECK_FALSE(known.is_after(2, m0));
    known.join_mark(2, m3);
    CHECK(known.is_after(2, m0));
    CHECK(known.is_after(2, m1));
    CHECK_FALSE(known.is_after(2, m2));
    CHECK(known.stream_of(m3) == 1);
}

TEST_CASE("marks cover a stream if one of them, or a mark before it, is the last of the stream")
{
    vector_clocks known(2);
    auto const m0 = known.mark(0);
    CHECK(known.covers(std::vector{m0}, 0));
    known.join_mark(1, m0);
    auto const m1 = known.mark(1);
    CHECK(known.covers(std::vector{m1}, 0));
    known.mark(0);
    CHECK_FALSE(known.covers(std::vector{m0, m1}, 0));
}

// --- schedule ----------------------------------------------------------------------------------------------

namespace {

value_role const none = value_role::intermediate, input = value_role::input, output = value_role::output;
using commands = std::vector<stream_schedule::command>;
using enum stream_schedule::action;

//     0 ─► 1 ─► 3     the diamond: x -> a, a -> b, a -> c, (b, c) -> d
//     └──► 2 ───┘
snapshot const diamond = op_list(5, {{0}, {1}, {1}, {2, 3}}, {{1}, {2}, {3}, {4}});
plan_options const diamond_options{.bytes = 64,
                                   .role = std::vector<value_role>{input, none, none, none, output}};

template <class Mode>
stream_schedule scheduled(snapshot const& p, plan_options const& o, Mode const& mode, stream_options how = {},
                          bool paints = false)
{
    return schedule_streams(run_order_of(p, o, mode, how.handoffs), mode, how, paints);
}

/// What happens before what, by following streams and events from command to command.
class command_order {
public:
    explicit command_order(commands list) : list_(std::move(list)), before_(list_.size())
    {
        std::map<std::uint32_t, std::size_t> last; // by stream
        std::map<std::uint32_t, std::size_t> recorded;
        for (std::size_t i = 0; i != list_.size(); ++i) {
            before_[i].assign(list_.size(), false);
            auto follow = [&](auto const& where, std::uint32_t key) {
                auto const found = where.find(key);
                if (found == where.end()) return;
                before_[i][found->second] = true;
                for (std::size_t k = 0; k != i; ++k)
                    if (before_[found->second][k]) before_[i][k] = true;
            };
            follow(last, list_[i].stream);
            if (list_[i].what == wait) follow(recorded, list_[i].which);
            last[list_[i].stream] = i;
            if (list_[i].what == record) recorded[list_[i].which] = i;
        }
    }
    bool is_before(std::size_t a, std::size_t b) const { return before_[b][a]; }

private:
    commands list_;
    std::vector<std::vector<bool>> before_; // by command
};

/// Every pair of commands that must keep its order, as indices in the list. The begin and the end of a run
/// are commands on stream 0.
std::vector<std::pair<std::size_t, std::size_t>> needed_pairs(run_order const& order, commands const& list,
                                                              memory_plan const* plan)
{
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    lowered_program const& lowered = order.lowered;
    std::vector<std::size_t> launch_of(lowered.step_at.size());
    for (std::size_t i = 0; i != list.size(); ++i)
        if (list[i].what == launch) launch_of[list[i].which] = i;
    auto accesses = [&](position_id at, buffer_id b) {
        auto const row = lowered.accessed[at];
        return std::find(row.begin(), row.end(), b) != row.end();
    };
    auto meet = [&](buffer_id a, buffer_id b) { // in an arena
        buffer const &one = lowered.table.buffers[a], &other = lowered.table.buffers[b];
        if (a == b || plan == nullptr || !one.is_planned() || !other.is_planned()) return a == b;
        byte_count const x = plan->offset_of(one.root), y = plan->offset_of(other.root);
        return one.pool == other.pool && x < y + other.size && y < x + one.size;
    };
    for (step_waits::wait w : order.waits.list) pairs.push_back({launch_of[w.from], launch_of[w.to]});
    for (std::size_t i = 0; i != list.size(); ++i) {
        if (i != 0) pairs.push_back({0, i});
        if (i + 1 != list.size() && list[i].what != record) pairs.push_back({i, list.size() - 1});
        for (position_id at = 0; at != lowered.positions(); ++at) {
            std::size_t const it = launch_of[at];
            bool is_needed = false;
            if (list[i].what == allocate || list[i].what == release) is_needed = accesses(at, list[i].which);
            if (list[i].what == transfer_block)
                is_needed = accesses(at, list[i].which) || (accesses(at, list[i].from) && it < i);
            for (buffer_id b : lowered.accessed[at])
                is_needed = is_needed || (list[i].what == fill && meet(b, list[i].which));
            if (is_needed) pairs.push_back(std::minmax(it, i));
        }
    }
    return pairs;
}

/// With a begin and an end.
commands between(commands list)
{
    list.insert(list.begin(), {record, 0, ~0u});
    list.insert(list.end(), {record, 0, ~0u});
    return list;
}

/// Whether blocks are allocated and released around their uses, in the order of issue.
bool blocks_are_there(run_order const& order, commands const& list, bool keeps_io_addresses)
{
    std::vector<int> has(order.lowered.ref_counts.size(), 0);
    auto its = [&](std::size_t b) -> buffer const& { return order.lowered.table.buffers[b]; };
    auto is_io = [&](std::size_t b) { return has_role(its(b).role, input) || has_role(its(b).role, output); };
    for (std::size_t b = 0; b != has.size(); ++b)
        has[b] = !its(b).is_planned() || has_role(its(b).role, input) || (keeps_io_addresses && is_io(b));
    std::vector<int> had = has;
    for (stream_schedule::command const& c : list) {
        bool const gets_block = c.what == allocate || c.what == transfer_block;
        if (gets_block && had[c.which]++ != 0) return false; // once in a run
        if (c.what == allocate && has[c.which]++ != 0) return false;
        if (c.what == release && has[c.which]-- != 1) return false;
        if (c.what == transfer_block && (has[c.which]++ != 0 || has[c.from]-- != 1)) return false;
        if (c.what == fill && has[c.which] != 1) return false;
        if (c.what == launch)
            for (buffer_id b : order.lowered.touched[c.which]) {
                bool const is_transferred =
                    has[b] == 0 && std::any_of(list.begin(), list.end(), [&](auto const& h) {
                        return h.what == transfer_block && h.from == b;
                    });
                if (has[b] != 1 && !is_transferred) return false;
            }
        if ((c.what == allocate || c.what == release) && keeps_io_addresses && is_io(c.which)) return false;
    }
    for (std::size_t b = 0; b != has.size(); ++b)
        if (has[b] !=
            (!its(b).is_planned() || has_role(its(b).role, output) || (keeps_io_addresses && is_io(b))))
            return has[b] == 0 && !its(b).life.last; // no step touches it
    return true;
}

template <class Mode>
void check_schedule_of(snapshot const& p, plan_options const& o, Mode const& mode, stream_options const& how,
                       bool paints)
{
    memory_plan const* plan = nullptr;
    if constexpr (std::same_as<Mode, arena>) plan = &mode.plan;
    run_order const order = run_order_of(p, o, mode);
    stream_schedule const s = schedule_streams(order, mode, how, paints);
    REQUIRE(s.streams <= how.streams);
    commands const list = between(s.commands);
    auto const needed = needed_pairs(order, list, plan);
    command_order const all(list);
    for (auto [a, b] : needed) REQUIRE(all.is_before(a, b));
    if (plan == nullptr) REQUIRE(blocks_are_there(order, s.commands, how.keeps_io_addresses));
    std::size_t waits = 0;
    for (std::size_t i = 0; i != list.size(); ++i) {
        if (list[i].what != wait) continue;
        ++waits;
        commands fewer = list;
        fewer[i].what = record; // of an event without waits: the indices stay
        fewer[i].which = static_cast<std::uint32_t>(s.events);
        command_order const rest(fewer);
        bool const is_missed = std::any_of(needed.begin(), needed.end(), [&](auto pair) {
            return !rest.is_before(pair.first, pair.second);
        });
        CAPTURE(i);
        REQUIRE(is_missed);
    }
    CHECK(s.waits == waits);
    auto const is_record = [](stream_schedule::command const& c) { return c.what == record; };
    CHECK(s.events ==
          static_cast<std::size_t>(std::count_if(s.commands.begin(), s.commands.end(), is_record)));
}

} // namespace

TEST_CASE("a diamond runs on two streams, and each waits once for the other")
{
    memory_plan const plan = plan_memory(diamond, diamond_options).plan;
    stream_schedule const s = scheduled(diamond, diamond_options, arena{plan});
    CHECK(s.streams == 2);
    CHECK(s.stream_of == std::vector<std::uint32_t>{0, 0, 1, 0});
    CHECK(s.commands == commands{{launch, 0, 0},
                                 {record, 0, 0},
                                 {launch, 0, 1},
                                 {wait, 1, 0},
                                 {launch, 1, 2},
                                 {record, 1, 1},
                                 {wait, 0, 1},
                                 {launch, 0, 3}});
}

TEST_CASE("of two steps that wait for one, the one with the longer path to the end gets its stream")
{
    //  0: -> a     1: a -> b     2: a -> c     3: c -> d
    auto const p = op_list(4, {{}, {0}, {0}, {2}}, {{0}, {1}, {2}, {3}});
    CHECK(scheduled(p, {.bytes = 8}, no_plan{}).stream_of == std::vector<std::uint32_t>{0, 1, 0, 0});
    CHECK(scheduled(p, {.bytes = {8, 800, 8, 8}}, no_plan{}).stream_of ==
          std::vector<std::uint32_t>{0, 0, 1, 1}); // in bytes, not in steps
    CHECK(scheduled(p, {.bytes = 8}, no_plan{}, {.streams = 1}).stream_of ==
          std::vector<std::uint32_t>{0, 0, 0, 0});
}

TEST_CASE("bytes are painted before they are reused, which does not wait for steps that access none of them")
{
    //  0: makes w, a view of no bytes of x   1: x   2: makes v, a view of x; or uses w   3: -> y, over x
    for (bool const makes_view : {true, false}) {
        auto const p = sequence(4, 4, [=](auto step, effect_sink& s) {
            if (step == 0) s.view(3);
            else if (step == 1) s.use(0);
            else if (step == 3) s.def(2);
            else if (makes_view) s.view(1);
            else s.use(3);
        });
        plan_options const o{.bytes = {64, 64, 64, 0},
                             .role = std::vector<value_role>{input, value_role::intermediate, output,
                                                             value_role::intermediate},
                             .alias_of = std::vector<value_id>{no_value, 0, no_value, 0}};
        arena const mode{plan_memory(p, o)};
        REQUIRE(mode.plan.arena_bytes == std::vector<byte_count>{64});
        run_order const order = run_order_of(p, o, mode);
        stream_options const how{.streams = 2, .stream_of = {0, 0, 1, 0}};
        stream_schedule const made = schedule_streams(order, mode, how, true);
        CHECK(check_schedule(p, o, &mode.plan, order.lowered, made, how));
        auto const is_fill = [](auto const& c) { return c.what == stream_schedule::action::fill; };
        CHECK(std::count_if(made.commands.begin(), made.commands.end(), is_fill) == 2);
        CHECK(order.waits.count(step_waits::kind::handoff) == 1); // of 3 for 1
    }
}

TEST_CASE("steps of any size are assigned to streams")
{
    auto const p = op_list(4, {{}, {0}, {0}, {2}}, {{0}, {1}, {2}, {3}});
    byte_count const most = no_size - 1;
    for (byte_count const bytes : {byte_count{0}, most / 3, most})
        for (byte_count const other : {byte_count{0}, byte_count{1}, most, no_size}) {
            stream_schedule const s =
                scheduled(p, {.bytes = {bytes, other, bytes, bytes}}, no_plan{}, {.streams = 2});
            CHECK(s.stream_of.size() == 4);
            CHECK(s.waits == s.events);
        }
    CHECK(scheduled(op_list(0, {}, {}), {.bytes = 8}, no_plan{}).commands.empty());
}

TEST_CASE("a value that is last used at the end of a node is painted after that node")
{
    snapshot const p = tasks(
        3, 2, [](node_id n) { return n == 2 ? std::vector<node_id>{} : std::vector<node_id>{n + 1}; },
        [](node_id n, effect_sink& s) { // 0 defines v, 1 uses it at its end, for 2
            if (n < 2) s.def(+n);
            else s.use(1), s.use_at_end_of(1, 0);
        });
    plan_options const o{.bytes = 8};
    stream_schedule const made =
        schedule_streams(run_order_of(p, o, arena{plan_memory(p, o).plan}), arena{}, {.streams = 1}, true);
    std::size_t launched = 0, overwritten_after = 0, fills = 0;
    for (stream_schedule::command const& c : made.commands) {
        launched += c.what == stream_schedule::action::launch;
        if (c.what != stream_schedule::action::fill || c.which != 0) continue;
        ++fills;
        overwritten_after = launched;
    }
    CHECK(fills == 2); // before 0 writes it, and when it is dead
    CHECK(overwritten_after == 2);
}

TEST_CASE("streams without steps cost nothing")
{
    std::size_t const many = ~std::size_t{0};
    CHECK(scheduled(diamond, diamond_options, recycle{}, {.streams = many}) ==
          scheduled(diamond, diamond_options, recycle{}, {.streams = 4}));
    CHECK(scheduled(diamond, diamond_options, recycle{}, {.streams = many, .stream_of = {0, 1, 1, 0}}) ==
          scheduled(diamond, diamond_options, recycle{}, {.streams = 2, .stream_of = {0, 1, 1, 0}}));
}

TEST_CASE("every required order is kept, and each wait keeps an order that is lost without it")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick, 12);
        snapshot const p = drawn.unordered_program();
        plan_options const o = drawn.options();
        bool const paints = pick.below(2) == 0;
        stream_options how{.streams = 1 + pick.below(8), .keeps_io_addresses = pick.below(4) == 0};
        if (pick.below(4) == 0)
            for (step_id s = 0; s != p.steps(); ++s)
                how.stream_of.push_back(pick.below(static_cast<std::uint32_t>(how.streams)));
        switch (pick.below(3)) {
        case 0: check_schedule_of(p, o, no_plan{}, how, paints); break;
        case 1: check_schedule_of(p, o, recycle{}, how, paints); break;
        default: {
            auto const planned = plan_memory(p, o);
            REQUIRE(planned);
            check_schedule_of(p, o, arena{planned}, how, paints);
        }
        }
    }
}

} // namespace this_test
