// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_VECTOR_CLOCKS_HPP
#define SUBLET_EXECUTION_DETAIL_VECTOR_CLOCKS_HPP

/// For each stream, the work on every stream that happens before its next command.
///
///     stream 0   ─ m0 ───── m2 ─────────────        final clock of stream 0   {2, 0, 0}
///     stream 1   ──── m1 ── wait m0 ── m3 ──                   of stream 1   {1, 2, 0}
///     stream 2   ───────────────── wait m3 ─                   of stream 2   {1, 2, 0}
///
/// Commands of a stream run in order, so one number per stream suffices. A wait for a mark joins the clock of
/// the mark into the clock of the stream. So stream 2 need not wait for m0.
///
/// Source: Mattern, "Virtual time and global states of distributed systems", Parallel and Distributed
/// Algorithms 1989; Fidge, "Timestamps in message-passing systems that preserve the partial ordering", ACSC
/// 1988.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Marks are numbered in the order in which they are set.
class vector_clocks {
public:
    explicit vector_clocks(std::size_t streams) : streams_(streams), clock_(streams * streams, 0) {}

    std::uint32_t mark(std::uint32_t stream);
    void join_mark(std::uint32_t stream, std::uint32_t mark) { merge(row_of(clock_, stream), mark); }

    /// The next command of the stream happens after the mark already.
    [[nodiscard]] bool is_after(std::uint32_t stream, std::uint32_t mark) const
    {
        return is_after(row_of(clock_, stream), mark);
    }

    [[nodiscard]] std::uint32_t stream_of(std::uint32_t mark) const { return stream_of_[mark]; }

    /// A wait for these marks implies one for all marks of the stream.
    [[nodiscard]] bool covers(std::vector<std::uint32_t> const& marks, std::uint32_t stream) const;

private:
    std::uint32_t* row_of(std::vector<std::uint32_t>& rows, std::size_t row) const
    {
        return rows.data() + row * streams_;
    }
    std::uint32_t const* row_of(std::vector<std::uint32_t> const& rows, std::size_t row) const
    {
        return rows.data() + row * streams_;
    }
    bool is_after(std::uint32_t const* clock, std::uint32_t mark) const;
    void merge(std::uint32_t* clock, std::uint32_t mark);

    std::size_t streams_;
    std::vector<std::uint32_t> clock_;      // by stream, by stream: marks that happen before
    std::vector<std::uint32_t> mark_clock_; // by mark, by stream: the clock when it was set
    std::vector<std::uint32_t> stream_of_;  // by mark
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/vector_clocks.ipp>
#endif

#endif
