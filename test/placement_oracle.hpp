// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_PLACEMENT_ORACLE_HPP
#define SUBLET_TEST_PLACEMENT_ORACLE_HPP

/// Brute force for small placement problems: a table of solid bytes by position, all orders of the buffers,
/// all offsets. Of the library only the problem type is used.

#include <sublet/core/placement_problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

/// The buffers of one pool. Colocated buffers form one group; each other buffer is a group.
struct placement_oracle {
    using bytes = std::int64_t;
    static constexpr bytes unplaceable = std::numeric_limits<bytes>::max();

    struct extent {
        bytes begin = 0, end = 0;
        bool is_solid() const { return begin < end; }
    };
    struct part {
        sublet::buffer_id buffer;
        bytes distance; ///< above the group's lowest
    };
    struct group {
        std::vector<part> parts;
        std::vector<extent> solid; ///< by position, above the origin
        bytes size = 0;
        bool clashes = false; ///< its distances are contradictory
    };

    sublet::placement_problem const& problem;
    sublet::pool_id pool;
    std::vector<group> groups;
    std::vector<std::size_t> group_of; ///< by buffer; `none` if it needs no bytes
    bytes pool_alignment = 1;
    static constexpr std::size_t none = ~std::size_t{0};

    explicit placement_oracle(sublet::placement_problem const& p, sublet::pool_id of = 0)
        : problem(p), pool(of), group_of(p.buffers.size(), none)
    {
        if (pool < p.pools.size()) pool_alignment = static_cast<bytes>(p.pools[pool].alignment);
        std::size_t const n = p.buffers.size();
        std::vector<bytes> height(n, 0);
        std::vector<std::size_t> label(n, none);
        for (std::size_t b = 0; b != n; ++b) {
            if (label[b] != none || p.buffers[b].pool != pool) continue;
            label[b] = b;
            for (bool changed = true; changed;) {
                changed = false;
                for (sublet::placement_problem::colocation const& c : p.colocated) {
                    auto const d = static_cast<bytes>(c.distance);
                    if ((label[c.buffer] == b) == (label[c.anchor] == b)) continue;
                    bool const up = label[c.anchor] == b;
                    label[up ? c.buffer : c.anchor] = b;
                    height[up ? c.buffer : c.anchor] = up ? height[c.anchor] + d : height[c.buffer] - d;
                    changed = true;
                }
            }
            add_group(b, label, height);
        }
    }

    /// The least origin of group g from `least` on that respects its pin and alignments.
    bytes least_origin(std::size_t g, bytes least) const
    {
        bytes period = pool_alignment, pin = unplaceable;
        for (part const& p : groups[g].parts) {
            sublet::placement_problem::buffer const& b = problem.buffers[p.buffer];
            period = std::lcm(period, static_cast<bytes>(b.alignment));
            if (b.pinned != sublet::no_offset) pin = static_cast<bytes>(b.pinned) - p.distance;
        }
        if (groups[g].clashes || least < 0) return groups[g].clashes ? unplaceable : least_origin(g, 0);
        if (pin != unplaceable) return pin >= least && is_allowed(g, pin) ? pin : unplaceable;
        for (bytes origin = least; origin < least + period; ++origin)
            if (is_allowed(g, origin)) return origin;
        return unplaceable;
    }
    bool is_allowed(std::size_t g, bytes origin) const
    {
        for (part const& p : groups[g].parts) {
            sublet::placement_problem::buffer const& b = problem.buffers[p.buffer];
            bytes const at = origin + p.distance;
            if (at < 0 || at % static_cast<bytes>(b.alignment) != 0 || at % pool_alignment != 0) return false;
            if (b.pinned != sublet::no_offset && at != static_cast<bytes>(b.pinned)) return false;
        }
        return !groups[g].clashes;
    }

    /// Whether two groups share no solid byte at any position.
    bool is_apart(std::size_t a, bytes at_a, std::size_t b, bytes at_b) const
    {
        return for_common(a, b, [&](extent x, extent y) {
            return at_a + x.end <= at_b + y.begin || at_b + y.end <= at_a + x.begin;
        });
    }
    bool is_above(std::size_t a, bytes at_a, std::size_t b, bytes at_b) const
    {
        return for_common(a, b, [&](extent x, extent y) { return at_b + y.end <= at_a + x.begin; });
    }
    bool meets(std::size_t a, std::size_t b) const
    {
        return !for_common(a, b, [](extent, extent) { return false; });
    }

    /// By group.
    bool is_valid(std::vector<bytes> const& origin) const
    {
        for (std::size_t a = 0; a != groups.size(); ++a) {
            if (!is_allowed(a, origin[a])) return false;
            for (std::size_t b = 0; b != a; ++b)
                if (!is_apart(a, origin[a], b, origin[b])) return false;
        }
        return true;
    }
    bytes height(std::vector<bytes> const& origin) const
    {
        bytes top = 0;
        for (std::size_t g = 0; g != groups.size(); ++g) top = std::max(top, origin[g] + groups[g].size);
        return top;
    }

    /// By buffer, as a placement has them: whether each buffer that needs one has an offset, and no other,
    /// and all end within `capacity`.
    bool is_valid(std::vector<sublet::byte_count> const& offset, sublet::byte_count capacity) const
    {
        for (std::size_t b = 0; b != offset.size(); ++b)
            if (problem.buffers[b].pool == pool && group_of[b] == none && offset[b] != sublet::no_offset)
                return false;
        std::vector<bytes> origin(groups.size());
        for (std::size_t g = 0; g != groups.size(); ++g) {
            for (part const& p : groups[g].parts) {
                if (offset[p.buffer] == sublet::no_offset) return false;
                bytes const at = static_cast<bytes>(offset[p.buffer]) - p.distance;
                if (&p == &groups[g].parts.front()) origin[g] = at;
                if (origin[g] != at) return false;
            }
        }
        return is_valid(origin) && static_cast<sublet::byte_count>(height(origin)) <= capacity;
    }

    /// The solid bytes at a position.
    bytes live_bytes(std::size_t position) const
    {
        bytes sum = 0;
        for (group const& g : groups)
            if (position < g.solid.size()) sum += g.solid[position].end - g.solid[position].begin;
        return sum;
    }

    /// Each as low as those before it in `order` allow, by group; empty if one cannot be placed.
    std::vector<bytes> stacked(std::vector<std::size_t> const& order) const
    {
        std::vector<bytes> origin(groups.size(), 0);
        for (std::size_t i = 0; i != order.size(); ++i) {
            bytes least = 0;
            for (std::size_t j = 0; j != i; ++j)
                if (meets(order[i], order[j]))
                    least = std::max(least, origin[order[j]] + min_separation(order[j], order[i]));
            origin[order[i]] = least_origin(order[i], least);
            if (origin[order[i]] == unplaceable) return {};
        }
        return origin;
    }

    // --- all orders --------------------------------------------------------------------------------------

    /// The height of the lowest stacking of these groups, or `unplaceable`: in every order, each as low as
    /// those before it allow.
    bytes lowest_stacking(std::vector<bool> const& of) const
    {
        orders all{*this, std::vector<bool>(of.size()), std::vector<bytes>(of.size(), 0), {}, unplaceable};
        for (std::size_t g = 0; g != of.size(); ++g) all.is_placed[g] = !of[g];
        for (std::size_t a = 0; a != groups.size(); ++a)
            for (std::size_t b = 0; b != groups.size(); ++b)
                all.min_separation.push_back(min_separation(a, b));
        all.extend(0, none);
        return all.best;
    }
    bytes lowest_stacking() const { return lowest_stacking(std::vector<bool>(groups.size(), true)); }

    // --- all offsets -------------------------------------------------------------------------------------

    struct grid_answer {
        bytes placement = unplaceable; ///< valid, possibly interlocking
        bytes stacking = unplaceable;
    };
    /// With each offset below `limit`.
    grid_answer by_grid(bytes limit) const
    {
        grid_answer found;
        std::vector<bytes> origin(groups.size(), 0);
        for (;;) {
            bytes const top = height(origin);
            if (top < found.stacking && is_valid(origin)) {
                found.placement = std::min(found.placement, top);
                if (is_stacking(origin)) found.stacking = top;
            }
            std::size_t g = 0;
            while (g != groups.size() && ++origin[g] == limit) origin[g++] = 0;
            if (g == groups.size()) return found;
        }
    }
    /// The height of the lowest placement below `limit`, or `unplaceable`: all offsets, in any vertical order
    /// at each position.
    bytes lowest_placement(bytes limit) const
    {
        offsets all{*this, std::vector<bytes>(groups.size(), 0), limit};
        all.extend(0, 0);
        return all.best == limit ? unplaceable : all.best;
    }
    /// Whether a group of `of` has no byte that is solid whenever any of its bytes is. If there is none, one
    /// of any two groups is above the other at all positions: the one with the higher such byte.
    bool can_interleave(std::vector<bool> const& of) const
    {
        for (std::size_t g = 0; g != groups.size(); ++g) {
            bytes highest_begin = 0, lowest_end = groups[g].size;
            for (extent const& e : groups[g].solid)
                if (e.is_solid()) {
                    highest_begin = std::max(highest_begin, e.begin);
                    lowest_end = std::min(lowest_end, e.end);
                }
            if (of[g] && highest_begin >= lowest_end) return true;
        }
        return false;
    }
    bool can_interleave() const { return can_interleave(std::vector<bool>(groups.size(), true)); }
    /// Whether there is a placement that is no stacking, with each offset below `limit`, ignoring alignments
    /// and pins.
    bool has_other_than_stackings(bytes limit) const
    {
        std::vector<bytes> origin(groups.size(), 0);
        for (;;) {
            bool holds = true;
            for (std::size_t a = 0; a != groups.size(); ++a)
                for (std::size_t b = 0; b != a; ++b) holds = holds && is_apart(a, origin[a], b, origin[b]);
            if (holds && !is_stacking(origin)) return true;
            std::size_t g = 0;
            while (g != groups.size() && ++origin[g] == limit) origin[g++] = 0;
            if (g == groups.size()) return false;
        }
    }
    /// The number of combinations of offsets.
    double offset_combinations(bytes limit) const
    {
        double result = 1;
        for (std::size_t g = 0; g != groups.size(); ++g) result *= static_cast<double>(limit);
        return result;
    }

    bool is_stacking(std::vector<bytes> const& origin) const
    {
        std::vector<std::size_t> order;
        for (std::size_t g = 0; g != groups.size(); ++g) order.push_back(g);
        do {
            bool holds = true;
            for (std::size_t i = 0; i != order.size(); ++i)
                for (std::size_t j = 0; j != i; ++j)
                    holds = holds && is_above(order[i], origin[order[i]], order[j], origin[order[j]]);
            if (holds) return true;
        } while (std::next_permutation(order.begin(), order.end()));
        return false;
    }

private:
    static constexpr bytes apart = std::numeric_limits<bytes>::min();

    /// The least distance of the origins if `above` is above `below`.
    bytes min_separation(std::size_t below, std::size_t above) const
    {
        bytes farthest = apart;
        (void)for_common(below, above, [&](extent x, extent y) {
            farthest = std::max(farthest, x.end - y.begin);
            return true;
        });
        return farthest;
    }

    template <class Holds>
    bool for_common(std::size_t a, std::size_t b, Holds holds) const
    {
        auto const &x = groups[a].solid, &y = groups[b].solid;
        for (std::size_t at = 0; at != x.size() && at != y.size(); ++at)
            if (x[at].is_solid() && y[at].is_solid() && !holds(x[at], y[at])) return false;
        return true;
    }

    struct orders {
        placement_oracle const& oracle;
        std::vector<bool> is_placed;
        std::vector<bytes> origin;
        std::vector<bytes> min_separation; ///< below, above
        bytes best;

        /// All orders that begin with the placed groups, `last` at the end, as long as they are below `best`.
        /// Of two independent neighbours the lower number comes first: the other order is equivalent.
        void extend(bytes height, std::size_t last)
        {
            std::size_t const n = origin.size();
            bool is_complete = true;
            std::vector<std::size_t> below;
            for (std::size_t g = 0; g != n; ++g) {
                if (is_placed[g]) continue;
                is_complete = false;
                if (last != none && g < last && min_separation[last * n + g] == apart) continue;
                bytes least = 0;
                for (std::size_t p : order)
                    if (min_separation[p * n + g] != apart)
                        least = std::max(least, origin[p] + min_separation[p * n + g]);
                bytes const at = oracle.least_origin(g, least);
                if (at == unplaceable) continue;
                bytes const top = std::max(height, at + oracle.groups[g].size);
                if (top >= best) continue;
                origin[g] = at;
                is_placed[g] = true;
                order.push_back(g);
                extend(top, g);
                order.pop_back();
                is_placed[g] = false;
            }
            if (is_complete) best = height;
        }
        std::vector<std::size_t> order = {};
    };

    struct offsets {
        placement_oracle const& oracle;
        std::vector<bytes> origin;
        bytes best;

        /// All offsets for the groups from `g` on that end below `best`.
        void extend(std::size_t g, bytes height)
        {
            if (g == origin.size()) best = height;
            for (bytes at = 0; g != origin.size() && at + oracle.groups[g].size < best; ++at) {
                bool holds = height < best && oracle.is_allowed(g, at);
                for (std::size_t p = 0; p != g && holds; ++p) holds = oracle.is_apart(g, at, p, origin[p]);
                if (!holds) continue;
                origin[g] = at;
                extend(g + 1, std::max(height, at + oracle.groups[g].size));
            }
        }
    };

    static bool needs_bytes(sublet::placement_problem::buffer const& b)
    {
        return b.size != 0 && !is_empty(b.life);
    }

    extent solid_part(sublet::buffer_id b, std::size_t position) const
    {
        sublet::placement_problem::buffer const& buffer = problem.buffers[b];
        if (!needs_bytes(buffer) || position < buffer.life.first || position >= buffer.life.last) return {};
        for (sublet::placement_problem::gap const& g : problem.gaps)
            if (g.buffer == b && position >= g.when.first && position < g.when.last)
                return {static_cast<bytes>(g.begin), static_cast<bytes>(g.end)};
        return {0, static_cast<bytes>(buffer.size)};
    }

    void add_group(std::size_t name, std::vector<std::size_t> const& label, std::vector<bytes> const& height)
    {
        group added;
        bytes lowest = unplaceable;
        for (std::size_t b = 0; b != label.size(); ++b)
            if (label[b] == name && needs_bytes(problem.buffers[b])) lowest = std::min(lowest, height[b]);
        bool is_solid = false;
        for (std::size_t i = 0; i != label.size(); ++i) {
            auto const b = sublet::buffer_id::of(i);
            if (label[b] != name || !needs_bytes(problem.buffers[b])) continue;
            bytes const distance = height[b] - lowest;
            added.parts.push_back({b, distance});
            added.size = std::max(added.size, distance + static_cast<bytes>(problem.buffers[b].size));
            added.solid.resize(std::max<std::size_t>(added.solid.size(), problem.buffers[b].life.last));
            for (std::size_t at = 0; at != problem.buffers[b].life.last; ++at) {
                extent& all = added.solid[at];
                extent const more = solid_part(b, at);
                if (!more.is_solid()) continue;
                is_solid = true;
                bytes const begin = distance + more.begin, end = distance + more.end;
                all = all.is_solid() ? extent{std::min(all.begin, begin), std::max(all.end, end)}
                                     : extent{begin, end};
            }
        }
        if (!is_solid) return;
        for (sublet::placement_problem::colocation const& c : problem.colocated)
            if (label[c.buffer] == name &&
                height[c.buffer] != height[c.anchor] + static_cast<bytes>(c.distance))
                added.clashes = true;
        for (part const& p : added.parts) group_of[p.buffer] = groups.size();
        groups.push_back(std::move(added));
    }
};

/// Placement with clocks, by a test of each pair. The buffers of pool `pool`.
struct clock_oracle {
    sublet::placement_problem const& problem;
    sublet::pool_id pool = 0;

    using ids = std::vector<sublet::buffer_id>;

    bool is_before(sublet::buffer_id u, sublet::buffer_id v) const
    {
        sublet::placement_problem::clock_table const& c = problem.clocks;
        for (std::size_t t = 0; t != c.threads; ++t)
            if (c.end[u * c.threads + t] > c.begin[v * c.threads + t]) return false;
        return true;
    }
    bool needs_bytes(sublet::buffer_id b) const
    {
        return problem.buffers[b].size != 0 && !is_before(b, b) && problem.buffers[b].pool == pool;
    }
    bool conflict(sublet::buffer_id u, sublet::buffer_id v) const
    {
        return needs_bytes(u) && needs_bytes(v) && !is_before(u, v) && !is_before(v, u);
    }
    bool is_apart(sublet::buffer_id u, sublet::byte_count at_u, sublet::buffer_id v,
                  sublet::byte_count at_v) const
    {
        return !conflict(u, v) || at_u + problem.buffers[u].size <= at_v ||
               at_v + problem.buffers[v].size <= at_u;
    }
    bool is_valid(std::vector<sublet::byte_count> const& offset) const
    {
        for (sublet::buffer_id u = 0; u != offset.size(); ++u) {
            if (!needs_bytes(u)) continue;
            if (offset[u] == sublet::no_offset || !is_allowed(u, offset[u])) return false;
            for (sublet::buffer_id v = 0; v != u; ++v)
                if (needs_bytes(v) && !is_apart(u, offset[u], v, offset[v])) return false;
        }
        return true;
    }
    bool is_allowed(sublet::buffer_id b, sublet::byte_count at) const
    {
        sublet::placement_problem::buffer const& buffer = problem.buffers[b];
        sublet::byte_count const of_pool = pool < problem.pools.size() ? problem.pools[pool].alignment : 1;
        return at % buffer.alignment == 0 && at % of_pool == 0 &&
               (buffer.pinned == sublet::no_offset || buffer.pinned == at);
    }
    ids members() const
    {
        ids all;
        for (sublet::buffer_id b = 0; b != problem.buffers.size(); ++b)
            if (needs_bytes(b)) all.push_back(b);
        return all;
    }

    /// The most bytes of any set of buffers that conflict with each other.
    sublet::byte_count heaviest() const
    {
        ids const all = members();
        sublet::byte_count most = 0;
        for (std::uint32_t set = 0; set >> all.size() == 0; ++set) {
            sublet::byte_count bytes = 0;
            bool is_set = true;
            for (std::size_t i = 0; i != all.size(); ++i) {
                if ((set >> i & 1) == 0) continue;
                bytes += problem.buffers[all[i]].size;
                for (std::size_t j = 0; j != i; ++j)
                    is_set = is_set && ((set >> j & 1) == 0 || conflict(all[i], all[j]));
            }
            if (is_set) most = std::max(most, bytes);
        }
        return most;
    }

    /// The least height, or `no_limit`: each order, each buffer as low as the earlier ones allow.
    sublet::byte_count lowest() const
    {
        ids order = members();
        sublet::byte_count least = sublet::no_limit;
        do {
            std::vector<sublet::byte_count> at(problem.buffers.size(), sublet::no_offset);
            sublet::byte_count height = 0;
            for (std::size_t i = 0; i != order.size() && height != sublet::no_limit; ++i) {
                sublet::buffer_id const b = order[i];
                sublet::byte_count offset = 0;
                for (std::size_t j = 0; j != i; ++j)
                    if (conflict(b, order[j]))
                        offset = std::max(offset, at[order[j]] + problem.buffers[order[j]].size);
                sublet::byte_count const pin = problem.buffers[b].pinned;
                if (pin != sublet::no_offset)
                    offset = pin < offset || !is_allowed(b, pin) ? sublet::no_limit : pin;
                while (offset != sublet::no_limit && !is_allowed(b, offset)) ++offset;
                at[b] = offset;
                height =
                    offset == sublet::no_limit ? offset : std::max(height, offset + problem.buffers[b].size);
            }
            least = std::min(least, height);
        } while (std::next_permutation(order.begin(), order.end()));
        return least;
    }
};

#endif
