// SPDX-License-Identifier: BSL-1.0

/// Each stage enters what it finds into the result at once, so that a plan that is refused later shows what
/// was planned.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/stages.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_COLD_DECL plan_report begun_report(snapshot const& p, program_reading reading)
{
    plan_report report;
    report.reading = reading;
    report.steps = p.steps();
    report.values = p.values();
    return report;
}

SUBLET_COLD_DECL std::clock_t begin_plan(planned_memory& result, snapshot const& p, program_reading reading)
{
    result.plan.valid_for = reading;
    result.plan.buffer_of.assign(p.values(), no_buffer);
    result.figures = begun_report(p, reading);
    return std::clock();
}

SUBLET_COLD_DECL void enter_buffers(buffer_table& buffers, plan_options const& options,
                                    table<pool_id, pool_limits> const& room, planned_memory& result)
{
    result.figures.refute(oversized_view(buffers));
    result.figures.external = external_roots(buffers);
    set_chosen_pools(buffers, options, room);
    for (buffer& b : buffers.buffers) // kinds are of no matter without pages
        if (b.pool >= options.pools.size() || options.pools[b.pool].page == 1) b.kind = 0;
    expect_apart(buffers, options);
}

SUBLET_COLD_DECL void expect_apart(buffer_table const& table, plan_options const& options)
{
    constexpr byte_count too_large = byte_count{1} << 62;
    if (options.apart.empty()) return;
    std::size_t const values = table.buffer_of.size();
    sublet::table<buffer_id, unsigned char> is_carried(table.buffers.size(), 0), may_choose = is_carried;
    for (plan_options::carry const& c : options.carried)
        for (value_id v : {c.from, c.to})
            if (v < values) is_carried[table.buffer_of[v]] = 1;
    for (plan_options::pool_choice const& c : options.pool_choices) may_choose[table.buffer_of[c.value]] = 1;
    for (auto const& pair : options.apart) {
        value_id const v = pair.first, w = pair.second;
        SUBLET_EXPECTS(v != w, "sublet: value % is kept apart from itself", v);
        buffer_id const a = table.buffer_of[v], b = table.buffer_of[w];
        SUBLET_EXPECTS(a != b,
                       "sublet: values % and % are kept apart, and are parts of the storage of value %", v, w,
                       table.buffers[a].root);
        buffer const &one = table.buffers[a], &other = table.buffers[b];
        SUBLET_EXPECTS(one.pool == other.pool || may_choose[a] != 0 || may_choose[b] != 0,
                       "sublet: value % is in pool %, and is kept apart from value %, which is in pool %", v,
                       one.pool, w, other.pool);
        for (value_id its : {v, w}) {
            buffer const& kept = table.buffers[table.buffer_of[its]];
            value_id const from = its == v ? w : v;
            SUBLET_EXPECTS(kept.eligible && !has_role(kept.role, value_role::external),
                           "sublet: value % is kept apart from value %, and has storage of its own", its,
                           from);
            SUBLET_EXPECTS(!kept.is_unsized(),
                           "sublet: value % is kept apart from value %, and its size is unknown", its, from);
            SUBLET_EXPECTS(is_carried[table.buffer_of[its]] == 0,
                           "sublet: value % is kept apart from value %, and is carried into the next round",
                           its, from);
        }
        if (!one.is_planned() || !other.is_planned() || one.pool != other.pool) continue;
        byte_count const bank = one.pool < options.pools.size() ? options.pools[one.pool].bank : 1;
        SUBLET_EXPECTS(bank != 0, "sublet: the banks of pool % have 0 bytes", one.pool);
        for (buffer const* its : {&one, &other})
            SUBLET_EXPECTS(
                bank < too_large && (its->size >= too_large || its->size <= too_large - bank),
                "sublet: value % has % bytes, and whole banks of % bytes hold it only beyond 62 bits",
                its->root, its->size, bank);
        if (one.pinned == no_offset || other.pinned == no_offset || !overlaps(one.life, other.life)) continue;
        bool const are_apart = checked_add(one.pinned, one.size - 1) / bank < other.pinned / bank ||
                               checked_add(other.pinned, other.size - 1) / bank < one.pinned / bank;
        SUBLET_EXPECTS(are_apart,
                       "sublet: values % and % are kept apart, and are pinned at % and %, into one bank", v,
                       w, one.pinned, other.pinned);
    }
}

SUBLET_COLD_DECL void expect_no_reserved(plan_options const& options, char const* planner)
{
    for (pool_id pool = 0; pool != options.pools.size(); ++pool)
        SUBLET_EXPECTS(options.pools[pool].reserved.empty(),
                       "sublet: pool % has reserved bytes, and %() does not keep them free", pool, planner);
}

SUBLET_COLD_DECL void expect_no_pages(plan_options const& options, char const* planner)
{
    for (pool_id pool = 0; pool != options.pools.size(); ++pool)
        SUBLET_EXPECTS(options.pools[pool].page == 1, "sublet: pool % has pages, and % keeps none", pool,
                       planner);
}

SUBLET_COLD_DECL void fill_report(plan_report& report, placement const& placed, memory_plan const& plan)
{
    auto add = [](byte_count& sum, byte_count more) { sum = sum_fits(sum, more) ? sum + more : no_size - 1; };
    constexpr std::size_t most = 5;
    memory_plan::placed_buffer const* largest[most + 1]; // largest first, equal ones by ascending root
    std::size_t found = 0;
    report.buffers = plan.buffers.size();
    report.pools = table<pool_id, pool_report>(placed.pools.size());
    for (memory_plan::placed_buffer const& b : plan.buffers) {
        add(report.pools[b.pool].naive_bytes, b.size);
        std::size_t at = found;
        for (; at != 0 && largest[at - 1]->size < b.size; --at) largest[at] = largest[at - 1];
        largest[at] = &b;
        found = smaller(found + 1, most);
    }
    report.largest.resize(found);
    for (std::size_t i = 0; i != found; ++i) report.largest[i] = largest[i]->root;
    for (pool_id i = 0; i != placed.pools.size(); ++i) {
        pool_report& pool = report.pools[i];
        pool.lower_bound_bytes = placed.pools[i].lower_bound;
        pool.arena_bytes = placed.pools[i].height;
        pool.peak_position = placed.pools[i].peak_position;
        add(report.naive_bytes, pool.naive_bytes);
        add(report.lower_bound_bytes, pool.lower_bound_bytes);
        add(report.arena_bytes, pool.arena_bytes);
    }
    if (!report.pools.empty()) report.peak_position = report.pools.front().peak_position;
    report.unsized = plan.unsized;
}

SUBLET_COLD_DECL void enter_offsets(placement const& placed, planned_memory& result)
{
    set_offsets(placed, result.plan);
    fill_report(result.figures, placed, result.plan);
}

SUBLET_COLD_DECL void enter_placement(placement const& placed, placement_problem const& problem,
                                      planned_memory& result)
{
    enter_offsets(placed, result);
    if (result) result.figures.refute(why_not_placed(placed, problem, result.plan));
}

} // namespace sublet::detail
