// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/step_waits.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"
#include "../touched_cells.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/units.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using enum value_role;

namespace {

using list = std::vector<step_waits::wait>;
constexpr step_waits::kind data = step_waits::kind::data, anti = step_waits::kind::anti,
                           control = step_waits::kind::control;

/// Steps, each with what it reads and what it writes.
struct small_program {
    std::vector<std::pair<std::vector<int>, std::vector<int>>> steps;
    std::size_t values;
    operator snapshot() const
    {
        return sequence(
            steps.size(), values, [this](auto s) -> auto& { return steps[s].first; },
            [this](auto s) -> auto& { return steps[s].second; });
    }
};

/// Values 0, 1 ... at such offsets of one arena.
memory_plan placed(std::vector<byte_count> const& offsets, std::vector<byte_count> const& sizes)
{
    memory_plan plan;
    plan.arena_bytes = {1000};
    for (value_id v = 0; v != offsets.size(); ++v) {
        plan.buffer_of.push_back(static_cast<buffer_id>(plan.buffers.size()));
        plan.buffers.push_back({.root = v, .size = sizes[v], .offset = offsets[v]});
    }
    return plan;
}

fault why_refused(auto const& call)
{
    try {
        (void)call();
    } catch (unsound_plan const& e) {
        return e.why().what;
    }
    FAIL("it was not refused");
    return {};
}

} // namespace

TEST_CASE(
    "readers wait for the writer, the next writer for them, and the next tenant for all who used the bytes")
{
    enum { w, a, b, c }; // w is state
    snapshot const program = small_program{{{{w}, {a}}, {{a}, {b}}, {{a}, {w}}, {{b}, {c}}}, 4};
    plan_options const options{.bytes = 8, .role = {state, intermediate, intermediate, output}};
    memory_plan const plan = plan_memory(program, options).plan;
    REQUIRE(plan.offset_of(c) == plan.offset_of(a));
    run_order const order = run_order_of(program, options, arena{plan});
    CHECK(order.waits.list ==
          list{{0, 1, data}, {0, 2, data}, {1, 3, data}, {2, 3, step_waits::kind::handoff}});
    CHECK(order.waits.count(data) == 3);
    CHECK(order.waits.count(anti) == 0); // 2 writes what 0 reads: the wait for a says so already
    CHECK(order.waits.before[3].size() == 2);
    CHECK(order.waits.after[0].size() == 2);
    CHECK(run_order_of(program, options, no_plan{}).waits.count(step_waits::kind::handoff) == 0);
}

TEST_CASE("data: who reads waits for who wrote last, be it a name that is written again, or of no bytes")
{
    for (byte_count const bytes : {byte_count{8}, byte_count{0}, no_size}) {
        snapshot const program = small_program{{{{}, {0}}, {{0}, {0}}, {{0}, {}}}, 1};
        plan_options const options{.bytes = bytes};
        CHECK(run_order_of(program, options, no_plan{}).waits.list == list{{0, 1, data}, {1, 2, data}});
    }
}

TEST_CASE("anti: who writes a name again waits for all who read what was there")
{
    snapshot const program = small_program{{{{0}, {1}}, {{0}, {2}}, {{}, {0}}}, 3};
    plan_options const options{.bytes = 8, .role = {state, output, output}};
    CHECK(run_order_of(program, options, no_plan{}).waits.list == list{{0, 2, anti}, {1, 2, anti}});
}

TEST_CASE("output: of two writes that nobody reads between, the second waits for the first")
{
    snapshot const program = small_program{{{{}, {0}}, {{}, {0}}, {{0}, {}}}, 1};
    CHECK(run_order_of(program, {.bytes = 8}, no_plan{}).waits.list ==
          list{{0, 1, step_waits::kind::output}, {1, 2, data}});
}

TEST_CASE("control: edges of the program are kept, and the row of steps of a node")
{
    snapshot const program = flow(
        2, 0, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.next_step();
        });
    CHECK(run_order_of(program, {.bytes = 8}, no_plan{}).waits.list ==
          list{{0, 1, control}, {1, 2, control}});
}

TEST_CASE("hand-off: those that a concurrent plan asks for are kept, in an order that it leaves")
{
    enum { a, b };
    snapshot const program = small_program{{{{}, {a}}, {{}, {b}}}, 2};
    memory_plan plan = placed({0, 0}, {8, 8});
    plan.valid_for = program_reading::concurrent;
    plan.handoffs = {{1, 0}};
    REQUIRE(!check_concurrent_plan(program, plan, {.bytes = 8}));
    run_order const order = run_order_of(program, {.bytes = 8}, arena{plan});
    CHECK(order.tape.step_at == std::vector<step_id>{1, 0});
    CHECK(order.waits.list == list{{0, 1, step_waits::kind::handoff}}); // positions
}

TEST_CASE("a part that is written through a view stays among the readers, or the plan is refused")
{
    enum { a, part, out, other };
    snapshot const program = small_program{{{{}, {a}}, {{}, {part}}, {{a}, {out}}, {{}, {other}}}, 4};
    plan_options options{.bytes = 8, .alias_of = {-1, 0, -1, -1}};
    auto order = [&](std::vector<handoff> const& handoffs) {
        auto const planned = plan_concurrent(program, options, {.handoffs = handoffs});
        REQUIRE(planned.is_sound());
        return run_order_of(program, options, arena{planned.plan}).tape.step_at;
    };
    using steps = std::vector<step_id>;
    CHECK(order({}) == steps{0, 1, 2, 3});
    CHECK(order({{3, 1}}) == steps{0, 3, 1, 2}); // by data alone, 2 could come before 1
    CHECK(order({{3, 0}}) == steps{3, 0, 1, 2});
    CHECK(why_refused([&] { return order({{2, 1}}); }) == fault::write_moved);
    CHECK(why_refused([&] { return order({{2, 3}, {3, 1}}); }) == fault::write_moved);
    options.order = {0, 2, 1, 3};
    CHECK(order({{2, 1}}) == steps{0, 3, 2, 1});
    CHECK(order({{3, 2}}) == steps{0, 3, 2, 1});
    CHECK(why_refused([&] { return order({{1, 2}}); }) == fault::write_moved);
}

TEST_CASE("a buffer over two others waits for the users of both, and over part of one for all of its users")
{
    enum { a, b, c, d, x, y };
    snapshot const program =
        small_program{{{{}, {a}}, {{}, {b}}, {{a}, {x}}, {{b}, {y}}, {{}, {c}}, {{}, {d}}, {{c, d}, {}}}, 6};
    // c over all of a and the beginning of b, d over the rest of b and bytes that nobody had
    plan_options const options{
        .bytes = {8, 8, 12, 12, 8, 8},
        .role = {intermediate, intermediate, intermediate, intermediate, output, output}};
    memory_plan const plan = placed({0, 8, 0, 12, 100, 200}, {8, 8, 12, 12, 8, 8});
    REQUIRE(!check_plan(program, plan, options));
    CHECK(run_order_of(program, options, arena{plan}).waits.list == list{{0, 2, data},
                                                                         {1, 3, data},
                                                                         {2, 4, step_waits::kind::handoff},
                                                                         {3, 4, step_waits::kind::handoff},
                                                                         {3, 5, step_waits::kind::handoff},
                                                                         {4, 6, data},
                                                                         {5, 6, data}});
}

TEST_CASE("a result in place over a larger operand leaves the rest of its bytes to others, who wait as well")
{
    enum { big, reader, small, rest };
    snapshot const program = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(big);
        if (s == 1) sink.use(big), sink.def(reader);
        if (s == 2) sink.use(big), sink.def(small), sink.may_overwrite(big, small);
        if (s == 3) sink.def(rest);
    });
    plan_options const options{.bytes = {16, 8, 8, 8}, .role = {intermediate, output, output, output}};
    memory_plan const plan = placed({0, 16, 0, 8}, {16, 8, 8, 8});
    REQUIRE(!check_plan(program, plan, options));
    // 2 writes over what 1 reads; 3 follows both, by way of 2, which reads what was there.
    CHECK(run_order_of(program, options, arena{plan}).waits.list ==
          list{{0, 1, data}, {1, 2, step_waits::kind::handoff}, {2, 3, step_waits::kind::handoff}});
}

TEST_CASE("who reads what was made as a view waits for its maker, whether that wrote anything or not")
{
    // a is updated by step 0 and by step 1; their results are versions of it: views, as far as bytes go.
    auto const program = sequence(3, 4, [](auto step, effect_sink& s) { s.use(step), s.def(step + 1); });
    plan_options const options{
        .bytes = 8, .role = {state, intermediate, intermediate, output}, .alias_of = {-1, 0, 0, -1}};
    run_order const order = run_order_of(program, options, no_plan{});
    CHECK(order.waits.list == list{{0, 1, data}, {1, 2, data}});
}

TEST_CASE("who needs a view at the end of a node waits for its maker")
{
    enum : value_id { a, v };
    snapshot const program = flow(
        3, 2, [](node_id n) { return n == 1 ? std::vector<node_id>{2} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.use(a), s.def(v);
            if (n == 2) s.use_at_end_of(1, v);
        });
    plan_options const options{.bytes = 8, .role = {state, intermediate}, .alias_of = {-1, 0}};
    CHECK(run_order_of(program, options, no_plan{}).waits.list == list{{0, 1, data}, {1, 2, control}});
}

TEST_CASE("a view that is made of what is read is no write; one that was given is, and so is part of a value")
{
    enum { a, v, x };
    auto waits = [](small_program const& p, plan_options const& options) {
        return run_order_of(snapshot(p), options, no_plan{}).waits.list;
    };
    plan_options options{
        .bytes = 8, .role = {state, intermediate, intermediate}, .alias_of = std::vector{-1, 0, -1}};
    CHECK(waits({{{{a}, {x}}, {{a}, {v}}}, 3}, options).empty());
    CHECK(waits({{{{a}, {x}}, {{}, {v}}}, 3}, options) == list{{0, 1, anti}});
    options.role = std::vector{state, state, intermediate};
    CHECK(waits({{{{a}, {x}}, {{v}, {v}}}, 3}, options) == list{{0, 1, anti}});
}

TEST_CASE("versions of a name in one place keep their order by the hand-offs that come with them")
{
    enum { w, x };
    snapshot const named = small_program{{{{w}, {x}}, {{w}, {w}}}, 2};
    auto const made = versions_of(named, {.role = {state, output}, .same_storage = true});
    REQUIRE(!made.violation);
    REQUIRE(made.handoffs == std::vector<handoff>{{0, 1}});
    plan_options const options{.bytes = 8, .role = made.role, .alias_of = made.alias_of};
    run_order const order = run_order_of(made.program, options, no_plan{}, false, made.handoffs);
    CHECK(order.waits.list == list{{0, 1, step_waits::kind::handoff}});
    CHECK(!check_waits(made.program, options, nullptr, order.tape.step_at, order.waits.after, made.handoffs));
}

TEST_CASE("an input that nobody needs keeps nobody waiting")
{
    enum { unused, a };
    snapshot const program = small_program{{{{}, {}}, {{}, {a}}}, 2};
    plan_options const options{.bytes = 8, .role = {input, output}};
    memory_plan const plan = placed({0, 0}, {8, 8});
    REQUIRE(!check_plan(program, plan, options));
    CHECK(run_order_of(program, options, arena{plan}).waits.list.empty());
}

TEST_CASE("what leads back, or is a plan of something else, is refused before any table is read")
{
    enum { a, b };
    snapshot const program = small_program{{{{}, {a}}, {{a}, {b}}}, 2};
    plan_options const options{.bytes = 8};
    auto refused = [&](memory_plan const& plan, std::vector<handoff> const& handoffs = {}) {
        return why_refused([&] { return run_order_of(program, options, arena{plan}, false, handoffs); });
    };
    memory_plan const fine = placed({0, 8}, {8, 8});
    CHECK(refused(fine, {{1, 0}}) == fault::leads_back);
    CHECK(refused(fine, {{1, 1}}) == fault::leads_back);
    CHECK_THROWS_WITH((void)run_order_of(program, options, no_plan{}, false, {{0, 2}}),
                      "sublet: a hand-off names no step");
    for (byte_count const offset : {byte_count{993}, no_offset, no_offset - 3})
        CHECK(refused(placed({0, offset}, {8, 8})) == fault::outside_arena);
    memory_plan other = fine;
    other.buffer_of.pop_back();
    CHECK(refused(other) == fault::foreign_plan);
    other = fine, other.buffer_of[1] = 7;
    CHECK(refused(other) == fault::foreign_plan);
    other = fine, other.buffer_of[1] = no_buffer;
    CHECK(refused(other) == fault::unplaced);
    other = fine, other.arena_bytes.clear();
    CHECK(refused(other) == fault::foreign_plan);
    other = fine, other.valid_for = program_reading::concurrent;
    other.handoffs = {{0, 9}};
    CHECK(refused(other) == fault::foreign_plan);
    other.handoffs = {{1, 0}};
    CHECK(refused(other) == fault::cycle);
    snapshot const loop = flow(
        1, 0, [](node_id) { return std::vector<node_id>{0}; }, [](node_id, effect_sink&) {});
    CHECK(why_refused([&] { return run_order_of(loop, options, no_plan{}); }) == fault::leads_back);
    plan_options const turned{.bytes = 8, .order = {1, 0}};
    CHECK(why_refused([&] { return run_order_of(program, turned, no_plan{}); }) == fault::used_undefined);
}

TEST_CASE("nothing is nothing to wait for")
{
    run_order const order = run_order_of(snapshot(), {.bytes = 8}, no_plan{});
    CHECK(order.waits.list.empty());
    CHECK(order.tape.positions() == 0);
}

namespace {

/// What every access of a run finds: for each step and byte that it touches, who wrote it last; and what is
/// there in the end.
using findings = std::map<std::pair<step_id, touched_cells::cell>, step_id>;

/// Whether the steps, in some order that keeps the waits, find anything but what they find one after the
/// other. All orders are tried, but what begins as one that went wrong is not tried to its end.
class all_orders {
public:
    all_orders(std::vector<touched_cells> const& touched, csr_rows const& before)
        : touched_(touched), before_(before), is_done_(touched.size())
    {
        for (step_id at = 0; at != touched.size(); ++at) expected_.push_back(take(at));
        memory_.clear();
    }

    bool one_differs() { return differs_from(0); }
    std::size_t orders() const { return orders_; }

private:
    using stamps = std::vector<step_id>;

    stamps take(step_id at)
    {
        stamps found;
        for (auto const* cells : {&touched_[at].read, &touched_[at].written})
            for (auto const& cell : *cells) {
                auto const its = memory_.find(cell);
                found.push_back(its == memory_.end() ? no_step : its->second);
            }
        for (auto const& cell : touched_[at].written) memory_[cell] = at;
        return found;
    }

    bool differs_from(std::size_t done)
    {
        orders_ += done == touched_.size();
        for (step_id at = 0; at != touched_.size(); ++at) {
            if (is_done_[at]) continue;
            auto const waits = before_[at];
            if (!std::all_of(waits.begin(), waits.end(), [&](step_id s) { return is_done_[s]; })) continue;
            auto const saved = memory_;
            if (take(at) != expected_[at]) return true;
            is_done_[at] = true;
            if (differs_from(done + 1)) return true;
            is_done_[at] = false;
            memory_ = saved;
        }
        return false;
    }

    std::vector<touched_cells> const& touched_;
    csr_rows const& before_;
    std::vector<bool> is_done_;
    std::map<touched_cells::cell, step_id> memory_;
    std::vector<stamps> expected_;
    std::size_t orders_ = 0;
};

csr_rows without(list const& waits, std::size_t dropped, std::size_t steps, bool by_later)
{
    return csr_rows::gathered(steps, [&](auto add) {
        for (std::size_t i = 0; i != waits.size(); ++i)
            if (i != dropped) by_later ? add(waits[i].to, waits[i].from) : add(waits[i].from, waits[i].to);
    });
}

struct tally {
    std::size_t programs = 0, waits = 0, orders = 0, seen_to_differ = 0;
    std::array<std::size_t, 5> of_kind{};
};

/// The waits are enough, and none can be left out: the checker says so, and, for few steps, all orders.
void prove(random_program const& p, memory_plan const* plan, run_order const& order, tally& count)
{
    snapshot const program = p.program();
    auto const options = p.options();
    auto const steps = order.tape.step_at.size();
    auto check = [&](csr_rows const& after) {
        return check_waits(program, options, plan, order.tape.step_at, after);
    };
    list const& waits = order.waits.list;
    csr_rows const none_dropped = without(waits, waits.size(), steps, true);
    CHECK(order.waits.before == none_dropped);
    CHECK(order.waits.after == without(waits, waits.size(), steps, false));
    CHECK(!check(order.waits.after));
    auto const touched = cells_touched(p, plan, order.tape.step_at);
    bool const is_small = steps <= 7;
    if (is_small) {
        all_orders slow(touched, order.waits.before);
        CHECK(!slow.one_differs());
        count.orders += slow.orders();
    }
    auto const demanded = demanded_pairs(p, order.tape.step_at);
    for (std::size_t i = 0; i != waits.size(); ++i) {
        CAPTURE(i);
        ++count.waits;
        ++count.of_kind[static_cast<std::size_t>(waits[i].why)];
        auto const found = check(without(waits, i, steps, false));
        REQUIRE(found.has_value());
        std::pair<step_id, step_id> const dropped{waits[i].from, waits[i].to};
        bool const by_bytes = touched[dropped.first].clashes_with(touched[dropped.second]);
        CHECK((by_bytes || demanded.count(dropped) != 0 || waits[i].why == step_waits::kind::handoff));
        if (!by_bytes) continue;
        CHECK(found->first_value != no_value);
        if (!is_small) continue;
        csr_rows const before = without(waits, i, steps, true);
        CHECK(all_orders(touched, before).one_differs());
        ++count.seen_to_differ;
    }
    ++count.programs;
}

} // namespace

TEST_CASE("of random programs the waits are enough in every order that keeps them, and none can be left out")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(1200); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program p = draw_program(pick, seed % 4 == 0 ? 12 : 5);
        if (seed % 2 == 0) shrink_results(p, pick);
        p.is_loose = seed % 5 != 0;
        snapshot const program = p.program();
        auto const planned = plan_memory(program, p.options());
        REQUIRE(planned.is_sound());
        if (seed % 3 == 0)
            prove(p, nullptr, run_order_of(program, p.options(), recycle{}, p.is_scratch), count);
        prove(p, &planned.plan, run_order_of(program, p.options(), arena{planned.plan}, p.is_scratch), count);
    }
    for (std::size_t of_kind : count.of_kind) CHECK(of_kind > 20);
    CHECK(count.orders > 2000);
    CHECK(count.seen_to_differ > rounds(1000));
    MESSAGE(count.waits << " waits of " << count.programs << " programs left out one by one, " << count.orders
                        << " orders run");
}

TEST_CASE("the same for plans that hold in any order, with hand-offs and without")
{
    tally count;
    std::size_t moved = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program p = draw_program(pick, seed % 4 == 0 ? 12 : 5);
        p.order.clear();
        p.is_loose = true;
        write_once(p);
        snapshot const program = p.program();
        auto const plan = seed % 2 == 0 ? plan_concurrent(program, p.options()).plan
                                        : plan_with_handoffs(program, p.options()).plan;
        REQUIRE(!check_concurrent_plan(program, plan, p.options()));
        run_order const order = run_order_of(program, p.options(), arena{plan}, p.is_scratch);
        for (std::size_t at = 0; at != order.tape.step_at.size(); ++at) moved += order.tape.step_at[at] != at;
        prove(p, &plan, order, count);
    }
    CHECK(count.orders > 1000);
    CHECK(count.of_kind[static_cast<std::size_t>(step_waits::kind::handoff)] > rounds(20));
    MESSAGE(count.waits << " waits left out, " << moved << " steps moved");
}

} // namespace this_test
