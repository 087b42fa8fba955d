// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_TOKEN_DEPOSITS_IPP
#define SUBLET_SHARING_IMPL_TOKEN_DEPOSITS_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/token_deposits.hpp>

#include <bit>
#include <cstddef>

namespace sublet::detail {

SUBLET_DECL token_deposits::token_deposits(csr_rows const& after) : of_(after.rows())
{
    for (std::size_t x = 0; x != of_.size(); ++x) of_[x].takers = static_cast<std::uint32_t>(after[x].size());
}

SUBLET_DECL void token_deposits::leave(step_id x, std::span<token_range const> ranges)
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

SUBLET_DECL void token_deposits::taken(step_id x)
{
    deposit& d = of_[x];
    if (--d.takers != 0 || d.ranges == 0) return;
    std::uint32_t& spare = spare_[std::bit_width(d.ranges - 1)];
    store_[d.at].first = spare;
    spare = d.at;
}

} // namespace sublet::detail

#endif
