// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_IMPL_SIMULATED_DEVICE_IPP
#define SUBLET_EXECUTION_STREAM_IMPL_SIMULATED_DEVICE_IPP

#include <sublet/execution/errors.hpp>
#include <sublet/execution/stream/simulated_device.hpp>
#include <sublet/impl/config.hpp>

#include <cstring>

namespace sublet {

SUBLET_DECL simulated_device::stream_type simulated_device::make_stream()
{
    call();
    is_stream_.push_back(true);
    return {queues_.add_stream()};
}

SUBLET_DECL simulated_device::event_type simulated_device::make_event()
{
    call();
    is_event_.push_back(true);
    return {queues_.add_event()};
}

SUBLET_DECL std::byte* simulated_device::allocate(byte_count bytes, byte_count alignment, stream_type s)
{
    call(s);
    std::byte* const data = pool_.allocate(bytes, alignment, s.number, queues_);
    paint(data, bytes, s);
    return data;
}

SUBLET_DECL void simulated_device::deallocate(std::byte* data, byte_count bytes, byte_count, stream_type s)
{
    if (is_lost_) return;
    expect(s);
    pool_.expect_taken(data, bytes);
    paint(data, bytes, s);
    pool_.deallocate(data, bytes, s.number, queues_);
}

SUBLET_DECL void simulated_device::fill(std::byte* to, std::byte with, byte_count bytes, stream_type s)
{
    call(s);
    if (bytes != 0) queues_.push(s.number, no_step, [=] { std::memset(to, static_cast<int>(with), bytes); });
}

SUBLET_DECL void simulated_device::copy_to_device(std::byte* to, std::span<std::byte const> from,
                                                  stream_type s)
{
    call(s);
    if (from.empty()) return;
    std::vector<std::byte> taken(from.begin(), from.end());
    queues_.push(s.number, no_step,
                 [to, bytes = std::move(taken)] { std::memcpy(to, bytes.data(), bytes.size()); });
}

SUBLET_DECL void simulated_device::copy_from_device(std::span<std::byte> to, std::byte const* from,
                                                    stream_type s)
{
    call(s);
    if (!to.empty()) queues_.push(s.number, no_step, [=] { std::memcpy(to.data(), from, to.size()); });
}

SUBLET_DECL void simulated_device::digest(stream_type s, std::span<std::byte const> bytes,
                                          std::uint64_t* digest)
{
    call(s);
    queues_.push(s.number, no_step, [=] {
        std::uint64_t const its = sublet::digest(bytes);
        std::memcpy(digest, &its, sizeof its);
    });
}

SUBLET_DECL std::size_t simulated_device::count(std::vector<bool> const& flags)
{
    std::size_t found = 0;
    for (bool flag : flags) found += flag;
    return found;
}

SUBLET_DECL void simulated_device::call()
{
    std::uint64_t const number = calls_++;
    if (number >= lost_at_ && !is_lost_) {
        is_lost_ = true;
        queues_.drop();
    }
    if (is_lost_) throw device_lost();
    if (number == fails_at_) throw device_failure();
}

SUBLET_DECL void simulated_device::paint(std::byte* data, byte_count bytes, stream_type s)
{
    if (is_painting_ && bytes != 0) queues_.push(s.number, no_step, [=] { std::memset(data, 0xFF, bytes); });
}

SUBLET_DECL void simulated_device::report()
{
    std::exception_ptr const cause = queues_.failure();
    if (!cause) return;
    queues_.forget_failure();
    throw run_error(queues_.failed_step(), cause);
}

} // namespace sublet

#endif
