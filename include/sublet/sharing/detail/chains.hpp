// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_CHAINS_HPP
#define SUBLET_SHARING_DETAIL_CHAINS_HPP

/// Slots if only a partial order of the steps is known. A slot is a chain of buffers, each of which may reuse
/// the bytes of the one before it under every schedule. Three solvers: share_in_chains() is greedy, for few
/// bytes; fewest_slots() is a minimum chain cover with proof (Dilworth 1950); assign_exact() searches for the
/// fewest bytes in any interference graph, exponential but limited by a work budget.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/sharing/detail/largest_first.hpp>
#include <sublet/sharing/detail/range_matching.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

// --- chains ----------------------------------------------------------------------------------------------

/// Greedy chains by the exact reuse relation.
///
///     u ──► v ──► w        v may reuse the bytes of u in every execution, w those of v, and so w those of u
///
/// The relation is transitive. So in the order of begins a buffer is tested against the last occupant of a
/// slot only: one pass with single queries of the partial order, but slots grow. Largest first
/// (largest_first.hpp) no slot ever grows, but a buffer has to fit between two occupants.
///
/// No plan for every schedule has fewer bytes than the heaviest antichain (detail/antichain.hpp), and no plan
/// of slots fewer than least_slot_bytes().
///
/// Source: chains of reuse in a partial order are those of Berson, Gupta and Soffa, "URSA: a unified resource
/// allocator for registers and functional units in VLIW architectures", PACT 1993.

namespace sublet::detail {

struct chain_options {
    /// The order in which buffers get slots.
    enum class ranking : std::uint8_t {
        largest_first, ///< for few bytes
        by_begin,      ///< for programs of any size
        better         ///< both, and the plan of fewer bytes; largest_first if that is equal
    };

    chain_options::ranking order = chain_options::ranking::better;
    slot_choice choice = slot_choice::grow_largest; ///< by_begin: which free slot
    per_value<pool_id, buffer_id> pool = pool_id{0}; ///< only buffers of one pool share
    per_value<bool, buffer_id> eligible = true;      ///< false keeps a slot of its own
    std::uint64_t visits = 4'000'000;                ///< see largest_first_options
};

struct chain_plan : sized_slot_plan {
    chain_options::ranking order = chain_options::ranking::largest_first; ///< the order that found it
};

template <class Sizes>
table<buffer_id, byte_count> sizes_of(std::size_t buffers, Sizes& sizes)
{
    table<buffer_id, byte_count> size;
    size.reserve(buffers);
    for (buffer_id b = 0; b != buffers; ++b) {
        size.push_back(to_byte_count(call_user(sizes, b)));
        SUBLET_EXPECTS(size.back() != no_size, "sublet: buffer %, of unknown size, cannot share a slot", b);
    }
    return size;
}

/// Assigns slots in the order of begins; for `may_follow(u, v)` see slot_chooser::assign().
template <class MayFollow>
sized_slot_plan share_by_begin(concurrent_live_ranges const& lives, table<buffer_id, byte_count> const& size,
                               chain_options const& options, bool single_begin_only, MayFollow may_follow)
{
    std::size_t const buffers = lives.buffers();
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    auto const at =
        csr_rows<position_id, buffer_id>::gathered(std::size_t{lives.positions} + 1, [&](auto add) {
            for (buffer_id b = 0; b != buffers; ++b) add(lives.first(b), b);
        });
    slot_chooser chooser(buffers, options.choice);
    for (position_id begin = 0; begin != at.rows(); ++begin)
        for (buffer_id b : at[begin]) {
            std::size_t const begins = lives.begins[b].size();
            slot_request const request{.buffer = b,
                                       .size = size[b],
                                       .pool = pool_of[b],
                                       .begins = begin,
                                       .free_from =
                                           eligible[b] && !lives.is_kept(b) ? lives.last(b) : no_position,
                                       .may_reuse = eligible[b] && (begins <= 1 || !single_begin_only)};
            chooser.assign(request, [&](buffer_id u) { return may_follow(u, b); });
        }
    return std::move(chooser).finish();
}

/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    each buffer in a slot may reuse the bytes of the one before it; a slot is as large as its
///             largest occupant. A buffer of 0 bytes has `no_slot`.
/// Complexity: by_begin O((n + tests) log n), n = buffers, and a test rarely fails: see detail/tokens.hpp;
///             largest first: see largest_first.hpp.
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <size_function Sizes>
[[nodiscard]] chain_plan share_in_chains(concurrent_live_ranges const& lives,
                                         conflict_ranges const& conflicts, Sizes sizes,
                                         chain_options const& options = {})
{
    table<buffer_id, byte_count> const size = sizes_of(lives.buffers(), sizes);
    chain_plan plan;
    if (options.order != chain_options::ranking::by_begin) {
        plan = {share_largest_first(
                    lives, conflicts, size,
                    {.pool = options.pool, .eligible = options.eligible, .visits = options.visits}),
                chain_options::ranking::largest_first};
        if (options.order == chain_options::ranking::largest_first) return plan;
    }
    sized_slot_plan by_begin =
        share_by_begin(lives, size, options, false, [&](buffer_id u, buffer_id v) -> position_id {
            position_id const begin = lives.first(v);
            if (lives.begins[v].size() > 1) return reusable_by(conflicts, lives, u, v) ? +begin : begin + 1;
            auto const forbidden = conflicts.of[u];
            std::size_t const at =
                partition_point(forbidden.size(), [&](std::size_t i) { return begin < forbidden[i].last; });
            return at == forbidden.size() || begin < forbidden[at].first ? begin : forbidden[at].last;
        });
    if (options.order == chain_options::ranking::by_begin || by_begin.total_bytes < plan.total_bytes)
        plan = {std::move(by_begin), chain_options::ranking::by_begin};
    return plan;
}

/// The same by begin, for an oracle that answers single queries, for instance one that drops old answers. A
/// buffer that begins at several positions gets a new slot.
///
/// Ensures:    `oracle.before(a, b)` is called for ascending b.
/// Complexity: O((n + tests) log n), and for each test one call per end of the last occupant.
template <precedence_oracle Oracle, size_function Sizes>
[[nodiscard]] chain_plan share_in_chains(concurrent_live_ranges const& lives, Oracle& oracle, Sizes sizes,
                                         chain_options const& options = {})
{
    auto may_follow = [&](buffer_id u, buffer_id v) -> position_id {
        return lives.first(v) + (reusable_by(lives, u, v, oracle) ? 0u : 1u);
    };
    table<buffer_id, byte_count> const size = sizes_of(lives.buffers(), sizes);
    return {share_by_begin(lives, size, options, true, may_follow), chain_options::ranking::by_begin};
}

// --- fewest slots ----------------------------------------------------------------------------------------

/// The fewest slots that are valid under every schedule, with a proof.
///
///         ┌──► b ──┐        b and c conflict: in some schedule one is written before the other is read
///     a ──┤        ├──► d    a is read by b and by c, so only d may reuse its bytes
///         └──► c ──┘        chains a ─► d, b and c: three slots; no two of b, c, d may share
///
/// A slot is a chain in the reuse relation, which is transitive: each buffer has at most one predecessor and
/// one successor, and each such pair saves a slot. So a maximum bipartite matching gives the fewest chains,
/// and an antichain of the same size as proof.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 1950;
/// Fulkerson, "Note on Dilworth's decomposition theorem for partially ordered sets", Proc. AMS 1956 (as a
/// matching).

struct fewest_slots_options {
    per_value<byte_count, buffer_id> bytes = byte_count{1}; ///< 0: needs no slot
    per_value<pool_id, buffer_id> pool = pool_id{0};        ///< only buffers of one pool share
    per_value<bool, buffer_id> eligible = true;             ///< false keeps a slot of its own
};

struct chain_cover {
    slot_plan plan;
    /// Ascending; no two of them may share a slot. Empty where conflicts were undecided.
    std::vector<buffer_id> antichain;

    /// Proven: no plan that is valid under every schedule has fewer slots. False: not proven.
    [[nodiscard]] bool is_optimal() const;
};

/// By place: the places of the buffers that may reuse its bytes.
live_range_lists ranges_of(reuse_ranges const& members);

/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    buffers share a slot only if one may reuse the other's bytes. If no conflict was undecided,
///             `antichain` has as many members as there are slots, and `is_optimal()`. Slots are numbered by
///             pool and their first begin, those of ineligible buffers last.
/// Complexity: O(sqrt(n)) searches of O((n + ranges) log n) each, n = buffers; and for each buffer that
///             begins at several positions one test per buffer.
/// Throws:     precondition_error for a pool id that is none, or 2^32 - 1 ranges or more.
[[nodiscard]] chain_cover fewest_slots(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                       fewest_slots_options const& options = {});

/// A lower bound for the bytes of any slot plan that is valid under every schedule: for each size, the fewest
/// slots of the buffers at least that large, times the difference to the next smaller size, summed up.
/// `bytes` is not rounded.
///
/// Ensures:    0 if conflicts were undecided.
/// Complexity: fewest_slots() for each different size.
/// Throws:     as fewest_slots(); precondition_error if the bound exceeds 64 bits.
[[nodiscard]] byte_count least_slot_bytes(concurrent_live_ranges const& lives,
                                          conflict_ranges const& conflicts, fewest_slots_options options);

// --- assign exact ----------------------------------------------------------------------------------------

/// Exact assignment: values that interfere get different slots, and the sum of slot sizes is minimal.
///
///     a: 40 - b: 8 - c: 8 - d: 40         largest first, d shares with a, and b and c open slots:
///                                         40 + 8 + 8 bytes in three slots, where two would take 40 + 40
///
/// A slot is as large as its largest occupant. Minimising the bytes is as hard as graph colouring, but with
/// few different sizes a search over slot sizes decides most instances (slot_size_search.hpp). Reductions,
/// folklore of graph colouring, come first: a dominated value gets the slot of its dominator, values fixed to
/// one slot are merged, and co-components (sets that interfere with all values outside, such as pools) are
/// solved alone.

struct exact_options {
    per_value<byte_count> bytes = byte_count{1}; ///< 0: needs no slot
    per_value<pool_id> pool = pool_id{0};        ///< only values of one pool share
    per_value<slot_id> fixed = no_slot;          ///< a prescribed slot
    std::uint64_t nodes = 10'000'000; ///< assignments tried at most: a count, so results are reproducible
};

/// Converts to false if two fixed slots conflict: nothing has a slot.
struct exact_assignment : sized_slot_plan, verdict {
    byte_count lower_bound = 0;  ///< no plan has fewer bytes
    byte_count clique_bytes = 0; ///< the part of it that `cliques` prove; the rest is by search
    /// Each row: values of which no two may share, the largest first. So the i-th largest slot is at least as
    /// large as the i-th value of each row. A value stands for all that are fixed to its slot.
    csr_rows<std::uint32_t, value_id> cliques;
    std::uint64_t nodes = 0;               ///< slots tried

    [[nodiscard]] bool is_optimal() const { return *this && total_bytes == lower_bound; }
};

/// Two values with one fixed slot.
inline counterexample fixed_together(value_id v, value_id other, slot_id slot, step_id s = no_step)
{
    return {fault::fixed_together,
            counterexample::slots{.value = v, .other = other, .slot = slot, .step = s}};
}

/// The lowest pair of fixed values that conflict, if any.
std::optional<counterexample> find_clash(bit_rows const& interferes, table<value_id, pool_id> const& pool_of,
                                         table<value_id, slot_id> const& fixed);

/// Numbers slots: fixed ones keep their ids, the others get the free ids, the largest slot first. `by_rank`
/// are values, the largest first; `slot_of` has, by rank, provisional slots with any ids below the number of
/// values.
void number_slots(std::vector<sort_key> const& by_rank, table<value_id, slot_id> const& slot_of,
                  table<value_id, slot_id> const& fixed, table<value_id, byte_count> const& bytes,
                  table<value_id, pool_id> const& pool_of, exact_assignment& result);

exact_assignment assign_by_matrix(bit_rows const& interferes, std::size_t values,
                                  exact_options const& options);

/// Of an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere, and those of different pools, have different slots. A value of 0 bytes
///             has `no_slot`, and a fixed value its fixed slot; if two of those conflict, `clash` is the
///             lowest pair. `total_bytes` is `lower_bound` unless nodes ran out. Slots that are not fixed get
///             the free ids by falling size; an unused slot below a fixed one has 0 bytes. The order of edges
///             and duplicates in a row make no difference.
/// Complexity: exponential in the worst case, limited by `nodes`, after O(V^3 / 64). O(V^2) bits of memory,
///             and O(V) words for each slot, up to the highest fixed one.
/// Throws:     precondition_error for a loop, an edge in the row of one end only, a size of `no_size`, a pool
///             id that is none, or if all values together exceed 64 bits.
[[nodiscard]] exact_assignment assign_exact(csr_graph const& g, exact_options const& options = {});

/// The same for values 0 ... values - 1, of which u and v interfere if `interfere(u, v)`, which is called
/// once per pair, with u < v.
template <class Interfere>
    requires std::predicate<Interfere&, value_id, value_id>
[[nodiscard]] exact_assignment assign_exact(std::size_t values, Interfere interfere,
                                            exact_options const& options = {})
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    bit_rows interferes(values, values);
    for (value_id v = 0; v != values; ++v)
        for (value_id u = 0; u != v; ++u)
            if (call_user(interfere, u, v)) {
                interferes.set(u, v);
                interferes.set(v, u);
            }
    return assign_by_matrix(interferes, values, options);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/chains.ipp>
#endif

#endif
