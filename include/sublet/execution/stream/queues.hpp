// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_QUEUES_HPP
#define SUBLET_EXECUTION_STREAM_QUEUES_HPP

/// Streams of work that is done later, one piece at a time, in an order chosen to do harm.
///
///     stream 0   a   b  (e)  c          in turn        a d b | e is past: f  c
///     stream 1   d  <e>  f              latest first   d a b f c
///                                       starve 1       a b c d f
///
/// What streams and events leave open is open: a program that is right only because the machine was quick, or
/// slow, is wrong in one of these orders. Each is a function of the options, so a fault is found again.
///
/// An event needs no command of its own. To record it is to note how much was queued in its stream by then,
/// and who waits for it waits until so much is done. The same notes say, without running anything, what comes
/// before what: each stream knows of each other how much of it comes before whatever is queued next.

#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace sublet {

/// Which of the streams that could go on goes on.
enum class stream_order : std::uint8_t {
    eager,        ///< all work is done when it is queued
    in_turn,      ///< one piece of each, over and over
    random,       ///< any, by the seed
    latest_first, ///< the one whose next piece was queued last
    favour,       ///< stream `which` as far as it can go, the others in turn when it cannot
    starve        ///< the others in turn, stream `which` when none of them can go on
};

struct queue_options {
    stream_order order = stream_order::in_turn;
    std::uint64_t seed = 0;
    std::uint32_t which = 0;     ///< of favour and starve
    step_id postponed = no_step; ///< is launched only when nothing else can go on
};

namespace detail {

/// Something to be done, whatever its type: std::function would want to copy it, and to be included.
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

} // namespace detail

/// A moment of a stream: when `done` pieces of its work are done.
struct stream_moment {
    std::uint32_t stream = 0;
    std::uint64_t done = 0;
};

/// Streams and events by number; numbers of what was destroyed are not used again.
///
/// Work that throws ends all that is queued, and what is queued until `forget_failure()` is dropped: as a
/// device that is in error does nothing more.
class stream_queues {
public:
    explicit stream_queues(queue_options const& options) : options_(options), dice_(options.seed) {}

    std::uint32_t add_stream();
    std::uint32_t add_event();
    [[nodiscard]] std::size_t streams() const { return lanes_.size(); }
    [[nodiscard]] std::size_t events() const { return events_.size(); }
    [[nodiscard]] std::size_t queued(std::uint32_t stream) const { return lanes_[stream].queued(); }

    /// Work for a step (or `no_step`).
    template <class Work>
    void push(std::uint32_t stream, step_id step, Work work)
    {
        append(stream, {.step = step, .work = detail::queued_work(std::move(work))});
    }

    void record(std::uint32_t event, std::uint32_t stream)
    {
        events_[event] = {.at = now(stream), .seen = lanes_[stream].seen};
        raise(events_[event].seen, events_[event].at);
    }
    void wait(std::uint32_t stream, std::uint32_t event);

    /// When all that is queued in a stream now is done.
    [[nodiscard]] stream_moment now(std::uint32_t stream) const { return {stream, lanes_[stream].issued}; }

    /// Whether what is queued next in the stream comes after that moment in any order, or it is past.
    [[nodiscard]] bool comes_after(std::uint32_t stream, stream_moment moment) const;
    [[nodiscard]] bool is_past(stream_moment moment) const;

    /// Go on until a stream is empty: others go on as well, as the order has it.
    void drain(std::uint32_t stream);
    void drain();
    /// All that is queued is not done.
    void drop() noexcept;

    [[nodiscard]] std::exception_ptr failure() const { return failure_; }
    [[nodiscard]] step_id failed_step() const { return failed_step_; }
    void forget_failure() { failure_ = nullptr; }

private:
    struct command {
        std::uint64_t number = 0; // of all that were queued in any stream
        step_id step = no_step;
        bool is_wait = false;
        stream_moment waits_for{};
        detail::queued_work work{};
    };
    struct lane {
        std::vector<command> queue{}; // from `next` on
        std::size_t next = 0;
        std::uint64_t issued = 0, done = 0;
        std::vector<std::uint64_t> seen{}; // by stream: how much of it comes before what is queued next

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
    struct moment_with_past {
        stream_moment at{};
        std::vector<std::uint64_t> seen{}; // empty: never recorded
    };

    static void raise(std::vector<std::uint64_t>& seen, stream_moment to);

    void append(std::uint32_t stream, command what);

    bool can_go_on(std::uint32_t stream) const
    {
        lane const& its = lanes_[stream];
        return its.queued() != 0 && is_past(its.front().waits_for);
    }
    /// One that goes on only when no other can.
    bool is_held_back(std::uint32_t stream) const
    {
        bool const is_starved = options_.order == stream_order::starve && stream == options_.which;
        step_id const step = lanes_[stream].front().step;
        return is_starved || (step != no_step && step == options_.postponed);
    }

    /// A wait that is over is no work: what stands behind it is what can be chosen.
    void pass_waits();

    /// There always is one that can: a wait is for work that was queued before it.
    std::uint32_t next_stream();

    void run_one();

    /// The next of a row of numbers that look like chance. (Steele, Lea and Flood, OOPSLA 2014.)
    std::size_t random_below(std::size_t count);

    queue_options options_;
    std::uint64_t dice_;
    std::vector<lane> lanes_{};
    std::vector<moment_with_past> events_{};
    std::vector<std::uint32_t> able_{};
    std::uint64_t pushed_ = 0;
    std::uint32_t last_ = ~std::uint32_t{0}; // so that stream 0 is the first
    std::exception_ptr failure_{};
    step_id failed_step_ = no_step;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/queues.ipp>
#endif

#endif
