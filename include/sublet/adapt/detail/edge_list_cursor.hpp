// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADAPT_DETAIL_EDGE_LIST_CURSOR_HPP
#define SUBLET_ADAPT_DETAIL_EDGE_LIST_CURSOR_HPP

/// An iterator over all edges of a csr_graph, row by row, and the members that Boost and the standard ask
/// of iterators. The rows are contiguous, so a step moves one pointer, and a row ends where the next
/// begins.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <iterator>
#include <span>

namespace sublet::detail {

/// What Boost and the standard require of an iterator that yields a T by value.
template <class T>
struct cursor_traits {
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = T;
};

/// All edges, in the order of their first ends.
class edge_list_cursor {
public:
    edge_list_cursor() = default;
    edge_list_cursor(csr_graph const& g, node_id from, node_id const* at) : rows_(&g), from_(from), at_(at)
    {
        find_row();
    }
    csr_graph::edge operator*() const { return {from_, *at_}; }
    edge_list_cursor& operator++() { return ++at_, find_row(), *this; }
    edge_list_cursor operator++(int)
    {
        edge_list_cursor const here = *this;
        ++*this;
        return here;
    }
    friend bool operator==(edge_list_cursor const&, edge_list_cursor const&) = default;

private:
    void find_row()
    {
        for (; from_ != rows_->rows(); ++from_) {
            std::span<node_id const> const row = (*rows_)[from_];
            if (at_ != row.data() + row.size()) return; // rows are contiguous
        }
    }

    csr_graph const* rows_ = nullptr;
    node_id from_ = 0;
    node_id const* at_ = nullptr;
};

} // namespace sublet::detail

#endif
