// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan_flow.hpp>

#include "flow_nodes.hpp"
#include "flow_text.hpp"
#include "flow_walks.hpp"
#include "operations.hpp"
#include "random_source.hpp"
#include "view_sizes.hpp"

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/svg.hpp>

#include <doctest/doctest.h>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using flow_nodes::ids, flow_nodes::node, flow_nodes::program_of;

TEST_CASE("values of alternative branches take the same bytes")
{
    //      0: def a, use     then: b = a, use b     else: c = a, use c    b and c are never live together
    snapshot const p = program_of(
        3,
        {{{1, 2}, {}, {0}}, {{3}, {0}, {1}}, {{4}, {0}, {2}}, {{5}, {1}, {}}, {{5}, {2}, {}}, {{}, {}, {}}});
    planned_flow const planned = plan_flow(p, {.bytes = 64});
    CHECK(planned);
    CHECK(planned.plan.valid_for == program_reading::control_flow);
    CHECK(planned.report().reading == program_reading::control_flow);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().arena_bytes == 128);
    CHECK(planned.report().lower_bound_bytes == 128);
    CHECK(planned.plan.offset_of(1) == planned.plan.offset_of(2));
    std::ostringstream said;
    said << planned.report();
    CHECK(said.str() == "128 B instead of 192 B; no plan for every path goes below 128 B");
}

TEST_CASE("a buffer lies in the hole of a live range that another branch leaves")
{
    // 0: def a -> 1 or 2;  1: def b -> 3: use b;  2: use a      a has a hole over 1 and 3
    snapshot const p = program_of(2, {{{1, 2}, {}, {0}}, {{3}, {}, {1}}, {{}, {0}, {}}, {{}, {1}, {}}});
    planned_flow const planned = plan_flow(p, {.bytes = 64, .order = {0, 1, 3, 2}});
    CHECK(planned);
    CHECK(planned.report().arena_bytes == 64);
    REQUIRE(planned.lives[0].size() == 2);
    CHECK(planned.lives[0][0] == live_range{0, 1});
    CHECK(planned.lives[0][1] == live_range{3, 4});
    CHECK(planned.plan.buffers[0].life == live_range{0, 4}); // the hull
    CHECK(planned.lives[1][0] == live_range{1, 3});
}

// REGRESSIONS, user thread 16: a loop-invariant buffer was reused inside of the loop.
TEST_CASE("a buffer that a loop only reads keeps its bytes throughout the loop")
{
    // 0: def a, the loop: 1: use a, def b; 2: use b -> 1 or 3. b may not take the bytes of a, which is read
    // again in the next iteration.
    snapshot const p = program_of(2, {{{1}, {}, {0}}, {{2}, {0}, {1}}, {{1, 3}, {1}, {}}, {{}, {}, {}}});
    planned_flow const planned = plan_flow(p, {.bytes = 64});
    CHECK(planned);
    CHECK(planned.report().arena_bytes == 128);
    CHECK(planned.plan.offset_of(0) != planned.plan.offset_of(1));

    memory_plan broken = planned.plan;
    for (memory_plan::placed_buffer& b : broken.buffers) b.offset = 0;
    CHECK(check_flow_plan(p, broken, {.bytes = 64}).error().what == fault::clash);
    // Without the loop it may: a is dead after its only use.
    CHECK(plan_flow(program_of(2, {{{1}, {}, {0}}, {{2}, {0}, {}}, {{}, {}, {1}}}), {.bytes = 64})
              .report()
              .arena_bytes == 64);
}

TEST_CASE("the move at the end of a loop copies nothing if next and current value get one buffer")
{
    // x = ..; while (..) { y = f(x); x = y; } use x
    snapshot const p = program_of(
        2, {{{1}, {}, {0}}, {{2, 4}, {}, {}}, {{3}, {0}, {1}}, {{1}, {1}, {0}, {{0, 1, 0}}}, {{}, {0}, {}}});
    planned_flow const planned = plan_flow(p, {.bytes = 64});
    CHECK(planned);
    CHECK(planned.report().arena_bytes == 128); // f reads x and writes y
    CHECK(planned.in_place.empty());

    // y = f(x) may be written over x, too.
    snapshot const in_place = program_of(2, {{{1}, {}, {0}},
                                             {{2, 4}, {}, {}},
                                             {{3}, {0}, {1}, {{0, 0, 1}}},
                                             {{1}, {1}, {0}, {{0, 1, 0}}},
                                             {{}, {0}, {}}});
    planned_flow const joined = plan_flow(in_place, {.bytes = 64});
    CHECK(joined);
    CHECK(joined.report().arena_bytes == 64);
    CHECK(joined.in_place.size() == 2);
    CHECK(joined.plan.buffers.size() == 1);
    CHECK(plan_flow(in_place, {.bytes = 64, .in_place = false}).report().arena_bytes == 128);
}

TEST_CASE("a value that a path reads before it is written is refused, or allowed as undefined")
{
    snapshot const p = program_of(1, {{{1, 2}, {}, {}}, {{2}, {}, {0}}, {{}, {0}, {}}});
    planned_flow const refused = plan_flow(p, {.bytes = 8});
    REQUIRE(!refused);
    CHECK(refused.error().what == fault::used_undefined);
    CHECK(refused.error().value() == 0);
    CHECK(refused.error().other() == 0);
    CHECK(refused.plan.order[refused.error().position()] == 2);
    CHECK(plan_flow(p, {.bytes = 8}, {.allows_undefined = true}));
    CHECK(plan_flow(p, {.bytes = 8, .role = value_role::input}));

    snapshot const never = program_of(1, {{{}, {0}, {}}});
    planned_flow const nothing = plan_flow(never, {.bytes = 8}, {.allows_undefined = true});
    REQUIRE(!nothing);
    CHECK(nothing.error().other() == no_value);

    snapshot const half = program_of(1, {{{1, 2}, {}, {}}, {{}, {}, {0}}, {{}, {}, {}}});
    planned_flow const out = plan_flow(half, {.bytes = 8, .role = value_role::output});
    REQUIRE(!out);
    CHECK(out.error().what == fault::used_undefined);
    CHECK(out.error().position() == 3);
}

TEST_CASE("the empty program, one node and an endless loop have plans")
{
    CHECK(plan_flow(snapshot(), {.bytes = 8}));
    snapshot const touched =
        flow(0, 1, [](node_id) { return std::vector<node_id>{}; }, [](node_id, effect_sink&) {});
    CHECK(plan_flow(touched, {.bytes = 8, .role = value_role::input}).report().arena_bytes == 8);
    CHECK(plan_flow(touched, {.bytes = 8}).report().arena_bytes == 0);

    snapshot const one = program_of(1, {{{}, {}, {0}}});
    CHECK(plan_flow(one, {.bytes = 8}).report().arena_bytes == 8);

    // out = ..; for (;;) { t = ..; use t; }      the loop has no exit, but it can be stopped
    snapshot const infinite_loop = program_of(2, {{{1}, {}, {0}}, {{2}, {}, {1}}, {{1}, {1}, {}}});
    planned_flow const kept = plan_flow(
        infinite_loop, {.bytes = 8, .role = std::vector{value_role::output, value_role::intermediate}});
    CHECK(kept);
    CHECK(kept.report().arena_bytes == 16);
    CHECK(plan_flow(infinite_loop, {.bytes = 8}).report().arena_bytes == 8);
}

TEST_CASE("tables and pictures get a row for each range, and no row covers a hole")
{
    snapshot const p = program_of(2, {{{1, 2}, {}, {0}}, {{3}, {}, {1}}, {{}, {0}, {}}, {{}, {1}, {}}});
    planned_flow const planned = plan_flow(p, {.bytes = 64, .order = {0, 1, 3, 2}});
    std::ostringstream table, picture;
    write_csv(table, planned);
    CHECK(table.str() == "id,lower,upper,size,offset\n0,0,1,64,0\n0,3,4,64,0\n1,1,3,64,0\n");
    CHECK(planned.by_range().buffer_of == std::vector<buffer_id>{0, 2});
    write_svg(picture, planned);
    CHECK(picture.str().find("positions [3, 4), 64 bytes at") != std::string::npos);
    CHECK(picture.str().find("positions [0, 4)") == std::string::npos);
}

TEST_CASE("straight-line code in SSA form takes the same bytes as in the sequential reading")
{
    std::size_t same = 0, at_height = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        struct operation {
            ids uses, early, defs;
            std::vector<overwrite> pairs;
        };
        std::vector<operation> ops(1 + pick.below(20));
        std::vector<byte_count> bytes;
        std::vector<value_role> role;
        ids alias_of;
        auto value = [&](value_role its, value_id alias) {
            bytes.push_back(pick.below(10) == 0 ? 0 : 4 * (1 + pick.below(3)));
            role.push_back(its);
            alias_of.push_back(alias);
            return value_id::of(bytes.size() - 1);
        };
        for (std::uint32_t k = 1 + pick.below(3); k != 0; --k)
            value(pick.below(2) == 0 ? value_role::input : value_role::external, no_value);
        for (operation& op : ops) {
            auto const there = static_cast<std::uint32_t>(bytes.size());
            for (std::uint32_t k = pick.below(4); k != 0; --k)
                (pick.below(5) == 0 ? op.early : op.uses).push_back(pick.below(there));
            for (std::uint32_t k = pick.below(3); k != 0; --k) {
                bool const is_view = !op.uses.empty() && pick.below(4) == 0;
                value_id const out = value(pick.below(6) == 0 ? value_role::output : value_role::intermediate,
                                           is_view ? op.uses[0] : no_value);
                op.defs.push_back(out);
                for (value_id in : op.uses)
                    if (pick.below(2) == 0) op.pairs.push_back({0, in, out});
            }
        }
        snapshot const p = flow(
            1, bytes.size(), [](node_id) { return std::vector<node_id>{}; },
            [&](node_id, effect_sink& s) {
                for (std::size_t i = 0; i != ops.size(); ++i) {
                    if (i != 0) s.next_step();
                    for (value_id v : ops[i].uses) s.use(v);
                    for (value_id v : ops[i].early) s.use_early(v);
                    add_results(s, ops[i].defs, alias_of);
                    for (overwrite o : ops[i].pairs) s.may_overwrite(o.in, o.out);
                }
            });
        plan_options options{
            .bytes = within_roots(bytes, alias_of), .role = role, .alias_of = alias_of, .in_place = false};
        planned_memory const sequential = plan_memory(p, options);
        planned_flow const flowing = plan_flow(p, options);
        REQUIRE(sequential);
        REQUIRE(flowing);
        REQUIRE(flowing.plan.buffers == sequential.plan.buffers);
        REQUIRE(flowing.plan.arena_bytes == sequential.plan.arena_bytes);
        byte_count const bound = sequential.report().lower_bound_bytes;
        REQUIRE(flowing.report().lower_bound_bytes <= bound); // lower if the first step holds no input
        at_height += flowing.report().lower_bound_bytes == bound;
        same += flowing.plan.buffers.size();
        options.in_place = true;
        planned_flow const in_place = plan_flow(p, options);
        REQUIRE(in_place);
        REQUIRE(in_place.report().lower_bound_bytes <= flowing.report().lower_bound_bytes);
    }
    MESSAGE(same, " buffers at the same offsets");
    CHECK(at_height > rounds(700));
}

TEST_CASE("on random programs the plan is valid and every walk through it finds its bytes")
{
    std::size_t sound = 0, undefined = 0, pinned = 0, joined = 0, steps = 0, holes = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        flow_program const f = draw_flow_program(pick);
        flow_options const flow{.allows_undefined = pick.below(2) == 0};
        planned_flow const planned = plan_flow(f.program, f.options, flow);
        if (!planned) {
            bool const is_undefined = planned.error().what == fault::used_undefined;
            auto const pins = planned.error().what;
            bool const is_pin = pins == fault::off_pin || pins == fault::misaligned || pins == fault::clash;
            REQUIRE((is_undefined || is_pin));
            if (is_pin) { // then pins are the cause
                plan_options without = f.options;
                without.pinned = no_offset;
                REQUIRE(plan_flow(f.program, without, flow));
            }
            ++(is_undefined ? undefined : pinned);
            continue;
        }
        ++sound;
        joined += planned.in_place.size();
        holes += planned.lives.ranges() - planned.plan.buffers.size();
        REQUIRE(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
        for (int walks = 0; walks != 4; ++walks) {
            flow_walk walk(f, planned);
            REQUIRE(walk.run(pick, 40));
            steps += walk.steps();
        }
    }
    if (fuzzed.is_on) return;
    MESSAGE(sound, " sound, ", undefined, " undefined, ", pinned, " pinned; ", joined, " pairs joined, ",
            holes, " holes, ", steps, " steps walked");
    CHECK(sound > 100);
    CHECK(joined > 10);
    CHECK(holes > 100);
}

TEST_CASE(
    "a wait is an order and no way that control may take: it changes no plan in which nodes run as listed")
{
    listing<char> l;
    auto first = l.step("first").make('a', {.bytes = 64});
    l.step("second").read('a').make('b', {.bytes = 64});
    l.step("third").read('b').wait_for(first);
    auto const planned = plan_flow(l);
    REQUIRE(planned);
    CHECK(planned.bytes() == 128);
    CHECK(planned.bytes() == plan_memory(l).bytes());

    auto twice = [](bool waits) { // t is made anew: nothing needs its bytes in between
        listing<char> list;
        list.step("t").make('t', {.bytes = 64});
        list.step("use").read('t');
        list.step("u").make('u', {.bytes = 64});
        auto v = list.step("v").read('u');
        list.step("t again").make('t');
        auto last = list.step("last").read('t');
        if (waits) last.wait_for(v);
        return plan_flow(list);
    };
    REQUIRE(twice(true));
    CHECK(twice(true).bytes() == 64);
    CHECK(twice(true).report().lower_bound_bytes == 64);
    CHECK(twice(true).plan == twice(false).plan);
}

TEST_CASE(
    "a list runs as it is listed where control flow is planned, and an order that says otherwise is refused")
{
    auto uses = [](std::uint32_t s) { return s == 0 ? ids{} : ids{s - 1}; };
    auto defs = [](std::uint32_t s) { return ids{s}; };
    snapshot const list = sequence(4, 4, uses, defs);
    planned_flow const planned = plan_flow(list, {.bytes = 8});
    REQUIRE(planned);
    CHECK(planned.bytes() == 16);
    CHECK(check_flow_plan(list, planned.plan, {.bytes = 8}));
    CHECK(plan_flow(list.as_control_flow(), {.bytes = 8}).plan == planned.plan);

    using nodes = std::vector<node_id>;
    snapshot const ordered =
        tasks(4, 4, [](node_id n) { return n == 0 ? nodes{2, 3} : nodes{}; }, uses, defs);
    CHECK(plan_flow(ordered, {.bytes = 8}).plan == planned.plan);
    snapshot const back = tasks(4, 4, [](node_id n) { return n == 3 ? nodes{1} : nodes{}; }, uses, defs);
    CHECK_THROWS_WITH_AS((void)plan_flow(back, {.bytes = 8}),
                         "sublet: nodes run as they are listed here, but node 1 has to run after node 3",
                         precondition_error);
    CHECK_THROWS_WITH_AS(
        (void)plan_flow(list, {.bytes = 8, .order = {1, 0, 2, 3}}),
        "sublet: nodes run as they are listed here, but options.order has node 1 at position 0",
        precondition_error);
    CHECK_THROWS_AS((void)check_flow_plan(list, planned.plan, {.bytes = 8, .order = {0, 2, 1, 3}}),
                    precondition_error);
}

TEST_CASE("of two values that different paths write, each may lie where the other does")
{
    // 0 -> 1: def a or 2: def b -> 3: use a, b
    snapshot const p = program_of(2, {{{1, 2}, {}, {}}, {{3}, {}, {0}}, {{3}, {}, {1}}, {{}, {0, 1}, {}}});
    for (byte_count pin : {no_offset, byte_count{0}}) {
        planned_flow const planned = plan_flow(p, {.bytes = 64, .pinned = pin}, {.allows_undefined = true});
        REQUIRE(planned);
        CHECK(planned.bytes() == 64);
        CHECK(planned.report().lower_bound_bytes == 64);
        CHECK(planned.lives.ranges() == 3); // one of them is not live between its write and the read
    }
    // Not if each is written where the other is kept.
    snapshot const both =
        program_of(2, {{{1, 2}, {}, {}}, {{2, 3}, {}, {0}}, {{3}, {}, {1}}, {{}, {0, 1}, {}}});
    CHECK(plan_flow(both, {.bytes = 64}, {.allows_undefined = true}).bytes() == 128);
}

TEST_CASE("a value that only unreachable steps use needs no bytes, whether they change it or not")
{
    for (bool changes : {false, true}) {
        snapshot const p = flow(
            2, 2, [](node_id) { return std::vector<node_id>{}; },
            [&](node_id n, effect_sink& s) {
                if (n == 0) s.def(0);
                else if (changes) s.write(1);
                else s.use(1);
            });
        planned_flow const planned = plan_flow(p, {.bytes = 8});
        REQUIRE(planned);
        CHECK(planned.plan.offset_of(1) == no_offset);
        CHECK(planned.bytes() == 8);
    }
}

namespace {

/// Whether check_flow_plan() accepts a plan in which the roots of one pool end at `height` or below.
class flow_enumerator {
public:
    flow_enumerator(flow_program const& f, flow_options const& flow, memory_plan plan)
        : f_(f), flow_(flow), plan_(std::move(plan)), pinned_(f.options.pinned.tabulate(f.program.values()))
    {
    }

    bool has_plan(pool_id pool, byte_count height)
    {
        own_.clear();
        byte_count unit = 0;
        for (buffer_id b = 0; b != plan_.buffers.size(); ++b) {
            memory_plan::placed_buffer const& its = plan_.buffers[b];
            if (its.pool != pool) continue;
            own_.push_back(b);
            unit = std::gcd(unit, its.size);
            if (its.alignment != 1) unit = std::gcd(unit, its.alignment);
            for (value_id v = 0; v != pinned_.size(); ++v)
                if (plan_.buffer_of[v] == b && pinned_[v] != no_offset) unit = std::gcd(unit, pinned_[v]);
        }
        byte_count combinations = 1;
        for (buffer_id b : own_) {
            if (plan_.buffers[b].size > height) return false;
            combinations *= (height - plan_.buffers[b].size) / unit + 1;
        }
        is_too_large = combinations > 4000;
        if (is_too_large) return false;
        plan_.arena_bytes[pool] = height;
        for (byte_count code = 0; code != combinations; ++code) {
            byte_count rest = code;
            for (buffer_id b : own_) {
                byte_count const offsets = (height - plan_.buffers[b].size) / unit + 1;
                plan_.buffers[b].offset = rest % offsets * unit;
                rest /= offsets;
            }
            ++tried;
            if (check_flow_plan(f_.program, plan_, f_.options, flow_)) return true;
        }
        return false;
    }

    bool is_too_large = false;
    std::size_t tried = 0;

private:
    flow_program const& f_;
    flow_options const flow_;
    memory_plan plan_; // with a buffer of its own for each root
    std::vector<byte_count> const pinned_;
    std::vector<buffer_id> own_;
};

} // namespace

TEST_CASE("no plan of a small program that the checker accepts is below the bound")
{
    std::size_t tried = 0, reached = 0, pools = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        flow_program const f = draw_flow_program(pick, {.nodes = 5, .values = 5});
        flow_options const flow{.allows_undefined = pick.below(4) != 0};
        planned_flow const planned = plan_flow(f.program, f.options, flow);
        plan_options apart = f.options;
        apart.in_place = false;
        planned_flow const alone = plan_flow(f.program, apart, flow);
        bool const is_sequence = f.program.nodes() != 1 && f.program.graph().items() == 0;
        if (!planned || !alone || is_sequence) continue;
        flow_enumerator all(f, flow, alone.plan);
        for (pool_id pool = 0; pool != planned.report().pools.size(); ++pool) {
            byte_count const bound = planned.report().pools[pool].lower_bound_bytes;
            CHECK(bound <= planned.bytes(pool));
            if (bound == 0) continue;
            REQUIRE(!all.has_plan(pool, bound - 1));
            if (all.is_too_large) continue;
            ++pools;
            reached += planned.bytes(pool) == bound;
        }
        tried += all.tried;
    }
    if (fuzzed.is_on) return;
    MESSAGE(pools, " pools, ", reached, " as low as the bound, ", tried, " plans refused");
    CHECK(reached > pools / 2);
    CHECK(tried > rounds(2000));
}

TEST_CASE(
    "storage that no step makes keeps the bytes that another view of it changes, or that an output names")
{
    for (bool is_output : {false, true})
        for (byte_count offset : {byte_count{0}, byte_count{4}}) {
            CAPTURE(is_output);
            CAPTURE(offset);
            value_role const role = is_output ? value_role::output : value_role::intermediate;
            listing<char> list;
            list.step().view('a', 's', 0, {.bytes = 4}).write('a');
            list.step().make('t', {.bytes = 8});
            list.step().read('t');
            list.step().view('b', 's', offset, {.bytes = 4, .role = role}).write('b');
            list.step().read('b');
            list.facts('s', {.bytes = 8});
            auto const planned = plan_flow(list);
            REQUIRE(planned);
            bool const is_needed = is_output || offset == 0;
            CHECK(planned.bytes() == (is_needed ? 16 : 8));

            memory_plan over = planned.plan; // t over s
            for (memory_plan::placed_buffer& b : over.buffers) b.offset = 0;
            CHECK(!check_flow_plan(list, over) == is_needed);
        }
}

} // namespace this_test
