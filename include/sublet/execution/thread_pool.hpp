// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_THREAD_POOL_HPP
#define SUBLET_EXECUTION_THREAD_POOL_HPP

/// Who lends threads to a run.
///
///     run(3, f)      caller    f(0) ─────────────────┐
///                    thread 1  f(1) ────────┐        ├─► returns when all have
///                    thread 2  f(2) ────────────┐    │
///                    between runs they sleep
///
/// Bring your own in a few lines; here, tasks of the standard library:
///
///     struct tasks {
///         template <class F> void run(std::size_t n, F f)
///         {
///             std::vector<std::future<void>> all;
///             for (std::size_t i = 0; i != n; ++i) {
///                 auto call = [&f, i] { f(i); };
///                 all.push_back(std::async(std::launch::async, call));
///             }
///         } // waits for all of them
///     };

#include <sublet/contract.hpp>
#include <sublet/units.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace sublet {

/// Something that calls a function several times, perhaps at once.
///
/// Semantics:       `r.run(n, f)` calls f(0) ... f(n - 1) once each, at the same time or one after the other,
///                  in threads of its choice, and returns when all of them have; f throws nothing. If it
///                  throws, no call goes on or begins any more.
/// Poorest model:   a loop.     Ordinary model: thread_pool.
template <class R>
concept runner = requires(R& r, std::size_t n, void (*f)(std::size_t)) { r.run(n, f); };

/// Threads that stay between runs. They are started when they are needed first. Calls are taken like tickets,
/// by the caller as well: a thread that cannot be had, or has not woken up yet, is missed by nobody.
template <class Thread = std::jthread>
class basic_thread_pool {
public:
    basic_thread_pool() = default;
    basic_thread_pool(basic_thread_pool&&) = default;
    basic_thread_pool& operator=(basic_thread_pool&&) = delete;
    ~basic_thread_pool()
    {
        for (state& s : shared_) {
            s.is_closing = true;
            s.announce(0);
        }
    } // threads end first, then what they share

    /// Requires:   one run at a time; f throws nothing.
    /// Complexity: no allocation if no more threads are needed than before; none is needed for n = 1.
    template <std::invocable<std::size_t> F>
    void run(std::size_t n, F f)
    {
        SUBLET_EXPECTS(n < no_node, "sublet: a pool of threads is asked for more calls than 32 bits count");
        if (n > 1) start(n - 1);
        if (n < 2 || threads_.empty()) {
            for (std::size_t i = 0; i != n; ++i) f(i);
            return;
        }
        state& s = shared_.front();
        s.what = &f;
        s.call = [](void* what, std::size_t i) { (*static_cast<F*>(what))(i); };
        s.finished.store(0, std::memory_order_relaxed);
        s.announce(n - 1);
        f(std::size_t{0});
        auto by_others = static_cast<std::uint32_t>(n - 1);
        std::uint32_t const round = s.round.load(std::memory_order_relaxed);
        for (std::uint32_t i = s.take(round); i != 0; i = s.take(round), --by_others) f(i);
        s.wait_for(by_others);
    }

    [[nodiscard]] std::size_t threads() const { return threads_.size(); }

private:
    struct state {
        std::atomic<std::uint32_t> round{0};   // goes up when there is something to do, or to end for
        std::atomic<std::uint64_t> tickets{0}; // the round, and below it how many calls nobody has taken
        std::atomic<std::uint32_t> finished{0};
        std::atomic<bool> is_closing{false};
        void* what = nullptr;
        void (*call)(void*, std::size_t) = nullptr;

        void announce(std::uint64_t calls)
        {
            std::uint32_t const next = round.load(std::memory_order_relaxed) + 1;
            tickets.store(std::uint64_t{next} << 32 | (calls & 0xFFFF'FFFF), std::memory_order_release);
            round.store(next, std::memory_order_release);
            round.notify_all();
        }
        /// A call of this round that nobody has taken, or 0.
        std::uint32_t take(std::uint32_t of)
        {
            std::uint64_t now = tickets.load(std::memory_order_acquire);
            while (now >> 32 == of && static_cast<std::uint32_t>(now) != 0)
                if (tickets.compare_exchange_weak(now, now - 1, std::memory_order_acquire))
                    return static_cast<std::uint32_t>(now);
            return 0;
        }
        void serve(std::uint32_t seen)
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
            for (std::uint32_t is = finished.load(std::memory_order_acquire); is != calls;
                 is = finished.load(std::memory_order_acquire))
                finished.wait(is, std::memory_order_acquire);
        }
    };

    void start(std::size_t wanted)
    {
        try {
            if (shared_.empty()) shared_ = std::vector<state>(1); // where it stays if the pool is moved
            threads_.reserve(wanted);
            while (threads_.size() < wanted) {
                state* const s = &shared_.front();
                std::uint32_t const now = s->round.load(std::memory_order_relaxed);
                threads_.emplace_back([s, now] { s->serve(now); });
            }
        } catch (...) { // no thread, or no memory for one
        }
    }

    std::vector<state> shared_;
    std::vector<Thread> threads_;
};
using thread_pool = basic_thread_pool<>;

} // namespace sublet

#endif
