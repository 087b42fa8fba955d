// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/trace.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <chrono>

namespace sublet {

namespace detail {

/// Of the steady clock, in nanoseconds.
inline std::uint64_t steady_time() noexcept
{
    auto const since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

} // namespace detail

SUBLET_DECL run_trace::run_trace() : origin_(detail::steady_time()) {}

SUBLET_DECL void run_trace::begin_run(std::string_view name)
{
    runs_.push_back({.name = std::string(name)});
    places_.clear();
}

SUBLET_DECL std::size_t run_trace::begin(step_id step, place where, bool is_stream)
{
    detail::scoped_lock const guard(&lock_);
    if (runs_.empty()) runs_.emplace_back();
    auto const found = std::find(places_.begin(), places_.end(), where);
    auto const row = static_cast<std::size_t>(found - places_.begin());
    calls_.push_back({.run = runs_.size() - 1, .row = row, .step = step});
    if (row == places_.size()) {
        places_.push_back(where);
        runs_.back().rows = row + 1;
        runs_.back().has_streams = is_stream;
    }
    // The last, so that waiting for the lock is no time of the step.
    calls_.back().first = calls_.back().last = detail::steady_time() - origin_;
    return calls_.size() - 1;
}

SUBLET_DECL void run_trace::end(std::size_t index) noexcept
{
    std::uint64_t const now = detail::steady_time() - origin_;
    detail::scoped_lock const guard(&lock_);
    calls_[index].last = now;
}

} // namespace sublet
