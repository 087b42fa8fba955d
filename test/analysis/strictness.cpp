// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_graph.hpp>

#include "../dice.hpp"
#include "archetype.hpp"
#include "flow_oracle.hpp"
#include "flow_text.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <sstream>
#include <string_view>
#include <vector>

namespace this_test {

using namespace sublet;
using enum ssa_violation::kind;
using found = std::optional<ssa_violation>;

namespace {

found find(std::vector<std::string_view> const& nodes) { return find_ssa_violation(flow_text(nodes)); }

} // namespace

TEST_CASE("a use that one branch reaches without its def is named, until a phi mends it")
{
    CHECK(find({"a= >1 >2", "b= >3", ">3", "a b"}) == ssa_violation{not_dominated, 1, 3, 3});
    CHECK(find({"a= >1 >2", "b= >3", ">3", "a b@1 a@2 c="}) == std::nullopt);
}

TEST_CASE("a second def is named, in a later step or in the same")
{
    CHECK(find({"a= ; a=", ""}) == ssa_violation{defined_twice, 0, 0, 1});
    CHECK(find({"a= >1", "; a="}) == ssa_violation{defined_twice, 0, 1, 2});
    CHECK(find({"b= a= b="}) == ssa_violation{defined_twice, 1, 0, 0});
}

TEST_CASE("a use that no def precedes anywhere is named, held, early or where a node ends")
{
    CHECK(find({"; a"}) == ssa_violation{never_defined, 0, 0, 1});
    CHECK(find({"a!"}) == ssa_violation{never_defined, 0, 0, 0});
    CHECK(find({"; >1", "a@0"}) == ssa_violation{never_defined, 0, 0, 1});
}

TEST_CASE("a step reads before it writes, so that its own def comes too late")
{
    CHECK(find({"a a="}) == ssa_violation{not_dominated, 0, 0, 0});
    CHECK(find({"a! a="}) == ssa_violation{not_dominated, 0, 0, 0});
    CHECK(find({"a ; a="}) == ssa_violation{not_dominated, 0, 0, 0});
    CHECK(find({"a= ; a a!"}) == std::nullopt);
}

TEST_CASE("the def of the turn before does not count")
{
    CHECK(find({">1", "a ; a= >1"}) == ssa_violation{not_dominated, 0, 1, 1});
    CHECK(find({">1", "a b= >2", "a= >1"}) == ssa_violation{not_dominated, 0, 1, 1});
}

TEST_CASE("a phi's operand is read where the predecessor ends: any def in it is in time")
{
    CHECK(find({"b= >1", "b@0 a@1 c= ; a= >1"}) == std::nullopt);
    CHECK(find({">1", "a@0 a@1 b= ; a= >1"}) == ssa_violation{not_dominated, 0, 0, 0});
    CHECK(find({"; >1 >2", "a= >2", "a@0"}) == ssa_violation{not_dominated, 0, 0, 1});
}

TEST_CASE(
    "second defs come first, then what a def does not dominate, then what has none; steps before ends of "
    "nodes")
{
    CHECK(find({"c@0 b >0", "a= ; a="}) == ssa_violation{defined_twice, 0, 1, 2});
    CHECK(find({"c@0 >0", "a"}) == ssa_violation{never_defined, 0, 1, 1});
    CHECK(find({"c@0 ; b a >0", "a="}) == ssa_violation{not_dominated, 0, 0, 1});
    CHECK(find({"c@0 ; b a= >0"}) == ssa_violation{never_defined, 1, 0, 1});
    CHECK(find({"c ; a ; b >1", "a= b=", "a"}) == ssa_violation{not_dominated, 0, 0, 1});
    CHECK(find({"c@0 d@0 >0"}) == ssa_violation{never_defined, 2, 0, 0});
}

TEST_CASE("where nothing leads, a def in the same tree of the search counts, and no other")
{
    CHECK(find({"", "a= >2", "a"}) == std::nullopt);
    CHECK(find({"a=", "a"}) == ssa_violation{not_dominated, 0, 1, 1});
    CHECK(find({">2", "a= >2", "a"}) == ssa_violation{not_dominated, 0, 2, 2});
}

TEST_CASE("a program without uses is strict, if nothing is defined twice")
{
    CHECK(find_ssa_violation(snapshot{}) == std::nullopt);
    CHECK(find({"a= b=", "c="}) == std::nullopt);
}

TEST_CASE("the poorest program is strict")
{
    CHECK(find_ssa_violation(archetype::program(3)) == std::nullopt);
}

TEST_CASE("a violation reads as a sentence")
{
    auto sentence = [](ssa_violation const& v) {
        std::ostringstream out;
        out << v;
        return out.str();
    };
    CHECK(sentence({defined_twice, 4, 2, 7}) == "value 4 is defined once more in node 2, step 7");
    CHECK(sentence({never_defined, 4, 2, 7}) == "value 4 is never defined, and used in node 2, step 7");
    CHECK(sentence({not_dominated, 4, 2, 7}) ==
          "value 4 is used where its definition does not dominate, in node 2, step 7");
}

TEST_CASE("there is a violation iff the definition says so, and what it names is there")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_flow f = draw_ssa(pick, {.nodes = 8, .values = 6, .steps = 3});
        for (std::uint32_t k = pick.below(3); k != 0; --k) { // spoil it a little
            auto& node = f.nodes[pick.below(static_cast<std::uint32_t>(f.nodes.size()))];
            auto const v = pick.below(static_cast<std::uint32_t>(f.values));
            (pick.below(2) == 0 ? node.steps.back().uses : node.steps.back().defs).push_back(v);
        }
        snapshot const p = f.program();
        found const violation = find_ssa_violation(p);
        REQUIRE(violation.has_value() != flow_oracle(p).is_strict_ssa());
        if (!violation) continue;
        REQUIRE(violation->step >= p.steps_of(violation->node).first);
        REQUIRE(violation->step < p.steps_of(violation->node).last);
        bool is_there = false;
        for (touch t : p.touches(violation->step))
            is_there = is_there || (t.value == violation->value &&
                                    (t.kind == touch::access::def) == (violation->what == defined_twice));
        for (edge_use u : p.edge_uses())
            is_there = is_there || (u.pred == violation->node && u.value == violation->value);
        REQUIRE(is_there);
    }
}

} // namespace this_test
