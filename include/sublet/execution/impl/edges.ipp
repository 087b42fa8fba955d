// SPDX-License-Identifier: BSL-1.0

/// edges(): proved_order() has the waits by position, and every step has one position there, so that each
/// wait is an edge, sorted anew by step. A hand-off that is found in the sorted list of those given is given.

#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/detail/proved_order.hpp>
#include <sublet/execution/detail/run_edges.hpp>
#include <sublet/execution/edges.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet {

SUBLET_DECL std::size_t step_edges::count(step_edges::reason why) const
{
    std::size_t found = 0;
    for (step_edges::edge const& one : list) found += one.why == why;
    return found;
}

SUBLET_DECL step_edges edges(snapshot const& p, arena const& planned, plan_options const& options,
                             std::vector<handoff> const& handoffs)
{
    return detail::edges_of(detail::proved_run(p, planned, options, handoffs), handoffs);
}

namespace detail {

SUBLET_DECL run_order proved_run(snapshot const& p, arena const& planned, plan_options const& options,
                                 std::vector<handoff> const& handoffs)
{
    expect_steps_run_once(p);
    executor_options settings;
    settings.prove = options.check;
    return proved_order(p, *with_said_views(p, tabulated_options(options, p.values())), planned, handoffs,
                        settings);
}

SUBLET_DECL step_edges edges_of(run_order const& order, std::vector<handoff> const& handoffs)
{
    std::vector<sort_key> given, found; // {to and from, why}
    auto key_of = [](step_id from, step_id to) { return std::uint64_t{+to} << 32 | +from; };
    for (handoff h : handoffs) given.push_back({key_of(h.from, h.to), 0, 0});
    sort_by_key(given);
    auto is_given = [&](std::uint64_t key) {
        auto const at =
            std::partition_point(given.begin(), given.end(), [&](sort_key const& g) { return g.key < key; });
        return at != given.end() && at->key == key;
    };
    using reason = step_edges::reason;
    for (step_waits::wait w : order.waits.list) {
        std::uint64_t const key = key_of(order.lowered.step_at[w.from], order.lowered.step_at[w.to]);
        reason why = reason::data;
        switch (w.why) {
        case step_waits::kind::data: break;
        case step_waits::kind::anti:
        case step_waits::kind::output: why = reason::overwrite; break;
        case step_waits::kind::control: why = reason::control; break;
        case step_waits::kind::handoff: why = is_given(key) ? reason::given : reason::handoff; break;
        }
        found.push_back({key, static_cast<std::uint64_t>(why), 0});
    }
    sort_by_key(found);
    step_edges result;
    result.steps = order.lowered.step_at.size();
    for (sort_key const& f : found)
        result.list.push_back({step_id::of(f.key), step_id::of(f.key >> 32), static_cast<reason>(f.tie)});
    return result;
}

SUBLET_DECL char const* text_of(step_edges::reason why)
{
    constexpr char const* texts[] = {"data", "overwrite", "control", "given", "hand-off"};
    return texts[static_cast<unsigned>(why)];
}

SUBLET_DECL char const* color_of(step_edges::reason why)
{
    constexpr char const* colors[] = {"#3465a4", "#a40000", "gray60", "#75507b", "#ce5c00"};
    return colors[static_cast<unsigned>(why)];
}

} // namespace detail

} // namespace sublet
