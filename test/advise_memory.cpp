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
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/insert_spills.hpp>
#include <sublet/planning/detail/spill_candidates.hpp>
#include <sublet/planning/detail/spill_problem.hpp>
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

std::vector<spill_candidate> candidates_of(snapshot const& p, plan_options const& options)
{
    auto const steps = steps_in_order(p, options.order);
    auto const unjoined =
        gather_buffers(lifetimes(p, {.role = options.role, .order = options.order}), options);
    auto const joined = options.in_place ? take_in_place(p, steps, unjoined) : unjoined;
    auto const role = options.role.tabulate(p.values());
    return find_spill_candidates(p, steps, unjoined, joined, role);
}

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

std::vector<spill_candidate> candidates_of(std::vector<int_ids> const& uses, std::vector<int_ids> const& defs,
                                           int values, plan_options const& options = {.bytes = 8})
{
    auto const count = static_cast<std::size_t>(values);
    return candidates_of(
        recomputable{with_views(op_list(count, uses, defs), options.alias_of.tabulate(count))}, options);
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

TEST_CASE("a buffer can be spilled between two steps that touch it, and restored by a copy or by its step")
{
    auto const found = candidates_of({{}, {0}, {}, {0}, {1}}, {{0}, {1}, {2}, {3}, {}}, 4);
    CHECK(found == std::vector<spill_candidate>{{0, 0, 1, 3}, {0, 0, 1, 3, 0}, {1, 1, 1, 4}});
    // Step 1 cannot be run again before step 4: its operand is dead.
    auto const longer = candidates_of({{}, {0}, {}, {0}, {1}, {0}}, {{0}, {1}, {2}, {3}, {}, {}}, 4);
    CHECK(longer ==
          std::vector<spill_candidate>{
              {0, 0, 1, 3}, {0, 0, 1, 3, 0}, {1, 1, 1, 4}, {1, 1, 1, 4, 1}, {0, 0, 3, 5}, {0, 0, 3, 5, 0}});
}

TEST_CASE("adjacent steps have no idle interval between them, and an empty program has none")
{
    CHECK(candidates_of({{}, {0}, {0}}, {{0}, {1}, {2}}, 3).empty());
    CHECK(candidates_of({}, {}, 0).empty());
    CHECK(candidates_of({{}, {}, {}, {}}, {{0}, {}, {}, {}}, 1).empty()); // never read
}

TEST_CASE("inputs are touched at the start of a run and outputs at its end; inputs are not recomputed")
{
    plan_options const options{.bytes = 8, .role = roles("io")};
    CHECK(candidates_of({{}, {}, {0}, {}, {}}, {{}, {1}, {}, {}, {}}, 2, options) ==
          std::vector<spill_candidate>{{0, 0, 0, 2}, {1, 1, 1, 4}, {1, 1, 1, 4, 1}});
}

TEST_CASE("a buffer that is not planned, is pinned or has a pinned view is never spilled")
{
    std::vector<int_ids> const uses{{}, {}, {0}}, defs{{0}, {1}, {}};
    CHECK(candidates_of(uses, defs, 2).size() == 2);
    CHECK(candidates_of(uses, defs, 2, {.bytes = 0}).empty());
    CHECK(candidates_of(uses, defs, 2, {.bytes = no_size}).empty());
    CHECK(candidates_of(uses, defs, 2, {.bytes = 8, .role = roles("x.")}).empty());
    CHECK(candidates_of(uses, defs, 2, {.bytes = 8, .eligible = false}).empty());
    CHECK(candidates_of(uses, defs, 2, {.bytes = 8, .pinned = {byte_count{0}, no_offset}}).empty());
    CHECK(
        candidates_of({{}, {0}, {}, {1}}, {{0}, {1}, {2}, {}}, 3,
                      {.bytes = 8, .alias_of = {-1, 0, -1}, .pinned = {no_offset, byte_count{0}, no_offset}})
            .empty());
}

TEST_CASE("a step is not run again if its operand was written since, or if it writes unplanned storage")
{
    // b = f(a), then a is written again.
    CHECK(candidates_of({{}, {0}, {0}, {}, {1, 0}}, {{0}, {1}, {0}, {2}, {}}, 3) ==
          std::vector<spill_candidate>{{1, 1, 1, 4}, {0, 0, 2, 4}});
    // Besides b the step writes a state, or a view of something else, or a pinned value.
    std::vector<int_ids> const uses{{}, {}, {0}}, defs{{0, 1}, {}, {}};
    CHECK(candidates_of(uses, defs, 2).size() == 2);
    CHECK(candidates_of(uses, defs, 2, {.bytes = 8, .role = roles(".x")}).size() == 1);
    CHECK(candidates_of(uses, defs, 2, {.bytes = {byte_count{8}, no_size}}).size() == 1);
    CHECK(candidates_of(uses, defs, 2, {.bytes = 8, .pinned = {no_offset, byte_count{0}}}).size() == 1);
    CHECK(candidates_of(uses, defs, 2, {.bytes = 8, .eligible = {true, false}}).size() == 1);
}

TEST_CASE("a step is run again only if it says that it may")
{
    auto of = [](bool says_so) {
        return sequence(3, 2, [says_so](step_id s, effect_sink& step) {
            if (s != 2) step.def(+s);
            else step.use(0);
            step.may_recompute(says_so && s == 0);
        });
    };
    CHECK(candidates_of(of(true), {.bytes = 8}) ==
          std::vector<spill_candidate>{{0, 0, 0, 2}, {0, 0, 0, 2, 0}});
    CHECK(candidates_of(of(false), {.bytes = 8}) == std::vector<spill_candidate>{{0, 0, 0, 2}});
    CHECK(candidates_of(op_list(2, {{}, {}, {0}}, {{0}, {1}, {}}), {.bytes = 8}) ==
          std::vector<spill_candidate>{{0, 0, 0, 2}});
}

TEST_CASE("touches of views and of in-place results are touches of their buffer")
{
    // b is a view of a
    CHECK(candidates_of({{}, {0}, {}, {1}}, {{0}, {1}, {2}, {}}, 3, {.bytes = 8, .alias_of = {-1, 0, -1}}) ==
          std::vector<spill_candidate>{{0, 0, 1, 3}}); // another step than that of the root defines the view
    // b is written over a, and neither can be recomputed
    auto const p = sequence(6, 3, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        if (step == 2) {
            s.use(0);
            s.def(1);
            s.may_overwrite(0, 1);
        }
        if (step == 3) s.def(2);
        if (step == 5) s.use(1);
        s.may_recompute();
    });
    CHECK(candidates_of(p, {.bytes = 8}) ==
          std::vector<spill_candidate>{{0, 0, 0, 2}, {0, 0, 0, 2, 0}, {1, 0, 2, 5}});
}

TEST_CASE("on random programs the spill candidates are the idle intervals of planned classes")
{
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_recomputable(pick, 10);
        auto const program = p.program();
        std::map<std::pair<value_id, position_id>, position_id> expected, copied,
            made; // {root, after} -> before
        auto const lives = live_ranges_of(p);
        auto const end = position_id::of(p.turns().size());
        for (auto const& [root, its] : access_history(p)) {
            if (lives.count(root) == 0) continue;
            std::set<position_id> at;
            for (auto const& [position, how] : its) at.insert(position);
            auto const role = p.class_role(root);
            bool is_there = is_given(p.role[root]); // the root itself, not only a view of an undefined root
            if (has_role(role, value_role::input)) at.insert(0);
            if (has_role(role, value_role::output)) at.insert(end - 1);
            for (auto i = at.begin(); i != at.end(); ++i) {
                auto const here = its.find(*i);
                is_there = is_there || (here != its.end() && here->second.written.count(root) != 0);
                if (std::next(i) != at.end() && *std::next(i) - *i >= 2 && is_there)
                    expected[{root, *i}] = *std::next(i);
            }
        }
        for (spill_candidate const& a : candidates_of(program, p.options(false))) {
            CHECK(p.root(a.root) == a.root);
            (a.remat_at == no_position ? copied : made)[{a.root, a.after}] = a.before;
        }
        CHECK(copied == expected);
        for (auto const& m : made) CHECK(copied.count(m.first) == 1);
        for (spill_candidate const& a : candidates_of(program, p.options(false))) // by a step that says so
            if (a.remat_at != no_position) CHECK(p.turns()[a.remat_at].what->may_recompute);
    }
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
          memory_advice::suggestion{
              .value = 0, .after = 1, .before = 3, .bytes = 64, .saved = 52, .cost = 128});
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
    for (memory_advice::suggestion const& s : copied.suggestions) CHECK(s.saved > 0);
    auto const again = advise_memory(program, net.options(whole / 2 + 200), {.copies = false});
    CHECK(again);
    for (memory_advice::suggestion const& s : again.suggestions) {
        CHECK(s.remat_step == +s.value);
        CHECK(s.cost == (s.value == 0 ? 100 : 200)); // one operand at most, and one result
    }
}

TEST_CASE("the caller's costs are respected: steps that must not run again, values that must not move")
{
    training const net{10};
    auto const program = net.program();
    auto const options = net.options(800);
    for (memory_advice::suggestion const& s :
         advise_memory(program, options, {.remat_cost = no_size}).suggestions)
        CHECK(s.remat_step == no_step);
    for (memory_advice::suggestion const& s :
         advise_memory(program, options, {.remat_cost = byte_count{1}}).suggestions)
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

        // Each saving, from the program with all other suggestions.
        detail::spill_problem const spill(program, options, how);
        std::vector<spill_candidate> all;
        for (memory_advice::suggestion const& s : advice.suggestions)
            for (spill_candidate const& a : spill.candidates)
                if (a.root == s.value && spill.steps[a.before] == s.before &&
                    (a.remat_at == no_position ? no_step : spill.steps[a.remat_at]) == s.remat_step)
                    all.push_back(a);
        REQUIRE(all.size() == advice.suggestions.size());
        for (std::size_t i = 0; i != all.size(); ++i) {
            auto others = all;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            auto const without = insert_spills(program, spill.steps, options, spill.in_place, others);
            pool_id const pool = p.pool[all[i].root];
            byte_count const peak = live_peak(without.program, without.options(options), pool),
                             with = advice.pools[pool].peak_after;
            CHECK(advice.suggestions[i].saved == (peak > with ? peak - with : 0));
            ++suggestions;
            remats += all[i].remat_at != no_position;
        }
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
    std::vector<step_id> steps;
    std::vector<memory_plan::in_place_pair> in_place;
    std::vector<spill_candidate> candidates;

    found(snapshot p, plan_options asked) : program(std::move(p)), options(std::move(asked))
    {
        steps = steps_in_order(program, options.order);
        auto const lives = lifetimes(program, {.role = options.role, .order = options.order});
        auto const unjoined = gather_buffers(lives, options);
        auto const joined = options.in_place ? take_in_place(program, steps, unjoined) : unjoined;
        in_place = joined.in_place;
        auto const role = options.role.tabulate(program.values());
        candidates = find_spill_candidates(program, steps, unjoined, joined, role);
    }
    spilled_program apply(std::vector<spill_candidate> const& chosen) const
    {
        return insert_spills(program, steps, options, in_place, chosen);
    }
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

/// At most one candidate per interval, and no spilled operand of a step that is run again.
std::vector<spill_candidate> draw_candidates(random_source& pick, found const& f,
                                             std::vector<value_id> const& alias_of)
{
    std::vector<spill_candidate> chosen;
    auto root = [&](value_id v) { return root_of(alias_of, v); };
    auto blocks_remat = [&](spill_candidate const& made,
                            spill_candidate const& away) { // the recomputed step reads the spilled value
        if (made.remat_at == no_position || away.after >= made.before || away.before <= made.before)
            return false;
        for (touch t : f.program.touches(f.steps[made.remat_at]))
            if (!t.defines() && root(t.value) == away.root) return true;
        return false;
    };
    std::uint32_t const chance = 1 + pick.below(4);
    for (spill_candidate const& a : f.candidates) {
        bool is_free = pick.below(chance) == 0;
        for (spill_candidate const& c : chosen)
            is_free = is_free && !(c.root == a.root && c.before == a.before) && !blocks_remat(a, c) &&
                      !blocks_remat(c, a);
        if (is_free) chosen.push_back(a);
    }
    return chosen;
}

/// 0: defines a; 1: b from a; 2: c; 3: reads a and b.
found small(bool has_view = false)
{
    std::vector<value_id> const alias_of{no_value, has_view ? value_id{0} : no_value, no_value};
    return {recomputable{with_views(op_list(3, {{}, {0}, {}, {0, 1}}, {{0}, {1}, {2}, {}}), alias_of)},
            {.bytes = {64, 32, 16}, .alias_of = alias_of}};
}

} // namespace

TEST_CASE("a value is copied to an external home and back into another value")
{
    found const f = small();
    auto const spilled = f.apply({{0, 0, 1, 3}});
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
    CHECK(has_role(options.role[3], value_role::state));
    auto const planned = plan_memory(spilled.program, options);
    CHECK(planned);
    CHECK(planned.report().lower_bound_bytes == 96);
}

TEST_CASE("a step is run again right before its result is needed")
{
    found const f = small();
    auto const spilled = f.apply({{1, 1, 1, 3, 1}});
    using enum spilled_program::kind;
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
    REQUIRE(f.candidates == std::vector<spill_candidate>{{0, 0, 1, 3}});
    auto const spilled = f.apply(f.candidates);
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
    auto const spilled = f.apply({{0, 0, 2, 5}, {2, 1, 2, 5, 2}});
    auto const read = spilled.program.touches(step_id::of(spilled.steps.size() - 2))[0].value;
    CHECK(spilled.steps[spilled.steps.size() - 2].kind == spilled_program::kind::rematerialize);
    CHECK(read != 1);
    CHECK(spilled.origin[read] == 1);
    auto const planned = plan_memory(spilled.program, spilled.options(f.options));
    CHECK(planned);
    CHECK(planned.report().lower_bound_bytes == 16); // no old value stays live
}

TEST_CASE("without spills the program is the same list of steps, and the empty program has none")
{
    found const f = small();
    auto const spilled = f.apply({});
    CHECK(spilled.steps.size() == 4);
    CHECK(spilled.origin == ids{0, 1, 2});
    CHECK(plan_memory(spilled.program, spilled.options(f.options)).report().arena_bytes ==
          plan_memory(f.program, f.options).report().arena_bytes);
    found const none(sequence(0, 0, [](step_id, effect_sink&) {}), {.bytes = 8});
    CHECK(none.apply({}).program == snapshot{});
}

TEST_CASE("random programs read and leave the same with any spills, and their plans are valid")
{
    std::size_t applied = 0, remats = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_recomputable(pick, 10);
        found const f(p.program(), p.options(pick.below(2) == 0));
        auto const chosen = draw_candidates(pick, f, p.alias_of);
        applied += chosen.size();
        for (spill_candidate const& a : chosen) remats += a.remat_at != no_position;
        auto const spilled = f.apply(chosen);

        std::vector<value_id> itself, shown;
        std::vector<spilled_program::step> unchanged_steps;
        for (value_id v = 0; v != p.values(); ++v) {
            itself.push_back(v);
            if (has_role(p.role[v], value_role::output) || has_role(p.role[v], value_role::state))
                shown.push_back(v);
        }
        auto const plain = f.apply({});
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
