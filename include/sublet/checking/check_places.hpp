// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_PLACES_HPP
#define SUBLET_CHECKING_CHECK_PLACES_HPP

/// What a plan must respect whatever the order of the steps: who has a place, and which places are allowed.
///
///     offset 96 |        [== a ==)       a: in its pool, at a multiple of its alignment, at its pin
///            64 |  [== b ==)             c is a view of b and lies where b lies
///               |  [== c ==)             the arena holds them and fits the memory it is made of
///             0 +-----------------
///
/// The half of a check that looks at one class of values at a time; who meets whom is the other half, and
/// depends on the reading of the program (checking/check_plan.hpp, checking/check_concurrent_plan.hpp).

#include <sublet/checking/demands.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>

namespace sublet {

namespace detail {

struct pool_place {
    pool_id pool;
    byte_count offset;
    friend bool operator==(pool_place const&, pool_place const&) = default;
};

/// Where the plan says that v lies.  Requires: it has a buffer.
inline pool_place place_of(memory_plan const& plan, value_id v)
{
    placed_buffer const& b = plan.buffers[plan.buffer_of[v]];
    return {b.pool, b.offset};
}

/// The bytes that two classes have in common.
struct common_bytes {
    byte_count begin = 0;
    byte_count end = 0; ///< `begin` or less: none
};

/// Requires: both have a place that check_places has passed.
inline common_bytes overlap(plan_demands const& asked, memory_plan const& plan, value_id a, value_id b)
{
    pool_place const at = place_of(plan, a), other = place_of(plan, b);
    if (at.pool != other.pool) return {};
    return {larger(at.offset, other.offset),
            smaller(at.offset + asked.bytes[a], other.offset + asked.bytes[b])};
}

/// Whether the plan has an entry a value, and a buffer behind each.
bool is_complete(memory_plan const& plan, std::size_t values);

std::optional<witness> misplaced(plan_demands const& asked, memory_plan const& plan,
                                 plan_options const& options);

} // namespace detail

/// Look for a view of more bytes than its root; for a class that has no place and needs one, or the converse;
/// for a place that is not allowed; and for an arena larger than its memory.
///
/// Requires:   the plan has an entry a value, and a buffer behind each.
/// Ensures:    the first fault in this order: by value, a view that is too large; by value, storage that is
///             missing or needless; by value, a torn view, a wrong pool, a bad alignment, a missed pin, the
///             end of the arena; by pool, its capacity.
/// Complexity: O(values + pools).
[[nodiscard]] std::optional<witness> check_places(plan_demands const& asked, memory_plan const& plan,
                                                  plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_places.ipp>
#endif

#endif
