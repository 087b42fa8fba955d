// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_CLOCKED_HPP
#define SUBLET_PLACEMENT_CLOCKED_HPP

/// The driver of a search that has a clock, a stop request, threads and a listener.
///
///     stop?   ── has the time come, has somebody asked? ──►  yes, and yes from then on
///             └─ is something new, or a while over?     ──►  listener(best, bound, nodes)
///     run     ── 7 tasks on 2 threads: each takes the next that nobody has taken
///
/// It is the only part of placement that includes threads and clocks; the searches see driver.hpp alone.

#include <sublet/placement/driver.hpp>
#include <sublet/placement/search_listener.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace sublet {

/// A search_driver. What threads change is when an answer comes, not which.
class clocked final : public search_driver {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// `seconds` in all, from now on; 0: any number.
    clocked(std::size_t threads, stop_request asked, search_listener listener, double seconds = 0,
            time_point (*now)() = &std::chrono::steady_clock::now)
        : threads_(threads), asked_(std::move(asked)), listener_(std::move(listener)),
          is_limited_(seconds > 0), now_(now)
    {
        std::chrono::duration<double> const most{1e9}, wanted{seconds}; // more might not fit the clock
        end_ = until_ = now_() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                     wanted < most ? wanted : most);
    }

    /// It has its share of the time that is left.
    void begin(std::size_t left) override
    {
        auto const now = now_();
        until_ = now < end_ ? now + (end_ - now) / static_cast<std::int64_t>(left) : end_;
        is_over_ = false;
    }

    [[nodiscard]] bool stop(byte_count best, byte_count bound, std::uint64_t nodes) override
    {
        if (is_over_.load(std::memory_order_relaxed)) return true;
        if (listener_) tell(best, bound, nodes);
        if (!asked_() && !(is_limited_ && now_() >= until_)) return false;
        has_struck_ = true;
        is_over_ = true;
        return true;
    }
    /// Whether anybody was ever told to stop.
    [[nodiscard]] bool has_struck() const { return has_struck_; }

    /// Throws: what the first of the tasks that throw has thrown, after the last has ended.
    void run(std::size_t tasks, numbered_task task) override
    {
        if (threads_ <= 1 || tasks <= 1) {
            for (std::size_t i = 0; i != tasks; ++i) task(i);
            return;
        }
        std::atomic<std::size_t> next{0};
        std::vector<std::exception_ptr> thrown(tasks);
        auto work = [&] {
            for (std::size_t i; (i = next.fetch_add(1)) < tasks;) try {
                    task(i);
                } catch (...) {
                    thrown[i] = std::current_exception();
                }
        };
        {
            std::vector<std::jthread> helpers;
            for (std::size_t k = 1; k < threads_ && k < tasks; ++k) helpers.emplace_back(work);
            work();
        }
        for (std::exception_ptr const& e : thrown)
            if (e) std::rethrow_exception(e);
    }

private:
    void tell(byte_count best, byte_count bound, std::uint64_t nodes)
    {
        if (is_telling_.test_and_set(std::memory_order_acquire)) return; // another task is at it
        auto const now = now_();
        bool const is_new = best != best_told_ || bound != bound_told_;
        if (is_new || now - last_told_ >= std::chrono::milliseconds(100)) {
            last_told_ = now;
            best_told_ = best;
            bound_told_ = bound;
            listener_(best, bound, nodes);
        }
        is_telling_.clear(std::memory_order_release);
    }

    std::size_t threads_;
    stop_request asked_;
    search_listener listener_;
    bool is_limited_;
    time_point (*now_)();
    time_point end_, until_;
    std::atomic<bool> is_over_{false}, has_struck_{false};
    std::atomic_flag is_telling_;
    time_point last_told_{};
    byte_count best_told_ = 0, bound_told_ = no_limit; // what is never told
};

} // namespace sublet

#endif
