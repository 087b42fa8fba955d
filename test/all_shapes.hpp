// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ALL_SHAPES_HPP
#define SUBLET_TEST_ALL_SHAPES_HPP

#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

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
