// SPDX-License-Identifier: BSL-1.0
/// One pass over the buffers numbers those that need storage; values, pairs, pins and choices follow these
/// numbers.

#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/sorting.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/choose_pools.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL std::optional<counterexample> oversized_view(buffer_table const& table)
{
    if (table.oversized_view == no_value) return std::nullopt;
    buffer const& its = table.buffers[table.buffer_of[table.oversized_view]];
    return counterexample{fault::oversized_view, counterexample::view{.value = table.oversized_view,
                                                                      .other = its.root,
                                                                      .end = table.oversized_bytes,
                                                                      .needed = its.size}};
}

SUBLET_COLD_DECL std::vector<value_id> external_roots(buffer_table const& table)
{
    std::vector<value_id> roots;
    for (buffer const& b : table.buffers)
        if ((!b.eligible || has_role(b.role, value_role::external)) && !is_empty(b.life))
            roots.push_back(b.root);
    return roots;
}

SUBLET_COLD_DECL std::vector<value_id> external_roots(snapshot const& p, buffer_table const& table)
{
    std::vector<value_id> roots;
    bool is_any = false;
    for (buffer const& b : table.buffers)
        is_any = is_any || !b.eligible || has_role(b.role, value_role::external);
    if (!is_any) return roots;
    sublet::table<buffer_id, unsigned char> is_used(table.buffers.size(), 0);
    for (touch t : p.touches({0, step_id::of(p.steps())})) is_used[table.buffer_of[t.value]] = 1;
    for (edge_use u : p.edge_uses()) is_used[table.buffer_of[u.value]] = 1;
    for (buffer_id i = 0; i != table.buffers.size(); ++i) {
        buffer const& b = table.buffers[i];
        if (is_used[i] && (!b.eligible || has_role(b.role, value_role::external))) roots.push_back(b.root);
    }
    return roots;
}

SUBLET_COLD_DECL std::optional<counterexample> list_planned(buffer_table const& table, memory_plan& plan,
                                                            placement_problem& problem)
{
    std::optional<counterexample> refuted = oversized_view(table);
    std::size_t count = 0;
    for (buffer const& b : table.buffers) count += b.is_planned();
    problem.buffers.reserve(problem.buffers.size() + count);
    plan.buffers.reserve(plan.buffers.size() + count);
    plan.buffer_of.assign(table.buffer_of.size(), no_buffer); // of roots, and then of all
    for (buffer const& b : table.buffers) {
        if (b.is_unsized()) plan.unsized.push_back(b.root);
        if (b.conflicting_pin != no_offset && !refuted && (b.is_planned() || b.is_empty_storage()))
            refuted = counterexample{fault::off_pin, counterexample::place{.value = b.root,
                                                                           .pool = b.pool,
                                                                           .begin = b.pinned,
                                                                           .needed = b.conflicting_pin}};
        if (!b.is_planned()) continue;
        plan.buffer_of[b.root] = buffer_id::of(plan.buffers.size());
        problem.buffers.push_back({.life = b.life,
                                   .size = b.size,
                                   .alignment = b.alignment,
                                   .pool = b.pool,
                                   .pinned = b.pinned,
                                   .kind = b.kind});
        byte_count const alignment = combine_alignment(b.alignment, limits_of(problem, b.pool).alignment);
        plan.buffers.push_back({b.root, b.life, b.size, alignment, b.pool, no_offset});
    }
    for (buffer const& b : table.buffers)
        if (b.over != no_buffer) {
            buffer_id const its = plan.buffer_of[b.root], over = plan.buffer_of[table.buffers[b.over].root];
            plan.buffers[its].over = over;
            problem.colocated.push_back({its, over, 0});
        }
    for (value_id v = 0; v != plan.buffer_of.size(); ++v)
        plan.buffer_of[v] = plan.buffer_of[table.buffers[table.buffer_of[v]].root];
    for (auto const& pair : table.apart) { // one buffer holds both if they are never live together
        buffer_id const a = plan.buffer_of[pair.first], b = plan.buffer_of[pair.second];
        if (a != no_buffer && b != no_buffer && a != b) problem.apart.push_back({a, b});
    }
    bool has_empty = false;
    for (buffer const& b : table.buffers) has_empty = has_empty || b.is_empty_storage();
    for (value_id v = 0; v != plan.buffer_of.size() && has_empty; ++v)
        if (buffer const& b = table.buffers[table.buffer_of[v]]; b.is_empty_storage())
            plan.empty.push_back(
                {v, b.pool, b.pinned == no_offset ? byte_count{0} : b.pinned});
    plan.offset_in_root = table.offset_in_root;
    return refuted;
}

SUBLET_COLD_DECL void set_chosen_pools(buffer_table& table, plan_options const& options,
                                       sublet::table<pool_id, pool_limits> const& room)
{
    if (options.pool_choices.empty()) return;
    memory_plan plan;
    placement_problem problem{{}, room};
    list_planned(table, plan, problem);
    for (plan_options::pool_choice const& c : options.pool_choices) {
        SUBLET_EXPECTS(c.value < table.buffer_of.size(),
                       "sublet: a choice names value %, but there are only % values", c.value,
                       table.buffer_of.size());
        buffer_id const b = plan.buffer_of[c.value];
        if (b != no_buffer && plan.buffers[b].root == c.value) problem.choices.push_back({b, c.pool, c.cost});
    }
    deterministic_control control;
    sublet::table<buffer_id, pool_id> const chosen = choose_pools(problem, {}, control).pool_of;
    buffer_id next = 0;
    for (buffer& b : table.buffers)
        if (b.is_planned()) b.pool = chosen[next++];
}

SUBLET_COLD_DECL std::optional<counterexample>
why_not_placed(placement const& placed, placement_problem const& problem, memory_plan const& plan)
{
    std::optional<counterexample> why = why_not_placed(problem, placed);
    if (!why) return why;
    counterexample::buffers const its = *why->as<counterexample::buffers>();
    auto value_of = [&plan](buffer_id b) { return b == no_buffer ? no_value : plan.buffers[b].root; };
    if (why->what == fault::clash || why->what == fault::too_close) {
        why->of = counterexample::overlap{.value = value_of(its.buffer),
                                          .other = value_of(its.other),
                                          .position = its.position,
                                          .pool = its.pool,
                                          .begin = its.begin,
                                          .end = its.end};
    } else {
        why->of = counterexample::place{.value = value_of(its.buffer),
                                        .pool = its.pool,
                                        .begin = its.begin,
                                        .end = its.end,
                                        .needed = its.needed};
    }
    return why;
}

SUBLET_COLD_DECL void set_offsets(placement const& placed, memory_plan& plan)
{
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) plan.buffers[b].offset = placed.offset[b];
    plan.arena_bytes.reserve(placed.pools.size());
    for (placement::pool_result const& pool : placed.pools) {
        plan.arena_bytes.push_back(pool.height);
        plan.blocks.insert(plan.blocks.end(), pool.blocks.begin(), pool.blocks.end());
    }
    for (memory_plan::empty_value const& e : plan.empty) { // its pool has an arena, perhaps of no bytes
        SUBLET_EXPECTS(e.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       e.value, e.pool);
        if (e.pool >= plan.arena_bytes.size()) plan.arena_bytes.resize(e.pool + 1, 0);
    }
}

} // namespace sublet::detail
