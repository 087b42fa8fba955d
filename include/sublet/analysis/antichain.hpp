// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_ANTICHAIN_HPP
#define SUBLET_ANALYSIS_ANTICHAIN_HPP

/// Bytes that no plan can do without if it is to be valid under every schedule.
///
///     a: 4 ──► b: 3 ──► d: 2         b and c may be there at the same time, and so may a and either of them:
///        └───► c: 1 ──► ┘            a gives to d alone. {a, b, c} is the heaviest antichain: 8 bytes
///
/// Buffers of which neither gives to the other under every schedule need bytes of their own, all of them at
/// once. The most such buffers can weigh is by Dilworth's theorem the weight of all, less the most that can
/// be given on; and what is given on is a flow down the graph of dependences itself: it rises where the bytes
/// of a buffer are free (analysis/frontiers.hpp), runs along edges of unlimited width, and at every position
/// as much as begins there may leave it.
///
/// The flow is found from one position to the next: bytes that rest at the positions before are taken along,
/// and for what lacks then a breadth-first search goes back for bytes that rest elsewhere. Where it finds
/// none nobody ever will, so that all it saw is never looked at again. These positions are the cut: the
/// antichain begins among them and is not free among them.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 51, 1950;
/// flow and cut as in Ford and Fulkerson, "Flows in networks", 1962; searches that end in vain are dropped
/// for good as in Hungarian trees (Kuhn, "The Hungarian method for the assignment problem", 1955).

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/frontiers.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

struct antichain {
    std::vector<buffer_id> members; ///< ascending; none gives to another
    byte_count bytes = 0;           ///< what they weigh
    byte_count at_most = 0;         ///< no antichain weighs more
    bool is_exact = false;          ///< bytes == at_most
    std::uint64_t visits = 0;       ///< nodes that were visited
};

struct antichain_options {
    std::uint64_t visits = 200'000'000; ///< no further search begins after so many
};

namespace detail {

/// Bytes that rest at nodes of a graph without cycles and may move along its arcs, any number of them.
template <std::same_as<csr_rows> Rows>
class resting_flow {
public:
    /// Requires: arcs lead from `heads`' rows to their items.
    explicit resting_flow(Rows const& heads)
        : rest(heads.rows(), 0), heads_(heads), tail_(heads.items()), flow_(heads.items(), 0),
          via_(heads.rows(), 0), seen_(heads.rows(), 0)
    {
        for (node_id t = 0; t != heads.rows(); ++t)
            for (node_id const& h : heads[t]) tail_[arc(h)] = t;
        into_ = Rows::gathered(heads.rows(), [&](auto add) {
            for (node_id t = 0; t != heads.rows(); ++t)
                for (node_id const& h : heads[t]) add(h, arc(h));
        });
    }

    bool is_dead(node_id x) const { return seen_[x] == dead; }

    /// Take up to `need` bytes from the direct predecessors of x; all they have where x is their last chance.
    void collect(node_id x, byte_count need)
    {
        if (is_dead(x)) return;
        auto const in = into_[x];
        for (std::size_t i = in.size(); i-- != 0;) {
            node_id const t = tail_[in[i]];
            if (rest[t] != 0 && in[i] == arc(heads_[t].back())) move(in[i], rest[t]);
        }
        for (std::size_t i = in.size(); i-- != 0 && rest[x] < need;) {
            node_id const t = tail_[in[i]];
            if (rest[t] != 0) move(in[i], smaller(rest[t], need - rest[x]));
        }
    }

    /// Bring bytes that rest anywhere to x until there are `need`, or none that can be brought.
    void fetch(node_id x, byte_count need)
    {
        while (rest[x] < need && !is_dead(x)) search(x, need);
    }

    std::vector<byte_count> rest; // by node
    std::uint64_t visits = 0;

private:
    static constexpr std::uint32_t dead = ~std::uint32_t{0};

    std::uint32_t arc(node_id const& head) const
    {
        return static_cast<std::uint32_t>(&head - heads_[0].data());
    }
    void move(std::uint32_t a, byte_count bytes)
    {
        rest[tail_[a]] -= bytes;
        rest[heads_[0].data()[a]] += bytes;
        flow_[a] += bytes;
    }

    void search(node_id x, byte_count need)
    {
        ++search_;
        queue_.clear();
        queue_.push_back(x);
        seen_[x] = search_;
        for (std::size_t i = 0; i != queue_.size(); ++i) {
            node_id const at = queue_[i];
            ++visits;
            for (std::uint32_t a : into_[at])
                if (visit(tail_[a], a, x, need)) return;
            for (node_id const& head : heads_[at])
                if (flow_[arc(head)] != 0 && visit(head, arc(head), x, need)) return;
        }
        for (node_id at : queue_) seen_[at] = dead;
    }

    /// Whether the search is over: x has what it needs, or a way is no longer open.
    bool visit(node_id at, std::uint32_t a, node_id x, byte_count need)
    {
        if (seen_[at] >= search_) return false;
        seen_[at] = search_;
        via_[at] = a;
        queue_.push_back(at);
        if (rest[at] == 0) return false;
        // More than is needed, for the next to need some is probably not far from x. Half, for somebody
        // else may be near to the other half.
        byte_count bytes = larger(smaller(rest[at], need - rest[x]), rest[at] / 2);
        auto const* const head = heads_[0].data();
        for (node_id y = at; y != x; y = tail_[via_[y]] == y ? head[via_[y]] : tail_[via_[y]])
            if (tail_[via_[y]] != y) bytes = smaller(bytes, flow_[via_[y]]);
        bool is_closed = false;
        for (node_id y = at; y != x;) {
            std::uint32_t const b = via_[y];
            if (tail_[b] == y) {
                flow_[b] += bytes;
                y = head[b];
            } else {
                is_closed |= (flow_[b] -= bytes) == 0;
                y = tail_[b];
            }
        }
        rest[at] -= bytes;
        rest[x] += bytes;
        return is_closed || rest[x] >= need;
    }

    Rows const& heads_; // arcs are numbered as they stand here
    Rows into_;         // by node: the arcs that lead there
    std::vector<std::uint32_t> tail_;
    std::vector<byte_count> flow_;

    std::vector<std::uint32_t> via_;  // by node: the arc to take towards who searches
    std::vector<std::uint32_t> seen_; // by node: in which search
    std::vector<node_id> queue_;
    std::uint32_t search_ = 0;
};

/// Says of some buffers that no position of a set comes after all of their ends, by walking from each end.
template <std::same_as<csr_rows> Rows>
class held_in {
public:
    held_in(Rows const& after, std::vector<unsigned char> const& set)
        : after_(after), set_(set), walk_(after.rows(), 0), ends_(after.rows(), 0)
    {
    }
    bool operator()(std::span<step_id const> ends)
    {
        if (ends.empty()) { // free from the start, if anything starts
            for (unsigned char is_in : set_)
                if (is_in != 0) return false;
            return true;
        }
        for (step_id end : ends)
            if (end == after_.rows() || !leads_into(end)) return true;
        std::uint32_t count = 0;
        for (step_id end : ends) {
            ++walks_;
            reached_.assign(1, end);
            bool goes_on = false;
            while (!reached_.empty()) {
                step_id const x = reached_.back();
                reached_.pop_back();
                for (step_id y : after_[x]) {
                    if (set_[y] == 0 || walk_[y] == walks_) continue;
                    ends_[y] =
                        count == 0 || (walk_[y] >= walks_ - count && ends_[y] == count) ? count + 1 : 0;
                    goes_on |= ends_[y] == count + 1;
                    walk_[y] = walks_;
                    reached_.push_back(y);
                }
            }
            if (!goes_on) return true;
            ++count;
        }
        return false;
    }

private:
    bool leads_into(step_id x) const
    {
        for (step_id y : after_[x])
            if (set_[y] != 0) return true;
        return false;
    }
    Rows const& after_;
    std::vector<unsigned char> const& set_;
    std::vector<std::uint32_t> walk_; // by position: the last walk that came there
    std::vector<std::uint32_t> ends_; // and how many ends of the buffer, if all so far, lead there
    std::vector<step_id> reached_;
    std::uint32_t walks_ = 0;
};

} // namespace detail

/// The heaviest set of buffers of which none gives to another, `weights` by buffer; or one that is heavy.
///
/// Requires:   `lives` are positions of `g`. To have the bound of a pool, weigh the buffers of others 0.
/// Ensures:    `bytes` is a lower bound in any case: membership is proved by walks apart from those that
///             found the set. The heaviest is found, and known to be, unless the visits ran out, a frontier
///             was cut, or a buffer begins at several positions. Buffers of weight 0 are no members.
/// Complexity: O(positions + edges + buffers) and searches: in the worst case one through the whole graph
///             for each position; where branches are short they are short. O(positions + edges) memory.
/// Throws:     precondition_error if the weights together exceed 64 bits.
template <std::same_as<dependence_graph> G>
[[nodiscard]] antichain heaviest_antichain(G const& g, concurrent_lives const& lives,
                                           std::vector<byte_count> const& weights,
                                           antichain_options const& options = {})
{
    SUBLET_EXPECTS(weights.size() == lives.buffers(), "sublet: a table has not one entry for each buffer");
    auto const n = static_cast<step_id>(g.positions());
    auto const buffers = static_cast<buffer_id>(lives.buffers());
    SUBLET_EXPECTS(n <= (no_node - buffers) / 2, "sublet: more nodes of a flow than 32-bit ids");
    frontier_rows const free = frontiers(g, lives, [&](buffer_id b) { return weights[b] != 0; });

    // Bytes that begin at x leave at node 2x, those of a buffer whose last end is x rise at node 2x + 1; for
    // each other frontier there is a node behind these.
    csr_rows heads;
    heads.reserve(2 * std::size_t{n} + buffers, g.edges() + n + free.lowest.items());
    for (step_id x = 0; x != n; ++x) {
        heads.append(2 * x + 1);
        heads.close_row();
        for (step_id y : g.after[x]) heads.append(2 * y);
        heads.close_row();
    }
    std::vector<byte_count> begins(n, 0), rises(n, 0);
    byte_count total = 0, loose = 0, given = 0;
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0) continue;
        total = checked_add(total, weights[b]);
        // That it begins at the first alone, and ends at the last, allows more to be given.
        if (free.is_cut[b] != 0 || lives.begins[b].size() > 1) loose += weights[b];
        if (!lives.begins[b].empty()) begins[lives.first(b)] += weights[b];
        if (free.last_end[b] != no_step) rises[free.last_end[b]] += weights[b];
        for (step_id y : free.lowest[b]) heads.append(2 * y);
        if (!free.lowest[b].empty()) heads.close_row();
    }
    antichain result;
    std::vector<unsigned char> in_cut(n, 0);
    {
        detail::resting_flow<csr_rows> flow(heads);
        node_id next = 2 * n;
        for (buffer_id b = 0; b != buffers; ++b)
            if (!free.lowest[b].empty()) flow.rest[next++] = weights[b];
        for (step_id x = 0; x != n; ++x) {
            flow.collect(2 * x, begins[x]);
            if (flow.visits < options.visits) flow.fetch(2 * x, begins[x]);
            byte_count const served = smaller(flow.rest[2 * x], begins[x]);
            flow.rest[2 * x] -= served;
            given += served;
            flow.collect(2 * x + 1, 0);
            flow.rest[2 * x + 1] += rises[x];
        }
        for (step_id x = 0; x != n; ++x) in_cut[x] = flow.is_dead(2 * x);
        result.visits = flow.visits;
    }

    // The lowest position at which each is free.
    auto free_at = [&](buffer_id b) {
        if (free.last_end[b] != no_step) {
            auto const next = g.after[free.last_end[b]];
            return next.empty() ? n : next.front();
        }
        return free.lowest[b].empty() ? n : free.lowest[b].front();
    };
    // All positions up to one are such a set as well. Which is the best?
    std::vector<byte_count> more(std::size_t{n} + 1, 0), less = more;
    byte_count cut_bytes = 0;
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0) continue;
        more[lives.first(b)] += weights[b];
        less[free_at(b)] += weights[b];
        bool is_in = lives.begins[b].empty() || in_cut[lives.first(b)];
        if (free.last_end[b] != no_step)
            for (step_id y : g.after[free.last_end[b]]) is_in = is_in && !in_cut[y];
        for (step_id y : free.lowest[b]) is_in = is_in && !in_cut[y];
        if (is_in) cut_bytes += weights[b];
    }
    byte_count level = 0, best = cut_bytes;
    step_id upto = n;
    for (step_id x = 0; x <= n; ++x) {
        level = level + more[x] - less[x];
        if (x < n && level > best) best = level, upto = x;
    }
    if (upto != n)
        for (step_id x = 0; x != n; ++x) in_cut[x] = x <= upto;

    for (step_id x = 0; x != n; ++x)
        for (step_id y : g.after[x]) SUBLET_EXPECTS(!in_cut[y] || in_cut[x], "sublet: a cut is not closed");
    detail::held_in<csr_rows> is_held(g.after, in_cut);
    for (buffer_id b = 0; b != buffers; ++b) {
        if (weights[b] == 0 || (!lives.begins[b].empty() && !in_cut[lives.first(b)])) continue;
        if (free.last_end[b] != no_step || !free.lowest[b].empty()) {
            bool freed = false;
            if (free.last_end[b] != no_step)
                for (step_id y : g.after[free.last_end[b]]) freed |= in_cut[y] != 0;
            for (step_id y : free.lowest[b]) freed |= in_cut[y] != 0;
            if (freed) continue;
        }
        if (!is_held(lives.ends[b])) continue;
        result.members.push_back(b);
        result.bytes += weights[b];
    }
    result.at_most = smaller(total, total - given + loose);
    result.is_exact = result.bytes == result.at_most;
    return result;
}

} // namespace sublet

#endif
