// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_STREAMS_HPP
#define SUBLET_CHECKING_CHECK_STREAMS_HPP

/// Does a list of commands on streams leave the same in every order in which a device may carry them out?
///
///     stream 0   allocate 0   write 0   record e               release 0
///     stream 1                                   wait e  read 0
///
///     command 5 on stream 0 releases block 0 and does not wait for command 4 on stream 1,
///     step 1, as value 7, which touches bytes [0, 64) of it
///
/// It does, if every two touches of the same bytes, one of which writes, come in the order in which they were
/// issued; and if every touch comes after the allocation of its block and before its release. Nothing is run,
/// and no order is tried: what comes before what in every order is a fact about the list.
///
/// Source: accesses against streams are checked so, on what was issued, by PyTorch's CUDA stream sanitizer
/// (torch.cuda._sanitizer).

#include <sublet/checking/race_questions.hpp>
#include <sublet/checking/stream_clocks.hpp>
#include <sublet/checking/stream_commands.hpp>
#include <sublet/contract.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

enum class stream_fault_kind : std::uint8_t {
    race,         ///< second does not wait for first, and both touch these bytes
    unborn,       ///< second touches the block and does not wait for its allocation, first
    dead,         ///< second touches the block, whose release was issued before: first
    freed_in_use, ///< second releases the block and does not wait for first, which touches it
    freed_twice,  ///< second releases the block, as first did
    absent,       ///< second releases or touches a block that nobody allocated before
    made_twice,   ///< second allocates a block that was there already, by first
    outside,      ///< second touches bytes beyond the end of the block
    unrecorded,   ///< second waits for an event that nobody recorded before
    kept,         ///< the block, allocated by first, is never released
    order         ///< second does not wait for first, though it was asked for: not found here
};

struct stream_fault {
    stream_fault_kind what = stream_fault_kind::race;
    std::uint32_t first = no_step; ///< commands; `no_step` where there is none
    std::uint32_t second = no_step;
    std::uint32_t first_stream = 0;
    std::uint32_t second_stream = 0;
    step_id first_step = no_step; ///< of which they are
    step_id second_step = no_step;
    value_id first_value = no_value;
    value_id second_value = no_value;
    std::uint32_t block = no_step; ///< or the event, or none
    byte_count begin = 0;
    byte_count end = 0;
    friend bool operator==(stream_fault const&, stream_fault const&) = default;
};

namespace detail {

template <class Stream>
void write_command(Stream& out, std::uint32_t command, std::uint32_t stream, step_id step, value_id value)
{
    out << "command " << command << " on stream " << stream;
    if (step != no_step) out << ", step " << step << ',';
    if (value != no_value) out << " as value " << value;
}

} // namespace detail

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, stream_fault const& f)
{
    using kind = stream_fault_kind;
    auto const write_first = [&] {
        detail::write_command(out, f.first, f.first_stream, f.first_step, f.first_value);
    };
    auto const write_bytes = [&] {
        out << " touches bytes [" << f.begin << ", " << f.end << ") of block " << f.block;
    };
    if (f.what == kind::kept) {
        write_first();
        out << " allocates block " << f.block << ", which is never released";
        return out;
    }
    detail::write_command(out, f.second, f.second_stream, f.second_step, f.second_value);
    switch (f.what) {
    case kind::race:
        write_bytes();
        out << " and does not wait for ";
        write_first();
        out << ", which touches them too";
        break;
    case kind::unborn:
        out << " asks for block " << f.block << " and does not wait for ";
        write_first();
        out << ", which allocates it";
        break;
    case kind::dead:
        out << " touches block " << f.block << " after ";
        write_first();
        out << " has released it";
        break;
    case kind::freed_in_use:
        out << " releases block " << f.block << " and does not wait for ";
        write_first();
        out << ", which touches bytes [" << f.begin << ", " << f.end << ") of it";
        break;
    case kind::freed_twice:
        out << " releases block " << f.block << " after ";
        write_first();
        out << " has released it";
        break;
    case kind::absent: out << " asks for block " << f.block << ", which nobody allocated before"; break;
    case kind::made_twice: out << " allocates block " << f.block << ", which is there already"; break;
    case kind::outside:
        write_bytes();
        out << ", which ends before";
        break;
    case kind::unrecorded: out << " waits for event " << f.block << ", which nobody recorded before"; break;
    case kind::order:
        out << " does not wait for ";
        write_first();
        out << ", as an edge, a hand-off or the ends of the run ask";
        break;
    case kind::kept: break;
    }
    return out;
}

namespace detail {

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

} // namespace detail

/// The first fault in a list of commands, or none. `is_whole`: what is allocated has to be released as well.
///
/// Ensures:    if there is none, every order that keeps streams, events and the caller's joins carries out
///             any two touches that do not commute in the order of the list, each while its block is there.
///             If there is one, some order does otherwise (or the list asks for what is not there).
///             Blocks are looked at first, then touches of each, then pairs: the first of these that fails is
///             told, with the lowest later command.
/// Complexity: that of stream_clocks and race_questions(): a row of streams for each wait, and what touches
///             cost; no walk over pairs.
/// Throws:     precondition_error where a command names a stream or a block that is not listed.
[[nodiscard]] inline std::optional<stream_fault> check_streams(stream_commands const& list,
                                                               bool is_whole = false)
{
    return detail::stream_checker(list).find(is_whole);
}

} // namespace sublet

#endif
