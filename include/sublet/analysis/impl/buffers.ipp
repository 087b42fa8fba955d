// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_BUFFERS_IPP
#define SUBLET_ANALYSIS_IMPL_BUFFERS_IPP

#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/buffers.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

namespace sublet {

SUBLET_DECL buffer_table gather_buffers(live_ranges const& lives, plan_options const& options)
{
    std::size_t const values = lives.of.size();
    auto const alias_of = options.alias_of.tabulate(values);
    auto const bytes = options.bytes.tabulate(values);
    auto const alignment = options.alignment.tabulate(values);
    auto const role = options.role.tabulate(values);
    auto const pool = options.pool.tabulate(values);
    auto const pinned = options.pinned.tabulate(values);
    auto const eligible = options.eligible.tabulate(values);

    buffer_classes classes = aliases(values, [&](value_id v) { return alias_of[v]; });
    buffer_table table;
    table.buffers.reserve(classes.root.size());
    for (value_id root : classes.root) {
        buffer b;
        b.root = root;
        b.size = bytes[root];
        b.pool = pool[root];
        table.buffers.push_back(b);
    }
    for (std::size_t v = 0; v != values; ++v) {
        SUBLET_EXPECTS(alignment[v] >= 1, "sublet: an alignment is at least 1");
        buffer& b = table.buffers[classes.buffer_of[v]];
        b.life = hull(b.life, lives.of[v]);
        b.alignment = combine_alignment(b.alignment, alignment[v]);
        b.role = b.role | role[v];
        b.eligible = b.eligible && eligible[v];
        if (b.pinned == no_offset) b.pinned = pinned[v];
        else if (pinned[v] != no_offset && pinned[v] != b.pinned) b.pinned_too = pinned[v];
        bool const is_sized = b.size != no_size && bytes[v] != no_size;
        if (is_sized && bytes[v] > b.size && table.oversized_view == no_value) {
            table.oversized_view = static_cast<value_id>(v);
            table.oversized_bytes = bytes[v];
        }
    }
    table.buffer_of = std::move(classes.buffer_of);
    return table;
}

} // namespace sublet

#endif
