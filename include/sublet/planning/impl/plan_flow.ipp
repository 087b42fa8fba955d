// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <ctime>
#include <utility>

namespace sublet {

SUBLET_DECL memory_plan planned_flow::by_range() const
{
    memory_plan spread = plan;
    spread.buffers.clear();
    table<buffer_id, buffer_id> first;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        first.push_back(buffer_id::of(spread.buffers.size()));
        for (live_range r : lives[b]) {
            spread.buffers.push_back(plan.buffers[b]);
            spread.buffers.back().life = r;
        }
    }
    for (buffer_id& b : spread.buffer_of)
        if (b != no_buffer) b = first[b];
    return spread;
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL live_ranges hulls(snapshot const& p, live_range_lists const& lives)
{
    live_ranges hulls;
    hulls.positions = lives.positions();
    for (value_id v = 0; v != p.values(); ++v) hulls.of.push_back(lives.hull(v));
    return hulls;
}

/// Storage that no step makes begins where a view of it is written first. If a later write through another view may
/// find bytes there, or an output keeps all of it, it counts as given: it is there from the start, and to the end.
/// Returns whether there is such storage; then `kept` are the options with these roles.
///
/// Complexity: O(values log values + touches).
SUBLET_DECL bool keep_pieces(snapshot const& p, plan_options const& options, plan_options& kept)
{
    if (!p.has_views() || !p.has_writes()) return false;
    table<value_id, value_role> role = options.role.tabulate(p.values(), "role");
    table<value_id, value_id> const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<value_id, byte_count> const bytes = options.bytes.tabulate(p.values(), "bytes");
    buffer_classes const classes = classes_of(alias_of);
    table<value_id, byte_count> const begin =
        offsets_in_roots(alias_of, options.view_offset.tabulate(p.values(), "view_offset"));
    auto root = [&classes](value_id v) { return classes.root[classes.buffer_of[v]]; };
    table<value_id, unsigned char> is_made(p.values()), is_piece(p.values());
    for (touch t : p.touches({0, step_id::of(p.steps())})) {
        if (t.makes()) is_made[t.value] = 1;
        if (t.kind == touch::access::write_view) is_piece[t.value] = 1;
    }
    table<value_id, value_role> of_class(p.values(), value_role::intermediate); // of a root
    std::vector<sort_key> pieces;                                               // {root, first byte, value}
    for (value_id v = 0; v != p.values(); ++v) {
        of_class[root(v)] = of_class[root(v)] | role[v];
        if (is_piece[v] && !is_made[root(v)]) pieces.push_back({root(v), begin[v], v});
    }
    sort_by_key(pieces);
    bool any = false;
    byte_count end = 0; // of the pieces so far of this storage
    for (std::size_t i = 0; i != pieces.size(); ++i) {
        auto const r = value_id::of(pieces[i].key);
        byte_count const first = pieces[i].tie, size = bytes[value_id{pieces[i].id}];
        bool const is_further = i != 0 && pieces[i - 1].key == r;
        bool const is_output = has_role(of_class[r], value_role::output);
        if (is_further && !is_given(of_class[r]) && (is_output || first < end)) {
            role[r] = role[r] | value_role::input | (is_output ? value_role::output : value_role::intermediate);
            any = true;
        }
        byte_count const last = size != no_size && sum_fits(first, size) ? first + size : no_size;
        end = is_further ? larger(end, last) : last;
    }
    if (!any) return false;
    kept = options;
    kept.role = std::move(role);
    return true;
}

/// Buffers that nothing makes or gives need no storage: nothing reaches a step that uses or changes them.
SUBLET_DECL void drop_unwritten(snapshot const& p, buffer_table& table)
{
    sublet::table<buffer_id, unsigned char> is_written(table.buffers.size(), 0);
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines()) is_written[table.buffer_of[t.value]] = 1;
    for (buffer_id b = 0; b != table.buffers.size(); ++b)
        if (!is_written[b] && !has_role(table.buffers[b].role, value_role::input)) table.buffers[b].life = {};
}

/// Which values some path may read before anything writes them; empty if there are none. Of two others that
/// live together, one lives where the other is written.
SUBLET_DECL table<value_id, unsigned char> read_unwritten(live_range_lists const& augmented,
                                                          table<value_id, value_role> const& role)
{
    table<value_id, unsigned char> is_unwritten(role.size(), 0);
    bool is_any = false;
    for (value_id v = 0; v != role.size(); ++v) {
        is_unwritten[v] = !is_given(role[v]) && !augmented[v].empty() && augmented[v].front().first == 0;
        is_any = is_any || is_unwritten[v] != 0;
    }
    if (!is_any) is_unwritten.clear();
    return is_unwritten;
}

/// Whether buffers that live together are apart in every plan that check_flow_plan() accepts, without pairs.
/// Not in nodes that nothing reaches; nor at the first step, which here holds all that is given, if it is not
/// needed there.
SUBLET_DECL bool are_conflicts_exact(snapshot const& p, live_range_lists const& augmented,
                                     table<value_id, value_role> const& role,
                                     table<step_id, position_id> const& position)
{
    for (unsigned char is_reached : reached_nodes(p))
        if (!is_reached) return false;
    for (value_id v = 0; v != p.values() && p.nodes() != 0; ++v) {
        position_id const first = position[p.steps_of(0).first];
        bool is_there = !has_role(role[v], value_role::input);
        for (live_range r : augmented[v]) is_there = is_there || contains(r, first);
        if (!is_there) return false;
    }
    return true;
}

/// The bytes that every plan needs at one position of the augmented program.
struct flow_bound {
    byte_count bytes = 0;
    position_id position = 0;
};

/// For each pool, bytes that are apart in every plan that check_flow_plan() accepts, whichever in-place
/// pairs it takes; or the top of a pin.
///
/// At a reached position, buffers that live there and were written on every path are apart. One more may be
/// added that some path leaves unwritten: of these two may share bytes. `early` are the ranges in which a
/// step reads what it may overwrite before it writes.
///
/// Complexity: O(V + E + positions + r log r), r = ranges.
SUBLET_DECL table<pool_id, flow_bound> bounds_of_flow(snapshot const& p, live_range_lists const& early,
                                                      sublet::table<value_id, unsigned char> const& is_unwritten,
                                                      sublet::table<step_id, position_id> const& position,
                                                      buffer_table const& table)
{
    sublet::table<node_id, unsigned char> const is_reached = reached_nodes(p);
    // Before each position: the number of reached ones.
    sublet::table<position_id, std::uint32_t> reached_before(std::size_t{early.positions()} + 1, 0);
    if (early.positions() != 0) reached_before[1] = 1; // the entry
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
            reached_before[position[s] + 1] = is_reached[n];
    std::vector<position_id> reached; // ascending
    for (position_id at = 0; at != early.positions(); ++at) {
        if (reached_before[at + 1] != 0) reached.push_back(at);
        reached_before[at + 1] = static_cast<std::uint32_t>(reached.size());
    }
    unsorted_ranges lives;
    sublet::table<buffer_id, unsigned char> is_doubtful(table.buffers.size(), 0);
    for (value_id v = 0; v != p.values(); ++v) {
        buffer_id const b = table.buffer_of[v];
        if (!table.buffers[b].is_planned()) continue;
        if (!is_unwritten.empty() && is_unwritten[v]) is_doubtful[b] = 1;
        for (live_range r : early[v]) lives.add(b, {reached_before[r.first], reached_before[r.last]});
    }
    auto const count = static_cast<std::uint32_t>(reached.size());
    buffer_range_lists const of_buffer(lives.lists(table.buffers.size(), early.method(), count));
    std::size_t pools = 0;
    for (buffer const& b : table.buffers)
        if (b.is_planned()) pools = larger(pools, std::size_t{b.pool} + 1);
    auto const of_pool = csr_rows<pool_id, buffer_id>::gathered(pools, [&table](auto add) {
        for (buffer_id b = 0; b != table.buffers.size(); ++b)
            if (table.buffers[b].is_planned()) add(table.buffers[b].pool, b);
    });
    sublet::table<pool_id, flow_bound> bounds(pools);
    segment_tree apart(larger(reached.size(), std::size_t{1}));
    for (pool_id pool = 0; pool != pools; ++pool) {
        flow_bound& most = bounds[pool];
        auto offer = [&](live_range r, byte_count more) { // at the first position with the most bytes
            byte_count const bytes = checked_add(apart.most(r), more);
            if (bytes <= most.bytes) return;
            std::size_t const at = partition_point(length(r), [&](std::size_t i) {
                return apart.most({r.first, position_id::of(r.first + i + 1)}) + more == bytes;
            });
            most = {bytes, reached[r.first + at]};
        };
        for (buffer_id b : of_pool[pool])
            for (live_range r : of_buffer[b])
                if (!is_doubtful[b]) apart.add(r, table.buffers[b].size);
        if (!of_pool[pool].empty() && !reached.empty()) offer({0, count}, 0);
        for (buffer_id b : of_pool[pool])
            for (live_range r : of_buffer[b])
                if (is_doubtful[b]) offer(r, table.buffers[b].size);
        for (buffer_id b : of_pool[pool]) {
            buffer const& its = table.buffers[b];
            byte_count const end = its.pinned == no_offset ? its.size : checked_add(its.pinned, its.size);
            most.bytes = larger(most.bytes, end);
            for (live_range r : of_buffer[b])
                if (!is_doubtful[b]) apart.remove(r, its.size);
        }
    }
    return bounds;
}

/// The ranges of the plan's buffers, united over their values; sets the hulls and the gaps.
///
/// A buffer that some path leaves unwritten counts only where a step writes something: it may live together
/// with another such buffer, on paths of which each writes only one of them.
SUBLET_DECL buffer_range_lists set_live_ranges(snapshot const& p,
                                               table<step_id, position_id> const& position,
                                               live_range_lists const& of_values,
                                               table<value_id, unsigned char> const& is_unwritten,
                                               memory_plan& plan, placement_problem& problem)
{
    unsorted_ranges all;
    for (value_id v = 0; v != plan.buffer_of.size(); ++v)
        if (plan.buffer_of[v] != no_buffer)
            for (live_range r : of_values[v]) all.add(plan.buffer_of[v], r);
    buffer_range_lists lives(all.lists(plan.buffers.size(), of_values.method(), of_values.positions()));
    buffer_range_lists counted = lives;
    if (!is_unwritten.empty()) {
        table<buffer_id, unsigned char> is_everywhere(plan.buffers.size(), 1);
        for (value_id v = 0; v != plan.buffer_of.size(); ++v)
            if (plan.buffer_of[v] != no_buffer && is_unwritten[v]) is_everywhere[plan.buffer_of[v]] = 0;
        position_id const entry = p.nodes() == 0 ? 0 : position[p.steps_of(0).first] - 1;
        table<position_id, std::uint32_t> writes_before(std::size_t{lives.positions()} + 1, 0);
        std::vector<position_id> writes; // ascending
        writes_before[entry + 1] = 1;    // of what is given
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s))
                if (t.defines() || t.writes()) writes_before[position[s]] = 1;
        for (position_id at = 0; at != lives.positions(); ++at) {
            if (writes_before[at + 1] != 0) writes.push_back(at);
            writes_before[at + 1] = static_cast<std::uint32_t>(writes.size());
        }
        // Between two writes a buffer need not have a gap, unless another one lives only there.
        std::vector<unsigned char> is_lived_in(writes.size() + 1, 0);
        for (buffer_id b = 0; b != plan.buffers.size(); ++b)
            for (live_range r : lives[b])
                if (is_everywhere[b] && writes_before[r.first] == writes_before[r.last])
                    is_lived_in[writes_before[r.first]] = 1;
        auto const places = static_cast<std::uint32_t>(writes.size() + 1);
        std::vector<std::uint32_t> next_lived_in(places + std::size_t{1}, places);
        for (std::uint32_t i = places; i-- != 0;)
            next_lived_in[i] = is_lived_in[i] ? i : next_lived_in[i + 1];
        unsorted_ranges kept;
        for (buffer_id b = 0; b != plan.buffers.size(); ++b)
            for (live_range r : lives[b]) {
                std::uint32_t first = writes_before[r.first], last = writes_before[r.last]; // of `writes`
                if (is_everywhere[b]) kept.add(b, r);
                while (!is_everywhere[b] && first != last) { // up to write `next` - 1
                    std::uint32_t const next = smaller(next_lived_in[first + 1], last);
                    kept.add(b, {writes[first], writes[next - 1] + 1});
                    first = next;
                }
            }
        counted =
            buffer_range_lists(kept.lists(plan.buffers.size(), lives.method(), lives.positions()));
    }
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        plan.buffers[b].life = lives.hull(b);
        problem.buffers[b].life = counted.hull(b);
        for (std::size_t i = 1; i < counted[b].size(); ++i)
            problem.gaps.push_back({b, {counted[b][i - 1].last, counted[b][i].first}});
    }
    return lives;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_flow plan_flow(snapshot const& as_made, plan_options const& given,
                                   flow_options const& flow)
{
    detail::expect_listed_order(as_made, given.order);
    snapshot as_listed;
    snapshot const& listed = detail::as_control_flow(as_made, as_listed);
    auto const asked = detail::with_said_views(listed, detail::tabulated_options(given, listed.values()));
    plan_options kept{.bytes = no_size};
    plan_options const& options = detail::keep_pieces(listed, *asked, kept) ? kept : *asked;
    snapshot viewed;
    if (listed.has_views()) viewed = detail::with_view_uses(listed, options);
    snapshot const& p = listed.has_views() ? viewed : listed;
    std::clock_t const begin = std::clock();
    planned_flow result;
    memory_plan& plan = result.plan;
    plan.valid_for = result.figures.reading = program_reading::control_flow;
    plan.order = options.order.empty() ? detail::loop_contiguous_order(p.graph()) : options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    auto unclear = detail::find_unclear(listed, *asked);
    if (unclear && flow.allows_undefined && unclear->what == fault::unwritten) unclear.reset();
    if (!result.figures.refute(std::move(unclear))) return result;
    sublet::table<value_id, value_role> const role = options.role.tabulate(p.values(), "role");
    sublet::table<position_id, step_id> const steps = detail::steps_in_order(p, plan.order);
    sublet::table<step_id, position_id> position(steps.size(), 0); // in the augmented program
    for (position_id at = 0; at != steps.size(); ++at) position[steps[at]] = at + 1;
    live_range_lists augmented = cfg_live_ranges(p, role, plan.order, detail::operand_end::held);
    if (auto const read = detail::undefined_read(p, augmented, role, flow.allows_undefined)) {
        auto const at =
            read->step() == no_step ? position_id::of(steps.size()) : position_id{position[read->step()] - 1};
        result.figures.refute(counterexample{
            fault::used_undefined,
            counterexample::access{.value = read->value(), .other = read->other(), .position = at}});
        return result;
    }
    sublet::table<value_id, unsigned char> const is_unwritten = detail::read_unwritten(augmented, role);
    if (!is_unwritten.empty())
        augmented = detail::where_written(p, augmented, is_unwritten, plan.order, position, true);
    live_range_lists const lives = detail::to_program_positions(p, augmented, plan.order);
    buffer_table table = gather_buffers(detail::hulls(p, lives), options);
    result.figures.refute(detail::oversized_view(table)); // of classes before they are joined
    detail::drop_unwritten(p, table);
    result.figures.external = detail::external_roots(p, table);
    detail::set_chosen_pools(table, options, options.pools);
    bool const has_pairs = options.in_place && !p.overwrites().empty();
    bool const are_exact = !has_pairs && is_unwritten.empty() &&
                           detail::are_conflicts_exact(p, augmented, role, position);
    live_range_lists early;
    buffer_table apart; // without in-place pairs
    if (!are_exact) {
        early = cfg_live_ranges(p, role, plan.order, detail::operand_end::read_early);
        apart = table;
        if (has_pairs) table = take_in_place(p, early, position, std::move(table));
    }

    placement_problem problem{{}, options.pools};
    if (auto fact = detail::list_planned(table, plan, problem); result)
        result.figures.refute(std::move(fact));
    result.lives = detail::set_live_ranges(p, position, lives, is_unwritten, plan, problem);
    placement placed = pack(problem, detail::pack_budgets(options.effort));
    if (!are_exact) { // the bounds of pack() hold for these pairs only
        if (!is_unwritten.empty())
            early = detail::where_written(p, early, is_unwritten, plan.order, position, false);
        sublet::table<pool_id, detail::flow_bound> const bounds =
            detail::bounds_of_flow(p, early, is_unwritten, position, apart);
        for (pool_id pool = 0; pool != bounds.size() && pool != placed.pools.size(); ++pool) {
            placed.pools[pool].lower_bound = bounds[pool].bytes;
            placed.pools[pool].peak_position = bounds[pool].position - (bounds[pool].position != 0);
        }
    }
    detail::set_offsets(placed, plan);
    detail::fill_report(result.figures, placed, plan);
    for (overwrite o : p.overwrites())
        if (buffer_id const b = plan.buffer_of[o.in]; b != no_buffer && b == plan.buffer_of[o.out])
            result.in_place.push_back({{o.step, o.in, o.out, plan.buffers[b].size}, no_size, no_size});

    if (result) result.figures.refute(detail::why_not_placed(placed, problem, plan));
    if (options.check && result) {
        result.figures.refute(check_flow_plan(listed, plan, *asked, flow));
        result.figures.is_checked = true;
    }
    result.figures.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

} // namespace sublet
