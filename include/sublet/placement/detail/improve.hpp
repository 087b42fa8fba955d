// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_IMPROVE_HPP
#define SUBLET_PLACEMENT_DETAIL_IMPROVE_HPP

/// Lowers a packing of shapes by local search: a shape above a ceiling is inserted among the others; if it
/// fits nowhere, it ejects those with the least learned penalty. The result is never higher than the start,
/// with no guaranteed factor; limits bound the insertions and pieces examined. For up to tens of thousands of
/// shapes. Source: Nagata and Bräysy, "A powerful route minimization heuristic for the vehicle routing
/// problem with time windows", Operations Research Letters 37, 2009.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- sorted pieces ---------------------------------------------------------------------------------------

/// Placed pieces, sorted by begin or by end, with insertion and removal.
///
///     offset     +---c---+            sorted by begin: a, b, c
///       |    +-b-+  +-a--+--+         sorted by end:   b, c, a      (a ends above c's end here)
///       |           |       |
///       +-------------------------> position
///
/// A list of blocks, each with the hull of its live ranges: a query for a live range visits pieces in order
/// and skips blocks with a hull that does not overlap it.

namespace sublet::detail {

/// A placed piece of a shape; `at` is its sort key: its begin or its end.
struct piece_entry {
    byte_count at = 0;
    byte_count other = 0; ///< its other end
    live_range when;
    std::uint32_t shape = 0;

    /// Distinct placed pieces never compare equal.
    [[nodiscard]] friend constexpr bool operator<(piece_entry const& a, piece_entry const& b) noexcept
    {
        if (a.at != b.at) return a.at < b.at;
        return a.shape != b.shape ? a.shape < b.shape : a.when.first < b.when.first;
    }
};

/// Complexity: an insertion or removal O(block + log n), now and then O(blocks); a query O(blocks + pieces
///             in the blocks that overlap it).
class sorted_pieces {
public:
    void insert(piece_entry const& piece);

    /// Requires: it was inserted.
    void erase(piece_entry const& piece);

    /// Appends them ascending; returns how many pieces were examined.
    std::uint64_t collect_overlaps(live_range when, std::vector<piece_entry>& found) const;

private:
    static constexpr std::size_t block_capacity = 128;
    struct block {
        piece_entry lowest = {}; // not above any of these, above all in lower blocks
        live_range lives = {};   // contains their live ranges
        std::vector<piece_entry> items = {};
    };

    [[nodiscard]] std::size_t block_of(piece_entry const& piece) const;

    /// Moves the pieces from index `at` on to a new block.
    template <class Index>
    void split(Index which, std::size_t at)
    {
        block upper, lower;
        std::vector<piece_entry> const& items = blocks_[which].items;
        auto const middle = items.begin() + static_cast<std::ptrdiff_t>(at);
        lower.items.assign(items.begin(), middle);
        upper.items.assign(middle, items.end());
        for (block* half : {&lower, &upper})
            for (piece_entry const& p : half->items) half->lives = hull(half->lives, p.when);
        lower.lowest = blocks_[which].lowest;
        upper.lowest = items[at];
        blocks_[which] = std::move(lower);
        blocks_.push_back(std::move(upper));
        for (std::size_t i = blocks_.size() - 1; i != which + 1; --i) std::swap(blocks_[i], blocks_[i - 1]);
    }

    std::vector<block> blocks_{1};
};

// --- ejection --------------------------------------------------------------------------------------------

///     ceiling - - - - - +--x--+ - -              - - - - - - - - - -
///              +--a--+  |     |                  +--a--+
///              |     |  +-----+                  |     |  +--x--+
///              +-----+  +--b--+          ──►     +-----+  |     |     b goes where c leaves room,
///        +--c--+        |     |            +--c--+        +-----+     or ejects another one
///
/// The penalty estimates how hard a shape is to place: first from its live range and size (length counts
/// more), then it grows with each ejection that the shape causes. So two shapes that eject each other in turn
/// soon eject a third, and shapes that are hard to place are rarely ejected. In the source penalties grow by
/// one; here by a quarter, since sizes differ by orders of magnitude.

struct ejection_limits {
    std::uint64_t steps = no_limit;  ///< ejecting insertions
    std::uint64_t visits = no_limit; ///< pieces examined in all
};

/// The current packing and the penalties, kept between calls of lower().
class ejection {
public:
    /// Requires: `all` outlives this; it is not used once `poll` has stopped.
    ejection(placement_shapes const& all, std::uint64_t seed, step_poll const& poll = {});

    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t visits() const { return visits_; }

    /// Requires: `origin` is a packing of all shapes without overlaps.
    /// Ensures:  if true, `origin` is a packing that ends at `ceiling` or below; pins stay. If false, it is
    ///           unchanged: the limits were reached, or `stop`, which is called now and then, returned true.
    template <class Stop>
    bool lower(std::vector<byte_count>& origin, byte_count ceiling, ejection_limits limits, Stop stop)
    {
        // Reuses the last state: after an attempt from the same packing most shapes are in place.
        visits_ += 64 + all_->size();
        unplaced_.clear();
        for (std::uint32_t s = 0; s != all_->size(); ++s) {
            if (s % 256 == 255 && stop()) return false;
            placement_shape const& shape = all_->shapes[s];
            bool const is_low = shape.size <= ceiling && origin[s] <= ceiling - shape.size;
            if (!is_low && (shape.size > ceiling || shape.pinned != no_offset)) return false;
            if (origin_[s] != no_offset && (!is_low || origin_[s] != origin[s])) remove(s);
            if (!is_low) unplaced_.push_back(s);
            else if (origin_[s] == no_offset) put(s, origin[s]);
        }
        std::uint64_t const before = steps_;
        for (std::uint64_t iteration = 0; !unplaced_.empty(); ++iteration) {
            if (steps_ - before >= limits.steps || visits_ >= limits.visits ||
                (iteration % 16 == 0 && stop()))
                return false;
            std::uint32_t const s = unplaced_.back();
            unplaced_.pop_back();
            if (!insert_or_eject(s, ceiling - all_->shapes[s].size)) return false;
        }
        origin = origin_;
        return true;
    }

private:
    /// Ejects the least penalty if necessary; false if pins forbid every origin.
    template <class Shape>
    bool insert_or_eject(Shape s, byte_count highest)
    {
        placement_shape const& shape = all_->shapes[s];
        collect_overlaps(s, by_begin_, from_, true);
        auto free_from = [&](byte_count at) {
            for (piece_entry const& p : from_) {
                if (p.at > at) break;
                if (p.other > at) at = align_up(p.other, shape);
            }
            return at;
        };
        bool const is_as_preferred =
            shape.preferred <= highest && free_from(align_up(shape.preferred, shape)) == shape.preferred;
        byte_count place = is_as_preferred ? shape.preferred : free_from(align_up(0, shape));
        if (place <= highest) {
            put(s, place);
            return true;
        }

        // The ejected penalty falls only at ends of pieces.
        collect_overlaps(s, by_end_, to_, false);
        byte_count const no_place = highest + 1;
        byte_count weight = 0, least = ~byte_count{0};
        place = no_place;
        std::size_t i = 0, j = 0;
        std::uint64_t pins = 0, ties = 0;
        for (byte_count at = align_up(0, shape); at <= highest; at = align_up(to_[j].at, shape)) {
            for (; i != from_.size() && from_[i].at <= at; ++i) add(from_[i].shape, weight, pins, 1);
            for (; j != to_.size() && to_[j].at <= at; ++j)
                add(to_[j].shape, weight, pins, ~std::uint64_t{0});
            if (pins == 0 && weight <= least) {
                ties = weight == least ? ties + 1 : 1;
                if (random_below(ties) == 0) place = at;
                least = weight;
            }
            if (j == to_.size()) break;
        }
        if (place == no_place) return false;
        add_penalty(s);
        for (piece_entry const& p : from_)
            if (p.at <= place && place < p.other && origin_[p.shape] != no_offset) {
                remove(p.shape);
                unplaced_.push_back(p.shape);
            }
        put(s, place);
        return true;
    }

    template <class Shape>
    void add(Shape s, byte_count& weight, std::uint64_t& pins, std::uint64_t times)
    {
        if (all_->shapes[s].pinned == no_offset) weight += times * penalty_[s];
        else pins += times;
    }

    /// Pieces that s overlaps in time, as ranges of forbidden origins: [at, other), or reversed. They come
    /// from the columns of s, or from the list of all if these are many.
    template <class Shape>
    void collect_overlaps(Shape s, std::vector<sorted_pieces> const& entries, std::vector<piece_entry>& found,
                          bool by_begin)
    {
        found.clear();
        std::size_t kept = 0, first = 0;
        bool is_sorted = all_->pieces_of(s).size() == 1;
        for (shape_piece const& own : all_->pieces_of(s)) {
            std::uint32_t const first_column = own.when.first >> shift_;
            std::uint32_t const last_column = (own.when.last - 1) >> shift_;
            bool const is_long = (last_column - first_column) * long_share >= entries.size();
            is_sorted = is_sorted && (is_long || first_column == last_column);
            for (std::uint32_t c = first_column; c <= last_column; ++c) {
                std::size_t end = found.size();
                visits_ += entries[is_long ? 0 : c + 1].collect_overlaps(own.when, found);
                if (is_long) break;
                if (c == first_column) continue;
                for (std::size_t i = end; i != found.size(); ++i) // others are in the column before, too
                    if (found[i].when.first >> shift_ == c) found[end++] = found[i];
                shorten(found, end);
            }
            for (; first != found.size(); ++first) {
                piece_entry p = found[first];
                byte_count const begin = by_begin ? p.at : p.other, end = by_begin ? p.other : p.at;
                if (end <= own.begin) continue;
                byte_count const from = begin < own.end ? 0 : begin - own.end + 1, to = end - own.begin;
                p.at = by_begin ? from : to;
                p.other = by_begin ? to : from;
                found[kept++] = p;
            }
            shorten(found, kept);
            first = kept;
        }
        visits_ += kept;
        if (!is_sorted) sort_ascending(found);
    }

    template <class Shape>
    void put(Shape s, byte_count at)
    {
        origin_[s] = at;
        for_each_entry(s, at, [](sorted_pieces& entries, piece_entry const& p) { entries.insert(p); });
    }

    template <class Shape>
    void remove(Shape s)
    {
        for_each_entry(s, origin_[s], [](sorted_pieces& entries, piece_entry const& p) { entries.erase(p); });
        origin_[s] = no_offset;
    }

    /// Visits the lists of all pieces, and those of the columns that its pieces touch.
    template <class Shape, class Visit>
    void for_each_entry(Shape s, byte_count at, Visit visit)
    {
        for (shape_piece const& p : all_->pieces_of(s)) {
            piece_entry const by_begin{at + p.begin, at + p.end, p.when, s};
            piece_entry const by_end{at + p.end, at + p.begin, p.when, s};
            visit(by_begin_[0], by_begin);
            visit(by_end_[0], by_end);
            for (std::uint32_t c = p.when.first >> shift_; c <= (p.when.last - 1) >> shift_; ++c) {
                visit(by_begin_[c + 1], by_begin);
                visit(by_end_[c + 1], by_end);
                visits_ += 64; // estimated cost
            }
        }
    }

    /// Old penalties fade, so that no sum exceeds 64 bits.
    template <class Shape>
    void add_penalty(Shape s)
    {
        ++steps_;
        penalty_[s] += penalty_[s] / 4 + 1;
        if (penalty_[s] >> 40 == 0) return;
        for (std::size_t i = 0; i != penalty_.size(); ++i)
            penalty_[i] = larger(initial_penalty_[i], penalty_[i] >> 8);
    }

    std::uint64_t random_below(std::uint64_t n); // xorshift: Marsaglia, Journal of Statistical Software 2003

    placement_shapes const* all_;
    std::uint64_t random_, steps_ = 0, visits_ = 0;
    std::vector<byte_count> initial_penalty_, penalty_, origin_;
    std::vector<std::uint32_t> unplaced_; // a stack
    /// A shape in less than this part of all columns is compared with the pieces of its own ones.
    static constexpr std::uint32_t long_share = 16;
    // First the list of all pieces, then one for each column of positions, a few average live ranges wide.
    std::uint32_t shift_ = 0;
    std::vector<sorted_pieces> by_begin_, by_end_;
    std::vector<piece_entry> from_, to_;
};

// --- improve ---------------------------------------------------------------------------------------------

///     height  |_____________                 bisect between the best height and failed ceilings; a round
///             |_ _ _ _ _ _ _ _ __________    ends when they nearly meet. The next round begins with another
///             |      ________ _ _ _          start packing; after all had a round, the step limit doubles
///     bound   |__________________________
///
/// A packing without gaps at the peak is a good start even if it is high elsewhere.

struct improve_options {
    std::uint64_t visits = 20'000'000; ///< pieces examined
    std::uint64_t seed = 0;
};

/// `best`, or a lower packing, until the height is `bound.bytes` or the limits are reached. `tried` counts
/// the start packings.
///
/// Requires:   `best` is a packing of all shapes; the bound's `bytes` may be any height that is low enough.
/// Ensures:    the result is a packing of all shapes, no higher than `best`, with all pins. Same arguments,
///             same packing, unless the control stops it.
[[nodiscard]] packing improve(placement_shapes const& all, placement_bound const& bound, packing best,
                              improve_options options, search_control& control, std::uint32_t& tried);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/improve.ipp>
#endif

#endif
