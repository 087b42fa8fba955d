// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_FIT_HPP
#define SUBLET_PLACEMENT_DETAIL_FIT_HPP

/// First fit: shapes in an order, each as low as the earlier ones allow; and orders to try.

#include <sublet/placement/detail/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- byte unions -----------------------------------------------------------------------------------------

/// Sets of bytes, many of them, which only grow.
///
///     bytes     0   4   8  12  16
///     union     [===)   [===)          two stretches;
///     + [4, 8)  [===========)          now one: neighbours grow together
///
/// Whoever lies packed well is one stretch, however many they are. Stretches of all unions lie in one table,
/// each linked to the next above and below in its own.

namespace sublet::detail {

class byte_unions {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct interval {
        byte_count begin, end;
        std::uint32_t below, above; ///< their numbers, or `none`
    };
    /// Stretches that do not touch.
    struct byte_union {
        std::uint32_t lowest = none;
        std::uint32_t recent = none; ///< where the last bytes went
    };

    /// The stretches of all unions are gone; unions made before mean nothing any more.
    void clear()
    {
        intervals_.clear();
        unused_ = none;
    }
    /// How many have been made since then, those that were swallowed too.
    [[nodiscard]] std::size_t size() const { return intervals_.size(); }
    [[nodiscard]] interval const& operator[](std::uint32_t number) const { return intervals_[number]; }

    /// Add the bytes [begin, end) to a union. Returns the number of stretches looked at.
    ///
    /// Requires:   begin < end; the union was empty, or filled here since the last clear().
    /// Complexity: from where the last bytes went up or down to where these go, for neighbours in an order
    ///             lie near each other as a rule.
    std::uint64_t unite(byte_union& all, byte_count begin, byte_count end);

private:
    std::vector<interval> intervals_;
    std::uint32_t unused_ = none; // the first of a list of stretches
};

// --- placed ----------------------------------------------------------------------------------------------

/// What has been placed so far, asked one question: which origin is free for this shape?
///
///                  0 - 7                   Buckets of positions are the leaves of a tree. A node knows
///             /             \              the bytes of those that are born under it, and of those that
///          0 - 3           4 - 7           live all its time, but not all of its parent's.
///         /     \         /     \          [....) meets those that are born under 2 - 3 or 4 - 5, and
///      0 - 1   2 - 3   4 - 5   6 - 7       those that live all the time of 1, 0 - 1, 0 - 3 or 0 - 7;
///      0   1   2   3   4   5   6   7       of those that are born or die in bucket 1 it looks at each.
///          [...................)
///
/// The bytes of a node are a union in which neighbours grow together: those that are packed well become one
/// stretch, and nobody walks past those in the way one by one, however many they are. A question goes from
/// union to union, each of which lifts the origin above what it meets, until all of them agree. Rectangles of
/// one shape are asked about at once: each brings its unions, and moves with the others.
///
/// A bucket is as many positions as have a few births and deaths among them; so the tree has few nodes a
/// rectangle, and who is too short for a node is in two lists at most.

enum class fit_rule : std::uint8_t { first_fit, best_fit };

/// Complexity: a question walks the unions and buckets of its life from below up to the gap that is found,
///             twice the logarithm of the number of positions of them; an insertion walks as many from where
///             the last one went. `visits` counts their steps.
class placed_pieces {
public:
    /// Nothing is placed yet; later only shapes of `all` will be.
    explicit placed_pieces(placement_shapes const& all);

    /// As if nothing had been placed.  O(buckets)
    void clear();
    [[nodiscard]] std::uint64_t visits() const { return visits_; }

    /// What lies on others is allowed.
    void insert(placement_shapes const& all, std::uint32_t shape, byte_count origin);

    /// The origin from `from` to `highest` that a shape may have, by its alignment and by all that is placed:
    /// the lowest, or the lowest of those with the least room above; `no_offset` if there is none.
    ///
    /// Requires: highest + the size of the shape is below 2^64 - 1.
    [[nodiscard]] byte_count free_origin(placement_shapes const& all, std::uint32_t shape, byte_count from,
                                         byte_count highest, fit_rule choice = fit_rule::first_fit);

    /// As free_origin(), on top of all that is in the way: quick, whatever gaps there are.
    [[nodiscard]] byte_count origin_on_top(placement_shapes const& all, std::uint32_t shape,
                                           byte_count highest);

private:
    static constexpr std::uint32_t none = byte_unions::none;
    static constexpr std::uint32_t events_per_bucket = 32;
    using interval = byte_unions::interval;
    using bytes = byte_unions::byte_union;
    struct union_cursor {
        interval next;
        std::uint32_t recent;
        shape_piece own; // the rectangle that asks
    };
    struct partial_cursor {
        shape_piece const* at;
        shape_piece const* stop;
        shape_piece own;
    };

    /// As `overlaps`, for ranges that are known not to be empty.
    static bool overlap_nonempty(live_range a, live_range b) { return a.first < b.last && b.first < a.last; }

    /// All that a shape must keep clear of, from below.
    template <class Shapes>
    void collect_obstacles(Shapes const& all, std::uint32_t shape)
    {
        union_cursors_.clear();
        partial_cursors_.clear();
        for (shape_piece const& p : all.pieces_of(shape)) {
            std::uint32_t const first = bucket_of_[p.when.first], last = bucket_of_[p.when.last - 1];
            auto add_union = [&](bytes const& u) {
                if (u.lowest != none) union_cursors_.push_back({intervals_[u.lowest], u.recent, p});
            };
            auto add_bucket = [&](std::uint32_t bucket) {
                auto const& items = partial_[bucket];
                if (!items.empty())
                    partial_cursors_.push_back({items.data(), items.data() + items.size(), p});
            };
            add_bucket(first);
            if (first != last) add_bucket(last);
            // Who is born in the first bucket is in its list, or lives all its time.
            for (std::size_t node = first + leaves_; node != 0; node /= 2) add_union(covering_[node]);
            std::size_t i = first + leaves_ + 1, j = last + leaves_ + 1 - is_wide_[last];
            for (; i < j; i /= 2, j /= 2) {
                if (i % 2 == 1) add_union(starting_[i++]);
                if (j % 2 == 1) add_union(starting_[--j]);
            }
        }
        visits_ += 4 + union_cursors_.size() + partial_cursors_.size();
    }

    /// From `at` upwards, the lowest origin that nothing is in the way of.
    byte_count next_free_origin(placement_shape const& shape, byte_count at, byte_count highest);

    /// How high an origin that was lifted may rise until it meets something; `no_offset`: as high as it
    /// likes.
    byte_count next_obstacle();

    void insert(shape_piece const& p);

    /// By ascending begin; behind its equals.
    template <class Piece>
    void insert_sorted(std::vector<Piece>& items, Piece const& p)
    {
        items.push_back(p);
        std::size_t at = items.size() - 1;
        for (; at != 0 && items[at - 1].begin > p.begin; --at) items[at] = items[at - 1];
        items[at] = p;
    }

    std::size_t leaves_ = 0;
    std::vector<std::uint32_t> bucket_of_;          // by position
    std::vector<unsigned char> is_wide_;            // by bucket: it has several positions
    std::vector<bytes> starting_, covering_;        // by node
    std::vector<std::vector<shape_piece>> partial_; // by wide bucket: who is born or dies in it
    byte_unions intervals_;
    std::vector<union_cursor> union_cursors_;
    std::vector<partial_cursor> partial_cursors_;
    std::uint64_t visits_ = 0;
};

// --- fit -------------------------------------------------------------------------------------------------

/// Place shapes one after the other, each into a gap that those before it have left.
///
///     gaps at the life of x, from below:   [12 bytes]  [8 bytes]  [no end]        x: 8 bytes
///     lowest      takes the first that is large enough (12)
///     tightest    takes the smallest that is large enough (8)
///
/// How good the result is depends on the order alone; no order is best for all problems, which is why
/// best_packing.hpp tries several.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020 (tightest gap), for any order, windows, alignment and pins.

struct packing {
    std::vector<byte_count> origin; ///< by shape; `no_offset` for one that has not been placed
    byte_count height = 0;          ///< `no_limit` if it was given up
    std::uint64_t visits = 0;       ///< how often something in the way was looked at
};

struct fit_limits {
    byte_count ceiling = no_limit - 1; ///< give up what would end above it
    byte_count known_height = 0;       ///< the arena is so high in any case: preferred offsets below are free
    std::uint64_t visits = no_limit;   ///< give up what takes more
    std::uint64_t gap_visits = no_limit; ///< after so many visits look for no more gaps: all others go on top
};

/// Place the shapes of `order`, pinned ones first.
///
/// Requires:   `order` names no shape twice; no two pins clash; `placed` is made of `all`.
/// Ensures:    no two of them overlap in life and bytes; every origin is as its alignment asks, or a pin. A
///             preferred origin is taken where it is free and nothing gets higher by it. The placement is
///             given up as soon as it is clear that it ends above the ceiling, or takes too long.
/// Complexity: an insertion and a question (placed) a shape.
[[nodiscard]] packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                          fit_rule choice, fit_limits limits, placed_pieces& placed);

[[nodiscard]] inline packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                 fit_rule choice = fit_rule::first_fit, fit_limits limits = {})
{
    placed_pieces placed(all);
    return fit(all, order, choice, limits, placed);
}

// --- orders ----------------------------------------------------------------------------------------------

/// The orders in which shapes are offered a place, each an idea of who is hard to please.
///
///     size         the largest first                      load      who lives where it is fullest
///     size_class   the longest life, but those of twice   breadth   position by position, the fullest first
///                  the size before                        lifetime  the longest life
///     area         size times length of life              birth     as they come: what an allocator sees
///     load_area    who lives where it is fullest, of those the largest area; load_length, load_death: of
///     those
///                  the longest life, the last to die
///     peak_birth   who is alive at the peak before all others, as they are born, the others by size
///     peak_length  the same, the longest life first       peak_death   the same, the last to die first
///     rings        away from the peak, in rings of growing width (peak_distance_fine and peak_distance_coarse: of others),
///                  in each the largest first
///
///             4   3  2 1 0 1 2  3   4        the ring of a life: where it comes nearest to the peak
///           |---|---|--|-|*|-|--|---|---|
///
/// Ties go to the larger, then to the earlier birth: among equal sizes, in the order of birth, lowest fit is
/// exact (it is the left-edge algorithm), and networks have many equal sizes. At the peak all
/// bytes of the bound are alive, so the arena is low only if they lie without a gap: the orders by the peak
/// stack them first, and fit the rest round them. What is near the peak is hard to fit as well, and what is
/// far away is not: hence the rings.
///
/// Source: size, Pisarchyk and Lee 2020; breadth, ibid.; load, the Ethos-U compiler's allocator; the others
/// are older than their names, or found on lifetimes of real programs and on perturbed copies of them.

enum class placement_order : std::uint8_t {
    size,
    size_class,
    area,
    load,
    breadth,
    lifetime,
    birth,
    load_area,
    load_length,
    load_death,
    peak_birth,
    peak_length,
    peak_death,
    peak_distance,
    peak_distance_fine,
    peak_distance_coarse
};

/// Sort ids by falling key; of equals, as they are. A digit of all keys after the other, from the last one,
/// but none in which they do not differ.  O(n * digits that differ)
void sort_by_falling(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key);

/// The largest number in any range of a table: a tree of maxima over it. O(n) to build, O(log n) to ask.
class range_maximum {
public:
    explicit range_maximum(std::vector<byte_count> const& table);
    [[nodiscard]] byte_count over(live_range r) const;

private:
    std::size_t leaves_;
    std::vector<byte_count> tree_;
};

/// The numbers of the shapes in the given order.
///
/// Requires:   `bound` is that of the shapes.
/// Complexity: O(n + p) but for load, which asks a tree of maxima: O(n log p), n = shapes, p = positions.
[[nodiscard]] std::vector<std::uint32_t> order_by(placement_order which, placement_shapes const& all,
                                                  placement_bound const& bound);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit.ipp>
#endif

#endif
