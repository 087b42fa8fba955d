// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_PLANNED_BUFFERS_IPP
#define SUBLET_IMPL_PLANNED_BUFFERS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/planned_buffers.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

SUBLET_DECL std::optional<witness> oversized_view(buffer_table const& table)
{
    if (table.oversized_view == no_value) return std::nullopt;
    buffer const& its = table.buffers[table.buffer_of[table.oversized_view]];
    return witness{.what = fault::oversized_view,
                   .value = table.oversized_view,
                   .other = its.root,
                   .end = table.oversized_bytes,
                   .needed = its.size};
}

SUBLET_DECL std::optional<witness> list_planned(buffer_table const& table, memory_plan& plan,
                                                placement_problem& problem)
{
    std::optional<witness> refuted = oversized_view(table);
    std::vector<buffer_id> planned(table.buffers.size(), no_buffer); // by buffer: its number in the problem
    for (std::size_t i = 0; i != table.buffers.size(); ++i) {
        buffer const& b = table.buffers[i];
        if (b.is_unsized()) plan.unsized.push_back(b.root);
        if (!b.is_planned()) continue;
        if (b.pinned_too != no_offset && !refuted)
            refuted = witness{.what = fault::off_pin,
                              .value = b.root,
                              .begin = b.pinned,
                              .needed = b.pinned_too,
                              .pool = b.pool};
        planned[i] = static_cast<buffer_id>(plan.buffers.size());
        problem.buffers.push_back({b.life, b.size, b.alignment, b.pool, b.pinned});
        plan.buffers.push_back({b.root, b.life, b.size, b.alignment, b.pool, no_offset});
    }
    for (std::size_t i = 0; i != table.buffers.size(); ++i)
        if (buffer_id const over = table.buffers[i].over; over != no_buffer) {
            plan.buffers[planned[i]].over = planned[over];
            problem.colocated.push_back({planned[i], planned[over], 0});
        }
    plan.buffer_of.clear();
    for (buffer_id b : table.buffer_of) plan.buffer_of.push_back(planned[b]);
    return refuted;
}

SUBLET_DECL std::optional<witness> objection(placement const& placed, placement_problem const& problem,
                                             memory_plan const& plan)
{
    if (placed.status <= placement_status::feasible) return std::nullopt;
    witness w{.pool = placed.pool};
    placed_pool const& pool = placed.pools[placed.pool];
    if (pool.proof.kind == proof_kind::pin_misaligned) {
        buffer_id const b = pool.proof.buffers[0];
        w.what = fault::misaligned;
        w.value = plan.buffers[b].root;
        w.begin = problem.buffers[b].pinned;
        w.needed = plan.buffers[b].alignment;
        if (placed.pool < problem.pools.size())
            w.needed = combine_alignment(w.needed, problem.pools[placed.pool].alignment);
    } else if (pool.proof.kind == proof_kind::pins_clash) {
        buffer_id const first = pool.proof.buffers[0], second = pool.proof.buffers[1];
        placement_buffer const &a = problem.buffers[first], &b = problem.buffers[second];
        w.what = fault::clash;
        w.value = plan.buffers[first].root;
        w.other = plan.buffers[second].root;
        w.position = larger(a.life.first, b.life.first);
        w.begin = larger(a.pinned, b.pinned);
        w.end = smaller(a.pinned + a.size, b.pinned + b.size);
    } else {
        w.what = fault::over_capacity;
        w.end = pool.height;
        w.needed = problem.pools[placed.pool].capacity;
    }
    return w;
}

SUBLET_DECL void put(placement const& placed, memory_plan& plan)
{
    for (std::size_t b = 0; b != plan.buffers.size(); ++b) plan.buffers[b].offset = placed.offset[b];
    for (placed_pool const& pool : placed.pools) plan.arena_bytes.push_back(pool.height);
}

} // namespace sublet::detail

#endif
