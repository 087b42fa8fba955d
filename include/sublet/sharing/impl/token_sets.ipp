// SPDX-License-Identifier: BSL-1.0

/// Tokens are numbered in preorder of a forest of longest paths, so that a set of them is few ranges. Sets
/// are merged along the edges in one pass, kept while a successor has to read them, in blocks of powers of
/// two, and joined with the own subtree. Above the limit the ranges of the oldest tokens are dropped.

#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/token_sets.hpp>

#include <bit>

// --- longest path forest ---------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL table<position_id, token_range> longest_path_forest(dependence_graph const& g)
{
    auto const positions = static_cast<std::uint32_t>(g.positions());
    table<position_id, position_id> parent(positions, no_position);
    table<position_id, std::uint32_t> path_length(positions, 0);
    for (position_id x = positions; x-- != 0;)
        for (position_id y : g.after[x])
            if (path_length[x] <= path_length[y]) { // of equal lengths the first
                path_length[x] = path_length[y] + 1;
                parent[x] = y;
            }
    table<position_id, token_range> subtree(positions);
    for (position_id x = 0; x != positions; ++x) { // for now its size
        ++subtree[x].last;
        if (parent[x] != no_position) subtree[parent[x]].last += subtree[x].last;
    }
    table<position_id, std::uint32_t>& next = path_length; // the first unused number in its subtree
    std::uint32_t next_root = 0;
    for (position_id x = positions; x-- != 0;) {
        std::uint32_t& first = parent[x] == no_position ? next_root : next[parent[x]];
        std::uint32_t const size = subtree[x].last;
        subtree[x] = {first, first + size};
        next[x] = first + 1;
        first += size;
    }
    return subtree;
}

// --- token set store -------------------------------------------------------------------------------------

SUBLET_DECL token_set_store::token_set_store(csr_rows<position_id, position_id> const& after)
    : stored_(after.rows())
{
    for (position_id x = 0; x != stored_.size(); ++x)
        stored_[x].readers_left = static_cast<std::uint32_t>(after[x].size());
}

SUBLET_DECL void token_set_store::store(position_id x, std::span<token_range const> ranges)
{
    stored_set& d = stored_[x];
    if (d.readers_left == 0) return;
    SUBLET_EXPECTS(store_.size() < no_range / 2, "sublet: more token ranges than 32-bit ids");
    std::uint32_t& free_head = free_lists_[static_cast<std::uint8_t>(std::bit_width(ranges.size() - 1))];
    d.ranges = static_cast<std::uint32_t>(ranges.size());
    d.at = free_head;
    if (d.at != no_range) {
        free_head = store_[d.at].first;
    } else {
        d.at = static_cast<std::uint32_t>(store_.size());
        store_.resize(store_.size() + std::bit_ceil(ranges.size()));
    }
    for (std::size_t i = 0; i != ranges.size(); ++i) store_[d.at + i] = ranges[i];
}

SUBLET_DECL void token_set_store::drop_reader(position_id x)
{
    stored_set& d = stored_[x];
    if (--d.readers_left != 0 || d.ranges == 0) return;
    std::uint32_t& free_head = free_lists_[static_cast<std::uint8_t>(std::bit_width(d.ranges - 1))];
    store_[d.at].first = free_head;
    free_head = d.at;
}

// --- token sets ------------------------------------------------------------------------------------------

SUBLET_DECL bool token_sets::before(position_id a, position_id b)
{
    advance_to(b);
    std::uint32_t const token = token_of(a);
    std::size_t const i = partition_point(count_, [&](std::size_t k) { return token < current_[k].last; });
    return i != count_ && current_[i].first <= token;
}

SUBLET_DECL void token_sets::advance_to(position_id b)
{
    SUBLET_EXPECTS(next_ <= b + 1 && b < subtree_.size(), "sublet: positions must not descend between calls");
    while (next_ <= b) merge_predecessors(next_++);
}

SUBLET_DECL void token_sets::merge_predecessors(position_id y)
{
    token_range const own = subtree_[y];
    range_list one, other; // sets from outside the own subtree, if at most two
    std::size_t merged = 0;
    for (position_id x : g_->before[y]) {
        range_list const pred_set = set_of(x);
        if (pred_set.size() == 1 && own.first < pred_set[0].first && pred_set[0].last <= own.last) continue;
        other = one;
        one = pred_set;
        ++merged;
    }
    if (merged > 2) {
        gathered_.clear();
        for (position_id x : g_->before[y])
            for (token_range r : set_of(x)) gathered_.push_back(r);
        sort_gathered();
        one = gathered_;
        other = {};
    }
    unite(own, one, other);
    if (count_ > most_ranges_) drop_oldest(own);
    for (position_id x : g_->before[y]) stored_sets_.drop_reader(x);
    if (count_ != 1 || current_[0] != own) stored_sets_.store(y, tokens());
}

SUBLET_DECL void token_sets::unite(token_range own, range_list one, range_list other)
{
    if (current_.size() <= one.size() + other.size()) current_.resize(2 * (one.size() + other.size()) + 1);
    token_range const *a = one.data(), *const a_end = a + one.size();
    token_range const *b = other.data(), *const b_end = b + other.size();
    token_range* to = current_.data();
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
    add_below(~std::uint32_t{0});
    *to++ = last;
    count_ = static_cast<std::size_t>(to - current_.data());
}

SUBLET_DECL void token_sets::drop_oldest(token_range own)
{
    if (position_of_.empty()) {
        position_of_ = std::vector<position_id>(subtree_.size());
        for (position_id x = 0; x != subtree_.size(); ++x) position_of_[token_of(x)] = x;
    }
    auto age = [&](token_range r) {
        bool const is_own = r.first <= own.first && own.last <= r.last;
        return is_own ? 0 : no_position - position_of_[r.first];
    };
    gathered_.clear();
    for (token_range r : tokens()) gathered_.push_back({age(r), r.first});
    sort_gathered();
    std::size_t kept = 0;
    for (std::size_t i = 0; i != count_; ++i)
        if (age(current_[i]) <= gathered_[most_ranges_ - 1].first) current_[kept++] = current_[i];
    dropped_ranges_ += count_ - kept;
    count_ = kept;
}

// --- token waitlist --------------------------------------------------------------------------------------

SUBLET_DECL token_waitlist::token_waitlist(std::size_t tokens, std::size_t buffers)
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

SUBLET_DECL void token_waitlist::block(buffer_id b, std::uint32_t token)
{
    next_[b] = first_[token];
    first_[token] = b;
    for (unsigned level = 0; level != levels_; ++level, token /= 64) word(level, token / 64) |= bit(token);
}

SUBLET_DECL std::uint32_t token_waitlist::first_waited(std::uint32_t token) const
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

SUBLET_DECL std::uint64_t token_waitlist::bit(std::uint32_t token) { return std::uint64_t{1} << token % 64; }

SUBLET_DECL std::uint32_t token_waitlist::lowest(std::uint64_t w)
{
    return static_cast<std::uint32_t>(std::countr_zero(w));
}

} // namespace sublet::detail
