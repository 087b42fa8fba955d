// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTERNAL_STREAM_CLOCKS_HPP
#define SUBLET_CHECKING_INTERNAL_STREAM_CLOCKS_HPP

/// Vector clocks: which commands happen before which, in every order in which a device may execute them.
///
///     stream 0   a   b   record e            before    stream 0   1   2
///     stream 1   c   wait e   d              a             -      -   -
///     stream 2   f                           d             3      2   -      so a, b and c come before d,
///                                                                            and f need not
///
/// A command happens after those before it in its stream, after all that an awaited event covers, and after
/// all that the caller had joined when it was issued. So it suffices to count, for each stream, how many of
/// its commands happen before; the counts never decrease along a stream, and change at waits.
///
/// Source: vector clocks, found by Fidge, "Timestamps in message-passing systems that preserve the partial
/// ordering", 11th Australian Computer Science Conference, 1988, and by Mattern, "Virtual time and global
/// states of distributed systems", 1989.

#include <sublet/checking/stream_commands.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The clock of each command.
class stream_clocks {
public:
    /// Complexity: O(commands + (waits + joins x streams) x streams) time and memory.
    /// Throws:     precondition_error for a stream that is not one of `streams`.
    explicit stream_clocks(stream_commands const& list);

    /// Whether `earlier` happens before `later`.  Requires: earlier < later.
    [[nodiscard]] bool is_before(std::uint32_t earlier, std::uint32_t later) const
    {
        command const &a = rows_[earlier], &b = rows_[later];
        return a.stream == b.stream || counts_[b.row * streams_ + a.stream] > a.number;
    }
    /// Whether the event of the wait was recorded.
    [[nodiscard]] bool is_recorded(std::uint32_t wait) const { return rows_[wait].is_recorded; }

private:
    /// Rows of `counts_` are shared and immutable once another command refers to them; row 0 is all zeros.
    struct stream_clock {
        std::size_t row = 0;
        std::uint32_t count = 0; // commands so far
        std::uint32_t joins = 0; // joins of the caller merged so far
    };
    struct event_state {
        bool is_recorded = false;
        std::uint32_t stream = 0;
        std::uint32_t count = 0;
        std::size_t row = 0;
    };
    struct command {
        std::uint32_t stream;
        std::uint32_t number; // in its stream
        std::size_t row;
        bool is_recorded;
    };

    void merge(stream_clock& current, std::size_t other);
    /// Writes into a row that only the current command owns.
    void advance(stream_clock& current, std::uint32_t stream, std::uint32_t count);

    std::size_t streams_;
    std::vector<std::uint32_t> counts_; // by row, by stream
    std::vector<command> rows_;         // by command
    std::size_t new_row_ = 0;           // row made by the current command, or 0
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/stream_clocks.ipp>
#endif

#endif
