// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_SPOILING_PATH_HPP
#define SUBLET_CHECKING_SPOILING_PATH_HPP

/// Why a value is not intact: a path on which it is written, and then something else is, over it.
///
///     0: def a ──► 1: def b, upon a ──► 2: use a        from the use back: 2, 1 (b spoils it), 0 (a)
///       └──────────────────────────────►┘               the other way nothing is wrong
///
/// The search goes backwards, and in two states: what has spoilt the value is still to be met, or it has been
/// and a write of the value before is still to be met. Who comes to the entry without one has only found that
/// the value was never written, which is no matter of places.

#include <sublet/checking/demands.hpp>
#include <sublet/checking/intact_values.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <optional>
#include <vector>

namespace sublet {

/// What a search for a path has to know. Refers to what it is made of.
struct flow_paths {
    snapshot const& program;
    plan_demands const& asked;
    placed_classes const& classes;
    std::vector<unsigned char> is_reached; ///< by node, from the entry
    std::vector<value_id> beside_entry;    ///< by rank of what is given: another that is, upon it; `no_value`
};

/// A path on which v is written or given, then something else is over it, and then step `before` of node n
/// comes (or its end, if it has no such step).
///
/// Ensures:    the witness says what spoils v, and where.
/// Complexity: O(V + E + touches).
[[nodiscard]] std::optional<witness> find_spoiling_path(flow_paths const& paths, value_id v, node_id n,
                                                        step_id before);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/spoiling_path.ipp>
#endif

#endif
