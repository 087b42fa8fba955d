// SPDX-License-Identifier: BSL-1.0

/// Ejection from three starts in turn: the best packing, and two that begin at the peak. Each tries
/// ceilings by bisection between the bound and the best; steps double with each round of the three, and begin
/// with more for many shapes. Pieces are found in blocks sorted by position, and random numbers come from
/// xorshift, so equal seeds give equal packings.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/improve.hpp>

// --- sorted pieces ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL void sorted_pieces::insert(piece_entry const& piece)
{
    std::size_t const which = block_of(piece);
    std::vector<piece_entry>& items = blocks_[which].items;
    items.push_back(piece);
    std::size_t at = items.size() - 1;
    for (; at != 0 && piece < items[at - 1]; --at) items[at] = items[at - 1];
    items[at] = piece;
    blocks_[which].lives = hull(blocks_[which].lives, piece.when);
    if (items.size() == block_capacity)
        split(which, at + 1 == block_capacity ? block_capacity - 1 : block_capacity / 2);
}

SUBLET_DECL void sorted_pieces::erase(piece_entry const& piece)
{
    std::vector<piece_entry>& items = blocks_[block_of(piece)].items;
    std::size_t at = partition_point(items.size(), [&](std::size_t i) { return !(items[i] < piece); });
    for (; at + 1 != items.size(); ++at) items[at] = items[at + 1];
    items.pop_back();
}

SUBLET_DECL std::uint64_t sorted_pieces::collect_overlaps(live_range when,
                                                          std::vector<piece_entry>& found) const
{
    std::uint64_t visits = blocks_.size();
    for (block const& b : blocks_) {
        if (b.lives.first >= when.last || when.first >= b.lives.last) continue;
        visits += b.items.size();
        for (piece_entry const& p : b.items)
            if (p.when.first < when.last && when.first < p.when.last) found.push_back(p);
    }
    return visits;
}

SUBLET_DECL std::size_t sorted_pieces::block_of(piece_entry const& piece) const
{
    return partition_point(blocks_.size() - 1, [&](std::size_t i) { return piece < blocks_[i + 1].lowest; });
}

// --- ejection --------------------------------------------------------------------------------------------

[[nodiscard]] constexpr byte_count square_root(byte_count n) noexcept
{
    byte_count root = 0;
    for (byte_count bit = byte_count{1} << 31; bit != 0; bit /= 2)
        if ((root + bit) * (root + bit) <= n) root += bit;
    return root;
}

SUBLET_COLD_DECL ejection::ejection(placement_shapes const& all, std::uint64_t seed, step_poll const& poll)
    : all_(&all), random_(seed ^ 0x9e3779b97f4a7c15u)
{
    if (random_ == 0) random_ = 1;
    byte_count heaviest = 0;
    for (placement_shape const& s : all.shapes) {
        if (poll.stops(32)) return;
        initial_penalty_.push_back(square_root(s.size) * length(s.life));
        heaviest = larger(heaviest, initial_penalty_.back());
    }
    unsigned excess = 0; // an initial penalty has 28 bits
    while (heaviest >> excess >> 28 != 0) ++excess;
    for (byte_count& g : initial_penalty_) g = (g >> excess) + 1;
    penalty_ = initial_penalty_;
    origin_.assign(all.size(), no_offset);

    std::uint64_t life = 0;
    for (shape_piece const& p : all.pieces) life += length(p.when);
    if (poll.stops(all.pieces.size())) return;
    std::size_t const positions = all.positions.size() + 1;
    while (positions >> shift_ >= 1024 || (all.pieces.size() << shift_) / 2 < life) ++shift_;
    by_begin_.resize((positions >> shift_) + 2);
    by_end_.resize(by_begin_.size());
}

SUBLET_DECL std::uint64_t ejection::random_below(std::uint64_t n)
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 11) % n;
}

// --- improve ---------------------------------------------------------------------------------------------

SUBLET_COLD_DECL packing improve(placement_shapes const& all, placement_bound const& bound, packing best,
                                 improve_options options, search_control& control, std::uint32_t& tried)
{
    static constexpr placement_order peak_orders[] = {placement_order::peak_birth,
                                                      placement_order::peak_length};
    constexpr std::uint64_t most_visits = 10'000'000; // of a start packing
    if (best.height == no_limit) return best;
    ejection eject(all, options.seed, step_poll(control, best.height, bound.bytes));
    std::uint64_t spent = 0; // on start packings
    auto stop = [&] { return control.stop(best.height, bound.bytes, eject.steps()); };
    auto is_over = [&] {
        return best.height <= bound.bytes || spent + eject.visits() >= options.visits || stop();
    };
    std::vector<byte_count> starts[1 + 2] = {best.origin};
    ejection_limits limits{.steps = larger<std::uint64_t>(64, all.size() / 128)};
    for (std::size_t round = 0; round != 40 && !is_over(); limits.steps *= round % 3 == 2 ? 2 : 1, ++round) {
        std::vector<byte_count>& start = starts[round % 3];
        if (round == 1 || round == 2) {
            packing peak_packing = fit(all, order_by(peak_orders[round - 1], all, bound), fit_rule::first_fit,
                                       {.ceiling = 2 * best.height,
                                        .known_height = bound.bytes,
                                        .visits = smaller(options.visits / 4, most_visits),
                                        .stop = {&control}});
            spent += peak_packing.visits + all.size();
            ++tried;
            if (peak_packing.height < best.height) best = peak_packing;
            start = peak_packing.height == no_limit ? best.origin : std::move(peak_packing.origin);
        }
        limits.visits = options.visits - smaller(spent, options.visits);
        byte_count failed_below = bound.bytes; // all lower ceilings failed in this round
        while (best.height - failed_below > (best.height - bound.bytes) / 8 && !is_over()) {
            byte_count const ceiling = failed_below + (best.height - 1 - failed_below) / 2;
            if (!eject.lower(start, ceiling, limits, stop)) {
                failed_below = ceiling + 1;
                continue;
            }
            best.origin = start;
            best.height = 0;
            for (std::size_t s = 0; s != all.size(); ++s)
                best.height = larger(best.height, start[s] + all.shapes[s].size);
        }
    }
    best.visits += spent + eject.visits();
    return best;
}

} // namespace sublet::detail
