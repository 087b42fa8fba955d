// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SEARCH_CALLBACKS_HPP
#define SUBLET_PLACEMENT_SEARCH_CALLBACKS_HPP

/// Callables that an options struct holds: a stop request and a progress listener.
///
///     .stop = source.get_token()                                  a std::stop_token
///     .stop = [&] { return quit.load(); }                         or any predicate
///     .progress = [](byte_count best, byte_count bound, std::uint64_t nodes) { ... }
///
/// Both are kept by value; std::function would cost more compile time than all other headers here.

#include <sublet/core/units.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

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

} // namespace sublet::detail

namespace sublet {

/// Empty, or a callable for progress reports: the lowest height found (`no_limit`: none yet), the lower
/// bound, both of the current pool, and the nodes of the reporting task. Calls never overlap.
using search_listener = detail::copyable_function<void(byte_count, byte_count, std::uint64_t)>;

/// Empty (never stops), a std::stop_token, or any predicate; may be called by several threads at once.
class stop_request {
public:
    stop_request() = default; ///< never stops
    /// Any predicate: true to stop.
    template <class F>
        requires(!std::same_as<F, stop_request>) && std::predicate<F&> && std::copy_constructible<F>
    stop_request(F predicate_in) // NOLINT: any predicate is one
        : predicate_(std::move(predicate_in))
    {
    }
    /// Any stop token.
    template <class Token>
        requires requires(Token const& token) {
            { token.stop_requested() } -> std::same_as<bool>;
        }
    stop_request(Token token) // NOLINT: any stop token is one
        : predicate_([token = std::move(token)] { return token.stop_requested(); })
    {
    }
    /// It never stops.
    [[nodiscard]] bool is_empty() const { return !predicate_; }
    /// It is to stop.
    [[nodiscard]] bool operator()() const { return predicate_ && predicate_(); }

private:
    detail::copyable_function<bool()> predicate_;
};

} // namespace sublet

#endif
