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
#include <cstddef>
#include <cstdint>

namespace sublet {

/// A search_driver. What threads change is when an answer comes, not which.
class clocked final : public search_driver {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// `seconds` in all, from now on; 0: any number.
    clocked(std::size_t threads, stop_request asked, search_listener listener, double seconds = 0,
            time_point (*now)() = &std::chrono::steady_clock::now);

    /// It has its share of the time that is left.
    void begin(std::size_t left) override;

    [[nodiscard]] bool stop(byte_count best, byte_count bound, std::uint64_t nodes) override;
    /// Whether anybody was ever told to stop.
    [[nodiscard]] bool has_struck() const { return has_struck_; }

    /// Throws: what the first of the tasks that throw has thrown, after the last has ended.
    void run(std::size_t tasks, numbered_task task) override;

private:
    void tell(byte_count best, byte_count bound, std::uint64_t nodes);

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

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/clocked.ipp>
#endif

#endif
