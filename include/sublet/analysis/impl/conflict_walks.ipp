// SPDX-License-Identifier: BSL-1.0

/// Adjacent and overlapping ranges of a value are merged as they are added: the last one grows.

#include <sublet/analysis/detail/conflict_walks.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL void range_sweep::add(value_id v, live_range life)
{
    if (is_empty(life)) return;
    if (!range_begins.empty() && range_begins.back().id == v) {
        SUBLET_EXPECTS(range_begins.back().key <= life.first,
                       "sublet: the live ranges of a value do not ascend");
        if (life.first <= range_ends.back().key) {
            if (range_ends.back().key < life.last) range_ends.back().key = life.last;
            return;
        }
    }
    range_begins.push_back({life.first, 0, v});
    range_ends.push_back({life.last, 0, v});
}

} // namespace sublet::detail
