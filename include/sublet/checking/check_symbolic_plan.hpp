// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SYMBOLIC_PLAN_HPP
#define SUBLET_CHECKING_CHECK_SYMBOLIC_PLAN_HPP

/// The opponent of a plan for every batch: two ordinary plans, and what leads from one to the other.
///
///     N = 1      check_plan()                  lives, views, in-place pairs, pools, capacities ...
///     N = most   check_plan()
///     between    whoever is alive together keeps one order by address, and none reaches into the next
///
/// That it holds between: let a start below b, both alive, and let the top of a (its end, with all the room
/// that rounding may take) be no higher than the start of b for N = 1 and for the largest. Both are affine,
/// so it is no higher for any N between; ends are below tops, and rounding up does not lower b. Among the
/// living it suffices to look at neighbours, as check_plan() does. Arenas are largest for the largest batch,
/// sizes of 0 and unknown ones are so for all. Buffers, not values, are compared between: values of one
/// buffer have one offset by one formula, and whether they may share it does not depend on the batch but for
/// sizes of in-place pairs, which are compared at both ends.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/symbolic_options.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <optional>

namespace sublet {

struct symbolic_witness {
    witness found;
    byte_count batch = 0; ///< for which it is so; 0: it is not shown for any, but neither proved for all
    friend bool operator==(symbolic_witness const&, symbolic_witness const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, symbolic_witness const& w)
{
    if (w.batch == 0) out << "it is not proved for all batches: ";
    else out << "for a batch of " << w.batch << ": ";
    return out << w.found;
}

/// Look for a reason why `plan` is not a plan of this program under these options for some batch from 1 to
/// `options.max_batch`. None: it is proved for all of them.
///
/// Requires:   as check_plan(); `options.max_batch` is at least 1.
/// Ensures:    the first fault in this order: a plan of another program or largest batch; what check_plan()
///             finds for a batch of 1, then for the largest; by value, a buffer that is too small; by buffer,
///             a top above the arena; by value, an alignment; the first position at which one reaches into
///             the next. What is right for every batch can be refused, with a batch of 0: if two change sides
///             between two batches, or roundings take less room than they may.
/// Complexity: check_plan() twice, and O(n log n), n = values.
/// Throws:     precondition_error where a requirement is broken, or bytes reach 2^64 - 1.
[[nodiscard]] std::optional<symbolic_witness>
check_symbolic_plan(snapshot const& p, symbolic_plan const& plan, symbolic_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_symbolic_plan.ipp>
#endif

#endif
