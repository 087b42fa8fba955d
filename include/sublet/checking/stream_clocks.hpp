// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_STREAM_CLOCKS_HPP
#define SUBLET_CHECKING_STREAM_CLOCKS_HPP

/// Which commands on streams come after which, in every order in which a device may carry them out.
///
///     stream 0   a   b   record e            before    stream 0   1   2
///     stream 1   c   wait e   d              a             -      -   -
///     stream 2   f                           d             3      2   -      so a, b and c come before d,
///                                                                            and f need not
///
/// A command comes after those before it in its stream, after all that an event it waited for had seen, and
/// after all that the caller had waited for when it was issued. So it is enough to count, for each stream,
/// how many of its commands come before: numbers that only grow along a stream, and change at waits.
///
/// Source: vector clocks, found by Fidge, "Timestamps in message-passing systems that preserve the partial
/// ordering", 11th Australian Computer Science Conference, 1988, and by Mattern, "Virtual time and global
/// states of distributed systems", 1989.

#include <sublet/checking/stream_commands.hpp>
#include <sublet/contract.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class stream_clocks {
public:
    /// Complexity: O(commands + (waits + joins x streams) x streams) time and memory.
    /// Throws:     precondition_error for a stream that is not one of `streams`.
    explicit stream_clocks(stream_commands const& list) : streams_(list.streams), counts_(streams_, 0)
    {
        std::vector<lane> lanes(streams_);
        lane caller;
        std::uint32_t joins = 0;
        std::vector<moment> events;
        for (stream_act_of const& act : list.acts) {
            fresh_ = 0;
            SUBLET_EXPECTS(act.stream < streams_ || act.what == stream_act::join_all,
                           "sublet: a command is on a stream that is not there");
            lane nobody;
            lane& mine = act.what == stream_act::join_all ? nobody : lanes[act.stream];
            if (&mine != &nobody && mine.joins != joins) {
                merge(mine, caller.row);
                mine.joins = joins;
            }
            bool is_recorded = true;
            if (act.what == stream_act::wait) {
                is_recorded = act.which < events.size() && events[act.which].is_recorded;
                if (is_recorded) {
                    moment const& e = events[act.which];
                    merge(mine, e.row);
                    raise(mine, e.stream, e.count);
                }
            } else if (act.what == stream_act::record) {
                if (events.size() <= act.which) events.resize(act.which + std::size_t{1});
                events[act.which] = {true, act.stream, mine.count + 1, mine.row};
            } else if (act.what == stream_act::join || act.what == stream_act::join_all) {
                for (std::uint32_t s = 0; s != streams_; ++s) {
                    if (act.what == stream_act::join && s != act.stream) continue;
                    merge(caller, lanes[s].row);
                    raise(caller, s, lanes[s].count);
                }
                ++joins;
            }
            rows_.push_back({act.stream, mine.count, mine.row, is_recorded});
            ++mine.count;
        }
    }

    /// Whether the command comes before the one that was issued later.  Requires: earlier < later.
    [[nodiscard]] bool is_before(std::uint32_t earlier, std::uint32_t later) const
    {
        command const &a = rows_[earlier], &b = rows_[later];
        return a.stream == b.stream || counts_[b.row * streams_ + a.stream] > a.number;
    }
    /// Whether the event was recorded for which the command waits.
    [[nodiscard]] bool is_recorded(std::uint32_t wait) const { return rows_[wait].is_recorded; }

private:
    /// Rows of `counts_` are never changed once somebody else has them: row 0 is everybody's.
    struct lane {
        std::size_t row = 0;
        std::uint32_t count = 0; // commands so far
        std::uint32_t joins = 0; // of the caller, which it has heard of
    };
    struct moment {
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

    void merge(lane& mine, std::size_t other)
    {
        for (std::uint32_t s = 0; s != streams_; ++s) raise(mine, s, counts_[other * streams_ + s]);
    }
    /// Into a row that is nobody's but this command's.
    void raise(lane& mine, std::uint32_t stream, std::uint32_t count)
    {
        if (counts_[mine.row * streams_ + stream] >= count) return;
        if (mine.row == 0 || mine.row != fresh_) {
            fresh_ = counts_.size() / streams_;
            counts_.resize(counts_.size() + streams_);
            for (std::size_t s = 0; s != streams_; ++s)
                counts_[fresh_ * streams_ + s] = counts_[mine.row * streams_ + s];
            mine.row = fresh_;
        }
        counts_[mine.row * streams_ + stream] = count;
    }

    std::size_t streams_;
    std::vector<std::uint32_t> counts_; // by row, by stream
    std::vector<command> rows_;         // by command
    std::size_t fresh_ = 0;             // the row that the command in hand has made, or 0
};

} // namespace sublet

#endif
