// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_LISTED_ORDER_IPP
#define SUBLET_EXECUTION_IMPL_LISTED_ORDER_IPP

#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/storage_order.hpp>
#include <sublet/execution/listed_order.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL listed_order::listed_order(snapshot const& program, plan_options const& options)
    : program_(program), options_(options), is_written_(program.values())
{
    std::vector<value_role> const role = options.role.tabulate(program.values());
    std::vector<value_id> const alias_of = options.alias_of.tabulate(program.values());
    buffer_classes classes = aliases(program.values(), [&](value_id v) { return alias_of[v]; });
    storage_of_ = std::move(classes.buffer_of);
    storages_ = classes.root.size();
    std::vector<unsigned char> writes(storages_); // and whether it is given
    std::vector<step_id> read_at(storages_, no_step);
    for (value_id v = 0; v != program.values(); ++v)
        if (is_given(role[v])) writes[storage_of_[v]] = 1;
    for (step_id s = 0; s != program.steps(); ++s)
        for (touch t : program.touches(s)) { // reads come first
            buffer_id const b = storage_of_[t.value];
            if (t.kind != touch_kind::def) read_at[b] = s;
            else if (classes.root[b] == t.value || read_at[b] != s) // else it is a mere view
                is_written_[t.value] = 1, writes[b] += writes[b] < 2;
        }
    for (buffer_id& b : storage_of_)
        if (writes[b] < 2) b = no_buffer;
    bool const is_free =
        std::all_of(storage_of_.begin(), storage_of_.end(), [](buffer_id b) { return b == no_buffer; });
    has_order_ = !is_free && !first_edge_back(program, options.order) &&
                 !lifetimes(program, {.role = options.role, .order = options.order}).violation;
}

SUBLET_DECL std::optional<witness> listed_order::moved_write(std::vector<step_id> const& steps) const
{
    if (!has_order_) return std::nullopt;
    listed_touches const listed(program_, options_.order);
    std::vector<step_id> place_of(steps.size()); // in the list, from 1
    for (step_id at = 0; at != steps.size(); ++at) place_of[listed.steps[at]] = at + 1;
    struct users {
        step_id touched = 0, written = 0; // places of the latest
        witness write;
    };
    std::vector<users> users_of(storages_);
    std::optional<witness> moved;
    for (step_id at = 0; at != steps.size() && !moved; ++at)
        listed.each(steps[at], [&](std::size_t, touch t) {
            buffer_id const b = storage_of_[t.value];
            if (b == no_buffer || moved) return;
            users& its = users_of[b];
            bool const writes = t.kind == touch_kind::def && is_written_[t.value];
            step_id const place = place_of[steps[at]];
            if (writes) {
                its.write = {.what = fault::write_moved, .value = t.value, .position = at};
                its.written = place;
            }
            if (place < (writes ? its.touched : its.written)) moved = its.write;
            its.touched = std::max(its.touched, place);
        });
    return moved;
}

SUBLET_DECL std::vector<handoff> listed_order::handoffs() const
{
    return storage_order(program_, storages_, storage_of_, is_written_, options_.order);
}

} // namespace sublet::detail

#endif
