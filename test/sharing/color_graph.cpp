// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/color_graph.hpp>

#include "../archetype.hpp"
#include "../flow_oracle.hpp"
#include "../flow_text.hpp"
#include "../interference_graphs.hpp"
#include "../printed.hpp"
#include "../random_source.hpp"
#include "../rows_of.hpp"

#include <sublet/core/units.hpp>
#include <sublet/sharing/color_intervals.hpp>
#include <sublet/sharing/detail/coloring.hpp>

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/sequential_vertex_coloring.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<value_id>;
using bytes = std::vector<byte_count>;
using slots = std::vector<slot_id>;

namespace {

std::initializer_list<coloring_options::heuristic> const every_order{
    coloring_options::heuristic::automatic,     coloring_options::heuristic::dsatur,
    coloring_options::heuristic::smallest_last, coloring_options::heuristic::by_size,
    coloring_options::heuristic::given,         coloring_options::heuristic::exact};

interferences ring(std::size_t values)
{
    interferences all(values);
    for (std::size_t v = 0; v != values; ++v) all.add(v, (v + 1) % values);
    return all;
}

// Mycielski's construction: needs one more slot without a new triangle.
interferences mycielski(interferences const& from)
{
    std::size_t const n = from.size();
    interferences all(2 * n + 1);
    for (std::size_t v = 0; v != n; ++v) {
        all.add(n + v, 2 * n);
        for (value_id w : from.neighbors(v)) {
            all.add(v, w);
            all.add(v, n + w);
        }
    }
    return all;
}

} // namespace

TEST_CASE("a ring of five needs three slots, one of four needs two")
{
    auto const five = color(ring(5).graph());
    CHECK(five.plan.slots == 3);
    CHECK(five.clique.size() == 2);
    CHECK_FALSE(five.is_optimal()); // optimal, but no clique proves it
    auto const four = color(ring(4).graph());
    CHECK(four.plan.slot_of == slots{0, 1, 0, 1});
    CHECK(four.slot_bytes == bytes{1, 1});
    CHECK(four.is_optimal());
    CHECK(four.has_least_bytes());
}

TEST_CASE("an empty graph needs no slots, and an isolated value needs one")
{
    for (auto by : every_order) {
        CHECK(color(csr_graph{}, {.by = by}).plan.slots == 0);
        CHECK(color(csr_graph{}, {.by = by}).is_optimal());
        CHECK(color(interferences(1).graph(), {.by = by}).plan.slot_of == slots{0});
        CHECK(color(interferences(1).graph(), {.by = by}).is_optimal());
    }
}

TEST_CASE("a slot is as large as its largest occupant, and the largest value is assigned first")
{
    interferences path(4, {{0, 1}, {1, 2}, {2, 3}}); // 0 - 1 - 2 - 3
    auto const colored =
        color(path.graph(), {.by = coloring_options::heuristic::by_size, .bytes = {8, 64, 8, 48}});
    CHECK(colored.plan.slot_of == slots{1, 0, 1, 0});
    CHECK(colored.slot_bytes == bytes{64, 8});
    CHECK(colored.total_bytes == 72);
    CHECK(colored.has_least_bytes());
}

TEST_CASE("of equal sizes the value with more neighbours is assigned first, then the lower id")
{
    interferences star(4, {{3, 0}, {3, 1}});
    CHECK(color(star.graph(), {.by = coloring_options::heuristic::by_size}).plan.slot_of ==
          slots{1, 1, 0, 0});
}

TEST_CASE("fewest slots and fewest bytes are different goals")
{
    // 0 - 1 - 2 - 3, large at both ends: with two slots both are large, with three only one is.
    interferences path(4, {{0, 1}, {1, 2}, {2, 3}});
    bytes const sizes{90, 9, 9, 90};
    auto const few_bytes = color(path.graph(), {.bytes = sizes}); // automatic: sizes differ
    CHECK(few_bytes.total_bytes == 108);
    CHECK(few_bytes.plan.slots == 3);
    CHECK_FALSE(few_bytes.is_optimal());
    auto const few_slots = color(path.graph(), {.by = coloring_options::heuristic::dsatur, .bytes = sizes});
    CHECK(few_slots.total_bytes == 180);
    CHECK(few_slots.plan.slots == 2);
    CHECK(few_slots.is_optimal());
    CHECK_FALSE(few_slots.has_least_bytes());
}

TEST_CASE("automatic is by_size where sizes differ, and dsatur where they do not")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, 12, 40);
        bytes sizes(12, 8);
        for (auto& s : sizes)
            if (pick.below(6) == 0) s = 0; // not counted as a size
        bool const differ = pick.below(2) == 0;
        if (differ) {
            auto const odd = pick.below(11);
            sizes[odd] = 9;
            sizes[odd + 1] = 8;
        }
        auto const by = differ ? coloring_options::heuristic::by_size : coloring_options::heuristic::dsatur;
        CHECK(color(all.graph(), {.bytes = sizes}).plan ==
              color(all.graph(), {.by = by, .bytes = sizes}).plan);
    }
}

TEST_CASE("a value of 0 bytes needs no slot and restricts no other value")
{
    for (auto by : every_order) {
        auto const colored =
            color(all_together(3).graph(), {.by = by, .bytes = {8, 0, 8}, .fixed = {-1, 1, -1}});
        CHECK(colored.plan.slot_of[1] == no_slot);
        CHECK(colored.plan.slots == 2);
        CHECK(colored.clique == ids{0, 2});
        CHECK(colored.total_bytes == 16);
        CHECK(color(ring(3).graph(), {.by = by, .bytes = 0}).plan.slots == 0);
        CHECK(color(ring(3).graph(), {.by = by, .bytes = 0}).is_optimal());
    }
}

TEST_CASE("a fixed value has its slot, and the slots below it exist")
{
    for (auto by : every_order) {
        auto const colored =
            color(ring(4).graph(), {.by = by, .bytes = {8, 8, 8, 16}, .fixed = {7, -1, -1, 1}});
        CHECK(colored.plan.slot_of[0] == 7);
        CHECK(colored.plan.slot_of[3] == 1);
        CHECK(ring(4).allows(colored.plan.slot_of));
        CHECK(colored.plan.slots == 8);
        CHECK(std::count(colored.slot_bytes.begin(), colored.slot_bytes.end(), 0) >= 4);
    }
}

TEST_CASE("two fixed values that interfere are reported")
{
    interferences all = ring(5);
    for (auto by : every_order) {
        auto const clashing = color(all.graph(), {.by = by, .fixed = {7, 1, 2, 2, 7}});
        CHECK(clashing.error() == counterexample{fault::fixed_together,
                                                 counterexample::slots{.value = 0, .other = 4, .slot = 7}});
        CHECK(clashing.plan.slot_of == slots(5, no_slot));
        CHECK(clashing.plan.slots == 0);
        CHECK_FALSE(clashing.is_optimal());
        CHECK_FALSE(clashing.has_least_bytes());
        CHECK(color(all.graph(), {.by = by, .fixed = {7, 1, 7, 2, 1}}));
    }
}

TEST_CASE("invalid interference graphs, unknown sizes and incomplete orders are rejected")
{
    CHECK_THROWS_WITH_AS((void)color(graph_of({{1}, {}})),
                         "sublet: an interference graph has each edge in the rows of both its ends",
                         precondition_error);
    CHECK_THROWS_AS((void)color(graph_of({{1}, {2}, {0}})), precondition_error);
    CHECK_THROWS_AS((void)color(graph_of({{1, 1}, {0}})), precondition_error);
    CHECK_THROWS_WITH_AS((void)color(graph_of({{0}})), "sublet: value 0 interferes with itself",
                         precondition_error);
    csr_graph const pair = all_together(2).graph();
    CHECK_THROWS_WITH_AS((void)color(pair, {.bytes = bytes{1, no_size}}),
                         "sublet: value 1, of unknown size, cannot share a slot", precondition_error);
    CHECK_THROWS_AS((void)color(pair, {.bytes = {1, 2, 3}}), precondition_error);
    CHECK_THROWS_AS((void)color(pair, {.bytes = no_size - 1}), precondition_error);
    auto refuses = [&](ids const& order, char const* sentence) {
        CHECK_THROWS_WITH_AS((void)color(pair, {.by = coloring_options::heuristic::given, .order = order}),
                             sentence, precondition_error);
    };
    refuses({0}, "sublet: an order does not name vertex 1");
    refuses({0, 0}, "sublet: an order names vertex 0 twice");
    refuses({0, 1, 1}, "sublet: an order names vertex 1 twice");
    refuses({0, 2}, "sublet: an order names vertex 2, but there are only 2 of them");
    CHECK_THROWS_WITH_AS((void)color(pair, {.order = {0, 1}}),
                         "sublet: an order of colouring needs the heuristic `given`", precondition_error);
}

TEST_CASE("the order of edges and parallel edges make no difference")
{
    for (unsigned seed = 0; seed != 50; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, 12, 40);
        std::vector<std::vector<node_id>> rows(12);
        for (value_id v = 0; v != 12; ++v)
            for (value_id w : all.neighbors(v)) rows[v].insert(rows[v].begin(), 1 + (v + w) % 2, +w);
        csr_graph const reordered = as_graph(
            12, [&](auto v) -> auto& { return rows[v]; });
        for (auto by : every_order) {
            auto const a = color(all.graph(), {.by = by}), b = color(reordered, {.by = by});
            CHECK(a.plan == b.plan);
            CHECK(a.clique == b.clique);
        }
    }
}

TEST_CASE("a minimal graph type and a Boost graph are accepted")
{
    archetype::graph const path({{1}, {0, 2}, {1}});
    CHECK(color(path, {.by = coloring_options::heuristic::given}).plan.slot_of == slots{0, 1, 0});
    boost::adjacency_list<boost::vecS, boost::listS, boost::undirectedS> boosts;
    auto const a = add_vertex(boosts), b = add_vertex(boosts), c = add_vertex(boosts);
    add_edge(a, c, boosts);
    add_edge(c, b, boosts);
    CHECK(color(boosts, {.by = coloring_options::heuristic::given}).plan.slot_of == slots{0, 0, 1});
}

TEST_CASE("any graph: the plan is valid, never below the optimum, and optimal if it claims to be")
{
    unsigned proven = 0, optimal = 0, proven_bytes = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(10), pick.below(101));
        bytes sizes(all.size());
        for (auto& s : sizes) s = pick.below(6);
        if (pick.below(3) == 0) sizes.assign(all.size(), 1);
        optimal_slots const best(all, sizes);
        for (auto by : every_order) {
            auto const colored = color(all.graph(), {.by = by, .bytes = sizes});
            CHECK(all.allows(colored.plan.slot_of));
            CHECK(colored);
            bytes largest(colored.plan.slots, 0);
            for (std::size_t v = 0; v != all.size(); ++v) {
                CHECK((colored.plan.slot_of[v] == no_slot) == (sizes[v] == 0));
                if (sizes[v] == 0) continue;
                REQUIRE(colored.plan.slot_of[v] < colored.plan.slots);
                byte_count& slot = largest[colored.plan.slot_of[v]];
                slot = std::max(slot, sizes[v]);
            }
            CHECK(colored.slot_bytes == largest);
            byte_count total = 0;
            for (byte_count slot : largest) total += slot;
            CHECK(colored.total_bytes == total);
            CHECK(colored.plan.slots >= best.slots);
            CHECK(colored.total_bytes >= best.bytes);
            CHECK(colored.least_bytes <= best.bytes);
            CHECK(all.is_clique(colored.clique));
            CHECK(colored.clique.size() <= best.slots);
            if (colored.is_optimal()) CHECK(colored.plan.slots == best.slots);
            if (colored.has_least_bytes()) CHECK(colored.total_bytes == best.bytes);
            proven += colored.is_optimal();
            proven_bytes += colored.has_least_bytes();
            optimal += colored.plan.slots == best.slots;
        }
    }
    CHECK(proven > rounds(1500)); // of 2000
    CHECK(proven_bytes > rounds(1400));
    CHECK(optimal > rounds(1800));
}

TEST_CASE("chordal graphs: smallest_last has the fewest slots with proof, at most degeneracy + 1")
{
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const chordal = chordal_interferences(pick, pick.below(40));
        CHECK(color(chordal.graph(), {.by = coloring_options::heuristic::smallest_last}).is_optimal());
        auto const all = any_interferences(pick, pick.below(40), pick.below(101));
        CHECK(color(all.graph(), {.by = coloring_options::heuristic::smallest_last}).plan.slots <=
              smallest_last(all.graph()).degeneracy + 1);
    }
}

TEST_CASE("intervals get as many slots as by the left-edge sweep, and by_size is within its factor")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::vector<live_range> lives(1 + pick.below(30));
        bytes sizes;
        for (auto& life : lives) {
            life.first = pick.below(30);
            life.last = life.first + 1 + pick.below(8);
            sizes.push_back(1 + pick.below(1000));
        }
        interferences all(lives.size());
        for (std::size_t v = 0; v != lives.size(); ++v)
            for (std::size_t w = 0; w != v; ++w)
                if (overlaps(lives[v], lives[w])) all.add(v, w);
        CHECK(color(all.graph(), {.by = coloring_options::heuristic::smallest_last}).plan.slots ==
              color(lives.size(), [&](auto v) { return lives[v]; }).slots);
        auto const small = color(all.graph(), {.bytes = sizes});
        CHECK(small.total_bytes <= 8 * small.least_bytes);
    }
}

TEST_CASE("a crown graph gets as many slots as pairs in a bad order, and two in a good one")
{
    interferences crown(20); // 2i interferes with every odd value except 2i + 1
    for (std::size_t i = 0; i != 10; ++i)
        for (std::size_t j = 0; j != 10; ++j)
            if (i != j) crown.add(2 * i, 2 * j + 1);
    CHECK(color(crown.graph(), {.by = coloring_options::heuristic::given}).plan.slots == 10);
    ids even_first;
    for (value_id v = 0; v != 20; ++v) even_first.push_back(v < 10 ? 2 * v : 2 * v - 19);
    CHECK(color(crown.graph(), {.by = coloring_options::heuristic::given, .order = even_first}).plan.slots ==
          2);
    CHECK(color(crown.graph()).is_optimal());
}

TEST_CASE("each of Mycielski's graphs needs one more slot, without triangles")
{
    interferences all = all_together(2);
    for (slot_id needed = 2; needed != 7; ++needed) {
        for (auto by : every_order) CHECK(color(all.graph(), {.by = by}).plan.slots >= needed);
        auto const colored = color(all.graph());
        CHECK(colored.plan.slots == needed);
        CHECK(colored.clique.size() == 2);
        all = mycielski(all);
    }
}

TEST_CASE("complete graphs need a slot per value, and rings two or three")
{
    for (auto by : {coloring_options::heuristic::dsatur, coloring_options::heuristic::smallest_last}) {
        auto const every = color(all_together(70).graph(), {.by = by});
        CHECK(every.plan.slots == 70);
        CHECK(every.is_optimal());
        for (std::size_t n = 3; n != 20; ++n)
            CHECK(color(ring(n).graph(), {.by = by}).plan.slots == 2 + n % 2);
    }
}

TEST_CASE("in a given order every value gets the same slot as by Boost")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, 1 + pick.below(30), pick.below(101));
        boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> boosts(all.size());
        for (std::size_t v = 0; v != all.size(); ++v)
            for (value_id w : all.neighbors(v))
                if (v < w) add_edge(v, w, boosts);
        ids order;
        for (value_id v = 0; v != all.size(); ++v) order.insert(order.begin() + pick.below(v + 1), v);
        std::vector<std::size_t> const boost_order(order.begin(), order.end());
        slots theirs(all.size());
        auto const used = boost::sequential_vertex_coloring(
            boosts, boost::make_iterator_property_map(boost_order.begin(), boost::identity_property_map()),
            boost::make_iterator_property_map(theirs.begin(), get(boost::vertex_index, boosts)));
        auto const ours = color(boosts, {.by = coloring_options::heuristic::given, .order = order});
        CHECK(ours.plan.slot_of == theirs);
        CHECK(ours.plan.slots == used);
    }
}

TEST_CASE("fixed values keep their slots, and the others are coloured around them")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(20), pick.below(101));
        slots fixed(all.size(), no_slot);
        for (auto& s : fixed)
            if (pick.below(4) == 0) s = pick.below(12);
        for (auto by : every_order) {
            auto const colored = color(all.graph(), {.by = by, .fixed = fixed});
            CHECK(bool(colored) == all.allows(fixed));
            if (!colored) {
                auto const* const both = colored.error().as<counterexample::slots>();
                REQUIRE(both != nullptr);
                CHECK(all(both->value, both->other));
                CHECK(fixed[both->value] == both->slot);
                CHECK(fixed[both->other] == both->slot);
                continue;
            }
            CHECK(all.allows(colored.plan.slot_of));
            CHECK(colored.plan.slots == colored.slot_bytes.size());
            for (std::size_t v = 0; v != all.size(); ++v) {
                REQUIRE(colored.plan.slot_of[v] < colored.plan.slots);
                if (fixed[v] != no_slot) CHECK(colored.plan.slot_of[v] == fixed[v]);
            }
        }
    }
}

// --- strictness --------------------------------------------------------------------------------------------

using enum fault;

namespace {

verdict check(std::vector<std::string_view> const& nodes) { return check_ssa(flow_text(nodes)); }

counterexample at(fault what, value_id v, step_id s)
{
    return {what, counterexample::access{.value = v, .step = s}};
}

} // namespace

TEST_CASE("a use that one branch reaches without its definition is reported, and a phi fixes it")
{
    CHECK(check({"a= >1 >2", "b= >3", ">3", "a b"}).error() == at(not_dominated, 1, 3));
    CHECK(check({"a= >1 >2", "b= >3", ">3", "a b@1 a@2 c="}));
}

TEST_CASE("a second definition is reported, in a later step or in the same one")
{
    CHECK(check({"a= ; a=", ""}).error() == at(several_defs, 0, 1));
    CHECK(check({"a= >1", "; a="}).error() == at(several_defs, 0, 2));
    CHECK(check({"b= a= b="}).error() == at(several_defs, 1, 0));
}

TEST_CASE("a use of a value without definition is reported: late, early or at the end of a node")
{
    CHECK(check({"; a"}).error() == at(never_defined, 0, 1));
    CHECK(check({"a!"}).error() == at(never_defined, 0, 0));
    CHECK(check({"; >1", "a@0"}).error() == at(never_defined, 0, 1));
}

TEST_CASE("a step reads before it writes, so its own definition does not dominate its use")
{
    CHECK(check({"a a="}).error() == at(not_dominated, 0, 0));
    CHECK(check({"a! a="}).error() == at(not_dominated, 0, 0));
    CHECK(check({"a ; a="}).error() == at(not_dominated, 0, 0));
    CHECK(check({"a= ; a a!"}));
}

TEST_CASE("the definition of the previous iteration does not dominate a use")
{
    CHECK(check({">1", "a ; a= >1"}).error() == at(not_dominated, 0, 1));
    CHECK(check({">1", "a b= >2", "a= >1"}).error() == at(not_dominated, 0, 1));
}

TEST_CASE("a phi's operand is read at the end of the predecessor: any definition in it dominates")
{
    CHECK(check({"b= >1", "b@0 a@1 c= ; a= >1"}));
    CHECK(check({">1", "a@0 a@1 b= ; a= >1"}).error() == at(not_dominated, 0, 0));
    CHECK(check({"; >1 >2", "a= >2", "a@0"}).error() == at(not_dominated, 0, 1));
}

TEST_CASE("second definitions are reported first, then uses not dominated, then values without definition")
{
    CHECK(check({"c@0 b >0", "a= ; a="}).error() == at(several_defs, 0, 2));
    CHECK(check({"c@0 >0", "a"}).error() == at(never_defined, 0, 1));
    CHECK(check({"c@0 ; b a >0", "a="}).error() == at(not_dominated, 0, 1));
    CHECK(check({"c@0 ; b a= >0"}).error() == at(never_defined, 1, 1));
    CHECK(check({"c ; a ; b >1", "a= b=", "a"}).error() == at(not_dominated, 0, 1));
    CHECK(check({"c@0 d@0 >0"}).error() == at(never_defined, 2, 0));
}

TEST_CASE("in unreachable nodes only a definition in the same depth-first tree dominates")
{
    CHECK(check({"", "a= >2", "a"}));
    CHECK(check({"a=", "a"}).error() == at(not_dominated, 0, 1));
    CHECK(check({">2", "a= >2", "a"}).error() == at(not_dominated, 0, 2));
}

TEST_CASE("a program without uses is strict if nothing is defined twice")
{
    CHECK(check_ssa(snapshot{}));
    CHECK(check({"a= b=", "c="}));
}

TEST_CASE("a minimal program type is accepted") { CHECK(check_ssa(archetype::program(3))); }

TEST_CASE("an error of SSA form is printed as a sentence")
{
    CHECK(printed(at(several_defs, 4, 7)) ==
          "value 4 is written at step 7 and is already defined: make each version a value of its own first");
    CHECK(printed(at(never_defined, 4, 7)) == "value 4 is used at step 7 and never defined");
    CHECK(printed(at(not_dominated, 4, 7)) ==
          "value 4 is used at step 7, and some path leads there without its definition");
}

TEST_CASE("errors are found exactly as by definition, and the reported use or definition exists")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_flow f = draw_ssa(pick, {.nodes = 8, .values = 6, .steps = 3});
        for (std::uint32_t k = pick.below(3); k != 0; --k) { // inject a few errors
            auto& node = pick.one_of(f.nodes);
            auto const v = pick.below(static_cast<std::uint32_t>(f.values));
            (pick.below(2) == 0 ? node.steps.back().uses : node.steps.back().defs).push_back(v);
        }
        snapshot const p = f.program();
        verdict const valid = check_ssa(p);
        REQUIRE(bool(valid) == flow_oracle(p).is_strict_ssa());
        if (valid) continue;
        counterexample const why = valid.error();
        REQUIRE(why.step() < p.steps());
        bool is_there = false;
        for (touch t : p.touches(why.step()))
            is_there = is_there || (t.value == why.value() &&
                                    (t.kind == touch::access::def) == (why.what == several_defs));
        for (edge_use u : p.edge_uses())
            is_there = is_there || (p.steps_of(u.pred).last - 1 == why.step() && u.value == why.value());
        REQUIRE(is_there);
    }
}

} // namespace this_test
