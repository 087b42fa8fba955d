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
///     run() = run_async()     values_: all is supplied, and there is room for the results
///                             commands_: every command of the schedule is issued
///                             values_: a run is queued
///             synchronize()   values_: waits, compares digests; then output() and take() read
///
/// The host issues the commands of a fixed stream_schedule, O(commands) in a run, without polling: streams
/// and events keep the order that the program and its memory need. A run begins where the last one ended, so
/// runs never overlap. If the device captures graphs, one command launches a whole run.

#include <sublet/core/internal/facts.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/check_schedule.hpp>
#include <sublet/execution/detail/command_issuer.hpp>
#include <sublet/execution/detail/device_error.hpp>
#include <sublet/execution/detail/device_values.hpp>
#include <sublet/execution/detail/executor_state.hpp>
#include <sublet/execution/detail/live_peak.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/execution/detail/stream_scheduler.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/internal/device_features.hpp>
#include <sublet/execution/internal/run_order.hpp>
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
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// A run that is issued once and kept by the device as a graph, which one command launches.
///
///     sublet::stream_executor run{device, program, options, sublet::arena{plan}, kernel};
///     auto captured = run.capture();
///     for (auto const& image : images) {
///         run.give(input, image);
///         captured.launch();
///     }
///
/// A graph contains addresses, so all storage of a run must stay where it was at capture: in arenas, or in
/// blocks that are kept between runs.
///
/// The executor must outlive it.
template <class Executor, class Graph>
class captured_run {
public:
    /// Made by stream_executor::capture().
    captured_run(Executor& executor, Graph graph, std::size_t rebinds, std::size_t number)
        : executor_(&executor), graph_(std::move(graph)), rebinds_(rebinds), number_(number)
    {
    }

    /// Queues the run, as run_async() does. If storage has moved since the last launch, because other storage
    /// was bound or, without arenas, because a run failed, it first waits for runs and captures again.
    /// Requires: storage has not moved, unless the device updates graphs, as cuda_device does.
    /// Throws:   precondition_error where a requirement is broken; as run_async() and
    ///           stream_executor::capture().
    void launch() { executor_->launch(graph_, rebinds_, number_); }

private:
    Executor* executor_;
    Graph graph_;
    std::size_t rebinds_; // of the executor, when it was captured
    std::size_t number_;  // of its operands
};

/// Runs a program any number of times. The device must outlive it. One thread at a time may use it. `no_plan`
/// and `recycle` allocate during a run, in stream order; `arena` at construction, or the bytes of a
/// cuda_growing_arena when it is used. A sequential plan runs concurrently with waits where bytes are reused.
/// Memory comes from the device, never from `executor_options::upstream`. Addresses are device addresses.
///
///     bind(weights, address)  once ──┐
///     give(image, bytes)     per run ┴─► run ──► take(scores, bytes)    until the next input
template <stream_device Device, class Kernel>
class stream_executor {
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
        if constexpr (requires { list.erased_handles(); }) order_.lowered.handles = list.erased_handles();
    }
    /// For every shape of the plan of a cuda_growing_arena, beginning with that of `mode`. The waits are those
    /// of all shapes; with a plan for one order the steps run one after another, on one stream.
    ///
    /// Complexity: also that of the check of the plan for every shape.
    /// Throws:     also precondition_error if `mode` is not the arena of a growing arena, or `streams` names
    ///             another stream for a step and the plan is for one order.
    template <class Options>
        requires(detail::launches<Device, Kernel, call_type> && std::same_as<Options, symbolic_options>)
    stream_executor(Device& device, snapshot const& p, Options const& options, arena const& mode,
                    Kernel kernel, stream_options const& streams = {}, executor_options const& settings = {})
        : stream_executor(std::move(kernel), device, p,
                          detail::proved_shapes(p, options, mode, settings, streams.handoffs), mode, streams,
                          settings)
    {
    }
    /// The same for a listing, as cpu_executor.
    template <detail::listed L, class Options>
        requires(detail::launches<Device, Kernel, call_type> && std::same_as<Options, symbolic_options>)
    stream_executor(Device& device, L const& list, Options const& options, arena const& mode, Kernel kernel,
                    stream_options const& streams = {}, executor_options const& settings = {})
        : stream_executor(device, list.program(), symbolic_options_of(list, options), mode, std::move(kernel),
                          streams, settings)
    {
        if constexpr (requires { list.erased_handles(); }) order_.lowered.handles = list.erased_handles();
    }

    /// Waits for all queued work, which refers to the kernel and its operands.
    ~stream_executor() { values_.streams().wait_until_idle(); }
    stream_executor(stream_executor const&) = delete; // nor moved: queued work refers to it
    stream_executor& operator=(stream_executor const&) = delete;

    // --- a run ------------------------------------------------------------------------------------------

    /// Runs every step once, and waits for the end.
    /// Ensures: outputs can be read. If it throws: see synchronize().
    /// Throws:  as run_async() and synchronize().
    run_report run()
    {
        run_report const report = run_async();
        synchronize();
        return report;
    }

    /// Queues a run after those queued before. The report covers what has been issued.
    ///
    /// Throws: unusable_value before anything is issued, if an input is not given or an external value not
    ///         bound; precondition_error if the device is lost; run_error (allocation_error, device_error)
    ///         when the device is idle, as synchronize().
    run_report run_async()
    {
        values_.expect_supplied();
        values_.prepare_storage();
        values_.storage().memory().mark();
        issue_commands();
        values_.run_is_queued();
        values_.count_run();
        return report_of_run();
    }

    /// Waits for the issued runs. Then their outputs can be read.
    ///
    /// Throws: run_error if a command of them failed, with the step if the device names it; clobbered_value.
    ///         Then all storage but the arenas is released, inputs have to be given again, and it may run
    ///         again unless the device is lost.
    void synchronize() { values_.synchronize(); }

    /// One run as a graph of the device. If storage moves, as it does after each round where values are carried
    /// that change places, the next launch captures the run again: a graph of CUDA is updated with it, and
    /// made anew only where CUDA refuses that.
    ///
    /// Requires: arenas, or stream_options::keeps_io_addresses; checks below digest.
    /// Throws:   precondition_error where a requirement is broken; as run_async(), except that inputs need
    ///           not be given yet.
    [[nodiscard]] auto capture()
        requires detail::captures_graphs<Device>
    {
        SUBLET_EXPECTS(values_.kept() != detail::kept_storage::none,
                       "sublet: a captured graph needs arenas, or stream_options::keeps_io_addresses");
        SUBLET_EXPECTS(!values_.digests(), "sublet: a captured graph cannot take digests");
        values_.expect_bound();
        synchronize();
        values_.provide_io();
        synchronize();
        std::size_t const number = captured_.size();
        captured_.push_back(commands_.new_operands());
        using graph_type = decltype(device().end_capture(first()));
        auto const end = [this] { return device().end_capture(first()); };
        return captured_run<stream_executor, graph_type>(*this, captured_graph(number, end),
                                                         values_.rebinds(), number);
    }

    // --- inputs and outputs -----------------------------------------------------------------------------

    /// The bytes of an input on the device, which you may write when this returns. Waits for issued runs, and
    /// ends the validity of their outputs: an input may share bytes with them.
    /// Throws: precondition_error if v is no input or has storage of the caller's, or the device is lost;
    ///         allocation_error; errors of synchronize().
    [[nodiscard]] std::span<std::byte> input(value_id v) { return values_.input(v); }

    /// Copies an input, or the contents of bound storage, to the device, after the runs issued so far. The
    /// source may be changed when this returns.
    /// Throws: as input(), without errors of runs; precondition_error if the size differs from that of v.
    void give(value_id v, std::span<std::byte const> bytes) { values_.give(v, bytes); }

    /// The bytes of an output on the device, after the issued runs are over.
    /// Throws: precondition_error if v is no output; unusable_value if no run has computed it, or an input
    ///         has been given since; errors of synchronize().
    [[nodiscard]] std::span<std::byte const> output(value_id v) { return values_.output(v); }

    /// Copies an output, or the contents of bound storage, to the host.
    /// Throws: as output(); precondition_error if the size differs from that of v.
    void take(value_id v, std::span<std::byte> bytes) { values_.take(v, bytes); }

    /// Sets the caller's storage on the device for a value that is external, state, not eligible or of
    /// unknown size, and for all views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one; storage bound for two
    ///           values does not overlap.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment; errors of synchronize().
    void bind(value_id v, std::span<std::byte> bytes) { values_.bind(v, bytes); }

    /// As cpu_executor::set_shape(). Waits for issued runs. Storage moves: the next launch of a captured run
    /// captures it again, for this shape, if the device updates graphs.
    /// Throws: also errors of synchronize().
    void set_shape(shape_view one)
    {
        shape_.find(order_.lowered, one);
        synchronize();
        shape_.apply(order_.lowered);
        values_.move_to(shape_);
        write_report(shape_.arena_bytes());
    }

    // --- what it has ------------------------------------------------------------------------------------

    /// Allocations since construction, counted when issued.
    [[nodiscard]] run_report::memory_use memory() const { return values_.storage().memory().use(); }
    /// One of the streams that it uses, numbered from 0.
    ///
    /// Throws: precondition_error if the executor does not use that stream.
    [[nodiscard]] stream_type stream(std::size_t number = 0) const
    {
        auto const& streams = values_.streams();
        SUBLET_EXPECTS(number < streams.count(),
                       "sublet: stream() names stream %, but the executor uses only % streams", number,
                       streams.count());
        return streams.stream(number);
    }
    /// The order that its waits keep: the lowered program and its waits.
    [[nodiscard]] auto const& order() const { return order_; }
    /// The commands of a run.
    [[nodiscard]] stream_schedule const& schedule() const { return commands_.schedule(); }

private:
    using operand_list = typename detail::command_issuer<Device, Kernel>::operand_list;
    template <class Executor, class Graph>
    friend class captured_run;

    // --- construction -----------------------------------------------------------------------------------

    template <class Mode>
    stream_executor(Kernel kernel, Device& device, snapshot const& p, plan_options const& options,
                    Mode const& mode, stream_options const& streams, executor_options const& settings)
        : stream_executor(std::move(kernel), device, p, options, mode, streams, settings,
                          detail::proved_order(p, options, mode, streams.handoffs, settings))
    {
    }
    stream_executor(Kernel kernel, Device& device, snapshot const& p, detail::shaped_program shaped,
                    arena const& mode, stream_options const& streams, executor_options const& settings)
        : stream_executor(std::move(kernel), device, p, shaped.first, mode,
                          mode.plan.valid_for == program_reading::concurrent ? streams : on_one(streams),
                          settings, {std::move(shaped.lowered), std::move(shaped.waits)},
                          std::move(shaped.with_bytes))
    {
        shape_ = std::move(shaped.values);
    }
    template <class Mode>
    stream_executor(Kernel kernel, Device& device, snapshot const& p, plan_options const& options,
                    Mode const& mode, stream_options const& streams, executor_options const& settings,
                    detail::run_order order, std::optional<detail::lowered_program> of_schedule = {})
        : order_(std::move(order)), values_(device, order_.lowered, kept_in(mode, streams), settings),
          commands_(values_, std::move(kernel))
    {
        SUBLET_EXPECTS(settings.check != executor_options::checks::digest || detail::takes_digests<Device>,
                       "sublet: checks::digest needs a device that computes digests");
        memory_plan const* const plan = detail::plan_in(mode);
        bool const paints = settings.check >= executor_options::checks::paint;
        auto schedule = of_schedule ? detail::schedule_streams({std::move(*of_schedule), order_.waits}, mode,
                                                               streams, paints)
                                    : detail::schedule_streams(order_, mode, streams, paints);
        stream_options kept = streams; // for every shape: all waits
        for (step_waits::wait const& its : order_.waits.list)
            if (of_schedule)
                kept.handoffs.push_back({order_.lowered.step_at[its.from], order_.lowered.step_at[its.to]});
        SUBLET_EXPECTS(!settings.prove || settings.check == executor_options::checks::off ||
                           detail::check_schedule(p, options, plan, order_.lowered, schedule, kept),
                       "sublet: a schedule of streams does not keep the order of its program");
        commands_.set_schedule(std::move(schedule));
        if constexpr (std::same_as<Mode, arena>) values_.place(mode);
        if (settings.check == executor_options::checks::digest) values_.take_digests();
        write_report(plan != nullptr ? plan->arena_bytes : table<pool_id, byte_count>());
    }
    template <class Mode>
    static detail::kept_storage kept_in(Mode const&, stream_options const& streams)
    {
        if (std::same_as<Mode, arena>) return detail::kept_storage::arenas;
        return streams.keeps_io_addresses ? detail::kept_storage::io : detail::kept_storage::none;
    }
    static stream_options on_one(stream_options streams)
    {
        streams.streams = detail::smaller(streams.streams, std::size_t{1});
        return streams;
    }
    void write_report(table<pool_id, byte_count> const& arenas)
    {
        report_ = {};
        for (byte_count bytes : arenas) report_.plan_bytes = checked_add(report_.plan_bytes, bytes);
        for (auto const& block : values_.storage().arenas()) report_.reserved += block.size;
        report_.lower_bound = detail::live_peak(order_.lowered);
        report_.steps = order_.lowered.step_at.size();
        report_.workers = schedule().streams;
        report_.waits = schedule().waits;
        report_.events = schedule().events;
        report_.handoffs = order_.waits.count(step_waits::kind::handoff);
    }

    // --- a run ------------------------------------------------------------------------------------------

    void issue_commands()
    {
        operand_list& operands = commands_.operands_of_next_run();
        detail::issue_progress reached;
        try {
            commands_.issue_run(operands, reached);
        } catch (...) {
            values_.fail(std::current_exception(), reached);
        }
    }
    run_report report_of_run() const
    {
        run_report report = report_;
        report.run = values_.storage().memory().use_since_mark();
        return report;
    }

    // --- a graph ----------------------------------------------------------------------------------------

    Device& device() const { return values_.streams().device(); }
    stream_type first() const { return values_.streams().first(); }

    /// Captures a run, with the operand list of that number. `end()` ends the capture.
    template <class End>
    auto captured_graph(std::size_t number, End end)
    {
        values_.state().queue();
        try {
            device().begin_capture(first());
        } catch (...) {
            values_.fail(std::current_exception());
        }
        issue_captured(captured_[number]);
        struct idle_at_end {
            detail::executor_state& state;
            ~idle_at_end() { state.settle(); }
        } const at_end{values_.state()};
        try {
            return end();
        } catch (...) {
            values_.fail(std::current_exception());
        }
    }
    /// As issue_commands(), but allocations of a failed capture never happened.
    void issue_captured(operand_list& operands)
    {
        detail::issue_progress reached;
        try {
            commands_.issue_captured(operands, reached);
        } catch (...) {
            device().abandon_capture(first());
            values_.forget_captured_blocks();
            values_.fail(std::current_exception(), reached);
        }
    }

    /// Launches a graph with the operand list of that number; captures it again if storage has moved since
    /// it was captured, when values_.rebinds() was `rebinds`.
    template <class Graph>
    void launch(Graph& graph, std::size_t& rebinds, std::size_t number)
    {
        values_.expect_supplied();
        values_.end_round();
        if constexpr (!detail::updates_graphs<Device>)
            SUBLET_EXPECTS(rebinds == values_.rebinds(),
                           "sublet: a graph is launched after its storage was released, or other "
                           "storage was bound, or values that are carried have changed places");
        if constexpr (detail::updates_graphs<Device>) {
            if (rebinds != values_.rebinds()) {
                values_.provide_io();
                synchronize(); // earlier launches use the operands
                captured_graph(number, [&] { device().end_capture(first(), graph); });
                rebinds = values_.rebinds();
            }
        }
        values_.state().queue();
        try {
            graph.launch(first());
        } catch (...) {
            values_.fail(std::current_exception());
        }
        values_.run_is_queued();
    }

    detail::run_order order_;
    detail::shaped_values shape_;                     // of every shape
    detail::device_values<Device> values_;            // supplied and read; storage and state
    detail::command_issuer<Device, Kernel> commands_; // of the schedule, with the kernel
    std::vector<operand_list> captured_;              // by graph
    run_report report_;                               // the same for every run
};

} // namespace sublet

#endif
