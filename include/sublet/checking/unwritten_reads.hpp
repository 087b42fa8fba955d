// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_UNWRITTEN_READS_HPP
#define SUBLET_CHECKING_UNWRITTEN_READS_HPP

/// Look for a value that some path from the entry reads before it has written it.
///
///        0 -> 1: def a -> 2: use a        from the use back: 2, then 0, which is the entry
///        └──────────────────┘             (1 writes a, so that way is good)
///
/// From each read that no write of its node comes before one walks back, and not through nodes that write the
/// value. Who comes to the entry has found a path, told backwards.

#include <sublet/checking/demands.hpp>
#include <sublet/checking/node_ends.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>

#include <optional>

namespace sublet {

struct flow_options {
    /// A value may be read on a path that has not written it: the read finds anything, and it may be so.
    bool allows_undefined = false;
};

/// Requires:   `asked` are the demands of the program, `ends` its ends.
/// Ensures:    the first by position, then value: positions are those of `asked`, and their number stands for
///             the end of the program. If such reads are allowed, only of values that no step writes.
/// Complexity: O(values + V + E + touches log touches), and for each value the edges into nodes in which it
///             may be needed.
[[nodiscard]] std::optional<witness> find_unwritten_read(snapshot const& p, plan_demands const& asked,
                                                         node_ends const& ends, flow_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/unwritten_reads.ipp>
#endif

#endif
