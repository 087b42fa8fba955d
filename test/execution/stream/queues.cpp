// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/simulated_device.hpp>

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("what streams leave open is done in the order that is asked for")
{
    auto order_of = [](simulated_options const& how) {
        stream_queues queues(how);
        std::uint32_t const a = queues.add_stream(), b = queues.add_stream(), e = queues.add_event();
        std::vector<step_id> ran;
        auto launch = [&](std::uint32_t s, step_id step) {
            queues.push(s, step, [&ran, step] { ran.push_back(step); });
        };
        launch(a, 0);
        launch(b, 1);
        launch(a, 2);
        queues.record(e, a);
        launch(b, 3);
        queues.wait(b, e);
        launch(a, 4);
        launch(b, 5);
        if (how.order != simulated_options::order_kind::eager) CHECK(ran.empty());
        queues.drain();
        return ran;
    };
    using ids = std::vector<step_id>;
    CHECK(order_of({.order = simulated_options::order_kind::eager}) == ids{0, 1, 2, 3, 4, 5});
    CHECK(order_of({.order = simulated_options::order_kind::in_turn}) == ids{0, 1, 2, 3, 4, 5});
    CHECK(order_of({.order = simulated_options::order_kind::latest_first}) == ids{1, 3, 0, 2, 5, 4});
    CHECK(order_of({.order = simulated_options::order_kind::favour, .which = 0}) == ids{0, 2, 4, 1, 3, 5});
    CHECK(order_of({.order = simulated_options::order_kind::favour, .which = 1}) == ids{1, 3, 0, 2, 5, 4});
    CHECK(order_of({.order = simulated_options::order_kind::starve, .which = 0}) == ids{1, 3, 0, 2, 5, 4});
    CHECK(order_of({.order = simulated_options::order_kind::starve, .which = 1}) == ids{0, 2, 4, 1, 3, 5});
    CHECK(order_of({.postponed = 1}) == ids{0, 2, 4, 1, 3, 5});
    CHECK(order_of({.postponed = 2}) == ids{0, 1, 3, 2, 5, 4});
    std::set<ids> seen;
    for (std::uint64_t seed = 0; seed != 200; ++seed) {
        ids const one = order_of({.order = simulated_options::order_kind::random, .seed = seed});
        CHECK(one == order_of({.order = simulated_options::order_kind::random, .seed = seed}));
        seen.insert(one);
    }
    // Of the 20 ways to merge 0 2 4 with 1 3 5, four have 5 before 2: where 2 has two or three places
    // behind 5.
    CHECK(seen.size() == 16);
}

TEST_CASE("a stream knows what comes before it: by its own order, by events, by way of others, or because it "
          "is past")
{
    stream_queues queues({});
    std::uint32_t const a = queues.add_stream(), b = queues.add_stream(), c = queues.add_stream();
    std::uint32_t const e = queues.add_event(), f = queues.add_event();
    auto nothing = [] {};
    queues.push(a, no_step, nothing);
    stream_moment const first = queues.now(a);
    queues.record(e, a);
    queues.push(a, no_step, nothing);
    stream_moment const second = queues.now(a);
    CHECK(queues.comes_after(a, second));
    CHECK(!queues.comes_after(b, first));
    queues.wait(c, f); // never recorded
    CHECK(queues.queued(c) == 0);
    queues.wait(b, e);
    CHECK(queues.comes_after(b, first));
    CHECK(!queues.comes_after(b, second));
    queues.record(f, b);
    CHECK(!queues.comes_after(c, first));
    queues.wait(c, f);
    CHECK(queues.comes_after(c, first));
    CHECK(!queues.comes_after(c, second));
    CHECK(!queues.is_past(first));
    queues.drain(c);
    CHECK(queues.is_past(first));
    queues.drain();
    CHECK(queues.is_past(second));
    CHECK(queues.comes_after(c, second));
}

TEST_CASE("work that throws ends what is queued, in every stream, and what is queued until somebody asks")
{
    stream_queues queues({});
    std::uint32_t const a = queues.add_stream(), b = queues.add_stream(), e = queues.add_event();
    int ran = 0;
    queues.push(a, 4, [] { throw std::runtime_error("no"); });
    queues.record(e, a);
    queues.wait(b, e);
    queues.push(b, 5, [&] { ++ran; });
    queues.drain(b);
    CHECK(queues.failed_step() == 4);
    REQUIRE(queues.failure());
    queues.push(b, 6, [&] { ++ran; });
    queues.drain();
    CHECK(ran == 0);
    queues.forget_failure();
    queues.wait(b, e);
    queues.push(b, 6, [&] { ++ran; });
    queues.drain();
    CHECK(ran == 1);
}

} // namespace this_test
