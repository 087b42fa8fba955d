// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <system_error>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct loop {
    template <class F>
    void run(std::size_t n, F f)
    {
        for (std::size_t i = 0; i != n; ++i) f(i);
    }
};
static_assert(runner<thread_pool> && runner<loop> && !runner<int>);
static_assert(std::is_nothrow_move_constructible_v<thread_pool> &&
              !std::is_copy_constructible_v<thread_pool>);

/// Threads of which there are only so many.
struct scarce_thread : std::jthread {
    static inline int left = 0;
    template <class F>
    explicit scarce_thread(F f) : std::jthread(start(f))
    {
    }
    template <class F>
    static std::jthread start(F f)
    {
        if (left == 0)
            throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        --left;
        return std::jthread(f);
    }
};

template <class Pool>
void expect_each_once(Pool& pool, std::size_t n)
{
    std::vector<std::atomic<int>> calls(n + 1);
    pool.run(n, [&calls](std::size_t i) { ++calls[i]; });
    for (std::size_t i = 0; i != n; ++i) CHECK(calls[i] == 1);
    CHECK(calls[n] == 0);
}

} // namespace

TEST_CASE("each is called once, by the same threads from run to run, and one alone by the caller")
{
    thread_pool pool;
    std::mutex guard;
    std::set<std::thread::id> seen;
    auto see = [&](std::size_t) {
        std::lock_guard const only(guard);
        seen.insert(std::this_thread::get_id());
    };
    pool.run(0, see);
    CHECK(seen.empty());
    pool.run(1, see);
    CHECK(seen == std::set{std::this_thread::get_id()});
    CHECK(pool.threads() == 0);
    for (int repeat = 0; repeat != 50; ++repeat) {
        std::atomic<int> here = 0;
        pool.run(4, [&](std::size_t i) { // each waits for the others, so that nobody takes two
            see(i);
            ++here;
            for (int now = here; now != 4; now = here) std::this_thread::yield();
        });
    }
    CHECK(seen.size() == 4);
    CHECK(pool.threads() == 3);
}

TEST_CASE("runs may ask for more or for fewer than before")
{
    thread_pool pool;
    for (std::size_t const n : {3u, 1u, 5u, 2u, 0u, 6u, 4u}) expect_each_once(pool, n);
    CHECK(pool.threads() == 5);
    thread_pool moved = std::move(pool);
    expect_each_once(moved, 7);
    expect_each_once(pool, 2); // what was moved from is as good as new
    CHECK(moved.threads() == 6);
}

TEST_CASE("all of them run at the same time, so that they may wait for each other")
{
    thread_pool pool;
    for (int repeat = 0; repeat != 20; ++repeat) {
        std::atomic<int> here = 0;
        pool.run(3, [&here](std::size_t) {
            ++here;
            for (int now = here; now != 3; now = here) std::this_thread::yield();
        });
        CHECK(here == 3);
    }
}

TEST_CASE("threads that cannot be had are missed by nobody")
{
    for (int const has : {0, 1, 2}) {
        CAPTURE(has);
        scarce_thread::left = has;
        basic_thread_pool<scarce_thread> pool;
        expect_each_once(pool, 5);
        CHECK(pool.threads() == static_cast<std::size_t>(has));
        expect_each_once(pool, 5);
        scarce_thread::left = 9;
        expect_each_once(pool, 5);
        CHECK(pool.threads() == 4);
    }
}

} // namespace this_test
