// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/clocked.hpp>

#include <exception>
#include <thread>
#include <vector>

namespace sublet::detail {

SUBLET_DECL clocked::clocked(std::size_t threads, stop_request asked, search_listener listener,
                             double seconds, time_point (*now)())
    : threads_(threads), asked_(std::move(asked)), listener_(std::move(listener)), is_limited_(seconds > 0),
      now_(now)
{
    std::chrono::duration<double> const most{1e9}, wanted{seconds}; // more might not fit the clock
    end_ = until_ = now_() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 wanted < most ? wanted : most);
}

SUBLET_DECL void clocked::begin(std::size_t left)
{
    auto const now = now_();
    until_ = now < end_ ? now + (end_ - now) / static_cast<std::int64_t>(left) : end_;
    is_over_ = false;
}

SUBLET_DECL bool clocked::stop(byte_count best, byte_count bound, std::uint64_t nodes)
{
    if (is_over_.load(std::memory_order_relaxed)) return true;
    if (listener_) tell(best, bound, nodes);
    if (!asked_() && !(is_limited_ && now_() >= until_)) return false;
    has_struck_ = true;
    is_over_ = true;
    return true;
}

SUBLET_DECL void clocked::run(std::size_t tasks, numbered_task task)
{
    if (threads_ <= 1 || tasks <= 1) {
        for (std::size_t i = 0; i != tasks; ++i) task(i);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> thrown(tasks);
    auto work = [&] {
        for (std::size_t i; (i = next.fetch_add(1)) < tasks;) {
#if defined(__cpp_exceptions)
            try {
                task(i);
            } catch (...) {
                thrown[i] = std::current_exception();
            }
#else
            task(i);
#endif
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

SUBLET_DECL void clocked::tell(byte_count best, byte_count bound, std::uint64_t nodes)
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

} // namespace sublet::detail
