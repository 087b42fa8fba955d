// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/step_waits.hpp>

#include "../operations.hpp"
#include "../random_names.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"
#include "../touched_cells.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/program_order.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/arena_occupants.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/structures/internal/byte_owners.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
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
using rows = csr_rows<position_id, position_id>;
constexpr step_waits::kind data = step_waits::kind::data, anti = step_waits::kind::anti,
                           control = step_waits::kind::control;

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

/// Values 0, 1 ... at the given offsets of one arena.
memory_plan placed(std::vector<byte_count> const& offsets, std::vector<byte_count> const& sizes)
{
    memory_plan plan;
    plan.arena_bytes = {1000};
    for (value_id v = 0; v != offsets.size(); ++v) {
        plan.buffer_of.push_back(buffer_id::of(plan.buffers.size()));
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
    FAIL("no exception was thrown");
    return {};
}

} // namespace

TEST_CASE(
    "readers wait for the writer, the next writer for them, and the next occupant for all users of the bytes")
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
    CHECK(order.waits.count(anti) == 0); // 2 writes what 0 reads: implied by the wait for a
    CHECK(order.waits.before[3].size() == 2);
    CHECK(order.waits.after[0].size() == 2);
    CHECK(run_order_of(program, options, no_plan{}).waits.count(step_waits::kind::handoff) == 0);
}

TEST_CASE("data: a reader waits for the last writer, also of a value that is written twice or has no bytes")
{
    for (byte_count const bytes : {byte_count{8}, byte_count{0}, no_size}) {
        snapshot const program = small_program{{{{}, {0}}, {{0}, {0}}, {{0}, {}}}, 1};
        plan_options const options{.bytes = bytes};
        CHECK(run_order_of(program, options, no_plan{}).waits.list == list{{0, 1, data}, {1, 2, data}});
    }
}

TEST_CASE("anti: a second writer of a value waits for all readers of the first")
{
    snapshot const program = small_program{{{{0}, {1}}, {{0}, {2}}, {{}, {0}}}, 3};
    plan_options const options{.bytes = 8, .role = {state, output, output}};
    CHECK(run_order_of(program, options, no_plan{}).waits.list == list{{0, 2, anti}, {1, 2, anti}});
}

TEST_CASE("output: of two writes without a read between them, the second waits for the first")
{
    snapshot const program = small_program{{{{}, {0}}, {{}, {0}}, {{0}, {}}}, 1};
    CHECK(run_order_of(program, {.bytes = 8}, no_plan{}).waits.list ==
          list{{0, 1, step_waits::kind::output}, {1, 2, data}});
}

TEST_CASE("control: edges of the program are kept, and the order of the steps of a node")
{
    snapshot const program = tasks(
        2, 0, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.next_step();
        });
    CHECK(run_order_of(program, {.bytes = 8}, no_plan{}).waits.list ==
          list{{0, 1, control}, {1, 2, control}});
}

TEST_CASE("hand-off: those of a concurrent plan are kept, in an order that they allow")
{
    enum { a, b };
    snapshot const program = small_program{{{{}, {a}}, {{}, {b}}}, 2};
    memory_plan plan = placed({0, 0}, {8, 8});
    plan.valid_for = program_reading::concurrent;
    plan.handoffs = {{1, 0}};
    REQUIRE(check_concurrent_plan(program, plan, {.bytes = 8}));
    run_order const order = run_order_of(program, {.bytes = 8}, arena{plan});
    CHECK(order.lowered.step_at == std::vector<step_id>{1, 0});
    CHECK(order.waits.list == list{{0, 1, step_waits::kind::handoff}}); // positions
}

TEST_CASE("a part that is written through a view keeps its place among the readers, or the plan is rejected")
{
    enum { a, part, out, other };
    snapshot const program =
        with_views(small_program{{{{}, {a}}, {{}, {part}}, {{a}, {out}}, {{}, {other}}}, 4},
                   {no_value, a, no_value, no_value}, true);
    plan_options options{.bytes = 8, .alias_of = {-1, 0, -1, -1}};
    auto order = [&](std::vector<handoff> const& handoffs) {
        auto const planned = plan_concurrent(program, options, {.handoffs = handoffs});
        REQUIRE(planned);
        return run_order_of(program, options, arena{planned}).lowered.step_at;
    };
    auto refused = [&](std::vector<handoff> const& handoffs) {
        return plan_concurrent(program, options, {.handoffs = handoffs}).error().what;
    };
    using steps = std::vector<step_id>;
    CHECK(order({}) == steps{0, 1, 2, 3});
    CHECK(order({{3, 1}}) == steps{0, 3, 1, 2}); // by data alone, 2 could run before 1
    CHECK(order({{3, 0}}) == steps{3, 0, 1, 2});
    CHECK(refused({{2, 1}}) == fault::cycle);
    CHECK(refused({{2, 3}, {3, 1}}) == fault::cycle);
    options.order = {0, 2, 1, 3};
    CHECK(order({{2, 1}}) == steps{0, 3, 2, 1});
    CHECK(order({{3, 2}}) == steps{0, 3, 2, 1});
    CHECK(refused({{1, 2}}) == fault::cycle);
}

TEST_CASE(
    "a buffer over two others waits for the users of both; one over a part of another for all its users")
{
    enum { a, b, c, d, x, y };
    snapshot const program =
        small_program{{{{}, {a}}, {{}, {b}}, {{a}, {x}}, {{b}, {y}}, {{}, {c}}, {{}, {d}}, {{c, d}, {}}}, 6};
    // c lies over all of a and the beginning of b, d over the rest of b and unused bytes
    plan_options const options{
        .bytes = {8, 8, 12, 12, 8, 8},
        .role = {intermediate, intermediate, intermediate, intermediate, output, output}};
    memory_plan const plan = placed({0, 8, 0, 12, 100, 200}, {8, 8, 12, 12, 8, 8});
    REQUIRE(check_plan(program, plan, options));
    CHECK(run_order_of(program, options, arena{plan}).waits.list == list{{0, 2, data},
                                                                         {1, 3, data},
                                                                         {2, 4, step_waits::kind::handoff},
                                                                         {3, 4, step_waits::kind::handoff},
                                                                         {3, 5, step_waits::kind::handoff},
                                                                         {4, 6, data},
                                                                         {5, 6, data}});
}

TEST_CASE("an in-place result that is smaller than its operand leaves the rest of the bytes to buffers that "
          "wait too")
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
    REQUIRE(check_plan(program, plan, options));
    // 2 overwrites what 1 reads; 3 waits for both, for 1 by way of 2.
    CHECK(run_order_of(program, options, arena{plan}).waits.list ==
          list{{0, 1, data}, {1, 2, step_waits::kind::handoff}, {2, 3, step_waits::kind::handoff}});
}

TEST_CASE("the reader of a view waits for the step that defines it, whether that writes bytes or not")
{
    // The results of steps 0 and 1 are views of a. If the steps write, they are its versions.
    auto const program = sequence(3, 4, [](auto step, effect_sink& s) { s.use(+step), s.def(step + 1); });
    plan_options const options{
        .bytes = 8, .role = {state, intermediate, intermediate, output}, .alias_of = {-1, 0, 0, -1}};
    for (bool const writes : {false, true}) {
        run_order const order =
            run_order_of(with_views(program, {no_value, 0, 0, no_value}, writes), options, no_plan{});
        CHECK(order.waits.list == list{{0, 1, data}, {1, 2, data}});
    }
}

TEST_CASE("the step that makes a view waits for the step that makes its storage, though it reads nothing")
{
    snapshot const program = sequence(3, 2, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(0);
        if (step == 1) s.view(1);
        if (step == 2) s.use(1);
    });
    plan_options const options{.bytes = 8, .alias_of = {-1, 0}};
    run_order const order = run_order_of(program, options, no_plan{});
    CHECK(order.waits.list == list{{0, 1, data}, {1, 2, data}});
    auto checked = [&](rows const& after) {
        return check_waits(program, options, nullptr, order.lowered.step_at, after);
    };
    CHECK(checked(order.waits.after));
    rows late; // only 1 before 2, and 0 before 2
    late.append(2), late.close_row(), late.append(2), late.close_row(), late.close_row();
    counterexample const why = checked(late).error();
    CHECK(why.what == fault::unordered);
    auto const* pair = why.as<counterexample::waiting>();
    REQUIRE(pair != nullptr);
    CHECK(pair->earlier == 0);
    CHECK(pair->position == 1);
}

TEST_CASE(
    "a step that makes a view accesses no byte: it is not ordered with a step that writes the root again")
{
    enum : std::uint32_t { r, v };
    snapshot const program = sequence(4, 2, [](step_id step, effect_sink& s) {
        if (step < 2) s.def(r);
        if (step == 2) s.view(v);
        if (step == 3) s.use(v);
    });
    plan_options const options{.bytes = 8, .alias_of = {-1, 0}};
    run_order const order = run_order_of(program, options, no_plan{});
    CHECK(order.waits.list ==
          list{{0, 1, step_waits::kind::output}, {0, 2, data}, {1, 3, data}, {2, 3, data}});
    CHECK(check_waits(program, options, nullptr, order.lowered.step_at, order.waits.after));
}

TEST_CASE("a step that makes a view of what the caller gives does not wait for a step that writes that again")
{
    enum : std::uint32_t { r, v };
    snapshot const program = sequence(4, 2, [](step_id step, effect_sink& s) {
        if (step == 0 || step == 2) s.view(v);
        if (step == 1) s.def(r);
        if (step == 3) s.use(v);
    });
    for (value_role const given : {input, state}) {
        plan_options const options{.bytes = 8, .role = {given, intermediate}, .alias_of = {-1, 0}};
        run_order const order = run_order_of(program, options, no_plan{});
        CHECK(order.waits.list ==
              list{{0, 2, step_waits::kind::output}, {1, 3, data}, {2, 3, data}}); // not 1 before 2
        CHECK(check_waits(program, options, nullptr, order.lowered.step_at, order.waits.after));
    }
}

TEST_CASE("a step that makes a view again waits for those that read the older one")
{
    enum : std::uint32_t { r, v };
    snapshot const program = sequence(4, 2, [](step_id step, effect_sink& s) {
        if (step % 2 == 0) s.view(v);
        else s.use(v);
    });
    plan_options const options{.bytes = 8, .role = {state, intermediate}, .alias_of = {-1, 0}};
    CHECK(run_order_of(program, options, no_plan{}).waits.list ==
          list{{0, 1, data}, {1, 2, step_waits::kind::anti}, {2, 3, data}});
}

TEST_CASE("a step that reads a view of no bytes waits for the step that makes the view, and for no write")
{
    enum : std::uint32_t { r, none, out };
    snapshot const program = sequence(4, 4, [](step_id step, effect_sink& s) {
        if (step == 0) s.def(r);
        if (step == 1) s.use(r), s.view(none);
        if (step == 2) s.use(none), s.def(out);
        if (step == 3) s.def(r);
    });
    plan_options options{.bytes = {8, 0, 8, 8}, .alias_of = {-1, 0, -1, -1}};
    auto waits = [&] {
        run_order const order = run_order_of(program, options, no_plan{});
        CHECK(check_waits(program, options, nullptr, order.lowered.step_at, order.waits.after));
        return order.waits.list;
    };
    list const both{{0, 1, data}, {1, 2, data}, {1, 3, step_waits::kind::anti}};
    CHECK(waits() == both);
    options.bytes = {8, 8, 8, 8};
    CHECK(waits() == list{{0, 1, data}, {1, 2, data}, {2, 3, step_waits::kind::anti}});
    options.bytes = {0, 0, 8, 8}; // storage of no bytes keeps the order of its accesses
    CHECK(waits() == list{{0, 1, data}, {1, 2, data}, {2, 3, step_waits::kind::anti}});
}

TEST_CASE("a use of a view at the end of a node waits for the step that defines the view")
{
    enum : std::uint32_t { a, v };
    snapshot const program = tasks(
        3, 2, [](node_id n) { return n == 1 ? std::vector<node_id>{2} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.use(a), s.view(v);
            if (n == 2) s.use_at_end_of(1, v);
        });
    plan_options const options{.bytes = 8, .role = {state, intermediate}, .alias_of = {-1, 0}};
    CHECK(run_order_of(program, options, no_plan{}).waits.list == list{{0, 1, data}, {1, 2, control}});
}

TEST_CASE("a view is not a write; one that is also written is, whether its step makes it or it is given")
{
    enum { a, v, x };
    auto waits = [](small_program const& p, plan_options const& options, bool writes) {
        return run_order_of(with_views(p, {no_value, a, no_value}, writes), options, no_plan{}).waits.list;
    };
    plan_options options{
        .bytes = 8, .role = {state, intermediate, intermediate}, .alias_of = std::vector{-1, 0, -1}};
    CHECK(waits({{{{a}, {x}}, {{a}, {v}}}, 3}, options, false).empty());
    CHECK(waits({{{{a}, {x}}, {{}, {v}}}, 3}, options, true) == list{{0, 1, anti}});
    options.role = std::vector{state, state, intermediate};
    CHECK(waits({{{{a}, {x}}, {{v}, {v}}}, 3}, options, true) == list{{0, 1, anti}});
}

TEST_CASE("versions of a value in one place keep their order")
{
    enum { w, x };
    snapshot const named = small_program{{{{w}, {x}}, {{w}, {w}}}, 2};
    auto const made = versions_of(named, {.role = {state, output}, .same_storage = true});
    REQUIRE(made);
    plan_options const options{.bytes = 8, .role = made.role, .alias_of = made.alias_of};
    run_order const order = run_order_of(made.program, options, no_plan{});
    CHECK(order.waits.list == list{{0, 1, step_waits::kind::anti}});
    CHECK(check_waits(made.program, options, nullptr, order.lowered.step_at, order.waits.after));
}

TEST_CASE("an unused input causes no wait")
{
    enum { unused, a };
    snapshot const program = small_program{{{{}, {}}, {{}, {a}}}, 2};
    plan_options const options{.bytes = 8, .role = {input, output}};
    memory_plan const plan = placed({0, 0}, {8, 8});
    REQUIRE(check_plan(program, plan, options));
    CHECK(run_order_of(program, options, arena{plan}).waits.list.empty());
}

TEST_CASE("a hand-off or edge to a lower position, or the plan of another program, is rejected before its "
          "tables are read")
{
    enum { a, b };
    snapshot const program = small_program{{{{}, {a}}, {{a}, {b}}}, 2};
    plan_options const options{.bytes = 8};
    auto refused = [&](memory_plan const& plan, std::vector<handoff> const& handoffs = {}) {
        return why_refused([&] { return run_order_of(program, options, arena{plan}, handoffs); });
    };
    memory_plan const fine = placed({0, 8}, {8, 8});
    CHECK(refused(fine, {{1, 0}}) == fault::leads_back);
    CHECK(refused(fine, {{1, 1}}) == fault::leads_back);
    CHECK_THROWS_WITH((void)run_order_of(program, options, no_plan{}, {{0, 2}}),
                      "sublet: a hand-off leads from step 0 to step 2, but there are only 2 steps");
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
    snapshot const loop =
        tasks(1, 0, [](node_id) { return std::vector<node_id>{0}; }, [](node_id, effect_sink&) {});
    CHECK(why_refused([&] { return run_order_of(loop, options, no_plan{}); }) == fault::leads_back);
    plan_options const turned{.bytes = 8, .order = {1, 0}};
    CHECK(why_refused([&] { return run_order_of(program, turned, no_plan{}); }) == fault::used_undefined);
}

TEST_CASE("an empty program has no waits")
{
    run_order const order = run_order_of(snapshot(), {.bytes = 8}, no_plan{});
    CHECK(order.waits.list.empty());
    CHECK(order.lowered.positions() == 0);
}

namespace {

/// The reads of a run: for each step and byte that it touches, the last writer; and the final contents.
using findings = std::map<std::pair<position_id, touched_cells::cell>, position_id>;

/// Whether some order of the steps that keeps the waits has other reads than the sequential order. Tries all
/// orders, but extends no prefix that already differs.
class all_orders {
public:
    all_orders(std::vector<touched_cells> const& touched, rows const& before)
        : touched_(touched), before_(before), is_done_(touched.size())
    {
        for (position_id at = 0; at != touched.size(); ++at) expected_.push_back(take(at));
        memory_.clear();
    }

    bool one_differs() { return differs_from(0); }
    std::size_t orders() const { return orders_; }

private:
    using stamps = std::vector<position_id>;

    stamps take(position_id at)
    {
        stamps found;
        for (auto const* cells : {&touched_[at].read, &touched_[at].written})
            for (auto const& cell : *cells) {
                auto const its = memory_.find(cell);
                found.push_back(its == memory_.end() ? no_position : its->second);
            }
        for (auto const& cell : touched_[at].written) memory_[cell] = at;
        return found;
    }

    bool differs_from(std::size_t done)
    {
        orders_ += done == touched_.size();
        for (position_id at = 0; at != touched_.size(); ++at) {
            if (is_done_[at]) continue;
            auto const waits = before_[at];
            if (!std::all_of(waits.begin(), waits.end(), [&](position_id w) { return is_done_[w]; }))
                continue;
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
    rows const& before_;
    std::vector<bool> is_done_;
    std::map<touched_cells::cell, position_id> memory_;
    std::vector<stamps> expected_;
    std::size_t orders_ = 0;
};

rows without(list const& waits, std::size_t dropped, std::size_t steps, bool by_later)
{
    return rows::gathered(steps, [&](auto add) {
        for (std::size_t i = 0; i != waits.size(); ++i)
            if (i != dropped) by_later ? add(waits[i].to, waits[i].from) : add(waits[i].from, waits[i].to);
    });
}

struct tally {
    std::size_t programs = 0, waits = 0, orders = 0, distinguished = 0;
    std::array<std::size_t, 5> of_kind{};
};

/// The waits suffice and none can be left out: by the checker and, for few steps, by all orders.
void prove(random_program const& p, memory_plan const* plan, run_order const& order, tally& count)
{
    snapshot const program = p.program();
    auto const options = p.options();
    auto const steps = order.lowered.step_at.size();
    auto check = [&](rows const& after) {
        return check_waits(program, options, plan, order.lowered.step_at, after);
    };
    list const& waits = order.waits.list;
    rows const none_dropped = without(waits, waits.size(), steps, true);
    CHECK(order.waits.before == none_dropped);
    CHECK(order.waits.after == without(waits, waits.size(), steps, false));
    CHECK(check(order.waits.after));
    auto const touched = cells_touched(p, plan, order.lowered.step_at);
    bool const is_small = steps <= 7;
    if (is_small) {
        all_orders slow(touched, order.waits.before);
        CHECK(!slow.one_differs());
        count.orders += slow.orders();
    }
    auto const demanded = required_pairs(p, order.lowered.step_at);
    for (std::size_t i = 0; i != waits.size(); ++i) {
        CAPTURE(i);
        ++count.waits;
        ++count.of_kind[static_cast<std::size_t>(waits[i].why)];
        auto const valid = check(without(waits, i, steps, false));
        REQUIRE(!valid);
        std::pair<position_id, position_id> const dropped{waits[i].from, waits[i].to};
        bool const by_bytes = touched[dropped.first].clashes_with(touched[dropped.second]);
        CHECK((by_bytes || demanded.count(dropped) != 0 || waits[i].why == step_waits::kind::handoff));
        if (!by_bytes) continue;
        CHECK(valid.error().value() != no_value);
        if (!is_small) continue;
        rows const before = without(waits, i, steps, true);
        CHECK(all_orders(touched, before).one_differs());
        ++count.distinguished;
    }
    ++count.programs;
}

} // namespace

TEST_CASE("for random programs the waits suffice in every order that keeps them, and none can be left out")
{
    tally count;
    for (unsigned seed = 0; seed != rounds(1200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, seed % 4 == 0 ? 12 : 5);
        if (seed % 2 == 0) shrink_results(p, pick);
        p.drops_free_edges = seed % 5 != 0;
        snapshot const program = p.program();
        auto const planned = plan_memory(program, p.options());
        REQUIRE(planned);
        if (seed % 3 == 0) prove(p, nullptr, run_order_of(program, p.options(), recycle{}), count);
        prove(p, &planned.plan, run_order_of(program, p.options(), arena{planned}), count);
    }
    for (std::size_t of_kind : count.of_kind) CHECK(of_kind > 20);
    CHECK(count.orders > 2000);
    CHECK(count.distinguished > rounds(1000));
    MESSAGE(count.waits << " waits of " << count.programs << " programs left out one by one, " << count.orders
                        << " orders run");
}

TEST_CASE("the same holds for plans for any schedule, with and without hand-offs")
{
    tally count;
    std::size_t moved = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, seed % 4 == 0 ? 12 : 5);
        p.order.clear();
        p.drops_free_edges = true;
        write_once(p);
        snapshot const program = p.program();
        auto const plan = seed % 2 == 0 ? plan_concurrent(program, p.options()).plan
                                        : plan_with_handoffs(program, p.options()).plan;
        REQUIRE(check_concurrent_plan(program, plan, p.options()));
        run_order const order = run_order_of(program, p.options(), arena{plan});
        for (std::size_t at = 0; at != order.lowered.step_at.size(); ++at)
            moved += order.lowered.step_at[at] != at;
        prove(p, &plan, order, count);
    }
    CHECK(count.orders > 1000);
    CHECK(count.of_kind[static_cast<std::size_t>(step_waits::kind::handoff)] > rounds(20));
    MESSAGE(count.waits << " waits left out, " << moved << " steps moved");
}

// --- byte owners -------------------------------------------------------------------------------------------

using owners = detail::byte_owners;

namespace {

/// The owner of each byte.
std::vector<buffer_id> bytes_of(owners const& all, byte_count begin, byte_count end)
{
    std::vector<buffer_id> bytes;
    all.each(begin, end, [&](byte_count first, byte_count last, buffer_id id) {
        CHECK(first == begin + bytes.size()); // ascending, without gaps
        CHECK(first < last);
        bytes.insert(bytes.end(), last - first, id);
    });
    CHECK(bytes.size() == end - begin);
    return bytes;
}

} // namespace

TEST_CASE("the last buffer placed owns its bytes, and other bytes keep their owners")
{
    owners all({{0, 0, 0}, {4, 0, 0}, {2, 0, 0}, {6, 0, 0}, {4, 0, 0}}, 8);
    CHECK(bytes_of(all, 0, 8) == std::vector<buffer_id>(8, no_buffer));
    all.claim(0, 4, 7);
    all.claim(2, 6, 9);
    CHECK(bytes_of(all, 0, 8) == std::vector<buffer_id>{7, 7, 9, 9, 9, 9, no_buffer, no_buffer});
    CHECK(bytes_of(all, 2, 6) == std::vector<buffer_id>{9, 9, 9, 9});
}

TEST_CASE("an arena of no bytes has no owners")
{
    owners all({}, 0);
    all.claim(0, 0, 1);
    CHECK(bytes_of(all, 0, 0).empty());
}

TEST_CASE("segments agree with an array of bytes")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const end = 1 + pick.below(40);
        struct range {
            byte_count begin, end;
        };
        std::vector<range> buffers;
        std::vector<sort_key> borders;
        for (unsigned i = 0; i != 12; ++i) {
            std::uint32_t const begin = pick.below(end);
            std::uint32_t const last = begin + pick.below(end - begin + 1);
            buffers.push_back({begin, last});
            borders.push_back({begin, 0, 0});
            borders.push_back({last, 0, 0});
        }
        owners all(borders, end);
        std::vector<buffer_id> bytes(end, no_buffer);
        for (unsigned turn = 0; turn != 30; ++turn) {
            buffer_id const b = pick.below(12);
            all.claim(buffers[b].begin, buffers[b].end, b);
            for (byte_count at = buffers[b].begin; at != buffers[b].end; ++at) bytes[at] = b;
            buffer_id const seen = pick.below(12);
            CHECK(bytes_of(all, 0, end) == bytes);
            CHECK(bytes_of(all, buffers[seen].begin, buffers[seen].end) ==
                  std::vector<buffer_id>(bytes.begin() + static_cast<long>(buffers[seen].begin),
                                         bytes.begin() + static_cast<long>(buffers[seen].end)));
        }
    }
}

// --- program order -----------------------------------------------------------------------------------------

using enum value_role;
using step_list = std::vector<step_id>;

namespace {

std::optional<counterexample> moved(snapshot const& p, plan_options const& options, step_list const& steps)
{
    return detail::program_order(p, options).moved_write(steps);
}

/// With the same order of data, without that of writes in place.
snapshot without_writes(snapshot const& p)
{
    return detail::with_effects(
        p, p.values(), [&p](node_id n, effect_sink& sink) {
            step_range const steps = p.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s) {
                if (s != steps.first) sink.next_step();
                for (touch t : p.touches(s))
                    sink.add(t.kind == touch::access::write        ? touch::access::use
                             : t.kind == touch::access::write_view ? touch::access::view
                                                                   : t.kind,
                             t.value);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
        });
}

counterexample at(value_id v, position_id position)
{
    return {fault::write_moved, counterexample::access{.value = v, .position = position}};
}

} // namespace

TEST_CASE("a step that reads the bytes of a written part, or writes them, stays on its side of that write")
{
    enum { a, part, out, other };
    std::vector<value_id> const alias_of{no_value, a, no_value, no_value};
    auto const p =
        with_views(program_of({{{}, {a}}, {{}, {part}}, {{a}, {out}}, {{}, {other}}}, 4), alias_of, true);
    plan_options const options{.bytes = 8, .alias_of = {-1, 0, -1, -1}};
    CHECK(!moved(p, options, {0, 1, 2, 3}));
    CHECK(!moved(p, options, {3, 0, 1, 2}));
    CHECK(moved(p, options, {0, 2, 3, 1}) == at(part, 3));
    CHECK(moved(p, options, {1, 3, 0, 2}) == at(a, 2));
    CHECK(detail::program_order(p, options).handoffs() == std::vector<handoff>{{0, 1}, {1, 2}});
    auto const late = with_views(program_of({{{}, {a}}, {{a}, {out}}, {{}, {part}}}, 3), alias_of, true);
    plan_options const few{.bytes = 8, .alias_of = {-1, 0, -1}};
    CHECK(moved(late, few, {0, 2, 1}) == at(part, 1)); // 1 is the step that moved, but 2 is the write
}

TEST_CASE("a value that is written once, and not through a view, may be written anywhere")
{
    enum { a, v, out };
    std::vector<value_id> const alias_of{no_value, a, no_value};
    auto const p = with_views(program_of({{{a}, {out}}, {{a}, {v}}}, 3), alias_of);
    plan_options options{.bytes = 8, .role = {input, intermediate, output}, .alias_of = {-1, 0, -1}};
    CHECK(!moved(p, options, {1, 0}));
    auto const made = with_views(program_of({{{}, {a}}, {{a}, {out}}, {{a}, {v}}}, 3), alias_of);
    CHECK(!moved(made, {.bytes = 8, .alias_of = {-1, 0, -1}}, {0, 2, 1}));
    auto const written = program_of({{{a}, {out}}, {{}, {v}}}, 3);
    CHECK(moved(with_views(written, alias_of, true), options, {1, 0}) == at(v, 0));
    options.alias_of = no_value;
    CHECK(!moved(written, options, {1, 0}));
    CHECK(!moved(snapshot(), {.bytes = 8}, {}));
}

TEST_CASE("a read at the end of a node is a read of its last step")
{
    enum : std::uint32_t { a, part };
    auto const p = tasks(
        4, 2, [](node_id n) { return n == 1 ? std::vector<node_id>{3} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(a);
            if (n == 2) s.view(part), s.write(part);
            if (n == 3) s.use_at_end_of(1, a);
        });
    plan_options const options{.bytes = 8, .alias_of = {-1, 0}};
    CHECK(!moved(p, options, {0, 1, 3, 2}));
    CHECK(moved(p, options, {0, 2, 1, 3}) == at(part, 1));
}

TEST_CASE("the listed order is that of the options, and has no effect if it cannot be run")
{
    enum { a, part, out, x };
    plan_options options{.bytes = 8, .alias_of = {-1, 0, -1, -1}};
    auto const p = with_views(program_of({{{a}, {out}}, {{}, {part}}, {{}, {a}}}, 4),
                              {no_value, a, no_value, no_value}, true);
    CHECK(!moved(p, options, {2, 0, 1}));
    CHECK(!moved(p, options, {2, 1, 0}));
    options.order = {2, 0, 1};
    CHECK(!moved(p, options, {2, 0, 1}));
    CHECK(moved(p, options, {2, 1, 0}) == at(part, 1));
    options.order = {2, 1, 0};
    CHECK(moved(p, options, {2, 0, 1}) == at(part, 2));

    auto with_edge = [](node_id from, node_id to) {
        return tasks(
            3, 3, [=](node_id n) { return n == from ? std::vector<node_id>{to} : std::vector<node_id>{}; },
            [](node_id n, effect_sink& s) {
                if (n == 0) s.def(0);
                if (n == 1) s.view(1), s.write(1);
                if (n == 2) s.use(0), s.def(2);
            });
    };
    plan_options const three{.bytes = 8, .alias_of = {-1, 0, -1}};
    CHECK(moved(with_edge(0, 1), three, {0, 2, 1}));
    CHECK(!moved(with_edge(2, 1), three, {0, 2, 1}));
}

TEST_CASE("orders that keep the hand-offs move no write, and orders with other results move one")
{
    std::size_t kept = 0, different = 0, harmless = 0;
    for (std::uint32_t seed = 0; seed != rounds(100'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_names const names =
            draw_names(pick, {.nodes = 7, .names = 14, .given = 15, .views = 60, .shuffled = seed % 2 == 0});
        snapshot const p = names.program();
        plan_options const options{
            .bytes = 8, .role = names.role, .alias_of = names.alias_of, .order = names.order};
        if (!dependences(p, detail::dependences_of(options, {}))) continue; // a value is written twice
        auto const lives = lifetimes(p, detail::lifetimes_of(options));
        if (!lives && lives.error().what != fault::write_moved) continue;
        snapshot const unordered = without_writes(p);
        names_run const expected(names);
        if (expected.is_ambiguous) continue;
        detail::program_order const listed(p, options);
        for (bool const keeps : {false, true}) {
            auto const handoffs = keeps ? listed.handoffs() : std::vector<handoff>{};
            dependence_graph const g = dependences(unordered, detail::dependences_of(options, handoffs));
            REQUIRE(g);
            step_list steps;
            for (position_id i = 0; i != g.positions(); ++i)
                if (g.position_of[g.step_at[i]] == i) steps.push_back(g.step_at[i]);
            bool is_different = false;
            for (std::size_t i = 0; i != steps.size(); ++i)
                for (std::size_t k = i + 1; k < steps.size(); ++k)
                    is_different |= expected.before[steps[k]][steps[i]];
            CHECK(listed.moved_write(steps).has_value() == is_different);
            if (keeps) CHECK(!is_different);
            kept += keeps && !handoffs.empty();
            different += is_different;
            harmless += !is_different && !keeps && !listed.handoffs().empty();
        }
    }
    CHECK(kept > rounds(100));
    CHECK(different > rounds(100));
    CHECK(harmless > rounds(20));
}

// --- arena occupants ---------------------------------------------------------------------------------------

TEST_CASE("a buffer follows every buffer that it overlaps, and an input none")
{
    enum { in, a, b, c };
    std::vector<std::vector<int>> const uses = {{in}, {in}, {a, b}}, defs = {{a}, {b}, {c}};
    snapshot const program = sequence(
        3, 4, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    using enum value_role;
    plan_options const options{.bytes = {8, 8, 8, 20}, .role = {input, intermediate, intermediate, output}};
    lowered_program const lowered = lower_program(program, options);
    memory_plan plan;
    plan.arena_bytes = {100};
    byte_count const offsets[] = {0, 8, 16, 4};
    for (value_id v = 0; v != 4; ++v) {
        plan.buffer_of.push_back(+v);
        plan.buffers.push_back({.root = v, .offset = offsets[v]});
    }
    detail::arena_occupants arenas(lowered, plan);
    auto followed = [&](buffer_id id) {
        std::vector<buffer_id> before;
        arenas.occupy(id, [&](buffer_id b) { before.push_back(b); });
        return before;
    };
    CHECK(followed(in).empty());
    CHECK(followed(a).empty());
    CHECK(followed(b).empty());
    CHECK(followed(c) == std::vector<buffer_id>{in, a, b});
    CHECK(followed(b) == std::vector<buffer_id>{c});
    CHECK(followed(b).empty()); // but not itself
}

TEST_CASE("for random plans the occupants agree with painting the bytes one by one")
{
    std::size_t found = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_program(pick, 10);
        memory_plan const plan = plan_memory(p.program(), p.options()).plan;
        lowered_program const lowered = lower_program(p.program(), p.options());
        detail::arena_occupants arenas(lowered, plan);
        std::map<std::pair<pool_id, byte_count>, buffer_id> lies_at;
        auto each_byte = [&](buffer_id b, auto see) {
            buffer const& its = lowered.table.buffers[b];
            for (byte_count i = 0; its.is_planned() && i != its.size; ++i)
                see(std::pair{its.pool, plan.offset_of(its.root) + i});
        };
        for (buffer_id b = 0; b != lowered.table.buffers.size(); ++b)
            if (is_given(lowered.table.buffers[b].role)) each_byte(b, [&](auto at) { lies_at[at] = b; });
        for (position_id at = 0; at != lowered.positions(); ++at)
            for (buffer_id b : lowered.touched[at]) {
                if (lowered.first_write[b] != at || is_given(lowered.table.buffers[b].role)) continue;
                std::set<buffer_id> before, followed;
                each_byte(b, [&](auto byte) {
                    if (lies_at.count(byte) != 0) before.insert(lies_at.at(byte));
                    lies_at[byte] = b;
                });
                arenas.occupy(b, [&](buffer_id one) { followed.insert(one); });
                CHECK(followed == before);
                found += before.size();
            }
    }
    CHECK(found > 200);
}

TEST_CASE("each piece waits for the step of the first one, if that uses the bytes of which it takes over some")
{
    listing<int> pieces;
    pieces.step().make(0, {.bytes = 24});
    pieces.step().view(10, 0, 0, {.bytes = 15});
    pieces.step().write(13).read_early(10).view(13, 12, 0, {.bytes = 1});
    pieces.step().view(14, 12, 5, {.bytes = 1}).write(14);
    pieces.facts(12, {.bytes = 8});
    auto const planned = plan_memory(pieces);
    REQUIRE(planned.bytes() == 24); // the early read leaves its bytes to 12
    auto const found = run_order_of(pieces.program(), pieces.options(), arena{planned});
    bool is_kept = false;
    for (step_waits::wait w : found.waits.list)
        is_kept = is_kept || (w.from == 2 && w.to == 3 && w.why == step_waits::kind::handoff);
    CHECK(is_kept);
    CHECK(found.waits.list.size() == 3);
}

TEST_CASE("storage that begins piece by piece waits with each piece for the last uses of its bytes")
{
    listing<int> pieces;
    pieces.step().make(0, {.bytes = 8}).make(1, {.bytes = 1});
    pieces.step().read(0);
    pieces.step().view(3, 2, 0, {.bytes = 4}).write(3);
    pieces.step().read(1).view(4, 2, 4, {.bytes = 4}).write(4);
    pieces.step().write(4);
    pieces.facts(2, {.bytes = 8});
    auto const planned = plan_memory(pieces);
    REQUIRE(planned);
    REQUIRE(planned.offset_of(2) == planned.offset_of(0));
    auto const found = run_order_of(pieces.program(), pieces.options(), arena{planned});
    auto has = [&found](position_id from, position_id to) {
        for (step_waits::wait const& w : found.waits.list)
            if (w.from == from && w.to == to) return w.why == step_waits::kind::handoff;
        return false;
    };
    CHECK(has(1, 2));
    CHECK(has(1, 3));
    CHECK(!has(1, 4));
    CHECK(check_waits(pieces.program(), pieces.options(), &planned.plan, found.lowered.step_at,
                      found.waits.after, {}));
}

} // namespace this_test
