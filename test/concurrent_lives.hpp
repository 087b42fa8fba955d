// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CONCURRENT_LIVES_HPP
#define SUBLET_TEST_CONCURRENT_LIVES_HPP

/// The live ranges of a program for every schedule, with a buffer for each value or for each class of views.

#include "random_tasks.hpp"
#include "view_sizes.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <numeric>
#include <vector>

/// Each value has a buffer of its own. Without roles none is given or kept.
inline sublet::detail::concurrent_live_ranges lives_of_each(sublet::snapshot const& p,
                                                            sublet::dependence_graph const& g,
                                                            std::vector<sublet::value_role> role = {})
{
    role.resize(p.values());
    std::vector<sublet::buffer_id> buffer_of(p.values());
    std::iota(buffer_of.begin(), buffer_of.end(), sublet::buffer_id{0});
    return sublet::detail::concurrent_lifetimes(p, g, p.values(), buffer_of, role);
}

/// A value shares the buffer of its root and has the number of that.
inline sublet::detail::concurrent_live_ranges
lives_of_classes(sublet::snapshot const& p, sublet::dependence_graph const& g, random_tasks const& tasks)
{
    std::vector<sublet::buffer_id> buffer_of;
    for (sublet::value_id v = 0; v != tasks.values(); ++v) buffer_of.push_back(+root_of(tasks.alias_of, v));
    return sublet::detail::concurrent_lifetimes(p, g, tasks.values(), buffer_of, tasks.role);
}

#endif
