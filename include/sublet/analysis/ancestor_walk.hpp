// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_ANCESTOR_WALK_HPP
#define SUBLET_ANALYSIS_ANCESTOR_WALK_HPP

/// Does a come before b? Walk back from b, and no further than a.
///
///     position   0  1  2  3  4  5  6  7         before 7: 5 and 3, then 3 and 1 ...
///     comes      1  1     1     1     b         found from the right to the left; asked for 4,
///     before b   ◄───────────┘                  the walk stops there and goes on when asked for 2
///
/// Edges lead upwards, so whoever comes before b is marked before the walk arrives there: a bit a position
/// and no queue. Nothing is prepared, which is right for few questions, and a walk answers all that are about
/// the same b.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// A precedence_oracle for few questions, or for those with the same b together.
///
/// Memory: a bit a position and its predecessors, four bytes each.
class ancestor_walk {
public:
    /// From the predecessors of each position, all of them lower.
    explicit ancestor_walk(csr_rows before);

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }

    /// Edges lead from a to b.
    ///
    /// Complexity: O(edges among those above a that come before b, + positions / 64), less what has been
    /// walked
    ///             since the last question about another b.
    [[nodiscard]] bool before(step_id a, step_id b)
    {
        walk(b, a);
        return (is_before_[a / 64] >> a % 64 & 1) != 0;
    }

    /// How many come before b.
    [[nodiscard]] std::uint64_t ancestors(step_id b);

private:
    /// Go on until all above `floor` have marked those before them.
    void walk(step_id b, step_id floor);

    csr_rows before_;
    std::vector<std::uint64_t> is_before_; // a bit a position
    step_id from_ = no_step;
    step_id done_ = no_step;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/ancestor_walk.ipp>
#endif

#endif
