// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_DOWN_SET_SEARCH_HPP
#define SUBLET_ORDERING_DETAIL_DOWN_SET_SEARCH_HPP

/// Exact minimum-peak ordering of a window: a bottleneck shortest path over its down-sets, with dominant
/// moves. The result is optimal unless a limit is reached; the cost is exponential in the window's width.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

// --- down set table --------------------------------------------------------------------------------------

/// The down-sets that a search has reached, numbered in the order of discovery.
///
///     number   set        hash    open addressing: the bucket of the hash, or the next free one
///     0        000000     0
///     1        000001     h0          [ 1 . . 3 0 2 . . ]
///     2        000011     h0 ^ h1
///
/// The hash of a set is the xor of the hashes of its members, so adding one member takes one operation. Sets
/// are compared by their bits. The buckets never decide the order in which sets are visited; the numbers do.

namespace sublet::detail {

class down_set_table {
public:
    using word = bit_rows::word;
    using id = std::uint32_t;

    explicit down_set_table(std::size_t members) : words_(bit_rows::words_for(members)), buckets_(64, none) {}

    [[nodiscard]] std::size_t size() const { return hash_.size(); }
    [[nodiscard]] word const* operator[](id number) const { return bits_.data() + number * words_; }
    [[nodiscard]] std::uint64_t hash(id number) const { return hash_[number]; }
    [[nodiscard]] std::size_t bytes() const;

    /// What a member adds to the hash of a set: its number, mixed.
    [[nodiscard]] static constexpr std::uint64_t hash_of(std::uint32_t member) noexcept
    {
        std::uint64_t h = (std::uint64_t{member} + 1) * 0x9e3779b97f4a7c15u;
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
        h = (h ^ h >> 27) * 0x94d049bb133111ebu;
        return h ^ h >> 31;
    }

    struct insertion {
        id number;
        bool is_new;
    };
    /// The number of a set, known or new; `hash` is that of its members.  O(words) expected
    insertion find_or_insert(word const* set, std::uint64_t hash);

private:
    static constexpr id none = ~id{0};

    void rehash();

    std::size_t words_;
    std::vector<word> bits_;
    std::vector<std::uint64_t> hash_;
    std::vector<id> buckets_; // a power of two
};

// --- safe moves ------------------------------------------------------------------------------------------

/// Dominant moves: nodes that may run at once without losing an optimal order.
///
///     allowed 100, live 60      x ──► conv: 90 while it runs, 80 after ──► pool: 95, then 50
///
/// If a node runs within the allowed peak and leaves no more bytes live than before, it may run now: the
/// live bytes after any further nodes are then no more than without it. Live bytes are a submodular function
/// of the set that has run: the more nodes have run, the fewer bytes a node adds.
///
/// The same holds for a set of nodes that leads to no more live bytes, if no down-set within it does so by
/// itself. Here it is a chain, in which each node waits for the one before; it ends where the live bytes
/// first return to their level at the start.
///
/// One effect is excluded: a result that such a set defines can no longer be computed in place of an operand
/// of a later node. A node that would cause this waits until the later node has run.
///
/// Source: for trees, such hill-valley segments are from Liu, "An application of generalized tree pebbling to
/// sparse matrix factorization", SIAM Journal on Algebraic and Discrete Methods 8, 1987.

/// A walk over the down-sets of a window that runs each node with the deferred nodes it needs, and can undo
/// the runs since the last jump. The window and its deferral_graph must outlive it.
/// Requires:   the window and its deferral_graph outlive it.
class safe_moves {
public:
    using word = bit_rows::word;

    safe_moves(order_window const& w, deferral_graph const& d);

    [[nodiscard]] down_set_walk const& walk() const { return walk_; }
    /// Work so far, in touches and edges of the nodes that were run or tried.
    [[nodiscard]] std::uint64_t work() const { return work_; }
    /// The nodes that have run since the last jump.
    [[nodiscard]] std::vector<node_id> const& trail() const { return trail_; }

    /// Changes to another set with an empty trail.
    void jump(word const* set, byte_count live_there);

    /// Calls visit(n) for the ready nodes, ascending, until it returns false.
    template <class Visit>
    void for_each_ready(Visit visit) const
    {
        for (std::size_t i = 0; i != ready_.size(); ++i)
            for (word rest = ready_[i]; rest != 0; rest &= rest - 1) {
                auto const n =
                    node_id::of(i * bit_rows::word_bits + static_cast<std::size_t>(std::countr_zero(rest)));
                if (!visit(n)) return;
            }
    }

    /// Runs a ready node after the deferred nodes that it needs. Returns the most bytes live meanwhile.
    byte_count run(node_id n);
    /// Undoes runs until the trail has `length` nodes.
    void return_to(std::size_t length);

    /// Makes all dominant moves with a peak of at most `allowed`.
    void run_safe(byte_count allowed);
    /// The same after `before` allowed none and chains needed at least `refused` bytes.
    void run_safe_again(byte_count allowed, byte_count before, byte_count refused);
    /// The least bytes that the next node of a chain needed, if the last call ended without a move.
    [[nodiscard]] byte_count refused() const { return refused_; }

private:
    void flip_ready(node_id n) { ready_[n / bit_rows::word_bits] ^= word{1} << n % bit_rows::word_bits; }
    void mark_run(node_id n);
    void mark_not_run(node_id n);

    byte_count run_alone(node_id n);
    [[nodiscard]] bool blocks_in_place(node_id n) const;

    void run_safe_nodes(byte_count allowed);

    /// Runs a chain of one or more nodes, if its first node needs more than `before`.
    bool run_safe_chain(byte_count allowed, byte_count before);
    /// Whether a chain from `first` leads down to `live` bytes. If so, its nodes have run; otherwise `first`
    /// may have run.
    bool reaches_valley(node_id first, std::size_t length, byte_count allowed, byte_count live);

    static constexpr std::size_t most_tries = 64, most_links = 32;
    struct link {
        node_id node;
        std::size_t begin; // length of the trail before it ran
        std::size_t next;  // first successor that has not been tried
    };

    deferral_graph const& d_;
    down_set_walk walk_;
    std::vector<word> ready_;
    table<node_id, std::uint32_t> waits_;
    csr_rows<node_id, node_id> in_place_writers_; // of each node: which must run before it may move at once
    table<node_id, std::size_t> node_work_;       // of each node: its touches and edges
    std::uint64_t work_ = 0;
    std::vector<node_id> trail_;
    std::vector<byte_count> live_before_; // by node of the trail: live bytes before it
    std::vector<node_id> candidates_;
    std::vector<link> links_;
    byte_count refused_ = no_limit;
    bool waits_for_first_ = false;
};

// --- down set search -------------------------------------------------------------------------------------

/// The least peak of a window, by a bottleneck shortest path over its down-sets.
///
///     allowed   64     {} ─ {0} ─ {0 1}                         64 is not enough
///               80     {} ─ {0} ─ {0 1} ─ {0 1 2} ─ {0 1 2 3}   continues from {0 1}, which needs 80
///
/// The search starts with a lower bound as the allowed peak and visits all down-sets within reach, one node
/// at a time. When they are exhausted it raises the allowed peak to the least number of bytes that was
/// refused; when the full set is reached, no order has a lower peak. Each set is visited once per level that
/// it waited for.
///
/// Source: dynamic programming over down-sets with a soft budget is from Ahn, Lee, Lin, Cheng, Hou and
/// Esmaeilzadeh, "Ordering chaos: memory-aware scheduling of irregularly wired neural networks for edge
/// devices", MLSys 2020. They go layer by layer under a budget found by bisection; a bottleneck path needs no
/// budget, and dominant moves (safe_moves) skip most of the sets.

struct down_set_result {
    std::vector<node_id> order; ///< by number in the window; empty if none was found below `ceiling`
    byte_count lower_bound = 0; ///< no order has a lower peak
    std::uint64_t states = 0;   ///< sets visited, or the equivalent in work
    bool is_exhausted = true;   ///< false: a limit was reached
};

/// An order of the window with the least peak, if that is below `ceiling`.
///
/// Requires:   no order of the window has a peak below `lower_bound`.
/// Ensures:    `order` has the least peak, or one of at most `limits.floor`. If it is empty and no limit was
///             reached, no order has a peak below `ceiling`.
/// Complexity: exponential in the width of the window in the worst case; at most `limits.states` sets. Each
///             visit of a set takes the touches of all pairs of ready nodes and of the chains after them.
template <class Stop>
[[nodiscard]] down_set_result search_down_sets(order_window const& w, byte_count lower_bound,
                                               byte_count ceiling, order_search_limits const& limits,
                                               Stop stop)
{
    using id = down_set_table::id;
    deferral_graph const demand = deferred_nodes(w);
    safe_moves moves(w, demand);
    down_set_table sets(w.graph.nodes());
    struct state { // by set
        byte_count live;
        byte_count exhausted_at; // no dominant move exists with this peak allowed,
        byte_count refused;      // and chains needed at least this many bytes
        id from;
        bool is_visited;
        std::size_t path_begin; // where the nodes from `from` to here begin in `path_nodes`
    };
    std::vector<state> visited;
    std::vector<node_id> path_nodes;
    struct child {
        id number;
        byte_count live;
    };
    std::vector<child> children;
    std::vector<node_id> ready;
    std::vector<id> open;                  // a stack of sets to visit
    std::priority_queue<sort_key> refused; // {descending bytes, , set}
    byte_count allowed = larger(lower_bound, limits.floor);
    std::uint64_t const most_states = smaller(limits.states, std::uint64_t{1} << 31); // ids have 32 bits
    auto states = [&] { return larger(std::uint64_t{sets.size()}, moves.work() / limits.work_per_state); };

    down_set_result result;
    result.lower_bound = lower_bound;
    id reached = ~id{0};
    auto add_state = [&](id from) {
        std::uint64_t hash = from == ~id{0} ? 0 : sets.hash(from);
        for (node_id n : moves.trail()) hash ^= down_set_table::hash_of(n);
        auto const [number, is_new] = sets.find_or_insert(moves.walk().done().data(), hash);
        if (!is_new) return;
        visited.push_back({moves.walk().live(), allowed, moves.refused(), from, false, path_nodes.size()});
        for (node_id n : moves.trail()) path_nodes.push_back(n);
        if (moves.walk().ran() == w.graph.nodes()) reached = number;
        children.push_back({number, moves.walk().live()});
    };
    auto open_children = [&] {
        sort_by(children, [](child const& a, child const& b) {
            return a.live != b.live ? a.live > b.live : a.number > b.number;
        });
        for (child const& c : children) open.push_back(c.number);
        children.clear();
    };

    if (allowed >= ceiling) return result;
    moves.run_safe(allowed);
    add_state(~id{0});
    open_children();
    for (std::uint64_t visits = 0; reached == ~id{0}; ++visits) {
        if (open.empty()) {
            if (refused.empty() || descending(refused.top().key) >= ceiling) {
                result.lower_bound = ceiling;
                result.states = states();
                return result;
            }
            allowed = descending(refused.top().key);
            for (; !refused.empty() && descending(refused.top().key) == allowed; refused.pop())
                open.push_back(refused.top().id);
        }
        std::size_t const bytes = sets.bytes() + visited.size() * sizeof(state) +
                                  path_nodes.size() * sizeof(node_id) + refused.size() * sizeof(sort_key);
        if (states() >= most_states || bytes >= limits.bytes ||
            (visits % 256 == 0 && stop(ceiling, larger(lower_bound, allowed), states()))) {
            result.is_exhausted = false;
            break;
        }
        id const here = open.back();
        open.pop_back();
        moves.jump(sets[here], visited[here].live);
        // At an earlier visit all nodes that need at most `before` bytes were tried.
        byte_count const before = visited[here].exhausted_at;
        byte_count const tried = visited[here].is_visited ? before : 0;
        if (before != allowed) {
            moves.run_safe_again(allowed, before, visited[here].refused);
            visited[here].exhausted_at = allowed;
            visited[here].refused = moves.refused();
            if (!moves.trail().empty()) {
                add_state(here);
                open_children();
                continue;
            }
        }
        visited[here].is_visited = true;
        byte_count least_refused = no_limit;
        ready.clear();
        moves.for_each_ready([&](node_id n) { return ready.push_back(n), true; });
        bool is_out_of_work = false;
        for (node_id n : ready) {
            is_out_of_work = states() >= most_states; // in dense graphs one visit can exceed it
            if (is_out_of_work) break;
            byte_count const most = moves.run(n);
            if (most > allowed) {
                least_refused = smaller(least_refused, most);
            } else if (most > tried || tried == 0) {
                moves.run_safe(allowed);
                add_state(here);
            }
            moves.return_to(0);
        }
        open_children();
        if (is_out_of_work && reached == ~id{0}) {
            result.is_exhausted = false;
            break;
        }
        if (least_refused < ceiling) refused.push({descending(least_refused), 0, here});
    }
    result.states = states();
    // All moves below the allowed peak have been tried.
    if (allowed > limits.floor) result.lower_bound = larger(lower_bound, allowed);
    if (reached == ~id{0}) return result;

    std::vector<id> path;
    for (id at = reached; at != ~id{0}; at = visited[at].from) path.push_back(at);
    for (std::size_t i = path.size(); i-- != 0;) {
        std::size_t const end =
            path[i] + 1 == visited.size() ? path_nodes.size() : visited[path[i] + 1].path_begin;
        for (std::size_t at = visited[path[i]].path_begin; at != end; ++at)
            result.order.push_back(path_nodes[at]);
    }
    return result;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/down_set_search.ipp>
#endif

#endif
