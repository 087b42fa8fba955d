// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ALL_SHAPES_HPP
#define SUBLET_TEST_ALL_SHAPES_HPP

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <numeric>
#include <vector>

/// All buffers of a problem, in one pool.
inline sublet::detail::placement_shapes shapes_of_all(sublet::placement_problem const& problem)
{
    std::vector<sublet::buffer_id> members(problem.buffers.size());
    std::iota(members.begin(), members.end(), 0u);
    return sublet::detail::shapes_of(problem, members);
}

#endif
