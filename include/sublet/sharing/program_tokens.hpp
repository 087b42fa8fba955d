// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_PROGRAM_TOKENS_HPP
#define SUBLET_SHARING_PROGRAM_TOKENS_HPP

/// Slots for the values of a program that are safe under every schedule, in one call.
///
///     auto p = sublet::from_graph(g, blobs, inputs, outputs);       any graph, a Boost graph for instance
///     auto s = sublet::share_by_tokens(p, {.bytes = sizes});
///     for (value v : ...) rename(v, s.slot_of[v]);
///
///     program ─► dependences ─► buffers ─► in place ─► tokens
///
/// What Caffe2's memonger was called for: a renaming of blobs, for executors that allocate each by itself.
/// Only a part of the program may take part, what others touch then keeps storage of its own.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/sharing/in_place_concurrent.hpp>
#include <sublet/sharing/slot_choice.hpp>
#include <sublet/sharing/tokens.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

/// Of a program, beside what plan_options say of its values.
struct program_token_options {
    slot_choice choice = slot_choice::grow_largest;
    std::size_t most_ranges = no_limit;
    /// By step. A buffer that is touched by one which takes no part keeps a slot of its own.
    per_value<bool> takes_part = true;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps
};

/// Slots by value: views and what was written in place have that of their buffer.
struct program_token_plan : token_plan {
    std::optional<dependence_violation> violation; ///< why there is no plan
};

/// Give the values of a program slots that are safe under every schedule, in one call.
///
/// Requires:   no view has more bytes than its root. Of `values` neither `order` nor `pinned` is looked at:
/// slots
///             have no addresses.
/// Ensures:    a value has `no_slot` if it has 0 bytes or an unknown number, is external, not eligible, or
///             touched nowhere. In-place pairs are taken first, unless `values.in_place` is off.
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] inline program_token_plan share_by_tokens(snapshot const& p, plan_options const& values,
                                                        program_token_options const& options = {})
{
    program_token_plan plan;
    auto const role = values.role.tabulate(p.values());
    auto const takes_part = options.takes_part.tabulate(p.steps());
    dependence_graph const g = dependences(p, {.role = role, .handoffs = options.handoffs});
    plan.violation = g.violation;
    if (g.violation) return plan;

    live_ranges touched{std::vector<live_range>(p.values()), 1, std::nullopt};
    auto touch_all = [&](auto call) { // with the step
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s)) call(t.value, s);
        for (edge_use u : p.edge_uses()) call(u.value, p.steps_of(u.pred).last - 1);
    };
    touch_all([&](value_id v, step_id) { touched.of[v] = {0, 1}; });
    for (value_id v = 0; v != p.values(); ++v)
        if (role[v] != value_role::intermediate) touched.of[v] = {0, 1};
    buffer_table table = gather_buffers(touched, values);
    SUBLET_EXPECTS(table.oversized_view == no_value, "sublet: a view has more bytes than its root");
    if (values.in_place) table = take_in_place_concurrently(p, g, std::move(table));

    std::size_t const buffers = table.buffers.size();
    std::vector<unsigned char> eligible(buffers, 1);
    touch_all([&](value_id v, step_id s) { eligible[table.buffer_of[v]] &= takes_part[s]; });
    concurrent_lives const lives = concurrent_lifetimes(p, g, buffers, table.buffer_of, role);
    auto size_of = [&](buffer_id b) {
        return table.buffers[b].is_planned() ? table.buffers[b].size : byte_count{0};
    };
    static_cast<token_plan&>(plan) =
        share_by_tokens(g, lives, size_of,
                        {.choice = options.choice,
                         .pool = [&](buffer_id b) { return table.buffers[b].pool; },
                         .eligible = [&](buffer_id b) { return eligible[b] != 0; },
                         .most_ranges = options.most_ranges});
    std::vector<slot_id> slot_of;
    for (buffer_id b : table.buffer_of) slot_of.push_back(plan.slot_of[b]);
    plan.slot_of = std::move(slot_of);
    return plan;
}

template <program P>
    requires(!std::same_as<P, snapshot>)
[[nodiscard]] program_token_plan
    share_by_tokens(P const& p, plan_options const& values, program_token_options const& options = {})
{
    return share_by_tokens(as_snapshot(p), values, options);
}

} // namespace sublet

#endif
