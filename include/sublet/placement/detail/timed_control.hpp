// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_TIMED_CONTROL_HPP
#define SUBLET_PLACEMENT_DETAIL_TIMED_CONTROL_HPP

/// Controls a search by a time limit, a stop request, several threads and a progress listener. The number of
/// threads changes the time to a result, not the result; a limit or a stop request ends the search early.
/// Reports come at a new result or 100 ms after the last, and never overlap.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/search_callbacks.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

// --- timed control ---------------------------------------------------------------------------------------

///     stop    ── time limit reached, or stop requested? ──►  true, and true from then on
///             └─ a new result, or 100 ms later?         ──►  listener(best, bound, nodes)
///     run     ── 7 tasks on 2 threads: each takes the next task that is left
///
/// Only this part of placement includes threads and clocks; the searches see search_control.hpp alone.

namespace sublet::detail {

class timed_control final : public search_control {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// The time limit is `seconds` from now; 0: none.
    timed_control(std::size_t threads, stop_request request, search_listener listener, double seconds = 0,
                  time_point (*now)() = &std::chrono::steady_clock::now);

    void begin(std::size_t left) override;
    [[nodiscard]] bool stop(byte_count best, byte_count bound, std::uint64_t nodes) override;
    [[nodiscard]] bool is_alone() const override
    {
        return !listener_ && stop_request_.is_empty() && !is_limited_;
    }
    [[nodiscard]] bool has_stopped() const { return has_stopped_; }
    /// A search of the whole begins again: no height that is reported from now on is above `best`.
    void begin_again(byte_count best) { found_before_ = best; }

    /// Throws: after all tasks have ended, the exception of the first task that threw.
    void run(std::size_t tasks, task_ref task) override;

private:
    void report(byte_count best, byte_count bound, std::uint64_t nodes);

    std::size_t threads_;
    stop_request stop_request_;
    search_listener listener_;
    bool is_limited_;
    time_point (*now_)();
    time_point deadline_, slice_end_;
    std::atomic<bool> is_over_{false}, has_stopped_{false};
    std::atomic_flag is_reporting_;
    time_point last_report_{};
    byte_count found_before_ = no_limit;
    byte_count reported_best_ = 0, reported_bound_ = no_limit; // differs from any report
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/timed_control.ipp>
#endif

#endif
