// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_VERTEX_LIVE_SETS_HPP
#define SUBLET_ANALYSIS_DETAIL_VERTEX_LIVE_SETS_HPP

/// Live sets that are queried by the vertices of a graph, which are looked up by their numbers.

#include <sublet/analysis/live_sets.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// Requires: every vertex is one of `vertices(g)`.
template <class V>
class vertex_live_sets {
public:
    vertex_live_sets(vertex_numbering<V> numbers, live_sets sets)
        : numbers_(std::move(numbers)), sets_(std::move(sets))
    {
    }
    [[nodiscard]] bool is_live_in(value_id v, V const& at) const { return sets_.is_live_in(v, number(at)); }
    [[nodiscard]] bool is_live_out(value_id v, V const& at) const { return sets_.is_live_out(v, number(at)); }
    [[nodiscard]] live_list live_in(V const& at) const { return sets_.live_in(number(at)); }
    [[nodiscard]] live_list live_out(V const& at) const { return sets_.live_out(number(at)); }
    [[nodiscard]] std::size_t live_in_count(V const& at) const { return sets_.live_in_count(number(at)); }
    [[nodiscard]] std::size_t live_out_count(V const& at) const { return sets_.live_out_count(number(at)); }

    [[nodiscard]] live_sets const& by_number() const { return sets_; }
    [[nodiscard]] vertex_numbering<V> const& numbers() const { return numbers_; }

private:
    node_id number(V const& at) const
    {
        node_id const n = numbers_.number_of(at);
        SUBLET_EXPECTS(n != no_node, "sublet: live sets are queried for a vertex that is not in the graph");
        return n;
    }

    vertex_numbering<V> numbers_;
    live_sets sets_;
};

} // namespace sublet::detail

#endif
