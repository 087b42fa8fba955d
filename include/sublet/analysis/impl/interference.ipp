// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_INTERFERENCE_IPP
#define SUBLET_ANALYSIS_IMPL_INTERFERENCE_IPP

#include <sublet/analysis/interference.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL void range_meetings::add(value_id v, live_range life)
{
    if (is_empty(life)) return;
    if (!births.empty() && births.back().who == v) {
        SUBLET_EXPECTS(births.back().key <= life.first, "sublet: the live ranges of a value do not ascend");
        if (life.first <= deaths.back().key) {
            if (deaths.back().key < life.last) deaths.back().key = life.last;
            return;
        }
    }
    births.push_back({life.first, 0, v});
    deaths.push_back({life.last, 0, v});
}

} // namespace sublet::detail

#endif
