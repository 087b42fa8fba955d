// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_LISTED_ORDER_HPP
#define SUBLET_EXECUTION_LISTED_ORDER_HPP

/// Whether steps that need not come as they are listed leave the same nevertheless.
///
///     listed as           run as             part is a view of a, and 1 does not read a: it writes there
///     0: def a            0: def a
///     1: def part         2: use a           finds what 0 has written, not 1
///     2: use a            1: def part
///
/// Data and edges let 2 come first. Where each value has bytes of its own, whatever they let come first may.
/// Where several are written to the same bytes, any two touches of which one writes have to stay in the order
/// of the list, if that is an order in which the program can be run; if it is not, no run says what they
/// mean.

#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/storage_order.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Requires:   each value of the program is written once at most, and not at all if it is given; the program
///             and the options live as long as this.
/// Complexity: to make it O(V + E + values + steps + touches), as lifetimes(), which is asked only where
///             several values are written to the same bytes.
class listed_order {
public:
    listed_order(snapshot const& program, plan_options const& options)
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

    /// The first write that stands on the other side of another touch of its bytes than in the list.
    ///
    /// Complexity: O(steps + touches) time, O(steps + values) memory.
    std::optional<witness> moved_write(std::vector<step_id> const& steps) const
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

    /// What keeps all writes where they are, besides data and edges.  O(V + E + values + touches)
    std::vector<handoff> handoffs() const
    {
        return storage_order(program_, storages_, storage_of_, is_written_, options_.order);
    }

private:
    snapshot const& program_;
    plan_options const& options_;
    std::vector<unsigned char> is_written_; // by value: its def writes
    std::vector<buffer_id> storage_of_;     // by value; `no_buffer`: it is written once, or only given
    std::size_t storages_ = 0;
    bool has_order_ = false; // the program can be run as it is listed, and something depends on it
};

} // namespace sublet::detail

#endif
