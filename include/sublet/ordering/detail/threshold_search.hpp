// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_THRESHOLD_SEARCH_HPP
#define SUBLET_ORDERING_DETAIL_THRESHOLD_SEARCH_HPP

/// Is there an order of the moves of a window with a peak of at most a given number of bytes? A depth-first
/// search over the sets of finished moves answers with an order, or with the least peak that an order may
/// have, unless its work is spent.

#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/least_live.hpp>
#include <sublet/ordering/detail/order_moves.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- finished sets ---------------------------------------------------------------------------------------

/// The sets from which no order stays below the threshold, by their bits: two sets with one hash stay apart,
/// or a proof would be false.
///
///     number   set        hash    open addressing: the bucket of the hash, or the next free one
///     0        000001     h0
///     1        000011     h0 ^ h1         [ . 1 . . . 0 . . ]

namespace sublet::detail {

class refuted_sets {
public:
    using word = move_walk::word;

    explicit refuted_sets(std::size_t words) : words_(words), buckets_(64, none) {}

    void clear();
    [[nodiscard]] bool contains(word const* set, std::uint64_t hash) const; ///< O(words) expected
    /// Requires: it is not contained.
    void insert(word const* set, std::uint64_t hash);

    [[nodiscard]] std::size_t size() const { return hash_.size(); }
    [[nodiscard]] std::size_t bytes() const
    {
        return bits_.size() * sizeof(word) + hash_.size() * sizeof(std::uint64_t) +
               buckets_.size() * sizeof(std::uint32_t);
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    void put(std::uint32_t number);

    std::size_t words_;
    std::vector<word> bits_;
    std::vector<std::uint64_t> hash_;
    std::vector<std::uint32_t> buckets_; // a power of two
};

// --- threshold search ------------------------------------------------------------------------------------

/// Three lemmas keep the search small. All follow from live() being submodular (move_walk).
///
///   safe      A move that fits and leaves no more bytes live than before runs at once. For whatever runs
///             later, no more bytes are live than without it.
///
///   commit    Let a set D be reached from a set S below it with live(D) <= live(S), and M be the largest set
///             between S and D with the fewest live bytes. An order through S that stays below the
///             threshold exists if and only if one exists through M: with P the sets of an order through S, P
///             & M and then P | M are those of another, and live(P & M) + live(P | M) <= live(P) + live(M),
///             with live(M) <= live(P & M), live(P | M) as long as these lie between S and D or above. So S
///             is replaced by M, and all else that could follow S is dropped. D itself in place of M would be
///             wrong.
///
///                 64     a ── b                 D: a c, or a c d?  live falls below that of S only once all
///               S ───<   96   80 ── 40  M       branches are looked at, so M is found by a minimum cut
///                      c ── d
///
///   refuted   A set from which all moves have failed is never entered again. A set that a commit has
///             dropped was not refuted.
///
/// Source: sets of finished nodes as states are from Ahn et al., "Ordering chaos", MLSys 2020; safe moves
/// from Liu, "An application of generalized tree pebbling to sparse matrix factorization", SIAM Journal on
/// Algebraic and Discrete Methods 8, 1987, there for trees. The commit by a minimum cut is new here.

struct threshold_result {
    enum class outcome : std::uint8_t {
        found,   ///< `order` has a peak of at most the threshold
        refuted, ///< no order has a peak below `least_refused`, which is above the threshold
        stopped  ///< the work was spent
    };
    outcome how = outcome::stopped;
    std::vector<node_id> order;          ///< of all nodes of the window, from its start
    byte_count least_refused = no_limit; ///< of the moves that were too large
    std::uint64_t sets = 0;              ///< entered
    std::uint64_t work = 0;              ///< touches, edges and words that were looked at
};

/// Complexity: exponential in the width of the window in the worst case, within `most_work`; memory for the
///             refuted sets up to `most_bytes`. A set takes O(1) for each move that is ready, and the touches
///             of the moves that run.
/// Requires:   the moves outlive it.
class threshold_search {
public:
    explicit threshold_search(order_moves const& moves);

    /// Seen from the end of a program that reads early or has inputs that nothing touches, the peak of the
    /// order may be higher than the threshold (moves_of()).
    [[nodiscard]] threshold_result search(byte_count threshold, std::uint64_t most_work,
                                          std::size_t most_bytes);

private:
    struct frame {          // a set on the way to the present one
        std::size_t length; // of the trail
        byte_count live;
        std::size_t children, next, end; // in `children_`: its first move, the next to try, the last
    };
    struct child {
        move_id move;
        byte_count most, live_after;
    };

    [[nodiscard]] std::uint64_t work() const { return walk_.work() + sets_.work() + work_; }
    [[nodiscard]] bool is_ready(move_id m) const { return (ready_[m / 64] >> m % 64 & 1) != 0; }
    void flip_ready(move_id m) { ready_[m / 64] ^= std::uint64_t{1} << m % 64; }
    void mark_changed(move_id m);
    void mark_all_ready_changed();
    void run(move_id m);
    void return_to(std::size_t length);
    void run_safe_moves();
    void commit();
    void replace_by_least_set(std::size_t length);
    void enter();

    order_moves const& moves_;
    move_walk walk_;
    least_live_sets sets_;
    refuted_sets refuted_;
    table<move_id, std::uint32_t> waits_,
        place_;                        // by move: unfinished ones before it; its place in the trail
    std::vector<std::uint64_t> ready_; // a bit for each move
    table<move_id, unsigned char> is_changed_;
    std::vector<move_id> changed_, large_, trail_, free_;
    std::vector<byte_count> live_before_; // by place in the trail
    std::vector<frame> frames_;
    std::vector<child> children_;
    byte_count threshold_ = 0, least_refused_ = no_limit;
    std::uint64_t work_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/threshold_search.ipp>
#endif

#endif
