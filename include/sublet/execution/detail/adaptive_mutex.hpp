// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_ADAPTIVE_MUTEX_HPP
#define SUBLET_EXECUTION_DETAIL_ADAPTIVE_MUTEX_HPP

/// A lock for a few instructions: a waiting thread spins for a while, then sleeps.
///
///     0 open ──lock──► 1 taken ──a thread waits──► 2 taken, wake one at unlock
///                         ▲                                     │
///                         └────────── spins for a while ◄───────┘
///
/// Replaces std::mutex because <mutex> includes strings and clocks.
///
/// Source: Drepper, "Futexes are tricky", 2005 (its third mutex).

#include <sublet/impl/config.hpp>

#include <atomic>
#include <cstdint>

namespace sublet::detail {

inline void pause_briefly() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

class adaptive_mutex {
public:
    adaptive_mutex() = default;
    // A copy of a guarded object has a lock of its own, which is open.
    adaptive_mutex(adaptive_mutex const&) noexcept {}
    adaptive_mutex& operator=(adaptive_mutex const&) noexcept { return *this; }

    void lock() noexcept
    {
        for (int spins = 0; spins != 100; ++spins) {
            std::uint32_t open = 0;
            if (state_.load(std::memory_order_relaxed) == 0 &&
                state_.compare_exchange_strong(open, 1, std::memory_order_acquire, std::memory_order_relaxed))
                return;
            pause_briefly();
        }
        while (state_.exchange(2, std::memory_order_acquire) != 0) state_.wait(2, std::memory_order_relaxed);
    }
    void unlock() noexcept
    {
        if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
    }

private:
    std::atomic<std::uint32_t> state_{0};
};

/// Holds a lock while it exists; with a null pointer it holds none.
template <class Lock>
class scoped_lock {
public:
    explicit scoped_lock(Lock* lock) noexcept : lock_(lock)
    {
        if (lock_ != nullptr) lock_->lock();
    }
    scoped_lock(scoped_lock const&) = delete;
    scoped_lock& operator=(scoped_lock const&) = delete;
    ~scoped_lock()
    {
        if (lock_ != nullptr) lock_->unlock();
    }

private:
    Lock* lock_;
};

} // namespace sublet::detail

#endif
