// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_TOPOLOGICAL_POINTS_HPP
#define SUBLET_ANALYSIS_INTERNAL_TOPOLOGICAL_POINTS_HPP

/// A topological order of any points, by Kahn's algorithm, and what is left where there is none: a cycle,
/// found by walking from a point that is left to one that leads there until a point comes again.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Steps that each wait for the one before, and the first for the last.
[[nodiscard]] counterexample cycle_of(std::vector<step_id> steps);

/// A cycle among the points, of any kind, that the topological order does not contain.
template <class Point>
std::vector<Point> residual_cycle(csr_rows<Point, Point> const& after,
                                  std::vector<std::uint32_t> const& in_degree)
{
    table<Point, Point> from(after.rows(), Point(0));
    Point at = 0;
    for (Point x = 0; x != after.rows(); ++x)
        if (in_degree[x] != 0) {
            at = x;
            for (Point y : after[x])
                if (in_degree[y] != 0) from[y] = x;
        }
    table<Point, unsigned char> seen(after.rows());
    for (; !seen[at]; at = from[at]) seen[at] = 1;
    std::vector<Point> backwards{at}, cycle;
    for (Point x = from[at]; x != at; x = from[x]) backwards.push_back(x);
    while (!backwards.empty()) {
        cycle.push_back(backwards.back());
        backwards.pop_back();
    }
    return cycle;
}

/// Kahn's algorithm. `in_degree` counts predecessors; points above 0 at the end are on or after a cycle.
/// `Numbering` is dependence_options::position_order.
template <class Point, class Numbering>
std::vector<Point> topological_points(csr_rows<Point, Point> const& after,
                                      std::vector<std::uint32_t>& in_degree, Numbering numbering)
{
    std::size_t const points = after.rows();
    std::vector<Point> order, ready;
    order.reserve(points);
    if (numbering == Numbering::as_listed) {
        bool ascends = true;
        for (Point x = 0; x != points && ascends; ++x)
            for (Point y : after[x]) ascends &= x < y;
        if (ascends) {
            for (Point x = 0; x != points; ++x) order.push_back(x);
            in_degree.assign(points, 0);
            return order;
        }
    }
    auto finish = [&](Point x, auto found) {
        for (Point y : after[x])
            if (--in_degree[y] == 0) found(y);
    };
    for (Point x = 0; x != points; ++x)
        if (in_degree[x] == 0) order.push_back(x);
    if (numbering != Numbering::depth_first) {
        for (std::size_t i = 0; i != order.size(); ++i)
            finish(order[i], [&](Point y) { order.push_back(y); });
        return order;
    }
    auto reverse_from = [&](std::size_t first) { // the first one pushed is popped first
        for (std::size_t i = first, j = ready.size(); i + 1 < j; ++i) std::swap(ready[i], ready[--j]);
    };
    for (std::size_t i = 0, roots = order.size(); i != roots; ++i)
        finish(order[i], [&](Point y) { ready.push_back(y); });
    reverse_from(0);
    while (!ready.empty()) {
        Point const x = ready.back();
        ready.pop_back();
        order.push_back(x);
        std::size_t const first = ready.size();
        finish(x, [&](Point y) { ready.push_back(y); });
        reverse_from(first);
    }
    return order;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/topological_points.ipp>
#endif

#endif
