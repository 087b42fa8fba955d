// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet::detail {

SUBLET_DECL void sort_by_key(std::vector<sort_key>& items) { std::sort(items.begin(), items.end()); }

SUBLET_DECL void sort_unique(std::vector<sort_key>& items)
{
    sort_by_key(items);
    std::size_t kept = 0;
    for (std::size_t i = 0; i != items.size(); ++i)
        if (kept == 0 || items[kept - 1] < items[i]) items[kept++] = items[i];
    while (items.size() != kept) items.pop_back();
}

} // namespace sublet::detail
