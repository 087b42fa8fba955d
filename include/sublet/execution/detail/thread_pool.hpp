// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_THREAD_POOL_HPP
#define SUBLET_EXECUTION_DETAIL_THREAD_POOL_HPP

/// The provider of threads for a run.
///
///     run(3, f)      caller    f(0) ─────────────────┐
///                    thread 1  f(1) ────────┐        ├─► returns when all have returned
///                    thread 2  f(2) ────────────┐    │
///                    the threads sleep between runs

#include <sublet/core/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Threads that are started at first need and kept between runs. Calls are claimed by a counter, by the
/// calling thread too, so a run completes even if a thread cannot be created or wakes late.
template <class Thread = std::thread>
class basic_thread_pool {
public:
    basic_thread_pool() = default;
    basic_thread_pool(basic_thread_pool&&) = default;
    basic_thread_pool& operator=(basic_thread_pool&&) = delete;
    ~basic_thread_pool()
    {
        for (state& s : shared_) {
            s.is_closing = true;
            s.publish(0);
        }
        for (Thread& t : threads_) t.join();
    }

    /// Requires:   one run at a time; f throws nothing.
    /// Complexity: no allocation unless more threads are needed than before; n = 1 needs none.
    template <std::invocable<std::size_t> F>
    void run(std::size_t n, F f)
    {
        SUBLET_EXPECTS(n < no_node, "sublet: one run of a thread pool has more calls than 32 bits count");
        if (n > 1) start(n - 1);
        if (n < 2 || threads_.empty()) {
            for (std::size_t i = 0; i != n; ++i) f(i);
            return;
        }
        state& s = shared_.front();
        s.what = &f;
        s.call = [](void* what, std::size_t i) { (*static_cast<F*>(what))(i); };
        s.finished.store(0, std::memory_order_relaxed);
        s.publish(n - 1);
        f(std::size_t{0});
        auto remaining = static_cast<std::uint32_t>(n - 1);
        std::uint32_t const round = s.round.load(std::memory_order_relaxed);
        for (std::uint32_t i = s.take(round); i != 0; i = s.take(round), --remaining) f(i);
        s.wait_for(remaining);
    }

    [[nodiscard]] std::size_t threads() const { return threads_.size(); }

private:
    struct state {
        std::atomic<std::uint32_t> round{0};   // incremented for each run, and to end
        std::atomic<std::uint64_t> tickets{0}; // high half: the round; low half: calls not yet claimed
        std::atomic<std::uint32_t> finished{0};
        std::atomic<bool> is_closing{false};
        void* what = nullptr;
        void (*call)(void*, std::size_t) = nullptr;

        void publish(std::uint64_t calls)
        {
            std::uint32_t const next = round.load(std::memory_order_relaxed) + 1;
            tickets.store(std::uint64_t{next} << 32 | (calls & 0xFFFF'FFFF), std::memory_order_release);
            round.store(next, std::memory_order_release);
            round.notify_all();
        }
        /// Claims a call of this round; 0: none is left.
        std::uint32_t take(std::uint32_t of)
        {
            std::uint64_t now = tickets.load(std::memory_order_acquire);
            while (now >> 32 == of && static_cast<std::uint32_t>(now) != 0)
                if (tickets.compare_exchange_weak(now, now - 1, std::memory_order_acquire))
                    return static_cast<std::uint32_t>(now);
            return 0;
        }
        void run_worker(std::uint32_t seen)
        {
            for (;;) {
                round.wait(seen, std::memory_order_acquire);
                seen = round.load(std::memory_order_acquire);
                if (is_closing) return;
                for (std::uint32_t i = take(seen); i != 0; i = take(seen)) {
                    call(what, i);
                    finished.fetch_add(1, std::memory_order_release);
                    finished.notify_one();
                }
            }
        }
        void wait_for(std::uint32_t calls)
        {
            for (std::uint32_t count = finished.load(std::memory_order_acquire); count != calls;
                 count = finished.load(std::memory_order_acquire))
                finished.wait(count, std::memory_order_acquire);
        }
    };

    void start(std::size_t wanted)
    {
        try {
            if (shared_.empty()) shared_ = std::vector<state>(1); // stays if the pool is moved
            threads_.reserve(wanted);
            while (threads_.size() < wanted) {
                state* const s = &shared_.front();
                std::uint32_t const now = s->round.load(std::memory_order_relaxed);
                threads_.emplace_back([s, now] { s->run_worker(now); });
            }
        } catch (...) { // fewer threads will do
        }
    }

    std::vector<state> shared_;
    std::vector<Thread> threads_;
};

using thread_pool = basic_thread_pool<>;

} // namespace sublet::detail

#endif
