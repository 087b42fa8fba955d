// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_CONTENTS_HPP
#define SUBLET_ANALYSIS_INTERNAL_CONTENTS_HPP

/// What steps read of values that are made without contents, and that no step has written.
///
///     allocate buf, 64 bytes      buf    . . . . . . . .
///     view lo of buf, write lo           # # # # . . . .
///     read buf                           ^ bytes [32, 64) of buf are read, and nothing has written them

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>

namespace sublet::detail {

/// The first read, in the listed order, of bytes that on some path no step has written since their value was
/// allocated. An output is read at the end. Other orders keep the order of these accesses.
///
/// Complexity: O(values log values), and O(b s / 64) for b accesses to s segments between the borders of all
///             values in allocated storage; for control flow that for each round of the search for a fixed
///             point. O(values + touches) if no step reads what is allocated: all of it is scratch.
[[nodiscard]] std::optional<counterexample> find_unwritten(snapshot const& p, plan_options const& options);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/contents.ipp>
#endif

#endif
