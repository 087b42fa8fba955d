// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_FEWEST_SLOTS_HPP
#define SUBLET_SHARING_FEWEST_SLOTS_HPP

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

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/contract.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/range_matching.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

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
    [[nodiscard]] bool is_fewest() const { return antichain.size() == plan.slots; }
};

namespace detail {

/// Of buffers in the order of their begins: by place, the places of those that it gives to.
template <std::same_as<keyed> Member>
live_range_lists givers(concurrent_lives const& lives, conflict_ranges const& conflicts,
                        std::vector<Member> const& members, std::size_t begin, std::size_t end)
{
    std::vector<std::uint32_t> several; // places of those that begin in several positions
    std::size_t given = begin;
    for (std::size_t i = begin; i != end; ++i) {
        std::size_t const begins = lives.begins[members[i].who].size();
        if (begins == 0) given = i + 1;
        if (begins > 1) several.push_back(static_cast<std::uint32_t>(i - begin));
    }
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    first.reserve(end - begin + 1);
    for (std::size_t i = begin; i != end; ++i) {
        buffer_id const u = members[i].who;
        auto place_of = [&](step_id position) { // of the first that begins there or later
            return static_cast<std::uint32_t>(given - begin + first_that(end - given, [&](std::size_t k) {
                                                  return lives.first(members[given + k].who) >= position;
                                              }));
        };
        auto add = [&](std::uint32_t from, std::uint32_t to) {
            for (std::size_t k =
                     first_that(several.size(), [&](std::size_t j) { return several[j] >= from; });
                 k != several.size() && several[k] < to; ++k) {
                if (gives_to(conflicts, lives, u, members[begin + several[k]].who)) continue;
                if (from != several[k]) ranges.push_back({from, several[k]});
                from = several[k] + 1;
            }
            if (from < to) ranges.push_back({from, to});
        };
        auto const never = conflicts.of[u];
        if (lives.begins[u].empty() && lives.ends[u].empty()) {
            add(place_of(0), static_cast<std::uint32_t>(end - begin));
        } else {
            for (std::size_t r = 0; r != never.size(); ++r)
                add(place_of(never[r].last), r + 1 != never.size() ? place_of(never[r + 1].first)
                                                                   : static_cast<std::uint32_t>(end - begin));
        }
        SUBLET_EXPECTS(ranges.size() < no_buffer, "sublet: more ranges than 32-bit ids");
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {interval_method::automatic, static_cast<step_id>(end - begin), std::move(first),
            std::move(ranges)};
}

} // namespace detail

/// A slot for each buffer, as few as any plan has that is valid under every schedule.
///
/// Requires:   `conflicts` are those of `lives`.
/// Ensures:    buffers share a slot only if one gives to the other. Where no conflict was undecided,
///             `antichain` has as many members as there are slots, and `is_fewest()`. Slots are numbered by
///             pool and the first begin in them; then come those of the ineligible.
/// Complexity: O(sqrt(n)) searches of O((n + ranges) log n) each, n = buffers; and for each buffer that
///             begins in several positions as many tests as there are buffers.
/// Throws:     precondition_error for a pool id that is none, or 2^32 - 1 ranges or more.
template <std::same_as<concurrent_lives> Lives>
[[nodiscard]] chain_cover fewest_slots(Lives const& lives, conflict_ranges const& conflicts,
                                       fewest_slots_options const& options = {})
{
    std::size_t const buffers = lives.buffers();
    auto const bytes = options.bytes.tabulate(buffers);
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);

    chain_cover cover;
    cover.plan.slot_of.assign(buffers, no_slot);
    std::vector<keyed> members; // by pool, then by begin: those given come first
    std::vector<unsigned char> is_in_antichain(buffers);
    for (buffer_id b = 0; b != buffers; ++b) {
        SUBLET_EXPECTS(pool_of[b] != no_value, "sublet: a pool id is out of range");
        if (bytes[b] == 0 || !eligible[b]) continue;
        members.push_back({pool_of[b], lives.begins[b].empty() ? 0 : std::uint64_t{lives.first(b)} + 1, b});
    }
    sort_keyed(members);
    for (std::size_t begin = 0, end = 0; begin != members.size(); begin = end) {
        while (end != members.size() && members[end].key == members[begin].key) ++end;
        range_matching const matched =
            match_ranges(detail::givers(lives, conflicts, members, begin, end), end - begin);
        for (std::size_t i = 0; i != end - begin; ++i) { // who gives comes before who gets
            buffer_id const b = members[begin + i].who;
            std::uint32_t const from = matched.row_of[i];
            cover.plan.slot_of[b] = from == range_matching::none
                                        ? cover.plan.slots++
                                        : cover.plan.slot_of[members[begin + from].who];
            is_in_antichain[b] = matched.is_row_reached(i) && !matched.column_reached[i];
        }
    }
    for (buffer_id b = 0; b != buffers; ++b) {
        if (bytes[b] != 0 && !eligible[b]) {
            cover.plan.slot_of[b] = cover.plan.slots++;
            is_in_antichain[b] = 1;
        }
        if (is_in_antichain[b] && conflicts.undecided == 0) cover.antichain.push_back(b);
    }
    return cover;
}

} // namespace sublet

#endif
