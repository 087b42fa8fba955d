// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/analysis/liveness.hpp>

#include "../archetype.hpp"
#include "../flow_oracle.hpp"
#include "../flow_text.hpp"
#include "../random_flow.hpp"
#include "../random_source.hpp"

#include <sublet/analysis/control_flow.hpp>

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/filtered_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<value_id>;
using node_ids = std::vector<node_id>;
using lists = std::vector<ids>;
using how = liveness_options::method;

namespace {

ids listed(live_list const& list)
{
    ids all;
    for (value_id v : list) all.push_back(v);
    return all;
}

/// By node: the values live at its beginning, then those live at its end.
lists sets_of(live_sets const& live)
{
    lists all;
    for (node_id n = 0; n != live.nodes(); ++n) all.push_back(listed(live.live_in(n)));
    for (node_id n = 0; n != live.nodes(); ++n) all.push_back(listed(live.live_out(n)));
    return all;
}

/// The sets, by every policy that accepts the program.
lists found(std::vector<std::string_view> const& nodes)
{
    snapshot const p = flow_text(nodes);
    live_sets const live = liveness(p);
    CHECK(live == liveness(p, {.policy = how::worklist}));
    CHECK(live == liveness(p, {.policy = how::per_value}));
    CHECK(live == liveness(p, {.dense_words = 0}));
    return sets_of(live);
}

} // namespace

TEST_CASE("a value is live where a path leads to a use and contains no def before")
{
    CHECK(found({"a= b= >1", "a c= >2", "b@1 d= c"}) == lists{{}, {0, 1}, {2}, {0, 1}, {1, 2}, {}});
    CHECK(found({"a= >1 >2", "a= >3", ">3", "a"}) == lists{{}, {}, {0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("a step reads before it writes, early or held")
{
    CHECK(found({"a b! ; a= b= >0"}) == lists{{0, 1}, {0, 1}});
    CHECK(found({"a a= b! b= >0"}) == lists{{0, 1}, {0, 1}});
    CHECK(found({"a= b= ; a b >0"}) == lists{{}, {}});
}

TEST_CASE("a phi operand is live at the end of the predecessor, and the result not at the begin of its node")
{
    CHECK(found({"a= >2", "b= >2", "a@0 b@1 c= >3", "c"}) == lists{{}, {}, {}, {2}, {0}, {1}, {2}, {}});
    // The operand is defined in the predecessor itself, which is the node of the phi.
    CHECK(found({"a= >1", "a@0 b@1 c= ; c b= >1"}) == lists{{}, {}, {0}, {1}});
    // A phi that reads its own result in a loop of one node.
    CHECK(found({"a= >1", "a@0 b@1 b= >1"}) == lists{{}, {}, {0}, {1}});
    // Two edges from one predecessor.
    CHECK(found({"a= b= >1 >1", "a@0 b@0 c="}) == lists{{}, {}, {0, 1}, {}});
}

TEST_CASE("a value without a def is live from the entry on, a value without uses nowhere")
{
    CHECK(found({"b= >1", ">2", "a"}) == lists{{0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("unreachable nodes are solved like the others")
{
    CHECK(found({"a= >1", "a", "a= b >1"}) == lists{{}, {0}, {1}, {0}, {}, {0}});
}

TEST_CASE("no node, no value, no edge: no sets, or empty ones")
{
    CHECK(liveness(snapshot{}).nodes() == 0);
    CHECK(found({"", ">0"}) == lists{{}, {}, {}, {}});
    live_sets const idle = liveness(flow_text({"c="}));
    CHECK(idle.values() == 3);
    CHECK(idle.policy() == how::worklist);
    CHECK(idle.values_as_bits() == 0);
}

TEST_CASE("the policy is the one of the options; automatic uses rows of bits up to a number of words")
{
    snapshot const p = flow_text({"a= >1", ">2 >1", "a"}); // one column, three rows
    for (liveness_options::method policy : {how::worklist, how::loop_forest, how::per_value}) {
        CHECK(liveness(p, {.policy = policy}).policy() == policy);
        CHECK(liveness(p, {.policy = policy}).values_as_bits() == (policy != how::per_value));
        CHECK(liveness(p, {.policy = policy}) == liveness(p));
    }
    CHECK(liveness(p).policy() == how::worklist);
    CHECK(liveness(p, {.dense_words = 2}).policy() == how::worklist); // live in too many nodes for a list

    snapshot const chain = flow(
        200, 1, [](node_id n) { return n == 199 ? node_ids{} : node_ids{n + 1}; },
        [](node_id n) { return n == 1 ? ids{0} : ids{}; }, [](node_id n) { return n == 0 ? ids{0} : ids{}; });
    CHECK(liveness(chain, {.dense_words = 200}).policy() == how::worklist);
    CHECK(liveness(chain, {.dense_words = 199}).policy() == how::per_value);
}

TEST_CASE(
    "in large programs values that are live in few nodes are listed, and only the others stored as bits")
{
    // 640 nodes in a loop: a is live in all of them, b in one, c in ten sets and d in twelve.
    std::size_t const nodes = 640;
    auto reads = [](node_id n) {
        return n == 10 ? ids{0} : n == 101 ? ids{1, 2} : n == 105 ? ids{2} : n == 206 ? ids{3} : ids{};
    };
    auto writes = [](node_id n) { return n == 100 ? ids{1, 2} : n == 200 ? ids{3} : ids{}; };
    snapshot const p =
        flow(nodes, 4, [&](node_id n) { return node_ids{n + 1 == nodes ? 0 : n + 1}; }, reads, writes);
    live_sets const mixed = liveness(p, {.dense_words = 0});
    CHECK(mixed == liveness(p, {.policy = how::worklist}));
    CHECK(mixed.policy() == how::automatic);
    CHECK(mixed.values_as_bits() == 2);
    CHECK(listed(mixed.live_out(100)) == ids{0, 1, 2});
    CHECK(listed(mixed.live_in(206)) == ids{0, 3});

    auto last_only = [](node_id n) { return n == 101 ? ids{1} : ids{}; };
    live_sets const short_lived = liveness(
        flow(
            nodes, 4, [&](node_id n) { return node_ids{n + 1 == nodes ? 0 : n + 1}; }, last_only, writes),
        {.dense_words = 0});
    CHECK(short_lived.policy() == how::per_value);
    CHECK(short_lived.values_as_bits() == 0);
    CHECK(liveness(flow_text({"a= >1", "a"}), {.dense_words = 0}).policy() == how::worklist); // given up
}

TEST_CASE("loop_forest requires strict SSA form: other programs are rejected or solved correctly")
{
    CHECK_THROWS_AS((void)liveness(flow_text({"a= ; a="}), {.policy = how::loop_forest}), precondition_error);
    CHECK_THROWS_AS((void)liveness(flow_text({">1", "a >2", "a= >1"}), {.policy = how::loop_forest}),
                    precondition_error);
    snapshot const given = flow_text({">1", "a >1"});
    CHECK(liveness(given, {.policy = how::loop_forest}) == liveness(given));
}

TEST_CASE("a million nodes and a hundred thousand values, few of them live everywhere")
{
    std::size_t const nodes = 1000000, values = 100000; // the rows of bits of all would be 12 GB
    snapshot const p = flow(
        nodes, values, [&](node_id n) { return n + 1 == nodes ? node_ids{} : node_ids{n + 1}; },
        [&](node_id n) { return n + 1 == nodes ? ids{0, 7, 99999}
                                : n % 10 == 2  ? ids{n / 10}
                                               : ids{}; },
        [&](node_id n) { return n % 10 == 0 ? ids{n / 10} : ids{}; });
    live_sets const live = liveness(p);
    CHECK(live.policy() == how::automatic);
    CHECK(live.values_as_bits() == 2);
    CHECK(listed(live.live_in(0)).empty());
    CHECK(listed(live.live_in(500001)) == ids{0, 7, 50000});
    CHECK(listed(live.live_out(999997)) == ids{0, 7, 99999});
    CHECK(live.live_in_count(nodes - 1) == 3);
}

TEST_CASE("the minimal program and the minimal graph have live sets")
{
    CHECK(sets_of(liveness(archetype::program(3))) == lists{{}, {0}, {1}, {0}, {1}, {}});

    archetype::graph const g({{1}, {2, 1}, {}});
    auto reads = [](archetype::vertex const& v) { return v.name() == -2 ? ids{0} : ids{}; };
    auto writes = [](archetype::vertex const& v) { return v.name() == 0 ? ids{0} : ids{}; };
    auto const live = liveness(g, 1, reads, writes);
    CHECK(listed(live.live_in(archetype::vertex(-1))) == ids{0});
    CHECK(live.is_live_out(0, archetype::vertex(0)));
    CHECK_FALSE(live.is_live_in(0, archetype::vertex(0)));
    CHECK(live.live_in_count(archetype::vertex(-2)) == 1);
    CHECK(live.live_out_count(archetype::vertex(-2)) == 0);
    CHECK(live.by_number().policy() == how::worklist);
    CHECK(liveness(g, 1, reads, writes, {.policy = how::per_value}).by_number().policy() == how::per_value);
    CHECK(live.by_number() == liveness(flow_text({"a= >1", ">2 >1", "a"})));
    CHECK_THROWS_AS((void)live.live_in(archetype::vertex(-3)), precondition_error);
}

TEST_CASE("a graph is queried with its own vertices, also list nodes and those of a filtered graph")
{
    using list_graph = boost::adjacency_list<boost::listS, boost::listS, boost::directedS>;
    list_graph g;
    auto const third = add_vertex(g), first = add_vertex(g), second = add_vertex(g);
    add_edge(third, second, g); // `third` is the entry
    add_edge(second, first, g);
    auto effects = [&](auto const& v, auto& s) {
        if (v == third) s.def(0);
        if (v == second) s.next_step(), s.def(1);
        if (v == first) s.use(0), s.use_at_end_of(second, 1);
    };
    auto const live = liveness(g, 2, effects, {.policy = how::per_value});
    CHECK(listed(live.live_out(second)) == ids{0, 1});
    CHECK(listed(live.live_in(first)) == ids{0});
    CHECK(live.is_live_in(0, second));
    CHECK(live.by_number().policy() == how::per_value);
    CHECK(live.numbers().number_of(first) == 1);

    auto without_second = [&](list_graph::vertex_descriptor v) { return v != second; };
    boost::filtered_graph<list_graph, boost::keep_all, decltype(without_second)> const filtered(
        g, {}, without_second);
    auto reads = [&](auto v) { return v == first ? ids{value_id{0}} : ids{}; };
    auto const cut = liveness(filtered, 1, reads, [](auto) { return ids{}; });
    CHECK(cut.is_live_in(0, first));
    CHECK_FALSE(cut.is_live_out(0, third));
    CHECK_THROWS_AS((void)cut.is_live_in(0, second), precondition_error);
}

TEST_CASE("stored partly as bits and partly as lists, random sets satisfy the equations")
{
    unsigned mixed = 0;
    for (unsigned seed = 0; seed != 15; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick, {.nodes = 400, .values = 500, .steps = 3}).program();
        liveness_tables const truth = solved_liveness(p);
        live_sets const live = liveness(p, {.dense_words = 0});
        mixed += live.values_as_bits() != 0 && live.policy() == how::automatic;
        for (node_id n = 0; n != p.nodes(); ++n) {
            ids in, out;
            for (value_id v = 0; v != p.values(); ++v) {
                if (truth.in[n][v]) in.push_back(v);
                if (truth.out[n][v]) out.push_back(v);
            }
            REQUIRE(listed(live.live_in(n)) == in);
            REQUIRE(listed(live.live_out(n)) == out);
        }
    }
    CHECK(mixed > 5);
}

// --- live ranges of a control-flow graph -------------------------------------------------------------------

namespace {

std::vector<live_range> ranges_of(live_range_lists const& lives, value_id v)
{
    auto const row = lives[v];
    return {row.begin(), row.end()};
}

std::vector<node_id> ascending(snapshot const& p)
{
    std::vector<node_id> order;
    for (node_id n = 0; n != p.nodes(); ++n) order.push_back(n);
    return order;
}

live_range_lists live_ranges_of(snapshot const& p, std::vector<value_role> const& role)
{
    auto const order = ascending(p);
    return to_program_positions(p, cfg_live_ranges(p, role, order, operand_end::held), order);
}

random_flow chain(std::size_t nodes, std::size_t values)
{
    random_flow f;
    f.nodes.resize(nodes);
    f.values = values;
    for (node_id n = 0; n + 1 < nodes; ++n) f.nodes[n].successors = {n + 1};
    return f;
}

} // namespace

TEST_CASE("an input is live at the first step, and an output to the end of each path")
{
    random_flow f = chain(4, 2);
    f.nodes[0].successors = {1, 2};
    f.nodes[1].successors = {};
    f.nodes[1].steps.resize(2);
    f.nodes[0].steps[0].defs = {1};
    f.nodes[2].steps[0].defs = {1};
    live_range_lists const lives = live_ranges_of(f.program(), {value_role::input, value_role::output});
    CHECK(ranges_of(lives, 0) == std::vector<live_range>{{0, 1}});
    CHECK(ranges_of(lives, 1) == std::vector<live_range>{{0, 5}}); // on the path over 2 it is written again
    CHECK(lives.positions() == 5);
}

TEST_CASE("an input is live where the program begins, wherever that is in the order")
{
    random_flow f = chain(3, 1);
    snapshot const p = f.program();
    std::vector<value_role> const role{value_role::input};
    std::vector<node_id> const order{2, 0, 1};
    live_range_lists const augmented = cfg_live_ranges(p, role, order, operand_end::held);
    CHECK(ranges_of(augmented, 0) == std::vector<live_range>{{0, 1}});
    CHECK(ranges_of(to_program_positions(p, augmented, order), 0) == std::vector<live_range>{{1, 2}});
}

TEST_CASE("an output is live throughout a loop without an exit, because it may be stopped")
{
    random_flow f = chain(3, 1); // 0: def -> 1 <-> 2
    f.nodes[0].steps[0].defs = {0};
    f.nodes[2].successors = {1};
    CHECK(ranges_of(live_ranges_of(f.program(), {value_role::output}), 0) == std::vector<live_range>{{0, 3}});
    CHECK(ranges_of(live_ranges_of(f.program(), {value_role::intermediate}), 0) ==
          std::vector<live_range>{{0, 1}});
    f.nodes[1].successors = {2, 0}; // a loop of all nodes has no exit either
    CHECK(ranges_of(live_ranges_of(f.program(), {value_role::output}), 0) == std::vector<live_range>{{0, 3}});
}

TEST_CASE("an operand that may be overwritten can be excluded from the step that overwrites it")
{
    snapshot const p = flow(
        1, 3, [](node_id) { return node_ids{}; },
        [](node_id, effect_sink& s) {
            s.def(0);
            s.next_step();
            s.use(0);
            s.def(1);
            s.may_overwrite(0, 1);
            s.may_overwrite(0, 2); // is not defined here: no effect
            s.next_step();
            s.use(1);
            s.def(2);
        });
    std::vector<value_role> const role(3);
    live_range_lists const held = cfg_live_ranges(p, role, {0}, operand_end::held);
    live_range_lists const handed = cfg_live_ranges(p, role, {0}, operand_end::read_early);
    CHECK(ranges_of(held, 0) == std::vector<live_range>{{1, 3}});
    CHECK(ranges_of(handed, 0) == std::vector<live_range>{{1, 2}});
    CHECK(ranges_of(handed, 1) == std::vector<live_range>{{2, 4}});
}

TEST_CASE("an undefined read is reported by value, with its step")
{
    random_flow f = chain(3, 2);
    f.nodes[0].successors = {1, 2};
    f.nodes[1].steps[0].defs = {0, 1};
    f.nodes[2].steps[0].uses = {1};
    f.nodes[2].operands = {{0, 0}};
    snapshot const p = f.program();
    std::vector<value_role> role(2);
    live_range_lists const augmented = cfg_live_ranges(p, role, ascending(p), operand_end::held);
    auto used_before_def = [](value_id v, step_id s) {
        return counterexample{fault::used_undefined,
                              counterexample::access{.value = v, .other = v, .step = s}};
    };
    CHECK(undefined_read(p, augmented, role, false) == used_before_def(0, 0));
    CHECK(undefined_read(p, augmented, {value_role::input, {}}, false) == used_before_def(1, 2));
    CHECK_FALSE(undefined_read(p, augmented, {value_role::input, value_role::external}, false));
    CHECK_FALSE(undefined_read(p, augmented, role, true));
}

TEST_CASE("the empty program has no ranges, and values of an unreachable node have some")
{
    CHECK(live_ranges_of(snapshot(), {}).values() == 0);
    random_flow f = chain(2, 1);
    f.nodes[0].successors = {};
    f.nodes[1].steps[0].defs = {0};
    f.nodes[1].steps.resize(2);
    f.nodes[1].steps[1].uses = {0};
    CHECK(ranges_of(live_ranges_of(f.program(), {{}}), 0) == std::vector<live_range>{{1, 3}});
}

TEST_CASE("random programs, orders and roles: the ranges agree with a search along the steps")
{
    std::size_t ranges = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_flow f = pick.below(2) == 0 ? draw_flow(pick) : draw_ssa(pick);
        std::vector<value_role> role(f.values);
        for (auto& r : role)
            if (pick.below(3) == 0) r = pick.below(2) == 0 ? value_role::input : value_role::output;
        snapshot const p = f.program();
        auto order = ascending(p);
        for (std::uint32_t n = 1; n < order.size(); ++n) std::swap(order[n], order[pick.below(n + 1)]);
        live_range_lists const lives =
            to_program_positions(p, cfg_live_ranges(p, role, order, operand_end::held), order);
        ranges += lives.ranges();

        // Roles as steps: nodes without successors, or from which no exit is reachable, read the outputs
        // last.
        std::vector<bool> reaches_exit(f.nodes.size());
        for (std::size_t again = 0; again != f.nodes.size(); ++again)
            for (std::size_t n = 0; n != f.nodes.size(); ++n) {
                if (f.nodes[n].successors.empty()) reaches_exit[n] = true;
                for (auto s : f.nodes[n].successors)
                    if (reaches_exit[s]) reaches_exit[n] = true;
            }
        random_flow with_role_steps = f;
        for (std::size_t n = 0; n != f.nodes.size(); ++n) {
            if (!f.nodes[n].successors.empty() && reaches_exit[n]) continue;
            with_role_steps.nodes[n].steps.emplace_back();
            for (value_id v = 0; v != f.values; ++v)
                if (has_role(role[v], value_role::output))
                    with_role_steps.nodes[n].steps.back().early.push_back(v);
        }
        flow_oracle const oracle(with_role_steps.program());
        snapshot const q = with_role_steps.program();
        position_id at = 0;
        for (node_id n : order)
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s, ++at)
                for (value_id v = 0; v != f.values; ++v) {
                    step_id const there = q.steps_of(n).first + (s - p.steps_of(n).first);
                    bool is_in = false;
                    for (live_range r : lives[v]) is_in = is_in || contains(r, at);
                    bool const is_given_here = s == 0 && has_role(role[v], value_role::input);
                    REQUIRE(is_in == (is_given_here || oracle.occupies(v, there)));
                }
    }
    MESSAGE(ranges, " ranges");
}

// --- live sets ---------------------------------------------------------------------------------------------

using sets = std::vector<std::set<value_id>>; // by node

namespace {

ids visited_in(live_sets const& live, node_id n)
{
    ids all;
    live.for_each_live_in(n, [&](value_id v) { all.push_back(v); });
    std::sort(all.begin(), all.end());
    return all;
}

ids visited_out(live_sets const& live, node_id n)
{
    ids all;
    live.for_each_live_out(n, [&](value_id v) { all.push_back(v); });
    std::sort(all.begin(), all.end());
    return all;
}

/// These sets, with the values in `is_bit` stored as bits.
live_sets stored(std::size_t values, sets const& in, sets const& out, std::set<value_id> const& is_bit)
{
    std::vector<std::uint32_t> column(values, no_value);
    ids value;
    for (value_id v : is_bit) {
        column[v] = static_cast<std::uint32_t>(value.size());
        value.push_back(v);
    }
    auto half = [&](sets const& of) {
        detail::node_sets result{bit_rows(of.size(), value.size()), {}};
        for (std::size_t n = 0; n != of.size(); ++n) {
            for (value_id v : of[n])
                if (column[v] != no_value) result.bits.set(n, column[v]);
                else result.listed.append(v);
            if (value.size() != values) result.listed.close_row();
        }
        return result;
    };
    return detail::solved_sets(liveness_options::method::automatic, in.size(), column, value, half(in),
                               half(out));
}

} // namespace

TEST_CASE("values stored as bits and listed values form one ascending sequence")
{
    sets const in{{}, {0, 2, 3, 5}, {5}}, out{{0, 1, 2, 3, 4, 5}, {1}, {}};
    live_sets const live = stored(6, in, out, {1, 2, 5});
    CHECK(live.nodes() == 3);
    CHECK(live.values() == 6);
    CHECK(live.values_as_bits() == 3);
    CHECK(listed(live.live_in(1)) == ids{0, 2, 3, 5});
    CHECK(listed(live.live_in(2)) == ids{5});
    CHECK(listed(live.live_out(0)) == ids{0, 1, 2, 3, 4, 5});
    CHECK(live.live_in(0).empty());
    CHECK_FALSE(live.live_out(1).empty());
    CHECK(live.live_in_count(1) == 4);
    CHECK(live.live_out_count(0) == 6);
    CHECK(live.live_out_count(2) == 0);
    CHECK(live.is_live_in(0, 1));
    CHECK(live.is_live_in(2, 1));
    CHECK_FALSE(live.is_live_in(1, 1));
    CHECK_FALSE(live.is_live_in(4, 1));
    CHECK_FALSE(live.is_live_out(0, 1));
}

TEST_CASE("sets are equal however they are stored, and unequal if one contains another value")
{
    sets const in{{0, 2}, {1}}, out{{2}, {}};
    live_sets const bits = stored(3, in, out, {0, 1, 2}), in_lists = stored(3, in, out, {});
    CHECK(bits == in_lists);
    CHECK(stored(3, in, out, {1}) == in_lists);
    CHECK(bits != stored(3, {{0, 2}, {1, 2}}, out, {0, 1, 2}));
    CHECK(bits != stored(3, {{0}, {1}}, out, {}));
    CHECK(bits != stored(3, {{0, 1}, {1}}, out, {}));
    CHECK(bits != stored(3, in, {{2}, {0}}, {0}));
    CHECK(bits != stored(4, in, out, {}));
    CHECK(bits != stored(3, {{0, 2}, {1}, {}}, {{2}, {}, {}}, {}));
}

TEST_CASE("the empty program has no sets, and without values sets are empty")
{
    CHECK(live_sets{}.nodes() == 0);
    CHECK(live_sets{}.values() == 0);
    CHECK(live_sets{} == live_sets{});
    live_sets const idle = stored(0, {{}, {}}, {{}, {}}, {});
    CHECK(idle.live_in(1).empty());
    CHECK(listed(idle.live_out(0)).empty());
    CHECK(idle != live_sets{});
}

TEST_CASE("a cursor may be copied, compared and incremented before or after it is read")
{
    live_sets const live = stored(4, {{0, 1, 3}}, {{}}, {1, 3});
    auto at = live.live_in(0).begin();
    auto const first = at;
    CHECK(*at++ == 0);
    CHECK(*at == 1);
    CHECK(at != first);
    CHECK(*++at == 3);
    CHECK(++at == live.live_in(0).end());
    CHECK(*first == 0);
    CHECK(live_list::cursor{} == live.live_in(0).end());
}

TEST_CASE("random sets are read as they were stored, in any mix of bits and lists")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const values = 1 + pick.below(200), some = 1 + pick.below(8), bits = pick.below(4);
        sets in(4), out(4);
        std::set<value_id> is_bit;
        for (value_id v = 0; v != values; ++v) {
            if (bits == 3 || pick.below(3) < bits) is_bit.insert(v);
            for (std::size_t n = 0; n != 4; ++n) {
                if (pick.below(some) == 0) in[n].insert(v);
                if (pick.below(some) == 0) out[n].insert(v);
            }
        }
        live_sets const live = stored(values, in, out, is_bit);
        for (node_id n = 0; n != 4; ++n) {
            REQUIRE(listed(live.live_in(n)) == ids(in[n].begin(), in[n].end()));
            REQUIRE(listed(live.live_out(n)) == ids(out[n].begin(), out[n].end()));
            REQUIRE(visited_in(live, n) == ids(in[n].begin(), in[n].end()));
            REQUIRE(visited_out(live, n) == ids(out[n].begin(), out[n].end()));
            REQUIRE(live.live_in_count(n) == in[n].size());
            REQUIRE(live.live_out_count(n) == out[n].size());
            for (value_id v = 0; v != values; ++v) {
                REQUIRE(live.is_live_in(v, n) == (in[n].count(v) != 0));
                REQUIRE(live.is_live_out(v, n) == (out[n].count(v) != 0));
            }
            for (node_id from = 0; from != 4; ++from) {
                auto now = out[from];
                bool has_begun = false;
                live.for_each_change(
                    from, n,
                    [&](value_id v) {
                        REQUIRE(!has_begun);
                        REQUIRE(now.erase(v) == 1);
                    },
                    [&](value_id v) {
                        has_begun = true;
                        REQUIRE(now.insert(v).second);
                        REQUIRE(out[from].count(v) == 0);
                    });
                REQUIRE(now == in[n]);
            }
        }
        CHECK(live == stored(values, in, out, {}));
    }
}

} // namespace this_test
