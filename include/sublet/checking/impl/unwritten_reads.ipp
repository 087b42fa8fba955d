// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_UNWRITTEN_READS_IPP
#define SUBLET_CHECKING_IMPL_UNWRITTEN_READS_IPP

#include <sublet/checking/unwritten_reads.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The reads that find no write before them in their nodes, of values that have to be written.
struct exposed_reads {
    std::vector<node_id> node;     // by read
    std::vector<step_id> position; // the number of steps: where the program ends
    csr_rows of;                   // by value: reads, by position
};

SUBLET_DECL exposed_reads find_exposed(snapshot const& p, plan_demands const& asked, node_ends const& ends,
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<witness> find_unwritten_read(snapshot const& p, plan_demands const& asked,
                                                       node_ends const& ends, flow_options const& options)
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
