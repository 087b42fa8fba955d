// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_STREAM_CONFORMANCE_HPP
#define SUBLET_TEST_STREAM_CONFORMANCE_HPP

/// What every stream_device must do, tested with fills and copies alone: on a simulation in every order, on a
/// real device at its own pace.

#include <sublet/execution/run_options.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conformance {

using bytes = std::vector<std::byte>;

inline bytes all(std::size_t count, unsigned value) { return bytes(count, static_cast<std::byte>(value)); }
inline bool is_all(std::span<std::byte const> found, unsigned value)
{
    for (std::byte b : found)
        if (b != static_cast<std::byte>(value)) return false;
    return true;
}

/// Streams and events for one test, destroyed at its end.
template <sublet::stream_device Device>
struct stream_fixture {
    using stream = typename Device::stream_type;
    using event = typename Device::event_type;
    Device& device;
    std::vector<stream> streams{};
    std::vector<event> events{};

    stream_fixture(Device& its, std::size_t stream_count, std::size_t event_count) : device(its)
    {
        for (std::size_t i = 0; i != stream_count; ++i) streams.push_back(device.make_stream());
        for (std::size_t i = 0; i != event_count; ++i) events.push_back(device.make_event());
    }
    stream_fixture(stream_fixture const&) = delete;
    stream_fixture& operator=(stream_fixture const&) = delete;
    ~stream_fixture()
    {
        for (event e : events) device.destroy_event(e);
        for (stream s : streams) device.destroy_stream(s);
    }
    void fill(std::byte* to, unsigned value, std::size_t count, std::size_t s)
    {
        device.fill(to, static_cast<std::byte>(value), count, streams[s]);
    }
    std::byte* allocate(std::size_t count, std::size_t s) { return device.allocate(count, 256, streams[s]); }
    void deallocate(std::byte* p, std::size_t count, std::size_t s)
    {
        device.deallocate(p, count, 256, streams[s]);
    }
    void after(std::size_t later, std::size_t earlier, std::size_t e)
    {
        device.record(events[e], streams[earlier]);
        device.wait(streams[later], events[e]);
    }
};

template <sublet::stream_device Device>
void keeps_stream_order(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 1, 0);
    std::byte* const p = its.allocate(size, 0);
    bytes const half = all(size / 2, 2);
    bytes first(size), second(size), nothing;
    its.fill(p, 1, size, 0);
    device.copy_from_device(first, p, its.streams[0]);
    device.copy_to_device(p, half, its.streams[0]);
    device.copy_from_device(second, p, its.streams[0]);
    its.fill(p, 3, size, 0);
    device.copy_from_device(nothing, p, its.streams[0]);
    device.fill(p, std::byte{9}, 0, its.streams[0]);
    device.synchronize(its.streams[0]);
    CHECK(is_all(first, 1));
    CHECK(is_all(std::span(second).first(size / 2), 2));
    CHECK(is_all(std::span(second).subspan(size / 2), 1));
    device.copy_from_device(first, p, its.streams[0]);
    its.deallocate(p, size, 0);
    device.synchronize();
    CHECK(is_all(first, 3));
    CHECK(!device.is_lost());
}

/// The source of a copy to the device may be reused when the call returns.
template <sublet::stream_device Device>
void copies_source_immediately(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 1, 0);
    std::byte* const p = its.allocate(size, 0);
    bytes source = all(size, 7), back(size);
    device.copy_to_device(p, source, its.streams[0]);
    source.assign(size, std::byte{8});
    device.copy_from_device(back, p, its.streams[0]);
    its.deallocate(p, size, 0);
    device.synchronize(its.streams[0]);
    CHECK(is_all(back, 7));
}

/// Two streams write the same bytes in turn, ordered by an event that is recorded repeatedly.
template <sublet::stream_device Device>
void keeps_event_order(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 2, 2);
    std::byte* const p = its.allocate(size, 0);
    std::vector<bytes> seen(16, bytes(size));
    for (std::size_t i = 0; i != seen.size(); ++i) {
        its.fill(p, static_cast<unsigned>(i), size, 0);
        its.after(1, 0, 0);
        device.copy_from_device(seen[i], p, its.streams[1]);
        its.after(0, 1, 1);
    }
    its.deallocate(p, size, 0);
    device.synchronize();
    for (std::size_t i = 0; i != seen.size(); ++i) CHECK(is_all(seen[i], static_cast<unsigned>(i)));
}

/// A wait is for the last record issued before it, not for a later one.
template <sublet::stream_device Device>
void waits_for_latest_record(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 3, 1);
    std::byte *const p = its.allocate(size, 0), *const q = its.allocate(size, 1);
    bytes of_p(size), of_q(size);
    its.fill(p, 1, size, 0);
    its.after(1, 0, 0);
    device.copy_from_device(of_p, p, its.streams[1]);
    // The event is recorded again by a stream that waits for what follows the first wait: if that wait meant
    // this record, the streams would deadlock.
    its.fill(q, 2, size, 1);
    its.after(2, 1, 0);
    device.copy_from_device(of_q, q, its.streams[2]);
    its.after(0, 1, 0);
    its.deallocate(p, size, 0);
    its.after(1, 2, 0);
    its.deallocate(q, size, 1);
    device.synchronize();
    CHECK(is_all(of_p, 1));
    CHECK(is_all(of_q, 2));
}

/// Blocks allocated at the same time are disjoint and aligned, and keep their contents.
template <sublet::stream_device Device>
void keeps_blocks_disjoint(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 2, 1);
    for (int round = 0; round != 4; ++round) {
        std::vector<std::byte*> blocks;
        for (unsigned i = 0; i != 8; ++i) {
            blocks.push_back(its.allocate(size + i, i % 2));
            CHECK(reinterpret_cast<std::uintptr_t>(blocks.back()) % 256 == 0);
            its.fill(blocks.back(), i, size + i, i % 2);
        }
        its.after(0, 1, 0);
        std::vector<bytes> seen(blocks.size());
        for (unsigned i = 0; i != 8; ++i) {
            seen[i].resize(size + i);
            device.copy_from_device(seen[i], blocks[i], its.streams[0]);
            its.deallocate(blocks[i], size + i, 0);
        }
        device.synchronize(its.streams[0]);
        for (unsigned i = 0; i != 8; ++i) CHECK(is_all(seen[i], i));
    }
}

/// c frees a block; b, which waits for c, allocates and frees it; a, which waits for b, allocates it and
/// writes. c's reads come before these writes: b never used c's bytes, so its event orders c only by b's
/// wait. (rmm, pull request 2489: a pool that kept only the last stream's event lost c's.)
template <sublet::stream_device Device>
void keeps_order_across_reuse(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 3, 3);
    for (unsigned round = 0; round != 8; ++round) {
        std::byte* p = its.allocate(size, 2);
        bytes seen(size), last(size);
        its.fill(p, round + 1, size, 2);
        device.copy_from_device(seen, p, its.streams[2]);
        its.deallocate(p, size, 2);
        its.after(1, 2, 0);
        p = its.allocate(size, 1);
        its.deallocate(p, size, 1);
        its.after(0, 1, 1);
        p = its.allocate(size, 0);
        its.fill(p, 100, size, 0);
        device.copy_from_device(last, p, its.streams[0]);
        its.deallocate(p, size, 0);
        its.after(2, 0, 2);
        device.synchronize();
        CHECK(is_all(seen, round + 1));
        CHECK(is_all(last, 100));
    }
}

/// Without an event no block in use is reused, however late its stream runs.
template <sublet::stream_device Device>
void reuses_no_block_in_use(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 3, 1);
    std::vector<bytes> seen(3 * 8, bytes(size));
    for (unsigned i = 0; i != seen.size(); ++i) {
        std::size_t const s = i % 3;
        std::byte* const p = its.allocate(size, s);
        its.fill(p, i, size, s);
        device.copy_from_device(seen[i], p, its.streams[s]);
        its.deallocate(p, size, s);
    }
    device.synchronize();
    for (unsigned i = 0; i != seen.size(); ++i) CHECK(is_all(seen[i], i));
}

template <sublet::stream_device Device>
void ignores_unrecorded_event(Device& device, std::size_t size)
{
    stream_fixture<Device> its(device, 1, 1);
    bytes back(size);
    device.wait(its.streams[0], its.events[0]);
    std::byte* const p = its.allocate(size, 0);
    its.fill(p, 5, size, 0);
    device.copy_from_device(back, p, its.streams[0]);
    its.deallocate(p, size, 0);
    device.synchronize(its.streams[0]);
    CHECK(is_all(back, 5));
}

/// All tests, with blocks of `size` bytes.
template <sublet::stream_device Device>
void check_device(Device& device, std::size_t size)
{
    keeps_stream_order(device, size);
    copies_source_immediately(device, size);
    keeps_event_order(device, size);
    waits_for_latest_record(device, size);
    keeps_blocks_disjoint(device, size);
    keeps_order_across_reuse(device, size);
    reuses_no_block_in_use(device, size);
    ignores_unrecorded_event(device, size);
}

} // namespace conformance

#endif
