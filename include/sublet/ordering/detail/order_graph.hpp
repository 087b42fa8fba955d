// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_GRAPH_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_GRAPH_HPP

/// Derives the ordering problem of a program in O(V + E + values + touches): dependences between nodes, and
/// the bytes that each touches. Exactly the feasible orders satisfy the dependences. A lower bound on the
/// peak of all orders is found without search, in O((V + E) buffers / 64): the most bytes that must be live
/// while one node runs.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- order graph -----------------------------------------------------------------------------------------

/// A buffer is a root value with its views; it is live from the first to the last step of an order that
/// touches it. plan_memory() accepts each feasible order as `.order`.
///
///     program                           order_graph
///     0: def a          64 bytes        after   0 ──► 1 ──► 3       held   0: a     1: a b
///     1: use a, def b   32                      └───► 2 ──► ┘              2: a c   3: b c
///     2: use a, def c   32
///     3: use b, use c                   buffer  a: 64, touched by 3 steps, and so on

namespace sublet::detail {

/// Converts to false if no order exists; then the other members mean nothing.
struct order_graph : verdict {
    csr_rows<node_id, node_id> after;  ///< the direct successors of each node, ascending, each once
    csr_rows<node_id, node_id> before; ///< the direct predecessors of each node, ascending, each once
    table<node_id, step_range> steps;  ///< of each node
    std::vector<node_id> listed;       ///< the order in which the program lists them; it may be infeasible

    /// The buffers that each step touches and holds to its end, ascending, each once.
    csr_rows<step_id, buffer_id> held;
    csr_rows<step_id, buffer_id> early; ///< the buffers that each step only reads early, ascending
    /// By step: which results may be computed in place of which operands, provided that no other step touches
    /// the operand later or the result earlier. Pairs that no order can use are left out.
    std::vector<overwrite_pair> pairs;
    table<step_id, std::uint32_t> first_pair; ///< of each step, and a final end

    table<buffer_id, byte_count> size;           ///< of each planned buffer
    table<buffer_id, std::uint32_t> touch_count; ///< how many steps touch it
    table<buffer_id, unsigned char> is_given;    ///< it is live from the start
    table<buffer_id, unsigned char> is_kept;     ///< it is live to the end

    [[nodiscard]] std::size_t nodes() const { return steps.size(); }
    [[nodiscard]] std::size_t buffers() const { return size.size(); }
    [[nodiscard]] std::span<overwrite_pair const> pairs_of(step_id s) const
    {
        return {pairs.data() + first_pair[s], pairs.data() + first_pair[s + 1]};
    }
};

/// `options.order` is the listed order. Values `begun`, which ascend, are inputs that are live from their
/// first touch.
///
/// Ensures:    an order of the nodes respects `before` if and only if lifetimes() finds no error in it,
///             no edge of the program is reversed, and touches of the same storage keep their order around
///             its writes: a view of a redefined value is touched on the right side of that write. If there
///             is no such order, the error says why.
/// Complexity: O(V + E + values + touches + pairs) time and memory.
/// Throws:     precondition_error if a property does not have one entry per value, views form a cycle, or the
///             order does not name every node once.
[[nodiscard]] order_graph order_graph_of(snapshot const& p, plan_options const& options,
                                         std::vector<value_id> const& begun = {});

// --- order bound -----------------------------------------------------------------------------------------

/// In every order a buffer is live while n runs if n touches it, or an ancestor and a descendant of n do:
///
///     0: def a ──► 1: use a, def b ──► 3: use a, use b      a is live while 1 runs: in every order 0 runs
///         └──────► 2: use a, def c                          before 1 and 3 after it. The same holds for 2.

/// A buffer that a node touches.
struct touched_buffer {
    buffer_id buffer;
    step_id first, last; ///< of the node's steps that touch it
    bool ends_early;     ///< its last touch only reads early
    bool is_begun;       ///< live when the node begins
    bool is_needed;      ///< live when the node has run
};

/// The buffers that each node touches, ascending; begun are the given ones, needed the kept ones.
[[nodiscard]] csr_rows<node_id, touched_buffer> touches_of(order_graph const& g);

/// The most bytes live while some consecutive steps of a node run, if `live_through` bytes are live
/// throughout besides the buffers that the node touches, which ascend; of these, `live_through` contains
/// those that are begun and needed.
///
/// Complexity: O(steps + touches), and the pairs of the steps times log(touches).
[[nodiscard]] byte_count bytes_while(order_graph const& g, step_range steps,
                                     std::span<touched_buffer const> touched, byte_count live_through);

/// Each node once, after its predecessors.  O(V + E)
std::vector<node_id> any_order(order_graph const& g);

/// The most bytes that some node needs by itself, whatever ran before it.
byte_count max_node_lower_bound(order_graph const& g);

/// Requires:   the graph has no error.
/// Ensures:    never more than the least peak of an order. For graphs with very many nodes and buffers only
///             the buffers that each node touches itself are counted.
/// Complexity: O((V + E) buffers / 64 + touches) time, plus for each node the number of its live buffers;
///             O(V + touches) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] byte_count order_lower_bound(order_graph const& g);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_graph.ipp>
#endif

#endif
