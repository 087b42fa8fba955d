// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ROWS_OF_HPP
#define SUBLET_TEST_ROWS_OF_HPP

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

#endif
