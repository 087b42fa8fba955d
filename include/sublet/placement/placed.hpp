// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PLACED_HPP
#define SUBLET_PLACEMENT_PLACED_HPP

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

#include <sublet/live_range.hpp>
#include <sublet/placement/byte_unions.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class gap_choice : std::uint8_t { lowest, tightest };

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
                                         byte_count highest, gap_choice choice = gap_choice::lowest);

    /// As free_origin(), on top of all that is in the way: quick, whatever gaps there are.
    [[nodiscard]] byte_count origin_on_top(placement_shapes const& all, std::uint32_t shape,
                                           byte_count highest);

private:
    static constexpr std::uint32_t none = byte_unions::none;
    static constexpr std::uint32_t events_of_a_bucket = 32;
    using stretch = byte_unions::stretch;
    using bytes = byte_unions::byte_union;
    struct union_cursor {
        stretch next;
        std::uint32_t recent;
        shape_piece mine; // the rectangle that asks
    };
    struct near_cursor {
        shape_piece const* at;
        shape_piece const* stop;
        shape_piece mine;
    };

    /// As `overlaps`, for ranges that are known not to be empty.
    static bool meet(live_range a, live_range b) { return a.first < b.last && b.first < a.last; }

    /// All that a shape must keep clear of, from below.
    template <class Shapes>
    void gather(Shapes const& all, std::uint32_t shape)
    {
        unions_.clear();
        nearby_.clear();
        for (shape_piece const& p : all.pieces_of(shape)) {
            std::uint32_t const first = bucket_of_[p.when.first], last = bucket_of_[p.when.last - 1];
            auto ask = [&](bytes const& u) {
                if (u.lowest != none) unions_.push_back({stretches_[u.lowest], u.recent, p});
            };
            auto look = [&](std::uint32_t bucket) {
                auto const& items = near_[bucket];
                if (!items.empty()) nearby_.push_back({items.data(), items.data() + items.size(), p});
            };
            look(first);
            if (first != last) look(last);
            // Who is born in the first bucket is in its list, or lives all its time.
            for (std::size_t node = first + leaves_; node != 0; node /= 2) ask(living_[node]);
            std::size_t i = first + leaves_ + 1, j = last + leaves_ + 1 - is_wide_[last];
            for (; i < j; i /= 2, j /= 2) {
                if (i % 2 == 1) ask(born_[i++]);
                if (j % 2 == 1) ask(born_[--j]);
            }
        }
        visits_ += 4 + unions_.size() + nearby_.size();
    }

    /// From `at` upwards, the lowest origin that nothing is in the way of.
    byte_count lift(placement_shape const& shape, byte_count at, byte_count highest);

    /// How high an origin that was lifted may rise until it meets something; `no_offset`: as high as it
    /// likes.
    byte_count lowest_above();

    void insert(shape_piece const& p);

    /// By ascending begin; behind its equals.
    template <class Piece>
    void list(std::vector<Piece>& items, Piece const& p)
    {
        items.push_back(p);
        std::size_t at = items.size() - 1;
        for (; at != 0 && items[at - 1].begin > p.begin; --at) items[at] = items[at - 1];
        items[at] = p;
    }

    std::size_t leaves_ = 0;
    std::vector<std::uint32_t> bucket_of_;       // by position
    std::vector<unsigned char> is_wide_;         // by bucket: it has several positions
    std::vector<bytes> born_, living_;           // by node
    std::vector<std::vector<shape_piece>> near_; // by wide bucket: who is born or dies in it
    byte_unions stretches_;
    std::vector<union_cursor> unions_;
    std::vector<near_cursor> nearby_;
    std::uint64_t visits_ = 0;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/placed.ipp>
#endif

#endif
