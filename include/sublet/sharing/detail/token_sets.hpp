// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_TOKEN_SETS_HPP
#define SUBLET_SHARING_DETAIL_TOKEN_SETS_HPP

/// Who holds which tokens, what is deposited where, and who waits for storage. Included by
/// sharing/detail/tokens.hpp.

#include <sublet/analysis/dependences.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- heir forest -----------------------------------------------------------------------------------------

/// Numbers for positions, such that those which end up together lie together.
///
///         ┌──► 1 ──► 2 ──┐           heirs   0 ─► 1 ─► 2 ─┐          5 is number 0, and 0 to 5 its subtree
///     0 ──┤              ├──► 5                           ├─► 5      4 is number 1, 3 is 2
///         └──► 3 ──► 4 ──┘                        3 ─► 4 ─┘          2 is number 3, 1 is 4, 0 is 5
///
/// The heir of a position is the successor from which the longest way is left to go. Whoever comes before y
/// by heirs alone is in the subtree of y, and in preorder that is a range of numbers. The longest way is
/// taken because it is the one that others join: what leaves a subtree by a short way is soon below the same
/// heir.

namespace sublet::detail {

/// Numbers of tokens, half-open as ranges are everywhere.
struct token_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(token_range, token_range) = default;
};

/// The numbers of the subtree of each position; the first is its own.
///
/// Ensures:    of successors with equally long ways the lowest is the heir; every number below the count of
///             positions is given once; subtrees are within or beside each other.
/// Complexity: O(positions + edges) time, O(positions) memory.
[[nodiscard]] std::vector<token_range> longest_path_forest(dependence_graph const& g);

// --- token deposits --------------------------------------------------------------------------------------

/// Where a set of tokens waits until the last successor has taken it.
///
///     blocks of 1     [a]  [ ]  [d]              of a size that was used before the last
///     blocks of 2     [b b]                      one given back is taken again
///     blocks of 4     [c c c _]  [       ]
///
/// Only those positions have a set here of which some successors are still to come; a walk through a
/// graph whose branches meet again needs little memory, however long the graph is.

class token_set_store {
public:
    /// Every position is asked for as often as it has successors.
    explicit token_set_store(csr_rows const& after);

    /// What was left at x; nothing if nothing was.
    [[nodiscard]] std::span<token_range const> operator[](step_id x) const
    {
        return {store_.data() + stored_[x].at, stored_[x].ranges};
    }
    void store(step_id x, std::span<token_range const> ranges);
    /// One successor of x has taken what was left there.
    void drop_reader(step_id x);

private:
    struct stored_set {
        std::uint32_t readers_left = 0; // that have not come yet
        std::uint32_t ranges = 0;
        std::uint32_t at = 0;
    };
    std::vector<stored_set> stored_; // by position
    std::vector<token_range> store_;
    std::vector<std::uint32_t> free_lists_ =
        std::vector<std::uint32_t>(33, no_node); // by size, chained by `first`
};

// --- token sets ------------------------------------------------------------------------------------------

/// Tokens that are handed from step to step and say who comes before whom.
///
///         ┌──► 1 ──► 2 ──┐          tokens     0: a        1: a b      2: a b
///     0 ──┤              ├──► 5                3: a c      4: a c
///         └──► 3 ──► 4 ──┘                     5: a b c
///
/// A branch gets a token of its own and passes it on with all that it has; a join holds what all its branches
/// held. As sets of names they grow with the number of branches ever taken. But b and c, once together, are
/// never apart again, so here they become one: a token is a number of longest_path_forest, and the tokens of y
/// are the numbers of all that come before y, and its own. Its whole subtree is among them, one range. The
/// others came by edges that leave their subtree, and vanish in the subtree of the step where branches meet.
///
///     Theorem.  tokens(x) is a subset of tokens(y) if and only if x is y or x comes before y.
///
/// If the set is a subset, y holds the token of x itself; if x comes before y, so does all that comes before
/// x. Hence one set tells of every step so far whether it comes before, and sets are kept only until the
/// last successor has taken them.
///
/// Source: Caffe2's memonger (`memonger.cc`, Facebook 2016), where tokens are unordered sets of integers.

/// The tokens of one position after the other.
class token_sets {
public:
    /// Of `g`, which has to stay. A set that would have more than `most_ranges` forgets the rest: then it may
    /// be said that one does not come before another though it does, and never the other way round.
    ///
    /// Requires:   `g` has no violation; most_ranges >= 1.
    /// Complexity: O(positions + edges).
    explicit token_sets(dependence_graph const& g, std::size_t most_ranges = no_node)
        : g_(&g), most_ranges_(most_ranges), subtree_(longest_path_forest(g)), deposits_(g.after)
    {
        SUBLET_EXPECTS(!g.violation, "sublet: a program with a violation has no order to hand tokens in");
        SUBLET_EXPECTS(most_ranges != 0, "sublet: a set of tokens holds one range at least");
    }
    explicit token_sets(dependence_graph const&&, std::size_t = 0) = delete;

    /// Whether a comes before b, in every execution.
    ///
    /// Requires:   b does not descend from call to call, and is a position; a < b.
    /// Complexity: O(log ranges), and for all calls together O(positions + sum over edges of ranges).
    [[nodiscard]] bool before(step_id a, step_id b);

    void advance_to(step_id b);
    /// The number that stands for a.
    [[nodiscard]] std::uint32_t token_of(step_id a) const { return subtree_[a].first; }
    /// Those of the position reached last, ascending; two ranges do not touch.
    [[nodiscard]] std::span<token_range const> tokens() const { return {current_.data(), count_}; }
    /// How many ranges have been forgotten so far. 0: every answer was exact.
    [[nodiscard]] std::uint64_t dropped_ranges() const { return dropped_ranges_; }

private:
    using range_list = std::span<token_range const>;

    range_list set_of(step_id x) const
    {
        range_list const stored = deposits_[x];
        return stored.empty() ? range_list(&subtree_[x], 1) : stored;
    }

    void merge_predecessors(step_id y);

    /// No branch here that depends on what is compared: which list comes next is anyone's guess.
    void unite(token_range own, range_list one, range_list other);

    void sort_gathered()
    {
        sort_by(gathered_, [](token_range a, token_range b) { return a.first < b.first; });
    }

    /// The set keeps what is its own, and of the rest the youngest: tokens of steps long past are rarely
    /// asked for, since slots that are free for long have been taken.
    void drop_oldest(token_range own);

    dependence_graph const* g_;
    std::size_t most_ranges_;
    std::vector<token_range> subtree_; // by position
    token_set_store deposits_;
    std::vector<token_range> current_, gathered_;
    std::size_t count_ = 0;        // of the ranges in now_
    step_id next_ = 0;             // the first position that has not taken its tokens
    std::vector<step_id> step_of_; // by token, from when something has to be forgotten on
    std::uint64_t dropped_ranges_ = 0;
};

// --- sleepers --------------------------------------------------------------------------------------------

/// Buffers that wait for tokens, each for one, and are woken when a range comes with it.
///
///     somebody waits in these 64 words?       ... 1 0 1
///     somebody waits for this token?          ... 0000 0010  0000 0000  1001 0000
///     who?                                                         b4, b7 ──┘  └── b1
///
/// Ranges are long and those who wait are few. Above the bits for tokens there is one for each word of them
/// that is not empty, and so on up to a single word; so what lies between two that are waited for is skipped.

class token_waitlist {
public:
    token_waitlist(std::size_t tokens, std::size_t buffers);

    /// Requires:   b sleeps for no token.
    /// Complexity: O(log tokens) to the base of 64.
    void block(buffer_id b, std::uint32_t token);

    /// Calls `visit(b)` for all b that sleep for a token from `first` on and below `last`; they sleep no longer.
    ///
    /// Complexity: O((1 + tokens that are waited for) log tokens) to the base of 64, and the calls.
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
    /// The lowest token from `token` on that somebody waits for; a very high number if there is none.
    std::uint32_t first_waited(std::uint32_t token) const;
    static std::uint64_t bit(std::uint32_t token);
    static std::uint32_t lowest(std::uint64_t w);
    std::uint64_t& word(unsigned level, std::uint32_t index) { return words_[begin_[level] + index]; }

    std::vector<buffer_id> first_, next_; // by token, and by buffer: of those that wait for one token, a list
    std::vector<std::uint64_t> words_;    // level by level
    std::size_t begin_[6] = {};           // 64^6 exceeds 2^32
    unsigned levels_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/token_sets.ipp>
#endif

#endif
