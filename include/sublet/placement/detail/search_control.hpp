// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SEARCH_CONTROL_HPP
#define SUBLET_PLACEMENT_DETAIL_SEARCH_CONTROL_HPP

/// What says when a search is over, and on which threads its tasks run.
///
///     search ──► stop(best, bound, nodes)?     a clock, a stop request, a progress line
///            ──► run(7, task)                  task(0) ... task(6), one after the other or at once
///
/// The searches themselves count nodes and know no clock and no thread. All that makes one run different from
/// the next is behind this interface. A search asks once in some hundred nodes, so that the call costs
/// nothing.
///
/// Tasks that run at once still give the answer of tasks in turn: of those that succeed the one with the
/// lowest number wins, and one with a higher number than a success may give up.

#include <sublet/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// Refers to a callable, which gets the number of a task. Nothing is kept or copied.
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

/// The lowest of the numbers that several tasks offer, perhaps at once; the highest there is, if none does.
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

/// A search asks it every few hundred nodes whether to go on, and has it run independent tasks.
class search_control {
public:
    /// Whether to give up. Several tasks may ask at once; once true it stays true.
    ///
    /// `best` is the lowest height found (`no_limit`: none), no height below `bound` is possible, `nodes` are
    /// those of the calling task.
    [[nodiscard]] virtual bool stop(byte_count best, byte_count bound, std::uint64_t nodes) = 0;
    /// Calls task(i) once for each i below `tasks`, and returns after the last.
    virtual void run(std::size_t tasks, task_ref task) = 0;
    /// A piece of work begins, of so many that are left: one that divides its time does so now.
    virtual void begin(std::size_t) {}

    search_control(search_control const&) = delete;
    search_control& operator=(search_control const&) = delete;

protected:
    search_control() = default;
    ~search_control() = default;
};

/// Never stops, and runs one task after the other.
class deterministic_control : public search_control {
public:
    [[nodiscard]] bool stop(byte_count, byte_count, std::uint64_t) override { return false; }
    void run(std::size_t tasks, task_ref task) override
    {
        for (std::size_t i = 0; i != tasks; ++i) task(i);
    }
};

} // namespace sublet::detail

#endif
