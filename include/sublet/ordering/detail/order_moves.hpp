// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_ORDER_MOVES_HPP
#define SUBLET_ORDERING_DETAIL_ORDER_MOVES_HPP

/// The moves of an order search on a window, from its start or from its end: a node, with the nodes that can
/// wait until right before it. A walk counts live bytes over the sets that have run, in time linear in what
/// a move changes.

#include <sublet/core/ids.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/ordering/detail/order_graph.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- order moves -----------------------------------------------------------------------------------------

/// A search goes from the start of the window to its end, or from its end to its start: seen from the end,
/// the first and the last touch of a buffer change places, and so do given and kept buffers. All of this file
/// holds in both directions; "first", "before" and "given" are meant in the direction of the search.
///
/// Nodes are deferred that can run right before the first node that needs them without raising the peak:
///
///     0: constant ──► 3         nothing is gained by running 0 early, in whatever order 1 and 2 run:
///     1 ──► 2 ──────► 3         moves 1, 2, 3 with 0
///
/// Lemma. If every buffer that a node touches is touched again by a direct successor, or kept, then in every
/// order the node frees nothing; so when it runs later, the sets before it have no more live bytes, and no
/// other node needs more. Excluded are nodes that touch a buffer that another node could be the last to touch
/// for a gain while it runs: the operand of an in-place pair, or what is read early (seen from the end: the
/// result of a pair).

namespace sublet::detail {

using move_id = id<kind::move>; ///< a node of a window with those deferred to it

/// Where a search begins.
enum class search_side : std::uint8_t { start, end };

struct order_moves {
    order_window const* window = nullptr;
    search_side side = search_side::start;

    csr_rows<move_id, node_id> nodes;               ///< in the order in which they run; the last is its own
    csr_rows<move_id, move_id> after, before;       ///< direct, or through deferred nodes; ascending
    csr_rows<move_id, buffer_id> begins;            ///< the buffers that it may be the first to touch
    csr_rows<move_id, buffer_id> ends;              ///< the buffers that it may be the last to touch
    csr_rows<buffer_id, move_id> beginners, enders; ///< the same by buffer
    table<buffer_id, unsigned char> is_given, is_kept;
    table<move_id, unsigned char> is_plain; ///< while it runs, what was live before and what begins is live

    csr_rows<node_id, touched_buffer> touches; ///< of each node, ascending by buffer
    byte_count first_bytes = 0;                ///< live only while the first node runs
    /// The first node needs more than it would anywhere else: nothing is deferred.
    bool is_first_special = false;

    [[nodiscard]] std::size_t size() const { return nodes.rows(); }
    [[nodiscard]] byte_count bytes_of(buffer_id b) const { return window->graph.size[b]; }
};

/// Ensures:    for each order of the window there is one with no higher peak that consists of moves. Seen
///             from the end, `first_bytes` and early reads in the first step of a program are left out: peaks
///             may be lower than true ones, never higher.
/// Complexity: O(V + E + touches) for what is not deferred; what decides for the others is limited.
/// Requires:   the window outlives the result.
[[nodiscard]] order_moves moves_of(order_window const& w, search_side side);

/// The order of the window's nodes, from its start, in which the moves run one after the other.
/// Requires: all moves are named, each after those before it.
[[nodiscard]] std::vector<node_id> order_of(order_moves const& moves, std::vector<move_id> const& sequence);

// --- move walk -------------------------------------------------------------------------------------------

/// What a move does to memory.
struct move_effect {
    byte_count most;       ///< bytes live while its nodes run
    byte_count live_after; ///< bytes live when they have run
};

/// The set of moves that have run, which contains all that they wait for.
///
///     {}  ──►  {0}  ──►  {0 1}         the live bytes after a set do not depend on its order,
///               └────►  {0 2}          so a set is the whole state of a search
///
/// Lemma. live(set) is submodular: live(A | B) + live(A & B) <= live(A) + live(B), since each buffer adds its
/// size where some beginner is in the set and not all enders are. And the larger the set that has run, the
/// fewer bytes a move adds while it runs.
///
/// Complexity: effect_of() is O(1) for a plain move, otherwise linear in its touches and pairs. run() and
///             step_back() take its touches, and the beginners of each buffer that becomes live.
/// Requires:   the moves outlive it.
class move_walk {
public:
    using word = std::uint64_t;

    explicit move_walk(order_moves const& moves);

    [[nodiscard]] byte_count live() const { return live_; }
    [[nodiscard]] std::size_t ran() const { return ran_; }
    [[nodiscard]] bool has_run(move_id m) const { return (done_[m / 64] >> m % 64 & 1) != 0; }
    [[nodiscard]] std::vector<word> const& done() const { return done_; } ///< a bit for each move
    [[nodiscard]] std::uint64_t hash() const { return hash_; }            ///< of done()
    /// Touches, pairs and beginners that were looked at so far.
    [[nodiscard]] std::uint64_t work() const { return work_; }

    /// Requires: it has not run, and all before it have.
    [[nodiscard]] move_effect effect_of(move_id m)
    {
        ++work_;
        byte_count const after = live_ + begins_[m] - ends_[m];
        if (moves_.is_plain[m] && !(moves_.is_first_special && ran_ == 0)) return {live_ + begins_[m], after};
        return {most_while(m), after};
    }

    /// Runs a move, and calls changed(other) for each that now begins or ends other bytes.
    template <class Changed>
    void run(move_id m, Changed changed)
    {
        byte_count const after = live_ + begins_[m] - ends_[m];
        for (buffer_id b : moves_.begins[m])
            if (begun_[b]++ == 0)
                for (move_id other : moves_.beginners[b]) {
                    begins_[other] -= moves_.bytes_of(b);
                    changed(other);
                    ++work_;
                }
        for (buffer_id b : moves_.ends[m]) {
            left_sum_[b] -= m;
            if (--left_[b] != 1) continue;
            auto const last = move_id::of(left_sum_[b]);
            ends_[last] += moves_.bytes_of(b);
            changed(last);
        }
        finish(m, after);
    }
    void run(move_id m)
    {
        run(m, [](move_id) {});
    }
    /// Takes back the last move, before which `live_before` bytes were live.
    void step_back(move_id m, byte_count live_before);

private:
    void flip(move_id m);
    void finish(move_id m, byte_count live);
    byte_count most_while(move_id m);
    byte_count most_of_node(node_id n, bool is_last, byte_count live);

    order_moves const& moves_;
    table<move_id, byte_count> begins_, ends_; // bytes, if it ran next
    table<buffer_id, std::uint32_t> begun_;    // how many beginners have run, and 1 if it is given
    table<buffer_id, std::uint32_t> left_;     // how many enders have not run, and many if it is kept
    table<buffer_id, std::uint64_t> left_sum_; // the sum of their ids
    table<node_id, std::uint32_t> included_;   // how many moves that include a deferred node have run
    std::vector<word> done_;
    std::vector<touched_buffer> touched_;
    table<buffer_id, unsigned char> begun_in_move_; // by a deferred node of the same move
    byte_count live_ = 0;
    std::size_t ran_ = 0;
    std::uint64_t hash_ = 0, work_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_moves.ipp>
#endif

#endif
