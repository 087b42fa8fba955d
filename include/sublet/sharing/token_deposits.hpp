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

#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/sharing/heir_forest.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

class token_deposits {
public:
    /// Every position is asked for as often as it has successors.
    explicit token_deposits(csr_rows const& after) : of_(after.rows())
    {
        for (std::size_t x = 0; x != of_.size(); ++x)
            of_[x].takers = static_cast<std::uint32_t>(after[x].size());
    }

    /// What was left at x; nothing if nothing was.
    [[nodiscard]] std::span<token_range const> operator[](step_id x) const
    {
        return {store_.data() + of_[x].at, of_[x].ranges};
    }
    void leave(step_id x, std::span<token_range const> ranges)
    {
        deposit& d = of_[x];
        if (d.takers == 0) return;
        SUBLET_EXPECTS(store_.size() < no_node / 2, "sublet: more ranges of tokens than 32-bit ids");
        std::uint32_t& spare = spare_[std::bit_width(ranges.size() - 1)];
        d.ranges = static_cast<std::uint32_t>(ranges.size());
        d.at = spare;
        if (d.at != no_node) {
            spare = store_[d.at].first;
        } else {
            d.at = static_cast<std::uint32_t>(store_.size());
            store_.resize(store_.size() + std::bit_ceil(ranges.size()));
        }
        for (std::size_t i = 0; i != ranges.size(); ++i) store_[d.at + i] = ranges[i];
    }
    /// One successor of x has taken what was left there.
    void taken(step_id x)
    {
        deposit& d = of_[x];
        if (--d.takers != 0 || d.ranges == 0) return;
        std::uint32_t& spare = spare_[std::bit_width(d.ranges - 1)];
        store_[d.at].first = spare;
        spare = d.at;
    }

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

#endif
