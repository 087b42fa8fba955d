// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/analysis/lifetimes.hpp>

#include "../archetype.hpp"
#include "../operations.hpp"
#include "../random_source.hpp"
#include "../view_sizes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ranges = std::vector<live_range>;

counterexample used_before_def(value_id v, position_id at)
{
    return {fault::used_undefined, counterexample::access{.value = v, .other = v, .position = at}};
}

/// The same of a value that a step makes later in the list.
counterexample listed_before(value_id v, position_id at, step_id maker, bool has_order)
{
    return {fault::used_undefined,
            counterexample::access{
                .value = v, .other = v, .position = at, .maker = maker, .has_order = has_order}};
}

counterexample never_defined(value_id v, position_id at)
{
    return {fault::used_undefined, counterexample::access{.value = v, .position = at}};
}

counterexample write_moved(value_id v, position_id at)
{
    return {fault::write_moved, counterexample::access{.value = v, .position = at}};
}

TEST_CASE("a value is live from its def to the end of its last use")
{
    auto lives = lifetimes(op_list(4, {{}, {0}, {0}, {}}, {{0}, {1}, {2}, {3}}));
    CHECK(lives.of == ranges{{0, 3}, {1, 2}, {2, 3}, {3, 4}});
    CHECK(lives.positions == 4);
    CHECK(lives);
}

TEST_CASE("an empty program has no live ranges, and an untouched value has an empty one")
{
    CHECK(lifetimes(snapshot{}).of.empty());
    CHECK(lifetimes(op_list(1, {{}}, {{}})).of == ranges{{0, 0}});
}

TEST_CASE("an early use ends where the writes of its step begin, but a def always occupies its own step")
{
    auto p = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        else s.use_early(0), s.def(1);
    });
    CHECK(lifetimes(p).of == ranges{{0, 1}, {1, 2}});
    auto late = sequence(3, 1, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        if (step == 1) s.use(0);
        if (step == 2) s.use_early(0);
    });
    CHECK(lifetimes(late).of == ranges{{0, 2}});
}

TEST_CASE("an input is live from the beginning, an output to the end, whatever touches them")
{
    std::vector<value_role> role{value_role::input, value_role::output, value_role::input,
                                 value_role::input | value_role::output};
    auto lives = lifetimes(op_list(4, {{}, {0}, {}, {}}, {{}, {1}, {}, {}}), {.role = role});
    CHECK(lives.of == ranges{{0, 2}, {1, 4}, {0, 1}, {0, 4}});
    CHECK(lives);
}

TEST_CASE("a value with several defs is one value, and an unread last def still writes")
{
    CHECK(lifetimes(op_list(2, {{}, {0}, {}}, {{0}, {1}, {0}})).of == ranges{{0, 3}, {1, 2}});
}

TEST_CASE("an order with a use before its def is reported, not repaired")
{
    auto p = op_list(2, {{}, {0}}, {{0}, {1}});
    auto lives = lifetimes(p, {.order = {1, 0}});
    REQUIRE(!lives);
    CHECK(lives.error() == listed_before(0, 0, 0, true));
    CHECK(lifetimes(p, {.order = {0, 1}}));
}

TEST_CASE("a value without a def has to be given")
{
    auto p = op_list(1, {{}, {0}}, {{}, {}});
    REQUIRE(!lifetimes(p));
    CHECK(lifetimes(p).error() == never_defined(0, 1));
    for (auto given : {value_role::input, value_role::external, value_role::state})
        CHECK(lifetimes(p, {.role = given}));
    auto nowhere = lifetimes(op_list(1, {{}}, {{}}), {.role = value_role::output});
    REQUIRE(!nowhere);
    CHECK(nowhere.error() == never_defined(0, 1));
}

TEST_CASE(
    "an order that moves a read past the next write of its value is rejected, because it would read another "
    "version")
{
    // v is written, read, written again, read again.
    auto p = op_list(1, {{}, {0}, {}, {0}}, {{0}, {}, {0}, {}});
    CHECK(lifetimes(p, {.order = {0, 1, 2, 3}}));
    for (std::vector<node_id> order :
         {std::vector<node_id>{0, 2, 1, 3}, {0, 3, 1, 2}, {2, 1, 0, 3}, {2, 3, 0, 1}}) {
        auto const lives = lifetimes(p, {.order = order});
        REQUIRE(!lives);
        CHECK(lives.error().what == fault::write_moved);
    }
}

TEST_CASE("a value with one def may be anywhere in the program: the order gives its definition")
{
    CHECK(lifetimes(op_list(2, {{1}, {}}, {{0}, {1}}), {.order = {1, 0}}));
}

TEST_CASE("a state is updated after its readers, in any order of these")
{
    auto p = op_list(1, {{0}, {0}, {0}}, {{}, {}, {0}});
    auto in = [&](std::vector<node_id> order) {
        return lifetimes(p, {.role = value_role::state, .order = std::move(order)});
    };
    CHECK(in({1, 0, 2}));
    REQUIRE(!in({0, 2, 1}));
    CHECK(in({0, 2, 1}).error() == write_moved(0, 1));
}

TEST_CASE("a step that reads a value that only it writes reads an undefined value")
{
    auto lives = lifetimes(op_list(1, {{0}}, {{0}}));
    REQUIRE(!lives);
    CHECK(lives.error() == used_before_def(0, 0));
}

TEST_CASE("the first error by position is reported")
{
    auto lives = lifetimes(op_list(3, {{2}, {1}, {}}, {{}, {}, {1, 2}}));
    REQUIRE(!lives);
    CHECK(lives.error().value() == 2);
}

TEST_CASE("of several errors at one position that of the lowest value is reported")
{
    auto lives = lifetimes(op_list(3, {{2, 1}, {0}}, {{}, {0, 1, 2}}));
    REQUIRE(!lives);
    CHECK(lives.error() == listed_before(1, 0, 1, false)); // step 1 reads value 0 before it makes it
    // Found last, after the uses of all steps: a use at the end of the first node.
    auto p = tasks(
        2, 2, [](auto n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
        [](auto n, effect_sink& s) {
            if (n == 0) s.use(1);
            else s.use_at_end_of(0, 0);
        });
    CHECK(lifetimes(p).error() == never_defined(0, 0));
}

TEST_CASE("a use at the end of a predecessor needs a def by then, wherever the order puts the predecessor")
{
    auto p = tasks(
        3, 1, [](auto n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
        [](auto n, effect_sink& s) {
            if (n == 1) s.use_at_end_of(0, 0);
            if (n == 2) s.def(0);
        });
    CHECK(lifetimes(p).error() == used_before_def(0, 0));
    CHECK(lifetimes(p, {.order = {1, 0, 2}}).error() == used_before_def(0, 1));
    auto lives = lifetimes(p, {.order = {2, 1, 0}});
    CHECK(lives);
    CHECK(lives.of == ranges{{0, 3}});
}

TEST_CASE("an order names every node once")
{
    auto p = op_list(1, {{}, {}}, {{0}, {}});
    auto refuses = [&](std::vector<node_id> const& bad, char const* sentence) {
        CHECK_THROWS_WITH_AS((void)lifetimes(p, {.order = bad}), sentence, precondition_error);
    };
    refuses({0}, "sublet: an order does not name node 1");
    refuses({0, 0}, "sublet: an order names node 0 twice");
    refuses({0, 2}, "sublet: an order names node 2, but there are only 2 of them");
    refuses({0, 1, 1}, "sublet: an order names node 1 twice");
}

TEST_CASE("the steps of a node stay together, and a use at the end of a predecessor is at its last step")
{
    auto p = tasks(
        2, 3, [](auto n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
        [](auto n, effect_sink& s) {
            if (n == 0) s.def(0), s.next_step(), s.def(1), s.next_step();
            else s.use_at_end_of(0, 0), s.def(2);
        });
    CHECK(lifetimes(p).of == ranges{{0, 3}, {1, 2}, {3, 4}});
    CHECK(steps_in_order(p, std::vector<node_id>{1, 0}) == std::vector<step_id>{3, 0, 1, 2});
}

TEST_CASE("a result of the last step of a node may be used at the end of the node, as by a phi of a loop")
{
    auto loop = tasks(
        1, 1, [](auto) { return std::vector<int>{0}; },
        [](auto, effect_sink& s) { s.def(0), s.use_at_end_of(0, 0); });
    CHECK(lifetimes(loop));
    CHECK(lifetimes(loop).of == ranges{{0, 1}});
}

TEST_CASE("random programs in random orders: the live ranges agree with an examination of every touch")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::size_t const steps = 1 + pick() % 8, values = 1 + pick() % 6;
        struct seen {
            step_id step;
            value_id value;
            touch::access kind;
        };
        std::vector<seen> touches;
        touch::access const kinds[] = {touch::access::use, touch::access::use_early, touch::access::def,
                                       touch::access::write};
        for (std::size_t i = 0, n = pick() % 14; i != n; ++i)
            touches.push_back({static_cast<step_id>(pick() % steps), static_cast<value_id>(pick() % values),
                               kinds[pick() % (seed % 2 == 0 ? 3 : 4)]});
        auto const drawn = touches; // a step that makes a value and writes it makes it
        std::erase_if(touches, [&](seen t) {
            return t.kind == touch::access::write && std::any_of(drawn.begin(), drawn.end(), [&](seen d) {
                       return d.step == t.step && d.value == t.value && d.kind == touch::access::def;
                   });
        });
        std::vector<value_role> role(values);
        for (auto& r : role) r = static_cast<value_role>(pick() % 4 == 0 ? pick() % 5 : 0);
        std::vector<node_id> order(steps);
        for (std::size_t i = 0; i != steps; ++i) order[i] = static_cast<node_id>(i);
        for (std::size_t i = steps; i > 1; --i) std::swap(order[i - 1], order[pick() % i]);

        auto p = sequence(steps, values, [&](auto step, effect_sink& s) {
            for (auto t : touches) {
                if (t.step != step) continue;
                if (t.kind == touch::access::use) s.use(t.value);
                if (t.kind == touch::access::use_early) s.use_early(t.value);
                if (t.kind == touch::access::def) s.def(t.value);
                if (t.kind == touch::access::write) s.write(t.value);
            }
        });
        auto lives = lifetimes(p, {.role = role, .order = order});

        auto position = [&](step_id s) {
            return static_cast<position_id>(std::find(order.begin(), order.end(), +s) - order.begin());
        };
        position_id first_error = no_position;
        for (value_id v = 0; v != values; ++v) {
            // Live at x: written at x or before, and needed at x or later.
            bool const given = is_given(role[v]);
            auto defined_by = [&](position_id x, bool including) {
                return std::any_of(touches.begin(), touches.end(), [&](seen t) {
                    return t.value == v && t.kind == touch::access::def &&
                           (position(t.step) < x || (including && position(t.step) == x));
                });
            };
            for (seen t : touches)
                if (t.value == v && t.kind != touch::access::def && !given &&
                    !defined_by(position(t.step), false))
                    first_error = std::min(first_error, position(t.step));
            if (has_role(role[v], value_role::output) && !given &&
                !defined_by(static_cast<position_id>(steps), false))
                first_error = std::min(first_error, static_cast<position_id>(steps));
            if (!lives) continue;
            for (position_id x = 0; x != steps; ++x) {
                bool wanted =
                    has_role(role[v], value_role::output) || (x == 0 && has_role(role[v], value_role::input));
                for (seen t : touches)
                    wanted = wanted ||
                             (t.value == v && (position(t.step) > x || (position(t.step) == x &&
                                                                        t.kind != touch::access::use_early)));
                // A last touch that is early ends before the writes of its step: live up to the position
                // before.
                CHECK(contains(lives.of[v], x) == ((given || defined_by(x, true)) && wanted));
            }
        }
        bool is_moved = false, has_moved_there = false; // a write on another side of another touch
        auto is_write = [](seen t) { return t.kind == touch::access::def || t.kind == touch::access::write; };
        auto versions = [&](value_id v) {
            std::set<step_id> writers;
            for (seen t : touches)
                if (t.value == v && is_write(t)) writers.insert(t.step);
            return writers.size() + (is_given(role[v]) ? 1 : 0);
        };
        for (seen w : touches)
            for (seen t : touches)
                if (is_write(w) && t.value == w.value && versions(w.value) > 1 &&
                    (t.step < w.step) != (position(t.step) < position(w.step))) {
                    is_moved = true;
                    has_moved_there =
                        has_moved_there || (!lives && lives.error().position() == position(w.step));
                }
        CHECK(bool(lives) != (first_error != no_position || is_moved));
        if (lives) continue;
        if (first_error != no_position) CHECK(lives.error().position() == first_error);
        else CHECK((lives.error().what == fault::write_moved && has_moved_there));
    }
}

TEST_CASE("an edge to a node that is not later in the order is found, a self loop included")
{
    auto edges = [](std::vector<std::vector<node_id>> const& to) {
        return tasks(
            to.size(), 0, [&](node_id n) -> auto& { return to[n]; },
            [](node_id, effect_sink& s) { s.next_step(); });
    };
    auto leads_back = [](position_id at, step_id from, step_id to) {
        return counterexample{fault::leads_back, counterexample::waiting{.position = at}, {from, to}};
    };
    CHECK(!detail::first_backward_edge(snapshot{}, {}));
    snapshot const forward = edges({{1, 2}, {2}, {}}); // two steps a node
    CHECK(!detail::first_backward_edge(forward, {}));
    CHECK(detail::first_backward_edge(forward, {1, 0, 2}) == leads_back(3, 1, 2));
    CHECK(detail::first_backward_edge(edges({{1}, {1}}), {}) == leads_back(3, 3, 2));
    CHECK(detail::first_backward_edge(edges({{1}, {2}, {0}}), {}) == leads_back(5, 5, 0));
}

// --- aliases -----------------------------------------------------------------------------------------------

using sublet::no_value;
using sublet::value_id;

static auto classes_of(std::vector<value_id> const& alias_of)
{
    return sublet::group_views(alias_of.size(), [&](value_id v) { return alias_of[v]; });
}

TEST_CASE("a view of a view is the same buffer as the root")
{
    auto c = classes_of({no_value, 0, 1, no_value});
    CHECK(c.buffer_of == std::vector<sublet::buffer_id>{0, 0, 0, 1});
    CHECK(c.root == std::vector<value_id>{0, 3});
}

TEST_CASE("without values there are no buffers") { CHECK(classes_of({}).root.empty()); }

TEST_CASE("an alias of -1 means that a value is no view")
{
    auto c = sublet::group_views(2, [](auto v) { return v == 0 ? -1 : 0; });
    CHECK(c.root == std::vector<value_id>{0});
}

TEST_CASE("cycles of views are rejected, also chains that lead into one")
{
    CHECK_THROWS_WITH_AS(classes_of({1, 0}), "sublet: the views of value 0 form a cycle",
                         sublet::precondition_error);
    CHECK_THROWS_WITH_AS(classes_of({1, 2, 1}), "sublet: the views of value 0 form a cycle",
                         sublet::precondition_error);
    CHECK_THROWS_WITH_AS(classes_of({0}), "sublet: value 0 is a view of itself", sublet::precondition_error);
    CHECK_THROWS_WITH_AS(classes_of({2, no_value}),
                         "sublet: view 0 names value 2, but there are only 2 values",
                         sublet::precondition_error);
    CHECK_THROWS_WITH_AS(classes_of({no_value, 5}),
                         "sublet: view 1 names value 5, but there are only 2 values",
                         sublet::precondition_error);
}

TEST_CASE("a chain of a million views is followed, in either direction of the ids")
{
    std::size_t const n = 1'000'000;
    auto up = sublet::group_views(n, [](value_id v) { return v == 0 ? no_value : value_id{v - 1}; });
    auto down =
        sublet::group_views(n, [](value_id v) { return v + 1 == 1'000'000 ? no_value : value_id{v + 1}; });
    CHECK(up.root == std::vector<value_id>{0});
    CHECK(down.root == std::vector<value_id>{999'999});
}

TEST_CASE("two values are one buffer if and only if their chains of views end at one root")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::size_t const n = 1 + pick() % 12;
        std::vector<value_id> name(n), alias_of(n, no_value); // a forest over shuffled names
        for (std::size_t i = 0; i != n; ++i) name[i] = static_cast<value_id>(i);
        for (std::size_t i = n; i > 1; --i) std::swap(name[i - 1], name[pick() % i]);
        for (std::size_t i = 1; i != n; ++i)
            if (pick() % 3 != 0) alias_of[name[i]] = name[pick() % i];
        auto root = [&](value_id v) { return root_of(alias_of, v); };
        auto c = classes_of(alias_of);
        for (value_id v = 0; v != n; ++v) CHECK(c.root[c.buffer_of[v]] == root(v));
        for (std::size_t b = 1; b < c.root.size(); ++b) CHECK(c.root[b - 1] < c.root[b]);
    }
}

// --- buffers -----------------------------------------------------------------------------------------------

static live_ranges alive(std::vector<live_range> found, step_id positions)
{
    return {{}, std::move(found), positions};
}

TEST_CASE(
    "a buffer is live while any of its views is, and has the size of its root and the lcm of alignments")
{
    auto t = gather_buffers(alive({{0, 3}, {2, 5}, {1, 2}}, 5), plan_options{.bytes = {64, 7, 9},
                                                                             .alignment = {4, 6, 1},
                                                                             .alias_of = {-1, 0, -1},
                                                                             .pool = {1, 2, 3}});
    REQUIRE(t.buffers.size() == 2);
    CHECK(t.buffer_of == std::vector<buffer_id>{0, 0, 1});
    CHECK(t.buffers[0].root == 0);
    CHECK(t.buffers[0].life == live_range{0, 5});
    CHECK(t.buffers[0].size == 64);
    CHECK(t.buffers[0].alignment == 12);
    CHECK(t.buffers[0].pool == 1);
    CHECK(t.buffers[1].life == live_range{1, 2});
}

TEST_CASE("a buffer has the roles of all its values, and one external or ineligible value excludes it from "
          "the plan")
{
    std::vector<value_role> role{value_role::intermediate, value_role::output, value_role::intermediate,
                                 value_role::state};
    auto t = gather_buffers(alive({{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 1),
                            plan_options{.bytes = 8, .role = role, .alias_of = {-1, 0, -1, 2}});
    CHECK(t.buffers[0].role == value_role::output);
    CHECK(t.buffers[0].is_planned());
    CHECK(!t.buffers[1].is_planned());
    auto e = gather_buffers(
        alive({{0, 1}, {0, 1}}, 1),
        plan_options{.bytes = 8, .alias_of = {-1, 0}, .eligible = std::vector<bool>{true, false}});
    CHECK(!e.buffers[0].is_planned());
}

TEST_CASE("no storage is planned for 0 bytes, an unknown size or an empty live range")
{
    auto t = gather_buffers(alive({{0, 1}, {0, 1}, {1, 1}, {0, 1}}, 1),
                            plan_options{.bytes = std::vector<byte_count>{0, no_size, 8, 8}});
    CHECK(!t.buffers[0].is_planned());
    CHECK(!t.buffers[1].is_planned());
    CHECK(!t.buffers[2].is_planned());
    CHECK(t.buffers[3].is_planned());
}

TEST_CASE("a pin on a view pins the buffer, and a second pin elsewhere is noted")
{
    auto t = gather_buffers(
        alive({{0, 1}, {0, 1}}, 1),
        plan_options{.bytes = 8, .alias_of = {-1, 0}, .pinned = std::vector<byte_count>{no_offset, 16}});
    CHECK(t.buffers[0].pinned == 16);
    CHECK(t.buffers[0].conflicting_pin == no_offset);
    auto d = gather_buffers(alive({{0, 1}, {0, 1}}, 1),
                            plan_options{.bytes = 8, .alias_of = {-1, 0}, .pinned = {8, 16}});
    CHECK(d.buffers[0].pinned == 8);
    CHECK(d.buffers[0].conflicting_pin == 16);
}

TEST_CASE("two equal pins are no conflict")
{
    auto t = gather_buffers(alive({{0, 1}, {0, 1}}, 1),
                            plan_options{.bytes = 8, .alias_of = {-1, 0}, .pinned = {16, 16}});
    CHECK(t.buffers[0].pinned == 16);
    CHECK(t.buffers[0].conflicting_pin == no_offset);
}

TEST_CASE("a view may be live before its root, and the buffer is live from the first of its values on")
{
    auto t =
        gather_buffers(alive({{2, 5}, {0, 3}, {3, 4}}, 5), plan_options{.bytes = 8, .alias_of = {-1, 0, 0}});
    CHECK(t.buffers[0].life == live_range{0, 5});
}

TEST_CASE("a buffer is unsized only if it would be planned with a known size")
{
    std::vector<value_role> role{value_role::intermediate, value_role::external, value_role::intermediate,
                                 value_role::intermediate};
    auto t = gather_buffers(
        alive({{0, 1}, {0, 1}, {1, 1}, {0, 1}}, 1),
        plan_options{.bytes = no_size, .role = role, .eligible = std::vector<bool>{true, true, true, false}});
    CHECK(t.buffers[0].is_unsized());
    for (std::size_t b : {1u, 2u, 3u}) CHECK(!t.buffers[b].is_unsized());
}

TEST_CASE("invalid properties are rejected")
{
    auto lives = alive({{0, 1}}, 1);
    CHECK_THROWS_AS((void)gather_buffers(lives, plan_options{.bytes = {1, 2}}), precondition_error);
    CHECK_THROWS_AS((void)gather_buffers(lives, plan_options{.bytes = 1, .alignment = 0}),
                    precondition_error);
    CHECK_THROWS_AS((void)gather_buffers(lives, plan_options{.bytes = -1}), precondition_error);
}

// --- pressure ----------------------------------------------------------------------------------------------

static memory_pressure load(std::vector<live_range> const& lives, std::vector<byte_count> const& sizes,
                            step_id positions)
{
    return pressure(
        lives.size(), [&](auto b) { return lives[b]; }, [&](auto b) { return sizes[b]; }, positions);
}

TEST_CASE("live bytes add up at each position, and the peak is at the first maximum")
{
    auto p = load({{0, 2}, {1, 3}, {2, 4}}, {64, 32, 16}, 5);
    CHECK(p.live_bytes == std::vector<byte_count>{64, 96, 48, 16, 0});
    CHECK(p.peak == 96);
    CHECK(p.peak_position == 1);
    CHECK(load({{0, 2}}, {8}, 2).peak_position == 0);
}

TEST_CASE("minimal types for live ranges and sizes are accepted, and sizes of type int")
{
    CHECK(pressure(3, archetype::lives{}, archetype::sizes{}, 3).live_bytes ==
          std::vector<byte_count>{8, 8, 8});
    auto size_of = [](int b) { return 10 * b; };
    CHECK(pressure(3, archetype::lives{}, size_of, 3).live_bytes == std::vector<byte_count>{0, 10, 20});
    CHECK_THROWS_AS((void)pressure(
                        1, archetype::lives{}, [](int) { return -1; }, 1),
                    precondition_error);
}

TEST_CASE("without live buffers the peak is 0")
{
    CHECK(load({}, {}, 0).peak == 0);
    CHECK(load({{1, 1}}, {8}, 3).peak == 0);
}

TEST_CASE("up to 2^64 - 2 live bytes are counted, more are rejected; buffers that are not live together do "
          "not add up")
{
    byte_count const most = no_size - 1;
    CHECK(load({{0, 1}, {1, 2}}, {most, most}, 2).peak == most);
    CHECK(load({{0, 1}, {0, 1}}, {most - 1, 1}, 1).peak == most);
    CHECK_THROWS_AS((void)load({{0, 2}, {1, 2}}, {most, 1}, 2), precondition_error);
}

TEST_CASE("a range that ends after the last position is rejected")
{
    CHECK_THROWS_AS((void)load({{0, 3}}, {1}, 2), precondition_error);
}

TEST_CASE("random live ranges: the pressure agrees with counting at every position")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::vector<live_range> lives(pick() % 12);
        std::vector<byte_count> sizes(lives.size());
        for (auto& l : lives)
            l = {static_cast<position_id>(pick() % 8), static_cast<position_id>(pick() % 11)};
        for (auto& s : sizes) s = pick() % 50;
        auto p = load(lives, sizes, 10);
        byte_count peak = 0;
        for (position_id x = 0; x != 10; ++x) {
            byte_count live = 0;
            for (std::size_t b = 0; b != lives.size(); ++b)
                if (lives[b].first <= x && x < lives[b].last) live += sizes[b];
            CHECK(p.live_bytes[x] == live);
            peak = std::max(peak, live);
        }
        CHECK(p.peak == peak);
        CHECK(p.live_bytes[p.peak_position] == peak);
    }
}

} // namespace this_test
