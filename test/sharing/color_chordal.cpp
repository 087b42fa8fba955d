// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_graph.hpp>

#include <sublet/analysis/liveness.hpp>
#include <sublet/checking/check_slots.hpp>

#include "../random_source.hpp"
#include "archetype.hpp"
#include "flow_oracle.hpp"
#include "flow_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using slots = std::vector<slot_id>;

namespace {

struct pair_in { // a pair of the last step of a node
    node_id node;
    value_id in, out;
};

snapshot with_pairs(snapshot const& p, std::vector<pair_in> const& pairs)
{
    return detail::with_effects(p, p.values(), [&](node_id n, effect_sink& s) {
        p.effects(n, s);
        for (pair_in o : pairs)
            if (o.node == n) s.may_overwrite(o.in, o.out);
    });
}

/// Checks the guarantees of a coloring against the occupants of each step.
void check_coloring(snapshot const& p, chordal_coloring const& colored, bool any_fixed)
{
    REQUIRE(colored);
    truth_table const there = flow_oracle(p).occupancy();
    std::uint32_t most = 0, used = 0;
    for (step_id s = 0; s != p.steps(); ++s) {
        slots held;
        for (value_id v = 0; v != p.values(); ++v)
            if (there[s][v]) held.push_back(colored.plan.slot_of[v]);
        std::sort(held.begin(), held.end());
        REQUIRE(std::adjacent_find(held.begin(), held.end()) == held.end());
        if (s == colored.max_live_step) REQUIRE(held.size() == colored.max_live);
        most = std::max(most, static_cast<std::uint32_t>(held.size()));
        if (!held.empty()) used = std::max(used, held.back() + 1);
    }
    REQUIRE(colored.max_live == most);
    REQUIRE(colored.plan.slots == used);
    if (!any_fixed) REQUIRE(colored.is_optimal());
    REQUIRE(check_slots(p, colored.plan));
    std::size_t kept = 0;
    for (overwrite o : p.overwrites()) kept += colored.plan.slot_of[o.in] == colored.plan.slot_of[o.out];
    REQUIRE(colored.affinities_kept == kept);
}

slots slots_of(snapshot const& p, per_value<slot_id> const& fixed = no_slot)
{
    chordal_coloring const colored = color(p, fixed);
    check_coloring(p, colored, true);
    return colored.plan.slot_of;
}

} // namespace

TEST_CASE("values that are never alive together share, and a phi takes the slot of its operands")
{
    snapshot const plain = flow_text({"a= b= >1 >2", "a ; c= >3", "a b ; d= >3", "c@1 d@2 e="});
    snapshot const p = with_pairs(plain, {{3, 2, 4}, {3, 3, 4}});
    chordal_coloring const colored = color(p);
    check_coloring(p, colored, false);
    CHECK(colored.plan.slot_of == slots{0, 1, 0, 0, 0});
    CHECK(colored.max_live == 2);
    CHECK(colored.max_live_step == 0);
    CHECK(colored.affinities_kept == 2);
}

TEST_CASE("a definition reuses the slot of an operand read early, not of a held one; a dead definition has "
          "its own slot")
{
    CHECK(slots_of(flow_text({"a= ; a! b="})) == slots{0, 0});
    CHECK(slots_of(flow_text({"a= ; a b="})) == slots{0, 1});
    CHECK(slots_of(flow_text({"a= ; a! a b="})) == slots{0, 1});
    CHECK(slots_of(flow_text({"a= ; a! b= ; a"})) == slots{0, 1});
    CHECK(slots_of(flow_text({"a= b= ; c= ; a"})) == slots{0, 1, 1});
}

TEST_CASE("a value read only at the end of a node is free at the edge, for the phi")
{
    chordal_coloring const colored = color(flow_text({"a= >1", "a@0 b@1 c= ; c b= >1"}));
    CHECK(colored.max_live == 2);
    CHECK(colored.plan.slots == 2);
    CHECK(slots_of(flow_text({"a= b= >1", "a@0 b@0 c= d= ; c d"})) == slots{0, 1, 0, 1});
}

TEST_CASE("a value takes the first free slot among its affinities, otherwise the lowest free slot")
{
    snapshot const p = flow_text({"a= b= c= ; a! b! c! d="});
    CHECK(slots_of(p) == slots{0, 1, 2, 0});
    CHECK(slots_of(with_pairs(p, {{0, 2, 3}, {0, 1, 3}})) == slots{0, 1, 2, 2});
    CHECK(slots_of(with_pairs(p, {{0, 1, 3}, {0, 2, 3}})) == slots{0, 1, 2, 1});
    snapshot const held = flow_text({"a= b= c= ; a! b! c d="});
    CHECK(slots_of(with_pairs(held, {{0, 2, 3}, {0, 1, 3}})) == slots{0, 1, 2, 1});
    CHECK(slots_of(with_pairs(held, {{0, 2, 3}})) == slots{0, 1, 2, 0});
    // In reverse: b, an operand of a loop's phi, is defined after it.
    snapshot const loop = flow_text({"a= d= >1", "a@0 b@1 e= c= ; c d ; b= >1"});
    CHECK(slots_of(loop) == slots{0, 0, 2, 1, 0});
    CHECK(slots_of(with_pairs(loop, {{1, 1, 2}})) == slots{0, 2, 2, 1, 0});
}

TEST_CASE("a fixed value has its slot, and values that interfere with it get others")
{
    per_value<slot_id> const second = [](value_id v) { return v == 1 ? slot_id{0} : no_slot; };
    CHECK(slots_of(flow_text({"a= ; b= ; a b ; c="}), second) == slots{1, 0, 0});
    CHECK(slots_of(flow_text({"a= ; a b="}), second) == slots{1, 0});
    CHECK(slots_of(flow_text({"a= ; a! b="}), second) == slots{0, 0});
    CHECK(slots_of(flow_text({"a= b="}), second) == slots{1, 0});
    per_value<slot_id> const far = slots{no_slot, 1000};
    CHECK(slots_of(flow_text({"a= ; b= ; a b"}), far) == slots{0, 1000});
    CHECK(color(flow_text({"a= ; b= ; a b"}), far).plan.slots == 1001);
    CHECK_FALSE(color(flow_text({"a= ; b= ; a b"}), far).is_optimal());
    CHECK(slots_of(flow_text({"a= b= c= ; a b c"}), slots{2, no_slot, 0}) == slots{2, 1, 0});
}

TEST_CASE("a value that interferes with a fixed one avoids its slot, for any numbering of nodes")
{
    per_value<slot_id> const second = slots{no_slot, 0};
    CHECK(slots_of(flow_text({">2", "b= ; a b", "a= >1"}), second) == slots{1, 0});
    CHECK(slots_of(flow_text({">2", "b= >3", "a= >1", "a"}), second) == slots{1, 0});
    CHECK(slots_of(flow_text({"a= >1", ">2 >3", "b= ; b >1", "a"}), second) ==
          slots{1, 0}); // in a later loop
    CHECK(slots_of(flow_text({">1", "b= ; b ; a= ; a >1"}), second) ==
          slots{0, 0}); // defined later: no interference
}

TEST_CASE("two interfering values fixed to one slot are reported with the step")
{
    per_value<slot_id> const same = slots{3, 3};
    auto clash = [&](snapshot const& p) { return color(p, same).error(); };
    auto both = [](value_id v, value_id other, step_id s) {
        return counterexample{fault::fixed_together,
                              counterexample::slots{.value = v, .other = other, .slot = 3, .step = s}};
    };
    CHECK(clash(flow_text({"a= ; b= ; a b"})) == both(1, 0, 1));
    CHECK(clash(flow_text({"a= b="})) == both(0, 1, 0));
    CHECK(clash(flow_text({"a= ; a b="})) == both(1, 0, 1));
    CHECK(clash(flow_text({"a= ; b= >1", "a"})) == both(1, 0, 1));
    CHECK(color(flow_text({"a= b="}), same).plan.slot_of.empty());
    CHECK_FALSE(color(flow_text({"a= b="}), same).is_optimal());
    CHECK(slots_of(flow_text({"a= ; a! b="}), same) == slots{3, 3});
    CHECK(slots_of(flow_text({"a= ; a ; b="}), same) == slots{3, 3});
}

TEST_CASE("a program that is not in strict SSA form has an error instead of a plan")
{
    auto reason = [](std::vector<std::string_view> const& nodes) {
        chordal_coloring const colored = color(flow_text(nodes));
        CHECK(colored.plan.slot_of.empty());
        CHECK_FALSE(colored.is_optimal());
        REQUIRE(!colored);
        return colored.error().what;
    };
    CHECK(reason({"a= ; a="}) == fault::several_defs);
    CHECK(reason({"; a"}) == fault::never_defined);
    CHECK(reason({">1 >2", "a= >2", "a"}) == fault::not_dominated);
    CHECK(reason({">1 >2", "a= >2", ">3", "a@2"}) == fault::not_dominated);
}

TEST_CASE("a value without touches has no slot, even if it is fixed")
{
    chordal_coloring const nothing = color(snapshot{});
    CHECK(nothing.plan.slots == 0);
    CHECK(nothing.max_live_step == no_step);
    CHECK(nothing.is_optimal());
    CHECK(color(flow_text({"b="}), 7).plan.slot_of == slots{no_slot, 7});
    CHECK_THROWS_AS((void)color(flow_text({"b="}), slots{1}), precondition_error);
    CHECK(color(with_pairs(flow_text({"c="}), {{0, 0, 1}})).affinities_kept == 0);
}

TEST_CASE("values that interfere only in unreachable nodes may share and are counted once")
{
    snapshot const p = flow_text({">1 >2", "a= >4", "b= >5", "c= d= ; c d >4 >5", "a", "b"});
    chordal_coloring const colored = color(p);
    CHECK(colored.plan.slot_of == slots{0, 0, 1, 2});
    CHECK(colored.max_live == 3);
    CHECK(colored.is_optimal());
    CHECK(check_slots(p, colored.plan));
}

TEST_CASE("a minimal program type is coloured, with and without given live sets")
{
    CHECK(color(archetype::program(4)).plan.slot_of == slots{0, 1, 0, 1});
    snapshot const p = flow_text({"a= >1", "a b="});
    for (std::size_t dense_words : {std::size_t{0}, std::size_t{1000}})
        CHECK(color(p, liveness(p, {.dense_words = dense_words})).plan.slot_of == slots{0, 1});
}

TEST_CASE("live sets of another program are rejected")
{
    snapshot const p = flow_text({"a= >1", "a b="});
    CHECK_THROWS_AS((void)color(p, live_sets{}), precondition_error);
    CHECK_THROWS_AS((void)color(p, liveness(flow_text({"a= >1", "a"}))), precondition_error);
    CHECK_THROWS_AS((void)color(p, liveness(flow_text({"a= b="}))), precondition_error);
}

TEST_CASE(
    "random strict programs need as many slots as values are alive at once, with fixed values maybe more")
{
    unsigned clashes = 0, plans = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const drawn = draw_ssa(pick, {.values = 12, .is_reached = true}).program();
        std::vector<pair_in> pairs;
        auto const values = static_cast<std::uint32_t>(drawn.values());
        for (std::uint32_t k = pick.below(6); k != 0; --k) {
            auto const n = pick.below(static_cast<std::uint32_t>(drawn.nodes())), in = pick.below(values);
            pairs.push_back({n, in, pick.below(values)});
        }
        snapshot const p = with_pairs(drawn, pairs);
        check_coloring(p, color(p), false);

        slots fixed(values, no_slot);
        for (std::uint32_t k = 1 + pick.below(5); k != 0; --k) fixed[pick.below(values)] = pick.below(5);
        chordal_coloring const colored = color(p, fixed);
        CHECK(colored.plan.slot_of == color(p, fixed).plan.slot_of);
        truth_table const meets = flow_oracle(p).interference();
        bool clash = false;
        for (value_id v = 0; v != values; ++v)
            for (value_id w = 0; w != v; ++w)
                clash = clash || (meets[v][w] && fixed[v] != no_slot && fixed[v] == fixed[w]);
        REQUIRE(bool(colored) != clash);
        ++(clash ? clashes : plans);
        if (clash) {
            REQUIRE(colored.error().what == fault::fixed_together);
            auto const c = *colored.error().as<counterexample::slots>();
            REQUIRE(fixed[c.value] == fixed[c.other]);
            REQUIRE(flow_oracle(p).occupies(c.value, c.step));
            REQUIRE(flow_oracle(p).occupies(c.other, c.step));
            continue;
        }
        check_coloring(p, colored, true);
        for (value_id v = 0; v != values; ++v)
            if (fixed[v] != no_slot) REQUIRE(colored.plan.slot_of[v] == fixed[v]);
    }
    CHECK(clashes > rounds(100));
    CHECK(plans > rounds(500));
}

} // namespace this_test
