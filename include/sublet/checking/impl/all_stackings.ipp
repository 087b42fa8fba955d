// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_ALL_STACKINGS_IPP
#define SUBLET_CHECKING_IMPL_ALL_STACKINGS_IPP

#include <sublet/checking/all_stackings.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL rigid_group all_stackings::group_of(buffer_id root) const
{
    rigid_group found;
    found.root = root;
    for (solid_part const& p : solid_.parts)
        if (solid_.root[p.buffer] == root) found.parts.push_back(p);
    for (buffer_id b = 0; b != solid_.root.size(); ++b) {
        if (solid_.root[b] != root || !solid_.needs_place[b]) continue;
        placement_buffer const& buffer = problem_.buffers[b];
        found.members.push_back(b);
        found.size = larger(found.size, static_cast<std::int64_t>(solid_.above[b] + buffer.size));
        if (buffer.pinned != no_offset)
            found.pin = static_cast<std::int64_t>(buffer.pinned - solid_.above[b]);
    }
    return found;
}

SUBLET_DECL std::int64_t all_stackings::least_origin(rigid_group const& g, std::int64_t least)
{
    if (g.pin != rigid_group::nowhere)
        return g.pin >= least && is_allowed(g, g.pin) ? g.pin : rigid_group::nowhere;
    byte_count period = 1, step = 0, above = 0;
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
        if (origin >= byte_count{1} << 62 || tried > most_tries) {
            is_too_long_ = true;
            break;
        }
        if (is_allowed(g, static_cast<std::int64_t>(origin))) return static_cast<std::int64_t>(origin);
    }
    return rigid_group::nowhere;
}

SUBLET_DECL std::int64_t all_stackings::lower_than(byte_count height, std::vector<rigid_group> const& groups)
{
    bool const is_any = height >= byte_count{1} << 62;
    claimed_ = is_any ? rigid_group::nowhere : static_cast<std::int64_t>(height);
    std::vector<std::int64_t> origin(groups.size(), rigid_group::nowhere);
    return extend(groups, origin, 0);
}

SUBLET_DECL bool all_stackings::can_be_threaded(std::vector<rigid_group> const& groups)
{
    std::size_t const n = groups.size();
    above_.assign(n * n, rigid_group::nowhere);
    for (std::size_t a = 0; a != n; ++a)
        for (std::size_t b = 0; b != n; ++b) {
            if (a == b) continue;
            if (groups[a].size >= std::int64_t{1} << 58) is_too_long_ = true; // sums are 62 bits
            if (a < b && can_pass(groups[a], groups[b])) return true;
            std::int64_t& least = above_[a * n + b];
            for_common_parts(groups[a], groups[b], [&](solid_part const& x, solid_part const& y) {
                std::int64_t const up = difference(x.end, y.begin);
                least = least == rigid_group::nowhere ? up : larger(least, up);
            });
        }
    if (is_too_long_) return false;
    std::vector<unsigned char> is_passed(n, 0);
    for (std::size_t first = 0; first != n; ++first)
        if (comes_back(first, first, 0, is_passed)) return true;
    return false;
}

SUBLET_DECL std::int64_t all_stackings::difference(byte_count a, byte_count b)
{
    return static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b);
}

SUBLET_DECL bool all_stackings::can_pass(rigid_group const& a, rigid_group const& b)
{
    std::int64_t highest_from = -rigid_group::nowhere, lowest_to = rigid_group::nowhere;
    for_common_parts(a, b, [&](solid_part const& x, solid_part const& y) {
        highest_from = larger(highest_from, difference(x.begin, y.end));
        lowest_to = smaller(lowest_to, difference(x.end, y.begin));
    });
    if (highest_from < lowest_to) return false; // what is between them overlaps everywhere
    bool found = false;
    for_common_parts(a, b, [&](solid_part const& under, solid_part const& over) {
        std::int64_t const up = difference(under.end, over.begin);
        bool is_apart = true, is_below = false;
        for_common_parts(a, b, [&](solid_part const& x, solid_part const& y) {
            bool const y_is_below = up <= difference(x.begin, y.end);
            is_apart = is_apart && (y_is_below || up >= difference(x.end, y.begin));
            is_below = is_below || y_is_below;
        });
        found = found || (is_apart && is_below);
    });
    return found;
}

SUBLET_DECL bool all_stackings::comes_back(std::size_t first, std::size_t at, std::int64_t up,
                                           std::vector<unsigned char>& is_passed)
{
    std::size_t const n = is_passed.size();
    is_passed[at] = 1;
    bool found = false;
    for (std::size_t next = first; next != n && !found; ++next) {
        std::int64_t const step = above_[at * n + next];
        if (step == rigid_group::nowhere) continue;
        if (next == first) found = up + step <= 0;
        else found = is_passed[next] == 0 && comes_back(first, next, up + step, is_passed);
    }
    is_passed[at] = 0;
    return found;
}

SUBLET_DECL bool all_stackings::is_allowed(rigid_group const& g, std::int64_t origin) const
{
    for (buffer_id b : g.members) {
        placement_buffer const& wanted = problem_.buffers[b];
        byte_count const at = static_cast<byte_count>(origin) + solid_.above[b];
        if (at % wanted.alignment != 0 || at % limits_.alignment != 0) return false;
        if (wanted.pinned != no_offset && wanted.pinned != at) return false;
    }
    return solid_.contradicts[g.root] == 0;
}

SUBLET_DECL std::int64_t all_stackings::extend(std::vector<rigid_group> const& groups,
                                               std::vector<std::int64_t>& origin, std::int64_t height)
{
    bool is_complete = true;
    for (std::size_t g = 0; g != groups.size(); ++g) {
        if (origin[g] != rigid_group::nowhere) continue;
        is_complete = false;
        std::int64_t least = 0;
        for (std::size_t below = 0; below != groups.size(); ++below)
            if (origin[below] != rigid_group::nowhere)
                for_common_parts(groups[below], groups[g], [&](solid_part const& x, solid_part const& y) {
                    auto const reach = static_cast<std::int64_t>(x.end) - static_cast<std::int64_t>(y.begin);
                    least = larger(least, origin[below] + reach);
                });
        std::int64_t const at = least_origin(groups[g], least);
        if (at == rigid_group::nowhere) continue;
        if (at + groups[g].size >= claimed_) {
            is_too_long_ = is_too_long_ || claimed_ == rigid_group::nowhere;
            continue;
        }
        origin[g] = at;
        std::int64_t const found = extend(groups, origin, larger(height, at + groups[g].size));
        origin[g] = rigid_group::nowhere;
        if (found != rigid_group::nowhere) return found;
    }
    return is_complete && height < claimed_ ? height : rigid_group::nowhere;
}

} // namespace sublet

#endif
