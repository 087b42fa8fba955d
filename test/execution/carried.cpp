// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>
#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/queue_waits.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/listing.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/planning/stacking_of.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/share_slots.hpp>
#include <sublet/testing/simulated_device.hpp>

#include "random_source.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Values that are carried from round to round (plan_options::carried): rounds run in plans are compared with
// rounds in which every value has storage of its own and the carried bytes are copied.

namespace this_test {

using namespace sublet;

namespace {

using number = std::uint64_t;

number mixed(number a, number b)
{
    a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
    a *= 0xff51afd7ed558ccdu;
    return a ^ (a >> 33);
}

/// A program that is run in rounds. All bytes of a value are one number, repeated.
struct drawn_rounds {
    struct step {
        std::vector<int> early, reads, makes;
        std::vector<std::pair<int, int>> over; // {operand, result}
        int changes = -1;                      // a value that it changes in place
    };
    std::vector<step> steps;
    std::vector<byte_count> numbers; // the size of each value, in numbers
    std::vector<byte_count> alignment;
    std::vector<value_role> role;
    std::vector<std::vector<int>> groups;     // carried: the first is read last, and the last is made
    std::vector<std::pair<int, int>> carried; // {from, to}

    explicit drawn_rounds(random_source& draw)
    {
        auto value = [&](byte_count size, value_role of) {
            numbers.push_back(size);
            alignment.push_back(byte_count{8} << draw.below(3));
            role.push_back(of);
            return static_cast<int>(numbers.size()) - 1;
        };
        auto size = [&] { return byte_count{1} + draw.below(4); };
        std::vector<int> there; // can be read
        for (unsigned i = draw.below(3); i-- != 0;) there.push_back(value(size(), value_role::input));
        std::vector<int> newest; // to be made
        for (unsigned g = 1 + draw.below(3); g-- != 0;) {
            std::vector<int>& group = groups.emplace_back();
            byte_count const bytes = size();
            unsigned const many = 1 + draw.below(4);
            for (unsigned i = 0; i != many; ++i) group.push_back(value(bytes, value_role::intermediate));
            for (unsigned i = 0; i + (many != 1) < many; ++i) there.push_back(group[i]);
            if (many == 1) carried.push_back({group[0], group[0]});
            else newest.push_back(group.back());
            for (unsigned i = 1; i < many; ++i) carried.push_back({group[i], group[i - 1]});
        }
        std::vector<int> ended; // no step reads them any more: results may take their bytes
        unsigned const least = 2 + draw.below(8);
        while (steps.size() < least || !newest.empty()) {
            step& s = steps.emplace_back();
            for (unsigned i = draw.below(4); i-- != 0 && !there.empty();) {
                int const v = draw.one_of(there);
                bool const is_again = std::count(s.reads.begin(), s.reads.end(), v) +
                                          std::count(s.early.begin(), s.early.end(), v) !=
                                      0;
                if (!is_again) (draw.below(3) == 0 ? s.early : s.reads).push_back(v);
            }
            for (unsigned i = 1 + draw.below(2); i-- != 0;) {
                if (!newest.empty() && draw.below(2) == 0) {
                    s.makes.push_back(newest.back());
                    newest.pop_back();
                } else {
                    bool const is_output = draw.below(6) == 0;
                    s.makes.push_back(
                        value(size(), is_output ? value_role::output : value_role::intermediate));
                }
            }
            if (draw.below(2) == 0)
                for (int in : s.reads)
                    for (int out : s.makes) s.over.push_back({in, out});
            for (int v : s.makes) there.push_back(v);
            // What is carried into the next round by itself is changed in place, by some steps.
            std::vector<int> kept;
            for (std::vector<int> const& group : groups)
                if (group.size() == 1) kept.push_back(group[0]);
            if (!kept.empty() && draw.below(3) == 0) {
                int const v = draw.one_of(kept);
                std::erase(s.reads, v);
                std::erase(s.early, v);
                std::erase_if(s.over, [v](auto pair) { return pair.first == v; });
                s.changes = v;
            }
            // Some values are read no more, so that what comes later may take their bytes.
            if (draw.below(2) == 0 && there.size() > 3)
                there.erase(there.begin() + draw.below(static_cast<unsigned>(there.size())));
        }
    }

    [[nodiscard]] listing<int> list() const
    {
        listing<int> made;
        for (int v = 0; v != static_cast<int>(numbers.size()); ++v)
            made.facts(v, {.bytes = numbers[static_cast<std::size_t>(v)] * sizeof(number),
                           .alignment = alignment[static_cast<std::size_t>(v)],
                           .role = role[static_cast<std::size_t>(v)]});
        for (auto [from, to] : carried) made.carries(from, to);
        for (step const& s : steps) {
            auto call = made.step();
            for (int v : s.early) call.read_early(v);
            for (int v : s.reads) call.read(v);
            if (s.changes != -1) call.write(s.changes);
            for (int v : s.makes) call.make(v);
            for (auto [in, out] : s.over) call.may_overwrite(in, out);
        }
        return made;
    }

    /// The number in each value that a step makes, from those that it reads.
    [[nodiscard]] static number made_by(std::size_t step, int v, std::vector<number> const& read)
    {
        number n = mixed(step + 1, static_cast<number>(v) + 77);
        for (number r : read) n = mixed(n, r);
        return n;
    }
};

/// The outputs of each round, with storage of its own for each value.
std::vector<std::map<int, number>> in_own_storage(drawn_rounds const& p,
                                                  std::vector<std::map<int, number>> in)
{
    std::vector<std::map<int, number>> outputs;
    std::map<int, number> at;
    for (auto const& given : in) {
        for (auto [v, n] : given) at[v] = n;
        for (std::size_t s = 0; s != p.steps.size(); ++s) {
            std::vector<number> read;
            for (int v : p.steps[s].early) read.push_back(at.at(v));
            for (int v : p.steps[s].reads) read.push_back(at.at(v));
            if (p.steps[s].changes != -1) {
                read.push_back(at.at(p.steps[s].changes));
                at[p.steps[s].changes] = drawn_rounds::made_by(s, p.steps[s].changes, read);
            }
            for (int v : p.steps[s].makes) at[v] = drawn_rounds::made_by(s, v, read);
        }
        std::map<int, number> left;
        for (int v = 0; v != static_cast<int>(p.role.size()); ++v)
            if (p.role[static_cast<std::size_t>(v)] == value_role::output) left[v] = at.at(v);
        for (auto [from, to] : p.carried) left[from] = at.at(from);
        outputs.push_back(left);
        std::map<int, number> const before = at;
        for (auto [from, to] : p.carried) at[to] = before.at(from);
    }
    return outputs;
}

/// What each round is given: inputs in all, histories in the first only.
std::vector<std::map<int, number>> given(drawn_rounds const& p, unsigned rounds_of, random_source& draw)
{
    std::vector<std::map<int, number>> in(rounds_of);
    for (unsigned r = 0; r != rounds_of; ++r) {
        for (int v = 0; v != static_cast<int>(p.role.size()); ++v)
            if (p.role[static_cast<std::size_t>(v)] == value_role::input) in[r][v] = draw.wide() | 1;
        for (auto [from, to] : p.carried)
            if (r == 0) in[r][to] = draw.wide() | 1;
    }
    return in;
}

/// The number of all bytes, or none if they differ.
std::optional<number> number_in(std::span<std::byte const> bytes)
{
    std::optional<number> all;
    for (std::size_t i = 0; i != bytes.size() / sizeof(number); ++i) {
        number one = 0;
        std::memcpy(&one, bytes.data() + i * sizeof one, sizeof one);
        if (all && *all != one) return std::nullopt;
        all = one;
    }
    return all;
}
void fill(std::span<std::byte> bytes, number n)
{
    for (std::size_t i = 0; i != bytes.size() / sizeof n; ++i)
        std::memcpy(bytes.data() + i * sizeof n, &n, sizeof n);
}

auto kernel_of(drawn_rounds const& p, listing<int> const& list, bool& is_torn)
{
    return [&p, &list, &is_torn](auto const& call) {
        drawn_rounds::step const& s = p.steps[call.step];
        std::vector<number> read;
        auto bytes = [&](int v) { return call.of(list.id(v)); };
        auto add = [&](int v) {
            auto const n = number_in(bytes(v));
            is_torn = is_torn || !n;
            read.push_back(n.value_or(0));
        };
        for (int v : s.early) add(v);
        for (int v : s.reads) add(v);
        if (s.changes != -1) {
            add(s.changes);
            fill(bytes(s.changes), drawn_rounds::made_by(call.step, s.changes, read));
        }
        for (int v : s.makes) fill(bytes(v), drawn_rounds::made_by(call.step, v, read));
    };
}

/// Runs the rounds, and compares what each leaves.
template <class Executor>
void compare(drawn_rounds const& p, listing<int> const& list, Executor& run,
             std::vector<std::map<int, number>> const& in, std::vector<std::map<int, number>> const& left)
{
    for (std::size_t r = 0; r != in.size(); ++r) {
        INFO("round ", r);
        for (auto const& [v, n] : in[r]) fill(run.input(list.id(v)), n);
        run.run();
        for (auto const& [v, n] : left[r]) CHECK(number_in(run.output(list.id(v))) == n);
    }
    static_cast<void>(p);
}

} // namespace

TEST_CASE("rounds in a plan leave what rounds in storage of their own leave, where values are carried")
{
    unsigned together = 0, apart = 0, placed = 0, torn = 0, handed = 0, lower = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(300); seed != end; ++seed) {
        random_source draw{std::mt19937(seed)};
        drawn_rounds const p(draw);
        auto const in = given(p, 5, draw);
        auto const left = in_own_storage(p, in);
        listing<int> const list = p.list();
        auto const one = plan_memory(list);
        auto const any = plan_concurrent(list);
        INFO("seed ", seed);
        REQUIRE_MESSAGE(one, one.error());
        REQUIRE_MESSAGE(any, any.error());
        CHECK(one.report().arena_bytes >= one.report().lower_bound_bytes);
        for (std::vector<int> const& group : p.groups)
            if (group.size() == 2) ++(one.offset_of(group[0]) == one.offset_of(group[1]) ? together : apart);
        bool is_torn = false;
        auto const kernel = kernel_of(p, list, is_torn);
        executor_options const painted{.check = executor_options::checks::digest};
        {
            cpu_executor run{list.program(), list.options(), no_plan{}, kernel, painted};
            compare(p, list, run, in, left);
        }
        {
            cpu_executor run{list.program(), list.options(), recycle{}, kernel, painted};
            compare(p, list, run, in, left);
        }
        {
            cpu_executor run{list.program(), list.options(), arena(one), kernel, painted};
            compare(p, list, run, in, left);
        }
        {
            cpu_executor run{list.program(), list.options(), arena(any), kernel, painted};
            compare(p, list, run, in, left);
        }
        {
            thread_executor run{list.program(), list.options(), arena(any), kernel};
            compare(p, list, run, in, left);
        }
        auto on_streams = [&](auto const& mode) {
            simulated_device device(
                {.order = simulated_options::order_kind::random, .seed = draw.below(1000)});
            stream_executor run(device, list.program(), list.options(), mode, kernel,
                                {.streams = 1 + draw.below(3)});
            compare(p, list, run, in, left);
            // Rounds that are queued at once.
            bool has_inputs = false;
            for (value_role r : p.role) has_inputs = has_inputs || r == value_role::input;
            if (has_inputs) return;
            auto const after = in_own_storage(p, {in[0], {}, {}, {}});
            for (auto const& [v, n] : in[0]) fill(run.input(list.id(v)), n);
            for (int i = 0; i != 4; ++i) run.run_async();
            for (auto const& [v, n] : after[3]) CHECK(number_in(run.output(list.id(v))) == n);
        };
        handoff_options how{.duration = [&](step_id) { return 1 + draw.below(9); }};
        how.workers = draw.below(4);
        how.few_waits = draw.below(2) == 0;
        auto const waiting = plan_with_handoffs(list, how);
        REQUIRE_MESSAGE(waiting, waiting.error());
        handed += !waiting.plan.handoffs.empty();
        lower += waiting.report().arena_bytes < any.report().arena_bytes;
        CHECK(waiting.report().arena_bytes <= any.report().arena_bytes);
        {
            thread_executor run{list.program(), list.options(), arena(waiting), kernel};
            compare(p, list, run, in, left);
        }
        on_streams(arena(waiting));
        on_streams(no_plan{});
        on_streams(recycle{});
        on_streams(arena(any));
        on_streams(arena(one));
        ++placed;
        torn += is_torn;
    }
    CHECK(placed > 0);
    CHECK(torn == 0);
    CHECK(together > 0);
    CHECK(apart > 0);
    CHECK(handed > 0);
    CHECK(lower > 0);
}

namespace {

/// What each step of each round reads, in the order of `run`: steps of rounds, numbered one after another.
/// `offset_of(v, round)` is where v lies in that round; none: it has storage of its own.
std::vector<std::vector<number>> reads_of(drawn_rounds const& p, std::vector<std::size_t> const& run,
                                          std::size_t arena_bytes,
                                          std::function<byte_count(int, std::size_t)> const& offset_of)
{
    std::vector<number> arena(arena_bytes / sizeof(number) + 1, 1);
    std::vector<std::vector<number>> own; // of each round
    std::vector<std::vector<number>> reads(run.size());
    auto values = p.numbers.size();
    if (!offset_of) own.assign(run.size() / p.steps.size() + 1, std::vector<number>(values, 1));
    for (std::size_t at : run) {
        std::size_t const round = at / p.steps.size(), step = at % p.steps.size();
        drawn_rounds::step const& s = p.steps[step];
        auto numbers_of = [&](int v) {
            auto const size = static_cast<std::size_t>(p.numbers[static_cast<std::size_t>(v)]);
            return offset_of ? std::span(arena).subspan(offset_of(v, round) / sizeof(number), size)
                             : std::span(own[round]).subspan(static_cast<std::size_t>(v), 1);
        };
        std::vector<number>& read = reads[at];
        auto read_all = [&](int v) {
            number first = numbers_of(v)[0];
            for (number n : numbers_of(v))
                if (n != first) first = 0; // torn
            read.push_back(first);
        };
        for (int v : s.early) read_all(v);
        for (int v : s.reads) read_all(v);
        if (s.changes != -1) read_all(s.changes);
        auto write = [&](int v) {
            for (number& n : numbers_of(v)) n = drawn_rounds::made_by(step, v, read);
        };
        if (s.changes != -1) write(s.changes);
        for (int v : s.makes) write(v);
        bool const is_last = step + 1 == p.steps.size();
        for (std::size_t i = 0; !offset_of && is_last && i != p.carried.size(); ++i) // the next one finds it
            own[round + 1][static_cast<std::size_t>(p.carried[i].second)] =
                own[round][static_cast<std::size_t>(p.carried[i].first)];
    }
    return reads;
}

} // namespace

TEST_CASE("rounds that overlap on several queues keep what is carried, with the waits that are listed")
{
    std::size_t across = 0, moved = 0, runs = 0, missed = 0, left_out = 0;
    for (unsigned seed = first_seed(), end = seed + rounds(600); seed != end; ++seed) {
        random_source draw{std::mt19937(seed)};
        drawn_rounds p(draw);
        bool has_inputs = false; // the caller's: rounds with them do not overlap
        for (value_role& r : p.role) {
            has_inputs = has_inputs || r == value_role::input;
            r = value_role::intermediate;
        }
        if (has_inputs) continue;
        listing<int> const list = p.list();
        memory_plan const plan = draw.below(2) == 0 ? plan_memory(list).plan : plan_concurrent(list).plan;
        auto offset_of = [&](int v, std::size_t round) {
            for (std::vector<int> const& group : p.groups) {
                bool const is_one = group.size() == 2 &&
                                    plan.offset_of(list.id(group[0])) == plan.offset_of(list.id(group[1]));
                for (std::size_t i = 0; i != group.size() && !is_one; ++i)
                    if (group[i] == v) return plan.offset_of(list.id(group[(i + round) % group.size()]));
            }
            return plan.offset_of(list.id(v));
        };
        for (std::vector<int> const& group : p.groups)
            moved += offset_of(group[0], 1) != offset_of(group[0], 0);
        queue_options queues{.repeats = true};
        unsigned const many = 1 + draw.below(3);
        for (std::size_t s = 0; s != p.steps.size(); ++s) queues.queue_of.push_back(draw.below(many));
        queue_waits const found = waits(list, plan, queues);
        across += found.next_round.size();

        std::size_t const steps = p.steps.size(), rounds_of = 5;
        std::vector<std::size_t> one_after_another;
        for (std::size_t i = 0; i != steps * rounds_of; ++i) one_after_another.push_back(i);
        auto const expected = reads_of(p, one_after_another, 0, nullptr);
        auto run_of = [&](queue_waits const& kept) {
            std::vector<std::vector<std::size_t>> next(steps * rounds_of);
            std::vector<std::size_t> open(steps * rounds_of, 0), ready, run;
            auto add = [&](std::size_t from, std::size_t to) {
                if (to >= next.size()) return;
                next[from].push_back(to);
                ++open[to];
            };
            for (std::size_t r = 0; r != rounds_of; ++r) {
                for (auto const& queue : kept.queues)
                    for (std::size_t i = 0; i != queue.size(); ++i)
                        add(r * steps + +queue[i],
                            i + 1 == queue.size() ? (r + 1) * steps + +queue[0] : r * steps + +queue[i + 1]);
                for (step_edges::edge e : kept.list) add(r * steps + +e.from, r * steps + +e.to);
                for (step_edges::edge e : kept.next_round) add(r * steps + +e.from, (r + 1) * steps + +e.to);
            }
            for (std::size_t i = 0; i != open.size(); ++i)
                if (open[i] == 0) ready.push_back(i);
            unsigned const early = draw.below(3); // some runs let one queue go ahead
            while (!ready.empty()) {
                std::size_t at = draw.below(static_cast<unsigned>(ready.size()));
                for (std::size_t i = 0; i != ready.size() && early != 0; ++i)
                    if (queues.queue_of[step_id::of(ready[i] % steps)] == early - 1) at = i;
                std::size_t const one = ready[at];
                ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
                run.push_back(one);
                for (std::size_t to : next[one])
                    if (--open[to] == 0) ready.push_back(to);
            }
            REQUIRE(run.size() == steps * rounds_of);
            return reads_of(p, run, plan.arena_bytes.empty() ? 0 : plan.arena_bytes[0], offset_of);
        };
        INFO("seed ", seed);
        for (int i = 0; i != 8; ++i) {
            CHECK(run_of(found) == expected);
            ++runs;
        }
        if (found.next_round.empty()) continue;
        queue_waits fewer = found;
        fewer.next_round.erase(fewer.next_round.begin() +
                               draw.below(static_cast<unsigned>(found.next_round.size())));
        bool is_missed = false;
        for (int i = 0; i != 20 && !is_missed; ++i) is_missed = run_of(fewer) != expected;
        missed += is_missed;
        ++left_out;
    }
    CHECK(runs > 0);
    CHECK(across > 0);
    CHECK(moved > 0);
    CHECK(missed > 0);
    CHECK(missed <= left_out);
}

// --- by hand ---------------------------------------------------------------------------------------------

namespace {

/// A frame: light, then the history is blended in, then the result is shown. `now` is the history of the next
/// frame.
listing<std::string> frame(bool may_overwrite = false, bool reads_early = false)
{
    listing<std::string> list;
    for (char const* texture : {"lit", "history", "now"}) list.facts(texture, {.bytes = 64});
    list.facts("screen", {.bytes = 64, .role = value_role::state});
    list.step("light").make("lit");
    auto blend = list.step("blend").read("lit");
    (reads_early ? blend.read_early("history") : blend.read("history")).make("now");
    if (may_overwrite) blend.may_overwrite("history", "now");
    list.step("show").read("now").write("screen");
    list.carries("now", "history");
    return list;
}

template <class Call>
std::string refusal(Call call)
{
    try {
        call();
    } catch (precondition_error const& e) {
        return e.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("what is carried has one place if it can, and otherwise changes places")
{
    auto const apart = plan_memory(frame());
    REQUIRE(apart);
    CHECK(apart.report().arena_bytes == 192); // lit, and both for the whole frame
    CHECK(apart.offset_of("now") != apart.offset_of("history"));
    for (auto const& one : {plan_memory(frame(true)), plan_memory(frame(false, true))}) {
        REQUIRE(one);
        CHECK(one.report().arena_bytes == 128);
        CHECK(one.offset_of("now") == one.offset_of("history"));
    }
    auto const any = plan_concurrent(frame(true));
    REQUIRE(any);
    CHECK(any.report().arena_bytes == 128);
    auto in_order = frame(true);
    auto const found = order(in_order);
    REQUIRE(found);
    in_order.order = found.order;
    CHECK(plan_memory(in_order).report().arena_bytes == 128);

    // Between the last read of the one and the first write of the other, others have their bytes.
    listing<std::string> list;
    for (char const* v : {"before", "after"}) list.facts(v, {.bytes = 64});
    list.facts("force", {.bytes = 8});
    list.facts("large", {.bytes = 128});
    list.step("read").read("before").make("force");
    list.step("work").read("force").make("large");
    list.step("write").read("large").make("after");
    list.carries("after", "before");
    auto const state = plan_memory(list);
    REQUIRE(state);
    CHECK(state.report().arena_bytes == 200); // 256 if each had its own
    CHECK(state.offset_of("after") == state.offset_of("before"));
}

TEST_CASE("a pin of one of two that are carried is where both lie, or where it lies in the first round")
{
    for (int pinned : {0, 1, 2}) {
        for (bool may_overwrite : {false, true}) {
            INFO("pinned ", pinned, " in place ", may_overwrite);
            auto list = frame(may_overwrite, !may_overwrite);
            if (pinned != 1) list.facts("history", {.pinned = 256});
            if (pinned != 0) list.facts("now", {.pinned = pinned == 2 ? byte_count{512} : byte_count{256}});
            auto check = [&](auto const& planned) {
                REQUIRE_MESSAGE(planned, planned.error());
                CHECK(planned.offset_of(pinned == 1 ? "now" : "history") == 256);
                bool const is_one = planned.offset_of("now") == planned.offset_of("history");
                CHECK(is_one == (pinned != 2 && !may_overwrite)); // a pinned operand is not written over
            };
            check(plan_memory(list));
            check(plan_concurrent(list));
            check(plan_with_handoffs(list));
        }
    }
}

TEST_CASE("a plan in which another value lies where a carried one is in the next round is refused")
{
    listing<int> list; // 2 is dead before 1 is written, but 1 is there in every second round
    for (int v : {0, 1, 2}) list.facts(v, {.bytes = 64});
    list.step("first").make(2);
    list.step("second").read(2);
    list.step("third").read(0).make(1);
    list.carries(1, 0);
    auto planned = plan_memory(list);
    REQUIRE(planned);
    memory_plan plan = planned.plan;
    REQUIRE(plan.offset_of(list.id(0)) != plan.offset_of(list.id(1)));
    CHECK(check_plan(list, plan));
    buffer_id const other = plan.buffer_of[list.id(2)];
    plan.buffers[other].offset = plan.offset_of(list.id(1));
    verdict const found = check_plan(list, plan);
    REQUIRE(!found);
    CHECK(found.error().what == fault::clash);
    listing<int> kept = list; // the same without the next round
    plan_options options = kept.options();
    options.carried.clear();
    options.role = std::vector{value_role::input, value_role::output, value_role::intermediate};
    CHECK(check_plan(list.program(), plan, options));

    auto any = plan_concurrent(list);
    REQUIRE(any);
    any.plan.buffers[any.plan.buffer_of[list.id(2)]].offset = any.plan.offset_of(list.id(1));
    CHECK(!check_concurrent_plan(list, any.plan));
}

TEST_CASE("a plan in which what is carried changes its kind is refused by the checkers, too")
{
    auto const list = frame();
    plan_options options = list.options();
    options.kind = [&](value_id v) { return v == list.id("now") ? 1u : 0u; };
    memory_plan const plan = plan_memory(list).plan, any = plan_concurrent(list).plan;
    std::string const sentence =
        "sublet: value 2 is carried into value 1, which has another size, pool or kind";
    CHECK(refusal([&] { static_cast<void>(check_plan(list.program(), plan, options)); }) == sentence);
    CHECK(refusal([&] { static_cast<void>(check_concurrent_plan(list.program(), any, options)); }) == sentence);
}

TEST_CASE("a place of carried values suits all that lie there")
{
    listing<int> list;
    list.facts(0, {.bytes = 64, .alignment = 64});
    list.facts(1, {.bytes = 64});
    list.step("only").read(0).make(1);
    list.carries(1, 0);
    memory_plan plan = plan_memory(list).plan;
    REQUIRE(check_plan(list, plan));
    plan.buffers[plan.buffer_of[list.id(1)]].offset += 32;
    plan.arena_bytes[0] += 32;
    verdict const found = check_plan(list, plan);
    REQUIRE(!found);
    CHECK(found.error().what == fault::misaligned);
}

TEST_CASE("what cannot be carried is refused by name, and so is a call that does not carry")
{
    auto planned = [](auto change) {
        auto list = frame();
        change(list);
        return refusal([&] { static_cast<void>(plan_memory(list)); });
    };
    CHECK(planned([](auto&) {}) == "accepted");
    CHECK(planned([](auto& list) { list.carries("lit", "history"); }) ==
          "sublet: value 'history' is carried from value 'now' and from value 'lit'");
    CHECK(planned([](auto& list) { list.carries("now", "lit"); }) ==
          "sublet: value 'now' is carried into value 'history' and into value 'lit'");
    CHECK(planned([](auto& list) { list.carries("history", "now"); }) ==
          "sublet: values are carried in a cycle, as value 'history' is: one of them is made anew in each "
          "round");
    CHECK(planned([](auto& list) {
              list.facts("small", {.bytes = 32});
              list.carries("lit", "small");
          }) == "sublet: value 'lit' has 64 bytes, and is carried into value 'small', which has 32");
    CHECK(planned([](auto& list) {
              list.facts("elsewhere", {.bytes = 64, .pool = 1});
              list.carries("lit", "elsewhere");
          }) ==
          "sublet: value 'lit' is in pool 0, and is carried into value 'elsewhere', which is in pool 1");
    CHECK(planned([](auto& list) {
              list.facts("texels", {.bytes = 64, .kind = 1});
              list.carries("lit", "texels");
          }) == "sublet: value 'lit' is of kind 0, and is carried into value 'texels', which is of kind 1");
    CHECK(planned([](auto& list) { list.carries("screen", "lit"); }) ==
          "sublet: value 'screen' is carried into the next round, and has storage of its own");
    CHECK(planned([](auto& list) {
              list.facts("unknown", {.bytes = no_size});
              list.carries("lit", "unknown");
          }) == "sublet: value 'unknown' is carried into the next round, and its size is unknown");
    CHECK(planned([](auto& list) {
              list.step().view("part", "lit", 0, {.bytes = 64});
              list.carries("part", "lit");
          }) == "sublet: value 'part' is carried into the next round, and is a view: carry its root");
    CHECK(planned([](auto& list) { list.may_lie_in("now", 1); }) ==
          "sublet: value 'now' is carried into the next round, and may choose its pool");
    CHECK(planned([](auto& list) { list.carries("lit", "nowhere"); }) ==
          "sublet: the size of value 'nowhere' is not said: say .bytes, or no_size if it is unknown");

    auto const list = frame();
    auto const p = list.program();
    auto const all = list.options();
    memory_plan const plan = plan_memory(list).plan;
    CHECK(refusal([&] { static_cast<void>(plan_flow(p, all)); }) ==
          "sublet: plan_flow does not carry value 2 into the next round");
    CHECK(refusal([&] { static_cast<void>(advise_memory(list)); }) ==
          "sublet: advise_memory does not carry value 'now' into the next round");
    CHECK(refusal([&] { static_cast<void>(share_slots(list)); }) ==
          "sublet: share_slots does not carry value 'now' into the next round");
    CHECK(refusal([&] { static_cast<void>(plan_flow(list)); }) ==
          "sublet: plan_flow does not carry value 'now' into the next round");
    CHECK(refusal([&] { static_cast<void>(versions(list)); }) ==
          "sublet: versions does not carry value 'now' into the next round");
    CHECK(refusal([&] { static_cast<void>(check_flow_plan(list, plan)); }) ==
          "sublet: check_flow_plan does not carry value 'now' into the next round");
    CHECK(refusal([&] { static_cast<void>(schedules(list)); }) ==
          "sublet: schedules does not carry value 'now' into the next round");
    CHECK(refusal([&] { static_cast<void>(versions(p, all)); }) ==
          "sublet: versions does not carry value 2 into the next round");
    CHECK(refusal([&] { static_cast<void>(stacking_of(p, plan, all)); }) ==
          "sublet: stacking_of does not carry value 2 into the next round");
    CHECK(refusal([&] { static_cast<void>(check_flow_plan(p, plan, all)); }) ==
          "sublet: check_flow_plan does not carry value 2 into the next round");
    CHECK(refusal([&] { static_cast<void>(plan_nested(program_tree(p), {all})); }) ==
          "sublet: a tree of programs does not carry value 2 into the next round");
    CHECK(refusal([&] { static_cast<void>(plan_symbolic(list, {.bytes = 64, .dims = {{"n", 1, 4}}})); }) ==
          "sublet: a plan for every shape does not carry value 'now' into the next round");
}

TEST_CASE("without handles, what cannot be carried is refused by number")
{
    auto list = frame();
    auto const p = list.program();
    auto const refused = [&](std::vector<plan_options::carry> carried) {
        plan_options options = list.options();
        options.carried = carried;
        return refusal([&] { static_cast<void>(plan_memory(p, options)); });
    };
    CHECK(refused({{2, 1}}) == "accepted");
    CHECK(refused({{2, 1}, {0, 4}}) ==
          "sublet: value 0 is carried into value 4, but there are only 4 values");
    CHECK(refused({{2, 1}, {4, 0}}) ==
          "sublet: value 4 is carried into value 0, but there are only 4 values");
    CHECK(refused({{2, 1}, {0, 1}}) == "sublet: value 1 is carried from value 2 and from value 0");
    CHECK(refused({{2, 1}, {2, 0}}) == "sublet: value 2 is carried into value 1 and into value 0");
    CHECK(refused({{0, 0}, {2, 1}, {1, 2}}) ==
          "sublet: values are carried in a cycle, as value 1 is: one of them is made anew in each round");
    // Handles without a text have numbers, too; a name comes before the text of a handle.
    struct opaque {
        int number;
        auto operator<=>(opaque const&) const = default;
    };
    listing<opaque> hidden;
    hidden.facts({7}, {.bytes = 8, .role = value_role::external});
    hidden.step("make").make({8}, {.bytes = 8, .name = "made"});
    hidden.carries({8}, {7});
    CHECK(refusal([&] { static_cast<void>(plan_memory(hidden)); }) ==
          "sublet: value 0 is carried into the next round, and has storage of its own");
    hidden.carries({8}, {9});
    hidden.facts({9}, {.bytes = 8});
    CHECK(refusal([&] { static_cast<void>(advise_memory(hidden)); }).find("'made'") != std::string::npos);
}

TEST_CASE(
    "the output of a value is refused that the next round finds only, and the one is named that left it")
{
    auto kernel = [](cpu_call const&) {};
    for (bool reads_early : {false, true}) {
        auto const list = frame(false, reads_early);
        cpu_executor const run{list, arena{plan_memory(list)}, kernel};
        CHECK(
            refusal([&] { static_cast<void>(run.output(list.id("history"))); }) ==
            "sublet: value 'history' is no output: call output() or take() for value 'now', which is carried "
            "into it");
        CHECK(refusal([&] { static_cast<void>(run.output(list.id("lit"))); }) ==
              "sublet: output() is called for value 0, which is no output, or take() before bind()");
    }
    // Without a listing by number; of three, the middle one is an output.
    listing<int> three;
    for (int v : {0, 1, 2, 3}) three.facts(v, {.bytes = 8});
    three.step().read(0).read(1).make(2);
    three.step().read(0).read(1).read(2).make(3);
    three.carries(2, 1);
    three.carries(1, 0);
    cpu_executor run{three.program(), three.options(), arena{plan_memory(three)}, kernel};
    for (int v : {0, 1}) static_cast<void>(run.input(three.id(v)));
    run.run();
    CHECK(refusal([&] { static_cast<void>(run.output(three.id(1))); }) == "accepted");
    CHECK(refusal([&] { static_cast<void>(run.output(three.id(0))); }) ==
          "sublet: value 0 is no output: call output() or take() for value 1, which is carried into it");
}

TEST_CASE("barriers lie where bytes change hands, and not where they are carried")
{
    listing<std::string> list = frame(false, true); // one place
    auto const planned = plan_memory(list);
    REQUIRE(planned);
    auto const found = aliases(list, planned, {.repeats = true});
    bool is_within = false;
    for (alias const& a : found) {
        value_id const before = planned.plan.buffers[a.before].root,
                       after = planned.plan.buffers[a.after].root;
        if (before == list.id("history") && after == list.id("now")) is_within = !a.next_round;
        CHECK(!(before == list.id("now") && after == list.id("history")));
    }
    CHECK(is_within);
    queue_options const two{.queue_of = {0, 1, 0}, .repeats = true};
    auto const kept = waits(list, planned, two);
    CHECK(kept.list.size() == 2);
    list.facts("now", {.role = value_role::output});
    CHECK(refusal([&] { static_cast<void>(waits(list, plan_memory(list), two)); }) ==
          "sublet: value 2 is an input or an output of the arena: the caller writes or reads it between two "
          "rounds, so they cannot overlap; make it external, or state");
}

TEST_CASE("what changes places is not written before all of an earlier round have read it")
{
    listing<std::string> list; // blend of the round after the next writes where show reads
    for (char const* v : {"history", "now"}) list.facts(v, {.bytes = 64});
    list.facts("screen", {.bytes = 64, .role = value_role::state});
    list.carries("now", "history");
    list.step("blend").read("history").make("now");
    list.step("show").read("now").write("screen");
    auto const found = waits(list, plan_memory(list), {.queue_of = {0, 1}, .repeats = true});
    REQUIRE(found.next_round.size() == 1);
    CHECK(found.next_round[0].from == 1);
    CHECK(found.next_round[0].to == 0);

    listing<int> unread; // no step touches 0, and 2 takes over its bytes, which are those of 1
    for (int v : {0, 1, 2}) unread.facts(v, {.bytes = 64});
    unread.facts(9, {.bytes = 8, .role = value_role::state});
    unread.carries(1, 0);
    unread.step("first").make(7, {.bytes = 8});
    unread.step("use").make(2);
    unread.step("used").read(2).write(9);
    unread.step("leave").read(9).make(1);
    auto const kept = waits(unread, plan_memory(unread), {.queue_of = {0, 0, 0, 1}, .repeats = true});
    bool is_kept = false;
    for (step_edges::edge e : kept.next_round) is_kept = is_kept || (e.from == 3 && e.to <= 1);
    CHECK(is_kept);
}

TEST_CASE("bounds hold for every place of carried values, and in place they lie in one, views too")
{
    listing<std::string> list;
    for (char const* v : {"before", "after", "large"}) list.facts(v, {.bytes = 64});
    for (char const* v : {"force", "sum"}) list.facts(v, {.bytes = 8});
    list.step("read").read("before").make("force");
    list.step("work").read("force").make("large");
    list.step("add").read("large").make("sum");
    list.step("write").read("sum").make("after");
    list.carries("after", "before");
    auto const one = plan_memory(list);
    memory_plan lower = one.plan;
    lower.valid_for = program_reading::concurrent;
    REQUIRE(check_concurrent_plan(list, lower));
    CHECK(plan_concurrent(list).report().lower_bound_bytes <= one.report().arena_bytes);
    CHECK(plan_with_handoffs(list).report().lower_bound_bytes <= one.report().arena_bytes);

    listing<std::string> viewed;
    for (char const* v : {"a", "b"}) viewed.facts(v, {.bytes = 64});
    viewed.facts("x", {.bytes = 8});
    viewed.step("look").view("all", "a", 0, {.bytes = 64}).make("x");
    viewed.step("next").read("all").read("x").make("b").may_overwrite("all", "b");
    viewed.carries("b", "a");
    auto const in_view = plan_memory(viewed);
    CHECK(in_view.report().arena_bytes == 72);
    CHECK(in_view.in_place.size() == 1);
    CHECK(plan_concurrent(viewed).report().arena_bytes == 72);

    listing<int> two; // pairs of two groups compete, and the first declared are of different ones
    for (int v : {0, 1, 2, 3}) two.facts(v, {.bytes = 64});
    two.step("both")
        .read(0)
        .read(1)
        .make(2)
        .make(3)
        .may_overwrite(0, 3)
        .may_overwrite(1, 2)
        .may_overwrite(0, 2)
        .may_overwrite(1, 3);
    two.carries(2, 0);
    two.carries(3, 1);
    CHECK(plan_memory(two).report().arena_bytes == 128);
    CHECK(plan_concurrent(two).report().arena_bytes == 128);
}

TEST_CASE("with hand-offs a step that writes in place waits, and values change places without a plan before")
{
    listing<int> one;
    for (int v : {2, 3}) one.facts(v, {.bytes = 24});
    one.carries(3, 2);
    one.step("look").read(2);
    one.step("next").read(2).make(3).may_overwrite(2, 3);
    auto const in_order = plan_with_handoffs(one, {.workers = 1});
    REQUIRE_MESSAGE(in_order, in_order.error());

    listing<char> pinned; // p and q need a hand-off: there is no plan for every schedule
    for (char v : {'h', 'n', 't'}) pinned.facts(v, {.bytes = 40});
    pinned.facts('p', {.bytes = 8, .pinned = 0});
    pinned.facts('q', {.bytes = 32, .pinned = 0});
    pinned.carries('n', 'h');
    pinned.step("a").make('t');
    pinned.step("b").read('t').make('p');
    pinned.step("c").read('h').read('p').make('n');
    pinned.step("d").make('q');
    auto const resolved = plan_with_handoffs(pinned);
    REQUIRE_MESSAGE(resolved, resolved.error());
    CHECK(resolved.offset_of('n') != resolved.offset_of('h'));
}

TEST_CASE("the result of a planner that has found no plan has no aliases")
{
    listing<std::string> list = frame();
    list.pools = {{.capacity = 100}};
    auto const none = plan_memory(list);
    REQUIRE(!none);
    CHECK(refusal([&] { static_cast<void>(aliases(list, none)); }) ==
          "sublet: aliases() is given the result of a planner that has found no plan");
}

TEST_CASE("a round that fails has to be given its histories again, and one that is given goes on with it")
{
    auto const list = frame();
    value_id const history = list.id("history"), now = list.id("now");
    bool fails = false;
    auto kernel = [&](cpu_call const& call) {
        if (call.step == 0) fill(call.of("lit"), 1);
        if (call.step == 1 && fails) throw 1;
        if (call.step == 1) fill(call.of("now"), *number_in(call.of("history")) + 1);
    };
    std::vector<std::byte> screen(64);
    cpu_executor run(list, arena(plan_memory(list)), kernel);
    run.bind(list.id("screen"), screen);
    CHECK_THROWS_AS(run.run(), unusable_value); // no history yet
    fill(run.input(history), 10);
    run.run();
    run.run();
    CHECK(number_in(run.output(now)) == 12);
    fill(run.input(history), 100);
    run.run();
    CHECK(number_in(run.output(now)) == 101);
    run.run();
    CHECK(number_in(run.output(now)) == 102);
    fails = true;
    CHECK_THROWS_AS(run.run(), run_error);
    fails = false;
    CHECK_THROWS_AS(run.run(), unusable_value);
    fill(run.input(history), 7);
    run.run();
    run.run();
    CHECK(number_in(run.output(now)) == 9);
}

} // namespace this_test
