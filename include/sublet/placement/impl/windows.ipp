// SPDX-License-Identifier: BSL-1.0

/// Exact search around the highest shape: shapes in a window of positions move, those that cross its borders
/// are pinned. A window that cannot be lowered is doubled, then searched with more nodes.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/portfolio.hpp>
#include <sublet/placement/detail/windows.hpp>

namespace sublet::detail {

/// Ranges of positions in which a part of the shapes is searched exactly; the others keep their origins.
///
///     peak   ─ ─ ─ ─ +--x--+ ─ ─         the window ends where few shapes cross; those that do are pinned,
///        |---+  +----+--+--+  +---       and only the part of them in the window counts
///            |  |       |     |
///       -----+--+-------+-----+---
///               a             b
class search_windows {
public:
    SUBLET_COLD search_windows(placement_shapes const& all, step_poll const& poll)
        : all_(all), poll_(poll), begun_(all.positions.size() + 2), ended_(begun_)
    {
        for (placement_shape const& s : all.shapes) {
            if (poll.stops(2)) return;
            ++begun_[s.life.first + 1];
            ++ended_[s.life.last];
        }
        for (std::size_t p = 1; p != begun_.size(); ++p) {
            begun_[p] += begun_[p - 1];
            ended_[p] += ended_[p - 1];
        }
    }

    /// Around a live range, with up to `most` shapes; empty if there are more in it.
    live_range around(live_range life, std::uint32_t most) const
    {
        auto spanning = [&](position_id at) { return begun_[at] - ended_[at]; };
        live_range best = life;
        std::uint32_t const own = overlapping(life);
        if (own > most) return {};
        for (position_id at = life.first; overlapping({at, life.last}) <= own + (most - own) / 2; --at) {
            if (spanning(at) < spanning(best.first)) best.first = at;
            if (at == 0) break;
        }
        for (position_id at = life.last; at != all_.positions.size(); ++at) {
            if (overlapping({best.first, at}) > most) break;
            if (spanning(at) < spanning(best.last)) best.last = at;
        }
        return best;
    }

    /// The shapes in a window, as a problem of its own; `ids` gets their numbers.
    SUBLET_COLD placement_shapes inside(live_range window, std::vector<byte_count> const& origin,
                                        std::vector<std::uint32_t>& ids) const
    {
        std::vector<sort_key> by_begin;
        for (std::uint32_t s = 0; s != begun_[window.last] && !poll_.stops(2); ++s) {
            live_range const now = within(s, window);
            if (now.first < now.last) by_begin.push_back({now.first, 0, s});
        }
        sort_by_key(by_begin);
        ids.clear();
        placement_shapes own;
        for (sort_key const& k : by_begin) {
            placement_shape shape = all_.shapes[k.id];
            if (shape.life.first < window.first || window.last < shape.life.last) shape.pinned = origin[k.id];
            shape.life = shifted(within(k.id, window), window);
            if (poll_.stops(all_.pieces_of(k.id).size())) break;
            for (shape_piece const& p : all_.pieces_of(k.id))
                if (live_range const when = common(p.when, window); when.first < when.last)
                    own.pieces.push_back({shifted(when, window), p.begin, p.end});
            own.shapes.push_back(shape);
            own.first_piece.push_back(static_cast<std::uint32_t>(own.pieces.size()));
            ids.push_back(k.id);
        }
        auto const first = all_.positions.begin() + window.first;
        own.positions.assign(first, first + (window.last - window.first) + 1);
        return own;
    }

private:
    static live_range common(live_range a, live_range b)
    {
        return {larger(a.first, b.first), smaller(a.last, b.last)};
    }
    static live_range shifted(live_range r, live_range window)
    {
        return {r.first - window.first, r.last - window.first};
    }
    std::uint32_t overlapping(live_range r) const { return begun_[r.last] - ended_[r.first]; }
    /// From the first piece of a shape in the window to the last; empty if there is none.
    live_range within(std::uint32_t s, live_range window) const
    {
        live_range found;
        for (shape_piece const& p : all_.pieces_of(s))
            if (live_range const when = common(p.when, window); when.first < when.last)
                found = found.first < found.last ? live_range{found.first, when.last} : when;
        return found;
    }

    placement_shapes const& all_;
    step_poll const& poll_;
    table<position_id, std::uint32_t> begun_, ended_; // shapes that begin below it, or end at or below
};

/// Shapes of the first window around a peak, and nodes of its search for each of them. Both grow if that
/// fails; the number of shapes up to max_searched_shapes.
inline constexpr std::uint32_t first_window_shapes = 250;
inline constexpr std::uint64_t first_window_nodes = 16;

/// Reports the height of all shapes, not that of the part that is searched.
class window_control final : public part_control {
public:
    /// Requires: both outlive this.
    window_control(search_control& control, byte_count const& height) : part_control(control), height_(height)
    {
    }
    [[nodiscard]] bool stop(byte_count, byte_count bound, std::uint64_t nodes) override
    {
        return control_.stop(height_, bound, nodes);
    }

private:
    byte_count const& height_;
};

SUBLET_COLD_DECL packing repair_windows(placement_shapes const& shapes, placement_bound const& goal,
                                        std::uint64_t nodes, std::uint64_t seed, packing best,
                                        search_control& control, placement::pool_result& out)
{
    step_poll const poll(control);
    search_windows const windows(shapes, poll);
    window_control of_window(control, best.height);
    std::vector<std::uint32_t> ids;
    std::uint32_t most = first_window_shapes;
    std::uint64_t nodes_each = first_window_nodes;
    auto top = [&](std::uint32_t s) { return best.origin[s] + shapes.shapes[s].size; };
    for (std::uint64_t spent = 0;
         best.height > goal.bytes && spent < nodes && !control.stop(best.height, goal.bytes, 0);) {
        std::uint32_t peak = 0;
        while (top(peak) != best.height) ++peak;
        live_range const window = windows.around(shapes.shapes[peak].life, most);
        bool is_lower = false;
        spent += 1 + shapes.size() / 1000;
        if (window.first < window.last) {
            placement_shapes const own = windows.inside(window, best.origin, ids);
            if (poll.has_stopped()) break;
            byte_count const least = larger(goal.bytes, lower_bound(own).bytes);
            packing now;
            now.height = best.height;
            for (std::uint32_t s : ids) now.origin.push_back(best.origin[s]);
            spent += own.size();
            if (least < best.height && is_searched(own)) {
                search_options const options{
                    .nodes = smaller(nodes_each * own.size(), nodes - smaller(spent, nodes)), .seed = seed};
                minimize_result const found = minimize(own, least, std::move(now), options, of_window);
                out.nodes += found.nodes;
                spent += found.nodes;
                is_lower = found.best.height < best.height;
                for (std::size_t i = 0; i != ids.size() && is_lower; ++i)
                    best.origin[ids[i]] = found.best.origin[i];
            }
        }
        if (is_lower) {
            best.height = 0;
            for (std::uint32_t s = 0; s != shapes.size(); ++s) best.height = larger(best.height, top(s));
            most = first_window_shapes;
        } else if (most < max_searched_shapes) {
            most *= 2;
        } else {
            if (nodes_each >= 1'000'000) break;
            most = first_window_shapes;
            nodes_each *= 4;
        }
    }
    return best;
}

} // namespace sublet::detail
