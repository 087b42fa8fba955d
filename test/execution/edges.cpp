// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/edges.hpp>

#include "../painted_steps.hpp"
#include "../printed.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../rounds.hpp"
#include "../transitive.hpp"
#include "affine_bytes.hpp"

#include <sublet/execution/digest.hpp>
#include <sublet/execution/growing_arena.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using reason = step_edges::reason;
using drawn_steps = painted_steps;
using list_of_edges = std::vector<step_edges::edge>;

/// An engine that knows of the edges only: of the steps that wait for none, `choose` picks the next.
template <class Choose>
std::vector<step_id> order_of_engine(list_of_edges const& edges, std::size_t steps, Choose choose)
{
    std::vector<std::size_t> waits(steps, 0);
    for (step_edges::edge e : edges) ++waits[e.to];
    std::vector<step_id> ready, order;
    for (step_id s = 0; s != steps; ++s)
        if (waits[s] == 0) ready.push_back(s);
    while (!ready.empty()) {
        std::size_t const at = choose(ready);
        step_id const s = ready[at];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
        order.push_back(s);
        for (step_edges::edge e : edges)
            if (e.from == s && --waits[e.to] == 0) ready.push_back(e.to);
    }
    return order;
}

std::map<std::uint64_t, std::uint64_t> results_of(drawn_steps const& drawn, memory_plan const* plan,
                                                  std::vector<step_id> const& order)
{
    painted_run run(drawn, plan);
    for (step_id s : order) run.run(s);
    return run.results();
}

std::vector<std::vector<bool>> closure_of(list_of_edges const& edges, std::size_t steps)
{
    std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
    for (step_edges::edge e : edges) before[e.from][e.to] = true;
    make_transitive(before);
    return before;
}

struct tally {
    std::array<std::size_t, 5> of_reason{};
    std::size_t runs = 0, orders = 0;
};

/// Sorted and unique; dropping one changes the closure; runs in random orders, and in those that put one step
/// as early or as late as possible, leave what the steps leave in the order `listed`, each value in storage
/// of its own. Returns the closure.
std::vector<std::vector<bool>> prove(snapshot const& program, drawn_steps const& drawn,
                                     std::vector<step_id> const& listed, memory_plan const& plan,
                                     std::vector<handoff> const& given, random_source& pick, tally& count)
{
    step_edges const found = edges(program, plan, drawn.options, given);
    std::size_t const steps = drawn.steps.size();
    REQUIRE(found.steps == steps);
    for (std::size_t i = 1; i < found.list.size(); ++i)
        CHECK(std::pair(found.list[i - 1].to, found.list[i - 1].from) <
              std::pair(found.list[i].to, found.list[i].from));
    auto const closure = closure_of(found.list, steps);
    for (step_id s = 0; s != steps; ++s) REQUIRE(!closure[s][s]);
    for (handoff h : given) CHECK(closure[h.from][h.to]);
    for (std::size_t i = 0; i != found.list.size(); ++i) {
        auto fewer = found.list;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(closure_of(fewer, steps) != closure);
        ++count.of_reason[static_cast<std::size_t>(found.list[i].why)];
    }
    auto const expected = results_of(drawn, nullptr, listed);
    REQUIRE(expected.size() >= steps);
    std::set<std::vector<step_id>> orders;
    auto try_order = [&](auto choose) {
        auto const order = order_of_engine(found.list, steps, choose);
        REQUIRE(order.size() == steps);
        ++count.runs;
        if (orders.insert(order).second) CHECK(results_of(drawn, &plan, order) == expected);
    };
    for (unsigned run = 0; run != 6; ++run)
        try_order([&](auto const& ready) { return pick.below(static_cast<unsigned>(ready.size())); });
    for (step_id of = 0; of != steps; ++of) {
        try_order([&](auto const& ready) { // as late as possible
            return std::size_t{ready.size() > 1 && ready.front() == of};
        });
        try_order([&](auto const& ready) { // after only what it waits for
            auto const at = std::find_if(ready.begin(), ready.end(),
                                         [&](step_id s) { return s == of || closure[s][of]; });
            return at == ready.end() ? 0 : static_cast<std::size_t>(at - ready.begin());
        });
    }
    count.orders += orders.size();
    return closure;
}

/// The same for tasks; and the closure has all that their data, edges and hand-offs need.
void prove(random_tasks const& tasks, memory_plan const& plan, std::vector<handoff> const& given,
           random_source& pick, tally& count)
{
    sharing_rule const needed(tasks, given);
    std::size_t const steps = tasks.tasks.size();
    list_of_edges must;
    for (std::size_t a = 0; a != steps; ++a)
        for (std::size_t b = 0; b != steps; ++b)
            if (needed.before[a][b]) must.push_back({a, b});
    auto const listed = order_of_engine(must, steps, [](auto const&) { return std::size_t{0}; });
    auto const closure = prove(tasks.program(), drawn_steps(tasks), listed, plan, given, pick, count);
    for (step_edges::edge e : must) CHECK(closure[e.from][e.to]);
}

/// A list of uses and defs.
snapshot made_of(std::vector<std::pair<std::vector<int>, std::vector<int>>> const& steps, std::size_t values)
{
    return sequence(
        steps.size(), values, [&](auto s) -> auto& { return steps[s].first; },
        [&](auto s) -> auto& { return steps[s].second; });
}

std::string why_refused(auto const& call) { return thrown_by<unsound_plan>(call, "not refused"); }

} // namespace

TEST_CASE("an engine that keeps only the edges leaves what the listed order leaves, and no edge is implied")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(240); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks_shape shape;
        shape.tasks = 3 + seed % 9;
        shape.early = seed % 3 == 0 ? 40 : 10;
        shape.views = seed % 2 == 0 ? 0 : 25;
        shape.pools = 1 + seed % 2;
        shape.in_place = seed % 5 == 0 ? 40 : 0;
        shape.edges = seed % 7 == 0 ? 60 : 20;
        random_tasks tasks = draw_tasks(pick, shape);
        if (seed % 4 == 3) join_parts(pick, tasks);
        snapshot const program = tasks.program();
        auto const options = tasks.options();
        auto const listed = plan_memory(program, options);
        REQUIRE(listed);
        prove(tasks, listed.plan, {}, pick, count);
        auto const any = plan_concurrent(program, options);
        REQUIRE(any);
        prove(tasks, any.plan, {}, pick, count);
        auto const waiting = plan_with_handoffs(program, options, {.minimum_gain = 0});
        REQUIRE(waiting);
        prove(tasks, waiting.plan, {}, pick, count);
        std::vector<handoff> given; // in the order of the list, in which the tasks can run
        for (unsigned i = 0; i != 2; ++i) {
            step_id const to = 1 + pick.below(shape.tasks - 1);
            given.push_back({pick.below(+to), to});
        }
        auto const agreed = plan_concurrent(program, options, {.handoffs = given});
        REQUIRE(agreed);
        prove(tasks, agreed.plan, given, pick, count);
        prove(tasks, listed.plan, given, pick, count);
    }
    for (auto const why : {reason::data, reason::control, reason::given, reason::handoff})
        CHECK(count.of_reason[static_cast<std::size_t>(why)] > rounds(240));
    CHECK(count.orders > rounds(240) * 20);
    MESSAGE(count.orders << " orders in " << count.runs << " runs; edges: " << count.of_reason[0] << " data, "
                         << count.of_reason[1] << " overwrite, " << count.of_reason[2] << " control, "
                         << count.of_reason[3] << " given, " << count.of_reason[4] << " hand-off");
}

TEST_CASE(
    "the same holds where values are written again, nodes have several steps, and pools and orders are given")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 4 + seed % 5);
        p.drops_free_edges = seed % 5 != 0;
        auto prove_plan = [&](memory_plan const& plan) {
            std::vector<step_id> listed;
            for (random_program::turn const& turn : p.turns()) listed.push_back(turn.id);
            prove(p.program(), drawn_steps(p), listed, plan, {}, pick, count);
        };
        auto const planned = plan_memory(p.program(), p.options());
        REQUIRE(planned);
        prove_plan(planned.plan);
        p.order.clear();
        p.drops_free_edges = true;
        write_once(p);
        auto const any = plan_concurrent(p.program(), p.options());
        REQUIRE(any);
        prove_plan(any.plan);
    }
    for (auto const why : {reason::data, reason::overwrite, reason::control, reason::handoff})
        CHECK(count.of_reason[static_cast<std::size_t>(why)] > rounds(300) / 10);
    MESSAGE(count.orders << " orders in " << count.runs << " runs; edges: " << count.of_reason[0] << " data, "
                         << count.of_reason[1] << " overwrite, " << count.of_reason[2] << " control, "
                         << count.of_reason[4] << " hand-off");
}

TEST_CASE("tasks that are listed in an order in which they cannot run have edges for every schedule")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks_shape shape;
        shape.tasks = 8;
        shape.edges = 50;
        shape.shuffled = true;
        random_tasks const tasks = draw_tasks(pick, shape);
        auto const any = plan_concurrent(tasks.program(), tasks.options());
        if (any) prove(tasks, any.plan, {}, pick, count);
    }
    CHECK(count.orders > rounds(60));
}

TEST_CASE("data: of a reader on the writer, and of a view on what it names; early reads are of one step")
{
    enum { a, v, b };
    snapshot const program = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(a);
        if (s == 1) sink.view(v, a, 0);
        if (s == 2) sink.use_early(v), sink.def(b);
    });
    plan_options const options{
        .bytes = 8, .role = {value_role::intermediate, value_role::intermediate, value_role::output}};
    list_of_edges const both{{0, 1, reason::data}, {1, 2, reason::data}};
    CHECK(edges(program, plan_memory(program, options), options).list == both);
    auto const any = plan_concurrent(program, options);
    CHECK(any.bytes() == 8); // b takes the bytes of a, which its own step reads early
    CHECK(edges(program, any, options).list == both);
}

TEST_CASE("overwrite: a second write waits for readers, or for the first write")
{
    enum { a, x, y };
    snapshot const program = made_of({{{}, {a}}, {{}, {a}}, {{a}, {x}}, {{a}, {y}}, {{}, {a}}}, 3);
    plan_options const options{.bytes = 8,
                               .role = {value_role::state, value_role::output, value_role::output}};
    step_edges const found = edges(program, plan_memory(program, options), options);
    CHECK(found.list == list_of_edges{{0, 1, reason::overwrite},
                                      {1, 2, reason::data},
                                      {1, 3, reason::data},
                                      {2, 4, reason::overwrite},
                                      {3, 4, reason::overwrite}});
    CHECK(found.count(reason::overwrite) == 3);
    CHECK(found.count(reason::handoff) == 0);
}

TEST_CASE("control: an edge of the program that carries no data, and the steps of a node in sequence")
{
    snapshot const program = tasks(
        2, 0, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.next_step();
        });
    plan_options const options{.bytes = 8};
    list_of_edges const both{{0, 1, reason::control}, {1, 2, reason::control}};
    CHECK(edges(program, plan_memory(program, options), options).list == both);
    CHECK(edges(program, plan_concurrent(program, options), options).list == both);
}

TEST_CASE("hand-off: where a plan for one order reuses bytes, and none in a plan for every schedule")
{
    // Two chains: one after the other they share bytes.
    enum { a, x, b, y };
    snapshot const program = made_of({{{}, {a}}, {{a}, {x}}, {{}, {b}}, {{b}, {y}}}, 4);
    plan_options const options{
        .bytes = {64, 8, 64, 8},
        .role = {value_role::intermediate, value_role::output, value_role::intermediate, value_role::output}};
    list_of_edges const by_data{{0, 1, reason::data}, {2, 3, reason::data}};
    list_of_edges const with_handoff{{0, 1, reason::data}, {1, 2, reason::handoff}, {2, 3, reason::data}};
    auto const listed = plan_memory(program, options);
    auto const any = plan_concurrent(program, options);
    auto const waiting = plan_with_handoffs(program, options, {.workers = 1});
    REQUIRE(listed.bytes() == 80);
    REQUIRE(any.bytes() == 144);
    REQUIRE(waiting.bytes() < 144);
    CHECK(edges(program, listed, options).list == with_handoff);
    CHECK(edges(program, any, options).list == by_data);
    REQUIRE(waiting.plan.handoffs.size() == 1);
    handoff const only = waiting.plan.handoffs[0];
    step_edges const found = edges(program, waiting, options);
    CHECK(found.count(reason::handoff) == 1);
    CHECK(std::count(found.list.begin(), found.list.end(),
                     step_edges::edge{only.from, only.to, reason::handoff}) == 1);

    // Given: also a pair that the plan hands on, but nothing that data imply.
    CHECK(edges(program, listed, options, {{1, 2}, {0, 1}}).list ==
          list_of_edges{{0, 1, reason::data}, {1, 2, reason::given}, {2, 3, reason::data}});
    CHECK(edges(program, any, options, {{0, 3}, {0, 3}}).list ==
          list_of_edges{{0, 1, reason::data}, {0, 3, reason::given}, {2, 3, reason::data}});
    // In a plan for every schedule they may lead backwards in the list: edges are of steps.
    CHECK(edges(program, any, options, {{3, 0}}).list ==
          list_of_edges{{3, 0, reason::given}, {0, 1, reason::data}, {2, 3, reason::data}});
}

TEST_CASE("the arena of a batch has the edges of its plan")
{
    enum { a, x, b, y };
    snapshot const program = made_of({{{}, {a}}, {{a}, {x}}, {{}, {b}}, {{b}, {y}}}, 4);
    symbolic_options const sizes{
        .bytes = affine_bytes{0, 64},
        .dims = batches(8),
        .role = {value_role::intermediate, value_role::output, value_role::intermediate, value_role::output}};
    auto const symbolic = plan_symbolic(program, sizes);
    REQUIRE(symbolic);
    growing_arena memory(symbolic);
    for (byte_count batch : {1u, 5u, 8u})
        CHECK(edges(program, memory.at(batch), sizes.at(batch)).list ==
              edges(program, symbolic.plan.at(batch), sizes.at(batch)).list);
}

TEST_CASE("an empty program has no edges, and a single step has none")
{
    plan_options const options{.bytes = 8};
    step_edges const none = edges(snapshot(), plan_memory(snapshot(), options), options);
    CHECK(none.list.empty());
    CHECK(none.steps == 0);
    CHECK(printed(none) == "0 edges");
    snapshot const one = made_of({{{}, {0}}}, 1);
    CHECK(edges(one, plan_concurrent(one, options), options).list.empty());
}

TEST_CASE("a program with branches is refused by name, whatever plan it has, and so is a plan for its paths")
{
    auto next = [](node_id n) { return n == 0 ? std::vector<node_id>{1, 2} : std::vector<node_id>{}; };
    auto effects = [](node_id n, effect_sink& s) { s.def(+n); };
    plan_options const options{.bytes = 8};
    snapshot const branches = flow(3, 3, next, effects), order = tasks(3, 3, next, effects);
    auto const by_path = plan_flow(branches, options);
    REQUIRE(by_path);
    std::string const refused = "sublet: the edges of this program are control flow";
    for (memory_plan const& plan : {by_path.plan, plan_concurrent(order, options).plan})
        CHECK(thrown_by<precondition_error>([&] { (void)edges(branches, plan, options); }).find(refused) ==
              0);
    CHECK(why_refused([&] { (void)edges(order, by_path.plan, options); }) != "not refused");

    listing<char> list;
    auto const one = list.block("one");
    list.step("make").make('a', {.bytes = 8});
    auto const two = list.block("two");
    list.step("read").read('a');
    list.edge(one, two);
    CHECK(thrown_by<precondition_error>([&] { (void)edges(list, plan_flow(list)); }).find(refused) == 0);
}

TEST_CASE("no plan, a wrong one, and hand-offs that contradict it are refused with the names of a listing")
{
    listing<std::string> list;
    list.step("load").make("image", {.bytes = 64});
    list.step("blur").read("image").make("soft", {.bytes = 64, .role = value_role::output});
    auto const planned = plan_memory(list);
    CHECK(edges(list, planned).list == list_of_edges{{0, 1, reason::data}});
    CHECK(why_refused([&] { (void)edges(list, planned, {{1, 0}}); }).find("'blur'") != std::string::npos);
    CHECK(why_refused([&] { (void)edges(list, plan_concurrent(list), {{1, 0}}); }).find("'blur'") !=
          std::string::npos);
    CHECK_THROWS_AS((void)edges(list, planned, {{0, 9}}), precondition_error);
    memory_plan wrong = planned.plan;
    wrong.buffers[1].offset = wrong.buffers[0].offset;
    CHECK(why_refused([&] { (void)edges(list, wrong); }).find("'image'") != std::string::npos);
    list.pools = {pool_limits{.capacity = 8}};
    auto const none = plan_memory(list);
    REQUIRE(!none);
    CHECK_THROWS_AS((void)edges(list, none), unsound_plan);
}

TEST_CASE("edges are printed, drawn and written with the names of the listing")
{
    listing<char> list;
    list.step("load \"x\"").make('a', {.bytes = 64});
    list.step("a & b").read('a').make('b', {.bytes = 8, .role = value_role::output});
    list.step().make('c', {.bytes = 64, .role = value_role::output});
    step_edges const found = edges(list, plan_memory(list));
    CHECK(printed(found) == "2 edges: 1 data, 1 hand-off; load \"x\" -> a & b (data), a & b -> 2 (hand-off)");
    std::ostringstream dot, json;
    CHECK(&write_dot(dot, found) == &dot);
    CHECK(dot.str() == R"(digraph edges {
node [shape=box, color=gray40, fontname=Helvetica, fontsize=11, height=0.3, margin="0.12,0.05"]
edge [penwidth=1.6, arrowsize=0.7, fontname=Helvetica, fontsize=9]
s0 [label="load \"x\""]
s1 [label="a &amp; b"]
s2 [label="2"]
s0 -> s1 [label=" data", color="#3465a4"]
s1 -> s2 [label=" hand-off", color="#ce5c00"]
}
)");
    CHECK(&write_json(json, found) == &json);
    CHECK(json.str() == R"({
 "sublet_edges": 1,
 "steps": ["load \"x\"", "a & b", "2"],
 "edges": [
  {"from": 0, "to": 1, "why": "data"},
  {"from": 1, "to": 2, "why": "hand-off"}
 ]
}
)");
    std::ostringstream own, empty;
    write_json(own, found, std::vector<std::string>{"p", "q", "r"});
    CHECK(own.str().find("\"steps\": [\"p\", \"q\", \"r\"]") != std::string::npos);
    step_edges torn = found;
    torn.names = {'x', '\n', '\0', '\xff', '\0'};
    CHECK(printed(torn) == "2 edges: 1 data, 1 hand-off; x -> ? (data), ? -> 2 (hand-off)");
    write_json(empty, step_edges{});
    CHECK(empty.str() == "{\n \"sublet_edges\": 1,\n \"steps\": [],\n \"edges\": []\n}\n");
}

} // namespace this_test
