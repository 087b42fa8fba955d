// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_OPTIONS_HPP
#define SUBLET_PLAN_OPTIONS_HPP

/// What a plan is asked for: the properties of the values, the pools, the order.
///
///     {.bytes = sizes, .alignment = 64}
///
/// Planner and checker take the same object, so that a plan is held to what was asked.

#include <sublet/per_value.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <vector>

namespace sublet {

/// What a kind of memory can do.
struct pool_limits {
    byte_count capacity = no_limit;
    byte_count alignment = 1; ///< of every buffer in it; combined with the buffer's own by lcm
};

struct plan_options {
    per_value<byte_count> bytes;                     ///< no default; `no_size` where it is not known
    per_value<byte_count> alignment = byte_count{1}; ///< any integer >= 1
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value; ///< v is a view of alias_of[v], not larger than its root
    per_value<pool_id> pool = pool_id{0};
    per_value<byte_count> pinned = no_offset; ///< an offset that is prescribed
    per_value<bool> eligible = true;          ///< false: keeps storage of its own, not planned, not counted
    std::vector<pool_limits> pools = {};      ///< by pool id; one not listed has no limits
    std::vector<node_id> order = {};          ///< every node once; empty: 0, 1, 2 ...
    bool in_place = true;                     ///< take the in-place pairs that the program declares
    bool check = true;                        ///< prove the plan before it is returned
};

} // namespace sublet

#endif
