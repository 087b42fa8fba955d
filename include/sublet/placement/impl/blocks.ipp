// SPDX-License-Identifier: BSL-1.0

/// Division of a packed pool into blocks: shapes in several orders, each to the first block with a gap or to
/// the one that grows least; the lowest end wins, and each block is packed again by itself.

#include <sublet/core/internal/alignment.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/blocks.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_COLD_DECL std::uint32_t first_over_block(placement_shapes const& shapes, byte_count largest)
{
    std::uint32_t s = 0;
    for (; s != shapes.size(); ++s) {
        placement_shape const& shape = shapes.shapes[s];
        byte_count const least = shape.pinned != no_offset ? shape.pinned : shape.phase;
        if (shape.size > largest || least > largest - shape.size) break;
    }
    return s;
}

/// Shapes in blocks; origins are from the begin of the block.
struct block_packing {
    std::vector<std::uint32_t> block; ///< by shape
    std::vector<byte_count> origin;   ///< by shape
    std::vector<byte_count> height;   ///< by block

    /// The begin of each block, and the end of the last, if begins are multiples of `unit`.
    std::vector<byte_count> borders(byte_count unit) const
    {
        std::vector<byte_count> at;
        byte_count end = 0;
        for (byte_count h : height) {
            at.push_back(align_up(end, unit));
            SUBLET_EXPECTS(at.back() != no_offset, "sublet: blocks end beyond 64 bits");
            end = checked_add(at.back(), h);
        }
        at.push_back(end);
        return at;
    }
};

/// Of no use once `poll` has stopped.
SUBLET_COLD_DECL block_packing fill_blocks(placement_shapes const& all,
                                           std::vector<std::uint32_t> const& order, byte_count largest,
                                           bool grows_least, step_poll const& poll)
{
    block_packing result{std::vector<std::uint32_t>(all.size()), std::vector<byte_count>(all.size()), {}};
    std::vector<placed_pieces> placed;
    auto put = [&](std::uint32_t s, std::size_t block, byte_count at) {
        if (block == placed.size()) {
            placed.emplace_back(all);
            result.height.push_back(0);
        }
        placed[block].insert(all, s, at);
        result.block[s] = static_cast<std::uint32_t>(block);
        result.origin[s] = at;
        result.height[block] = larger(result.height[block], at + all.shapes[s].size);
    };
    for (std::uint32_t s : order)
        if (all.shapes[s].pinned != no_offset) put(s, 0, all.shapes[s].pinned);
    for (std::uint32_t s : order) {
        placement_shape const& shape = all.shapes[s];
        if (poll.stops(64)) break;
        if (shape.pinned != no_offset) continue;
        std::size_t block = placed.size();
        byte_count least = no_limit, at = shape.phase;
        for (std::size_t k = 0; k != placed.size() && least != 0; ++k) {
            if (poll.stops(64)) break;
            byte_count const here = placed[k].free_origin(all, s, 0, largest - shape.size);
            if (here == no_offset) continue;
            byte_count const end = here + shape.size;
            byte_count const growth = grows_least && end > result.height[k] ? end - result.height[k] : 0;
            if (growth >= least) continue;
            least = growth;
            block = k;
            at = here;
        }
        put(s, block, at);
    }
    return result;
}

/// The blocks of a placement that is cut at multiples of a distance; what was cut lies in more blocks.
///
///     |  +--+   +--+            border: c and e are cut. Rectangles that are cut by one border are live one
///     |--|c |---|e |------      after the other: they lie at one offset
///     |  +--+   +--+  +--+
///
/// Requires:   each shape fits a block.  O(n)
SUBLET_COLD_DECL block_packing cut_into_blocks(placement_shapes const& all, packing const& whole,
                                               byte_count largest, byte_count unit)
{
    block_packing result{std::vector<std::uint32_t>(all.size()), std::vector<byte_count>(all.size()), {0}};
    byte_count const distance = largest / unit * unit;
    std::vector<sort_key> cut; // {border, , shape}; each shape that is no rectangle is by itself
    auto put = [&](std::uint32_t s, std::size_t block, byte_count at) {
        result.height.resize(larger(result.height.size(), block + 1), 0);
        result.block[s] = static_cast<std::uint32_t>(block);
        result.origin[s] = at;
        result.height[block] = larger(result.height[block], at + all.shapes[s].size);
    };
    std::size_t const most_blocks = all.size();
    for (std::uint32_t s = 0; s != all.size(); ++s) {
        byte_count const origin = whole.origin[s], size = all.shapes[s].size;
        byte_count const block = distance == 0 ? 0 : origin / distance, past = origin - block * distance;
        if (size <= largest && origin <= largest - size) put(s, 0, origin);
        else if (block != 0 && block < most_blocks && size <= distance && past <= distance - size)
            put(s, static_cast<std::size_t>(block), past);
        else cut.push_back({all.is_plain(s) && distance != 0 ? block : no_limit, 0, s});
    }
    sort_by_key(cut);
    std::size_t block = result.height.size();
    byte_count begin = 0, end = 0; // of the shapes of a border
    for (std::size_t i = 0; i != cut.size();) {
        std::size_t last = i + 1;
        while (cut[i].key != no_limit && last != cut.size() && cut[last].key == cut[i].key) ++last;
        auto end_from = [&](byte_count from) {
            for (std::size_t k = i; k != last; ++k)
                end = larger(end, align_up(from, all.shapes[cut[k].id]) + all.shapes[cut[k].id].size);
            return end;
        };
        if (end_from(begin) > largest) {
            ++block;
            begin = end = 0;
            end_from(begin);
        }
        for (; i != last; ++i) put(cut[i].id, block, align_up(begin, all.shapes[cut[i].id]));
        begin = end;
    }
    std::vector<std::uint32_t> number; // of the blocks that are not empty
    std::size_t used = 0;
    for (byte_count h : result.height) {
        number.push_back(static_cast<std::uint32_t>(used));
        if (h != 0) result.height[used++] = h;
    }
    result.height.resize(used);
    for (std::uint32_t& block_of : result.block) block_of = number[block_of];
    return result;
}

/// Reports the height and the bound of the pool instead of those of a block.
class block_control final : public part_control {
public:
    block_control(search_control& control, byte_count best, byte_count bound)
        : part_control(control), best_(best), bound_(bound)
    {
    }
    [[nodiscard]] bool stop(byte_count, byte_count, std::uint64_t nodes) override
    {
        return control_.stop(best_, bound_, nodes);
    }

private:
    byte_count best_, bound_;
};

/// Some of the shapes, `ids` ascending.
SUBLET_COLD_DECL placement_shapes shapes_among(placement_shapes const& all,
                                               std::vector<std::uint32_t> const& ids)
{
    placement_shapes some;
    some.positions = all.positions;
    for (std::uint32_t s : ids) {
        some.shapes.push_back(all.shapes[s]);
        for (shape_piece const& p : all.pieces_of(s)) some.pieces.push_back(p);
        some.first_piece.push_back(static_cast<std::uint32_t>(some.pieces.size()));
    }
    return some;
}

/// From the lowest offset, of equal ones the largest first. Once `poll` has stopped, in any order.
SUBLET_COLD_DECL std::vector<std::uint32_t>
order_of_offsets(placement_shapes const& shapes, std::vector<byte_count> const& origin, step_poll const& poll)
{
    std::vector<std::uint32_t> order;
    std::vector<byte_count> size, below;
    for (std::uint32_t s = 0; s != shapes.size(); ++s) {
        order.push_back(s);
        size.push_back(shapes.shapes[s].size);
        below.push_back(~origin[s]);
    }
    sort_descending(order, size, poll);
    sort_descending(order, below, poll);
    return order;
}

SUBLET_COLD_DECL std::vector<memory_plan::block> split_into_blocks(placement_shapes const& shapes,
                                                                   placement_bound const& bound,
                                                                   byte_count largest, packing& best,
                                                                   search_control& control)
{
    block_control for_block(control, best.height, bound.bytes);
    step_poll const poll(for_block);
    byte_count unit = 1;
    for (placement_shape const& s : shapes.shapes) unit = combine_alignment(unit, s.alignment);
    std::vector<std::vector<std::uint32_t>> orders{order_of_offsets(shapes, best.origin, poll)};
    for (placement_order which : {placement_order::size, placement_order::area, placement_order::load_area,
                                  placement_order::load_death, placement_order::peak_length})
        if (!poll.has_stopped()) orders.push_back(order_by(which, shapes, bound, poll));

    block_packing found;
    auto is_better = [&](block_packing const& next) {
        byte_count const end = next.borders(unit).back(), old = found.borders(unit).back();
        return found.height.empty() || end < old || (end == old && next.height.size() < found.height.size());
    };
    for (std::vector<std::uint32_t> const& order : orders)
        for (bool grows_least : {false, true}) {
            if (poll.has_stopped()) break;
            block_packing next = fill_blocks(shapes, order, largest, grows_least, poll);
            if (!poll.has_stopped() && is_better(next)) found = std::move(next);
        }
    if (found.height.empty()) found = cut_into_blocks(shapes, best, largest, unit);

    std::vector<std::vector<std::uint32_t>> members(found.height.size());
    for (std::uint32_t s = 0; s != shapes.size(); ++s) members[found.block[s]].push_back(s);
    pack_options const small{.visits = 1'000'000, .improve_visits = 1'000'000, .nodes = 10'000};
    for (std::size_t k = 0; k != members.size() && !poll.stops(shapes.positions.size()); ++k) {
        placement_shapes const own = shapes_among(shapes, members[k]);
        placement_bound const least = lower_bound(own, poll);
        if (poll.has_stopped() || found.height[k] <= least.bytes) continue;
        placement::pool_result out;
        out.lower_bound = least.bytes;
        packing const again = pack_shapes(own, least, no_limit, small, for_block, out);
        if (again.height >= found.height[k]) continue;
        found.height[k] = again.height;
        for (std::size_t i = 0; i != members[k].size(); ++i) found.origin[members[k][i]] = again.origin[i];
    }

    std::vector<byte_count> const borders = found.borders(unit);
    std::vector<memory_plan::block> blocks;
    for (std::size_t k = 0; k != found.height.size(); ++k) blocks.push_back({0, borders[k], found.height[k]});
    for (std::uint32_t s = 0; s != shapes.size(); ++s)
        best.origin[s] = borders[found.block[s]] + found.origin[s];
    best.height = borders.back();
    return blocks;
}

} // namespace sublet::detail
