// SPDX-License-Identifier: BSL-1.0
/// Three answers to one question: a walk backwards over words of bits, kept while the target stays the
/// same; a closure of a block of columns, made in one descending pass; ranges of positions that are not
/// reached, with a binary search. The ranges are taken where they are few.

#include <sublet/analysis/internal/unreached_positions.hpp>

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/rewriting/detail/happens_before.hpp>

#include <bit>
#include <utility>

// --- ancestor walk ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL ancestor_walk::ancestor_walk(csr_rows<position_id, position_id> before)
    : before_(std::move(before)), is_before_(before_.rows() / 64 + 1)
{
}

SUBLET_DECL std::uint64_t ancestor_walk::ancestors(position_id b)
{
    walk(b, 0);
    std::uint64_t count = 0;
    for (std::size_t w = 0; w <= b / 64; ++w) count += static_cast<unsigned>(std::popcount(is_before_[w]));
    return count;
}

SUBLET_DECL void ancestor_walk::walk(position_id b, position_id floor)
{
    auto mark_before = [this](position_id t) {
        for (position_id p : before_[t]) is_before_[p / 64] |= std::uint64_t{1} << p % 64;
    };
    if (b != from_) {
        for (std::uint64_t& bits : is_before_) bits = 0;
        from_ = done_ = b;
        mark_before(b);
    }
    while (done_ > floor + 1) { // positions from done_ on are done
        std::uint32_t const w = (done_ - 1) / 64;
        std::uint64_t const left = is_before_[w] & (~std::uint64_t{0} >> (63 - (done_ - 1) % 64));
        if (left == 0) {
            done_ = 64 * w;
        } else {
            done_ = 64 * w + static_cast<std::uint32_t>(std::bit_width(left)) - 1;
            mark_before(done_);
        }
    }
}

// --- column closure --------------------------------------------------------------------------------------

SUBLET_DECL column_closure::column_closure(csr_rows<position_id, position_id> before)
    : before_(std::move(before)), rows_(before_.rows()), has_row_(before_.rows() / 64 + 1)
{
}

SUBLET_DECL void column_closure::load(std::size_t block)
{
    auto const first = position_id::of(block * width);
    auto const last = position_id::of(smaller(positions(), (block + 1) * width));
    for (std::uint64_t& bits : has_row_) bits = 0;
    loaded_ = block;
    for (position_id t = last; t-- != first;) {
        row with_itself = has_row(t) ? rows_[t] : row{};
        with_itself.bits[(t - first) / 64] |= std::uint64_t{1} << t % 64;
        propagate_row(t, with_itself);
    }
    for (std::size_t w = first / 64; w-- != 0;)
        for (std::uint64_t left = has_row_[w]; left != 0;) {
            auto const highest = static_cast<unsigned>(std::bit_width(left)) - 1;
            auto const t = position_id::of(64 * w + highest);
            propagate_row(t, rows_[t]);
            left = has_row_[w] & ((std::uint64_t{1} << highest) - 1); // lower positions may have got a row
        }
}

SUBLET_DECL bool column_closure::before(position_id a, position_id b)
{
    if (b / width != loaded_) load(std::size_t{b / width});
    return has_row(a) && (rows_[a].bits[b % width / 64] >> b % 64 & 1) != 0;
}

SUBLET_DECL position_id column_closure::next_after(std::span<position_id const> ends, position_id from) const
{
    std::uint32_t const first = from / width * width;
    for (position_id end : ends)
        if (!has_row(end)) return first + width;
    std::uint64_t common = ~std::uint64_t{0} << from % 64;
    for (std::uint32_t w = (from - first) / 64; w != width / 64; ++w, common = ~std::uint64_t{0}) {
        for (position_id end : ends) common &= rows_[end].bits[w];
        if (common != 0) return first + 64 * w + static_cast<std::uint32_t>(std::countr_zero(common));
    }
    return first + width;
}

SUBLET_DECL std::uint64_t column_closure::loaded_pairs() const
{
    std::uint64_t pairs = 0;
    for (std::size_t w = 0; w != has_row_.size(); ++w)
        for (std::uint64_t left = has_row_[w]; left != 0; left &= left - 1)
            pairs += count(rows_[64 * w + static_cast<unsigned>(std::countr_zero(left))]);
    return pairs;
}

SUBLET_DECL std::uint64_t column_closure::count(row const& of)
{
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    std::uint64_t sums = 0; // eight sums of at most 64 each
    for (std::uint64_t x : of.bits) {
        x -= x >> 1 & ones / 3;
        x = (x & ones / 5) + (x >> 2 & ones / 5);
        sums += (x + (x >> 4)) & ones / 17;
    }
    return ((sums & ones / 257) + (sums >> 8 & ones / 257)) * (ones / 65535) >> 48;
}

SUBLET_DECL void column_closure::propagate_row(position_id t, row const& from)
{
    for (position_id p : before_[t]) {
        row& to = rows_[p];
        std::uint64_t const bit = std::uint64_t{1} << p % 64;
        if ((has_row_[p / 64] & bit) != 0) {
            for (std::size_t i = 0; i != width / 64; ++i) to.bits[i] |= from.bits[i];
        } else {
            to = from;
            has_row_[p / 64] |= bit;
        }
    }
}

// --- happens before --------------------------------------------------------------------------------------

SUBLET_DECL precedence::precedence(dependence_graph const& g, precedence_options const& options)
    : verdict(g), method_(options.method), position_of_(g.position_of)
{
    if (!g) return;
    start_of_.reserve(position_of_.size());
    for (step_id s = 0; s != position_of_.size(); ++s) start_of_.push_back(g.start_of(s));
    if (method_ == precedence_method::automatic || method_ == precedence_method::ranges) {
        std::size_t const n = g.positions();
        table<position_id, position_id> all;
        all.reserve(n + 1);
        for (position_id p = 0; p <= n; ++p) all.push_back(p);
        std::uint64_t const default_max = larger(std::uint64_t{1} << 24, 8 * std::uint64_t{n});
        unreached_.emplace(n, options.max_ranges == 0 ? default_max : options.max_ranges);
        auto has_room = [&](auto const&...) {
            return method_ == precedence_method::ranges || !unreached_->is_coarsened();
        };
        find_unreached(g, all, *unreached_, true, has_room);
        method_ = has_room() ? precedence_method::ranges : precedence_method::columns;
        if (method_ == precedence_method::columns) unreached_.reset();
    }
    if (method_ == precedence_method::columns) columns_.emplace(g.before);
    if (method_ == precedence_method::search) walk_.emplace(g.before);
}

SUBLET_DECL bool precedence::before(position_id a, position_id b)
{
    if (columns_) return columns_->before(a, b);
    if (walk_) return walk_->before(a, b);
    auto const not_after = (*unreached_)[a];
    std::size_t const at =
        partition_point(not_after.size(), [&](std::size_t i) { return b < not_after[i].last; });
    return at == not_after.size() || b < not_after[at].first;
}

SUBLET_DECL std::vector<position_id> precedence::after_all(std::span<position_id const> ends,
                                                           std::span<position_id const> positions)
{
    std::vector<position_id> found;
    for (position_id p : positions) {
        std::size_t i = 0;
        while (i != ends.size() && ends[i] < p && before(ends[i], p)) ++i;
        if (i == ends.size()) found.push_back(p);
    }
    return found;
}

SUBLET_DECL std::uint64_t precedence::ordered_pairs()
{
    std::uint64_t const n = positions();
    std::uint64_t pairs = 0;
    if (columns_)
        for (std::size_t block = 0; block != columns_->blocks(); ++block) {
            columns_->load(block);
            pairs += columns_->loaded_pairs();
        }
    if (walk_)
        for (position_id b = 0; b != n; ++b) pairs += walk_->ancestors(b);
    if (unreached_) pairs = n * (n - 1) / 2 - count_unreached(false);
    return pairs;
}

SUBLET_DECL std::uint64_t precedence::count_unreached(bool only_undecided) const
{
    std::uint64_t count = 0;
    for (std::size_t t = 0; t != unreached_->owners(); ++t) {
        position_id const from = only_undecided ? unreached_->exact_until(t) : position_id{0};
        for (live_range r : (*unreached_)[t]) count += length(live_range{larger(r.first, from), r.last});
    }
    return count;
}

} // namespace sublet::detail
