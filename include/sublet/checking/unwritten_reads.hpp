// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_UNWRITTEN_READS_HPP
#define SUBLET_CHECKING_UNWRITTEN_READS_HPP

/// Look for a value that some path from the entry reads before it has written it.
///
///        0 -> 1: def a -> 2: use a        from the use back: 2, then 0, which is the entry
///        └──────────────────┘             (1 writes a, so that way is good)
///
/// From each read that no write of its node comes before one walks back, and not through nodes that write the
/// value. Who comes to the entry has found a path, told backwards.

#include <sublet/checking/demands.hpp>
#include <sublet/checking/node_ends.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

struct flow_options {
    /// A value may be read on a path that has not written it: the read finds anything, and it may be so.
    bool allows_undefined = false;
};

namespace detail {

/// The reads that find no write before them in their nodes, of values that have to be written.
struct exposed_reads {
    std::vector<node_id> node;     // by read
    std::vector<step_id> position; // the number of steps: where the program ends
    csr_rows of;                   // by value: reads, by position
};

inline exposed_reads find_exposed(snapshot const& p, plan_demands const& asked, node_ends const& ends,
                                  flow_options const& options)
{
    exposed_reads reads;
    std::vector<value_id> read_of; // by read
    std::vector<node_id> written_in(p.values(), no_node);
    auto note = [&](value_id v, node_id n, step_id position) {
        if (written_in[v] == n || is_given(asked.role[v])) return;
        if (options.allows_undefined && asked.first_def[v] != plan_demands::never) return;
        reads.node.push_back(n);
        reads.position.push_back(position);
        read_of.push_back(v);
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const mine = p.steps_of(n);
        for (step_id s = mine.first; s != mine.last; ++s)
            for (touch t : p.touches(s))
                if (t.kind == touch_kind::def) written_in[t.value] = n;
                else note(t.value, n, asked.position[s]);
        for (value_id v : ends.read_by_edges[n]) note(v, n, asked.position[mine.last - 1]);
        if (p.successors(n).empty())
            for (value_id v : ends.outputs) note(v, n, static_cast<step_id>(p.steps()));
    }
    std::vector<keyed> by_position;
    for (std::size_t i = 0; i != read_of.size(); ++i)
        by_position.push_back({reads.position[i], 0, static_cast<std::uint32_t>(i)});
    sort_keyed(by_position);
    reads.of = csr_rows::gathered(p.values(), [&](auto add) {
        for (keyed const& k : by_position) add(read_of[k.who], k.who);
    });
    return reads;
}

} // namespace detail

/// Requires:   `asked` are the demands of the program, `ends` its ends.
/// Ensures:    the first by position, then value: positions are those of `asked`, and their number stands for
///             the end of the program. If such reads are allowed, only of values that no step writes.
/// Complexity: O(values + V + E + touches log touches), and for each value the edges into nodes in which it
///             may be needed.
[[nodiscard]] inline std::optional<witness> find_unwritten_read(snapshot const& p, plan_demands const& asked,
                                                                node_ends const& ends,
                                                                flow_options const& options)
{
    std::optional<witness> first;
    auto found = [&](value_id v, step_id position) {
        if (first && (first->position < position || (first->position == position && first->value <= v)))
            return;
        bool const is_ever_written = asked.first_def[v] != plan_demands::never;
        first = witness{.what = fault::used_undefined,
                        .value = v,
                        .other = is_ever_written ? v : no_value,
                        .position = position};
    };
    if (p.nodes() == 0) {
        for (value_id v : ends.outputs)
            if (!is_given(asked.role[v])) found(v, 0);
        return first;
    }
    csr_rows const writers = csr_rows::gathered(p.values(), [&p](auto add) {
        for (node_id n = 0; n != p.nodes(); ++n)
            for (touch t : p.touches(p.steps_of(n)))
                if (t.kind == touch_kind::def) add(t.value, n);
    });
    detail::exposed_reads const reads = detail::find_exposed(p, asked, ends, options);
    std::vector<value_id> passed_for(p.nodes(), no_value); // by node: for which value last
    std::vector<node_id> open;
    for (value_id v = 0; v != p.values(); ++v) {
        if (reads.of[v].empty()) continue;
        for (node_id n : writers[v]) passed_for[n] = v; // what leaves it is written
        bool is_found = false; // then the rest come later; before, no node that was passed leads to the entry
        for (std::uint32_t r : reads.of[v]) {
            if (is_found) break;
            open.push_back(reads.node[r]);
            while (!open.empty()) {
                node_id const n = open.back();
                open.pop_back();
                is_found = is_found || n == 0;
                for (node_id before : p.predecessors(n))
                    if (std::exchange(passed_for[before], v) != v) open.push_back(before);
            }
            if (is_found) found(v, reads.position[r]);
        }
    }
    return first;
}

} // namespace sublet

#endif
