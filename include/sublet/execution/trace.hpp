// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_TRACE_HPP
#define SUBLET_EXECUTION_TRACE_HPP

/// Records when each step of real runs begins and ends, on which thread or stream, and writes that as trace
/// events, which Perfetto (ui.perfetto.dev) and chrome://tracing show.
///
///     2 threads    thread 0   [ load ][ blur ]    [ sharpen ]       a gap is a wait, or the executor's work
///                  thread 1           [ edges ]
///
///     sublet::run_trace trace;
///     sublet::traced_kernel traced{&trace, kernel};
///     sublet::thread_executor threads{program, options, sublet::arena{plan}, traced, {.workers = 4}};
///     trace.begin_run("4 threads");
///     threads.run();
///     sublet::write_trace(std::cout, trace);
///
/// The kernel is wrapped, so executors do no more than without a trace. A step costs two reads of the steady
/// clock and two locks.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/adaptive_mutex.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/trace.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// The steps of runs, in the order in which they began. Several threads may record at the same time. It must
/// outlive the kernels that record in it.
class run_trace {
public:
    /// One call of a kernel.
    struct call {
        std::size_t run = 0; ///< its index
        std::size_t row = 0; ///< its thread or stream, numbered in each run from 0, in order of appearance
        step_id step = 0;    ///< of the program
        std::uint64_t first = 0; ///< when it began, in nanoseconds since the trace was made
        std::uint64_t last = 0;  ///< when it ended
        friend bool operator==(run_trace::call const&, run_trace::call const&) = default;
    };
    /// What begins with begin_run().
    struct run {
        std::string name{};       ///< the name that it was given
        bool has_streams = false; ///< rows are streams, not threads
        std::size_t rows = 0;     ///< how many threads or streams called kernels
    };
    /// What write_trace() writes besides.
    struct write_options {
        names_of<step_id> steps = {}; ///< names of steps; default: their numbers
    };

    /// Its clock begins.
    run_trace();
    run_trace(run_trace const&) = delete;
    run_trace& operator=(run_trace const&) = delete;

    /// What is recorded from now on belongs to a new run. Without it there is one, without a name.
    /// Requires: no kernel runs.
    void begin_run(std::string_view name);

    /// All calls, in the order in which they began.
    /// Requires: no kernel runs.
    [[nodiscard]] std::vector<run_trace::call> const& calls() const { return calls_; }
    /// All runs, in their order.
    [[nodiscard]] std::vector<run_trace::run> const& runs() const { return runs_; }

private:
    template <class Kernel>
    friend class traced_kernel;
    struct place {
        std::thread::id thread{};
        std::uint64_t stream = 0;
        friend bool operator==(place const&, place const&) = default;
    };

    /// The index of the call, for end(). Throws: std::bad_alloc.
    std::size_t begin(step_id step, place where, bool is_stream);
    void end(std::size_t index) noexcept;

    std::uint64_t origin_; // of the clock
    std::vector<run_trace::call> calls_;
    std::vector<run_trace::run> runs_;
    std::vector<place> places_; // of the last run, by row
    detail::adaptive_mutex lock_;
};

/// A kernel for any executor that calls another one, and records when. Without a trace it only calls.
///
/// On a device that runs queued work later, such as CUDA, the times are those of the calls that queue it; a
/// simulated_device calls a kernel when the stream reaches it.
template <class Kernel>
class traced_kernel {
public:
    /// Records in `trace`, which outlives it; none: only calls.
    traced_kernel(run_trace* trace, Kernel kernel) : trace_(trace), kernel_(std::move(kernel)) {}

    /// Calls the kernel.
    /// Throws: what the kernel throws, std::bad_alloc.
    template <class Call>
        requires std::invocable<Kernel&, Call const&>
    void operator()(Call const& call)
    {
        if (trace_ == nullptr) return void(kernel_(call));
        struct recorded_call {
            run_trace& trace;
            std::size_t index;
            ~recorded_call() { trace.end(index); }
        } const now{*trace_, trace_->begin(call.step, place_of(call), is_on_stream<Call>)};
        kernel_(call);
    }

private:
    template <class Call>
    static constexpr bool is_on_stream = requires(Call const& call) { call.stream(); };

    template <class Call>
    static run_trace::place place_of(Call const& call)
    {
        if constexpr (is_on_stream<Call>) {
            auto const stream = call.stream();
            static_assert(std::is_trivially_copyable_v<decltype(stream)> && sizeof stream <= 8,
                          "sublet: a trace tells streams apart by the bytes of their handles, at most 8");
            run_trace::place where;
            std::memcpy(&where.stream, &stream, sizeof stream);
            return where;
        } else {
            return {std::this_thread::get_id()};
        }
    }

    run_trace* trace_;
    Kernel kernel_;
};

/// Writes the recorded calls as one JSON document: a process for each run, a row for each of its threads or
/// streams, an event for each call, named by its step.
///
/// Requires:   no kernel runs.
/// Ensures:    times are in microseconds with three decimals.
/// Complexity: O(output); a name is asked for once per call.
/// Throws:     whatever the stream and the names throw, std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_trace(Stream& out, run_trace const& trace, run_trace::write_options const& options = {})
{
    detail::trace_writer<Stream> events(out);
    std::vector<char> name;
    for (std::size_t r = 0; r != trace.runs().size(); ++r) {
        run_trace::run const& its = trace.runs()[r];
        name.assign(its.name.begin(), its.name.end());
        detail::escape_json(name);
        events.name_process(r, {name.data(), name.size()});
        for (std::size_t row = 0; row != its.rows; ++row)
            events.name_row(r, row, its.has_streams ? "stream " : "thread ", row);
    }
    for (run_trace::call const& c : trace.calls()) {
        options.steps.read(name, c.step);
        detail::escape_json(name);
        events.event(c.run, c.row, name, c.first, c.last,
                     [&](auto& text) { text << "\"step\": " << c.step; });
    }
    events.end();
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/trace.ipp>
#endif

#endif
