// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PACK_HPP
#define SUBLET_PLACEMENT_PACK_HPP

/// Places buffers at offsets: for one size each, and for every batch.

#include <sublet/placement/detail/driver.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- pack ------------------------------------------------------------------------------------------------

/// An offset for every buffer, in as low an arena a pool as so many looks and nodes can find and prove.
///
///     for each pool:   shapes ─► pins that contradict each other? ─► bound ─► one order
///                      few shapes:   ─► a short search     ─► more orders ─► eject ─► a long search
///                      many shapes:                        ─► more orders ─► eject who is too high
///                      and out of it as soon as the height is the bound: nothing can be lower
///
/// A search may raise the bound, too, if it finds that nothing is as low. It knows stackings only: where
/// windows allow others (problem.hpp), a bound is raised only by shapes that have no others.
///
/// Orders and reordering have no guaranteed factor. The search has, if its nodes last: it ends with a
/// stacking and the proof that none is lower. All limits are counts and not times, so that the same problem
/// has the same answer everywhere; place.hpp has clocks.

namespace sublet {

struct pack_options {
    placement_objective objective = placement_objective::minimize;
    // Of each pool.
    std::uint64_t visits = 20'000'000; ///< looks while orders are tried; in proportion beyond 200,000 shapes
    std::uint64_t improve_visits = 20'000'000; ///< the same, while shapes are reordered
    std::uint64_t nodes = 50'000;              ///< of the search
    std::uint64_t seed = 0;
};

namespace detail {

/// The buffers of each pool.
struct pool_members {
    std::vector<std::uint32_t> first; ///< by pool, and one more
    std::vector<buffer_id> buffers;   ///< by pool, ascending
    [[nodiscard]] std::vector<buffer_id> of(std::size_t pool) const
    {
        return {buffers.begin() + first[pool], buffers.begin() + first[pool + 1]};
    }
};

pool_members members_by_pool(placement_problem const& problem);

/// The limits of a pool that may not be listed.
inline pool_limits limits_of(placement_problem const& problem, std::size_t pool)
{
    return pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
}

/// All buffers in some of the shapes, ascending by shape.
std::vector<buffer_id> buffers_in(placement_shapes const& all, std::vector<std::uint32_t> const& some);

/// The buffer that is the best of a shape, the first of equals.
template <class Goodness>
buffer_id part_of(placement_shapes const& all, std::uint32_t shape, Goodness goodness)
{
    buffer_id best = no_buffer;
    byte_count most = 0;
    for (shape_part const& p : all.parts)
        if (p.shape == shape && (best == no_buffer || goodness(p) > most)) {
            best = p.buffer;
            most = goodness(p);
        }
    return best;
}

/// What stands against any placement of the shapes: `bytes` is `no_limit`, or there is nothing.
placement_proof contradiction(placement_problem const& problem, placement_shapes const& shapes);

/// The bound of the shapes as one for buffers and positions.
placement_proof proof_of(placement_problem const& problem, placement_shapes const& shapes,
                         placement_bound const& bound);

/// Beyond so many shapes the search has too much to look at for each of its nodes.
inline constexpr std::size_t few_shapes = 2000;

/// Tells whoever listens to a driver what is known of the pool, not of the question that is being asked.
class told_driver final : public search_driver {
public:
    told_driver(search_driver& driver, byte_count best, placed_pool const& known)
        : driver_(driver), best_(best), bound_(known.lower_bound), nodes_(known.nodes)
    {
    }
    [[nodiscard]] bool stop(byte_count found, byte_count, std::uint64_t more) override
    {
        return driver_.stop(smaller(best_, found), bound_, nodes_ + more);
    }
    void run(std::size_t tasks, numbered_task task) override { driver_.run(tasks, task); }

private:
    search_driver& driver_;
    byte_count best_, bound_;
    std::uint64_t nodes_;
};

/// The lowest placement that orders, reordering and search find for the shapes of one pool.
packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound, byte_count capacity,
                    pack_options const& options, search_driver& driver, placed_pool& out);

/// Place the buffers of one pool, if nothing stands against it: `pack` is called with their shapes, the bound
/// and the result so far, in which it may raise the bound, and returns where they lie.
template <class Pack>
placed_pool pack_pool(placement_problem const& problem, std::vector<buffer_id> const& members,
                      pool_limits limits, placement_objective objective, std::vector<byte_count>& offset,
                      Pack pack)
{
    placed_pool out;
    placement_shapes const shapes = shapes_of(problem, members, limits);
    out.proof = contradiction(problem, shapes);
    if (out.proof.bytes == no_limit) {
        out.status = placement_status::infeasible;
        return out;
    }
    placement_bound const bound = lower_bound(shapes);
    out.proof = proof_of(problem, shapes, bound);
    out.lower_bound = bound.bytes;
    if (shapes.size() != 0) out.peak_position = shapes.positions[bound.peak_position];

    packing const best = pack(shapes, bound, out);
    SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
    out.height = best.height;
    out.status = status_of(out.height, out.lower_bound, limits.capacity);
    if (objective == placement_objective::fit && out.status == placement_status::feasible)
        out.status = placement_status::optimal;
    for (shape_part const& p : shapes.parts) offset[p.buffer] = best.origin[p.shape] + p.distance;
    return out;
}

/// One pool after the other; `pack` is also given the capacity. A driver that divides its time is told how
/// many are left.
template <class Pack>
placement pack_pools(placement_problem const& problem, pack_options const& options, search_driver& driver,
                     Pack pack)
{
    pool_members const members = members_by_pool(problem);
    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    std::size_t left = 0;
    for (std::size_t pool = 0; pool + 1 != members.first.size(); ++pool)
        left += members.first[pool] != members.first[pool + 1];
    for (std::size_t pool = 0; pool + 1 != members.first.size(); ++pool) {
        if (members.first[pool] != members.first[pool + 1]) driver.begin(left--);
        pool_limits const limits = limits_of(problem, pool);
        result.pools.push_back(
            pack_pool(problem, members.of(pool), limits, options.objective, result.offset,
                      [&](placement_shapes const& shapes, placement_bound const& bound, placed_pool& out) {
                          return pack(shapes, bound, limits.capacity, out);
                      }));
    }
    sum_up(result);
    return result;
}

} // namespace detail

/// Place the buffers, each in its own pool (choose_pools.hpp is for those that have a choice).
///
/// Ensures:    offsets are aligned, pins and distances kept, and no two buffers of one pool share a byte at a
///             position where it matters to both, unless they are colocated. result.hpp says what the status
///             of a pool promises. Same problem and options, same placement.
/// Complexity: O(n log n), and what `options` allow, n = buffers, gaps and colocations; O(n) memory.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, and where sums of bytes exceed
///             64 bits.
[[nodiscard]] placement pack(placement_problem const& problem, pack_options const& options,
                             search_driver& driver);

[[nodiscard]] inline placement pack(placement_problem const& problem, pack_options const& options = {})
{
    steady driver;
    return pack(problem, options, driver);
}

// --- pack symbolic ---------------------------------------------------------------------------------------

/// An offset for every buffer that holds for every batch, in arenas nowhere much higher than they need be.
///
///     sizes for N = 1, some, the largest ─► pack() each ─► three orders of offsets
///     each order, fixed sizes first or last or as they come ─► stack_two_ended(), fit_two_ended()
///     the one that is nearest to what pack() made of that batch alone, where it is farthest from it
///     and if there it is not as low ─► improve_two_ended()
///
/// What one batch alone needs is the measure, not the bound: nobody has to be as good as no plan can be.
/// Greedy, with no guaranteed factor; but where all sizes are so many bytes times N, and nothing is aligned,
/// every batch has N times what pack() makes of a batch of 1, or less.


/// What one batch needs if it has a plan of its own.
struct batch_sample {
    byte_count batch = 1;
    placement own;
};

struct symbolic_packing {
    std::vector<affine_bytes> start;   ///< by buffer
    std::vector<affine_bytes> arena;   ///< by pool
    std::vector<batch_sample> samples; ///< ascending: 1, one between, the largest
};

namespace detail {

/// 1, the largest, and one between that is as many times the one as it is a part of the other.
std::vector<byte_count> sampled_batches(byte_count most);

} // namespace detail

/// Place buffers, each in its own pool, for every batch from 1 to `most`.
///
/// Requires:   sizes are known and not 0, lives not empty; alignments are combined with those of the pools.
/// Ensures:    of two buffers of a pool that are alive together, one starts nowhere below the top of the
///             other; with batch_mixing::apart every buffer that grows lies above all that do not. No top is
///             above the arena. Same problem and options, same placement.
/// Complexity: pack() three times; O(n log^2 p) for each order, n = buffers, p = the last position;
///             fit_two_ended() where they are few; and improve_two_ended() with a million buffers in all.
/// Throws:     precondition_error where sums of bytes for the largest batch exceed 64 bits.
[[nodiscard]] symbolic_packing pack_symbolic(std::vector<symbolic_buffer> const& buffers, byte_count most,
                                             batch_mixing mixing = batch_mixing::proved,
                                             pack_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack.ipp>
#endif

#endif
