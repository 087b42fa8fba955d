// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_slots.hpp>

#include "../archetype.hpp"
#include "../flow_oracle.hpp"
#include "../printed.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

enum : std::uint32_t { a, b, c };

/// A program written by hand: the successors of each node and, in one step or several, its operations.
struct block {
    random_flow::ids successors;
    std::vector<random_flow::step> steps = {{}};
    std::vector<random_flow::operand> operands = {};
};
snapshot drawn(std::size_t values, std::vector<block> const& blocks)
{
    random_flow f;
    f.values = values;
    for (block const& b : blocks) f.nodes.push_back({b.successors, b.steps, b.operands});
    return f.program();
}

/// The header's picture.
snapshot diamond()
{
    return drawn(2, {{{1, 2}, {{{}, {}, {a}}}}, {{3}, {{{}, {}, {b}}}}, {{3}}, {{}, {{{a}, {}, {}}}}});
}

/// The definition: each value is followed from every def or entry into its slot, along every path to the
/// next write.
class slot_oracle {
public:
    slot_oracle(snapshot const& p, slot_plan const& plan) : p_(p), slot_(plan.slot_of) {}

    bool is_sound() const
    {
        for (node_id n = 0; n != p_.nodes(); ++n)
            for (step_id s = p_.steps_of(n).first; s != p_.steps_of(n).last; ++s) {
                for (touch t : p_.touches(s))
                    for (touch u : p_.touches(s))
                        if (uses_to_end(t) && uses_to_end(u) && clobbers(t.value, u.value)) return false;
                for (touch t : p_.touches(s))
                    if (t.kind == touch::access::def && reaches_other(t.value, n, s + 1)) return false;
            }
        for (value_id v = 0; v != p_.values(); ++v)
            if (is_given(v) && reaches_other(v, 0, 0)) return false;
        return true;
    }
    /// Verifies the counterexample: a path from where `other` is put to where `value` is read exists.
    bool confirms(counterexample const& why) const
    {
        auto const* found = why.as<counterexample::slots>();
        if (why.what != fault::lost_in_slot || found == nullptr) return false;
        counterexample::slots const& w = *found;
        if (!clobbers(w.value, w.other) || slot_[w.value] != w.slot) return false;
        if (w.written == no_step) return is_given(w.other) && reaches_other(w.other, 0, 0, w.value, w.step);
        node_id n = 0;
        while (p_.steps_of(n).last <= w.written) ++n;
        bool is_written = false, is_in_step = false;
        for (touch t : p_.touches(w.written)) {
            is_written = is_written || (t.kind == touch::access::def && t.value == w.other);
            for (touch u : p_.touches(w.step))
                is_in_step = is_in_step ||
                             (uses_to_end(t) && uses_to_end(u) && t.value == w.other && u.value == w.value);
        }
        if (w.written == w.step && is_in_step) return true;
        return is_written && reaches_other(w.other, n, w.written + 1, w.value, w.step);
    }
    /// v has no def, and a path leads from the entry to a use.
    bool is_given(value_id v) const
    {
        for (step_id s = 0; s != p_.steps(); ++s)
            for (touch t : p_.touches(s))
                if (t.value == v && t.kind == touch::access::def) return false;
        return flow_oracle(p_).is_live_in(v, 0);
    }

private:
    static bool uses_to_end(touch t) { return t.kind != touch::access::use_early; }
    bool clobbers(value_id v, value_id w) const
    {
        return v != w && slot_[v] == slot_[w] && slot_[v] != no_slot;
    }

    /// Whether a path from before step `at` of `from`, where the slot holds v, reads another value:
    /// of any, or of `reader` in step `there`.
    bool reaches_other(value_id v, node_id from, step_id at, value_id reader = no_value,
                       step_id there = 0) const
    {
        std::vector<std::pair<node_id, step_id>> open{{from, at}};
        std::vector<bool> is_entered(p_.nodes());
        auto is_met = [&](value_id w, step_id s) {
            return clobbers(v, w) && (reader == no_value || (w == reader && s == there));
        };
        while (!open.empty()) {
            auto [n, s] = open.back();
            open.pop_back();
            bool is_over = false;
            for (; s != p_.steps_of(n).last && !is_over; ++s)
                for (touch t : p_.touches(s)) {
                    if (t.kind != touch::access::def && is_met(t.value, s)) return true;
                    is_over = is_over || (t.kind == touch::access::def && slot_[t.value] == slot_[v]);
                }
            if (is_over) continue;
            for (edge_use u : p_.edge_uses())
                if (u.pred == n && is_met(u.value, s - 1)) return true;
            for (node_id to : p_.successors(n)) {
                if (!is_entered[to]) open.push_back({to, p_.steps_of(to).first});
                is_entered[to] = true;
            }
        }
        return false;
    }

    snapshot const& p_;
    std::vector<slot_id> const& slot_;
};

slot_plan draw_plan(random_source& pick, std::size_t values)
{
    slot_plan plan{{}, 1 + pick.below(6)};
    for (std::size_t v = 0; v != values; ++v) plan.slot_of.push_back(pick.below(plan.slots));
    return plan;
}

/// `value` is read at `step`, and its slot holds `other`, which `written` wrote.
counterexample lost(value_id value, value_id other, slot_id slot, step_id step, step_id written)
{
    return {fault::lost_in_slot,
            counterexample::slots{
                .value = value, .other = other, .slot = slot, .step = step, .written = written}};
}

bool shares(slot_plan const& plan, truth_table const& pairs)
{
    for (std::size_t v = 0; v != pairs.size(); ++v)
        for (std::size_t w = 0; w != v; ++w)
            if (pairs[v][w] && plan.slot_of[v] == plan.slot_of[w]) return true;
    return false;
}

} // namespace

TEST_CASE("a value that is overwritten on one of two paths is refused, with the path")
{
    auto const fact = check_slots(diamond(), {{0, 0}, 1});
    CHECK(fact == lost(a, b, 0, 3, 1));
    CHECK(printed(fact) == "value 0 is read at step 3, and slot 0 holds value 1, written at step 1");
    CHECK(check_slots(diamond(), {{0, 1}, 2}));
}

TEST_CASE("a value that is not read any more may be overwritten, also on one path only")
{
    snapshot const p = drawn(
        2, {{{1, 2}, {{{}, {}, {a}}}}, {{3}, {{{}, {}, {b}}, {{b}, {}, {}}}}, {{3}, {{{a}, {}, {}}}}, {}});
    CHECK(check_slots(p, {{0, 0}, 1}));
}

TEST_CASE("a result shares no slot with operands that its step holds or with its other results, but may take "
          "the slot of one that is read early")
{
    auto step = [](random_flow::step const& second) { return drawn(3, {{{}, {{{}, {}, {a}}, second}}}); };
    auto const held = check_slots(step({{a}, {}, {b}}), {{0, 0, 1}, 2});
    CHECK(printed(held) == "values 0 and 1 are both in slot 0 at step 1");
    CHECK(check_slots(step({{}, {}, {b, c}}), {{0, 1, 1}, 2}) == lost(b, c, 1, 1, 1));
    CHECK(check_slots(step({{}, {a}, {b}}), {{0, 0, 1}, 2}));
    CHECK(!check_slots(step({{a}, {a}, {b}}), {{0, 0, 1}, 2}));
}

TEST_CASE("a result and an operand that it may overwrite may share a slot, and the operand is lost")
{
    auto step = [](value_id in, value_id out, value_id read_later) {
        return flow(
            1, 3, [](node_id) { return std::vector<node_id>{}; },
            [=](node_id, effect_sink& s) {
                s.def(a);
                s.next_step();
                s.use(a);
                s.def(b);
                s.def(c);
                s.may_overwrite(in, out);
                s.next_step();
                s.use(read_later);
            });
    };
    slot_plan const plan{{0, 0, 1}, 2};
    CHECK(check_slots(step(a, b, b), plan));
    CHECK(printed(check_slots(step(a, b, a), plan)) ==
          "value 0 is read at step 2, and slot 0 holds value 1, written at step 1");
    CHECK(check_slots(step(a, c, b), plan) == lost(a, b, 0, 1, 1));
    CHECK(check_slots(step(b, c, b), {{0, 1, 1}, 2}) == lost(b, c, 1, 1, 1));
}

TEST_CASE("phi operands are read where the predecessor ends, so two phis may exchange their slots")
{
    snapshot const p =
        drawn(4, {{{1}, {{{}, {}, {0, 1}}}},
                  {{1}, {{{}, {}, {2, 3}}, {{2, 3}, {}, {}}}, {{0, 0}, {0, 1}, {1, 2}, {1, 3}}}});
    CHECK(check_slots(p, {{0, 1, 1, 0}, 2}));
    CHECK(check_slots(p, {{0, 1, 0, 1}, 2}));
    CHECK(check_slots(p, {{0, 1, 0, 0}, 2}) == lost(2, 3, 0, 1, 1));

    snapshot const late = drawn(2, {{{1}, {{{}, {}, {a}}, {{}, {}, {b}}}}, {{}, {{}}, {{0, a}}}});
    CHECK(printed(check_slots(late, {{0, 0}, 1})) == "values 0 and 1 are both in slot 0 at step 1");
}

TEST_CASE("a conflict around a loop is found, and a value that each iteration writes anew is accepted")
{
    auto loop = [](random_flow::step const& body) {
        return drawn(2, {{{1}, {{{}, {}, {a}}}}, {{1}, {body, {{}, {}, {b}}}}});
    };
    CHECK(check_slots(loop({{a}, {}, {}}), {{0, 0}, 1}) == lost(a, b, 0, 1, 2));
    CHECK(check_slots(loop({{}, {}, {a}}), {{0, 0}, 1}));
}

TEST_CASE("given values that are used are in their slots from the start, or have no slot")
{
    auto given = [](random_flow::ids const& after) {
        return drawn(2, {{after, {{{a}, {}, {}}}}, {{}, {{{b}, {}, {}}}}});
    };
    CHECK(printed(check_slots(given({1}), {{0, 0}, 1})) ==
          "value 0 is read at step 0, and slot 0 holds value 1, given at the start");
    CHECK(check_slots(given({}), {{0, 0}, 1}));
    CHECK(check_slots(given({1}), {{no_slot, 0}, 1}));
    CHECK(check_slots(given({1}), {{0, 1}, 2}));
}

TEST_CASE("nodes that the entry does not reach are checked like others")
{
    snapshot const p = drawn(2, {{{}}, {{2}, {{{}, {}, {a}}, {{}, {}, {b}}}}, {{}, {{{a}, {}, {}}}}});
    CHECK(check_slots(p, {{0, 0}, 1}) == lost(a, b, 0, 3, 2));
}

TEST_CASE("a written value needs a slot, and a plan of another program is refused")
{
    CHECK(printed(check_slots(diamond(), {{0, no_slot}, 1})) ==
          "value 1 is written at step 1 and has no slot");
    for (slot_plan const& plan : {slot_plan{{0}, 1}, slot_plan{{0, 2}, 2}, slot_plan{}})
        CHECK(printed(check_slots(diamond(), plan)) ==
              "the plan is not one of this program in this order and reading");
    CHECK(check_slots(snapshot(), {}));
}

TEST_CASE("the minimal program model is accepted")
{
    CHECK(check_slots(archetype::program(3), {{0, 1, 0}, 2}));
    CHECK(!check_slots(archetype::program(3), {{0, 0, 1}, 2}));
}

TEST_CASE("a chain of many nodes is checked without recursion")
{
    std::uint32_t const count = 100000;
    random_flow f;
    f.nodes.resize(count);
    f.values = count;
    slot_plan plan{{}, 2};
    for (node_id n = 0; n != count; ++n) {
        f.nodes[n].steps[0].defs = {n};
        if (n != 0) f.nodes[n].steps[0].uses = {n - 1};
        if (n + 1 != count) f.nodes[n].successors = {n + 1};
        plan.slot_of.push_back(n % 2);
    }
    CHECK(check_slots(f.program(), plan));
    f.nodes[count - 1].steps[0].early = {count - 4};
    CHECK(check_slots(f.program(), plan) == lost(count - 4, count - 2, 0, count - 1, count - 2));
}

TEST_CASE(
    "a random plan is valid iff no path reads a value in place of another, and the error is such a path")
{
    unsigned proved = 0, refused = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed)
        for (auto draw : {draw_flow, draw_ssa}) {
            CAPTURE(seed);
            random_source pick{std::mt19937{seed}};
            snapshot const p = draw(pick, {}).program();
            slot_plan const plan = draw_plan(pick, p.values());
            slot_oracle const oracle(p, plan);
            verdict const valid = check_slots(p, plan);
            CHECK(oracle.is_sound() == bool{valid});
            if (!valid) CHECK(oracle.confirms(valid.error()));
            CHECK(check_slots(p, plan) == valid);
            ++(valid ? proved : refused);
        }
    CHECK(proved > rounds(1000));
    CHECK(refused > rounds(1000));
}

TEST_CASE("values that never occupy a step together may share; in strict SSA form no others may")
{
    unsigned apart = 0, together = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed)
        for (auto draw : {draw_flow, draw_ssa}) {
            CAPTURE(seed);
            random_source pick{std::mt19937{seed}};
            bool const is_ssa = draw == draw_ssa;
            snapshot const p = draw(pick, {.is_reached = is_ssa}).program();
            slot_plan const plan = draw_plan(pick, p.values());
            flow_oracle const oracle(p);
            truth_table pairs = oracle.interference();
            bool const is_shared = shares(plan, pairs);
            for (value_id v = 0; v != p.values(); ++v)
                for (value_id w = 0; w != p.values(); ++w)
                    if (v != w && oracle.is_live_in(v, 0) && oracle.is_live_in(w, 0)) pairs[v][w] = true;
            if (!shares(plan, pairs)) CHECK(check_slots(p, plan));
            if (is_ssa && is_shared) CHECK(!check_slots(p, plan));
            ++(is_shared ? together : apart);
        }
    CHECK(apart > rounds(1000));
    CHECK(together > rounds(1000));
}

} // namespace this_test
