// SPDX-License-Identifier: BSL-1.0

/// position_set: a worklist; each position is marked and expanded once.

#include <sublet/impl/config.hpp>
#include <sublet/testing/detail/position_set.hpp>

namespace sublet::detail {

SUBLET_DECL void position_set::add(position_id at, csr_rows<position_id, position_id> const& next)
{
    if (has(at)) return;
    is_marked_[at] = 1;
    for (worklist_.push_back(at); !worklist_.empty();) {
        position_id const now = worklist_.back();
        worklist_.pop_back();
        for (position_id other : next[now]) {
            if (has(other)) continue;
            is_marked_[other] = 1;
            worklist_.push_back(other);
        }
    }
}

} // namespace sublet::detail
