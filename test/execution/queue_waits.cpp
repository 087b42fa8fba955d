// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/queue_waits.hpp>

#include "../painted_steps.hpp"
#include "../printed.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../rounds.hpp"
#include "../transitive.hpp"

#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using reason = step_edges::reason;

/// Steps of some rounds of the same queues: step s of round r is number r * steps + s.
struct unrolled {
    std::size_t steps = 0, rounds = 0;
    std::vector<std::pair<std::size_t, std::size_t>> order; // by queues and waits

    unrolled(queue_waits const& found, std::size_t steps_of_round, std::size_t count)
        : steps(steps_of_round), rounds(count)
    {
        for (auto const& queue : found.queues)
            for (std::size_t i = 1; i < queue.size() * rounds; ++i)
                order.emplace_back((i - 1) / queue.size() * steps + +queue[(i - 1) % queue.size()],
                                   i / queue.size() * steps + +queue[i % queue.size()]);
        for (std::size_t r = 0; r != rounds; ++r) {
            for (step_edges::edge e : found.list) order.emplace_back(r * steps + +e.from, r * steps + +e.to);
            if (r + 1 == rounds) break;
            for (step_edges::edge e : found.next_round)
                order.emplace_back(r * steps + +e.from, (r + 1) * steps + +e.to);
        }
    }
    std::vector<std::vector<bool>> closure() const
    {
        std::vector<std::vector<bool>> before(steps * rounds, std::vector<bool>(steps * rounds));
        for (auto [from, to] : order) before[from][to] = true;
        make_transitive(before);
        return before;
    }
};

/// Each step of each round once, in an order of the queues and waits, the next one chosen by `choose`.
template <class Choose>
std::vector<step_id> run_of_queues(unrolled const& all, Choose choose)
{
    std::vector<std::size_t> waits(all.steps * all.rounds, 0), ready;
    for (auto [from, to] : all.order) ++waits[to];
    for (std::size_t i = 0; i != waits.size(); ++i)
        if (waits[i] == 0) ready.push_back(i);
    std::vector<step_id> run;
    while (!ready.empty()) {
        std::size_t const at = choose(ready), next = ready[at];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
        run.push_back(next % all.steps);
        for (auto [from, to] : all.order)
            if (from == next && --waits[to] == 0) ready.push_back(to);
    }
    return run;
}

std::map<std::uint64_t, std::uint64_t> results_of(painted_steps const& drawn, memory_plan const* plan,
                                                  std::vector<step_id> const& run)
{
    painted_run painted(drawn, plan);
    for (step_id s : run) painted.run(s);
    return painted.results();
}

struct tally {
    std::size_t waits = 0, across = 0, implied = 0, runs = 0;
};

/// Random runs of three rounds leave what the listed steps leave, three times one after another, with storage
/// of its own for each value; of the waits none is implied. Without rounds: of one round.
void prove(snapshot const& program, painted_steps const& drawn, std::vector<step_id> listed,
           memory_plan const& plan, bool repeats, random_source& pick, tally& count)
{
    std::size_t const steps = drawn.steps.size();
    queue_options queues{.repeats = repeats};
    unsigned const many = 1 + pick.below(4);
    for (std::size_t s = 0; s != steps; ++s) queues.queue_of.push_back(pick.below(many));
    queue_waits const found = waits(program, plan, drawn.options, queues);
    std::size_t of_queues = 0;
    for (std::size_t q = 0; q != found.queues.size(); ++q)
        for (step_id s : found.queues[q]) {
            CHECK(queues.queue_of[s] == q);
            ++of_queues;
        }
    REQUIRE(of_queues == steps);
    std::size_t const rounds = repeats ? 3 : 1;
    unrolled const all(found, steps, rounds);
    auto const closure = all.closure();
    for (std::size_t i = 0; i != closure.size(); ++i) REQUIRE(!closure[i][i]);
    for (step_edges::edge e : edges(program, plan, drawn.options).list) CHECK(closure[e.from][e.to]);
    for (auto list : {&queue_waits::list, &queue_waits::next_round})
        for (std::size_t i = 0; i != (found.*list).size(); ++i) {
            queue_waits fewer = found;
            (fewer.*list).erase((fewer.*list).begin() + static_cast<std::ptrdiff_t>(i));
            CHECK(unrolled(fewer, steps, rounds).closure() != closure);
        }
    std::size_t longest = 0;
    std::vector<std::size_t> chain(steps, 1);
    for (step_id s : run_of_queues(unrolled(found, steps, 1), [](auto const&) { return std::size_t{0}; })) {
        longest = std::max(longest, chain[+s]);
        for (std::size_t t = 0; t != steps; ++t)
            if (closure[+s][t]) chain[t] = std::max(chain[t], chain[+s] + 1);
    }
    CHECK(found.depth == longest);
    count.waits += found.list.size();
    count.across += found.next_round.size();
    count.implied += found.implied;

    std::vector<step_id> in_rounds;
    for (std::size_t r = 0; r != rounds; ++r) in_rounds.insert(in_rounds.end(), listed.begin(), listed.end());
    auto const expected = results_of(drawn, nullptr, in_rounds);
    auto try_run = [&](auto choose) {
        auto const run = run_of_queues(all, choose);
        REQUIRE(run.size() == steps * rounds);
        CHECK(results_of(drawn, &plan, run) == expected);
        ++count.runs;
    };
    for (unsigned i = 0; i != 6; ++i)
        try_run([&](auto const& ready) { return pick.below(static_cast<unsigned>(ready.size())); });
    for (std::size_t q = 0; q != found.queues.size(); ++q) { // one queue as far ahead, or behind, as may be
        auto is_of = [&](std::size_t i) { return queues.queue_of[step_id::of(i % steps)] == q; };
        auto first = [](auto const& ready, auto which) {
            auto const at = std::find_if(ready.begin(), ready.end(), which);
            return at == ready.end() ? 0 : static_cast<std::size_t>(at - ready.begin());
        };
        try_run([&](auto const& ready) { return first(ready, is_of); });
        try_run([&](auto const& ready) { return first(ready, [&](std::size_t i) { return !is_of(i); }); });
    }
}

/// So that rounds may overlap: the arena has no input and no output.
void keep_out_of_arena(std::vector<value_role>& roles)
{
    for (value_role& r : roles) r = detail::is_given(r) ? value_role::external : value_role::intermediate;
}

/// A frame with history: passes read what passes before made, and textures that outlive the frame, some of
/// which they write anew.
struct frame_with_history {
    std::vector<painted_steps::accesses> steps;
    std::vector<value_role> role;
    plan_options options{.bytes = 8};

    frame_with_history(random_source& pick, unsigned passes)
    {
        unsigned const histories = 1 + pick.below(3);
        role.assign(histories, value_role::state);
        for (unsigned s = 0; s != passes; ++s) {
            painted_steps::accesses its;
            for (unsigned i = pick.below(3); i != 0; --i)
                add_new(its.reads, value_id{pick.below(static_cast<unsigned>(role.size()))});
            if (pick.below(3) == 0) { // a write: the history is read, too
                value_id const v = pick.below(histories);
                add_new(its.reads, v);
                its.writes.push_back(v);
            }
            for (unsigned i = pick.below(3); i != 0; --i) {
                its.writes.push_back(value_id{role.size()});
                role.push_back(value_role::intermediate);
            }
            steps.push_back(its);
        }
        options.role = role;
        std::vector<byte_count> bytes;
        for (std::size_t v = 0; v != role.size(); ++v) bytes.push_back(8 + 8 * pick.below(3));
        options.bytes = bytes;
    }
    snapshot program() const
    {
        return sequence(steps.size(), role.size(), [&](step_id s, effect_sink& sink) {
            for (value_id v : steps[+s].reads)
                if (!has(steps[+s].writes, v)) sink.use(v);
            for (value_id v : steps[+s].writes)
                if (role[+v] == value_role::state) sink.write(v);
                else sink.def(v);
        });
    }

private:
    static bool has(std::vector<value_id> const& list, value_id v)
    {
        return std::find(list.begin(), list.end(), v) != list.end();
    }
    static void add_new(std::vector<value_id>& list, value_id v)
    {
        if (!has(list, v)) list.push_back(v);
    }
};

} // namespace

TEST_CASE("queues that keep the waits alone leave what the listed order leaves, in one round or in three")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(160); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks_shape shape;
        shape.tasks = 3 + seed % 7;
        shape.early = seed % 3 == 0 ? 40 : 10;
        shape.views = seed % 2 == 0 ? 0 : 25;
        shape.pools = 1 + seed % 2;
        shape.in_place = seed % 5 == 0 ? 40 : 0;
        random_tasks tasks = draw_tasks(pick, shape);
        if (seed % 4 == 3) join_parts(pick, tasks);
        bool const repeats = seed % 3 != 0;
        if (repeats) keep_out_of_arena(tasks.role);
        snapshot const program = tasks.program();
        auto const options = tasks.options();
        std::vector<step_id> listed;
        for (std::size_t s = 0; s != shape.tasks; ++s) listed.push_back(s);
        auto const prove_plan = [&](auto const& planned) {
            REQUIRE(planned);
            prove(program, painted_steps(tasks), listed, planned.plan, repeats, pick, count);
        };
        prove_plan(plan_memory(program, options));
        prove_plan(plan_concurrent(program, options));
        prove_plan(plan_with_handoffs(program, options, {.minimum_gain = 0}));
    }
    CHECK(count.waits > rounds(160));
    CHECK(count.across > rounds(160));
    CHECK(count.implied > rounds(120));
    MESSAGE(count.waits << " waits within a round, " << count.across << " for the round before, "
                        << count.implied << " implied; " << count.runs << " runs");
}

TEST_CASE("the same holds where values are written again, nodes have several steps, and orders are given")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(160); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 4 + seed % 4);
        p.drops_free_edges = seed % 5 != 0;
        bool const repeats = seed % 3 != 0;
        if (repeats) keep_out_of_arena(p.role);
        std::vector<step_id> listed;
        for (random_program::turn const& turn : p.turns()) listed.push_back(turn.id);
        auto const planned = plan_memory(p.program(), p.options());
        REQUIRE(planned);
        prove(p.program(), painted_steps(p), listed, planned.plan, repeats, pick, count);
    }
    CHECK(count.across > rounds(160) / 10);
}

TEST_CASE("the same holds for rounds that overlap, of frames with history")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(240); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        frame_with_history const frame(pick, 3 + seed % 6);
        snapshot const program = frame.program();
        painted_steps const drawn(frame.steps, frame.options, frame.role);
        std::vector<step_id> listed;
        for (std::size_t s = 0; s != frame.steps.size(); ++s) listed.push_back(s);
        auto const planned = plan_memory(program, frame.options);
        REQUIRE(planned);
        prove(program, drawn, listed, planned.plan, true, pick, count);
        auto const any = plan_concurrent(program, frame.options);
        REQUIRE(any);
        prove(program, drawn, listed, any.plan, true, pick, count);
    }
    CHECK(count.across > rounds(240));
}

TEST_CASE("across rounds: state that is read and written again, and bytes that another value had last")
{
    // Queue 0 reads the history and makes a; queue 1 reads a and writes the history anew.
    listing<std::string> list;
    list.step("resolve").read("history").make("a", {.bytes = 8});
    list.step("blend").read("a").make("b", {.bytes = 8});
    list.step("store").read("b").write("history");
    list.facts("history", {.bytes = 8, .role = value_role::state});
    auto const planned = plan_memory(list);
    REQUIRE(planned.bytes() == 16);
    auto const found = waits(list, planned, {.queue_of = {0, 1, 1}, .repeats = true});
    CHECK(found.list == std::vector<step_edges::edge>{{0, 1, reason::data}});
    CHECK(found.next_round == std::vector<step_edges::edge>{{2, 0, reason::data}});
    CHECK(found.events == std::vector<step_id>{0, 2});
    CHECK(found.depth == 3);
    CHECK(printed(found) == "2 waits for 2 events, 1 of the round before; 3 steps deep\n"
                            "queue 0: resolve (after store of the round before; event)\n"
                            "queue 1: blend (after resolve), store (event)");
    std::ostringstream json;
    write_json(json, found);
    CHECK(json.str() == R"({
 "sublet_waits": 1,
 "steps": ["resolve", "blend", "store"],
 "queues": [[0], [1, 2]],
 "depth": 3,
 "events": [0, 2],
 "waits": [
  {"from": 0, "to": 1, "why": "data"}
 ],
 "next_round": [
  {"from": 2, "to": 0, "why": "data"}
 ]
}
)");
}

TEST_CASE("storage that nothing writes is shared by all rounds, and queues that share nothing have no waits")
{
    listing<char> list;
    list.step("left").read('w').make('a', {.bytes = 8, .pool = 0});
    list.step("right").read('w').make('b', {.bytes = 8, .pool = 1});
    list.facts('w', {.bytes = 8, .role = value_role::external});
    auto const found = waits(list, plan_concurrent(list), {.queue_of = {0, 2}, .repeats = true});
    CHECK(found.list.empty());
    CHECK(found.next_round.empty());
    REQUIRE(found.queues.size() == 3);
    CHECK(found.queues[1].empty());
    CHECK(found.depth == 1);
    CHECK(printed(found) == "0 waits for 0 events; 1 step deep\nqueue 0: left\nqueue 2: right");
    CHECK(printed(waits(listing<char>{}, plan_memory(listing<char>{}), {})) ==
          "0 waits for 0 events; 0 steps deep");
}

TEST_CASE(
    "a step without a queue, too many queues, and rounds that overlap with the caller's values are refused")
{
    listing<char> list;
    list.step("make").read('i').make('a', {.bytes = 8});
    list.step("use").read('a').make('o', {.bytes = 8, .role = value_role::output});
    list.facts('i', {.bytes = 8, .role = value_role::input});
    auto const planned = plan_memory(list);
    auto why = [&](queue_options const& queues) {
        return thrown_by<precondition_error>([&] { (void)waits(list, planned, queues); }, "not refused");
    };
    CHECK(why({.queue_of = {0}}) == "sublet: 1 of 2 steps have a queue");
    CHECK(why({.queue_of = {0, 1024}}) == "sublet: step 1 runs on queue 1024, but there are at most 1024");
    CHECK(why({.queue_of = {0, 1}, .repeats = true}) ==
          "sublet: value 0 is an input or an output of the arena: the caller writes or reads it between two "
          "rounds, so they cannot overlap; make it external, or state");
    CHECK(why({.queue_of = {0, 1}}) == "not refused");
    // A plan that is none: with the names of the listing.
    memory_plan wrong = planned.plan;
    for (auto& b : wrong.buffers) b.offset = 0;
    CHECK(thrown_by<unsound_plan>([&] { (void)waits(list, wrong, {.queue_of = {0, 1}}); }, "not refused")
              .find('\'') != std::string::npos);
}

} // namespace this_test
