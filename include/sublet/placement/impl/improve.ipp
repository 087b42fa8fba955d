// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/improve.hpp>

// --- sorted pieces ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL void sorted_pieces::insert(lying_piece const& piece)
{
    std::size_t const which = block_of(piece);
    std::vector<lying_piece>& items = blocks_[which].items;
    items.push_back(piece);
    std::size_t at = items.size() - 1;
    for (; at != 0 && piece < items[at - 1]; --at) items[at] = items[at - 1];
    items[at] = piece;
    blocks_[which].lives = hull(blocks_[which].lives, piece.when);
    if (items.size() == most) split(which, at + 1 == most ? most - 1 : most / 2);
}

SUBLET_DECL void sorted_pieces::erase(lying_piece const& piece)
{
    std::vector<lying_piece>& items = blocks_[block_of(piece)].items;
    std::size_t at = partition_point(items.size(), [&](std::size_t i) { return !(items[i] < piece); });
    for (; at + 1 != items.size(); ++at) items[at] = items[at + 1];
    items.pop_back();
}

SUBLET_DECL std::uint64_t sorted_pieces::list(live_range when, std::vector<lying_piece>& found) const
{
    std::uint64_t visits = blocks_.size();
    for (block const& b : blocks_) {
        if (b.lives.first >= when.last || when.first >= b.lives.last) continue;
        visits += b.items.size();
        for (lying_piece const& p : b.items)
            if (p.when.first < when.last && when.first < p.when.last) found.push_back(p);
    }
    return visits;
}

SUBLET_DECL std::size_t sorted_pieces::block_of(lying_piece const& piece) const
{
    return partition_point(blocks_.size() - 1, [&](std::size_t i) { return piece < blocks_[i + 1].lowest; });
}

// --- ejection --------------------------------------------------------------------------------------------

/// The largest integer whose square is not above `n`.
[[nodiscard]] constexpr byte_count square_root(byte_count n) noexcept
{
    byte_count root = 0;
    for (byte_count bit = byte_count{1} << 31; bit != 0; bit /= 2)
        if ((root + bit) * (root + bit) <= n) root += bit;
    return root;
}

SUBLET_DECL ejection::ejection(placement_shapes const& all, std::uint64_t seed)
    : all_(&all), random_(seed ^ 0x9e3779b97f4a7c15u)
{
    if (random_ == 0) random_ = 1;
    byte_count heaviest = 0;
    for (placement_shape const& s : all.shapes) {
        guess_.push_back(square_root(s.size) * length(s.life));
        heaviest = larger(heaviest, guess_.back());
    }
    unsigned excess = 0; // a guess has 28 bits
    while (heaviest >> excess >> 28 != 0) ++excess;
    for (byte_count& g : guess_) g = (g >> excess) + 1;
    weight_ = guess_;
    origin_.assign(all.size(), no_offset);

    std::uint64_t life = 0;
    for (shape_piece const& p : all.pieces) life += length(p.when);
    std::size_t const positions = all.positions.size() + 1;
    while (positions >> shift_ >= 1024 || (all.pieces.size() << shift_) / 2 < life) ++shift_;
    by_begin_.resize((positions >> shift_) + 2);
    by_end_.resize(by_begin_.size());
}

SUBLET_DECL std::uint64_t
ejection::below(std::uint64_t n) // xorshift: Marsaglia, Journal of Statistical Software 2003
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 11) % n;
}

// --- improve ---------------------------------------------------------------------------------------------

SUBLET_DECL packing improve(placement_shapes const& all, placement_bound const& bound, packing best,
                            improve_options options, search_driver& driver, std::uint32_t& tried)
{
    static constexpr placement_order pyramids[] = {placement_order::peak_birth, placement_order::peak_length};
    constexpr std::uint64_t most_visits = 10'000'000; // of one of them: nobody asks the driver meanwhile
    if (best.height == no_limit) return best;
    ejection eject(all, options.seed);
    std::uint64_t spent = 0; // on pyramids
    auto stop = [&] { return driver.stop(best.height, bound.bytes, eject.steps()); };
    auto is_over = [&] {
        return best.height <= bound.bytes || spent + eject.visits() >= options.visits || stop();
    };
    std::vector<byte_count> starts[1 + 2] = {best.origin};
    ejection_limits limits{.steps = 64};
    for (std::size_t lap = 0; lap != 40 && !is_over(); limits.steps *= lap % 3 == 2 ? 2 : 1, ++lap) {
        std::vector<byte_count>& start = starts[lap % 3];
        if (start.empty()) {
            packing pyramid = fit(all, order_by(pyramids[lap - 1], all, bound), gap_choice::lowest,
                                  {.ceiling = 2 * best.height,
                                   .expected = bound.bytes,
                                   .visits = smaller(options.visits / 4, most_visits)});
            spent += pyramid.visits + all.size();
            ++tried;
            if (pyramid.height < best.height) best = pyramid;
            start = pyramid.height == no_limit ? best.origin : std::move(pyramid.origin);
        }
        limits.visits = options.visits - smaller(spent, options.visits);
        byte_count untried = bound.bytes; // all below it has failed, in this lap
        while (best.height - untried > (best.height - bound.bytes) / 8 && !is_over()) {
            byte_count const ceiling = untried + (best.height - 1 - untried) / 2;
            if (!eject.lower(start, ceiling, limits, stop)) {
                untried = ceiling + 1;
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
