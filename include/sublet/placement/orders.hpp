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

#include <bit>
#include <concepts>
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
inline void sort_by_falling(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key)
{
    constexpr unsigned digit_bits = 11;
    byte_count differ = 0;
    for (std::uint32_t id : ids) differ |= key[id] ^ key[ids[0]];
    std::vector<std::uint32_t> sorted(ids.size()), next(std::size_t{1} << digit_bits);
    for (unsigned shift = 0; shift < 64; shift += digit_bits) {
        auto digit = [&](std::uint32_t id) { return (~key[id] >> shift) % next.size(); };
        if ((differ >> shift) % next.size() == 0) continue;
        next.assign(next.size(), 0);
        for (std::uint32_t id : ids) ++next[digit(id)];
        std::uint32_t before = 0;
        for (std::uint32_t& n : next) {
            std::uint32_t const mine = n;
            n = before;
            before += mine;
        }
        for (std::uint32_t id : ids) sorted[next[digit(id)]++] = id;
        ids.swap(sorted);
    }
}

/// The largest number in any range of a table: a tree of maxima over it. O(n) to build, O(log n) to ask.
class range_maximum {
public:
    explicit range_maximum(std::vector<byte_count> const& table)
        : leaves_(table.size()), tree_(2 * table.size())
    {
        for (std::size_t i = 0; i != leaves_; ++i) tree_[leaves_ + i] = table[i];
        for (std::size_t i = leaves_; i-- > 1;) tree_[i] = larger(tree_[2 * i], tree_[2 * i + 1]);
    }
    [[nodiscard]] byte_count over(live_range r) const
    {
        byte_count most = 0;
        for (std::size_t i = r.first + leaves_, j = r.last + leaves_; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) most = larger(most, tree_[i++]);
            if (j % 2 == 1) most = larger(most, tree_[--j]);
        }
        return most;
    }

private:
    std::size_t leaves_;
    std::vector<byte_count> tree_;
};

/// By position, its place among all of them by rising load; of equals the later one has the lower.
inline std::vector<byte_count> ranks_by_load(std::vector<byte_count> const& live_bytes)
{
    std::vector<std::uint32_t> fullest(live_bytes.size());
    for (std::uint32_t p = 0; p != fullest.size(); ++p) fullest[p] = p;
    sort_by_falling(fullest, live_bytes);
    std::vector<byte_count> rank(fullest.size());
    for (std::size_t r = 0; r != fullest.size(); ++r) rank[fullest[r]] = fullest.size() - r;
    return rank;
}

/// By distance from the peak, counted in positions, its ring: each begins 1/`steps` farther out than the one
/// before, and at least one position.
inline std::vector<std::uint32_t> ring_of_distance(std::size_t positions, std::size_t steps)
{
    std::vector<std::uint32_t> ring;
    ring.reserve(positions + 1);
    std::uint32_t now = 0;
    for (std::size_t begin = 1; ring.size() <= positions; ++now) {
        std::size_t const end = begin + larger<std::size_t>(1, begin / steps);
        for (; begin != end; ++begin) ring.push_back(now);
    }
    return ring;
}

} // namespace detail

/// The numbers of the shapes in the given order.
///
/// Requires:   `bound` is that of the shapes.
/// Complexity: O(n + p) but for load, which asks a tree of maxima: O(n log p), n = shapes, p = positions.
[[nodiscard]] inline std::vector<std::uint32_t> order_by(placement_order which, placement_shapes const& all,
                                                         placement_bound const& bound)
{
    std::size_t const n = all.size();
    std::vector<std::uint32_t> order(n);
    for (std::uint32_t s = 0; s != n; ++s) order[s] = s;
    std::vector<byte_count> key(n);
    auto by = [&](auto key_of) {
        for (std::uint32_t s = 0; s != n; ++s) key[s] = key_of(all.shapes[s]);
        detail::sort_by_falling(order, key);
    };
    auto by_load = [&] {
        detail::range_maximum const most(bound.live_bytes);
        by([&](placement_shape const& s) { return most.over(s.life); });
    };
    auto by_length = [&] { by([](placement_shape const& s) { return byte_count{length(s.life)}; }); };
    auto by_area = [&] { // beyond 64 bits all are equal
        by([](placement_shape const& s) {
            byte_count const width = length(s.life);
            return s.size <= (no_size - 1) / width ? s.size * width : no_size;
        });
    };
    auto at_peak_by = [&](auto key_of) {
        by([&](placement_shape const& s) {
            return contains(s.life, bound.peak_position) ? 1 + key_of(s.life) : 0;
        });
    };
    auto by_ring = [&](std::size_t steps) {
        auto const ring = detail::ring_of_distance(all.positions.size(), steps);
        by([&](placement_shape const& s) {
            step_id const peak = bound.peak_position;
            step_id const distance = s.life.first > peak   ? s.life.first - peak
                                     : s.life.last <= peak ? peak - s.life.last + 1
                                                           : 0;
            return ~byte_count{ring[distance]};
        });
    };
    using enum placement_order;
    by([](placement_shape const& s) { return s.size; });
    switch (which) {
    case size: break;
    case size_class:
        by([](placement_shape const& s) {
            return byte_count{static_cast<unsigned>(std::bit_width(s.size))} << 32 | length(s.life);
        });
        break;
    case area: by_area(); break;
    case load: by_load(); break;
    case load_area:
        by_length();
        by_area();
        by_load();
        break;
    case load_length:
        by_area();
        by_length();
        by_load();
        break;
    case load_death:
        by([](placement_shape const& s) { return byte_count{s.life.last}; });
        by_load();
        break;
    case breadth: {
        detail::range_maximum const best(detail::ranks_by_load(bound.live_bytes));
        by([&](placement_shape const& s) { return best.over(s.life); });
        break;
    }
    case lifetime: by_length(); break;
    case birth: by([](placement_shape const& s) { return ~byte_count{s.life.first}; }); break;
    case peak_birth: at_peak_by([&](live_range life) { return all.positions.size() - life.first; }); break;
    case peak_length: at_peak_by([](live_range life) { return byte_count{length(life)}; }); break;
    case peak_death: at_peak_by([](live_range life) { return byte_count{life.last}; }); break;
    case rings: by_ring(5); break;
    case fine_rings: by_ring(20); break;
    case wide_rings: by_ring(2); break;
    }
    return order;
}

} // namespace sublet

#endif
