// SPDX-License-Identifier: BSL-1.0

/// One pass over the commands with a row of counts for each stream, each event and the caller. Rows are
/// shared until a wait or a join raises one of their counts: then the command gets a copy.

#include <sublet/checking/internal/stream_clocks.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

SUBLET_DECL stream_clocks::stream_clocks(stream_commands const& list)
    : streams_(list.streams), counts_(streams_, 0)
{
    std::vector<stream_clock> clocks(streams_);
    stream_clock caller;
    std::uint32_t joins = 0;
    std::vector<event_state> events;
    for (stream_commands::operation const& operation : list.operations) {
        new_row_ = 0;
        SUBLET_EXPECTS(
            operation.stream < streams_ || operation.what == stream_commands::operation_kind::join_all,
            "sublet: a command names stream %, but there are only % streams", operation.stream, streams_);
        stream_clock no_stream;
        stream_clock& current = operation.what == stream_commands::operation_kind::join_all
                                    ? no_stream
                                    : clocks[operation.stream];
        if (&current != &no_stream && current.joins != joins) {
            merge(current, caller.row);
            current.joins = joins;
        }
        bool is_recorded = true;
        if (operation.what == stream_commands::operation_kind::wait) {
            is_recorded = operation.which < events.size() && events[operation.which].is_recorded;
            if (is_recorded) {
                event_state const& e = events[operation.which];
                merge(current, e.row);
                advance(current, e.stream, e.count);
            }
        } else if (operation.what == stream_commands::operation_kind::record) {
            if (events.size() <= operation.which) events.resize(operation.which + std::size_t{1});
            events[operation.which] = {true, operation.stream, current.count + 1, current.row};
        } else if (operation.what == stream_commands::operation_kind::join ||
                   operation.what == stream_commands::operation_kind::join_all) {
            for (std::uint32_t s = 0; s != streams_; ++s) {
                if (operation.what == stream_commands::operation_kind::join && s != operation.stream)
                    continue;
                merge(caller, clocks[s].row);
                advance(caller, s, clocks[s].count);
            }
            ++joins;
        }
        rows_.push_back({operation.stream, current.count, current.row, is_recorded});
        ++current.count;
    }
}

SUBLET_DECL void stream_clocks::merge(stream_clock& current, std::size_t other)
{
    for (std::uint32_t s = 0; s != streams_; ++s) advance(current, s, counts_[other * streams_ + s]);
}

SUBLET_DECL void stream_clocks::advance(stream_clock& current, std::uint32_t stream, std::uint32_t count)
{
    if (counts_[current.row * streams_ + stream] >= count) return;
    if (current.row == 0 || current.row != new_row_) {
        new_row_ = counts_.size() / streams_;
        counts_.resize(counts_.size() + streams_);
        for (std::size_t s = 0; s != streams_; ++s)
            counts_[new_row_ * streams_ + s] = counts_[current.row * streams_ + s];
        current.row = new_row_;
    }
    counts_[current.row * streams_ + stream] = count;
}

} // namespace sublet::detail
