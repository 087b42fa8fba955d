// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_RUN_DESK_HPP
#define SUBLET_EXECUTION_DETAIL_RUN_DESK_HPP

/// What executors on host memory have in common: what the caller owes, gives and takes.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- live peak -------------------------------------------------------------------------------------------

/// How many bytes a run cannot do without.
///
///     position      0   1   2
///     a: 8          [=======)
///     b: 4              [=======)       8, then 12, or 8 if b may be written over a; then 4
///
/// A walk along the tape with the bytes of all that is there: inputs come first, a result comes with the
/// first step that writes it, and all leave with their last touch. Of the in-place pairs of a step as many
/// bytes are saved as its results can save together.

namespace sublet::detail {

/// The most bytes alive at once in each pool, as many results written in place as can be; summed over the
/// pools. What no arenas for these values go below, nor, of one pool, any storage, whoever gives it out.
///
/// Complexity: O(touches + buffers + pairs), and match_overwrites() at each position.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are alive at once.
[[nodiscard]] byte_count live_peak(run_tape const& tape);

// --- caller duties ---------------------------------------------------------------------------------------

/// What the caller of an executor owes it, and what it has given so far.
///
///     value      storage        owed
///     weights    the caller's   bind() once       ──► there, for all runs
///     image      the plan's     input() a run     ──► there, until that run is over
///     scores     the plan's     nothing
///
/// The same wherever the bytes are, on this machine or on a device.

/// Every call is about the tape that it was made for.
class caller_duties {
public:
    explicit caller_duties(run_tape const& tape);

    /// Throws: precondition_error if there is no such value.
    template <id_like V>
    static value_id value_of(run_tape const& tape, V const& v)
    {
        value_id const value = as_id(v);
        SUBLET_EXPECTS(value < tape.bytes.size(),
                       "sublet: an executor is asked for a value that does not exist");
        return value;
    }
    static buffer const& buffer_of(run_tape const& tape, value_id v)
    {
        return tape.table.buffers[tape.table.buffer_of[v]];
    }

    /// Throws: precondition_error if v is no input in storage of the executor's.
    static void expect_input(run_tape const& tape, value_id v)
    {
        buffer const& its = buffer_of(tape, v);
        SUBLET_EXPECTS(has_role(its.role, value_role::input),
                       "sublet: input() is asked for no input, or give() before bind()");
        SUBLET_EXPECTS(its.is_planned() || its.size == 0, "sublet: storage of this input is to be bound");
    }
    /// Throws: precondition_error if v is no output.
    static void expect_output(run_tape const& tape, value_id v)
    {
        SUBLET_EXPECTS(has_role(buffer_of(tape, v).role, value_role::output),
                       "sublet: output() is asked for no output, or take() before bind()");
    }
    /// Throws: unusable_value if there are no results.
    static void expect_results(value_id v, bool has_results);
    /// Throws: precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///         bytes, for it or for a view of it, or they do not begin at its alignment.
    static void expect_fit(run_tape const& tape, value_id v, std::span<std::byte const> bytes);

    [[nodiscard]] bool is_there(buffer_id b) const { return is_there_[b] != 0; }
    void give(buffer_id b) { is_there_[b] = 1; }
    /// A run has had its inputs.
    void use_up_inputs(run_tape const& tape);

    /// Throws: unusable_value for the first that is owed and not there.
    void expect_all(run_tape const& tape) const;
    /// The same without what is given before every run.
    void expect_bound(run_tape const& tape) const;

private:
    void expect_there(buffer const& its, buffer_id b) const;

    std::vector<buffer_id> owed_;         // to be bound once, or given before every run
    std::vector<unsigned char> is_there_; // by buffer: bound or given
};

// --- run desk --------------------------------------------------------------------------------------------

/// Where the caller of an executor hands in and takes away, whoever runs the steps.
///
///     bind(weights)  once ──┐
///     input(image)  a run ──┴─► run ──► output(scores)    until the next input()
///
/// It knows what is owed before a run, and leaves everything in order after one, however it ended.

/// The caller's side of cpu_executor and thread_executor.
///
///     external, state, not eligible, of unknown size     bind() your storage once
///     input                                              input() before every run, and fill it
///     output                                             output() after a run, until the next input()
class run_desk {
public:
    /// The bytes of an input, to be filled before a run. Outputs of the last run end here: an input may lie
    /// where they lie.
    ///
    /// Throws: precondition_error if v is no input or its storage is to be bound; allocation_error.
    template <id_like V>
    [[nodiscard]] std::span<std::byte> input(V const& v)
    {
        value_id const value = duties_.value_of(tape_, v);
        expect_idle();
        duties_.expect_input(tape_, value);
        buffer_id const b = tape_.table.buffer_of[value];
        if (tape_.table.buffers[b].is_planned()) {
            values_.provide(tape_, b);
            make_usable(values_.bytes_of(b));
        }
        has_results_ = false;
        duties_.give(b);
        return values_.shown_by(tape_, value);
    }

    /// The bytes of an output after a run.
    ///
    /// Throws: precondition_error if v is no output; unusable_value if no run has made it, or an input has
    ///         been given since.
    template <id_like V>
    [[nodiscard]] std::span<std::byte const> output(V const& v) const
    {
        value_id const value = duties_.value_of(tape_, v);
        duties_.expect_output(tape_, value);
        duties_.expect_results(value, has_results_);
        return values_.shown_by(tape_, value);
    }

    /// The caller's storage for a value that is external, state, not eligible or of unknown size, and for all
    /// views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one; where steps run at
    ///           once, storage bound for two values does not overlap.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment.
    template <id_like V>
    void bind(V const& v, std::span<std::byte> bytes)
    {
        value_id const value = duties_.value_of(tape_, v);
        expect_idle();
        duties_.expect_fit(tape_, value, bytes);
        values_.bind(tape_.table.buffer_of[value], bytes);
        duties_.give(tape_.table.buffer_of[value]);
    }
    /// The same for what no step writes.
    template <id_like V, class Bytes>
        requires(std::convertible_to<Bytes, std::span<std::byte const>> &&
                 !std::convertible_to<Bytes, std::span<std::byte>> &&
                 (std::is_lvalue_reference_v<Bytes> || // a temporary container would dangle
                  std::ranges::enable_borrowed_range<std::remove_cvref_t<Bytes>>))
    void bind(V const& v, Bytes&& constant)
    {
        SUBLET_EXPECTS(tape_.first_write[tape_.table.buffer_of[duties_.value_of(tape_, v)]] == no_step,
                       "sublet: constant storage is bound for a value that a step writes");
        std::span<std::byte const> const bytes = constant;
        bind(v, std::span<std::byte>(const_cast<std::byte*>(bytes.data()), bytes.size()));
    }

    /// What has been allocated since this executor was made.
    [[nodiscard]] memory_use memory() const { return values_.memory().use(); }

protected:
    /// Throws: unsound_plan where a place is outside of its arena; allocation_error if there is no memory for
    ///         the arenas; precondition_error for an alignment that is no power of two.
    template <memory_mode Mode>
    run_desk(run_tape tape, Mode const& mode, executor_options const& how)
        : tape_(std::move(tape)), values_(tape_, mode, counted_memory(how.upstream, how.limit)),
          check_(how.check), duties_(tape_)
    {
        report_.lower_bound = live_peak(tape_);
        if constexpr (std::same_as<Mode, arena>)
            for (byte_count bytes : mode.plan.arena_bytes)
                report_.plan_bytes = checked_add(report_.plan_bytes, bytes);
    }
    run_desk(run_desk&&) = default;
    ~run_desk() = default;

    /// Calls `steps()`, which runs every step once, between what has to come before and after it.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is given back and inputs have
    ///          to be given again.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          whatever `steps` throws.
    template <class Steps>
    run_report run_once(Steps steps)
    {
        duties_.expect_all(tape_);
        SUBLET_EXPECTS(!std::atomic_ref(is_running_).exchange(true), is_used_twice);
        struct ending { // whatever happens
            run_desk& mine;
            bool is_done = false;
            ~ending()
            {
                mine.has_results_ = is_done;
                mine.duties_.use_up_inputs(mine.tape_);
                if (is_done) mine.values_.end(mine.tape_);
                else mine.values_.release_all(mine.tape_);
                std::atomic_ref(mine.is_running_).store(false);
            }
        } end{*this};
        has_results_ = false;
        values_.begin(tape_);
        values_.memory().mark();
        steps();
        end.is_done = true;
        run_report report = report_;
        report.run = values_.memory().use_since_mark();
        report.steps = tape_.step_at.size();
        for (auto const& block : values_.arenas()) report.reserved += block.size;
        return report;
    }

    run_tape tape_;
    value_storage values_;
    executor_options::checks check_;
    run_report report_; ///< what is the same for every run

private:
    static constexpr char const* is_used_twice = "sublet: an executor is used by its own kernel, or by two "
                                                 "threads";
    void expect_idle();

    caller_duties duties_;
    bool is_running_ = false;
    bool has_results_ = false;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/run_desk.ipp>
#endif

#endif
