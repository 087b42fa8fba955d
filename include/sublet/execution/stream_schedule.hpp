// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_SCHEDULE_HPP
#define SUBLET_EXECUTION_STREAM_SCHEDULE_HPP

/// Maps the steps of a program to streams: a list of commands with events for the waits between streams, and
/// a check of such a list. Greedy chains on the transitive reduction of the waits, along critical paths, on a
/// bounded number of streams; vector clocks omit implied waits. O((steps + waits) streams + touches log
/// touches).

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- commands --------------------------------------------------------------------------------------------

/// A schedule is data: schedule_streams() makes it, check_schedule() proves it, streams.hpp executes it.
///
///     {launch, 0, 0}   stream 0 runs the step at position 0
///     {record, 0, 0}   event 0: the work of stream 0 so far
///     {wait,   1, 0}   stream 1 waits for event 0
///     {launch, 1, 1}   stream 1 runs the step at position 1

namespace sublet {

/// How many streams there are, and which step runs on which.
struct stream_options {
    std::size_t streams = 4;                   ///< at most
    table<step_id, std::uint32_t> stream_of = {}; ///< empty: chains. Streams up to the highest are made
    std::vector<handoff> handoffs = {};        ///< order to be kept too, as `versions()` returns it
    bool keeps_io_addresses = false; ///< inputs and outputs keep their addresses between runs, as graphs need
};

/// Commands for the streams of a device, and their counts.
struct stream_schedule {
    /// What a command does.
    enum class action : std::uint8_t {
        record,         ///< an event, after all work on the stream so far
        wait,           ///< for an event
        allocate,       ///< a block for a buffer
        transfer_block, ///< the block of `from` becomes that of the buffer
        fill,           ///< all bytes of a dead or unwritten buffer, with ones
        launch,         ///< the step at a position
        release         ///< the block of a buffer
    };

    /// One command on a stream.
    struct command {
        stream_schedule::action what = stream_schedule::action::launch; ///< what it does
        std::uint32_t stream = 0;                                       ///< the stream that it is issued on
        std::uint32_t which = 0; ///< event, position or buffer
        buffer_id from = 0;      ///< of a transfer: the buffer that has the block before
        friend bool operator==(stream_schedule::command const&, stream_schedule::command const&) = default;
    };

    std::size_t streams = 1;                        ///< one more than the highest stream used
    std::size_t events = 0;                         ///< each recorded once, and waited for
    std::size_t waits = 0;                          ///< wait commands
    std::size_t implied = 0;                        ///< waits between streams that were omitted as implied
    table<position_id, std::uint32_t> stream_of;    ///< of each step
    std::vector<stream_schedule::command> commands; ///< in the order in which they are issued
    friend bool operator==(stream_schedule const&, stream_schedule const&) = default;
};

} // namespace sublet

// --- vector clocks ---------------------------------------------------------------------------------------

/// For each stream, the work on every stream that happens before its next command.
///
///     stream 0   ─ m0 ───── m2 ─────────────        final clock of stream 0   {2, 0, 0}
///     stream 1   ──── m1 ── wait m0 ── m3 ──                   of stream 1   {1, 2, 0}
///     stream 2   ───────────────── wait m3 ─                   of stream 2   {1, 2, 0}
///
/// Commands of a stream run in order, so one number per stream suffices. A wait for a mark joins the clock of
/// the mark into the clock of the stream. So stream 2 need not wait for m0.
///
/// Source: Mattern, "Virtual time and global states of distributed systems", Parallel and Distributed
/// Algorithms 1989; Fidge, "Timestamps in message-passing systems that preserve the partial ordering", ACSC
/// 1988.

namespace sublet::detail {

/// Marks are numbered in the order in which they are set.
class vector_clocks {
public:
    explicit vector_clocks(std::size_t streams) : streams_(streams), clock_(streams * streams, 0) {}

    std::uint32_t mark(std::uint32_t stream);
    void join_mark(std::uint32_t stream, std::uint32_t mark) { merge(row_of(clock_, stream), mark); }

    /// The next command of the stream happens after the mark already.
    [[nodiscard]] bool is_after(std::uint32_t stream, std::uint32_t mark) const
    {
        return is_after(row_of(clock_, stream), mark);
    }

    [[nodiscard]] std::uint32_t stream_of(std::uint32_t mark) const { return stream_of_[mark]; }

    /// A wait for these marks implies one for all marks of the stream.
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
    bool is_after(std::uint32_t const* clock, std::uint32_t mark) const;
    void merge(std::uint32_t* clock, std::uint32_t mark);

    std::size_t streams_;
    std::vector<std::uint32_t> clock_;      // by stream, by stream: marks that happen before
    std::vector<std::uint32_t> mark_clock_; // by mark, by stream: the clock when it was set
    std::vector<std::uint32_t> stream_of_;  // by mark
};

} // namespace sublet::detail

// --- schedule --------------------------------------------------------------------------------------------

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

namespace sublet {
namespace detail {

class stream_scheduler {
public:
    enum class blocks : std::uint8_t { arena, to_the_end, recycled };

    stream_scheduler(run_order const& order, blocks kind, stream_options const& settings, bool paints);

    stream_schedule take();

private:
    struct stream_state {
        position_id last = no_position; // the last step
        std::uint32_t mark = 0;         // the last mark
        std::uint64_t finish_time = 0; // end of `last`
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
template <detail::memory_mode Mode>
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
    using scheduler = detail::stream_scheduler;
    constexpr auto kind = std::same_as<Mode, arena>     ? scheduler::blocks::arena
                          : std::same_as<Mode, recycle> ? scheduler::blocks::recycled
                                                        : scheduler::blocks::to_the_end;
    return scheduler(order, kind, settings, paints).take();
}

// --- check schedule --------------------------------------------------------------------------------------

/// Checks a schedule, before a run, for every order of execution that its streams and events allow.
///
///     schedule                        commands                             touches, from the program
///                                     0  stream 0   write all inputs
///     stream 0   launch 0             1  stream 0   work of step 0         writes a
///     stream 0   record 0             2  stream 0   record 0
///     stream 1   wait 0               3  stream 1   wait 0
///     stream 1   launch 1             4  stream 1   work of step 1         reads a, writes b
///     ...                             n  stream 0   touch all that remains
///
/// Touches are derived from the program and the plan, independently of the scheduler. The first and the last
/// command stand for the runs before and after: all of a run must be ordered between them.
///
/// Returns the commands of a schedule with the bytes that they touch, including those two. `plan` is
/// null outside of arena mode; `lowered` is the one that the schedule was made for.
///
/// Requires:   as accesses_of(); the schedule launches each position once, in order.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] stream_commands commands_of(snapshot const& p, plan_options const& options,
                                          memory_plan const* plan, detail::lowered_program const& lowered,
                                          stream_schedule const& schedule, bool keeps_io_addresses = false);

/// Whether a schedule is valid: true, or its first fault. If it is, every order in which a device may execute
/// it leaves what the lowered program leaves step by step, and the next run begins after all of it.
///
/// Requires:   as commands_of(); `settings` are the options that the schedule was made with.
/// Complexity: that of accesses_of() and check_streams().
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] verdict check_schedule(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                     detail::lowered_program const& lowered, stream_schedule const& schedule,
                                     stream_options const& settings = {});

} // namespace detail

// --- call ------------------------------------------------------------------------------------------------

/// One step, its operands, and its stream, as its kernel sees them: cpu_call, plus the stream.
///
///     auto kernel = [&](auto const& call) {
///         launch_my_operation(call.stream(), call.in(0).data(), call.out(0).data());
///     };
///
/// A call is a few words, so a device that runs kernels later may keep a copy. What it refers to stays valid
/// until the run is over. Operand addresses are written when the step is issued, or once if constant.
///
/// Throws: precondition_error for an operand that the step does not have.
template <class Stream>
class stream_call {
public:
    /// For the executor.
    ///
    /// Requires: `operands` begins with the uses of the step, its defs and its scratch.
    stream_call(detail::lowered_program const& lowered, position_id at, Stream stream,
                std::span<std::byte> const* operands)
        : step(lowered.step_at[at]), position(at), lowered_(&lowered), uses_(lowered.uses[at]),
          defs_(lowered.defs[at]), operands_(operands), stream_(stream)
    {
    }

    step_id step;         ///< of the program
    position_id position; ///< in the order in which steps are issued

    /// The stream to issue the work of the step on.
    [[nodiscard]] Stream stream() const { return stream_; }
    /// The values that the step reads, in program order.
    [[nodiscard]] std::span<value_id const> uses() const { return uses_; }
    /// The values that it writes or makes: written ones first, then its results.
    [[nodiscard]] std::span<value_id const> defs() const { return defs_; }
    /// The bytes of operand i, on the device.
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses_.size(), i, 0); }
    /// The bytes of result j, on the device.
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const { return nth(defs_.size(), j, uses_.size()); }
    /// Result j is a view of bytes that exist already: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: the kernel of step % accesses operand % of %", step, j,
                       defs().size());
        return lowered_->is_view(defs()[j], position);
    }
    /// The bytes of result j are there already: the step changes them, or a part of them.
    [[nodiscard]] bool is_update(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel accesses an operand that its step does not have");
        return lowered_->is_update(defs()[j], position);
    }
    /// How many scratch values the step has.
    [[nodiscard]] std::size_t scratch_count() const { return lowered_->scratch[position].size(); }
    /// The bytes of scratch value k, on the device.
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(scratch_count(), k, uses().size() + defs().size());
    }

private:
    std::span<std::byte> nth(std::size_t count, std::size_t i, std::size_t first) const
    {
        SUBLET_EXPECTS(i < count, "sublet: the kernel of step % accesses operand % of %", step, i, count);
        return operands_[first + i];
    }

    detail::lowered_program const* lowered_;
    std::span<value_id const> uses_, defs_;
    std::span<std::byte> const* operands_;
    Stream stream_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/stream_schedule.ipp>
#endif

#endif
