// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_NODE_ORDER_HPP
#define SUBLET_ORDERING_NODE_ORDER_HPP

/// The result of an order search over the nodes of a program: the order, its peak of live bytes, and a lower
/// bound on the peak of every order. The peak is never above that of the listed order.
///
///     lower_bound <= peak <= given_peak         the order is proved optimal if the first two are equal
///
///     std::cout << order(list);                 96 B by exact search instead of 128 B as listed; proved
///                                               lowest: no order goes below 96 B; order: load, grow, sum

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// An order of the nodes, with its peak and a bound. Converts to false if no order exists: the error is that
/// of dependence_graph, and the other members mean nothing.
struct node_order : verdict {
    /// How an order was found.
    enum class method : std::uint8_t {
        listed,          ///< the listed order, or the nearest possible one
        longest_path,    ///< the node with the longest path to a sink first
        breadth_first,   ///< the node that has been ready longest first
        depth_first,     ///< the node that became ready last first
        on_demand,       ///< backwards from the sinks: operands right before their user
        series_parallel, ///< branches between two nodes, each in its best order
        least_peak,      ///< the ready node that needs the fewest bytes first
        reversed,        ///< as least_peak, from the sinks to the sources
        exact,           ///< by a search among all orders
        improved         ///< from one of these, by scheduling or searching parts of it again
    };

    std::vector<node_id> order; ///< every node once, each after its predecessors
    byte_count peak = 0;        ///< of `order`: the most bytes live at any time
    byte_count given_peak = 0;  ///< of the listed order, or of the nearest possible one
    byte_count lower_bound = 0; ///< no order has a lower peak
    node_order::method found_by = node_order::method::listed; ///< `order`
    /// The listed order can run; or why not: a step is listed before the one that makes what it uses.
    verdict listed = {};
    /// The caller's names of nodes 0, 1, 2 ..., each ends with '\0': a listing gives those of its steps.
    /// Empty: nodes are printed by their numbers.
    std::vector<char> names = {};
    char const* unit = nullptr; ///< as in plan_report

    /// Proven: no order has a lower peak. False: not proven.
    [[nodiscard]] bool is_optimal() const { return *this && peak == lower_bound; }
};

namespace detail {

/// "by exact search"
[[nodiscard]] constexpr char const* rule_text(node_order::method rule)
{
    switch (rule) {
    case node_order::method::listed: return "as listed";
    case node_order::method::longest_path: return "by longest paths first";
    case node_order::method::breadth_first: return "breadth first";
    case node_order::method::depth_first: return "depth first";
    case node_order::method::on_demand: return "by operands right before their users";
    case node_order::method::series_parallel: return "by merging branches";
    case node_order::method::least_peak: return "by the fewest bytes first";
    case node_order::method::reversed: return "by the fewest bytes first, from the sinks";
    case node_order::method::exact: return "by exact search";
    case node_order::method::improved: return "by search in parts";
    }
    return "by an unknown rule";
}

} // namespace detail

/// Writes one line to any text stream: rounded sizes (the members are exact), the rule, whether no order is
/// better, and all nodes in order, by names where there are some; or why there is no order.
///
/// Complexity: O(nodes + output).
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, node_order const& found)
{
    detail::plain_text<Stream> text{out, found.unit};
    if (!found) {
        text << "no order: " << found.error();
        return out;
    }
    detail::write_bytes(text, found.peak);
    text << ' ' << detail::rule_text(found.found_by);
    if (found.peak < found.given_peak) {
        text << " instead of ";
        detail::write_bytes(text, found.given_peak);
        text << " as listed";
    }
    if (!found.listed) text << "; the listed order cannot run: " << found.listed.error();
    text << (found.is_optimal() ? "; proved lowest: " : "; not proved lowest: ") << "no order goes below ";
    detail::write_bytes(text, found.lower_bound);
    table<node_id, std::size_t> name_of; // of each node, where its name begins
    for (std::size_t i = 0; i != found.names.size(); ++i)
        if (i == 0 || found.names[i - 1] == '\0') name_of.push_back(i);
    char const* before = "; order: ";
    for (node_id n : found.order) {
        text << before;
        if (n < name_of.size()) text << found.names.data() + name_of[n];
        else text << n;
        before = ", ";
    }
    return out;
}

} // namespace sublet

#endif
