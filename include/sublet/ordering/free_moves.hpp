// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_FREE_MOVES_HPP
#define SUBLET_ORDERING_FREE_MOVES_HPP

/// Nodes that may run at once, whatever the rest of an order does.
///
///     allowed 100, alive 60     x ──► conv: 90 while it runs, 80 behind ──► pool: 95, then 50
///
/// If a node runs within what is allowed and leaves no more alive than there was, nothing is lost by running
/// it now: behind any further nodes there is then no more alive than would be without it. For what a node
/// adds becomes less the more has run before it, never more: who needed its buffers before it came has begun
/// or has ended their lives. (Live bytes are a submodular function of the set that has run.)
///
/// The same holds for a set of nodes that leads to no more bytes than there were, if no part of it that could
/// run by itself does. Here such a set is a chain: each node waits for the one before, so its parts are its
/// beginnings, and the chain goes down to where it came from for the first time.
///
/// A set taken at once may spoil one thing: results that it begins cannot be written over operands of a node
/// behind it. A node that does so waits until that node has run.
///
/// Source: for trees of tasks such segments, from hill to valley, are from Liu, "An application of
/// generalized tree pebbling to sparse matrix factorization", SIAM Journal on Algebraic and Discrete Methods
/// 8, 1987.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/ordering/down_set_walk.hpp>
#include <sublet/ordering/nodes_on_demand.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// A walk through the sets of a window that runs nodes with those that they demand, and remembers its way
/// back to where it jumped last.
///
/// Requires:   the window and its demand_graph outlive it.
class free_moves {
public:
    using word = bit_rows::word;

    free_moves(order_window const& w, demand_graph const& d);

    [[nodiscard]] down_set_walk const& walk() const { return walk_; }
    /// What has been done so far, in touches and edges of the nodes that were run or tried.
    [[nodiscard]] std::uint64_t work() const { return work_; }
    /// The nodes that have run since the last jump.
    [[nodiscard]] std::vector<node_id> const& trail() const { return trail_; }

    /// To another set; the trail is empty then.
    void jump(word const* set, byte_count live_there);

    /// Calls visit(n) for the nodes that may run next, ascending, until it returns false.
    template <class Visit>
    void for_each_ready(Visit visit) const
    {
        for (std::size_t i = 0; i != ready_.size(); ++i)
            for (word rest = ready_[i]; rest != 0; rest &= rest - 1) {
                auto const n = static_cast<node_id>(i * bit_rows::word_bits +
                                                    static_cast<std::size_t>(std::countr_zero(rest)));
                if (!visit(n)) return;
            }
    }

    /// Run a node that is ready, behind those that it demands. Returns the most bytes alive meanwhile.
    byte_count run(node_id n);
    /// Back to when the trail was shorter.
    void return_to(std::size_t length);

    /// Run whatever is free if `allowed` bytes may be alive.
    void run_free(byte_count allowed);
    /// The same where nothing was free with `before` allowed, and chains asked for `refused` bytes at least.
    void run_free_again(byte_count allowed, byte_count before, byte_count refused);
    /// What the next node of a chain asked for at least where none was free in the end.
    [[nodiscard]] byte_count refused() const { return refused_; }

private:
    void turn_ready(node_id n) { ready_[n / bit_rows::word_bits] ^= word{1} << n % bit_rows::word_bits; }
    void enter(node_id n); // it has run
    void leave(node_id n); // it has not

    byte_count run_alone(node_id n);
    [[nodiscard]] bool spoils(node_id n) const;

    void run_free_nodes(byte_count allowed);

    /// A chain of one node or more, among those whose first node needs more than `before`.
    bool run_free_chain(byte_count allowed, byte_count before);
    /// Whether nodes that wait for `first`, each for the one before, lead down to `live` bytes; then they
    /// have run, else perhaps the first.
    bool goes_down(node_id first, std::size_t length, byte_count allowed, byte_count live);

    static constexpr std::size_t most_tries = 64, most_links = 32;
    struct link {
        node_id node;
        std::size_t begin; // of the trail, before it ran
        std::size_t next;  // of those after it, the first that has not been tried
    };

    demand_graph const& d_;
    down_set_walk walk_;
    std::vector<word> ready_;
    std::vector<std::uint32_t> waits_;
    csr_rows spoiled_;               // by node: who must have run before it may be taken as free
    std::vector<std::size_t> looks_; // by node: its touches and edges
    std::uint64_t work_ = 0;
    std::vector<node_id> trail_;
    std::vector<byte_count> lives_; // by node of the trail: alive before it
    std::vector<node_id> candidates_;
    std::vector<link> links_;
    byte_count refused_ = no_limit;
    bool waits_for_first_ = false;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/free_moves.ipp>
#endif

#endif
