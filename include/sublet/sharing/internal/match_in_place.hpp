// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_INTERNAL_MATCH_IN_PLACE_HPP
#define SUBLET_SHARING_INTERNAL_MATCH_IN_PLACE_HPP

/// Chooses in-place pairs and joins their buffers: the part that does not depend on when steps run.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
///     a smaller result                          x  [=====)
///     keeps the first bytes                     y        [=====)   over x: it begins where x begins, and
///                                                                  lies within x while both are needed
///
/// Callables say whether the operand is still needed, and whether the result's buffer is in use before the
/// step. Pairs of different steps never compete: an operand is free only at the last step that touches it,
/// and a result begins at one step. A pair saves the bytes of its result there and changes nothing elsewhere.
/// So the fewest bytes are alive at every position if the results of the pairs of each step have the largest
/// sum of bytes (structures/internal/overwrite_matching.hpp). A result over a view begins where the view
/// begins: a pair is taken only if both begin at the same byte of their roots.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// One number for two buffers, in whatever order.
[[nodiscard]] constexpr std::uint64_t pair_key(buffer_id a, buffer_id b) noexcept
{
    return std::uint64_t{larger(a, b)} << 32 | smaller(a, b);
}

/// The pairs of buffers that are kept apart, ascending: both live at the step, so neither is written over the
/// other.
[[nodiscard]] std::vector<std::uint64_t> apart_keys(buffer_table const& table);

/// The pairs to take, by step, those of a step in the order of their declaration.
///
/// Without `only_equal_sizes` an operand may be larger than the result; other buffers may use the rest from
/// the next position on.
///
/// Requires:   is_free(b, step): only the step itself touches the buffer when the step writes or later, and
///             writing over it saves bytes. begins(b, step): nothing touches it before the step writes.
/// Ensures:    a pair may be taken if the step uses the input, defines the output and touches the input's
///             buffer in no other way; that buffer is free, and neither output nor pinned; the output's
///             buffer begins here, is no input and not pinned; both are planned, of one pool, and fit, are
///             not kept apart, and both values begin at the same byte of their roots. An input
///             and an output are each in at most one pair taken; the outputs taken have the largest
///             sum of bytes. Among several inputs an output gets the smallest, of equal ones the one that is
///             declared first.
/// Complexity: O(values + touches + pairs) time, and match_overwrites() for each step; O(values) memory. Each
///             callable is called at most once per pair.
template <class IsFree, class Begins>
[[nodiscard]] std::vector<memory_plan::in_place_pair>
match_in_place(snapshot const& p, buffer_table const& table, IsFree is_free, Begins begins,
               bool only_equal_sizes = true)
{
    std::vector<memory_plan::in_place_pair> matched;
    if (p.overwrites().empty()) return matched;

    // Of the current step, the one value that it reads of a buffer, if it touches nothing else there.
    value_id const several_values = no_value - 1; // no program has so many ids
    sublet::table<buffer_id, value_id> only_reads(table.buffers.size(), no_value);
    sublet::table<buffer_id, value_id> only_writes(table.buffers.size(), no_value); // and that it writes
    sublet::table<value_id, step_id> defined_at(table.buffer_of.size(), no_step);   // the last that does
    std::vector<sort_key> allowed;          // {size of the operand, 0, pair}
    std::vector<overwrite_pair> buffers_of; // of `allowed`
    std::vector<sort_key> taken;            // {pair}
    auto const pairs = p.overwrites();      // by step
    std::vector<std::uint64_t> const apart = apart_keys(table);
    matched.reserve(pairs.size());
    for (std::uint32_t i = 0; i != pairs.size();) {
        step_id const s = pairs[i].step;
        for (touch t : p.touches(s)) {
            bool const defines = t.defines();
            if (defines) defined_at[t.value] = s;
            value_id& read = only_reads[table.buffer_of[t.value]];
            bool const only_reads_it = !defines && !t.writes();
            read = !only_reads_it || (read != no_value && read != t.value) ? several_values : t.value;
            value_id& written = only_writes[table.buffer_of[t.value]];
            if (t.writes()) written = written != no_value && written != t.value ? several_values : t.value;
        }
        for (; i != pairs.size() && pairs[i].step == s; ++i) {
            buffer_id const from = table.buffer_of[pairs[i].in], to = table.buffer_of[pairs[i].out];
            buffer const &in = table.buffers[from], &out = table.buffers[to];
            if (only_reads[from] != pairs[i].in || defined_at[pairs[i].out] != s) continue;
            if (only_writes[to] != pairs[i].out) continue;
            if (has_role(in.role, value_role::output) || has_role(out.role, value_role::input)) continue;
            if (!in.is_planned() || !out.is_planned() || in.pool != out.pool) continue;
            if (in.kind != out.kind) continue; // no page is of both
            if (is_listed(apart, pair_key(from, to))) continue;
            if (in.size < out.size || (only_equal_sizes && in.size != out.size)) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            if (!table.offset_in_root.empty() && // the result would begin elsewhere
                table.offset_in_root[pairs[i].in] != table.offset_in_root[pairs[i].out])
                continue;
            if (is_free(from, s) && begins(to, s)) allowed.push_back({in.size, 0, i});
        }
        for (touch t : p.touches(s))
            only_reads[table.buffer_of[t.value]] = only_writes[table.buffer_of[t.value]] = no_value;

        auto match = [&](overwrite pair) {
            matched.push_back({s, pair.in, pair.out, table.buffers[table.buffer_of[pair.out]].size});
        };
        if (allowed.size() <= 1) {
            for (sort_key const& a : allowed) match(pairs[a.id]);
            allowed.clear();
            continue;
        }
        sort_by_key(allowed);
        for (sort_key const& a : allowed) {
            buffer_id const from = table.buffer_of[pairs[a.id].in], to = table.buffer_of[pairs[a.id].out];
            buffers_of.push_back({from, to, table.buffers[to].size});
        }
        for (std::uint32_t at : match_overwrites(buffers_of)) taken.push_back({allowed[at].id, 0, 0});
        sort_by_key(taken);
        for (sort_key const& t : taken) match(pairs[to_size(t.key)]);
        allowed.clear();
        buffers_of.clear();
        taken.clear();
    }
    return matched;
}

/// Joins the buffers of in-place pairs. Buffers of equal size become one, with the root of the first in the
/// chain. A smaller result stays a buffer of its own, `over` the operand's: it lies within the operand while
/// both are alive, and has its own storage from the next position on, if it is needed there.
///
/// Requires:   no buffer is the input, and none the output, of two pairs; an output that is smaller than its
///             input begins where that ends, as in lives by position. Nothing is joined in `table`.
/// Ensures:    the table stays sorted by root, and lists the pairs.
/// Complexity: O(values + pairs).
[[nodiscard]] buffer_table join_in_place(buffer_table table, std::vector<memory_plan::in_place_pair> pairs);

/// match_in_place() and join_in_place(), for results as large as the operand.
template <class IsFree, class Begins>
[[nodiscard]] buffer_table join_in_place(snapshot const& p, buffer_table table, IsFree is_free, Begins begins)
{
    std::vector<memory_plan::in_place_pair> pairs = match_in_place(p, table, is_free, begins);
    return join_in_place(std::move(table), std::move(pairs));
}

/// The in-place pairs to take; `steps` are the program's steps by position.
///
/// Ensures:    as match_in_place() with callables. A buffer is free if nothing touches it after the step (a
///             use at the end of the step's node counts) and it is alive at the step: a buffer with an early
///             use as last touch is dead before the step writes, so sharing needs no pair.
/// Complexity: O(values + steps + touches + pairs) time, and match_overwrites() for each step; O(values +
///             steps) memory.
[[nodiscard]] std::vector<memory_plan::in_place_pair> match_in_place(snapshot const& p,
                                                                     table<position_id, step_id> const& steps,
                                                                     buffer_table const& table,
                                                                     bool only_equal_sizes = false);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/match_in_place.ipp>
#endif

#endif
