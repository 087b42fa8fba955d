// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_ORDERS_HPP
#define SUBLET_PLACEMENT_ORDERS_HPP

/// The orders in which buffers are offered a place, each an idea of who is hard to please.
///
///     size        the largest first                       breadth   position by position, the fullest first
///     area        size times length of life               load      who lives where it is fullest
///     lifetime    the longest life                        birth     as they come: what an allocator sees
///
/// Ties go to the larger, then to the earlier birth: among equal sizes, in the order of birth, lowest fit is
/// exact (it is the left-edge algorithm), which makes this tie-break worth a percent or two.
///
/// Source: size, Pisarchyk and Lee 2020; breadth, ibid.; load, the Ethos-U compiler's allocator; the others
/// are older than their names.

#include <sublet/live_range.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class placement_order : std::uint8_t { size, breadth, area, load, lifetime, birth };

namespace detail {

/// The largest number in any range of a table: a tree of maxima over it. O(n) to build, O(log n) to ask.
class range_maximum {
public:
    explicit range_maximum(std::vector<byte_count> const& table) : leaves_(table.size()), tree_(2 * table.size())
    {
        std::copy(table.begin(), table.end(), tree_.begin() + static_cast<std::ptrdiff_t>(leaves_));
        for (std::size_t i = leaves_; i-- > 1;) tree_[i] = std::max(tree_[2 * i], tree_[2 * i + 1]);
    }
    [[nodiscard]] byte_count over(live_range r) const
    {
        byte_count most = 0;
        for (std::size_t i = r.first + leaves_, j = r.last + leaves_; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) most = std::max(most, tree_[i++]);
            if (j % 2 == 1) most = std::max(most, tree_[--j]);
        }
        return most;
    }

private:
    std::size_t leaves_;
    std::vector<byte_count> tree_;
};

/// For each buffer, the rank of its fullest position among all positions by falling load.
template <class Buffer>
std::vector<byte_count> ranks_of_fullest(std::vector<Buffer> const& buffers, std::vector<byte_count> const& live_bytes)
{
    std::vector<step_id> fullest(live_bytes.size());
    for (std::size_t p = 0; p != fullest.size(); ++p) fullest[p] = static_cast<step_id>(p);
    std::sort(fullest.begin(), fullest.end(), [&](step_id a, step_id b) {
        return live_bytes[a] != live_bytes[b] ? live_bytes[a] > live_bytes[b] : a < b;
    });
    std::vector<byte_count> goodness(live_bytes.size()); // by position; the fullest has the highest
    for (std::size_t r = 0; r != fullest.size(); ++r) goodness[fullest[r]] = fullest.size() - r;
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
    case placement_order::breadth: key = detail::ranks_of_fullest(buffers, live_bytes); break;
    case placement_order::area:
        for (std::size_t i = 0; i != key.size(); ++i) {
            byte_count const size = buffers[i].size, width = length(buffers[i].life);
            key[i] = width == 0 || size <= (no_size - 1) / width ? size * width : no_size; // beyond 64 bits all are equal
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
    std::vector<std::uint32_t> order(buffers.size());
    for (std::size_t i = 0; i != order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (key[a] != key[b]) return key[a] > key[b];
        if (buffers[a].size != buffers[b].size) return buffers[a].size > buffers[b].size;
        return a < b;
    });
    return order;
}

} // namespace sublet

#endif
