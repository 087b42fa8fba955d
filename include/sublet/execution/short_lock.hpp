// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_SHORT_LOCK_HPP
#define SUBLET_EXECUTION_SHORT_LOCK_HPP

/// A lock that is held for a few instructions, and that is open when nobody else is there.
///
///     0 open ──lock──► 1 taken ──somebody waits──► 2 taken, wake one when it is given back
///                         ▲                                             │
///                         └──────────── looked again for a while ◄──────┘
///
/// Who comes while it is taken looks again for a while, because it will be open soon, and then sleeps.
/// std::mutex would do as well, but its header brings text and clocks to everybody who includes this one.
///
/// Source: Drepper, "Futexes are tricky", 2005 (the second of its mutexes).

#include <atomic>
#include <cstdint>

namespace sublet::detail {

/// Tell the processor that this thread waits for another.
inline void pause_briefly() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

class short_lock {
public:
    short_lock() = default;
    // A lock belongs to what it guards: a copy of that has one of its own, and it is open.
    short_lock(short_lock const&) noexcept {}
    short_lock& operator=(short_lock const&) noexcept { return *this; }

    void lock() noexcept
    {
        for (int looks = 0; looks != 100; ++looks) {
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

/// Holds a lock as long as it exists; a null pointer is no lock.
template <class Lock>
class holding {
public:
    explicit holding(Lock* lock) noexcept : lock_(lock)
    {
        if (lock_ != nullptr) lock_->lock();
    }
    holding(holding const&) = delete;
    holding& operator=(holding const&) = delete;
    ~holding()
    {
        if (lock_ != nullptr) lock_->unlock();
    }

private:
    Lock* lock_;
};

} // namespace sublet::detail

#endif
