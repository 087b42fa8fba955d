// SPDX-License-Identifier: BSL-1.0
/// simulated_device: each call is counted, and may fail or lose the device, before it queues its work; memory
/// comes from stream_pool, order from stream_queues.

#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sublet {

SUBLET_DECL simulated_device::stream_type simulated_device::make_stream()
{
    call();
    detail::reserve_more(is_stream_);
    std::uint32_t const number = queues_.add_stream();
    is_stream_.push_back(true);
    return {number};
}

SUBLET_DECL simulated_device::event_type simulated_device::make_event()
{
    call();
    detail::reserve_more(is_event_);
    std::uint32_t const number = queues_.add_event();
    is_event_.push_back(true);
    return {number};
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
    if (bytes != 0)
        queues_.push(s.number, no_step,
                     [=] { std::memset(to, static_cast<int>(with), detail::to_size(bytes)); });
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
    if (is_lost_) throw simulated_device::lost();
    if (number == fails_at_) throw simulated_device::failure();
}

SUBLET_DECL void simulated_device::paint(std::byte* data, byte_count bytes, stream_type s)
{
    if (is_painting_ && bytes != 0)
        queues_.push(s.number, no_step, [=] { std::memset(data, 0xFF, detail::to_size(bytes)); });
}

SUBLET_DECL void simulated_device::report()
{
    std::exception_ptr const cause = queues_.failure();
    if (!cause) return;
    queues_.forget_failure();
    throw run_error(queues_.failed_step(), cause);
}

} // namespace sublet
