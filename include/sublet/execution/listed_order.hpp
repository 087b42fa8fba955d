// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_LISTED_ORDER_HPP
#define SUBLET_EXECUTION_LISTED_ORDER_HPP

/// Whether steps that need not come as they are listed leave the same nevertheless.
///
///     listed as           run as             part is a view of a, and 1 does not read a: it writes there
///     0: def a            0: def a
///     1: def part         2: use a           finds what 0 has written, not 1
///     2: use a            1: def part
///
/// Data and edges let 2 come first. Where each value has bytes of its own, whatever they let come first may.
/// Where several are written to the same bytes, any two touches of which one writes have to stay in the order
/// of the list, if that is an order in which the program can be run; if it is not, no run says what they
/// mean.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet::detail {

/// Requires:   each value of the program is written once at most, and not at all if it is given; the program
///             and the options live as long as this.
/// Complexity: to make it O(V + E + values + steps + touches), as lifetimes(), which is asked only where
///             several values are written to the same bytes.
class listed_order {
public:
    listed_order(snapshot const& program, plan_options const& options);

    /// The first write that stands on the other side of another touch of its bytes than in the list.
    ///
    /// Complexity: O(steps + touches) time, O(steps + values) memory.
    std::optional<witness> moved_write(std::vector<step_id> const& steps) const;

    /// What keeps all writes where they are, besides data and edges.  O(V + E + values + touches)
    std::vector<handoff> handoffs() const;

private:
    snapshot const& program_;
    plan_options const& options_;
    std::vector<unsigned char> is_written_; // by value: its def writes
    std::vector<buffer_id> storage_of_;     // by value; `no_buffer`: it is written once, or only given
    std::size_t storages_ = 0;
    bool has_order_ = false; // the program can be run as it is listed, and something depends on it
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/listed_order.ipp>
#endif

#endif
