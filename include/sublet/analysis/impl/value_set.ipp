// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_VALUE_SET_IPP
#define SUBLET_ANALYSIS_IMPL_VALUE_SET_IPP

#include <sublet/analysis/value_set.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL void value_set::insert(value_id v)
{
    if (contains(v)) return;
    place_[v] = static_cast<std::uint32_t>(list_.size());
    list_.push_back(v);
}

SUBLET_DECL bool value_set::erase(value_id v)
{
    if (!contains(v)) return false;
    value_id const last = list_.back();
    list_[place_[v]] = last;
    place_[last] = place_[v];
    place_[v] = nowhere;
    list_.pop_back();
    return true;
}

SUBLET_DECL void value_set::clear()
{
    for (value_id v : list_) place_[v] = nowhere;
    list_.clear();
}

} // namespace sublet::detail

#endif
