// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_FIT_HPP
#define SUBLET_PLACEMENT_DETAIL_FIT_HPP

/// Greedy placement: shapes in a given order, each into a gap that the earlier ones left; and the orders.
/// No guaranteed factor. A query visits O(log p) unions of bytes, p = positions, for any number of shapes.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- byte unions -----------------------------------------------------------------------------------------

/// Many sets of bytes that only grow, each kept as a sorted list of maximal intervals.
///
///     bytes     0   4   8  12  16
///     union     [===)   [===)          two intervals
///     + [4, 8)  [===========)          one interval: adjacent ones are merged
///
/// Shapes that are packed without gaps are a single interval, however many they are. The intervals of all
/// unions lie in one table; each links to the next below and above in its union.

namespace sublet::detail {

class byte_unions {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct interval {
        byte_count begin, end;
        std::uint32_t below, above; ///< their numbers, or `none`
    };
    struct byte_union {
        std::uint32_t lowest = none;
        std::uint32_t recent = none; ///< the interval changed last
    };

    /// Removes all intervals; earlier unions become invalid.
    void clear()
    {
        intervals_.clear();
        unused_ = none;
    }
    /// Number of intervals made since the last clear(), absorbed ones included.
    [[nodiscard]] std::size_t size() const { return intervals_.size(); }
    [[nodiscard]] interval const& operator[](std::uint32_t number) const { return intervals_[number]; }

    /// Adds the bytes [begin, end) to a union. Returns the number of intervals visited.
    ///
    /// Requires:   begin < end; the union was empty, or filled here since the last clear().
    /// Complexity: linear in the intervals between the last bytes and these, usually few.
    std::uint64_t unite(byte_union& all, byte_count begin, byte_count end);

private:
    std::vector<interval> intervals_;
    std::uint32_t unused_ = none; // head of the free list
};

// --- placed pieces ---------------------------------------------------------------------------------------

/// The pieces placed so far, with one query: a free origin for a shape.
///
///                  0 - 7                   Buckets of positions are the leaves of a segment tree. A node has
///             /             \              the bytes of pieces that start under it, and of pieces that cover
///          0 - 3           4 - 7           it but not its parent.
///         /     \         /     \          [....) meets pieces that start under 2 - 3 or 4 - 5, and those
///      0 - 1   2 - 3   4 - 5   6 - 7       that cover 1, 0 - 1, 0 - 3 or 0 - 7; pieces that start or end
///      0   1   2   3   4   5   6   7       inside bucket 1 are examined one by one.
///          [...................)
///
/// The bytes of a node are a byte_union. A query visits the unions of all rectangles of a shape in turn; each
/// raises the origin above what overlaps, until none does. A bucket holds as many positions as have a few
/// begins and ends; so a rectangle has few nodes, and one that covers no node is in at most two lists.

enum class fit_rule : std::uint8_t { first_fit, best_fit };

/// Complexity: a query visits about 2 log p unions and buckets, p = positions, upwards to the gap found; an
///             insertion walks from the place of the last one. `visits` counts these steps.
class placed_pieces {
public:
    explicit placed_pieces(placement_shapes const& all);

    /// O(buckets)
    void clear();
    [[nodiscard]] std::uint64_t visits() const { return visits_; }

    /// The shape may overlap others.
    void insert(placement_shapes const& all, std::uint32_t shape, byte_count origin);

    /// The origin from `from` to `highest` at which an aligned shape is free of overlap: the lowest, or the
    /// lowest of those with the least room above; `no_offset` if there is none.
    ///
    /// Requires: highest + the size of the shape is below 2^64 - 1.
    [[nodiscard]] byte_count free_origin(placement_shapes const& all, std::uint32_t shape, byte_count from,
                                         byte_count highest, fit_rule choice = fit_rule::first_fit);

    /// As free_origin(), but above all pieces that overlap in time; does not search gaps.
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
        shape_piece own; // the queried rectangle
    };
    struct bucket_range { // half-open
        std::uint32_t first, last;
    };
    struct partial_cursor {
        shape_piece const* at;
        shape_piece const* stop;
        shape_piece own;
    };

    static bool overlap_nonempty(live_range a, live_range b) { return a.first < b.last && b.first < a.last; }

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
            // Pieces that start in the first bucket are in its list, or cover it.
            for (std::size_t node = first + tree_.leaves; node != 0; node /= 2) add_union(covering_[node]);
            tree_.each(bucket_range{first + 1, last + 1 - is_wide_[last]},
                       [&](std::size_t node) { add_union(starting_[node]); });
        }
        visits_ += 4 + union_cursors_.size() + partial_cursors_.size();
    }

    byte_count next_free_origin(placement_shape const& shape, byte_count at, byte_count highest);
    /// How far the origin may rise before it meets an obstacle; `no_offset`: without limit.
    byte_count next_obstacle();

    void insert(shape_piece const& p);

    template <class Piece>
    void insert_sorted(std::vector<Piece>& items, Piece const& p)
    {
        items.push_back(p);
        std::size_t at = items.size() - 1;
        for (; at != 0 && items[at - 1].begin > p.begin; --at) items[at] = items[at - 1];
        items[at] = p;
    }

    segment_nodes tree_ = {};
    table<position_id, std::uint32_t> bucket_of_;
    std::vector<unsigned char> is_wide_;            // by bucket: it has several positions
    std::vector<bytes> starting_, covering_;        // by node
    std::vector<std::vector<shape_piece>> partial_; // by wide bucket: pieces that start or end in it
    byte_unions intervals_;
    std::vector<union_cursor> union_cursors_;
    std::vector<partial_cursor> partial_cursors_;
    std::uint64_t visits_ = 0;
};

// --- fit -------------------------------------------------------------------------------------------------

///     gaps during the live range of x, from below:   [12 bytes]  [8 bytes]  [no end]        x: 8 bytes
///     first fit   takes the lowest that is large enough (12)
///     best fit    takes the smallest that is large enough (8)
///
/// No order is best for all problems; best_packing.hpp tries several. Source: the greedy by size of Pisarchyk
/// and Lee, "Efficient memory management for deep neural net inference", MLSys workshop 2020 (best fit), for
/// any order, windows, alignment and pins.

struct packing {
    std::vector<byte_count> origin; ///< by shape; `no_offset` if not placed
    byte_count height = 0;          ///< `no_limit` if it was given up
    std::uint64_t visits = 0;       ///< intervals and pieces examined
};

/// A control that is asked now and then. If it stops, the packing is given up; or, if one is needed, all
/// other shapes are stacked above those that are placed, in O(n).
struct fit_stop {
    search_control* control = nullptr;
    bool needs_packing = false;
    [[nodiscard]] bool operator()() const { return control != nullptr && control->stop(no_limit, 0, 0); }
    [[nodiscard]] step_poll poll() const { return control != nullptr ? step_poll(*control) : step_poll(); }

    /// True if the packing ends here: complete, or given up. False if 64 bits do not suffice for a stack.
    bool finish(placement_shapes const& all, packing& unfinished) const;
};

struct fit_limits {
    byte_count ceiling = no_limit - 1;   ///< give up if a shape would end above it
    byte_count known_height = 0;         ///< preferred offsets that do not exceed this height are free
    std::uint64_t visits = no_limit;     ///< give up beyond
    std::uint64_t gap_visits = no_limit; ///< then put all others on top instead of into gaps
    fit_stop stop = {};                  ///< asked once in some thousand visits
};

/// Places the shapes of `order`, pinned ones first.
///
/// Requires:   `order` names no shape twice; no two pins conflict; `placed` is made of `all`.
/// Ensures:    no two shapes overlap in live range and bytes; every origin is aligned, or a pin. A preferred
///             origin is taken if it is free and does not raise the height. The placement is given up as
///             soon as it must end above the ceiling, or exceeds the visits.
/// Complexity: one insertion and one query of placed_pieces for each shape.
[[nodiscard]] packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                          fit_rule choice, fit_limits limits, placed_pieces& placed);

[[nodiscard]] inline packing fit(placement_shapes const& all, std::vector<std::uint32_t> const& order,
                                 fit_rule choice = fit_rule::first_fit, fit_limits limits = {})
{
    placed_pieces placed(all);
    return fit(all, order, choice, limits, placed);
}

// --- orders ----------------------------------------------------------------------------------------------

/// Each order puts those shapes first that it assumes are hardest to place.
///
///     size, area, load, lifetime          largest size, size times length, load in the live range, length
///     size_class, size_class_death        by power of two of the size, then longest, latest end
///     length_class                        by power of two of the length, then earliest begin
///     area_death                          by area, then latest end
///     breadth                             position by position, the highest load first
///     birth                               by begin: the order of an allocator
///     load_area, load_length              by load; ties by area, by length,
///     load_birth, load_death              by earliest begin, by latest end
///     peak_birth, peak_length, peak_death   shapes live at the peak by begin, length, latest end, then the
///                                         others by size
///     peak_distance, .._fine, .._coarse   by class of distance from the peak, of growing width, then by size
///
///             4   3  2 1 0 1 2  3   4     the distance class of a shape: where it is nearest to the peak
///           |---|---|--|-|*|-|--|---|---|
///
/// Ties go to the larger size, then to the earlier begin: among equal sizes, first fit by begin is exact
/// (the left-edge algorithm), and networks have many equal sizes. At the peak all bytes of the bound are
/// live, so a height near the bound needs them packed without gaps: the orders by the peak stack them first.
/// Shapes near the peak are hard to place, too, distant ones are not; hence the distance classes.
///
/// Source: size, Pisarchyk and Lee 2020; breadth, ibid.; load, the Ethos-U compiler's allocator; the others
/// are common, or were found on live ranges of real programs and on perturbed copies of them.
enum class placement_order : std::uint8_t {
    size,
    size_class,
    size_class_death,
    length_class,
    area,
    area_death,
    load,
    breadth,
    lifetime,
    birth,
    load_area,
    load_length,
    load_birth,
    load_death,
    peak_birth,
    peak_length,
    peak_death,
    peak_distance,
    peak_distance_fine,
    peak_distance_coarse
};

/// Range maximum queries by a segment tree. O(n) to build, O(log n) a query.
class range_maximum {
public:
    explicit range_maximum(std::vector<byte_count> const& table);
    [[nodiscard]] byte_count over(live_range r) const;

private:
    segment_nodes tree_;
    std::vector<byte_count> most_; // by node
};

/// The numbers of the shapes in the given order.
///
/// Requires:   `bound` is that of the shapes.
/// Ensures:    once `poll` has stopped, they may be in any order.
/// Complexity: O(n + p), for orders by load or breadth O(n log p), n = shapes, p = positions.
[[nodiscard]] std::vector<std::uint32_t> order_by(placement_order which, placement_shapes const& all,
                                                  placement_bound const& bound, step_poll const& poll = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fit.ipp>
#endif

#endif
