// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_VIEW_SIZES_HPP
#define SUBLET_TEST_VIEW_SIZES_HPP

#include <sublet/units.hpp>

#include <algorithm>
#include <vector>

/// Clips drawn sizes so that no view is larger than its root.
inline std::vector<sublet::byte_count> within_roots(std::vector<sublet::byte_count> bytes,
                                                    std::vector<sublet::value_id> const& alias_of)
{
    for (sublet::value_id v = 0; v != bytes.size(); ++v) {
        sublet::value_id root = v;
        while (alias_of[root] != sublet::no_value) root = alias_of[root];
        if (bytes[v] != sublet::no_size) bytes[v] = std::min(bytes[v], bytes[root]);
    }
    return bytes;
}

#endif
