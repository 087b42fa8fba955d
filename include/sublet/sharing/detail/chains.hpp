// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_CHAINS_HPP
#define SUBLET_SHARING_DETAIL_CHAINS_HPP

/// Slots if only a partial order of the steps is known: chains of buffers, the fewest slots, and the fewest
/// bytes.

#include <sublet/analysis/dependences.hpp>
#include <sublet/detail/bit_rows.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/detail/largest_first.hpp>
#include <sublet/sharing/detail/range_matching.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

// --- chains ----------------------------------------------------------------------------------------------

/// Slots that serve every schedule, by the exact rule.
///
///     u ──► v ──► w        a slot is a chain: u gives its bytes to v in every execution, v to w, so u to w
///
/// "Gives to" is transitive. So whoever comes in the order of the begins asks only the last tenant of a slot
/// whether it may follow, and whoever comes out of order has to fit between two. The order decides what a
/// plan costs. Largest first (largest_first.hpp) no slot ever grows. In the order of the begins slots grow,
/// but one pass is enough, and it needs no more of the partial order than single questions.
///
/// No plan for every schedule has less than the heaviest antichain (detail/antichain.hpp), and no slots
/// have less than least_slot_bytes() of fewest_slots.
///
/// Source: chains of reuse in a partial order are those of Berson, Gupta and Soffa, "URSA: a unified resource
/// allocator for registers and functional units in VLIW architectures", PACT 1993.

namespace sublet::detail {

struct chain_options {
    /// In which order buffers come to have a slot.
    enum class ranking : std::uint8_t {
        largest_first, ///< for few bytes
        by_begin,      ///< for programs of any size
        better         ///< both, and the plan of fewer bytes; largest_first if that is equal
    };

    chain_options::ranking order = chain_options::ranking::better;
    slot_choice choice = slot_choice::grow_largest; ///< by_begin: which of the slots that are free
    per_value<pool_id> pool = pool_id{0};           ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;                ///< by buffer: false keeps a slot of its own
    std::uint64_t visits = 4'000'000;               ///< see largest_first_options
};

struct chain_plan : sized_slot_plan {
    chain_options::ranking order = chain_options::ranking::largest_first; ///< in which it was found
};

template <class Sizes>
std::vector<byte_count> sizes_of(std::size_t buffers, Sizes& sizes)
{
    std::vector<byte_count> size;
    size.reserve(buffers);
    for (std::size_t b = 0; b != buffers; ++b) {
        size.push_back(to_byte_count(call_user(sizes, static_cast<buffer_id>(b))));
        SUBLET_EXPECTS(size.back() != no_size, "sublet: a buffer of unknown size cannot share a slot");
    }
    return size;
}

/// In the order of the begins; `may_follow(u, v)` as a slot_chooser asks it.
template <class MayFollow>
sized_slot_plan share_by_begin(concurrent_live_ranges const& lives, std::vector<byte_count> const& size,
                               chain_options const& options, bool single_begin_only, MayFollow may_follow)
{
    auto const buffers = static_cast<buffer_id>(lives.buffers());
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    csr_rows const at = csr_rows::gathered(std::size_t{lives.positions} + 1, [&](auto add) {
        for (buffer_id b = 0; b != buffers; ++b) add(lives.first(b), b);
    });
    slot_chooser chooser(buffers, options.choice);
    for (step_id begin = 0; begin != at.rows(); ++begin)
        for (buffer_id b : at[begin]) {
            std::size_t const begins = lives.begins[b].size();
            slot_request const request{.buffer = b,
                                       .size = size[b],
                                       .pool = pool_of[b],
                                       .begins = begin,
                                       .free_from =
                                           eligible[b] && !lives.is_kept(b) ? lives.last(b) : no_step,
                                       .may_reuse = eligible[b] && (begins <= 1 || !single_begin_only)};
            chooser.assign(request, [&](buffer_id u) { return may_follow(u, b); });
        }
    return std::move(chooser).finish();
}

/// A slot for each buffer.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    of buffers in one slot each gives to the next; a slot is as large as its largest tenant. A
///             buffer of 0 bytes has `no_slot`.
/// Complexity: by_begin O((n + tests) log n), n = buffers, and a test rarely fails: see detail/tokens.hpp;
///             largest first as largest_first.hpp says.
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <size_function Sizes>
[[nodiscard]] chain_plan share_in_chains(concurrent_live_ranges const& lives,
                                         conflict_ranges const& conflicts, Sizes sizes,
                                         chain_options const& options = {})
{
    std::vector<byte_count> const size = sizes_of(lives.buffers(), sizes);
    chain_plan plan;
    if (options.order != chain_options::ranking::by_begin) {
        plan = {share_largest_first(
                    lives, conflicts, size,
                    {.pool = options.pool, .eligible = options.eligible, .visits = options.visits}),
                chain_options::ranking::largest_first};
        if (options.order == chain_options::ranking::largest_first) return plan;
    }
    sized_slot_plan by_begin = share_by_begin(lives, size, options, false, [&](buffer_id u, buffer_id v) {
        step_id const begin = lives.first(v);
        if (lives.begins[v].size() > 1) return reusable_by(conflicts, lives, u, v) ? begin : begin + 1;
        auto const forbidden = conflicts.of[u];
        std::size_t const at =
            partition_point(forbidden.size(), [&](std::size_t i) { return begin < forbidden[i].last; });
        return at == forbidden.size() || begin < forbidden[at].first ? begin : forbidden[at].last;
    });
    if (options.order == chain_options::ranking::by_begin || by_begin.total_bytes < plan.total_bytes)
        plan = {std::move(by_begin), chain_options::ranking::by_begin};
    return plan;
}

/// The same by begin, where only single questions can be asked, for instance of an oracle that forgets as it
/// goes on. A buffer that begins at several positions has a new slot.
///
/// Ensures:    `oracle.before(a, b)` is asked for ascending b.
/// Complexity: O((n + tests) log n), and for each test a call for each end of the last tenant.
template <precedence_oracle Oracle, size_function Sizes>
[[nodiscard]] chain_plan share_in_chains(concurrent_live_ranges const& lives, Oracle& oracle, Sizes sizes,
                                         chain_options const& options = {})
{
    auto may_follow = [&](buffer_id u, buffer_id v) {
        return lives.first(v) + (reusable_by(lives, u, v, oracle) ? 0 : 1);
    };
    std::vector<byte_count> const size = sizes_of(lives.buffers(), sizes);
    return {share_by_begin(lives, size, options, true, may_follow), chain_options::ranking::by_begin};
}

// --- fewest slots ----------------------------------------------------------------------------------------

/// The fewest slots that serve every schedule, and the proof that fewer do not.
///
///         ┌──► b ──┐        b and c: in some schedule the one is written while the other is to be read
///     a ──┤        ├──► d    a: read until both are there, so it gives its bytes to d only
///         └──► c ──┘        chains a ─► d, b and c: three slots; and none of b, c, d gives to another
///
/// A slot is a chain of buffers of which each gives its bytes to the next. "u gives to v" is transitive, so
/// chains that cross can be taken apart: cover the buffers with as few chains as possible, without caring
/// whether they meet. Each buffer is followed by at most one and follows at most one, and each such pair
/// saves a slot: it is a matching, and a largest one leaves the fewest chains. The proof comes with it: as
/// many buffers as there are chains, none of which gives to another.
///
/// Source: Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 1950;
/// Fulkerson, "Note on Dilworth's decomposition theorem for partially ordered sets", Proc. AMS 1956 (as a
/// matching).

struct fewest_slots_options {
    per_value<byte_count> bytes = byte_count{1}; ///< by buffer; 0: needs no slot
    per_value<pool_id> pool = pool_id{0};        ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;             ///< by buffer: false keeps a slot of its own
};

struct chain_cover {
    slot_plan plan;
    /// Ascending; no two of them may share a slot. Empty where conflicts were undecided.
    std::vector<buffer_id> antichain;

    /// Proven: no plan that is valid under every schedule has fewer slots. False: not proven.
    [[nodiscard]] bool is_fewest() const;
};

/// By place, the places of those that it gives to.
live_range_lists ranges_of(reuse_ranges const& members);

/// A slot for each buffer, as few as any plan has that is valid under every schedule.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    buffers share a slot only if one gives to the other. Where no conflict was undecided,
///             `antichain` has as many members as there are slots, and `is_fewest()`. Slots are numbered by
///             pool and the first begin in them; then come those of the ineligible.
/// Complexity: O(sqrt(n)) searches of O((n + ranges) log n) each, n = buffers; and for each buffer that
///             begins in several positions as many tests as there are buffers.
/// Throws:     precondition_error for a pool id that is none, or 2^32 - 1 ranges or more.
[[nodiscard]] chain_cover fewest_slots(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                       fewest_slots_options const& options = {});

/// What no plan of slots goes below that is valid under every schedule: of the buffers that are at least so
/// large as one, the fewest slots, times the way to the next smaller size, summed over all sizes. `bytes` is
/// looked at as it is.
///
/// Ensures:    0 where conflicts were undecided, for then nothing is known.
/// Complexity: fewest_slots() for each different size.
/// Throws:     as fewest_slots(); precondition_error if the bound exceeds 64 bits.
[[nodiscard]] byte_count least_slot_bytes(concurrent_live_ranges const& lives,
                                          conflict_ranges const& conflicts, fewest_slots_options options);

// --- assign exact ----------------------------------------------------------------------------------------

/// Give every value a slot so that values that interfere never share one, and the slots are the fewest bytes.
///
///     a: 40 - b: 8 - c: 8 - d: 40         largest first, d joins a, and b and c open slots of their own:
///                                         40 + 8 + 8 bytes in three slots, where two would take 40 + 40
///
/// A slot is as large as its largest tenant. To use few bytes so is as hard as to colour graphs, but the
/// sizes of networks and their interference leave little to decide, once it is the sizes of slots that are
/// searched for (staircases.hpp). Before that, what cannot matter is taken away. A value with a larger one
/// beside it that interferes with whatever it interferes with, but not with it, goes where that one goes.
/// Values that are fixed to one slot are one value. And where all of some interfere with all others, as they
/// do if pools are kept apart, each of the two is a problem of its own.
///
/// Source: the reductions are folklore of graph colouring; for the search see staircases.hpp.

struct exact_options {
    per_value<byte_count> bytes = byte_count{1}; ///< 0: needs no slot
    per_value<pool_id> pool = pool_id{0};        ///< only values of one pool share
    per_value<slot_id> fixed = no_slot;          ///< a slot that is prescribed
    /// So many slots are tried for values at most. A count and not a time, so that the same problem has the
    /// same answer everywhere.
    std::uint64_t nodes = 10'000'000;
};

struct exact_assignment : sized_slot_plan {
    byte_count lower_bound = 0;  ///< no plan has fewer bytes
    byte_count clique_bytes = 0; ///< what of it `cliques` show; the rest was searched
    /// Each row values of which no two may share, the largest first. So the first slot holds the first of
    /// each row, or a larger one, the second slot the second, and so on. With fixed slots, a value stands for
    /// all that are fixed to its slot.
    csr_rows cliques;
    std::uint64_t nodes = 0;               ///< slots tried
    std::optional<slot_plan::clash> clash; ///< the fixed slots cannot be kept: nothing has a slot

    [[nodiscard]] bool is_optimal() const { return !clash && total_bytes == lower_bound; }
};

/// Why the fixed slots cannot be kept, the lowest pair.
std::optional<slot_plan::clash> find_clash(bit_rows const& interferes, std::vector<pool_id> const& pool_of,
                                           std::vector<slot_id> const& fixed);

/// Names for slots: what is fixed has its own, the others take what is left, the largest first. `by_rank` are
/// values, the largest first, `slot_of` their slots by any numbers below their count.
void number_slots(std::vector<sort_key> const& by_rank, std::vector<slot_id> const& slot_of,
                  std::vector<slot_id> const& fixed, std::vector<byte_count> const& bytes,
                  std::vector<pool_id> const& pool_of, exact_assignment& result);

exact_assignment assign_by_matrix(bit_rows const& interferes, std::size_t values,
                                  exact_options const& options);

/// Of an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere, and those of different pools, have different slots. A value of 0 bytes
///             has `no_slot`, and a fixed one the slot that it is fixed to; if two of those clash, the lowest
///             pair is the answer. `total_bytes` is `lower_bound` unless nodes ran out. Slots that are not
///             fixed are numbered the largest first, leaving out those that are; one below them that nobody
///             takes has 0 bytes. The order of the edges, and how often one stands in a row, makes no
///             difference.
/// Complexity: exponential in the worst case, but for `nodes`; O(V^3 / 64) before. O(V^2) bits of memory, and
///             O(V) words for each slot, and for each up to the highest that is fixed.
/// Throws:     precondition_error for a loop, an edge that only one of its ends knows, a size of `no_size`,
///             a pool id that is none, or if all values together exceed 64 bits.
[[nodiscard]] exact_assignment assign_exact(csr_graph const& g, exact_options const& options = {});

/// The same of values 0 ... values - 1, of which u and v interfere if `interfere(u, v)`. It is asked once a
/// pair, with u < v.
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
