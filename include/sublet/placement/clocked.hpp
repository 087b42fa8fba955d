// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_CLOCKED_HPP
#define SUBLET_PLACEMENT_CLOCKED_HPP

/// The driver of a search that has a clock, a stop token, threads and a listener.
///
///     stop?   ── has the time come, has somebody asked? ──►  yes, and yes from then on
///             └─ is something new, or a while over?     ──►  listener(best, bound, nodes)
///     run     ── 7 tasks on 2 threads: each takes the next that nobody has taken
///
/// It is the only part of placement that includes threads and clocks; the searches see driver.hpp alone.

#include <sublet/placement/driver.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace sublet {

/// What is called while a search goes on: with the lowest height found (`no_limit`: none yet), the height
/// below which nothing is possible, both of the pool at hand, and the nodes of the task that reports.
/// Nothing, or any callable; it is kept by value, and never called twice at once.
class search_listener {
public:
    search_listener() = default;
    template <std::invocable<byte_count, byte_count, std::uint64_t> F>
    search_listener(F listener)
        : held_(new F(std::move(listener))),
          call_([](void* f, byte_count best, byte_count bound, std::uint64_t nodes) {
              (*static_cast<F*>(f))(best, bound, nodes);
          }),
          copy_([](void const* f) -> void* { return new F(*static_cast<F const*>(f)); }),
          destroy_([](void* f) { delete static_cast<F*>(f); })
    {
    }
    search_listener(search_listener const& other)
        : held_(other.held_ == nullptr ? nullptr : other.copy_(other.held_)), call_(other.call_),
          copy_(other.copy_), destroy_(other.destroy_)
    {
    }
    search_listener& operator=(search_listener other) noexcept
    {
        std::swap(held_, other.held_);
        std::swap(call_, other.call_);
        std::swap(copy_, other.copy_);
        std::swap(destroy_, other.destroy_);
        return *this;
    }
    ~search_listener()
    {
        if (held_ != nullptr) destroy_(held_);
    }
    explicit operator bool() const { return held_ != nullptr; }
    void operator()(byte_count best, byte_count bound, std::uint64_t nodes) const
    {
        call_(held_, best, bound, nodes);
    }

private:
    void* held_ = nullptr;
    void (*call_)(void*, byte_count, byte_count, std::uint64_t) = nullptr;
    void* (*copy_)(void const*) = nullptr;
    void (*destroy_)(void*) = nullptr;
};

/// A search_driver. What threads change is when an answer comes, not which.
template <class Clock = std::chrono::steady_clock>
class clocked {
public:
    class lowest {
    public:
        void offer(std::uint32_t other)
        {
            std::uint32_t now = number_.load();
            while (other < now && !number_.compare_exchange_weak(now, other)) {}
        }
        [[nodiscard]] std::uint32_t get() const { return number_.load(std::memory_order_relaxed); }

    private:
        std::atomic<std::uint32_t> number_ = ~std::uint32_t{0};
    };

    /// `seconds` in all, from now on; 0: any number.
    clocked(std::size_t threads, std::stop_token asked, search_listener listener, double seconds = 0)
        : threads_(threads), asked_(std::move(asked)), listener_(std::move(listener)),
          is_limited_(seconds > 0)
    {
        std::chrono::duration<double> const most{1e9}, wanted{seconds}; // more might not fit the clock
        end_ = until_ = Clock::now() +
                        std::chrono::duration_cast<typename Clock::duration>(wanted < most ? wanted : most);
    }

    /// A piece of work begins, of so many that are left: it has its share of the time that is left.
    void begin(std::size_t left)
    {
        auto const now = Clock::now();
        until_ = now < end_ ? now + (end_ - now) / static_cast<std::int64_t>(left) : end_;
        is_over_ = false;
    }

    [[nodiscard]] bool stop(byte_count best, byte_count bound, std::uint64_t nodes)
    {
        if (is_over_.load(std::memory_order_relaxed)) return true;
        if (listener_) tell(best, bound, nodes);
        if (!asked_.stop_requested() && !(is_limited_ && Clock::now() >= until_)) return false;
        has_struck_ = true;
        is_over_ = true;
        return true;
    }
    /// Whether anybody was ever told to stop.
    [[nodiscard]] bool has_struck() const { return has_struck_; }

    /// Throws: what the first of the tasks that throw has thrown, after the last has ended.
    template <class Task>
    void run(std::size_t tasks, Task&& task)
    {
        if (threads_ <= 1 || tasks <= 1) return steady::run(tasks, task);
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
        auto const now = Clock::now();
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
    std::stop_token asked_;
    search_listener listener_;
    bool is_limited_;
    typename Clock::time_point end_, until_;
    std::atomic<bool> is_over_{false}, has_struck_{false};
    std::atomic_flag is_telling_;
    typename Clock::time_point last_told_{};
    byte_count best_told_ = 0, bound_told_ = no_limit; // what is never told
};

} // namespace sublet

#endif
