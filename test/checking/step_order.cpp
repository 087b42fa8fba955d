// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/class_touches.hpp>
#include <sublet/checking/detail/step_order.hpp>

#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../rows_of.hpp"
#include "../transitive.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using steps = std::vector<step_id>;
using node_ids = std::vector<node_id>;

step_order order_of(snapshot const& p, std::vector<handoff> const& handoffs = {})
{
    return order_of_steps(p, derive_requirements(p, {.bytes = 8}), handoffs);
}

/// By step, then step: whether a path of edges leads from one to the other.
using relation = std::vector<std::vector<bool>>;

} // namespace

TEST_CASE("a reader comes after the writer, whatever the list order, and other steps are unordered")
{
    // 2 writes what 0 and 1 read.
    auto const p = sequence(3, 1, [](step_id s, effect_sink& sink) {
        if (s == 2) sink.def(0);
        else sink.use(0);
    });
    step_order const o = order_of(p);
    REQUIRE(!o.fault);
    CHECK(o.step_at.front() == 2);
    CHECK(o.position[2] == 0);
    CHECK(o.def_of == steps{2});
    CHECK(o.after.items() == 2);
}

TEST_CASE("steps that are listed in a possible order keep their numbers")
{
    auto const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s > 1) sink.use(s - 2);
        sink.def(+s);
    });
    CHECK(order_of(p).step_at == std::vector<step_order::point>{0, 1, 2, 3});
}

TEST_CASE("accesses of the bytes of one root keep their order where one writes, and no others do")
{
    std::size_t joins = 0;
    for (std::uint32_t seed = 0; seed != rounds(2'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        // Step v makes value v, a view of value 0 unless it is 0; the steps after them read or write a value.
        std::uint32_t const values = 1 + pick.below(8), bytes = 1 + pick.below(20);
        std::vector<byte_count> begin{0}, size{bytes};
        for (value_id v = 1; v != values; ++v) {
            std::uint32_t const at = pick.below(bytes);
            begin.push_back(at);
            size.push_back(1 + pick.below(pick.below(3) == 0 ? 1 : bytes - at));
        }
        std::vector<std::vector<touch>> touches(values);
        for (value_id v = 0; v != values; ++v)
            touches[v].push_back({v, v == 0 ? touch::access::def : touch::access::view});
        for (std::uint32_t left = pick.below(25), writes = pick.below(100); left != 0; --left) {
            auto& its = touches.emplace_back();
            for (std::uint32_t i = 1 + pick.below(5) / 4; i != 0; --i)
                its.push_back({pick.below(values),
                               pick.below(100) < writes ? touch::access::write : touch::access::use});
        }
        auto const p = sequence(touches.size(), values, [&](step_id s, effect_sink& sink) {
            for (touch t : touches[s]) sink.add(t.kind, t.value);
        });
        relation before(touches.size(), std::vector<bool>(touches.size()));
        for (step_id a = 0; a != touches.size(); ++a)
            for (step_id b = a + 1; b < touches.size(); ++b)
                for (touch t : touches[a])
                    for (touch u : touches[b]) {
                        bool const is_data =
                            t.defines() && (t.value == u.value || u.kind == touch::access::view);
                        bool const overlap = begin[t.value] < begin[u.value] + size[u.value] &&
                                             begin[u.value] < begin[t.value] + size[t.value];
                        bool const is_access = t.kind != touch::access::view && u.kind != touch::access::view;
                        if ((t.value == 0 || a >= values) && is_data) before[a][b] = true;
                        if (t.value == u.value && t.defines()) before[a][b] = true;
                        if (is_access && overlap && (t.writes() || u.writes())) before[a][b] = true;
                    }
        make_transitive(before);
        std::vector<value_id> alias_of(values, 0);
        alias_of[0] = no_value;
        plan_options const options{.bytes = size, .alias_of = alias_of, .view_offset = begin};
        step_order const o = order_of_steps(p, derive_requirements(p, options), {});
        REQUIRE(!o.fault);
        REQUIRE(o.steps == touches.size());
        joins += o.after.rows() - o.steps;
        relation found(o.after.rows(), std::vector<bool>(o.after.rows()));
        for (step_order::point s = 0; s != o.after.rows(); ++s)
            for (step_order::point next : o.after[s]) found[s][next] = true;
        make_transitive(found);
        for (step_id a = 0; a != touches.size(); ++a)
            for (step_id b = 0; b != touches.size(); ++b) REQUIRE(found[a][b] == before[a][b]);
    }
    CHECK(joins >= rounds(2'000) / 20);
}

TEST_CASE("the order is the closure of data, edges, sequences of steps, ends of nodes and hand-offs")
{
    std::size_t cycles = 0, orders = 0;
    for (std::uint32_t seed = 0; seed != rounds(3'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const nodes = 1 + pick.below(6);
        std::vector<std::vector<node_id>> next(nodes);
        std::vector<std::uint32_t> size, first;
        std::uint32_t count = 0;
        for (node_id n = 0; n != nodes; ++n) {
            first.push_back(count);
            size.push_back(1 + pick.below(3));
            count += size.back();
            if (pick.below(3) == 0) next[n].push_back(pick.below(8) == 0 ? pick.below(nodes) : nodes - 1);
        }
        // Step s writes value s; each reads some of the values written before, rarely later ones.
        std::vector<std::vector<value_id>> uses(count), early(count);
        relation before(count, std::vector<bool>(count));
        auto drawn = [&](step_id s) { return pick.below(25) == 0 ? pick.below(count) : pick.below(s); };
        for (step_id s = 1; s < count; ++s)
            for (auto i = pick.below(3); i != 0; --i) {
                value_id const v = drawn(s);
                if (v == +s) continue;
                (pick.below(3) == 0 ? early : uses)[s].push_back(v);
                before[v][s] = true;
            }
        std::vector<edge_use> at_end;
        for (node_id n = 0; n != nodes; ++n)
            for (node_id to : next[n]) {
                step_id const last = first[n] + size[n] - 1;
                before[last][first[to]] = true;
                if (pick.below(3) != 0) continue;
                value_id const v = drawn(last + 1);
                at_end.push_back({to, n, v});
                if (v != +last) before[v][last] = true;
            }
        for (node_id n = 0; n != nodes; ++n)
            for (std::uint32_t i = 1; i < size[n]; ++i) before[first[n] + i - 1][first[n] + i] = true;
        std::vector<handoff> handoffs;
        if (pick.below(2) == 0) {
            handoff h;
            h.from = pick.below(count);
            h.to = pick.below(count);
            handoffs.push_back(h);
            before[h.from][h.to] = true;
        }
        auto const direct = before;
        make_transitive(before);

        auto const p = tasks(
            nodes, count, [&](node_id n) -> auto const& { return next[n]; },
            [&](node_id n, effect_sink& sink) {
                for (std::uint32_t i = 0; i != size[n]; ++i) {
                    if (i != 0) sink.next_step();
                    for (value_id v : uses[first[n] + i]) sink.use(v);
                    for (value_id v : early[first[n] + i]) sink.use_early(v);
                    sink.def(first[n] + i);
                }
                for (edge_use u : at_end)
                    if (u.node == n) sink.use_at_end_of(u.pred, u.value);
            });
        step_order const o = order_of(p, handoffs);
        bool has_cycle = false;
        for (step_id s = 0; s != count; ++s) has_cycle = has_cycle || before[s][s];
        REQUIRE(o.fault.has_value() == has_cycle);
        if (has_cycle) {
            ++cycles;
            CHECK(o.fault->what == fault::cycle);
            REQUIRE(!o.cycle.empty());
            CHECK(o.fault->step() == o.cycle.front());
            for (std::size_t i = 0; i != o.cycle.size(); ++i)
                CHECK(direct[o.cycle[i]][o.cycle[(i + 1) % o.cycle.size()]]);
            steps different = o.cycle;
            std::sort(different.begin(), different.end());
            CHECK(std::adjacent_find(different.begin(), different.end()) == different.end());
            continue;
        }
        ++orders;
        relation found(count, std::vector<bool>(count));
        for (step_id s = 0; s != count; ++s)
            for (step_order::point to : o.after[s]) {
                found[s][to] = true;
                CHECK(o.position[s] < o.position[to]);
            }
        for (step_id s = 0; s != count; ++s) CHECK(o.step_at[o.position[s]] == s);
        make_transitive(found);
        CHECK(found == before);
    }
    CHECK(cycles > rounds(100));
    CHECK(orders > rounds(1000));
}

TEST_CASE("a node with an edge to itself is a cycle, and so is a step with a hand-off to itself")
{
    auto const loop = tasks(1, 0, [](node_id) { return node_ids{0}; }, [](node_id, effect_sink&) {});
    CHECK(order_of(loop).cycle == steps{0});
    auto const one = sequence(1, 0, [](step_id, effect_sink&) {});
    CHECK(!order_of(one).fault);
    CHECK(order_of(one, {{0, 0}}).cycle == steps{0});
}

TEST_CASE("the first fault of defs and uses is found by step, then at ends of nodes, then among outputs")
{
    auto program = [](bool defines_again) {
        return tasks(
            2, 4, [](node_id n) { return n == 0 ? node_ids{1} : node_ids{}; },
            [defines_again](node_id n, effect_sink& sink) {
                if (n == 0) {
                    sink.def(0);
                    sink.next_step();
                    sink.use(1);
                    sink.next_step();
                } else {
                    sink.use_at_end_of(0, 2);
                    if (defines_again) sink.def(0);
                }
            });
    };
    snapshot const p = program(true), q = program(false);
    std::vector<value_role> role(4);
    role[3] = value_role::output;
    auto fault_with = [&](std::vector<value_role> const& roles) {
        return *order_of_steps(p, derive_requirements(p, {.bytes = 8, .role = roles}), {}).fault;
    };
    CHECK(fault_with(role) ==
          counterexample{fault::several_defs, counterexample::access{.value = 0, .step = 3}});
    auto fault_of = [&] {
        return *order_of_steps(q, derive_requirements(q, {.bytes = 8, .role = role}), {}).fault;
    };
    CHECK(fault_of() == counterexample{fault::used_undefined, counterexample::access{.value = 1, .step = 1}});
    role[1] = value_role::input;
    CHECK(fault_of() == counterexample{fault::used_undefined, counterexample::access{.value = 2, .step = 2}});
    role[2] = value_role::state;
    CHECK(fault_of() == counterexample{fault::used_undefined, counterexample::access{.value = 3}});
    role[0] = value_role::external;
    CHECK(fault_of() == counterexample{fault::several_defs,
                                       counterexample::access{.value = 0, .step = 0, .is_given = true}});
}

TEST_CASE("a def of a node's last step is visible at the end of the node")
{
    auto const p = tasks(
        2, 1, [](node_id n) { return n == 0 ? node_ids{1} : node_ids{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 0) sink.def(0);
            else sink.use_at_end_of(0, 0);
        });
    CHECK(!order_of(p).fault);
}

// --- clash schedule ----------------------------------------------------------------------------------------

namespace {

/// u and v, taken to lie in the same bytes.
counterexample schedule_of(snapshot const& p, value_id u, value_id v, plan_options const& options)
{
    plan_requirements const asked = derive_requirements(p, options);
    step_order const order = order_of_steps(p, asked, {});
    memory_plan plan;
    plan.buffer_of.assign(p.values(), 0);
    plan.buffers.resize(1);
    plan.buffers[0].offset = 0;
    return clash_schedule(order, class_touches(p, asked, order), plan, true,
                          {.value = u, .other = v, .pool = 0, .begin = 0, .end = 8});
}

/// A value that is written over.
counterexample::overlap overwriting_of(counterexample const& why)
{
    REQUIRE(why.what == fault::overwritten);
    REQUIRE(why.as<counterexample::overlap>() != nullptr);
    return *why.as<counterexample::overlap>();
}

} // namespace

TEST_CASE("the schedule has the producer after its predecessors, the writer after its own, then the rest")
{
    // 2 defines value 2 from 0; 5 defines value 5 from 4; 3 reads value 2. The list order is another.
    snapshot const p = sequence(6, 6, [](step_id s, effect_sink& sink) {
        if (s == 2) sink.use(0);
        if (s == 3) sink.use(2);
        if (s == 5) sink.use(4);
        sink.def(+s);
    });
    auto const why = schedule_of(p, 2, 5, {.bytes = 8});
    CHECK(overwriting_of(why) == counterexample::overlap{.value = 2,
                                                         .other = 5,
                                                         .step = 5,
                                                         .needed_at = 3,
                                                         .position = 3,
                                                         .pool = 0,
                                                         .begin = 0,
                                                         .end = 8});
    CHECK(why.schedule == steps{0, 4, 2, 5, 1, 3});
}

TEST_CASE("if the first class cannot be overwritten by the second, the second is overwritten")
{
    // Value 0 comes before value 1 in each schedule, and is read while 1 is written.
    snapshot const p = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(0);
        sink.def(+s);
    });
    auto const w = overwriting_of(schedule_of(p, 1, 0, {.bytes = 8}));
    CHECK(w.value == 0);
    CHECK(w.other == 1);
    CHECK(w.step == 1);
    CHECK(w.needed_at == 1);
}

TEST_CASE("two inputs need no schedule")
{
    snapshot const p = sequence(1, 2, [](step_id, effect_sink&) {});
    auto const w = schedule_of(p, 0, 1, {.bytes = 8, .role = value_role::input});
    CHECK(w == counterexample{fault::clash,
                              counterexample::overlap{.value = 0, .other = 1, .begin = 0, .end = 8}});
    CHECK(w.schedule.empty());
}

TEST_CASE("every two classes that may not share have a schedule, and it respects the order")
{
    std::size_t tried = 0, side_by_side = 0;
    for (std::uint32_t seed = 0; seed != rounds(1'500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(9), .early = 20, .views = 25, .shuffled = seed % 2 == 0});
        if (seed % 3 == 0) mix_views(pick, tasks);
        sharing_rule const rule(tasks);
        snapshot const p = tasks.program();
        plan_options const options = tasks.options();
        plan_requirements const asked = derive_requirements(p, options);
        for (value_id u = 0; u != tasks.values(); ++u)
            for (value_id v = 0; v != tasks.values(); ++v) {
                bool const are_roots = u != v && rule.root[u] == u && rule.root[v] == v;
                if (!are_roots || !asked.is_planned(u) || !asked.is_planned(v) || rule.may_share(u, v))
                    continue;
                auto const why = schedule_of(p, u, v, options);
                REQUIRE(((why.value() == u && why.other() == v) || (why.value() == v && why.other() == u)));
                if (rule.is_given[u] && rule.is_given[v]) continue;
                ++tried;
                REQUIRE(why.schedule.size() == tasks.tasks.size());
                std::vector<std::size_t> turn(why.schedule.size(), no_step);
                for (std::size_t i = 0; i != why.schedule.size(); ++i) turn[why.schedule[i]] = i;
                for (std::size_t a = 0; a != turn.size(); ++a) {
                    REQUIRE(turn[a] != no_step);
                    for (std::size_t b = 0; b != turn.size(); ++b)
                        if (rule.before[a][b]) CHECK(turn[a] < turn[b]);
                }
                auto const w = overwriting_of(why);
                CHECK(w.position == turn[w.step]);
                bool is_made = rule.is_given[w.value];
                for (std::size_t d : rule.defs[w.value]) is_made = is_made || turn[d] <= w.position;
                bool const is_needed =
                    w.needed_at == no_step ? rule.is_kept[w.value] : turn[w.needed_at] >= w.position;
                bool const is_beside = w.needed_at != no_step && turn[w.needed_at] + 1 == w.position &&
                                       !rule.before[w.needed_at][w.step];
                CHECK((is_beside || (is_made && is_needed)));
                side_by_side += is_beside && !is_needed;
            }
    }
    CHECK(tried > 5'000);
    CHECK(side_by_side > 50);
}

// --- class touches -----------------------------------------------------------------------------------------

namespace {

steps listed(std::span<step_id const> row) { return {row.begin(), row.end()}; }

/// The touches of a program with sizes of 8, with all that they refer to.
struct plan_case {
    snapshot p;
    plan_options options;
    plan_requirements asked;
    step_order order;
    class_touches touches;

    plan_case(snapshot program, plan_options wanted)
        : p(std::move(program)), options(std::move(wanted)), asked(derive_requirements(p, options)),
          order(order_of_steps(p, asked, {})), touches(p, asked, order)
    {
    }
    plan_case(plan_case const&) = delete;
};

} // namespace

TEST_CASE("first defs read nothing of the class, and last touches have no later read of their result")
{
    // 0 and its view 1; 2 is not read; 3 is external.
    plan_case const s(sequence(4, 4,
                               [](step_id at, effect_sink& sink) {
                                   if (at == 0) sink.def(0);
                                   if (at == 1) sink.use(0), sink.def(1), sink.def(2);
                                   if (at == 2) sink.use(1), sink.use(3);
                                   if (at == 3) sink.use(0), sink.use_early(0);
                               }),
                      {.bytes = 8,
                       .role = std::vector{value_role::output, value_role::intermediate, value_role::input,
                                           value_role::external},
                       .alias_of = std::vector<value_id>{no_value, 0, no_value, no_value}});
    CHECK(s.order.fault); // 2 is given and written; its touches are listed nevertheless
    CHECK(listed(s.touches.begins()[0]) == steps{0});
    CHECK(listed(s.touches.ends()[0]) == steps{2, 3});
    CHECK(listed(s.touches.begins()[2]) == steps{1});
    CHECK(listed(s.touches.ends()[2]) == steps{1});
    CHECK(s.touches.ends()[1].empty()); // listed under its root
    CHECK(s.touches.ends()[3].empty());
    CHECK(s.touches.is_kept(0));
    CHECK(!s.touches.is_given(0));
    CHECK(s.touches.is_given(2));
}

TEST_CASE("a step that is left out comes after a first def, or before a last touch")
{
    std::size_t left_out = 0;
    for (std::uint32_t seed = 0; seed != rounds(1'000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks tasks = draw_tasks(
            pick, {.tasks = 1 + pick.below(12), .early = 30, .views = 40, .shuffled = seed % 2 == 0});
        if (seed % 3 == 0) mix_views(pick, tasks);
        sharing_rule const rule(tasks);
        plan_case const s(tasks.program(), tasks.options());
        REQUIRE(!s.order.fault);
        for (value_id r = 0; r != tasks.values(); ++r) {
            if (rule.root[r] != r || !s.asked.is_planned(r)) continue;
            auto const begins = listed(s.touches.begins()[r]), ends = listed(s.touches.ends()[r]);
            auto covered = [&](steps const& some, std::size_t at, bool above) {
                return std::any_of(some.begin(), some.end(), [&](step_id e) {
                    return e == at || (above ? rule.before[at][e] : rule.before[e][at]);
                });
            };
            std::vector<std::size_t> all = rule.late[r];
            all.insert(all.end(), rule.early[r].begin(), rule.early[r].end());
            if (!rule.is_given[r])
                for (std::size_t d : rule.defs[r]) CHECK(covered(begins, d, false));
            for (std::size_t t : all) CHECK(covered(ends, t, true));
            for (step_id e : ends) CHECK(std::find(all.begin(), all.end(), e) != all.end());
            for (step_id d : begins)
                CHECK(std::find(rule.defs[r].begin(), rule.defs[r].end(), d) != rule.defs[r].end());
            for (auto const& row : {begins, ends})
                CHECK(std::adjacent_find(row.begin(), row.end()) == row.end());
            left_out += all.size() - ends.size();
        }
    }
    CHECK(left_out > 500);
}

TEST_CASE("a step may overwrite what it reads early, or the operand that it declares")
{
    memory_plan plan;
    plan.buffer_of = {0, 0, 0, 0};
    plan.buffers.resize(1);
    plan.buffers[0].offset = 0;
    auto plan_case_of = [](bool early, bool declares, std::vector<value_id> const& alias_of,
                           byte_count first = 8) {
        return plan_case(sequence(2, 4,
                                  [=](step_id at, effect_sink& sink) {
                                      if (at == 0) return sink.def(0), sink.def(1);
                                      if (early) sink.use_early(0);
                                      else sink.use(0);
                                      sink.def(2);
                                      sink.def(3);
                                      if (declares) sink.may_overwrite(0, 2);
                                  }),
                         {.bytes = std::vector<byte_count>{first, 8, 8, 8}, .alias_of = alias_of});
    };
    std::vector<value_id> const none(4, no_value);
    auto over = [&](plan_case const& s, value_id u, value_id v) {
        return s.touches.can_overwrite(1, u, v, plan, true);
    };
    CHECK(over(plan_case_of(true, false, none), 0, 2));
    CHECK(!over(plan_case_of(false, false, none), 0, 2));
    CHECK(over(plan_case_of(false, true, none), 0, 2));
    CHECK(!over(plan_case_of(false, true, none), 0, 3));
    CHECK(!over(plan_case_of(false, true, {no_value, no_value, 3, no_value}), 0,
                3));                                     // 2 is in 3: it writes both
    CHECK(!over(plan_case_of(false, true, none), 2, 3)); // it writes both
    CHECK(over(plan_case_of(false, true, none), 1, 2));  // it reads nothing of 1
    CHECK(!over(plan_case_of(false, true, none, 7), 0, 2));
    CHECK(over(plan_case_of(false, true, none, 9), 0, 2));
    CHECK(!plan_case_of(false, true, none).touches.can_overwrite(1, 0, 2, plan, false));
    plan.buffers.resize(2);
    plan.buffers[1].offset = 8;
    plan.buffer_of[2] = 1;
    CHECK(!over(plan_case_of(false, true, none), 0, 2));
}

TEST_CASE("an early read counts among the operands of a class if the step reads another one late")
{
    // 1 is a view of 0; step 1 reads one early, one late or both, and declares 0 for 2.
    memory_plan plan;
    plan.buffer_of = {0, 0, 0};
    plan.buffers.resize(1);
    plan.buffers[0].offset = 0;
    auto over = [&](value_id early, value_id late) {
        plan_case const s(sequence(2, 3,
                                   [=](step_id at, effect_sink& sink) {
                                       if (at == 0) return sink.use(0), sink.def(1);
                                       if (early != no_value) sink.use_early(early);
                                       if (late != no_value) sink.use(late);
                                       sink.def(2);
                                       sink.may_overwrite(0, 2);
                                   }),
                          {.bytes = 8,
                           .role = {value_role::input, value_role::intermediate, value_role::output},
                           .alias_of = {-1, 0, -1}});
        return s.touches.can_overwrite(1, 0, 2, plan, true);
    };
    CHECK(!over(1, 0));
    CHECK(!over(0, 1));
    CHECK(!over(no_value, 1));
    CHECK(over(0, 0));
    CHECK(over(no_value, 0));
    CHECK(over(1, no_value));
}

// --- reachability queries ----------------------------------------------------------------------------------

namespace {

/// Step s reads the values of the steps `operands[s]`.
step_order order_of(std::vector<std::vector<step_id>> const& operands)
{
    auto const n = operands.size();
    snapshot const p = sequence(n, n, [&](step_id s, effect_sink& sink) {
        for (step_id d : operands[s]) sink.use(+d);
        sink.def(+s);
    });
    return order_of_steps(p, derive_requirements(p, {.bytes = 8}), {});
}

std::vector<std::vector<step_id>> chain(std::uint32_t n)
{
    std::vector<std::vector<step_id>> operands(n);
    for (step_id s = 1; s < n; ++s) operands[s] = {s - 1};
    return operands;
}

csr_rows<value_id, step_id> rows(std::vector<std::vector<step_id>> const& lists)
{
    return rows_of<value_id, step_id>(lists);
}

} // namespace

TEST_CASE("the result is the lowest id of a query with the answer no")
{
    // 0 ─► 1 ─► 3 and 0 ─► 2
    step_order const o = order_of({{}, {0}, {0}, {1}});
    csr_rows<value_id, step_id> const asked = rows({{0}, {1}, {2}, {0, 1}, {1, 2}, {}});
    reachability_queries queries(o, asked);
    CHECK(queries.first_failed() == queries.none);
    queries.add(0, 3, 7);
    queries.add(1, 3, 8);
    queries.add(3, 3, 9);
    queries.add(5, 3, 1); // an empty row is always before
    CHECK(queries.first_failed() == queries.none);
    queries.add(4, 3, 11);
    queries.add(2, 3, 10);
    queries.add(1, 2, 12);
    CHECK(queries.first_failed() == 10);
    CHECK(queries.first_failed() == queries.none); // all queries are removed
}

TEST_CASE("a query of a step about itself is left out")
{
    step_order const o = order_of(chain(3));
    csr_rows<value_id, step_id> const asked = rows({{2}, {0, 2}});
    reachability_queries queries(o, asked);
    queries.add(0, 2, 1);
    queries.add(1, 2, 2);
    CHECK(queries.first_failed() == queries.none);
}

TEST_CASE("random queries, few and many, over short and long distances, agree with a search")
{
    for (std::uint32_t seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const n = seed % 3 == 0 ? 1500 : 20 + pick.below(200);
        std::uint32_t const back = 1 + pick.below(seed % 2 == 0 ? 5 : n);
        std::vector<std::vector<step_id>> operands(n);
        std::vector<std::vector<bool>> before(n, std::vector<bool>(n)); // by the later one
        for (step_id s = 1; s != n; ++s)
            for (auto i = pick.below(3); i != 0; --i) {
                step_id const d = s - 1 - pick.below(smaller(+s, back));
                operands[s].push_back(d);
                before[s][d] = true;
                for (step_id a = 0; a != d; ++a)
                    if (before[d][a]) before[s][a] = true;
            }
        step_order const o = order_of(operands);
        std::vector<std::vector<step_id>> lists;
        for (step_id r = 0; r != n; ++r) {
            lists.push_back({pick.below(n)});
            if (pick.below(4) == 0) lists.back().push_back(pick.below(n));
        }
        csr_rows<value_id, step_id> const asked = rows(lists);
        reachability_queries queries(o, asked);
        // Mostly with the answer yes, so that every answer counts.
        for (int round = 0; round != 6; ++round) {
            std::uint64_t lowest = queries.none;
            for (std::uint32_t i = pick.below(round % 2 == 0 ? 30 : 3 * n); i != 0; --i) {
                std::uint32_t const row = pick.below(n);
                step_id const last = pick.below(n);
                bool is_yes = true, is_answerable = true;
                for (step_id s : lists[row]) {
                    is_answerable = is_answerable && s <= last;
                    is_yes = is_yes && (s == last || before[last][s]);
                }
                if (!is_answerable || (!is_yes && pick.below(40) != 0)) continue;
                std::uint64_t const name = pick.below(1'000'000);
                queries.add(row, last, name);
                if (!is_yes) lowest = smaller(lowest, name);
            }
            CHECK(queries.first_failed() == lowest);
        }
    }
}

TEST_CASE("queries over long and short distances are answered together")
{
    std::uint32_t const n = 200'000;
    step_order const o = order_of(chain(n));
    std::vector<std::vector<step_id>> lists;
    for (step_id s = 0; s != n; ++s) lists.push_back({s});
    csr_rows<value_id, step_id> const asked = rows(lists);
    reachability_queries queries(o, asked);
    for (step_id s = 0; s + 1 < n; s += 97) queries.add(s, s + 1, s);
    for (step_id s = 0; s != 600; ++s) queries.add(s, n - 1 - s, n + s);
    queries.add(0, n - 1, 2 * n);
    CHECK(queries.first_failed() == queries.none);
}

} // namespace this_test
