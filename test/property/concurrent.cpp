// SPDX-License-Identifier: BSL-1.0
// Random tasks that run in any order: every planner's plan is valid under every order, and the checker finds
// planted faults. With SUBLET_ROUNDS=50 in the environment there are fifty times as many programs, with
// SUBLET_SEED=7 the seeds begin at 7.
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/planning/detail/schedule.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "../concurrent_oracle.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Tasks as input of a planner.
struct seen_tasks {
    random_tasks tasks;
    snapshot program;
    sharing_rule rule;
    dependence_graph g;
    std::vector<buffer_id> buffer_of; ///< by value; planned ones only
    placement_problem problem;        ///< steps in sequence
    concurrent_live_ranges lives;
    conflict_ranges conflicts;

    explicit seen_tasks(random_tasks drawn)
        : tasks(std::move(drawn)), program(tasks.program()), rule(tasks),
          g(dependences(program, {.role = tasks.role})), buffer_of(tasks.values(), no_buffer)
    {
        std::vector<bool> is_planned(tasks.values());
        for (value_id v = 0; v != tasks.values(); ++v) {
            auto const r = rule.root[v];
            if (!rule.defs[r].empty() || has_role(tasks.role[r], value_role::input)) is_planned[r] = true;
        }
        for (value_id v = 0; v != tasks.values(); ++v)
            if (has_role(tasks.role[v], value_role::external) || tasks.bytes[rule.root[v]] == 0)
                is_planned[rule.root[v]] = false;
        for (value_id v = 0; v != tasks.values(); ++v) {
            auto const r = rule.root[v];
            if (!is_planned[r]) continue;
            if (buffer_of[r] == no_buffer) {
                buffer_of[r] = static_cast<buffer_id>(problem.buffers.size());
                problem.buffers.push_back({{}, tasks.bytes[r], 1, tasks.pool[r]});
            }
            buffer_of[v] = buffer_of[r];
            byte_count& alignment = problem.buffers[buffer_of[v]].alignment;
            alignment = combine_alignment(alignment, tasks.alignment[v]);
        }
        lives = concurrent_lifetimes(program, g, problem.buffers.size(), buffer_of, tasks.role);
        conflicts = find_conflict_ranges(g, lives);
        list_lives();
    }

    /// The live ranges if the steps run in sequence by position.
    void list_lives()
    {
        std::vector<position_id> turn(program.steps()); // by step
        position_id next = 0;
        for (position_id at = 0; at != g.positions(); ++at)
            if (g.position_of[g.step_at[at]] == at) turn[g.step_at[at]] = next++;
        for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
            live_range& life = problem.buffers[b].life;
            life.first = lives.begins[b].empty() ? position_id{0} : next;
            for (position_id at : lives.begins[b]) life.first = smaller(life.first, turn[g.step_at[at]]);
            life.last = life.first + 1;
            for (position_id at : lives.ends[b]) {
                bool const is_kept = at == lives.positions;
                step_id const s = is_kept ? no_step : g.step_at[at];
                life.last = larger(+life.last, is_kept ? next + 1 : turn[s] + (g.position_of[s] == at));
            }
        }
    }
    bool is_empty_storage(value_id r) const
    {
        for (value_id v = 0; v != tasks.values(); ++v)
            if (rule.root[v] == r && has_role(tasks.role[v], value_role::external)) return false;
        return tasks.bytes[r] == 0 && (!rule.defs[r].empty() || has_role(tasks.role[r], value_role::input));
    }
    value_id root_of(buffer_id b) const
    {
        for (value_id v = 0;; ++v)
            if (buffer_of[v] == b) return static_cast<value_id>(rule.root[v]);
    }
};

memory_plan placed_at(seen_tasks const& seen, std::vector<byte_count> const& offset)
{
    memory_plan plan;
    plan.valid_for = program_reading::concurrent;
    plan.buffer_of = seen.buffer_of;
    plan.arena_bytes = {0, 0};
    for (value_id v = 0; v != seen.tasks.values(); ++v) // storage of no bytes, which something makes
        if (auto const r = static_cast<value_id>(seen.rule.root[v]); seen.is_empty_storage(r))
            plan.empty.push_back({v, seen.tasks.pool[r]});
    for (buffer_id b = 0; b != seen.problem.buffers.size(); ++b) {
        placement_problem::buffer const& wanted = seen.problem.buffers[b];
        plan.buffers.push_back(
            {.life = wanted.life, .size = wanted.size, .pool = wanted.pool, .offset = offset[b]});
        byte_count& arena = plan.arena_bytes[wanted.pool];
        arena = larger(arena, offset[b] + wanted.size);
    }
    return plan;
}

/// Slots stacked by offset, each with the largest size and alignment of its occupants.
memory_plan stacked(seen_tasks const& seen, slot_plan const& slots)
{
    std::vector<byte_count> size(slots.slots), begin(slots.slots), top(2), offset;
    std::vector<byte_count> alignment(slots.slots, 1);
    std::vector<pool_id> pool(slots.slots);
    for (buffer_id b = 0; b != slots.slot_of.size(); ++b) {
        placement_problem::buffer const& wanted = seen.problem.buffers[b];
        slot_id const s = slots.slot_of[b];
        size[s] = larger(size[s], wanted.size);
        alignment[s] = combine_alignment(alignment[s], wanted.alignment);
        pool[s] = wanted.pool;
    }
    for (slot_id s = 0; s != slots.slots; ++s) {
        begin[s] = align_up(top[pool[s]], alignment[s]);
        top[pool[s]] = begin[s] + size[s];
    }
    for (slot_id s : slots.slot_of) offset.push_back(begin[s]);
    return placed_at(seen, offset);
}

/// A plan for one order, made valid by hand-offs.
memory_plan handed_over(seen_tasks const& seen, std::vector<live_range> const& lives)
{
    placement_problem problem = seen.problem;
    for (std::size_t b = 0; b != lives.size(); ++b) problem.buffers[b].life = lives[b];
    memory_plan plan = placed_at(seen, place(problem).offset);
    for (std::size_t b = 0; b != lives.size(); ++b) plan.buffers[b].life = lives[b];
    auto const found = find_handoffs(seen.g, seen.lives, plan.buffers);
    CHECK(found);
    plan.handoffs = found.handoffs;
    return plan;
}

struct method {
    char const* name;
    memory_plan (*plan)(seen_tasks const&);
};

// --- planners: one function each -------------------------------------------------------------------------

memory_plan own_storage(seen_tasks const& seen)
{
    slot_plan slots;
    for (std::size_t b = 0; b != seen.problem.buffers.size(); ++b) slots.slot_of.push_back(slots.slots++);
    return stacked(seen, slots);
}

/// Each buffer in the first slot with occupants that it may share with, by the definition of the rule.
memory_plan greedy(seen_tasks const& seen)
{
    slot_plan slots;
    for (buffer_id b = 0; b != seen.problem.buffers.size(); ++b) {
        auto may_take = [&](slot_id s) {
            for (buffer_id other = 0; other != b; ++other) {
                bool const one_pool = seen.problem.buffers[b].pool == seen.problem.buffers[other].pool;
                if (slots.slot_of[other] == s &&
                    (!one_pool || !seen.rule.may_share(seen.root_of(b), seen.root_of(other))))
                    return false;
            }
            return true;
        };
        slot_id s = 0;
        while (s != slots.slots && !may_take(s)) ++s;
        slots.slots = larger(slots.slots, s + 1);
        slots.slot_of.push_back(s);
    }
    return stacked(seen, slots);
}

auto sizes_and_pools(seen_tasks const& seen)
{
    return std::pair{[&seen](buffer_id b) { return seen.problem.buffers[b].size; },
                     [&seen](buffer_id b) { return seen.problem.buffers[b].pool; }};
}

memory_plan covered_by_chains(seen_tasks const& seen)
{
    return stacked(seen, fewest_slots(seen.lives, seen.conflicts,
                                      {.pool = [&](buffer_id b) { return seen.problem.buffers[b].pool; }})
                             .plan);
}

memory_plan at_offsets(seen_tasks const& seen)
{
    return placed_at(seen, place_concurrently(seen.problem, seen.lives, seen.conflicts.of).offset);
}

memory_plan listed_with_handoffs(seen_tasks const& seen)
{
    std::vector<live_range> lives;
    for (placement_problem::buffer const& b : seen.problem.buffers) lives.push_back(b.life);
    return handed_over(seen, lives);
}

memory_plan scheduled_with_handoffs(seen_tasks const& seen)
{
    auto const schedule =
        parallel_schedule(seen.g, std::uint64_t{1}, {.workers = seen.tasks.tasks.size() % 3});
    return handed_over(seen, schedule_live_ranges(seen.lives, schedule));
}

memory_plan by_tokens(seen_tasks const& seen)
{
    auto const [bytes, pool] = sizes_and_pools(seen);
    return stacked(seen, share_by_tokens(seen.g, seen.lives, bytes, {.pool = pool}));
}

memory_plan by_begin(seen_tasks const& seen)
{
    auto const [bytes, pool] = sizes_and_pools(seen);
    return stacked(seen, share_in_chains(seen.lives, seen.conflicts, bytes,
                                         {.order = chain_options::ranking::by_begin, .pool = pool}));
}

memory_plan largest_first(seen_tasks const& seen)
{
    auto const [bytes, pool] = sizes_and_pools(seen);
    return stacked(seen, share_in_chains(seen.lives, seen.conflicts, bytes,
                                         {.order = chain_options::ranking::largest_first, .pool = pool}));
}

/// The public planner, which also takes in-place pairs; its own check is off.
memory_plan plan_public(seen_tasks const& seen)
{
    plan_options options = seen.tasks.options();
    options.check = false;
    return plan_concurrent(seen.program, options).plan;
}

memory_plan plan_public_slots(seen_tasks const& seen)
{
    plan_options options = seen.tasks.options();
    options.check = false;
    return plan_concurrent(seen.program, options, {.strategy = concurrent_options::strategy_kind::slots})
        .plan;
}

/// Hand-offs where they save bytes.
memory_plan lowered_with_handoffs(seen_tasks const& seen)
{
    plan_options options = seen.tasks.options();
    options.check = false;
    return plan_with_handoffs(seen.program, options, {.minimum_gain = 0}).plan;
}

memory_plan schedule_with_handoffs(seen_tasks const& seen)
{
    plan_options options = seen.tasks.options();
    options.check = false;
    return plan_with_handoffs(seen.program, options, {.workers = 2, .few_waits = false, .minimum_gain = 0})
        .plan;
}

constexpr method methods[] = {{"own storage", own_storage},
                              {"greedy", greedy},
                              {"tokens", by_tokens},
                              {"chains by begin", by_begin},
                              {"chains, largest first", largest_first},
                              {"plan_concurrent", plan_public},
                              {"plan_concurrent, slots", plan_public_slots},
                              {"fewest slots", covered_by_chains},
                              {"offsets", at_offsets},
                              {"hand-offs of a sequence", listed_with_handoffs},
                              {"hand-offs in a schedule", scheduled_with_handoffs},
                              {"plan_with_handoffs", lowered_with_handoffs},
                              {"plan_with_handoffs, one level", schedule_with_handoffs}};

// --- the rule by definition ------------------------------------------------------------------------------

/// Whether a task is declared to write class v over the one operand of class u that it reads, and all other
/// touches of u come before it.
bool takes_over(random_tasks const& tasks, memory_plan const& plan, sharing_rule const& rule, value_id u,
                value_id v)
{
    auto const from = rule.root[u], to = rule.root[v];
    memory_plan::placed_buffer const &a = plan.buffers[plan.buffer_of[u]],
                                     &b = plan.buffers[plan.buffer_of[v]];
    if (a.offset != b.offset || tasks.bytes[from] < tasks.bytes[to]) return false;
    if (rule.is_kept[from] || rule.is_given[to]) return false;
    for (std::size_t t = 0; t != tasks.tasks.size(); ++t)
        for (auto [in, out] : tasks.tasks[t].pairs) {
            bool holds = rule.root[in] == from && rule.root[out] == to;
            for (value_id read : tasks.tasks[t].uses)
                holds = holds && (rule.root[read] != from || read == in);
            for (std::size_t d : rule.defs[from]) holds = holds && rule.before[d][t];
            for (auto const* row : {&rule.late[from], &rule.early[from]})
                for (std::size_t other : *row) holds = holds && (other == t || rule.before[other][t]);
            for (std::size_t d : rule.defs[to]) holds = holds && (d == t || rule.before[t][d]);
            if (holds) return true;
        }
    return false;
}

/// Whether the plan is invalid by definition: an illegal offset, or two classes share that may not.
bool is_wrong(random_tasks const& tasks, memory_plan const& plan)
{
    sharing_rule const rule(tasks, plan.handoffs);
    auto is_placed = [&](value_id v) { return plan.buffer_of[v] != no_buffer; };
    for (memory_plan::empty_value const& e : plan.empty)
        if (e.pool != tasks.pool[rule.root[e.value]]) return true;
    for (value_id v = 0; v != tasks.values(); ++v) {
        if (!is_placed(v)) continue;
        memory_plan::placed_buffer const& b = plan.buffers[plan.buffer_of[v]];
        if (b.offset % tasks.alignment[v] != 0 || b.pool != tasks.pool[rule.root[v]]) return true;
        for (value_id u = 0; u != v; ++u) {
            if (!is_placed(u) || rule.root[u] == rule.root[v] || rule.may_share(u, v)) continue;
            memory_plan::placed_buffer const& a = plan.buffers[plan.buffer_of[u]];
            if (takes_over(tasks, plan, rule, u, v) || takes_over(tasks, plan, rule, v, u)) continue;
            if (a.pool == b.pool && a.offset < b.offset + tasks.bytes[rule.root[v]] &&
                b.offset < a.offset + tasks.bytes[rule.root[u]])
                return true;
        }
    }
    return false;
}

random_tasks_shape draw_shape(random_source& pick)
{
    random_tasks_shape shape;
    bool const is_small = pick.below(3) != 0;
    shape.tasks = is_small ? 1 + pick.below(7) : 8 + pick.below(30);
    shape.back = pick.below(3) == 0 ? 3 : 0;
    shape.edges = pick.below(2) * 30;
    shape.early = pick.below(3) * 15;
    shape.given = pick.below(4);
    shape.views = pick.below(3) * 12;
    shape.pools = 1 + pick.below(2);
    shape.sizes = is_small ? 3 : 8;
    shape.alignments = is_small ? 1 : 1 + pick.below(4);
    shape.in_place = pick.below(3) * 25;
    shape.shuffled = pick.below(2) == 0;
    return shape;
}

/// Calls `judge` with the generator and tasks.
template <class Judge>
void for_random_tasks(unsigned usual, Judge judge)
{
    unsigned const first = first_seed();
    unsigned const programs = rounds(usual);
    for (unsigned seed = first; seed != first + programs; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks const tasks = draw_tasks(pick, draw_shape(pick));
        judge(pick, tasks);
    }
}

// --- planted faults --------------------------------------------------------------------------------------

/// Drops a use of an operand.
bool drop_a_use(random_source& pick, random_tasks& tasks)
{
    auto& task = pick.one_of(tasks.tasks);
    auto& row = task.uses.empty() ? task.early : task.uses;
    if (row.empty()) return false;
    row.erase(row.begin() + pick.below(static_cast<unsigned>(row.size())));
    return true;
}

/// Keeps the order of a task and its operand, but frees the operand before that task's touch.
bool free_a_touch_early(random_source& pick, random_tasks& tasks)
{
    node_id const t = pick.below(static_cast<unsigned>(tasks.tasks.size()));
    auto& uses = tasks.tasks[t].uses;
    if (uses.empty()) return false;
    auto const at = pick.below(static_cast<unsigned>(uses.size()));
    value_id const v = uses[at];
    uses.erase(uses.begin() + at);
    for (auto& task : tasks.tasks)
        for (value_id made : task.defs)
            if (made == v) task.next.push_back(t);
    return true;
}

bool forget_alignment(random_source&, random_tasks& tasks)
{
    tasks.alignment.assign(tasks.values(), 1);
    return true;
}

bool take_the_wrong_pool(random_source& pick, random_tasks& tasks)
{
    if (tasks.values() == 0) return false;
    pool_id& pool = tasks.pool[pick.below(static_cast<unsigned>(tasks.values()))];
    pool = pool ^ 1u;
    return true;
}

/// Orders two tasks that may run concurrently.
bool merge_two_branches(random_source& pick, random_tasks& tasks)
{
    auto const n = static_cast<unsigned>(tasks.tasks.size());
    sharing_rule const rule(tasks);
    unsigned const a = pick.below(n), b = pick.below(n);
    if (a == b || rule.before[a][b] || rule.before[b][a]) return false;
    tasks.tasks[a].next.push_back(b);
    return true;
}

/// Frees an output after its last read.
bool forget_an_output(random_source& pick, random_tasks& tasks)
{
    if (tasks.values() == 0) return false;
    value_role& role = tasks.role[pick.below(static_cast<unsigned>(tasks.values()))];
    if (role != value_role::output) return false;
    role = value_role::intermediate;
    return true;
}

struct fault_injection {
    char const* name;
    bool (*inject)(random_source&, random_tasks&);
    unsigned least; ///< invalid plans that it must cause in 300 programs, or the test is void
};
constexpr fault_injection faults[] = {{"drop a use", drop_a_use, 50},
                                      {"free one touch early", free_a_touch_early, 50},
                                      {"forget alignment", forget_alignment, 50},
                                      {"wrong pool", take_the_wrong_pool, 50},
                                      {"merge two branches", merge_two_branches, 50},
                                      {"forget an output", forget_an_output, 10}};

} // namespace

TEST_CASE("by every planner, in every order of the tasks each read finds the value written for it")
{
    for_random_tasks(1000, [](random_source&, random_tasks const& tasks) {
        seen_tasks const seen(tasks);
        for (method const& by : methods) {
            std::string const planner = by.name;
            CAPTURE(planner);
            memory_plan const plan = by.plan(seen);
            auto const valid = check_concurrent_plan(seen.program, plan, tasks.options());
            if (!valid) FAIL_CHECK(valid.error());
            if (tasks.tasks.size() <= 7) CHECK(!concurrent_oracle(tasks, plan).has_corruption());
            CHECK(!is_wrong(tasks, plan));
        }
    });
}

TEST_CASE("a fact hidden from a planner is found by the checker wherever it makes the plan invalid")
{
    for (fault_injection const& injection : faults) {
        std::string const forgotten = injection.name;
        CAPTURE(forgotten);
        std::size_t harmful = 0;
        for_random_tasks(300, [&](random_source& pick, random_tasks const& tasks) {
            random_tasks changed = tasks;
            if (!injection.inject(pick, changed)) return;
            seen_tasks const seen(changed);
            for (method const& by : methods) {
                std::string const planner = by.name;
                CAPTURE(planner);
                memory_plan const plan = by.plan(seen);
                // A hand-off may close a cycle now that an edge or a use is missing.
                sharing_rule const rule(tasks, plan.handoffs);
                bool has_cycle = false;
                for (std::size_t t = 0; t != tasks.tasks.size(); ++t)
                    has_cycle = has_cycle || rule.before[t][t];
                auto const valid = check_concurrent_plan(tasks.program(), plan, tasks.options());
                CHECK(!valid == (has_cycle || is_wrong(tasks, plan)));
                if (valid) continue;
                counterexample const& why = valid.error();
                CHECK((why.what == fault::cycle) == has_cycle);
                if ((why.what == fault::clash || why.what == fault::overwritten) &&
                    tasks.alignment == std::vector<byte_count>(tasks.values(), 1))
                    CHECK(concurrent_oracle(tasks, plan).confirms(why));
                ++harmful;
            }
        });
        CHECK(harmful >= rounds(injection.least));
    }
}

TEST_CASE("every hand-off of a plan is necessary")
{
    std::size_t tried = 0;
    for_random_tasks(500, [&](random_source&, random_tasks const& tasks) {
        seen_tasks const seen(tasks);
        for (method const& by : methods) {
            std::string const planner = by.name;
            CAPTURE(planner);
            memory_plan const plan = by.plan(seen);
            for (std::size_t i = 0; i != plan.handoffs.size(); ++i) {
                memory_plan fewer = plan;
                fewer.handoffs.erase(fewer.handoffs.begin() + static_cast<std::ptrdiff_t>(i));
                CHECK(!check_concurrent_plan(seen.program, fewer, tasks.options()));
                ++tried;
            }
        }
    });
    CHECK(tried > 500);
}

} // namespace this_test
