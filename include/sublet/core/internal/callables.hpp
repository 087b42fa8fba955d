// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_CALLABLES_HPP
#define SUBLET_CORE_INTERNAL_CALLABLES_HPP

/// How the library calls what a user passes: callables by dense index, and tables with an index type of their
/// own. The concepts say what they return.

#include <sublet/core/internal/id.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sublet::detail {

/// Calls a user's callable with an id. Its parameter may be an `int`, so conversion warnings are disabled
/// here (ids that do not fit an int do not occur in a program that uses int ids).
template <class F, class... Arguments>
constexpr decltype(auto) call_user(F& f, Arguments&&... arguments)
{
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
    return f(std::forward<Arguments>(arguments)...);
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

/// As `call_user`: the index type of a user's table may be `int`.
template <class X, class Id>
constexpr decltype(auto) look_up(X const& table, Id v)
{
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
    return table[v];
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

/// The size of each value or buffer, by dense index.
///
/// Semantics:     the same index always yields the same size, never a negative one.
/// Minimal model: archetype::sizes.   Ordinary model: [&](auto v) { return bytes[v]; }
template <class F>
concept size_function = std::invocable<F&, std::uint32_t> &&
                        integer_like<std::remove_cvref_t<std::invoke_result_t<F&, std::uint32_t>>>;

/// The live range of each value or buffer, by dense index.
///
/// Semantics:     the same index always yields the same range, with first <= last.
/// Minimal model: archetype::lives.   Ordinary model: [&](auto v) { return ranges[v]; }
template <class F>
concept live_range_function = std::invocable<F&, std::uint32_t> &&
                              std::convertible_to<std::invoke_result_t<F&, std::uint32_t>, live_range>;

} // namespace sublet::detail

#endif
