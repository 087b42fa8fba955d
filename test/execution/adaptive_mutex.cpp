// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include <sublet/execution/detail/adaptive_mutex.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace this_test {

using namespace sublet;

TEST_CASE("one thread at a time holds the lock, after a short or a long wait")
{
    for (bool const sleeps : {false, true}) {
        detail::adaptive_mutex lock;
        std::uint64_t count = 0;
        bool is_held = false;
        int overlaps = 0;
        auto work = [&] {
            for (int i = 0; i != (sleeps ? 20 : 2000); ++i) {
                detail::scoped_lock const only(&lock);
                overlaps += is_held;
                is_held = true;
                ++count;
                if (sleeps) std::this_thread::sleep_for(std::chrono::microseconds(200));
                is_held = false;
            }
        };
        {
            std::vector<std::future<void>> others; // the destructor waits
            for (int i = 0; i != 3; ++i) others.push_back(std::async(std::launch::async, work));
            work();
        }
        CHECK(count == (sleeps ? 80 : 8000));
        CHECK(overlaps == 0);
    }
}

TEST_CASE("a copy has a lock of its own, which is open; a null lock can be held")
{
    detail::adaptive_mutex lock;
    detail::scoped_lock const only(&lock);
    detail::adaptive_mutex copy = lock;
    detail::scoped_lock const another(&copy);
    copy = lock;
    detail::scoped_lock<detail::adaptive_mutex> const none(nullptr);
}

} // namespace this_test
