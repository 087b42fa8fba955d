// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/graph/snapshot.hpp>

#include "../random_source.hpp"
#include "archetype.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/find_spills.hpp>
#include <sublet/planning/detail/flow_lives.hpp>
#include <sublet/planning/detail/insert_spills.hpp>
#include <sublet/rewriting/rename.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<node_id>;
constexpr touch::access use = touch::access::use;
constexpr touch::access def = touch::access::def;

std::vector<touch> touches(snapshot const& p, step_id s)
{
    return {p.touches(s).begin(), p.touches(s).end()};
}

/// A program as plain data, and an example of a user's own IR: it has the four members.
struct written_down {
    struct step {
        std::vector<touch> touches;
        std::vector<std::pair<value_id, value_id>> overwrites;
        bool may_recompute = false;
    };
    struct node {
        std::vector<int> successors;
        std::vector<step> steps;
        std::vector<std::pair<node_id, value_id>> phis; // predecessor, value
    };
    std::vector<node> list;
    int value_count = 0;

    std::size_t nodes() const { return list.size(); }
    int values() const { return value_count; }
    auto const& successors(node_id n) const { return list[n].successors; }
    static constexpr edge_meaning edges() { return edge_meaning::control_flow; }
    void effects(node_id n, effect_sink& sink) const
    {
        for (auto [pred, value] : list[n].phis) sink.use_at_end_of(pred, value);
        for (std::size_t s = 0; s != list[n].steps.size(); ++s) {
            if (s != 0) sink.next_step();
            for (auto [in, out] : list[n].steps[s].overwrites) sink.may_overwrite(in, out);
            sink.may_recompute(list[n].steps[s].may_recompute);
            for (auto [value, kind] : list[n].steps[s].touches) {
                if (kind == touch::access::use) sink.use(value);
                if (kind == touch::access::use_early) sink.use_early(value);
                if (kind == touch::access::write) sink.write(value);
                if (kind == touch::access::view) sink.view(value);
                if (kind == touch::access::def) sink.def(value);
            }
        }
    }
};

written_down random_program(std::mt19937& random)
{
    written_down p;
    p.list.resize(random() % 8);
    p.value_count = 1 + static_cast<int>(random() % 6);
    auto any_value = [&] { return static_cast<value_id>(random() % static_cast<unsigned>(p.value_count)); };
    touch::access const kinds[] = {use, touch::access::use_early, touch::access::write, touch::access::view,
                                   def};
    for (auto& node : p.list)
        for (std::size_t k = random() % 4; k != 0; --k)
            node.successors.push_back(static_cast<int>(random() % p.list.size()));
    for (node_id n = 0; n != p.list.size(); ++n) {
        p.list[n].steps.resize(1 + random() % 3);
        for (auto& step : p.list[n].steps) {
            for (std::size_t k = random() % 4; k != 0; --k)
                step.touches.push_back({any_value(), kinds[random() % std::size(kinds)]});
            for (std::size_t k = random() % 2; k != 0; --k)
                step.overwrites.push_back({any_value(), any_value()});
            step.may_recompute = random() % 3 == 0;
        }
        for (node_id pred = 0; pred != p.list.size(); ++pred)
            for (int s : p.list[pred].successors)
                if (s == static_cast<int>(n) && random() % 2 == 0)
                    p.list[n].phis.push_back({pred, any_value()});
    }
    return p;
}

/// A program that forwards to another.
struct forwarding {
    snapshot const& other;
    auto nodes() const { return other.nodes(); }
    auto values() const { return other.values(); }
    auto successors(node_id n) const { return other.successors(n); }
    edge_meaning edges() const { return other.edges(); }
    void effects(node_id n, effect_sink& sink) const { other.effects(n, sink); }
};

} // namespace

static_assert(std::regular<snapshot> && program<written_down> && program<forwarding>);
static_assert(std::is_convertible_v<written_down, snapshot>,
              "a function that takes a snapshot takes any program");
static_assert(effects_function<decltype([](int, auto& sink) { sink.def(0); }), step_id>);
static_assert(!effects_function<decltype([](std::string, effect_sink&) {}), step_id>);
static_assert(!effects_function<decltype([](auto) {}), step_id>);

TEST_CASE("a list of operations has one step per node and no edges")
{
    // a = source; b = relu(a); c = add(a, b)
    std::vector<std::vector<int>> const reads{{}, {0}, {0, 1}};
    snapshot const p = sequence(
        3, 3, [&](auto step) -> auto& { return reads[step]; },
        [](auto step) { return std::vector<value_id>{+step}; });
    CHECK(p.nodes() == 3);
    CHECK(p.values() == 3);
    CHECK(p.steps() == 3);
    CHECK(p.steps_of(1) == step_range{1, 2});
    CHECK(touches(p, 0) == std::vector<touch>{{0, def}});
    CHECK(touches(p, 2) == std::vector<touch>{{0, use}, {1, use}, {2, def}});
    CHECK(p.successors(0).empty());
    CHECK(p.predecessors(2).empty());
}

TEST_CASE("the touches of several steps are in sequence, in each step the reads before the writes")
{
    snapshot const p = flow(
        1, 4, [](node_id) { return ids{}; },
        [](node_id, effect_sink& s) {
            s.def(0);
            s.use(3);
            s.def(1);
            s.use_early(2);
            s.use(1);
            s.next_step();
            s.def(2);
        });
    std::vector<touch> const first{{3, use}, {2, touch::access::use_early}, {1, use}, {0, def}, {1, def}};
    std::vector<touch> both = first;
    both.push_back({2, def});
    CHECK(touches(p, 0) == first);
    auto const all = p.touches(p.steps_of(0));
    CHECK(std::vector<touch>(all.begin(), all.end()) == both);
    CHECK(p.touches({1, 1}).empty());
    CHECK(snapshot{}.touches({0, 0}).empty());
    auto says_again = [&p](node_id n, effect_sink& s) { p.effects(n, s); };
    CHECK(flow(
              1, 4, [](node_id) { return ids{}; }, says_again) == p);
}

TEST_CASE("uses, defs and successors may be tables of lists, one for each node")
{
    using lists = std::vector<std::vector<int>>;
    lists const uses{{}, {0}, {1}}, defs{{0}, {1}, {2}}, next{{1}, {2}, {}};
    auto by_call = [](lists const& table) { return [&table](auto n) -> auto& { return table[n]; }; };
    CHECK(sequence(3, 3, uses, defs) == sequence(3, 3, by_call(uses), by_call(defs)));
    CHECK(flow(3, 3, next, uses, defs) == flow(3, 3, by_call(next), by_call(uses), by_call(defs)));
    CHECK(tasks(3, 3, next, uses, defs) == tasks(3, 3, by_call(next), by_call(uses), by_call(defs)));
    csr_graph const g = as_graph(3, next);
    CHECK(g == as_graph(3, by_call(next)));
    CHECK(flow(g, 3, uses, defs) == flow(3, 3, next, uses, defs));
    CHECK(tasks(g, 3, uses, defs) == tasks(3, 3, next, uses, defs));
    lists const longer{{}, {}, {}, {}};
    CHECK_THROWS_WITH_AS((void)sequence(3, 3, longer, defs),
                         "sublet: the table of uses has 4 lists, for 3 nodes", precondition_error);
    CHECK_THROWS_WITH_AS((void)tasks(3, 3, longer, uses, defs),
                         "sublet: the table of successors has 4 lists, for 3 nodes", precondition_error);
    CHECK_THROWS_WITH_AS((void)flow(4, 3, longer, longer, defs),
                         "sublet: the table of defs has 3 lists, for 4 nodes", precondition_error);
}

TEST_CASE("a step may say of what its view is a part, and nothing else may be said of it")
{
    auto program = [](byte_count again) {
        return sequence(3, 3, [again](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(0);
            if (s == 1) sink.view(1, 0, 16);
            if (s == 2) sink.use(1), sink.view(1, 0, again), sink.def(2);
        });
    };
    snapshot const p = program(16);
    CHECK(p.said_views().size() == 2);
    CHECK(snapshot(p) == p);
    CHECK(sequence(3, 3, [&p](step_id s, effect_sink& sink) { p.effects(+s, sink); }) == p);
    plan_options const by_step{.bytes = std::vector{64, 8, 8}};
    plan_options by_option = by_step;
    by_option.alias_of = std::vector{no_value, value_id{0}, no_value};
    by_option.view_offset = std::vector{0, 16, 0};
    CHECK(plan_memory(p, by_step).plan == plan_memory(p, by_option).plan);
    CHECK(plan_concurrent(p, by_step).plan == plan_concurrent(p, by_option).plan);
    CHECK(plan_flow(p, by_step).plan == plan_flow(p, by_option).plan);
    CHECK(check_plan(p, plan_memory(p, by_option).plan, by_step));
    auto const made = versions(p, by_step, false);
    CHECK(bool(plan_memory(made.program, with_versions(by_step, made))));
    auto refused = [](snapshot const& q, plan_options const& options) {
        CHECK_THROWS_AS((void)plan_memory(q, options), precondition_error);
        CHECK_THROWS_AS((void)plan_concurrent(q, options), precondition_error);
        CHECK_THROWS_AS((void)plan_flow(q, options), precondition_error);
    };
    refused(program(8), by_step);
    by_option.view_offset = std::vector{0, 8, 0};
    refused(p, by_option);
    by_option.alias_of = std::vector{no_value, value_id{2}, no_value};
    refused(p, by_option);
}

TEST_CASE("a default snapshot is the empty program")
{
    snapshot const none;
    CHECK(none.nodes() == 0);
    CHECK(none.values() == 0);
    CHECK(none.steps() == 0);
    CHECK(none.overwrites().empty());
    CHECK(none.edge_uses().empty());
    CHECK(none == sequence(0, 0, [](auto, auto&) {}));
    CHECK(none == snapshot(written_down{}));
    CHECK(none != sequence(0, 1, [](auto, auto&) {}));
}

TEST_CASE("a snapshot holds the nodes, steps, touches and edges of its program")
{
    std::mt19937 random(1);
    for (unsigned round = 0; round != rounds(200); ++round) {
        CAPTURE(round);
        written_down const written = random_program(random);
        snapshot const p(written);
        REQUIRE(p.nodes() == written.list.size());
        CHECK(p.values() == static_cast<std::size_t>(written.value_count));
        step_id next = 0;
        std::size_t overwrites = 0, phis = 0;
        std::vector<ids> predecessors(p.nodes());
        for (node_id n = 0; n != p.nodes(); ++n) {
            auto const& node = written.list[n];
            CHECK(ids(p.successors(n).begin(), p.successors(n).end()) ==
                  ids(node.successors.begin(), node.successors.end()));
            for (int s : node.successors) predecessors[static_cast<std::size_t>(s)].push_back(n);
            REQUIRE(p.steps_of(n) == step_range{next, next + static_cast<step_id>(node.steps.size())});
            for (auto const& step : node.steps) {
                std::vector<touch> reads_then_writes;
                for (bool writes : {false, true})
                    for (touch t : step.touches)
                        if (t.defines() == writes) reads_then_writes.push_back(t);
                auto const all = reads_then_writes; // a view that its step writes is one touch
                std::erase_if(reads_then_writes, [&](touch t) {
                    auto has = [&](touch::access kind) {
                        return std::find(all.begin(), all.end(), touch{t.value, kind}) != all.end();
                    };
                    return t.kind == touch::access::write &&
                           (has(touch::access::view) || has(touch::access::def));
                });
                for (touch& t : reads_then_writes)
                    if (t.kind == touch::access::view &&
                        std::find(all.begin(), all.end(), touch{t.value, touch::access::write}) != all.end())
                        t.kind = touch::access::write_view;
                std::vector<touch> reads; // of views that the step makes
                for (touch t : reads_then_writes)
                    if (t.makes_view() && std::any_of(all.begin(), all.end(), [t](touch u) {
                            return u.value == t.value && u.kind <= touch::access::use_early;
                        }))
                        reads.push_back({t.value, t.kind});
                for (touch own : reads) {
                    std::erase_if(reads_then_writes, [own](touch u) {
                        return u.value == own.value && u.kind <= touch::access::use_early;
                    });
                    for (touch& t : reads_then_writes)
                        if (t.value == own.value && t.kind == touch::access::view)
                            t.kind = touch::access::read_view;
                    if (own.kind == touch::access::write_view)
                        reads_then_writes.push_back({own.value, touch::access::read_view});
                }
                CHECK(touches(p, next) == reads_then_writes);
                std::vector<overwrite> expected;
                for (auto [in, out] : step.overwrites) expected.push_back({next, in, out});
                CHECK(std::equal(expected.begin(), expected.end(), p.overwrites(next).begin(),
                                 p.overwrites(next).end()));
                overwrites += expected.size();
                CHECK(p.may_recompute(next) == step.may_recompute);
                ++next;
            }
            std::vector<edge_use> expected;
            for (auto [pred, value] : node.phis) expected.push_back({n, pred, value});
            CHECK(std::equal(expected.begin(), expected.end(), p.edge_uses(n).begin(), p.edge_uses(n).end()));
            phis += expected.size();
        }
        CHECK(p.steps() == next);
        CHECK(p.overwrites().size() == overwrites);
        CHECK(p.edge_uses().size() == phis);
        for (node_id n = 0; n != p.nodes(); ++n)
            CHECK(ids(p.predecessors(n).begin(), p.predecessors(n).end()) == predecessors[n]);
    }
}

TEST_CASE("a snapshot equals its copies and snapshots of it, and no other program")
{
    std::mt19937 random(2);
    snapshot previous;
    for (unsigned round = 0; round != rounds(200); ++round) {
        CAPTURE(round);
        written_down const written = random_program(random);
        snapshot const p(written);
        CHECK(snapshot(forwarding{p}) == p);
        snapshot copy = previous;
        copy = p;
        CHECK(copy == p);
        previous = copy;

        auto differs_with = [&](auto change) {
            written_down other = written;
            change(other);
            CHECK(snapshot(other) != p);
        };
        differs_with([](auto& other) { ++other.value_count; });
        differs_with([](auto& other) { other.list.push_back({{}, {{}}, {}}); });
        if (written.list.empty()) continue;
        differs_with([](auto& other) { other.list.back().successors.push_back(0); });
        differs_with([](auto& other) { other.list.back().steps.push_back({}); });
        differs_with([](auto& other) { other.list.back().steps.back().touches.push_back({0, def}); });
        differs_with([](auto& other) { other.list.back().steps.back().overwrites.push_back({0, 0}); });
        differs_with([](auto& other) { other.list.back().steps.back().may_recompute ^= true; });
        if (written.list.front().successors.empty()) continue;
        auto const next = static_cast<std::size_t>(written.list.front().successors.front());
        differs_with([&](auto& other) { other.list[next].phis.push_back({0, 0}); });
    }
}

TEST_CASE("a step may run again if it says so, and every program made from its own says the same of it")
{
    // Step s makes value s from s - 1; value 4 is a view of 2, and step 6 makes 1 again.
    std::vector<value_id> const alias_of{no_value, no_value, no_value, no_value, 2, no_value};
    for (unsigned said = 0; said != 1u << 7; ++said) {
        CAPTURE(said);
        snapshot const p = sequence(7, 6, [said](step_id s, effect_sink& sink) {
            if (s != 0 && s != 6) sink.use(s - 1);
            if (s == 4) sink.view(+s);
            else sink.def(s == 6 ? 1u : +s);
            if (said >> s & 1) sink.may_recompute();
        });
        auto says_the_same = [&](snapshot const& made) {
            bool all = made.steps() == p.steps();
            for (step_id s = 0; all && s != p.steps(); ++s) all = made.may_recompute(s) == (said >> s & 1);
            return all;
        };
        CHECK(says_the_same(p));
        CHECK_FALSE(p.may_recompute(7));
        CHECK(snapshot(forwarding{p}) == p);
        plan_options const options{.bytes = 8, .alias_of = alias_of};
        auto const made = versions(p, options);
        CHECK(made.value_of.size() == 7);
        CHECK(says_the_same(made.program));
        auto const versioned = with_versions(options, made);
        CHECK(says_the_same(with_view_uses(made.program, versioned)));
        sized_slot_plan slots;
        slots.slot_of = {0, 1, 2, 3, 2, 4, 5};
        slots.slots = 6;
        CHECK(says_the_same(renamed_program(made, name_slots(made, slots, versioned))));
        spill_model const model(p, options, {});
        CHECK(says_the_same(insert_spills(p, model, options, whole_run(model)).program));
        CHECK(says_the_same(each_with_captures(program_tree(p))[0]));
        CHECK(says_the_same(flatten(program_tree(p)).program));
        CHECK(says_the_same(tasks(p.graph(), 6, [&p](node_id n, auto& sink) { p.effects(n, sink); })));
    }
}

TEST_CASE("a snapshot is passed by reference, and any other program is copied")
{
    snapshot const p = sequence(1, 1, [](auto, auto& sink) { sink.def(0); });
    auto const taken = [](snapshot const& given) { return &given; };
    CHECK(taken(p) == &p);
    auto const is_same = [&p](snapshot const& given) { return given == p; };
    CHECK(is_same(forwarding{p}));
    CHECK(is_same(archetype::program(1)));
}

TEST_CASE("all factories make the same snapshot of the same program")
{
    std::mt19937 random(3);
    for (unsigned round = 0; round != rounds(100); ++round) {
        CAPTURE(round);
        std::size_t const nodes = random() % 10, values = 1 + random() % 5;
        std::vector<ids> next(nodes);
        std::vector<std::vector<value_id>> reads(nodes), writes(nodes);
        for (std::size_t n = 0; n != nodes; ++n) {
            for (std::size_t k = random() % 3; k != 0; --k)
                next[n].push_back(static_cast<node_id>(random() % nodes));
            for (std::size_t k = random() % 3; k != 0; --k)
                reads[n].push_back(static_cast<value_id>(random() % values));
            for (std::size_t k = random() % 3; k != 0; --k)
                writes[n].push_back(static_cast<value_id>(random() % values));
        }
        auto successors = [&](auto n) -> auto& { return next[n]; };
        auto uses = [&](auto n) -> auto& { return reads[n]; };
        auto defs = [&](auto n) -> auto& { return writes[n]; };
        auto effects = [&](auto n, effect_sink& sink) {
            for (value_id v : reads[n]) sink.use(v);
            for (value_id v : writes[n]) sink.def(v);
        };
        csr_graph const g = as_graph(nodes, successors);
        snapshot const p = flow(nodes, values, successors, effects);
        CHECK(p.graph() == g);
        CHECK(flow(nodes, values, successors, uses, defs) == p);
        CHECK(flow(g, values, effects) == p);
        CHECK(flow(g, values, uses, defs) == p);
        CHECK(flow(g, vertex_numbering(g), values, effects) == p);

        auto nowhere = [](auto) { return ids{}; };
        snapshot const list = sequence(nodes, values, effects);
        CHECK(sequence(nodes, values, uses, defs) == list);
        CHECK((flow(nodes, values, nowhere, effects) == list) == (nodes == 0));
        CHECK(flow(nodes, values, nowhere, effects).graph() == list.graph());
        snapshot const order = tasks(nodes, values, successors, effects);
        CHECK((order == list) == (g.items() == 0));
        CHECK(order.graph() == g);
        CHECK((order == p) == (nodes == 0));
        CHECK(tasks(nodes, values, successors, uses, defs) == order);
        CHECK(tasks(g, values, effects) == order);
        CHECK(tasks(g, values, uses, defs) == order);
        CHECK(tasks(g, vertex_numbering(g), values, effects) == order);
    }
}

TEST_CASE("id lists may be references, values or views")
{
    std::array<std::vector<int>, 2> const list{{{1, -1}, {0}}};
    struct view {
        int const* from;
        int const* to;
        int const* begin() const { return from; }
        int const* end() const { return to; }
    };
    auto reading = [](auto uses) {
        return sequence(2, 2, std::move(uses), [](auto) { return std::set<int>{}; });
    };
    snapshot const expected = reading([&](std::size_t s) -> auto& { return list[s]; });
    CHECK(touches(expected, 0) == std::vector<touch>{{1, use}});
    CHECK(reading([&](auto s) { return list[s]; }) == expected);
    CHECK(reading([&](auto s) { return std::span(list[s]); }) == expected);
    CHECK(reading([&](auto s) { return view{list[s].data(), list[s].data() + list[s].size()}; }) == expected);
    CHECK(reading([&](auto s) { return archetype::id_list(list[s]); }) == expected);
    CHECK(reading([&](int s) { return list[static_cast<std::size_t>(s)]; }) == expected);
    CHECK(reading([&, only = std::make_unique<int>(0)](auto s) { return list[s]; }) == expected);
}

TEST_CASE("the minimal program is a program")
{
    snapshot const p(archetype::program(3));
    CHECK(p.nodes() == 3);
    CHECK(p.successors(0).front() == 1);
    CHECK(p.successors(2).empty());
    CHECK(touches(p, 0) == std::vector<touch>{{0, def}});
    CHECK(touches(p, 2) == std::vector<touch>{{1, use}, {2, def}});
}

TEST_CASE("a node has as many steps as it declares, by default one")
{
    snapshot const silent = sequence(3, 0, [](auto, auto&) {});
    CHECK(silent.steps() == 3);
    CHECK(silent.touches(1).empty());

    std::size_t const many = 100000;
    snapshot const block = flow(
        2, 1, [](auto) { return ids{}; },
        [&](auto n, auto& sink) {
            for (std::size_t s = 1; n == 0 && s != many; ++s) {
                sink.def(0);
                sink.next_step();
            }
        });
    CHECK(block.steps() == many + 1);
    CHECK(block.steps_of(0) == step_range{0, many});
    CHECK(block.steps_of(1) == step_range{many, many + 1});
    CHECK(touches(block, many - 2) == std::vector<touch>{{0, def}});
    CHECK(touches(block, many - 1).empty());
}

TEST_CASE("within a step calls may have any order")
{
    auto in_order = [](std::initializer_list<int> order) {
        return sequence(2, 3, [order = std::vector(order)](auto step, auto& sink) {
            for (int call : order) {
                if (call == 0) sink.use(0);
                if (call == 1) sink.def(1);
                if (call == 2) sink.may_overwrite(0, 1);
                if (call == 3 && step == 1) sink.use_early(2);
            }
        });
    };
    auto sorted = [](snapshot const& p, step_id s) {
        std::set<std::pair<value_id, touch::access>> all;
        for (touch t : p.touches(s)) all.insert({t.value, t.kind});
        return all;
    };
    snapshot const p = in_order({0, 1, 2, 3}), q = in_order({3, 2, 1, 0});
    for (step_id s = 0; s != 2; ++s) {
        CHECK(sorted(p, s) == sorted(q, s));
        CHECK(std::equal(p.overwrites(s).begin(), p.overwrites(s).end(), q.overwrites(s).begin(),
                         q.overwrites(s).end()));
        REQUIRE(p.overwrites(s).size() == 1);
        CHECK(p.overwrites(s).front() == overwrite{s, 0, 1});
    }
    CHECK(p != q); // the order is kept all the same
}

TEST_CASE("an in-place pair with an absent value is skipped")
{
    snapshot const p = sequence(1, 1, [](auto, auto& sink) {
        sink.may_overwrite(-1, 0);
        sink.may_overwrite(0, -1);
    });
    CHECK(p.overwrites().empty());
}

TEST_CASE("a phi names the predecessors at the end of which its operands are used")
{
    // entry -> left, right -> join, which joins value 0 from the left and 1 from the right into 2
    std::vector<ids> const next{{1, 2}, {3}, {3}, {}};
    snapshot const p = flow(
        4, 3, [&](auto n) -> auto& { return next[n]; },
        [](auto n, auto& sink) {
            if (n != 3) return;
            sink.use_at_end_of(1, 0);
            sink.def(2);
            sink.use_at_end_of(2, 1);
            sink.use_at_end_of(2, -1);
        });
    REQUIRE(p.edge_uses(3).size() == 2);
    CHECK(p.edge_uses(3)[0] == edge_use{3, 1, 0});
    CHECK(p.edge_uses(3)[1] == edge_use{3, 2, 1});
    CHECK(p.edge_uses(1).empty());
    CHECK(p.steps_of(3) == step_range{3, 4});

    auto names = [&](int pred) {
        return flow(
            4, 3, [&](auto n) -> auto& { return next[n]; },
            [=](auto n, auto& sink) {
                if (n == 3) sink.use_at_end_of(pred, 0);
            });
    };
    doctest::Contains const sentence("sublet: node 3 uses a value at the end of node");
    CHECK_NOTHROW((void)names(1));
    CHECK_THROWS_WITH_AS((void)names(0), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)names(3), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)names(4), sentence, precondition_error);
}

namespace {

/// A graph with strings as vertices.
struct flow_chart {
    std::map<std::string, std::vector<std::string>> next;
    std::vector<std::string> order;

    friend auto vertices(flow_chart const& g) { return std::pair(g.order.begin(), g.order.end()); }
    friend auto out_edges(std::string const& v, flow_chart const& g)
    {
        return std::pair(g.next.at(v).begin(), g.next.at(v).end());
    }
    friend std::string const& target(std::string const& e, flow_chart const&) { return e; }
};

} // namespace

TEST_CASE("in a graph a phi names its predecessors by vertex")
{
    flow_chart const chart{{{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {}}}, {"b", "a", "c"}};
    auto joins = [&](std::string const& pred) {
        return flow(chart, 2, [&](std::string const& v, auto& sink) {
            if (v == "c") sink.use_at_end_of(pred, 1);
        });
    };
    snapshot const p = joins("a");
    REQUIRE(p.edge_uses().size() == 1);
    CHECK(p.edge_uses().front() == edge_use{2, 1, 1});
    CHECK_THROWS_WITH_AS((void)joins("d"), "sublet: use_at_end_of names a vertex that is not in the graph",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)joins("c"),
                         "sublet: node 2 uses a value at the end of node 2, which is not a predecessor",
                         precondition_error);
}

TEST_CASE("ids out of range are rejected, with the reason")
{
    auto nothing = [](auto, auto&) {};
    CHECK_THROWS_WITH_AS((void)sequence(1, 2, [](auto, auto& sink) { sink.use(2); }),
                         "sublet: step 0 touches value 2, but there are only 2 values", precondition_error);
    CHECK_THROWS_WITH_AS((void)sequence(
                             1, 2, [](auto) { return std::vector{std::int64_t{1} << 32}; },
                             [](auto) { return std::vector<value_id>{}; }),
                         "sublet: id 4294967296 does not fit 32 bits", precondition_error);
    CHECK_THROWS_WITH_AS((void)flow(
                             2, 0, [](auto) { return std::vector{2}; }, nothing),
                         "sublet: node 0 leads to node 2, but there are only 2 nodes", precondition_error);
    CHECK_THROWS_WITH_AS((void)sequence(0, std::size_t{1} << 32, nothing),
                         "sublet: more values than 32-bit ids", precondition_error);
    CHECK_THROWS_WITH_AS((void)sequence(std::size_t(-1), 0, nothing), "sublet: more nodes than 32-bit ids",
                         precondition_error);
    CHECK_THROWS_AS((void)sequence(0, no_value, nothing), precondition_error);
    CHECK_NOTHROW((void)sequence(0, no_value - 1, nothing));
}

namespace {

snapshot made_from_locals()
{
    std::vector<ids> const next{{1}, {}};
    std::vector<std::vector<value_id>> const lists{{0}, {1}};
    auto const g = as_graph(
        2, [&](auto n) -> auto& { return next[n]; });
    return flow(g, 2, [&](auto n) { return std::span(lists[n]); }, [&](auto n) -> auto& { return lists[n]; });
}

} // namespace

TEST_CASE("the callables of a factory live until all of them were called, and are not moved")
{
    struct listed {
        std::vector<std::vector<int>> successors{{1}, {}};
        std::vector<int> def{0, 1};
    };
    struct immovable {
        immovable() = default;
        immovable(immovable&&) = delete;
        void operator()(node_id n, effect_sink& k) const { k.def(+n); }
        void operator()(step_id s, effect_sink& k) const { k.def(+s); }
    };
    auto ir = std::make_unique<listed>();
    listed const& of = *ir;
    snapshot const made = flow(
        2, 2, [ir = std::move(ir)](node_id n) -> auto const& { return ir->successors[+n]; },
        [&of](node_id n, effect_sink& k) { k.def(of.def[+n]); });
    auto const to = [](node_id n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; };
    CHECK(made == flow(2, 2, to, immovable()));
    CHECK(tasks(2, 2, to, immovable()).successors(0).size() == 1);
    CHECK(sequence(2, 2, immovable()).steps() == 2);
    auto holder = std::make_unique<listed>();
    listed const& in = *holder;
    snapshot const task = tasks(
        2, 2, [ir = std::move(holder)](node_id n) -> auto const& { return ir->successors[+n]; },
        [](node_id) { return std::span<value_id const>(); },
        [&in](node_id n) { return std::vector<int>{in.def[+n]}; });
    CHECK(task.touches(1).size() == 1);
    auto const table_of_one = std::vector<std::vector<int>>(1);
    CHECK_THROWS_WITH_AS((void)tasks(std::size_t{1} << 33, 3, table_of_one, immovable()),
                         "sublet: the table of successors has 1 lists, for 8589934592 nodes",
                         precondition_error);
}

TEST_CASE("a snapshot outlives the objects that it was made from")
{
    snapshot kept = made_from_locals();
    std::vector<snapshot> const copies(3, kept);
    kept = snapshot{};
    CHECK(touches(copies[2], 1) == std::vector<touch>{{1, use}, {1, def}});
    CHECK(copies[2].successors(0).front() == 1);
    CHECK(copies[0] == copies[2]);
}

namespace {

/// Two nodes that an edge joins, or not.
struct two_nodes {
    bool joined = true;
    std::size_t nodes() const { return 2; }
    std::size_t values() const { return 1; }
    std::vector<node_id> successors(node_id n) const { return std::vector<node_id>(n == 0 && joined, 1); }
    void effects(node_id n, effect_sink& s) const
    {
        if (n == 0) s.def(0);
        else s.use(0);
    }
};
struct two_tasks : two_nodes {
    static constexpr edge_meaning edges() { return edge_meaning::order; }
};
struct two_of_a_list : two_nodes {
    static constexpr edge_meaning edges() { return edge_meaning::none; }
};

} // namespace

TEST_CASE("a program with edges says what they mean, and a copy of it means the same")
{
    CHECK(snapshot{}.edges() == edge_meaning::none);
    CHECK(snapshot(two_tasks{}).edges() == edge_meaning::order);
    CHECK(snapshot(two_tasks{{false}}).edges() == edge_meaning::none);
    CHECK(snapshot(two_nodes{false}).edges() == edge_meaning::none);
    CHECK_THROWS_WITH_AS(
        (void)snapshot(two_nodes{}),
        "sublet: a program with edges has to say what they mean: give it the member edges(), which "
        "returns edge_meaning::order or edge_meaning::control_flow",
        precondition_error);
    CHECK_THROWS_WITH_AS((void)snapshot(two_of_a_list{}),
                         "sublet: edges() says that a program has no edges, but node 0 has one",
                         precondition_error);

    auto nowhere = [](node_id) { return ids{}; };
    auto nothing = [](auto, effect_sink&) {};
    CHECK(sequence(2, 0, nothing).edges() == edge_meaning::none);
    CHECK(tasks(2, 0, nowhere, nothing) == sequence(2, 0, nothing));
    CHECK(flow(2, 0, nowhere, nothing).edges() == edge_meaning::control_flow);

    struct copied {
        snapshot const& of;
        std::size_t nodes() const { return of.nodes(); }
        std::size_t values() const { return of.values(); }
        std::span<node_id const> successors(node_id n) const { return of.successors(n); }
        edge_meaning edges() const { return of.edges(); }
        void effects(node_id n, effect_sink& s) const { of.effects(n, s); }
    };
    for (snapshot const& p :
         {snapshot(two_tasks{}), snapshot(two_nodes{false}), snapshot(two_tasks{}).as_control_flow()})
        CHECK(snapshot(copied{p}) == p);
}

TEST_CASE("as control flow, a list or an order leads from each node to the next")
{
    auto says = [](std::uint32_t n, effect_sink& s) {
        s.def(n);
        s.next_step();
        if (n != 0) s.use(n - 1);
    };
    snapshot const list = sequence(3, 3, says);
    snapshot const order = tasks(3, 3, [](node_id n) { return n == 0 ? ids{2} : ids{}; }, says);
    snapshot const chain = flow(3, 3, [](node_id n) { return n == 2 ? ids{} : ids{n + 1}; }, says);
    CHECK(list.as_control_flow() == chain);
    CHECK(order.as_control_flow() == chain);
    CHECK(chain.as_control_flow() == chain);
    CHECK(snapshot{}.as_control_flow().nodes() == 0);

    // A read at the end of a node is one by its last step, unless that step makes the value.
    auto reads_at_end = [](node_id n, effect_sink& s) {
        s.def(+n);
        if (n == 2) {
            s.use_at_end_of(0, 0);
            s.use_at_end_of(1, 0);
        }
    };
    snapshot const ends = tasks(3, 3, [](node_id n) { return n == 2 ? ids{} : ids{2}; }, reads_at_end);
    snapshot const as_reads = flow(
        3, 3, [](node_id n) { return n == 2 ? ids{} : ids{n + 1}; },
        [](node_id n, effect_sink& s) {
            s.def(+n);
            if (n == 1) s.use(0);
        });
    CHECK(ends.as_control_flow() == as_reads);
}

} // namespace this_test
