// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

// --- vector clocks ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::uint32_t vector_clocks::mark(std::uint32_t stream)
{
    ++row_of(clock_, stream)[stream];
    stream_of_.push_back(stream);
    mark_clock_.insert(mark_clock_.end(), row_of(clock_, stream), row_of(clock_, stream) + streams_);
    return static_cast<std::uint32_t>(stream_of_.size() - 1);
}

SUBLET_DECL bool vector_clocks::covers(std::vector<std::uint32_t> const& marks, std::uint32_t stream) const
{
    std::uint32_t const last = row_of(clock_, stream)[stream];
    for (std::uint32_t mark : marks)
        if (row_of(mark_clock_, mark)[stream] >= last) return true;
    return false;
}

SUBLET_DECL bool vector_clocks::is_after(std::uint32_t const* clock, std::uint32_t mark) const
{
    std::uint32_t const on = stream_of_[mark];
    return clock[on] >= row_of(mark_clock_, mark)[on];
}

SUBLET_DECL void vector_clocks::merge(std::uint32_t* clock, std::uint32_t mark)
{
    std::uint32_t const* const other = row_of(mark_clock_, mark);
    for (std::size_t s = 0; s != streams_; ++s) clock[s] = larger(clock[s], other[s]);
}

// --- schedule --------------------------------------------------------------------------------------------

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
    std::sort(steps.begin(), steps.end(),
              [&](position_id a, position_id b) { return to_end[a] != to_end[b] ? to_end[a] > to_end[b] : a < b; });
    successor_.assign(count, no_position);
    for (position_id at : steps) {
        position_id best = no_position;
        for (position_id p : waits_.before[at])
            if (successor_[p] == no_position && (best == no_position || from_start[p] > from_start[best])) best = p;
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

// --- check schedule --------------------------------------------------------------------------------------

class schedule_reader {
public:
    schedule_reader(snapshot const& program, plan_options const& options, memory_plan const* plan,
                    lowered_program const& lowered, bool keeps_io_addresses)
        : program_(program), lowered_(lowered), plan_(plan),
          requirements_(derive_requirements(program, options)),
          pools_(plan == nullptr ? 0 : static_cast<std::uint32_t>(plan->arena_bytes.size())),
          keeps_io_addresses_(keeps_io_addresses), command_of_(program.steps(), no_step)
    {
        std::vector<byte_access> const all = accesses_of(program, options, plan, pools_, lowered.step_at);
        touches_at_ = csr_rows<position_id, std::uint32_t>::gathered(program.steps(), [&](auto add) {
            for (std::uint32_t i = 0; i != all.size(); ++i) add(all[i].at, i);
        });
        touches_ = all;
        block_of_.assign(pools_ + 2 * program.values(), none);
        bytes_of_.assign(program.values(), byte_access{});
        for (value_id r = 0; r != program.values(); ++r) {
            byte_access& whole = bytes_of_[r];
            whole.value = r;
            whole.space = pools_ + r;
            whole.end = larger(requirements_.bytes[r], byte_count{1});
            if (plan == nullptr || requirements_.root[r] != r || !requirements_.is_planned(r)) continue;
            whole.space = place_of(*plan, r).pool;
            whole.begin = place_of(*plan, r).offset;
            whole.end = whole.begin + requirements_.bytes[r];
        }
    }

    stream_commands read(stream_schedule const& schedule)
    {
        list_.streams = schedule.streams;
        begin();
        position_id next = 0;
        for (stream_schedule::command const& c : schedule.commands) {
            switch (c.what) {
            case stream_schedule::action::record:
                add(stream_commands::operation_kind::record, c.stream, c.which);
                break;
            case stream_schedule::action::wait:
                add(stream_commands::operation_kind::wait, c.stream, c.which);
                break;
            case stream_schedule::action::allocate:
                block_at(root_of(c.which)) = add_block(size_of(root_of(c.which)), false);
                add(stream_commands::operation_kind::allocate, c.stream, block_at(root_of(c.which)));
                break;
            case stream_schedule::action::transfer_block:
                block_at(root_of(c.which)) = block_at(root_of(c.from)); // where the step still reads it
                break;
            case stream_schedule::action::fill: {
                byte_access whole = bytes_of_[root_of(c.which)];
                whole.writes = true;
                add(stream_commands::operation_kind::work, c.stream, no_step);
                touch(whole);
                break;
            }
            case stream_schedule::action::launch: {
                SUBLET_EXPECTS(c.which == next && next != lowered_.positions(),
                               "sublet: a schedule does not launch each step once, in program order: it "
                               "launches position % instead of %",
                               c.which, next);
                command_of_[lowered_.step_at[next]] =
                    add(stream_commands::operation_kind::work, c.stream, lowered_.step_at[next]);
                for (std::uint32_t i : touches_at_[next]) touch(touches_[i]);
                ++next;
                break;
            }
            case stream_schedule::action::release:
                add(stream_commands::operation_kind::release, c.stream, ensure_block(root_of(c.which)));
                break;
            }
        }
        SUBLET_EXPECTS(next == lowered_.positions(), "sublet: a schedule launches only % of % steps", next,
                       lowered_.positions());
        end();
        return list_;
    }

    /// The first edge, step sequence of a node or hand-off that is not kept, or command that is not ordered
    /// between the begin and the end of the run on stream 0.
    std::optional<counterexample> broken_order(std::vector<handoff> const& handoffs) const
    {
        stream_clocks const clocks(list_);
        std::optional<counterexample> found;
        auto require_order = [&](std::uint32_t first, std::uint32_t second) {
            if (first < second && clocks.is_before(first, second)) return;
            if (found && found->as<counterexample::commands>()->second <= second) return;
            found = counterexample{fault::missing_order,
                                   counterexample::commands{.first = first,
                                                            .second = second,
                                                            .first_stream = list_.operations[first].stream,
                                                            .second_stream = list_.operations[second].stream,
                                                            .first_step = step_of(first),
                                                            .second_step = step_of(second)}};
        };
        auto require_step_order = [&](step_id from, step_id to) {
            require_order(command_of_[from], command_of_[to]);
        };
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const range = program_.steps_of(n);
            for (step_id s = range.first + 1; s != range.last; ++s) require_step_order(s - 1, s);
            for (node_id next : program_.successors(n))
                require_step_order(range.last - 1, program_.steps_of(next).first);
        }
        for (handoff h : handoffs) require_step_order(h.from, h.to);
        if (plan_ != nullptr && plan_->valid_for == program_reading::concurrent)
            for (handoff h : plan_->handoffs) require_step_order(h.from, h.to);
        for (std::uint32_t i = begin_ + 1; i != end_; ++i) {
            if (list_.operations[i].what == stream_commands::operation_kind::record ||
                list_.operations[i].what == stream_commands::operation_kind::wait)
                continue;
            require_order(begin_, i);
            require_order(i, end_);
        }
        return found;
    }

private:
    static constexpr std::uint32_t none = no_step;

    step_id step_of(std::uint32_t command) const
    {
        stream_commands::operation const& operation = list_.operations[command];
        return operation.what == stream_commands::operation_kind::work ? step_id{operation.which} : no_step;
    }
    value_id root_of(buffer_id b) const
    {
        SUBLET_EXPECTS(b < lowered_.table.buffers.size(),
                       "sublet: a schedule names buffer %, but there are only % buffers", b,
                       lowered_.table.buffers.size());
        return lowered_.table.buffers[b].root;
    }
    std::uint32_t& block_at(value_id root) { return block_of_[pools_ + root]; }
    /// A block without allocation is added, so that the checker reports it.
    std::uint32_t ensure_block(value_id root)
    {
        if (block_at(root) == none) block_at(root) = add_block(size_of(root), false);
        return block_at(root);
    }
    bool owns_block(value_id root) const
    {
        value_role const role = requirements_.class_role[root];
        bool const is_io = has_role(role, value_role::input) || has_role(role, value_role::output);
        return plan_ == nullptr && requirements_.root[root] == root && requirements_.is_planned(root) &&
               !(keeps_io_addresses_ && is_io);
    }

    std::uint32_t add(stream_commands::operation_kind what, std::uint32_t stream, std::uint32_t which)
    {
        list_.operations.push_back({what, stream, which});
        return static_cast<std::uint32_t>(list_.operations.size() - 1);
    }
    byte_count size_of(value_id root) const { return larger(requirements_.bytes[root], byte_count{1}); }
    std::uint32_t add_block(byte_count bytes, bool is_given)
    {
        list_.blocks.push_back({bytes, is_given});
        return static_cast<std::uint32_t>(list_.blocks.size() - 1);
    }
    /// Adds an access of the last command.
    void touch(byte_access access)
    {
        access.at = static_cast<std::uint32_t>(list_.operations.size() - 1);
        if (block_of_[access.space] == none)
            block_of_[access.space] = add_block(size_of(access.space - pools_), false);
        access.space = block_of_[access.space];
        list_.touches.push_back(access);
    }

    /// Contents at the begin of a run count as written on stream 0.
    void begin()
    {
        for (std::uint32_t pool = 0; pool != pools_; ++pool)
            block_of_[pool] = add_block(plan_->arena_bytes[pool], true);
        for (value_id v = 0; v != program_.values(); ++v) {
            if (!owns_block(v)) block_at(v) = add_block(size_of(v), true);
            else if (has_role(requirements_.class_role[v], value_role::input))
                add(stream_commands::operation_kind::allocate, 0, block_at(v) = add_block(size_of(v), false));
        }
        for (byte_access const& t : touches_)
            if (t.space >= pools_ + program_.values() && block_of_[t.space] == none)
                block_of_[t.space] = add_block(t.end, true);
        begin_ = add(stream_commands::operation_kind::work, 0, no_step);
        touch_all();
    }
    void end()
    {
        std::vector<unsigned char> is_released(list_.blocks.size(), 0);
        for (stream_commands::operation const& operation : list_.operations)
            if (operation.what == stream_commands::operation_kind::release) is_released[operation.which] = 1;
        for (std::uint32_t& block : block_of_)
            if (block != none && is_released[block]) block = none;
        end_ = add(stream_commands::operation_kind::work, 0, no_step);
        touch_all();
        for (value_id v = 0; v != program_.values(); ++v) // outputs are kept for the caller
            if (owns_block(v) && has_role(requirements_.class_role[v], value_role::output) &&
                block_at(v) != none)
                add(stream_commands::operation_kind::release, 0, block_at(v));
    }
    void touch_all()
    {
        auto const at = static_cast<std::uint32_t>(list_.operations.size() - 1);
        for (std::uint32_t block : block_of_)
            if (block != none)
                list_.touches.push_back({at, block, 0, list_.blocks[block].bytes, no_value, true});
    }

    snapshot const& program_;
    lowered_program const& lowered_;
    memory_plan const* plan_;
    plan_requirements requirements_;
    std::uint32_t pools_;
    bool keeps_io_addresses_;
    std::vector<byte_access> touches_;      // as accesses_of()
    csr_rows<position_id, std::uint32_t> touches_at_;
    table<value_id, byte_access> bytes_of_;    // by root: all bytes of the class
    std::vector<std::uint32_t> block_of_;      // by space: its current block
    table<step_id, std::uint32_t> command_of_;
    std::uint32_t begin_ = 0, end_ = 0;     // the commands before and after the run
    stream_commands list_;
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL stream_commands commands_of(snapshot const& p, plan_options const& options,
                                        memory_plan const* plan, detail::lowered_program const& lowered,
                                        stream_schedule const& schedule, bool keeps_io_addresses)
{
    return detail::schedule_reader(p, options, plan, lowered, keeps_io_addresses).read(schedule);
}

SUBLET_DECL verdict check_schedule(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                   detail::lowered_program const& lowered, stream_schedule const& schedule,
                                   stream_options const& settings)
{
    detail::schedule_reader reader(p, options, plan, lowered, settings.keeps_io_addresses);
    verdict valid = check_streams(reader.read(schedule), true);
    if (valid) valid.refute(reader.broken_order(settings.handoffs));
    return valid;
}

} // namespace detail

} // namespace sublet
