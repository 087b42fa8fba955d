// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SEARCH_CONTROL_HPP
#define SUBLET_PLACEMENT_DETAIL_SEARCH_CONTROL_HPP

/// The interface by which a search asks whether to stop, and runs independent tasks.
///
///     search ──► stop(best, bound, nodes)?     a time limit, a stop request, progress reports
///            ──► run(7, task)                  task(0) ... task(6), sequentially or in parallel
///
/// The searches count nodes; time and threads, which make runs differ, are behind this interface. A search
/// calls stop() once in some hundred nodes, so its cost does not matter.
///
/// Parallel tasks give the result of sequential ones: of the tasks that succeed the one with the lowest
/// number wins, and a task with a higher number than a success may give up.

#include <sublet/core/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// A non-owning reference to a callable that takes the number of a task.
class task_ref {
public:
    template <class F>
        requires(!std::same_as<F, task_ref>) && std::invocable<F const&, std::size_t>
    task_ref(F const& task) // NOLINT: any callable is one
        : task_(&task), call_([](void const* f, std::size_t i) { (*static_cast<F const*>(f))(i); })
    {
    }
    void operator()(std::size_t i) const { call_(task_, i); }

private:
    void const* task_;
    void (*call_)(void const*, std::size_t);
};

/// The lowest number offered so far; initially the maximum. Thread-safe.
class atomic_minimum {
public:
    void update(std::uint32_t other)
    {
        std::uint32_t now = number_.load();
        while (other < now && !number_.compare_exchange_weak(now, other)) {}
    }
    [[nodiscard]] std::uint32_t get() const { return number_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> number_ = ~std::uint32_t{0};
};

class search_control {
public:
    /// May be called by several tasks at once; once true it stays true. `best` is the lowest height found
    /// (`no_limit`: none), `bound` the pool's lower bound, `nodes` are those of the calling task.
    [[nodiscard]] virtual bool stop(byte_count best, byte_count bound, std::uint64_t nodes) = 0;
    /// Calls task(i) once for each i below `tasks`, and returns after the last.
    virtual void run(std::size_t tasks, task_ref task) = 0;
    /// Begins a work item, `left` of which remain with it: divides the remaining time.
    virtual void begin(std::size_t) {}
    /// It never stops, and nothing hears of the search.
    [[nodiscard]] virtual bool is_alone() const { return false; }
    /// The steps of a step_poll between two questions; a step is some nanoseconds of work.
    [[nodiscard]] virtual std::uint64_t steps_per_question() const { return 1u << 16; }

    search_control(search_control const&) = delete;
    search_control& operator=(search_control const&) = delete;

protected:
    search_control() = default;
    ~search_control() = default;
};

/// Asks a control now and then, in work that counts its steps.
///
///     for (...)
///         if (poll.stops(steps of this one)) return what there is;
class step_poll {
public:
    step_poll() = default; ///< never stops
    explicit step_poll(search_control& control, byte_count best = no_limit, byte_count bound = 0)
        : control_(&control), best_(best), bound_(bound), steps_per_question_(control.steps_per_question()),
          left_(steps_per_question_)
    {
    }

    /// Whether the control has stopped; asks it if so many steps were done since the last question.
    [[nodiscard]] bool stops(std::uint64_t steps) const
    {
        if (steps < left_) {
            left_ -= steps;
            return false;
        }
        if (!has_stopped_) has_stopped_ = control_ != nullptr && control_->stop(best_, bound_, 0);
        left_ = has_stopped_ ? 0 : steps_per_question_;
        return has_stopped_;
    }
    [[nodiscard]] bool has_stopped() const { return has_stopped_; }

private:
    search_control* control_ = nullptr;
    byte_count best_ = no_limit, bound_ = 0;
    std::uint64_t steps_per_question_ = ~std::uint64_t{0};
    mutable std::uint64_t left_ = steps_per_question_; // a temporary may be the default argument
    mutable bool has_stopped_ = false;
};

class deterministic_control : public search_control {
public:
    [[nodiscard]] bool stop(byte_count, byte_count, std::uint64_t) override { return false; }
    [[nodiscard]] bool is_alone() const override { return true; }
    void run(std::size_t tasks, task_ref task) override
    {
        for (std::size_t i = 0; i != tasks; ++i) task(i);
    }
};

/// The control of a search of a part: it asks another one, and says how the whole stands.
class part_control : public search_control {
public:
    void run(std::size_t tasks, task_ref task) override { control_.run(tasks, task); }
    [[nodiscard]] std::uint64_t steps_per_question() const override { return control_.steps_per_question(); }

protected:
    explicit part_control(search_control& of_whole) : control_(of_whole) {}
    ~part_control() = default;

    search_control& control_;
};

} // namespace sublet::detail

#endif
