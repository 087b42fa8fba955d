// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_EXECUTOR_BASE_HPP
#define SUBLET_EXECUTION_DETAIL_EXECUTOR_BASE_HPP

/// The common base of the executors on host memory: inputs, outputs and bindings of values, the frame of a
/// run, and a lower bound of its memory in O(touches + buffers + pairs) plus a matching at each position.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- live peak -------------------------------------------------------------------------------------------

/// A lower bound of the bytes of a run: the live peak.
///
///     position      0   1   2
///     a: 8          [=======)
///     b: 4              [=======)       8, then 12, or 8 if b may be written over a; then 4
///
/// Walks the lowered program with the bytes of all live buffers: inputs are live from the start, a result
/// from its first write, each to its last touch. In-place results of a step are a maximum-weight matching.

namespace sublet::detail {

/// The maximum of live bytes in each pool, with an optimal choice of in-place results, summed over the pools.
/// A lower bound for arenas of these values and, for one pool, for any allocator.
/// Complexity: O(touches + buffers + pairs), and match_overwrites() at each position.
/// Throws:     precondition_error if 2^64 - 1 bytes or more are live at once.
[[nodiscard]] byte_count live_peak(lowered_program const& lowered);

// --- binding state ---------------------------------------------------------------------------------------

/// Which values the caller must bind or supply, and which it has, wherever the bytes are.
///
///     value      storage        required
///     weights    the caller's   bind() once       ──► supplied for all runs
///     image      the plan's     input() per run   ──► supplied until that run is over
///     scores     the plan's     nothing
///
/// Every call takes the lowered program of the constructor.
class binding_state {
public:
    explicit binding_state(lowered_program const& lowered);

    /// Throws: precondition_error if the value does not exist.
    static void expect_value(lowered_program const& lowered, value_id v)
    {
        SUBLET_EXPECTS(v < lowered.bytes.size(),
                       "sublet: an executor is called with value %, but there are only % values", v,
                       lowered.bytes.size());
    }
    static buffer const& buffer_of(lowered_program const& lowered, value_id v)
    {
        return lowered.table.buffers[lowered.table.buffer_of[v]];
    }

    /// Throws: precondition_error if v is no input, or has storage of the caller's.
    static void expect_input(lowered_program const& lowered, value_id v)
    {
        buffer const& its = buffer_of(lowered, v);
        SUBLET_EXPECTS(has_role(its.role, value_role::input),
                       "sublet: input() is called for value %, which is no input, or give() before bind()",
                       v);
        SUBLET_EXPECTS(its.is_planned() || its.size == 0,
                       "sublet: input % has no planned storage: bind() storage for it", v);
    }
    /// Throws: precondition_error if v is no output.
    static void expect_output(lowered_program const& lowered, value_id v)
    {
        SUBLET_EXPECTS(has_role(buffer_of(lowered, v).role, value_role::output),
                       "sublet: output() is called for value %, which is no output, or take() before bind()",
                       v);
    }
    /// Throws: unusable_value if there are no results to read.
    static void expect_results(value_id v, bool has_results);
    /// Throws: precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///         bytes, for it or for a view of it, or they do not begin at its alignment.
    static void expect_fit(lowered_program const& lowered, value_id v, std::span<std::byte const> bytes);

    [[nodiscard]] bool is_supplied(buffer_id b) const { return is_supplied_[b] != 0; }
    void mark_supplied(buffer_id b) { is_supplied_[b] = 1; }
    /// After a run: inputs must be supplied again.
    void consume_inputs(lowered_program const& lowered);

    /// Throws: unusable_value for the first that is required and not supplied.
    void expect_all(lowered_program const& lowered) const;
    /// The same without inputs.
    void expect_bound(lowered_program const& lowered) const;

private:
    void expect_supplied(buffer const& its, buffer_id b) const;

    std::vector<buffer_id> required_;             // buffers to bind once, or to supply before every run
    table<buffer_id, unsigned char> is_supplied_; // bound or supplied
};

/// A temporary container would dangle.
template <class Bytes>
concept constant_bytes = std::convertible_to<Bytes, std::span<std::byte const>> && !
std::convertible_to<Bytes, std::span<std::byte>> &&
    (std::is_lvalue_reference_v<Bytes> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Bytes>>);

// A parameter of a deleted overload: its name is the reason.
template <class Bytes>
struct bytes_are_bound_by_a_span {}; // std::as_bytes(std::span(weights))

// --- executor base ---------------------------------------------------------------------------------------

/// The interface of cpu_executor and thread_executor for values.
///
///     external, state, not eligible, of unknown size     bind() your storage once
///     input                                              input() before every run, and fill it
///     output                                             output() after a run, until the next input()
///
/// It checks what is required before a run, and restores a consistent state after one, however it ended.
class executor_base {
public:
    /// The bytes of an input, to be filled before a run. Outputs of the last run become invalid: an input may
    /// share bytes with them.
    /// Throws: precondition_error if v is no input or has storage of the caller's; allocation_error.
    [[nodiscard]] std::span<std::byte> input(value_id v)
    {
        bindings_.expect_value(lowered_, v);
        expect_idle();
        bindings_.expect_input(lowered_, v);
        forget_lost_values();
        values_.take_arena();
        buffer_id const b = lowered_.table.buffer_of[v];
        if (lowered_.table.buffers[b].is_planned()) {
            values_.provide(lowered_, b);
            unpoison_bytes(values_.bytes_of(b));
        }
        has_results_ = false;
        bindings_.mark_supplied(b);
        return values_.value_bytes(lowered_, v);
    }

    /// The bytes of an output after a run.
    /// Throws: precondition_error if v is no output; unusable_value if no run has computed it, or an input
    ///         has been given since, or another executor has used the same growing_arena.
    [[nodiscard]] std::span<std::byte const> output(value_id v) const
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_output(lowered_, v);
        bindings_.expect_results(v, has_results_ && values_.holds_arena());
        return values_.value_bytes(lowered_, v);
    }

    /// Sets the caller's storage for a value that is external, state, not eligible or of unknown size, and
    /// for all views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one; where steps run
    ///           concurrently, storage bound for two values does not overlap.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment.
    void bind(value_id v, std::span<std::byte> bytes)
    {
        bindings_.expect_value(lowered_, v);
        expect_idle();
        bindings_.expect_fit(lowered_, v, bytes);
        values_.bind(lowered_.table.buffer_of[v], bytes);
        bindings_.mark_supplied(lowered_.table.buffer_of[v]);
    }
    /// The same for a value that no step writes.
    template <class Bytes>
        requires constant_bytes<Bytes>
    void bind(value_id v, Bytes&& constant)
    {
        bindings_.expect_value(lowered_, v);
        SUBLET_EXPECTS(lowered_.first_write[lowered_.table.buffer_of[v]] == no_position,
                       "sublet: constant storage is bound for value %, which a step writes", v);
        std::span<std::byte const> const bytes = constant;
        bind(v, std::span<std::byte>(const_cast<std::byte*>(bytes.data()), bytes.size()));
    }
    template <class Bytes>
        requires(!constant_bytes<Bytes> && !std::convertible_to<Bytes, std::span<std::byte>>)
    void bind(value_id, Bytes&&, bytes_are_bound_by_a_span<Bytes> = {}) = delete;

    /// Allocations since construction.
    [[nodiscard]] memory_use memory() const { return values_.memory().use(); }

protected:
    /// Throws: unsound_plan for an offset outside of its arena; allocation_error if there is no memory for
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

    /// Calls `steps()`, which runs every step once, with the checks before and the cleanup after it.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is released and inputs have to
    ///          be given again.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          whatever `steps` throws.
    template <class Steps>
    run_report run_once(Steps steps)
    {
        forget_lost_values();
        bindings_.expect_all(lowered_);
        values_.take_arena();
        SUBLET_EXPECTS(!std::atomic_ref(is_running_).exchange(true), concurrent_use_message);
        struct run_cleanup { // on return and on exceptions
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
    run_report report_; ///< the same for every run

private:
    static constexpr char const* concurrent_use_message =
        "sublet: an executor is used by its own kernel, or by two "
        "threads";
    void expect_idle();
    /// Another executor has written over the inputs and outputs in a growing arena.
    void forget_lost_values()
    {
        if (values_.holds_arena()) return;
        bindings_.consume_inputs(lowered_);
        has_results_ = false;
    }

    binding_state bindings_;
    bool is_running_ = false;
    bool has_results_ = false;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/executor_base.ipp>
#endif

#endif
