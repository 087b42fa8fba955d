// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_WINDOW_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_WINDOW_HPP

/// A part of an order as small tables, and the walk of sets of nodes that are closed under what comes before.
/// Included by the exact searches.

#include <sublet/detail/bit_rows.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- order window ----------------------------------------------------------------------------------------

/// A stretch of an order as a graph of its own: what ran before has run, and what is needed behind is kept.
///
///     order    0  1 [ 2  3  4 ] 5  6          a   given: 1 has written it
///     a        . [=========)                  b   kept: 6 reads it
///     b        .  .  . [=============)        c   around: it takes its bytes, and nobody here touches it
///     c        [====================)
///
/// Whatever order the stretch runs in, what is alive before and behind it stays the same. So a part of an
/// order is searched with what searches a whole one, and costs what the part costs.

namespace sublet::detail {

struct order_window {
    std::vector<node_id> nodes;           ///< by number in the window: who it is in the whole graph
    order_graph graph;                    ///< nodes and buffers numbered anew, nodes as they stood
    byte_count live_through = 0;          ///< bytes alive all the time, but for the next ones
    byte_count untouched_input_bytes = 0; ///< bytes that nobody touches, alive while the first step runs
    bool is_at_start = false;             ///< nothing has run before
};

/// Requires:   `walk` has run whatever stands before the window; `nodes` may run next in the order in which
///             they are named.
/// Complexity: O(k log k) for a window with k touches, edges and pairs; at the start of a program and
///             O(buffers).
/// Throws:     precondition_error if a node is named before one of the window that it waits for, or twice.
[[nodiscard]] order_window window_of(order_graph const& g, peak_walk const& walk,
                                     std::span<node_id const> nodes);

// --- nodes on demand -------------------------------------------------------------------------------------

/// Nodes that may as well run right before the first that waits for them.
///
///     0: constant ──► 3         nothing is gained by running 0 early, in whatever order 1 and 2 run:
///     1 ──► 2 ──────► 3         1 2 (0 3) needs no more than any order does
///
/// A node that only adds, because whatever it touches is needed behind it in every order, is best run as late
/// as that goes: until then all others have less beside them, and when it runs at last, as much is alive as
/// was before at that time. So constants, views and other small things need not be searched for a place.

/// The nodes of a window, those on demand taken out.
struct deferral_graph {
    std::vector<unsigned char> is_deferred; ///< by node
    csr_rows deferred; ///< by node: those on demand that it waits for, directly or through others of them,
                       ///< ascending; nothing for those on demand themselves
    csr_rows after, before; ///< among all others: who waits for whom, directly or through those on demand
};

/// Ensures:    for every order of the window there is one with no higher peak, in which each node on demand
///             runs right before the first node that demands it, with those that this one demands, ascending,
///             and the others run in the order in which they did.
/// Complexity: O(V + E + touches), for what is not on demand; lists of those on demand are short, or they are
///             not taken out.
[[nodiscard]] deferral_graph deferred_nodes(order_window const& w);

// --- down set walk ---------------------------------------------------------------------------------------

/// Go from one set of nodes that have run to any other, and see what running one more does to memory.
///
///     {}  ──►  {0}  ──►  {0 1}         behind a set as many bytes are alive whatever order it ran in,
///               └────►  {0 2}          so a set is all that has to be known of a beginning
///
/// What has run is a down-set: whoever is in it waits for none outside. Counts of the touches that remain
/// change by the nodes in which two sets differ, whichever way.

/// What running a node does.
struct node_effect {
    byte_count most;       ///< bytes alive while it runs
    byte_count live_after; ///< alive when it has run
};

/// The numbers are those of peak_walk, in the same window; but a walk here jumps.
///
/// Requires:   the window outlives the walk; a node runs that has not, and the bytes alive are told where a
///             step back or a jump leads.
/// Complexity: linear in the touches of the nodes that run or no longer have.
class down_set_walk {
public:
    using word = bit_rows::word;

    explicit down_set_walk(order_window const& w);

    [[nodiscard]] byte_count live() const { return live_; }
    [[nodiscard]] std::size_t ran() const { return ran_; }
    [[nodiscard]] std::vector<word> const& done() const { return done_; } ///< the set, a bit a node
    [[nodiscard]] bool has_run(node_id n) const
    {
        return (done_[n / bit_rows::word_bits] >> n % bit_rows::word_bits & 1) != 0;
    }

    node_effect run(node_id n);

    /// As if a node had not run, with as many bytes alive as were before.
    void step_back(node_id n, byte_count live_before);

    /// To another set, behind which `live_there` bytes are alive. Calls left(n) and entered(n) for the nodes
    /// in which it differs.
    template <class Removed, class Added>
    void move_to(word const* set, byte_count live_there, Removed removed, Added added)
    {
        for (std::size_t i = 0; i != done_.size(); ++i)
            for (word rest = done_[i] ^ set[i]; rest != 0; rest &= rest - 1) {
                auto const n = static_cast<node_id>(i * bit_rows::word_bits +
                                                    static_cast<std::size_t>(std::countr_zero(rest)));
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
    void count(step_id s, std::uint32_t by); // one more or one less remains
    [[nodiscard]] bool dies(buffer_id b) const { return remaining_[b] == 1 && !w_.graph.is_kept[b]; }

    node_effect effect_of(step_id s, bool is_first);

    byte_count saved(step_id s, bool is_first);

    order_window const& w_;
    std::vector<std::uint32_t> remaining_; // by buffer: steps of the window
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
