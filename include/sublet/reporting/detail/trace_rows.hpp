// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_TRACE_ROWS_HPP
#define SUBLET_REPORTING_DETAIL_TRACE_ROWS_HPP

/// The rows of a trace: which buffers share a row of the picture, and the live bytes at each position
/// where they change. A row has one offset; buffers of a valid plan that have it follow each other in
/// time.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// What a trace of a plan shows, by pool.
struct trace_of_plan {
    struct row {
        pool_id pool = 0;
        std::size_t index = 0; ///< in its pool
        byte_count offset = 0;
    };
    struct event {
        buffer_id buffer = no_buffer;
        std::size_t row = 0; ///< in its pool
    };
    struct level {
        pool_id pool = 0;
        position_id position = 0;
        byte_count bytes = 0; ///< live from here on
    };
    std::vector<trace_of_plan::row> rows{};     ///< by pool and offset
    std::vector<trace_of_plan::event> events{}; ///< by pool and row, then by time
    std::vector<trace_of_plan::level> levels{}; ///< by pool and position
};

/// Buffers of one row have one offset and do not overlap in time: a valid plan has a row for each offset, an
/// invalid one may need several.
///
/// Complexity: O(n log n), n = buffers.
/// Throws:     precondition_error if the bytes live at once exceed 64 bits; std::bad_alloc.
[[nodiscard]] trace_of_plan rows_of_trace(memory_plan const& plan);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/trace_rows.ipp>
#endif

#endif
