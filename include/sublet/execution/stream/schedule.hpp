// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_SCHEDULE_HPP
#define SUBLET_EXECUTION_STREAM_SCHEDULE_HPP

/// Which step runs on which stream, and who waits for which event: a list of commands, made once.
///
///     0: -> a       stream 0   launch 0   record 0   launch 1              wait 1   launch 3
///     1: a -> b     stream 1              wait 0     launch 2   record 1
///     2: a -> c
///     3: b, c -> d
///
/// Commands are issued in the order of the tape. A step goes where one that it waits for was the last, so
/// that chains stay on one stream and need no events; else on a stream that it waits for anyway; else on a
/// new one. What a stream knows by its clock it does not wait for: stream 1 has to begin behind the start of
/// the run, and does so, behind step 0.
///
/// A run forks from stream 0 and is joined there: the next one begins where it has ended, and a device can
/// capture the whole as a graph. Each event is recorded once a run; none is reused within one, so that a wait
/// names one place in the list, and a list that has lost a record cannot mean an older one by mistake.
///
/// Where blocks are allocated, the last touch of each is known when the list is made, and nothing is counted
/// in a run. A block is given back on the stream of the last step that touches it, behind waits for the
/// others. A result that is written in place takes the block over, and its step waits for all who read it.
///
/// Source: chains on the transitive reduction as in Kwon, Yu, Jeong and Chun, "Nimble: lightweight and
/// parallel GPU task scheduling for deep learning", NeurIPS 2020; there by a largest matching and with any
/// number of streams, here one step after the other and with few.

#include <sublet/analysis/buffers.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/stream/commands.hpp>
#include <sublet/execution/stream/knowledge.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

namespace detail {

class stream_scheduler {
public:
    enum class blocks : std::uint8_t { arena, to_the_end, recycled };

    stream_scheduler(run_order const& order, blocks kind, stream_options const& how, bool paints)
        : tape_(order.tape), waits_(order.waits), how_(how), kind_(kind), paints_(paints),
          known_(useful_streams()), streams_(useful_streams())
    {
        std::size_t const buffers = tape_.table.buffers.size();
        touched_by_ = tape_.touched.transposed(buffers);
        is_given_up_.assign(buffers, 0);
        for (buffer_id b : tape_.given_up) is_given_up_[b] = 1;
        has_block_.assign(buffers, 0);
        alignment_.assign(buffers, 1);
        for (std::size_t b = 0; b != buffers; ++b) {
            alignment_[b] = its(static_cast<buffer_id>(b)).alignment;
            has_block_[b] = owns_block(static_cast<buffer_id>(b)) && has_role(its(b).role, value_role::input);
        }
    }

    stream_schedule take()
    {
        start_ = mark(0);
        for (step_id at = 0; at != tape_.positions(); ++at) issue(at);
        for (std::uint32_t s = 0; s != streams_.size(); ++s) {
            if (streams_[s].is_used && streams_[s].is_beyond_mark) streams_[s].mark = mark(s);
            if (s != 0 && streams_[s].is_used) needed_.push_back(streams_[s].mark);
        }
        wait_for_needed(0);
        for (buffer_id b = 0; b != has_block_.size(); ++b)
            if (has_block_[b] && !has_role(its(b).role, value_role::output))
                add(stream_action::release, 0, b);
        name_events();
        return std::move(result_);
    }

private:
    struct stream_state {
        step_id last = no_step;      // the last step on it
        std::uint32_t mark = 0;      // the last mark
        std::size_t steps_until = 0; // were each step as long: when `last` is done
        bool is_used = false;
        bool is_beyond_mark = false; // something has been issued since
    };

    /// Clocks have a number for each stream: not for those that no step can be on.
    std::size_t useful_streams() const
    {
        std::vector<std::uint32_t> const& given = how_.stream_of;
        if (!given.empty()) return *std::max_element(given.begin(), given.end()) + std::size_t{1};
        return std::min(how_.streams, std::max<std::size_t>(tape_.positions(), 1));
    }
    buffer const& its(std::size_t b) const { return tape_.table.buffers[b]; }
    bool is_kept(buffer_id b) const
    {
        value_role const role = its(b).role;
        return how_.keeps_ends && (has_role(role, value_role::input) || has_role(role, value_role::output));
    }
    bool owns_block(buffer_id b) const
    {
        return kind_ != blocks::arena && its(b).is_planned() && !is_kept(b);
    }
    bool dies_at(buffer_id b, step_id at) const
    {
        return touched_by_[b].back() == at && !has_role(its(b).role, value_role::output) && !is_kept(b);
    }

    // --- one step ---------------------------------------------------------------------------------------

    void issue(step_id at)
    {
        std::span<step_id const> const before = waits_.before[at];
        std::uint32_t const s = stream_for(at);
        result_.stream_of.push_back(s);
        std::size_t crossing = 0;
        for (step_id p : before) {
            needed_.push_back(mark_of_[p]);
            crossing += result_.stream_of[p] != s;
        }
        heirs_.clear();
        if (kind_ == blocks::recycled)
            for (yielded y : tape_.yields_at(at))
                if (can_hand_over(y, at)) need_block(y, at);
        std::size_t const waits = result_.waits;
        wait_for_needed(s);
        result_.implied += crossing - std::min(crossing, result_.waits - waits);
        for (std::size_t i = 0; i != heirs_.size(); i += 2)
            add(stream_action::hand_over, s, heirs_[i + 1], heirs_[i]);
        for (buffer_id b : tape_.touched[at])
            if (owns_block(b) && !has_block_[b] && !is_heir(b)) {
                add(stream_action::allocate, s, b);
                has_block_[b] = 1;
            }
        for (buffer_id b : tape_.touched[at])
            if (paints_ && is_unwritten(b, at)) add(stream_action::fill, s, b);
        add(stream_action::launch, s, at);

        // In an arena the next tenant waits for the last step that touched the bytes: it is done when they
        // are painted.
        bool const paints_in_arena = paints_ && kind_ == blocks::arena;
        if (paints_in_arena) bury(at, s);
        std::size_t done = streams_[s].steps_until;
        for (step_id p : before) done = std::max(done, done_[p]);
        done_.push_back(done + 1);
        streams_[s] = {at, mark(s), done + 1, true, false};
        mark_of_.push_back(streams_[s].mark);
        if (!paints_in_arena) bury(at, s);
    }

    std::uint32_t stream_for(step_id at)
    {
        if (!how_.stream_of.empty()) return how_.stream_of[tape_.step_at[at]];
        std::span<step_id const> const before = waits_.before[at];
        std::uint32_t best = no_stream;
        for (step_id p : before) { // of those that are the last on their stream, the one that is done last
            std::uint32_t const s = result_.stream_of[p];
            if (streams_[s].last != p) continue;
            bool const is_later = best == no_stream || streams_[s].steps_until > streams_[best].steps_until;
            if (is_later || (streams_[s].steps_until == streams_[best].steps_until && s < best)) best = s;
        }
        if (best != no_stream) return best;
        for (step_id p : before) needed_.push_back(mark_of_[p]);
        for (std::uint32_t s = 0; s != streams_.size() && best == no_stream; ++s)
            if (!streams_[s].is_used || known_.covers(needed_, s)) best = s;
        needed_.clear();
        if (best != no_stream) return best;
        best = 0;
        for (std::uint32_t s = 1; s != streams_.size(); ++s)
            if (streams_[s].steps_until < streams_[best].steps_until) best = s;
        return best;
    }

    // --- blocks -----------------------------------------------------------------------------------------

    bool can_hand_over(yielded y, step_id at) const
    {
        return tape_.is_even(y) && has_block_[y.from] && dies_at(y.from, at) && owns_block(y.to) &&
               !has_block_[y.to] && alignment_[y.from] >= its(y.to).alignment;
    }
    void need_block(yielded y, step_id at)
    {
        need_users(y.from, at);
        has_block_[y.from] = 0;
        has_block_[y.to] = 1;
        alignment_[y.to] = alignment_[y.from];
        heirs_.push_back(y.from);
        heirs_.push_back(y.to);
    }

    /// Its block was handed over for this step, or to it.
    bool is_heir(buffer_id b) const { return std::find(heirs_.begin(), heirs_.end(), b) != heirs_.end(); }

    /// Nothing of the program is in its bytes when the step begins.
    bool is_unwritten(buffer_id b, step_id at) const
    {
        if (tape_.first_write[b] != at || is_given(its(b).role) || !its(b).is_planned()) return false;
        if (is_heir(b)) return false;
        auto const yields = tape_.yields_at(at);
        auto is_over = [&](yielded y) {
            return (y.to == b || y.to == no_buffer) && touched_by_[y.from].back() == at;
        };
        return kind_ != blocks::arena || std::none_of(yields.begin(), yields.end(), is_over);
    }
    /// The step may have written other results to its bytes.
    bool is_yielded(buffer_id b, step_id at) const
    {
        if (kind_ != blocks::arena) return is_heir(b);
        auto const yields = tape_.yields_at(at);
        return std::any_of(yields.begin(), yields.end(), [b](yielded y) { return y.from == b; });
    }

    /// What nobody needs behind the step.
    void bury(step_id at, std::uint32_t s)
    {
        auto is_painted = [&](buffer_id b) {
            return paints_ && its(b).is_planned() && !is_given_up_[b] && !is_dying_heir(b, at);
        };
        auto is_released = [&](buffer_id b) { return kind_ == blocks::recycled && has_block_[b]; };
        for (buffer_id b : tape_.touched[at])
            if (dies_at(b, at) && (is_painted(b) || is_released(b))) need_users(b, at);
        wait_for_needed(s);
        for (buffer_id b : tape_.touched[at]) {
            if (!dies_at(b, at)) continue;
            if (is_painted(b)) add(stream_action::fill, s, b);
            if (!is_released(b)) continue;
            add(stream_action::release, s, b);
            has_block_[b] = 0;
        }
    }
    bool is_dying_heir(buffer_id b, step_id at) const
    {
        return is_yielded(b, at) && (kind_ == blocks::arena || !has_block_[b]);
    }

    // --- waits ------------------------------------------------------------------------------------------

    void need_users(buffer_id b, step_id at)
    {
        for (step_id user : touched_by_[b])
            if (user != at) needed_.push_back(mark_of_[user]);
    }
    /// The latest first: none that comes later can imply it.
    void wait_for_needed(std::uint32_t s)
    {
        if (s != 0 && !streams_[s].is_used) needed_.push_back(start_);
        std::sort(needed_.begin(), needed_.end());
        for (; !needed_.empty(); needed_.pop_back()) {
            std::uint32_t const m = needed_.back();
            if (known_.stream_of(m) == s || known_.knows(s, m)) continue;
            known_.learn(s, m);
            add(stream_action::wait, s, m);
            ++result_.waits;
        }
    }

    /// Where an event may be recorded; name_events() knows whether it is.
    std::uint32_t mark(std::uint32_t s)
    {
        std::uint32_t const m = known_.mark(s);
        result_.commands.push_back({stream_action::record, s, m});
        return m;
    }
    void add(stream_action what, std::uint32_t s, std::uint32_t which, buffer_id from = 0)
    {
        result_.commands.push_back({what, s, which, from});
        streams_[s].is_beyond_mark = true;
    }
    void name_events()
    {
        auto is_about_event = [](stream_command const& c) {
            return c.what == stream_action::record || c.what == stream_action::wait;
        };
        std::vector<std::uint32_t> event_of; // by mark
        for (stream_command const& c : result_.commands) {
            if (is_about_event(c) && event_of.size() <= c.which) event_of.resize(c.which + 1, no_event);
            if (c.what == stream_action::wait) event_of[c.which] = 0;
        }
        auto is_unheard = [&](stream_command const& c) {
            return c.what == stream_action::record && event_of[c.which] == no_event;
        };
        auto& commands = result_.commands;
        commands.erase(std::remove_if(commands.begin(), commands.end(), is_unheard), commands.end());
        for (stream_command& c : commands) {
            if (c.what == stream_action::record)
                event_of[c.which] = static_cast<std::uint32_t>(result_.events++);
            if (is_about_event(c)) c.which = event_of[c.which];
        }
        for (std::size_t s = 0; s != streams_.size(); ++s)
            if (streams_[s].is_used) result_.streams = s + 1;
    }

    static constexpr std::uint32_t no_stream = ~std::uint32_t{0}, no_event = ~std::uint32_t{0};

    run_tape const& tape_;
    step_waits const& waits_;
    stream_options const& how_;
    blocks kind_;
    bool paints_;
    stream_knowledge known_;
    std::vector<stream_state> streams_;
    csr_rows touched_by_;                    // by buffer: positions
    std::vector<unsigned char> is_given_up_; // by buffer: nobody waits for it to be done; as are the next
    std::vector<unsigned char> has_block_;
    std::vector<byte_count> alignment_;  // of the block that it has
    std::uint32_t start_ = 0;            // a mark, as are the next
    std::vector<std::uint32_t> mark_of_; // by position
    std::vector<std::uint32_t> needed_;  // to be waited for next
    std::vector<std::size_t> done_;      // by position: were each step as long, when it is done
    std::vector<buffer_id> heirs_;       // of the step: whose block was handed over, and to whom
    stream_schedule result_;
};

} // namespace detail

/// Puts the steps of a program on streams. If it paints, buffers are filled before their first write, and
/// when nobody needs them any more.
///
/// Requires:   the order is one of this mode. `how.stream_of`, if given, has a stream below `how.streams` for
///             each step.
/// Ensures:    every wait of the order is kept, by the order of a stream or by events; no wait can be left
///             out. A block is allocated before, and released behind, all that touches it. Ties go to the
///             lower stream.
/// Complexity: O((steps + waits) streams + touches log touches); of `how.streams`, those that no step can be
/// on do not count. Throws:     precondition_error where a requirement is broken.
template <memory_mode Mode>
[[nodiscard]] stream_schedule schedule_streams(run_order const& order, Mode const&,
                                               stream_options const& how = {}, bool paints = false)
{
    SUBLET_EXPECTS(how.streams >= 1, "sublet: a program runs on one stream at least");
    SUBLET_EXPECTS(how.stream_of.empty() || how.stream_of.size() == order.tape.step_at.size(),
                   "sublet: streams are given, but not one for each step");
    for (std::uint32_t s : how.stream_of)
        SUBLET_EXPECTS(s < how.streams, "sublet: a step is put on a stream that there is not");
    using scheduler = detail::stream_scheduler;
    constexpr auto kind = std::same_as<Mode, arena>     ? scheduler::blocks::arena
                          : std::same_as<Mode, recycle> ? scheduler::blocks::recycled
                                                        : scheduler::blocks::to_the_end;
    return scheduler(order, kind, how, paints).take();
}

} // namespace sublet

#endif
