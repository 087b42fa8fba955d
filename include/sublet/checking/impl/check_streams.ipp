// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

// --- race questions --------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL witness as_witness(race const& r)
{
    return {.what = fault::unordered,
            .value = r.first_value,
            .other = r.second_value,
            .position = r.second,
            .begin = r.begin,
            .end = r.end,
            .needed = r.first,
            .pool = r.space};
}

} // namespace detail

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL access_walk::access_walk(std::vector<byte_access> const& list)
    : list_(list), begin_(list.size()), end_(list.size()), stretch_(number_borders()),
      stretches_(stretch_.size())
{
    for (byte_access const& a : list_) {
        SUBLET_EXPECTS(a.at != no_step, "sublet: an access has no place in the order");
        if (asked_by_.size() <= a.at) asked_by_.resize(a.at + std::size_t{1}, no_step);
    }
}

SUBLET_DECL std::size_t access_walk::number_borders()
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
    return number + std::size_t{1}; // 0 is nobody's, below all
}

SUBLET_DECL void access_walk::cut(std::uint32_t at)
{
    if (stretches_.contains(at)) return;
    std::uint32_t const below = stretches_.below(at);
    stretch_[at] = below == stretches_.none ? stretch{} : stretch_[below];
    stretches_.insert(at);
}

} // namespace sublet::detail

// --- stream clocks ---------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL stream_clocks::stream_clocks(stream_commands const& list)
    : streams_(list.streams), counts_(streams_, 0)
{
    std::vector<lane> lanes(streams_);
    lane caller;
    std::uint32_t joins = 0;
    std::vector<moment> events;
    for (stream_commands::act const& act : list.acts) {
        fresh_ = 0;
        SUBLET_EXPECTS(act.stream < streams_ || act.what == stream_commands::act_kind::join_all,
                       "sublet: a command is on a stream that is not there");
        lane nobody;
        lane& mine = act.what == stream_commands::act_kind::join_all ? nobody : lanes[act.stream];
        if (&mine != &nobody && mine.joins != joins) {
            merge(mine, caller.row);
            mine.joins = joins;
        }
        bool is_recorded = true;
        if (act.what == stream_commands::act_kind::wait) {
            is_recorded = act.which < events.size() && events[act.which].is_recorded;
            if (is_recorded) {
                moment const& e = events[act.which];
                merge(mine, e.row);
                raise(mine, e.stream, e.count);
            }
        } else if (act.what == stream_commands::act_kind::record) {
            if (events.size() <= act.which) events.resize(act.which + std::size_t{1});
            events[act.which] = {true, act.stream, mine.count + 1, mine.row};
        } else if (act.what == stream_commands::act_kind::join ||
                   act.what == stream_commands::act_kind::join_all) {
            for (std::uint32_t s = 0; s != streams_; ++s) {
                if (act.what == stream_commands::act_kind::join && s != act.stream) continue;
                merge(caller, lanes[s].row);
                raise(caller, s, lanes[s].count);
            }
            ++joins;
        }
        rows_.push_back({act.stream, mine.count, mine.row, is_recorded});
        ++mine.count;
    }
}

SUBLET_DECL void stream_clocks::merge(lane& mine, std::size_t other)
{
    for (std::uint32_t s = 0; s != streams_; ++s) raise(mine, s, counts_[other * streams_ + s]);
}

SUBLET_DECL void stream_clocks::raise(lane& mine, std::uint32_t stream, std::uint32_t count)
{
    if (counts_[mine.row * streams_ + stream] >= count) return;
    if (mine.row == 0 || mine.row != fresh_) {
        fresh_ = counts_.size() / streams_;
        counts_.resize(counts_.size() + streams_);
        for (std::size_t s = 0; s != streams_; ++s)
            counts_[fresh_ * streams_ + s] = counts_[mine.row * streams_ + s];
        mine.row = fresh_;
    }
    counts_[mine.row * streams_ + stream] = count;
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

    std::optional<stream_fault> find(bool is_whole)
    {
        follow_blocks();
        if (!found_) follow_touches();
        if (!found_) follow_races();
        for (std::uint32_t b = 0; is_whole && !found_ && b != allocated_.size(); ++b)
            if (allocated_[b] != no_step && released_[b] == no_step)
                report({.what = kind::kept, .first = allocated_[b], .block = b});
        return found_;
    }

private:
    using kind = stream_fault::kind;

    /// Requires: nothing was found that was issued earlier.
    void report(stream_fault what)
    {
        if (found_ && found_->second <= what.second) return;
        if (what.first != no_step) {
            what.first_stream = list_.acts[what.first].stream;
            what.first_step = step_of(what.first);
        }
        if (what.second != no_step) {
            what.second_stream = list_.acts[what.second].stream;
            what.second_step = step_of(what.second);
        }
        found_ = what;
    }
    step_id step_of(std::uint32_t command) const
    {
        stream_commands::act const& act = list_.acts[command];
        return act.what == stream_commands::act_kind::work ? act.which : no_step;
    }
    bool is_given(std::uint32_t block) const
    {
        return block < list_.blocks.size() && list_.blocks[block].is_given;
    }

    void follow_blocks()
    {
        for (std::uint32_t i = 0; i != list_.acts.size() && !found_; ++i) {
            stream_commands::act const& act = list_.acts[i];
            if (act.what == stream_commands::act_kind::wait && !clocks_.is_recorded(i))
                report({.what = kind::unrecorded, .second = i, .block = act.which});
            if (act.what != stream_commands::act_kind::allocate &&
                act.what != stream_commands::act_kind::release)
                continue;
            SUBLET_EXPECTS(act.which < list_.blocks.size(), "sublet: a command names a block not listed");
            std::uint32_t &made = allocated_[act.which], &freed = released_[act.which];
            if (act.what == stream_commands::act_kind::allocate) {
                if (made != no_step || is_given(act.which))
                    report({.what = kind::made_twice, .first = made, .second = i, .block = act.which});
                made = i;
            } else if (made == no_step && !is_given(act.which)) {
                report({.what = kind::absent, .second = i, .block = act.which});
            } else if (freed != no_step) {
                report({.what = kind::freed_twice, .first = freed, .second = i, .block = act.which});
            } else {
                if (made != no_step && !clocks_.is_before(made, i))
                    report({.what = kind::unborn, .first = made, .second = i, .block = act.which});
                freed = i;
            }
        }
    }

    void follow_touches()
    {
        for (byte_access const& t : list_.touches) {
            SUBLET_EXPECTS(t.at < list_.acts.size() && t.space < list_.blocks.size(),
                           "sublet: a touch names a command or a block not listed");
            if (t.begin >= t.end) continue;
            stream_fault f{
                .second = t.at, .second_value = t.value, .block = t.space, .begin = t.begin, .end = t.end};
            if (t.end > list_.blocks[t.space].bytes) report_as(f, kind::outside, no_step);
            std::uint32_t const made = allocated_[t.space], freed = released_[t.space];
            bool const is_there = is_given(t.space) || (made != no_step && made < t.at);
            if (!is_there) report_as(f, kind::absent, no_step);
            else if (made != no_step && !clocks_.is_before(made, t.at)) report_as(f, kind::unborn, made);
            else if (freed < t.at) report_as(f, kind::dead, freed);
            else if (freed != no_step && !clocks_.is_before(t.at, freed))
                report({.what = kind::freed_in_use,
                        .first = t.at,
                        .second = freed,
                        .first_value = t.value,
                        .block = t.space,
                        .begin = t.begin,
                        .end = t.end});
        }
    }
    void report_as(stream_fault f, kind what, std::uint32_t first)
    {
        f.what = what;
        f.first = first;
        report(f);
    }

    void follow_races()
    {
        race_questions(list_.touches, [this](std::uint32_t earlier, std::uint32_t later, race const& r) {
            if (found_ || clocks_.is_before(earlier, later)) return;
            report({.what = kind::race,
                    .first = earlier,
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
    std::optional<stream_fault> found_{};
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<stream_fault> check_streams(stream_commands const& list, bool is_whole)
{
    return detail::stream_checker(list).find(is_whole);
}

} // namespace sublet

// --- check waits -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::vector<step_id> places_in(std::vector<step_id> const& step_at, std::size_t steps)
{
    SUBLET_EXPECTS(step_at.size() == steps, "sublet: an order of steps does not name each of them once");
    std::vector<step_id> position(steps, no_step);
    for (std::size_t at = 0; at != steps; ++at) {
        SUBLET_EXPECTS(step_at[at] < steps && position[step_at[at]] == no_step,
                       "sublet: an order of steps does not name each of them once");
        position[step_at[at]] = static_cast<step_id>(at);
    }
    return position;
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL std::vector<byte_access> accesses_of(snapshot const& p, plan_options const& options,
                                                 memory_plan const* plan, std::uint32_t pools,
                                                 std::vector<step_id> const& step_at)
{
    detail::plan_requirements const asked = detail::derive_requirements(p, options);
    std::vector<step_id> const position = detail::places_in(step_at, p.steps());
    SUBLET_EXPECTS(plan == nullptr || detail::is_complete(*plan, p.values()),
                   "sublet: a plan has not one entry a value");
    auto const values = static_cast<value_id>(p.values());
    std::vector<byte_access> bytes_of(values); // by root
    for (value_id r = 0; r != values; ++r) {
        if (asked.root[r] != r) continue;
        bytes_of[r] = {.space = pools + r, .end = 1};
        if (plan == nullptr || !asked.is_planned(r)) continue;
        SUBLET_EXPECTS(plan->buffer_of[r] != no_buffer, "sublet: a value needs storage and has none");
        auto const [pool, offset] = detail::place_of(*plan, r);
        bool const is_within = pool < pools && pool < plan->arena_bytes.size() &&
                               offset <= plan->arena_bytes[pool] &&
                               asked.bytes[r] <= plan->arena_bytes[pool] - offset;
        SUBLET_EXPECTS(is_within, "sublet: a place is outside of the arena of its pool");
        bytes_of[r] = {.space = pool, .begin = offset, .end = offset + asked.bytes[r]};
    }

    std::vector<step_id> first_def(values, no_step); // by root: its position
    std::vector<std::uint32_t> versions(values, 0);
    for (value_id v = 0; v != values; ++v) versions[v] = is_given(asked.role[v]);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (t.kind != touch::access::def) continue;
            step_id& first = first_def[asked.root[t.value]];
            first = smaller(first, position[s]);
            ++versions[t.value];
        }

    std::vector<unsigned char> is_name_only(values);
    std::vector<step_id> read_by(values, no_step); // by root
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) { // reads come first
            value_id const r = asked.root[t.value];
            if (t.kind != touch::access::def) {
                read_by[r] = s;
                continue;
            }
            bool const is_there = is_given(asked.class_role[r]) || first_def[r] < position[s];
            is_name_only[t.value] = t.value != r && is_there && versions[t.value] == 1 && read_by[r] == s;
        }

    std::vector<byte_access> list;
    auto touches = [&](value_id v, step_id at, bool defines) {
        byte_access access = bytes_of[asked.root[v]];
        access.at = at;
        access.value = v;
        access.writes = defines && !is_name_only[v];
        list.push_back(access);
        if (is_name_only[v]) list.push_back({at, pools + v, 0, 1, v, defines});
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touches(t.value, position[s], t.kind == touch::access::def);
    for (edge_use u : p.edge_uses()) touches(u.value, position[p.steps_of(u.pred).last - 1], false);
    return list;
}

SUBLET_DECL std::optional<race> check_waits(snapshot const& p, plan_options const& options,
                                            memory_plan const* plan, std::vector<step_id> const& step_at,
                                            csr_rows const& after, std::vector<handoff> const& handoffs)
{
    auto const pools = static_cast<std::uint32_t>(plan == nullptr ? 0 : plan->arena_bytes.size());
    std::vector<byte_access> const accesses = detail::accesses_of(p, options, plan, pools, step_at);
    std::vector<step_id> const position = detail::places_in(step_at, p.steps());
    SUBLET_EXPECTS(after.rows() == p.steps(), "sublet: waits are not those of as many steps");
    detail::step_order order;
    order.after = after;
    csr_rows alone;
    for (step_id at = 0; at != p.steps(); ++at) {
        for (step_id next : after[at])
            SUBLET_EXPECTS(at < next && next < p.steps(), "sublet: a wait leads back in the reference order");
        order.step_at.push_back(at);
        alone.append(at);
        alone.close_row();
    }
    order.position = order.step_at; // here positions are steps

    std::vector<race> asked;
    detail::order_questions questions(order, alone);
    auto ask = [&](step_id earlier, step_id later, race const& found) {
        questions.ask(earlier, later, asked.size());
        asked.push_back(found);
        if (found.space < pools) return;
        asked.back().space = detail::no_space;
        asked.back().begin = asked.back().end = 0;
    };
    detail::race_questions(accesses, ask);
    std::optional<race> backwards;
    auto demand = [&](step_id from, step_id to) {
        race const found{.first = position[from], .second = position[to]};
        if (found.first < found.second) ask(found.first, found.second, found);
        else if (!backwards) backwards = found;
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const mine = p.steps_of(n);
        for (step_id s = mine.first + 1; s != mine.last; ++s) demand(s - 1, s);
        for (node_id next : p.successors(n)) demand(mine.last - 1, p.steps_of(next).first);
    }
    auto demand_all = [&](std::vector<handoff> const& list) {
        for (handoff h : list) {
            SUBLET_EXPECTS(h.from < p.steps() && h.to < p.steps(), "sublet: a hand-off names no step");
            demand(h.from, h.to);
        }
    };
    if (plan != nullptr && plan->valid_for == program_reading::concurrent) demand_all(plan->handoffs);
    demand_all(handoffs);

    std::uint64_t const answer = questions.first_no();
    if (answer != questions.none) return asked[answer];
    return backwards;
}

} // namespace detail

} // namespace sublet
