// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_ORDERS_IPP
#define SUBLET_PLACEMENT_IMPL_ORDERS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/orders.hpp>

#include <bit>

namespace sublet::detail {

SUBLET_DECL void sort_by_falling(std::vector<std::uint32_t>& ids, std::vector<byte_count> const& key)
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

SUBLET_DECL range_maximum::range_maximum(std::vector<byte_count> const& table)
    : leaves_(table.size()), tree_(2 * table.size())
{
    for (std::size_t i = 0; i != leaves_; ++i) tree_[leaves_ + i] = table[i];
    for (std::size_t i = leaves_; i-- > 1;) tree_[i] = larger(tree_[2 * i], tree_[2 * i + 1]);
}

SUBLET_DECL byte_count range_maximum::over(live_range r) const
{
    byte_count most = 0;
    for (std::size_t i = r.first + leaves_, j = r.last + leaves_; i < j; i /= 2, j /= 2) {
        if (i % 2 == 1) most = larger(most, tree_[i++]);
        if (j % 2 == 1) most = larger(most, tree_[--j]);
    }
    return most;
}

/// By position, its place among all of them by rising load; of equals the later one has the lower.
SUBLET_DECL std::vector<byte_count> ranks_by_load(std::vector<byte_count> const& live_bytes)
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
SUBLET_DECL std::vector<std::uint32_t> ring_of_distance(std::size_t positions, std::size_t steps)
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<std::uint32_t> order_by(placement_order which, placement_shapes const& all,
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
