// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_UNREACHED_HPP
#define SUBLET_ANALYSIS_UNREACHED_HPP

/// Which of the later positions does each position not reach?
///
///          ┌──► 1 ──► 2 ──► 3 ──┐        6, 5, 4: none     3, 2, 1: 4 and 5     0: none
///     0 ───┤                    ├──► 6
///          └──► 4 ──► 5 ────────┘        in reverse: that of t is, over its successors s, what all of
///                                        {between t and s} + {what s does not reach} have in common
///
/// What a position in the middle of a network does not reach are the branches beside it. Each was numbered as
/// a whole, so a few ranges say which; where branches meet, none is left.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/range_sets.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>

#include <span>
#include <vector>

namespace sublet::detail {

/// Take from `ranges` what is not among the `others`, but leave what lies below `from`.
///
/// Requires:   the others begin at `from` or behind it.
void intersect_behind(std::vector<live_range>& ranges, step_id from, std::span<live_range const> others,
                      std::vector<live_range>& old);

/// Calls `visit(t, ranges, known)` for t from the last position to the first, until it returns false: those
/// after t that t does not reach; below `known` exactly, from there on perhaps some more.
///
/// Requires:   by position, `next` is the next one of interest, or the number of positions; ranges begin and
///             end at such only. `sets` has an owner for each position. Those of positions whose
///             predecessors are done are let go, unless `keep_all`.
/// Complexity: O(positions + edges + ranges of the successors of all positions).
template <class Visit>
void find_unreached(dependence_graph const& g, std::vector<step_id> const& next, range_sets& sets,
                    bool keep_all, Visit visit)
{
    auto const positions = static_cast<step_id>(g.positions());
    std::vector<live_range> now, scratch;
    for (step_id t = positions; t-- != 0;) {
        auto const after = g.after[t];
        step_id known = no_step;
        now.clear();
        push_range(now, {next[t + 1], after.empty() ? positions : next[after[0]]});
        for (step_id s : after) {
            if (s == after[0]) push_ranges(now, sets[s]);
            else intersect_behind(now, next[s], sets[s], scratch);
            known = smaller(known, sets.known_until(s));
        }
        if (!keep_all)
            for (step_id s : after)
                if (g.before[s].front() == t) sets.release(s);
        if (keep_all || !g.before[t].empty()) sets.keep(t, now, known);
        if (!visit(t, now, known)) return;
    }
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/unreached.ipp>
#endif

#endif
