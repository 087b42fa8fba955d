// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_EXECUTOR_BASE_HPP
#define SUBLET_EXECUTION_DETAIL_EXECUTOR_BASE_HPP

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
[[nodiscard]] byte_count live_peak(lowered_program const& lowered);

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
class binding_state {
public:
    explicit binding_state(lowered_program const& lowered);

    /// Throws: precondition_error if there is no such value.
    template <id_like V>
    static value_id value_of(lowered_program const& lowered, V const& v)
    {
        value_id const value = as_id(v);
        SUBLET_EXPECTS(value < lowered.bytes.size(),
                       "sublet: an executor is asked for a value that does not exist");
        return value;
    }
    static buffer const& buffer_of(lowered_program const& lowered, value_id v)
    {
        return lowered.table.buffers[lowered.table.buffer_of[v]];
    }

    /// Throws: precondition_error if v is no input in storage of the executor's.
    static void expect_input(lowered_program const& lowered, value_id v)
    {
        buffer const& its = buffer_of(lowered, v);
        SUBLET_EXPECTS(has_role(its.role, value_role::input),
                       "sublet: input() is asked for no input, or give() before bind()");
        SUBLET_EXPECTS(its.is_planned() || its.size == 0, "sublet: storage of this input is to be bound");
    }
    /// Throws: precondition_error if v is no output.
    static void expect_output(lowered_program const& lowered, value_id v)
    {
        SUBLET_EXPECTS(has_role(buffer_of(lowered, v).role, value_role::output),
                       "sublet: output() is asked for no output, or take() before bind()");
    }
    /// Throws: unusable_value if there are no results.
    static void expect_results(value_id v, bool has_results);
    /// Throws: precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///         bytes, for it or for a view of it, or they do not begin at its alignment.
    static void expect_fit(lowered_program const& lowered, value_id v, std::span<std::byte const> bytes);

    [[nodiscard]] bool is_supplied(buffer_id b) const { return is_supplied_[b] != 0; }
    void mark_supplied(buffer_id b) { is_supplied_[b] = 1; }
    /// A run has had its inputs.
    void consume_inputs(lowered_program const& lowered);

    /// Throws: unusable_value for the first that is owed and not there.
    void expect_all(lowered_program const& lowered) const;
    /// The same without what is given before every run.
    void expect_bound(lowered_program const& lowered) const;

private:
    void expect_supplied(buffer const& its, buffer_id b) const;

    std::vector<buffer_id> required_;        // to be bound once, or given before every run
    std::vector<unsigned char> is_supplied_; // by buffer: bound or given
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
class executor_base {
public:
    /// The bytes of an input, to be filled before a run. Outputs of the last run end here: an input may lie
    /// where they lie.
    ///
    /// Throws: precondition_error if v is no input or its storage is to be bound; allocation_error.
    template <id_like V>
    [[nodiscard]] std::span<std::byte> input(V const& v)
    {
        value_id const value = bindings_.value_of(lowered_, v);
        expect_idle();
        bindings_.expect_input(lowered_, value);
        buffer_id const b = lowered_.table.buffer_of[value];
        if (lowered_.table.buffers[b].is_planned()) {
            values_.provide(lowered_, b);
            unpoison_bytes(values_.bytes_of(b));
        }
        has_results_ = false;
        bindings_.mark_supplied(b);
        return values_.value_bytes(lowered_, value);
    }

    /// The bytes of an output after a run.
    ///
    /// Throws: precondition_error if v is no output; unusable_value if no run has made it, or an input has
    ///         been given since.
    template <id_like V>
    [[nodiscard]] std::span<std::byte const> output(V const& v) const
    {
        value_id const value = bindings_.value_of(lowered_, v);
        bindings_.expect_output(lowered_, value);
        bindings_.expect_results(value, has_results_);
        return values_.value_bytes(lowered_, value);
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
        value_id const value = bindings_.value_of(lowered_, v);
        expect_idle();
        bindings_.expect_fit(lowered_, value, bytes);
        values_.bind(lowered_.table.buffer_of[value], bytes);
        bindings_.mark_supplied(lowered_.table.buffer_of[value]);
    }
    /// The same for what no step writes.
    template <id_like V, class Bytes>
        requires(std::convertible_to<Bytes, std::span<std::byte const>> &&
                 !std::convertible_to<Bytes, std::span<std::byte>> &&
                 (std::is_lvalue_reference_v<Bytes> || // a temporary container would dangle
                  std::ranges::enable_borrowed_range<std::remove_cvref_t<Bytes>>))
    void bind(V const& v, Bytes&& constant)
    {
        SUBLET_EXPECTS(lowered_.first_write[lowered_.table.buffer_of[bindings_.value_of(lowered_, v)]] ==
                           no_step,
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
    executor_base(lowered_program lowered, Mode const& mode, executor_options const& settings)
        : lowered_(std::move(lowered)),
          values_(lowered_, mode, counted_memory(settings.upstream, settings.limit)), check_(settings.check),
          bindings_(lowered_)
    {
        report_.lower_bound = live_peak(lowered_);
        if constexpr (std::same_as<Mode, arena>)
            for (byte_count bytes : mode.plan.arena_bytes)
                report_.plan_bytes = checked_add(report_.plan_bytes, bytes);
    }
    executor_base(executor_base&&) = default;
    ~executor_base() = default;

    /// Calls `steps()`, which runs every step once, between what has to come before and after it.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is given back and inputs have
    ///          to be given again.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          whatever `steps` throws.
    template <class Steps>
    run_report run_once(Steps steps)
    {
        bindings_.expect_all(lowered_);
        SUBLET_EXPECTS(!std::atomic_ref(is_running_).exchange(true), concurrent_use_message);
        struct run_cleanup { // whatever happens
            executor_base& self;
            bool is_done = false;
            ~run_cleanup()
            {
                self.has_results_ = is_done;
                self.bindings_.consume_inputs(self.lowered_);
                if (is_done) self.values_.end(self.lowered_);
                else self.values_.release_all(self.lowered_);
                std::atomic_ref(self.is_running_).store(false);
            }
        } end{*this};
        has_results_ = false;
        values_.begin(lowered_);
        values_.memory().mark();
        steps();
        end.is_done = true;
        run_report report = report_;
        report.run = values_.memory().use_since_mark();
        report.steps = lowered_.step_at.size();
        for (auto const& block : values_.arenas()) report.reserved += block.size;
        return report;
    }

    lowered_program lowered_;
    value_storage values_;
    executor_options::checks check_;
    run_report report_; ///< what is the same for every run

private:
    static constexpr char const* concurrent_use_message =
        "sublet: an executor is used by its own kernel, or by two "
        "threads";
    void expect_idle();

    binding_state bindings_;
    bool is_running_ = false;
    bool has_results_ = false;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/executor_base.ipp>
#endif

#endif
