// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_KNOWLEDGE_HPP
#define SUBLET_EXECUTION_STREAM_KNOWLEDGE_HPP

/// What each stream knows to be done on the others.
///
///     stream 0   ─ m0 ───── m2 ─────────────        clock of stream 0 in the end   {2, 0, 0}
///     stream 1   ──── m1 ── wait m0 ── m3 ──                      of stream 1      {1, 2, 0}
///     stream 2   ───────────────── wait m3 ─                      of stream 2      {1, 2, 0}
///
/// Commands of a stream come one after the other, so to know one is to know all before it: a number a stream
/// says everything. Who waits for a mark learns all that was known there. So stream 2 need not wait for m0.
///
/// Source: Mattern, "Virtual time and global states of distributed systems", Parallel and Distributed
/// Algorithms 1989; Fidge, "Timestamps in message-passing systems that preserve the partial ordering", ACSC
/// 1988.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Marks are numbered in the order in which they are set.
class stream_knowledge {
public:
    explicit stream_knowledge(std::size_t streams) : streams_(streams), now_(streams * streams, 0) {}

    /// A mark behind all that is on the stream.
    std::uint32_t mark(std::uint32_t stream);
    /// The stream waits for the mark.
    void learn(std::uint32_t stream, std::uint32_t mark) { merge(row_of(now_, stream), mark); }

    /// What comes next on the stream comes after the mark anyway.
    [[nodiscard]] bool knows(std::uint32_t stream, std::uint32_t mark) const
    {
        return knows(row_of(now_, stream), mark);
    }

    [[nodiscard]] std::uint32_t stream_of(std::uint32_t mark) const { return stream_of_[mark]; }

    /// Whoever waits for these marks need not wait for anything else on the stream.
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
    bool knows(std::uint32_t const* clock, std::uint32_t mark) const;
    void merge(std::uint32_t* clock, std::uint32_t mark);

    std::size_t streams_;
    std::vector<std::uint32_t> now_;       // by stream, by stream: how many marks are known
    std::vector<std::uint32_t> at_mark_;   // by mark, by stream: the same, when it was set
    std::vector<std::uint32_t> stream_of_; // by mark
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/knowledge.ipp>
#endif

#endif
