// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_GRAPH_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_GRAPH_HPP

/// An order problem as a graph of nodes with bytes, and what no order goes below.

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- order graph -----------------------------------------------------------------------------------------

/// What every search for a good order looks at: which nodes wait for which, and what each of them does to
/// memory.
///
///     program                           order_graph
///     0: def a          64 bytes        after   0 ──► 1 ──► 3       held   0: a     1: a b
///     1: use a, def b   32                      └───► 2 ──► ┘              2: a c   3: b c
///     2: use a, def c   32
///     3: use b, use c                   buffer  a: 64, touched by 3 steps, ...
///
/// An order may be any that respects data, edges, and the storage of what is written more than once: a name
/// that the program writes again is touched on the same sides of its writes as the program lists them. So
/// plan_memory accepts each of these orders as `.order`. What is alive is a matter of buffers: values with
/// their views. A buffer takes its bytes when the first step of an order touches it and gives them back after
/// the last that does; which step that is, only the order says.

namespace sublet::detail {

struct order_graph {
    csr_rows after;                ///< by node: those that wait for it directly, ascending, each once
    csr_rows before;               ///< by node: those that it waits for directly, ascending, each once
    std::vector<step_range> steps; ///< by node
    std::vector<node_id> listed;   ///< the order that the program is listed in; it may not be able to run so

    csr_rows held;  ///< by step: the buffers that it touches and holds to its end, ascending, each once
    csr_rows early; ///< by step: those that it reads early and touches in no other way
    /// By step: which results may be written over which operands, if no other step touches the operand later,
    /// or the result earlier. Only pairs that could ever be taken.
    std::vector<overwrite_pair> pairs;
    std::vector<std::uint32_t> first_pair; ///< by step, and one more

    std::vector<byte_count> size;           ///< by buffer: of those that are planned
    std::vector<std::uint32_t> touch_count; ///< by buffer: how many steps touch it
    std::vector<unsigned char> is_given;    ///< by buffer: it is there from the beginning
    std::vector<unsigned char> is_kept;     ///< by buffer: it stays to the end

    std::optional<dependence_violation> violation; ///< there is no order; then all else is of no use

    [[nodiscard]] std::size_t nodes() const { return steps.size(); }
    [[nodiscard]] std::size_t buffers() const { return size.size(); }
    [[nodiscard]] std::span<overwrite_pair const> pairs_of(step_id s) const
    {
        return {pairs.data() + first_pair[s], pairs.data() + first_pair[s + 1]};
    }
};

/// The orders that a program may run in, and what its nodes do to memory.
///
/// `options.order` is the order that the program is listed in. It matters where names are written more than
/// once, and there has to be one in which the program can run.
///
/// Ensures:    an order of the nodes respects `before` if and only if lifetimes() finds no violation in it
///             and no edge of the program leads against it, or against the order of what is the same storage:
///             a view of what is written again is touched on the right side of that write. If there is no
///             such order, `violation` says why.
/// Complexity: O(V + E + values + touches + pairs) time and memory.
/// Throws:     precondition_error where a property has not one entry a value, views run in a circle, or the
///             order does not name every node once.
[[nodiscard]] order_graph order_graph_of(snapshot const& p, plan_options const& options);

// --- order bound -----------------------------------------------------------------------------------------

/// What is alive while a node runs, in whatever order.
///
///     0: def a ──► 1: use a, def b ──► 3: use a, use b      a is alive while 1 runs: 0 is before it in every
///         └──────► 2: use a, def c                          order, and 3 behind. While 2 runs it is too.
///
/// A buffer that some node before n touches and some node behind n, before and behind in every order, is
/// alive while n runs; so are those that n touches. The node with most of that needs it in every order, and
/// nothing is searched to know so.

/// Each node once, behind those that it waits for.  O(V + E)
std::vector<node_id> any_order(order_graph const& g);

/// The most that is alive while some node runs, whatever ran before, if something did.
byte_count max_node_lower_bound(order_graph const& g);

/// Bytes that are alive at some time in every order of the nodes.
///
/// Requires:   the graph has no violation.
/// Ensures:    never more than the least peak of an order. For graphs with very many nodes and buffers only
///             what each node touches itself is counted.
/// Complexity: O((V + E) buffers / 64 + touches) time, and a sum of what is alive anyway at each node; O(V +
///             touches) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] byte_count order_lower_bound(order_graph const& g);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_graph.ipp>
#endif

#endif
