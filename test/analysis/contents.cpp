// SPDX-License-Identifier: BSL-1.0
// Values without contents, filled by several steps; and views that are read in the step that makes them.
#include <sublet/analysis/internal/contents.hpp>

#include "affine_bytes.hpp"
#include "printed.hpp"
#include "random_listing.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using list = listing<std::string>;

/// What the planners say of a listing: each sentence once, and nothing if all have a plan.
std::string answers(list const& l)
{
    std::set<std::string> all;
    auto add = [&all](auto const& planned) {
        all.insert(planned ? std::string() : printed(planned.error()));
    };
    add(plan_memory(l)), add(plan_concurrent(l)), add(plan_with_handoffs(l)), add(plan_flow(l));
    add(advise_memory(l));
    add(plan_symbolic(l, {.bytes = l.by_handle([&l](std::string const& h) {
                          return affine_bytes{l.options().bytes[l.id(h)], 0};
                      })}));
    std::string text;
    for (std::string const& one : all) text += (text.empty() ? "" : " | ") + one;
    return text;
}

/// The steps for which a step waits, directly.
std::set<step_id> awaited(dependence_graph const& g, step_id s)
{
    std::set<step_id> all;
    for (position_id at = 0; at != g.positions(); ++at)
        if (g.step_at[at] == s)
            for (position_id before : g.before[at]) all.insert(g.step_at[before]);
    return all;
}

/// A buffer of 64 bytes, of which two steps write the halves, if `writes` has them.
list halves(unsigned writes)
{
    list l;
    l.step("alloc").allocate("buf", {.bytes = 64, .alignment = 16});
    if ((writes & 1) != 0) l.step("first").view("low", "buf", 0, {.bytes = 32}).write("low");
    if ((writes & 2) != 0) l.step("second").view("high", "buf", 32, {.bytes = 32}).write("high");
    l.step("sum").read("buf").make("sum", {.bytes = 8, .role = value_role::output});
    return l;
}

} // namespace

TEST_CASE("a value without contents can be read when several steps have written all of it")
{
    CHECK(answers(halves(3)).empty());
    auto const planned = plan_memory(halves(3));
    CHECK(planned.offset_of("high") == planned.offset_of("buf") + 32);
    std::string const says = "value 'buf' is read at step 'sum', but nothing writes bytes ",
                      ends = " of value 'buf' before, which has no contents when it is allocated";
    CHECK(answers(halves(1)) == says + "[32, 64)" + ends);
    CHECK(answers(halves(2)) == says + "[0, 32)" + ends);
    CHECK(answers(halves(0)) == says + "[0, 64)" + ends);
}

TEST_CASE("parts of a value without contents are read as soon as they are written, in every order")
{
    list l;
    l.step("alloc").allocate("buf", {.bytes = 64});
    l.step("write low").view("low", "buf", 0, {.bytes = 32}).write("low");
    l.step("read low").read("low").make("x", {.bytes = 8});
    l.step("write high").view("high", "buf", 32, {.bytes = 32}).write("high");
    l.step("sum").read("buf").read("x").make("sum", {.bytes = 8, .role = value_role::output});
    CHECK(answers(l).empty());
    dependence_graph const g = dependences(l);
    CHECK(g);
    CHECK(awaited(g, 3) == std::set<step_id>{0}); // the halves do not wait for each other

    list before = l;
    before.step("late").view("again", "buf", 0, {.bytes = 8}).read("again").read("buf");
    CHECK(answers(before).empty());
    list output;
    output.step("alloc").allocate("buf", {.bytes = 64, .role = value_role::output});
    output.step("write low").view("low", "buf", 0, {.bytes = 32}).write("low");
    CHECK(answers(output) ==
          "value 'buf' is an output, but nothing writes bytes [32, 64) of value 'buf' before, "
          "which has no contents when it is allocated");
}

TEST_CASE("a step may allocate, write and read views of what it allocates")
{
    list l;
    l.step("all").allocate("buf", {.bytes = 8}).view("v", "buf", 0, {.bytes = 8}).write("v");
    l.step("end").read("buf");
    CHECK(answers(l).empty());
}

TEST_CASE("a step that allocates a value and writes all of it makes it")
{
    list l;
    l.step("all").allocate("buf", {.bytes = 8}).write("buf");
    l.step("end").read("buf");
    CHECK(answers(l).empty());
    CHECK(l.program().touches(0)[0].kind == touch::access::def);
}

TEST_CASE("a value without contents can be spilled before all of it is written")
{
    list l;
    l.facts("in", {.bytes = 64, .role = value_role::input});
    l.step("alloc").allocate("b", {.bytes = 64});
    l.step("low").view("low", "b", 0, {.bytes = 32}).write("low");
    l.step("large").read("in").make("x", {.bytes = 100});
    l.step("small").read("x").make("y", {.bytes = 8});
    l.step("high").view("high", "b", 32, {.bytes = 32}).write("high");
    l.step("end").read("b").read("y").make("o", {.bytes = 4, .role = value_role::output});
    l.pools = {{.capacity = 200}};
    CHECK(bool(advise_memory(l)));
}

TEST_CASE("in a loop a value without contents is filled anew in each round")
{
    // 0 -> 1 -> 2 -> 1, 2 -> 3: block 1 allocates; block 2 writes a half and reads all
    auto const program = [](bool writes_both) {
        return flow(
            std::size_t{4}, std::size_t{3},
            [](node_id n) {
                std::vector<std::vector<node_id>> const next{{1}, {2}, {1, 3}, {}};
                return next[n];
            },
            [writes_both](node_id n, effect_sink& s) {
                if (n == 1) s.allocate(0);
                if (n != 2) return;
                s.view(1), s.write(1);
                if (writes_both) s.view(2), s.write(2);
                s.next_step();
                s.use(0);
            });
    };
    plan_options const options{.bytes = std::vector{64, 32, 32},
                               .alias_of = std::vector{no_value, value_id{0}, value_id{0}},
                               .view_offset = std::vector{0, 0, 32}};
    CHECK(bool(plan_flow(program(true), options)));
    auto const refused = plan_flow(program(false), options);
    REQUIRE(!refused);
    CHECK(refused.error().what == fault::unwritten);
    auto const* read = refused.error().as<counterexample::access>();
    REQUIRE(read != nullptr);
    CHECK(read->begin == 32);
    CHECK(read->end == 64);
    CHECK(bool(plan_flow(program(false), options, {.allows_undefined = true})));
}

TEST_CASE("a read finds bytes that are written on every path, as walks along the paths say")
{
    std::size_t refused = 0, accepted = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const nodes = 1 + pick.below(6);
        struct access {
            bool writes, allocates;
            std::uint32_t half; // of storage 0: 0, 1, or 2 for all
        };
        std::vector<std::vector<access>> of(nodes);
        std::vector<std::vector<node_id>> next(nodes);
        of[0].push_back({false, true, 2});
        for (node_id n = 0; n != nodes; ++n) {
            for (std::uint32_t i = pick.below(3); i != 0; --i)
                of[n].push_back({pick.below(3) != 0, pick.below(12) == 0, pick.below(3)});
            for (std::uint32_t i = n + 1 == nodes ? 0 : 1 + pick.below(2); i != 0; --i)
                next[n].push_back(i == 1 ? n + 1 : pick.below(nodes));
        }
        // Each access is a step; values: 0 all, and a view for each access to a half, which is made there.
        std::vector<value_id> alias{no_value};
        std::vector<byte_count> offset{0}, bytes{16};
        std::vector<std::vector<value_id>> view(nodes);
        for (node_id n = 0; n != nodes; ++n)
            for (access const& a : of[n]) {
                view[n].push_back(value_id::of(alias.size()));
                alias.push_back(0), offset.push_back(a.half == 1 ? 8 : 0),
                    bytes.push_back(a.half == 2 ? 16 : 8);
            }
        snapshot const p = flow(
            std::size_t{nodes}, alias.size(), [&](node_id n) { return next[n]; },
            [&](node_id n, effect_sink& s) {
                for (std::size_t i = 0; i != of[n].size(); ++i) {
                    if (i != 0) s.next_step();
                    access const& a = of[n][i];
                    if (a.allocates) s.allocate(0);
                    else if (a.writes) s.view(view[n][i]), s.write(view[n][i]);
                    else s.view(view[n][i]), s.use(view[n][i]);
                }
            });
        auto const found =
            detail::find_unwritten(p, {.bytes = bytes, .alias_of = alias, .view_offset = offset});
        // All states {node, written halves} that some path reaches.
        bool is_wrong = false;
        std::set<std::pair<node_id, unsigned>> seen{{0, 0}};
        std::vector<std::pair<node_id, unsigned>> open{{0, 0}};
        while (!open.empty()) {
            auto [n, written] = open.back();
            open.pop_back();
            for (access const& a : of[n]) {
                unsigned const bits = a.half == 2 ? 3 : 1U << a.half;
                if (a.allocates) written = 0;
                else if (a.writes) written |= bits;
                else is_wrong = is_wrong || (written & bits) != bits;
            }
            for (node_id to : next[n])
                if (seen.insert({to, written}).second) open.push_back({to, written});
        }
        REQUIRE(found.has_value() == is_wrong);
        (is_wrong ? refused : accepted) += 1;
    }
    CHECK(refused > rounds(400));
    CHECK(accepted > rounds(400));
}

TEST_CASE("a listing in which a write is missing is refused, if what it would write is read")
{
    std::size_t refused = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_listing words = draw_listing(pick, {.orders = false, .no_steps = false, .pieces = false});
        using verb = random_listing::verb;
        std::set<random_listing::number> allocated;
        for (auto& step : words.steps)
            for (std::size_t i = step.size(); i-- != 0;) {
                if (step[i].what == verb::allocate) allocated.insert(step[i].value);
                if (step[i].what != verb::write || pick.below(4) != 0) continue;
                if (words.values[step[i].value].of != random_listing::none) // a part
                    step.erase(step.begin() + static_cast<std::ptrdiff_t>(i));
            }
        bytes_there there(words); // byte by byte
        bool is_missing = false;
        for (auto const& step : words.steps) {
            for (auto w : step)
                if ((w.what == verb::read || w.what == verb::read_early) &&
                    allocated.count(words.root(w.value)) != 0)
                    is_missing = is_missing || !there.all_written(words, w.value);
            for (auto w : step)
                if (w.what == verb::make || w.what == verb::write) there.write(words, w.value);
        }
        painted_list const l = list_of(words);
        for (auto v : allocated)
            for (random_listing::number u = 0; u != words.values.size(); ++u)
                if (words.root(u) == v && l.id(u) != no_value && words.values[u].role == value_role::output)
                    is_missing = is_missing || !there.all_written(words, u);
        auto const found = detail::find_unwritten(l.program(), l.options());
        REQUIRE(found.has_value() == is_missing);
        refused += is_missing;
    }
    CHECK(refused > rounds(30));
}

TEST_CASE("a step reads the view that it makes, as its bytes are then")
{
    list l;
    l.facts("cache", {.bytes = 64, .role = value_role::state});
    l.step("k").make("k", {.bytes = 8});
    l.step("append").read("k").view("row", "cache", 8, {.bytes = 8}).write("row");
    l.step("attend").view("keys", "cache", 0, {.bytes = 16}).read("keys").make("out", {.bytes = 8});
    l.step("other").view("next row", "cache", 16, {.bytes = 8}).write("next row");
    l.step("over").view("first row", "cache", 0, {.bytes = 8}).write("first row").read("out");
    CHECK(answers(l).empty());
    dependence_graph const g = dependences(l);
    REQUIRE(g);
    CHECK(awaited(g, 2) == std::set<step_id>{1}); // for the row that it reads
    CHECK(awaited(g, 3).empty());                 // another row
    CHECK(awaited(g, 4) == std::set<step_id>{2});
    l.order = {0, 2, 1, 3, 4};
    auto const refused = plan_memory(l);
    REQUIRE(!refused);
    CHECK(printed(refused.error()).find("value 'row' is written at position 2") != std::string::npos);
}

TEST_CASE("a view that is read and written in one step is both, and its root has to be there")
{
    auto listed = [](bool makes) {
        list l;
        if (makes) l.step("make").make("x", {.bytes = 16});
        l.step("update").view("v", "x", 8, {.bytes = 8}).read("v").write("v");
        l.step("end").read("v");
        return l;
    };
    CHECK(answers(listed(true)).empty());
    CHECK(answers(listed(false)).find("value 'x' is used") != std::string::npos);
    snapshot const p = listed(true).program();
    auto const touches = p.touches(1);
    REQUIRE(touches.size() == 2);
    CHECK(touches[0].kind == touch::access::write_view);
    CHECK(touches[1].kind == touch::access::read_view);
    std::vector<std::vector<value_id>> results;
    list const updated = listed(true);
    cpu_executor run{updated, no_plan{}, [&results](cpu_call const& call) {
                         results.emplace_back(call.defs().begin(), call.defs().end());
                     }};
    run.run();
    CHECK(results == std::vector<std::vector<value_id>>{{0}, {1}, {}}); // once, as a result
}

} // namespace this_test
