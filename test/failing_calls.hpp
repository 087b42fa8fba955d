// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_FAILING_CALLS_HPP
#define SUBLET_TEST_FAILING_CALLS_HPP

/// Repeats a call so that each of its allocations, or each call of a function that it is given, fails once.

#include "counted_heap.hpp"

#include <sublet/core/counterexample.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// Calls with room for no allocation, for one, and so on, until the call returns: each failure is `bad_alloc`
/// and frees all that was allocated, and the result of the last call, or what `shown` makes of it, equals
/// that of a call with enough memory. Returns the number of failures.
template <class Call, class Shown = std::identity>
std::size_t fail_each_allocation(Call call, Shown shown = {})
{
    auto const expected = shown(call());
    for (std::size_t room = 0;; ++room) {
        REQUIRE(room < 100'000);
        std::size_t const before = live_allocations;
        std::size_t after = before;
        bool has_failed = false, is_same = false;
        {
            std::optional<decltype(call())> result;
            heap_limit = heap_allocations + room;
            try {
                result.emplace(call());
            } catch (std::bad_alloc const&) {
                has_failed = true;
            } catch (...) {
                heap_limit = ~std::size_t{0};
                throw;
            }
            heap_limit = ~std::size_t{0};
            if (result) is_same = shown(*result) == expected;
        }
        after = live_allocations;
        CHECK(after == before);
        if (has_failed) continue;
        CHECK(is_same);
        return room;
    }
}

template <class Planned>
std::string printed_plan(Planned const& planned)
{
    std::ostringstream out;
    if (!planned) return "no plan";
    out << planned << '\n';
    for (auto [value, pool, offset] : planned) out << value << ' ' << pool << ' ' << offset << '\n';
    return out.str();
}

template <class Ids>
std::string printed_ids(Ids const& ids)
{
    std::ostringstream out;
    for (auto const& id : ids) out << id << ' ';
    return out.str();
}

inline std::string printed_finding(sublet::verdict const& valid)
{
    std::ostringstream out;
    if (!valid) out << valid.error();
    return out.str();
}

struct refusal {
    std::size_t at;
};

/// Calls `call` with a function that throws the first time that it is called, then the second time, and so
/// on, until `call` returns: what was thrown arrives as it was, and all that was allocated is freed. Returns
/// the number of failures.
template <class Call>
std::size_t throw_at_each_call(Call call)
{
    for (std::size_t room = 0;; ++room) {
        REQUIRE(room < 100'000);
        std::size_t const before = live_allocations;
        std::size_t thrown = ~std::size_t{0};
        try {
            std::atomic<std::size_t> calls = 0;
            call([&] {
                if (calls++ == room) throw refusal{room};
            });
        } catch (refusal const& caught) {
            thrown = caught.at;
        }
        std::size_t const after = live_allocations;
        CHECK(after == before);
        if (thrown == ~std::size_t{0}) return room;
        CHECK(thrown == room);
    }
}

/// Makes an object by some calls, of which each in turn runs out of memory at each of its allocations, is
/// repeated, and so is whatever `trip` makes fail: it is called with the number of events that succeed, or
/// with ~0 for all. A failed call leaves the object equal, as far as `kept` shows it, and finally it is the
/// same, as far as `shown` shows it, as if none had failed. Returns the number of failures.
template <class Object, class Kept, class Shown>
std::size_t repeat_each_failed_call(std::vector<std::function<void(Object&)>> const& calls, Kept kept,
                                    Shown shown, void (*trip)(std::size_t room))
{
    std::size_t failures = 0;
    auto const expected = [&] {
        Object made;
        for (auto const& call : calls) call(made);
        return shown(made);
    }();
    for (std::size_t failing = 0; failing != calls.size(); ++failing) {
        for (std::size_t room = 0, failed = 1; failed == 1; ++room) {
            CAPTURE(failing);
            CAPTURE(room);
            REQUIRE(room < 1000);
            Object made;
            for (std::size_t i = 0; i != failing; ++i) calls[i](made);
            auto const before = kept(made);
            failed = 0;
            trip(room);
            try {
                calls[failing](made);
            } catch (std::bad_alloc const&) {
                failed = 1;
            } catch (refusal const&) {
                failed = 1;
            }
            trip(~std::size_t{0});
            failures += failed;
            if (failed == 1) {
                CHECK(kept(made) == before);
                calls[failing](made);
            }
            for (std::size_t i = failing + 1; i != calls.size(); ++i) calls[i](made);
            CHECK(shown(made) == expected);
        }
    }
    return failures;
}

/// The next allocations that succeed.
inline void allow_allocations(std::size_t room)
{
    heap_limit = room == ~std::size_t{0} ? room : heap_allocations + room;
}

#endif
