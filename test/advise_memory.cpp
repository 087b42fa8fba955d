// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>

#include "network.hpp"
#include "random_program.hpp"
#include "random_source.hpp"
#include "spilled_run.hpp"
#include "tiny_program.hpp"
#include "view_sizes.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/find_spills.hpp>
#include <sublet/planning/detail/insert_spills.hpp>
#include <sublet/planning/detail/spill_model.hpp>
#include <sublet/planning/detail/spill_run.hpp>
#include <sublet/sharing/in_place.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using int_ids = std::vector<int>;
using spilled_runs::run, spilled_runs::trace;

namespace {

/// A program of one-step nodes, each of which may run again.
struct recomputable {
    snapshot of;
    std::size_t nodes() const { return of.nodes(); }
    std::size_t values() const { return of.values(); }
    auto successors(node_id n) const { return of.successors(n); }
    void effects(node_id n, effect_sink& sink) const
    {
        of.effects(n, sink);
        sink.may_recompute();
    }
};

spill_model model_of(std::vector<int_ids> const& uses, std::vector<int_ids> const& defs, int values,
                     plan_options const& options = {.bytes = 8}, advice_options const& how = {})
{
    auto const count = static_cast<std::size_t>(values);
    return {snapshot(recomputable{with_views(op_list(count, uses, defs), options.alias_of.tabulate(count))}),
            options, how};
}

/// For each root the position of its maker, or "-", and whether it may be copied (c) or must stay (s).
std::string storages(spill_model const& m)
{
    std::string all;
    for (buffer_id b = 0; b != m.of.size(); ++b) {
        spill_model::storage const& its = m.of[b];
        all += (b == 0 ? "" : " ") + std::to_string(+m.buffers.buffers[b].root) + ":" +
               (its.maker == no_position ? "-" : std::to_string(+its.maker));
        if (its.may_copy) all += "c";
        if (!its.may_leave) all += "s";
    }
    return all;
}

/// Values by role: `i` input, `o` output, `x` external, `.` none.
std::vector<value_role> roles(char const* text)
{
    std::vector<value_role> result;
    for (; *text != 0; ++text)
        result.push_back(*text == 'i'   ? value_role::input
                         : *text == 'o' ? value_role::output
                         : *text == 'x' ? value_role::state
                                        : value_role::intermediate);
    return result;
}

} // namespace

TEST_CASE("a storage is restored by a copy, or by the step that alone writes it")
{
    auto const m = model_of({{}, {0}, {}, {0}, {1, 2}, {}}, {{0}, {1}, {2}, {3}, {}, {2}}, 4);
    CHECK(storages(m) == "0:0c 1:1c 2:-c 3:3c"); // 2 is made twice
    auto const positions = [](auto const& row) { return std::vector<position_id>(row.begin(), row.end()); };
    CHECK(positions(m.uses[0]) == std::vector<position_id>{1, 3});
    CHECK(positions(m.readers[0]) == std::vector<position_id>{1, 3});
    CHECK(positions(m.uses[2]) == std::vector<position_id>{4, 5});
    CHECK(storages(model_of({{}, {0}}, {{0}, {}}, 1, {.bytes = 8}, {.copies = false})) == "0:0");
    CHECK(storages(model_of({{}, {0}}, {{0}, {}}, 1, {.bytes = 8}, {.remats = false})) == "0:-c");
    CHECK(storages(model_of({{}, {0}}, {{0}, {}}, 1, {.bytes = 8}, {.copies = false, .remats = false})) ==
          "0:-s");
    CHECK(storages(model_of({}, {}, 0)).empty());
}

TEST_CASE("inputs are there at the start and outputs needed at the end; inputs are not made again")
{
    auto const m = model_of({{}, {}, {0}}, {{}, {1}, {}}, 2, {.bytes = 8, .role = roles("io")});
    CHECK(storages(m) == "0:-c 1:1c");
    CHECK(m.given == std::vector<buffer_id>{0});
    REQUIRE(m.operands[3].size() == 1);
    CHECK(m.operands[3][0] == 1);
    CHECK(m.operands[2][0] == 0);
}

TEST_CASE("what is not planned, is pinned, has a pinned view or must not move stays")
{
    std::vector<int_ids> const uses{{}, {}, {0}}, defs{{0}, {1}, {}};
    CHECK(storages(model_of(uses, defs, 2)) == "0:0c 1:1c");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 0})) == "0:-s 1:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = no_size})) == "0:-s 1:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8, .role = roles("x.")})) == "0:-s 1:1c");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8, .eligible = false})) == "0:-s 1:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8, .pinned = {byte_count{0}, no_offset}})) ==
          "0:-s 1:1c");
    CHECK(storages(model_of({{}, {0}, {1}}, {{0}, {1}, {}}, 2,
                            {.bytes = 8, .alias_of = {-1, 0}, .pinned = {no_offset, byte_count{0}}})) ==
          "0:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8}, {.movable = {false, true}})) == "0:-s 1:1c");
}

TEST_CASE("a step makes the same until an operand is written again, and runs once if it writes other storage")
{
    // b = f(a), then a is written again.
    auto const m = model_of({{}, {0}, {0}, {}, {1, 0}}, {{0}, {1}, {0}, {2}, {}}, 3);
    CHECK(storages(m) == "0:-c 1:1c 2:3c");
    CHECK(m.same_until[1] == 2);
    CHECK(m.same_until[3] == 5);
    // Besides b the step writes a state, or what has no known size, or a pinned value.
    std::vector<int_ids> const uses{{}, {}, {0}}, defs{{0, 1}, {}, {}};
    CHECK(storages(model_of(uses, defs, 2)) == "0:0c 1:0c");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8, .role = roles(".x")})) == "0:-c 1:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = {byte_count{8}, no_size}})) == "0:-c 1:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8, .pinned = {no_offset, byte_count{0}}})) ==
          "0:-c 1:-s");
    CHECK(storages(model_of(uses, defs, 2, {.bytes = 8, .eligible = {true, false}})) == "0:-c 1:-s");
}

TEST_CASE("a step runs again only if it says that it may, and its cost is known")
{
    auto of = [](bool says_so) {
        return sequence(3, 2, [says_so](step_id s, effect_sink& step) {
            if (s != 2) step.def(+s);
            else step.use(0);
            step.may_recompute(says_so && s == 0);
        });
    };
    CHECK(storages({of(true), {.bytes = 8}, {}}) == "0:0c 1:-c");
    CHECK(storages({of(false), {.bytes = 8}, {}}) == "0:-c 1:-c");
    CHECK(storages({of(true), {.bytes = 8}, {.step_cost = no_size}}) == "0:-c 1:-c");
    CHECK(spill_model(of(true), {.bytes = 8}, {}).cost == std::vector<byte_count>{8, 8, 8});
    CHECK(spill_model(of(true), {.bytes = 8}, {.step_cost = [](step_id s) { return 2 * +s; }}).cost ==
          std::vector<byte_count>{8, 2, 4}); // 0: the bytes that it touches
}

TEST_CASE("a step that updates an external value runs again for its results, if it says so")
{
    // 0: a; 1: b and the running average m from a; 2: c; 3: reads b and c
    auto const of = [](bool results_only) {
        return sequence(4, 4, [results_only](step_id s, effect_sink& step) {
            if (s == 1) step.use(0);
            if (s == 1) step.use(3);
            if (s == 1) step.write(3);
            if (s == 3) step.use(1);
            if (s == 3) step.use(2);
            if (s != 3) step.def(+s);
            if (results_only) step.may_recompute_results(s == 1);
            else step.may_recompute(s == 1);
        });
    };
    plan_options options{.bytes = {byte_count{60}, byte_count{50}, byte_count{50}, byte_count{4}},
                         .role = roles("i..x"),
                         .pools = {{.capacity = 115}}};
    CHECK(storages({of(false), options, {}}) == "0:-c 1:-c 2:-c 3:-s");
    spill_model const m(of(true), options, {});
    CHECK(storages(m) == "0:-c 1:1c 2:-c 3:-s");
    REQUIRE(m.left_out[1].size() == 1);
    CHECK(m.left_out[1][0] == 3);

    options.bytes = {byte_count{60}, byte_count{50}, byte_count{60}, byte_count{4}};
    auto const twice = sequence(5, 4, [](step_id s, effect_sink& step) { // as above; 4 reads the input again
        if (s == 1) step.use(0), step.use(3), step.write(3), step.def(1);
        if (s == 2) step.use(0), step.def(2);
        if (s == 3) step.use(0), step.use(2);
        if (s == 4) step.use(1);
        step.may_recompute_results(s == 1);
    });
    options.pools = {{.capacity = 120}};
    auto const advice = advise_memory(twice, options, {.copies = false});
    REQUIRE(advice);
    REQUIRE(advice.suggestions.size() == 1);
    CHECK(advice.suggestions[0].remat_step == 1);
    auto const again = advice.spilled.program.touches(4);
    REQUIRE(again.size() == 2); // the average is neither read nor written
    CHECK(again[0] == touch{0, touch::access::use});
    CHECK(advice.spilled.origin[again[1].value] == 1);
}

TEST_CASE("a view that another step makes is no other maker, and is made again with its root")
{
    CHECK(storages(model_of({{}, {0}, {}, {1}}, {{0}, {1}, {2}, {}}, 3,
                            {.bytes = 8, .alias_of = {-1, 0, -1}})) == "0:0c 2:2c");
}

TEST_CASE("on random programs a storage has the uses and the maker that its accesses give")
{
    std::size_t makers = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_recomputable(pick, 10);
        spill_model const m(p.program(), p.options(false), {});
        auto const lives = live_ranges_of(p);
        auto const end = position_id::of(p.turns().size());
        for (auto const& [root, its] : access_history(p)) {
            if (lives.count(root) == 0) continue;
            buffer_id const b = m.buffers.buffer_of[root];
            if (m.of[b].size == 0) continue;
            std::vector<position_id> uses;
            std::set<position_id> written;
            bool is_there = is_given(p.class_role(root));
            for (auto const& [at, how] : its) {
                if (how.is_unused_input) continue;
                if (is_there) uses.push_back(at);
                is_there = true;
                if (!how.written.empty()) written.insert(at);
            }
            if (has_role(p.class_role(root), value_role::output)) uses.push_back(end);
            std::string found, expected;
            for (position_id at : m.uses[b]) found += std::to_string(+at) + " ";
            for (position_id at : uses) expected += std::to_string(+at) + " ";
            CHECK(found == expected);
            if (m.of[b].maker == no_position) continue;
            ++makers;
            CHECK(p.turns()[m.of[b].maker].what->may_recompute);
            CHECK(written.count(m.of[b].maker) == 1);
        }
    }
    CHECK(makers > rounds(3000));
}

// --- memory advisor ----------------------------------------------------------------------------------------

namespace {

/// Peak of the bytes live in a pool, with the planner's in-place pairs.
byte_count live_peak(snapshot const& p, plan_options const& options, pool_id pool)
{
    auto const lives = lifetimes(p, {.role = options.role});
    auto table = gather_buffers(lives, options);
    if (options.in_place) table = take_in_place(p, steps_in_order(p, {}), std::move(table));
    return pressure(
               table.buffers.size(), [&](auto b) { return table.buffers[b].life; },
               [&](auto b) {
                   buffer const& its = table.buffers[b];
                   return its.is_planned() && its.pool == pool ? its.size : byte_count{0};
               },
               lives.positions)
        .peak;
}

/// A training step: activations of `layers` layers, defined forwards and used backwards.
struct training {
    std::uint32_t layers;
    snapshot program() const
    {
        return sequence(2 * layers, 2 * layers, [this](step_id s, effect_sink& step) {
            if (s != 0) step.use(s - 1);
            if (s >= layers) step.use(2 * layers - 1 - s);
            step.def(+s);
            step.may_recompute();
        });
    }
    plan_options options(byte_count capacity) const { return {.bytes = 100, .pools = {{capacity, 1}}}; }
};

} // namespace

TEST_CASE("a program that does not fit gets suggestions, and its spilled program fits")
{
    //  step  0 defines a; 1 defines b from a; 2 defines c from b; 3 uses a and c
    auto const p = sequence(4, 4, [](step_id s, effect_sink& step) {
        if (s != 0) step.use(s - 1);
        if (s == 3) step.use(0);
        step.def(+s);
        step.may_recompute();
    });
    std::vector<byte_count> const sizes{64, 60, 60, 8};
    auto const advice = advise_memory(p, {.bytes = sizes, .pools = {{140, 1}}}, {.remats = false});
    CHECK(advice);
    REQUIRE(advice.suggestions.size() == 1);
    CHECK(advice.suggestions[0] ==
          memory_advice::suggestion{.value = 0, .after = 1, .before = 3, .bytes = 64, .cost = 128});
    CHECK(advice.pools == std::vector<memory_advice::pool>{{184, 132, 132, 3}});
    CHECK(advice.cost == 128);
    CHECK(advice.plan.arena_bytes[0] <= 140);
    CHECK(advice.report().is_checked);

    auto const again = advise_memory(p, {.bytes = sizes, .pools = {{140, 1}}});
    REQUIRE(again.suggestions.size() == 1);
    CHECK(again.suggestions[0].remat_step == 0); // which reads nothing and writes 64 bytes
    CHECK(again.suggestions[0].cost == 64);
}

TEST_CASE(
    "a program that fits gets no suggestions, and one that cannot fit gets the step with the largest need")
{
    training const net{8};
    auto const fits = advise_memory(net.program(), net.options(10'000));
    CHECK(fits);
    CHECK(fits.suggestions.empty());
    CHECK(fits.plan.arena_bytes == plan_memory(net.program(), net.options(10'000)).plan.arena_bytes);

    auto const never = advise_memory(net.program(), net.options(299));
    CHECK_FALSE(never);
    REQUIRE(!never);
    CHECK(never.error().what == fault::over_capacity);
    CHECK(never.pools[0].least == 300); // two operands and a result
    CHECK(never.pools[0].least_step < 16);
    CHECK(never.pools[0].peak_after == 300);
}

TEST_CASE(
    "an order in which a value is undefined is refuted without suggestions; the empty program needs none")
{
    auto const p = sequence(2, 1, [](step_id s, effect_sink& step) {
        if (s == 0) step.use(0);
        else step.def(0);
    });
    auto const advice = advise_memory(p, {.bytes = 8, .pools = {{1, 1}}});
    REQUIRE(!advice);
    CHECK(advice.error().what == fault::used_undefined);
    CHECK(advice.suggestions.empty());
    CHECK(advise_memory(sequence(0, 0, [](step_id, effect_sink&) {}), {.bytes = 8}));
}

TEST_CASE("a network of forty layers is trained in a tenth of its memory by copies, in half by recomputation")
{
    training const net{40};
    auto const program = net.program();
    byte_count const whole = plan_memory(program, net.options(no_limit)).report().arena_bytes;
    CHECK(whole == 4000 + 100);
    auto const copied = advise_memory(program, net.options(400), {.remats = false});
    CHECK(copied);
    auto const again = advise_memory(program, net.options(whole / 2 + 200), {.copies = false});
    CHECK(again);
    for (memory_advice::suggestion const& s : again.suggestions) {
        CHECK(s.remat_step == +s.value);
        CHECK(s.cost == (s.value == 0 ? 100 : 200)); // one operand at most, and one result
    }
}

TEST_CASE("a step runs again up to the step that writes its operand, and not behind it")
{
    // 0: a; 1: b from a; 2: c, or also a write of a; 3: reads b and writes a; 4: reads a
    auto const of = [](bool writes_before) {
        return sequence(5, 3, [writes_before](step_id s, effect_sink& step) {
            if (s == 1) step.use(0);
            if (s == 2 && writes_before) step.write(0);
            if (s == 3) step.use(1), step.write(0);
            if (s == 4) step.use(0);
            if (s < 3) step.def(+s);
            step.may_recompute(s == 1);
        });
    };
    plan_options const options{.bytes = {byte_count{10}, byte_count{30}, byte_count{40}}, .pools = {{50, 1}}};
    auto const advice = advise_memory(of(false), options, {.copies = false});
    REQUIRE(advice);
    REQUIRE(advice.suggestions.size() == 1);
    CHECK(advice.suggestions[0] == memory_advice::suggestion{1, 1, 3, 1, 30, 40});
    CHECK(!advise_memory(of(true), options, {.copies = false}));
    CHECK(advise_memory(of(true), options)); // b is copied
}

TEST_CASE("a lower limit never costs less than a higher one, and a list of limits is answered in its order")
{
    training const net{24};
    auto const program = net.program();
    std::vector<byte_count> const limits{900, 2000, 299, 1400, 2500, 1100};
    auto const all = advise_limits(program, net.options(5), limits);
    REQUIRE(all.size() == limits.size());
    for (std::size_t i = 0; i != all.size(); ++i) {
        CHECK(all[i].options.pools[0].capacity == limits[i]);
        CHECK(bool(all[i]) == (limits[i] != 299));
        if (!all[i]) continue;
        CHECK(all[i].bytes() <= limits[i]);
        CHECK(all[i].cost <= advise_memory(program, net.options(limits[i])).cost);
        for (std::size_t k = 0; k != all.size(); ++k)
            if (all[k] && limits[k] < limits[i]) CHECK(all[i].cost <= all[k].cost);
    }
    CHECK(all[4].suggestions.empty()); // it fits
    CHECK(advise_limits(program, net.options(5), {}).empty());

    listing<char> list;
    list.step().make('a', {.bytes = 60}).may_recompute();
    list.step().make('b', {.bytes = 50});
    list.step().read('b').make('c', {.bytes = 10});
    list.step().read('a').read('c');
    auto const named = advise_limits(list, {120, 70, 30});
    REQUIRE(named.size() == 3);
    CHECK(named[0].cost == 0);
    CHECK(named[1].cost == 60);
    CHECK(named[1].suggestions.size() == 1);
    CHECK_FALSE(named[2]);
}

TEST_CASE("the caller's costs are respected: steps that must not run again, values that must not move")
{
    training const net{10};
    auto const program = net.program();
    auto const options = net.options(800);
    for (memory_advice::suggestion const& s :
         advise_memory(program, options, {.step_cost = no_size}).suggestions)
        CHECK(s.remat_step == no_step);
    for (memory_advice::suggestion const& s :
         advise_memory(program, options, {.step_cost = byte_count{1}}).suggestions)
        CHECK(s.remat_step != no_step);
    auto const odd = advise_memory(program, options, {.movable = [](auto v) { return v % 2 == 1; }});
    CHECK_FALSE(odd.suggestions.empty());
    for (memory_advice::suggestion const& s : odd.suggestions) CHECK(s.value % 2 == 1);
    auto const none = advise_memory(program, options, {.movable = false});
    CHECK_FALSE(none);
    CHECK(none.pools[0].least == 1100);
}

TEST_CASE("a value that is read early and recomputed is free before its reader writes")
{
    //  step  0 defines a; 1 reads it early and defines b; 2 defines c; 3 reads a
    auto const p = sequence(4, 3, [](step_id s, effect_sink& step) {
        if (s == 1) step.use_early(0);
        if (s == 3) step.use(0);
        if (s != 3) step.def(+s);
        step.may_recompute();
    });
    plan_options const options{.bytes = {byte_count{10}, byte_count{20}, byte_count{20}}, .pools = {{20, 1}}};
    auto const again = advise_memory(p, options);
    CHECK(again);
    CHECK(again.pools == std::vector<memory_advice::pool>{{30, 20, 20, 1}});
    CHECK(!advise_memory(p, options, {.remats = false})); // copied out, it is live throughout 1
}

TEST_CASE("ResNet-50 forward has little to spill: its peak is one block")
{
    auto const net = network::resnet50();
    auto options = net.options();
    options.pools = {{9633792 - 1, 1}};
    auto const advice = advise_memory(net.program(), options);
    CHECK(bool(advice) == (advice.pools[0].least < 9633792));
}

TEST_CASE("random programs under a capacity: the figures are exact, and the spilled program leaves the same "
          "results")
{
    std::size_t spilled = 0, fitting = 0, unreachable = 0, missed = 0, suggestions = 0, remats = 0;
    for (unsigned seed = 0, n = rounds(250); seed != n; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_recomputable(pick, 12);
        auto const program = p.program();
        auto options = p.options(pick.below(2) == 0);
        auto const whole = plan_memory(program, options);
        REQUIRE(whole);
        advice_options how;
        how.copies = pick.below(4) != 0;
        how.remats = !how.copies || pick.below(3) != 0;

        auto tight = options;
        tight.pools.assign(whole.plan.arena_bytes.size(), {0, 1});
        auto const least = advise_memory(program, tight, how).pools;
        for (std::size_t pool = 0; pool != whole.plan.arena_bytes.size(); ++pool) {
            byte_count const most = whole.plan.arena_bytes[pool], low = least.empty() ? 0 : least[pool].least;
            byte_count const below = pick.below(6) == 0 && low != 0 ? 1 : 0;
            options.pools.push_back({low + (most - low) * pick.below(90) / 100 - below, 1});
        }
        auto const advice = advise_memory(program, options, how);

        REQUIRE(advice.pools.size() == options.pools.size());
        REQUIRE(advice.pools.size() == least.size());
        bool is_out_of_reach = false;
        for (std::size_t pool = 0; pool != advice.pools.size(); ++pool) {
            auto const& its = advice.pools[pool];
            auto const id = pool_id::of(pool);
            CHECK(its.peak_after == live_peak(advice.spilled.program, advice.options, id));
            CHECK(its.least == least[pool].least);
            CHECK(its.least <= its.peak_after);
            is_out_of_reach = is_out_of_reach || its.least > options.pools[pool].capacity;
        }
        if (is_out_of_reach) {
            CHECK_FALSE(advice);
            ++unreachable;
        } else if (advice.suggestions.empty()) {
            ++fitting;
        } else {
            ++(bool(advice) ? spilled : missed);
        }

        for (memory_advice::suggestion const& a : advice.suggestions) remats += a.remat_step != no_step;
        suggestions += advice.suggestions.size();
        if (!advice) continue;

        std::vector<value_id> itself, shown;
        std::vector<spilled_program::step> unchanged_steps;
        for (step_id s = 0; s != program.steps(); ++s)
            unchanged_steps.push_back({spilled_program::kind::original, s});
        for (value_id v = 0; v != p.values(); ++v) {
            itself.push_back(v);
            if (has_role(p.role[v], value_role::output)) shown.push_back(v);
        }
        trace const expected = run(program, options, unchanged_steps, itself, shown, no_plan{});
        for (value_id& v : shown) v = advice.spilled.final_version[v];
        CHECK(run(advice.spilled.program, advice.options, advice.spilled.steps, advice.spilled.origin, shown,
                  arena{advice}) == expected);
    }
    MESSAGE("spilled " << spilled << " programs, fitting " << fitting << ", out of reach " << unreachable
                       << ", missed " << missed << "; " << suggestions << " suggestions, " << remats
                       << " of them to run a step again");
    CHECK(spilled > rounds(60));
    CHECK(unreachable > rounds(10));
    CHECK(remats > rounds(20));
}

// --- lower bound -------------------------------------------------------------------------------------------

TEST_CASE("no copies and no steps run again, in chains or not, lead below the least bytes")
{
    unsigned reached = 0, below_one_step = 0;
    for (unsigned seed = 0, n = rounds(600); seed != n; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        tiny_program const p = draw_tiny(pick);
        auto const advice = p.advice(1);
        byte_count const least = p.least_peak();
        REQUIRE(advice.pools.size() == 1);
        CHECK(advice.pools[0].least <= least);
        CHECK(least <= advice.pools[0].peak_after); // which is one of these ways
        reached += advice.pools[0].least == least;
        below_one_step += least < advice.pools[0].peak_after;
    }
    MESSAGE("of " << rounds(600) << " programs " << reached << " reach their bound, and " << below_one_step
                  << " need less than the advisor found");
    CHECK(reached > rounds(300));
    CHECK(below_one_step > rounds(10));
}

TEST_CASE("a chain of recomputed steps needs less than any one of them, and no less than the bound")
{
    //  step  0 defines a; 1 b from a; 2 c from b; 3 a large value; 4 reads c
    tiny_program p;
    p.bytes = {10, 10, 10, 30};
    p.steps = {{0, 0, 1, {}, true},
               {1, 0, 2, {}, true},
               {2, 0, 4, {}, true},
               {0, 0, 8, {}, true},
               {4, 0, 0, {}, true}};
    p.copies = false;
    CHECK(p.least_peak() == 30);
    CHECK(p.advice(1).pools[0].least == 30);
}

// --- spilled program ---------------------------------------------------------------------------------------

using ids = std::vector<value_id>;

namespace {

struct found {
    snapshot program;
    plan_options options;
    spill_model model;

    found(snapshot p, plan_options asked, advice_options const& how = {})
        : program(std::move(p)), options(std::move(asked)), model(program, options, how)
    {
    }
    spilled_program apply(spill_run const& run) const { return insert_spills(program, model, options, run); }
    spill_event step(position_id at) const { return {spilled_program::kind::original, at, at, no_buffer}; }
};

/// Contents as numbers, one per class, with the meaning of each kind of step: the final contents of `values`,
/// and the contents that each original step reads.
struct outcome {
    std::vector<std::uint64_t> read, left;
    friend bool operator==(outcome const&, outcome const&) = default;
};

outcome outcome_of(snapshot const& p, std::vector<spilled_program::step> const& steps,
                   std::vector<value_id> const& alias_of, std::vector<value_role> const& role,
                   std::vector<value_id> const& origin, std::span<value_id const> shown)
{
    auto root = [&](value_id v) { return root_of(alias_of, v); };
    std::map<value_id, std::uint64_t> content; // by root
    auto fold = [](std::uint64_t sum, std::uint64_t next) {
        sum = (sum ^ next) * 0x9e3779b97f4a7c15u;
        return sum ^ (sum >> 29);
    };
    for (value_id v = 0; v != p.values(); ++v)
        if (is_given(role[v])) content[root(v)] = fold(1, origin[root(v)]);
    outcome result;
    for (step_id s = 0; s != steps.size(); ++s) {
        auto const [kind, of] = steps[s];
        auto const touches = p.touches(s);
        if (kind == spilled_program::kind::copied_out || kind == spilled_program::kind::copied_back) {
            REQUIRE(touches.size() >= 2);
            REQUIRE(touches[0].kind == touch::access::use);
            REQUIRE(touches[1].kind == touch::access::def);
            std::uint64_t const bytes = content.at(root(touches[0].value));
            content[root(touches[1].value)] = bytes;
            continue;
        }
        std::uint64_t sum = fold(7, of);
        for (touch t : touches)
            if (!t.defines()) sum = fold(sum, content.at(root(t.value)));
        if (kind == spilled_program::kind::original) result.read.push_back(sum);
        for (touch t : touches) {
            if (!t.defines() && !t.writes()) continue;
            sum = fold(sum, 3);
            value_id const r = root(t.value);
            if (t.writes()) content[r] = fold(sum, t.kind == touch::access::def ? 0 : content[r]);
        }
    }
    for (value_id v : shown) result.left.push_back(content.at(root(v)));
    return result;
}

/// 0: defines a; 1: b from a; 2: c; 3: reads a and b.
found small(bool has_view = false)
{
    std::vector<value_id> const alias_of{no_value, has_view ? value_id{0} : no_value, no_value};
    return {recomputable{with_views(op_list(3, {{}, {0}, {}, {0, 1}}, {{0}, {1}, {2}, {}}), alias_of)},
            {.bytes = {64, 32, 16}, .alias_of = alias_of}};
}

/// a is copied out after step 1 and back before step 3.
spill_run copied_once(found const& f)
{
    using enum spilled_program::kind;
    spill_run run;
    run.events = {f.step(0), f.step(1), {copied_out, 1, 2, 0}, f.step(2), {copied_back, 3, 3, 0}, f.step(3)};
    return run;
}

} // namespace

TEST_CASE("a value is copied to an external home and back into another value")
{
    found const f = small();
    auto const spilled = f.apply(copied_once(f));
    using enum spilled_program::kind;
    CHECK(spilled.steps ==
          std::vector<spilled_program::step>{
              {original, 0}, {original, 1}, {copied_out, 1}, {original, 2}, {copied_back, 3}, {original, 3}});
    REQUIRE(spilled.homes == ids{3});
    CHECK(spilled.origin == ids{0, 1, 2, 0, 0});
    CHECK(spilled.final_version == ids{4, 1, 2});
    using touches = std::vector<touch>;
    auto of = [&](step_id s) {
        auto const all = spilled.program.touches(s);
        return touches(all.begin(), all.end());
    };
    CHECK(of(2) == touches{{0, touch::access::use}, {3, touch::access::def}});
    CHECK(of(4) == touches{{3, touch::access::use}, {4, touch::access::def}});
    CHECK(of(5) == touches{{4, touch::access::use}, {1, touch::access::use}});
    auto const options = spilled.options(f.options);
    CHECK(options.bytes[4] == 64);
    CHECK_FALSE(options.eligible[3]);
    CHECK(plan_concurrent(spilled.program, options));
    CHECK(plan_with_handoffs(spilled.program, options));
    auto const planned = plan_memory(spilled.program, options);
    CHECK(planned);
    CHECK(planned.report().lower_bound_bytes == 96);
}

TEST_CASE("a step is run again right before its result is needed")
{
    found const f = small();
    using enum spilled_program::kind;
    spill_run run;
    run.events = {f.step(0), f.step(1), f.step(2), {rematerialize, 1, 3, 1}, f.step(3)};
    run.restored = {1, no_buffer};
    auto const spilled = f.apply(run);
    CHECK(spilled.steps ==
          std::vector<spilled_program::step>{
              {original, 0}, {original, 1}, {original, 2}, {rematerialize, 1}, {original, 3}});
    CHECK(spilled.homes.empty());
    CHECK(spilled.final_version == ids{0, 3, 2});
    CHECK(plan_memory(spilled.program, spilled.options(f.options)));
}

TEST_CASE("a view is restored with its root")
{
    found const f = small(true);
    auto const spilled = f.apply(copied_once(f));
    CHECK(spilled.final_version == ids{4, 5, 2});
    CHECK(spilled.alias_of == ids{no_value, 0, no_value, no_value, no_value, 4});
    CHECK(plan_memory(spilled.program, spilled.options(f.options)));
}

TEST_CASE("a view is restored for a step that is run again, without other later reads")
{
    // 1 is a view of 0, and 2 is computed from it; then 0 and 2 are spilled until step 5 reads both.
    std::vector<value_id> const alias_of{no_value, 0, no_value, no_value, no_value};
    found const f(recomputable{with_views(
                      op_list(5, {{}, {0}, {1}, {}, {}, {0, 2}}, {{0}, {1}, {2}, {3}, {4}, {}}), alias_of)},
                  {.bytes = 8, .alias_of = alias_of});
    using enum spilled_program::kind;
    spill_run run;
    run.events = {f.step(0),
                  f.step(1),
                  f.step(2),
                  {copied_out, 2, 3, 0},
                  f.step(3),
                  f.step(4),
                  {copied_back, 5, 5, 0},
                  {rematerialize, 2, 5, 1},
                  f.step(5)};
    run.restored = {1, no_buffer};
    auto const spilled = f.apply(run);
    auto const read = spilled.program.touches(step_id::of(spilled.steps.size() - 2))[0].value;
    CHECK(spilled.steps[spilled.steps.size() - 2].kind == rematerialize);
    CHECK(read != 1);
    CHECK(spilled.origin[read] == 1);
    auto const planned = plan_memory(spilled.program, spilled.options(f.options));
    CHECK(planned);
    CHECK(planned.report().lower_bound_bytes == 16); // no old value stays live
}

TEST_CASE("without spills the program is the same list of steps, and the empty program has none")
{
    found const f = small();
    auto const spilled = f.apply(whole_run(f.model));
    CHECK(spilled.steps.size() == 4);
    CHECK(spilled.origin == ids{0, 1, 2});
    CHECK(plan_memory(spilled.program, spilled.options(f.options)).report().arena_bytes ==
          plan_memory(f.program, f.options).report().arena_bytes);
    found const none(sequence(0, 0, [](step_id, effect_sink&) {}), {.bytes = 8});
    CHECK(none.apply(whole_run(none.model)).program == snapshot{});
}

TEST_CASE("random programs read and leave the same with any spills, and their plans are valid")
{
    std::size_t applied = 0, remats = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_recomputable(pick, 10);
        advice_options const how{.copies = pick.below(3) != 0, .remats = pick.below(5) != 0};
        found const f(p.program(), p.options(pick.below(2) == 0), how);
        auto const whole = plan_memory(f.program, f.options).report();
        table<pool_id, byte_count> limits;
        for (pool_id pool = 0; pool != f.model.pools; ++pool) {
            byte_count const most = pool < whole.pools.size() ? whole.pools[pool].lower_bound_bytes : 0;
            limits.push_back(most * (20 + pick.below(80)) / 100);
        }
        spill_run run = find_spills(f.model, limits, 0);
        if (run.events.empty()) run = whole_run(f.model);
        for (spill_event const& e : run.events) {
            applied += e.kind != spilled_program::kind::original;
            remats += e.kind == spilled_program::kind::rematerialize;
        }
        auto const spilled = f.apply(run);

        std::vector<value_id> itself, shown;
        std::vector<spilled_program::step> unchanged_steps;
        for (value_id v = 0; v != p.values(); ++v) {
            itself.push_back(v);
            if (has_role(p.role[v], value_role::output) || has_role(p.role[v], value_role::state))
                shown.push_back(v);
        }
        auto const plain = f.apply(whole_run(f.model));
        outcome const expected = outcome_of(plain.program, plain.steps, p.alias_of, p.role, itself, shown);
        for (value_id& v : shown) v = spilled.final_version[v];
        CHECK(outcome_of(spilled.program, spilled.steps, spilled.alias_of, spilled.role, spilled.origin,
                         shown) == expected);
        for (value_id v = 0; v != p.values(); ++v)
            CHECK(has_role(spilled.role[spilled.final_version[v]], value_role::output) ==
                  has_role(p.role[v], value_role::output));
        auto const planned = plan_memory(spilled.program, spilled.options(f.options));
        CHECK(planned);
        CHECK(planned.report().is_checked);
    }
    CHECK(applied > rounds(800));
    CHECK(remats > rounds(100));
}

} // namespace this_test
