// SPDX-License-Identifier: BSL-1.0

/// A buffer may follow another if in no thread the other one ends after its begin: O(threads) for a pair.

#include <sublet/checking/detail/unordered_buffers.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

SUBLET_DECL placement_problem without_clocks(placement_problem problem)
{
    placement_problem::clock_table const clocks = std::exchange(problem.clocks, {});
    std::size_t const n = problem.buffers.size(), threads = clocks.threads;
    if (threads == 0) return problem;
    SUBLET_EXPECTS(clocks.begin.size() == n * threads && clocks.end.size() == n * threads,
                   "sublet: clocks need one begin and one end for each buffer and thread");
    SUBLET_EXPECTS(problem.gaps.empty() && problem.colocated.empty(),
                   "sublet: buffers with clocks have no gaps and no colocations");
    for (buffer_id b = 0; b != n; ++b) {
        bool is_empty = true;
        for (std::size_t i = b * threads; i != (b + 1) * threads; ++i) {
            SUBLET_EXPECTS(clocks.end[i] >= clocks.begin[i], "sublet: a clock ends before it begins");
            is_empty = is_empty && clocks.begin[i] == clocks.end[i];
        }
        problem.buffers[b].life =
            threads == 1 ? live_range{clocks.begin[b], clocks.end[b]} : live_range{0, is_empty ? 0u : 1u};
    }
    return problem;
}

SUBLET_DECL bool are_unordered(placement_problem::clock_table const& clocks, buffer_id one, buffer_id other)
{
    bool is_one_late = false, is_other_late = false; // one ends after a begin of the other
    std::size_t const i = std::size_t{one} * clocks.threads, j = std::size_t{other} * clocks.threads;
    for (std::size_t t = 0; t != clocks.threads; ++t) {
        is_one_late = is_one_late || clocks.end[i + t] > clocks.begin[j + t];
        is_other_late = is_other_late || clocks.end[j + t] > clocks.begin[i + t];
    }
    return is_one_late && is_other_late;
}

} // namespace sublet::detail
