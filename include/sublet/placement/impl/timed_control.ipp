// SPDX-License-Identifier: BSL-1.0

/// Tasks are taken from an atomic counter by the threads and the caller; an exception is kept until all
/// have ended. Each pool gets an equal share of the time that is left. An atomic flag lets one task report
/// at a time.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/timed_control.hpp>

#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL timed_control::timed_control(std::size_t threads, stop_request request, search_listener listener,
                                         double seconds, time_point (*now)())
    : threads_(threads), stop_request_(std::move(request)), listener_(std::move(listener)),
      is_limited_(seconds > 0), now_(now)
{
    std::chrono::duration<double> const most{1e9}, wanted{seconds}; // a larger one might overflow the clock
    deadline_ = slice_end_ = now_() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                          wanted < most ? wanted : most);
}

SUBLET_DECL void timed_control::begin(std::size_t left)
{
    auto const now = now_();
    slice_end_ = now < deadline_ ? now + (deadline_ - now) / static_cast<std::int64_t>(left) : deadline_;
    is_over_ = false;
}

SUBLET_DECL bool timed_control::stop(byte_count best, byte_count bound, std::uint64_t nodes)
{
    if (is_over_.load(std::memory_order_relaxed)) return true;
    if (listener_) report(smaller(best, found_before_), bound, nodes);
    if (!stop_request_() && !(is_limited_ && now_() >= slice_end_)) return false;
    has_stopped_ = true;
    is_over_ = true;
    return true;
}

SUBLET_DECL void timed_control::run(std::size_t tasks, task_ref task)
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
        struct joined { // std::jthread, which libc++ 19 has as an experiment only
            std::vector<std::thread> threads = {};
            ~joined()
            {
                for (std::thread& t : threads) t.join();
            }
        } helpers;
        for (std::size_t k = 1; k < threads_ && k < tasks; ++k) helpers.threads.emplace_back(work);
        work();
    }
    for (std::exception_ptr const& e : thrown)
        if (e) std::rethrow_exception(e);
}

SUBLET_DECL void timed_control::report(byte_count best, byte_count bound, std::uint64_t nodes)
{
    if (is_reporting_.test_and_set(std::memory_order_acquire)) return; // another task reports
    auto const now = now_();
    bool const is_new = best != reported_best_ || bound != reported_bound_;
    if (is_new || now - last_report_ >= std::chrono::milliseconds(100)) {
        last_report_ = now;
        reported_best_ = best;
        reported_bound_ = bound;
        listener_(best, bound, nodes);
    }
    is_reporting_.clear(std::memory_order_release);
}

} // namespace sublet::detail
