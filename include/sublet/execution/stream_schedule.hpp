// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_SCHEDULE_HPP
#define SUBLET_EXECUTION_STREAM_SCHEDULE_HPP

/// Steps on streams: the commands, how they are made, and their proof before a run.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- commands --------------------------------------------------------------------------------------------

/// What a run on streams issues, one command after the other: plain data, made by schedule, proved
/// by check_schedule, carried out by streams.hpp.
///
///     {launch, 0, 0}   stream 0 runs the step at position 0
///     {record, 0, 0}   event 0: stream 0 has come this far
///     {wait,   1, 0}   stream 1 goes on when it has
///     {launch, 1, 1}   stream 1 runs the step at position 1

namespace sublet {

struct stream_options {
    std::size_t streams = 4;                   ///< at most
    std::vector<std::uint32_t> stream_of = {}; ///< by step; empty: chains. Those up to the highest are made
    std::vector<handoff> handoffs = {};        ///< order to be kept besides, as `versions()` returns it
    bool keeps_io_addresses =
        false; ///< inputs and outputs stay where they are from run to run, as a graph needs it
};

struct stream_schedule {
    enum class action : std::uint8_t {
        record,         ///< an event: what is on the stream so far
        wait,           ///< until it has come to pass
        allocate,       ///< a block for a buffer
        transfer_block, ///< the block of the buffer `from`
        fill,           ///< all bytes of a buffer with ones: nobody may read them
        launch,         ///< the step at a position
        release         ///< the block of a buffer
    };

    struct command {
        stream_schedule::action what = stream_schedule::action::launch;
        std::uint32_t stream = 0;
        std::uint32_t which = 0; ///< the event, the position or the buffer
        buffer_id from = 0;
        friend bool operator==(stream_schedule::command const&, stream_schedule::command const&) = default;
    };

    std::size_t streams = 1; ///< one more than the highest that is used
    std::size_t events = 0;  ///< each is recorded once, and waited for
    std::size_t waits = 0;   ///< commands
    std::size_t implied = 0; ///< of steps for steps of other streams, left out: a clock says them
    std::vector<std::uint32_t> stream_of;           ///< by position
    std::vector<stream_schedule::command> commands; ///< in the order in which they are issued
    friend bool operator==(stream_schedule const&, stream_schedule const&) = default;
};

} // namespace sublet

// --- knowledge -------------------------------------------------------------------------------------------

/// What each stream knows to be done on the others.
///
///     stream 0   ─ m0 ───── m2 ─────────────        clock of stream 0 in the end   {2, 0, 0}
///     stream 1   ──── m1 ── wait m0 ── m3 ──                      of stream 1      {1, 2, 0}
///     stream 2   ───────────────── wait m3 ─                      of stream 2      {1, 2, 0}
///
/// Commands of a stream come one after the other, so to know one is to know all before it: a number a stream
/// says everything. Who waits for a mark learns all that was known there. So stream 2 need not wait for m0.
///
/// Source: Mattern, "Virtual time and global states of distributed systems", Parallel and Distributed
/// Algorithms 1989; Fidge, "Timestamps in message-passing systems that preserve the partial ordering", ACSC
/// 1988.

namespace sublet::detail {

/// Marks are numbered in the order in which they are set.
class vector_clocks {
public:
    explicit vector_clocks(std::size_t streams) : streams_(streams), clock_(streams * streams, 0) {}

    /// A mark behind all that is on the stream.
    std::uint32_t mark(std::uint32_t stream);
    /// The stream waits for the mark.
    void join_mark(std::uint32_t stream, std::uint32_t mark) { merge(row_of(clock_, stream), mark); }

    /// What comes next on the stream comes after the mark anyway.
    [[nodiscard]] bool is_after(std::uint32_t stream, std::uint32_t mark) const
    {
        return is_after(row_of(clock_, stream), mark);
    }

    [[nodiscard]] std::uint32_t stream_of(std::uint32_t mark) const { return stream_of_[mark]; }

    /// Whoever waits for these marks need not wait for anything else on the stream.
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
    std::vector<std::uint32_t> clock_;      // by stream, by stream: how many marks are known
    std::vector<std::uint32_t> mark_clock_; // by mark, by stream: the same, when it was set
    std::vector<std::uint32_t> stream_of_;  // by mark
};

} // namespace sublet::detail

// --- schedule --------------------------------------------------------------------------------------------

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

namespace sublet {
namespace detail {

class stream_scheduler {
public:
    enum class blocks : std::uint8_t { arena, to_the_end, recycled };

    stream_scheduler(run_order const& order, blocks kind, stream_options const& settings, bool paints);

    stream_schedule take();

private:
    struct stream_state {
        step_id last = no_step;      // the last step on it
        std::uint32_t mark = 0;      // the last mark
        std::size_t finish_time = 0; // were each step as long: when `last` is done
        bool is_used = false;
        bool has_unmarked_work = false; // something has been issued since
    };

    /// Clocks have a number for each stream: not for those that no step can be on.
    std::size_t useful_streams() const;
    buffer const& its(std::size_t b) const { return lowered_.table.buffers[b]; }
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
    bool is_last_touch(buffer_id b, step_id at) const
    {
        return touched_by_[b].back() == at && !has_role(its(b).role, value_role::output) && !is_kept(b);
    }

    // --- one step ---------------------------------------------------------------------------------------

    void issue(step_id at);

    std::uint32_t stream_for(step_id at);

    // --- blocks -----------------------------------------------------------------------------------------

    bool can_transfer_block(operand_reuse y, step_id at) const
    {
        return lowered_.is_same_size(y) && has_block_[y.from] && is_last_touch(y.from, at) &&
               owns_block(y.to) && !has_block_[y.to] && alignment_[y.from] >= its(y.to).alignment;
    }
    void transfer_from(operand_reuse y, step_id at);

    /// Its block was handed over for this step, or to it.
    bool is_transferred(buffer_id b) const;

    /// Nothing of the program is in its bytes when the step begins.
    bool is_unwritten(buffer_id b, step_id at) const;
    /// The step may have written other results to its bytes.
    bool may_be_reused(buffer_id b, step_id at) const;

    /// What nobody needs behind the step.
    void release_dead(step_id at, std::uint32_t s);
    bool is_already_reused(buffer_id b, step_id at) const
    {
        return may_be_reused(b, at) && (kind_ == blocks::arena || !has_block_[b]);
    }

    // --- waits ------------------------------------------------------------------------------------------

    void add_user_waits(buffer_id b, step_id at);
    /// The latest first: none that comes later can imply it.
    void emit_waits(std::uint32_t s);

    /// Where an event may be recorded; number_events() knows whether it is.
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
    csr_rows touched_by_;                        // by buffer: positions
    std::vector<unsigned char> is_unused_input_; // by buffer: nobody waits for it to be done; as are the next
    std::vector<unsigned char> has_block_;
    std::vector<byte_count> alignment_;        // of the block that it has
    std::uint32_t start_ = 0;                  // a mark, as are the next
    std::vector<std::uint32_t> mark_of_;       // by position
    std::vector<std::uint32_t> pending_waits_; // to be waited for next
    std::vector<std::size_t> finish_time_;     // by position: were each step as long, when it is done
    std::vector<buffer_id> block_transfers_;   // of the step: whose block was handed over, and to whom
    stream_schedule result_;
};

/// Puts the steps of a program on streams. If it paints, buffers are filled before their first write, and
/// when nobody needs them any more.
///
/// Requires:   the order is one of this mode. `settings.stream_of`, if given, has a stream below `settings.streams` for
///             each step.
/// Ensures:    every wait of the order is kept, by the order of a stream or by events; no wait can be left
///             out. A block is allocated before, and released behind, all that touches it. Ties go to the
///             lower stream.
/// Complexity: O((steps + waits) streams + touches log touches); of `settings.streams`, those that no step can be
/// on do not count. Throws:     precondition_error where a requirement is broken.
template <detail::memory_mode Mode>
[[nodiscard]] stream_schedule schedule_streams(run_order const& order, Mode const&,
                                               stream_options const& settings = {}, bool paints = false)
{
    SUBLET_EXPECTS(settings.streams >= 1, "sublet: a program runs on one stream at least");
    SUBLET_EXPECTS(settings.stream_of.empty() || settings.stream_of.size() == order.lowered.step_at.size(),
                   "sublet: streams are given, but not one for each step");
    for (std::uint32_t s : settings.stream_of)
        SUBLET_EXPECTS(s < settings.streams, "sublet: a step is put on a stream that there is not");
    using scheduler = detail::stream_scheduler;
    constexpr auto kind = std::same_as<Mode, arena>     ? scheduler::blocks::arena
                          : std::same_as<Mode, recycle> ? scheduler::blocks::recycled
                                                        : scheduler::blocks::to_the_end;
    return scheduler(order, kind, settings, paints).take();
}

// --- check schedule --------------------------------------------------------------------------------------

/// Is a schedule right in every order that its streams and events allow? Before anything runs.
///
///     schedule                        commands                             touches, from the program
///                                     0  stream 0   write all that is given
///     stream 0   launch 0             1  stream 0   work of step 0         writes a
///     stream 0   record 0             2  stream 0   record 0
///     stream 1   wait 0               3  stream 1   wait 0
///     stream 1   launch 1             4  stream 1   work of step 1         reads a, writes b
///     ...                             n  stream 0   touch all that is left
///
/// The schedule says when; what is touched is derived from the program and the plan, by the checker's own
/// means. Before and behind it stands what comes between runs, on stream 0: all that a run does has to come
/// after the one and before the other.

/// The commands of a schedule, with what they touch, and what comes before and after a run.
///
/// `plan` is that of arena mode, and null otherwise; `lowered` is the one that the schedule was made for.
///
/// Requires:   as accesses_of(); the schedule launches each position once, in order.
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] stream_commands commands_of(snapshot const& p, plan_options const& options,
                                          memory_plan const* plan, detail::lowered_program const& lowered,
                                          stream_schedule const& schedule, bool keeps_io_addresses = false);

/// The first fault of a schedule, or none: then every order in which a device may carry out its commands
/// leaves what the tape leaves step by step, and the next run finds everything done.
///
/// Requires:   as commands_of(); `settings` is what the schedule was made with.
/// Complexity: that of accesses_of() and check_streams().
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] std::optional<stream_fault> check_schedule(snapshot const& p, plan_options const& options,
                                                         memory_plan const* plan,
                                                         detail::lowered_program const& lowered,
                                                         stream_schedule const& schedule,
                                                         stream_options const& settings = {});

} // namespace detail

// --- call ------------------------------------------------------------------------------------------------

/// What a kernel sees of a program on a device: one step, its operands, and the stream to work in.
///
///     auto kernel = [&](auto const& call) {
///         my_operation<<<blocks, threads, 0, call.stream()>>>(call.in(0).data(), call.out(0).data());
///     };
///
/// The call is a handful of numbers, so a device that runs kernels later keeps a copy. What it refers to
/// stays until the run is over: addresses are written down when the step is issued, and written down once for
/// all runs where they do not change.

/// One step, as its kernel sees it; as cpu_call, but for the stream.
///
/// Throws: precondition_error for an operand that the step does not have.
template <class Stream>
class stream_call {
public:
    /// Requires: `operands` begins with the uses of the step, its defs and its scratch.
    stream_call(detail::lowered_program const& lowered, step_id at, Stream stream,
                std::span<std::byte> const* operands)
        : step(lowered.step_at[at]), position(at), lowered_(&lowered), operands_(operands), stream_(stream)
    {
    }

    step_id step;     ///< of the program
    step_id position; ///< in the order in which steps are issued

    [[nodiscard]] Stream stream() const { return stream_; }
    [[nodiscard]] std::span<value_id const> uses() const { return lowered_->uses[position]; }
    [[nodiscard]] std::span<value_id const> defs() const { return lowered_->defs[position]; }
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses().size(), i, 0); }
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const
    {
        return nth(defs().size(), j, uses().size());
    }
    /// Result j is a view of what was there before: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel asks for an operand that its step does not have");
        return lowered_->is_view(defs()[j], position);
    }
    [[nodiscard]] std::size_t scratch_count() const { return lowered_->scratch[position].size(); }
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(scratch_count(), k, uses().size() + defs().size());
    }

private:
    std::span<std::byte> nth(std::size_t count, std::size_t i, std::size_t first) const
    {
        SUBLET_EXPECTS(i < count, "sublet: a kernel asks for an operand that its step does not have");
        return operands_[first + i];
    }

    detail::lowered_program const* lowered_;
    std::span<std::byte> const* operands_;
    Stream stream_;
};

namespace detail {

/// Where the operands of each step are written down, one after the other.
class operand_table {
public:
    explicit operand_table(lowered_program const& lowered);
    [[nodiscard]] std::size_t count() const { return first_.back(); }
    [[nodiscard]] std::size_t operator[](step_id at) const { return first_[at]; }

    /// Calls `bytes_of(value)` for each operand of the step.
    template <class BytesOf>
    void write(std::vector<std::span<std::byte>>& operands, lowered_program const& lowered, step_id at,
               BytesOf bytes_of) const
    {
        std::size_t next = first_[at];
        for (csr_rows const* rows : {&lowered.uses, &lowered.defs, &lowered.scratch})
            for (value_id v : (*rows)[at]) operands[next++] = bytes_of(v);
    }

private:
    std::vector<std::size_t> first_; // by position, and one more
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/stream_schedule.ipp>
#endif

#endif
