// SPDX-License-Identifier: BSL-1.0

/// stream_scheduler: successors are matched first, by the longest path to the end. Then one pass over the
/// positions chooses a stream for each step, collects the marks to wait for, and emits those that the clock
/// of the stream does not imply, latest first. Events are numbered last, when it is known which marks have a
/// waiter.

#include <sublet/execution/detail/stream_scheduler.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL stream_scheduler::stream_scheduler(run_order const& order, blocks kind,
                                               stream_options const& settings, bool paints)
    : lowered_(order.lowered), waits_(order.waits), settings_(settings), kind_(kind), paints_(paints),
      clocks_(useful_streams()), streams_(useful_streams())
{
    std::size_t const buffers = lowered_.table.buffers.size();
    touched_by_ = lowered_.touched.transposed(buffers);
    if (paints_ || kind_ == blocks::recycled) accessed_by_ = lowered_.accessed.transposed(buffers);
    is_unused_input_.assign(buffers, 0);
    for (buffer_id b : lowered_.unused_inputs) is_unused_input_[b] = 1;
    has_block_.assign(buffers, 0);
    alignment_.assign(buffers, 1);
    measure_steps();
    match_successors();
    for (buffer_id b = 0; b != buffers; ++b) {
        alignment_[b] = its(b).alignment;
        has_block_[b] = owns_block(b) && has_role(its(b).role, value_role::input);
    }
}

SUBLET_DECL stream_schedule stream_scheduler::take()
{
    start_ = mark(0);
    for (position_id at = 0; at != lowered_.positions(); ++at) issue(at);
    for (std::uint32_t s = 0; s != streams_.size(); ++s) {
        if (streams_[s].is_used && streams_[s].has_unmarked_work) streams_[s].mark = mark(s);
        if (s != 0 && streams_[s].is_used) pending_waits_.push_back(streams_[s].mark);
    }
    emit_waits(0);
    for (buffer_id b = 0; b != has_block_.size(); ++b)
        if (has_block_[b] && !has_role(its(b).role, value_role::output))
            add(stream_schedule::action::release, 0, b);
    number_events();
    return std::move(result_);
}

SUBLET_DECL std::size_t stream_scheduler::useful_streams() const
{
    auto const& given = settings_.stream_of;
    if (!given.empty()) return *std::max_element(given.begin(), given.end()) + std::size_t{1};
    return std::min(settings_.streams, std::max<std::size_t>(lowered_.positions(), 1));
}

SUBLET_DECL void stream_scheduler::issue(position_id at)
{
    std::span<position_id const> const before = waits_.before[at];
    std::uint32_t const s = stream_for(at);
    result_.stream_of.push_back(s);
    std::size_t cross_stream = 0;
    for (position_id p : before) {
        pending_waits_.push_back(mark_of_[p]);
        cross_stream += result_.stream_of[p] != s;
    }
    block_transfers_.clear();
    if (kind_ == blocks::recycled)
        for (operand_reuse y : lowered_.reuses_at(at))
            if (can_transfer_block(y, at)) transfer_from(y, at);
    std::size_t const waits = result_.waits;
    emit_waits(s);
    result_.implied += cross_stream - std::min(cross_stream, result_.waits - waits);
    for (std::size_t i = 0; i != block_transfers_.size(); i += 2)
        add(stream_schedule::action::transfer_block, s, block_transfers_[i + 1], block_transfers_[i]);
    for (buffer_id b : lowered_.touched[at])
        if (owns_block(b) && !has_block_[b] && !is_transferred(b)) {
            add(stream_schedule::action::allocate, s, b);
            has_block_[b] = 1;
        }
    for (buffer_id b : lowered_.touched[at])
        if (paints_ && is_unwritten(b, at)) add(stream_schedule::action::fill, s, b);
    add(stream_schedule::action::launch, s, at);

    // In an arena the next occupant waits for the last step that accesses the bytes: paint before its mark.
    bool const paints_in_arena = paints_ && kind_ == blocks::arena;
    if (paints_in_arena) release_dead(at, s);
    std::uint64_t finish = streams_[s].finish_time;
    for (position_id p : before) finish = std::max(finish, finish_time_[p]);
    finish_time_.push_back(finish + length_[at]);
    streams_[s] = {at, mark(s), finish + length_[at], true, false};
    mark_of_.push_back(streams_[s].mark);
    if (!paints_in_arena) release_dead(at, s);
}

SUBLET_DECL std::uint32_t stream_scheduler::stream_for(position_id at)
{
    if (!settings_.stream_of.empty()) return settings_.stream_of[lowered_.step_at[at]];
    std::span<position_id const> const before = waits_.before[at];
    auto last_of =
        [&](bool may_be_reserved) { // of those that are last on their stream, the one that ends last
            std::uint32_t best = no_stream;
            for (position_id p : before) {
                std::uint32_t const s = result_.stream_of[p];
                if (streams_[s].last != p || (!may_be_reserved && is_reserved(s, at))) continue;
                if (successor_[p] == at) return s;
                bool const is_later =
                    best == no_stream || streams_[s].finish_time > streams_[best].finish_time;
                if (is_later || (streams_[s].finish_time == streams_[best].finish_time && s < best)) best = s;
            }
            return best;
        };
    std::uint32_t best = last_of(false);
    if (best != no_stream) return best;
    for (position_id p : before) pending_waits_.push_back(mark_of_[p]);
    for (std::uint32_t s = 0; s != streams_.size() && best == no_stream; ++s)
        if (!streams_[s].is_used || (!is_reserved(s, at) && clocks_.covers(pending_waits_, s))) best = s;
    pending_waits_.clear();
    if (best != no_stream) return best;
    for (bool const may_be_reserved : {false, true}) {
        for (std::uint32_t s = 0; s != streams_.size(); ++s) {
            if (!may_be_reserved && is_reserved(s, at)) continue;
            if (best == no_stream || streams_[s].finish_time < streams_[best].finish_time) best = s;
        }
        if (best != no_stream) return best;
        best = last_of(true);
        if (best != no_stream) return best;
    }
    return best;
}

SUBLET_DECL void stream_scheduler::measure_steps()
{
    table<position_id, byte_count> moved(lowered_.positions(), 0); // bytes, up to 2^64 - 1
    byte_count most = 0, total = 0;
    for (position_id at = 0; at != moved.size(); ++at) {
        for (auto const* rows : {&lowered_.uses, &lowered_.defs})
            for (value_id v : (*rows)[at])
                if (lowered_.bytes[v] != no_size)
                    moved[at] += smaller(lowered_.bytes[v], no_size - moved[at]);
        most = larger(most, moved[at]);
    }
    unsigned excess = 0; // bits; the products below have 64 bits
    while (most >> excess >= byte_count{1} << 28) ++excess;
    for (byte_count& bytes : moved) total += bytes >>= excess;
    for (byte_count bytes : moved) length_.push_back(8 + (total == 0 ? 0 : 8 * bytes * moved.size() / total));
}

SUBLET_DECL void stream_scheduler::match_successors()
{
    std::uint32_t const count = lowered_.positions();
    table<position_id, std::uint64_t> from_start(count, 0), to_end(count, 0); // longest paths
    for (position_id at = 0; at != count; ++at)
        for (position_id p : waits_.before[at])
            from_start[at] = larger(from_start[at], from_start[p] + length_[p]);
    for (position_id at = count; at-- != 0;) {
        for (position_id next : waits_.after[at]) to_end[at] = larger(to_end[at], to_end[next]);
        to_end[at] += length_[at];
    }
    std::vector<position_id> steps(count);
    for (position_id at = 0; at != count; ++at) steps[at] = at;
    std::sort(steps.begin(), steps.end(), [&](position_id a, position_id b) {
        return to_end[a] != to_end[b] ? to_end[a] > to_end[b] : a < b;
    });
    successor_.assign(count, no_position);
    for (position_id at : steps) {
        position_id best = no_position;
        for (position_id p : waits_.before[at])
            if (successor_[p] == no_position && (best == no_position || from_start[p] > from_start[best]))
                best = p;
        if (best != no_position) successor_[best] = at;
    }
}

SUBLET_DECL void stream_scheduler::transfer_from(operand_reuse y, position_id at)
{
    add_user_waits(y.from, at);
    has_block_[y.from] = 0;
    has_block_[y.to] = 1;
    alignment_[y.to] = alignment_[y.from];
    block_transfers_.push_back(y.from);
    block_transfers_.push_back(y.to);
}

SUBLET_DECL bool stream_scheduler::is_transferred(buffer_id b) const
{
    return std::find(block_transfers_.begin(), block_transfers_.end(), b) != block_transfers_.end();
}

SUBLET_DECL bool stream_scheduler::is_unwritten(buffer_id b, position_id at) const
{
    if (lowered_.first_write[b] != at || is_given(its(b).role) || !its(b).is_planned()) return false;
    if (is_transferred(b)) return false;
    auto const reuses = lowered_.reuses_at(at);
    auto is_over = [&](operand_reuse y) {
        return (y.to == b || y.to == no_buffer) && touched_by_[y.from].back() == at;
    };
    return kind_ != blocks::arena || std::none_of(reuses.begin(), reuses.end(), is_over);
}

SUBLET_DECL bool stream_scheduler::may_be_reused(buffer_id b, position_id at) const
{
    if (kind_ != blocks::arena) return is_transferred(b);
    auto const reuses = lowered_.reuses_at(at);
    return touched_by_[b].back() == at &&
           std::any_of(reuses.begin(), reuses.end(), [b](operand_reuse y) { return y.from == b; });
}

SUBLET_DECL void stream_scheduler::release_dead(position_id at, std::uint32_t s)
{
    auto is_painted = [&](buffer_id b) {
        return paints_ && its(b).is_planned() && !is_unused_input_[b] && !is_already_reused(b, at);
    };
    auto is_released = [&](buffer_id b) { return kind_ == blocks::recycled && has_block_[b]; };
    for (buffer_id b : lowered_.touched[at])
        if (is_last_use(b, at) && (is_painted(b) || is_released(b))) add_user_waits(b, at);
    emit_waits(s);
    for (buffer_id b : lowered_.touched[at]) {
        if (!is_last_use(b, at)) continue;
        if (is_painted(b)) add(stream_schedule::action::fill, s, b);
        if (!is_released(b)) continue;
        add(stream_schedule::action::release, s, b);
        has_block_[b] = 0;
    }
}

SUBLET_DECL void stream_scheduler::add_user_waits(buffer_id b, position_id at)
{
    for (position_id user : accessed_by_[b])
        if (user != at) pending_waits_.push_back(mark_of_[user]);
}

SUBLET_DECL void stream_scheduler::emit_waits(std::uint32_t s)
{
    if (s != 0 && !streams_[s].is_used) pending_waits_.push_back(start_);
    std::sort(pending_waits_.begin(), pending_waits_.end());
    for (; !pending_waits_.empty(); pending_waits_.pop_back()) {
        std::uint32_t const m = pending_waits_.back();
        if (clocks_.stream_of(m) == s || clocks_.is_after(s, m)) continue;
        clocks_.join_mark(s, m);
        add(stream_schedule::action::wait, s, m);
        ++result_.waits;
    }
}

SUBLET_DECL std::uint32_t stream_scheduler::mark(std::uint32_t s)
{
    std::uint32_t const m = clocks_.mark(s);
    result_.commands.push_back({stream_schedule::action::record, s, m});
    return m;
}

SUBLET_DECL void stream_scheduler::number_events()
{
    auto is_about_event = [](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::record || c.what == stream_schedule::action::wait;
    };
    std::vector<std::uint32_t> event_of; // by mark
    for (stream_schedule::command const& c : result_.commands) {
        if (is_about_event(c) && event_of.size() <= c.which) event_of.resize(c.which + 1, no_event);
        if (c.what == stream_schedule::action::wait) event_of[c.which] = 0;
    }
    auto has_no_waiter = [&](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::record && event_of[c.which] == no_event;
    };
    auto& commands = result_.commands;
    commands.erase(std::remove_if(commands.begin(), commands.end(), has_no_waiter), commands.end());
    for (stream_schedule::command& c : commands) {
        if (c.what == stream_schedule::action::record)
            event_of[c.which] = static_cast<std::uint32_t>(result_.events++);
        if (is_about_event(c)) c.which = event_of[c.which];
    }
    for (std::size_t s = 0; s != streams_.size(); ++s)
        if (streams_[s].is_used) result_.streams = s + 1;
}

} // namespace sublet::detail
