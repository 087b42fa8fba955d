// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/token_sets.hpp>

#include <bit>

// --- heir forest -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::vector<token_range> heir_forest(dependence_graph const& g)
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

// --- token deposits --------------------------------------------------------------------------------------

SUBLET_DECL token_deposits::token_deposits(csr_rows const& after) : of_(after.rows())
{
    for (std::size_t x = 0; x != of_.size(); ++x) of_[x].takers = static_cast<std::uint32_t>(after[x].size());
}

SUBLET_DECL void token_deposits::leave(step_id x, std::span<token_range const> ranges)
{
    deposit& d = of_[x];
    if (d.takers == 0) return;
    SUBLET_EXPECTS(store_.size() < no_node / 2, "sublet: more ranges of tokens than 32-bit ids");
    std::uint32_t& spare = spare_[std::bit_width(ranges.size() - 1)];
    d.ranges = static_cast<std::uint32_t>(ranges.size());
    d.at = spare;
    if (d.at != no_node) {
        spare = store_[d.at].first;
    } else {
        d.at = static_cast<std::uint32_t>(store_.size());
        store_.resize(store_.size() + std::bit_ceil(ranges.size()));
    }
    for (std::size_t i = 0; i != ranges.size(); ++i) store_[d.at + i] = ranges[i];
}

SUBLET_DECL void token_deposits::taken(step_id x)
{
    deposit& d = of_[x];
    if (--d.takers != 0 || d.ranges == 0) return;
    std::uint32_t& spare = spare_[std::bit_width(d.ranges - 1)];
    store_[d.at].first = spare;
    spare = d.at;
}

// --- token sets ------------------------------------------------------------------------------------------

SUBLET_DECL bool token_sets::before(step_id a, step_id b)
{
    advance_to(b);
    std::uint32_t const token = token_of(a);
    std::size_t const i = partition_point(count_, [&](std::size_t k) { return token < now_[k].last; });
    return i != count_ && now_[i].first <= token;
}

SUBLET_DECL void token_sets::advance_to(step_id b)
{
    SUBLET_EXPECTS(next_ <= b + 1 && b < subtree_.size(), "sublet: tokens are handed on, never back");
    while (next_ <= b) take_tokens(next_++);
}

SUBLET_DECL void token_sets::take_tokens(step_id y)
{
    token_range const own = subtree_[y];
    range_list one, other; // what comes from elsewhere, if from no more than two
    std::size_t givers = 0;
    for (step_id x : g_->before[y]) {
        range_list const theirs = set_of(x);
        if (theirs.size() == 1 && own.first < theirs[0].first && theirs[0].last <= own.last) continue;
        other = one;
        one = theirs;
        ++givers;
    }
    if (givers > 2) {
        gathered_.clear();
        for (step_id x : g_->before[y])
            for (token_range r : set_of(x)) gathered_.push_back(r);
        sort_gathered();
        one = gathered_;
        other = {};
    }
    unite(own, one, other);
    if (count_ > most_ranges_) forget(own);
    for (step_id x : g_->before[y]) deposits_.taken(x);
    if (count_ != 1 || now_[0] != own) deposits_.leave(y, tokens());
}

SUBLET_DECL void token_sets::unite(token_range own, range_list one, range_list other)
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
            token_range const r{is_a ? a->first : b->first, larger(is_a ? a->last : 0, is_b ? b->last : 0)};
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

SUBLET_DECL void token_sets::forget(token_range own)
{
    if (step_of_.empty()) {
        step_of_ = std::vector<step_id>(subtree_.size());
        for (step_id x = 0; x != subtree_.size(); ++x) step_of_[token_of(x)] = x;
    }
    auto age = [&](token_range r) {
        bool const is_own = r.first <= own.first && own.last <= r.last;
        return is_own ? 0 : no_step - step_of_[r.first];
    };
    gathered_.clear();
    for (token_range r : tokens()) gathered_.push_back({age(r), r.first});
    sort_gathered();
    std::size_t kept = 0;
    for (std::size_t i = 0; i != count_; ++i)
        if (age(now_[i]) <= gathered_[most_ranges_ - 1].first) now_[kept++] = now_[i];
    forgotten_ += count_ - kept;
    count_ = kept;
}

// --- sleepers --------------------------------------------------------------------------------------------

SUBLET_DECL sleepers::sleepers(std::size_t tokens, std::size_t buffers)
    : first_(tokens, no_buffer), next_(buffers, no_buffer)
{
    std::size_t words = 0;
    do {
        tokens = tokens / 64 + 1;
        begin_[levels_++] = words;
        words += tokens;
    } while (tokens != 1);
    words_ = std::vector<std::uint64_t>(words, 0);
}

SUBLET_DECL void sleepers::sleep(buffer_id b, std::uint32_t token)
{
    next_[b] = first_[token];
    first_[token] = b;
    for (unsigned level = 0; level != levels_; ++level, token /= 64) word(level, token / 64) |= bit(token);
}

SUBLET_DECL std::uint32_t sleepers::from(std::uint32_t token) const
{
    for (unsigned level = 0; level != levels_; ++level) {
        std::size_t const w = begin_[level] + token / 64;
        if (w >= (level + 1 == levels_ ? words_.size() : begin_[level + 1])) break;
        std::uint64_t const above = words_[w] >> token % 64 << token % 64;
        if (above != 0) {
            token = token / 64 * 64 + lowest(above);
            while (level-- != 0) token = token * 64 + lowest(words_[begin_[level] + token]);
            return token;
        }
        token = token / 64 + 1;
    }
    return ~std::uint32_t{0};
}

SUBLET_DECL std::uint64_t sleepers::bit(std::uint32_t token) { return std::uint64_t{1} << token % 64; }

SUBLET_DECL std::uint32_t sleepers::lowest(std::uint64_t w)
{
    return static_cast<std::uint32_t>(std::countr_zero(w));
}

} // namespace sublet::detail
