// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_STREAM_CLOCKS_IPP
#define SUBLET_CHECKING_IMPL_STREAM_CLOCKS_IPP

#include <sublet/checking/stream_clocks.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL stream_clocks::stream_clocks(stream_commands const& list)
    : streams_(list.streams), counts_(streams_, 0)
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

SUBLET_DECL void stream_clocks::merge(lane& mine, std::size_t other)
{
    for (std::uint32_t s = 0; s != streams_; ++s) raise(mine, s, counts_[other * streams_ + s]);
}

SUBLET_DECL void stream_clocks::raise(lane& mine, std::uint32_t stream, std::uint32_t count)
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

} // namespace sublet

#endif
