// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

// --- conflict scan ---------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL counterexample unordered(race const& r)
{
    return {fault::unordered, counterexample::waiting{.position = r.second,
                                                      .earlier = r.first,
                                                      .value = r.first_value,
                                                      .other = r.second_value,
                                                      .pool = r.space,
                                                      .begin = r.begin,
                                                      .end = r.end}};
}

} // namespace detail

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL conflict_scan::conflict_scan(std::vector<byte_access> const& list)
    : list_(list), begin_(list.size()), end_(list.size()), segment_(number_borders()),
      segments_(segment_.size())
{
    for (byte_access const& a : list_) {
        SUBLET_EXPECTS(a.at != no_step, "sublet: an access has no place in the order");
        if (last_visitor_.size() <= a.at) last_visitor_.resize(a.at + std::size_t{1}, no_step);
    }
}

SUBLET_DECL std::size_t conflict_scan::number_borders()
{
    std::vector<sort_key> borders; // {space, byte, access}
    for (std::uint32_t i = 0; i != list_.size(); ++i) {
        if (list_[i].begin >= list_[i].end) continue;
        borders.push_back({list_[i].space, list_[i].begin, i});
        borders.push_back({list_[i].space, list_[i].end, i});
    }
    sort_by_key(borders);
    std::uint32_t number = 0;
    for (std::size_t i = 0; i != borders.size(); ++i) {
        sort_key const& b = borders[i];
        if (i == 0 || borders[i - 1].key != b.key || borders[i - 1].tie != b.tie) ++number;
        (list_[b.id].begin == b.tie ? begin_ : end_)[b.id] = number;
    }
    return number + std::size_t{1}; // 0 stays unused, below all
}

SUBLET_DECL void conflict_scan::split_at(std::uint32_t at)
{
    if (segments_.contains(at)) return;
    std::uint32_t const below = segments_.below(at);
    segment_[at] = below == segments_.none ? segment{} : segment_[below];
    segments_.insert(at);
}

} // namespace sublet::detail

// --- stream clocks ---------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL stream_clocks::stream_clocks(stream_commands const& list)
    : streams_(list.streams), counts_(streams_, 0)
{
    std::vector<stream_clock> clocks(streams_);
    stream_clock caller;
    std::uint32_t joins = 0;
    std::vector<event_state> events;
    for (stream_commands::operation const& operation : list.operations) {
        new_row_ = 0;
        SUBLET_EXPECTS(
            operation.stream < streams_ || operation.what == stream_commands::operation_kind::join_all,
            "sublet: a command names stream %, but there are only % streams", operation.stream, streams_);
        stream_clock no_stream;
        stream_clock& current = operation.what == stream_commands::operation_kind::join_all
                                    ? no_stream
                                    : clocks[operation.stream];
        if (&current != &no_stream && current.joins != joins) {
            merge(current, caller.row);
            current.joins = joins;
        }
        bool is_recorded = true;
        if (operation.what == stream_commands::operation_kind::wait) {
            is_recorded = operation.which < events.size() && events[operation.which].is_recorded;
            if (is_recorded) {
                event_state const& e = events[operation.which];
                merge(current, e.row);
                advance(current, e.stream, e.count);
            }
        } else if (operation.what == stream_commands::operation_kind::record) {
            if (events.size() <= operation.which) events.resize(operation.which + std::size_t{1});
            events[operation.which] = {true, operation.stream, current.count + 1, current.row};
        } else if (operation.what == stream_commands::operation_kind::join ||
                   operation.what == stream_commands::operation_kind::join_all) {
            for (std::uint32_t s = 0; s != streams_; ++s) {
                if (operation.what == stream_commands::operation_kind::join && s != operation.stream)
                    continue;
                merge(caller, clocks[s].row);
                advance(caller, s, clocks[s].count);
            }
            ++joins;
        }
        rows_.push_back({operation.stream, current.count, current.row, is_recorded});
        ++current.count;
    }
}

SUBLET_DECL void stream_clocks::merge(stream_clock& current, std::size_t other)
{
    for (std::uint32_t s = 0; s != streams_; ++s) advance(current, s, counts_[other * streams_ + s]);
}

SUBLET_DECL void stream_clocks::advance(stream_clock& current, std::uint32_t stream, std::uint32_t count)
{
    if (counts_[current.row * streams_ + stream] >= count) return;
    if (current.row == 0 || current.row != new_row_) {
        new_row_ = counts_.size() / streams_;
        counts_.resize(counts_.size() + streams_);
        for (std::size_t s = 0; s != streams_; ++s)
            counts_[new_row_ * streams_ + s] = counts_[current.row * streams_ + s];
        current.row = new_row_;
    }
    counts_[current.row * streams_ + stream] = count;
}

} // namespace detail

} // namespace sublet

// --- check streams ---------------------------------------------------------------------------------------

namespace sublet::detail {

class stream_checker {
public:
    explicit stream_checker(stream_commands const& list)
        : list_(list), clocks_(list), allocated_(list.blocks.size(), no_step),
          released_(list.blocks.size(), no_step)
    {
    }

    std::optional<counterexample> find(bool must_release)
    {
        follow_blocks();
        if (!found_) follow_touches();
        if (!found_) follow_races();
        for (std::uint32_t b = 0; must_release && !found_ && b != allocated_.size(); ++b)
            if (allocated_[b] != no_step && released_[b] == no_step)
                report(fault::leaked, {.first = allocated_[b], .block = b});
        if (!found_) return std::nullopt;
        return counterexample{what_, *found_};
    }

private:

    /// Keeps the fault with the lowest second command.
    void report(fault what, counterexample::commands its)
    {
        if (found_ && found_->second <= its.second) return;
        if (its.first != no_step) {
            its.first_stream = list_.operations[its.first].stream;
            its.first_step = step_of(its.first);
        }
        if (its.second != no_step) {
            its.second_stream = list_.operations[its.second].stream;
            its.second_step = step_of(its.second);
        }
        found_ = its;
        what_ = what;
    }
    step_id step_of(std::uint32_t command) const
    {
        stream_commands::operation const& operation = list_.operations[command];
        return operation.what == stream_commands::operation_kind::work ? step_id{operation.which} : no_step;
    }
    bool is_given(std::uint32_t block) const
    {
        return block < list_.blocks.size() && list_.blocks[block].is_given;
    }

    void follow_blocks()
    {
        for (std::uint32_t i = 0; i != list_.operations.size() && !found_; ++i) {
            stream_commands::operation const& operation = list_.operations[i];
            if (operation.what == stream_commands::operation_kind::wait && !clocks_.is_recorded(i))
                report(fault::unrecorded, {.second = i, .block = operation.which});
            if (operation.what != stream_commands::operation_kind::allocate &&
                operation.what != stream_commands::operation_kind::release)
                continue;
            SUBLET_EXPECTS(operation.which < list_.blocks.size(),
                           "sublet: command % names block %, but there are only % blocks", i, operation.which,
                           list_.blocks.size());
            std::uint32_t &made = allocated_[operation.which], &freed = released_[operation.which];
            if (operation.what == stream_commands::operation_kind::allocate) {
                if (made != no_step || is_given(operation.which))
                    report(fault::double_allocation, {.first = made, .second = i, .block = operation.which});
                made = i;
            } else if (made == no_step && !is_given(operation.which)) {
                report(fault::never_allocated, {.second = i, .block = operation.which});
            } else if (freed != no_step) {
                report(fault::double_release, {.first = freed, .second = i, .block = operation.which});
            } else {
                if (made != no_step && !clocks_.is_before(made, i))
                    report(fault::use_before_allocation,
                           {.first = made, .second = i, .block = operation.which});
                freed = i;
            }
        }
    }

    void follow_touches()
    {
        for (byte_access const& t : list_.touches) {
            SUBLET_EXPECTS(
                t.at < list_.operations.size() && t.space < list_.blocks.size(),
                "sublet: a touch of value % names command % of %, or a block that does not exist: %", t.value,
                t.at, list_.operations.size(), t.space);
            if (t.begin >= t.end) continue;
            counterexample::commands f{
                .second = t.at, .second_value = t.value, .block = t.space, .begin = t.begin, .end = t.end};
            if (t.end > list_.blocks[t.space].bytes) report_as(f, fault::out_of_bounds, no_step);
            std::uint32_t const made = allocated_[t.space], freed = released_[t.space];
            bool const is_there = is_given(t.space) || (made != no_step && made < t.at);
            if (!is_there) report_as(f, fault::never_allocated, no_step);
            else if (made != no_step && !clocks_.is_before(made, t.at))
                report_as(f, fault::use_before_allocation, made);
            else if (freed < t.at) report_as(f, fault::use_after_release, freed);
            else if (freed != no_step && !clocks_.is_before(t.at, freed))
                report(fault::freed_in_use, {.first = t.at,
                                             .second = freed,
                                             .first_value = t.value,
                                             .block = t.space,
                                             .begin = t.begin,
                                             .end = t.end});
        }
    }
    void report_as(counterexample::commands f, fault what, std::uint32_t first)
    {
        f.first = first;
        report(what, f);
    }

    void follow_races()
    {
        for_conflicting_pairs(list_.touches,
                              [this](std::uint32_t earlier, std::uint32_t later, race const& r) {
                                  if (found_ || clocks_.is_before(earlier, later)) return;
                                  report(fault::race, {.first = earlier,
                                                       .second = later,
                                                       .first_value = r.first_value,
                                                       .second_value = r.second_value,
                                                       .block = r.space,
                                                       .begin = r.begin,
                                                       .end = r.end});
                              });
    }

    stream_commands const& list_;
    stream_clocks clocks_;
    std::vector<std::uint32_t> allocated_, released_; // by block: the command
    fault what_ = fault::race;
    std::optional<counterexample::commands> found_{};
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_streams(stream_commands const& list, bool must_release)
{
    return detail::stream_checker(list).find(must_release);
}

} // namespace sublet

// --- check waits -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL table<step_id, position_id> positions_of(table<position_id, step_id> const& step_at,
                                                     std::size_t steps)
{
    if (step_at.size() != steps) broken_order(step_at, steps, "step");
    table<step_id, position_id> position(steps, no_position);
    for (position_id at = 0; at != steps; ++at) {
        if (step_at[at] >= steps || position[step_at[at]] != no_position)
            broken_order(step_at, steps, "step");
        position[step_at[at]] = at;
    }
    return position;
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                 memory_plan const* plan, std::uint32_t pools,
                                                 table<position_id, step_id> const& step_at)
{
    detail::plan_requirements const required = detail::derive_requirements(p, options);
    table<step_id, position_id> const position = detail::positions_of(step_at, p.steps());
    SUBLET_EXPECTS(plan == nullptr || detail::is_complete(*plan, p.values()),
                   "sublet: a plan does not have one entry for each value");
    auto const values = static_cast<std::uint32_t>(p.values());
    table<value_id, byte_access> bytes_of(values); // by root
    for (value_id r = 0; r != values; ++r) {
        if (required.root[r] != r) continue;
        bytes_of[r] = {.space = pools + r, .end = larger(required.bytes[r], byte_count{1})};
        if (plan == nullptr || !required.is_planned(r)) continue;
        SUBLET_EXPECTS(plan->buffer_of[r] != no_buffer, "sublet: value % needs storage and has none", r);
        auto const [pool, offset] = detail::place_of(*plan, r);
        bool const is_within = pool < pools && pool < plan->arena_bytes.size() &&
                               offset <= plan->arena_bytes[pool] &&
                               required.bytes[r] <= plan->arena_bytes[pool] - offset;
        SUBLET_EXPECTS(is_within, "sublet: value % is placed at offset % of pool %, outside of the arena", r,
                       offset, pool);
        bytes_of[r] = {.space = pool, .begin = offset, .end = offset + required.bytes[r]};
    }

    table<value_id, unsigned char> is_made(values);   // a view that a step makes
    table<value_id, unsigned char> is_viewed(values); // a root that a step makes a view of, and writes nothing
    table<value_id, position_id> first_def(values, no_position); // the first position that makes a root
    for (position_id at = 0; at != p.steps(); ++at)
        for (touch t : p.touches(step_at[at])) {
            value_id const r = required.root[t.value];
            is_made[t.value] |= t.makes_view();
            is_viewed[r] |= t.views_what_is_there();
            if (t.value == r && t.defines()) first_def[r] = smaller(first_def[r], at);
        }

    std::vector<byte_access> list;
    auto touches = [&](value_id v, position_id at, touch::access kind) {
        touch const one{v, kind};
        value_id const r = required.root[v];
        bool const makes_root = v == r && first_def[r] == at && one.defines();
        bool const needs_root = one.views_what_is_there() && first_def[r] != no_position;
        if (is_viewed[r] && !is_given(required.role[r]) && (makes_root || needs_root))
            list.push_back({at, pools + values + r, 0, 1, v, makes_root});          // that the root is there
        if (is_made[v]) list.push_back({at, pools + v, 0, 1, v, one.makes_view()}); // its name
        if (kind == touch::access::view) return;
        byte_access access = bytes_of[r];
        access.at = at;
        access.value = v;
        access.writes = one.writes();
        if (v != r && required.bytes[v] != no_size && required.bytes[r] != 0) {
            access.begin += required.offset_in_root[v];
            access.end = smaller(access.end, access.begin + required.bytes[v]);
        }
        if (access.begin < access.end) list.push_back(access);
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touches(t.value, position[s], t.kind);
    for (edge_use u : p.edge_uses())
        touches(u.value, position[p.steps_of(u.pred).last - 1], touch::access::use);
    return list;
}

SUBLET_DECL verdict check_waits(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                table<position_id, step_id> const& step_at,
                                csr_rows<position_id, position_id> const& after,
                                std::vector<handoff> const& handoffs)
{
    detail::expect_steps_run_once(p);
    auto const pools = static_cast<std::uint32_t>(plan == nullptr ? 0 : plan->arena_bytes.size());
    std::vector<byte_access> const accesses = detail::accesses_of(p, options, plan, pools, step_at);
    table<step_id, position_id> const position = detail::positions_of(step_at, p.steps());
    SUBLET_EXPECTS(after.rows() == p.steps(), "sublet: the waits have % rows for % steps", after.rows(),
                   p.steps());
    detail::step_order order; // its points are the positions of the reference order
    order.after.reserve(after.rows(), after.items());
    for (position_id at = 0; at != p.steps(); ++at) {
        for (position_id next : after[at]) {
            SUBLET_EXPECTS(at < next && next < p.steps(),
                           "sublet: step % waits for step %, which is not before it in the reference order",
                           next, at);
            order.after.append(next);
        }
        order.after.close_row();
        order.step_at.push_back(at);
        order.position.push_back(at);
    }

    std::vector<race> races;
    detail::reachability_queries queries(order);
    auto add_query = [&](std::uint32_t earlier, std::uint32_t later, race const& found) {
        queries.add(earlier, later, races.size());
        races.push_back(found);
        if (found.space < pools) return;
        races.back().space = detail::no_space;
        races.back().begin = races.back().end = 0;
    };
    detail::for_conflicting_pairs(accesses, add_query);
    std::optional<race> reversed;
    auto require_order = [&](step_id from, step_id to) {
        race const found{.first = position[from], .second = position[to]};
        if (found.first < found.second) add_query(found.first, found.second, found);
        else if (!reversed) reversed = found;
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const current = p.steps_of(n);
        for (step_id s = current.first + 1; s != current.last; ++s) require_order(s - 1, s);
        for (node_id next : p.successors(n)) require_order(current.last - 1, p.steps_of(next).first);
    }
    auto require_handoffs = [&](std::vector<handoff> const& list) {
        for (handoff h : list) {
            SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(),
                           "sublet: a hand-off leads from step % to step %, but there are only % steps",
                           h.from, h.to, p.steps());
            require_order(h.from, h.to);
        }
    };
    if (plan != nullptr && plan->valid_for == program_reading::concurrent) require_handoffs(plan->handoffs);
    require_handoffs(handoffs);

    std::uint64_t const answer = queries.first_failed();
    if (answer != queries.none) return unordered(races[to_size(answer)]);
    if (reversed) return unordered(*reversed);
    return {};
}

} // namespace detail

} // namespace sublet
