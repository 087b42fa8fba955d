// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STREAM_SCHEDULER_HPP
#define SUBLET_EXECUTION_DETAIL_STREAM_SCHEDULER_HPP

/// Assigns steps to streams and inserts events and waits.
///
///     0: -> a       stream 0   launch 0   record 0   launch 1              wait 1   launch 3
///     1: a -> b     stream 1              wait 0     launch 2   record 1
///     2: a -> c
///     3: b, c -> d
///
/// Commands are issued in program order. A step goes to a stream if it waits for its last step, so that a
/// chain stays on one stream without events; else to a stream that its waits cover, a new one, or the one
/// that ends first. Of several steps that wait for one, the one with the longest path to the end, in bytes
/// that are read and written, gets its stream, and the others go elsewhere if they can. Waits that the clock
/// of the stream implies are omitted: in the example, stream 1 must start after the start of the run, which
/// the wait for step 0 implies.
///
/// A run forks from stream 0 and joins there: the next run begins where it ended, and a device can capture it
/// as a graph. Each event is recorded once in a run, so a missing record cannot be mistaken for an older one.
///
/// A block is released after its last touch, which is known in advance, on the stream of the last step that
/// touches it, after waits for the others. A result written in place takes the block over, after waits for
/// all its readers.
///
/// Source: chains on the transitive reduction as in Kwon, Yu, Jeong and Chun, "Nimble: lightweight and
/// parallel GPU task scheduling for deep learning", NeurIPS 2020; there by maximum matching with any number
/// of streams, here greedily with a bounded number.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/vector_clocks.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/stream_schedule.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

class stream_scheduler {
public:
    enum class blocks : std::uint8_t { arena, to_the_end, recycled };

    stream_scheduler(run_order const& order, blocks kind, stream_options const& settings, bool paints);

    stream_schedule take();

private:
    struct stream_state {
        position_id last = no_position; // the last step
        std::uint32_t mark = 0;         // the last mark
        std::uint64_t finish_time = 0;  // end of `last`
        bool is_used = false;
        bool has_unmarked_work = false; // issued since the last mark
    };

    /// Streams that a step can be on: the length of a clock.
    std::size_t useful_streams() const;
    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    bool is_kept(buffer_id b) const
    {
        value_role const role = its(b).role;
        return settings_.keeps_io_addresses &&
               (has_role(role, value_role::input) || has_role(role, value_role::output));
    }
    bool owns_block(buffer_id b) const
    {
        return kind_ != blocks::arena && its(b).is_planned() && !is_kept(b);
    }
    /// Outside of a recycled block, bytes are painted after the last access: the next occupant of an arena
    /// waits for this, not for steps that only make views.
    bool paints_after_accesses() const { return paints_ && kind_ != blocks::recycled; }
    bool is_last_use(buffer_id b, position_id at) const
    {
        auto const users = paints_after_accesses() ? accessed_by_[b] : touched_by_[b];
        return !users.empty() && users.back() == at && !has_role(its(b).role, value_role::output) &&
               !is_kept(b);
    }

    // --- one step ---------------------------------------------------------------------------------------

    void issue(position_id at);

    std::uint32_t stream_for(position_id at);

    /// A step takes as long for its launch as the average step for its bytes.
    void measure_steps();
    /// Matches steps with successors, those with the longest path to the end first.
    void match_successors();
    /// The last step of the stream has a successor of its own, which comes after `at`.
    bool is_reserved(std::uint32_t s, position_id at) const
    {
        position_id const last = streams_[s].last;
        return last != no_position && successor_[last] != no_position && successor_[last] > at;
    }

    // --- blocks -----------------------------------------------------------------------------------------

    bool can_transfer_block(operand_reuse y, position_id at) const
    {
        return lowered_.is_same_size(y) && has_block_[y.from] && is_last_use(y.from, at) &&
               owns_block(y.to) && !has_block_[y.to] && alignment_[y.from] >= its(y.to).alignment;
    }
    void transfer_from(operand_reuse y, position_id at);

    /// Its block was transferred at this step, from it or to it.
    bool is_transferred(buffer_id b) const;

    /// Its bytes hold nothing live when the step begins.
    bool is_unwritten(buffer_id b, position_id at) const;
    bool may_be_reused(buffer_id b, position_id at) const;

    void release_dead(position_id at, std::uint32_t s);
    bool is_already_reused(buffer_id b, position_id at) const
    {
        return may_be_reused(b, at) && (kind_ == blocks::arena || !has_block_[b]);
    }

    // --- waits ------------------------------------------------------------------------------------------

    /// For all that access b, to release, hand on or paint its bytes.
    void add_user_waits(buffer_id b, position_id at);
    /// Latest mark first: no later wait can imply an earlier one.
    void emit_waits(std::uint32_t s);

    /// A point where an event may be recorded; number_events() drops those without waits.
    std::uint32_t mark(std::uint32_t s);
    void add(stream_schedule::action what, std::uint32_t s, std::uint32_t which, buffer_id from = 0)
    {
        result_.commands.push_back({what, s, which, from});
        streams_[s].has_unmarked_work = true;
    }
    void number_events();

    static constexpr std::uint32_t no_stream = ~std::uint32_t{0}, no_event = ~std::uint32_t{0};

    lowered_program const& lowered_;
    step_waits const& waits_;
    stream_options const& settings_;
    blocks kind_;
    bool paints_;
    vector_clocks clocks_;
    std::vector<stream_state> streams_;
    csr_rows<buffer_id, position_id> touched_by_;
    csr_rows<buffer_id, position_id> accessed_by_;    // of these, those that may read or write it
    table<buffer_id, unsigned char> is_unused_input_; // an input that no step reads
    table<buffer_id, unsigned char> has_block_;
    table<buffer_id, byte_count> alignment_; // of its block
    std::uint32_t start_ = 0;                // a mark, as the next two
    table<position_id, std::uint32_t> mark_of_;
    std::vector<std::uint32_t> pending_waits_;      // for the next command
    table<position_id, std::uint64_t> finish_time_; // end
    table<position_id, std::uint64_t> length_;      // the time that the step takes
    table<position_id, position_id> successor_;     // the one that takes its stream over, or none
    std::vector<buffer_id> block_transfers_;        // of the current step: pairs {from, to}
    stream_schedule result_;
};

/// Assigns the steps of a program to streams. With `paints`, buffers are filled before their first write and
/// after their last use.
///
/// Requires:   the order was made for this mode. `settings.stream_of`, if given, has a stream below
///             `settings.streams` for each step.
/// Ensures:    every wait of the order is kept, by stream order or by events, and no wait command can be left
///             out. A block is allocated before and released after all its uses. Ties go to the lower stream.
/// Complexity: O((steps + waits) streams + touches log touches), for streams that some step can be on.
/// Throws:     precondition_error where a requirement is broken.
template <memory_mode Mode>
[[nodiscard]] stream_schedule schedule_streams(run_order const& order, Mode const&,
                                               stream_options const& settings = {}, bool paints = false)
{
    SUBLET_EXPECTS(settings.streams >= 1, "sublet: at least one stream is needed");
    SUBLET_EXPECTS(settings.stream_of.empty() || settings.stream_of.size() == order.lowered.step_at.size(),
                   "sublet: stream_of names % streams for % steps", settings.stream_of.size(),
                   order.lowered.step_at.size());
    for (std::uint32_t s : settings.stream_of)
        SUBLET_EXPECTS(s < settings.streams,
                       "sublet: a step is assigned to stream %, but there are only % streams", s,
                       settings.streams);
    using scheduler = stream_scheduler;
    constexpr auto kind = std::same_as<Mode, arena>     ? scheduler::blocks::arena
                          : std::same_as<Mode, recycle> ? scheduler::blocks::recycled
                                                        : scheduler::blocks::to_the_end;
    return scheduler(order, kind, settings, paints).take();
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/stream_scheduler.ipp>
#endif

#endif
