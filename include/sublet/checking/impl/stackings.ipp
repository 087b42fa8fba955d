// SPDX-License-Identifier: BSL-1.0

/// Costs of pools are joined by sorting. Groups are a union-find with distances on the links; their parts
/// become one hull at each position, by a sweep with the lowest begin and the highest end in rank sets.
/// Stackings are tried order by order, each group as low as those before it allow; at one position, layer
/// by layer over sets.

#include <sublet/checking/detail/stackings.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

// --- allowed pools ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::uint64_t allowed_pools::key(buffer_id root, pool_id pool)
{
    return std::uint64_t{root} << 32 | pool;
}

SUBLET_DECL byte_count allowed_pools::cost(buffer_id root, pool_id pool) const
{
    std::size_t const at = first_index(root, pool);
    bool const is_there = at != pools.size() && pools[at].key == key(root, pool);
    return is_there && pools[at].id == constraint_count[root] ? pools[at].tie : no_limit;
}

SUBLET_DECL byte_count allowed_pools::least_cost(buffer_id root) const
{
    byte_count least = no_limit;
    for (std::size_t at = first_index(root, 0); at != pools.size() && pools[at].key >> 32 == root; ++at)
        if (pools[at].id == constraint_count[root]) least = smaller(least, pools[at].tie);
    return least;
}

SUBLET_DECL std::uint32_t allowed_pools::count(buffer_id root) const
{
    std::uint32_t all = 0;
    for (std::size_t at = first_index(root, 0); at != pools.size() && pools[at].key >> 32 == root; ++at)
        all += pools[at].id == constraint_count[root];
    return all;
}

SUBLET_DECL std::size_t allowed_pools::first_index(buffer_id root, pool_id pool) const
{
    return partition_point(pools.size(), [&](std::size_t i) { return pools[i].key >= key(root, pool); });
}

SUBLET_DECL allowed_pools allowed_pools_of(placement_problem const& problem,
                                           table<buffer_id, buffer_id> const& root)
{
    std::size_t const n = problem.buffers.size();
    table<buffer_id, unsigned char> is_anchored(n, 0), has_unanchored(n, 0), has_choice(n, 0);
    for (placement_problem::colocation const& c : problem.colocated) is_anchored[c.buffer] = 1;
    for (buffer_id b = 0; b != n; ++b)
        if (!is_anchored[b]) has_unanchored[root[b]] = 1;
    auto is_constraining = [&](buffer_id b) { return !is_anchored[b] || !has_unanchored[root[b]]; };

    std::vector<sort_key> candidates; // {buffer and pool, cost, unused}
    for (placement_problem::choice const& c : problem.choices) {
        SUBLET_EXPECTS(c.buffer < n, "sublet: a choice names buffer %, but there are only % buffers",
                       c.buffer, n);
        has_choice[c.buffer] = 1;
        if (is_constraining(c.buffer))
            candidates.push_back({allowed_pools::key(c.buffer, c.pool), c.cost, 0});
    }
    allowed_pools result;
    result.constraint_count.assign(n, 0);
    for (buffer_id b = 0; b != n; ++b) {
        if (!is_constraining(b)) continue;
        ++result.constraint_count[root[b]];
        if (!has_choice[b]) candidates.push_back({allowed_pools::key(b, problem.buffers[b].pool), 0, 0});
    }
    sort_by_key(candidates); // for each buffer and pool the cheapest first
    std::vector<sort_key> by_root;
    for (std::size_t i = 0; i != candidates.size(); ++i) {
        if (i != 0 && candidates[i - 1].key == candidates[i].key) continue;
        auto const member = buffer_id::of(candidates[i].key >> 32);
        auto const pool = pool_id::of(candidates[i].key);
        by_root.push_back({allowed_pools::key(root[member], pool), candidates[i].tie, member});
    }
    sort_by_key(by_root);
    for (sort_key const& candidate : by_root) {
        if (result.pools.empty() || result.pools.back().key != candidate.key)
            result.pools.push_back({candidate.key, 0, 0});
        result.pools.back().tie = checked_add(result.pools.back().tie, candidate.tie);
        ++result.pools.back().id;
    }
    return result;
}

// --- solid parts -----------------------------------------------------------------------------------------

/// The colocation groups, with the distance of each buffer above its root.
class weighted_union_find {
public:
    explicit weighted_union_find(placement_problem const& problem)
        : parent_(problem.buffers.size()), distance_(problem.buffers.size(), 0),
          is_inconsistent(parent_.size(), 0)
    {
        for (buffer_id b = 0; b != parent_.size(); ++b) parent_[b] = b;
        for (placement_problem::colocation const& c : problem.colocated) {
            SUBLET_EXPECTS(c.buffer < parent_.size() && c.anchor < parent_.size(),
                           "sublet: buffer % is colocated with buffer %, but there are only % buffers",
                           c.buffer, c.anchor, parent_.size());
            buffer_id low = root_of(c.anchor), high = root_of(c.buffer);
            // Distance of the root of c.buffer above that of c.anchor. Distances below a root wrap around.
            byte_count distance = distance_[c.anchor] + c.distance - distance_[c.buffer];
            if (low == high) {
                is_inconsistent[low] |= distance != 0;
                continue;
            }
            if (high < low) {
                buffer_id const first = high;
                high = low;
                low = first;
                distance = -distance;
            }
            parent_[high] = low;
            distance_[high] = distance;
            is_inconsistent[low] |= is_inconsistent[high];
        }
    }

    /// Compresses the path: afterwards up(b) is the distance above the root.
    buffer_id root_of(buffer_id b)
    {
        path_.clear();
        for (; parent_[b] != b; b = parent_[b]) path_.push_back(b);
        for (std::size_t i = path_.size(); i-- > 1;) { // nearest to the root first
            distance_[path_[i - 1]] += distance_[path_[i]];
            parent_[path_[i - 1]] = b;
        }
        return b;
    }
    std::int64_t distance_above_root(buffer_id b) const { return static_cast<std::int64_t>(distance_[b]); }

private:
    table<buffer_id, buffer_id> parent_;
    std::vector<buffer_id> path_;
    table<buffer_id, byte_count> distance_;

public:
    table<buffer_id, unsigned char> is_inconsistent; ///< by root
};

/// Replaces the parts of one group, from `first` on, by one part at each position: the hull of the active
/// parts. Those are kept in rank sets by begin and by end, which give the lowest and the highest.
template <class Part>
void replace_by_hulls(std::vector<Part>& parts, std::size_t first)
{
    enum : unsigned { is_end, is_begin };
    std::vector<sort_key> by_begin, by_end, events;
    for (std::size_t i = first; i != parts.size(); ++i) {
        auto const id = static_cast<std::uint32_t>(i - first);
        by_begin.push_back({parts[i].begin, 0, id});
        by_end.push_back({descending(parts[i].end), 0, id});
        events.push_back({parts[i].when.first, is_begin, id});
        events.push_back({parts[i].when.last, is_end, id});
    }
    sort_by_key(by_begin);
    sort_by_key(by_end);
    sort_by_key(events);
    std::vector<std::uint32_t> low_rank(by_begin.size()), high_rank(by_begin.size());
    for (std::uint32_t r = 0; r != by_begin.size(); ++r) {
        low_rank[by_begin[r].id] = r;
        high_rank[by_end[r].id] = r;
    }
    rank_set lows(by_begin.size()), highs(by_begin.size());
    auto first_of = [](rank_set const& set) { return set.contains(0) ? 0 : set.above(0); };
    std::size_t alive = 0;
    position_id since = 0;
    std::vector<Part> hulls;
    for (sort_key const& e : events) {
        if (alive != 0 && e.key != since) {
            Part const& low = parts[first + by_begin[first_of(lows)].id];
            Part const& high = parts[first + by_end[first_of(highs)].id];
            hulls.push_back({{since, position_id::of(e.key)}, low.begin, high.end, low.buffer});
        }
        since = position_id::of(e.key);
        if (e.tie == is_begin) {
            lows.insert(low_rank[e.id]);
            highs.insert(high_rank[e.id]);
            ++alive;
        } else {
            lows.erase(low_rank[e.id]);
            highs.erase(high_rank[e.id]);
            --alive;
        }
    }
    parts.resize(first);
    for (Part const& h : hulls) parts.push_back(h);
}

SUBLET_DECL solid_parts solid_parts_of(placement_problem const& problem)
{
    std::size_t const n = problem.buffers.size();
    weighted_union_find colocations(problem);
    std::vector<sort_key> gaps, members; // by buffer, by root
    for (std::size_t i = 0; i != problem.gaps.size(); ++i) {
        SUBLET_EXPECTS(problem.gaps[i].buffer < n,
                       "sublet: a gap names buffer %, but there are only % buffers", problem.gaps[i].buffer,
                       n);
        gaps.push_back({problem.gaps[i].buffer, problem.gaps[i].when.first, static_cast<std::uint32_t>(i)});
    }
    sort_by_key(gaps);

    solid_parts result;
    result.root.resize(n);
    result.above.assign(n, 0);
    result.needs_place.assign(n, 0);
    for (buffer_id b = 0; b != n; ++b) {
        result.root[b] = colocations.root_of(b);
        placement_problem::buffer const& buffer = problem.buffers[b];
        if (buffer.size == 0 || is_empty(buffer.life)) continue;
        members.push_back({result.root[b], 0, b});
        SUBLET_EXPECTS(problem.period == 0 || (buffer.life.first < problem.period &&
                                               buffer.life.last - buffer.life.first <= problem.period),
                       "sublet: buffer % of a problem of period % begins after a round, or lives longer", b,
                       problem.period);
    }
    result.is_inconsistent = colocations.is_inconsistent;
    if (!problem.colocated.empty()) sort_by_key(members);

    for (std::size_t i = 0, last = 0; i != members.size(); i = last) {
        std::int64_t lowest = colocations.distance_above_root(members[i].id);
        for (last = i; last != members.size() && members[last].key == members[i].key; ++last)
            lowest = smaller(lowest, colocations.distance_above_root(members[last].id));
        std::size_t const first_part = result.parts.size();
        for (std::size_t m = i; m != last; ++m) {
            buffer_id const b = members[m].id;
            placement_problem::buffer const& buffer = problem.buffers[b];
            byte_count const above = static_cast<byte_count>(colocations.distance_above_root(b) - lowest);
            result.above[b] = above;
            position_id const round = problem.period == 0 ? no_position : position_id{problem.period};
            auto add = [&](live_range when, byte_count begin, byte_count end) {
                auto add_part = [&](position_id first, position_id after) {
                    if (first < after && begin < end)
                        result.parts.push_back({{first, after}, above + begin, above + end, b});
                };
                add_part(when.first, smaller(when.last, round));
                if (when.last > round) add_part(larger(when.first, round) - round, when.last - round);
            };
            position_id solid_from = buffer.life.first;
            std::size_t g =
                gaps.empty() ? 0
                             : partition_point(gaps.size(), [&](std::size_t k) { return gaps[k].key >= b; });
            for (; g != gaps.size() && gaps[g].key == b; ++g) {
                placement_problem::gap const& gap = problem.gaps[gaps[g].id];
                live_range const when{larger(gap.when.first, solid_from),
                                      smaller(gap.when.last, buffer.life.last)};
                if (is_empty(when)) continue;
                add({solid_from, when.first}, 0, buffer.size);
                add(when, gap.begin, gap.end);
                solid_from = when.last;
            }
            add({solid_from, buffer.life.last}, 0, buffer.size);
        }
        if (result.parts.size() == first_part) continue;
        if (last - i > 1 || problem.period != 0) replace_by_hulls(result.parts, first_part);
        for (std::size_t m = i; m != last; ++m) result.needs_place[members[m].id] = 1;
    }
    return result;
}

// --- stacking enumerator ---------------------------------------------------------------------------------

SUBLET_DECL rigid_group stacking_enumerator::group_of(buffer_id root) const
{
    rigid_group found;
    found.root = root;
    for (solid_part const& p : solid_.parts)
        if (solid_.root[p.buffer] == root) found.parts.push_back(p);
    for (buffer_id b = 0; b != solid_.root.size(); ++b) {
        if (solid_.root[b] != root || !solid_.needs_place[b]) continue;
        placement_problem::buffer const& buffer = problem_.buffers[b];
        found.members.push_back(b);
        found.size = larger(found.size, static_cast<std::int64_t>(solid_.above[b] + buffer.size));
        if (buffer.pinned != no_offset)
            found.pin = static_cast<std::int64_t>(buffer.pinned - solid_.above[b]);
    }
    return found;
}

SUBLET_DECL std::int64_t stacking_enumerator::least_origin(rigid_group const& g, std::int64_t least)
{
    if (g.pin != rigid_group::nowhere)
        return g.pin >= least && is_allowed(g, g.pin) ? g.pin : rigid_group::nowhere;
    byte_count period = 1, step = 1, above = 0;
    for (buffer_id b : g.members) {
        byte_count const alignment = combine_alignment(problem_.buffers[b].alignment, limits_.alignment);
        period = combine_alignment(period, alignment);
        if (alignment <= step) continue;
        step = alignment;
        above = solid_.above[b];
    }
    byte_count const first = align_up(static_cast<byte_count>(least) + above, step) - above;
    for (std::uint64_t tried = 0; tried != period / step; ++tried) {
        byte_count const origin = first + tried * step;
        if (origin >= byte_count{1} << 62 || tried > max_tries) {
            hit_limit_ = true;
            break;
        }
        if (is_allowed(g, static_cast<std::int64_t>(origin))) return static_cast<std::int64_t>(origin);
    }
    return rigid_group::nowhere;
}

SUBLET_DECL std::int64_t stacking_enumerator::find_below(byte_count height,
                                                         std::vector<rigid_group> const& groups)
{
    bool const is_any = height >= byte_count{1} << 62;
    height_limit_ = is_any ? rigid_group::nowhere : static_cast<std::int64_t>(height);
    std::vector<std::int64_t> origin(groups.size(), rigid_group::nowhere);
    return extend(groups, origin, 0);
}

SUBLET_DECL std::int64_t stacking_enumerator::find_below_at(position_id position, byte_count height,
                                                            std::vector<rigid_group> const& groups)
{
    std::size_t const n = groups.size();
    std::vector<solid_part> at(n);
    std::vector<std::uint64_t> first(n, 0); // the equal group before it, which comes first
    std::int64_t bytes = 0;
    for (std::size_t g = 0; g != n; ++g) {
        for (solid_part const& p : groups[g].parts)
            if (contains(p.when, position)) at[g] = p;
        bytes += difference(at[g].end, at[g].begin);
        for (std::size_t h = 0; h != g; ++h) {
            auto is_alone = [&](std::size_t i) { return groups[i].members.size() == 1; };
            placement_problem::buffer const &x = problem_.buffers[groups[g].root],
                                            &y = problem_.buffers[groups[h].root];
            if (is_alone(g) && is_alone(h) && x.alignment == y.alignment && x.pinned == no_offset &&
                y.pinned == no_offset && at[g].begin == at[h].begin && at[g].end == at[h].end)
                first[g] = std::uint64_t{1} << h;
        }
    }
    bool const is_any = height >= byte_count{1} << 62;
    std::int64_t const limit = is_any ? rigid_group::nowhere : static_cast<std::int64_t>(height);
    struct layer_entry {
        std::uint64_t set = 0;
        std::int64_t end = 0, rest = 0; // bytes that are not in the set
    };
    std::vector<layer_entry> layer{{0, 0, bytes}}, next;
    std::uint64_t tries = 0;
    for (std::size_t placed = 0; placed != n; ++placed) {
        next.clear();
        for (layer_entry const& e : layer)
            for (std::size_t g = 0; g != n; ++g) {
                std::uint64_t const own = std::uint64_t{1} << g;
                if ((e.set & own) != 0 || (e.set & first[g]) != first[g]) continue;
                std::int64_t const least = larger(std::int64_t{0}, e.end - difference(at[g].begin, 0));
                std::int64_t const origin = least_origin(groups[g], least);
                std::int64_t const rest = e.rest - difference(at[g].end, at[g].begin);
                if (origin == rigid_group::nowhere || origin >= limit) continue;
                std::int64_t const end = origin + difference(at[g].end, 0);
                if (end + rest >= limit) continue;
                next.push_back({e.set | own, end, rest});
            }
        std::sort(next.begin(), next.end(), [](layer_entry const& a, layer_entry const& b) {
            return a.set != b.set ? a.set < b.set : a.end < b.end;
        });
        auto const is_same = [](layer_entry const& a, layer_entry const& b) { return a.set == b.set; };
        next.erase(std::unique(next.begin(), next.end(), is_same), next.end());
        tries += next.size();
        if (tries > max_tries) {
            hit_limit_ = true;
            return rigid_group::nowhere;
        }
        layer.swap(next);
    }
    return layer.empty() ? rigid_group::nowhere : layer.front().end;
}

SUBLET_DECL bool stacking_enumerator::can_interleave(std::vector<rigid_group> const& groups)
{
    std::size_t const n = groups.size();
    above_.assign(n * n, rigid_group::nowhere);
    for (std::size_t a = 0; a != n; ++a)
        for (std::size_t b = 0; b != n; ++b) {
            if (a == b) continue;
            if (groups[a].size >= std::int64_t{1} << 58) hit_limit_ = true; // sums are 62 bits
            if (a < b && can_pass(groups[a], groups[b])) return true;
            std::int64_t& least = above_[a * n + b];
            for_coexisting_parts(groups[a], groups[b], [&](solid_part const& x, solid_part const& y) {
                std::int64_t const distance_above_root = difference(x.end, y.begin);
                least =
                    least == rigid_group::nowhere ? distance_above_root : larger(least, distance_above_root);
            });
        }
    if (hit_limit_) return false;
    std::vector<unsigned char> is_passed(n, 0);
    for (std::size_t first = 0; first != n; ++first)
        if (closes_cycle(first, first, 0, is_passed)) return true;
    return false;
}

SUBLET_DECL std::int64_t stacking_enumerator::difference(byte_count a, byte_count b)
{
    return static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b);
}

SUBLET_DECL bool stacking_enumerator::can_pass(rigid_group const& a, rigid_group const& b)
{
    std::int64_t highest_from = -rigid_group::nowhere, lowest_to = rigid_group::nowhere;
    for_coexisting_parts(a, b, [&](solid_part const& x, solid_part const& y) {
        highest_from = larger(highest_from, difference(x.begin, y.end));
        lowest_to = smaller(lowest_to, difference(x.end, y.begin));
    });
    if (highest_from < lowest_to) return false; // every distance between overlaps some parts
    bool found = false;
    for_coexisting_parts(a, b, [&](solid_part const& under, solid_part const& over) {
        std::int64_t const distance_above_root = difference(under.end, over.begin);
        bool is_apart = true, is_below = false;
        for_coexisting_parts(a, b, [&](solid_part const& x, solid_part const& y) {
            bool const y_is_below = distance_above_root <= difference(x.begin, y.end);
            is_apart = is_apart && (y_is_below || distance_above_root >= difference(x.end, y.begin));
            is_below = is_below || y_is_below;
        });
        found = found || (is_apart && is_below);
    });
    return found;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as there are groups, a few
SUBLET_DECL bool stacking_enumerator::closes_cycle(std::size_t first, std::size_t at,
                                                   std::int64_t distance_above_root,
                                                   std::vector<unsigned char>& is_passed)
{
    std::size_t const n = is_passed.size();
    is_passed[at] = 1;
    bool found = false;
    for (std::size_t next = first; next != n && !found; ++next) {
        std::int64_t const step = above_[at * n + next];
        if (step == rigid_group::nowhere) continue;
        if (next == first) found = distance_above_root + step <= 0;
        else found = is_passed[next] == 0 && closes_cycle(first, next, distance_above_root + step, is_passed);
    }
    is_passed[at] = 0;
    return found;
}

SUBLET_DECL bool stacking_enumerator::is_allowed(rigid_group const& g, std::int64_t origin) const
{
    for (buffer_id b : g.members) {
        placement_problem::buffer const& wanted = problem_.buffers[b];
        byte_count const at = static_cast<byte_count>(origin) + solid_.above[b];
        if (at % wanted.alignment != 0 || at % limits_.alignment != 0) return false;
        if (wanted.pinned != no_offset && wanted.pinned != at) return false;
    }
    return solid_.is_inconsistent[g.root] == 0;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as there are groups, a few
SUBLET_DECL std::int64_t stacking_enumerator::extend(std::vector<rigid_group> const& groups,
                                                     std::vector<std::int64_t>& origin, std::int64_t height)
{
    bool is_complete = true;
    for (std::size_t g = 0; g != groups.size(); ++g) {
        if (origin[g] != rigid_group::nowhere) continue;
        is_complete = false;
        std::int64_t least = 0;
        for (std::size_t below = 0; below != groups.size(); ++below)
            if (origin[below] != rigid_group::nowhere)
                for_coexisting_parts(groups[below], groups[g], [&](solid_part const& x, solid_part const& y) {
                    auto const reach = static_cast<std::int64_t>(x.end) - static_cast<std::int64_t>(y.begin);
                    least = larger(least, origin[below] + reach);
                });
        std::int64_t const at = least_origin(groups[g], least);
        if (at == rigid_group::nowhere) continue;
        if (at + groups[g].size >= height_limit_) {
            hit_limit_ = hit_limit_ || height_limit_ == rigid_group::nowhere;
            continue;
        }
        origin[g] = at;
        std::int64_t const found = extend(groups, origin, larger(height, at + groups[g].size));
        origin[g] = rigid_group::nowhere;
        if (found != rigid_group::nowhere) return found;
    }
    return is_complete && height < height_limit_ ? height : rigid_group::nowhere;
}

} // namespace sublet::detail
