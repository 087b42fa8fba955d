// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_TOKEN_SETS_HPP
#define SUBLET_SHARING_TOKEN_SETS_HPP

/// Tokens that are handed from step to step and say who comes before whom.
///
///         ┌──► 1 ──► 2 ──┐          tokens     0: a        1: a b      2: a b
///     0 ──┤              ├──► 5                3: a c      4: a c
///         └──► 3 ──► 4 ──┘                     5: a b c
///
/// A branch gets a token of its own and passes it on with all that it has; a join holds what all its branches
/// held. As sets of names they grow with the number of branches ever taken. But b and c, once together, are
/// never apart again, so here they become one: a token is a number of heir_forest.hpp, and the tokens of y
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

#include <sublet/analysis/dependences.hpp>
#include <sublet/contract.hpp>
#include <sublet/sharing/heir_forest.hpp>
#include <sublet/sharing/token_deposits.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// The tokens of one position after the other.
class token_sets {
public:
    /// Of `g`, which has to stay. A set that would have more than `most_ranges` forgets the rest: then it may
    /// be said that one does not come before another though it does, and never the other way round.
    ///
    /// Requires:   `g` has no violation; most_ranges >= 1.
    /// Complexity: O(positions + edges).
    explicit token_sets(dependence_graph const& g, std::size_t most_ranges = no_node)
        : g_(&g), most_ranges_(most_ranges), subtree_(heir_forest(g)), deposits_(g.after)
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
    [[nodiscard]] std::span<token_range const> tokens() const { return {now_.data(), count_}; }
    /// How many ranges have been forgotten so far. 0: every answer was exact.
    [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

private:
    using range_list = std::span<token_range const>;

    range_list set_of(step_id x) const
    {
        range_list const left = deposits_[x];
        return left.empty() ? range_list(&subtree_[x], 1) : left;
    }

    void take_tokens(step_id y);

    /// No branch here that depends on what is compared: which list comes next is anyone's guess.
    void unite(token_range own, range_list one, range_list other);

    void sort_gathered()
    {
        sort_by(gathered_, [](token_range a, token_range b) { return a.first < b.first; });
    }

    /// The set keeps what is its own, and of the rest the youngest: tokens of steps long past are rarely
    /// asked for, since slots that are free for long have been taken.
    void forget(token_range own);

    dependence_graph const* g_;
    std::size_t most_ranges_;
    std::vector<token_range> subtree_; // by position
    detail::token_deposits deposits_;
    std::vector<token_range> now_, gathered_;
    std::size_t count_ = 0;        // of the ranges in now_
    step_id next_ = 0;             // the first position that has not taken its tokens
    std::vector<step_id> step_of_; // by token, from when something has to be forgotten on
    std::uint64_t forgotten_ = 0;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/token_sets.ipp>
#endif

#endif
