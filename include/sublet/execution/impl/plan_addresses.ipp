// SPDX-License-Identifier: BSL-1.0

/// One pass over the buffers: each is compared with the arena of its pool, without a sum that could wrap.

#include <sublet/checking/internal/places.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/execution/detail/plan_addresses.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet::detail {

SUBLET_DECL void expect_place(buffer const& its, byte_count size, byte_count at, byte_count arena_bytes)
{
    auto fail = [](counterexample const& why) { throw unsound_plan(why); };
    if (at > arena_bytes || size > arena_bytes - at)
        fail({fault::outside_arena, counterexample::place{.value = its.root,
                                                          .pool = its.pool,
                                                          .begin = at,
                                                          .end = sum_fits(at, size) ? at + size : no_offset,
                                                          .needed = arena_bytes}});
    if (at % its.alignment != 0)
        fail({fault::misaligned,
              counterexample::place{
                  .value = its.root, .pool = its.pool, .begin = at, .needed = its.alignment}});
}

SUBLET_DECL void expect_placed(lowered_program const& lowered, memory_plan const& plan)
{
    auto fail = [](counterexample const& why) { throw unsound_plan(why); };
    if (!is_complete(plan, lowered.table.buffer_of.size())) fail({fault::foreign_plan});
    for (buffer const& b : lowered.table.buffers) {
        if (!b.is_planned()) continue;
        if (plan.buffer_of[b.root] == no_buffer)
            fail({fault::unplaced, counterexample::place{.value = b.root}});
        auto const [pool, at] = place_of(plan, b.root);
        if (pool != b.pool || pool >= plan.arena_bytes.size()) fail({fault::foreign_plan});
        expect_place(b, b.size, at, plan.arena_bytes[pool]);
    }
}

SUBLET_DECL std::span<std::byte> part_of(lowered_program const& lowered, value_id v,
                                         std::span<std::byte> whole)
{
    auto const& offsets = lowered.table.offset_in_root;
    byte_count const begin = offsets.empty() ? 0 : smaller(offsets[v], byte_count{whole.size()});
    return whole.subspan(to_size(begin), to_size(smaller(lowered.bytes[v], whole.size() - begin)));
}

SUBLET_DECL table<pool_id, byte_count> arena_alignments(lowered_program const& lowered,
                                                        memory_plan const& plan)
{
    table<pool_id, byte_count> alignment(plan.arena_bytes.size(), 1);
    for (buffer const& b : lowered.table.buffers)
        if (b.is_planned()) alignment[b.pool] = std::max(alignment[b.pool], b.alignment);
    return alignment;
}

} // namespace sublet::detail
