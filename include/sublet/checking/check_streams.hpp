// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_STREAMS_HPP
#define SUBLET_CHECKING_CHECK_STREAMS_HPP

/// Checks that commands on streams have the same result in every order in which a device may execute them.
///
///     stream 0   allocate 0   write 0   record e               release 0
///     stream 1                                   wait e  read 0
///
/// This holds if every two conflicting touches happen in the order of issue, and every touch after the
/// allocation of its block and before its release. Nothing is executed and no orders are enumerated.
///
/// Source: PyTorch's CUDA stream sanitizer (torch.cuda._sanitizer) checks the accesses of issued commands so.
///
/// internal/check_waits.hpp checks the waits of concurrent steps, before any command is issued.

#include <sublet/checking/internal/check_waits.hpp>
#include <sublet/checking/internal/stream_clocks.hpp>
#include <sublet/checking/stream_commands.hpp>
#include <sublet/core/counterexample.hpp>

namespace sublet {

/// Whether a list of commands is valid: true, or its first fault. `must_release`: every allocated block has
/// to be released.
///
/// Ensures:    if it is, every execution that respects streams, events and the caller's joins
///             performs conflicting touches in the order of the list, each while its block is allocated. If
///             there is one, some execution does not (or the list is malformed). Blocks are checked first,
///             then single touches, then pairs: the first fault is returned, with the lowest later command.
/// Complexity: that of stream_clocks and for_conflicting_pairs(); pairs are not enumerated.
/// Throws:     precondition_error where a command names a stream or a block that is not listed.
[[nodiscard]] verdict check_streams(stream_commands const& list, bool must_release = false);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_streams.ipp>
#endif

#endif
