// SPDX-License-Identifier: BSL-1.0

/// program_order: if no bytes are written more than once there is nothing to keep; otherwise the listed order
/// counts if lifetimes() accepts it.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/execution/detail/program_order.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL program_order::program_order(snapshot const& program, plan_options const& options)
    : program_(program), options_(options), bytes_(find_ordered_bytes(program, lifetimes_of(options)))
{
    if (bytes_.segments == 0 || first_backward_edge(program, options.order)) return;
    live_ranges const lives = lifetimes(program, lifetimes_of(options));
    // An order in which writes are listed need not be that of their numbers.
    has_order_ = lives || lives.error().what == fault::write_moved;
}

SUBLET_DECL std::optional<counterexample>
program_order::moved_write(table<position_id, step_id> const& steps) const
{
    if (!has_order_) return std::nullopt;
    table<position_id, step_id> const listed = steps_in_order(program_, options_.order);
    table<step_id, position_id> rank(steps.size());
    for (position_id at = 0; at != steps.size(); ++at) rank[listed[at]] = at;
    return detail::moved_write(program_, bytes_, steps, rank);
}

SUBLET_DECL std::vector<handoff> program_order::handoffs() const
{
    return bytes_.segments == 0 ? std::vector<handoff>{} : storage_order(program_, bytes_, options_.order);
}

} // namespace sublet::detail
