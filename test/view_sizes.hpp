// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_VIEW_SIZES_HPP
#define SUBLET_TEST_VIEW_SIZES_HPP

/// Drawn properties of values, made to agree with those of the values of which they are views.

#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

/// The value of which v is a view, through other views; v itself if it is none.
template <class AliasOf>
sublet::value_id root_of(AliasOf const& alias_of, sublet::value_id v)
{
    while (alias_of[v] != sublet::no_value) v = alias_of[v];
    return v;
}

/// Clips drawn sizes so that no view is larger than its root.
inline std::vector<sublet::byte_count> within_roots(std::vector<sublet::byte_count> bytes,
                                                    std::vector<sublet::value_id> const& alias_of)
{
    for (sublet::value_id v = 0; v != bytes.size(); ++v)
        if (bytes[v] != sublet::no_size) bytes[v] = std::min(bytes[v], bytes[root_of(alias_of, v)]);
    return bytes;
}

/// By value, the entry of its root: a view lies where its root lies.
template <class Table>
Table of_roots(Table table, std::vector<sublet::value_id> const& alias_of)
{
    Table const given = table;
    for (sublet::value_id v = 0; v != table.size(); ++v) table[v] = given[root_of(alias_of, v)];
    return table;
}

/// By value, whether all values of its storage are eligible: it has a place, or none of them has.
inline std::vector<bool> of_classes(std::vector<bool> eligible, std::vector<sublet::value_id> const& alias_of)
{
    for (sublet::value_id v = 0; v != eligible.size(); ++v)
        if (!eligible[v]) eligible[root_of(alias_of, v)] = false;
    return of_roots(std::move(eligible), alias_of);
}

#endif
