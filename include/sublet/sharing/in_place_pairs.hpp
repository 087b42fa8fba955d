// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IN_PLACE_PAIRS_HPP
#define SUBLET_SHARING_IN_PLACE_PAIRS_HPP

/// Let results be written over operands: what does not depend on when steps run.
///
///     y = relu(x)  may overwrite x              x  [=====)
///                                               y      [=======)
///     one buffer for both                       xy [===========)
///
///     a smaller result                          x  [=====)
///     keeps the first bytes                     y        [=====)   over x: it begins where x begins, and
///                                                                  lies within x while both are needed
///
/// Whether anybody still needs the operand, and whether the result's buffer is not in use before, depends on
/// how the program is read; that is asked. Pairs of different steps are never in each other's way: an operand
/// is free at the last step that touches it, and a result begins at one. A pair saves the bytes of its result
/// at that one step, and changes what is alive nowhere else. So the fewest bytes are alive everywhere at once
/// if at each step the results that find an operand are as large as possible in sum: what
/// analysis/overwrite_matching.hpp finds.
///
/// What is overwritten is a buffer, not a value: whoever lets a result be written over a view lets it be
/// written over the storage that the view is one of, from its beginning, since there every view begins.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

/// What size the operand must have.
enum class in_place_fit : std::uint8_t {
    equal,   ///< that of the result
    at_least ///< or more: what the result leaves free others may use, from the next position on
};

/// The pairs to take, by step, those of a step in the order in which it declares them.
///
/// Requires:   is_free(b, step): only the step itself touches the buffer when the step writes or later, and
///             to write over it saves bytes. begins(b, step): nothing touches it before the step writes.
/// Ensures:    a pair may be taken if the step uses the input, defines the output and touches the input's
///             buffer in no other way; that buffer is free, and neither output nor pinned; the output's
///             buffer begins here, is no input and not pinned; both are planned, of one pool, and fit. Of
///             such pairs at most one an input and one an output is taken, so that the outputs have the most
///             bytes in all. Who can choose takes the smallest input, of equal ones the first that is
///             declared.
/// Complexity: O(values + touches + pairs) time, and match_overwrites() for each step; O(values) memory. Each
///             callable is called once a pair at most.
template <class IsFree, class Begins>
[[nodiscard]] std::vector<in_place_pair> match_in_place(snapshot const& p, buffer_table const& table,
                                                        IsFree is_free, Begins begins,
                                                        in_place_fit fit = in_place_fit::equal)
{
    std::vector<in_place_pair> matched;
    if (p.overwrites().empty()) return matched;

    // While a step is looked at: by buffer, the one value that it reads, if it touches no other part of it.
    value_id const several = no_value - 1; // of ids a program has fewer
    std::vector<value_id> only_reads(table.buffers.size(), no_value);
    std::vector<step_id> defined_at(table.buffer_of.size(), no_step); // by value: the last step that does
    std::vector<keyed> allowed;                                       // {size of the operand, 0, pair}
    std::vector<overwrite_pair> buffers_of;                           // the same
    std::vector<keyed> taken;                                         // {pair}
    auto const pairs = p.overwrites();                                // by step
    for (std::uint32_t i = 0; i != pairs.size();) {
        step_id const s = pairs[i].step;
        for (touch t : p.touches(s)) {
            bool const defines = t.kind == touch_kind::def;
            if (defines) defined_at[t.value] = s;
            value_id& read = only_reads[table.buffer_of[t.value]];
            read = defines || (read != no_value && read != t.value) ? several : t.value;
        }
        for (; i != pairs.size() && pairs[i].step == s; ++i) {
            buffer_id const from = table.buffer_of[pairs[i].in], to = table.buffer_of[pairs[i].out];
            buffer const &in = table.buffers[from], &out = table.buffers[to];
            if (only_reads[from] != pairs[i].in || defined_at[pairs[i].out] != s) continue;
            if (has_role(in.role, value_role::output) || has_role(out.role, value_role::input)) continue;
            if (!in.is_planned() || !out.is_planned() || in.pool != out.pool) continue;
            if (in.size < out.size || (fit == in_place_fit::equal && in.size != out.size)) continue;
            if (in.pinned != no_offset || out.pinned != no_offset) continue;
            if (is_free(from, s) && begins(to, s)) allowed.push_back({in.size, 0, i});
        }
        for (touch t : p.touches(s)) only_reads[table.buffer_of[t.value]] = no_value;

        sort_keyed(allowed);
        for (keyed const& a : allowed) {
            buffer_id const from = table.buffer_of[pairs[a.who].in], to = table.buffer_of[pairs[a.who].out];
            buffers_of.push_back({from, to, table.buffers[to].size});
        }
        for (std::uint32_t at : match_overwrites(buffers_of)) taken.push_back({allowed[at].who, 0, 0});
        sort_keyed(taken);
        for (keyed const& t : taken) {
            overwrite const pair = pairs[t.key];
            matched.push_back({s, pair.in, pair.out, table.buffers[table.buffer_of[pair.out]].size});
        }
        allowed.clear();
        buffers_of.clear();
        taken.clear();
    }
    return matched;
}

/// Join the buffers of in-place pairs. Equal ones become one, with the root of the first in the chain; a
/// smaller one stays, `over` the one that it follows, and has storage of its own from the next position on,
/// if anybody needs it there.
///
/// Requires:   no buffer is the input, and none the output, of two pairs; an output that is smaller than its
///             input begins where that ends, as in lives by position. Nothing is joined in `table`.
/// Ensures:    the table stays sorted by root, and lists the pairs.
/// Complexity: O(values + pairs).
[[nodiscard]] buffer_table join_in_place(buffer_table table, std::vector<in_place_pair> pairs);

/// Both at once, for results as large as the operand.
template <class IsFree, class Begins>
[[nodiscard]] buffer_table join_in_place(snapshot const& p, buffer_table table, IsFree is_free, Begins begins)
{
    std::vector<in_place_pair> pairs = match_in_place(p, table, is_free, begins);
    return join_in_place(std::move(table), std::move(pairs));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/in_place_pairs.ipp>
#endif

#endif
