// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_ORDERS_HPP
#define SUBLET_PLACEMENT_ORDERS_HPP

/// The orders in which buffers are offered a place, each an idea of who is hard to please.
///
///     size         the largest first                      load      who lives where it is fullest
///     size_class   the longest life, but those of twice   breadth   position by position, the fullest first
///                  the size before                        lifetime  the longest life
///     area         size times length of life              birth     as they come: what an allocator sees
///     peak_length  who is alive at the peak before all others, the longest life first, the others by size
///     peak_death   the same, the last to die first
///
/// Ties go to the larger, then to the earlier birth: among equal sizes, in the order of birth, lowest fit is
/// exact (it is the left-edge algorithm), and networks have many equal sizes. At the peak all
/// bytes of the bound are alive, so the arena is low only if they lie without a gap: the two orders by the
/// peak stack them as a pyramid, long lives at the bottom, and fit the rest round it.
///
/// Source: size, Pisarchyk and Lee 2020; breadth, ibid.; load, the Ethos-U compiler's allocator; the others
/// are older than their names, or found on the files that bench/lifetimes.cpp reads.

#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class placement_order : std::uint8_t {
    size,
    peak_length,
    peak_death,
    area,
    size_class,
    load,
    breadth,
    birth,
    lifetime
};

namespace detail {

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

/// For each buffer, the rank of its fullest position among all positions by falling load.
template <class Buffer>
std::vector<byte_count> ranks_of_fullest(std::vector<Buffer> const& buffers,
                                         std::vector<byte_count> const& live_bytes)
{
    std::vector<keyed> fullest;
    fullest.reserve(live_bytes.size());
    for (std::size_t p = 0; p != live_bytes.size(); ++p)
        fullest.push_back({falling(live_bytes[p]), 0, static_cast<step_id>(p)});
    sort_keyed(fullest);
    std::vector<byte_count> goodness(live_bytes.size()); // by position; the fullest has the highest
    for (std::size_t r = 0; r != fullest.size(); ++r) goodness[fullest[r].who] = fullest.size() - r;
    range_maximum const best(goodness);
    std::vector<byte_count> key;
    for (Buffer const& b : buffers) key.push_back(best.over(b.life));
    return key;
}

} // namespace detail

/// The buffers' indexes in the given order, by falling key.
///
/// Requires:   `buffers` are sorted by birth; `live_bytes` is their load by position.
/// Complexity: O(n log n + p log p) time, O(n + p) memory, n = buffers, p = positions.
template <std::same_as<placement_buffer> Buffer>
[[nodiscard]] std::vector<std::uint32_t> order_by(placement_order which, std::vector<Buffer> const& buffers,
                                                  std::vector<byte_count> const& live_bytes)
{
    std::vector<byte_count> key(buffers.size(), 0);
    switch (which) {
    case placement_order::size: break; // the first tie-break does it
    case placement_order::peak_length:
    case placement_order::peak_death: {
        step_id peak = 0;
        for (step_id p = 1; p < live_bytes.size(); ++p)
            if (live_bytes[p] > live_bytes[peak]) peak = p;
        for (std::size_t i = 0; i != key.size(); ++i) {
            live_range const life = buffers[i].life;
            if (contains(life, peak))
                key[i] = which == placement_order::peak_death ? life.last : length(life);
        }
        break;
    }
    case placement_order::size_class:
        for (std::size_t i = 0; i != key.size(); ++i)
            key[i] = byte_count{static_cast<unsigned>(std::bit_width(buffers[i].size))} << 32 |
                     length(buffers[i].life);
        break;
    case placement_order::breadth: key = detail::ranks_of_fullest(buffers, live_bytes); break;
    case placement_order::area:
        for (std::size_t i = 0; i != key.size(); ++i) {
            byte_count const size = buffers[i].size, width = length(buffers[i].life);
            key[i] = width == 0 || size <= (no_size - 1) / width ? size * width
                                                                 : no_size; // beyond 64 bits all are equal
        }
        break;
    case placement_order::load: {
        detail::range_maximum const load(live_bytes);
        for (std::size_t i = 0; i != key.size(); ++i) key[i] = load.over(buffers[i].life);
        break;
    }
    case placement_order::lifetime:
        for (std::size_t i = 0; i != key.size(); ++i) key[i] = length(buffers[i].life);
        break;
    case placement_order::birth:
        for (std::size_t i = 0; i != key.size(); ++i) key[i] = ~byte_count{buffers[i].life.first};
        break;
    }
    std::vector<keyed> offers;
    offers.reserve(key.size());
    for (std::size_t i = 0; i != key.size(); ++i)
        offers.push_back({falling(key[i]), falling(buffers[i].size), static_cast<std::uint32_t>(i)});
    sort_keyed(offers);
    std::vector<std::uint32_t> order;
    order.reserve(offers.size());
    for (keyed const& o : offers) order.push_back(o.who);
    return order;
}

} // namespace sublet

#endif
