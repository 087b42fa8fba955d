// SPDX-License-Identifier: BSL-1.0

/// Sorts the buffers by pool, offset and begin, and colours the intervals of each offset greedily: a heap
/// has the open rows by the position from which they are free. Live bytes come from a sweep over each
/// pool.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/detail/trace_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

namespace sublet::detail {

SUBLET_DECL trace_of_plan rows_of_trace(memory_plan const& plan)
{
    trace_of_plan trace;
    std::vector<buffer_id> shown;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        memory_plan::placed_buffer const& its = plan.buffers[b];
        if (its.size != 0 && its.offset != no_offset && !is_empty(its.life))
            shown.push_back(b);
    }
    auto const key = [&](buffer_id b) {
        memory_plan::placed_buffer const& its = plan.buffers[b];
        return std::tuple(its.pool, its.offset, its.life.first, its.life.last, b);
    };
    std::sort(shown.begin(), shown.end(), [&](buffer_id a, buffer_id b) { return key(a) < key(b); });

    // Rows of the offset at hand, as a heap: the one that is free first, and of these the lowest, is at its
    // front.
    struct open_row {
        position_id free_from;
        std::size_t index;
    };
    auto const is_later = [](open_row a, open_row b) {
        return a.free_from != b.free_from ? a.free_from > b.free_from : a.index > b.index;
    };
    std::vector<open_row> open;
    std::vector<memory_plan::placed_buffer const*> buffers; // of the pool at hand
    std::size_t rows = 0;                                   // of the pool at hand
    for (std::size_t i = 0; i != shown.size(); ++i) {
        memory_plan::placed_buffer const& its = plan.buffers[shown[i]];
        memory_plan::placed_buffer const* const before = i == 0 ? nullptr : &plan.buffers[shown[i - 1]];
        bool const is_new_pool = before == nullptr || before->pool != its.pool;
        if (is_new_pool) rows = 0, buffers.clear();
        if (is_new_pool || before->offset != its.offset) open.clear();
        if (open.empty() || open.front().free_from > its.life.first) {
            open.push_back({its.life.last, rows});
            trace.rows.push_back({its.pool, rows, its.offset});
            trace.events.push_back({shown[i], rows++});
        } else {
            std::pop_heap(open.begin(), open.end(), is_later);
            open.back().free_from = its.life.last;
            trace.events.push_back({shown[i], open.back().index});
        }
        std::push_heap(open.begin(), open.end(), is_later);

        buffers.push_back(&its);
        if (i + 1 != shown.size() && plan.buffers[shown[i + 1]].pool == its.pool) continue;
        for (live_level const& level : profile_of(buffers).levels)
            trace.levels.push_back({its.pool, level.position, level.bytes});
    }
    return trace;
}

} // namespace sublet::detail
