// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_WINDOW_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_WINDOW_HPP

/// Makes a window of an order a problem of its own, in O(k log k) for its k touches, edges and pairs,
/// removes nodes that can run right before their first successor without a higher peak, and walks over the
/// down-sets of the others. An optimal order of the others, with these inserted, is optimal for the window.
/// A move between two sets costs the touches of the nodes in which they differ.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- order window ----------------------------------------------------------------------------------------

/// A window of an order as a graph of its own: the nodes before it have run, and buffers used after it stay.
///
///     order    0  1 [ 2  3  4 ] 5  6          a   given: 1 has written it
///     a        . [=========)                  b   kept: 6 reads it
///     b        .  .  . [=============)        c   live through: no node of the window touches it
///     c        [====================)
///
/// The live bytes before and after the window do not depend on the order of its nodes.

namespace sublet::detail {

struct order_window {
    table<node_id, node_id> nodes;        ///< of each node of the window: its id in the whole graph
    order_graph graph;                    ///< nodes and buffers renumbered, nodes in their given order
    byte_count live_through = 0;          ///< bytes live throughout, without the next ones
    byte_count untouched_input_bytes = 0; ///< given bytes never touched, live while the first step runs
    bool is_at_start = false;             ///< no node has run before
};

/// Requires:   `walk` has run all nodes before the window; `nodes` may run next in the given order.
/// Complexity: O(k log k) for a window with k touches, edges and pairs, plus O(buffers) at the start of a
///             program.
/// Throws:     precondition_error if a node is named twice, or before a predecessor in the window.
[[nodiscard]] order_window window_of(order_graph const& g, peak_walk const& walk,
                                     std::span<node_id const> nodes);

// --- deferred nodes --------------------------------------------------------------------------------------

/// Nodes that can be deferred to right before their first successor without raising the peak.
///
///     0: constant ──► 3         nothing is gained by running 0 early, in whatever order 1 and 2 run:
///     1 ──► 2 ──────► 3         1 2 (0 3) needs no more than any order does
///
/// A node only adds bytes if every buffer that it touches is needed after it in every order: run late, it
/// lowers the live bytes of the nodes before it. So constants, views and other small nodes leave the search.

/// The nodes of a window without the deferred ones.
struct deferral_graph {
    table<node_id, unsigned char> is_deferred;
    /// The deferred nodes that each node needs, transitively, ascending; none of a deferred one.
    csr_rows<node_id, node_id> deferred;
    csr_rows<node_id, node_id> after, before; ///< among all others: edges, direct or through deferred nodes
};

/// Ensures:    for every order of the window there is one with no higher peak in which each deferred node
///             runs right before the first node that needs it, after the deferred nodes that it needs itself,
///             ascending, and the others run in their given order.
/// Complexity: O(V + E + touches) for the nodes that are not deferred; lists of deferred nodes are short,
///             else the nodes are not deferred.
[[nodiscard]] deferral_graph deferred_nodes(order_window const& w);

// --- down set walk ---------------------------------------------------------------------------------------

/// Moves between down-sets, which contain all predecessors of their nodes, and computes what running one more
/// node does to memory.
///
///     {}  ──►  {0}  ──►  {0 1}         the live bytes after a set do not depend on its order,
///               └────►  {0 2}          so a set is the whole state of a prefix

struct node_effect {
    byte_count most;       ///< bytes live while it runs
    byte_count live_after; ///< bytes live when it has run
};

/// Computes the same numbers as peak_walk in the same window, but can jump.
///
/// Requires:   the window outlives the walk; each node runs once; the caller passes the live bytes of the
///             state to which a step back or a jump leads.
/// Complexity: linear in the touches of the nodes by which the set changes.
class down_set_walk {
public:
    using word = bit_rows::word;

    explicit down_set_walk(order_window const& w);

    [[nodiscard]] byte_count live() const { return live_; }
    [[nodiscard]] std::size_t ran() const { return ran_; }
    [[nodiscard]] std::vector<word> const& done() const { return done_; } ///< the set, one bit per node
    [[nodiscard]] bool has_run(node_id n) const
    {
        return (done_[n / bit_rows::word_bits] >> n % bit_rows::word_bits & 1) != 0;
    }

    node_effect run(node_id n);

    /// Undoes the run of a node, before which `live_before` bytes were live.
    void step_back(node_id n, byte_count live_before);

    /// Changes to another set with `live_there` live bytes. Calls removed(n) and added(n) for the nodes in
    /// which it differs.
    template <class Removed, class Added>
    void move_to(word const* set, byte_count live_there, Removed removed, Added added)
    {
        for (std::size_t i = 0; i != done_.size(); ++i)
            for (word rest = done_[i] ^ set[i]; rest != 0; rest &= rest - 1) {
                auto const n =
                    node_id::of(i * bit_rows::word_bits + static_cast<std::size_t>(std::countr_zero(rest)));
                bool const is_removed = has_run(n);
                std::uint32_t const by = is_removed ? 1 : ~std::uint32_t{0};
                for (step_id s = w_.graph.steps[n].first; s != w_.graph.steps[n].last; ++s) count(s, by);
                flip(n);
                ran_ += is_removed ? ~std::size_t{0} : 1;
                if (is_removed) removed(n);
                else added(n);
            }
        live_ = live_there;
    }

private:
    void flip(node_id n) { done_[n / bit_rows::word_bits] ^= word{1} << n % bit_rows::word_bits; }
    void count(step_id s, std::uint32_t by); // adds `by` to the remaining counts
    [[nodiscard]] bool ends_here(buffer_id b) const { return remaining_[b] == 1 && !w_.graph.is_kept[b]; }

    node_effect effect_of(step_id s, bool is_first);

    byte_count saved(step_id s, bool is_first);

    order_window const& w_;
    table<buffer_id, std::uint32_t> remaining_; // steps of the window that touch the buffer
    std::vector<word> done_;
    std::vector<overwrite_pair> candidates_;
    byte_count live_;
    std::size_t ran_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_window.ipp>
#endif

#endif
