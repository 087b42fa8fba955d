// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DEVICE_HPP
#define SUBLET_EXECUTION_DEVICE_HPP

/// The requirements on a device that queues commands on streams.
///
///     stream 0   launch a ── record e ────────── launch c        in order within a stream
///     stream 1               wait e ── launch b                  between streams, ordered by events only

#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace sublet {

/// Commands return when they are queued. Handles are small regular values.
///
/// Semantics:    `wait(s, e)`: work queued in s after it runs after all work queued before the last
///               `record(e, ...)`; for an event that was never recorded it has no effect. Bytes allocated in
///               s may be used by work queued in s later, and by all work ordered after that; every use must
///               be ordered before their deallocation. The source of a copy to the device may be changed when
///               the call returns; a copy from the device is complete after `synchronize`. Errors of commands
///               may be reported by any later call.
/// Throws:       any error of the device; `destroy_...`, and `deallocate` of a lost device, nothing.
/// Ordinary models: simulated_device, recording_device, cuda_device.
template <class D>
concept stream_device = requires(D& device, typename D::stream_type s, typename D::event_type e, std::byte* p,
                                 std::span<std::byte const> from, std::span<std::byte> to, byte_count n) {
    { device.make_stream() } -> std::same_as<typename D::stream_type>;
    { device.make_event() } -> std::same_as<typename D::event_type>;
    device.destroy_stream(s);
    device.destroy_event(e);
    device.record(e, s);
    device.wait(s, e);
    { device.allocate(n, n, s) } -> std::same_as<std::byte*>; // bytes, alignment
    device.deallocate(p, n, n, s);
    device.fill(p, std::byte{}, n, s);
    device.copy_to_device(p, from, s);
    device.copy_from_device(to, p, s);
    device.synchronize(s);
    device.synchronize();
    { device.is_lost() } -> std::convertible_to<bool>;
};

} // namespace sublet

#endif
