// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_TOKEN_DEPOSITS_HPP
#define SUBLET_SHARING_TOKEN_DEPOSITS_HPP

/// Where a set of tokens waits until the last successor has taken it.
///
///     blocks of 1     [a]  [ ]  [d]              of a size that was used before the last
///     blocks of 2     [b b]                      one given back is taken again
///     blocks of 4     [c c c _]  [       ]
///
/// Only those positions have a set here of which some successors are still to come; a walk through a
/// graph whose branches meet again needs little memory, however long the graph is.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/sharing/heir_forest.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

class token_deposits {
public:
    /// Every position is asked for as often as it has successors.
    explicit token_deposits(csr_rows const& after);

    /// What was left at x; nothing if nothing was.
    [[nodiscard]] std::span<token_range const> operator[](step_id x) const
    {
        return {store_.data() + of_[x].at, of_[x].ranges};
    }
    void leave(step_id x, std::span<token_range const> ranges);
    /// One successor of x has taken what was left there.
    void taken(step_id x);

private:
    struct deposit {
        std::uint32_t takers = 0; // that have not come yet
        std::uint32_t ranges = 0;
        std::uint32_t at = 0;
    };
    std::vector<deposit> of_; // by position
    std::vector<token_range> store_;
    std::vector<std::uint32_t> spare_ =
        std::vector<std::uint32_t>(33, no_node); // by size, chained by `first`
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/token_deposits.ipp>
#endif

#endif
