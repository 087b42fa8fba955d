// SPDX-License-Identifier: BSL-1.0

/// Conflicts that are those of live ranges are placed by pack(), and so are few others, as live ranges with
/// gaps.

#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The buffers in pool 0. False: one above the other, they are too large for pack().
SUBLET_DECL bool alone_in_pool(table<buffer_id, placement_problem::buffer> const& given,
                               table<buffer_id, placement_problem::buffer>& buffers)
{
    buffers = given;
    byte_count room = byte_count{1} << 61;
    for (placement_problem::buffer& it : buffers) {
        for (byte_count bytes : {it.size, it.alignment - 1, it.pinned == no_offset ? 0 : it.pinned}) {
            if (bytes > room) return false;
            room -= bytes;
        }
        it.pool = 0;
    }
    return true;
}

/// Keeps the lower of `best` and what pack() finds.
SUBLET_DECL void pack_alone(placement_problem const& problem, std::uint64_t visits, packing& best,
                            std::uint32_t& tried)
{
    deterministic_control control;
    placement const packed =
        pack(problem, {.visits = visits / 5, .improve_visits = visits / 5, .nodes = visits / 2000}, control);
    tried += packed.pools[0].packings;
    if (packed.pools[0].height < best.height) best = {packed.offset, packed.pools[0].height};
}

SUBLET_DECL bool pack_intervals(table<buffer_id, placement_problem::buffer> const& given,
                                placement_conflicts const& conflicts, byte_count bound, std::uint64_t visits,
                                packing& best, std::uint32_t& tried)
{
    if (!conflicts.are_intervals()) return false;
    if (best.height <= bound) return true;
    placement_problem problem;
    if (!alone_in_pool(given, problem.buffers)) return false;
    for (buffer_id b = 0; b != given.size(); ++b) problem.buffers[b].life = conflicts.ranges[b].front();
    pack_alone(problem, visits, best, tried);
    return true;
}

/// The pairs that conflict.
SUBLET_DECL bit_rows conflict_rows(placement_conflicts const& conflicts)
{
    std::size_t const n = conflicts.buffers();
    table<position_id, std::vector<buffer_id>> begun(conflicts.positions());
    for (buffer_id b = 0; b != n; ++b)
        for (position_id at : conflicts.begins(b)) begun[at].push_back(b);
    bit_rows rows(n, n);
    for (buffer_id b = 0; b != n; ++b)
        for (live_range r : conflicts.ranges[b])
            for (position_id at = r.first; at != r.last; ++at)
                for (buffer_id a : begun[at]) rows.set(a, b), rows.set(b, a);
    return rows;
}

SUBLET_DECL std::optional<placement_problem>
positions_of_conflicts(table<buffer_id, placement_problem::buffer> const& buffers,
                       placement_conflicts const& conflicts,
                       table<buffer_id, unsigned char> const& is_in_antichain)
{
    std::size_t const n = buffers.size();
    placement_problem result;
    if (n > most_searched_buffers || !alone_in_pool(buffers, result.buffers)) return std::nullopt;
    bit_rows const conflict = conflict_rows(conflicts);
    std::vector<sort_key> keys; // by the number of those that it may take over
    for (buffer_id b = 0; b != n; ++b) {
        result.buffers[b].life = {};
        std::uint64_t before = 0;
        for (buffer_id a = 0; a != b; ++a) before += !conflict.test(b, a);
        keys.push_back({before, 0, b});
    }
    std::vector<buffer_id> const order = sorted_ids(std::move(keys));

    struct joint_position {
        std::vector<buffer_id> members;
        std::vector<bit_rows::word> common; // the buffers that conflict with all members
    };
    auto add = [&conflict](joint_position& to, buffer_id b) {
        bit_rows::word const* const row = conflict[b];
        if (to.members.empty()) to.common.assign(row, row + conflict.words());
        for (std::size_t w = 0; w != conflict.words(); ++w) to.common[w] &= row[w];
        to.members.push_back(b);
    };
    std::size_t last_of_antichain = n; // its index; n: there is none
    for (std::size_t i = 0; i != n; ++i)
        if (is_in_antichain[order[i]] != 0) last_of_antichain = i;
    std::size_t entries = 0;
    position_id position = 0;
    std::vector<joint_position> sets;
    for (std::size_t first = 0, last = 0; first != n; first = last) {
        auto is_like_first = [&](std::size_t at) { // to what is before them, and they conflict
            for (std::size_t i = 0; i != at; ++i)
                if (conflict.test(order[at], order[i]) !=
                    (i >= first || conflict.test(order[first], order[i])))
                    return false;
            return true;
        };
        while (last != n && is_like_first(last)) ++last;
        sets.clear();
        auto add_set = [&] {
            sets.emplace_back();
            for (std::size_t i = first; i != last; ++i) add(sets.back(), order[i]);
        };
        bool const is_at_peak = last_of_antichain >= first && last_of_antichain < last;
        if (is_at_peak) add_set();
        for (std::size_t i = 0; i != first && is_at_peak; ++i)
            if (is_in_antichain[order[i]] != 0) add(sets.back(), order[i]);
        for (std::size_t i = 0; i != first; ++i) {
            buffer_id const a = order[i];
            if (!conflict.test(order[first], a) || (is_at_peak && is_in_antichain[a] != 0)) continue;
            std::size_t s = 0;
            while (s != sets.size() &&
                   (sets[s].common[a / bit_rows::word_bits] >> a % bit_rows::word_bits & 1) == 0)
                ++s;
            if (s == sets.size()) add_set();
            add(sets[s], a);
        }
        if (sets.empty()) add_set();
        for (joint_position const& set : sets) {
            entries += set.members.size();
            if (entries > most_searched_entries) return std::nullopt;
            for (buffer_id member : set.members) {
                live_range& life = result.buffers[member].life;
                if (life.last == 0) life.first = position;
                else if (life.last != position)
                    result.gaps.push_back({member, {life.last, position}, 0, 0});
                life.last = position + 1;
            }
            ++position;
        }
    }
    return result;
}

SUBLET_DECL void search_positions(table<buffer_id, placement_problem::buffer> const& buffers,
                                  placement_conflicts const& conflicts,
                                  table<buffer_id, unsigned char> const& is_in_antichain,
                                  std::uint64_t visits, packing& best, std::uint32_t& tried)
{
    auto const problem = positions_of_conflicts(buffers, conflicts, is_in_antichain);
    if (problem) pack_alone(*problem, visits, best, tried);
}

} // namespace sublet::detail
