// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_DETAIL_STREAM_QUEUES_HPP
#define SUBLET_TESTING_DETAIL_STREAM_QUEUES_HPP

/// Queues of deferred work, executed one command at a time in an order that exposes missing waits.
///
///     stream 0   a   b  (e)  c          in turn        a d b | e is reached: f  c
///     stream 1   d  <e>  f              latest first   d a b f c
///                                       starve 1       a b c d f
///
/// A program that is correct only by the timing of a machine fails in one of these orders, reproducibly.
///
/// An event is a point of a stream: the number of commands queued there when it was recorded. A wait blocks
/// until so many are done. Vector clocks give the order without execution: for each stream, how many commands
/// of every other stream happen before its next one.

#include <sublet/core/units.hpp>
#include <sublet/testing/simulated_options.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Move-only type erasure for work; std::function needs copies, and its header.
class queued_work {
public:
    queued_work() = default;
    template <class Work>
        requires(!std::same_as<Work, queued_work>)
    explicit queued_work(Work work)
        : work_(new Work(std::move(work))), run_([](void* w) { (*static_cast<Work*>(w))(); }),
          drop_([](void* w) noexcept { delete static_cast<Work*>(w); })
    {
    }
    queued_work(queued_work&& other) noexcept;
    queued_work& operator=(queued_work&& other) noexcept;
    ~queued_work()
    {
        if (work_ != nullptr) drop_(work_);
    }
    void operator()()
    {
        if (work_ != nullptr) run_(work_);
    }

private:
    void* work_ = nullptr;
    void (*run_)(void*) = nullptr;
    void (*drop_)(void*) noexcept = nullptr;
};

/// A point of a stream: `done` of its commands are done.
struct stream_point {
    std::uint32_t stream = 0;
    std::uint64_t done = 0;
};

/// Streams and events by number; numbers of destroyed ones are not reused. Work that throws drops all that is
/// queued, and everything queued until `forget_failure()`.
class stream_queues {
public:
    explicit stream_queues(simulated_options const& options) : options_(options), random_state_(options.seed)
    {
    }

    std::uint32_t add_stream();
    std::uint32_t add_event();
    [[nodiscard]] std::size_t streams() const { return streams_.size(); }
    [[nodiscard]] std::size_t events() const { return events_.size(); }
    [[nodiscard]] std::size_t queued(std::uint32_t stream) const { return streams_[stream].queued(); }

    /// Queues work for a step (or `no_step`).
    template <class Work>
    void push(std::uint32_t stream, step_id step, Work work)
    {
        append(stream, {.step = step, .work = detail::queued_work(std::move(work))});
    }

    void record(std::uint32_t event, std::uint32_t stream)
    {
        events_[event] = {.at = now(stream), .clock = streams_[stream].clock};
        advance(events_[event].clock, events_[event].at);
    }
    void wait(std::uint32_t stream, std::uint32_t event);

    /// The point at which all that is queued in a stream now is done.
    [[nodiscard]] stream_point now(std::uint32_t stream) const { return {stream, streams_[stream].issued}; }

    /// Whether the next command queued in the stream happens after the point, or the point is reached.
    [[nodiscard]] bool comes_after(std::uint32_t stream, stream_point point) const;
    [[nodiscard]] bool is_reached(stream_point point) const;

    /// Executes until a stream is empty; other streams make progress by the order.
    void drain(std::uint32_t stream);
    void drain();
    void drop() noexcept;

    [[nodiscard]] std::exception_ptr failure() const { return failure_; }
    [[nodiscard]] step_id failed_step() const { return failed_step_; }
    void forget_failure() { failure_ = nullptr; }

private:
    struct command {
        std::uint64_t number = 0; // in the order of queueing, over all streams
        step_id step = no_step;
        bool is_wait = false;
        stream_point waits_for{};
        detail::queued_work work{};
    };
    struct stream_queue {
        std::vector<command> queue{}; // from `next` on
        std::size_t next = 0;
        std::uint64_t issued = 0, done = 0;
        std::vector<std::uint64_t> clock{}; // by stream: commands that happen before the next one queued

        std::size_t queued() const { return queue.size() - next; }
        command const& front() const { return queue[next]; }
        command take()
        {
            command taken = std::move(queue[next++]);
            if (next != queue.size()) return taken;
            queue.clear();
            next = 0;
            return taken;
        }
    };
    struct event_state {
        stream_point at{};
        std::vector<std::uint64_t> clock{}; // empty: never recorded
    };

    static void advance(std::vector<std::uint64_t>& clock, stream_point to);

    void append(std::uint32_t stream, command what);

    bool is_runnable(std::uint32_t stream) const
    {
        stream_queue const& its = streams_[stream];
        return its.queued() != 0 && is_reached(its.front().waits_for);
    }
    /// A stream that runs only when no other can.
    bool is_deferred(std::uint32_t stream) const
    {
        bool const is_starved =
            options_.order == simulated_options::order_kind::starve && stream == options_.which;
        step_id const step = streams_[stream].front().step;
        return is_starved || (step != no_step && step == options_.postponed);
    }

    /// Removes satisfied waits from the fronts of the queues.
    void retire_waits();

    /// One is always runnable: a wait is for work that was queued before it.
    std::uint32_t next_stream();

    void run_one();

    /// The next pseudorandom number (Steele, Lea and Flood, OOPSLA 2014).
    std::size_t random_below(std::size_t count);

    simulated_options options_;
    std::uint64_t random_state_;
    std::vector<stream_queue> streams_{};
    std::vector<event_state> events_{};
    std::vector<std::uint32_t> runnable_{};
    std::uint64_t pushed_ = 0;
    std::uint32_t last_ = ~std::uint32_t{0}; // so that stream 0 is the first
    std::exception_ptr failure_{};
    step_id failed_step_ = no_step;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/stream_queues.ipp>
#endif

#endif
