// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_STORAGE_ORDER_IPP
#define SUBLET_ANALYSIS_IMPL_STORAGE_ORDER_IPP

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/storage_order.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL listed_touches::listed_touches(snapshot const& program, std::vector<node_id> const& order)
    : p(program), steps(steps_in_order(program, order))
{
    for (node_id n = 0; n != p.nodes(); ++n) node_of.resize(p.steps_of(n).last, n);
    auto const uses = p.edge_uses();
    ends = csr_rows::gathered(p.nodes(), [uses](auto add) {
        for (std::uint32_t i = 0; i != uses.size(); ++i) add(uses[i].pred, i);
    });
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<handoff> storage_order(snapshot const& p, std::size_t storages,
                                               std::vector<buffer_id> const& storage_of,
                                               std::vector<unsigned char> const& is_written,
                                               std::vector<node_id> const& order)
{
    detail::listed_touches const listed(p, order);
    auto writes = [&](touch t) { return t.kind == touch_kind::def && is_written[t.value]; };
    csr_rows const reads = csr_rows::gathered(storages, [&](auto add) {
        for (step_id s : listed.steps)
            listed.each(s, [&](std::size_t, touch t) {
                if (storage_of[t.value] != no_buffer && !writes(t)) add(storage_of[t.value], s);
            });
    });
    std::vector<step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.kind == touch_kind::def) def_of[t.value] = s;

    csr_rows const before = csr_rows::gathered(p.steps(), [&](auto add) {
        std::vector<step_id> last_write(storages, no_step);
        std::vector<std::uint32_t> old_reads(storages, 0), all_reads(storages, 0); // in `reads`
        // Who reads a value that was made since the last write waits for its maker, and so for that write.
        std::vector<step_id> made_after(p.values(), no_step); // by value, that write
        // By node: the end of those of its steps that are known to come before the present one.
        std::vector<step_id> waited_for(p.nodes(), 0);
        std::vector<node_id> marked;
        auto mark = [&](node_id n, step_id end) {
            if (waited_for[n] == 0) marked.push_back(n);
            waited_for[n] = larger(waited_for[n], end);
        };
        for (step_id s : listed.steps) {
            node_id const n = listed.node_of[s];
            if (s == p.steps_of(n).first) {
                for (node_id m : marked) waited_for[m] = 0;
                marked.clear();
                for (node_id m : p.predecessors(n)) mark(m, p.steps_of(m).last);
            }
            mark(n, s);
            for (touch t : p.touches(s)) {
                step_id const writer = def_of[t.value];
                if (t.kind != touch_kind::def && writer != no_step) mark(listed.node_of[writer], writer + 1);
            }
            auto wait = [&](step_id first) {
                if (first != no_step && first != s && first >= waited_for[listed.node_of[first]])
                    add(s, first);
            };
            listed.each(s, [&](std::size_t, touch t) {
                buffer_id const b = storage_of[t.value];
                if (b == no_buffer) return;
                if (!writes(t)) {
                    ++all_reads[b];
                    if (made_after[t.value] != last_write[b]) wait(last_write[b]);
                    if (t.kind == touch_kind::def) made_after[t.value] = last_write[b];
                    return;
                }
                if (old_reads[b] == all_reads[b]) wait(last_write[b]);
                while (old_reads[b] != all_reads[b]) wait(reads[b][old_reads[b]++]);
                last_write[b] = made_after[t.value] = s;
            });
        }
    });
    csr_rows const after = before.transposed(p.steps());
    std::vector<handoff> handoffs;
    for (step_id from = 0; from != p.steps(); ++from)
        for (step_id to : after[from])
            if (handoffs.empty() || handoffs.back() != handoff{from, to}) handoffs.push_back({from, to});
    return handoffs;
}

} // namespace sublet

#endif
