// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_TIMED_CONTROL_HPP
#define SUBLET_PLACEMENT_DETAIL_TIMED_CONTROL_HPP

/// Controls a search by a time limit, a stop request, several threads and a progress listener. The number of
/// threads changes the time to a result, not the result; a limit or a stop request ends the search early.
/// Reports come at a new result or 100 ms after the last, and never overlap.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// --- search listener -------------------------------------------------------------------------------------

/// Callables that an options struct holds: a stop request and a progress listener.
///
///     .stop = source.get_token()                                  a std::stop_token
///     .stop = [&] { return quit.load(); }                         or any predicate
///     .progress = [](byte_count best, byte_count bound, std::uint64_t nodes) { ... }
///
/// Both are kept by value; std::function would cost more compile time than all other headers here.

namespace sublet::detail {

template <class Signature>
class copyable_function;

/// Empty, or a copy of any callable. Requires: it is not called while empty.
template <class Result, class... Arguments>
class copyable_function<Result(Arguments...)> {
public:
    copyable_function() = default;
    template <class F>
        requires(!std::same_as<F, copyable_function>) && std::is_invocable_r_v<Result, F&, Arguments...> &&
                    std::copy_constructible<F>
    copyable_function(F callable) // NOLINT: any callable is one
        : target_(new F(std::move(callable))),
          call_([](void* f, Arguments... with) -> Result { return (*static_cast<F*>(f))(with...); }),
          copy_([](void const* f) -> void* { return new F(*static_cast<F const*>(f)); }),
          destroy_([](void* f) { delete static_cast<F*>(f); })
    {
    }
    copyable_function(copyable_function const& other)
        : target_(other.target_ == nullptr ? nullptr : other.copy_(other.target_)), call_(other.call_),
          copy_(other.copy_), destroy_(other.destroy_)
    {
    }
    copyable_function(copyable_function&& other) noexcept
        : target_(std::exchange(other.target_, nullptr)), call_(other.call_), copy_(other.copy_),
          destroy_(other.destroy_)
    {
    }
    copyable_function& operator=(copyable_function other) // copying it may throw, so not noexcept
    {
        std::swap(target_, other.target_);
        std::swap(call_, other.call_);
        std::swap(copy_, other.copy_);
        std::swap(destroy_, other.destroy_);
        return *this;
    }
    ~copyable_function()
    {
        if (target_ != nullptr) destroy_(target_);
    }
    explicit operator bool() const { return target_ != nullptr; }
    Result operator()(Arguments... with) const { return call_(target_, with...); }

private:
    void* target_ = nullptr;
    Result (*call_)(void*, Arguments...) = nullptr;
    void* (*copy_)(void const*) = nullptr;
    void (*destroy_)(void*) = nullptr;
};

/// Empty, or a callable for progress reports: the lowest height found (`no_limit`: none yet), the lower
/// bound, both of the current pool, and the nodes of the reporting task. Calls never overlap.
using search_listener = copyable_function<void(byte_count, byte_count, std::uint64_t)>;

/// Empty (never stops), a std::stop_token, or any predicate; may be called by several threads at once.
class stop_request {
public:
    stop_request() = default;
    template <class F>
        requires(!std::same_as<F, stop_request>) && std::predicate<F&> && std::copy_constructible<F>
    stop_request(F predicate_in) // NOLINT: any predicate is one
        : predicate_(std::move(predicate_in))
    {
    }
    template <class Token>
        requires requires(Token const& token) {
                     {
                         token.stop_requested()
                         } -> std::same_as<bool>;
                 }
    stop_request(Token token) // NOLINT: any stop token is one
        : predicate_([token = std::move(token)] { return token.stop_requested(); })
    {
    }
    [[nodiscard]] bool operator()() const { return predicate_ && predicate_(); }

private:
    copyable_function<bool()> predicate_;
};

// --- timed control ---------------------------------------------------------------------------------------

///     stop    ── time limit reached, or stop requested? ──►  true, and true from then on
///             └─ a new result, or 100 ms later?         ──►  listener(best, bound, nodes)
///     run     ── 7 tasks on 2 threads: each takes the next task that is left
///
/// Only this part of placement includes threads and clocks; the searches see search_control.hpp alone.
class timed_control final : public search_control {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// The time limit is `seconds` from now; 0: none.
    timed_control(std::size_t threads, stop_request request, search_listener listener, double seconds = 0,
                  time_point (*now)() = &std::chrono::steady_clock::now);

    void begin(std::size_t left) override;
    [[nodiscard]] bool stop(byte_count best, byte_count bound, std::uint64_t nodes) override;
    [[nodiscard]] bool has_stopped() const { return has_stopped_; }

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
    byte_count reported_best_ = 0, reported_bound_ = no_limit; // differs from any report
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/timed_control.ipp>
#endif

#endif
