// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_VALUES_OF_NODES_HPP
#define SUBLET_GRAPH_INTERNAL_VALUES_OF_NODES_HPP

/// A list of nodes read as a list of values, in graphs in which node n is value n: no number is copied.

#include <sublet/core/ids.hpp>

#include <cstddef>
#include <span>

namespace sublet::detail {

/// The values with the numbers of some nodes. Refers to the list of these.
class values_of_nodes {
public:
    class cursor {
    public:
        using value_type = value_id;
        using difference_type = std::ptrdiff_t;

        cursor() = default;
        explicit cursor(node_id const* at) : at_(at) {}
        value_id operator*() const { return value_id::of(+*at_); }
        cursor& operator++() { return ++at_, *this; }
        cursor operator++(int) { return cursor(at_++); }
        friend bool operator==(cursor, cursor) = default;

    private:
        node_id const* at_ = nullptr;
    };

    explicit values_of_nodes(std::span<node_id const> nodes) : nodes_(nodes) {}
    [[nodiscard]] cursor begin() const { return cursor(nodes_.data()); }
    [[nodiscard]] cursor end() const { return cursor(nodes_.data() + nodes_.size()); }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] bool empty() const { return nodes_.empty(); }
    [[nodiscard]] value_id operator[](std::size_t i) const { return value_id::of(+nodes_[i]); }

private:
    std::span<node_id const> nodes_;
};

} // namespace sublet::detail

#endif
