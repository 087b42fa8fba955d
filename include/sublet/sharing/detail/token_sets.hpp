// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_TOKEN_SETS_HPP
#define SUBLET_SHARING_DETAIL_TOKEN_SETS_HPP

/// Precedence queries in a directed acyclic graph by sets of tokens, stored as few ranges of integers, and
/// the list of buffers that wait for a token. Exact unless a limit on ranges is set; one pass over the edges.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- longest path forest ---------------------------------------------------------------------------------

/// Numbers positions so that tokens that are always passed on together are consecutive.
///
///         ┌──► 1 ──► 2 ──┐           parents 0 ─► 1 ─► 2 ─┐          5 is number 0, and 0 to 5 its subtree
///     0 ──┤              ├──► 5                           ├─► 5      4 is number 1, 3 is 2
///         └──► 3 ──► 4 ──┘                        3 ─► 4 ─┘          2 is number 3, 1 is 4, 0 is 5
///
/// The parent of a position is the successor with the longest remaining path. Predecessors of y along parent
/// edges alone are the subtree of y, which is a range of preorder numbers. The longest path is chosen because
/// other paths join it: a short path out of a subtree soon ends below the same parent.

namespace sublet::detail {

/// Token numbers, half-open.
struct token_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(token_range, token_range) = default;
};

/// The numbers of each position's subtree; the first is its own.
///
/// Ensures:    of successors with equally long paths the lowest is the parent; every number below the count
///             of positions is assigned once; subtrees are nested or disjoint.
/// Complexity: O(positions + edges) time, O(positions) memory.
[[nodiscard]] table<position_id, token_range> longest_path_forest(dependence_graph const& g);

// --- token set store -------------------------------------------------------------------------------------

/// Keeps the token set of a position until its last successor has read it. So a graph of branches that join
/// again needs little memory, however long it is.
///
///     blocks of 1     [a]  [ ]  [d]              segregated free lists: sizes are powers of two,
///     blocks of 2     [b b]                      and a freed block is reused
///     blocks of 4     [c c c _]  [       ]

class token_set_store {
public:
    /// Each position is read as often as it has successors.
    explicit token_set_store(csr_rows<position_id, position_id> const& after);

    /// The set stored at x; empty if there is none.
    [[nodiscard]] std::span<token_range const> operator[](position_id x) const
    {
        return {store_.data() + stored_[x].at, stored_[x].ranges};
    }
    void store(position_id x, std::span<token_range const> ranges);
    void drop_reader(position_id x);

private:
    static constexpr std::uint32_t no_range = ~std::uint32_t{0};
    struct stored_set {
        std::uint32_t readers_left = 0; // successors still to come
        std::uint32_t ranges = 0;
        std::uint32_t at = 0;
    };
    table<position_id, stored_set> stored_;
    std::vector<token_range> store_;
    std::vector<std::uint32_t> free_lists_ =
        std::vector<std::uint32_t>(33, no_range); // by size, chained by `first`
};

// --- token sets ------------------------------------------------------------------------------------------

/// Sets of tokens that are passed along edges and decide which step precedes which.
///
///         ┌──► 1 ──► 2 ──┐          tokens     0: a        1: a b      2: a b
///     0 ──┤              ├──► 5                3: a c      4: a c
///         └──► 3 ──► 4 ──┘                     5: a b c
///
/// A branch adds a token of its own to those it receives; a join holds the union. As sets of names they would
/// grow with the number of branches. But tokens that have met, such as b and c, are never separated again: a
/// token is a number of longest_path_forest, and the tokens of y, the numbers of y and its predecessors,
/// contain its whole subtree, one range. The others arrived by edges that leave their subtree, and merge into
/// the subtree of the step where the branches join.
///
///     Theorem.  tokens(x) is a subset of tokens(y) if and only if x is y or x comes before y.
///
/// If the set is a subset, y holds the token of x; if x comes before y, so do all predecessors of x. Hence
/// one set decides precedence for all earlier steps.
///
/// Source: Caffe2's memonger (`memonger.cc`, Facebook 2016), where tokens are unordered sets of integers.

class token_sets {
public:
    /// `g` has to outlive this. A set with more than `most_ranges` ranges drops the oldest: then before() may
    /// be false for a predecessor, but never true for another step.
    ///
    /// Requires:   `g` has no error; most_ranges >= 1.
    /// Complexity: O(positions + edges).
    explicit token_sets(dependence_graph const& g, std::size_t most_ranges = ~std::uint32_t{0})
        : g_(&g), most_ranges_(most_ranges), subtree_(longest_path_forest(g)), stored_sets_(g.after)
    {
        SUBLET_EXPECTS(g, "sublet: token sets need a dependence graph without an error");
        SUBLET_EXPECTS(most_ranges != 0, "sublet: a token set must hold at least one range");
    }
    explicit token_sets(dependence_graph const&&, std::size_t = 0) = delete;

    /// Whether a comes before b, in every execution.
    ///
    /// Requires:   b does not descend from call to call, and is a position; a < b.
    /// Complexity: O(log ranges), and for all calls together O(positions + sum over edges of ranges).
    [[nodiscard]] bool before(position_id a, position_id b);

    void advance_to(position_id b);
    [[nodiscard]] std::uint32_t token_of(position_id a) const { return subtree_[a].first; }
    /// The tokens of the position reached last, ascending; two ranges do not touch.
    [[nodiscard]] std::span<token_range const> tokens() const { return {current_.data(), count_}; }
    /// Ranges dropped so far. 0: every answer was exact.
    [[nodiscard]] std::uint64_t dropped_ranges() const { return dropped_ranges_; }

private:
    using range_list = std::span<token_range const>;

    range_list set_of(position_id x) const
    {
        range_list const stored = stored_sets_[x];
        return stored.empty() ? range_list(&subtree_[x], 1) : stored;
    }

    void merge_predecessors(position_id y);

    /// Branch-free, because the order of the two lists is unpredictable.
    void unite(token_range own, range_list one, range_list other);

    void sort_gathered()
    {
        sort_by(gathered_, [](token_range a, token_range b) { return a.first < b.first; });
    }

    /// Keeps `own` and the latest of the rest: old tokens are rarely tested, since slots that have been free
    /// for long have been reused.
    void drop_oldest(token_range own);

    dependence_graph const* g_;
    std::size_t most_ranges_;
    table<position_id, token_range> subtree_;
    token_set_store stored_sets_;
    std::vector<token_range> current_, gathered_;
    std::size_t count_ = 0;        // ranges in current_
    position_id next_ = 0;         // first position without a set
    std::vector<position_id> position_of_; // by token; filled when something is first dropped
    std::uint64_t dropped_ranges_ = 0;
};

// --- token waitlist --------------------------------------------------------------------------------------

/// Buffers that each wait for a token, unblocked when a range with it arrives.
///
///     any waiter in these 64 words?           ... 1 0 1
///     any waiter for this token?              ... 0000 0010  0000 0000  1001 0000
///     which?                                                       b4, b7 ──┘  └── b1
///
/// Ranges are long and waiters few. Each level has a bit for every non-empty word of the level below, up to a
/// single word, so tokens without waiters are skipped.

class token_waitlist {
public:
    token_waitlist(std::size_t tokens, std::size_t buffers);

    /// Requires:   b waits for no token.  O(log tokens) to the base of 64
    void block(buffer_id b, std::uint32_t token);

    /// Calls `visit(b)` for all b that wait for a token in [first, last), and removes them.
    /// Complexity: O((1 + tokens with waiters) log tokens) to the base of 64, and the calls.
    template <class Visit>
    void unblock(std::uint32_t first, std::uint32_t last, Visit visit)
    {
        for (std::uint32_t token = first_waited(first); token < last; token = first_waited(token + 1)) {
            for (buffer_id b = first_[token]; b != no_buffer; b = next_[b]) visit(b);
            first_[token] = no_buffer;
            std::uint32_t at = token;
            for (unsigned level = 0; level != levels_; ++level, at /= 64)
                if ((word(level, at / 64) &= ~bit(at)) != 0) break;
        }
    }

private:
    /// The lowest token from `token` on with a waiter; a very high number if there is none.
    std::uint32_t first_waited(std::uint32_t token) const;
    static std::uint64_t bit(std::uint32_t token);
    static std::uint32_t lowest(std::uint64_t w);
    std::uint64_t& word(unsigned level, std::uint32_t index) { return words_[begin_[level] + index]; }

    std::vector<buffer_id> first_;        // by token: the list of waiters for it
    table<buffer_id, buffer_id> next_;    // in the list
    std::vector<std::uint64_t> words_;    // level by level
    std::size_t begin_[6] = {};           // 64^6 exceeds 2^32
    unsigned levels_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/token_sets.ipp>
#endif

#endif
