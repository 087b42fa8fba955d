// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_DEVICE_HPP
#define SUBLET_EXECUTION_STREAM_DEVICE_HPP

/// What we ask of a machine that takes commands on streams and carries them out when it comes to it.
///
///     stream 0   launch a ── record e ────────── launch c        of one stream, one after the other;
///     stream 1               wait e ── launch b                  of two, in no order but that of events
///
/// A CUDA device is one, and so is a simulation in host memory that takes every liberty which streams allow.

#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sublet {

/// Commands return when they are queued. Handles are small regular values.
///
/// Semantics:    `wait(s, e)`: what is queued in s from now on comes after what was queued before the last
///               `record(e, ...)`; an event that was never recorded is waited for by nobody. Bytes that are
///               allocated in s may be used by what is queued there from now on, and by all that comes after
///               it; bytes given back in s must not be used by anything that need not come before that.
///               The source of a copy to the device may be changed when the call returns; what is copied from
///               it is there after `synchronize`. Errors of commands may come with any later call.
/// Throws:       whatever the device has to say; `destroy_...`, and `deallocate` of a lost device, nothing.
/// Ordinary models: simulated_device, recording_device, cuda_device.
template <class D>
concept stream_device = requires(D& device, typename D::stream_type s, typename D::event_type e, std::byte* p,
                                 std::span<std::byte const> from, std::span<std::byte> to, byte_count n) {
                            {
                                device.make_stream()
                                } -> std::same_as<typename D::stream_type>;
                            {
                                device.make_event()
                                } -> std::same_as<typename D::event_type>;
                            device.destroy_stream(s);
                            device.destroy_event(e);
                            device.record(e, s);
                            device.wait(s, e);
                            {
                                device.allocate(n, n, s)
                                } -> std::same_as<std::byte*>; // bytes, alignment
                            device.deallocate(p, n, n, s);
                            device.fill(p, std::byte{}, n, s);
                            device.copy_to_device(p, from, s);
                            device.copy_from_device(to, p, s);
                            device.synchronize(s);
                            device.synchronize();
                            {
                                device.is_lost()
                                } -> std::convertible_to<bool>;
                        };

/// Besides, `device.launch(s, kernel, call)`: kernel(call), now if it queues its work in s itself, or when
/// the stream comes to it.
template <class D, class Kernel, class Call>
concept launches = requires(D& device, typename D::stream_type s, Kernel& kernel, Call const& call) {
                       device.launch(s, kernel, call);
                   };

/// Besides, if values are to be compared with what their producer left: the digest of bytes on the device is
/// written, on the stream, to a place that the host can read after `synchronize`.
template <class D>
concept takes_digests = requires(D& device, typename D::stream_type s, std::span<std::byte const> bytes,
                                 std::uint64_t* digest) { device.digest(s, bytes, digest); };

} // namespace sublet

#endif
