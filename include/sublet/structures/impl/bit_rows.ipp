// SPDX-License-Identifier: BSL-1.0

/// Counts of set bits by word. The sparse set keeps a list and the index of each value in it: what is erased
/// is replaced by the last of the list.

#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>

// --- bit rows --------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::size_t bit_rows::count(std::size_t row) const
{
    std::size_t sum = 0;
    for (std::size_t w = 0; w != words_; ++w) sum += static_cast<std::size_t>(std::popcount((*this)[row][w]));
    return sum;
}

// --- sparse set ------------------------------------------------------------------------------------------

SUBLET_DECL void sparse_set::insert(value_id v)
{
    if (contains(v)) return;
    index_[v] = static_cast<std::uint32_t>(list_.size());
    list_.push_back(v);
}

SUBLET_DECL bool sparse_set::erase(value_id v)
{
    if (!contains(v)) return false;
    value_id const last = list_.back();
    list_[index_[v]] = last;
    index_[last] = index_[v];
    index_[v] = no_index;
    list_.pop_back();
    return true;
}

SUBLET_DECL void sparse_set::clear()
{
    for (value_id v : list_) index_[v] = no_index;
    list_.clear();
}

} // namespace sublet::detail
