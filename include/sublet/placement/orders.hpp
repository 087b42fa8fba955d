// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_ORDERS_HPP
#define SUBLET_PLACEMENT_ORDERS_HPP

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
///     rings        away from the peak, in rings of growing width (fine_rings and wide_rings: of others),
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

#include <sublet/live_range.hpp>
#include <sublet/placement/bound.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

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
    rings,
    fine_rings,
    wide_rings
};

namespace detail {

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

} // namespace detail

/// The numbers of the shapes in the given order.
///
/// Requires:   `bound` is that of the shapes.
/// Complexity: O(n + p) but for load, which asks a tree of maxima: O(n log p), n = shapes, p = positions.
[[nodiscard]] std::vector<std::uint32_t> order_by(placement_order which, placement_shapes const& all,
                                                  placement_bound const& bound);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/orders.ipp>
#endif

#endif
