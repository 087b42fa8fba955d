// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_COPY_ORDER_IPP
#define SUBLET_ANALYSIS_IMPL_COPY_ORDER_IPP

#include <sublet/analysis/copy_order.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL copy_order::copy_order(std::vector<value_id> root_of)
    : root_of_(std::move(root_of)), readers_(root_of_.size()), first_writer_(root_of_.size(), none),
      kept_in_(root_of_.size(), no_value)
{
}

SUBLET_DECL void copy_order::list_if_ready(std::vector<value_copy> const& copies, std::uint32_t i)
{
    bool const reads_it = from(copies[i]) == to(copies[i]) && kept_in_[to(copies[i])] == no_value;
    if (is_listed_[i] || readers_[to(copies[i])] > (reads_it ? 1u : 0u)) return;
    is_listed_[i] = 1;
    ready_.push_back(i);
}

} // namespace sublet

#endif
