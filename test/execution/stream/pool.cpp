// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/simulated_device.hpp>

#include "../../dice.hpp"
#include "../../lender.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("bytes go to another stream as soon as, and not before, an event says that they may")
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
    device.record(f, b);                    // before b waits: it says nothing of c
    device.wait(b, e);
    std::byte* const q = device.allocate(64, 64, b);
    CHECK(q == p);
    device.deallocate(q, 64, 64, b);
    device.wait(a, f);
    CHECK(device.allocate(64, 64, a) != p); // a waits for a b that knew nothing of c, nor of its own release
    device.record(f, b);
    device.wait(a, f);
    CHECK(device.allocate(64, 64, a) == p); // by two events, though a has never heard of c's
}

TEST_CASE("a stream that waits for the thief does not have what was stolen, if the thief gave it back later")
{
    // b takes what c gave back, records its event before it gives back in turn: the event covers c's work and
    // not b's own, so the bytes are nobody's but b's.
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
    CHECK(device.allocate(64, 64, a) == p); // over: no event is needed
}

TEST_CASE("the smallest block that will do is taken, cut, and grows together again")
{
    lender source;
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
        CHECK(source.lent.size() == 2);
        device.trim(); // what was given back is still to be painted
        CHECK(source.lent.size() == 2);
        device.synchronize();
        device.trim();
        CHECK(source.lent.size() == 1);
        CHECK(device.memory().reserved == 128);
        CHECK(device.memory().reserved_high == 1152);
    }
    CHECK(source.lent.empty());
}

TEST_CASE("random blocks of random streams are apart while anybody may use them")
{
    // The oracle: on which streams, after how much, a byte was given back; who has heard of that by events.
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        simulated_device device(
            {.order = simulated_options::order_kind::random, .seed = seed, .limit = 4096});
        constexpr std::uint32_t count = 3;
        std::vector<simulated_device::stream_type> streams;
        std::vector<simulated_device::event_type> events;
        for (std::uint32_t i = 0; i != count; ++i) {
            streams.push_back(device.make_stream());
            events.push_back(device.make_event());
        }
        struct deed {
            std::byte* data;
            std::size_t size;
            std::uint32_t by;
            std::uint64_t number;
        };
        std::vector<deed> live, released; // as they were allocated, given back
        std::uint64_t number = 0;
        std::vector<std::vector<std::uint64_t>> knows(count, std::vector<std::uint64_t>(count, 0)),
            told = knows;
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
                } catch (out_of_budget const&) {
                    CHECK(!had_room);
                    released.clear(); // all that was queued has been done
                    continue;
                }
                CHECK(reinterpret_cast<std::uintptr_t>(data) % alignment == 0);
                for (deed const& l : live) CHECK((data + size <= l.data || l.data + l.size <= data));
                if (had_room)
                    for (deed const& r : released)
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
                    std::swap(live[pick.below(static_cast<std::uint32_t>(live.size()))], live.back());
                    deed const last = live.back();
                    std::uint32_t const by = knows[s][last.by] >= last.number ? s : last.by;
                    device.deallocate(last.data, last.size, 1, streams[by]);
                    released.push_back({last.data, last.size, by, ++number});
                    knows[by][by] = number;
                    live.pop_back();
                }
                break;
            case 5:
                device.record(events[t], streams[s]);
                told[t] = knows[s];
                break;
            default:
                device.wait(streams[s], events[t]);
                for (std::uint32_t k = 0; k != count; ++k) knows[s][k] = std::max(knows[s][k], told[t][k]);
                if (pick.below(6) != 0) break;
                device.synchronize();
                released.clear();
            }
        }
        device.synchronize();
        for (deed const& l : live) device.deallocate(l.data, l.size, 1, streams[l.by]);
        device.synchronize();
        device.trim();
        CHECK(device.memory().used == 0);
        CHECK(device.memory().blocks == 0);
        CHECK(device.memory().reserved == 0);
    }
}

TEST_CASE("where the limit stands in the way, room is made of what is given back")
{
    simulated_device device({.limit = 256});
    auto const a = device.make_stream(), b = device.make_stream();
    std::byte* const p = device.allocate(128, 64, a);
    std::byte* const q = device.allocate(128, 64, a);
    device.deallocate(p, 128, 64, a);
    CHECK(device.allocate(128, 64, b) == p); // no event: but all that is queued can be done first
    device.deallocate(p, 128, 64, b);
    device.deallocate(q, 128, 64, b);
    std::byte* const large = device.allocate(256, 64, a);
    CHECK_THROWS_AS((void)device.allocate(1, 1, a), out_of_budget);
    device.deallocate(large, 256, 64, a);
    CHECK_THROWS_AS((void)device.allocate(257, 1, a), out_of_budget);
    CHECK(device.allocate(256, 64, b) != nullptr);
}

} // namespace this_test
