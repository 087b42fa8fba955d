// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_CHAINS_HPP
#define SUBLET_SHARING_CHAINS_HPP

/// Slots that serve every schedule, by the exact rule.
///
///     u ──► v ──► w        a slot is a chain: u gives its bytes to v in every execution, v to w, so u to w
///
/// "Gives to" is transitive. So whoever comes in the order of the begins asks only the last tenant of a slot
/// whether it may follow, and whoever comes out of order has to fit between two. The order decides what a
/// plan costs. Largest first (largest_first.hpp) no slot ever grows. In the order of the begins slots grow,
/// but one pass is enough, and it needs no more of the partial order than single questions.
///
/// No plan for every schedule has less than the heaviest antichain (analysis/antichain.hpp), and no slots
/// have less than least_slot_bytes() of fewest_slots.hpp.
///
/// Source: chains of reuse in a partial order are those of Berson, Gupta and Soffa, "URSA: a unified resource
/// allocator for registers and functional units in VLIW architectures", PACT 1993.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/largest_first.hpp>
#include <sublet/sharing/slot_choice.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

/// In which order buffers come to have a slot.
enum class chain_order : std::uint8_t {
    largest_first, ///< for few bytes
    by_begin,      ///< for programs of any size
    better         ///< both, and the plan of fewer bytes; largest_first if that is equal
};

struct chain_options {
    chain_order order = chain_order::better;
    slot_choice choice = slot_choice::grow_largest; ///< by_begin: which of the slots that are free
    per_value<pool_id> pool = pool_id{0};           ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;                ///< by buffer: false keeps a slot of its own
    std::uint64_t visits = 4'000'000;               ///< see largest_first_options
};

struct chain_plan : sized_slot_plan {
    chain_order order = chain_order::largest_first; ///< in which it was found
};

namespace detail {

template <class Sizes>
std::vector<byte_count> sizes_of(std::size_t buffers, Sizes& sizes)
{
    std::vector<byte_count> size;
    size.reserve(buffers);
    for (std::size_t b = 0; b != buffers; ++b) {
        size.push_back(to_byte_count(ask(sizes, static_cast<buffer_id>(b))));
        SUBLET_EXPECTS(size.back() != no_size, "sublet: a buffer of unknown size cannot share a slot");
    }
    return size;
}

/// In the order of the begins; `may_follow(u, v)` as a slot_chooser asks it.
template <class MayFollow>
sized_slot_plan share_by_begin(concurrent_lives const& lives, std::vector<byte_count> const& size,
                               chain_options const& options, bool asks_one_begin, MayFollow may_follow)
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
            slot_request const request{.who = b,
                                       .size = size[b],
                                       .pool = pool_of[b],
                                       .begins = begin,
                                       .over = eligible[b] && !lives.is_kept(b) ? lives.last(b) : no_step,
                                       .follows = eligible[b] && (begins <= 1 || !asks_one_begin)};
            chooser.take(request, [&](buffer_id u) { return may_follow(u, b); });
        }
    return std::move(chooser).finish();
}

} // namespace detail

/// A slot for each buffer.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    of buffers in one slot each gives to the next; a slot is as large as its largest tenant. A
///             buffer of 0 bytes has `no_slot`.
/// Complexity: by_begin O((n + tests) log n), n = buffers, and a test rarely fails: see slot_choice.hpp; the
///             largest first as largest_first.hpp says.
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <size_function Sizes>
[[nodiscard]] chain_plan share_in_chains(concurrent_lives const& lives, conflict_ranges const& conflicts,
                                         Sizes sizes, chain_options const& options = {})
{
    std::vector<byte_count> const size = detail::sizes_of(lives.buffers(), sizes);
    chain_plan plan;
    if (options.order != chain_order::by_begin) {
        plan = {share_largest_first(
                    lives, conflicts, size,
                    {.pool = options.pool, .eligible = options.eligible, .visits = options.visits}),
                chain_order::largest_first};
        if (options.order == chain_order::largest_first) return plan;
    }
    sized_slot_plan by_begin =
        detail::share_by_begin(lives, size, options, false, [&](buffer_id u, buffer_id v) {
            step_id const begin = lives.first(v);
            if (lives.begins[v].size() > 1) return gives_to(conflicts, lives, u, v) ? begin : begin + 1;
            auto const never = conflicts.of[u];
            std::size_t const at =
                first_that(never.size(), [&](std::size_t i) { return begin < never[i].last; });
            return at == never.size() || begin < never[at].first ? begin : never[at].last;
        });
    if (options.order == chain_order::by_begin || by_begin.total_bytes < plan.total_bytes)
        plan = {std::move(by_begin), chain_order::by_begin};
    return plan;
}

/// The same by begin, where only single questions can be asked, for instance of an oracle that forgets as it
/// goes on. A buffer that begins at several positions has a new slot.
///
/// Ensures:    `oracle.before(a, b)` is asked for ascending b.
/// Complexity: O((n + tests) log n), and for each test a call for each end of the last tenant.
template <precedence_oracle Oracle, size_function Sizes>
[[nodiscard]] chain_plan share_in_chains(concurrent_lives const& lives, Oracle& oracle, Sizes sizes,
                                         chain_options const& options = {})
{
    auto may_follow = [&](buffer_id u, buffer_id v) {
        return lives.first(v) + (gives_to(lives, u, v, oracle) ? 0 : 1);
    };
    std::vector<byte_count> const size = detail::sizes_of(lives.buffers(), sizes);
    return {detail::share_by_begin(lives, size, options, true, may_follow), chain_order::by_begin};
}

} // namespace sublet

#endif
