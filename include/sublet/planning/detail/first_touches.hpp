// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_FIRST_TOUCHES_HPP
#define SUBLET_PLANNING_DETAIL_FIRST_TOUCHES_HPP

/// Values that no step makes: the first step that touches one in the order that is used makes it. An order
/// that is still to be found may begin with any of these steps.
///
///     list        order 0 1 2    order 1 0 2    to be ordered
///     0: write q  def q          write q        use q
///     1: write q  write q        def q          use q
///     2: use q    use q          use q          use q

#include <sublet/core/ids.hpp>
#include <sublet/graph/internal/effect_record.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// What is recorded, in which the first touch of each value of `begun` makes it, if `chooses_first`;
/// otherwise all its touches are reads. Pairs that would take its storage before it is there, or after a
/// write, are left out.
///
/// Requires:   no step makes a value of `begun`, which ascends; each step is a node. `order` is empty or an
///             order of the steps; numbers that are no steps are ignored.
/// Complexity: O(values + steps + touches + pairs).
[[nodiscard]] effect_record with_first_touches(effect_record const& recorded,
                                               std::vector<value_id> const& begun, std::size_t values,
                                               std::vector<node_id> const& order, bool chooses_first);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/first_touches.ipp>
#endif

#endif
