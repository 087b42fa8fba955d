// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SORTING_IPP
#define SUBLET_IMPL_SORTING_IPP

#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet {

SUBLET_DECL void sort_keyed(std::vector<keyed>& items) { std::sort(items.begin(), items.end()); }

} // namespace sublet

#endif
