// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

// --- lifetimes -------------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL std::vector<step_id> steps_in_order(snapshot const& p, std::vector<node_id> const& order)
{
    std::vector<step_id> steps;
    steps.reserve(p.steps());
    if (order.empty()) {
        for (std::size_t s = 0; s != p.steps(); ++s) steps.push_back(static_cast<step_id>(s));
        return steps;
    }
    SUBLET_EXPECTS(order.size() == p.nodes(), "sublet: an order has to name every node once");
    std::vector<unsigned char> named(p.nodes());
    for (node_id n : order) {
        SUBLET_EXPECTS(n < p.nodes() && !named[n], "sublet: an order has to name every node once");
        named[n] = 1;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) steps.push_back(s);
    }
    return steps;
}

} // namespace detail

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL std::optional<live_ranges::order_violation>
moved_write(snapshot const& p, std::vector<step_id> const& steps, std::vector<value_role> const& role)
{
    enum : std::uint64_t { reads, writes, reads_at_end, kinds };
    std::vector<unsigned char> versions(p.values()); // 0, 1 or more
    for (std::size_t v = 0; v != p.values(); ++v) versions[v] = is_given(role[v]) ? 1 : 0;
    for (step_id s = 0; s != steps.size(); ++s)
        for (touch t : p.touches(s))
            if (t.kind == touch::access::def && versions[t.value] != 2) ++versions[t.value];

    std::vector<step_id> position_of(steps.size());
    for (std::size_t at = 0; at != steps.size(); ++at) position_of[steps[at]] = static_cast<step_id>(at);
    std::vector<sort_key> touches; // {value, index in the program, position}
    for (step_id s = 0; s != steps.size(); ++s)
        for (touch t : p.touches(s))
            if (versions[t.value] == 2)
                touches.push_back(
                    {t.value, kinds * s + (t.kind == touch::access::def ? writes : reads), position_of[s]});
    for (edge_use u : p.edge_uses()) {
        if (versions[u.value] != 2) continue;
        step_id const s = p.steps_of(u.pred).last - 1;
        touches.push_back({u.value, kinds * s + reads_at_end, position_of[s]});
    }
    sort_by_key(touches);

    std::optional<live_ranges::order_violation> found;
    auto moved = [&found](sort_key const& write) {
        if (found && found->position <= write.id) return;
        found = live_ranges::order_violation{static_cast<value_id>(write.key), write.id,
                                             live_ranges::order_violation::kind::write_moved};
    };
    std::uint64_t latest = 0; // the highest program index of the value's touches so far
    sort_key const* last_write = nullptr;
    for (std::size_t i = 0; i != touches.size(); ++i) {
        sort_key const& t = touches[i];
        std::uint64_t const kind = t.tie % kinds, when = kinds * t.id + kind;
        if (i == 0 || t.key != touches[i - 1].key) {
            latest = 0;
            last_write = nullptr;
        }
        if (kind == writes) {
            if (when < latest) moved(t);
            last_write = &t;
        } else if (last_write != nullptr && when < kinds * last_write->id + writes) {
            moved(*last_write);
        }
        if (latest < when) latest = when;
    }
    return found;
}

SUBLET_DECL std::optional<step_id> first_backward_edge(snapshot const& p, std::vector<node_id> const& order)
{
    std::vector<unsigned char> has_run(p.nodes(), 0);
    step_id position = 0;
    for (node_id i = 0; i != p.nodes(); ++i) {
        node_id const n = order.empty() ? i : order[i];
        has_run[n] = 1;
        position += p.steps_of(n).last - p.steps_of(n).first;
        for (node_id next : p.successors(n))
            if (has_run[next]) return position - 1;
    }
    return std::nullopt;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_ranges lifetimes(snapshot const& p, lifetimes_options const& options)
{
    std::vector<step_id> const steps = detail::steps_in_order(p, options.order);
    std::vector<value_role> const role = options.role.tabulate(p.values());
    auto const positions = static_cast<step_id>(steps.size());

    live_ranges lives;
    lives.positions = positions;
    lives.of = std::vector<live_range>(p.values());
    std::vector<step_id> first_def(p.values(), no_node);
    for (step_id at = 0; at != positions; ++at)
        for (touch t : p.touches(steps[at]))
            if (t.kind == touch::access::def && first_def[t.value] == no_node) first_def[t.value] = at;

    // The defs of `ready` steps count: of those before `at`, at the end of a node also of its last step.
    auto check_defined = [&](value_id v, step_id at, step_id ready) {
        if (detail::is_given(role[v]) || first_def[v] < ready) return;
        auto const& first = lives.violation;
        if (first && (first->position < at || (first->position == at && first->value <= v))) return;
        lives.violation = live_ranges::order_violation{
            v, at,
            first_def[v] == no_node ? live_ranges::order_violation::kind::never_defined
                                    : live_ranges::order_violation::kind::defined_later};
    };
    auto extend_to = [&](value_id v, step_id until) {
        if (lives.of[v].last < until) lives.of[v].last = until;
    };
    for (step_id at = 0; at != positions; ++at)
        for (touch t : p.touches(steps[at])) {
            if (t.kind != touch::access::def) check_defined(t.value, at, at);
            extend_to(t.value, t.kind == touch::access::use_early ? at : at + 1);
        }
    std::vector<step_id> position_of(p.edge_uses().empty() ? 0 : steps.size());
    for (step_id at = 0; at != position_of.size(); ++at) position_of[steps[at]] = at;
    for (edge_use u : p.edge_uses()) {
        step_id const at = position_of[p.steps_of(u.pred).last - 1];
        check_defined(u.value, at, at + 1);
        extend_to(u.value, at + 1);
    }
    for (std::size_t i = 0; i != p.values(); ++i) {
        auto const v = static_cast<value_id>(i);
        if (has_role(role[v], value_role::input)) extend_to(v, 1);
        if (has_role(role[v], value_role::output)) {
            check_defined(v, positions, positions);
            extend_to(v, positions);
        }
        lives.of[v].first = detail::is_given(role[v]) || first_def[v] == no_node ? 0 : first_def[v];
    }
    if (!lives.violation && !options.order.empty()) lives.violation = detail::moved_write(p, steps, role);
    return lives;
}

// --- buffers ---------------------------------------------------------------------------------------------

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
        b.alignment = detail::combine_alignment(b.alignment, alignment[v]);
        b.role = b.role | role[v];
        b.eligible = b.eligible && eligible[v];
        if (b.pinned == no_offset) b.pinned = pinned[v];
        else if (pinned[v] != no_offset && pinned[v] != b.pinned) b.conflicting_pin = pinned[v];
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
