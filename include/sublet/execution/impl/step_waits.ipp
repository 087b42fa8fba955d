// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/transitive_reduction.hpp>

#include <utility>

// --- byte owners -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL byte_owners::byte_owners(std::vector<sort_key> borders, byte_count end)
    : borders_(std::move(borders))
{
    borders_.push_back({0, 0, 0});
    borders_.push_back({end, 0, 0});
    sort_by_key(borders_);
    auto const is_same = [](sort_key const& a, sort_key const& b) { return a.key == b.key; };
    borders_.erase(std::unique(borders_.begin(), borders_.end(), is_same), borders_.end());
    owner_.assign(borders_.size(), no_buffer);
}

SUBLET_DECL void byte_owners::claim(byte_count begin, byte_count end, buffer_id id)
{
    for (std::size_t i = segment_at(begin); borders_[i].key < end; ++i) owner_[i] = id;
}

SUBLET_DECL std::size_t byte_owners::segment_at(byte_count begin) const
{
    auto const at = std::lower_bound(borders_.begin(), borders_.end(), begin,
                                     [](sort_key const& border, byte_count b) { return border.key < b; });
    return static_cast<std::size_t>(at - borders_.begin());
}

// --- arena occupants -------------------------------------------------------------------------------------

SUBLET_DECL arena_occupants::arena_occupants(lowered_program const& lowered, memory_plan const& plan)
    : lowered_(lowered), plan_(plan)
{
    expect_placed(lowered, plan);
    table<pool_id, std::vector<sort_key>> borders(plan.arena_bytes.size());
    std::size_t const buffers = lowered.table.buffers.size();
    for (buffer_id b = 0; b != buffers; ++b) {
        if (!its(b).is_planned()) continue;
        borders[its(b).pool].push_back({begin(b), 0, b});
        borders[its(b).pool].push_back({end(b), 0, b});
    }
    for (pool_id pool = 0; pool != borders.size(); ++pool)
        arenas_.emplace_back(std::move(borders[pool]), plan.arena_bytes[pool]);
    for (buffer_id b = 0; b != buffers; ++b)
        if (its(b).is_planned() && is_given(its(b).role)) arenas_[its(b).pool].claim(begin(b), end(b), b);
}

// --- program order ---------------------------------------------------------------------------------------

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

// --- step waits ------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL std::size_t step_waits::count(step_waits::kind why) const
{
    std::size_t found = 0;
    for (step_waits::wait const& one : list) found += one.why == why;
    return found;
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL wait_finder::wait_finder(snapshot const& program, plan_options const& options,
                                     lowered_program const& lowered)
    : program_(program), lowered_(lowered), position_of_(lowered.step_at.size()),
      made_at_(program.values(), no_position), last_waiter_(lowered.step_at.size(), no_position)
{
    for (value_role role : options.role.tabulate(program.values(), "role"))
        is_given_.push_back(is_given(role));
    for (position_id at = 0; at != lowered.positions(); ++at) position_of_[lowered.step_at[at]] = at;
    for (edge_use u : program.edge_uses())
        end_uses_.push_back({position_of_[program.steps_of(u.pred).last - 1], 0, u.value});
    sort_by_key(end_uses_);

    auto const buffers = static_cast<std::uint32_t>(lowered.table.buffers.size());
    ordered_bytes const parts =
        program.has_writes() ? find_ordered_bytes(program, lifetimes_of(options)) : ordered_bytes{};
    for (value_id v = 0; v != program.values(); ++v) {
        buffer_id const b = lowered.table.buffer_of[v];
        buffer const& its = lowered.table.buffers[b];
        bool const is_cut =
            lowered.is_updated[b] != 0 && parts.segments != 0 && parts.of[its.root].first < parts.of[its.root].last;
        if (is_cut) ranges_.push_back({buffers + parts.of[v].first, buffers + parts.of[v].last});
        else if (v != its.root && lowered.bytes[v] == 0 && its.size != 0) ranges_.push_back({});
        else ranges_.push_back({b, b + 1});
    }
    names_ = buffers + parts.segments;
    users_.resize(names_ + (program.has_views() ? program.values() : 0));
}

SUBLET_DECL void wait_finder::follow_touches(arena_occupants* arenas)
{
    std::size_t next_end_use = 0; // index of the next entry of end_uses_
    table<buffer_id, unsigned char> occupies(lowered_.table.buffers.size(), 0);
    for (position_id at = 0; at != lowered_.positions(); ++at) {
        auto const touches = program_.touches(lowered_.step_at[at]); // reads come first
        for (touch t : touches) {
            value_id const root = lowered_.table.buffers[lowered_.table.buffer_of[t.value]].root;
            bool const is_by_bytes = t.kind == touch::access::write_view && lowered_.bytes[t.value] != 0;
            if (t.makes_view() && !is_by_bytes && !is_given_[root])
                add(made_at_[root], at, step_waits::kind::data);
            if (t.value != root && program_.has_views())
                access(names_ + t.value, at, !t.defines(), t.makes_view());
            if (t.kind != touch::access::view) access_bytes(t.value, at, !t.defines(), t.writes());
        }
        for (; next_end_use != end_uses_.size() && end_uses_[next_end_use].key == at; ++next_end_use) {
            value_id const v = end_uses_[next_end_use].id;
            if (lowered_.table.buffers[lowered_.table.buffer_of[v]].root != v && program_.has_views())
                access(names_ + v, at, true, false);
            access_bytes(v, at, true, false);
        }
        for (touch t : touches)
            if (t.defines()) made_at_[t.value] = smaller(made_at_[t.value], at);
        if (arenas != nullptr && !first_pieces_.empty())
            for (touch t : touches)
                if (t.kind == touch::access::write_view) begin_piece(t.value, at);
        for (std::uint32_t range : touched_) wait(range, at);
        if (arenas != nullptr)
            for (touch t : touches) {
                buffer_id const b = lowered_.table.buffer_of[t.value];
                bool const is_empty_piece = t.kind == touch::access::write_view &&
                                            lowered_.bytes[t.value] == 0 &&
                                            lowered_.table.buffers[b].size != 0;
                if (!t.writes() || is_empty_piece || std::exchange(occupies[b], 1)) continue;
                std::size_t const before = found_.size();
                occupy(b, at, *arenas);
                if (t.kind != touch::access::write_view || found_.size() == before) continue;
                first_pieces_.resize(lowered_.table.buffers.size(), {0, 0});
                first_pieces_[b] = {before, found_.size()};
            }
        for (std::uint32_t range : touched_) {
            users& its = users_[range];
            if (its.written_at == at) continue;
            while (!its.readers.empty() && last_waiter_[its.readers.back()] == at) its.readers.pop_back();
            its.readers.push_back(at);
        }
        touched_.clear();
    }
}

SUBLET_DECL void wait_finder::follow_edges()
{
    for (node_id n = 0; n != program_.nodes(); ++n) {
        step_range const range = program_.steps_of(n);
        for (step_id s = range.first + 1; s != range.last; ++s)
            add_steps(s - 1, s, step_waits::kind::control);
        for (node_id next : program_.successors(n))
            add_steps(range.last - 1, program_.steps_of(next).first, step_waits::kind::control);
    }
}

SUBLET_DECL void wait_finder::follow(std::vector<handoff> const& handoffs)
{
    for (handoff h : handoffs) add_steps(h.from, h.to, step_waits::kind::handoff);
}

SUBLET_DECL step_waits wait_finder::reduced()
{
    sort_by_key(found_);
    auto const is_same_pair = [](sort_key const& a, sort_key const& b) { return a.key == b.key; };
    found_.erase(std::unique(found_.begin(), found_.end(), is_same_pair), found_.end());
    std::size_t const positions = lowered_.step_at.size();
    auto pairs_of = [](auto const& list) {
        return [&list](auto add_pair) {
            for (auto const& wait : list) add_pair(+as_wait(wait).to, +as_wait(wait).from);
        };
    };
    auto const by_node = csr_rows<node_id, node_id>::gathered(positions, pairs_of(found_)); // a position
    auto const is_implied = has_indirect_path(by_node, found_.size(), [&](std::uint32_t i) {
        return csr_graph::edge{+as_wait(found_[i]).from, +as_wait(found_[i]).to};
    });
    step_waits result;
    for (std::size_t i = 0; i != found_.size(); ++i)
        if (!is_implied[i]) result.list.push_back(as_wait(found_[i]));
    result.before = csr_rows<position_id, position_id>::gathered(positions, pairs_of(result.list));
    result.after = result.before.transposed(positions);
    return result;
}

SUBLET_DECL void wait_finder::add(position_id from, position_id to, step_waits::kind why)
{
    if (from == to || from == no_position) return;
    last_waiter_[from] = to;
    found_.push_back({std::uint64_t{to} << 32 | from, static_cast<std::uint64_t>(why), 0});
}

SUBLET_DECL void wait_finder::access_bytes(value_id v, position_id at, bool reads, bool writes)
{
    for (std::uint32_t range = ranges_[v].first; range < ranges_[v].last; ++range)
        access(range, at, reads, writes);
}

SUBLET_DECL void wait_finder::access(std::uint32_t range, position_id at, bool reads, bool writes)
{
    users& its = users_[range];
    if (its.touched_at != at) touched_.push_back(range);
    its.touched_at = at;
    if (reads) its.read_at = at;
    if (writes) its.written_at = at;
}

SUBLET_DECL void wait_finder::wait(std::uint32_t range, position_id at)
{
    users& its = users_[range];
    if (its.written_at != at || its.read_at == at) add(its.writer, at, step_waits::kind::data);
    if (its.written_at != at) return;
    for (position_id reader : its.readers) add(reader, at, step_waits::kind::anti);
    if (its.readers.empty()) add(its.writer, at, step_waits::kind::output);
    its.writer = at;
    its.readers.clear();
}

SUBLET_DECL void wait_finder::begin_piece(value_id v, position_id at)
{
    bool is_begun = true;
    for (std::uint32_t range = ranges_[v].first; range < ranges_[v].last; ++range)
        is_begun = is_begun && users_[range].writer != no_position;
    auto const [first, last] = first_pieces_[lowered_.table.buffer_of[v]];
    for (std::size_t i = first; !is_begun && i != last; ++i)
        add(as_wait(found_[i]).from, at, step_waits::kind::handoff);
}

SUBLET_DECL void wait_finder::occupy(buffer_id b, position_id at, arena_occupants& arenas)
{
    arenas.occupy(b, [&](buffer_id before) {
        byte_ranges const ranges = ranges_of(before);
        for (std::uint32_t range = ranges.first; range < ranges.last; ++range) {
            users const& its = users_[range];
            for (position_id reader : its.readers) add(reader, at, step_waits::kind::handoff);
            if (its.readers.empty()) add(its.writer, at, step_waits::kind::handoff);
        }
    });
}

SUBLET_DECL table<position_id, step_id> concurrent_step_order(snapshot const& p,
                                                              plan_options const& options,
                                                              std::vector<handoff> handoffs)
{
    auto graph = [&] {
        dependence_options how = dependences_of(options, handoffs);
        how.order = dependence_options::position_order::as_listed;
        return dependences(p, how);
    };
    auto steps_of = [](dependence_graph const& g) { // skip the early reads of a step
        table<position_id, step_id> steps;
        for (position_id at = 0; at != g.step_at.size(); ++at)
            if (step_id const its = g.step_at[at]; g.position_of[its] == at) steps.push_back(its);
        return steps;
    };
    dependence_graph g = graph();
    if (!g) throw unsound_plan(g.error());
    program_order const listed(p, options);
    auto const moved = listed.moved_write(steps_of(g));
    if (!moved) return steps_of(g);
    for (handoff h : listed.handoffs()) handoffs.push_back(h);
    g = graph();
    if (!g) throw unsound_plan(*moved);
    return steps_of(g);
}

SUBLET_DECL void expect_sound(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    verdict const valid = plan.valid_for == program_reading::concurrent
                              ? check_concurrent_plan(p, plan, options)
                              : check_plan(p, plan, options);
    if (!valid) throw unsound_plan(valid.error());
}

SUBLET_DECL std::vector<handoff> all_handoffs(snapshot const& p, memory_plan const* plan,
                                              std::vector<handoff> handoffs)
{
    auto names_steps = [&](handoff h) { return h.from < p.steps() && h.to < p.steps(); };
    for (handoff h : handoffs)
        SUBLET_EXPECTS(names_steps(h),
                       "sublet: a hand-off leads from step % to step %, but there are only % steps", h.from,
                       h.to, p.steps());
    if (plan == nullptr || plan->valid_for != program_reading::concurrent) return handoffs;
    if (!std::all_of(plan->handoffs.begin(), plan->handoffs.end(), names_steps))
        throw unsound_plan({fault::foreign_plan});
    handoffs.insert(handoffs.end(), plan->handoffs.begin(), plan->handoffs.end());
    return handoffs;
}

SUBLET_DECL lowered_program lower_planned(snapshot const& p, plan_options const& options,
                                          memory_plan const* plan, per_value<bool> const& scratch,
                                          std::vector<handoff> handoffs)
{
    handoffs = all_handoffs(p, plan, std::move(handoffs));
    if (plan == nullptr || plan->valid_for != program_reading::concurrent)
        return lower_program(p, options, scratch);
    return lower_program(p, options, scratch, concurrent_step_order(p, options, std::move(handoffs)));
}

SUBLET_DECL run_order run_order_of(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                   per_value<bool> const& scratch, std::vector<handoff> const& handoffs)
{
    plan_options const own = plan == nullptr ? options : options_of_plan(p, options, *plan);
    run_order result{lower_planned(p, own, plan, scratch, handoffs), {}};
    wait_finder finder(p, own, result.lowered);
    if (plan != nullptr && plan->valid_for != program_reading::concurrent) {
        arena_occupants arenas(result.lowered, *plan);
        finder.follow_touches(&arenas);
    } else {
        finder.follow_touches(nullptr);
    }
    finder.follow_edges();
    finder.follow(all_handoffs(p, plan, handoffs));
    result.waits = finder.reduced();
    return result;
}

} // namespace sublet::detail
