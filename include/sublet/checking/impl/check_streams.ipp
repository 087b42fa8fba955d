// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_STREAMS_IPP
#define SUBLET_CHECKING_IMPL_CHECK_STREAMS_IPP

#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/stream_clocks.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>

#include <vector>

namespace sublet::detail {

class stream_checker {
public:
    explicit stream_checker(stream_commands const& list)
        : list_(list), clocks_(list), allocated_(list.blocks.size(), no_step),
          released_(list.blocks.size(), no_step)
    {
    }

    std::optional<stream_fault> find(bool is_whole)
    {
        follow_blocks();
        if (!found_) follow_touches();
        if (!found_) follow_races();
        for (std::uint32_t b = 0; is_whole && !found_ && b != allocated_.size(); ++b)
            if (allocated_[b] != no_step && released_[b] == no_step)
                report({.what = kind::kept, .first = allocated_[b], .block = b});
        return found_;
    }

private:
    using kind = stream_fault_kind;

    /// Requires: nothing was found that was issued earlier.
    void report(stream_fault what)
    {
        if (found_ && found_->second <= what.second) return;
        if (what.first != no_step) {
            what.first_stream = list_.acts[what.first].stream;
            what.first_step = step_of(what.first);
        }
        if (what.second != no_step) {
            what.second_stream = list_.acts[what.second].stream;
            what.second_step = step_of(what.second);
        }
        found_ = what;
    }
    step_id step_of(std::uint32_t command) const
    {
        stream_act_of const& act = list_.acts[command];
        return act.what == stream_act::work ? act.which : no_step;
    }
    bool is_given(std::uint32_t block) const
    {
        return block < list_.blocks.size() && list_.blocks[block].is_given;
    }

    void follow_blocks()
    {
        for (std::uint32_t i = 0; i != list_.acts.size() && !found_; ++i) {
            stream_act_of const& act = list_.acts[i];
            if (act.what == stream_act::wait && !clocks_.is_recorded(i))
                report({.what = kind::unrecorded, .second = i, .block = act.which});
            if (act.what != stream_act::allocate && act.what != stream_act::release) continue;
            SUBLET_EXPECTS(act.which < list_.blocks.size(), "sublet: a command names a block not listed");
            std::uint32_t &made = allocated_[act.which], &freed = released_[act.which];
            if (act.what == stream_act::allocate) {
                if (made != no_step || is_given(act.which))
                    report({.what = kind::made_twice, .first = made, .second = i, .block = act.which});
                made = i;
            } else if (made == no_step && !is_given(act.which)) {
                report({.what = kind::absent, .second = i, .block = act.which});
            } else if (freed != no_step) {
                report({.what = kind::freed_twice, .first = freed, .second = i, .block = act.which});
            } else {
                if (made != no_step && !clocks_.is_before(made, i))
                    report({.what = kind::unborn, .first = made, .second = i, .block = act.which});
                freed = i;
            }
        }
    }

    void follow_touches()
    {
        for (byte_access const& t : list_.touches) {
            SUBLET_EXPECTS(t.at < list_.acts.size() && t.space < list_.blocks.size(),
                           "sublet: a touch names a command or a block not listed");
            if (t.begin >= t.end) continue;
            stream_fault f{
                .second = t.at, .second_value = t.value, .block = t.space, .begin = t.begin, .end = t.end};
            if (t.end > list_.blocks[t.space].bytes) report_as(f, kind::outside, no_step);
            std::uint32_t const made = allocated_[t.space], freed = released_[t.space];
            bool const is_there = is_given(t.space) || (made != no_step && made < t.at);
            if (!is_there) report_as(f, kind::absent, no_step);
            else if (made != no_step && !clocks_.is_before(made, t.at)) report_as(f, kind::unborn, made);
            else if (freed < t.at) report_as(f, kind::dead, freed);
            else if (freed != no_step && !clocks_.is_before(t.at, freed))
                report({.what = kind::freed_in_use,
                        .first = t.at,
                        .second = freed,
                        .first_value = t.value,
                        .block = t.space,
                        .begin = t.begin,
                        .end = t.end});
        }
    }
    void report_as(stream_fault f, kind what, std::uint32_t first)
    {
        f.what = what;
        f.first = first;
        report(f);
    }

    void follow_races()
    {
        race_questions(list_.touches, [this](std::uint32_t earlier, std::uint32_t later, race const& r) {
            if (found_ || clocks_.is_before(earlier, later)) return;
            report({.what = kind::race,
                    .first = earlier,
                    .second = later,
                    .first_value = r.first_value,
                    .second_value = r.second_value,
                    .block = r.space,
                    .begin = r.begin,
                    .end = r.end});
        });
    }

    stream_commands const& list_;
    stream_clocks clocks_;
    std::vector<std::uint32_t> allocated_, released_; // by block: the command
    std::optional<stream_fault> found_{};
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<stream_fault> check_streams(stream_commands const& list, bool is_whole)
{
    return detail::stream_checker(list).find(is_whole);
}

} // namespace sublet

#endif
