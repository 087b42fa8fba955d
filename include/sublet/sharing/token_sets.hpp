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
/// held. As sets of names they grow with the number of branches ever taken, but b and c, once together, are
/// never apart again. So here tokens are numbers, given in such a way that those which stay together lie
/// together. The heir of a step is the successor from which the longest way is left to go. Heirs lead every
/// step to an end: that is a forest, and numbered in preorder its subtrees are ranges. The tokens of y are
/// the numbers of all steps before it, and its own. Its whole subtree is among them, one range; the others
/// came by edges that leave their subtree, and vanish in the subtree of the step at which the branches meet.
///
///     Theorem.  tokens(x) is a subset of tokens(y) if and only if x is y or x comes before y.
///
/// If the set is a subset, y holds the token of x itself. If x comes before y, so does all that comes before
/// x. The tokens of one step are therefore enough to tell of each step so far whether it comes before; those
/// of a step are kept until the last of its successors has taken them.
///
/// Source: Caffe2's memonger (`memonger.cc`, Facebook 2016), where tokens are unordered sets of integers.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/contract.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// Half-open, as ranges are everywhere.
struct token_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(token_range, token_range) = default;
};

namespace detail {

/// Lists of ranges that come and go: blocks of powers of two, taken again once they are given back.
template <std::same_as<token_range> Range>
class token_store {
public:
    [[nodiscard]] Range* operator[](std::uint32_t at) { return ranges_.data() + at; }
    [[nodiscard]] Range const* operator[](std::uint32_t at) const { return ranges_.data() + at; }

    std::uint32_t take(std::size_t count)
    {
        std::uint32_t& spare = spare_[std::bit_width(count - 1)];
        auto at = spare;
        if (at != none) {
            spare = ranges_[at].first;
            return at;
        }
        std::size_t const end = ranges_.size() + std::bit_ceil(count);
        SUBLET_EXPECTS(end < none, "sublet: more ranges of tokens than 32-bit ids");
        at = static_cast<std::uint32_t>(ranges_.size());
        ranges_.resize(end);
        return at;
    }
    void give_back(std::uint32_t at, std::size_t count)
    {
        std::uint32_t& spare = spare_[std::bit_width(count - 1)];
        ranges_[at].first = spare;
        spare = at;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<Range> ranges_;
    std::vector<std::uint32_t> spare_ = std::vector<std::uint32_t>(33, none); // by size: chained by `first`
};

/// The numbers of each subtree of the heirs, by position: first its own, last behind those of its ancestors.
template <std::same_as<dependence_graph> G>
std::vector<token_range> subtrees_of_heirs(G const& g)
{
    auto const positions = static_cast<step_id>(g.positions());
    std::vector<step_id> heir(positions, no_step), left(positions, 0);
    for (step_id x = positions; x-- != 0;)
        for (step_id y : g.after[x])
            if (left[x] <= left[y]) { // of equal ones the first
                left[x] = left[y] + 1;
                heir[x] = y;
            }
    std::vector<token_range> subtree(positions);
    for (step_id x = 0; x != positions; ++x) { // its size, for now
        ++subtree[x].last;
        if (heir[x] != no_step) subtree[heir[x]].last += subtree[x].last;
    }
    std::vector<step_id>& next = left; // by position: the first number in its subtree that is not given yet
    std::uint32_t next_root = 0;
    for (step_id x = positions; x-- != 0;) {
        std::uint32_t& first = heir[x] == no_step ? next_root : next[heir[x]];
        std::uint32_t const size = subtree[x].last;
        subtree[x] = {first, first + size};
        next[x] = first + 1;
        first += size;
    }
    return subtree;
}

} // namespace detail

/// The tokens of one position after the other.
template <std::same_as<dependence_graph> G = dependence_graph>
class token_sets {
public:
    /// Of `g`, which has to stay. A set that would have more than `most_ranges` forgets the rest: then it may
    /// be said that one does not come before another though it does, and never the other way round.
    ///
    /// Requires:   `g` has no violation; most_ranges >= 1.
    /// Complexity: O(positions + edges).
    explicit token_sets(G const& g, std::size_t most_ranges = no_node)
        : g_(&g), most_ranges_(most_ranges), subtree_(detail::subtrees_of_heirs(g)),
          deposit_of_(g.positions())
    {
        SUBLET_EXPECTS(!g.violation, "sublet: a program with a violation has no order to hand tokens in");
        SUBLET_EXPECTS(most_ranges != 0, "sublet: a set of tokens holds one range at least");
        for (std::size_t x = 0; x != deposit_of_.size(); ++x)
            deposit_of_[x].takers = static_cast<std::uint32_t>(g.after[x].size());
    }
    explicit token_sets(G const&&, std::size_t = 0) = delete;

    /// Whether a comes before b, in every execution.
    ///
    /// Requires:   b does not descend from call to call, and is a position; a < b.
    /// Complexity: O(log ranges), and for all calls O(positions + sum over edges of the ranges of their
    /// ends).
    [[nodiscard]] bool before(step_id a, step_id b)
    {
        advance_to(b);
        std::uint32_t const token = token_of(a);
        std::size_t const i = first_that(count_, [&](std::size_t k) { return token < now_[k].last; });
        return i != count_ && now_[i].first <= token;
    }

    void advance_to(step_id b)
    {
        SUBLET_EXPECTS(next_ <= b + 1 && b < subtree_.size(), "sublet: tokens are handed on, never back");
        while (next_ <= b) take_tokens(next_++);
    }
    /// The number that stands for a.
    [[nodiscard]] std::uint32_t token_of(step_id a) const { return subtree_[a].first; }
    /// Those of the position reached last, ascending; two ranges do not touch.
    [[nodiscard]] std::span<token_range const> tokens() const { return {now_.data(), count_}; }
    /// How many ranges have been forgotten so far. 0: every answer was exact.
    [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

private:
    using range_list = std::span<token_range const>;

    struct deposit {
        std::uint32_t takers = 0; // that have not come yet
        std::uint32_t ranges = 0; // none: its subtree is all
        std::uint32_t at = 0;     // in the store
    };

    range_list deposited(step_id x) const
    {
        deposit const& d = deposit_of_[x];
        return d.ranges == 0 ? range_list(&subtree_[x], 1) : range_list(store_[d.at], d.ranges);
    }

    void take_tokens(step_id y)
    {
        token_range const own = subtree_[y];
        range_list one, other; // what comes from elsewhere, if from no more than two
        std::size_t givers = 0;
        for (step_id x : g_->before[y]) {
            token_range const theirs = subtree_[x];
            if (deposit_of_[x].ranges == 0 && own.first < theirs.first && theirs.first < own.last) continue;
            other = one;
            one = deposited(x);
            ++givers;
        }
        if (givers > 2) {
            gathered_.clear();
            for (step_id x : g_->before[y])
                for (token_range r : deposited(x)) gathered_.push_back(r);
            sort_by(gathered_, [](token_range a, token_range b) { return a.first < b.first; });
            one = gathered_;
            other = {};
        }
        unite(own, one, other);
        if (count_ > most_ranges_) forget(own);
        for (step_id x : g_->before[y]) {
            deposit& d = deposit_of_[x];
            if (--d.takers == 0 && d.ranges != 0) store_.give_back(d.at, d.ranges);
        }
        deposit& mine = deposit_of_[y];
        if (mine.takers == 0 || (count_ == 1 && now_.front() == own)) return;
        mine.ranges = static_cast<std::uint32_t>(count_);
        mine.at = store_.take(count_);
        for (std::size_t i = 0; i != count_; ++i) store_[mine.at][i] = now_[i];
    }

    /// No branch here that depends on what is compared: which list comes next is anyone's guess.
    void unite(token_range own, range_list one, range_list other)
    {
        if (now_.size() <= one.size() + other.size()) now_.resize(2 * (one.size() + other.size()) + 1);
        token_range const *a = one.data(), *const a_end = a + one.size();
        token_range const *b = other.data(), *const b_end = b + other.size();
        token_range* to = now_.data();
        token_range last = own;
        if (a != a_end && a->first < last.first) last = *a;
        if (b != b_end && b->first < last.first) last = *b;
        auto add = [&](token_range r) {
            bool const is_apart = last.last < r.first;
            *to = last;
            to += is_apart;
            last = {is_apart ? r.first : last.first, larger(last.last, r.last)};
        };
        auto add_below = [&](std::uint32_t end) {
            while (a != a_end && b != b_end) {
                bool const is_a = a->first <= b->first, is_b = b->first <= a->first;
                token_range const r{is_a ? a->first : b->first,
                                    larger(is_a ? a->last : 0, is_b ? b->last : 0)};
                if (r.first >= end) return;
                a += is_a;
                b += is_b;
                add(r);
            }
            for (; a != a_end && a->first < end; ++a) add(*a);
            for (; b != b_end && b->first < end; ++b) add(*b);
        };
        add_below(own.first);
        add(own);
        add_below(no_node);
        *to++ = last;
        count_ = static_cast<std::size_t>(to - now_.data());
    }

    /// The set keeps what is its own, and of the rest the youngest: tokens of steps long past are rarely
    /// asked for, since slots that are free for long have been taken.
    void forget(token_range own)
    {
        if (step_of_.empty()) {
            step_of_ = std::vector<step_id>(subtree_.size());
            for (step_id x = 0; x != subtree_.size(); ++x) step_of_[token_of(x)] = x;
        }
        auto age = [&](token_range r) {
            bool const is_own = r.first <= own.first && own.last <= r.last;
            return is_own ? 0 : no_step - step_of_[r.first];
        };
        ages_.clear();
        for (std::size_t i = 0; i != count_; ++i) ages_.push_back(age(now_[i]));
        sort_ascending(ages_);
        std::size_t kept = 0;
        for (std::size_t i = 0; i != count_; ++i)
            if (age(now_[i]) <= ages_[most_ranges_ - 1]) now_[kept++] = now_[i];
        forgotten_ += count_ - kept;
        count_ = kept;
    }

    G const* g_;
    std::size_t most_ranges_;
    std::vector<token_range> subtree_; // by position
    std::vector<deposit> deposit_of_;  // by position
    detail::token_store<token_range> store_;
    std::vector<token_range> now_, gathered_;
    std::size_t count_ = 0;        // of the ranges in now_
    step_id next_ = 0;             // the first position that has not taken its tokens
    std::vector<step_id> step_of_; // by token, from when something has to be forgotten on
    std::vector<step_id> ages_;
    std::uint64_t forgotten_ = 0;
};

} // namespace sublet

#endif
