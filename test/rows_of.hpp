// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ROWS_OF_HPP
#define SUBLET_TEST_ROWS_OF_HPP

/// Rows and graphs from nested lists.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <vector>

/// A row for each list.
template <class Row, class Item>
sublet::csr_rows<Row, Item> rows_of(std::vector<std::vector<Item>> const& from)
{
    sublet::csr_rows<Row, Item> rows;
    for (auto const& list : from) {
        for (Item item : list) rows.append(item);
        rows.close_row();
    }
    return rows;
}

/// A graph with a node for each list, which names its successors.
template <class Id = sublet::node_id>
sublet::csr_graph graph_of(std::vector<std::vector<Id>> const& successors)
{
    return sublet::as_graph(successors.size(), [&](auto n) -> auto& { return successors[n]; });
}

#endif
