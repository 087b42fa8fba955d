// SPDX-License-Identifier: BSL-1.0
/// Groups of colocated buffers by a graph search that adds up distances.
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/colocation.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL colocated_groups group_colocated(placement_problem const& problem,
                                             std::vector<buffer_id> const& members, step_poll const& poll)
{
    std::size_t const buffers = problem.buffers.size();
    colocated_groups result;
    result.first.reserve(members.size() + 1);
    result.parts.reserve(members.size());
    auto needs_bytes = [&](buffer_id b) {
        return problem.buffers[b].size != 0 && !is_empty(problem.buffers[b].life);
    };
    auto end_group = [&] {
        auto const end = static_cast<std::uint32_t>(result.parts.size());
        if (end != result.first.back()) result.first.push_back(end);
    };
    if (problem.colocated.empty()) {
        for (buffer_id b : members) {
            if (poll.stops(1)) break;
            if (needs_bytes(b))
                result.parts.push_back({static_cast<std::uint32_t>(result.parts.size()), b, 0});
            end_group();
        }
        return result;
    }

    constexpr std::int64_t too_far = std::int64_t{1} << 62;
    table<buffer_id, std::uint32_t> first(buffers + 1, 0);
    for (placement_problem::colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < buffers && c.anchor < buffers,
                       "sublet: buffer % is colocated with buffer %, but there are only % buffers", c.buffer,
                       c.anchor, buffers);
        SUBLET_EXPECTS(c.distance < byte_count{1} << 62, "sublet: the distance of buffer % is too large",
                       c.buffer);
        ++first[c.buffer + 1];
        ++first[c.anchor + 1];
    }
    for (std::size_t b = 0; b != buffers; ++b) first[b + 1] += first[b];
    std::vector<placement_problem::colocation> links(first[buffers]); // by anchor; distances wrap round
    table<buffer_id, std::uint32_t> next(first.begin(), first.end() - 1);
    for (placement_problem::colocation const& c : problem.colocated) {
        links[next[c.anchor]++] = c;
        links[next[c.buffer]++] = {c.anchor, c.buffer, byte_count{0} - c.distance};
    }
    table<buffer_id, unsigned char> is_member(buffers, 0), is_reached(buffers, 0);
    table<buffer_id, std::int64_t> height(buffers, 0);
    for (buffer_id b : members) is_member[b] = 1;
    std::vector<buffer_id> found;
    for (buffer_id b : members) {
        if (is_reached[b]) continue;
        if (poll.stops(8)) break;
        is_reached[b] = 1;
        found.assign(1, b);
        auto const group = static_cast<std::uint32_t>(result.first.size() - 1);
        std::int64_t lowest = too_far;
        std::size_t const broken_before = result.inconsistent.size();
        for (std::size_t i = 0; i != found.size(); ++i) {
            buffer_id const u = found[i];
            if (needs_bytes(u)) lowest = smaller(lowest, height[u]);
            for (std::uint32_t k = first[u]; k != first[u + 1]; ++k) {
                buffer_id const v = links[k].buffer;
                std::int64_t const required = height[u] + static_cast<std::int64_t>(links[k].distance);
                if (is_reached[v]) {
                    if (height[v] != required) result.inconsistent.push_back({group, u, v});
                    continue;
                }
                SUBLET_EXPECTS(is_member[v] != 0 || !needs_bytes(v),
                               "sublet: buffer % is colocated with others, in a different pool", v);
                SUBLET_EXPECTS(-too_far < required && required < too_far,
                               "sublet: the distance of buffer % is too large", v);
                is_reached[v] = 1;
                height[v] = required;
                found.push_back(v);
            }
        }
        if (lowest == too_far) { // no buffer of the group has bytes
            result.inconsistent.resize(broken_before);
            continue;
        }
        for (buffer_id u : found)
            if (needs_bytes(u))
                result.parts.push_back({group, u, static_cast<byte_count>(height[u] - lowest)});
        end_group();
    }
    return result;
}

} // namespace sublet::detail
