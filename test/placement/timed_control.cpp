// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/timed_control.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <concepts>
#include <stdexcept>
#include <stop_token>
#include <vector>
#include <version>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A clock that a test sets.
struct manual_clock {
    static inline timed_control::time_point at{};
    static timed_control::time_point now() { return at; }
};

struct report {
    byte_count best, bound;
    std::uint64_t nodes;
    friend bool operator==(report const&, report const&) = default;
};

} // namespace

TEST_CASE("a control without limits never stops")
{
    timed_control control(1, {}, {});
    for (int i = 0; i != 1000; ++i) CHECK(!control.stop(8, 4, 7));
    CHECK(!control.has_stopped());
}

TEST_CASE("after the time limit every call of stop() returns true")
{
    timed_control control(1, {}, {}, 0.5, manual_clock::now);
    CHECK(!control.stop(8, 4, 0));
    manual_clock::at += std::chrono::milliseconds(499);
    CHECK(!control.stop(8, 4, 0));
    CHECK(!control.has_stopped());
    manual_clock::at += std::chrono::milliseconds(1);
    CHECK(control.stop(8, 4, 0));
    CHECK(control.has_stopped());
    control.begin(1);
    CHECK(control.stop(8, 4, 0));
    timed_control long_limit(1, {}, {}, 1e300, manual_clock::now);
    manual_clock::at += std::chrono::hours(24);
    CHECK(!long_limit.stop(8, 4, 0));
}

TEST_CASE("work items get equal shares of the remaining time")
{
    timed_control control(1, {}, {}, 0.9, manual_clock::now);
    control.begin(3);
    manual_clock::at += std::chrono::milliseconds(299);
    CHECK(!control.stop(8, 4, 0));
    manual_clock::at += std::chrono::milliseconds(1);
    CHECK(control.stop(8, 4, 0));
    control.begin(2);
    manual_clock::at += std::chrono::milliseconds(100);
    CHECK(!control.stop(8, 4, 0));
    control.begin(1);
    manual_clock::at += std::chrono::milliseconds(499);
    CHECK(!control.stop(8, 4, 0));
    manual_clock::at += std::chrono::milliseconds(1);
    CHECK(control.stop(8, 4, 0));
    timed_control no_limit_control(1, {}, {}, 0, manual_clock::now);
    no_limit_control.begin(2);
    manual_clock::at += std::chrono::hours(24);
    CHECK(!no_limit_control.stop(8, 4, 0));
}

TEST_CASE("a stop request is permanent, also one made in the listener")
{
    bool is_requested = false;
    int report_count = 0;
    auto const request = [&is_requested] { return is_requested; };
    timed_control control(1, request, [&](byte_count, byte_count, std::uint64_t) {
        if (++report_count == 2) is_requested = true;
    });
    CHECK(!control.stop(8, 4, 0));
    CHECK(control.stop(7, 4, 0));
    CHECK(control.stop(6, 4, 0));
    CHECK(control.has_stopped());
    CHECK(report_count == 2);
    control.begin(1);
    CHECK(control.stop(6, 4, 0));
}

TEST_CASE("new results are reported at once, unchanged ones after a while")
{
    std::vector<report> reports;
    auto const listener = [&](byte_count best, byte_count bound, std::uint64_t nodes) {
        reports.push_back({best, bound, nodes});
    };
    timed_control control(1, {}, listener, 0, manual_clock::now);
    (void)control.stop(no_limit, 4, 0);
    (void)control.stop(9, 4, 1);
    (void)control.stop(9, 4, 2);
    manual_clock::at += std::chrono::milliseconds(99);
    (void)control.stop(9, 4, 3);
    (void)control.stop(9, 5, 4);
    manual_clock::at += std::chrono::milliseconds(100);
    (void)control.stop(9, 5, 5);
    (void)control.stop(9, 5, 6);
    CHECK(reports == std::vector<report>{{no_limit, 4, 0}, {9, 4, 1}, {9, 5, 4}, {9, 5, 5}});
}

TEST_CASE("each task runs once, on one thread or several, and the lowest number is kept")
{
    for (std::size_t threads : {0u, 1u, 2u, 5u, 40u})
        for (std::size_t tasks : {0u, 1u, 2u, 33u}) {
            timed_control control(threads, {}, {});
            std::vector<int> runs(tasks, 0);
            atomic_minimum first;
            control.run(tasks, [&](std::size_t i) {
                ++runs[i];
                if (i % 3 == 1) first.update(static_cast<std::uint32_t>(i));
            });
            CHECK(runs == std::vector<int>(tasks, 1));
            CHECK(first.get() == (tasks > 1 ? 1 : ~std::uint32_t{0}));
        }
}

TEST_CASE("the first exception of a task is thrown after all have ended")
{
    timed_control control(3, {}, {});
    std::atomic<int> runs{0};
    auto const task = [&](std::size_t i) {
        ++runs;
        if (i == 4 || i == 9) throw std::runtime_error(i == 4 ? "four" : "nine");
    };
    CHECK_THROWS_WITH(control.run(12, task), "four");
    CHECK(runs == 12);
}

// --- search listener ---------------------------------------------------------------------------------------

TEST_CASE("a listener is kept by value, and copied with what it holds")
{
    int calls = 0;
    search_listener none,
        one = [&calls, more = std::vector<int>{1, 2}](byte_count, byte_count, std::uint64_t) mutable {
            calls += static_cast<int>(more.size());
            more.push_back(0);
        };
    CHECK(!none);
    search_listener copy = one;
    one(0, 0, 0);
    copy(0, 0, 0);
    CHECK(calls == 4);
    none = one;
    CHECK(static_cast<bool>(none));
    none(0, 0, 0);
    CHECK(calls == 7);
    one = search_listener();
    CHECK(!one);
}

TEST_CASE("a stop request is empty, a stop token or a predicate")
{
    CHECK(!stop_request()());
    bool is_requested = false;
    stop_request const predicate = [&is_requested] { return is_requested; };
    stop_request const copy = predicate;
    CHECK((!predicate() && !copy()));
    is_requested = true;
    CHECK((predicate() && copy()));
#if defined(__cpp_lib_jthread)
    std::stop_source source;
    stop_request const token = source.get_token();
    CHECK(!token());
    source.request_stop();
    CHECK(token());
#endif
}

TEST_CASE("if copying a stop request throws, the one that it is assigned to stays")
{
    struct predicate {
        bool const* fails;
        explicit predicate(bool const& when) : fails(&when) {}
        predicate(predicate const& other) : fails(other.fails)
        {
            if (*fails) throw std::runtime_error("no copy");
        }
        bool operator()() const { return true; }
    };
    bool fails = false;
    stop_request const always = predicate(fails);
    stop_request never;
    fails = true;
    CHECK_THROWS_AS(never = always, std::runtime_error);
    CHECK(!never());
    fails = false;
    never = always;
    CHECK(never());
}

static_assert(!std::convertible_to<int, stop_request> && !std::convertible_to<int, search_listener>);

} // namespace this_test
