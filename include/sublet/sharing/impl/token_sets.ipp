// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_TOKEN_SETS_IPP
#define SUBLET_SHARING_IMPL_TOKEN_SETS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/token_sets.hpp>

namespace sublet {

SUBLET_DECL bool token_sets::before(step_id a, step_id b)
{
    advance_to(b);
    std::uint32_t const token = token_of(a);
    std::size_t const i = first_that(count_, [&](std::size_t k) { return token < now_[k].last; });
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

} // namespace sublet

#endif
