// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_VIEW_SIZES_HPP
#define SUBLET_TEST_VIEW_SIZES_HPP

#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
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

/// By value, the entry of its root: a view lies where its root lies.
template <class Table>
Table of_roots(Table table, std::vector<sublet::value_id> const& alias_of)
{
    Table const given = table;
    for (std::size_t v = 0; v != table.size(); ++v) {
        std::size_t root = v;
        while (alias_of[root] != sublet::no_value) root = alias_of[root];
        table[v] = given[root];
    }
    return table;
}

/// By value, whether all values of its storage are eligible: it has a place, or none of them has.
inline std::vector<bool> of_classes(std::vector<bool> eligible, std::vector<sublet::value_id> const& alias_of)
{
    for (std::size_t v = 0; v != eligible.size(); ++v) {
        std::size_t root = v;
        while (alias_of[root] != sublet::no_value) root = alias_of[root];
        if (!eligible[v]) eligible[root] = false;
    }
    return of_roots(std::move(eligible), alias_of);
}

#endif
