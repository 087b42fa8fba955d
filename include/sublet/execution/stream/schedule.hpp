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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

class stream_scheduler {
public:
    enum class blocks : std::uint8_t { arena, to_the_end, recycled };

    stream_scheduler(run_order const& order, blocks kind, stream_options const& how, bool paints);

    stream_schedule take();

private:
    struct stream_state {
        step_id last = no_step;      // the last step on it
        std::uint32_t mark = 0;      // the last mark
        std::size_t steps_until = 0; // were each step as long: when `last` is done
        bool is_used = false;
        bool is_beyond_mark = false; // something has been issued since
    };

    /// Clocks have a number for each stream: not for those that no step can be on.
    std::size_t useful_streams() const;
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

    void issue(step_id at);

    std::uint32_t stream_for(step_id at);

    // --- blocks -----------------------------------------------------------------------------------------

    bool can_hand_over(yielded y, step_id at) const
    {
        return tape_.is_even(y) && has_block_[y.from] && dies_at(y.from, at) && owns_block(y.to) &&
               !has_block_[y.to] && alignment_[y.from] >= its(y.to).alignment;
    }
    void need_block(yielded y, step_id at);

    /// Its block was handed over for this step, or to it.
    bool is_heir(buffer_id b) const;

    /// Nothing of the program is in its bytes when the step begins.
    bool is_unwritten(buffer_id b, step_id at) const;
    /// The step may have written other results to its bytes.
    bool is_yielded(buffer_id b, step_id at) const;

    /// What nobody needs behind the step.
    void bury(step_id at, std::uint32_t s);
    bool is_dying_heir(buffer_id b, step_id at) const
    {
        return is_yielded(b, at) && (kind_ == blocks::arena || !has_block_[b]);
    }

    // --- waits ------------------------------------------------------------------------------------------

    void need_users(buffer_id b, step_id at);
    /// The latest first: none that comes later can imply it.
    void wait_for_needed(std::uint32_t s);

    /// Where an event may be recorded; name_events() knows whether it is.
    std::uint32_t mark(std::uint32_t s);
    void add(stream_action what, std::uint32_t s, std::uint32_t which, buffer_id from = 0)
    {
        result_.commands.push_back({what, s, which, from});
        streams_[s].is_beyond_mark = true;
    }
    void name_events();

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

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/schedule.ipp>
#endif

#endif
