// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_KEYED_IPP
#define SUBLET_IMPL_KEYED_IPP

#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>

#include <algorithm>

namespace sublet {

SUBLET_DECL void sort_keyed(std::vector<keyed>& items) { std::sort(items.begin(), items.end()); }

} // namespace sublet

#endif
