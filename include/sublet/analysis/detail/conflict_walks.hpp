// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_CONFLICT_WALKS_HPP
#define SUBLET_ANALYSIS_DETAIL_CONFLICT_WALKS_HPP

/// The walks that report conflicts: over each node backwards from its live-out set, and over the positions of
/// live ranges.

#include <sublet/analysis/live_sets.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace sublet::detail {

/// Walks each node backwards: the values that a step defines start, the others that occupy it are active. In
/// the first step of a root all values that occupy it start, defined or not.
struct block_walk {
    snapshot const& p;
    live_sets const& live;
    table<node_id, node_id> parent; // in a depth-first forest

    template <class AddConflicts>
    void operator()(AddConflicts add_conflicts) const
    {
        sparse_set starting(p.values()), active(p.values());
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const range = p.steps_of(n);
            active.clear();
            for (value_id v : live.live_out(n)) active.insert(v);
            for (step_id s = range.last; s-- != range.first;) {
                starting.clear();
                for (touch t : p.touches(s))
                    if (t.defines()) {
                        starting.insert(t.value);
                        active.erase(t.value);
                    }
                for (touch t : p.touches(s))
                    if (t.holds() && !starting.contains(t.value)) active.insert(t.value);
                if (s == range.first && parent[n] == no_node) {
                    if (n == 0)
                        for (value_id v : live.live_in(n))
                            if (!starting.contains(v)) active.insert(v);
                    for (value_id v : active.list()) starting.insert(v);
                    add_conflicts(starting.list(), {});
                } else if (!starting.list().empty()) {
                    add_conflicts(starting.list(), active.list());
                }
                for (touch t : p.touches(s))
                    if (!t.defines()) active.insert(t.value);
            }
        }
    }
};

/// Sweeps over positions: a value starts where a range begins, while those with open ranges are active.
struct range_sweep {
    std::size_t values;
    std::vector<sort_key> range_begins, range_ends; // position as `key`

    /// The ranges of one value are added in sequence, ascending. Adjacent ones are merged.
    void add(value_id v, live_range life);

    template <class AddConflicts>
    void operator()(AddConflicts add_conflicts) const
    {
        sparse_set active(values);
        sort_key const* range_end = range_ends.data();
        for (sort_key const& range_begin : range_begins) {
            for (; range_end->key <= range_begin.key; ++range_end) active.erase(range_end->id);
            value_id const starting = range_begin.id;
            add_conflicts(std::span<value_id const>(&starting, 1), active.list());
            active.insert(starting);
        }
    }
};

template <class AddRanges>
range_sweep make_range_sweep(std::size_t values, AddRanges add_ranges_of)
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    range_sweep walk{values, {}, {}};
    for (value_id v = 0; v != values; ++v) add_ranges_of(walk, v);
    sort_by_key(walk.range_begins);
    sort_by_key(walk.range_ends);
    return walk;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/conflict_walks.ipp>
#endif

#endif
