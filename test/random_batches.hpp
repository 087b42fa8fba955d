// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_BATCHES_HPP
#define SUBLET_TEST_RANDOM_BATCHES_HPP

/// Random programs and buffers with sizes that grow with a batch.

#include "operations.hpp"
#include "random_program.hpp"
#include "random_source.hpp"

#include <sublet/core/symbolic_plan.hpp>

#include <algorithm>
#include <vector>

/// A random size from `bytes`: fixed, growing, or both.
inline sublet::affine_bytes draw_growth(random_source& pick, sublet::byte_count bytes)
{
    if (bytes == sublet::no_size) return sublet::affine_bytes::unknown();
    switch (pick.below(5)) {
    case 0: return {bytes * (1 + pick.below(20)), 0};
    case 1: return {bytes, bytes};
    case 2: return {bytes, bytes != 0 ? pick.below(9) : 0u};
    default: return {0, bytes};
    }
}

struct random_batches {
    random_program drawn;
    sublet::symbolic_options options;

    /// With an explicit order it is a list without edges, which would have to agree with the order.
    sublet::snapshot program() const { return drawn.order.empty() ? drawn.program() : drawn.without_edges(); }
};

/// Equal sizes mostly stay equal: otherwise there would be no in-place pairs.
inline random_batches draw_batches(random_source& pick, std::uint32_t most_nodes = 8)
{
    random_program p = draw_program(pick, most_nodes);
    for (auto const& node : p.nodes)
        if (!node.uses_at_end.empty()) p.order.clear(); // uses at node ends need edges
    std::vector<sublet::affine_bytes> bytes, usual;
    for (unsigned i = 0; i != 128; ++i) usual.push_back(draw_growth(pick, i));
    for (sublet::byte_count b : p.bytes)
        bytes.push_back(b < 128 && pick.below(4) != 0 ? usual[b] : draw_growth(pick, b));
    for (sublet::value_id v = 0; v != bytes.size(); ++v) // a view is no larger than its root, for any batch
        for (sublet::value_id root = v; p.alias_of[root] != sublet::no_value;)
            bytes[v] = bytes[root = p.alias_of[root]];
    sublet::byte_count const most = 1 + pick.below(12);
    bool const is_apart = pick.below(4) == 0;
    std::vector<sublet::pool_limits> pools;
    if (pick.below(4) == 0) pools = {{.alignment = 1 + pick.below(12)}};
    random_batches all{p,
                       {.bytes = bytes,
                        .max_batch = most,
                        .alignment = p.alignment,
                        .role = p.role,
                        .alias_of = p.alias_of,
                        .pool = of_roots(p.pool, p.alias_of),
                        .eligible = of_classes(p.eligible, p.alias_of),
                        .pools = pools,
                        .order = p.order,
                        .mixing = is_apart ? sublet::symbolic_options::mixing_rule::apart
                                           : sublet::symbolic_options::mixing_rule::proved}};
    // The order was drawn for views that may be smaller: larger ones can overlap where it exchanges accesses.
    if (!p.order.empty() && !lifetimes(all.program(), sublet::detail::lifetimes_of(all.options.at(most)))) {
        all.drawn.order.clear();
        all.options.order.clear();
    }
    return all;
}

/// Buffers of one pool, at up to `most_positions` positions.
inline std::vector<sublet::symbolic_plan::buffer>
draw_growing_buffers(random_source& pick, std::uint32_t most, std::uint32_t most_positions)
{
    std::vector<sublet::symbolic_plan::buffer> buffers(1 + pick.below(most));
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        sublet::symbolic_plan::buffer& b = buffers[i];
        b.root = i;
        b.life.first = pick.below(most_positions);
        b.life.last = b.life.first + 1 + pick.below(most_positions - b.life.first);
        b.size = draw_growth(pick, 1 + pick.below(40));
        if (pick.below(3) == 0) b.alignment = 1 + pick.below(8);
    }
    return buffers;
}

/// Whether buffers live together are disjoint, and all are aligned, for one batch.
inline bool lie_apart(std::vector<sublet::symbolic_plan::buffer> const& buffers, sublet::byte_count batch)
{
    for (auto const& a : buffers) {
        if (a.offset_at(batch) % a.alignment != 0) return false;
        for (auto const& b : buffers)
            if (&a != &b && a.pool == b.pool && overlaps(a.life, b.life) &&
                a.offset_at(batch) < b.offset_at(batch) + b.size.at(batch) &&
                b.offset_at(batch) < a.offset_at(batch) + a.size.at(batch))
                return false;
    }
    return true;
}

#endif
