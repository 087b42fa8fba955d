// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAMS_HPP
#define SUBLET_EXECUTION_STREAMS_HPP

/// Runs a program on the streams of a device, in one of three memory modes.
///
///     sublet::stream_executor run{device, program, options, sublet::arena{plan}, kernel, {.streams = 4}};
///     run.give(image, pixels);
///     run.run_async();         // returns when all is queued
///     run.take(scores, bytes); // waits, and copies
///
/// The host issues the commands of a fixed stream_schedule, O(commands) in a run, without polling: streams
/// and events keep the order that the program and its memory need. A run begins where the last one ended, so
/// runs never overlap. If the device captures graphs, one command launches a whole run.

#include <sublet/core/internal/facts.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/executor_base.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/execution/detail/stream_executor_base.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// Runs a program any number of times. The device must outlive it. One thread at a time may use it. `no_plan`
/// and `recycle` allocate during a run, in stream order; `arena` at construction, or the bytes of a
/// cuda_growing_arena when it is used. A sequential plan runs concurrently with waits where bytes are reused.
/// Memory comes from the device, never from `executor_options::upstream`.
template <stream_device Device, class Kernel>
class stream_executor : public detail::stream_executor_base<Device> {
public:
    using stream_type = typename Device::stream_type; ///< the stream of the device
    using call_type = stream_call<stream_type>;       ///< what the kernel is called with

    /// Keeps copies only: program, options and mode need not outlive it.
    ///
    /// Requires:   as cpu_executor; for executor_options::checks::digest, a device that computes digests.
    /// Complexity: that of run_order_of(), schedule_streams(), and of the checks from checks::plan on.
    /// Throws:     unsound_plan if the plan or the order is invalid (at any level an address that is wrong:
    ///             see arena); allocation_error if there is no memory for the arenas; precondition_error
    ///             where a requirement is broken; errors of the device.
    template <detail::memory_mode Mode>
        requires detail::launches<Device, Kernel, call_type>
    stream_executor(Device& device, snapshot const& p, plan_options const& options, Mode const& mode,
                    Kernel kernel, stream_options const& streams = {}, executor_options const& settings = {})
        : stream_executor(std::move(kernel), device, p,
                          *detail::with_said_views(p, detail::tabulated_options(options, p.values())), mode,
                          streams, settings)
    {
    }
    /// The same for a listing.
    template <detail::listed L, detail::memory_mode Mode>
        requires detail::launches<Device, Kernel, call_type>
    stream_executor(Device& device, L const& list, Mode const& mode, Kernel kernel,
                    stream_options const& streams = {}, executor_options const& settings = {})
        : stream_executor(std::move(kernel), device, list.program(), list.options(), mode, streams, settings)
    {
    }

    /// Waits for all queued work, which refers to the kernel and its operands.
    ~stream_executor() { this->wait_until_idle(); }
    stream_executor(stream_executor const&) = delete; // nor moved: queued work refers to it
    stream_executor& operator=(stream_executor const&) = delete;

    /// Runs every step once, and waits for the end.
    /// Ensures: outputs can be read. If it throws: see synchronize().
    /// Throws:  as run_async() and synchronize().
    run_report run()
    {
        run_report const report = run_async();
        this->synchronize();
        return report;
    }

    /// Queues a run after those queued before. The report covers what has been issued.
    ///
    /// Throws: unusable_value before anything is issued, if an input is not given or an external value not
    ///         bound; precondition_error if the device is lost; run_error (allocation_error, device_error)
    ///         when the device is idle, as synchronize().
    run_report run_async()
    {
        prepare();
        run_report report = report_;
        values_.memory().mark();
        issue(operands());
        end_run();
        ++runs_in_flight_;
        report.run = values_.memory().use_since_mark();
        return report;
    }

    /// One run as a graph of the device. If storage moves, the next launch captures the run again: a graph of
    /// CUDA is updated with it, and made anew only where CUDA refuses that.
    ///
    /// Requires: arenas, or stream_options::keeps_io_addresses; checks below digest.
    /// Throws:   precondition_error where a requirement is broken; as run_async(), except that inputs need
    ///           not be given yet.
    [[nodiscard]] auto capture()
        requires detail::captures_graphs<Device>
    {
        SUBLET_EXPECTS(plan_has_arenas_ || keeps_io_addresses_,
                       "sublet: a captured graph needs arenas, or stream_options::keeps_io_addresses");
        SUBLET_EXPECTS(check_ != executor_options::checks::digest,
                       "sublet: a captured graph cannot take digests");
        this->expect_bound();
        this->synchronize();
        provide_io();
        this->synchronize();
        std::size_t const number = captured_.size();
        captured_.emplace_back(operand_table_.count());
        using graph_type = decltype(device_.end_capture(first_));
        auto const end = [this] { return device_.end_capture(first_); };
        return captured_run<stream_executor, graph_type>(*this, captured_graph(number, end), rebinds_,
                                                         number);
    }

    /// The commands of a run.
    [[nodiscard]] stream_schedule const& schedule() const { return schedule_; }

private:
    using base = detail::stream_executor_base<Device>;
    using operand_list = std::vector<std::span<std::byte>>;
    template <class Executor, class Graph>
    friend class captured_run;

    template <class Mode>
    stream_executor(Kernel kernel, Device& device, snapshot const& p, plan_options const& options,
                    Mode const& mode, stream_options const& streams, executor_options const& settings)
        : base(device, detail::proved_order(p, options, mode, streams.handoffs, settings), settings),
          kernel_(std::move(kernel)), operand_table_(lowered_),
          keeps_io_addresses_(streams.keeps_io_addresses)
    {
        SUBLET_EXPECTS(settings.check != executor_options::checks::digest || detail::takes_digests<Device>,
                       "sublet: checks::digest needs a device that computes digests");
        memory_plan const* const plan = detail::plan_in(mode);
        schedule_ = detail::schedule_streams(order_, mode, streams,
                                             settings.check >= executor_options::checks::paint);
        SUBLET_EXPECTS(!settings.prove || settings.check == executor_options::checks::off ||
                           check_schedule(p, options, plan, lowered_, schedule_, streams),
                       "sublet: a schedule of streams does not keep the order of its program");
        handles_.ensure(schedule_.streams, schedule_.events);
        if constexpr (std::same_as<Mode, arena>) allocate_arenas(mode);
        if (settings.check == executor_options::checks::digest) digests_.emplace(lowered_);
        write_report(plan);
    }

    void allocate_arenas(arena const& mode)
    {
        values_.place(mode.plan, mode.blocks);
        plan_has_arenas_ = true;
        if (check_ == executor_options::checks::digest) plan_ = mode.plan;
        if (mode.blocks != nullptr) return; // without bytes until the first use
        is_idle_ = false;                   // an allocation may queue work on the stream
        if (check_ >= executor_options::checks::paint) this->paint_arenas();
    }

    void write_report(memory_plan const* plan)
    {
        for (pool_id pool = 0; plan != nullptr && pool != plan->arena_bytes.size(); ++pool)
            report_.plan_bytes = checked_add(report_.plan_bytes, plan->arena_bytes[pool]);
        for (auto const& block : values_.arenas()) report_.reserved += block.size;
        report_.lower_bound = detail::live_peak(lowered_);
        report_.steps = lowered_.step_at.size();
        report_.workers = schedule_.streams;
        report_.waits = schedule_.waits;
        report_.events = schedule_.events;
        report_.handoffs = order_.waits.count(step_waits::kind::handoff);
    }

    // --- a run ------------------------------------------------------------------------------------------

    /// Checks what must be supplied, and releases what the last run left.
    void prepare()
    {
        this->expect_storage();
        if (digests_) this->synchronize(); // each digest has one place for all runs
        has_results_ = false;
        is_idle_ = false;
        if (!values_.arenas().empty()) return;
        if (keeps_io_addresses_) return provide_io();
        try {
            values_.release_if([](value_role role) { return !has_role(role, value_role::input); }, first_);
        } catch (...) {
            this->fail(std::current_exception());
        }
    }
    void provide_io()
    {
        for (buffer_id b = 0; !plan_has_arenas_ && b != lowered_.ref_counts.size(); ++b) {
            buffer const& its = lowered_.table.buffers[b];
            bool const is_io =
                has_role(its.role, value_role::input) || has_role(its.role, value_role::output);
            if (!its.is_planned() || !is_io) continue;
            try {
                if (values_.provide(b, first_)) is_idle_ = false;
            } catch (...) {
                this->fail(std::current_exception());
            }
        }
    }
    void end_run()
    {
        bindings_.consume_inputs(lowered_);
        has_results_ = true;
        are_digests_taken_ = digests_.has_value();
    }

    /// Operands of the next run, not in use by a run in flight.
    operand_list& operands()
    {
        std::size_t const next = plan_has_arenas_ ? 0 : runs_in_flight_;
        while (operands_.size() <= next) operands_.emplace_back(operand_table_.count());
        return operands_[next];
    }

    void issue(operand_list& operands)
    {
        detail::issue_progress reached;
        try {
            [[maybe_unused]] auto const batch = detail::batch_of(device_);
            if constexpr (detail::takes_digests<Device>)
                if (digests_) digests_->at_start(digest_on(first_));
            if (plan_has_arenas_ && !digests_) carry_out_prepared(operands, reached);
            else carry_out_all(operands, reached);
            if constexpr (detail::takes_digests<Device>)
                if (digests_) digests_->at_end(digest_on(first_));
        } catch (...) {
            this->fail(std::current_exception(), reached);
        }
    }

    void carry_out_all(operand_list& operands, detail::issue_progress& reached)
    {
        detail::kernels_running const now(are_kernels_running_);
        for (stream_schedule::command const& c : schedule_.commands) {
            reached.is_launching = c.what == stream_schedule::action::launch;
            if (reached.is_launching) reached.step = lowered_.step_at[c.which];
            carry_out(c, operands);
        }
        reached.is_launching = false;
    }
    /// The same in arenas, where nothing changes between runs but what is bound.
    void carry_out_prepared(operand_list& operands, detail::issue_progress& reached)
    {
        if (!are_operands_written_) {
            calls_.clear();
            calls_.reserve(lowered_.positions());
            for (position_id at = 0; at != lowered_.positions(); ++at)
                calls_.push_back(prepared_call(at, handles_.streams[schedule_.stream_of[at]], operands));
            are_operands_written_ = true;
        }
        detail::kernels_running const now(are_kernels_running_);
        for (stream_schedule::command const& c : schedule_.commands) {
            if (c.what != stream_schedule::action::launch) {
                carry_out(c, operands);
                continue;
            }
            call_type const& call = calls_[c.which];
            reached = {call.step, true};
            device_.launch(call.stream(), kernel_, call);
            reached.is_launching = false;
        }
    }
    void carry_out(stream_schedule::command const& c, operand_list& operands)
    {
        stream_type const s = handles_.streams[c.stream];
        switch (c.what) {
        case stream_schedule::action::record: device_.record(handles_.events[c.which], s); break;
        case stream_schedule::action::wait: device_.wait(s, handles_.events[c.which]); break;
        case stream_schedule::action::allocate: values_.allocate(c.which, s, first_step_of(c.which)); break;
        case stream_schedule::action::transfer_block: values_.transfer_block(c.from, c.which); break;
        case stream_schedule::action::fill: {
            std::span<std::byte> const bytes = values_.bytes_of(c.which);
            device_.fill(bytes.data(), std::byte{0xFF}, bytes.size(), s);
            break;
        }
        case stream_schedule::action::release: values_.release(c.which, s); break;
        case stream_schedule::action::launch: launch_step(c.which, s, operands); break;
        }
    }
    step_id first_step_of(buffer_id b) const
    {
        position_id const at = lowered_.first_write[b];
        return at == no_position ? no_step : lowered_.step_at[at];
    }

    void launch_step(position_id at, stream_type s, operand_list& operands)
    {
        call_type const call = prepared_call(at, s, operands);
        if constexpr (detail::takes_digests<Device>)
            if (digests_) digests_->before(at, digest_on(s));
        device_.launch(s, kernel_, call);
        if constexpr (detail::takes_digests<Device>)
            if (digests_) digests_->after(at, digest_on(s));
    }
    /// Writes the operands of the step.
    call_type prepared_call(position_id at, stream_type s, operand_list& operands) const
    {
        operand_table_.write(operands, lowered_, at, [this](value_id v) { return values_.value_bytes(v); });
        return call_type(lowered_, at, s, operands.data() + operand_table_[at]);
    }
    auto digest_on(stream_type s)
    {
        return [this, s](buffer_id b, std::uint64_t* digest) {
            std::span<std::byte const> const bytes = values_.bytes_of(b);
            if (!bytes.empty()) device_.digest(s, bytes, digest);
        };
    }

    // --- a graph ----------------------------------------------------------------------------------------

    /// Captures a run, with the operand list of that number. `end()` ends the capture.
    template <class End>
    auto captured_graph(std::size_t number, End end)
    {
        is_idle_ = false;
        try {
            device_.begin_capture(first_);
        } catch (...) {
            this->fail(std::current_exception());
        }
        issue_captured(captured_[number]);
        struct idle_at_end {
            bool& is_idle;
            ~idle_at_end() { is_idle = true; }
        } const at_end{is_idle_};
        try {
            return end();
        } catch (...) {
            this->fail(std::current_exception());
        }
    }
    /// As issue(), but allocations of a failed capture never happened.
    void issue_captured(operand_list& operands)
    {
        detail::issue_progress reached;
        try {
            [[maybe_unused]] auto const batch = detail::batch_of(device_);
            carry_out_all(operands, reached);
        } catch (...) {
            device_.abandon_capture(first_);
            values_.skip_device(true);
            auto const is_intermediate = [](value_role role) {
                return !has_role(role, value_role::input) && !has_role(role, value_role::output);
            };
            values_.release_if(is_intermediate, first_);
            values_.skip_device(false);
            this->fail(std::current_exception(), reached);
        }
    }

    /// Launches a graph with the operand list of that number; captures it again if storage has moved since
    /// it was captured, when rebinds_ was `rebinds`.
    template <class Graph>
    void launch(Graph& graph, std::size_t& rebinds, std::size_t number)
    {
        if constexpr (!detail::updates_graphs<Device>)
            SUBLET_EXPECTS(rebinds == rebinds_,
                           "sublet: a graph is launched after its storage was released, or other "
                           "storage was bound");
        this->expect_storage();
        if constexpr (detail::updates_graphs<Device>) {
            if (rebinds != rebinds_) {
                provide_io();
                this->synchronize(); // earlier launches use the operands
                captured_graph(number, [&] { device_.end_capture(first_, graph); });
                rebinds = rebinds_;
            }
        }
        is_idle_ = false;
        try {
            graph.launch(first_);
        } catch (...) {
            this->fail(std::current_exception());
        }
        end_run();
    }

    using base::are_digests_taken_;
    using base::are_kernels_running_;
    using base::are_operands_written_;
    using base::bindings_;
    using base::check_;
    using base::device_;
    using base::digests_;
    using base::first_;
    using base::handles_;
    using base::has_results_;
    using base::is_idle_;
    using base::lowered_;
    using base::order_;
    using base::plan_;
    using base::rebinds_;
    using base::runs_in_flight_;
    using base::values_;
    Kernel kernel_;
    detail::operand_table operand_table_;
    bool keeps_io_addresses_;
    bool plan_has_arenas_ = false;
    stream_schedule schedule_;
    run_report report_;                  // the same for every run
    table<position_id, call_type> calls_; // with arenas, while are_operands_written_
    std::vector<operand_list> operands_; // by run in flight; with arenas one for all
    std::vector<operand_list> captured_; // by graph
};

} // namespace sublet

#endif
