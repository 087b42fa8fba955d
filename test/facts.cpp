// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/core/internal/facts.hpp>

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/planning/detail/find_spills.hpp>
#include <sublet/planning/detail/insert_spills.hpp>

#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// Each fact of values, said to each planner, directly and through each transform: it is obeyed, or refused by
// its name. With SUBLET_PRINT=1 the table is printed.

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// What becomes of a value: a plan, and the values that stand for it there.
struct planned_value {
    memory_plan plan;
    std::vector<value_id> values;
};

/// A fact, said of one value, and whether a plan obeys it.
struct said_fact {
    std::string name;
    bool of_view; ///< the value is a view
    void (*say)(plan_options& all, value_id v);
    void (*say_symbolic)(symbolic_options& all, value_id v); ///< null: it has no such member
    void (*list)(listing<int>& list, int v);                 ///< null: view() says it
    bool (*is_obeyed)(memory_plan const& plan, value_id v);
};

constexpr value_id a = 0, b = 1, view = 2; // of every program below
byte_count const sizes[] = {64, 64, 16, 64};

template <class T, class X>
per_value<T> one_value(value_id v, X of_v, per_value<T> others)
{
    return [=](value_id u) { return u == v ? T(of_v) : others[u]; };
}

memory_plan::placed_buffer buffer_of(memory_plan const& plan, value_id v)
{
    return plan.buffer_of[v] == no_buffer ? memory_plan::placed_buffer{} : plan.buffers[plan.buffer_of[v]];
}

std::vector<said_fact> said_facts()
{
    // A new option does not compile here: does it say something of values?
    plan_options const nothing{.bytes = no_size};
    [[maybe_unused]] auto const& [bytes, alignment, role, alias_of, view_offset, pool, pinned, eligible, kind,
                                  pools, pool_choices, carried, optional, apart, order, previous,
                                  previous_value, keep_within, in_place, check, effort] = nothing;
    return {
        {"bytes", false, [](auto& o, value_id v) { o.bytes = one_value(v, 100, o.bytes); },
         [](auto& o, value_id v) { o.bytes = one_value(v, affine_bytes{100, 0}, o.bytes); },
         [](auto& list, int v) { list.facts(v, {.bytes = 100}); },
         [](auto& plan, value_id v) { return buffer_of(plan, v).size == 100; }},
        {"alignment", false, [](auto& o, value_id v) { o.alignment = one_value(v, 256, o.alignment); },
         [](auto& o, value_id v) { o.alignment = one_value(v, 256, o.alignment); },
         [](auto& list, int v) { list.facts(v, {.alignment = 256}); },
         [](auto& plan, value_id v) {
             return buffer_of(plan, v).alignment == 256 && plan.offset_of(v) % 256 == 0;
         }},
        {"role", false, [](auto& o, value_id v) { o.role = one_value(v, value_role::state, o.role); },
         [](auto& o, value_id v) { o.role = one_value(v, value_role::state, o.role); },
         [](auto& list, int v) { list.facts(v, {.role = value_role::state}); },
         [](auto& plan, value_id v) { return plan.offset_of(v) == no_offset; }},
        {"alias_of", true, [](auto& o, value_id v) { o.alias_of = one_value(v, b, o.alias_of); },
         [](auto& o, value_id v) { o.alias_of = one_value(v, b, o.alias_of); }, nullptr,
         [](auto& plan, value_id v) { return plan.buffer_of[v] == plan.buffer_of[b]; }},
        {"view_offset", true, [](auto& o, value_id v) { o.view_offset = one_value(v, 16, o.view_offset); },
         [](auto& o, value_id v) { o.view_offset = one_value(v, affine_bytes{16, 0}, o.view_offset); },
         nullptr, [](auto& plan, value_id v) { return plan.offset_of(v) == plan.offset_of(a) + 16; }},
        {"pool", false, [](auto& o, value_id v) { o.pool = one_value(v, 1, o.pool); },
         [](auto& o, value_id v) { o.pool = one_value(v, 1, o.pool); },
         [](auto& list, int v) { list.facts(v, {.pool = 1}); },
         [](auto& plan, value_id v) { return plan.offset_of(v) != no_offset && plan.pool_of(v) == 1; }},
        {"pinned", false, [](auto& o, value_id v) { o.pinned = one_value(v, 4096, o.pinned); },
         [](auto& o, value_id v) { o.pinned = one_value(v, 4096, o.pinned); },
         [](auto& list, int v) { list.facts(v, {.pinned = 4096}); },
         [](auto& plan, value_id v) { return plan.offset_of(v) == 4096; }},
        {"eligible", false, [](auto& o, value_id v) { o.eligible = one_value(v, false, o.eligible); },
         [](auto& o, value_id v) { o.eligible = one_value(v, false, o.eligible); },
         [](auto& list, int v) { list.facts(v, {.eligible = false}); },
         [](auto& plan, value_id v) { return plan.offset_of(v) == no_offset; }},
        {"kind", false,
         [](auto& o, value_id v) { o.kind = one_value(v, 7, o.kind), o.pools = {{.page = 1024}}; }, nullptr,
         [](auto& list, int v) { list.facts(v, {.kind = 7}), list.pools = {{.page = 1024}}; },
         [](auto& plan, value_id v) { // a and b are live together
             return plan.offset_of(a) / 1024 != plan.offset_of(b) / 1024 && plan.offset_of(v) != no_offset;
         }},
        {"pool_choices", false, [](auto& o, value_id v) { o.pool_choices.push_back({v, 1, 0}); }, nullptr,
         [](auto& list, int v) { list.may_lie_in(v, 1); },
         [](auto& plan, value_id v) { return plan.offset_of(v) != no_offset && plan.pool_of(v) == 1; }}};
}

/// Makes a and b, views one of them, and uses all.
snapshot program()
{
    return sequence(4, 3, [](int step, effect_sink& sink) {
        if (step == 0) sink.def(a);
        if (step == 1) sink.use(a), sink.def(b);
        if (step == 2) sink.view(view);
        if (step == 3) sink.use(view), sink.use(b), sink.use(a);
    });
}

plan_options options()
{
    return {.bytes = [](value_id v) { return sizes[v]; }, .alias_of = {-1, -1, 0}, .in_place = false};
}

listing<int> list_of(said_fact const* fact, value_id v)
{
    listing<int> list;
    auto describe = [&](int u) {
        bool const is_said = fact != nullptr && v == value_id(u);
        if (is_said && fact->list != nullptr) fact->list(list, u);
        if (!is_said || fact->name != "bytes") list.facts(u, {.bytes = sizes[u]});
    };
    list.step("zero").make(+a);
    list.step("one").read(+a).make(+b);
    bool const is_of_b = fact != nullptr && fact->name == "alias_of";
    list.step("two").view(+view, is_of_b ? +b : +a, fact != nullptr && fact->name == "view_offset" ? 16 : 0);
    list.step("three").read(+view).read(+b).read(+a);
    for (int u : {0, 1, 2}) describe(u);
    return list;
}

using planner = std::optional<planned_value> (*)(said_fact const* fact, value_id v, std::string& refused);

std::string sentence_of(counterexample const& why)
{
    std::ostringstream text;
    text << why;
    return text.str();
}

template <class Planned>
std::optional<planned_value> result(Planned const& planned, std::vector<value_id> values,
                                    std::string& refused)
{
    if (planned) return planned_value{planned.plan, std::move(values)};
    refused = sentence_of(planned.error());
    return std::nullopt;
}

plan_options said(said_fact const* fact, value_id v, plan_options all = options())
{
    if (fact != nullptr) fact->say(all, v);
    return all;
}

std::map<std::string, planner> planners()
{
    return {
        {"plan_memory",
         [](said_fact const* fact, value_id v, std::string& refused) {
             return result(plan_memory(program(), said(fact, v)), {v}, refused);
         }},
        {"plan_concurrent",
         [](said_fact const* fact, value_id v, std::string& refused) {
             return result(plan_concurrent(program(), said(fact, v)), {v}, refused);
         }},
        {"plan_with_handoffs",
         [](said_fact const* fact, value_id v, std::string& refused) {
             return result(plan_with_handoffs(program(), said(fact, v)), {v}, refused);
         }},
        {"plan_flow",
         [](said_fact const* fact, value_id v, std::string& refused) {
             return result(plan_flow(program(), said(fact, v)), {v}, refused);
         }},
        {"plan_symbolic",
         [](said_fact const* fact, value_id v, std::string& refused) -> std::optional<planned_value> {
             if (fact != nullptr && fact->say_symbolic == nullptr) { // only a listing can say it
                 (void)plan_symbolic(list_of(fact, v), {.bytes = affine_bytes{64, 0}});
                 return std::nullopt;
             }
             symbolic_options all{.bytes = [](value_id u) { return affine_bytes{sizes[u], 0}; },
                                  .dims = batches(4),
                                  .alias_of = {-1, -1, 0}};
             if (fact != nullptr) fact->say_symbolic(all, v);
             auto const planned = plan_symbolic(program(), all);
             if (planned) return planned_value{planned.plan.at(3), {v}};
             refused = sentence_of(planned.error());
             return std::nullopt;
         }},
        {"listing", [](said_fact const* fact, value_id v,
                       std::string& refused) { return result(plan_memory(list_of(fact, v)), {v}, refused); }},
        {"root of a tree",
         [](said_fact const* fact, value_id v, std::string& refused) {
             program_tree tree(program());
             tree.add_body(0, 1, program_body::run_kind::once,
                           sequence(1, 1, [](int, effect_sink& s) { s.def(0); }));
             auto const planned = plan_nested(
                 tree, std::vector<plan_options>{said(fact, v), {.bytes = 64, .in_place = false}});
             return result(planned, {planned.flat.flat_of[0][v]}, refused);
         }},
        {"body of a tree",
         [](said_fact const* fact, value_id v, std::string& refused) -> std::optional<planned_value> {
             program_tree tree(sequence(1, 1, [](int, effect_sink& s) { s.def(0); }));
             tree.add_body(0, 0, program_body::run_kind::once, program());
             auto const planned = plan_nested(
                 tree, std::vector<plan_options>{{.bytes = 64, .in_place = false}, said(fact, v)});
             auto made = result(planned, {planned.flat.flat_of[1][v]}, refused);
             if (!made) return made;
             // The plan with the ids of the body, so that the rules above can ask for a and b.
             memory_plan of_body = made->plan;
             for (value_id u : {a, b, view})
                 of_body.buffer_of[u] = made->plan.buffer_of[planned.flat.flat_of[1][u]];
             if (!of_body.offset_in_root.empty())
                 for (value_id u : {a, b, view})
                     of_body.offset_in_root[u] = made->plan.offset_in_root[planned.flat.flat_of[1][u]];
             return planned_value{of_body, {v}};
         }},
        {"versions",
         [](said_fact const* fact, value_id v, std::string& refused) {
             auto const twice = sequence(6, 3, [](int step, effect_sink& sink) {
                 if (step == 0) sink.def(a);
                 if (step == 1) sink.use(a), sink.def(b);
                 if (step == 2) sink.view(view);
                 if (step == 3) sink.use(view), sink.use(b), sink.use(a);
                 if (step == 4) sink.def(a);
                 if (step == 5) sink.use(a), sink.use(b);
             });
             plan_options const all = said(fact, v);
             versioned_program const made = versions(twice, all);
             std::vector<value_id> values;
             for (value_id u = 0; u != made.value_of.size(); ++u)
                 if (made.value_of[u] == v) values.push_back(u);
             return result(plan_memory(made.program, with_versions(all, made)), values, refused);
         }},
        {"spills", [](said_fact const* fact, value_id v, std::string& refused) {
             static constexpr value_id large = 3;
             auto const idle = sequence(5, 4, [](int step, effect_sink& sink) {
                 if (step == 0) sink.def(a);
                 if (step == 1) sink.use(a), sink.def(b);
                 if (step == 2) sink.def(large);
                 if (step == 3) sink.view(view);
                 if (step == 4) sink.use(view), sink.use(b), sink.use(a);
             });
             plan_options all{.bytes = [](value_id u) { return u == large ? byte_count{800} : sizes[u]; },
                              .alias_of = {-1, -1, 0, -1},
                              .pools = {{.capacity = 896}, {}},
                              .in_place = false};
             memory_advice const advice = advise_memory(idle, said(fact, v, all));
             std::vector<value_id> values;
             for (value_id u = 0; u != advice.spilled.origin.size(); ++u) {
                 bool is_home = false;
                 for (value_id h : advice.spilled.homes) is_home = is_home || h == u;
                 if (advice.spilled.origin[u] == v && !is_home) values.push_back(u);
             }
             return result(advice, values, refused);
         }}};
}

std::string cell(said_fact const& fact, planner plan)
{
    value_id const v = fact.of_view ? view : a;
    std::string refused;
    auto obeys = [&](planned_value const& made) {
        bool is_obeyed = !made.values.empty();
        for (value_id u : made.values) is_obeyed = is_obeyed && fact.is_obeyed(made.plan, u);
        return is_obeyed;
    };
    auto const before = plan(nullptr, v, refused);
    if (!before) return "NO PLAN WITHOUT IT: " + refused;
    if (obeys(*before)) return "NO DIFFERENCE";
    try {
        auto const made = plan(&fact, v, refused);
        if (!made) return "refused: " + refused;
        return obeys(*made) ? "obeyed" : "IGNORED";
    } catch (precondition_error const& e) {
        return std::string("refused: ") + e.what();
    }
}

} // namespace

TEST_CASE(
    "each planner obeys each fact of values, or refuses it, directly and in what is made from a program")
{
    std::set<std::string> names{"pool_choices"};
    each_value_fact([&](auto const& fact) { names.insert(fact.name); });
    std::map<std::string, std::map<std::string, std::string>> cells;
    for (said_fact const& fact : said_facts()) {
        CHECK(names.erase(fact.name) == 1);
        for (auto const& entry : planners()) {
            std::string const name = entry.first, found = cell(fact, entry.second);
            cells[fact.name][name] = found;
            INFO(fact.name, " in ", name, ": ", found);
            std::string const refused = "refused: ";
            CHECK((found == "obeyed" || (found.starts_with(refused) && found.size() > refused.size())));
        }
    }
    CHECK(names.empty());
    if (std::getenv("SUBLET_PRINT") == nullptr) return;
    for (auto const& [fact, row] : cells)
        for (auto const& [name, found] : row) std::cout << fact << " | " << name << " | " << found << '\n';
}

TEST_CASE("each fact that a step says of itself is said of it in what is made from a program")
{
    each_step_fact([](step_fact const& fact) {
        INFO(fact.name);
        auto const p = sequence(5, 4, [&](int step, effect_sink& sink) {
            (sink.*fact.say)(step % 2 == 0);
            if (step == 0) sink.def(a);
            if (step == 1) sink.def(b);
            if (step == 2) sink.view(view);
            if (step == 3) sink.use(view), sink.use(a), sink.def(a);
            if (step == 4) sink.use(a), sink.use(b), sink.def(3);
        });
        plan_options const all{.bytes = 64, .alias_of = {-1, -1, 0, -1}};
        auto spilled_once = [&](snapshot const& of, plan_options const& options) {
            spill_model const model(of, options, {});
            return insert_spills(of, model, options, whole_run(model)).program;
        };
        auto says_the_same = [&](snapshot const& made) {
            bool same = made.steps() == p.steps();
            for (step_id s = 0; same && s != p.steps(); ++s)
                same = (made.*fact.read)(s) == (p.*fact.read)(s) && (p.*fact.read)(s) == (s % 2 == 0);
            return same;
        };
        CHECK(says_the_same(p));
        CHECK(says_the_same(versions(p, all).program));
        CHECK(says_the_same(p.as_control_flow()));
        CHECK(says_the_same(flatten(program_tree(p), {{-1, -1, 0, -1}}).program));
        CHECK(says_the_same(spilled_once(p, all)));
    });
}

TEST_CASE("a copy that a spill inserts, and the begin and end of a step with bodies, say what the table says")
{
    each_step_fact([](step_fact const& fact) {
        INFO(fact.name);
        auto const body = sequence(1, 1, [](int, effect_sink& sink) { sink.def(a); });
        auto const outer = sequence(2, 1, [&](int step, effect_sink& sink) {
            (sink.*fact.say)(!fact.of_border);
            if (step == 1) sink.def(a);
        });
        program_tree tree(outer);
        tree.add_body(0, 1, program_body::run_kind::once, body);
        flat_tree const flat = flatten(tree);
        int borders = 0;
        for (step_id s = 0; s != flat.program.steps(); ++s)
            if (flat.step_of[s].part == flat_tree::part::beginning ||
                flat.step_of[s].part == flat_tree::part::end) {
                ++borders;
                CHECK((flat.program.*fact.read)(s) == fact.of_border);
            }
        CHECK(borders == 2);

        auto const four = sequence(4, 4, [&](int step, effect_sink& sink) {
            (sink.*fact.say)(!fact.of_copy);
            if (step == 2) sink.use(b);
            if (step == 3) sink.use(a);
            sink.def(step);
        });
        auto const advice =
            advise_memory(four, {.bytes = 64, .pools = {{.capacity = 128}}}, {.remats = false});
        int copies = 0;
        for (step_id s = 0; s != advice.spilled.program.steps(); ++s) {
            auto const kind = advice.spilled.steps[s].kind;
            bool const is_copy =
                kind == spilled_program::kind::copied_out || kind == spilled_program::kind::copied_back;
            copies += is_copy;
            CHECK((advice.spilled.program.*fact.read)(s) == (is_copy ? fact.of_copy : !fact.of_copy));
        }
        CHECK(copies != 0);
    });
}

TEST_CASE("each planner obeys the order of the nodes, or refuses it")
{
    auto const p = sequence(4, 2, [](int step, effect_sink& sink) {
        if (step == 0) sink.def(a);
        if (step == 1 || step == 2) sink.write(a);
        if (step == 3) sink.use(a), sink.def(b);
    });
    std::vector<node_id> const order{0, 2, 1, 3}, crossed{1, 0, 2, 3};
    plan_options all{.bytes = 64, .order = order};
    CHECK(plan_memory(p, all).plan.order == order);
    CHECK(plan_symbolic(p, {.bytes = affine_bytes{64, 0}, .order = order}).plan.order == order);
    CHECK(plan_flow(p.as_control_flow(), all).plan.order == order);
    auto const g = dependences(p, {.listed = order});
    CHECK(g.position_of[2] < g.position_of[1]);
    plan_options swapped = all;
    swapped.order = crossed;
    CHECK(plan_concurrent(p, all));
    CHECK(plan_with_handoffs(p, all));
    CHECK(plan_concurrent(p, swapped).error().what == fault::used_undefined);
    CHECK(plan_with_handoffs(p, swapped).error().what == fault::used_undefined);
    CHECK_THROWS_WITH_AS((void)plan_nested(program_tree(p), std::vector{all}),
                         "sublet: nested programs are planned in listed order, without options.order",
                         precondition_error);
}

} // namespace this_test
