// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_IMPL_SCHEDULE_IPP
#define SUBLET_EXECUTION_STREAM_IMPL_SCHEDULE_IPP

#include <sublet/execution/stream/schedule.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace sublet::detail {

SUBLET_DECL stream_scheduler::stream_scheduler(run_order const& order, blocks kind, stream_options const& how,
                                               bool paints)
    : tape_(order.tape), waits_(order.waits), how_(how), kind_(kind), paints_(paints),
      known_(useful_streams()), streams_(useful_streams())
{
    std::size_t const buffers = tape_.table.buffers.size();
    touched_by_ = tape_.touched.transposed(buffers);
    is_given_up_.assign(buffers, 0);
    for (buffer_id b : tape_.given_up) is_given_up_[b] = 1;
    has_block_.assign(buffers, 0);
    alignment_.assign(buffers, 1);
    for (std::size_t b = 0; b != buffers; ++b) {
        alignment_[b] = its(static_cast<buffer_id>(b)).alignment;
        has_block_[b] = owns_block(static_cast<buffer_id>(b)) && has_role(its(b).role, value_role::input);
    }
}

SUBLET_DECL stream_schedule stream_scheduler::take()
{
    start_ = mark(0);
    for (step_id at = 0; at != tape_.positions(); ++at) issue(at);
    for (std::uint32_t s = 0; s != streams_.size(); ++s) {
        if (streams_[s].is_used && streams_[s].is_beyond_mark) streams_[s].mark = mark(s);
        if (s != 0 && streams_[s].is_used) needed_.push_back(streams_[s].mark);
    }
    wait_for_needed(0);
    for (buffer_id b = 0; b != has_block_.size(); ++b)
        if (has_block_[b] && !has_role(its(b).role, value_role::output)) add(stream_action::release, 0, b);
    name_events();
    return std::move(result_);
}

SUBLET_DECL std::size_t stream_scheduler::useful_streams() const
{
    std::vector<std::uint32_t> const& given = how_.stream_of;
    if (!given.empty()) return *std::max_element(given.begin(), given.end()) + std::size_t{1};
    return std::min(how_.streams, std::max<std::size_t>(tape_.positions(), 1));
}

SUBLET_DECL void stream_scheduler::issue(step_id at)
{
    std::span<step_id const> const before = waits_.before[at];
    std::uint32_t const s = stream_for(at);
    result_.stream_of.push_back(s);
    std::size_t crossing = 0;
    for (step_id p : before) {
        needed_.push_back(mark_of_[p]);
        crossing += result_.stream_of[p] != s;
    }
    heirs_.clear();
    if (kind_ == blocks::recycled)
        for (yielded y : tape_.yields_at(at))
            if (can_hand_over(y, at)) need_block(y, at);
    std::size_t const waits = result_.waits;
    wait_for_needed(s);
    result_.implied += crossing - std::min(crossing, result_.waits - waits);
    for (std::size_t i = 0; i != heirs_.size(); i += 2)
        add(stream_action::hand_over, s, heirs_[i + 1], heirs_[i]);
    for (buffer_id b : tape_.touched[at])
        if (owns_block(b) && !has_block_[b] && !is_heir(b)) {
            add(stream_action::allocate, s, b);
            has_block_[b] = 1;
        }
    for (buffer_id b : tape_.touched[at])
        if (paints_ && is_unwritten(b, at)) add(stream_action::fill, s, b);
    add(stream_action::launch, s, at);

    // In an arena the next tenant waits for the last step that touched the bytes: it is done when they
    // are painted.
    bool const paints_in_arena = paints_ && kind_ == blocks::arena;
    if (paints_in_arena) bury(at, s);
    std::size_t done = streams_[s].steps_until;
    for (step_id p : before) done = std::max(done, done_[p]);
    done_.push_back(done + 1);
    streams_[s] = {at, mark(s), done + 1, true, false};
    mark_of_.push_back(streams_[s].mark);
    if (!paints_in_arena) bury(at, s);
}

SUBLET_DECL std::uint32_t stream_scheduler::stream_for(step_id at)
{
    if (!how_.stream_of.empty()) return how_.stream_of[tape_.step_at[at]];
    std::span<step_id const> const before = waits_.before[at];
    std::uint32_t best = no_stream;
    for (step_id p : before) { // of those that are the last on their stream, the one that is done last
        std::uint32_t const s = result_.stream_of[p];
        if (streams_[s].last != p) continue;
        bool const is_later = best == no_stream || streams_[s].steps_until > streams_[best].steps_until;
        if (is_later || (streams_[s].steps_until == streams_[best].steps_until && s < best)) best = s;
    }
    if (best != no_stream) return best;
    for (step_id p : before) needed_.push_back(mark_of_[p]);
    for (std::uint32_t s = 0; s != streams_.size() && best == no_stream; ++s)
        if (!streams_[s].is_used || known_.covers(needed_, s)) best = s;
    needed_.clear();
    if (best != no_stream) return best;
    best = 0;
    for (std::uint32_t s = 1; s != streams_.size(); ++s)
        if (streams_[s].steps_until < streams_[best].steps_until) best = s;
    return best;
}

SUBLET_DECL void stream_scheduler::need_block(yielded y, step_id at)
{
    need_users(y.from, at);
    has_block_[y.from] = 0;
    has_block_[y.to] = 1;
    alignment_[y.to] = alignment_[y.from];
    heirs_.push_back(y.from);
    heirs_.push_back(y.to);
}

SUBLET_DECL bool stream_scheduler::is_heir(buffer_id b) const
{
    return std::find(heirs_.begin(), heirs_.end(), b) != heirs_.end();
}

SUBLET_DECL bool stream_scheduler::is_unwritten(buffer_id b, step_id at) const
{
    if (tape_.first_write[b] != at || is_given(its(b).role) || !its(b).is_planned()) return false;
    if (is_heir(b)) return false;
    auto const yields = tape_.yields_at(at);
    auto is_over = [&](yielded y) {
        return (y.to == b || y.to == no_buffer) && touched_by_[y.from].back() == at;
    };
    return kind_ != blocks::arena || std::none_of(yields.begin(), yields.end(), is_over);
}

SUBLET_DECL bool stream_scheduler::is_yielded(buffer_id b, step_id at) const
{
    if (kind_ != blocks::arena) return is_heir(b);
    auto const yields = tape_.yields_at(at);
    return std::any_of(yields.begin(), yields.end(), [b](yielded y) { return y.from == b; });
}

SUBLET_DECL void stream_scheduler::bury(step_id at, std::uint32_t s)
{
    auto is_painted = [&](buffer_id b) {
        return paints_ && its(b).is_planned() && !is_given_up_[b] && !is_dying_heir(b, at);
    };
    auto is_released = [&](buffer_id b) { return kind_ == blocks::recycled && has_block_[b]; };
    for (buffer_id b : tape_.touched[at])
        if (dies_at(b, at) && (is_painted(b) || is_released(b))) need_users(b, at);
    wait_for_needed(s);
    for (buffer_id b : tape_.touched[at]) {
        if (!dies_at(b, at)) continue;
        if (is_painted(b)) add(stream_action::fill, s, b);
        if (!is_released(b)) continue;
        add(stream_action::release, s, b);
        has_block_[b] = 0;
    }
}

SUBLET_DECL void stream_scheduler::need_users(buffer_id b, step_id at)
{
    for (step_id user : touched_by_[b])
        if (user != at) needed_.push_back(mark_of_[user]);
}

SUBLET_DECL void stream_scheduler::wait_for_needed(std::uint32_t s)
{
    if (s != 0 && !streams_[s].is_used) needed_.push_back(start_);
    std::sort(needed_.begin(), needed_.end());
    for (; !needed_.empty(); needed_.pop_back()) {
        std::uint32_t const m = needed_.back();
        if (known_.stream_of(m) == s || known_.knows(s, m)) continue;
        known_.learn(s, m);
        add(stream_action::wait, s, m);
        ++result_.waits;
    }
}

SUBLET_DECL std::uint32_t stream_scheduler::mark(std::uint32_t s)
{
    std::uint32_t const m = known_.mark(s);
    result_.commands.push_back({stream_action::record, s, m});
    return m;
}

SUBLET_DECL void stream_scheduler::name_events()
{
    auto is_about_event = [](stream_command const& c) {
        return c.what == stream_action::record || c.what == stream_action::wait;
    };
    std::vector<std::uint32_t> event_of; // by mark
    for (stream_command const& c : result_.commands) {
        if (is_about_event(c) && event_of.size() <= c.which) event_of.resize(c.which + 1, no_event);
        if (c.what == stream_action::wait) event_of[c.which] = 0;
    }
    auto is_unheard = [&](stream_command const& c) {
        return c.what == stream_action::record && event_of[c.which] == no_event;
    };
    auto& commands = result_.commands;
    commands.erase(std::remove_if(commands.begin(), commands.end(), is_unheard), commands.end());
    for (stream_command& c : commands) {
        if (c.what == stream_action::record) event_of[c.which] = static_cast<std::uint32_t>(result_.events++);
        if (is_about_event(c)) c.which = event_of[c.which];
    }
    for (std::size_t s = 0; s != streams_.size(); ++s)
        if (streams_[s].is_used) result_.streams = s + 1;
}

} // namespace sublet::detail

#endif
