// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PACK_IPP
#define SUBLET_PLACEMENT_IMPL_PACK_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/best_packing.hpp>
#include <sublet/placement/clashing_pins.hpp>
#include <sublet/placement/improve.hpp>
#include <sublet/placement/minimize.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/placement/portfolio.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL pool_members members_by_pool(placement_problem const& problem)
{
    pool_members result;
    result.first.assign(pool_count(problem) + 1, 0);
    for (placement_buffer const& b : problem.buffers) ++result.first[b.pool + 1];
    for (std::size_t p = 1; p < result.first.size(); ++p) result.first[p] += result.first[p - 1];
    std::vector<std::uint32_t> next(result.first);
    result.buffers.resize(problem.buffers.size());
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        result.buffers[next[problem.buffers[b].pool]++] = b;
    return result;
}

SUBLET_DECL std::vector<buffer_id> buffers_in(placement_shapes const& all,
                                              std::vector<std::uint32_t> const& some)
{
    std::vector<unsigned char> is_in(all.size(), 0);
    for (std::uint32_t s : some) is_in[s] = 1;
    std::vector<buffer_id> buffers;
    for (shape_part const& p : all.parts)
        if (is_in[p.shape] != 0) buffers.push_back(p.buffer);
    return buffers;
}

SUBLET_DECL placement_proof contradiction(placement_problem const& problem, placement_shapes const& shapes)
{
    switch (shapes.fault) {
    case shape_fault::pin_misaligned: return {proof_kind::pin_misaligned, no_limit, 0, {shapes.buffer}};
    case shape_fault::parts_clash:
        return {proof_kind::parts_clash, no_limit, 0, {shapes.buffer, shapes.other}};
    case shape_fault::none: break;
    }
    auto const clash = clashing_pins(shapes);
    if (!clash.are) return {};
    auto pinned = [&](std::uint32_t s) {
        return part_of(shapes, s, [&](shape_part const& p) {
            return byte_count{problem.buffers[p.buffer].pinned != no_offset};
        });
    };
    return {proof_kind::pins_clash, no_limit, 0, {pinned(clash.one), pinned(clash.other)}};
}

SUBLET_DECL placement_proof proof_of(placement_problem const& problem, placement_shapes const& shapes,
                                     placement_bound const& bound)
{
    placement_proof proof{bound.kind, bound.bytes};
    if (bound.kind == proof_kind::live_bytes) proof.position = shapes.positions[bound.peak_position];
    if (bound.kind == proof_kind::top_of_pin)
        proof.buffers = {part_of(shapes, bound.shape, [&](shape_part const& p) {
            return p.distance + problem.buffers[p.buffer].size;
        })};
    return proof;
}

/// Up to so many the visits of the options are those of a pool; beyond that they grow with the shapes.
inline constexpr std::size_t many_shapes = 200'000;

/// What solves it soon solves it with so many nodes, or with 64 a shape; else orders have their turn first.
inline constexpr std::size_t some_nodes = 16'000;

/// What search makes of the shapes of a pool with `nodes` nodes: it may lower `best`, and in `out` it may
/// raise the bound. No stacking is lower than `least_stacking`, which it may raise, too.
SUBLET_DECL packing search_few(placement_shapes const& shapes, byte_count capacity,
                               pack_options const& options, std::uint64_t nodes, packing best,
                               search_driver& driver, placed_pool& out, byte_count& least_stacking)
{
    auto raise_bound = [&](byte_count least, std::vector<std::uint32_t> const& blamed) {
        out.lower_bound = least;
        out.proof = {proof_kind::exhausted, least, 0, buffers_in(shapes, blamed)};
    };
    if (best.height > capacity) {
        told_driver told(driver, best.height, out);
        search_result found = decide(shapes, capacity, {.nodes = nodes, .seed = options.seed}, told);
        out.nodes += found.nodes;
        if (found.outcome == search_outcome::exhausted) {
            least_stacking = capacity + 1;
            if (can_only_be_stacked(shapes, found.blamed)) raise_bound(capacity + 1, found.blamed);
        }
        if (found.outcome != search_outcome::found) return best;
        best.origin = std::move(found.origin);
        best.height = found.height;
    }
    if (options.objective == placement_objective::fit || best.height <= out.lower_bound) return best;
    minimized found =
        minimize(shapes, out.lower_bound, std::move(best), {.nodes = nodes, .seed = options.seed}, driver);
    out.nodes += found.nodes;
    if (found.bound > out.lower_bound) raise_bound(found.bound, found.blamed);
    least_stacking = larger(least_stacking, found.least_stacking);
    return std::move(found.best);
}

SUBLET_DECL packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound,
                                byte_count capacity, pack_options const& options, search_driver& driver,
                                placed_pool& out)
{
    packing best = first_packing(shapes, bound);
    ++out.packings;
    placement_bound goal = bound; // low enough: then nobody looks any further
    auto is_done = [&] {
        if (out.lower_bound > capacity) goal.bytes = no_limit;
        else if (options.objective == placement_objective::fit) goal.bytes = capacity;
        else goal.bytes = out.lower_bound;
        // Asked even if it is low enough: somebody may be listening.
        return driver.stop(best.height, out.lower_bound, out.nodes) || best.height <= goal.bytes;
    };
    std::size_t const n = shapes.size();
    // One more order is worth having, however many the shapes are, and takes about a hundred looks for each.
    std::uint64_t const visits =
        n <= many_shapes || options.visits > no_limit / n ? options.visits : options.visits / many_shapes * n;
    bool const is_small = n <= few_shapes;
    byte_count least_stacking = 0;
    auto search = [&](std::uint64_t nodes) {
        best = search_few(shapes, capacity, options, nodes, std::move(best), driver, out, least_stacking);
    };
    if (is_small && !is_done()) search(smaller(options.nodes, byte_count{smaller(64 * n, some_nodes)}));
    if (!is_done()) best = best_packing(shapes, goal, visits, std::move(best), out.packings);
    if (!is_done()) {
        told_driver told(driver, best.height, out);
        best = improve(shapes, goal, std::move(best),
                       {.visits = is_small ? smaller(options.improve_visits, pack_options{}.improve_visits)
                                           : options.improve_visits,
                        .seed = options.seed},
                       told, out.packings);
    }
    bool const may_be_lower = least_stacking <= capacity && least_stacking < best.height;
    if (is_small && !is_done() && may_be_lower && out.nodes < options.nodes)
        search(options.nodes - out.nodes);
    return best;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL placement pack(placement_problem const& problem, pack_options const& options,
                           search_driver& driver)
{
    return detail::pack_pools(
        problem, options, driver,
        [&](auto const& shapes, auto const& bound, byte_count capacity, placed_pool& out) {
            return detail::pack_shapes(shapes, bound, capacity, options, driver, out);
        });
}

} // namespace sublet

#endif
