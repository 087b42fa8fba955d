// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PACK_HPP
#define SUBLET_PLACEMENT_DETAIL_PACK_HPP

/// What place() and the planners place with, by counts of work for each phase. Call place() (place.hpp).
///
///     pack()                 one size for each buffer; heuristics, then exact search within a work budget
///     choose_pools()         the pool of each buffer, by greedy cost per byte of relief
///     pack_symbolic()        offsets affine in the batch size, valid for every batch up to a limit
///     stack_slots()          offsets for the slots of a slot plan, one above the other
///     place_concurrently()   only a partial order of the steps is known: conflicts instead of live ranges
///
/// All limits are counts, not times: the same problem and options give the same result on every machine.
/// place.hpp adds time limits, threads and pool choices.

#include <sublet/detail/segment_tree.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/placement/detail/concurrent.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- pack ------------------------------------------------------------------------------------------------

///     for each pool:   shapes ─► contradictory pins? ─► lower bound ─► fast orders
///                      few shapes:   ─► short search   ─► more orders ─► cuts ─► ejection ─► long search
///                      many shapes:    ─► more orders ─► cuts ─► ejection, search of windows, in turn;
///                                         up to 4000 shapes: search from the second turn on
///                      stop as soon as the height equals the bound: it is optimal
///
/// Cuts: for shapes that fit together without a gap, the caller's order and its reverse, and compose.hpp.
///
/// Orders and ejection have no guaranteed factor. The search is exact if its nodes suffice, but for stackings
/// (problem.hpp): it raises a bound only by shapes that can only be stacked.

namespace sublet::detail {

struct pack_options {
    placement::objective objective = placement::objective::minimize;
    // For each pool:
    std::uint64_t visits = 20'000'000; ///< pieces examined by greedy orders; scaled beyond 200,000 shapes
    std::uint64_t improve_visits = 20'000'000; ///< pieces examined by ejection; not scaled
    std::uint64_t nodes = 50'000;              ///< nodes of the exact search
    std::uint64_t seed = 0;
};

/// The default work, scaled.
[[nodiscard]] inline pack_options pack_budgets(effort work)
{
    pack_options budgets;
    budgets.visits = work.of(budgets.visits);
    budgets.improve_visits = work.of(budgets.improve_visits);
    budgets.nodes = work.of(budgets.nodes);
    return budgets;
}

struct pool_members {
    table<pool_id, std::uint32_t> first; ///< and one more
    std::vector<buffer_id> buffers;      ///< by pool, ascending
    [[nodiscard]] std::vector<buffer_id> of(pool_id pool) const
    {
        return {buffers.begin() + first[pool], buffers.begin() + first[pool + 1]};
    }
};

pool_members members_by_pool(placement_problem const& problem);

inline pool_limits limits_of(placement_problem const& problem, pool_id pool)
{
    return pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
}

/// Ascending by shape.
std::vector<buffer_id> buffers_in(placement_shapes const& all, std::vector<std::uint32_t> const& some);

/// The buffer of a shape with the highest score; the first of equal ones.
template <class Score>
buffer_id best_part(placement_shapes const& all, std::uint32_t shape, Score score)
{
    buffer_id best = no_buffer;
    byte_count most = 0;
    for (shape_part const& p : all.parts)
        if (p.shape == shape && (best == no_buffer || score(p) > most)) {
            best = p.buffer;
            most = score(p);
        }
    return best;
}

/// A contradiction that rules out every placement of the shapes (`bytes` is `no_limit`), or an empty proof.
placement::proof contradiction(placement_problem const& problem, placement_shapes const& shapes);

/// The bound of the shapes as a proof in terms of buffers and positions.
placement::proof proof_of(placement_problem const& problem, placement_shapes const& shapes,
                          placement_bound const& bound);

/// Exact search does not come first for more shapes, and is not tried at all for twice as many: a node costs
/// too much. Nor for this many shapes times pieces: all pairs of shapes are compared, piece by piece, before
/// the first node, and nothing stops that.
inline constexpr std::size_t max_searched_shapes = 2000;
inline constexpr std::uint64_t max_compared_pieces = 100'000'000;
[[nodiscard]] bool is_searched(placement_shapes const& shapes, std::size_t most = max_searched_shapes);

/// Reports the best height and the bound of the pool, not of the current subproblem.
class pool_control final : public search_control {
public:
    pool_control(search_control& control, byte_count best, placement::pool_result const& known)
        : control_(control), best_(best), bound_(known.lower_bound), nodes_(known.nodes)
    {
    }
    [[nodiscard]] bool stop(byte_count found, byte_count, std::uint64_t more) override
    {
        return control_.stop(smaller(best_, found), bound_, nodes_ + more);
    }
    void run(std::size_t tasks, task_ref task) override { control_.run(tasks, task); }
    [[nodiscard]] std::uint64_t steps_per_question() const override { return control_.steps_per_question(); }

private:
    search_control& control_;
    byte_count best_, bound_;
    std::uint64_t nodes_;
};

/// The cheapest valid placement of the members of a pool, if nothing has been read of them but what others
/// depend on: buffers with pins or parts as shapes, and all others above these, in order.
///
/// Ensures:    the bound is the highest top that a single buffer requires; `peak_position` is 0. The height
///             is `no_limit`, and nothing is placed, if 64 bits do not suffice, or for pins or parts in
///             blocks.
/// Complexity: O(members) if none has a pin and nothing is colocated; otherwise as shapes_of() for these.
/// Throws:     precondition_error as shapes_of(), but not for gaps of other buffers.
[[nodiscard]] placement::pool_result stack_members(placement_problem const& problem,
                                                   std::vector<buffer_id> const& members, pool_limits limits,
                                                   placement::objective objective,
                                                   table<buffer_id, byte_count>& offset);

/// A shape that does not fit a block: its number, or that of all shapes.
[[nodiscard]] std::uint32_t first_over_block(placement_shapes const& shapes, byte_count largest);

/// Divides the shapes among blocks of at most `largest` bytes; `best` gets the origins in all of them.
///
///     shapes in some order ─► each to the first block where it fits, or to the one that grows least
///     the order and rule with the lowest end, of these with the fewest blocks ─► pack each block again
///
/// Greedy, with no guaranteed factor: with equal lives it is bin packing, which is NP-hard.
///
/// Requires:   each shape fits a block; `best` is a placement without borders.
/// Ensures:    no shape crosses a border, and block begins are multiples of all alignments. Stopped before
///             the first division is complete, the shapes lie one above the other in their blocks.
/// Complexity: O(n blocks) queries for gaps a dozen times, and a small search for each block.
[[nodiscard]] std::vector<memory_plan::block> split_into_blocks(placement_shapes const& shapes,
                                                                placement_bound const& bound,
                                                                byte_count largest, packing& best,
                                                                search_control& control);

packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound, byte_count capacity,
                    pack_options const& options, search_control& control, placement::pool_result& out);

/// A pool before it is packed.
struct opened_pool {
    placement_shapes shapes;
    placement_bound bound;
    placement::pool_result result;
    bool is_done = false;  ///< it is not packed: it has no placement, or has one already
    std::size_t parts = 0; ///< of the time, to divide among `phases` and the division into blocks
    std::size_t phases = 0;
};

/// The shapes and the bound of a pool. Stopped before the bound is known, places it by stack_members().
[[nodiscard]] opened_pool open_pool(placement_problem const& problem, std::vector<buffer_id> const& members,
                                    pool_limits limits, placement::objective objective,
                                    table<buffer_id, byte_count>& offset, search_control& control,
                                    std::size_t left, std::size_t phases);

/// The result of a pool that is packed as in `best`; divides it into blocks.
[[nodiscard]] placement::pool_result close_pool(opened_pool& pool, pool_limits limits,
                                                placement::objective objective,
                                                table<buffer_id, byte_count>& offset, search_control& control,
                                                packing& best);

/// Places one pool, unless its pins contradict each other. `pack` may raise the bound of the result so far.
/// `left` pools, with this one, share the time; 0: it is not divided. Of the time of a pool each of the
/// `phases` of `pack`, and the division into blocks, gets an equal part; `pack` is told how many parts are
/// left with its first.
template <class Pack>
placement::pool_result pack_pool(placement_problem const& problem, std::vector<buffer_id> const& members,
                                 pool_limits limits, placement::objective objective,
                                 table<buffer_id, byte_count>& offset, search_control& control,
                                 std::size_t left, std::size_t phases, Pack pack)
{
    opened_pool pool = open_pool(problem, members, limits, objective, offset, control, left, phases);
    if (pool.is_done) return std::move(pool.result);
    packing best = pack(pool.shapes, pool.bound, pool.result, pool.parts);
    return close_pool(pool, limits, objective, offset, control, best);
}

template <class Pack>
placement pack_pools(placement_problem const& problem, pack_options const& options, search_control& control,
                     std::size_t phases, Pack pack)
{
    pool_members const members = members_by_pool(problem);
    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    std::size_t left = 0;
    for (pool_id pool = 0; pool + std::size_t{1} != members.first.size(); ++pool)
        left += members.first[pool] != members.first[pool + 1];
    for (pool_id pool = 0; pool + std::size_t{1} != members.first.size(); ++pool) {
        bool const is_empty = members.first[pool] == members.first[pool + 1];
        pool_limits const limits = limits_of(problem, pool);
        result.pools.push_back(pack_pool(
            problem, members.of(pool), limits, options.objective, result.offset, control,
            is_empty ? 0 : left--, phases,
            [&](placement_shapes const& shapes, placement_bound const& bound, placement::pool_result& out,
                std::size_t parts) { return pack(shapes, bound, limits.capacity, out, parts); }));
        for (memory_plan::block& block : result.pools.back().blocks) block.pool = pool;
    }
    set_overall_status(result);
    return result;
}

/// A problem with clocks as one without: live ranges with gaps over positions of its own.
///
///     begin      a 0:0   b 0:1   c 2:3   d 2:3       each position is a set of buffers that conflict with
///     end        a 2:1   b 3:3   c 4:5   d 2:9       each other; each pair that conflicts has one
///
///     position   0       1       2       3
///                a       a b     b c     b d, c d ...
///
/// The buffers come in the order of their begins, by the sum of their counters. Each gets positions with all
/// earlier ones that it conflicts with: these are divided greedily into sets without reuse among them. So a
/// position is a bound, too. The best bound is one more such set: the heaviest antichain of the order of
/// reuse, by a flow (Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics
/// 1950); or, if that takes too many visits, the buffers live at one counter of one thread.
///
/// If the placement by positions does not meet the bound, placement by conflicts lowers it: the begins are
/// numbered, and each buffer has the ranges of later begins that conflict with it (placement_conflicts). That
/// is the better one if buffers and conflicts are many; positions are searched exactly if they are few.
///
/// Clocks of one thread become live ranges.
struct positioned_clocks {
    struct pool_peak {
        byte_count bytes = 0; ///< live at `counter` of `thread`
        std::uint32_t thread = 0;
        std::uint32_t counter = 0;
        bool has_antichain = false; ///< the heaviest antichain is known
    };

    placement_problem problem;
    std::uint32_t threads = 0;
    table<position_id, std::vector<buffer_id>> at = {}; ///< what is live there
    table<pool_id, positioned_clocks::pool_peak> peaks = {};

    table<buffer_id, position_id> begin = {}; ///< the number of the begin
    buffer_range_lists conflicts = {};        ///< of these numbers

    [[nodiscard]] pack_options budgets(pack_options options) const;

    /// Lowers pools that are higher than their bounds within `visits`; buffers in `fixed`, which may be
    /// empty, do not move.
    void lower(placement& placed, placement::objective objective, std::uint64_t visits,
               table<buffer_id, unsigned char> const& fixed = {}) const;

    /// Names buffers or a thread instead of a position, in the proofs of `placed`. `has_choice` may be empty.
    void name_proofs(placement& placed, table<buffer_id, unsigned char> const& has_choice = {}) const;
};

/// Buffers of a pool, and visits of the flow, up to which the heaviest antichain is searched for.
inline constexpr std::size_t max_antichain_buffers = 4096;
inline constexpr std::uint64_t max_antichain_visits = 50'000'000;

/// The most entries of all positions: each costs about 100 bytes until the buffers are placed.
inline constexpr std::uint64_t most_clock_entries = std::uint64_t{1} << 24;

/// Complexity: O(n^2 threads) if the lives are long; O(pairs that conflict) memory; and the flow.
/// Throws:     precondition_error if the clocks are not those of the buffers, a buffer ends before it
///             begins, there are gaps or colocations, or more than most_clock_entries.
[[nodiscard]] positioned_clocks positions_of_clocks(placement_problem const& problem);

/// Places the buffers, each in its own pool, as place() says. With clocks n is the number of pairs that
/// conflict, and finding them is O(buffers^2 threads).
///
/// Complexity: O(n log n), and what `options` allow, n = buffers, gaps and colocations; O(n) memory.
[[nodiscard]] placement pack(placement_problem const& problem, pack_options const& options,
                             search_control& control);

[[nodiscard]] inline placement pack(placement_problem const& problem, pack_options const& options = {})
{
    deterministic_control control;
    return pack(problem, options, control);
}

} // namespace sublet::detail

// --- pool candidates -------------------------------------------------------------------------------------

/// The pools that each buffer may be in, by rising cost.
///
///     choices      a: pool 0 for 9, pool 1 for 2      b: none, its pool is 1     c: lies 8 above a
///     candidates   a and c: 1 (2), 0 (9)              b: 1 (0)
///
/// Colocated buffers are one piece of storage, in one pool. Those of them without an anchor choose; if there
/// are several, all must allow the pool, and their costs are added.

namespace sublet::detail {

struct pool_candidate {
    pool_id pool = 0;
    byte_count cost = 0;
};

struct pool_candidates {
    table<buffer_id, std::uint32_t> storage_of; ///< numbered by first buffer
    std::vector<std::uint32_t> first{0};        ///< by storage, and one more
    std::vector<pool_candidate> of;             ///< by storage, ascending by cost, then by pool

    [[nodiscard]] std::size_t size() const { return first.size() - 1; }
    [[nodiscard]] std::uint32_t count(std::uint32_t storage) const
    {
        return first[storage + 1] - first[storage];
    }
    [[nodiscard]] pool_candidate const& at(std::uint32_t storage, std::uint32_t choice) const
    {
        return of[first[storage] + choice];
    }
};

/// Complexity: O(n log n), n = buffers, choices and colocations.
/// Throws:     precondition_error for buffers that do not exist, colocated ones without a pool in common,
///             and costs that exceed 64 bits.
[[nodiscard]] pool_candidates candidates_of(placement_problem const& problem);

/// Of `all` candidates those in which the storage can lie by itself: aligned at its pin, within a block and
/// the capacity. If there are none, the cheapest one. So storage with a single candidate is in no other pool
/// of any placement.
///
/// Requires:   `all` are those of the problem.
/// Complexity: O(buffers + colocations), and O(parts of the storage) for each candidate.
[[nodiscard]] pool_candidates possible_pools(placement_problem const& problem, pool_candidates const& all,
                                             step_poll const& poll = {});

} // namespace sublet::detail

// --- choose pools ----------------------------------------------------------------------------------------

namespace sublet::detail {

///     fast memory, 64 KiB      [ a ][ c ][  e  ]      cheapest for all; b and d cost least extra for their
///     slow memory              [    b    ][ d ]       bytes in slow memory
///
///     cheapest pools ─► too many live bytes at some position? move the storage with the least extra cost per
///                       byte of relief to its next pool ─► too high when packed? the same again
///                       ─► move storage back to cheaper pools with room, the greatest saving first
///
/// Stopped, it leaves the storage that it has not moved yet where it is, at first in its cheapest pool.
///
/// If all buffers stay in their cheapest pools, the cost is minimal; otherwise the sum of the cheapest costs
/// is a lower bound, without guarantee on the distance. But if place_greedily() can place all, so can this.
///
/// Source of the problem: the constrained heaps and the memory space assignment of XLA, where fast memory is
/// small and what does not fit stays in slow memory.
struct pool_assignment {
    table<buffer_id, pool_id> pool_of;
    byte_count cost = 0;
    byte_count cost_bound = 0; ///< with every buffer in its cheapest pool
};

struct pool_assignment_state {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    pool_candidates candidates;
    placement_shapes shapes;                         ///< of all pools together
    std::vector<std::uint32_t> choice;               ///< by storage: which of its candidates
    std::vector<std::uint32_t> shape_of, storage_of; ///< maps between both; `none`: needs no bytes
    table<pool_id, byte_count> capacity;
    table<pool_id, segment_tree> load;
    bool has_pins = false; ///< some storage is pinned: not everything fits a pool without limits

    /// All storage in its cheapest pool. `together` is the problem with all buffers in one pool. Once `poll`
    /// has stopped, only `candidates` and `choice` are of use.
    pool_assignment_state(placement_problem const& together, pool_candidates const& where,
                          step_poll const& poll = {});

    [[nodiscard]] pool_candidate const& now(std::uint32_t k) const { return candidates.at(k, choice[k]); }
    [[nodiscard]] pool_id pool(std::uint32_t k) const { return now(k).pool; }
    [[nodiscard]] bool has_next_pool(std::uint32_t k) const { return choice[k] + 1 != candidates.count(k); }
    [[nodiscard]] byte_count extra_cost(std::uint32_t k) const
    {
        return candidates.at(k, choice[k] + 1).cost - now(k).cost;
    }
    [[nodiscard]] byte_count saving(std::uint32_t k) const { return now(k).cost - candidates.at(k, 0).cost; }

    void move(std::uint32_t k, std::uint32_t to);
    /// Whether load exceeds capacity at a position of its live range; `including_it` adds its own bytes.
    [[nodiscard]] bool is_overloaded(std::uint32_t k, pool_id where, bool including_it) const;
};

/// A sort key for extra cost per relief; equal ratios give equal keys on every machine.
std::uint64_t cost_ratio(byte_count extra_cost, double relief);

/// Packs all pools; if one is too high, moves storage live near the excess to its next pool, the least extra
/// cost per byte first. Returns whether all fit.
bool fit_capacities(placement_problem const& problem, pool_assignment_state& all, pack_options const& options,
                    search_control& control);

/// Greedy: the largest storage first, each at the lowest gap of its cheapest pool that has one. Returns
/// whether all were placed; contradictory pins and alignments can prevent that, and `poll`.
bool place_greedily(placement_problem const& problem, pool_assignment_state& all, step_poll const& poll = {});

/// A pool for each buffer: one of the problem's choices for it, or its own if there are none.
///
/// Ensures:    colocated buffers are in one pool. If place_greedily() keeps all pools within their
///             capacities, so can pack(). Same problem and options, same pools.
/// Complexity: O(n log n) for each pool and each time that loads are lowered, n = buffers, gaps and choices;
///             and pack() for pools with a capacity, a number of times that is logarithmic in n or fixed.
/// Throws:     as pack() and candidates_of().
[[nodiscard]] pool_assignment choose_pools(placement_problem const& problem, pack_options const& options,
                                           search_control& control);

} // namespace sublet::detail

// --- pack symbolic ---------------------------------------------------------------------------------------

///     sizes for N = 1, a middle one, the largest ─► pack() each ─► three orders of offsets
///     each order; fixed sizes first, last or mixed ─► stack_affine(), fit_affine()
///     keep the result with the least worst ratio to pack() of that batch alone
///     if that ratio is above 1 ─► improve_affine()
///
/// The goal is what pack() needs for one batch alone, not the lower bound. Greedy, with no guaranteed
/// factor; but if all sizes are multiples of N and nothing is aligned, no batch needs more than N times what
/// pack() needs for a batch of 1.

namespace sublet::detail {

struct batch_sample {
    byte_count batch = 1;
    placement own;
};

struct symbolic_packing {
    table<buffer_id, affine_bytes> start;
    table<pool_id, affine_bytes> arena;
    std::vector<batch_sample> samples; ///< ascending: 1, a middle one, the largest
};

/// 1, a power of two near the square root of `most`, and `most`, ascending.
std::vector<byte_count> sampled_batches(byte_count most);

/// Places buffers, each in its own pool, for every batch from 1 to `most`.
///
/// Requires:   sizes are known and not 0, live ranges not empty; alignments include those of the pools.
/// Ensures:    of two buffers of a pool that are live together, one starts at or above the top of the other
///             for every batch; with symbolic_options::mixing_rule::apart every buffer that grows lies above
///             all that do not. No top is above the arena. Same problem and options, same placement.
/// Complexity: pack() three times; O(n log^2 p) for each order, n = buffers, p = the last position;
///             fit_affine() if they are few; and improve_affine() with a million buffers in all.
/// Throws:     precondition_error where sums of bytes for the largest batch exceed 64 bits.
[[nodiscard]] symbolic_packing
pack_symbolic(table<buffer_id, symbolic_plan::buffer> const& buffers, byte_count most,
              symbolic_options::mixing_rule mixing = symbolic_options::mixing_rule::proved,
              pack_options const& options = {});

// --- stack slots -----------------------------------------------------------------------------------------

/// Offsets for slots: those of a pool lie one above the other; buffers of a slot have the same offset.
///
///     slot  bytes  alignment            pool 0   [ slot 1: 96 bytes ][ slot 0: 40 bytes ]
///       0     40           8            pool 1   [ slot 2: 64 bytes ]
///       1     96          64
///       2     64           8
///
/// The coarsest alignments come first: if they are powers of two and sizes are multiples of them, there is
/// no padding between slots. `bounds` are known lower bounds.
///
/// Requires:   `slots` has an entry for each buffer of the problem, `no_slot` only for 0 bytes; buffers of a
///             slot are of one pool and no larger than it.
/// Ensures:    a slot begins at a multiple of the alignments of its pool and of all its buffers; slots of
///             equal alignment keep their order. Pins and live ranges are ignored.
/// Complexity: O(buffers + slots log slots).
/// Throws:     precondition_error if the slots of a pool end beyond 64 bits, or a common alignment does.
[[nodiscard]] placement stack_slots(placement_problem const& problem, sized_slot_plan const& slots,
                                    table<pool_id, byte_count> const& bounds = {});

// --- place concurrently ----------------------------------------------------------------------------------

///     for each pool:  bound = the given bound, or the highest top that a single buffer requires
///                     for each order: greedy fit; keep the lowest
///                     move buffers that reach above the bound forward in the order, and fit again
///                     stop when the height equals the bound: it is optimal
///
/// Two buffers conflict unless one may reuse the bytes of the other in every execution. So a buffer's
/// conflicts are several ranges of positions; otherwise it is the problem of place.hpp, and of a pool in
/// which each buffer has one range from its begin, as where dependences order all steps, pack() finds a
/// placement. No guaranteed factor.
///
/// Source: the greedy by size of Pisarchyk and Lee, "Efficient memory management for deep neural net
/// inference", MLSys workshop 2020, with the conflicts of a partial order instead of those of intervals.

struct place_concurrently_options {
    table<pool_id, byte_count> bounds = {};     ///< a height that is low enough; none: unknown
    std::vector<buffer_id> antichain = {};      ///< pairwise conflicting buffers with many bytes in all
    table<buffer_id, byte_count> fallback = {}; ///< a valid placement; may be empty
    std::uint64_t visits = 100'000'000;         ///< about a second of work; then no further order is begun
    std::uint64_t most_visits = no_limit;       ///< a pool without a placement by then has height `no_limit`
};

/// The first buffer with a misaligned pin, else the first pinned onto an earlier one: then
/// `bytes` of the proof is `no_limit`, and its `buffers` are indexes into those given here.
template <class Buffer>
placement::proof check_pins(table<buffer_id, Buffer> const& buffers, placement_conflicts const& conflicts,
                            placed_by_range& placed)
{
    std::vector<buffer_id> pinned;
    for (buffer_id i = 0; i != buffers.size(); ++i) {
        if (buffers[i].pinned == no_offset) continue;
        if (buffers[i].pinned % buffers[i].alignment != 0)
            return {placement::proof::reason::pin_misaligned, no_limit, 0, {i}};
        pinned.push_back(i);
    }
    for (buffer_id j : pinned) {
        byte_count const begin = buffers[j].pinned, end = begin + buffers[j].size;
        if (placed.is_free(j, begin, end)) {
            placed.insert(j, begin, end);
            continue;
        }
        for (buffer_id i : pinned)
            if (buffers[i].pinned < end && begin < buffers[i].pinned + buffers[i].size &&
                conflicts.conflict(i, j))
                return {placement::proof::reason::pins_clash, no_limit, 0, {i, j}};
    }
    return {};
}

/// `best` is the initial placement, or has height `no_limit`. False: the visits ended before the last order.
template <class Buffer>
bool pack_concurrently(table<buffer_id, Buffer> const& buffers, placement_conflicts const& conflicts,
                       table<buffer_id, unsigned char> is_in_antichain, byte_count bound,
                       std::uint64_t visits, std::uint64_t most_visits, placed_by_range& placed,
                       packing& best, std::uint32_t& tried)
{
    // Cheap orders first: for very many buffers there is time for no others.
    struct attempt {
        concurrent_order order;
        bool by_levels;
    };
    static constexpr attempt portfolio[] = {
        {concurrent_order::size_class, false}, {concurrent_order::last, true},
        {concurrent_order::begin, true},       {concurrent_order::size_class, true},
        {concurrent_order::area, true},        {concurrent_order::peak, false},
        {concurrent_order::size, false}};
    order_keys const keys = keys_of(buffers, conflicts, std::move(is_in_antichain));
    std::vector<buffer_id> best_order;
    std::uint64_t spent = 0;
    auto try_order = [&](std::vector<buffer_id> order) {
        std::uint64_t const left = visits - spent;
        std::uint64_t const visit_limit = left + larger(left, std::uint64_t{256} * order.size());
        packing found = fit_concurrently(buffers, order, placed, best.height - 1, visits - spent,
                                         best.height == no_limit ? most_visits : visit_limit);
        ++tried;
        spent += found.visits;
        if (found.height >= best.height && !best_order.empty()) return;
        best_order = std::move(order);
        if (found.height < best.height) best = std::move(found);
    };
    // In the order of its offsets, no buffer is placed above its present offset.
    if (best.height > bound && best.height != no_limit) try_order(order_by_levels(best.origin, keys));
    for (attempt now : portfolio) {
        if (best.height <= bound) return true;
        if (spent >= visits && (best.height != no_limit || spent >= most_visits)) return false;
        std::vector<buffer_id> order = order_by(now.order, keys);
        if (now.by_levels) {
            table<buffer_id, Buffer> const unit_sized(buffers.size(), Buffer{{}, 1});
            packing const levels = fit_concurrently(unit_sized, order, placed, no_limit - 1, visits - spent);
            spent += levels.visits;
            if (spent >= visits) return false;
            order = order_by_levels(levels.origin, keys);
        }
        try_order(std::move(order));
    }
    if (best.height <= bound) return true;
    if (best.height != no_limit && spent >= visits) return false;
    if (best.height != no_limit)
        lower_by_reordering(buffers, conflicts, placed, bound, visits - spent, std::move(best_order), best);
    return true;
}

/// The same as pack() does it, if buffers conflict as live ranges do. False: they do not, or they are too
/// large for pack().
bool pack_intervals(table<buffer_id, placement_problem::buffer> const& given,
                    placement_conflicts const& conflicts, byte_count bound, std::uint64_t visits,
                    packing& best, std::uint32_t& tried);

/// Places the buffers of all pools for any execution that respects the dependences.
///
/// Requires:   `lives` and `conflicts` are those of the problem's buffers (analysis/dependences.hpp);
///             `fallback`, if given, is valid. The live ranges in the problem are ignored.
/// Ensures:    conflicting buffers of one pool do not overlap in bytes, offsets are aligned and pins kept.
///             No pool is higher than by the fallback. Same problem and options, same placement.
/// Complexity: O(pools * positions + n log n) and at most a packing an order, n = buffers.
/// Throws:     precondition_error for an alignment of 0, a size of `no_size`, or if every packing exceeds 64
///             bits.
template <class Lives>
[[nodiscard]] placement place_concurrently(placement_problem const& problem, Lives const& lives,
                                           buffer_range_lists const& conflicts,
                                           place_concurrently_options const& options = {})
{
    std::size_t const all = problem.buffers.size(), pools = pool_count(problem);
    SUBLET_EXPECTS(lives.buffers() == all && (options.fallback.empty() || options.fallback.size() == all),
                   "sublet: a table needs one entry for each buffer");
    std::vector<detail::sort_key> members; // by pool, then by first begin
    table<buffer_id, unsigned char> marked(all);
    for (buffer_id b : options.antichain) marked[b] = 1;
    placement result;
    result.offset.assign(all, no_offset);
    result.pools = table<pool_id, placement::pool_result>(pools);
    for (buffer_id b = 0; b != all; ++b) {
        placement_problem::buffer const& buffer = problem.buffers[b];
        SUBLET_EXPECTS(buffer.alignment >= 1,
                       "sublet: the alignment of buffer % is 0, but has to be at least 1", b);
        SUBLET_EXPECTS(buffer.size != no_size, "sublet: buffer %, of unknown size, cannot be placed", b);
        if (buffer.size != 0) members.push_back({buffer.pool, lives.first(b), b});
    }
    sort_by_key(members);

    std::size_t next = 0;
    for (pool_id pool = 0; pool != pools; ++pool) {
        pool_limits const limits = pool < problem.pools.size() ? problem.pools[pool] : pool_limits{};
        SUBLET_EXPECTS(limits.alignment >= 1,
                       "sublet: the alignment of a pool is 0, but has to be at least 1");
        std::vector<buffer_id> pool_buffers;
        table<buffer_id, placement_problem::buffer> buffers; // numbered in the pool
        table<buffer_id, unsigned char> is_in_antichain;
        placement::pool_result& out = result.pools[pool];
        for (; next != members.size() && members[next].key == pool; ++next) {
            pool_buffers.push_back(members[next].id);
            placement_problem::buffer buffer = problem.buffers[pool_buffers.back()];
            buffer.alignment = combine_alignment(buffer.alignment, limits.alignment);
            byte_count const top =
                buffer.pinned == no_offset ? buffer.size : checked_add(buffer.pinned, buffer.size);
            if (top > out.proof.bytes)
                out.proof = {placement::proof::reason::top_of_pin, top, 0, {pool_buffers.back()}};
            buffers.push_back(buffer);
            is_in_antichain.push_back(marked[pool_buffers.back()]);
        }
        if (pool < options.bounds.size() && options.bounds[pool] > out.proof.bytes)
            out.proof = {placement::proof::reason::given, options.bounds[pool]};
        out.lower_bound = out.proof.bytes;
        if (pool_buffers.empty()) continue;
        placement_conflicts const pool_conflicts = conflicts_among(pool_buffers, lives, conflicts);

        placed_by_range placed(pool_conflicts);
        if (placement::proof fault = check_pins(buffers, pool_conflicts, placed); fault.bytes == no_limit) {
            for (buffer_id& b : fault.buffers) b = pool_buffers[b];
            out.proof = std::move(fault);
            out.status = placement::outcome::infeasible;
            continue;
        }

        packing best;
        best.height = no_limit;
        if (!options.fallback.empty()) {
            best.height = 0;
            for (std::size_t i = 0; i != pool_buffers.size(); ++i) {
                best.origin.push_back(options.fallback[pool_buffers[i]]);
                best.height = larger(best.height, best.origin[i] + buffers[i].size);
            }
        }
        bool const is_complete =
            pack_intervals(buffers, pool_conflicts, out.lower_bound, options.visits, best, out.packings) ||
            pack_concurrently(buffers, pool_conflicts, std::move(is_in_antichain), out.lower_bound,
                              options.visits, options.most_visits, placed, best, out.packings);
        result.is_cut_short = result.is_cut_short || !is_complete;
        if (best.height == no_limit && options.most_visits != no_limit) {
            out.height = no_limit;
            out.status = placement::outcome::limit;
            continue;
        }
        SUBLET_EXPECTS(best.height != no_limit, "sublet: no packing of the buffers ends within 64 bits");
        out.height = best.height;
        if (limits.largest_block != no_limit && best.height <= limits.largest_block)
            out.blocks = {{pool, 0, best.height}};
        for (std::size_t i = 0; i != pool_buffers.size(); ++i)
            result.offset[pool_buffers[i]] = best.origin[i];
        out.status = status_of(out.height, out.lower_bound, limits.capacity);
    }
    set_overall_status(result);
    return result;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack.ipp>
#endif

#endif
