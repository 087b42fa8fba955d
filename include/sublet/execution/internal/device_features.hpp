// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_INTERNAL_DEVICE_FEATURES_HPP
#define SUBLET_EXECUTION_INTERNAL_DEVICE_FEATURES_HPP

/// What a device may do besides what stream_device requires: launch a kernel of yours, compute digests,
/// capture graphs and update them, make several commands cheaper. An executor asks by these concepts, and
/// offers less where one is not met.

#include <sublet/execution/device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace sublet::detail {

/// Also has `device.launch(s, kernel, call)`: calls kernel(call), at once if the kernel queues its work in s
/// itself, or when the stream reaches it.
template <class D, class Kernel, class Call>
concept launches = requires(D& device, typename D::stream_type s, Kernel& kernel, Call const& call) {
    device.launch(s, kernel, call);
};

/// Also computes digests on a stream, and writes them to memory that the host can read after `synchronize`.
template <class D>
concept takes_digests = requires(D& device, typename D::stream_type s, std::span<std::byte const> bytes,
                                 std::uint64_t* digest) { device.digest(s, bytes, digest); };

/// Semantics: a capture that `begin_capture(s)` begins includes s, and every other stream from its first wait
///            for an event that is recorded in the capture. `abandon_capture(s)` throws nothing.
template <class D>
concept captures_graphs = stream_device<D> && requires(D& device, typename D::stream_type s) {
    device.begin_capture(s);
    device.end_capture(s).launch(s);
    device.abandon_capture(s);
};

/// Semantics: `end_capture(s, graph)` ends a capture that `graph`, of an earlier one, launches from then on.
///            If it throws, the graph is as before.
template <class D>
concept updates_graphs =
    captures_graphs<D> && requires(D& device, typename D::stream_type s,
                                   decltype(device.end_capture(s))& graph) { device.end_capture(s, graph); };

/// What makes several commands of a device cheaper while it exists; for most devices nothing.
template <class D>
auto batch_of(D& device)
{
    if constexpr (requires { device.batch(); }) return device.batch();
    else return true;
}

} // namespace sublet::detail

#endif
