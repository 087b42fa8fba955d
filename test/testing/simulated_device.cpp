// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/simulated_device.hpp>

#include "../checked_resource.hpp"
#include "../random_source.hpp"
#include "../stream_conformance.hpp"

#include <sublet/execution/digest.hpp>
#include <sublet/execution/run_options.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

constexpr simulated_options::order_kind every_order[] = {
    simulated_options::order_kind::eager,  simulated_options::order_kind::in_turn,
    simulated_options::order_kind::random, simulated_options::order_kind::latest_first,
    simulated_options::order_kind::favour, simulated_options::order_kind::starve};

/// A step that writes its number to an address.
struct numbered {
    step_id step = 0;
    std::vector<step_id>* ran = nullptr;
};

void run_numbered(numbered const& call) { call.ran->push_back(call.step); }

} // namespace

static_assert(launches<simulated_device, void (*)(numbered const&), numbered>);

TEST_CASE("a simulated device meets the requirements on devices in every order")
{
    for (simulated_options::order_kind order : every_order)
        for (std::uint32_t which : {0u, 1u, 2u}) {
            CAPTURE(static_cast<int>(order));
            CAPTURE(which);
            simulated_device device({.order = order, .seed = which, .which = which});
            conformance::check_device(device, 96);
            CHECK(device.live_streams() == 0);
            CHECK(device.live_events() == 0);
            CHECK(device.memory().used == 0);
            CHECK(device.memory().reused > 0);
        }
}

TEST_CASE("bytes are painted at allocation and at deallocation, in stream order")
{
    simulated_device device;
    auto const s = device.make_stream();
    std::byte* const p = device.allocate(4, 4, s);
    conformance::bytes fresh(4), old(4);
    device.copy_from_device(fresh, p, s);
    device.fill(p, std::byte{1}, 4, s);
    device.copy_from_device(old, p, s);
    device.deallocate(p, 4, 4, s);
    device.synchronize();
    CHECK(conformance::is_all(fresh, 0xFF));
    CHECK(conformance::is_all(old, 1));
    CHECK(conformance::is_all({p, 4}, 0xFF)); // the pool still has them
}

TEST_CASE("a kernel that throws drops queued work and is reported once, with its step")
{
    for (simulated_options::order_kind order : every_order) {
        CAPTURE(static_cast<int>(order));
        simulated_device device({.order = order});
        auto const a = device.make_stream(), b = device.make_stream();
        auto const e = device.make_event();
        std::vector<step_id> ran;
        auto throwing = [](numbered const& call) {
            if (call.step == 1) throw std::runtime_error("no");
            run_numbered(call);
        };
        device.launch(a, throwing, numbered{0, &ran});
        device.launch(a, throwing, numbered{1, &ran});
        device.record(e, a);
        device.wait(b, e);
        device.launch(b, throwing, numbered{2, &ran});
        std::byte* const p = device.allocate(8, 8, b);
        device.deallocate(p, 8, 8, b);
        try {
            device.synchronize(b);
            FAIL_CHECK("nothing was thrown");
        } catch (run_error const& error) {
            CHECK(error.step() == 1);
            CHECK(std::string(error.what()) == "sublet: at step 1, a kernel threw: no");
        }
        CHECK(ran == std::vector<step_id>{0});
        CHECK(!device.is_lost());
        device.synchronize();
        device.launch(b, throwing, numbered{3, &ran});
        device.synchronize(b);
        CHECK(ran == std::vector<step_id>{0, 3});
    }
}

TEST_CASE("a kernel that is an rvalue is kept, with its call, until the stream reaches it")
{
    simulated_device device;
    auto const s = device.make_stream();
    std::vector<step_id> ran;
    {
        numbered const call{7, &ran};
        std::vector<step_id> const own{1, 2, 3};
        device.launch(
            s, [own](numbered const& its) { its.ran->push_back(own[2]); }, call);
    }
    device.synchronize();
    CHECK(ran == std::vector<step_id>{3});
}

TEST_CASE("each call that can fail does so once on request; every call of a lost device fails")
{
    checked_resource source;
    conformance::bytes bytes(8); // outlives queued work when a call throws
    std::uint64_t sum = 0;
    auto use = [&](simulated_device& device, std::vector<step_id>& ran) {
        auto const s = device.make_stream();
        auto const e = device.make_event();
        std::byte* const p = device.allocate(8, 8, s);
        device.fill(p, std::byte{0}, 8, s);
        device.copy_to_device(p, bytes, s);
        device.copy_from_device(bytes, p, s);
        device.digest(s, {p, 8}, &sum);
        device.launch(s, run_numbered, numbered{0, &ran});
        device.record(e, s);
        device.wait(s, e);
        device.synchronize(s);
        device.synchronize();
        CHECK(sum == digest(bytes));
        device.deallocate(p, 8, 8, s);
        device.destroy_event(e);
        device.destroy_stream(s);
    };
    std::vector<step_id> ran;
    std::uint64_t calls = 0;
    {
        simulated_device device({.upstream = &source});
        use(device, ran);
        calls = device.calls();
        CHECK(calls == 12);
    }
    for (std::uint64_t k = 0; k != calls; ++k) {
        CAPTURE(k);
        for (bool is_loss : {false, true}) {
            simulated_device device({.upstream = &source});
            if (is_loss) device.lose_after(k);
            else device.fail_after(k);
            if (is_loss) CHECK_THROWS_AS(use(device, ran), simulated_device::lost);
            else CHECK_THROWS_AS(use(device, ran), simulated_device::failure);
            CHECK(device.calls() == k + 1);
            CHECK(device.is_lost() == is_loss);
            if (is_loss) {
                CHECK_THROWS_AS(device.synchronize(), simulated_device::lost);
                CHECK_THROWS_AS((void)device.make_stream(), simulated_device::lost);
                device.destroy_stream({0});
                device.deallocate(nullptr, 8, 8, {0});
            } else {
                device.synchronize();
                use(device, ran);
            }
        }
        CHECK(source.live_blocks.empty());
    }
}

TEST_CASE("the destructor of a device drops queued work")
{
    checked_resource source;
    std::vector<step_id> ran;
    conformance::bytes back(8);
    {
        simulated_device device({.upstream = &source});
        auto const s = device.make_stream();
        std::byte* const p = device.allocate(8, 8, s);
        device.launch(s, run_numbered, numbered{0, &ran});
        device.copy_from_device(back, p, s);
        device.destroy_stream(s);
        CHECK_THROWS_AS(device.fill(p, std::byte{0}, 8, s), precondition_error);
        CHECK_THROWS_AS(device.wait(s, {}), precondition_error);
    }
    CHECK(ran.empty());
    CHECK(source.live_blocks.empty());
    simulated_device device;
    auto const s = device.make_stream();
    device.launch(s, run_numbered, numbered{1, &ran});
    device.destroy_stream(s);
    device.synchronize(); // work in a destroyed stream is executed
    CHECK(ran == std::vector<step_id>{1});
}

// --- pool --------------------------------------------------------------------------------------------------

TEST_CASE("bytes go to another stream as soon as an event orders it after the free, and not before")
{
    simulated_device device;
    auto const a = device.make_stream(), b = device.make_stream(), c = device.make_stream();
    auto const e = device.make_event(), f = device.make_event();
    std::byte* const p = device.allocate(64, 64, c);
    device.fill(p, std::byte{1}, 64, c);
    device.deallocate(p, 64, 64, c);
    CHECK(device.allocate(64, 64, b) != p); // no event
    device.record(e, c);
    CHECK(device.allocate(64, 64, b) != p); // recorded, not waited for
    device.record(f, b);                    // before b waits: it does not cover c
    device.wait(b, e);
    std::byte* const q = device.allocate(64, 64, b);
    CHECK(q == p);
    device.deallocate(q, 64, 64, b);
    device.wait(a, f);
    CHECK(device.allocate(64, 64, a) != p); // that event of b covers neither e nor the free in b
    device.record(f, b);
    device.wait(a, f);
    CHECK(device.allocate(64, 64, a) == p); // by two events; a need not wait for e itself
}

TEST_CASE("a stream that waits for another one does not get bytes that were freed there after the event")
{
    // b reuses bytes that c freed, and records its event before it frees them: the event covers the work of c
    // but not that of b, so only b may reuse the bytes.
    simulated_device device;
    auto const a = device.make_stream(), b = device.make_stream(), c = device.make_stream();
    auto const e = device.make_event(), f = device.make_event();
    std::byte* const p = device.allocate(64, 64, c);
    device.deallocate(p, 64, 64, c);
    device.record(e, c);
    device.wait(b, e);
    CHECK(device.allocate(64, 64, b) == p);
    device.record(f, b);
    device.fill(p, std::byte{1}, 64, b);
    device.deallocate(p, 64, 64, b);
    device.wait(a, f);
    CHECK(device.allocate(64, 64, a) != p);
    device.synchronize(b);
    CHECK(device.allocate(64, 64, a) == p); // reached: no event is needed
}

TEST_CASE("the smallest block that fits is split, and coalesces after it is freed")
{
    checked_resource source;
    {
        simulated_device device({.upstream = &source});
        auto const s = device.make_stream();
        std::byte* const large = device.allocate(1024, 64, s);
        std::byte* const small = device.allocate(128, 64, s);
        device.deallocate(large, 1024, 64, s);
        device.deallocate(small, 128, 64, s);
        CHECK(device.allocate(64, 64, s) == small);
        std::byte *const p = device.allocate(512, 64, s), *const q = device.allocate(512, 64, s);
        CHECK(p == large);
        CHECK(q == large + 512);
        CHECK(device.memory().reserved == 1152);
        CHECK(device.memory().used == 64 + 1024);
        device.deallocate(q, 512, 64, s);
        device.deallocate(p, 512, 64, s);
        CHECK(device.allocate(1024, 64, s) == large);
        CHECK(device.allocate(0, 64, s) == nullptr);
        device.deallocate(nullptr, 0, 64, s);
        CHECK_THROWS_AS(device.deallocate(p, 512, 64, s), precondition_error);
        CHECK_THROWS_AS(device.deallocate(large + 8, 8, 64, s), precondition_error);
        device.deallocate(large, 1024, 64, s);
        CHECK_THROWS_AS(device.deallocate(large, 1024, 64, s), precondition_error);
        CHECK(source.live_blocks.size() == 2);
        device.trim(); // painting of freed bytes is still queued
        CHECK(source.live_blocks.size() == 2);
        device.synchronize();
        device.trim();
        CHECK(source.live_blocks.size() == 1);
        CHECK(device.memory().reserved == 128);
        CHECK(device.memory().reserved_high == 1152);
    }
    CHECK(source.live_blocks.empty());
}

TEST_CASE("random blocks in random streams do not overlap while they may be used")
{
    // The oracle: for each byte, the stream points of its frees; for each stream, the points before it.
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        simulated_device device(
            {.order = simulated_options::order_kind::random, .seed = seed, .limit = 4096});
        constexpr std::uint32_t count = 3;
        std::vector<simulated_device::stream_type> streams;
        std::vector<simulated_device::event_type> events;
        for (std::uint32_t i = 0; i != count; ++i) {
            streams.push_back(device.make_stream());
            events.push_back(device.make_event());
        }
        struct pool_event {
            std::byte* data;
            std::size_t size;
            std::uint32_t by;
            std::uint64_t number;
        };
        std::vector<pool_event> live, released; // in order of allocation, in order of frees
        std::uint64_t number = 0;
        std::vector<std::vector<std::uint64_t>> knows(count, std::vector<std::uint64_t>(count, 0)),
            covered_points = knows;
        for (int i = 0; i != 200; ++i) {
            std::uint32_t const s = pick.below(count), t = pick.below(count);
            switch (pick.below(7)) {
            case 0:
            case 1:
            case 2: {
                std::size_t const size = 1 + pick.below(64);
                std::size_t const alignment = std::size_t{1} << pick.below(6);
                std::byte* data = nullptr;
                bool const had_room = device.memory().reserved + size <= 4096;
                try {
                    data = device.allocate(size, alignment, streams[s]);
                } catch (memory_limit_exceeded const&) {
                    CHECK(!had_room);
                    released.clear(); // all queued work has been executed
                    continue;
                }
                CHECK(reinterpret_cast<std::uintptr_t>(data) % alignment == 0);
                for (pool_event const& l : live) CHECK((data + size <= l.data || l.data + l.size <= data));
                if (had_room)
                    for (pool_event const& r : released)
                        CHECK((data + size <= r.data || r.data + r.size <= data || r.by == s ||
                               knows[s][r.by] >= r.number));
                else released.clear();
                live.push_back({data, size, s, ++number});
                knows[s][s] = number;
                break;
            }
            case 3:
            case 4:
                if (!live.empty()) {
                    std::swap(pick.one_of(live), live.back());
                    pool_event const last = live.back();
                    std::uint32_t const by = knows[s][last.by] >= last.number ? s : last.by;
                    device.deallocate(last.data, last.size, 1, streams[by]);
                    released.push_back({last.data, last.size, by, ++number});
                    knows[by][by] = number;
                    live.pop_back();
                }
                break;
            case 5:
                device.record(events[t], streams[s]);
                covered_points[t] = knows[s];
                break;
            default:
                device.wait(streams[s], events[t]);
                for (std::uint32_t k = 0; k != count; ++k)
                    knows[s][k] = std::max(knows[s][k], covered_points[t][k]);
                if (pick.below(6) != 0) break;
                device.synchronize();
                released.clear();
            }
        }
        device.synchronize();
        for (pool_event const& l : live) device.deallocate(l.data, l.size, 1, streams[l.by]);
        device.synchronize();
        device.trim();
        CHECK(device.memory().used == 0);
        CHECK(device.memory().blocks == 0);
        CHECK(device.memory().reserved == 0);
    }
}

TEST_CASE("when the limit is reached, freed blocks are reused")
{
    simulated_device device({.limit = 256});
    auto const a = device.make_stream(), b = device.make_stream();
    std::byte* const p = device.allocate(128, 64, a);
    std::byte* const q = device.allocate(128, 64, a);
    device.deallocate(p, 128, 64, a);
    CHECK(device.allocate(128, 64, b) == p); // no event, but all queued work can be executed first
    device.deallocate(p, 128, 64, b);
    device.deallocate(q, 128, 64, b);
    std::byte* const large = device.allocate(256, 64, a);
    CHECK_THROWS_AS((void)device.allocate(1, 1, a), memory_limit_exceeded);
    device.deallocate(large, 256, 64, a);
    CHECK_THROWS_AS((void)device.allocate(257, 1, a), memory_limit_exceeded);
    CHECK(device.allocate(256, 64, b) != nullptr);
}

// --- queues ------------------------------------------------------------------------------------------------

TEST_CASE("commands without an order between them run in the requested order")
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
    // Of the 20 ways to merge 0 2 4 with 1 3 5, four have 5 before 2.
    CHECK(seen.size() == 16);
}

TEST_CASE("a stream is ordered after points by its own order, by events, by other streams, or because they "
          "are reached")
{
    stream_queues queues({});
    std::uint32_t const a = queues.add_stream(), b = queues.add_stream(), c = queues.add_stream();
    std::uint32_t const e = queues.add_event(), f = queues.add_event();
    auto nothing = [] {};
    queues.push(a, no_step, nothing);
    stream_point const first = queues.now(a);
    queues.record(e, a);
    queues.push(a, no_step, nothing);
    stream_point const second = queues.now(a);
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
    CHECK(!queues.is_reached(first));
    queues.drain(c);
    CHECK(queues.is_reached(first));
    queues.drain();
    CHECK(queues.is_reached(second));
    CHECK(queues.comes_after(c, second));
}

TEST_CASE("work that throws drops what is queued in every stream, and what is queued until the failure is "
          "forgotten")
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
