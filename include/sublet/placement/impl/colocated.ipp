// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_COLOCATED_IPP
#define SUBLET_PLACEMENT_IMPL_COLOCATED_IPP

#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/placement/colocated.hpp>

#include <cstddef>

namespace sublet {

SUBLET_DECL colocated_groups group_colocated(placement_problem const& problem,
                                             std::vector<buffer_id> const& members)
{
    std::size_t const buffers = problem.buffers.size();
    colocated_groups result;
    result.first.reserve(members.size() + 1);
    result.parts.reserve(members.size());
    auto needs_bytes = [&](buffer_id b) {
        return problem.buffers[b].size != 0 && !is_empty(problem.buffers[b].life);
    };
    auto close = [&] {
        auto const end = static_cast<std::uint32_t>(result.parts.size());
        if (end != result.first.back()) result.first.push_back(end);
    };
    if (problem.colocated.empty()) {
        for (buffer_id b : members) {
            if (needs_bytes(b))
                result.parts.push_back({static_cast<std::uint32_t>(result.parts.size()), b, 0});
            close();
        }
        return result;
    }

    constexpr std::int64_t too_far = std::int64_t{1} << 62;
    std::vector<std::uint32_t> first(buffers + 1, 0);
    for (colocation const& c : problem.colocated) {
        SUBLET_EXPECTS(c.buffer < buffers && c.anchor < buffers, "sublet: a colocated buffer does not exist");
        SUBLET_EXPECTS(c.distance < byte_count{1} << 62, "sublet: a distance is too large");
        ++first[c.buffer + 1];
        ++first[c.anchor + 1];
    }
    for (std::size_t b = 0; b != buffers; ++b) first[b + 1] += first[b];
    std::vector<colocation> links(first[buffers]); // by anchor; distances wrap round
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (colocation const& c : problem.colocated) {
        links[next[c.anchor]++] = c;
        links[next[c.buffer]++] = {c.anchor, c.buffer, byte_count{0} - c.distance};
    }
    std::vector<unsigned char> is_member(buffers, 0), is_reached(buffers, 0);
    std::vector<std::int64_t> height(buffers, 0);
    for (buffer_id b : members) is_member[b] = 1;
    std::vector<buffer_id> found;
    for (buffer_id b : members) {
        if (is_reached[b]) continue;
        is_reached[b] = 1;
        found.assign(1, b);
        auto const group = static_cast<std::uint32_t>(result.first.size() - 1);
        std::int64_t lowest = too_far;
        std::size_t const broken_before = result.broken.size();
        for (std::size_t i = 0; i != found.size(); ++i) {
            buffer_id const u = found[i];
            if (needs_bytes(u)) lowest = smaller(lowest, height[u]);
            for (std::uint32_t k = first[u]; k != first[u + 1]; ++k) {
                buffer_id const v = links[k].buffer;
                std::int64_t const there = height[u] + static_cast<std::int64_t>(links[k].distance);
                if (is_reached[v]) {
                    if (height[v] != there) result.broken.push_back({group, u, v});
                    continue;
                }
                SUBLET_EXPECTS(is_member[v] != 0 || !needs_bytes(v),
                               "sublet: colocated buffers are in different pools");
                SUBLET_EXPECTS(-too_far < there && there < too_far, "sublet: a distance is too large");
                is_reached[v] = 1;
                height[v] = there;
                found.push_back(v);
            }
        }
        if (lowest == too_far) { // nobody needs bytes
            result.broken.resize(broken_before);
            continue;
        }
        for (buffer_id u : found)
            if (needs_bytes(u))
                result.parts.push_back({group, u, static_cast<byte_count>(height[u] - lowest)});
        close();
    }
    return result;
}

} // namespace sublet

#endif
