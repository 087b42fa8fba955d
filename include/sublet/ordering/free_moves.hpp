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
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
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

    free_moves(order_window const& w, demand_graph const& d)
        : d_(d), walk_(w), ready_(bit_rows::words_for(w.graph.nodes()), 0)
    {
        order_graph const& g = w.graph;
        auto const count = static_cast<node_id>(g.nodes());
        for (node_id n = 0; n != count; ++n) {
            waits_.push_back(static_cast<std::uint32_t>(d.before[n].size()));
            if (!d.on_demand[n] && waits_[n] == 0) turn_ready(n);
        }
        bool is_first_special = w.leave_at_first != 0;
        for (step_id s = 0; s != g.early.rows(); ++s)
            for (buffer_id b : g.early[s]) is_first_special = is_first_special || g.is_given[b];
        waits_for_first_ = w.is_at_start && is_first_special;

        // Whose results must not have been begun by whom.
        csr_rows const writers = csr_rows::gathered(g.buffers(), [&](auto add) { // over an operand, by buffer
            for (node_id n = 0; n != count; ++n)
                for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s)
                    for (overwrite_pair const& pair : g.pairs_of(s)) add(pair.out, n);
        });
        for (node_id n = 0; n != count; ++n) {
            auto look = [&](buffer_id b) {
                for (node_id other : writers[b])
                    if (other != n && !is_listed(g.before[n], other)) spoiled_.append(other);
            };
            for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
                for (buffer_id b : g.held[s]) look(b);
                for (buffer_id b : g.early[s]) look(b);
            }
            spoiled_.close_row();
        }
        for (node_id n = 0; n != count; ++n) {
            std::size_t looks = 1 + d_.after[n].size();
            for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s)
                looks += g.held[s].size() + g.early[s].size();
            looks_.push_back(looks);
        }
    }

    [[nodiscard]] down_set_walk const& walk() const { return walk_; }
    /// What has been done so far, in touches and edges of the nodes that were run or tried.
    [[nodiscard]] std::uint64_t work() const { return work_; }
    /// The nodes that have run since the last jump.
    [[nodiscard]] std::vector<node_id> const& trail() const { return trail_; }

    /// To another set; the trail is empty then.
    void jump(word const* set, byte_count live_there)
    {
        walk_.move_to(
            set, live_there, [this](node_id n) { leave(n); }, [this](node_id n) { enter(n); });
        trail_.clear();
        lives_.clear();
    }

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
    byte_count run(node_id n)
    {
        byte_count most = 0;
        for (node_id demanded : d_.demanded[n])
            if (!walk_.has_run(demanded)) most = larger(most, run_alone(demanded));
        return larger(most, run_alone(n));
    }
    /// Back to when the trail was shorter.
    void return_to(std::size_t length)
    {
        while (trail_.size() != length) {
            node_id const n = trail_.back();
            walk_.take_back(n, lives_.back());
            leave(n);
            trail_.pop_back();
            lives_.pop_back();
        }
    }

    /// Run whatever is free if `allowed` bytes may be alive.
    void run_free(byte_count allowed)
    {
        refused_ = no_limit;
        if (waits_for_first_ && walk_.ran() == 0) return;
        do {
            run_free_nodes(allowed);
            refused_ = no_limit;
        } while (run_free_chain(allowed, 0));
    }
    /// The same where nothing was free with `before` allowed, and chains asked for `refused` bytes at least.
    void run_free_again(byte_count allowed, byte_count before, byte_count refused)
    {
        if (refused <= allowed) return run_free(allowed);
        refused_ = refused;
        if (waits_for_first_ && walk_.ran() == 0) return;
        if (run_free_chain(allowed, before)) run_free(allowed);
    }
    /// What the next node of a chain asked for at least where none was free in the end.
    [[nodiscard]] byte_count refused() const { return refused_; }

private:
    void turn_ready(node_id n) { ready_[n / bit_rows::word_bits] ^= word{1} << n % bit_rows::word_bits; }
    void enter(node_id n) // it has run
    {
        if (d_.on_demand[n]) return;
        if (waits_[n] == 0) turn_ready(n);
        for (node_id next : d_.after[n])
            if (--waits_[next] == 0 && !walk_.has_run(next)) turn_ready(next);
    }
    void leave(node_id n) // it has not
    {
        if (d_.on_demand[n]) return;
        if (waits_[n] == 0) turn_ready(n);
        for (node_id next : d_.after[n])
            if (waits_[next]++ == 0 && !walk_.has_run(next)) turn_ready(next);
    }

    byte_count run_alone(node_id n)
    {
        lives_.push_back(walk_.live());
        trail_.push_back(n);
        work_ += looks_[n];
        byte_count const most = walk_.run(n).most;
        enter(n);
        return most;
    }
    [[nodiscard]] bool spoils(node_id n) const
    {
        auto any = [this](node_id who) {
            for (node_id other : spoiled_[who])
                if (!walk_.has_run(other)) return true;
            return false;
        };
        for (node_id demanded : d_.demanded[n])
            if (any(demanded)) return true;
        return any(n);
    }

    void run_free_nodes(byte_count allowed)
    {
        for (bool again = true; again;) {
            again = false;
            candidates_.clear();
            for_each_ready([&](node_id n) { return candidates_.push_back(n), true; });
            for (node_id n : candidates_) {
                byte_count const live = walk_.live();
                std::size_t const length = trail_.size();
                if (spoils(n)) continue;
                if (run(n) <= allowed && walk_.live() <= live) again = true;
                else return_to(length);
            }
        }
    }

    /// A chain of one node or more, among those whose first node needs more than `before`.
    bool run_free_chain(byte_count allowed, byte_count before)
    {
        candidates_.clear();
        for_each_ready([&](node_id n) { return candidates_.push_back(n), true; });
        for (node_id first : candidates_) {
            if (spoils(first)) continue;
            byte_count const live = walk_.live();
            std::size_t const length = trail_.size();
            byte_count const most = run(first);
            if (most > before && most <= allowed && goes_down(first, length, allowed, live)) return true;
            return_to(length);
        }
        return false;
    }
    /// Whether nodes that wait for `first`, each for the one before, lead down to `live` bytes; then they
    /// have run, else perhaps the first.
    bool goes_down(node_id first, std::size_t length, byte_count allowed, byte_count live)
    {
        links_.clear();
        links_.push_back({first, length, 0});
        std::size_t tries = most_tries;
        for (bool fits = true; !links_.empty();) {
            if (fits && walk_.live() <= live) return true;
            link& end = links_.back();
            node_id next = no_node;
            if (fits && tries != 0 && links_.size() < most_links) {
                auto const after = d_.after[end.node];
                while (end.next != after.size() && next == no_node) {
                    node_id const n = after[end.next++];
                    if (waits_[n] == 0 && !spoils(n)) next = n;
                }
            }
            if (next == no_node) {
                return_to(end.begin);
                links_.pop_back();
                fits = true;
                continue;
            }
            --tries;
            links_.push_back({next, trail_.size(), 0});
            byte_count const most = run(next);
            fits = most <= allowed;
            if (!fits) refused_ = smaller(refused_, most);
        }
        return false;
    }

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

#endif
